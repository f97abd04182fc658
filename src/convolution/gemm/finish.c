/* Convolution as a matrix multiplication: what a bias and a clamp leave over for its results. */
#include "src/primitive/finish.h"
#include "src/convolution/gemm/gemm.h"
#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

/* The position of a pixel that is a row of the GEMM. */
static void find_position(const struct convolution_gemm *plan, int ndims, size_t batch, size_t row,
                          neo_dim *position)
{
    bool turned = plan->columns.count;
    convolution_pixel_position(&plan->shape, ndims - turned, first_pixel(plan, batch) + row,
                               position);
    if (turned)
        position[ndims - 1] = matrix_of(plan, batch);
}

/* Channels are contiguous: a line is the channels of one pixel. */
static void finish_pixels(const struct convolution_call *call, const struct gemm_block *block)
{
    const struct convolution_shape *s = &call->plan->shape;
    const neo_memory_desc *dst = &call->execution->problem->tensors[DST];
    neo_dim channel =
        matrix_of(call->plan, block->batch) * call->plan->channel_step + (neo_dim)block->column;
    struct line line = {.direction = 1, .count = block->columns};
    for (size_t i = 0; i < block->rows; i++) {
        find_position(call->plan, dst->ndims, block->batch, block->row + i, line.position);
        line.position[1] = channel;
        finish_line(call->execution, &line, block->values + i * block->row_stride, false,
                    (float *)call->execution->buffers[DST] + desc_offset(dst, line.position),
                    s->dst.c);
    }
}

/* Pixels are contiguous: a line is what one channel has in one row of the image. */
static void finish_channel(const struct convolution_call *call, const struct gemm_block *block,
                           neo_dim channel, float *values)
{
    const struct convolution_shape *s = &call->plan->shape;
    const neo_memory_desc *dst = &call->execution->problem->tensors[DST];
    size_t pixel = first_pixel(call->plan, block->batch) + block->row;
    struct line line = {.direction = dst->ndims - 1};
    for (size_t done = 0; done < block->rows; done += line.count) {
        convolution_pixel_position(s, dst->ndims, pixel + done, line.position);
        line.position[1] = channel;
        line.count =
            min_size((size_t)(s->out[WIDTH] - line.position[line.direction]), block->rows - done);
        finish_line(call->execution, &line, values + done, false,
                    (float *)call->execution->buffers[DST] + desc_offset(dst, line.position),
                    s->dst.w);
    }
}

void convolution_gemm_finish(const void *context, const struct gemm_block *block)
{
    const struct convolution_call *call = context;
    if (!call->plan->gemm.shape.columns) {
        finish_pixels(call, block);
        return;
    }
    neo_dim channel = matrix_of(call->plan, block->batch) * call->plan->channel_step;
    for (size_t j = 0; j < block->columns; j++)
        finish_channel(call, block, channel + (neo_dim)(block->column + j),
                       block->values + j * block->column_stride);
}
