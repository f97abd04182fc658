/* The definition of gemm_f32_direct.h as loops: tiles that read rows of A. */
#include "kernels/gemm_f32_direct_ref.h"

#define KERNEL(name, height, vectors, group)                                               \
    gemm_f32_direct_fn gemm_f32_direct_##name##_ref;                                       \
    void gemm_f32_direct_##name##_ref(const struct gemm_f32_direct *shape, const float *a, \
                                      const float *b, float *c, const float *bias)         \
    {                                                                                      \
        run_strip_ref(&(struct strip){shape, a, b, bias, c}, shape->lda, 1,                \
                      gemm_f32_direct_rows(shape, height), vectors, group);                \
    }
#include "kernels/gemm_f32_direct_list.h"
#include "kernels/gemm_f32_direct_only_in_order_list.h"
