/* Dot products by vectors: one vector of sums for each row and column. Tiles of up to sixteen of
 * them keep all multipliers of a core busy (tiles_neon.S); what they leave of k, and fewer
 * rows than they have, is done here. */
#include <arm_neon.h>
#include <stdbool.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/dot/f32/dot.h"

enum { MAX_SUMS = 16, MAX_FEW = 8, ROUND = 8, LOW = 4 };

/* The whole rounds of k. */
typedef void tile_fn(const float *rows, size_t stride, const float *x, size_t x_stride,
                     size_t rounds, float32x4_t *sums);

/* All of k and of `count` rows, by tiles one below the other, where that is whole rounds and tiles.
 * Lines of results are rows, or columns, whose results follow each other. */
typedef void all_fn(const float *rows, size_t stride, const float *x, size_t x_stride,
                    size_t rounds, float *out, size_t out_line, size_t count);

#define NAME(tile, isa) dot_f32_##tile##_##isa
#define DECLARED(isa)                                                                        \
    tile_fn NAME(16x1, isa), NAME(8x2, isa), NAME(4x1, isa), NAME(4x2, isa), NAME(4x3, isa), \
        NAME(4x4, isa);                                                                      \
    all_fn NAME(dense_8x2, isa), NAME(dense_4x3, isa), NAME(rows_of_4, isa),                 \
        NAME(columns_16x1, isa), NAME(columns_8x2, isa), NAME(columns_4x3, isa),             \
        NAME(columns_4x4, isa), NAME(adding_rows_of_4, isa), NAME(adding_columns_4x4, isa);
DECLARED(neon)
DECLARED(narrow_neon)

/* By columns. */
struct tiles {
    tile_fn *highest[DOT_F32_COLUMNS], *low[DOT_F32_COLUMNS];
    all_fn *rows[DOT_F32_COLUMNS];    /* results of a row follow each other; NULL: as of a column */
    all_fn *columns[DOT_F32_COLUMNS]; /* results of a column do */
    all_fn *adding_rows, *adding_columns; /* the same of four columns, which add to what is there */
    uint8_t few[DOT_F32_COLUMNS];         /* so few rows that are left take less time than a tile */
};

/* How less than a vector is read: as the end of the vector that ends there, whose other elements
 * are sums already, or element by element where there is none. */
struct part {
    size_t count;
    bool whole;          /* there is such a vector */
    uint8x16_t to_front; /* its last `count` elements, then zeros */
};

static struct part part_of(size_t k)
{
    static const uint8_t bytes[32] = {0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,
                                      11,  12,  13,  14,  15,  255, 255, 255, 255, 255, 255,
                                      255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    size_t count = k % 4;
    return (struct part){count, k >= 4, vld1q_u8(bytes + 16 - 4 * count)};
}

INLINE float32x4_t load_end(const float *from, const struct part *part)
{
    if (!part->whole)
        return load_part(from, part->count);
    uint8x16_t all = vreinterpretq_u8_f32(vld1q_f32(from + part->count - 4));
    return vreinterpretq_f32_u8(vqtbl1q_u8(all, part->to_front));
}

/* A vector of R rows and C columns, or part of one; R and C are constants after inlining. */
INLINE void add_vector(const float *rows, size_t stride, const float *x, size_t x_stride,
                       const struct part *part, float32x4_t *sums, size_t R, size_t C)
{
    float32x4_t y[DOT_F32_COLUMNS];
#pragma GCC unroll 4
    for (size_t c = 0; c < C; c++)
        y[c] = part ? load_end(x + c * x_stride, part) : vld1q_f32(x + c * x_stride);
#pragma GCC unroll 16
    for (size_t r = 0; r < R; r++) {
        const float *row = rows + r * stride;
        float32x4_t a = part ? load_end(row, part) : vld1q_f32(row);
#pragma GCC unroll 4
        for (size_t c = 0; c < C; c++)
            sums[r * C + c] = vfmaq_f32(sums[r * C + c], a, y[c]);
    }
}

/* The values of k from `done` on, by vectors. */
INLINE void add_rest(const struct dot_f32 *dot, const float *rows, const float *x, size_t done,
                     const struct part *part, float32x4_t *sums, size_t R, size_t C)
{
    for (; done + 4 <= dot->k; done += 4)
        add_vector(rows + done, dot->stride, x + done, dot->x_stride, NULL, sums, R, C);
    if (done < dot->k)
        add_vector(rows + done, dot->stride, x + done, dot->x_stride, part, sums, R, C);
}

INLINE float32x4_t add_four(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d)
{
    return vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d));
}

INLINE void put(const struct dot_f32 *dot, float *out, float sum)
{
    *out = dot->adds ? sum + *out : sum;
}

