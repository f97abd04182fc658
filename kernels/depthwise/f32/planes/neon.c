/* Depthwise convolution of planes (nchw) in place, with padding of half a kernel or none on each
 * side: tiles for the assembly of kernels/depthwise/f32/planes/tiles_neon.S. What it cannot do is
 * done on copies of the rows, by kernels/depthwise/f32/planes/copied_neon.c. */
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/planes/planes.h"
#include "kernels/depthwise/f32/planes/planes_offsets.h"

enum { LANES = 4, WIDE = 2 * LANES, TALL = 7, LOW = 4 };

/* The tiles of one row of them. */
struct band {
    size_t y, height;
    enum planes_rows rows;
};

static size_t count_tiles(const struct dwconv_f32_task *task)
{
    return (task->out_rows / TALL + 2) * (task->out_cols / (2 * LANES) + 2) + 1;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    return planes_scratch_bytes(task, count_tiles(task));
}

/* Tall tiles, and for what is left one that overlaps them: of 3x3 a low one above padding. */
static size_t height_at(const struct dwconv_f32_task *task, const struct planes_gap *gap, size_t y)
{
    int may_be_low = task->kh == 3 && gap->below && (y > 0 || !gap->above);
    return may_be_low && task->out_rows - y <= LOW ? LOW : TALL;
}

/* The band that begins at y, or ends with the last row. 0: it would have a part of the rows of
 * padding, or both those above and those below, or there is no such tile. */
static int find_band(struct band *band, const struct dwconv_f32_task *task,
                     const struct planes_gap *gap, size_t y)
{
    size_t rows = task->out_rows;
    band->height = height_at(task, gap, y);
    if (band->height > rows)
        return 0;
    band->y = y + band->height <= rows ? y : rows - band->height;
    size_t end = band->y + band->height;
    int top = band->y < gap->above;
    int bottom = end - 1 + task->kh > planes_count_rows(task) - gap->below;
    band->rows = bottom ? PLANES_LAST : top ? PLANES_FIRST : PLANES_INNER;
    if (band->height == LOW)
        band->rows = PLANES_LAST_LOW;
    return !(top && bottom) && (!top || band->y == 0) && (!bottom || end == rows);
}

static struct dwconv_f32_planes_tile *add_tile(struct dwconv_f32_planes_tile *tile,
                                               const struct dwconv_f32_task *task,
                                               const struct band *band,
                                               const struct planes_gap *gap, size_t x,
                                               enum planes_columns columns)
{
    size_t row = band->rows == PLANES_FIRST ? 0 : band->y - gap->above;
    *tile = (struct dwconv_f32_planes_tile){
        .src = (size_t)((ptrdiff_t)row * gap->row) + x * sizeof(float),
        .dst = (band->y * task->dst_row + x) * sizeof(float),
        .body = PLANES_BODY(columns, band->rows),
    };
    return tile + 1;
}

/* Which ends of a row are padding, of half a kernel; and where column 0 of dst is in src. */
struct edges {
    int left, right;
    ptrdiff_t column;
};

/* Tiles of the middle end `margin` columns before padding on the right, where another one follows.
 */
static struct dwconv_f32_planes_tile *
list_band(struct dwconv_f32_planes_tile *tile, const struct dwconv_f32_task *task,
          const struct band *band, const struct planes_gap *gap, const struct edges *edges)
{
    size_t width = task->out_cols, margin = edges->right ? task->kw / 2 : 0, x = 0;
    size_t end = !edges->right ? width : width > WIDE ? width - WIDE : 0;
    if (edges->left) {
        tile = add_tile(tile, task, band, gap, 0, PLANES_8_LEFT);
        x = WIDE;
    }
    for (; x < end; x += WIDE) {
        x = width - x < WIDE + margin ? width - WIDE - margin : x;
        tile = add_tile(tile, task, band, gap, x, PLANES_8);
    }
    if (!edges->right)
        return tile;
    return width - x > LANES ? add_tile(tile, task, band, gap, width - WIDE, PLANES_8_RIGHT)
                             : add_tile(tile, task, band, gap, width - LANES, PLANES_4_RIGHT);
}

