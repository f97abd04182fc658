/* Depthwise convolution of any types: sums of a tile become results, all at once by a kernel, or
 * the channels of one pixel after the other. */
#include "src/convolution/depthwise/typed.h"
#include "src/primitive/finish.h"
#include "src/primitive/quantization.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"

enum { ROW = DEPTHWISE_CHUNK * DEPTHWISE_BLOCK };

static const float *sums_of(const struct depthwise_typed_call *call,
                            const struct depthwise_tile *tile, unsigned char *scratch)
{
    return (const float *)(void *)(scratch + call->plan->task.sums) + (tile->channel - tile->from);
}

/* ---- a tile at a time ---- */

static void *dst_of(const struct depthwise_typed_call *call, const struct depthwise_tile *tile,
                    size_t channel)
{
    const struct image_strides *dst = &call->plan->shape.dst;
    return element_to(call->execution->problem->tensors[DST].data_type,
                      call->execution->buffers[DST],
                      tile->n * dst->n + tile->depth * dst->d + (neo_dim)tile->row * dst->h +
                          (neo_dim)tile->first * dst->w + (neo_dim)channel);
}

struct gemm_finish depthwise_typed_end(const struct depthwise_typed_call *call,
                                       const struct depthwise_tile *tile, size_t channel)
{
    const struct depthwise_shared_parts *parts = &call->plan->shared;
    struct gemm_finish end = call->whole;
    if (call->execution->problem->tensors[BIAS].ndims)
        end.offsets = (const float *)depthwise_part(call, parts->offsets) + channel;
    if (call->plan->integers)
        end.scales = (const float *)depthwise_part(call, parts->scales) + channel;
    if (call->plan->integers && call->execution->problem->scales[SRC])
        end.row_scales = &call->src_scale;
    end.dst = dst_of(call, tile, channel);
    end.dst_row = (size_t)call->plan->shape.dst.w;
    return end;
}

/* What rows of the tile have in common, for the first one. */
static struct gemm_finish first_row(const struct depthwise_typed_call *call,
                                    const struct depthwise_tile *tile, unsigned char *scratch)
{
    const struct depthwise_typed *plan = call->plan;
    struct gemm_finish finish = call->whole;
    finish.m = tile->width;
    finish.n = tile->channels;
    finish.sums = sums_of(call, tile, scratch);
    finish.row = ROW;
    finish.scales = (const float *)depthwise_part(call, plan->shared.scales) + tile->channel;
    finish.offsets = (const float *)depthwise_part(call, plan->shared.offsets) + tile->channel;
    finish.dst = dst_of(call, tile, tile->channel);
    finish.dst_row = (size_t)plan->shape.dst.w;
    return finish;
}

static const float *row_scales(const struct depthwise_typed_call *call, size_t count,
                               unsigned char *scratch)
{
    float *scales = (float *)(void *)(scratch + call->plan->task.row_scales);
    if (!call->execution->problem->scales[SRC])
        return NULL;
    for (size_t i = 0; i < count; i++)
        scales[i] = call->src_scale;
    return scales;
}

/* Rows that follow each other are one. */
static void finish_tile(const struct depthwise_typed_call *call, const struct depthwise_tile *tile,
                        unsigned char *scratch)
{
    const struct depthwise_typed *plan = call->plan;
    neo_data_type type = call->execution->problem->tensors[DST].data_type;
    struct gemm_finish finish = first_row(call, tile, scratch);
    size_t rows = plan->is_dense ? 1 : tile->height;
    finish.m *= tile->height / rows;
    finish.row_scales = row_scales(call, finish.m, scratch);
    for (size_t row = 0; row < rows; row++) {
        plan->finish(&finish);
        finish.sums = (const float *)finish.sums + tile->width * ROW;
        finish.dst = element_to(type, finish.dst, plan->shape.dst.h);
    }
}

/* ---- by lines ---- */

static void finish_pixel(const struct depthwise_typed_call *call, const struct line *line,
                         const float *sums)
{
    const struct execution *execution = call->execution;
    const struct problem *problem = execution->problem;
    const struct depthwise_shared_parts *parts = &call->plan->shared;
    const neo_memory_desc *dst = &problem->tensors[DST];
    size_t channel = (size_t)line->position[1];
    float values[ROW];
    problem->convert[call->plan->integers ? ELEMENT_S32 : ELEMENT_F32].load(line->count, sums,
                                                                            values);
    binary_f32_fn *multiply = problem->binary[BINARY_F32_MUL].run;
    if (problem->scales[SRC])
        multiply(line->count, values, &call->src_scale, 0, values);
    multiply(line->count, values, (const float *)depthwise_part(call, parts->scales) + channel, 1,
             values);
    problem->binary[BINARY_F32_ADD].run(
        line->count, values, (const float *)depthwise_part(call, parts->offsets) + channel, 1,
        values);
    finish_line(
        execution, line, values, false,
        element_to(dst->data_type, execution->buffers[DST], desc_offset(dst, line->position)),
        dst->strides[1]);
}

static void finish_pixels(const struct depthwise_typed_call *call,
                          const struct depthwise_tile *tile, unsigned char *scratch)
{
    const struct convolution_shape *s = &call->plan->shape;
    int ndims = call->execution->problem->tensors[DST].ndims;
    const float *sums = sums_of(call, tile, scratch);
    struct line line = {.direction = 1, .count = tile->channels};
    for (size_t row = 0; row < tile->height; row++)
        for (size_t x = 0; x < tile->width; x++, sums += ROW) {
            size_t plane = (size_t)(tile->n * s->out[DEPTH] + tile->depth);
            size_t index =
                (plane * (size_t)s->out[HEIGHT] + tile->row + row) * (size_t)s->out[WIDTH] +
                tile->first + x;
            convolution_pixel_position(s, ndims, index, line.position);
            line.position[1] = (neo_dim)tile->channel;
            finish_pixel(call, &line, sums);
        }
}

void depthwise_typed_finish(const struct depthwise_typed_call *call,
                            const struct depthwise_tile *tile, unsigned char *scratch)
{
    (call->plan->finish ? finish_tile : finish_pixels)(call, tile, scratch);
}
