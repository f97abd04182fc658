/* Depthwise 3x3, channels as vectors, stride 1 or 2: pieces for the assembly of
 * kernels/dwconv_f32_slide_neon.S and, on cores that issue in order,
 * kernels/dwconv_f32_slide_s1_in_order_neon.S and kernels/dwconv_f32_slide_s2_in_order_neon.S. */
#include <math.h>

#include "kernels/dwconv_f32_parts_neon.h"
#include "kernels/dwconv_f32_slide.h"
#include "kernels/dwconv_f32_slide_offsets.h"
#include "kernels/dwconv_f32_tiles.h"
#include "kernels/dwconv_f32_tiles_offsets.h"

/* What the columns mean for the steps; 0 if they are not what the assembly can do: then so little
 * of the image is left that speed does not matter. */
static int plan_columns(struct dwconv_f32_slide *job, const struct dwconv_f32_task *task)
{
    size_t left = task->first < 0 ? (size_t)-task->first : 0;
    ptrdiff_t end = (ptrdiff_t)task->columns - task->first; /* columns from the first tap on */
    size_t stride = task->stride_w, live = stride == 1 ? 3 : 2;
    size_t needed = stride * task->out_cols; /* columns that the main steps need */
    if (task->out_cols + 1 < live || left > 3 - stride || end < 0 || (size_t)end < needed)
        return 0;
    size_t steps = task->out_cols + 1 - live;
    job->rounds = (steps + live - 1) / live;
    job->entry = job->rounds * live - steps;
    job->edges = (left == 0 ? SLIDE_LEFT_0 : 0u) | (left <= 1 ? SLIDE_LEFT_1 : 0u) |
                 ((size_t)end > needed ? SLIDE_RIGHT_0 : 0u) |
                 ((size_t)end > needed + 1 ? SLIDE_RIGHT_1 : 0u);
    job->start = task->first < 0 ? 0 : (size_t)task->first * task->column * sizeof(float);
    return 1;
}

static int clamps(const struct dwconv_f32_task *task)
{
    return task->low > -INFINITY || task->high < INFINITY;
}

/* channels is 4 or 8; in_order: IN_ORDER_* for the functions that are made for such cores. */
static dwconv_f32_slide_fn *find_function(const struct dwconv_f32_task *task, size_t channels,
                                          int in_order)
{
    static dwconv_f32_slide_fn *const in_order_functions[2][2][2] = {
        {{dwconv_f32_slide_s1_a55, dwconv_f32_slide_s1_a55_clamp},
         {dwconv_f32_slide_s1_a510, dwconv_f32_slide_s1_a510_clamp}},
        {{dwconv_f32_slide_s2_a55, dwconv_f32_slide_s2_a55_clamp},
         {dwconv_f32_slide_s2_a510, dwconv_f32_slide_s2_a510_clamp}},
    };
    static dwconv_f32_slide_fn *const functions[2][2][2] = {
        {{dwconv_f32_slide_s1_c4, dwconv_f32_slide_s1_c4_clamp},
         {dwconv_f32_slide_s1_c8, dwconv_f32_slide_s1_c8_clamp}},
        {{dwconv_f32_slide_s2_c4, dwconv_f32_slide_s2_c4_clamp},
         {dwconv_f32_slide_s2_c8, dwconv_f32_slide_s2_c8_clamp}},
    };
    if (in_order)
        return in_order_functions[task->stride_w - 1][in_order == IN_ORDER_WIDE][clamps(task)];
    return functions[task->stride_w - 1][channels == 8][clamps(task)];
}

static const float none[8];

/* Tiles of the same height in all columns of a strip, `down` of them from rows and dst on. */
enum { MOST_TILES = 16, MOST_COLUMNS = MOST_TILES * TILES_WIDTH };
struct band {
    const struct dwconv_f32_task *task;
    const float **rows;
    float *dst;
    int left, right; /* is the column before the image, or the one behind it, padding? */
    size_t height, down, count;
    size_t from; /* of the source, where the tiles are */
    struct dwconv_f32_tile *tiles;
};

