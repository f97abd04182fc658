/* Tiles of which not all is valid, those that come one by one, and ends in memory. */
#include "kernels/gemm/tiles.h"

static void copy_rows(char *to, size_t to_row, const char *from, size_t from_row,
                      const struct gemm_tile *tile, size_t bytes)
{
    for (size_t i = 0; i < tile->m; i++)
        memcpy(to + i * to_row * bytes, from + i * from_row * bytes, tile->n * bytes);
}

/* A tile whose sums go to `sums`, where they are already if there are any. */
static struct gemm_tile copy_of(const struct gemm_tile *tile, size_t sum_bytes, uint32_t *sums)
{
    struct gemm_tile all = *tile;
    all.sums = sums, all.row = tile->nr, all.m = tile->mr, all.n = tile->nr;
    if (tile->add) {
        memset(sums, 0, GEMM_MR * GEMM_MOST_NR * sizeof *sums);
        copy_rows((char *)sums, all.row, tile->sums, tile->row, tile, sum_bytes);
    }
    return all;
}

/* In memory: the sums of a tile, m by n of which are valid. */
static void finish_sums(const struct gemm_tile *tile, const void *sums, size_t row)
{
    struct gemm_finish end = *tile->end;
    end.m = tile->m, end.n = tile->n;
    end.sums = sums, end.row = row;
    end.run(&end);
}

/* As a whole one elsewhere. */
static void run_part(const struct gemm_tile *tile, const struct gemm_type *type, gemm_run_fn *whole)
{
    size_t sum_bytes = element_bytes(type->sum);
    uint32_t sums[GEMM_MR * GEMM_MOST_NR];
    struct gemm_tile all = copy_of(tile, sum_bytes, sums);
    all.end = NULL;
    whole(&all);
    if (tile->end)
        finish_sums(tile, sums, all.row);
    else
        copy_rows(tile->sums, tile->row, (const char *)sums, all.row, tile, sum_bytes);
}

typedef void tile_fn(const struct gemm_tile *tile, const struct gemm_type *type,
                     gemm_run_fn *whole);

static void run_whole(const struct gemm_tile *tile, const struct gemm_type *type,
                      gemm_run_fn *whole)
{
    (void)type;
    whole(tile);
}

static void go_right(struct gemm_tile *tile, const struct gemm_type *type)
{
    size_t row = tile->nr * element_bytes(type->sum);
    tile->b = (const char *)tile->b + tile->beside;
    tile->sums = (char *)tile->sums + row;
    if (tile->start)
        tile->start = (const char *)tile->start + row;
}

/* end: what finishes the tile, or NULL. */
static void go_down(struct gemm_tile *tile, struct gemm_finish *end, const struct gemm_type *type)
{
    size_t panel = tile->groups * type->group * tile->mr * element_bytes(type->element);
    tile->a = (const char *)tile->a + panel;
    if (tile->sums)
        tile->sums = (char *)tile->sums + tile->mr * tile->row * element_bytes(type->sum);
    if (!end)
        return;
    end->dst = (char *)end->dst + tile->mr * end->dst_row * element_bytes(end->to);
    if (end->row_scales)
        end->row_scales += tile->mr;
}

static void for_each(const struct gemm_tile *tile, const struct gemm_type *type, tile_fn *run,
                     gemm_run_fn *whole)
{
    struct gemm_tile one = *tile;
    struct gemm_finish copy, *end = NULL;
    one.tiles = 1;
    if (tile->end) {
        copy = *tile->end;
        one.end = end = &copy;
    }
    for (uint32_t t = tile->tiles ? tile->tiles : 1; t; t--) {
        run(&one, type, whole);
        if (tile->mr == 1 && !end)
            go_right(&one, type);
        else
            go_down(&one, end, type);
    }
}

void gemm_run_each(const struct gemm_tile *tile, const struct gemm_type *type, gemm_run_fn *run)
{
    for_each(tile, type, tile->end ? run_part : run_whole, run);
}

void gemm_run_parts(const struct gemm_tile *tile, const struct gemm_type *type, gemm_run_fn *whole)
{
    for_each(tile, type, run_part, whole);
}
