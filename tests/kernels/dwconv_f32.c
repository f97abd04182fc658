/* Every depthwise kernel against its contract, on ragged images with padding on all sides. */
#include "tests/support/test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"
#include "tests/support/rounds.h"

enum { MOST_ROWS = 256, MOST = 3 << 20 /* values of an array: 84 rows of 1823 pixels of 18 */ };
static float whole[MOST]; /* results of one call, beside those of two */
static struct guard guard_src, guard_zeros, guard_scratch, guard_weights, guard_bias, guard_dst;

static const struct dwconv_f32_kernel *kernel_of(void **state)
{
    return *state;
}

static size_t pick(uint32_t *seed, size_t low, size_t high)
{
    return low + (fill_next(seed) >> 8) % (high - low + 1);
}

/* A task, its rows, and the source behind them. */
struct problem {
    struct dwconv_f32_task task;
    const float *rows[MOST_ROWS];
    float *weights, *dst;
    size_t dst_count;
    int is_same;  /* padding of half a kernel on all sides, or none above or below */
    int is_image; /* always on all sides, of an image that is no larger than the kernel */
    const struct padding *padding; /* or so many rows of it */
};

struct padding {
    size_t above, below;
};

typedef void fill_fn(float *out, size_t count, uint32_t *seed);

/* Any kernel, and more often one that is as wide as high, dense, or a plane of an nchw image. */
static void pick_kernel(struct dwconv_f32_task *task, uint32_t *seed)
{
    static const size_t channels[] = {1, 2, 3, 4, 5, 7, 8, 12, 13, 15, 16, 17, 20, 32, 36, 80};
    int is_plane = pick(seed, 0, 1) == 0;
    task->channels = channels[pick(seed, 0, is_plane ? 3 : count_of(channels) - 1)];
    size_t most_between = pick(seed, 0, 1) ? 2 : 0; /* values between pixels */
    task->column = is_plane ? 1 : task->channels + pick(seed, 0, most_between);
    task->dst_column = is_plane ? 1 : task->channels + pick(seed, 0, most_between);
    task->src_plane = task->dst_plane = is_plane ? 2 : 1; /* final ones come with the sizes */
    task->weights_tap = task->channels + pick(seed, 0, 2);
    task->multiplier = is_plane ? pick(seed, 1, 3) : 1;
    task->kd = pick(seed, 0, 2) ? 1 : pick(seed, 2, 3);
    task->kh = pick(seed, 1, 7);
    task->kw = pick(seed, 0, 2) ? task->kh : pick(seed, 1, 7);
    if (task->kd * task->kh == 1 && pick(seed, 0, 1)) /* some are for many taps */
        task->kw = pick(seed, 6, 32);
    task->stride_h = pick(seed, 1, 3);
    task->stride_w = pick(seed, 0, 2) ? task->stride_h : pick(seed, 1, 3);
    int is_dense = pick(seed, 0, 1) == 0;
    size_t most = task->kd == 1 && task->kh == 3 && pick(seed, 0, 1) ? 12 : 4;
    task->dilation_h = is_dense ? 1 : pick(seed, 1, most);
    task->dilation_w = is_dense ? 1 : pick(seed, 1, most);
    task->in_pairs = task->kd == 1 && task->kw % 2 && task->stride_w == 2 && pick(seed, 0, 1);
}

/* What networks mostly have; some have less padding to the left of strides than to the right. */
static void pick_same(struct dwconv_f32_task *task, uint32_t *seed)
{
    task->first = -(ptrdiff_t)(task->kw / 2 * task->dilation_w);
    if (task->stride_w == 2 && pick(seed, 0, 3) == 0)
        task->first++;
    task->columns = task->out_cols * task->stride_w - pick(seed, 0, task->stride_w - 1);
}

/* How far it is from a single column to the next says nothing. */
static void pick_single_column(struct dwconv_f32_task *task, const struct dwconv_f32_kernel *kernel,
                               uint32_t *seed)
{
    size_t dst_column = task->dst_column;
    if (task->out_cols == 1 && task->dst_plane == 1)
        task->dst_column = pick(seed, 0, task->channels);
    if (!dwconv_f32_does(kernel, task))
        task->dst_column = dst_column;
}

