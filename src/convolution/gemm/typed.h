/* Convolutions of tensors of any types: what their plan, patches and results share. */
#ifndef SRC_CONVOLUTION_GEMM_TYPED_H
#define SRC_CONVOLUTION_GEMM_TYPED_H

#include "kernels/gemm/finish.h"
#include "src/convolution/convolution.h"
#include "src/gemm/gemm.h"
#include "src/gemm/operands.h"
#include "src/gemm/results.h"
#include "src/packed/matrix.h"
#include "src/primitive/quantization.h"
#include "src/tensor/element.h"

struct convolution_typed {
    struct convolution_shape shape;
    struct convolution_shape image; /* as patches are read: pixels that need no taps are one row */
    struct gemm_plan gemm;
    struct gemm_side a, b;
    struct weights_matrix weights; /* if they are plain */
    bool integers;
    bool has_own_zeros;     /* channels of src have zero points of their own */
    size_t taps_bytes;      /* of what taps add to sums, where src has zero points */
    bool is_affine;         /* the image is such a row */
    bool reads_lines;       /* a tap's channels are whole groups, or all there is along k */
    bool merges_taps;       /* those of a row lie next to each other, with their channels */
    gemm_finish_fn *finish; /* what makes results of a block at once; NULL: lines do */
};

struct typed_call {
    const struct convolution_typed *plan;
    const struct execution *execution;
    uint8_t zero;  /* each byte of an element that fills the padding: it stands for 0, or nearly */
    int32_t *taps; /* what taps add to sums (typed_taps.c); NULL: nothing that they should not */
    const struct gemm_results *results; /* if the plan has what makes them */
};

/* That of all of src: 0 where channels have their own, which are taken back tap by tap. */
static inline int32_t src_zero_point(const struct typed_call *call)
{
    static const neo_dim origin[NEO_MAX_NDIMS];
    return call->plan->has_own_zeros ? 0 : quantization_zero_point(call->execution, SRC, origin);
}

/* Writes the position in weights of an output channel of a group. */
void convolution_typed_weights_position(const struct execution *execution, size_t group,
                                        size_t channel, neo_dim *position);
int32_t convolution_typed_weights_zero_point(const struct execution *execution, size_t group,
                                             size_t channel);
/* The same of what panels hold. */
int32_t convolution_typed_zero_of_weights(const struct typed_call *call, size_t group,
                                          size_t channel);

/* What zero points ask for that sums of rows and columns do not give: once for a plan, once for a
 * call, whose table has plan->taps_bytes, and for each block of sums if call->taps is not NULL. */
void convolution_typed_plan_taps(struct convolution_typed *plan, const struct problem *problem);
void convolution_typed_count_taps(struct typed_call *call, void *table);
void convolution_typed_take_taps_back(const struct typed_call *call,
                                      const struct gemm_block *block);

/* How patches become panels. */
void convolution_typed_plan_patches(struct convolution_typed *plan);
size_t convolution_typed_patches_scratch(const struct convolution_typed *plan);

/* struct gemm_call's. */
void convolution_typed_prepare(const void *context, void *scratch, size_t batch, size_t row,
                               size_t rows);
void convolution_typed_pack_a(const void *context, void *scratch, const struct gemm_panel *panel);
void convolution_typed_pack_panels(const void *context, void *scratch,
                                   const struct gemm_panel *first, size_t panels);
void convolution_typed_finish(const void *context, const struct gemm_block *block);

/* Of a plan that has what makes results of a block at once. */
void convolution_typed_results(const struct typed_call *call, struct gemm_results *out);

/* Do sums become results while they are in registers? */
bool convolution_typed_ends(const struct typed_call *call);

/* What makes results of a block of such a problem at once, or NULL. */
gemm_finish_fn *convolution_typed_finish_kernel(const struct problem *problem,
                                                const struct cpu *cpu);

#endif
