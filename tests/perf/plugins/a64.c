/* Classes of A64 instructions. Patterns are rows: a word matches when (word & mask) == bits. */
#include "tests/perf/plugins/a64.h"

#include <stdbool.h>
#include <stddef.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static uint32_t field(uint32_t word, unsigned low, unsigned width)
{
    return word >> low & ((1u << width) - 1);
}

/* ---- multiply-accumulates ---- */

/* How many products: `macs` are those of a 128-bit operation; where bit 30 (Q) tells 64 from 128
 * bits, half of them when it is clear. */
enum q_rule { ALWAYS, HALF_UNLESS_Q };

static const struct {
    uint32_t mask, bits;
    uint8_t macs, q_rule;
} mac_rows[] = {
    /* f32 and f64: FMLA, FMLS, FMUL, by vector and by element */
    {0xBF60FC00, 0x0E20CC00, 4, HALF_UNLESS_Q},
    {0xBFE0FC00, 0x2E20DC00, 4, HALF_UNLESS_Q},
    {0xBF60FC00, 0x0E60CC00, 2, ALWAYS},
    {0xBFE0FC00, 0x2E60DC00, 2, ALWAYS},
    {0xBFC0B400, 0x0F801000, 4, HALF_UNLESS_Q},
    {0xBFC0F400, 0x0F809000, 4, HALF_UNLESS_Q},
    {0xBFC0B400, 0x0FC01000, 2, ALWAYS},
    {0xBFC0F400, 0x0FC09000, 2, ALWAYS},
    /* f16: FMLA, FMLS, FMUL */
    {0xBF60FC00, 0x0E400C00, 8, HALF_UNLESS_Q},
    {0xBFE0FC00, 0x2E401C00, 8, HALF_UNLESS_Q},
    {0xBFC0B400, 0x0F001000, 8, HALF_UNLESS_Q},
    {0xBFC0F400, 0x0F009000, 8, HALF_UNLESS_Q},
    /* f16 into f32: FMLAL, FMLSL and their second halves */
    {0xBF60FC00, 0x0E20EC00, 4, HALF_UNLESS_Q},
    {0xBF60FC00, 0x2E20CC00, 4, HALF_UNLESS_Q},
    {0xBFC0B400, 0x0F800000, 4, HALF_UNLESS_Q},
    {0xBFC0B400, 0x2F808000, 4, HALF_UNLESS_Q},
    /* scalars: FMADD and its family, FMUL, FMLA/FMLS/FMUL by element */
    {0xFF000000, 0x1F000000, 1, ALWAYS},
    {0xFF20FC00, 0x1E200800, 1, ALWAYS},
    {0xFF80B400, 0x5F801000, 1, ALWAYS},
    {0xFF80F400, 0x5F809000, 1, ALWAYS},
    /* bytes into words: SDOT, UDOT, USDOT, SUDOT; SMMLA, UMMLA, USMMLA */
    {0x9FE0FC00, 0x0E809400, 16, HALF_UNLESS_Q},
    {0xBFE0FC00, 0x0E809C00, 16, HALF_UNLESS_Q},
    {0x9FC0F400, 0x0F80E000, 16, HALF_UNLESS_Q},
    {0xBF40F400, 0x0F00F000, 16, HALF_UNLESS_Q},
    {0xDFE0FC00, 0x4E80A400, 32, ALWAYS},
    {0xFFE0FC00, 0x4E80AC00, 32, ALWAYS},
    /* bf16 into f32: BFMMLA, BFDOT, BFMLALB and BFMLALT */
    {0xFFE0FC00, 0x6E40EC00, 16, ALWAYS},
    {0xBFE0FC00, 0x2E40FC00, 8, HALF_UNLESS_Q},
    {0xBFC0F400, 0x0F40F000, 8, HALF_UNLESS_Q},
    {0xBFE0FC00, 0x2EC0FC00, 4, ALWAYS},
    {0xBFC0F400, 0x0FC0F000, 4, ALWAYS},
    /* integers, widening: [SU]MLAL, [SU]MLSL, [SU]MULL for bytes, halves, words */
    {0x9FE0DC00, 0x0E208000, 8, ALWAYS},
    {0x9FE0FC00, 0x0E20C000, 8, ALWAYS},
    {0x9FE0DC00, 0x0E608000, 4, ALWAYS},
    {0x9FE0FC00, 0x0E60C000, 4, ALWAYS},
    {0x9FE0DC00, 0x0EA08000, 2, ALWAYS},
    {0x9FE0FC00, 0x0EA0C000, 2, ALWAYS},
    {0x9FC0B400, 0x0F402000, 4, ALWAYS},
    {0x9FC0F400, 0x0F40A000, 4, ALWAYS},
    {0x9FC0B400, 0x0F802000, 2, ALWAYS},
    {0x9FC0F400, 0x0F80A000, 2, ALWAYS},
    /* integers of one width: MLA, MLS, MUL */
    {0x9FE0FC00, 0x0E209400, 16, HALF_UNLESS_Q},
    {0xBFE0FC00, 0x0E209C00, 16, HALF_UNLESS_Q},
    {0x9FE0FC00, 0x0E609400, 8, HALF_UNLESS_Q},
    {0xBFE0FC00, 0x0E609C00, 8, HALF_UNLESS_Q},
    {0x9FE0FC00, 0x0EA09400, 4, HALF_UNLESS_Q},
    {0xBFE0FC00, 0x0EA09C00, 4, HALF_UNLESS_Q},
    {0xBFC0B400, 0x2F400000, 8, HALF_UNLESS_Q},
    {0xBFC0F400, 0x0F408000, 8, HALF_UNLESS_Q},
    {0xBFC0B400, 0x2F800000, 4, HALF_UNLESS_Q},
    {0xBFC0F400, 0x0F808000, 4, HALF_UNLESS_Q},
};

