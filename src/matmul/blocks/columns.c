/* Panels of weights in blocks times rows of s8. */
#include <string.h>

#include "src/core/checked.h"
#include "src/matmul/blocks/blocks.h"
#include "src/primitive/finish.h"
#include "src/tensor/element.h"

enum { NR = GEMM_BLOCKS_NR, HALF = GEMM_BLOCKS_HALF };

/* One task's part of the scratchpad. */
struct room {
    float values[BLOCKS_BAND * NR], products[BLOCKS_BAND * NR];
    int32_t sums[BLOCKS_BAND * HALF];
    int8_t b[HALF * GEMM_S4_MOST_BLOCK];
};

size_t blocks_room_bytes(void)
{
    return sizeof(struct room);
}

/* ---- what offsets add ---- */

/* A row's sum of block g, in all columns. */
static void spread_row_sums(const struct blocks_band *band, size_t g, int32_t *sums)
{
    for (size_t t = 0; t * band->plan->mr < band->rows; t++) {
        struct span tile = blocks_tile(band, t);
        size_t mr = tile.end - tile.begin;
        const int32_t *starts = band->starts + tile.begin * band->plan->count + g * mr;
        for (size_t i = 0; i < mr; i++)
            for (size_t j = 0; j < HALF; j++)
                sums[(tile.begin + i) * HALF + j] = GEMM_FLOAT_START + gemm_s4_row_sum(starts[i]);
    }
}

static void multiply_offsets(const struct blocks_band *band, const float *offsets,
                             struct room *room)
{
    const struct matmul_blocks *plan = band->plan;
    memset(room->values, 0, band->rows * NR * sizeof(float));
    for (size_t g = 0; g < plan->count; g++, offsets += NR) {
        spread_row_sums(band, g, room->sums);
        for (size_t j = 0; j < NR; j += HALF)
            plan->kernel->add_scaled(band->rows, room->sums, offsets + j, room->values + j);
    }
    for (size_t i = 0; i < band->rows; i++)
        for (size_t j = 0; j < NR; j++)
            room->values[i * NR + j] *= band->row_scales[i];
}

/* ---- products ---- */

static void multiply_as_they_are(const struct blocks_band *band, const uint8_t *panel,
                                 struct room *room)
{
    const struct matmul_blocks *plan = band->plan;
    for (size_t t = 0; t * plan->mr < band->rows; t++) {
        struct span tile = blocks_tile(band, t);
        plan->as_they_are(&(struct gemm_s4_tile){
            .blocks = plan->count,
            .block = plan->blocks.block,
            .a = blocks_a(band, tile.begin, tile.end - tile.begin, 0),
            .b = panel,
            .c = room->values + tile.begin * NR,
            .row = NR,
            .starts = band->starts + tile.begin * plan->count,
            .row_scales = band->row_scales + tile.begin,
            .mr = (uint32_t)(tile.end - tile.begin),
            .n = NR,
            .add = (uint32_t)plan->blocks.has_offsets,
        });
    }
}

/* What sums begin with, so that their bits are those of floats. */
static const int32_t float_start[HALF] = {GEMM_FLOAT_START, GEMM_FLOAT_START, GEMM_FLOAT_START,
                                          GEMM_FLOAT_START, GEMM_FLOAT_START, GEMM_FLOAT_START,
                                          GEMM_FLOAT_START, GEMM_FLOAT_START};

/* Rows of whole tiles, or those of the last one. */
static void multiply_tiles(const struct blocks_band *band, size_t g, struct span rows, size_t mr,
                           const int8_t *b, int32_t *sums)
{
    const struct matmul_blocks *plan = band->plan;
    if (rows.begin == rows.end)
        return;
    plan->s8->run(&(struct gemm_tile){
        .groups = plan->blocks.block / plan->type->group,
        .a = blocks_a(band, rows.begin, mr, g),
        .b = b,
        .sums = sums + rows.begin * HALF,
        .row = HALF,
        .start = float_start,
        .mr = (uint32_t)mr,
        .nr = HALF,
        .m = (uint32_t)mr,
        .n = HALF,
        .tiles = (uint32_t)((rows.end - rows.begin) / mr),
    });
}

/* Half of the columns of block g, by rows from number `first` on. */
static void multiply_half(const struct blocks_band *band, const uint8_t *block, size_t g,
                          size_t half, size_t first, struct room *room)
{
    const struct matmul_blocks *plan = band->plan;
    const int8_t *b = (const int8_t *)block + half * HALF * plan->blocks.block;
    size_t whole = band->rows / plan->mr * plan->mr;
    if (plan->blocks.weight != ELEMENT_S8 || plan->type->group != 4) {
        plan->kernel->to_s8(&plan->blocks, block, half, plan->type->group, room->b);
        b = room->b;
    }
    multiply_tiles(band, g, (struct span){first, whole}, plan->mr, b, room->sums);
    multiply_tiles(band, g, (struct span){whole, band->rows}, band->rows - whole, b, room->sums);
}

static void scale_row(const float *products, float scale, int adds, float *values)
{
    float scaled[NR];
    for (size_t j = 0; j < NR; j++)
        scaled[j] = products[j] * scale;
    for (size_t j = 0; adds && j < NR; j++)
        scaled[j] += values[j];
    memcpy(values, scaled, sizeof scaled);
}

