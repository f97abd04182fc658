/* Convolution as one matrix product: what its parts share. What they do is told in
 * matmul.c. */
#ifndef SRC_CONVOLUTION_MATMUL_H
#define SRC_CONVOLUTION_MATMUL_H

#include "kernels/pack/f32/copy.h"
#include "src/convolution/trim.h"

struct convolution_matmul {
    struct convolution_shape shape;
    struct convolution_trim trim;
    size_t weights, columns; /* the values of weights to copy, and their columns; or 0 */
    const char *kernel;      /* the algorithm of the product */
    copy_f32_fn *copy;       /* of patches; NULL: they are in place */
    size_t pixels, rows;     /* to copy: of dst; of weights, the values of a patch */
    bool is_product;         /* and nothing else: nothing is copied or left out */
    struct span inner;       /* pixels of a row of dst all of whose taps in a row of src exist */
};

/* Between elements of one dimension; the factors of a single one may be anything. */
static inline neo_dim matmul_step(neo_dim size, neo_dim step, neo_dim stride)
{
    return size > 1 ? step * stride : 0;
}

/* All patches, one after the other. src: of the first image. */
void matmul_copy_patches(const struct convolution_matmul *plan, const float *src, float *out);

#endif
