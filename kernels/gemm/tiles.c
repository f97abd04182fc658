/* Tiles of which not all is valid, and those that come one by one. */
#include "kernels/gemm/tiles.h"

static void copy_rows(char *to, size_t to_row, const char *from, size_t from_row,
                      const struct gemm_tile *tile, size_t sum_bytes)
{
    for (size_t i = 0; i < tile->m; i++)
        memcpy(to + i * to_row * sum_bytes, from + i * from_row * sum_bytes, tile->n * sum_bytes);
}

static void run_part(const struct gemm_tile *tile, size_t sum_bytes, gemm_run_fn *whole)
{
    uint32_t sums[GEMM_MR * GEMM_MOST_NR];
    struct gemm_tile all = *tile;
    all.sums = sums, all.row = tile->nr, all.m = tile->mr, all.n = tile->nr;
    if (tile->add) {
        memset(sums, 0, sizeof sums);
        copy_rows((char *)sums, all.row, tile->sums, tile->row, tile, sum_bytes);
    }
    whole(&all);
    copy_rows(tile->sums, tile->row, (const char *)sums, all.row, tile, sum_bytes);
}

void gemm_run_each(const struct gemm_tile *tile, const struct gemm_type *type, gemm_run_fn *run)
{
    struct gemm_tile one = *tile;
    one.tiles = 1;
    for (uint32_t t = tile->tiles ? tile->tiles : 1; t; t--, gemm_go_down(&one, type))
        run(&one);
}

void gemm_run_parts(const struct gemm_tile *tile, const struct gemm_type *type, gemm_run_fn *whole)
{
    struct gemm_tile one = *tile;
    one.tiles = 1;
    for (uint32_t t = tile->tiles ? tile->tiles : 1; t; t--, gemm_go_down(&one, type))
        run_part(&one, element_bytes(type->sum), whole);
}
