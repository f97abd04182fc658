/* The calls that this library serves, as column-major descriptions, and the functions of the same
 * names in the BLAS behind it. */
#ifndef COMPAT_BLAS_CALLS_H
#define COMPAT_BLAS_CALLS_H

/* C (m x n) = alpha * op(A) * op(B) + beta * C, column-major; op transposes where trans is 1. */
struct gemm_call {
    int trans_a, trans_b; /* 0 or 1; negative: the caller's value is none */
    int m, n, k;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int lda, ldb, ldc;
};

/* y = alpha * op(A) * x + beta * y; A is m x n, column-major. */
struct gemv_call {
    int trans; /* as above */
    int m, n;
    float alpha, beta;
    const float *a, *x;
    float *y;
    int lda, incx, incy;
};

/* 1: done. 0: nothing has happened, and the BLAS behind is to be called: it reports what is wrong,
 * scales where there is no product, and takes negative increments. */
int calls_gemm(const struct gemm_call *call);
int calls_gemv(const struct gemv_call *call);

/* The function of this name in the libraries after this one. Ends the process with a sentence if
 * there is none: a BLAS call has no way to fail. */
typedef void calls_any_fn(void);
calls_any_fn *calls_behind(const char *name);

#endif
