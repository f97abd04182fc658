/* Which BLAS calls a matmul primitive serves, and as what. A column-major matrix is its row-major
 * transpose, so C = A * B is computed as C' = B' * A'. */
#include "compat/blas/calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "compat/blas/product.h"

static int at_least(int value, int size)
{
    return value >= (size > 1 ? size : 1);
}

static int gemm_is_served(const struct gemm_call *call)
{
    return call->trans_a >= 0 && call->trans_b >= 0 && call->m > 0 && call->n > 0 && call->k > 0 &&
           call->alpha != 0 && at_least(call->lda, call->trans_a ? call->k : call->m) &&
           at_least(call->ldb, call->trans_b ? call->n : call->k) && at_least(call->ldc, call->m);
}

int calls_gemm(const struct gemm_call *call)
{
    if (!gemm_is_served(call))
        return 0;
    struct product_shape shape = {
        .m = call->n,
        .n = call->m,
        .k = call->k,
        .src = {call->trans_b ? 1 : call->ldb, call->trans_b ? call->ldb : 1},
        .weights = {call->trans_a ? 1 : call->lda, call->trans_a ? call->lda : 1},
        .dst = {call->ldc, 1},
        .alpha = call->alpha,
        .beta = call->beta,
    };
    return product_run(&shape, call->b, call->a, call->c);
}

static int gemv_is_served(const struct gemv_call *call)
{
    return call->trans >= 0 && call->m > 0 && call->n > 0 && call->alpha != 0 &&
           at_least(call->lda, call->m) && call->incx > 0 && call->incy > 0;
}

/* One row: x' * op(A)'. */
int calls_gemv(const struct gemv_call *call)
{
    if (!gemv_is_served(call))
        return 0;
    struct product_shape shape = {
        .m = 1,
        .n = call->trans ? call->n : call->m,
        .k = call->trans ? call->m : call->n,
        .src = {1, call->incx},
        .weights = {call->trans ? 1 : call->lda, call->trans ? call->lda : 1},
        .dst = {1, call->incy},
        .alpha = call->alpha,
        .beta = call->beta,
    };
    return product_run(&shape, call->x, call->a, call->y);
}

calls_any_fn *calls_behind(const char *name)
{
    union {
        void *object;
        calls_any_fn *function;
    } pun = {dlsym(RTLD_NEXT, name)};
    if (!pun.function) {
        (void)fprintf(stderr, "neoprene: no BLAS behind this libblas.so.3 has %s\n", name);
        abort();
    }
    return pun.function;
}
