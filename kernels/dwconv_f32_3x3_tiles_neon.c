/* Depthwise 3x3 by tiles: those of a task for the assembly of kernels/dwconv_f32_tiles_neon.S. */
#include <math.h>

#include "kernels/dwconv_f32_tiles.h"
#include "kernels/dwconv_f32_tiles_offsets.h"

enum {
    MOST_COLUMNS = 16 * TILES_WIDTH, /* of a strip */
    MOST_TILES = 2 * MOST_COLUMNS / TILES_WIDTH,
    MOST_BANDS = 3, /* the first rows, the last ones, and those between */
};

/* Tiles of the same height in all columns of a strip, `down` of them from row y of dst on. */
struct band {
    size_t y, height, down;
    int left_out; /* of the rows of source: TILE_* */
    size_t count;
    ptrdiff_t from; /* of the source, where the tiles are */
    struct dwconv_f32_tile *tiles;
};

struct bands {
    const struct dwconv_f32_task *task;
    const float *const *rows;
    int left, right; /* is the column before the image, or the one behind it, padding? */
    size_t count;
    struct band band[MOST_BANDS];
};

static int clamps(const struct dwconv_f32_task *task)
{
    return task->low > -INFINITY || task->high < INFINITY;
}

/* ---- rows ---- */

static void add_band(struct bands *bands, size_t height, size_t down, int left_out)
{
    struct band *band = &bands->band[bands->count], *before = band - 1;
    if (!down || !height)
        return;
    band->y = bands->count ? before->y + before->height * before->down : 0;
    band->height = height;
    band->down = down;
    band->left_out = left_out;
    bands->count++;
}

/* 0: padding is more than one row at either end, or all of a tile's rows but one. */
static int list_bands(struct bands *bands)
{
    const struct dwconv_f32_task *task = bands->task;
    size_t end = (task->out_rows - 1) * task->stride_h + 2;
    size_t height = task->tile_rows == 1 ? 1 : TILES_HEIGHTS;
    size_t above = !bands->rows[0], below = !bands->rows[end];
    for (size_t i = 1; i < end; i++)
        if (!bands->rows[i])
            return 0;
    if (above + below > task->out_rows)
        return 0;
    size_t left = task->out_rows, first = left - below < height ? left - below : height;
    if (above)
        add_band(bands, first, 1, TILE_ABOVE), left -= first;
    size_t last = below ? (left - 1) % height + 1 : left % height;
    add_band(bands, height, (left - last) / height, TILE_INNER);
    add_band(bands, last, 1, below ? TILE_BELOW : TILE_INNER);
    return 1;
}

/* ---- columns ---- */

/* Are there tiles for all columns? */
static int find_edges(struct bands *bands)
{
    const struct dwconv_f32_task *task = bands->task;
    ptrdiff_t end = task->first + (ptrdiff_t)((task->out_cols - 1) * task->stride_w + task->kw);
    ptrdiff_t beyond = end - (ptrdiff_t)task->columns;
    bands->left = task->first < 0;
    bands->right = beyond > 0;
    return task->out_cols % TILES_WIDTH == 0 && task->first >= -1 && beyond <= 1;
}

static const size_t widths[TILE_WIDTHS] = {2 * TILES_WIDTH, TILES_WIDTH, 4, 3};

static int edge_of(const struct bands *bands, size_t x, size_t width)
{
    int is_left = bands->left && x == 0;
    int is_right = bands->right && x + width == bands->task->out_cols;
    return is_left && is_right ? TILE_WHOLE
           : is_left           ? TILE_LEFT
           : is_right          ? TILE_RIGHT
                               : TILE_MIDDLE;
}

/* The width of the tile at x: the one that the task asks for, if there is such a tile. Seven
 * columns are done together anyway. */
static int find_width(const struct bands *bands, dwconv_f32_tile_bodies *bodies, size_t x,
                      size_t end)
{
    size_t most = bands->task->tile_columns;
    int index = TILE_WIDE;
    if (most)
        index = most >= widths[TILE_WIDE] ? TILE_WIDE
                : most >= TILES_WIDTH     ? TILE_SEVEN
                : x % TILES_WIDTH == 0    ? TILE_FOUR
                                          : TILE_THREE;
    int fits = x + widths[index] <= end && (*bodies)[index][edge_of(bands, x, widths[index])];
    return fits ? index : TILE_SEVEN;
}

