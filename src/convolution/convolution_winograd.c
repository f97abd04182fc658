/* 3x3 convolutions of stride 1 by Winograd's minimal filtering.
 *
 * The image is cut into tiles, in each dimension some of the largest size m = 2, 4 or 6 and at most
 * two smaller ones, so that little is computed that is not wanted: 14 = 6 + 6 + 2, 7 = 4 + 3. A
 * tile of m_h x m_w outputs takes (m_h + 2) (m_w + 2) products for each pair of channels. For every
 * point there is a matrix multiplication whose rows are tiles; points of small tiles are among
 * those of large ones, so tiles of all sizes are rows of the same matrices.
 *
 * A strip of tiles at a time: its inputs are transformed straight into the panels of the matrix
 * multiplication, in the L2 cache; then for each panel of output channels the products of all
 * points are summed, and transformed back while they are in the L1 cache. */
#include <math.h>
#include <string.h>

#include "kernels/copy_f32.h"
#include "kernels/winograd_f32.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/gemm/gemm_f32.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"
#include "src/weights/layout.h"
#include "src/weights/winograd.h"

enum {
    LANES = WINOGRAD_F32_LANES,
    SIZES = 3,     /* of tiles in one dimension: the largest, and two smaller ones */
    GATHERED = 16, /* channels of a patch of source at a time, if they are not neighbours */
    MIN_CHANNELS = 4,
    MOST_STRIP = 64, /* tiles */
    MIN_STRIP_CACHE = 256 << 10,
    MOST_POINTS = WINOGRAD_MOST * WINOGRAD_MOST,
    MOST_OUTPUTS = (WINOGRAD_MOST - 2) * (WINOGRAD_MOST - 2),
};

/* One dimension cut into tiles: count[i] ones of size[i] outputs, in this order. */
struct cut {
    size_t size[SIZES], count[SIZES];
};

/* The matrices for tiles of 4, 5, 6 and 8 points, one after the other. */
struct matrices {
    float forward[4 * 4 + 5 * 5 + 6 * 6 + 8 * 8], backward[2 * 4 + 3 * 5 + 4 * 6 + 6 * 8];
};

struct convolution_winograd {
    struct convolution_shape shape;
    struct cut rows, cols;
    size_t points; /* along a dimension, of the largest tile */
    size_t tiles, strip, panels, columns;
    float low, high;
    bool gathers;  /* channels of source are not neighbours: patches are transposed */
    bool staged;   /* tiles of results are finished before they go to dst */
    bool finishes; /* there is more to do than a bias and a clamp */
    const struct winograd_f32_kernel *kernel;
    copy_f32_fn *copy;
    gemm_f32_fn *gemm[GEMM_F32_NR / 4][GEMM_F32_MR]; /* by width / 4 - 1, height - 1 */
    size_t table_bytes, input_bytes, sum_bytes, zero_bytes, task_bytes;
    struct matrices matrices;
};

/* ---- cutting ---- */

/* The fewest tiles, as the points of all tiles are size + 2 times their number; remainders that
 * have no tile of their own size share it with the tile before (5 = 3 + 2, 7 = 4 + 3), or are
 * padded. */
static struct cut cut_dimension(size_t size, size_t most)
{
    struct cut cut = {.size = {most}};
    size_t whole = size / most, rest = size % most;
    if (whole && rest == 1) {
        whole--;
        cut.size[1] = most == 2 ? 2 : most / 2 + 1;
        cut.size[2] = most == 2 ? 2 : most / 2;
        cut.count[1] = cut.count[2] = 1;
    } else if (rest == 5) {
        whole++;
    } else if (rest) {
        cut.size[1] = max_size(rest, 2);
        cut.count[1] = 1;
    }
    cut.count[0] = whole;
    return cut;
}

static size_t cut_tiles(const struct cut *cut)
{
    return cut->count[0] + cut->count[1] + cut->count[2];
}

