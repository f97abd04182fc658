/* A complete description of a primitive, and the tables by which operations serve it. */
#ifndef SRC_PRIMITIVE_PROBLEM_H
#define SRC_PRIMITIVE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu.h"
#include "kernels/elementwise/convert.h"
#include "neoprene/convolution.h"
#include "src/primitive/attributes.h"
#include "src/threading/parallel.h"

enum tensor { SRC, WEIGHTS, BIAS, DST, TENSOR_COUNT };

/* A tensor that is none of these: another source, a scale, statistics, a workspace. */
struct extra {
    int arg; /* NEO_ARG_* */
    neo_memory_desc desc;
};

enum { MAX_OPERANDS = 2 * NEO_MAX_POST_OPS };
enum { MAX_EXTRAS = 32, PARAMETER_BYTES = 144, SHAPE_BYTES = 304 };

/* What may have scales and zero points: tensors, extra ones, and by post-operation a binary one's
 * src1, or the image that a depthwise one reads. */
enum { OPERAND_TENSORS = TENSOR_COUNT + MAX_EXTRAS };
enum { MOST_TENSORS = OPERAND_TENSORS + NEO_MAX_POST_OPS };

/* How a kernel goes over an image, by spatial dimension. kernel: 0 where weights tell it; dilations
 * of 0 are dense. */
struct window {
    neo_dim kernel[3], strides[3], dilations[3], left[3], right[3];
};

/* As descriptions have it, without a kernel's size. */
static inline struct window window_of(const neo_dim strides[3], const neo_dim dilations[3],
                                      const neo_dim left[3], const neo_dim right[3])
{
    struct window window = {.kernel = {0}};
    for (int i = 0; i < 3; i++) {
        window.strides[i] = strides[i];
        window.dilations[i] = dilations[i];
        window.left[i] = left[i];
        window.right[i] = right[i];
    }
    return window;
}

/* Types of each tensor, bits 1 << neo_data_type, of which every combination is served. A list of
 * such sets ends with one of no src. */
struct type_set {
    uint16_t types[TENSOR_COUNT];
};

/* One description, checked. The tensors it does not have are absent (ndims 0). Copies are on the
 * stack: who makes a problem of a problem does so in a function apart, so that no frame has two. */
struct problem {
    const struct operation *operation;
    neo_memory_desc tensors[TENSOR_COUNT];
    neo_attributes attributes;
    const struct binary_f32_kernel *binary; /* by function: for biases, scales, zero points */
    const struct convert_kernel *convert;   /* by type: lines of it as f32, and back */

    /* Which of the attributes' quantizations belongs to a tensor, plus 1; 0: none. */
    uint8_t scales[MOST_TENSORS], zero_points[MOST_TENSORS];

    bool has_window;
    int extra_count;
    struct extra *extras;                     /* extra_count of them, owned */
    uint64_t parameters[PARAMETER_BYTES / 8]; /* the operation's own structure */
    struct window window;
    neo_prop_kind prop_kind;
    neo_convolution_algorithm convolution_algorithm;

    uint64_t shape[SHAPE_BYTES / 8]; /* what operation->derive() makes of the rest, once for all */
};

/* The same as the user gives it: what a hit in the cache reads, without a copy. What is not there
 * is NULL or absent. */
struct description {
    const struct operation *operation;
    const neo_memory_desc *tensors[TENSOR_COUNT];
    const neo_attributes *attributes; /* NULL: the default ones, until primitive_desc_create() */
    neo_prop_kind prop_kind;
    neo_convolution_algorithm convolution_algorithm;
    int extra_count;
    const struct extra *extras;
    const void *parameters; /* operation->parameter_bytes of them */
    const struct window *window;
};

struct cost;
struct implementation;
struct reservation;

/* Everything one execution reads. */
struct execution {
    const struct implementation *implementation;
    const struct problem *problem; /* with the actual sizes */
    const struct parallel *parallel;
    void *scratch; /* SCRATCH_ALIGNMENT-aligned; scratch_bytes() of the plan, and of nested ones */
    int threads;   /* the scratchpad has room for so many tasks */
    void *buffers[TENSOR_COUNT];
    void *extras[MAX_EXTRAS];                     /* as in the problem */
    const void *operands[MAX_OPERANDS];           /* of post-operations (post_ops.h) */
    const void *quantizations[MAX_QUANTIZATIONS]; /* values of the attributes' ones */
};

