/* Depthwise 3x3 by tiles: those of a task for the assembly of kernels/depthwise/f32/tiles_neon.S.
 */
#include <string.h>

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/tiles.h"
#include "kernels/depthwise/f32/tiles_offsets.h"

enum {
    MOST_TILES = 16, /* of a row of a strip */
    MOST_COLUMNS = MOST_TILES * TILES_WIDTH,
    MOST_BANDS = 3, /* the first rows, the last ones, those between */
};

/* ---- rows ---- */

/* Tiles of the same height, `down` of them from row y of dst on. */
struct band {
    size_t y, height, down;
    int left_out; /* TILE_* */
};

struct bands {
    const float *const *rows; /* of source */
    size_t count;
    struct band band[MOST_BANDS];
};

static void add_band(struct bands *bands, size_t height, size_t down, int left_out)
{
    struct band *band = &bands->band[bands->count];
    if (!down || !height)
        return;
    band->y = bands->count ? band[-1].y + band[-1].height * band[-1].down : 0;
    band->height = height;
    band->down = down;
    band->left_out = left_out;
    bands->count++;
}

/* Tiles of two rows, or of one where it is the first or the last. 0: padding is more than
 * one row at either end, or all of a tile's rows but one. */
static int list_bands(struct bands *bands, const struct dwconv_f32_task *task,
                      const float *const *rows)
{
    size_t end = (task->out_rows - 1) * task->stride_h + 2;
    size_t above = !rows[0], below = !rows[end];
    bands->rows = rows;
    bands->count = 0;
    for (size_t i = 1; i < end; i++)
        if (!rows[i])
            return 0;
    if (above + below > task->out_rows)
        return 0;
    size_t left = task->out_rows, first = smaller(left - below, TILES_HEIGHTS);
    if (above)
        add_band(bands, first, 1, TILE_ABOVE), left -= first;
    size_t last = below ? (left - 1) % TILES_HEIGHTS + 1 : left % TILES_HEIGHTS;
    add_band(bands, TILES_HEIGHTS, (left - last) / TILES_HEIGHTS, TILE_INNER);
    add_band(bands, last, 1, below ? TILE_BELOW : TILE_INNER);
    return 1;
}

struct plan {
    const struct dwconv_f32_task *task;
    size_t edges; /* TILE_*: is the column before the image, or the one behind it, padding? */
    struct bands bands;
    size_t begin, end; /* columns of a strip */
    size_t count;
    struct dwconv_f32_tile tiles[MOST_TILES]; /* of a band in these */
};

/* ---- columns ---- */

/* Are there tiles for all columns? */
static int find_edges(struct plan *plan)
{
    const struct dwconv_f32_task *task = plan->task;
    ptrdiff_t end = task->first + (ptrdiff_t)((task->out_cols - 1) * task->stride_w + task->kw);
    ptrdiff_t beyond = end - (ptrdiff_t)task->columns;
    plan->edges = (task->first < 0 ? TILE_LEFT : 0u) | (beyond > 0 ? TILE_RIGHT : 0u);
    return task->first >= -1 && beyond <= 1;
}

static size_t edges_of(const struct plan *plan, size_t x, size_t width)
{
    size_t none = (x ? TILE_LEFT : 0u) | (x + width < plan->task->out_cols ? TILE_RIGHT : 0u);
    return plan->edges & ~none;
}

/* The next tile of a band: its columns, and the instructions for it. */
struct width {
    size_t x, columns, edges;
    const void *body;
};

/* So many columns from x on, or as many at the strip's end. */
static struct width width_at(const struct plan *plan, size_t x, size_t columns)
{
    size_t at = smaller(x, plan->end - columns);
    return (struct width){.x = at, .columns = columns, .edges = edges_of(plan, at, columns)};
}

/* The narrowest of two rows that has what is left, which is not the image's first column. */
static int find_narrow(struct width *width, const struct plan *plan, size_t x)
{
    static const size_t columns[TILES_NARROW] = {3, 5};
    for (size_t i = 0; i < TILES_NARROW; i++)
        if (plan->end - x <= columns[i]) {
            *width = width_at(plan, x, columns[i]);
            width->body = dwconv_f32_tiles_bodies.narrow[i];
            return 1;
        }
    return 0;
}

static struct width find_width(const struct plan *plan, const struct band *band, size_t x)
{
    const struct dwconv_f32_tiles_bodies *all = &dwconv_f32_tiles_bodies;
    size_t stride = plan->task->stride_w;
    int is_high = band->height == TILES_HEIGHTS;
    int may_be_narrow = stride == 1 && is_high && band->left_out == TILE_INNER && x;
    int is_wide = stride == 2 && is_high && plan->end - x >= 2 * TILES_WIDTH;
    struct width width;
    if (may_be_narrow && find_narrow(&width, plan, x))
        return width;
    width = width_at(plan, x, is_wide ? 2 * TILES_WIDTH : TILES_WIDTH);
    dwconv_f32_tile_bodies *bodies =
        is_wide ? &all->wide : &all->of_seven[stride - 1][band->height - 1];
    width.body = (*bodies)[band->left_out][width.edges];
    return width;
}

