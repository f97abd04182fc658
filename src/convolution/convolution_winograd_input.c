/* Winograd convolution: from the source to the panels of the matrix multiplications. */
#include "src/convolution/convolution_winograd.h"

/* The panel of m rows that holds a row. */
static struct span panel_of_row(size_t m, size_t row)
{
    size_t index = min_size(row / GEMM_F32_MR, div_up(m, GEMM_F32_MR) - 1);
    struct span span = gemm_f32_row_tile(m, index);
    return row < span.begin  ? gemm_f32_row_tile(m, index - 1)
           : row >= span.end ? gemm_f32_row_tile(m, index + 1)
                             : span;
}

/* The lanes of one point: neighbours mostly share a panel. */
static void set_target(const struct task *task, size_t point, uint8_t (*rows)[MOST_POINTS],
                       size_t index, size_t lanes, struct winograd_f32_target *target)
{
    const struct strip *strip = task->strip;
    size_t ic = (size_t)task->run->plan->shape.ic, count = strip->rows[point];
    float *panels = task->inputs + strip->first[point] * ic;
    struct span panel = {0, 0};
    for (size_t lane = 0; lane < lanes; lane++) {
        size_t row = rows[lane][index];
        if (row >= panel.end)
            panel = panel_of_row(count, row);
        target->to[lane] = panels + panel.begin * ic + (row - panel.begin);
        target->step[lane] = panel.end - panel.begin;
    }
    target->together = lanes == LANES && target->to[LANES - 1] == target->to[0] + LANES - 1;
}

/* Returns the step of all targets if they are together and have the same one, else 0. */
static size_t set_targets(const struct task *task, size_t first, size_t lanes)
{
    struct strip *strip = task->strip;
    const struct tile *tile = &strip->tiles[first];
    size_t step = 0, i = 0;
    bool same = true;
    for (size_t u = 0; u < tile->rows; u++)
        for (size_t v = 0; v < tile->cols; v++, i++) {
            struct winograd_f32_target *target = &strip->targets[i];
            set_target(task, u * task->run->plan->points + v, strip->row + first, i, lanes, target);
            step = i ? step : target->step[0];
            same &= target->together && target->step[0] == step;
        }
    return same ? step : 0;
}

/* Copies what exists of one tile's source to its patch, channels [channel, channel + count). */
static void gather_tile(const struct task *task, const struct tile *tile, size_t lane,
                        size_t channel, size_t count)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    neo_dim top = tile->y - s->padding[HEIGHT], left = tile->x - s->padding[WIDTH];
    neo_dim x = left < 0 ? -left : 0, end = s->in[WIDTH] - left;
    end = end < (neo_dim)tile->cols ? end : (neo_dim)tile->cols;
    for (neo_dim y = 0; y < (neo_dim)tile->rows && x < end; y++) {
        if (top + y < 0 || top + y >= s->in[HEIGHT])
            continue;
        plan->copy(&(struct copy_f32_plane){
            .rows = count,
            .cols = (size_t)(end - x),
            .src = (const float *)task->run->execution->buffers[SRC] + tile->n * s->src.n +
                   (neo_dim)channel * s->src.c + (top + y) * s->src.h + (left + x) * s->src.w,
            .src_row = s->src.c,
            .src_col = s->src.w,
            .dst = task->patches +
                   (lane * MOST_POINTS + (size_t)y * tile->cols + (size_t)x) * GATHERED,
            .dst_row = 1,
            .dst_col = GATHERED,
        });
    }
}

/* The address of each pixel of a tile: in src, in its patch, or of zeros. */
static void list_pixels(const struct task *task, const struct tile *tile, size_t lane)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *src = (const float *)task->run->execution->buffers[SRC] + tile->n * s->src.n;
    neo_dim top = tile->y - s->padding[HEIGHT], left = tile->x - s->padding[WIDTH];
    const float **pixels = task->strip->pixels + lane;
    const float *patch = task->patches + lane * MOST_POINTS * GATHERED;
    for (neo_dim y = top; y < top + (neo_dim)tile->rows; y++) {
        bool inside = y >= 0 && y < s->in[HEIGHT];
        for (neo_dim x = left; x < left + (neo_dim)tile->cols; x++) {
            *pixels = task->zeros;
            if (inside && x >= 0 && x < s->in[WIDTH])
                *pixels = plan->gathers ? patch : src + y * s->src.h + x * s->src.w;
            pixels += LANES;
            patch += GATHERED;
        }
    }
}

/* Up to four tiles of one size. */
static void transform_group(const struct task *task, size_t first, size_t lanes)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct tile *tiles = &task->strip->tiles[first];
    size_t ic = (size_t)plan->shape.ic, step = plan->gathers ? min_size(GATHERED, ic) : ic;
    struct winograd_f32_input input = {
        .rows = winograd_forward(plan, tiles->rows),
        .cols = winograd_forward(plan, tiles->cols),
        .lanes = lanes,
        .channels = step,
        .pixels = task->strip->pixels,
        .targets = task->strip->targets,
    };
    input.step = set_targets(task, first, lanes);
    for (size_t lane = 0; lane < LANES; lane++)
        list_pixels(task, &tiles[min_size(lane, lanes - 1)], lane);
    for (size_t done = 0; done < ic; done += step) {
        input.first = min_size(done, ic - step); /* the last ones overlap those before */
        for (size_t lane = 0; plan->gathers && lane < LANES; lane++)
            gather_tile(task, &tiles[min_size(lane, lanes - 1)], lane, input.first, step);
        plan->kernel->input(&input);
    }
}

void winograd_transform_inputs(const struct task *task)
{
    const struct strip *strip = task->strip;
    for (size_t t = 0, lanes; t < strip->count; t += lanes) {
        const struct tile *tile = &strip->tiles[t];
        for (lanes = 1; lanes < LANES && t + lanes < strip->count; lanes++)
            if (tile[lanes].rows != tile->rows || tile[lanes].cols != tile->cols)
                break;
        transform_group(task, t, lanes);
    }
}
