/* What dot products take on cores that issue in order: these wait around products as long as for
 * them, so that each kind of call and tile counts (kernels/dot/f32/neon.c). */
#include "src/matmul/dot/in_order.h"

#include <stdbool.h>

#include "arch/costs.h"
#include "kernels/dot/f32/dot.h"

enum { ROUND = 8, LOW = 4 };

struct results {
    size_t rows, columns, k;
    double vector; /* of products in a tile */
    bool apart;    /* other columns' results lie between those of two rows */
};

/* Tiles of so many rows. */
static double tiles_cycles(const struct dot_costs *of, const struct results *some, size_t height)
{
    size_t rounds = some->k / ROUND, sums = height * some->columns;
    double vectors = 2 * (double)(rounds * sums) * some->vector;
    double rest = (some->k % ROUND >= 4 ? of->tile_vector : 0) + (some->k % 4 ? of->part : 0);
    double each =
        of->tile + (double)sums * of->result + vectors + (double)(height + some->columns) * rest;
    size_t tiles = some->rows / height;
    return (double)tiles * each;
}

/* The same with nothing but whole rounds: tiles of 16x1, 8x2, 4x3 or 4x4, and one more instead of
 * most rows that are left. Says how many rows are. */
static double whole_cycles(const struct dot_costs *of, const struct results *some, size_t height,
                           size_t *left)
{
    size_t tiles = some->rows / height, sums = height * some->columns;
    size_t most = height == LOW ? 2 : height == 2 * LOW ? 4 : (size_t)of->left;
    bool again = *left > most;
    if (again)
        tiles++, *left = 0;
    double each =
        of->whole_tile + (double)sums * (of->whole_result + (double)some->k / 4 * some->vector);
    return (again ? 2 : 1) * of->all + (double)tiles * each;
}

/* Fewer rows than tiles have. */
static double few_cycles(const struct dot_costs *of, const struct results *some)
{
    size_t most = some->columns <= 2 ? 3 : 2, calls = some->rows / most + (some->rows % most > 0);
    size_t vectors = some->k / 4, results = some->rows * some->columns;
    return (double)calls * (of->few + (double)vectors * of->few_vector) +
           (double)results * (of->one + (double)vectors * of->few_product);
}

static double columns_cycles(const struct dot_costs *of, struct results some)
{
    static const size_t heights[DOT_F32_COLUMNS + 1] = {0, 16, 8, LOW, LOW};
    size_t height = heights[some.columns], left = some.rows % height;
    bool dense = some.columns % 3 == 1 || !some.apart;
    bool whole = dense && some.k >= ROUND && some.k % ROUND == 0;
    double cycles = of->columns + (some.rows >= LOW ? of->many : 0);
    if (whole && some.rows >= height)
        cycles += whole_cycles(of, &some, height, &left);
    else
        cycles += tiles_cycles(of, &some, height);
    some.rows = left;
    if (height > LOW)
        cycles += tiles_cycles(of, &some, LOW);
    some.rows %= LOW;
    return some.rows ? cycles + few_cycles(of, &some) : cycles;
}

double dot_in_order_cycles(const struct core *core, size_t rows, size_t columns, size_t k,
                           const double *vector)
{
    const struct dot_costs *of = &core_costs(core)->dot;
    size_t groups = columns / DOT_F32_COLUMNS, rest = columns % DOT_F32_COLUMNS;
    struct results some = {rows, DOT_F32_COLUMNS, k, vector[DOT_F32_COLUMNS], groups > 0};
    double cycles = groups ? (double)groups * columns_cycles(of, some) : 0;
    some.columns = rest, some.vector = vector[rest];
    return rest ? cycles + columns_cycles(of, some) : cycles;
}