/* Those of columns x to `end`. */
static void list_tiles(struct band *band, size_t x, size_t end)
{
    const struct dwconv_f32_task *task = band->task;
    const void *const *bodies =
        dwconv_f32_tiles_bodies[clamps(task)][task->stride_w - 1][band->height - 1];
    size_t inner = task->out_cols - (band->right ? TILES_WIDTH : 0), wide = 2 * TILES_WIDTH;
    band->count = band->from = 0;
    for (size_t width; x < end; x += width) {
        int is_left = band->left && x == 0, is_right = x == inner;
        width = TILES_WIDTH;
        int body = is_left && is_right ? TILE_WHOLE
                   : is_left           ? TILE_LEFT
                   : is_right          ? TILE_RIGHT
                                       : TILE_MIDDLE;
        if (bodies[TILE_WIDE_MIDDLE] && x + wide <= (end < inner ? end : inner)) {
            width = wide;
            body = is_left ? TILE_WIDE_LEFT : TILE_WIDE_MIDDLE;
        }
        ptrdiff_t column = is_left ? 0 : task->first + (ptrdiff_t)(x * task->stride_w);
        band->tiles[band->count++] = (struct dwconv_f32_tile){
            .src = (size_t)column * task->column * sizeof(float),
            .dst = x * task->dst_column * sizeof(float),
            .body = bodies[body],
        };
    }
}

/* Are there tiles for all columns? */
static int find_edges(struct band *band)
{
    const struct dwconv_f32_task *task = band->task;
    ptrdiff_t end = task->first + (ptrdiff_t)((task->out_cols - 1) * task->stride_w + task->kw);
    ptrdiff_t beyond = end - (ptrdiff_t)task->columns;
    band->left = task->first < 0;
    band->right = beyond > 0;
    return task->out_cols % TILES_WIDTH == 0 && task->first >= -1 && beyond <= 1;
}

/* To other channels. */
static void move_tiles(struct band *band, size_t from)
{
    for (size_t i = 0; i < band->count; i++)
        band->tiles[i].src += from - band->from;
    band->from = from;
}

/* Groups of channels, from c on. */
static void run_band(struct band *band, struct dwconv_f32_tiles *job, size_t c, size_t groups)
{
    static dwconv_f32_tiles_fn *const functions[2][2] = {
        {dwconv_f32_tiles_s1, dwconv_f32_tiles_s1_clamp},
        {dwconv_f32_tiles_s2, dwconv_f32_tiles_s2_clamp},
    };
    const struct dwconv_f32_task *task = band->task;
    ptrdiff_t group = TILES_GROUP * sizeof(float), bytes = (ptrdiff_t)groups * group;
    size_t from = c * sizeof(float) + (size_t)(task->from_last ? -group : bytes);
    move_tiles(band, from);
    job->first_channel = task->from_last ? bytes : -bytes;
    job->channel_step = task->from_last ? -group : group;
    job->rows = band->rows;
    job->tiles = band->tiles;
    job->tiles_end = band->tiles + band->count;
    job->weights = (uintptr_t)task->weights + from;
    job->bias = task->bias ? (uintptr_t)task->bias + from : (uintptr_t)none;
    job->dst = (uintptr_t)band->dst + from;
    job->count = band->down * band->count * groups;
    functions[task->stride_w - 1][clamps(task)](job);
}

/* Rows of zeros: the first `above` ones and those from `below` on. */
struct padding {
    const float **rows, *zeros;
    size_t above, below, end;
};

static struct padding find_padding(const struct dwconv_f32_task *task, const float **rows)
{
    struct padding padding = {.rows = rows, .zeros = task->zeros};
    padding.end = padding.below = (task->out_rows - 1) * task->stride_h + task->kh;
    while (padding.above < padding.end && rows[padding.above] == task->zeros)
        padding.above++;
    while (padding.below > padding.above && rows[padding.below - 1] == task->zeros)
        padding.below--;
    return padding;
}

