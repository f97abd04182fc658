/* The definition of gemm/f32/direct/direct.h as loops: tiles that read columns of A. */
#include "kernels/gemm/f32/direct/ref.h"
#include "kernels/gemm/f32/outer/outer.h"

#define KERNEL(height, width)                                                               \
    gemm_f32_direct_fn gemm_f32_outer_##height##x##width##_ref;                             \
    void gemm_f32_outer_##height##x##width##_ref(const struct gemm_f32_direct *shape,       \
                                                 const float *a, const float *b, float *c,  \
                                                 const float *bias)                         \
    {                                                                                       \
        run_strip_ref(                                                                      \
            &(struct strip){shape, a, b, bias, c, 1, shape->lda, (width) / 4, (width) / 4}, \
            shape->tiles *(height), sum_in_order);                                          \
    }
#include "kernels/gemm/f32/outer/list.h"