static void pick_any_sizes(struct problem *problem, const struct dwconv_f32_kernel *kernel,
                           uint32_t *seed)
{
    struct dwconv_f32_task *task = &problem->task;
    pick_kernel(task, seed);
    int is_dense = task->dilation_h * task->dilation_w == 1;
    int has_strides = task->stride_h * task->stride_w > 1;
    problem->is_same = pick(seed, 0, 1) && (is_dense || !has_strides);
    task->out_rows = pick(seed, 1, problem->is_same ? 24 : 16);
    task->out_cols = pick(seed, 1, pick(seed, 1, 40));
    problem->is_image = problem->is_same && is_dense && pick(seed, 0, 2) == 0;
    if (problem->is_image)
        task->out_rows = pick(seed, 1, task->kh), task->out_cols = pick(seed, 1, task->kw);
    else if (problem->is_same && pick(seed, 0, 2) == 0) /* some kernels have tiles of a plane */
        task->out_rows = task->out_cols = 7 * pick(seed, 1, 2);
    else if (pick(seed, 0, 3) == 0) /* and some of so many columns */
        task->out_cols = 7 * pick(seed, 1, 6);
    else if (problem->is_same && pick(seed, 0, 1) == 0) { /* or of more than a list holds */
        task->out_rows = pick(seed, 2, 3);
        task->out_cols = 7 * pick(seed, 17, 18);
    }
    if (!is_dense && problem->is_same && task->kh == 3 && pick(seed, 0, 3) == 0)
        task->out_rows = pick(seed, 25, 48); /* and some have rows of a dilation in turn */
    if (task->channels <= 16 && pick(seed, 0, 15) == 0) /* and some divide wide rows */
        task->out_rows = pick(seed, 1, 2), task->out_cols = pick(seed, 100, 600);
    if (task->kh == 1 && pick(seed, 0, 1)) /* or a row that is alone */
        task->out_rows = 1;
    task->strip = pick(seed, 0, 1) ? pick(seed, 1, 2 * task->out_cols) : 0;
    task->tile_channels = pick(seed, 0, 1) ? 8 * pick(seed, 1, 4) : 0;
    task->copies_weights = (int)pick(seed, 0, 1);
    task->whole_images = problem->is_image || pick(seed, 0, 1);
    pick_single_column(task, kernel, seed);
    size_t least = task->dst_plane > 1 ? 1 : task->channels; /* of a row */
    size_t gap = pick(seed, 0, 1) ? pick(seed, 1, 3) : 0;    /* behind a row */
    task->dst_row = (task->out_cols - 1) * task->dst_column + least + gap;
    if (task->dst_plane > 1)
        task->dst_plane = task->out_rows * task->dst_row + pick(seed, 0, 3);
    task->first = (ptrdiff_t)pick(seed, 0, 5) - 4;
    if (task->kw > 7 && pick(seed, 0, 1)) /* many taps, of which some outputs have few */
        task->first = -(ptrdiff_t)pick(seed, 0, (task->kw - 1) * task->dilation_w);
    if (problem->is_same) {
        pick_same(task, seed);
        return;
    }
    /* from images that end before the first output to ones that reach beyond the last */
    size_t reach = (task->out_cols - 1) * task->stride_w + (task->kw - 1) * task->dilation_w + 1;
    task->columns = pick(seed, 0, 3) ? reach + pick(seed, 0, 1) : pick(seed, 1, reach);
    if (task->first < 0 && task->columns > (size_t)-task->first && pick(seed, 0, 1))
        task->columns -= (size_t)-task->first;
}

static void pick_sizes(struct problem *problem, const struct dwconv_f32_kernel *kernel,
                       uint32_t *seed)
{
    do
        pick_any_sizes(problem, kernel, seed);
    while (!dwconv_f32_does(kernel, &problem->task));
}