static size_t cut_points(const struct cut *cut)
{
    size_t points = 0;
    for (size_t i = 0; i < SIZES; i++)
        points += cut->count[i] * (cut->size[i] + 2);
    return points;
}

/* ---- refuse ---- */

/* The error of a result is at most c 2^-24 sum over i of 9 max|src[i]| max|weights[i]|, over the
 * input channels i and the inputs and weights that the result's tile reads; see
 * neoprene/convolution.h. */
static double error_factor(size_t points)
{
    return points == 4   ? NEO_WINOGRAD_ERROR_2
           : points == 6 ? NEO_WINOGRAD_ERROR_4
                         : NEO_WINOGRAD_ERROR_6;
}

/* A sum of 9 ic products in f32, one after the other, has a factor of 9 ic. */
static bool is_accurate(const struct problem *problem, size_t points)
{
    const neo_memory_desc *src = &problem->tensors[SRC];
    return problem->convolution_algorithm == NEO_CONVOLUTION_WINOGRAD ||
           problem->attributes.fpmath == NEO_FPMATH_ANY ||
           error_factor(points) <= 9 * (double)src->dims[1];
}

static bool is_3x3(const struct problem *problem)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    int first = convolution_is_grouped(problem) + 2;
    if (problem->tensors[DST].ndims != 4)
        return false;
    for (int i = 0; i < 2; i++)
        if (weights->dims[first + i] != WINOGRAD_TAPS || problem->strides[i] != 1 ||
            problem->dilations[i] != 0)
            return false;
    return true;
}

static const char *refuse(const struct problem *problem, enum layout_id layout)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    if (problem->convolution_algorithm == NEO_CONVOLUTION_DIRECT)
        return "a direct algorithm was asked for";
    if (!is_3x3(problem))
        return "it is not a 3 × 3 kernel in two dimensions with a stride of 1 and no dilation";
    if (convolution_is_grouped(problem) && weights->dims[0] != 1)
        return "there are groups";
    if (problem->tensors[SRC].dims[1] < MIN_CHANNELS)
        return "there are fewer than four input channels";
    if (weights->format_kind == NEO_FORMAT_STRIDED)
        return "the weights are not transformed beforehand";
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != layout)
        return "the weights are packed for another algorithm";
    if (bias->ndims && bias->dims[0] != 1 && bias->format_kind == NEO_FORMAT_STRIDED &&
        bias->strides[0] != 1)
        return "the values of bias do not follow each other";
    if (!is_accurate(problem, layout_winograd_points(layout)))
        return "its rounding errors are larger than those of so short sums can be";
    return NULL;
}

static void choose(struct problem *problem, enum layout_id layout)
{
    convolution_choose_images(problem);
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        layout_set(&problem->tensors[WEIGHTS], layout, convolution_is_grouped(problem));
}

/* The products; the transforms, some twelve instructions for four values at a point; reading the
 * weights. */
static double estimate(const struct problem *problem, const struct cpu *cpu, enum layout_id layout)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    size_t most = layout_winograd_points(layout) - 2;
    struct cut rows = cut_dimension((size_t)s.out[HEIGHT], most);
    struct cut cols = cut_dimension((size_t)s.out[WIDTH], most);
    double values = (double)s.batch * (double)cut_points(&rows) * (double)cut_points(&cols);
    double tiles = (double)s.batch * (double)cut_tiles(&rows) * (double)cut_tiles(&cols);
    double points = fmin((double)(most + 2), (double)s.out[HEIGHT] + 2) *
                    fmin((double)(most + 2), (double)s.out[WIDTH] + 2);
    double ic = (double)s.ic, oc = ceil((double)s.oc / 4) * 4;
    double per_cycle = 4.0 * fmax(cpu->core->fmla_per_cycle, 1);
    double products = values * ic * oc / per_cycle * (1.06 + 0.5 / fmin(tiles, 8));
    double transforms = values * (ic * 1.2 + oc * 0.9);
    double weights = points * ic * oc * sizeof(float) / 16;
    double outputs = (double)s.batch * (double)s.out[HEIGHT] * (double)s.out[WIDTH] * oc;
    return 3000 + products + transforms + weights + outputs * post_ops_cycles(problem);
}

