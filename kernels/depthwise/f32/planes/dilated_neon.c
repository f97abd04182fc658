/* Dilated depthwise 3x3 convolution of planes (nchw) in place, with stride 1.
 *
 * With a large dilation most outputs have some of their taps in the padding, and neighbours have
 * the same ones: so no row is copied to have zeros around it, and no zeros are multiplied. With
 * rate 18 at 33 rows and columns an output has 3.6 taps in the mean.
 *
 * Rows of dst that are a dilation apart are a chain, as the rows of source that they need are: with
 * rate 12 three rows of dst have seven products for each column of taps, of three rows of source. A
 * tile is up to three rows of a chain by up to 16 columns that have the same taps; tiles below each
 * other are a strip. Its last vectors may overlap those before; a vector of columns that are fewer
 * overlaps the next columns, which are done later.
 *
 * What this cannot do is done on copies of the rows, by planes/copied_neon.c. */
#include <arm_neon.h>

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/extent.h"
#include "kernels/depthwise/f32/planes/planes.h"
#include "kernels/depthwise/f32/rectangle.h"
#include "kernels/depthwise/f32/rectangle_offsets.h"

enum { LANES = 4, KERNEL = RECTANGLE_KERNEL, MOST_SPANS = 2 * KERNEL - 1 };
enum { MOST_COLUMNS = RECTANGLE_VECTORS * LANES, BANDS = 8 };

/* Outputs [begin, end) of a direction that have `taps` taps, from number `first` on. */
struct span {
    size_t begin, end, first, taps;
};

struct spans {
    struct span list[MOST_SPANS];
    size_t count;
};

/* ---- columns and rows ---- */

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

/* Narrow spans begin where a vector can, that overlaps none but wide ones, whose outputs have all
 * of its taps. 0: there is no place. */
static int widen_spans(struct spans *spans, const struct direction *columns)
{
    for (size_t i = 0; i < spans->count; i++) {
        struct span *span = &spans->list[i];
        if (!is_narrow(span))
            continue;
        int before = i > 0 && !is_narrow(span - 1);
        int behind = i + 1 < spans->count && !is_narrow(span + 1);
        if (behind && exists(columns, span->begin + LANES - 1, span->first + span->taps - 1))
            continue;
        if (!before || !exists(columns, span->end - LANES, span->first))
            return 0;
        span->begin = span->end - LANES;
        span->end = span->begin + 1; /* it stays narrow */
    }
    return 1;
}

/* Are there hardly more products of vectors than where each output has all taps, which copies of
 * rows with zeros around them are? Rows are not asked: how many are in a call is a matter of
 * threads, and the other kernel multiplies infinite weights by the zeros of padding where this one
 * leaves it out.
 */
static int saves_copies(const struct spans *columns, size_t outputs)
{
    const size_t part = 16; /* so many more products take as long as copies do */
    size_t products = 0, all = (outputs + LANES - 1) / LANES * KERNEL;
    for (size_t i = 0; i < columns->count; i++) {
        const struct span *span = &columns->list[i];
        products += (span->end - span->begin + LANES - 1) / LANES * span->taps;
    }
    return products <= all + all / part;
}

/* ---- tiles ---- */

typedef dwconv_f32_rectangle_code *const code_by_width[RECTANGLE_WIDTHS];

/* Tiles that are the same, `step` rows from each other. */
struct band {
    const code_by_width *code;
    size_t weights;
    size_t src, dst; /* rows of the first tile */
    size_t tiles, step;
};

/* What all planes of a task share. */
struct plan {
    struct direction rows;
    struct spans columns;
    struct dwconv_f32_rectangle job;
    ptrdiff_t src_row;
    size_t dst_row;
    float limits[2];
    size_t empty_rows;                      /* without taps: these are the bias */
    struct band bands[BANDS];               /* the last ones, to which tiles may be added */
    size_t next;                            /* how many bands there were */
    struct dwconv_f32_rectangle_strip *end; /* of those in the scratch memory */
};

/* Rows of dst that are a dilation apart, from `first` on. Row j has the taps j to j + 2 of the
 * chain's rows of source, of which [begin, end) exist. */
struct chain {
    size_t first, count, begin, end;
};

static size_t count_from(size_t first, size_t end, size_t apart)
{
    return end > first ? (end - first + apart - 1) / apart : 0;
}

/* begin and end of the rows that exist are not negative. */
static struct chain chain_of(const struct direction *rows, size_t first)
{
    size_t apart = rows->dilation, count = count_from(first, rows->outputs, apart);
    size_t begin = count_from(first, (size_t)rows->begin, apart);
    size_t end = count_from(first, (size_t)rows->end, apart);
    return (struct chain){first, count, begin, smaller(end, count + KERNEL - 1)};
}

/* Rows of the tile that begins there: all of them have the middle one of their taps, unless it is
 * one row. Two and two are better than three and one. */
