/* Dilated depthwise 3x3 convolution of planes (nchw) in place, with stride 1.
 *
 * With a large dilation most outputs have some of their taps in the padding, and neighbours have
 * the same ones: a plane is a few rectangles, each with taps of its own. So no row is copied to
 * have zeros around it, and no zeros are multiplied: with rate 18 at 33 rows and columns an output
 * has 3.6 taps in the mean. A rectangle is done in strips of up to 16 columns, each from the first
 * row to the last. The last vector of a strip may overlap the one before; one of a rectangle that
 * is narrower than a vector overlaps the next rectangle, which is done later.
 *
 * What this cannot do is done on copies of the rows, by kernels/dwconv_f32_wide_neon.c. */
#include <math.h>

#include "kernels/dwconv_f32.h"
#include "kernels/dwconv_f32_planes.h"
#include "kernels/dwconv_f32_rectangle.h"
#include "kernels/dwconv_f32_rectangle_offsets.h"

enum { LANES = 4, KERNEL = RECTANGLE_KERNEL, MOST_SPANS = 2 * KERNEL - 1 };
enum { MOST_COLUMNS = RECTANGLE_VECTORS * LANES };
/* A row of weights is read as a vector. */
enum { COPIED_WEIGHTS = KERNEL * KERNEL + LANES - 1 };

/* Outputs [begin, end) of a direction that have `taps` taps, from number `first` on. */
struct span {
    size_t begin, end, first, taps;
};

struct spans {
    struct span list[MOST_SPANS];
    size_t count;
};

/* ---- rectangles ---- */

/* A direction: outputs, and which of the places outputs + tap * dilation are not padding. */
struct direction {
    size_t outputs, dilation;
    ptrdiff_t begin, end;
};

static int exists(const struct direction *direction, size_t output, size_t tap)
{
    ptrdiff_t at = (ptrdiff_t)(output + tap * direction->dilation);
    return at >= direction->begin && at < direction->end;
}

/* 0: there are outputs without taps. */
static int find_spans(struct spans *spans, const struct direction *direction)
{
    spans->count = 0;
    for (size_t i = 0; i < direction->outputs; i++) {
        size_t first = 0, taps = 0;
        while (first < KERNEL && !exists(direction, i, first))
            first++;
        while (first + taps < KERNEL && exists(direction, i, first + taps))
            taps++;
        struct span *last = &spans->list[spans->count - (i > 0)];
        if (!taps)
            return 0;
        if (i > 0 && last->first == first && last->taps == taps)
            last->end++;
        else
            spans->list[spans->count++] = (struct span){i, i + 1, first, taps};
    }
    return 1;
}

static int is_narrow(const struct span *span)
{
    return span->end - span->begin < LANES;
}

/* Are all taps of the vector that begins there in the row, and all of its outputs? */
static int reads_row(const struct direction *columns, const struct span *span, ptrdiff_t begin)
{
    return begin >= 0 && (size_t)begin + LANES <= columns->outputs &&
           exists(columns, (size_t)begin, span->first) &&
           exists(columns, (size_t)begin + LANES - 1, span->first + span->taps - 1);
}

/* Narrow spans begin where a vector can, that overlaps none but wide ones. 0: there is no place. */
static int widen_spans(struct spans *spans, const struct direction *columns)
{
    for (size_t i = 0; i < spans->count; i++) {
        struct span *span = &spans->list[i];
        if (!is_narrow(span))
            continue;
        int before = i > 0 && !is_narrow(span - 1);
        int behind = i + 1 < spans->count && !is_narrow(span + 1);
        if (behind && reads_row(columns, span, (ptrdiff_t)span->begin))
            continue;
        if (!before || !reads_row(columns, span, (ptrdiff_t)span->end - LANES))
            return 0;
        span->begin = span->end - LANES;
        span->end = span->begin + 1; /* it stays narrow */
    }
    return 1;
}

/* Are there fewer products of vectors than where each output has all taps? Rows are not asked: how
 * many are in a call is a matter of threads, and the other kernel multiplies infinite weights by
 * the zeros of padding where this one leaves it out. */
static int saves_products(const struct spans *columns, size_t outputs)
{
    size_t products = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const struct span *span = &columns->list[i];
        products += (span->end - span->begin + LANES - 1) / LANES * span->taps;
    }
    return products < (outputs + LANES - 1) / LANES * KERNEL;
}

/* ---- strips ---- */

/* Up to MOST_COLUMNS columns of a rectangle, and where its first output is in a plane. */
struct strip {
    dwconv_f32_rectangle_fn *run;
    ptrdiff_t src;
    size_t dst, rows, last, weights;
};

/* What all planes of a task share. */
struct plan {
    struct spans rows, columns;
    struct dwconv_f32_rectangle job;
    const float *origin; /* the first tap of output 0 in the first plane, if there is one */
    float limits[2];
    struct strip *end; /* of those in the scratchpad */
};