/* A square kernel and as many rows of dst as there are tiles for, of any width. */
static void pick_tile(struct dwconv_f32_task *task, uint32_t *seed)
{
    task->channels = 8 * pick(seed, 1, 2);
    task->column = task->dst_column = task->weights_tap = task->channels;
    task->src_plane = task->dst_plane = task->multiplier = task->kd = 1;
    task->kw = task->kh;
    task->stride_w = task->stride_h;
    task->dilation_h = task->dilation_w = 1;
    task->out_cols = pick(seed, 1, 12);
    task->dst_row = task->out_cols * task->dst_column;
    pick_same(task, seed);
}

/* Some planes of so many rows and columns of dst, whose rows may follow one another. */
static void pick_planes(struct dwconv_f32_task *task, size_t size, uint32_t *seed)
{
    task->multiplier = pick(seed, 1, 2);
    task->channels = pick(seed, 1, 2) * task->multiplier;
    task->weights_tap = task->channels + pick(seed, 0, 2);
    task->column = task->dst_column = task->kd = 1;
    task->kw = task->kh;
    task->stride_w = task->stride_h;
    task->dilation_h = task->dilation_w = 1;
    task->out_rows = task->out_cols = size;
    task->dst_row = size + pick(seed, 0, 1);
    task->dst_plane = size * task->dst_row + pick(seed, 0, 3);
    task->src_plane = 2; /* the final one comes with the source */
    pick_same(task, seed);
}

/* Rows of padding at both ends of a plane, or nothing else. */
static void pick_padding(const struct problem *problem, size_t *above, size_t *below,
                         uint32_t *seed)
{
    const struct dwconv_f32_task *task = &problem->task;
    size_t half = task->kh / 2 * task->dilation_h;
    if (problem->padding) {
        *above = problem->padding->above;
        *below = problem->padding->below;
        return;
    }
    int is_image = problem->is_image;
    *above = is_image || pick(seed, 0, 1) ? problem->is_same ? half : pick(seed, 0, 4) : 0;
    *below = is_image || pick(seed, 0, 1) ? problem->is_same ? half : pick(seed, 0, 4) : 0;
    if (*below && problem->is_same && task->stride_h == 2)
        *below -= pick(seed, 0, 1); /* of an even number of rows */
    if (task->kd > 1 && pick(seed, 0, 3) == 0)
        *above = MOST_ROWS;
}