/* ---- plan ---- */

/* Where the matrices for n points begin. */
static size_t forward_at(size_t n)
{
    return n == 4 ? 0 : n == 5 ? 16 : n == 6 ? 41 : 77;
}

static size_t backward_at(size_t n)
{
    return n == 4 ? 0 : n == 5 ? 8 : n == 6 ? 23 : 47;
}

static void plan_matrices(struct convolution_winograd *mine)
{
    static const size_t sizes[] = {4, 5, 6, 8};
    for (size_t i = 0; i < count_of(sizes) && sizes[i] <= mine->points; i++) {
        size_t n = sizes[i];
        winograd_input_matrix(mine->points, n, mine->matrices.forward + forward_at(n));
        winograd_output_matrix(n, mine->matrices.backward + backward_at(n));
    }
}

/* Rows for the matrix multiplications, but no more than such that the inputs fit into half of the
 * L2 cache, and the sums of a panel into the L1 cache. */
static size_t choose_strip(const struct convolution_winograd *mine, const struct cpu *cpu)
{
    size_t bytes = mine->points * mine->points * (size_t)mine->shape.ic * sizeof(float);
    size_t sums = mine->points * mine->points * GEMM_F32_NR * sizeof(float);
    size_t room =
        min_size(max_size(cpu->l2_bytes / 2, MIN_STRIP_CACHE) / bytes, cpu->l1_bytes / sums) /
        GEMM_F32_MR;
    size_t most = min_size(max_size(room, 1) * GEMM_F32_MR, MOST_STRIP);
    size_t strips = max_size(div_up(mine->tiles, most), 1);
    return max_size(round_up(div_up(mine->tiles, strips), GEMM_F32_MR), GEMM_F32_MR);
}

static void plan_kernels(struct convolution_winograd *mine, const struct cpu *cpu)
{
    mine->kernel = winograd_f32_find(cpu->features);
    mine->copy = copy_f32_find(cpu->features)->run;
    for (size_t w = 0; w < GEMM_F32_NR / 4; w++)
        for (size_t h = 0; h < GEMM_F32_MR; h++)
            mine->gemm[w][h] = gemm_f32_find(cpu->features, h + 1, 4 * (w + 1), 0)->run;
}

/* A tile of dst: its first output, its points and its valid outputs. */
struct tile {
    neo_dim n, y, x;
    size_t rows, cols, height, width;
};

/* What is known about the tiles of a strip. Points are numbered in rows of `points`. */
struct strip {
    size_t count;
    struct tile tiles[MOST_STRIP];
    size_t rows[MOST_POINTS];                 /* of the point's matrix */
    size_t first[MOST_POINTS];                /* such rows of the points before */
    uint8_t row[MOST_STRIP][MOST_POINTS];     /* of a tile, at each of its own points */
    uint32_t sums[MOST_STRIP][MOST_POINTS];   /* offsets of its sums */
    const float *pixels[MOST_POINTS * LANES]; /* of four tiles */
    struct winograd_f32_target targets[MOST_POINTS];
};

static size_t unit(size_t bytes)
{
    return round_up(bytes, SCRATCH_ALIGNMENT);
}

static void plan_scratch(struct convolution_winograd *mine)
{
    size_t rows = mine->strip * mine->points * mine->points, ic = (size_t)mine->shape.ic;
    size_t patch = mine->gathers ? LANES * MOST_POINTS * GATHERED * sizeof(float) : 0;
    mine->table_bytes = unit(sizeof(struct strip));
    mine->input_bytes = unit(rows * ic * sizeof(float));
    mine->sum_bytes = unit(rows * GEMM_F32_NR * sizeof(float));
    mine->zero_bytes = unit(max_size(ic, GATHERED) * sizeof(float));
    mine->task_bytes =
        mine->table_bytes + mine->input_bytes + mine->sum_bytes + mine->zero_bytes + unit(patch);
}

