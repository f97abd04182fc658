/* The list of kernels for planes, fastest first. */
#include "kernels/gemm/f32/planes/planes.h"

/* clang-format off */
#if !NEO_PORTABLE
#include "kernels/gemm/f32/planes/planes_offsets.h"

#define DECLARED(width, height, kind) \
    gemm_f32_planes_fn gemm_f32_planes_##height##x##width##kind, gemm_f32_planes_4x##width##kind;
#define TILES(width, height, kind) \
    {height, gemm_f32_planes_##height##x##width##kind, gemm_f32_planes_4x##width##kind},
#define EACH(of, kind) of(4, 16, kind) of(8, 12, kind) of(12, 8, kind)
EACH(DECLARED, _narrow_neon)
EACH(DECLARED, _neon)
#endif
#define REF(height) {height, gemm_f32_planes_run_ref, gemm_f32_planes_run_ref},

const struct gemm_f32_planes_kernels gemm_f32_planes_kernels[] = {
#if !NEO_PORTABLE
    {"gemm_f32_planes_narrow_neon", CPU_NEON, IN_ORDER_NARROW, {EACH(TILES, _narrow_neon)}},
    {"gemm_f32_planes_neon", CPU_NEON, 0, {EACH(TILES, _neon)}},
#endif
    {"gemm_f32_planes_ref", 0, 0, {REF(16) REF(12) REF(8)}},
};
/* clang-format on */
const size_t gemm_f32_planes_kernel_count =
    sizeof gemm_f32_planes_kernels / sizeof gemm_f32_planes_kernels[0];

const struct gemm_f32_planes_kernels *gemm_f32_planes_find(uint32_t features, int in_order)
{
    const struct gemm_f32_planes_kernels *kernels = gemm_f32_planes_kernels;
    while (!cpu_suits(kernels->needs, kernels->in_order, features, in_order))
        kernels++;
    return kernels;
}
