/* sgemm_ and sgemv_: Fortran's names. Compilers pass the lengths of the texts as further arguments,
 * which nothing here reads and nothing behind needs. */
#include <stddef.h>

#include "compat/blas/calls.h"
#include "neoprene/types.h"

typedef void sgemm_fn(const char *transa, const char *transb, const int *m, const int *n,
                      const int *k, const float *alpha, const float *a, const int *lda,
                      const float *b, const int *ldb, const float *beta, float *c, const int *ldc,
                      size_t transa_length, size_t transb_length);
typedef void sgemv_fn(const char *trans, const int *m, const int *n, const float *alpha,
                      const float *a, const int *lda, const float *x, const int *incx,
                      const float *beta, float *y, const int *incy, size_t trans_length);

NEO_API sgemm_fn sgemm_;
NEO_API sgemv_fn sgemv_;

/* A real matrix's conjugate transpose is its transpose. */
static int transposed(const char *text)
{
    switch (*text) {
    case 'N':
    case 'n':
        return 0;
    case 'T':
    case 't':
    case 'C':
    case 'c':
        return 1;
    default:
        return -1;
    }
}

void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc, size_t transa_length, size_t transb_length)
{
    (void)transa_length;
    (void)transb_length;
    struct gemm_call call = {.trans_a = transposed(transa),
                             .trans_b = transposed(transb),
                             .m = *m,
                             .n = *n,
                             .k = *k,
                             .alpha = *alpha,
                             .beta = *beta,
                             .a = a,
                             .b = b,
                             .c = c,
                             .lda = *lda,
                             .ldb = *ldb,
                             .ldc = *ldc};
    if (!calls_gemm(&call))
        ((sgemm_fn *)calls_behind("sgemm_"))(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta,
                                             c, ldc, 1, 1);
}

void sgemv_(const char *trans, const int *m, const int *n, const float *alpha, const float *a,
            const int *lda, const float *x, const int *incx, const float *beta, float *y,
            const int *incy, size_t trans_length)
{
    (void)trans_length;
    struct gemv_call call = {.trans = transposed(trans),
                             .m = *m,
                             .n = *n,
                             .alpha = *alpha,
                             .beta = *beta,
                             .a = a,
                             .x = x,
                             .y = y,
                             .lda = *lda,
                             .incx = *incx,
                             .incy = *incy};
    if (!calls_gemv(&call))
        ((sgemv_fn *)calls_behind("sgemv_"))(trans, m, n, alpha, a, lda, x, incx, beta, y, incy, 1);
}
