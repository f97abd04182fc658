/* Convolution as a matrix multiplication: the addresses of a matrix's segments as distances, which
 * are known at create.
 *
 * A distance is from the matrix's first image in src, or, if its highest bit is set, from what
 * belongs to the task: its copies of edges with the zeros behind them, or, if there are no edges,
 * zeros alone. */
#include "kernels/asm/inline.h"
#include "src/convolution/address_pairs.h"
#include "src/convolution/gemm/gemm.h"

enum { LIST = GEMM_F32_LIST };
#define OWN (UINT64_C(1) << 63)

/* Places that no two sizes reach from one to the other. */
#define SRC_PLACE (UINT64_C(1) << 61)
#define EDGES_PLACE (UINT64_C(1) << 62)

void segments_plan_table(struct convolution_gemm *plan)
{
    const struct gemm_plan *gemm = &plan->gemm;
    if (!plan->images || !gemm->listed || plan->rows_are_affine || gemm->shape.k == 0 ||
        gemm->block_k != gemm->shape.k)
        return;
    size_t segments = gemm->shape.k / plan->segment;
    if (segments_fit_table((double)gemm->row_tiles, (double)segments))
        plan->table_bytes = gemm->row_tiles *
                            (segments * LIST * sizeof(uint64_t) + sizeof(struct convolution_tile));
}

static uint64_t distance(const struct convolution_gemm *plan, uint64_t address)
{
    if (address == (uintptr_t)segments_padding)
        return OWN | (plan->edge_bytes - (plan->edge_row ? bytes((neo_dim)plan->segment) : 0));
    return address >= EDGES_PLACE ? OWN | (address - EDGES_PLACE) : address - SRC_PLACE;
}

/* By the way that lists take which are made when they are needed. */
static size_t fill_tile(const struct convolution_gemm *plan, size_t index, struct span reach,
                        uint64_t *distances)
{
    const struct execution execution = {.buffers[SRC] = (void *)(uintptr_t)SRC_PLACE};
    const struct convolution_call call = {plan, &execution};
    const float **addresses = (const float **)(void *)distances;
    struct span rows = gemm_plan_tile(&plan->gemm, index);
    struct gemm_list list = {.row = rows.begin,
                             .height = rows.end - rows.begin,
                             .tall = 1,
                             .first = reach.begin,
                             .segments = (reach.end - reach.begin) / plan->segment,
                             .out = addresses};
    segments_list(&call, (const float *)(uintptr_t)EDGES_PLACE, &list);
    for (size_t i = 0; i < list.segments * LIST; i++)
        distances[i] = distance(plan, (uintptr_t)addresses[i]);
    return list.segments * LIST;
}

/* Tiles that follow each other and reach the same are told of at once. */
static void join_tiles(struct convolution_tile *tiles, size_t count)
{
    for (size_t i = count; i-- > 1;) {
        struct gemm_reach *before = &tiles[i - 1].reach, *reach = &tiles[i].reach;
        if (before->k.begin == reach->k.begin && before->k.end == reach->k.end)
            before->end = reach->end;
    }
}

void segments_fill_table(struct convolution_gemm *plan, void *table)
{
    const struct gemm_plan *gemm = &plan->gemm;
    struct convolution_tile *tiles = table;
    uint64_t *distances = (uint64_t *)(void *)(tiles + gemm->row_tiles);
    size_t used = 0;
    for (size_t i = 0; i < gemm->row_tiles; i++) {
        struct span rows = gemm_plan_tile(gemm, i), reach = {0, gemm->shape.k};
        if (gemm->shape.a_has_zeros)
            reach = patches_reach(plan, 0, rows.begin, rows.end - rows.begin);
        tiles[i] = (struct convolution_tile){{reach, rows.end}, used};
        used += fill_tile(plan, i, reach, distances + used);
    }
    join_tiles(tiles, gemm->row_tiles);
    plan->tiles = tiles;
    plan->table = distances;
}

typedef int64_t signed_pair __attribute__((vector_size(16)));

/* What distances are from. */
struct places {
    pair src, own;
};

/* The first lanes of so many lists; there are 2 * pairs. All are loaded before one is stored, as a
 * store may be to where the next one comes from for all that a compiler knows, and each is computed
 * in a chain that cores which issue in order would wait for. */
INLINE void add_distances(const uint64_t *at, size_t count, struct places from, size_t pairs,
                          const float **out)
{
    for (; count; count--, at += LIST, out += LIST) {
        pair addresses[LIST / 2];
#pragma GCC unroll 4
        for (size_t p = 0; p < pairs; p++) {
            pair distances = load_pair(at + 2 * p), is_own = (pair)((signed_pair)distances < 0);
            addresses[p] = distances + ((from.own & is_own) | (from.src & ~is_own));
        }
#pragma GCC unroll 4
        for (size_t p = 0; p < pairs; p++)
            put_pair(out + 2 * p, addresses[p]);
    }
}

void segments_list_from_table(const struct convolution_call *call, const float *edges,
                              const struct gemm_list *list)
{
    const struct convolution_gemm *plan = call->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *own = plan->edge_row ? edges : segments_padding;
    neo_dim image = first_of(plan, list->batch).n;
    struct places from = {
        .src = both((uintptr_t)call->execution->buffers[SRC] +
                    bytes(image * s->src.n + source_of(plan, list->batch))),
        .own = both((uintptr_t)own + OWN), /* which takes the bit away */
    };
    const uint64_t *at = plan->table + plan->tiles[list->tile].first;
    size_t count = (list->tall + list->low) * list->segments;
    if (list->height <= LIST - 2)
        add_distances(at, count, from, LIST / 2 - 1, list->out);
    else
        add_distances(at, count, from, LIST / 2, list->out);
}