/* 0: these tiles cannot do it. */
static int list_tiles(struct dwconv_f32_planes_tile *tile, const struct dwconv_f32_task *task,
                      const struct planes_gap *gap, const struct edges *edges)
{
    struct band band;
    for (size_t y = 0; y < task->out_rows; y = band.y + band.height) {
        if (!find_band(&band, task, gap, y))
            return 0;
        tile = list_band(tile, task, &band, gap, edges);
    }
    tile->body = PLANES_END;
    return 1;
}

/* Are there tiles for so many columns, and for what is at their ends? Those at an edge must not
 * reach the padding at the other, nor the last one of the middle the padding on the left. */
static int find_edges(struct edges *edges, const struct dwconv_f32_task *task)
{
    size_t width = task->out_cols, half = task->kw / 2;
    ptrdiff_t columns = (ptrdiff_t)task->columns, padding = (ptrdiff_t)half;
    ptrdiff_t end = task->first + (ptrdiff_t)(width - 1 + task->kw);
    edges->left = task->first == -padding;
    edges->right = columns == end - padding;
    edges->column = task->first + padding;
    if ((!edges->left && task->first < 0) || (!edges->right && columns < end))
        return 0;
    if (edges->left && edges->right)
        return width >= WIDE + half;
    if (edges->left || edges->right)
        return width == WIDE || width >= WIDE + half || (edges->right && width == LANES);
    return width >= WIDE;
}

/* For 5x5 there are tall ones only, which must not overlap much. */
static int suits_height(const struct dwconv_f32_task *task)
{
    size_t rows = task->out_rows, tiles = (rows + TALL - 1) / TALL;
    return task->kh == 3 || tiles * TALL * 8 <= rows * 9;
}

/* Does the assembly need no list of tiles for these planes? They are one block of it; of 14x14 only
 * where rows follow one another. */
static int are_whole(const struct dwconv_f32_task *task, const struct planes_gap *gap,
                     const struct edges *edges, dwconv_f32_planes_fn *function)
{
    size_t rows = task->out_rows;
    int is_flat = rows == TALL || (rows == 2 * TALL && function != dwconv_f32_planes_3s1_a55 &&
                                   gap->row == (ptrdiff_t)(rows * sizeof(float)));
    return is_flat && task->out_cols == rows && gap->above && gap->below && edges->left &&
           edges->right;
}

static void run_with(const struct dwconv_f32_task *task, dwconv_f32_planes_fn *function)
{
    float limits[8];
    struct planes_gap gap;
    struct edges edges;
    int suits = find_edges(&edges, task), is_even = planes_find_gap(&gap, task);
    int is_whole = is_even && are_whole(task, &gap, &edges, function);
    suits = suits && is_even && suits_height(task);
    if (!is_whole && !(suits && list_tiles(task->scratch, task, &gap, &edges))) {
        dwconv_f32_planes_copied_neon.run(task);
        return;
    }
    struct dwconv_f32_planes job = planes_job(task, &gap, limits);
    job.tiles = is_whole ? NULL : task->scratch;
    job.src += edges.column;
    function(&job);
}

static void run(const struct dwconv_f32_task *task)
{
    run_with(task, task->kh == 3 ? dwconv_f32_planes_3s1 : dwconv_f32_planes_5s1);
}

static void run_a55(const struct dwconv_f32_task *task)
{
    run_with(task, task->kh == 3 ? dwconv_f32_planes_3s1_a55 : dwconv_f32_planes_5s1);
}

static int does(const struct dwconv_f32_task *task)
{
    return planes_does_square(task, 1) && (task->kh == 3 || task->kh == 5);
}

const struct dwconv_f32_kernel dwconv_f32_planes_neon = {
    .name = "dwconv_f32_planes_neon",
    .needs = CPU_NEON,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};

const struct dwconv_f32_kernel dwconv_f32_planes_a55_neon = {
    .name = "dwconv_f32_planes_a55_neon",
    .needs = CPU_NEON,
    .kind = IN_ORDER_NARROW,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run_a55,
};