/* Results, so many values apart. */
INLINE void put_four(const struct dot_f32 *dot, float *out, size_t apart, float32x4_t sums)
{
    if (apart == 1) {
        vst1q_f32(out, dot->adds ? vaddq_f32(sums, vld1q_f32(out)) : sums);
        return;
    }
    put(dot, out, vgetq_lane_f32(sums, 0));
    put(dot, out + apart, vgetq_lane_f32(sums, 1));
    put(dot, out + 2 * apart, vgetq_lane_f32(sums, 2));
    put(dot, out + 3 * apart, vgetq_lane_f32(sums, 3));
}

/* Of four rows: row by row where these are vectors, or column by column. */
INLINE void store_four(const struct dot_f32 *dot, float *out, const float32x4_t *sums, size_t C)
{
    size_t row = dot->out_row, column = dot->out_column;
    if (C == 4 && column == 1)
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++, sums += 4)
            put_four(dot, out + r * row, 1, add_four(sums[0], sums[1], sums[2], sums[3]));
    else
#pragma GCC unroll 4
        for (size_t c = 0; c < C; c++, sums++)
            put_four(dot, out + c * column, row,
                     add_four(sums[0], sums[C], sums[2 * C], sums[3 * C]));
}

/* R rows of results; R is less than 4 or a multiple of it. */
INLINE void store(const struct dot_f32 *dot, float *out, const float32x4_t *sums, size_t R,
                  size_t C)
{
    if (R < 4)
#pragma GCC unroll 8
        for (size_t i = 0; i < R * C; i++)
            put(dot, out + i / C * dot->out_row + i % C * dot->out_column, vaddvq_f32(sums[i]));
#pragma GCC unroll 4
    for (size_t r = 0; r + 4 <= R; r += 4)
        store_four(dot, out + r * dot->out_row, sums + r * C, C);
}

/* Where rows, columns and results are. */
struct place {
    const float *rows, *x;
    float *out;
};

/* From row `at` on; returns the first row that is left. */
INLINE size_t run_tiles(const struct dot_f32 *dot, const struct place *place, size_t at,
                        tile_fn *tile, size_t R, size_t C)
{
    float32x4_t sums[MAX_SUMS];
    size_t rounds = dot->k / ROUND;
    const struct part part = part_of(dot->k);
    for (; at + R <= dot->count; at += R) {
        const float *rows = place->rows + at * dot->stride;
        tile(rows, dot->stride, place->x, dot->x_stride, rounds, sums);
        add_rest(dot, rows, place->x, rounds * ROUND, &part, sums, R, C);
        store(dot, place->out + at * dot->out_row, sums, R, C);
    }
    return at;
}

/* The same without a tile's rounds, for few rows; R is less than 4. */
INLINE size_t run_rows(const struct dot_f32 *dot, const struct place *place, size_t at, size_t R,
                       size_t C)
{
    const struct part part = part_of(dot->k);
    for (; at + R <= dot->count; at += R) {
        float32x4_t sums[MAX_FEW];
#pragma GCC unroll 8
        for (size_t i = 0; i < R * C; i++)
            sums[i] = vdupq_n_f32(0);
        add_rest(dot, place->rows + at * dot->stride, place->x, 0, &part, sums, R, C);
        store(dot, place->out + at * dot->out_row, sums, R, C);
    }
    return at;
}

/* What a function returns whose last argument is the number of columns, as a constant. */
#define BY_COLUMNS(columns, function, ...)       \
    ((columns) == 1   ? function(__VA_ARGS__, 1) \
     : (columns) == 2 ? function(__VA_ARGS__, 2) \
     : (columns) == 3 ? function(__VA_ARGS__, 3) \
                      : function(__VA_ARGS__, 4))

/* A single row, by a function that needs to save nothing. */
static __attribute__((noinline)) size_t run_one(const struct dot_f32 *dot, const float *rows,
                                                const float *x, float *out, size_t at)
{
    struct place place = {rows, x, out};
    return BY_COLUMNS(dot->columns, run_rows, dot, &place, at, 1);
}

/* Two or three together: one would wait for its sums. */
INLINE size_t run_pairs_of(const struct dot_f32 *dot, const struct place *place, size_t at,
                           size_t C)
{
    if (C <= 2)
        at = run_rows(dot, place, at, 3, C);
    return run_rows(dot, place, at, 2, C);
}

static __attribute__((noinline)) size_t run_pairs(const struct dot_f32 *dot,
                                                  const struct place *place, size_t at)
{
    return BY_COLUMNS(dot->columns, run_pairs_of, dot, place, at);
}

/* Fewer rows than a tile has. */
static void run_few(const struct dot_f32 *dot, const struct place *place, size_t at)
{
    if (dot->count - at > 1)
        at = run_pairs(dot, place, at);
    if (at < dot->count)
        run_one(dot, place->rows, place->x, place->out, at);
}