/* Source rows with NaN between them and between their columns; some are padding. */
static void make_source(struct problem *problem, fill_fn *fill, int end, uint32_t *seed)
{
    struct dwconv_f32_task *task = &problem->task;
    size_t count = (task->out_rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
    size_t above = 0, below = 0, all = task->kd * count;
    int is_plane = task->src_plane > 1;
    size_t planes = is_plane ? (task->channels - 1) / task->multiplier + 1 : 1,
           values = is_plane ? 1 : task->channels;
    size_t length = (task->columns - 1) * task->column + values;
    size_t row_stride = length + pick(seed, 0, 2), plane = (all - 1) * row_stride + length;
    float *src = guard_at(&guard_src, planes * plane * sizeof(float), end);
    if (is_plane)
        task->src_plane = plane;
    fill_marker(src, planes * plane);
    task->rows_plane = count + pick(seed, 0, 1);
    assert_true(task->kd * task->rows_plane <= MOST_ROWS);
    for (size_t row = 0; row < all; row++) {
        if (row % count == 0)
            pick_padding(problem, &above, &below, seed);
        int is_padding = row % count < above || row % count + below >= count;
        problem->rows[row / count * task->rows_plane + row % count] =
            is_padding ? NULL : src + row * row_stride;
        for (size_t i = 0; i < planes; i++)
            for (size_t x = 0; x < task->columns; x++)
                fill(src + i * plane + row * row_stride + x * task->column, values, seed);
    }
    task->rows = problem->rows;
    float *zeros = guard_at(&guard_zeros, length * sizeof(float), end);
    memset(zeros, 0, length * sizeof(float));
    task->zeros = pick(seed, 0, 1) ? zeros : NULL;
}

/* All that comes after the sizes. */
static void make_arrays(struct problem *problem, const struct dwconv_f32_kernel *kernel,
                        fill_fn *fill, uint32_t *seed)
{
    struct dwconv_f32_task *task = &problem->task;
    int end = (int)pick(seed, 0, 1);
    make_source(problem, fill, end, seed);
    size_t taps = task->kd * task->kh * task->kw;
    size_t weights_count = (taps - 1) * task->weights_tap + task->channels;
    float *weights = guard_at(&guard_weights, weights_count * sizeof(float), end);
    fill(weights, weights_count, seed);
    task->weights = problem->weights = weights;
    float *bias = guard_at(&guard_bias, task->channels * sizeof(float), end);
    fill(bias, task->channels, seed);
    task->bias = pick(seed, 0, 1) ? bias : NULL;
    task->low = pick(seed, 0, 2) ? -INFINITY : 0;
    task->high = pick(seed, 0, 2) ? INFINITY : 6;
    problem->dst_count = (task->channels - 1) * task->dst_plane +
                         (task->out_rows - 1) * task->dst_row +
                         (task->out_cols - 1) * task->dst_column + 1;
    problem->dst = guard_at(&guard_dst, problem->dst_count * sizeof(float), end);
    fill_marker(problem->dst, problem->dst_count);
    task->dst = problem->dst;
    size_t scratch = kernel->scratch_bytes ? kernel->scratch_bytes(task) : 0;
    task->scratch = guard_at(&guard_scratch, (scratch + 63) / 64 * 64, end);
}

static void make_problem(struct problem *problem, const struct dwconv_f32_kernel *kernel,
                         fill_fn *fill, uint32_t *seed)
{
    problem->task = (struct dwconv_f32_task){0};
    problem->padding = NULL;
    pick_sizes(problem, kernel, seed);
    make_arrays(problem, kernel, fill, seed);
}

/* The product at one tap added to the sum, unless it is in the padding. */
static float add_tap(float sum, const struct dwconv_f32_task *task, const size_t output[3],
                     size_t ky, size_t kx)
{
    size_t y = output[0], x = output[1], c = output[2];
    size_t plane = ky / task->kh * task->rows_plane;
    const float *row = task->rows[plane + y * task->stride_h + ky % task->kh * task->dilation_h];
    ptrdiff_t at = task->first + (ptrdiff_t)(x * task->stride_w + kx * task->dilation_w);
    if (!row || at < 0 || at >= (ptrdiff_t)task->columns)
        return sum;
    return fmaf(task->weights[(ky * task->kw + kx) * task->weights_tap + c],
                row[(size_t)at * task->column + c / task->multiplier * task->src_plane], sum);
}

static float sum_by_columns(const struct dwconv_f32_task *task, const size_t output[3], float sum)
{
    for (size_t kx = 0; kx < task->kw; kx++)
        for (size_t ky = 0; ky < task->kd * task->kh; ky++) /* of all planes */
            sum = add_tap(sum, task, output, ky, kx);
    return sum;
}

static float sum_in_pairs(const struct dwconv_f32_task *task, const size_t output[3], float even)
{
    float odd = 0;
    size_t begin = task->kw / 2 % 2, single = begin ? 0 : task->kw - 1;
    for (size_t kx = begin; kx < begin + task->kw - 1; kx += 2)
        for (size_t ky = 0; ky < task->kh; ky++) {
            even = add_tap(even, task, output, ky, kx);
            odd = add_tap(odd, task, output, ky, kx + 1);
        }
    float sum = even + odd;
    for (size_t ky = 0; ky < task->kh; ky++)
        sum = add_tap(sum, task, output, ky, single);
    return sum;
}

static float want(const struct dwconv_f32_task *task, size_t y, size_t x, size_t c)
{
    const size_t output[3] = {y, x, c};
    float bias = task->bias ? task->bias[c] : 0;
    float sum = (task->in_pairs ? sum_in_pairs : sum_by_columns)(task, output, bias);
    return fminf(fmaxf(sum, task->low), task->high);
}

static void check_problem(const struct problem *problem, const struct dwconv_f32_kernel *kernel)
{
    const struct dwconv_f32_task *task = &problem->task;
    size_t written = 0;
    for (size_t i = 0; i < problem->dst_count; i++)
        written += !fill_is_marker(problem->dst[i]);
    for (size_t y = 0; y < task->out_rows; y++)
        for (size_t x = 0; x < task->out_cols; x++)
            for (size_t c = 0; c < task->channels; c++) {
                float got =
                    task->dst[y * task->dst_row + x * task->dst_column + c * task->dst_plane];
                float expected = want(task, y, x, c);
                if (got == expected)
                    continue;
                print_error(
                    "%s: %zu channels, %zux%zu outputs, kernel %zux%zux%zu, stride %zux%zu, "
                    "dilation %zux%zu, %zu columns from %td: (%zu, %zu, %zu) is %.9g, not "
                    "%.9g (seed %u)\n",
                    kernel->name, task->channels, task->out_rows, task->out_cols, task->kd,
                    task->kh, task->kw, task->stride_h, task->stride_w, task->dilation_h,
                    task->dilation_w, task->columns, task->first, y, x, c, (double)got,
                    (double)expected, fill_seed());
                fail();
            }
    assert_int_equal(written, task->out_rows * task->out_cols * task->channels);
}

/* The first rows, and the others; scratch memory is for all of them. */
static void run_in_pieces(const struct dwconv_f32_task *task,
                          const struct dwconv_f32_kernel *kernel, size_t first)
{
    struct dwconv_f32_task piece = *task;
    piece.out_rows = first;
    if (first)
        kernel->run(&piece);
    piece.out_rows = task->out_rows - first;
    piece.rows += first * task->stride_h;
    piece.dst += first * task->dst_row;
    if (piece.out_rows)
        kernel->run(&piece);
}

/* Kernels that have tiles for many sizes, or such as divide channels, for each number of taps. */
static int has_many_tiles(const struct dwconv_f32_kernel *kernel)
{
    return kernel->in_pairs || kernel->tile_columns || kernel->all_channels_from;
}

static void walk(const struct dwconv_f32_kernel *kernel, fill_fn *fill, size_t few)
{
    uint32_t seed = fill_seed();
    size_t times = has_many_tiles(kernel) ? 5 : 1, rounds = times * rounds_count(few, 500);
    for (size_t round = 0; round < rounds; round++) {
        struct problem problem;
        make_problem(&problem, kernel, fill, &seed);
        assert_true(dwconv_f32_does(kernel, &problem.task));
        size_t cut = pick(&seed, 0, 1) ? pick(&seed, 0, problem.task.out_rows) : 0;
        fill_stack(&seed);
        run_in_pieces(&problem.task, kernel, cut);
        check_problem(&problem, kernel);
    }
}

static void is_exact_on_integers(void **state)
{
    walk(kernel_of(state), fill_integers, 50);
}

static void adds_reals_in_the_order_of_the_contract(void **state)
{
    walk(kernel_of(state), fill_reals, 90);
}

static bool are_same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Some weights are infinite: what a kernel does about padding, products of it or none, it does for
 * a row in whatever call that is. */
static void does_rows_alike_in_each_call(void **state)
{
    const struct dwconv_f32_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t round = 0; round < rounds_count(100, 400); round++) {
        struct problem problem = {0};
        pick_sizes(&problem, kernel, &seed);
        struct padding padding = {.above = pick(&seed, 0, 3 * problem.task.dilation_h)};
        problem.padding = &padding; /* rows have one tap, or none */
        make_arrays(&problem, kernel, fill_reals, &seed);
        problem.weights[pick(&seed, 0, problem.task.kh * problem.task.kw - 1) *
                        problem.task.weights_tap] = INFINITY;
        run_in_pieces(&problem.task, kernel, 0);
        memcpy(whole, problem.dst, problem.dst_count * sizeof *whole);
        fill_marker(problem.dst, problem.dst_count);
        run_in_pieces(&problem.task, kernel, pick(&seed, 0, problem.task.out_rows));
        for (size_t i = 0; i < problem.dst_count; i++)
            if (!are_same(problem.dst[i], whole[i]))
                fail_msg("%s: element %zu is %g in one call, %g in two (round %zu, seed %u)",
                         kernel->name, i, (double)whole[i], (double)problem.dst[i], round,
                         fill_seed());
    }
}