static void plan_winograd(void *plan, const struct problem *problem, const struct cpu *cpu,
                          enum layout_id layout)
{
    struct convolution_winograd *mine = plan;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    convolution_shape_init(&mine->shape, problem);
    const struct convolution_shape *s = &mine->shape;
    mine->points = layout_winograd_points(layout);
    mine->rows = cut_dimension((size_t)s->out[HEIGHT], mine->points - 2);
    mine->cols = cut_dimension((size_t)s->out[WIDTH], mine->points - 2);
    mine->tiles = (size_t)s->batch * cut_tiles(&mine->rows) * cut_tiles(&mine->cols);
    mine->panels = layout_panel_count((size_t)s->oc);
    mine->columns = layout_panel_offset((size_t)s->oc, mine->panels);
    mine->gathers = s->src.c != 1;
    mine->finishes = !fusion.complete || fusion.reads_dst;
    mine->staged = fusion.reads_dst || (s->dst.c != 1 && s->oc > 1);
    mine->low = mine->finishes ? -INFINITY : fusion.low;
    mine->high = mine->finishes ? INFINITY : fusion.high;
    mine->strip = choose_strip(mine, cpu);
    plan_matrices(mine);
    plan_kernels(mine, cpu);
    plan_scratch(mine);
}

static size_t winograd_scratch_bytes(const void *plan, int threads)
{
    return ((const struct convolution_winograd *)plan)->task_bytes * (size_t)threads;
}

static const char *winograd_kernel(const void *plan)
{
    return ((const struct convolution_winograd *)plan)->kernel->name;
}

/* ---- run ---- */

struct run {
    const struct convolution_winograd *plan;
    const struct execution *execution;
    struct partition_grid grid; /* strips × panels of output channels */
};

/* One task's parts of the scratchpad. */
struct task {
    const struct run *run;
    struct strip *strip;
    float *inputs; /* panels of each point's matrix, of rows × input channels */
    float *sums;   /* rows × GEMM_F32_NR of each point */
    float *zeros, *patches;
};

static struct task task_of(const struct run *run, int index)
{
    const struct convolution_winograd *plan = run->plan;
    unsigned char *table =
        (unsigned char *)run->execution->scratch + (size_t)index * plan->task_bytes;
    unsigned char *inputs = table + plan->table_bytes, *sums = inputs + plan->input_bytes;
    unsigned char *zeros = sums + plan->sum_bytes;
    memset(zeros, 0, plan->zero_bytes);
    return (struct task){
        .run = run,
        .strip = (struct strip *)(void *)table,
        .inputs = (float *)(void *)inputs,
        .sums = (float *)(void *)sums,
        .zeros = (float *)(void *)zeros,
        .patches = (float *)(void *)(zeros + plan->zero_bytes),
    };
}

/* Tile number index of one dimension, within those of a size. */
static neo_dim cut_begin(const struct cut *cut, size_t size, size_t index)
{
    size_t begin = index * cut->size[size];
    for (size_t i = 0; i < size; i++)
        begin += cut->count[i] * cut->size[i];
    return (neo_dim)begin;
}

/* Tiles of one size in both dimensions follow each other. */
static struct tile tile_at(const struct convolution_winograd *plan, size_t index)
{
    const struct cut *rows = &plan->rows, *cols = &plan->cols;
    const struct convolution_shape *s = &plan->shape;
    size_t r = 0, c = 0, across = 0, image = 0;
    for (size_t kind = 0; kind < SIZES * SIZES; kind++) {
        r = kind / SIZES, c = kind % SIZES;
        across = cols->count[c];
        image = rows->count[r] * across;
        if (index < image * (size_t)s->batch)
            break;
        index -= image * (size_t)s->batch;
    }
    struct tile tile = {
        .n = (neo_dim)(index / image),
        .y = cut_begin(rows, r, index % image / across),
        .x = cut_begin(cols, c, index % across),
        .rows = rows->size[r] + 2,
        .cols = cols->size[c] + 2,
    };
    tile.height = min_size(rows->size[r], (size_t)(s->out[HEIGHT] - tile.y));
    tile.width = min_size(cols->size[c], (size_t)(s->out[WIDTH] - tile.x));
    return tile;
}