/* The tiles that do everything, for results that lie as these leave them; NULL: there are none. */
INLINE all_fn *find_all(const struct dot_f32 *dot, const struct tiles *tiles, size_t *out_line,
                        size_t C)
{
    bool rows = dot->out_column == 1 && (C == 4 || dot->out_row == C);
    *out_line = C > 1 && rows ? dot->out_row : dot->out_column;
    if (dot->adds && C < 4)
        return NULL;
    if (C > 1 && rows)
        return dot->adds ? tiles->adding_rows : tiles->rows[C - 1];
    all_fn *columns = dot->adds ? tiles->adding_columns : tiles->columns[C - 1];
    return dot->out_row == 1 ? columns : NULL;
}

/* As many tiles of R rows as there are. What is left is a tile as well, which begins so much higher
 * that it is whole, unless it is `few` rows, which take less time by themselves: the same results
 * come again, which must not be added twice. Returns the first row that is left then. */
INLINE size_t run_all(const struct dot_f32 *dot, const struct place *place,
                      const struct tiles *tiles, size_t R, size_t C)
{
    size_t rounds = dot->k / ROUND, left = dot->count % R, whole = dot->count - left;
    size_t last = dot->count - R, out_line;
    if (rounds == 0 || dot->k % ROUND || whole == 0)
        return 0;
    all_fn *all = find_all(dot, tiles, &out_line, C);
    if (!all)
        return 0;
    all(place->rows, dot->stride, place->x, dot->x_stride, rounds, place->out, out_line, whole);
    if (dot->adds || left <= tiles->few[C - 1])
        return whole;
    all(place->rows + last * dot->stride, dot->stride, place->x, dot->x_stride, rounds,
        place->out + last * dot->out_row, out_line, R);
    return dot->count;
}

/* By the highest tiles, then lower ones. */
INLINE void run_columns(const struct dot_f32 *dot, const struct place *place,
                        const struct tiles *tiles, size_t C)
{
    const size_t highest = MAX_SUMS / C / LOW * LOW;
    size_t at = run_all(dot, place, tiles, highest, C);
    at = run_tiles(dot, place, at, tiles->highest[C - 1], highest, C);
    if (highest > LOW)
        at = run_tiles(dot, place, at, tiles->low[C - 1], LOW, C);
    if (at < dot->count)
        run_few(dot, place, at);
}

static __attribute__((noinline)) void run_many(const struct dot_f32 *dot, const struct place *place,
                                               const struct tiles *tiles)
{
    BY_COLUMNS(dot->columns, run_columns, dot, place, tiles);
}

INLINE void run_by(const struct dot_f32 *dot, const float *rows, const float *x, float *out,
                   const struct tiles *tiles)
{
    if (dot->count == 1)
        run_one(dot, rows, x, out, 0);
    else if (dot->count < LOW)
        run_few(dot, &(struct place){rows, x, out}, 0);
    else
        run_many(dot, &(struct place){rows, x, out}, tiles);
}

/* The assembly of a kernel, and how many rows are few for it. */
#define TILES(isa, ...)                                                                      \
    {                                                                                        \
        .highest = {NAME(16x1, isa), NAME(8x2, isa), NAME(4x3, isa), NAME(4x4, isa)},        \
        .low = {NAME(4x1, isa), NAME(4x2, isa)},                                             \
        .rows = {NULL, NAME(dense_8x2, isa), NAME(dense_4x3, isa), NAME(rows_of_4, isa)},    \
        .columns = {NAME(columns_16x1, isa), NAME(columns_8x2, isa), NAME(columns_4x3, isa), \
                    NAME(columns_4x4, isa)},                                                 \
        .adding_rows = NAME(adding_rows_of_4, isa),                                          \
        .adding_columns = NAME(adding_columns_4x4, isa), .few = {__VA_ARGS__},               \
    }

static void run(const struct dot_f32 *dot, const float *rows, const float *x, float *out)
{
    static const struct tiles tiles = TILES(neon, 8, 4, 2, 2);
    run_by(dot, rows, x, out, &tiles);
}

static void run_narrow(const struct dot_f32 *dot, const float *rows, const float *x, float *out)
{
    static const struct tiles tiles = TILES(narrow_neon, 11, 4, 2, 2);
    run_by(dot, rows, x, out, &tiles);
}

const struct dot_f32_kernel dot_f32_neon = {"dot_f32_neon", CPU_NEON, 0, run};
const struct dot_f32_kernel dot_f32_narrow_neon = {"dot_f32_narrow_neon", CPU_NEON, IN_ORDER_NARROW,
                                                   run_narrow};