/* Channels from c on read what is there for the first ones and stays in the cache. */
static void move_zeros(const struct padding *padding, size_t c)
{
    const float *zeros = (const float *)((uintptr_t)padding->zeros - c * sizeof(float));
    for (size_t i = 0; i < padding->above; i++)
        padding->rows[i] = zeros;
    for (size_t i = padding->below; i < padding->end; i++)
        padding->rows[i] = zeros;
}

/* All channels of the part, some of them after the other. */
static void run_strip(struct band bands[TILES_HEIGHTS], struct dwconv_f32_tiles *job,
                      const struct parts_group *part, const struct padding *padding)
{
    size_t most = bands->task->tile_channels / TILES_GROUP;
    for (size_t done = 0, groups; done < part->groups; done += groups) {
        size_t left = part->groups - done;
        groups = most && most < left ? most : left;
        move_zeros(padding, part->c + done * TILES_GROUP);
        for (int i = 0; i < TILES_HEIGHTS; i++)
            if (bands[i].down)
                run_band(&bands[i], job, part->c + done * TILES_GROUP, groups);
    }
    move_zeros(padding, 0);
}

static void run_strips(struct band bands[TILES_HEIGHTS], struct dwconv_f32_tiles *job,
                       const struct parts_group *part, const struct padding *padding)
{
    const struct dwconv_f32_task *task = bands->task;
    size_t together = task->strip / TILES_WIDTH * TILES_WIDTH;
    together = together < MOST_COLUMNS && together ? together : MOST_COLUMNS;
    for (size_t x = 0, end; x < task->out_cols; x = end) {
        end = x + together < task->out_cols ? x + together : task->out_cols;
        for (int i = 0; i < TILES_HEIGHTS; i++)
            if (bands[i].down)
                list_tiles(&bands[i], x, end);
        run_strip(bands, job, part, padding);
    }
}

/* Pairs of rows, and the last one if it is alone; 0: this has to be done otherwise. */
static int run_tiles(const struct dwconv_f32_task *task, const float **rows,
                     const struct parts_group *part, const float *clamp)
{
    struct dwconv_f32_tile tiles[TILES_HEIGHTS][MOST_TILES];
    struct band bands[TILES_HEIGHTS] = {{
        .task = task,
        .rows = rows,
        .dst = task->dst,
        .height = 2,
        .down = task->out_rows / 2,
        .tiles = tiles[0],
    }};
    if (part->channels != TILES_GROUP || !find_edges(&bands[0]))
        return 0;
    bands[1] = bands[0];
    bands[1].rows += bands[0].down * 2 * task->stride_h;
    bands[1].dst += bands[0].down * 2 * task->dst_row;
    bands[1].height = 1;
    bands[1].down = task->out_rows % 2;
    bands[1].tiles = tiles[1];
    struct dwconv_f32_tiles job = {
        .column = task->column * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .dst_row = task->dst_row * sizeof(float),
        .weights_tap = task->weights_tap * sizeof(float),
        .bias_mask = task->bias ? SIZE_MAX : 0,
        .clamp = clamp,
    };
    struct padding padding = find_padding(task, rows);
    run_strips(bands, &job, part, &padding);
    return 1;
}

static void run_groups(const struct dwconv_f32_task *task, const struct dwconv_f32_slide *plan,
                       const struct parts_group *part, int in_order)
{
    struct dwconv_f32_slide job = *plan;
    size_t channels = in_order ? 4 : part->channels;
    job.weights = task->weights + part->c;
    job.bias = task->bias ? task->bias + part->c : none;
    job.bias_next = task->bias ? channels * sizeof(float) : 0;
    job.dst = task->dst + part->c;
    job.start += part->c * sizeof(float);
    job.groups = part->groups * (part->channels / channels);
    find_function(task, channels, in_order)(&job);
}