/* Gives each tile its row in the matrices of its points. */
static void make_strip(const struct task *task, struct span tiles)
{
    const struct convolution_winograd *plan = task->run->plan;
    struct strip *strip = task->strip;
    size_t points = plan->points;
    strip->count = tiles.end - tiles.begin;
    memset(strip->rows, 0, sizeof strip->rows);
    for (size_t t = 0; t < strip->count; t++) {
        struct tile *tile = &strip->tiles[t];
        uint8_t *row = strip->row[t];
        *tile = tile_at(plan, tiles.begin + t);
        for (size_t u = 0; u < tile->rows; u++)
            for (size_t v = 0; v < tile->cols; v++)
                *row++ = (uint8_t)strip->rows[u * points + v]++;
    }
    for (size_t p = 0, first = 0; p < points * points; first += strip->rows[p++])
        strip->first[p] = first;
    for (size_t t = 0; t < strip->count; t++) {
        const struct tile *tile = &strip->tiles[t];
        const uint8_t *row = strip->row[t];
        uint32_t *sums = strip->sums[t];
        for (size_t u = 0; u < tile->rows; u++)
            for (size_t v = 0; v < tile->cols; v++)
                *sums++ = (uint32_t)((strip->first[u * points + v] + *row++) * GEMM_F32_NR);
    }
}

/* ---- inputs ---- */

/* The panel of m rows that holds a row. */
static struct span panel_of_row(size_t m, size_t row)
{
    size_t index = min_size(row / GEMM_F32_MR, div_up(m, GEMM_F32_MR) - 1);
    struct span span = gemm_f32_row_tile(m, index);
    return row < span.begin  ? gemm_f32_row_tile(m, index - 1)
           : row >= span.end ? gemm_f32_row_tile(m, index + 1)
                             : span;
}

/* The lanes of one point: neighbours mostly share a panel. */
static void set_target(const struct task *task, size_t point, uint8_t (*rows)[MOST_POINTS],
                       size_t index, size_t lanes, struct winograd_f32_target *target)
{
    const struct strip *strip = task->strip;
    size_t ic = (size_t)task->run->plan->shape.ic, count = strip->rows[point];
    float *panels = task->inputs + strip->first[point] * ic;
    struct span panel = {0, 0};
    for (size_t lane = 0; lane < lanes; lane++) {
        size_t row = rows[lane][index];
        if (row >= panel.end)
            panel = panel_of_row(count, row);
        target->to[lane] = panels + panel.begin * ic + (row - panel.begin);
        target->step[lane] = panel.end - panel.begin;
    }
    target->together = lanes == LANES && target->to[LANES - 1] == target->to[0] + LANES - 1;
}

/* Returns the step of all targets if they are together and have the same one, else 0. */
static size_t set_targets(const struct task *task, size_t first, size_t lanes)
{
    struct strip *strip = task->strip;
    const struct tile *tile = &strip->tiles[first];
    size_t step = 0, i = 0;
    bool same = true;
    for (size_t u = 0; u < tile->rows; u++)
        for (size_t v = 0; v < tile->cols; v++, i++) {
            struct winograd_f32_target *target = &strip->targets[i];
            set_target(task, u * task->run->plan->points + v, strip->row + first, i, lanes, target);
            step = i ? step : target->step[0];
            same &= target->together && target->step[0] == step;
        }
    return same ? step : 0;
}