/* Those of columns x to `end`. */
static void list_tiles(const struct bands *bands, struct band *band, size_t x, size_t end)
{
    const struct dwconv_f32_task *task = bands->task;
    dwconv_f32_tile_bodies *bodies = &dwconv_f32_tiles_bodies[clamps(task)][task->stride_w - 1]
                                                             [band->height - 1][band->left_out];
    band->count = 0;
    band->from = 0;
    for (size_t width; x < end; x += width) {
        int index = find_width(bands, bodies, x, end);
        width = widths[index];
        ptrdiff_t column = task->first + (ptrdiff_t)(x * task->stride_w);
        band->tiles[band->count++] = (struct dwconv_f32_tile){
            .src = (size_t)(column < 0 ? 0 : column) * task->column * sizeof(float),
            .dst = x * task->dst_column * sizeof(float),
            .body = (*bodies)[index][edge_of(bands, x, width)],
        };
    }
}

/* ---- channels ---- */

static void move_tiles(struct band *band, ptrdiff_t from)
{
    for (size_t i = 0; i < band->count; i++)
        band->tiles[i].src += (size_t)(from - band->from);
    band->from = from;
}

/* Groups of channels, from c on. */
static void run_band(const struct bands *bands, struct band *band, struct dwconv_f32_tiles *job,
                     size_t c, size_t groups)
{
    static const float none[TILES_GROUP];
    static dwconv_f32_tiles_fn *const functions[2][2] = {
        {dwconv_f32_tiles_s1, dwconv_f32_tiles_s1_clamp},
        {dwconv_f32_tiles_s2, dwconv_f32_tiles_s2_clamp},
    };
    const struct dwconv_f32_task *task = bands->task;
    ptrdiff_t group = TILES_GROUP * sizeof(float), bytes = (ptrdiff_t)groups * group;
    ptrdiff_t from = (ptrdiff_t)(c * sizeof(float)) + (task->from_last ? -group : bytes);
    move_tiles(band, from);
    job->first_channel = task->from_last ? bytes : -bytes;
    job->channel_step = task->from_last ? -group : group;
    job->rows = bands->rows + band->y * task->stride_h;
    job->tiles = band->tiles;
    job->tiles_end = band->tiles + band->count;
    job->weights = (uintptr_t)task->weights + (uintptr_t)from;
    job->bias = task->bias ? (uintptr_t)task->bias + (uintptr_t)from : (uintptr_t)none;
    job->dst = (uintptr_t)(task->dst + band->y * task->dst_row) + (uintptr_t)from;
    job->count = band->down * band->count * groups;
    functions[task->stride_w - 1][clamps(task)](job);
}

/* Some channels after the others. */
static void run_strip(struct bands *bands, struct dwconv_f32_tiles *job, size_t c, size_t groups)
{
    size_t most = bands->task->tile_channels / TILES_GROUP;
    for (size_t count; groups; groups -= count, c += count * TILES_GROUP) {
        count = most && most < groups ? most : groups;
        for (size_t i = 0; i < bands->count; i++)
            run_band(bands, &bands->band[i], job, c, count);
    }
}

int dwconv_f32_tiles_run(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                         size_t groups)
{
    float low = task->low, high = task->high;
    const float clamp[8] = {low, low, low, low, high, high, high, high};
    struct dwconv_f32_tile tiles[MOST_BANDS][MOST_TILES];
    struct bands bands = {.task = task, .rows = rows};
    struct dwconv_f32_tiles job = {
        .column = task->column * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .dst_row = task->dst_row * sizeof(float),
        .weights_tap = task->weights_tap * sizeof(float),
        .bias_mask = task->bias ? SIZE_MAX : 0,
        .clamp = clamp,
    };
    if (!find_edges(&bands) || !list_bands(&bands))
        return 0;
    size_t together = task->strip / TILES_WIDTH * TILES_WIDTH;
    together = together < MOST_COLUMNS && together ? together : MOST_COLUMNS;
    for (size_t x = 0, end; x < task->out_cols; x = end) {
        end = x + together < task->out_cols ? x + together : task->out_cols;
        for (size_t i = 0; i < bands.count; i++) {
            bands.band[i].tiles = tiles[i];
            list_tiles(&bands, &bands.band[i], x, end);
        }
        run_strip(&bands, &job, c, groups);
    }
    return 1;
}
