/* The definition of every operation, in double, over values in natural order. */
#ifndef BENCHDNN_REFERENCE_H
#define BENCHDNN_REFERENCE_H

#include "benchdnn/problem.h"
#include "benchdnn/tensor.h"

struct reference {
    const float *src, *weights;
    const struct tensor *operands; /* all of them, for operations that have others */
    double *result;                /* sums of products, in natural order of dst */
    double
        *magnitude; /* sums of their absolute values, or NULL; only for inputs that are not exact */
    bool fast;      /* OpenBLAS may be used */
    bool is_exact;  /* all sums are exact in f32 */
};

/* result[offset + i * ld + j] = sum over p < k of a[i * k + p] * b[p * n + j], and magnitude
 * likewise, for i < m, j < n. */
void reference_gemm(const struct reference *reference, int64_t m, int64_t n, int64_t k,
                    const float *a, const float *b, int64_t offset, int64_t ld);

#endif