/* Copies what exists of one tile's source to its patch, channels [channel, channel + count). */
static void gather_tile(const struct task *task, const struct tile *tile, size_t lane,
                        size_t channel, size_t count)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    neo_dim top = tile->y - s->padding[HEIGHT], left = tile->x - s->padding[WIDTH];
    neo_dim x = left < 0 ? -left : 0, end = s->in[WIDTH] - left;
    end = end < (neo_dim)tile->cols ? end : (neo_dim)tile->cols;
    for (neo_dim y = 0; y < (neo_dim)tile->rows && x < end; y++) {
        if (top + y < 0 || top + y >= s->in[HEIGHT])
            continue;
        plan->copy(&(struct copy_f32_plane){
            .rows = count,
            .cols = (size_t)(end - x),
            .src = (const float *)task->run->execution->buffers[SRC] + tile->n * s->src.n +
                   (neo_dim)channel * s->src.c + (top + y) * s->src.h + (left + x) * s->src.w,
            .src_row = s->src.c,
            .src_col = s->src.w,
            .dst = task->patches +
                   (lane * MOST_POINTS + (size_t)y * tile->cols + (size_t)x) * GATHERED,
            .dst_row = 1,
            .dst_col = GATHERED,
        });
    }
}

/* The address of each pixel of a tile: in src, in its patch, or of zeros. */
static void list_pixels(const struct task *task, const struct tile *tile, size_t lane)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *src = (const float *)task->run->execution->buffers[SRC] + tile->n * s->src.n;
    neo_dim top = tile->y - s->padding[HEIGHT], left = tile->x - s->padding[WIDTH];
    const float **pixels = task->strip->pixels + lane;
    const float *patch = task->patches + lane * MOST_POINTS * GATHERED;
    for (neo_dim y = top; y < top + (neo_dim)tile->rows; y++) {
        bool inside = y >= 0 && y < s->in[HEIGHT];
        for (neo_dim x = left; x < left + (neo_dim)tile->cols; x++) {
            *pixels = task->zeros;
            if (inside && x >= 0 && x < s->in[WIDTH])
                *pixels = plan->gathers ? patch : src + y * s->src.h + x * s->src.w;
            pixels += LANES;
            patch += GATHERED;
        }
    }
}

static struct winograd_f32_matrix forward_matrix(const struct convolution_winograd *plan, size_t n)
{
    return (struct winograd_f32_matrix){n, n, plan->matrices.forward + forward_at(n),
                                        n == plan->points};
}

static struct winograd_f32_matrix backward_matrix(const struct convolution_winograd *plan, size_t n)
{
    return (struct winograd_f32_matrix){n, n - 2, plan->matrices.backward + backward_at(n), 1};
}

/* Up to four tiles of one size. */
static void transform_group(const struct task *task, size_t first, size_t lanes)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct tile *tiles = &task->strip->tiles[first];
    size_t ic = (size_t)plan->shape.ic, step = plan->gathers ? min_size(GATHERED, ic) : ic;
    struct winograd_f32_input input = {
        .rows = forward_matrix(plan, tiles->rows),
        .cols = forward_matrix(plan, tiles->cols),
        .lanes = lanes,
        .channels = step,
        .pixels = task->strip->pixels,
        .targets = task->strip->targets,
    };
    input.step = set_targets(task, first, lanes);
    for (size_t lane = 0; lane < LANES; lane++)
        list_pixels(task, &tiles[min_size(lane, lanes - 1)], lane);
    for (size_t done = 0; done < ic; done += step) {
        input.first = min_size(done, ic - step); /* the last ones overlap those before */
        for (size_t lane = 0; plan->gathers && lane < LANES; lane++)
            gather_tile(task, &tiles[min_size(lane, lanes - 1)], lane, input.first, step);
        plan->kernel->input(&input);
    }
}

