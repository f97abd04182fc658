/* cblas_sgemm and cblas_sgemv: C's names, in both orders. */
#include "compat/blas/calls.h"
#include "neoprene/types.h"

/* The values that every CBLAS has. */
enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };

typedef void sgemm_fn(int order, int transa, int transb, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
typedef void sgemv_fn(int order, int trans, int m, int n, float alpha, const float *a, int lda,
                      const float *x, int incx, float beta, float *y, int incy);

NEO_API sgemm_fn cblas_sgemm;
NEO_API sgemv_fn cblas_sgemv;

static int transposed(int trans)
{
    if (trans == TRANS || trans == CONJ_TRANS)
        return 1;
    return trans == NO_TRANS ? 0 : -1;
}

void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    struct gemm_call columns = {.trans_a = transposed(transa),
                                .trans_b = transposed(transb),
                                .m = m,
                                .n = n,
                                .k = k,
                                .alpha = alpha,
                                .beta = beta,
                                .a = a,
                                .b = b,
                                .c = c,
                                .lda = lda,
                                .ldb = ldb,
                                .ldc = ldc};
    /* Row-major: the transpose of everything, so the operands change places. */
    struct gemm_call rows = columns;
    rows.trans_a = columns.trans_b;
    rows.trans_b = columns.trans_a;
    rows.m = n;
    rows.n = m;
    rows.a = b;
    rows.b = a;
    rows.lda = ldb;
    rows.ldb = lda;
    int done =
        order == COLUMN_MAJOR ? calls_gemm(&columns) : order == ROW_MAJOR && calls_gemm(&rows);
    if (!done)
        ((sgemm_fn *)calls_behind("cblas_sgemm"))(order, transa, transb, m, n, k, alpha, a, lda, b,
                                                  ldb, beta, c, ldc);
}

void cblas_sgemv(int order, int trans, int m, int n, float alpha, const float *a, int lda,
                 const float *x, int incx, float beta, float *y, int incy)
{
    int rows = order == ROW_MAJOR, op = transposed(trans);
    struct gemv_call call = {.trans = rows && op >= 0 ? !op : op,
                             .m = rows ? n : m,
                             .n = rows ? m : n,
                             .alpha = alpha,
                             .beta = beta,
                             .a = a,
                             .x = x,
                             .y = y,
                             .lda = lda,
                             .incx = incx,
                             .incy = incy};
    if ((!rows && order != COLUMN_MAJOR) || !calls_gemv(&call))
        ((sgemv_fn *)calls_behind("cblas_sgemv"))(order, trans, m, n, alpha, a, lda, x, incx, beta,
                                                  y, incy);
}
