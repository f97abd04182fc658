/* Depthwise 3x3 by lines of channels: those of a task for the assembly of
 * kernels/depthwise/f32/lines_neon.S. */
#include <string.h>

#include "kernels/depthwise/f32/lines.h"
#include "kernels/depthwise/f32/lines_offsets.h"

enum { HALF = LINES_CHANNELS / 2, MOST_LINES = 4 /* whose weights are copied */ };

/* ---- rows ---- */

static dwconv_f32_lines_fn *find_function(const struct dwconv_f32_task *task,
                                          const struct band *band)
{
    return dwconv_f32_lines_functions[bands_clamp(task)][band->height - 1][band->left_out];
}

/* Are there tiles for all rows? */
static int list_bands(struct bands *bands, const struct dwconv_f32_task *task,
                      const float *const *rows)
{
    int found = bands_list(bands, task, rows, TILES_HEIGHTS);
    for (size_t i = 0; found && i < bands->count; i++)
        found = find_function(task, &bands->band[i]) != NULL;
    return found;
}

/* ---- columns ---- */

/* `count` columns of dst from x on; 0: there is more padding than a column at either end. */
static int plan_columns(struct dwconv_f32_lines *job, const struct dwconv_f32_task *task, size_t x,
                        size_t count)
{
    ptrdiff_t first = task->first + (ptrdiff_t)(2 * x), columns = (ptrdiff_t)task->columns;
    ptrdiff_t last = first + (ptrdiff_t)(2 * count);
    job->start = (size_t)(first < 0 ? 0 : first) * job->column;
    job->rounds = count / 2 - 1;
    job->edges = (first < 0 ? LINES_LEFT : 0u) | (last >= columns ? LINES_RIGHT : 0u) |
                 (count % 2 ? LINES_ODD : 0u);
    return first >= -1 && last <= columns;
}

/* ---- channels ---- */

/* The nine weights of each of some channels, and the bias, together. */
static void copy_weights(const struct dwconv_f32_task *task, size_t c, size_t halves, float *copy)
{
    static const float none[HALF];
    for (; halves; halves--, c += HALF) {
        for (size_t tap = 0; tap < LINES_TAPS; tap++, copy += HALF)
            memcpy(copy, task->weights + tap * task->weights_tap + c, HALF * sizeof *copy);
        memcpy(copy, task->bias ? task->bias + c : none, HALF * sizeof *copy);
        copy += HALF;
    }
}

/* Some lines of channels in all rows of a strip, then the next ones. */
static void run_strip(const struct dwconv_f32_task *task, const struct bands *bands,
                      struct dwconv_f32_lines *job, float *dst, size_t c, size_t lines, float *copy)
{
    size_t start = job->start;
    for (; lines; lines -= job->count, c += job->count * LINES_CHANNELS) {
        job->count = lines < MOST_LINES ? lines : MOST_LINES;
        job->start = start + c * sizeof(float);
        copy_weights(task, c, 2 * job->count, copy);
        for (size_t i = 0; i < bands->count; i++) {
            const struct band *band = &bands->band[i];
            job->down = band->down;
            job->rows = bands->rows + 2 * band->y;
            job->dst = dst + c + band->y * task->dst_row;
            find_function(task, band)(job);
        }
    }
}

int dwconv_f32_lines_run(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                         size_t lines)
{
    float low = task->low, high = task->high;
    const float clamp[8] = {low, low, low, low, high, high, high, high};
    float copy[MOST_LINES * LINES_COPY];
    struct bands bands;
    struct dwconv_f32_lines job = {
        .weights = copy,
        .column = task->column * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .dst_row = task->dst_row * sizeof(float),
        .clamp = clamp,
    };
    size_t all = task->out_cols, strip = task->strip > 1 ? task->strip : all;
    if (all < 2 || !plan_columns(&job, task, 0, all) || !list_bands(&bands, task, rows))
        return 0;
    for (size_t x = 0, count; x < all; x += count) {
        count = all - x < strip + 2 ? all - x : strip; /* none of a single column */
        plan_columns(&job, task, x, count);
        run_strip(task, &bands, &job, task->dst + x * task->dst_column, c, lines, copy);
    }
    return 1;
}