static void transform_inputs(const struct task *task)
{
    const struct strip *strip = task->strip;
    for (size_t t = 0, lanes; t < strip->count; t += lanes) {
        const struct tile *tile = &strip->tiles[t];
        for (lanes = 1; lanes < LANES && t + lanes < strip->count; lanes++)
            if (tile[lanes].rows != tile->rows || tile[lanes].cols != tile->cols)
                break;
        transform_group(task, t, lanes);
    }
}

/* ---- products ---- */

static void multiply_panel(const struct task *task, struct layout_panel panel, size_t offset)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct strip *strip = task->strip;
    gemm_f32_fn *const *by_height = plan->gemm[panel.width / 4 - 1];
    size_t ic = (size_t)plan->shape.ic;
    const float *weights = (const float *)task->run->execution->buffers[WEIGHTS] + offset * ic;
    struct gemm_f32_tile tile = {.k = ic,
                                 .row = GEMM_F32_NR,
                                 .col = 1,
                                 .n = panel.width,
                                 .low = -INFINITY,
                                 .high = INFINITY};
    for (size_t p = 0; p < plan->points * plan->points; p++) {
        size_t rows = strip->rows[p];
        tile.b = weights + p * plan->columns * ic;
        for (size_t i = 0; i < div_up(rows, GEMM_F32_MR); i++) {
            struct span span = gemm_f32_row_tile(rows, i);
            tile.m = span.end - span.begin;
            tile.a = task->inputs + (strip->first[p] + span.begin) * ic;
            tile.c = task->sums + (strip->first[p] + span.begin) * GEMM_F32_NR;
            by_height[tile.m - 1](&tile);
        }
    }
}

/* ---- outputs ---- */

/* What a bias and a clamp leave over, for one row of a tile. */
static void finish_row(const struct task *task, const struct winograd_f32_output *output,
                       const struct tile *tile, size_t channel, size_t y, float *dst)
{
    const struct image_strides *strides = &task->run->plan->shape.dst;
    float *values = output->dst + y * output->dst_row;
    struct line line = {.position = {tile->n, (neo_dim)channel, tile->y + (neo_dim)y},
                        .direction = 1,
                        .count = output->channels};
    for (size_t x = 0; x < tile->width; x++) {
        line.position[3] = tile->x + (neo_dim)x;
        finish_line(task->run->execution, &line, values + x * output->dst_column, false,
                    dst + (neo_dim)x * strides->w, strides->c);
    }
}

static void finish_tile(const struct task *task, const struct winograd_f32_output *output,
                        const struct tile *tile, size_t channel, float *dst)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    for (size_t y = 0; y < tile->height; y++, dst += strides->h)
        if (plan->finishes)
            finish_row(task, output, tile, channel, y, dst);
        else
            plan->copy(&(struct copy_f32_plane){
                .rows = tile->width,
                .cols = output->channels,
                .src = output->dst + y * output->dst_row,
                .src_row = (ptrdiff_t)output->dst_column,
                .src_col = 1,
                .dst = dst,
                .dst_row = strides->w,
                .dst_col = strides->c,
            });
}

static void transform_output(const struct task *task, size_t t, struct layout_panel panel)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    const struct tile *tile = &task->strip->tiles[t];
    const float *bias = task->run->execution->buffers[BIAS];
    float stage[MOST_OUTPUTS * GEMM_F32_NR];
    float *dst = (float *)task->run->execution->buffers[DST] + tile->n * strides->n +
                 (neo_dim)panel.first * strides->c + tile->y * strides->h + tile->x * strides->w;
    struct winograd_f32_output output = {
        .rows = backward_matrix(plan, tile->rows),
        .cols = backward_matrix(plan, tile->cols),
        .channels = panel.valid,
        .height = tile->height,
        .width = tile->width,
        .sums = task->sums,
        .offsets = task->strip->sums[t],
        .bias = bias ? bias + panel.first : NULL,
        .dst = plan->staged ? stage : dst,
        .dst_row = plan->staged ? tile->width * GEMM_F32_NR : (size_t)strides->h,
        .dst_column = plan->staged ? GEMM_F32_NR : (size_t)strides->w,
        .low = plan->low,
        .high = plan->high,
    };
    plan->kernel->output(&output);
    if (plan->staged || plan->finishes)
        finish_tile(task, &output, tile, panel.first, dst);
}

