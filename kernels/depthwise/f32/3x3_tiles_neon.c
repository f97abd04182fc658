/* Depthwise 3x3 by tiles: those of a task for the assembly of kernels/depthwise/f32/tiles_neon.S.
 */
#include <string.h>

#include "kernels/depthwise/f32/tiles.h"
#include "kernels/depthwise/f32/tiles_offsets.h"

enum {
    MOST_COLUMNS = 16 * TILES_WIDTH, /* of a strip */
    MOST_TILES = 2 * MOST_COLUMNS / TILES_WIDTH,
};

/* The tiles of a band in all columns of a strip. */
struct tiles {
    size_t count;
    ptrdiff_t from; /* of the source, where the tiles are */
    struct dwconv_f32_tile tile[MOST_TILES];
};

struct plan {
    const struct dwconv_f32_task *task;
    int left, right; /* is the column before the image, or the one behind it, padding? */
    struct bands bands;
    struct tiles tiles[MOST_BANDS];
};

/* ---- columns ---- */

/* Are there tiles for all columns? */
static int find_edges(struct plan *plan)
{
    const struct dwconv_f32_task *task = plan->task;
    ptrdiff_t end = task->first + (ptrdiff_t)((task->out_cols - 1) * task->stride_w + task->kw);
    ptrdiff_t beyond = end - (ptrdiff_t)task->columns;
    plan->left = task->first < 0;
    plan->right = beyond > 0;
    return task->first >= -1 && beyond <= 1;
}

static const size_t widths[TILE_WIDTHS] = {2 * TILES_WIDTH, TILES_WIDTH, 4, 3};

static int edge_of(const struct plan *plan, size_t x, size_t width)
{
    int is_left = plan->left && x == 0;
    int is_right = plan->right && x + width == plan->task->out_cols;
    return is_left && is_right ? TILE_WHOLE
           : is_left           ? TILE_LEFT
           : is_right          ? TILE_RIGHT
                               : TILE_MIDDLE;
}

/* What the task asks for at x, or for what is left of a row. */
static int wanted_width(const struct plan *plan, size_t x, size_t left)
{
    size_t most = plan->task->tile_columns;
    if (left < TILES_WIDTH)
        return left == widths[TILE_FOUR] ? TILE_FOUR : TILE_THREE;
    if (left >= widths[TILE_WIDE] && (!most || most >= widths[TILE_WIDE]))
        return TILE_WIDE;
    if (!most || most >= TILES_WIDTH)
        return TILE_SEVEN;
    return x % TILES_WIDTH == 0 ? TILE_FOUR : TILE_THREE;
}

/* A tile that does not fit begins before x: its first columns are done again. */
static size_t begin_of(size_t x, size_t end, size_t width)
{
    return x + width > end ? end - width : x;
}

/* The width of the tile at x; of seven columns where there is no such tile. */
static int find_width(const struct plan *plan, dwconv_f32_tile_bodies *bodies, size_t x, size_t end)
{
    int wanted = wanted_width(plan, x, end - x);
    size_t width = widths[wanted], begin = begin_of(x, end, width);
    return (*bodies)[wanted][edge_of(plan, begin, width)] ? wanted : TILE_SEVEN;
}

/* Those of columns x to `end`. */
static void list_tiles(const struct plan *plan, const struct band *band, struct tiles *tiles,
                       size_t x, size_t end)
{
    const struct dwconv_f32_task *task = plan->task;
    dwconv_f32_tile_bodies *bodies = &dwconv_f32_tiles_bodies[bands_clamp(task)][task->stride_w - 1]
                                                             [band->height - 1][band->left_out];
    tiles->count = 0;
    tiles->from = 0;
    for (size_t width; x < end; x += width) {
        int index = find_width(plan, bodies, x, end);
        width = widths[index];
        x = begin_of(x, end, width);
        ptrdiff_t column = task->first + (ptrdiff_t)(x * task->stride_w);
        tiles->tile[tiles->count++] = (struct dwconv_f32_tile){
            .src = (size_t)(column < 0 ? 0 : column) * task->column * sizeof(float),
            .dst = x * task->dst_column * sizeof(float),
            .body = (*bodies)[index][edge_of(plan, x, width)],
        };
    }
}

/* ---- channels ---- */

