/* The kernels whose tiles are assembly. */
#include "kernels/gemm/tiles.h"

#include "kernels/gemm/offsets.h"

enum {
    BF16_OR_F32 = 1 << ELEMENT_BF16 | 1 << ELEMENT_F32,
    F16_OR_F32 = 1 << ELEMENT_F16 | 1 << ELEMENT_F32,
};

/* Halves to which offsets are added at the most. */
INLINE int ends_in_halves(const struct gemm_tile *tile)
{
    const struct gemm_finish *end = tile->end;
    return !end || (end->to == ELEMENT_F16 && !tile->add && !tile->start && !end->row_scales &&
                    !end->scales && !end->is_requantized);
}

#define KERNEL(name, table, number, ends_here)                               \
    extern gemm_run_fn *const table[GEMM_TILES];                             \
    static void name(const struct gemm_tile *tile)                           \
    {                                                                        \
        gemm_run_whole_or_part(tile, table, &gemm_types[number], ends_here); \
    }
KERNEL(gemm_s8_dot_dotprod, gemm_s8_dot_tiles, GEMM_S8_DOT, gemm_ends_in(tile, GEMM_BYTES_OR_F32))
KERNEL(gemm_bf16_dot_bf16, gemm_bf16_dot_tiles, GEMM_BF16_DOT, gemm_ends_in(tile, BF16_OR_F32))
KERNEL(gemm_f16_fp16, gemm_f16_tiles, GEMM_F16, ends_in_halves(tile))
KERNEL(gemm_f16_long_fhm, gemm_f16_long_tiles, GEMM_F16_LONG, gemm_ends_in(tile, F16_OR_F32))
KERNEL(gemm_s8_mmla_i8mm, gemm_s8_mmla_tiles, GEMM_S8_MMLA, gemm_ends_in(tile, GEMM_BYTES_OR_F32))
KERNEL(gemm_bf16_mmla_bf16, gemm_bf16_mmla_tiles, GEMM_BF16_MMLA, gemm_ends_in(tile, BF16_OR_F32))
#undef KERNEL

/* The same functions, which look at that bit where it pays. */
static void gemm_s8_dot_narrow_dotprod(const struct gemm_tile *tile)
{
    struct gemm_tile narrow = *tile;
    narrow.ahead |= GEMM_NARROW;
    gemm_s8_dot_dotprod(&narrow);
}

#define ROW(name, number, needs)                                \
    {                                                           \
#name, &gemm_types[number], CPU_NEON | (needs), 0, name \
    }
const struct gemm_kernel gemm_neon[GEMM_NEON_KERNELS] = {
    {"gemm_s8_dot_narrow_dotprod", &gemm_types[GEMM_S8_DOT], CPU_NEON | CPU_DOTPROD,
     IN_ORDER_NARROW, gemm_s8_dot_narrow_dotprod},
    ROW(gemm_s8_dot_dotprod, GEMM_S8_DOT, CPU_DOTPROD),
    ROW(gemm_bf16_dot_bf16, GEMM_BF16_DOT, CPU_BF16),
    ROW(gemm_f16_fp16, GEMM_F16, CPU_FP16),
    ROW(gemm_f16_long_fhm, GEMM_F16_LONG, CPU_FHM),
    ROW(gemm_s8_mmla_i8mm, GEMM_S8_MMLA, CPU_DOTPROD | CPU_I8MM),
    ROW(gemm_bf16_mmla_bf16, GEMM_BF16_MMLA, CPU_BF16),
    ROW(gemm_f32_tiles_neon, GEMM_F32, 0),
    ROW(gemm_s8_wide_neon, GEMM_S8_WIDE, 0),
};
#undef ROW
