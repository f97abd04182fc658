/* Convolution as a matrix multiplication: what its parts share. What they do is told in
 * convolution_gemm.c. */
#ifndef SRC_CONVOLUTION_GEMM_H
#define SRC_CONVOLUTION_GEMM_H

#include "src/convolution/convolution.h"
#include "src/gemm/gemm_f32.h"

struct convolution_gemm {
    struct gemm_f32 gemm;
    struct convolution_shape shape;
    size_t row_stride;    /* of dst, from one row of the GEMM to the next */
    bool rows_are_affine; /* src of row i is at i times src_row_stride: 1×1, stride 1, no padding */
    neo_dim src_row_stride;
    bool rows_are_merged; /* all taps of a kernel row, and their channels, follow each other in src
                           */
    size_t segment;       /* the values of a patch that are copied together */
};

struct convolution_call {
    const struct convolution_gemm *plan;
    const struct execution *execution;
};

/* A batch index of the GEMM is a run of pixels and a group. */
static inline size_t first_pixel(const struct convolution_gemm *plan, size_t batch)
{
    return batch / (size_t)plan->shape.groups * plan->gemm.shape.m;
}

static inline neo_dim group_of(const struct convolution_gemm *plan, size_t batch)
{
    return (neo_dim)(batch % (size_t)plan->shape.groups);
}

/* ---- patches (convolution_gemm_patches.c) ---- */

/* A pixel of dst by its coordinates. */
struct pixel {
    neo_dim n, at[SPACE];
};

/* The patches of up to GEMM_F32_MR rows. */
struct patches {
    size_t rows;
    const float *origin[GEMM_F32_MR];  /* of tap 0, channel 0; may lie outside of src */
    neo_dim first[GEMM_F32_MR][SPACE]; /* coordinates of tap 0 in src */
};

/* A tap's coordinates relative to tap 0, in src. */
struct tap {
    neo_dim at[SPACE], offset;
};

/* Zeros for the lanes that lie in the padding; as long as a block of the reduction can be. */
extern const float patches_padding[512];

/* Pixel number index of dst. */
struct pixel patches_pixel(const struct convolution_shape *s, size_t index);

/* The patches of `rows` rows of the GEMM. */
void patches_locate(const struct convolution_call *call, size_t batch, size_t row, size_t rows,
                    struct patches *patches);

/* Tap number index, in the order of the reduction. */
struct tap patches_tap(const struct convolution_shape *s, size_t index);

/* Does the tap of the patch that begins at `first` lie in src? */
static inline bool patches_is_inside(const struct convolution_shape *s, const neo_dim *first,
                                     const struct tap *tap)
{
    for (int d = 0; d < SPACE; d++)
        if ((uint64_t)(first[d] + tap->at[d]) >= (uint64_t)s->in[d])
            return false;
    return true;
}

/* Fills the lanes of one tap with the addresses of channel `channel`, NULL in the padding. Returns
 * how many lie inside. */
size_t patches_lanes(const struct convolution_shape *s, const struct patches *patches,
                     const struct tap *tap, neo_dim channel, const float **lanes);

/* ---- what the GEMM calls; gemm_f32.h says what each does ---- */

/* convolution_gemm_list.c: patches in place */
void convolution_gemm_list_a(const void *context, size_t batch, size_t row, size_t rows,
                             size_t first, size_t segments, const float **out);

/* convolution_gemm_pack.c: patches and weights in panels */
void convolution_gemm_pack_a(const void *context, void *task_scratch, size_t batch, size_t row,
                             size_t rows, size_t first, size_t depth, float *out);
void convolution_gemm_pack_b(const void *context, size_t batch, size_t column, size_t columns,
                             size_t width, size_t first, size_t depth, float *out);

/* convolution_gemm_merged.c: the patches of `rows` pixels where rows are merged. edge: a segment
 * for each of them. */
void convolution_gemm_pack_merged(const struct convolution_call *call, float *edge, size_t batch,
                                  size_t row, size_t rows, size_t first, size_t depth, float *out);

/* convolution_gemm_finish.c */
void convolution_gemm_finish(const void *context, const struct gemm_f32_block *block);

#endif
