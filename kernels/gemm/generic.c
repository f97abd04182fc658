/* Tiles of bytes and of floats for builds without kernels of their own: C that compilers make
 * vectors of. Results are those of types_ref.c to the bit; types_ref.c runs where the processor has
 * no such vectors. There is one kernel for each type that is chosen in these builds. */
#include "kernels/asm/fused.h"
#include "kernels/asm/inline.h"
#include "kernels/gemm/tiles.h"

enum { WIDEST = GEMM_NR / LANES };

/* ---- bytes: half a group of a row beside four columns' ones ---- */

enum { GROUP = 16, HALF = GROUP / 2 };

typedef int8_t bytes __attribute__((vector_size(HALF)));
typedef int16_t shorts __attribute__((vector_size(HALF * sizeof(int16_t))));
typedef int32_t words __attribute__((vector_size(HALF * sizeof(int32_t))));
typedef uint32_t sums __attribute__((vector_size(HALF * sizeof(uint32_t)))); /* they may wrap */

INLINE shorts load_half(const int8_t *from)
{
    bytes half;
    memcpy(&half, from, sizeof half);
    return __builtin_convertvector(half, shorts);
}

/* A product of two bytes fits 16 bits. */
FUSED INLINE void add_products(const struct gemm_tile *tile, const int8_t *a, const int8_t *b,
                               uint32_t *to)
{
    sums all[LANES] = {{0}};
    for (size_t g = 0; g < tile->groups; g++, a += tile->mr * GROUP, b += tile->nr * GROUP)
#pragma GCC unroll 2
        for (size_t h = 0; h < GROUP; h += HALF) {
            shorts row = load_half(a + h);
#pragma GCC unroll 4
            for (size_t j = 0; j < LANES; j++)
                all[j] += (sums) __builtin_convertvector(row * load_half(b + j * GROUP + h), words);
        }
    for (size_t j = 0; j < LANES; j++)
        for (size_t lane = 0; lane < HALF; lane++)
            to[j] += all[j][lane];
}

FUSED static void run_bytes(const struct gemm_tile *tile)
{
    const int8_t *a = tile->a, *b = tile->b;
    for (size_t i = 0; i < tile->m; i++) {
        uint32_t *c = (uint32_t *)tile->sums + i * tile->row, row[GEMM_NR] = {0};
        if (tile->add || tile->start)
            memcpy(row, tile->add ? c : tile->start, tile->n * sizeof *row);
        for (size_t j = 0; j < tile->n; j += LANES)
            add_products(tile, a + i * GROUP, b + j * GROUP, row + j);
        memcpy(c, row, tile->n * sizeof *row);
    }
}

/* ---- floats: some steps of both panels become f32, then four rows are multiplied at a time ----
 */

enum { STEPS = 12, ROWS = 4 };

/* Panels' elements have an order by step here; what is beyond a panel's rows is 0. */
struct floats {
    float a[STEPS][GEMM_MR], b[STEPS][GEMM_NR], c[GEMM_MR][GEMM_NR];
};

INLINE void read_panel(const struct gemm_type *type, const void *from, size_t width, size_t begin,
                       size_t end, float *to, size_t to_row)
{
    for (size_t p = begin; p < end; p += type->group)
        for (size_t i = 0; i < width; i++)
            for (size_t q = 0; q < type->group; q++) {
                size_t at = gemm_panel_at(type->group, width, i, p) + q;
                to[(p - begin + q) * to_row + i] =
                    element_read_f32(type->element, from, (ptrdiff_t)at);
            }
}

FUSED INLINE void multiply_rows(struct floats *f, size_t first, size_t vectors, size_t steps)
{
    vector all[ROWS][WIDEST] = {{{0}}}, columns;
    for (size_t i = 0; i < ROWS; i++)
        memcpy(all[i], f->c[first + i], vectors * sizeof(vector));
    for (size_t p = 0; p < steps; p++)
#pragma GCC unroll 3
        for (size_t v = 0; v < vectors; v++) {
            memcpy(&columns, &f->b[p][v * LANES], sizeof columns);
#pragma GCC unroll 4
            for (size_t i = 0; i < ROWS; i++)
                all[i][v] = f->a[p][first + i] * columns + all[i][v];
        }
    for (size_t i = 0; i < ROWS; i++)
        memcpy(f->c[first + i], all[i], vectors * sizeof(vector));
}

FUSED INLINE void multiply_floats(struct floats *f, const struct gemm_tile *tile, size_t steps)
{
    for (size_t i = 0; i < tile->m; i += ROWS)
        if (tile->nr == 3 * LANES)
            multiply_rows(f, i, 3, steps);
        else
            multiply_rows(f, i, tile->nr / LANES, steps);
}

INLINE void begin_floats(struct floats *f, const struct gemm_tile *tile)
{
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < tile->m && (tile->add || tile->start); i++) {
        const float *from = tile->start;
        memcpy(f->c[i], tile->add ? (float *)tile->sums + i * tile->row : from,
               tile->n * sizeof *from);
    }
}

FUSED INLINE void run_floats(const struct gemm_tile *tile, const struct gemm_type *type)
{
    struct floats f;
    size_t k = tile->groups * type->group;
    begin_floats(&f, tile);
    for (size_t begin = 0; begin < k; begin += STEPS) {
        size_t end = k - begin < STEPS ? k : begin + STEPS;
        read_panel(type, tile->a, tile->mr, begin, end, f.a[0], GEMM_MR);
        read_panel(type, tile->b, tile->nr, begin, end, f.b[0], GEMM_NR);
        multiply_floats(&f, tile, end - begin);
    }
    for (size_t i = 0; i < tile->m; i++)
        memcpy((float *)tile->sums + i * tile->row, f.c[i], tile->n * sizeof(float));
}

/* What a function is compiled for: gemm_types is in another file. */
FUSED static void run_f32(const struct gemm_tile *tile)
{
    run_floats(tile, &(struct gemm_type){.element = ELEMENT_F32, .group = 1});
}

FUSED static void run_bf16(const struct gemm_tile *tile)
{
    run_floats(tile, &(struct gemm_type){.element = ELEMENT_BF16, .group = 4});
}

FUSED static void run_f16(const struct gemm_tile *tile)
{
    run_floats(tile, &(struct gemm_type){.element = ELEMENT_F16, .group = 1});
}

/* ---- the kernels ---- */

#define KERNEL(name, number, one)                          \
    static void name(const struct gemm_tile *tile)         \
    {                                                      \
        if (has_fused())                                   \
            gemm_run_each(tile, &gemm_types[number], one); \
        else                                               \
            gemm_ref[number].run(tile);                    \
    }
KERNEL(gemm_f32_tiles_generic, GEMM_F32, run_f32)
KERNEL(gemm_s8_wide_generic, GEMM_S8_WIDE, run_bytes)
KERNEL(gemm_bf16_mmla_generic, GEMM_BF16_MMLA, run_bf16)
KERNEL(gemm_f16_long_generic, GEMM_F16_LONG, run_f16)
#undef KERNEL

#define ROW(name, number)                      \
    {                                          \
#name, &gemm_types[number], 0, 0, name \
    }
const struct gemm_kernel gemm_generic[GEMM_GENERIC_KERNELS] = {
    ROW(gemm_f32_tiles_generic, GEMM_F32),
    ROW(gemm_s8_wide_generic, GEMM_S8_WIDE),
    ROW(gemm_bf16_mmla_generic, GEMM_BF16_MMLA),
    ROW(gemm_f16_long_generic, GEMM_F16_LONG),
};
#undef ROW
