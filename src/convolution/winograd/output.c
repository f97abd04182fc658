/* Winograd convolution: from the sums to the destination. */
#include "src/convolution/winograd/winograd.h"
#include "src/primitive/finish.h"

/* What a bias and a clamp leave over, for one row of a tile. */
static void finish_row(const struct task *task, const struct winograd_f32_output *output,
                       const struct tile *tile, size_t channel, size_t y, float *dst)
{
    const struct image_strides *strides = &task->run->plan->shape.dst;
    float *values = output->dst + y * output->dst_row;
    int last = task->run->execution->problem->tensors[DST].ndims - 1;
    struct line line = {.position = {tile->n, (neo_dim)channel, tile->y + (neo_dim)y},
                        .direction = 1,
                        .count = output->channels};
    for (size_t x = 0; x < tile->width; x++) {
        line.position[last] = tile->x + (neo_dim)x;
        finish_line(task->run->execution, &line, values + x * output->dst_column, false,
                    dst + (neo_dim)x * strides->w, strides->c);
    }
}

static void finish_tile(const struct task *task, const struct winograd_f32_output *output,
                        const struct tile *tile, size_t channel, float *dst)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    for (size_t y = 0; y < tile->height; y++, dst += strides->h)
        if (plan->finishes)
            finish_row(task, output, tile, channel, y, dst);
        else
            plan->copy(&(struct copy_f32_plane){
                .rows = tile->width,
                .cols = output->channels,
                .src = output->dst + y * output->dst_row,
                .src_row = (ptrdiff_t)output->dst_column,
                .src_col = 1,
                .dst = dst,
                .dst_row = strides->w,
                .dst_col = strides->c,
            });
}

/* Kernels write vectors of channels or of pixels. One channel by itself is a vector wherever it
 * lies. */
static size_t channel_step(const struct convolution_shape *s)
{
    return s->oc == 1 && s->dst.w != 1 ? 1 : (size_t)s->dst.c;
}

/* What all tiles have in common. */
static struct winograd_f32_output output_of(const struct convolution_winograd *plan)
{
    const struct image_strides *strides = &plan->shape.dst;
    return (struct winograd_f32_output){
        .dst_row = (size_t)strides->h,
        .dst_column = plan->staged ? WINOGRAD_F32_NR : (size_t)strides->w,
        .dst_channel = plan->staged ? 1 : channel_step(&plan->shape),
        .low = plan->low,
        .high = plan->high,
    };
}

/* And what those of one kind have. */
static void set_kind(const struct task *task, const struct tile *tile,
                     struct winograd_f32_output *output)
{
    const struct convolution_winograd *plan = task->run->plan;
    output->rows = winograd_backward(plan, tile->rows);
    output->cols = winograd_backward(plan, tile->cols);
    output->offsets = task->strip->rows->sums[tile->kind];
}

/* A tile of all panels. */
static void transform_tile(const struct task *task, const struct tile *tile, struct span panels,
                           struct winograd_f32_output *output)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    const float *bias = task->run->execution->buffers[BIAS];
    const float *sums = task->sums + tile->index * WINOGRAD_F32_NR;
    float *dst = (float *)task->run->execution->buffers[DST] + tile->n * strides->n +
                 tile->y * strides->h + tile->x * strides->w;
    float stage[MOST_OUTPUTS * WINOGRAD_F32_NR];
    output->height = tile->height;
    output->width = tile->width;
    if (plan->staged)
        output->dst_row = tile->width * WINOGRAD_F32_NR;
    for (size_t p = panels.begin; p < panels.end; p++, sums += task->strip->rows->panel) {
        struct layout_panel panel = winograd_panel(plan, p);
        float *to = dst + (neo_dim)panel.first * strides->c;
        output->channels = panel.valid;
        output->sums = sums;
        output->bias = bias ? bias + panel.first : NULL;
        /* cppcheck-suppress legacyUninitvar ; the kernel writes it */
        output->dst = plan->staged ? stage : to;
        plan->kernel->output(output);
        if (plan->staged || plan->finishes)
            finish_tile(task, output, tile, panel.first, to);
    }
}

void winograd_transform_outputs(const struct task *task, struct span panels)
{
    const struct strip *strip = task->strip;
    struct winograd_f32_output output = output_of(task->run->plan);
    for (size_t t = 0, kind = KINDS; t < strip->count; t++) {
        const struct tile *tile = &strip->tiles[t];
        if (tile->kind != kind)
            set_kind(task, tile, &output);
        kind = tile->kind;
        transform_tile(task, tile, panels, &output);
    }
}
