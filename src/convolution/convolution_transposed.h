/* Convolution of images that are transposed: what its parts share. What they do is told in
 * convolution_transposed.c. */
#ifndef SRC_CONVOLUTION_TRANSPOSED_H
#define SRC_CONVOLUTION_TRANSPOSED_H

#include "kernels/copy_f32.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"

/* One tensor as planes of pixels, of which each image has as many as channels: pieces of so many
 * pixels that follow each other. */
struct planes {
    size_t images, pieces, channels, pixels;
    neo_dim image, piece, channel; /* from one of them to the next */
};

struct convolution_transposed {
    const struct algorithm *winograd; /* the one that is nested, or NULL: a direct one */
    const char *kernel;               /* the nested convolution's algorithm */
    copy_f32_fn *copy;
    struct planes planes[TENSOR_COUNT]; /* of src and dst; no images: that tensor is in place */
};

/* In the scratchpad. */
static inline size_t transposed_bytes(const struct planes *planes)
{
    size_t values = planes->images * planes->pieces * planes->channels * planes->pixels;
    return round_up(values * sizeof(float), SCRATCH_ALIGNMENT);
}

/* The first bytes of the scratchpad are the copies. */
size_t transposed_scratch_bytes(const void *plan, int threads);
void transposed_run(const void *plan, const struct execution *execution);

#endif
