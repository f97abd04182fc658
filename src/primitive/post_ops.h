/* Post-operations: checking them against dst, and applying them to lines of results. */
#ifndef SRC_PRIMITIVE_POST_OPS_H
#define SRC_PRIMITIVE_POST_OPS_H

#include <math.h>

#include "src/primitive/problem.h"

/* Checks each operation against dst, and gives prelu its weights' descriptor. Returns NULL or a
 * sentence; *unsupported tells a wrong description from one that nothing serves. */
const char *post_ops_check(struct problem *problem, bool *unsupported);

/* Replaces `any` operands by layouts in dst's order, and looks up the kernels. dst is final. */
void post_ops_choose(struct problem *problem, const struct cpu *cpu);

/* Which one is the depthwise convolution, or -1. A primitive's problem has one at most. */
int post_ops_depthwise(const neo_attributes *attributes);

/* Operands have places, two for each post-operation: select has two, binary and prelu one, and the
 * others none. The descriptor of the one at a place, or NULL, and its argument. */
static inline int post_ops_places(const neo_attributes *attributes)
{
    return 2 * attributes->post_op_count;
}
const neo_memory_desc *post_ops_operand(const neo_attributes *attributes, int place);
int post_ops_argument(const neo_attributes *attributes, int place);

/* The place of the operand that an argument is, or -1. */
int post_ops_place(const neo_attributes *attributes, int arg);

/* Does any post-operation have one? */
bool post_ops_some_have_operand(const neo_attributes *attributes);
static inline bool post_ops_have_operand(const neo_attributes *attributes)
{
    return attributes->post_op_count > 0 && post_ops_some_have_operand(attributes);
}

/* The chain, as far as a tile kernel can do it by itself. */
struct post_ops_fusion {
    bool complete;  /* nothing is left to do after the clamp */
    bool reads_dst; /* what dst held before: a sum, or an operand that may be in its buffer */
    float low, high;
};
struct post_ops_fusion post_ops_fusion_of_some(const struct problem *problem);
static inline struct post_ops_fusion post_ops_fusion(const struct problem *problem)
{
    if (problem->attributes.post_op_count > 0)
        return post_ops_fusion_of_some(problem);
    return (struct post_ops_fusion){.complete = true, .low = -INFINITY, .high = INFINITY};
}

/* Elements of dst that follow each other along one dimension. */
struct line {
    neo_dim position[NEO_MAX_NDIMS]; /* of the first one */
    int direction;
    size_t count;
};

/* Applies the whole chain to values, in place. i * old_step elements from old is dst's value of
 * element i before the execution, read only if the chain has a sum. */
void post_ops_apply(const struct execution *execution, const struct line *line, float *values,
                    const void *old, neo_dim old_step);

/* Applies run to each value and the element of a tensor (broadcast where its size is 1) that
 * belongs to it. data is where the tensor's first element is. */
void line_apply(const struct convert_kernel *convert, binary_f32_fn *run,
                const neo_memory_desc *desc, const void *data, const struct line *line,
                float *values);

/* Cycles for one element of dst: a rough figure for estimates. */
static inline double post_ops_cycles(const struct problem *problem)
{
    return 2 * (double)problem->attributes.post_op_count;
}

#endif
