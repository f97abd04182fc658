/* Rows of floats become panels of s8: each has the scale that makes its largest element 127. */
#include <math.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/matmul/blocks/blocks.h"
#include "src/tensor/element.h"

enum { CHUNK = 256 };

/* One row of src. */
struct row {
    const struct blocks_band *band;
    neo_dim first, step;
};

static struct row row_of(const struct blocks_band *band, size_t i)
{
    const struct problem *problem = band->execution->problem;
    const neo_memory_desc *src = &problem->tensors[SRC];
    size_t m = (size_t)problem->tensors[DST].dims[src->ndims - 2], number = band->first + i;
    neo_dim position[NEO_MAX_NDIMS];
    matmul_position(problem, number / m, position);
    neo_dim first =
        matmul_batch_offset(src, position) + (neo_dim)(number % m) * src->strides[src->ndims - 2];
    return (struct row){band, first, src->strides[src->ndims - 1]};
}

/* Elements [from, from + count) as f32, in chunk or where they are. */
static const float *load(const struct row *row, size_t from, size_t count, float *chunk)
{
    const struct execution *execution = row->band->execution;
    neo_data_type type = execution->problem->tensors[SRC].data_type;
    neo_dim first = row->first + (neo_dim)from * row->step;
    if (type == NEO_F32 && row->step == 1)
        return (const float *)execution->buffers[SRC] + first;
    line_load(execution->problem->convert, type, execution->buffers[SRC], first, row->step, count,
              chunk);
    return chunk;
}

static float largest(const struct row *row)
{
    float range[2] = {0, 0}, chunk[CHUNK];
    for (size_t from = 0; from < row->band->plan->k; from += CHUNK) {
        size_t count = min_size(CHUNK, row->band->plan->k - from);
        row->band->plan->quantize->range(count, load(row, from, count, chunk), range);
    }
    return fmaxf(-range[0], range[1]);
}

/* Returns what the integers are to be multiplied by. */
static float quantize(const struct row *row, int8_t *out)
{
    const struct matmul_blocks *plan = row->band->plan;
    const float least = 0x1p-119f; /* whose reciprocal times 127 is finite */
    float size = largest(row), factor = size >= least ? 127 / size : 0, chunk[CHUNK];
    for (size_t from = 0; from < plan->k; from += CHUNK) {
        size_t count = min_size(CHUNK, plan->k - from);
        plan->quantize->multiply(&(struct quantize_line){
            .n = count, .src = load(row, from, count, chunk), .dst = out + from, .scale = factor});
    }
    memset(out + plan->k, 0, plan->depth - plan->k);
    return isinf(size) ? NAN : size / 127;
}

static void pack_block(const struct blocks_band *band, struct span tile, size_t g,
                       const int8_t *rows)
{
    const struct matmul_blocks *plan = band->plan;
    size_t mr = tile.end - tile.begin, block = plan->blocks.block;
    int32_t sums[BLOCKS_MR] = {0}, *starts = band->starts + tile.begin * plan->count + g * mr;
    plan->pack(&(struct pack_panel){
        .from = ELEMENT_S8,
        .to = ELEMENT_S8,
        .group = plan->as_they_are ? 4 : plan->type->group,
        .width = mr,
        .count = mr,
        .k = block,
        .src = rows + g * block,
        .lane = (ptrdiff_t)plan->depth,
        .step = 1,
        .out = blocks_a(band, tile.begin, mr, g),
        .sums = sums,
    });
    for (size_t i = 0; i < mr; i++)
        starts[i] = gemm_s4_start(sums[i]);
}

void blocks_quantize_tiles(void *argument, struct span tiles, int slot)
{
    const struct blocks_band *band = argument;
    const struct matmul_blocks *plan = band->plan;
    int8_t *rows = (int8_t *)(band->tasks + (size_t)slot * plan->task_bytes);
    for (size_t t = tiles.begin; t < tiles.end; t++) {
        struct span tile = blocks_tile(band, t);
        for (size_t i = tile.begin; i < tile.end; i++) {
            struct row row = row_of(band, i);
            band->row_scales[i] = quantize(&row, rows + (i - tile.begin) * plan->depth);
        }
        for (size_t g = 0; g < plan->count; g++)
            pack_block(band, tile, g, rows);
    }
}
