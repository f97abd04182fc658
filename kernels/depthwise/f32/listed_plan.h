/* Lists of taps: the plan of a call, which its files share. */
#ifndef KERNELS_DEPTHWISE_F32_LISTED_PLAN_H
#define KERNELS_DEPTHWISE_F32_LISTED_PLAN_H

#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/listed.h"

enum { MOST_RUNS = 96 }; /* of a call; sums of more wait in dst */

/* The tiles that there is assembly for. */
struct kind {
    size_t channels, pixels;
    dwconv_f32_listed_fn *run;
    const void *const *codes; /* [pixels][pixels] */
};

struct range {
    size_t begin, end;
};

/* Rows or columns. Tap k of output i is at first + i * stride + k * dilation, and exists between
 * `begin` and `end`. */
struct axis {
    size_t outputs, stride, taps, dilation;
    ptrdiff_t first, begin, end;
    ptrdiff_t src;      /* bytes from one place to the next */
    size_t dst;         /* bytes from output to output */
    struct range whole; /* outputs that have all taps */
};

/* Mostly by 1. */
static inline size_t divide(size_t count, size_t step)
{
    return step == 1 ? count : count / step;
}

/* Which of `count` places exist, `step` apart from `at` on. */
static inline struct range find_range(const struct axis *axis, ptrdiff_t at, size_t step,
                                      size_t count)
{
    struct range range = {0, count};
    if (at < axis->begin)
        range.begin = divide((size_t)(axis->begin - at) + step - 1, step);
    if (at >= axis->end)
        range.end = 0;
    else if (at + (ptrdiff_t)((count - 1) * step) >= axis->end)
        range.end = divide((size_t)(axis->end - 1 - at), step) + 1;
    return range;
}

static inline ptrdiff_t place_of(const struct axis *axis, size_t output, size_t tap)
{
    return axis->first + (ptrdiff_t)(output * axis->stride + tap * axis->dilation);
}

static inline struct range taps_of(const struct axis *axis, size_t output)
{
    return find_range(axis, place_of(axis, output, 0), axis->dilation, axis->taps);
}

/* What a call has in common for all tiles. */
struct plan {
    const struct dwconv_f32_task *task;
    struct axis x, y;
    int is_even;       /* rows that exist are as far from each other, and so are planes */
    ptrdiff_t plane;   /* bytes */
    uintptr_t origin;  /* where row and column 0 would be */
    const float *none; /* for the bias, if there is none */
    struct dwconv_f32_listed job;
    const struct kind *kind;
    struct dwconv_f32_listed_run runs[MOST_RUNS], *end;
};

/* Lists the taps of the tile at output (y, x). If they are more than the list has room for, it runs
 * those that are listed, whose sums then go on. */
void dwconv_f32_listed_add_tile(struct plan *plan, size_t y, size_t x);

/* Runs what is listed, and empties the list. */
static inline void dwconv_f32_listed_flush(struct plan *plan, const float *clamp)
{
    plan->job.runs_end = plan->end;
    plan->job.clamp = clamp;
    plan->kind->run(&plan->job);
    plan->job.goes_on = 1;
    plan->end = plan->runs;
}

#endif