/* Whole tiles by all blocks, which are behind the room then. */
static void multiply_whole_tiles(const struct blocks_band *band, const uint8_t *panel,
                                 struct room *room)
{
    const struct matmul_blocks *plan = band->plan;
    size_t block = plan->blocks.block, bytes = gemm_blocks_bytes(&plan->blocks);
    float *scales = (float *)(void *)(room + 1);
    int8_t *all = (int8_t *)(scales + NR * plan->count);
    for (size_t g = 0; g < plan->count; g++, panel += bytes) {
        plan->kernel->scales(&plan->blocks, panel, scales + g * NR);
        for (size_t half = 0; half < 2; half++)
            plan->kernel->to_s8(&plan->blocks, panel, half, plan->type->group,
                                all + (half * plan->count + g) * HALF * block);
    }
    for (size_t i = 0; i + plan->mr <= band->rows; i += plan->mr)
        for (size_t half = 0; half < 2; half++)
            plan->kernel->multiply(&(struct gemm_blocks_tile){
                .blocks = plan->count,
                .block = block,
                .a = blocks_a(band, i, plan->mr, 0),
                .a_step = (band->rows - plan->mr) * block,
                .b = all + half * plan->count * HALF * block,
                .scales = scales + half * HALF,
                .c = room->products + i * NR + half * HALF,
                .row = NR,
            });
}

/* The columns of a panel by rows from number `first` on, a block at a time. */
static void multiply_by_blocks(const struct blocks_band *band, const uint8_t *panel, size_t first,
                               struct room *room)
{
    const struct matmul_blocks *plan = band->plan;
    float scales[NR];
    size_t rows = band->rows - first;
    memset(room->products + first * NR, 0, rows * NR * sizeof(float));
    for (size_t g = 0; g < plan->count; g++, panel += gemm_blocks_bytes(&plan->blocks)) {
        plan->kernel->scales(&plan->blocks, panel, scales);
        for (size_t half = 0; half < 2; half++) {
            multiply_half(band, panel, g, half, first, room);
            plan->kernel->add_scaled(rows, room->sums + first * HALF, scales + half * HALF,
                                     room->products + first * NR + half * HALF);
        }
    }
}

static void multiply_as_s8(const struct blocks_band *band, const uint8_t *panel, struct room *room)
{
    const struct matmul_blocks *plan = band->plan;
    size_t whole = plan->sums_all_blocks ? band->rows / plan->mr * plan->mr : 0;
    if (whole)
        multiply_whole_tiles(band, panel, room);
    if (whole < band->rows)
        multiply_by_blocks(band, panel, whole, room);
    for (size_t i = 0; i < band->rows; i++)
        scale_row(room->products + i * NR, band->row_scales[i], plan->blocks.has_offsets,
                  room->values + i * NR);
}

/* ---- results ---- */

/* Where nothing is left to do but storing. */
static void store(const struct blocks_band *band, size_t column, size_t count, const float *values)
{
    const neo_memory_desc *dst = &band->execution->problem->tensors[DST];
    float *to = (float *)band->execution->buffers[DST] + column;
    to += (neo_dim)band->first * dst->strides[dst->ndims - 2];
    for (size_t i = 0; i < band->rows; i++, values += NR, to += dst->strides[dst->ndims - 2])
        if (count == NR)
            memcpy(to, values, NR * sizeof *to); /* no call */
        else
            memcpy(to, values, count * sizeof *to);
}

static void finish(const struct blocks_band *band, size_t column, size_t count, float *values)
{
    const struct execution *execution = band->execution;
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    int last = dst->ndims - 1;
    size_t m = (size_t)dst->dims[last - 1];
    for (size_t i = 0; i < band->rows; i++, values += NR) {
        struct line line = {.direction = last, .count = count};
        matmul_position(execution->problem, (band->first + i) / m, line.position);
        line.position[last - 1] = (neo_dim)((band->first + i) % m);
        line.position[last] = (neo_dim)column;
        neo_dim to = matmul_batch_offset(dst, line.position) +
                     line.position[last - 1] * dst->strides[last - 1] +
                     line.position[last] * dst->strides[last];
        finish_line(execution, &line, values, true,
                    element_to(dst->data_type, execution->buffers[DST], to), dst->strides[last]);
    }
}

void blocks_multiply_panels(void *argument, struct span panels, int slot)
{
    const struct blocks_band *band = argument;
    const struct matmul_blocks *plan = band->plan;
    struct room *room = (void *)(band->tasks + (size_t)slot * plan->task_bytes);
    size_t bytes = gemm_blocks_panel_bytes(&plan->blocks, plan->k);
    for (size_t p = panels.begin; p < panels.end; p++) {
        const uint8_t *panel = (const uint8_t *)band->execution->buffers[WEIGHTS] + p * bytes;
        const uint8_t *offsets = panel + gemm_blocks_offsets_at(&plan->blocks, plan->k);
        if (plan->blocks.has_offsets)
            multiply_offsets(band, (const float *)(const void *)offsets, room);
        (plan->as_they_are ? multiply_as_they_are : multiply_as_s8)(band, panel, room);
        size_t count = min_size(NR, plan->n - p * NR);
        if (plan->is_plain)
            store(band, p * NR, count, room->values);
        else
            finish(band, p * NR, count, room->values);
    }
}