static uint32_t macs_of(uint32_t word)
{
    for (size_t i = 0; i < COUNT_OF(mac_rows); i++)
        if ((word & mac_rows[i].mask) == mac_rows[i].bits) {
            bool half = mac_rows[i].q_rule == HALF_UNLESS_Q && !field(word, 30, 1);
            return half ? mac_rows[i].macs / 2u : mac_rows[i].macs;
        }
    return 0;
}

/* ---- lanes that only move ---- */

static const struct {
    uint32_t mask, bits;
} permute_rows[] = {
    {0x9FE08400, 0x0E000400}, /* DUP, INS, SMOV, UMOV */
    {0xFFE08400, 0x5E000400}, /* DUP to a scalar */
    {0xBF208C00, 0x0E000800}, /* UZP, TRN, ZIP */
    {0xBFE08400, 0x2E000000}, /* EXT */
    {0xBFE08C00, 0x0E000000}, /* TBL, TBX */
    {0x9F3FEC00, 0x0E200800}, /* REV64, REV32, REV16 */
};

static bool is_permute(uint32_t word)
{
    for (size_t i = 0; i < COUNT_OF(permute_rows); i++)
        if ((word & permute_rows[i].mask) == permute_rows[i].bits)
            return true;
    return false;
}

static void count_simd(uint32_t word, uint32_t *counts)
{
    uint32_t macs = macs_of(word);
    if (macs) {
        counts[A64_mac]++;
        counts[A64_macs] += macs;
        return;
    }
    counts[A64_simd]++;
    counts[A64_perm] += is_permute(word);
}

/* ---- loads and stores ---- */

enum access { LOAD, STORE, PREFETCH };

struct transfer {
    enum access access;
    uint32_t bytes;
};

static bool is_vector(uint32_t word)
{
    return field(word, 26, 1);
}

static struct transfer literal(uint32_t word)
{
    uint32_t size = field(word, 30, 2);
    if (is_vector(word))
        return (struct transfer){LOAD, 4u << size};
    if (size == 3)
        return (struct transfer){PREFETCH, 0};
    return (struct transfer){LOAD, size == 1 ? 8 : 4};
}

