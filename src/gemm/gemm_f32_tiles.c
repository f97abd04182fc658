/* Which kernels a thread uses, by the core it runs on. */
#include "src/gemm/gemm_f32_tiles.h"

void gemm_f32_tiles_init(struct gemm_f32_tiles *tiles, const struct cpu *cpu, int columns)
{
    tiles->features = cpu->features;
    tiles->in_order = cpu->core->in_order;
    tiles->columns = columns;
    gemm_f32_find_tiles(tiles->run, cpu->features, cpu->core->in_order, columns);
}

const struct gemm_f32_tiles *gemm_f32_tiles_here(const struct gemm_f32_tiles *planned,
                                                 struct gemm_f32_tiles *own,
                                                 const struct parallel *parallel)
{
    int in_order = parallel_in_order_here(parallel);
    if (in_order < 0 || in_order == planned->in_order)
        return planned;
    *own = *planned;
    own->in_order = in_order;
    gemm_f32_find_tiles(own->run, own->features, in_order, own->columns);
    return own;
}
