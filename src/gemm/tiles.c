/* Which kernels a thread uses, by the core it runs on. */
#include "src/gemm/tiles.h"

static void find_for(struct gemm_tiles *tiles, int in_order)
{
    tiles->in_order = in_order;
    tiles->listed = gemm_f32_listed_find(tiles->features, in_order);
    tiles->planes = gemm_f32_planes_find(tiles->features, in_order);
    gemm_f32_find_tiles(tiles->run, tiles->features, in_order, tiles->columns);
    tiles->pack = gemm_f32_find_packing(tiles->features, in_order, tiles->columns);
}

void gemm_tiles_init(struct gemm_tiles *tiles, const struct cpu *cpu, int columns)
{
    tiles->features = cpu->features;
    tiles->columns = columns;
    find_for(tiles, cpu->core->in_order);
}

const struct gemm_tiles *gemm_tiles_here(const struct gemm_tiles *planned, struct gemm_tiles *own,
                                         const struct parallel *parallel)
{
    int in_order = parallel_kind_here(parallel);
    if (in_order < 0 || in_order == planned->in_order)
        return planned;
    *own = *planned;
    find_for(own, in_order);
    return own;
}