static size_t rows_of_tile(const struct chain *chain, size_t at)
{
    size_t whole = smaller(chain->count, chain->end - 1);
    if (at + 1 < chain->begin || at >= whole)
        return 1;
    size_t left = whole - at;
    return left == 4 ? 2 : smaller(left, RECTANGLE_ROWS);
}

/* Its code, by the number of rows of source if it is one row, or by those that it is without. */
static const code_by_width *code_of(const struct chain *chain, size_t at, size_t rows,
                                    size_t sources)
{
    if (rows == 1)
        return &dwconv_f32_rectangles[RECTANGLE_ONE_ROW + sources - 1];
    size_t without_first = at < chain->begin, without_last = at + rows + 1 >= chain->end;
    size_t height = RECTANGLE_MORE_ROWS + (rows - 2) * RECTANGLE_ENDS;
    return &dwconv_f32_rectangles[height + 2 * without_first + without_last];
}

/* ---- strips ---- */

static void add_strip(struct plan *plan, const struct band *band, const struct span *columns,
                      size_t begin, size_t size)
{
    size_t vectors = (size + LANES - 1) / LANES, others = KERNEL - columns->taps;
    ptrdiff_t value = (ptrdiff_t)sizeof(float);
    *plan->end++ = (struct dwconv_f32_rectangle_strip){
        .code = (*band->code)[rectangle_width(vectors, columns->taps)],
        .src = (ptrdiff_t)band->src * plan->src_row +
               (ptrdiff_t)columns->first * plan->job.tap_column + (ptrdiff_t)begin * value,
        .dst = (ptrdiff_t)(band->dst * plan->dst_row + begin * sizeof(float)),
        .tiles = band->tiles,
        .last = (size - (vectors > 2 ? 2 * LANES : LANES)) * sizeof(float),
        .src_row = (ptrdiff_t)band->step * plan->src_row -
                   (ptrdiff_t)(columns->taps - 1) * plan->job.tap_column,
        .dst_row = (ptrdiff_t)(band->step * plan->dst_row),
        .weights = offsetof(struct dwconv_f32_rectangle, weights) +
                   (band->weights + columns->first) * sizeof(float) - others * sizeof(float),
        .missing_columns = others,
    };
}

/* What is left behind the last whole strip is at least a vector. */
static void add_columns(struct plan *plan, const struct band *band, const struct span *columns)
{
    size_t end = is_narrow(columns) ? columns->begin + LANES : columns->end, size;
    for (size_t x = columns->begin; x < end; x += size) {
        size = smaller(end - x, MOST_COLUMNS);
        if (size < LANES)
            x = end - (size = LANES);
        add_strip(plan, band, columns, x, size);
    }
}

/* Narrow spans first: they overlap the others. */
static void finish_band(struct plan *plan, const struct band *band)
{
    for (int narrow = 1; narrow >= 0; narrow--)
        for (size_t i = 0; i < plan->columns.count; i++)
            if (is_narrow(&plan->columns.list[i]) == narrow)
                add_columns(plan, band, &plan->columns.list[i]);
}

/* Is the tile the next one of the band? Its code says where its rows of source are. */
static int goes_on(const struct band *band, const struct band *tile)
{
    return band->code == tile->code && band->weights == tile->weights && tile->dst > band->dst &&
           (band->tiles == 1 || tile->dst - band->dst == band->tiles * band->step);
}

static void add_tile(struct plan *plan, const struct chain *chain, size_t at)
{
    size_t apart = plan->rows.dilation, rows = rows_of_tile(chain, at);
    size_t source = larger(at, chain->begin), end = smaller(at + KERNEL, chain->end);
    if (source >= end) {
        plan->empty_rows++;
        return;
    }
    struct band tile = {
        .code = code_of(chain, at, rows, end - source),
        .weights = rows > 1 ? 0 : (source - at) * KERNEL,
        .src = chain->first + source * apart,
        .dst = chain->first + at * apart,
        .tiles = 1,
    };
    size_t bands = smaller(plan->next, BANDS);
    for (struct band *band = plan->bands; band < plan->bands + bands; band++)
        if (goes_on(band, &tile)) {
            band->step = (tile.dst - band->dst) / band->tiles++;
            return;
        }
    struct band *band = &plan->bands[plan->next++ % BANDS];
    if (bands == BANDS)
        finish_band(plan, band);
    *band = tile;
}

