/* A convolution without the taps that no pixel of dst has in src: these lie in the padding always,
 * as most of a dilated kernel does beyond a small image. */
#ifndef SRC_CONVOLUTION_TRIM_H
#define SRC_CONVOLUTION_TRIM_H

#include "src/convolution/convolution.h"

/* What is left: taps of each dimension, of `kernel` ones, and where it begins in src and in plain
 * weights. */
struct convolution_trim {
    struct span taps[SPACE];
    neo_dim kernel[SPACE], ic, src, weights;
};

/* Takes taps from the shape. false: it has all of them still, as one without pixels has. */
bool convolution_trim(struct convolution_shape *shape, struct convolution_trim *trim);

/* Copies what is left of packed weights of n columns without groups. */
void convolution_trim_weights(const struct convolution_trim *trim, size_t n, const float *packed,
                              float *out);

#endif
