/* Lists of taps: which pixels of a tile have them, and where (kernels/depthwise/f32/neon.c). */
#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/listed_plan.h"

/* Taps go on with the last ones, if they are of the same pixels and the next step. */
static void add_run(struct plan *plan, const struct dwconv_f32_listed_run *run)
{
    struct dwconv_f32_listed_run *last = plan->end - 1;
    if (plan->end > plan->runs && last->code == run->code &&
        last->src + last->count * (size_t)plan->job.step == run->src &&
        last->weights + last->count * plan->job.weights_step == run->weights) {
        last->count += run->count;
        return;
    }
    if (plan->end == plan->runs + MOST_RUNS)
        dwconv_f32_listed_flush(plan, NULL);
    *plan->end++ = *run;
}

/* So many taps from one on, whose weights are `weights` bytes behind the first, for some pixels of
 * a tile. */
INLINE void add_taps(struct plan *plan, uintptr_t src, size_t weights, struct range pixels,
                     size_t count)
{
    const struct kind *kind = plan->kind;
    add_run(plan, &(struct dwconv_f32_listed_run){
                      .src = src + pixels.begin * (size_t)plan->job.between,
                      .weights = weights,
                      .code = kind->codes[pixels.begin * kind->pixels + pixels.end - 1],
                      .count = count,
                  });
}

/* Taps from `column` on that all pixels of a tile have. */
static size_t count_whole(const struct axis *columns, ptrdiff_t column, size_t pixels)
{
    ptrdiff_t last = column + (ptrdiff_t)((pixels - 1) * columns->stride);
    if (column < columns->begin || last >= columns->end)
        return 0;
    return divide((size_t)(columns->end - 1 - last), columns->dilation) + 1;
}

/* Tiles of columns, of even rows: the rows of each column of the kernel are one run, or its columns
 * are, if it is a single row. */
static void list_columns(struct plan *plan, size_t y, size_t x)
{
    const struct dwconv_f32_task *task = plan->task;
    const struct axis *columns = &plan->x;
    const struct range all = {0, plan->job.pixels}, rows = taps_of(&plan->y, y);
    size_t is_row = task->kd * task->kh == 1, tap = task->weights_tap * sizeof(float);
    size_t plane = task->kh * task->kw * tap, weights = rows.begin * task->kw * tap;
    ptrdiff_t column = place_of(columns, x, 0), row = place_of(&plan->y, y, rows.begin);
    uintptr_t src = plan->origin + (size_t)(row * plan->y.src + column * columns->src);
    size_t step = columns->dilation * (size_t)columns->src;
    size_t whole = count_whole(columns, column, all.end), count = 1;
    for (size_t kx = 0; rows.begin < rows.end && kx < task->kw; kx += count) {
        struct range pixels = whole ? all : find_range(columns, column, columns->stride, all.end);
        count = is_row && whole ? smaller(whole, task->kw - kx) : 1;
        for (size_t kz = 0; pixels.begin < pixels.end && kz < task->kd; kz++)
            add_taps(plan, src + kz * (size_t)plan->plane, weights + kz * plane, pixels,
                     is_row ? count : rows.end - rows.begin);
        column += (ptrdiff_t)(count * columns->dilation);
        src += count * step;
        weights += count * tap;
        whole = whole > count ? whole - count : whole ? 0 : count_whole(columns, column, all.end);
    }
}

/* A column of the kernel, tap by tap: of rows that are not even. */
static void list_each(struct plan *plan, size_t y, size_t kx, ptrdiff_t column, struct range pixels)
{
    const struct dwconv_f32_task *task = plan->task;
    size_t tap = kx;
    for (size_t kz = 0; kz < task->kd; kz++) {
        const float *const *rows = task->rows + kz * task->rows_plane + y * task->stride_h;
        for (size_t ky = 0; ky < task->kh; ky++, tap += task->kw, rows += task->dilation_h)
            if (*rows)
                add_taps(plan, (uintptr_t)*rows + (size_t)(column * plan->x.src),
                         tap * task->weights_tap * sizeof(float), pixels, 1);
    }
}

void dwconv_f32_listed_add_tile(struct plan *plan, size_t y, size_t x)
{
    if (plan->is_even) {
        list_columns(plan, y, x);
        return;
    }
    for (size_t kx = 0; kx < plan->task->kw; kx++) {
        ptrdiff_t column = place_of(&plan->x, x, kx);
        struct range pixels = find_range(&plan->x, column, plan->x.stride, plan->job.pixels);
        if (pixels.begin < pixels.end)
            list_each(plan, y, kx, column, pixels);
    }
}
