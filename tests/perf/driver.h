/* What the drivers share: problems read from stdin, arrays, and the check of a result.
 *
 * A driver computes each problem with one library, once to warm up and once inside a measured
 * region. Each library is a file of its own that defines `peer`. */
#ifndef PERF_DRIVER_H
#define PERF_DRIVER_H

#include "tests/perf/operations.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_BATCH_DIMS = 3 };
enum { OPERAND_WEIGHTS = 1, OPERAND_SRC = 2, OPERAND_DST = 4 };

/* dst[m][n] = src[m][k] * weights[k][n], row-major, for each index of the batch; a batch dimension
 * that is 1 on one side is broadcast. */
struct matmul_problem {
    size_t m, n, k;
    size_t batch_dims;
    size_t src_batch[MAX_BATCH_DIMS], weights_batch[MAX_BATCH_DIMS], dst_batch[MAX_BATCH_DIMS];
    bool packed;         /* weights are constant: a library may change their layout beforehand */
    unsigned transposed; /* OPERAND_*: these lie in memory with their columns contiguous */
};

/* Space is three-dimensional everywhere: index 0 depth, 1 height, 2 width. Weights lie in memory
 * as [group][oc / groups][ic / groups][kd][kh][kw]. */
struct conv_problem {
    size_t groups, mb, ic, oc;
    size_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
    size_t spatial_dims; /* 1, 2 or 3: how many of the above the user would name */
    bool channels_last;  /* nhwc, else nchw */
};

enum driver_type {
    DRIVER_F32,
    DRIVER_F16,
    DRIVER_BF16,
    DRIVER_S32,
    DRIVER_S8,
    DRIVER_U8,
    DRIVER_S4
};

/* A library computes with the types; values are in the arrays as f32, which has all of them. Where
 * integers are multiplied, scales are 1 and zero points 0. */
struct problem {
    enum { PROBLEM_MATMUL, PROBLEM_CONV, PROBLEM_OPERATION } kind;
    union {
        struct matmul_problem matmul;
        struct conv_problem conv;
        struct operation_problem operation; /* its second source is in `weights` */
    };
    const char *types; /* "f32:f32:f32": src, weights, dst, as PERF_TYPES has them */
    enum driver_type src_type, weights_type, dst_type;
    /* Weights are integers and src is not: so many rows of a column share a scale, 0: all. Is set
     * if a library may turn src into integers, too, within its call. */
    bool is_dynamic;
    size_t group;
    float *src, *weights, *dst;
    size_t src_size, weights_size, dst_size;
};

struct peer {
    const char *name;
    /* Once per process; NULL or why it cannot work. */
    const char *(*start)(void);
    /* Everything that a user does before inference. *state goes to the other two.
     * Returns NULL, or why the library does not do this problem. */
    const char *(*prepare)(const struct problem *problem, void **state);
    void (*run)(void *state);
    /* After the last run: the result into problem->dst. NULL where run() writes there. */
    void (*fetch)(void *state);
    void (*release)(void *state);
    /* NULL, or the name of what was chosen. */
    const char *(*implementation)(void *state);
    /* NULL, or the bytes of weights as they are kept for a call. */
    size_t (*weights_bytes)(void *state);
};

extern const struct peer peer;

/* ---- helpers for peers ---- */

/* 64-byte aligned; ends the process when memory is exhausted */
float *driver_floats(size_t count);
void *driver_allocate(size_t bytes);

/* A copy of values as numbers of a type, to be freed; s4 has a byte each. */
void *driver_typed(enum driver_type type, const float *values, size_t count);
/* dst as a library has it, of the problem's type, into problem->dst. */
void driver_take_result(const struct problem *problem, const void *from);
/* PERF_FPMATH=bf16: products of f32 may be products of bf16. */
bool driver_allows_bf16(void);
/* PERF_ACCUMULATION=f16: sums of f16 may be of f16. */
bool driver_allows_f16_sums(void);

size_t matmul_batch(const struct matmul_problem *matmul);
/* The first elements of the matrices that meet in batch element i of dst. */
const float *matmul_src(const struct problem *problem, size_t i);
const float *matmul_weights(const struct problem *problem, size_t i);
float *matmul_dst(const struct problem *problem, size_t i);

size_t conv_positions(const size_t dims[3]);
bool conv_is_depthwise(const struct conv_problem *conv);
/* 1x1, stride 1, no padding: the source is the left matrix of a product as it stands. */
bool conv_is_pointwise(const struct conv_problem *conv);
/* Padding after the last element; negative when the last elements are not read. */
ptrdiff_t conv_pad_after(const struct conv_problem *conv, int dim);
/* The same where so few are not read that a library finds that out by itself: then 0. */
ptrdiff_t conv_pad_named(const struct conv_problem *conv, int dim);

#ifdef __cplusplus
}
#endif
#endif
