/* Pixels and taps of the patches of a panel, for what packs them (typed_patches.c) and for what
 * gathers them before (typed_gather.c). */
#ifndef SRC_CONVOLUTION_GEMM_TYPED_PATCHES_H
#define SRC_CONVOLUTION_GEMM_TYPED_PATCHES_H

#include "src/convolution/gemm/typed.h"

enum { PATCHES_LANE_BYTES = 1024 /* whole groups of any type */, PATCHES_LANES = GEMM_MR };

/* A pixel of dst: the place in src of its first tap, which may be in the padding. */
struct pixel {
    neo_dim at[SPACE];
    neo_dim offset; /* of channel 0 of the group, in elements */
};

/* Panels of pixels of one group. */
struct patches {
    const struct typed_call *call;
    const struct gemm_panel *panel;
    const struct convolution_shape *image;
    struct pixel pixels[PATCHES_LANES]; /* of a row the first one alone */
    bool are_in_a_row;
    neo_dim left; /* of the row behind the panel before this one, or none: below 1 */
    const unsigned char *padding; /* a line of it */
    size_t bytes;                 /* of an element */
    struct pack_panel part;       /* some steps of the panel: what all of them have in common */
};

/* A pixel of the panel; those of a row differ in their columns alone. */
static inline struct pixel patches_pixel(const struct patches *patches, size_t i)
{
    const struct convolution_shape *s = patches->image;
    struct pixel pixel = patches->pixels[patches->are_in_a_row ? 0 : i];
    if (patches->are_in_a_row) {
        pixel.at[WIDTH] += (neo_dim)i * s->stride[WIDTH];
        pixel.offset += (neo_dim)i * s->stride[WIDTH] * s->src.w;
    }
    return pixel;
}

/* A tap: how far it is from the first one, by dimension and in elements. */
struct tap {
    neo_dim at[SPACE], offset;
};

static inline struct tap patches_tap(const struct convolution_shape *s, size_t number)
{
    const neo_dim strides[SPACE] = {s->src.d, s->src.h, s->src.w};
    struct tap tap = {.offset = 0};
    if (!number)
        return tap;
    for (int d = SPACE - 1; d >= 0; d--) {
        tap.at[d] = (neo_dim)(number % (size_t)s->kernel[d]) * s->dilation[d];
        tap.offset += tap.at[d] * strides[d];
        number /= (size_t)s->kernel[d];
    }
    return tap;
}

/* The one after it along dimension `last` and those before: the next tap, or row of taps. */
static inline void patches_next_tap(const struct convolution_shape *s, struct tap *tap, int last)
{
    const neo_dim strides[SPACE] = {s->src.d, s->src.h, s->src.w};
    for (int d = last; d >= 0; d--) {
        tap->at[d] += s->dilation[d];
        tap->offset += s->dilation[d] * strides[d];
        if (tap->at[d] < s->kernel[d] * s->dilation[d])
            return;
        tap->offset -= tap->at[d] * strides[d];
        tap->at[d] = 0;
    }
}

/* Is the tap of the pixel in the image, in the first so many dimensions? */
static inline bool patches_have(const struct convolution_shape *s, const struct pixel *pixel,
                                const struct tap *tap, int dimensions)
{
    for (int d = 0; d < dimensions; d++)
        if ((uint64_t)(pixel->at[d] + tap->at[d]) >= (uint64_t)s->in[d])
            return false;
    return true;
}

static inline const unsigned char *patches_element(const struct patches *patches, neo_dim offset)
{
    return (const unsigned char *)patches->call->execution->buffers[SRC] +
           offset * (neo_dim)patches->bytes;
}

/* Steps [p, p + count) of k of each pixel's patch: that of pixel i begins at to + i *
 * PATCHES_LANE_BYTES. */
void convolution_patches_gather(const struct patches *patches, size_t p, size_t count,
                                unsigned char *to);

/* The same of all of k at once, if the pixels are of one row and a row's taps are each one line.
 * false: they are not, and nothing is gathered. */
bool convolution_patches_gather_whole(const struct patches *patches, unsigned char *to);

#endif
