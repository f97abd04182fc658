/* Convolution of images that are transposed: what its parts share. What they do is told in
 * transposed.c. */
#ifndef SRC_CONVOLUTION_TRANSPOSED_H
#define SRC_CONVOLUTION_TRANSPOSED_H

#include "kernels/pack/f32/copy.h"
#include "src/convolution/convolution.h"

/* From one of them to the next, in elements. */
struct places {
    neo_dim image, piece, channel, pixel;
};

/* One tensor as planes of pixels, of which each image has as many as channels: pieces of so many
 * pixels that follow each other. The step between channels is 1 either in the tensor or in its
 * copy, and that between pixels in the other. */
struct planes {
    size_t images, pieces, channels, pixels;
    struct places tensor, copy;
    struct copy_f32_plane
        piece; /* as it is copied; rows are across what follows each other in src */
};

struct convolution_transposed {
    unsigned turned;    /* a bit for each tensor that is transposed */
    const char *kernel; /* the nested convolution's algorithm */
    copy_f32_fn *copy;
    struct planes planes[TENSOR_COUNT]; /* of src and dst; no images: that tensor is in place */
    size_t src_bytes, bytes;            /* of the copies: of src, which is first, and of both */
};

size_t transposed_scratch_bytes(const void *plan, int threads);
void transposed_run(const void *plan, const struct execution *execution);

#endif