static void run_columns(const struct dwconv_f32_task *task, const float **rows, int in_order)
{
    struct dwconv_f32_slide plan = {
        .rows = rows,
        .column = task->column * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .dst_row = task->dst_row * sizeof(float),
        .weights_tap = task->weights_tap * sizeof(float),
        .out_rows = task->out_rows,
    };
    float low = task->low, high = task->high;
    const float clamp[8] = {low, low, low, low, high, high, high, high};
    plan.clamp = clamp;
    if (task->channels < 4 || !plan_columns(&plan, task) || !parts_fill_padding(task, rows)) {
        dwconv_f32_neon.run(task);
        return;
    }
    /* it loads the column after the main steps' last one while these run */
    if (!plan.rounds || !(plan.edges & SLIDE_RIGHT_0))
        in_order = 0;
    struct parts_group groups[2];
    int count = parts_groups(task->channels, groups);
    for (int i = 0; i < count; i++) {
        if (in_order || !run_tiles(task, rows, &groups[i], clamp))
            run_groups(task, &plan, &groups[i], in_order);
    }
}

/* Where the main steps end at the image's last column, that of dst is computed by itself. */
static void run_dense_as(const struct dwconv_f32_task *task, const float **rows, int in_order)
{
    ptrdiff_t needed = task->first + (ptrdiff_t)(task->stride_w * task->out_cols);
    if (!in_order || needed < (ptrdiff_t)task->columns || task->out_cols < 4) {
        run_columns(task, rows, in_order);
        return;
    }
    struct dwconv_f32_task most = *task, last = *task;
    most.out_cols--;
    last.out_cols = 1;
    last.first += (ptrdiff_t)(most.out_cols * task->stride_w);
    last.dst += most.out_cols * task->dst_column;
    run_columns(&most, rows, in_order);
    run_columns(&last, rows, 0);
}

static void run_dense(struct dwconv_f32_task *task, const float **rows)
{
    run_dense_as(task, rows, 0);
}

static void run_dense_a55(struct dwconv_f32_task *task, const float **rows)
{
    run_dense_as(task, rows, IN_ORDER_NARROW);
}

static void run_dense_a510(struct dwconv_f32_task *task, const float **rows)
{
    run_dense_as(task, rows, IN_ORDER_WIDE);
}

static void run(const struct dwconv_f32_task *task)
{
    parts_run(task, run_dense);
}

static void run_a55(const struct dwconv_f32_task *task)
{
    parts_run(task, run_dense_a55);
}

static void run_a510(const struct dwconv_f32_task *task)
{
    parts_run(task, run_dense_a510);
}

static int does(const struct dwconv_f32_task *task)
{
    size_t down = parts_stride(task->stride_h, task->dilation_h);
    return dwconv_f32_is_interleaved(task) && task->channels >= 4 && task->kh == 3 &&
           task->kw == 3 && down <= 2 && down == parts_stride(task->stride_w, task->dilation_w);
}

const struct dwconv_f32_kernel dwconv_f32_3x3_neon = {
    .name = "dwconv_f32_3x3_neon",
    .needs = CPU_NEON,
    .does = does,
    .tile_columns = TILES_WIDTH,
    .run = run,
};
const struct dwconv_f32_kernel dwconv_f32_3x3_a55_neon = {
    .name = "dwconv_f32_3x3_a55_neon",
    .needs = CPU_NEON,
    .in_order = IN_ORDER_NARROW,
    .does = does,
    .run = run_a55,
};
const struct dwconv_f32_kernel dwconv_f32_3x3_a510_neon = {
    .name = "dwconv_f32_3x3_a510_neon",
    .needs = CPU_NEON,
    .in_order = IN_ORDER_WIDE,
    .does = does,
    .run = run_a510,
};
