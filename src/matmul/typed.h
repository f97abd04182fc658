/* Products of tensors of any types: what their plan, their packing and their results share. */
#ifndef SRC_MATMUL_TYPED_H
#define SRC_MATMUL_TYPED_H

#include "kernels/gemm/blocks/blocks.h"
#include "kernels/gemm/finish.h"
#include "src/gemm/gemm.h"
#include "src/gemm/operands.h"
#include "src/gemm/results.h"
#include "src/matmul/matmul.h"
#include "src/matmul/quantized.h"
#include "src/packed/side.h"
#include "src/primitive/quantization.h"
#include "src/tensor/element.h"

struct matmul_typed {
    struct gemm_plan gemm;
    struct gemm_side a, b;
    bool integers;
    bool in_blocks; /* weights are, with scales: they become f32 when panels are packed */
    struct gemm_blocks blocks;
    const struct gemm_blocks_kernel *decompress;
    gemm_finish_fn *finish; /* what makes results of a block at once; NULL: lines do */

    /* NULL: src is packed as it is. Or its rows become s8 first, in the scratchpad's first part,
     * each so many bytes; their scales follow, and then what the product needs. */
    const struct quantize_kernel *quantize;
    size_t row_bytes, row_scales, quantized_bytes;
};

struct typed_call {
    const struct matmul_typed *plan;
    const struct execution *execution;
    const struct gemm_results *results; /* if the plan has what makes them */
    int8_t *rows;                       /* of src, where they are quantised */
    float *row_scales;
};

/* Are integers multiplied? */
static inline bool are_integers_multiplied(const struct problem *problem)
{
    return is_of_integers(problem) || matmul_is_dynamic(problem);
}

/* The dimension of k of a side. */
static inline int k_dim(const struct problem *problem, enum tensor t)
{
    return problem->tensors[t].ndims - (t == SRC ? 1 : 2);
}

static inline bool scale_varies_along_k(const struct problem *problem, enum tensor t)
{
    const struct quantization *all = problem->attributes.quantizations;
    return problem->scales[t] && quantization_group(&all[problem->scales[t] - 1],
                                                    problem->tensors[t].ndims, k_dim(problem, t));
}

/* Zero points, or scales that differ along k: packing applies them, where that gives floats. */
static inline bool is_adjusted(const struct problem *problem, enum tensor t)
{
    return problem->zero_points[t] || scale_varies_along_k(problem, t);
}

/* Of a plan that has what makes results of a block at once. */
void matmul_typed_results(const struct typed_call *call, struct gemm_results *out);

/* Do sums become results while they are in registers? */
bool matmul_typed_ends(const struct typed_call *call);

/* What makes results of a block of such a problem at once, or NULL. */
gemm_finish_fn *matmul_typed_finish_kernel(const struct problem *problem, const struct cpu *cpu);

/* A panel of f32 of weights in blocks. */
void matmul_blocks_to_panel(const struct typed_call *call, const struct gemm_panel *panel);

/* struct gemm_call's. */
void matmul_typed_finish(const void *context, const struct gemm_block *block);

#endif