/* Kernels with tiles of some rows may have others for each usual number of rows of padding. */
static void knows_rows_of_padding(void **state)
{
    static const size_t heights[] = {2, 4, 7};
    const struct dwconv_f32_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t i = 0; kernel->tile_rows && i < 4 * 4 * 2 * 2 * count_of(heights); i++) {
        struct padding padding = {.above = i % 4, .below = i / 4 % 4};
        struct problem problem = {.padding = &padding};
        problem.task.kh = i / 16 % 2 ? 7 : 5;
        problem.task.stride_h = i / 32 % 2 + 1;
        problem.task.out_rows = heights[i / 64];
        pick_tile(&problem.task, &seed);
        if (!dwconv_f32_does(kernel, &problem.task))
            continue;
        make_arrays(&problem, kernel, fill_reals, &seed);
        run_in_pieces(&problem.task, kernel, 0);
        check_problem(&problem, kernel);
    }
}

/* Kernels may have tiles of whole planes of a size, with padding all around. */
static void knows_whole_planes(void **state)
{
    const struct dwconv_f32_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t i = 0; i < 12 * 32; i++) {
        size_t half = i % 3 + 1, stride = i / 3 % 2 + 1, missing = i / 12 % 4; /* sides */
        struct padding padding = {.above = missing & 1 ? 0 : half,
                                  .below = missing & 2 ? 0 : half - (stride - 1)};
        struct problem problem = {.padding = &padding};
        problem.task.kh = 2 * half + 1;
        problem.task.stride_h = stride;
        problem.task.in_pairs = kernel->in_pairs;
        pick_planes(&problem.task, 7 * (i / 6 % 2 + 1), &seed);
        if (!dwconv_f32_does(kernel, &problem.task))
            continue;
        make_arrays(&problem, kernel, fill_reals, &seed);
        fill_stack(&seed);
        run_in_pieces(&problem.task, kernel, 0);
        check_problem(&problem, kernel);
    }
}