typedef void run_fn(const void *plan, const struct execution *execution);
typedef const char *common_refuse_fn(const struct problem *problem, const struct cpu *cpu);

/* One way to do an operation. */
struct algorithm {
    const char *name;

    /* 0, or the only layout of packed weights it serves (enum layout_id): what tells algorithms
     * that share functions from each other. */
    uint32_t weights_layout;

    /* NULL, or the algorithm that a variant of one leaves the products to. */
    const struct algorithm *by;

    /* NULL, or asked before refuse(), and once for algorithms that follow each other: why all of
     * them decline. */
    common_refuse_fn *refuse_all;

    const struct type_set *types; /* what it serves; NULL: f32 alone */
    bool quantizes;               /* with scales and zero points */

    /* Has it kernels in C that compilers make vectors of, for builds that have no others? */
    bool by_vectors;

    /* NULL, or a sentence that says why not. Tensors may still be `any`. */
    const char *(*refuse)(const struct algorithm *self, const struct problem *problem,
                          const struct cpu *cpu);

    /* Replaces every `any` by the layout it wants. NULL: it serves none. */
    void (*choose)(const struct algorithm *self, struct problem *problem, const struct cpu *cpu);

    /* Cycles on one thread of this core; the smallest one is chosen. Sizes may be NEO_RUNTIME_DIM.
     */
    double (*estimate)(const struct algorithm *self, const struct problem *problem,
                       const struct cpu *cpu);

    /* NULL: weights are read before they are multiplied, and nothing is kept in between. Or adds to
     * the cost, whose cycles are there, what else it has (cost.h). */
    void (*memory)(const struct algorithm *self, const struct problem *problem,
                   const struct cpu *cpu, struct cost *cost);

    /* NULL: weights have as many bits as their type. Or how many they have as the algorithm keeps
     * them, which may be rounded ones. */
    double (*weight_bits)(const struct algorithm *self, const struct problem *problem,
                          const struct cpu *cpu);

    /* Fills the plan (plan_bytes, zeroed): a pure function of the problem and the CPU. */
    void (*plan)(void *plan, const struct problem *problem, const struct cpu *cpu);
    size_t plan_bytes;

    /* NULL, or of which size a table is that the plan can make use of; 0: none. It is filled once,
     * and lives as long as the plan; plans for run-time sizes get none. */
    size_t (*table_bytes)(const void *plan);
    void (*fill_table)(void *plan, void *table);

    /* NULL, or nests the implementations that run() uses; sizes are known. */
    neo_status (*nest)(struct implementation *implementation);

    /* NULL, or gives back what nest() made beside nested implementations; also where it failed. */
    void (*forget)(struct implementation *implementation);

    /* What an execution by so many threads needs; independent of pointers. NULL: nothing. */
    size_t (*scratch_bytes)(const void *plan, int threads);

    const char *(*kernel)(const void *plan);
    run_fn *run;

    /* NULL, or what does the same for such a plan on one thread: small problems are not asked at
     * each execution what kind they are. */
    run_fn *(*run_alone)(const void *plan);

    /* NULL, or whether an execution is no more than that of the first nested implementation. */
    bool (*is_nested_one)(const void *plan);
    bool swaps; /* then that one's src is this one's weights, and its weights are this one's src */
};

/* What every operation tells the rest of the library about itself. */
struct operation {
    const char *name;

    /* What struct problem's parameters are: a structure without gaps, of so many bytes, a multiple
     * of 8. */
    size_t parameter_bytes;

    /* Are f16, bf16, s32, s8 and u8 taken as f32 is, by every algorithm and for every tensor? */
    bool takes_all_types;

    /* May a source with dst's descriptor be in dst's buffer? */
    bool in_place;

    /* NULL: dst is all that it writes. Or whether it writes this one of its extra arguments. */
    bool (*writes)(const struct problem *problem, int arg);