/* Those of a band, for channels that end so many bytes behind the first one; a tile that does not
 * fit begins further left. */
static void list_tiles(struct plan *plan, const struct band *band, size_t channels_end)
{
    const struct dwconv_f32_task *task = plan->task;
    plan->count = 0;
    for (size_t x = plan->begin; x < plan->end;) {
        struct width width = find_width(plan, band, x);
        ptrdiff_t column = task->first + (ptrdiff_t)(width.x * task->stride_w);
        plan->tiles[plan->count++] = (struct dwconv_f32_tile){
            .src = (size_t)column * task->column * sizeof(float) + channels_end,
            .dst = width.x * task->dst_column * sizeof(float),
            .body = width.body,
            .edges = width.edges,
        };
        x = width.x + width.columns;
    }
}

/* ---- channels ---- */

/* So many groups of channels are done in all rows of a strip before the next ones. */
static size_t groups_together(const struct dwconv_f32_task *task, size_t groups)
{
    size_t most = task->tile_channels / TILES_GROUP;
    return most && most < groups ? most : groups;
}

/* The weights of channels that are done together, tap after tap; those from c on. */
static float *copy_of_weights(const struct dwconv_f32_task *task, size_t c)
{
    return (float *)task->scratch + c * TILES_TAPS;
}

static void copy_weights(const struct dwconv_f32_task *task, size_t c, size_t groups)
{
    for (size_t count; groups; groups -= count, c += count * TILES_GROUP) {
        count = groups_together(task, groups);
        float *copy = copy_of_weights(task, c);
        for (size_t tap = 0; tap < TILES_TAPS; tap++, copy += count * TILES_GROUP)
            memcpy(copy, task->weights + tap * task->weights_tap + c,
                   count * TILES_GROUP * sizeof *copy);
    }
}

/* Groups of channels, which end `end` bytes behind the first one. */
static void run_band(struct plan *plan, const struct band *band, struct dwconv_f32_tiles *job,
                     size_t end, size_t groups)
{
    static const float none[TILES_GROUP];
    const struct dwconv_f32_task *task = plan->task;
    list_tiles(plan, band, end);
    job->rows = plan->bands.rows + band->y * task->stride_h;
    job->tiles = plan->tiles;
    job->tiles_end = plan->tiles + plan->count;
    size_t bytes = groups * TILES_GROUP * sizeof(float);
    job->weights = (uintptr_t)task->weights + end;
    job->weights_tap = task->weights_tap * sizeof(float);
    if (task->copies_weights) {
        job->weights =
            (uintptr_t)copy_of_weights(task, end / sizeof(float) - groups * TILES_GROUP) + bytes;
        job->weights_tap = bytes;
    }
    job->bias = task->bias ? (uintptr_t)task->bias + end : (uintptr_t)none;
    job->dst = (uintptr_t)(task->dst + band->y * task->dst_row) + end;
    job->first_channel = -(ptrdiff_t)bytes;
    job->count = band->down * plan->count * groups;
    (task->stride_w == 1 ? dwconv_f32_tiles_s1 : dwconv_f32_tiles_s2)(job);
}

/* Some channels after the others. */
static void run_strip(struct plan *plan, struct dwconv_f32_tiles *job, size_t c, size_t groups)
{
    for (size_t count; groups; groups -= count, c += count * TILES_GROUP) {
        count = groups_together(plan->task, groups);
        size_t end = (c + count * TILES_GROUP) * sizeof(float);
        for (size_t i = 0; i < plan->bands.count; i++)
            run_band(plan, &plan->bands.band[i], job, end, count);
    }
}

int dwconv_f32_tiles_run(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                         size_t groups)
{
    float limits[8];
    struct plan plan;
    struct dwconv_f32_tiles job = {
        .column = task->column * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .dst_row = task->dst_row * sizeof(float),
        .bias_mask = task->bias ? SIZE_MAX : 0,
        .clamp = dwconv_f32_limits(task, limits),
    };
    plan.task = task;
    if (!find_edges(&plan) || !list_bands(&plan.bands, task, rows))
        return 0;
    if (task->copies_weights)
        copy_weights(task, c, groups);
    size_t together = task->strip / TILES_WIDTH * TILES_WIDTH;
    together = together ? smaller(together, MOST_COLUMNS) : MOST_COLUMNS;
    for (plan.begin = 0; plan.begin < task->out_cols; plan.begin = plan.end) {
        plan.end = smaller(plan.begin + together, task->out_cols);
        run_strip(&plan, &job, c, groups);
    }
    return 1;
}