/* Rows of dst a dilation apart share rows of source: with much padding at both ends they are tiles
 * of many kinds, more than a kernel has in mind at a time. */
static void knows_tiles_of_many_kinds(void **state)
{
    const struct dwconv_f32_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t i = 0; i < 4 * 4 * 3; i++) {
        size_t dilation = i % 4 + 2, above = i / 4 % 4, below = i / 16;
        struct padding padding = {dilation + above, below * (dilation + 1) / 2};
        struct problem problem = {.padding = &padding};
        problem.task.kh = 3;
        problem.task.stride_h = 1;
        pick_planes(&problem.task, pick(&seed, 9 * dilation, 14 * dilation), &seed);
        problem.task.dilation_h = problem.task.dilation_w = dilation;
        pick_same(&problem.task, &seed);
        assert_true(dwconv_f32_does(kernel, &problem.task));
        make_arrays(&problem, kernel, fill_reals, &seed);
        run_in_pieces(&problem.task, kernel, 0);
        check_problem(&problem, kernel);
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(is_exact_on_integers),
        cmocka_unit_test(adds_reals_in_the_order_of_the_contract),
        cmocka_unit_test(knows_rows_of_padding),
        cmocka_unit_test(knows_whole_planes),
    };
    static const struct CMUnitTest dilated[] = {
        cmocka_unit_test(does_rows_alike_in_each_call),
        cmocka_unit_test(knows_tiles_of_many_kinds),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_src, MOST * sizeof(float)},   {&guard_scratch, MOST * sizeof(float)},
        {&guard_zeros, MOST * sizeof(float)}, {&guard_weights, 16384 * sizeof(float)},
        {&guard_bias, 128 * sizeof(float)},   {&guard_dst, MOST * sizeof(float)},
    };
    for (size_t i = 0; i < dwconv_f32_kernel_count; i++) {
        const struct dwconv_f32_kernel *kernel = dwconv_f32_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
        if (strstr(kernel->name, "_dilated_"))
            kernel_tests_add(kernel->name, kernel->needs, kernel, dilated, count_of(dilated));
    }
    return kernel_tests_run("dwconv_f32", guards, count_of(guards));
}
