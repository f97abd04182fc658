/* One product of matrices as a BLAS call wants it, on a primitive that the calling thread keeps. */
#ifndef COMPAT_BLAS_PRODUCT_H
#define COMPAT_BLAS_PRODUCT_H

#include <stdint.h>

/* What a call's primitive depends on: dst[m][n] = alpha * src[m][k] * weights[k][n] + beta * dst.
 * Strides are in elements, of rows and of columns, none negative. Without padding: compared as
 * bytes. */
struct product_shape {
    int64_t m, n, k;
    int64_t src[2], weights[2], dst[2];
    float alpha, beta;
};

/* @param shape sizes of at least 1.
 * @return 1: done, with dst not read if beta is 0; 0: nothing was read or written, because memory
 *         is exhausted or no primitive serves the shape. */
int product_run(const struct product_shape *shape, const float *src, const float *weights,
                float *dst);

#endif