static struct transfer pair(uint32_t word)
{
    uint32_t size = field(word, 30, 2);
    uint32_t one = is_vector(word) ? 4u << size : size == 2 ? 8 : 4;
    return (struct transfer){field(word, 22, 1) ? LOAD : STORE, 2 * one};
}

static struct transfer single(uint32_t word)
{
    uint32_t size = field(word, 30, 2), opc = field(word, 22, 2);
    if (is_vector(word))
        return (struct transfer){opc & 1 ? LOAD : STORE, opc & 2 ? 16 : 1u << size};
    if (size == 3 && opc == 2)
        return (struct transfer){PREFETCH, 0};
    bool atomic = (word & 0x3B200C00) == 0x38200000;
    return (struct transfer){opc || atomic ? LOAD : STORE, 1u << size};
}

/* LD1..LD4, ST1..ST4 of whole registers: the opcode tells how many */
static struct transfer structures(uint32_t word)
{
    static const uint8_t registers[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
    uint32_t width = field(word, 30, 1) ? 16 : 8;
    return (struct transfer){field(word, 22, 1) ? LOAD : STORE,
                             registers[field(word, 12, 4)] * width};
}

/* one lane of each, or one element for all lanes (scale 3) */
static struct transfer one_structure(uint32_t word)
{
    uint32_t elements = (field(word, 13, 1) << 1 | field(word, 21, 1)) + 1;
    uint32_t scale = field(word, 14, 2);
    if (scale == 3)
        scale = field(word, 10, 2);
    else if (scale == 2)
        scale = field(word, 10, 1) ? 3 : 2;
    return (struct transfer){field(word, 22, 1) ? LOAD : STORE, elements << scale};
}

static struct transfer ordered(uint32_t word)
{
    return (struct transfer){field(word, 22, 1) ? LOAD : STORE, 1u << field(word, 30, 2)};
}

static const struct {
    uint32_t mask, bits;
    struct transfer (*decode)(uint32_t word);
} memory_rows[] = {
    {0x3B000000, 0x18000000, literal},       {0x3A000000, 0x28000000, pair},
    {0x3A000000, 0x38000000, single},        {0xBF000000, 0x0C000000, structures},
    {0xBF000000, 0x0D000000, one_structure}, {0x3F000000, 0x08000000, ordered},
};

static void count_memory(uint32_t word, uint32_t *counts)
{
    struct transfer transfer = {LOAD, 8};
    for (size_t i = 0; i < COUNT_OF(memory_rows); i++)
        if ((word & memory_rows[i].mask) == memory_rows[i].bits) {
            transfer = memory_rows[i].decode(word);
            break;
        }
    static const uint8_t counter[] = {
        [LOAD] = A64_load, [STORE] = A64_store, [PREFETCH] = A64_prefetch};
    counts[counter[transfer.access]]++;
    if (transfer.access != PREFETCH)
        counts[counter[transfer.access] + 1] += transfer.bytes;
}

/* ---- top level ---- */

/* branches, exceptions, hints, barriers and system registers share a group */
static void count_branch(uint32_t word, uint32_t *counts)
{
    bool is_system = field(word, 24, 8) == 0xD5;
    counts[is_system ? A64_integer : A64_branch]++;
}

void a64_count(uint32_t word, uint32_t counts[A64_COUNTS])
{
    uint32_t group = field(word, 25, 4);
    counts[A64_total]++;
    if ((group & 5) == 4)
        count_memory(word, counts);
    else if ((group & 7) == 7)
        count_simd(word, counts);
    else if ((group & 14) == 10)
        count_branch(word, counts);
    else if ((group & 14) == 8 || (group & 7) == 5)
        counts[A64_integer]++;
    else
        counts[group == 2 ? A64_sve : A64_unknown]++;
}
