/* Weights in blocks with scales become panels of f32. */
#include <string.h>

#include "src/core/checked.h"
#include "src/matmul/typed.h"

enum { NR = GEMM_BLOCKS_NR, VECTOR = 4 };

/* Which steps of k and columns of a panel of blocks go where. */
struct part {
    size_t p, steps, column, columns; /* p: in the block */
    float *to;
    size_t width;
};

static void copy(const struct part *part, const float *values)
{
    values += part->p * NR + part->column;
    for (size_t p = 0; p < part->steps; p++, values += NR) {
        float *to = part->to + p * part->width;
        size_t j = 0;
        for (; j + VECTOR <= part->columns; j += VECTOR) /* no call for so few bytes */
            memcpy(to + j, values + j, VECTOR * sizeof *values);
        for (; j < part->columns; j++)
            to[j] = values[j];
    }
}

/* Block g of the panel of blocks at data. */
static void decompress(const struct matmul_typed *plan, const uint8_t *data, size_t k, size_t g,
                       const struct part *part)
{
    const struct gemm_blocks *blocks = &plan->blocks;
    const uint8_t *block = data + g * gemm_blocks_bytes(blocks);
    const float *offsets = (const void *)(data + gemm_blocks_offsets_at(blocks, k));
    float scales[NR], values[NR * GEMM_S4_MOST_BLOCK];
    plan->decompress->scales(blocks, block, scales);
    plan->decompress->to_f32(blocks, block, scales, blocks->has_offsets ? offsets + g * NR : NULL,
                             values);
    copy(part, values);
}

/* Columns [lane, lane + part.columns), which one panel of blocks has. */
static void fill_columns(const struct typed_call *call, const struct gemm_panel *panel, size_t lane,
                         struct part part)
{
    const struct execution *execution = call->execution;
    const neo_memory_desc *weights = &execution->problem->tensors[WEIGHTS];
    const struct gemm_blocks *blocks = &call->plan->blocks;
    size_t k = (size_t)weights->dims[weights->ndims - 2], end = panel->first + panel->depth;
    const uint8_t *data = (const uint8_t *)execution->buffers[WEIGHTS] +
                          lane / NR * gemm_blocks_panel_bytes(blocks, k);
    float *to = part.to;
    for (size_t p = panel->first; p < end; p += part.steps) {
        size_t g = p / blocks->block;
        part.p = p % blocks->block;
        part.steps = min_size(blocks->block - part.p, end - p);
        part.to = to + (p - panel->first) * panel->width;
        decompress(call->plan, data, k, g, &part);
    }
}

void matmul_blocks_to_panel(const struct typed_call *call, const struct gemm_panel *panel)
{
    float *out = panel->out;
    for (size_t j = 0, lane, columns; j < panel->lanes; j += columns) {
        lane = panel->lane + j;
        columns = min_size(NR - lane % NR, panel->lanes - j);
        fill_columns(
            call, panel, lane,
            (struct part){
                .column = lane % NR, .columns = columns, .to = out + j, .width = panel->width});
    }
    for (size_t p = 0; panel->lanes < panel->width && p < panel->depth; p++)
        memset(out + p * panel->width + panel->lanes, 0,
               (panel->width - panel->lanes) * sizeof *out);
}