    /* NULL, or what is wrong with the description itself; *unsupported is set where it is right,
     * but asks for what no algorithm has. May complete what follows from the rest (prelu weights).
     */
    const char *(*check)(struct problem *problem, bool *unsupported);

    const struct type_set *types; /* what any of its algorithms serves; NULL: f32 alone */

    /* NULL: the operation takes neither scales nor zero points. Else NULL, or why nothing serves
     * those for tensor t of all tensors. */
    const char *(*check_quantization)(const struct problem *problem, const struct quantization *q,
                                      enum tensor t);

    /* Each handle's mutable state. NULL: a block for the scratchpad, from the implementation's
     * memory manager. destroy is called exactly once for each create that succeeded, also where
     * this implementation is nested in another one's. */
    neo_status (*create_resource)(struct implementation *implementation,
                                  struct reservation *resource);
    void (*destroy_resource)(struct implementation *implementation, struct reservation *resource);

    /* NULL, or completes a problem that is right, before an algorithm is chosen and once more when
     * that has chosen layouts: layouts that are the same for all of them, and the shape, of which
     * nothing is asked but what a log line has if there are run-time sizes. */
    void (*derive)(struct problem *problem);

    /* NULL: algorithms plan for run-time sizes by themselves. Else what serves all of these: it
     * has layouts that suit likely sizes, which suppose() puts in place of those that are not
     * known (by_size.h). The operation has no create_resource. */
    const struct algorithm *late;
    void (*suppose)(struct problem *problem);

    const struct algorithm *const *algorithms; /* considered in this order */
    size_t algorithm_count;

    /* Writes the operation's part of a log line: sizes in the field's notation. */
    void (*describe)(const struct problem *problem, char *out, size_t size);
};

/* All tensors of a problem: those of enum tensor, absent ones too, then the extra ones. */
static inline int problem_tensor_count(const struct problem *problem)
{
    return TENSOR_COUNT + problem->extra_count;
}

static inline neo_memory_desc *problem_tensor(const struct problem *problem, int i)
{
    return i < TENSOR_COUNT ? (neo_memory_desc *)(uintptr_t)&problem->tensors[i]
                            : &problem->extras[i - TENSOR_COUNT].desc;
}

/* The index of the extra tensor that is this argument, or -1. */
int problem_extra(const struct problem *problem, int arg);

/* Copies what the description points to, except the attributes' post-operations and the extra
 * tensors, which stay shared. */
void problem_init(struct problem *problem, const struct description *description);

/* Describes problem again; valid as long as it is. */
struct description problem_describe(const struct problem *problem);

enum { PLAN_MAX_BYTES = 2496, SCRATCH_ALIGNMENT = 128 };

/* Has no tensor more elements, nor a larger stride, than an address space of 48 bits has room for
 * as f32? Sizes of 0 and those that are not known yet count as 1, but reorders of nothing may have
 * any sizes. Strides of 0 would allow any number; with this bound sizes of scratchpads, which are
 * small multiples of a tensor's, do not overflow, nor do strides times spatial parameters. Strides
 * of dimensions of size 1 do not count: see below. */
bool problem_is_moderate(const struct problem *problem);

/* Replaces those of them that are beyond that bound: what they are does not matter, but plans
 * calculate with them. */
void problem_settle_strides(struct problem *problem);

/* Of a tensor or of a binary operand. */
bool problem_is_runtime(const struct problem *problem);

/* ---- checks (problem_check.c) ---- */

/* Of all tensors. */
const char *problem_tensor_name(const struct problem *problem, int i);

/* Writes "operation: what: why" to the log, or without what if that is empty; returns status. */
neo_status problem_reject(const struct problem *problem, neo_status status, const char *what,
                          const char *why);

/* The descriptors by themselves; and all that is known before an algorithm is chosen. */
neo_status problem_check_tensors(const struct problem *problem);
neo_status problem_check(struct problem *problem);

/* NULL, or that the propagation kind has not been said: for operations whose description has it. */
const char *problem_prop_kind_wrong(const struct problem *problem);

#endif