static void move_tiles(struct tiles *tiles, ptrdiff_t from)
{
    for (size_t i = 0; i < tiles->count; i++)
        tiles->tile[i].src += (size_t)(from - tiles->from);
    tiles->from = from;
}

/* So many groups of channels are done in all rows of a strip before the next ones. */
static size_t groups_together(const struct dwconv_f32_task *task, size_t groups)
{
    size_t most = task->tile_channels / TILES_GROUP;
    return most && most < groups ? most : groups;
}

/* Those from c on. */
static float *copy_of_weights(const struct dwconv_f32_task *task, size_t c)
{
    return (float *)task->scratch + c * TILES_TAPS;
}

/* The weights of channels that are done together, tap after tap. */
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

/* Groups of channels, from c on. */
static void run_band(const struct plan *plan, const struct band *band, struct tiles *tiles,
                     struct dwconv_f32_tiles *job, size_t c, size_t groups)
{
    static const float none[TILES_GROUP];
    static dwconv_f32_tiles_fn *const functions[2][2] = {
        {dwconv_f32_tiles_s1, dwconv_f32_tiles_s1_clamp},
        {dwconv_f32_tiles_s2, dwconv_f32_tiles_s2_clamp},
    };
    const struct dwconv_f32_task *task = plan->task;
    ptrdiff_t group = TILES_GROUP * sizeof(float), bytes = (ptrdiff_t)groups * group;
    ptrdiff_t first = (ptrdiff_t)(c * sizeof(float));
    ptrdiff_t from = first + (task->from_last ? -group : bytes);
    move_tiles(tiles, from);
    job->first_channel = task->from_last ? bytes : -bytes;
    job->channel_step = task->from_last ? -group : group;
    job->rows = plan->bands.rows + band->y * task->stride_h;
    job->tiles = tiles->tile;
    job->tiles_end = tiles->tile + tiles->count;
    job->weights = (uintptr_t)task->weights + (uintptr_t)from;
    if (task->copies_weights)
        job->weights = (uintptr_t)copy_of_weights(task, c) + (uintptr_t)(from - first);
    job->bias = task->bias ? (uintptr_t)task->bias + (uintptr_t)from : (uintptr_t)none;
    job->dst = (uintptr_t)(task->dst + band->y * task->dst_row) + (uintptr_t)from;
    job->count = band->down * tiles->count * groups;
    functions[task->stride_w - 1][bands_clamp(task)](job);
}

/* Some channels after the others. */
static void run_strip(struct plan *plan, struct dwconv_f32_tiles *job, size_t c, size_t groups)
{
    for (size_t count; groups; groups -= count, c += count * TILES_GROUP) {
        count = groups_together(plan->task, groups);
        if (plan->task->copies_weights)
            job->weights_tap = count * TILES_GROUP * sizeof(float);
        for (size_t i = 0; i < plan->bands.count; i++)
            run_band(plan, &plan->bands.band[i], &plan->tiles[i], job, c, count);
    }
}

int dwconv_f32_tiles_run(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                         size_t groups)
{
    float low = task->low, high = task->high;
    const float clamp[8] = {low, low, low, low, high, high, high, high};
    struct plan plan;
    struct dwconv_f32_tiles job = {
        .column = task->column * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .dst_row = task->dst_row * sizeof(float),
        .weights_tap = task->weights_tap * sizeof(float),
        .bias_mask = task->bias ? SIZE_MAX : 0,
        .clamp = clamp,
    };
    plan.task = task;
    if (!find_edges(&plan) ||
        !bands_list(&plan.bands, task, rows, task->tile_rows == 1 ? 1 : TILES_HEIGHTS))
        return 0;
    if (task->copies_weights)
        copy_weights(task, c, groups);
    size_t together = task->strip / TILES_WIDTH * TILES_WIDTH;
    together = together < MOST_COLUMNS && together ? together : MOST_COLUMNS;
    for (size_t x = 0, end; x < task->out_cols; x = end) {
        end = x + together < task->out_cols ? x + together : task->out_cols;
        for (size_t i = 0; i < plan.bands.count; i++)
            list_tiles(&plan, &plan.bands.band[i], &plan.tiles[i], x, end);
        run_strip(&plan, &job, c, groups);
    }
    return 1;
}