static void add_strip(struct plan *plan, const struct span *rows, const struct span *columns,
                      size_t begin, size_t size)
{
    const struct dwconv_f32_rectangle *job = &plan->job;
    size_t vectors = (size + LANES - 1) / LANES;
    ptrdiff_t tap = (ptrdiff_t)rows->begin * job->src_row + (ptrdiff_t)rows->first * job->tap_row +
                    (ptrdiff_t)columns->first * job->tap_column;
    *plan->end++ = (struct strip){
        .run = dwconv_f32_rectangles[rows->taps - 1][columns->taps - 1][vectors - 1],
        .src = tap / (ptrdiff_t)sizeof(float) + (ptrdiff_t)begin,
        .dst = rows->begin * job->dst_row / sizeof(float) + begin,
        .rows = rows->end - rows->begin,
        .last = (size - LANES) * sizeof(float),
        .weights = rows->first * KERNEL + columns->first,
    };
}

/* What is left behind the last whole strip is at least a vector. */
static void add_rectangle(struct plan *plan, const struct span *rows, const struct span *columns)
{
    size_t end = is_narrow(columns) ? columns->begin + LANES : columns->end, size;
    for (size_t x = columns->begin; x < end; x += size) {
        size = end - x < MOST_COLUMNS ? end - x : MOST_COLUMNS;
        if (size < LANES)
            x = end - (size = LANES);
        add_strip(plan, rows, columns, x, size);
    }
}

static void add_rectangles(struct plan *plan, int narrow)
{
    for (size_t i = 0; i < plan->rows.count; i++)
        for (size_t j = 0; j < plan->columns.count; j++)
            if (is_narrow(&plan->columns.list[j]) == narrow)
                add_rectangle(plan, &plan->rows.list[i], &plan->columns.list[j]);
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    size_t strips = MOST_SPANS * (MOST_SPANS + task->out_cols / MOST_COLUMNS);
    size_t own = strips * sizeof(struct strip), wide = dwconv_f32_wide_neon.scratch_bytes(task);
    return own > wide ? own : wide;
}

/* ---- planes ---- */

static void run_plane(const struct plan *plan, const struct dwconv_f32_task *task, size_t channel)
{
    float weights[COPIED_WEIGHTS] = {0};
    for (size_t i = 0; i < KERNEL * KERNEL; i++)
        weights[i] = task->weights[i * task->weights_tap + channel];
    const float *src = plan->origin + channel / task->multiplier * task->src_plane;
    float *dst = task->dst + channel * task->dst_plane;
    struct dwconv_f32_rectangle job = plan->job;
    job.bias = task->bias ? task->bias[channel] : 0.0f;
    for (const struct strip *strip = task->scratch; strip < plan->end; strip++) {
        job.src = src + strip->src;
        job.dst = dst + strip->dst;
        job.rows = strip->rows;
        job.last = strip->last;
        job.weights = weights + strip->weights;
        strip->run(&job);
    }
}

/* The rows that exist, which are to be equally far from each other. 0: they are not. */
static int find_rows(struct direction *rows, const struct dwconv_f32_task *task)
{
    size_t count = task->out_rows + (KERNEL - 1) * task->dilation_h, begin = 0;
    while (begin < count && !task->rows[begin])
        begin++;
    size_t end = begin;
    while (end < count && task->rows[end])
        end++;
    *rows = (struct direction){task->out_rows, task->dilation_h, (ptrdiff_t)begin, (ptrdiff_t)end};
    return end == begin + 1 || (end > begin && planes_are_even(task, begin, end));
}

static int make_plan(struct plan *plan, const struct dwconv_f32_task *task)
{
    struct direction rows, columns = {task->out_cols, task->dilation_w, -task->first,
                                      (ptrdiff_t)task->columns - task->first};
    if (!find_rows(&rows, task) || !find_spans(&plan->rows, &rows) ||
        !find_spans(&plan->columns, &columns) || !saves_products(&plan->columns, task->out_cols) ||
        !widen_spans(&plan->columns, &columns))
        return 0;
    const float *const *row = task->rows + rows.begin;
    ptrdiff_t step = rows.end - rows.begin > 1 ? row[1] - row[0] : 0;
    ptrdiff_t bytes = (ptrdiff_t)sizeof(float);
    int clamps = task->low > -INFINITY || task->high < INFINITY;
    plan->origin = row[0] - rows.begin * step + task->first;
    plan->limits[0] = task->low;
    plan->limits[1] = task->high;
    plan->job = (struct dwconv_f32_rectangle){
        .dst_row = task->dst_row * sizeof(float),
        .src_row = step * bytes,
        .tap_row = (ptrdiff_t)task->dilation_h * step * bytes,
        .tap_column = (ptrdiff_t)task->dilation_w * bytes,
        .limits = clamps ? plan->limits : NULL,
    };
    plan->end = task->scratch;
    add_rectangles(plan, 1); /* they overlap the others */
    add_rectangles(plan, 0);
    return 1;
}

static void run(const struct dwconv_f32_task *task)
{
    struct plan plan;
    if (!make_plan(&plan, task)) {
        dwconv_f32_wide_neon.run(task);
        return;
    }
    for (size_t i = 0; i < task->channels; i++)
        run_plane(&plan, task, i);
}

static int does(const struct dwconv_f32_task *task)
{
    return task->column == 1 && task->dst_column == 1 && task->kh == KERNEL && task->kw == KERNEL &&
           task->stride_h == 1 && task->stride_w == 1 &&
           (task->dilation_h > 1 || task->dilation_w > 1);
}

const struct dwconv_f32_kernel dwconv_f32_planes_dilated_neon = {
    .name = "dwconv_f32_planes_dilated_neon",
    .needs = CPU_NEON,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