/* Bands go down chains, or from chain to chain where these are more than their tiles. */
static void add_tiles(struct plan *plan)
{
    size_t apart = plan->rows.dilation, chains = smaller(apart, plan->rows.outputs);
    size_t most = count_from(0, plan->rows.outputs, apart); /* rows of a chain */
    int down = most > RECTANGLE_ROWS * chains;
    for (size_t number = 0; number < (down ? 1 : most); number++)
        for (size_t first = 0; first < chains; first++) {
            struct chain chain = chain_of(&plan->rows, first);
            size_t at = 0;
            for (size_t i = 0; i < number && at < chain.count; i++)
                at += rows_of_tile(&chain, at);
            for (size_t end = down ? chain.count : smaller(at + 1, chain.count); at < end;
                 at += rows_of_tile(&chain, at))
                add_tile(plan, &chain, at);
        }
    for (size_t i = 0; i < smaller(plan->next, BANDS); i++)
        finish_band(plan, &plan->bands[i]);
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    size_t strips = task->out_rows * (2 * MOST_SPANS + task->out_cols / MOST_COLUMNS);
    size_t own = (strips + 1) * sizeof(struct dwconv_f32_rectangle_strip);
    return larger(own, dwconv_f32_planes_copied_neon.scratch_bytes(task));
}

/* ---- planes ---- */

static int is_empty(const struct direction *rows, size_t y)
{
    size_t tap = 0;
    while (tap < KERNEL && !exists(rows, y, tap))
        tap++;
    return tap == KERNEL;
}

/* Whether there are such rows is a matter of how rows are cut into calls, and so no reason to leave
 * others of the call to another kernel, which multiplies infinite weights by padding. */
static void fill_empty_rows(const struct plan *plan, const struct dwconv_f32_task *task, float *dst,
                            float bias)
{
    float32x4_t low = vdupq_n_f32(task->low), high = vdupq_n_f32(task->high);
    float value = vgetq_lane_f32(vminq_f32(vmaxq_f32(vdupq_n_f32(bias), low), high), 0);
    for (size_t y = 0; y < task->out_rows; y++)
        for (size_t x = 0; is_empty(&plan->rows, y) && x < task->out_cols; x++)
            dst[y * task->dst_row + x] = value;
}

static void run_plane(const struct plan *plan, const struct dwconv_f32_task *task, size_t channel)
{
    struct dwconv_f32_rectangle job = plan->job;
    if (job.src) /* there is a row */
        job.src += channel / task->multiplier * task->src_plane;
    job.dst += channel * task->dst_plane;
    for (size_t i = 0; i < KERNEL * KERNEL; i++)
        job.weights[i] = task->weights[i * task->weights_tap + channel];
    float bias = task->bias ? task->bias[channel] : 0.0f;
    for (size_t i = 0; i < sizeof job.bias / sizeof *job.bias; i++)
        job.bias[i] = bias;
    dwconv_f32_rectangle_run(&job, task->scratch);
    if (plan->empty_rows > 0)
        fill_empty_rows(plan, task, task->dst + channel * task->dst_plane, bias);
}

static int make_plan(struct plan *plan, const struct dwconv_f32_task *task)
{
    struct direction columns = {task->out_cols, task->dilation_w, -task->first,
                                (ptrdiff_t)task->columns - task->first};
    struct extent extent;
    if (!extent_find(&extent, task->rows, task->out_rows + (KERNEL - 1) * task->dilation_h) ||
        !find_spans(&plan->columns, &columns) || !saves_copies(&plan->columns, task->out_cols) ||
        !widen_spans(&plan->columns, &columns))
        return 0;
    ptrdiff_t begin = (ptrdiff_t)extent.begin, bytes = (ptrdiff_t)sizeof(float);
    ptrdiff_t step = extent.row / bytes;
    plan->rows = (struct direction){task->out_rows, task->dilation_h, begin, (ptrdiff_t)extent.end};
    plan->limits[0] = task->low;
    plan->limits[1] = task->high;
    plan->src_row = extent.row;
    plan->dst_row = task->dst_row * sizeof(float);
    plan->job = (struct dwconv_f32_rectangle){
        .src = plan->rows.end > begin ? task->rows[begin] - begin * step + task->first : NULL,
        .dst = task->dst,
        .src_apart = (ptrdiff_t)task->dilation_h * plan->src_row,
        .dst_apart = (ptrdiff_t)(task->dilation_h * plan->dst_row),
        .tap_column = (ptrdiff_t)task->dilation_w * bytes,
        .limits = dwconv_f32_clamps(task) ? plan->limits : NULL,
    };
    plan->end = task->scratch;
    plan->empty_rows = plan->next = 0;
    add_tiles(plan);
    *plan->end = (struct dwconv_f32_rectangle_strip){.code = dwconv_f32_rectangle_end};
    return 1;
}

static void run(const struct dwconv_f32_task *task)
{
    struct plan plan;
    if (!make_plan(&plan, task)) {
        dwconv_f32_planes_copied_neon.run(task);
        return;
    }
    for (size_t i = 0; i < task->channels; i++)
        run_plane(&plan, task, i);
}

static int does(const struct dwconv_f32_task *task)
{
    return planes_does(task) && task->kh == KERNEL && task->kw == KERNEL && task->stride_h == 1 &&
           task->stride_w == 1 && (task->dilation_h > 1 || task->dilation_w > 1);
}

const struct dwconv_f32_kernel dwconv_f32_planes_dilated_neon = {
    .name = "dwconv_f32_planes_dilated_neon",
    .needs = CPU_NEON,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