/* ---- all tasks ---- */

static void run_strip(const struct task *task, struct span tiles, struct span panels)
{
    size_t oc = (size_t)task->run->plan->shape.oc;
    make_strip(task, tiles);
    transform_inputs(task);
    for (size_t p = panels.begin; p < panels.end; p++) {
        struct layout_panel panel = layout_panel(oc, p);
        multiply_panel(task, panel, layout_panel_offset(oc, p));
        for (size_t t = 0; t < task->strip->count; t++)
            transform_output(task, t, panel);
    }
}

static void run_rect(const struct task *task, struct partition_rect rect)
{
    const struct convolution_winograd *plan = task->run->plan;
    for (size_t s = rect.rows.begin; s < rect.rows.end; s++) {
        struct span tiles = {s * plan->strip, min_size((s + 1) * plan->strip, plan->tiles)};
        run_strip(task, tiles, rect.columns);
    }
}

static void run_rects(void *argument, struct span rects, int slot)
{
    const struct run *run = argument;
    struct task task = task_of(run, slot);
    for (size_t i = rects.begin; i < rects.end; i++)
        run_rect(&task, partition_rect(&run->grid, (int)i));
}

static void winograd_run(const void *plan, const struct execution *execution)
{
    const struct convolution_winograd *mine = plan;
    if (mine->tiles == 0 || mine->panels == 0)
        return;
    /* A strip's rows are transformed again by every task that has some of its panels. */
    struct partition_costs costs = {.tile = (double)mine->strip * (double)GEMM_F32_NR,
                                    .row = 6 * (double)mine->strip};
    size_t strips = div_up(mine->tiles, mine->strip);
    int pieces = parallel_pieces(execution->parallel, execution->threads);
    struct run run = {mine, execution, partition_grid(strips, mine->panels, pieces, &costs)};
    parallel_for_tiles(execution->parallel, (size_t)run.grid.tasks, execution->threads, run_rects,
                       &run);
}

/* ---- one algorithm for each largest tile ---- */

#define WINOGRAD(m)                                                                        \
    static const char *refuse_##m(const struct problem *problem, const struct cpu *cpu)    \
    {                                                                                      \
        (void)cpu;                                                                         \
        return refuse(problem, LAYOUT_WINOGRAD_##m##_F32);                                 \
    }                                                                                      \
    static void choose_##m(struct problem *problem, const struct cpu *cpu)                 \
    {                                                                                      \
        (void)cpu;                                                                         \
        choose(problem, LAYOUT_WINOGRAD_##m##_F32);                                        \
    }                                                                                      \
    static double estimate_##m(const struct problem *problem, const struct cpu *cpu)       \
    {                                                                                      \
        return estimate(problem, cpu, LAYOUT_WINOGRAD_##m##_F32);                          \
    }                                                                                      \
    static void plan_##m(void *plan, const struct problem *problem, const struct cpu *cpu) \
    {                                                                                      \
        plan_winograd(plan, problem, cpu, LAYOUT_WINOGRAD_##m##_F32);                      \
    }                                                                                      \
    const struct algorithm convolution_winograd_##m##_f32 = {                              \
        .name = "winograd_" #m,                                                            \
        .refuse = refuse_##m,                                                              \
        .choose = choose_##m,                                                              \
        .estimate = estimate_##m,                                                          \
        .plan = plan_##m,                                                                  \
        .plan_bytes = sizeof(struct convolution_winograd),                                 \
        .scratch_bytes = winograd_scratch_bytes,                                           \
        .kernel = winograd_kernel,                                                         \
        .run = winograd_run,                                                               \
    };

WINOGRAD(2)
WINOGRAD(4)
WINOGRAD(6)
