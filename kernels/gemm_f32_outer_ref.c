/* The definition of gemm_f32_direct.h as loops: tiles that read columns of A. */
#include "kernels/gemm_f32_direct_ref.h"
#include "kernels/gemm_f32_outer.h"

#define RUN(name, height, vectors)                                                              \
    static void run_##name(const struct gemm_f32_direct *shape, const float *a, const float *b, \
                           float *c, const float *bias)                                         \
    {                                                                                           \
        run_strip_ref(&(struct strip){shape, a, b, bias, c}, 1, shape->lda, height, vectors,    \
                      vectors);                                                                 \
    }
#define TILE(name_, height_, vectors_)                                                   \
    {                                                                                    \
        .name = "gemm_f32_outer_" #name_ "_ref", .height = height_, .vectors = vectors_, \
        .group = vectors_, .run = run_##name_,                                           \
    }
/* clang-format off */
RUN(1x4, 1, 1)
RUN(2x4, 2, 1)
RUN(3x4, 3, 1)
RUN(4x4, 4, 1)
RUN(5x4, 5, 1)
RUN(6x4, 6, 1)
RUN(7x4, 7, 1)
RUN(8x4, 8, 1)
RUN(1x8, 1, 2)
RUN(2x8, 2, 2)
RUN(3x8, 3, 2)
RUN(4x8, 4, 2)
RUN(5x8, 5, 2)
RUN(6x8, 6, 2)
RUN(7x8, 7, 2)
RUN(8x8, 8, 2)
RUN(1x12, 1, 3)
RUN(2x12, 2, 3)
RUN(3x12, 3, 3)
RUN(4x12, 4, 3)
RUN(5x12, 5, 3)
RUN(6x12, 6, 3)
RUN(7x12, 7, 3)
RUN(8x12, 8, 3)
RUN(1x16, 1, 4)
RUN(2x16, 2, 4)
RUN(3x16, 3, 4)
RUN(4x16, 4, 4)
RUN(5x16, 5, 4)
RUN(6x16, 6, 4)

const struct gemm_f32_direct_kernel gemm_f32_outer_ref[GEMM_F32_OUTER_TILES] = {
    TILE(1x4, 1, 1),
    TILE(2x4, 2, 1),
    TILE(3x4, 3, 1),
    TILE(4x4, 4, 1),
    TILE(5x4, 5, 1),
    TILE(6x4, 6, 1),
    TILE(7x4, 7, 1),
    TILE(8x4, 8, 1),
    TILE(1x8, 1, 2),
    TILE(2x8, 2, 2),
    TILE(3x8, 3, 2),
    TILE(4x8, 4, 2),
    TILE(5x8, 5, 2),
    TILE(6x8, 6, 2),
    TILE(7x8, 7, 2),
    TILE(8x8, 8, 2),
    TILE(1x12, 1, 3),
    TILE(2x12, 2, 3),
    TILE(3x12, 3, 3),
    TILE(4x12, 4, 3),
    TILE(5x12, 5, 3),
    TILE(6x12, 6, 3),
    TILE(7x12, 7, 3),
    TILE(8x12, 8, 3),
    TILE(1x16, 1, 4),
    TILE(2x16, 2, 4),
    TILE(3x16, 3, 4),
    TILE(4x16, 4, 4),
    TILE(5x16, 5, 4),
    TILE(6x16, 6, 4),
};
/* clang-format on */
#undef TILE
#undef RUN
