/* The types that are multiplied. */
#include "kernels/gemm/types.h"

/* clang-format off */
const struct gemm_type gemm_types[] = {
    /*                 name         panels        sums         in a tile    group products vector by */
    [GEMM_F32]       = {"f32",       ELEMENT_F32,  ELEMENT_F32, ELEMENT_F32, 1,   4,  4, MAC_F32},
    [GEMM_S8_DOT]    = {"s8_dot",    ELEMENT_S8,   ELEMENT_S32, ELEMENT_S32, 4,   16, 4, MAC_SDOT},
    [GEMM_S8_MMLA]   = {"s8_mmla",   ELEMENT_S8,   ELEMENT_S32, ELEMENT_S32, 8,   32, 4, MAC_SMMLA},
    [GEMM_S8_WIDE]   = {"s8_wide",   ELEMENT_S8,   ELEMENT_S32, ELEMENT_S32, 16,  8,  4, MAC_SMULL},
    [GEMM_BF16_DOT]  = {"bf16_dot",  ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32, 2,   8,  4, MAC_BFDOT},
    [GEMM_BF16_MMLA] = {"bf16_mmla", ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32, 4,   16, 4, MAC_BFMMLA},
    [GEMM_F16]       = {"f16",       ELEMENT_F16,  ELEMENT_F32, ELEMENT_F16, 1,   8,  8, MAC_F16},
    [GEMM_F16_LONG]  = {"f16_long",  ELEMENT_F16,  ELEMENT_F32, ELEMENT_F32, 1,   4,  4, MAC_FMLAL},
};
/* clang-format on */
const size_t gemm_type_count = GEMM_TYPES;

const struct gemm_type *gemm_type_named(const char *name)
{
    for (size_t i = 0; i < gemm_type_count; i++)
        if (!strcmp(gemm_types[i].name, name))
            return &gemm_types[i];
    return NULL;
}
