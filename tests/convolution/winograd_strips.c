/* Winograd's strips: how large they are, and that those for several threads cover all tiles and
 * change no sum. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cores.h"
#include "src/convolution/winograd/winograd.h"
#include "src/core/checked.h"

/* How many of these tiles have a point, by the numbers of tiles of each size. */
static size_t tiles_at(const struct convolution_winograd *plan, struct span tiles, size_t u,
                       size_t v)
{
    size_t begin = 0, count = 0;
    for (size_t r = 0; r < SIZES; r++)
        for (size_t c = 0; c < SIZES; c++) {
            size_t end =
                begin + plan->rows.count[r] * plan->cols.count[c] * (size_t)plan->shape.batch;
            for (size_t t = tiles.begin; t < tiles.end; t++)
                count += t >= begin && t < end && u < plan->rows.size[r] + plan->rows.halo &&
                         v < plan->cols.size[c] + plan->cols.halo;
            begin = end;
        }
    return count;
}

/* What is said of a kernel's `same` holds at every point, and the task's scratchpad is enough. */
static void check_strip(const struct convolution_winograd *plan, struct span tiles)
{
    size_t rows = 0;
    for (size_t u = 0; u < plan->down; u++)
        for (size_t v = 0; v < plan->across; v++) {
            size_t here = tiles_at(plan, tiles, u, v);
            assert_true(here == 0 || here >= plan->kernel->same);
            rows += here;
        }
    assert_true(tiles.end - tiles.begin <= (plan->slot ? plan->strip : MOST_STRIP));
    assert_true(rows <= plan->strip * plan->down * plan->across);
}

static size_t check_division(const struct convolution_winograd *plan, int threads)
{
    struct run run = {.plan = plan};
    winograd_divide(&run, threads);
    size_t end = 0;
    for (size_t t = 0; run.divided && t < plan->tiles; t += plan->strip)
        check_strip(plan, (struct span){t, min_size(t + plan->strip, plan->tiles)});
    for (size_t i = 0; i < run.grid.rows; i++) {
        struct span tiles = winograd_strip(&run, i);
        assert_int_equal(tiles.begin, end);
        assert_true(tiles.end > tiles.begin);
        end = tiles.end;
        if (run.divided)
            check_strip(plan, tiles);
    }
    assert_int_equal(end, plan->tiles);
    assert_true(!run.divided || run.grid.rows <= MOST_DIVIDED);
    return run.divided;
}

/* What is divided of divisions by all numbers of threads. */
struct divisions {
    size_t divided, all;
};

static void check_divisions(size_t height, size_t width, neo_dim batch, size_t points,
                            const size_t taps[2], struct divisions *divisions)
{
    static const int threads[] = {1, 2, 3, 4, 5, 8, 12, 16, 31, 64, 128, 1000};
    static const struct winograd_f32_kernel kernels[] = {{.same = 4}, {.same = 5}};
    struct convolution_winograd plan = {
        .kernel = &kernels[height % 2],
        .points = points,
        .down = taps[0] == 1 ? 1 : points,
        .across = taps[1] == 1 ? 1 : points,
        .panels = height % 7 + 1,
        .rows = winograd_cut(height, taps[0], winograd_outputs(points, taps[0])),
        .cols = winograd_cut(width, taps[1], winograd_outputs(points, taps[1])),
        .shape.batch = batch,
        .slot = height % 3 == 0,
    };
    winograd_count_tiles(&plan);
    plan.strip = div_up(plan.tiles, div_up(plan.tiles, batch % 2 ? 20 : MOST_STRIP));
    for (size_t i = 0; i < count_of(threads); i++, divisions->all++)
        divisions->divided += check_division(&plan, threads[i]);
}

static void strips_are_divided_where_that_changes_no_sum(void **state)
{
    (void)state;
    struct divisions divisions = {0};
    for (size_t size = 1; size < 60; size++)
        for (size_t points = 4; points <= 8; points += 2)
            for (neo_dim batch = 1; batch <= 4; batch++)
                for (size_t taps = 3; taps < (batch == 1 ? points : 4); taps += 2)
                    check_divisions(size, size + 4, batch, points, (size_t[]){taps, taps},
                                    &divisions);
    assert_true(divisions.divided > divisions.all / 4);
}

static void strips_of_one_dimension_are_divided_too(void **state)
{
    (void)state;
    struct divisions divisions = {0};
    for (size_t size = 1; size < 40; size++)
        for (size_t points = 4; points <= 8; points += 2) {
            check_divisions(1, 40 * size, 1, points, (size_t[]){1, 3}, &divisions);
            check_divisions(size, size + 4, 2, points, (size_t[]){1, 3}, &divisions);
            check_divisions(size, size + 4, 3, points, (size_t[]){3, 1}, &divisions);
        }
    assert_true(divisions.divided > divisions.all / 4);
}

/* ---- where rows are ---- */

/* The rows of the blocks of a point, which begin at heights[*at]. */
static size_t rows_of_point(const struct arrangement *rows, size_t *at)
{
    size_t sum = 0;
    for (; rows->heights[*at] != WINOGRAD_F32_PANEL; (*at)++)
        sum += rows->heights[*at];
    (*at)++;
    return sum;
}

/* Each point has a row for each tile that has the point: inputs and sums follow those of the point
 * before, sums by kind. */
static void check_rows(const struct convolution_winograd *plan, struct span tiles)
{
    static struct arrangement rows;
    size_t sums = 0, at = 0;
    winograd_arrange(plan, tiles, &rows);
    for (size_t p = 0; p < plan->down * plan->across; p++) {
        size_t u = p / plan->across, v = p % plan->across, here = tiles_at(plan, tiles, u, v);
        assert_int_equal(rows.inputs[p], sums * plan->padded);
        assert_int_equal(rows_of_point(&rows, &at), here);
        for (size_t kind = 0; kind < KINDS; kind++) {
            size_t down = plan->rows.size[kind / SIZES] + plan->rows.halo;
            size_t across = plan->cols.size[kind % SIZES] + plan->cols.halo;
            if (!rows.counts[kind] || u >= down || v >= across)
                continue;
            assert_int_equal(rows.sums[kind][v * down + u], sums * WINOGRAD_F32_NR * sizeof(float));
            sums += rows.counts[kind];
        }
    }
    assert_int_equal(rows.panel, sums * WINOGRAD_F32_NR);
    assert_int_equal(rows.heights[at], WINOGRAD_F32_END);
}

static void check_rows_of(neo_dim batch, size_t height, size_t width, size_t points,
                          const size_t taps[2])
{
    struct convolution_winograd plan = {
        .points = points,
        .down = points,
        .across = taps[1] == 1 ? 1 : points,
        .padded = 12,
        .of_piece = points * points,
        .most_blocks = MOST_HEIGHTS,
        .rows = winograd_cut(height, taps[0], winograd_outputs(points, taps[0])),
        .cols = winograd_cut(width, taps[1], winograd_outputs(points, taps[1])),
        .shape.batch = batch,
    };
    winograd_count_tiles(&plan);
    for (size_t begin = 0, size = 1; begin < plan.tiles; begin += size, size = size * 2 % 107)
        check_rows(&plan, (struct span){begin, min_size(begin + size, plan.tiles)});
}

static void every_tile_has_a_row_at_each_of_its_points(void **state)
{
    (void)state;
    for (size_t size = 1; size < 30; size++)
        for (size_t points = 4; points <= 8; points += 2)
            for (neo_dim batch = 1; batch <= 3; batch++) {
                for (size_t taps = 3; taps < (batch == 1 ? points : 4); taps += 2) {
                    check_rows_of(batch, size, 31 - size, points, (size_t[]){taps, taps});
                    check_rows_of(batch, 5 * size, size, points, (size_t[]){taps, 1});
                }
            }
}

/* Where the products of a point, or of the next part of its rows, should be. */
struct products {
    size_t point, rows; /* of it, that came before */
    size_t sums;        /* rows of all points that came before */
};

/* Blocks of one point in a piece, which begin at heights[*at]: not more than are at a time. */
static size_t count_rows(const struct convolution_winograd *plan, const struct arrangement *rows,
                         size_t *at)
{
    size_t blocks = 0, sum = 0;
    for (; rows->heights[*at] != WINOGRAD_F32_PANEL; (*at)++, blocks++)
        sum += rows->heights[*at];
    (*at)++;
    assert_true(blocks <= plan->most_blocks);
    return sum;
}

static void check_piece(const struct convolution_winograd *plan, const struct arrangement *rows,
                        const struct piece *piece, struct span tiles, struct products *next)
{
    size_t row = plan->slot ? next->rows : next->sums, at = piece->heights;
    assert_int_equal(piece->point, next->point);
    assert_int_equal(piece->inputs, next->point * plan->slot + row * plan->padded);
    assert_int_equal(piece->sums, next->point * plan->slot + row * WINOGRAD_F32_NR);
    while (rows->heights[at] != WINOGRAD_F32_END) {
        size_t here = count_rows(plan, rows, &at), p = next->point;
        next->rows += here, next->sums += here;
        if (next->rows == tiles_at(plan, tiles, p / plan->across, p % plan->across))
            next->rows = 0, next->point++;
    }
}

/* The blocks of each point fetch every line of the next panel, if they are the first ones of it; a
 * single block has no room for more than two lines in a group of three. */
static void check_fetching(const struct arrangement *rows, size_t index)
{
    enum { LINE = 64, LINES = 2, GROUP = 4 * WINOGRAD_F32_NR * sizeof(float) };
    const struct piece *piece = &rows->pieces[index];
    size_t step = winograd_ahead_step(rows, index), at = piece->heights;
    if (index > 0 && piece[-1].point == piece->point) {
        assert_int_equal(step, 0);
        return;
    }
    assert_true(step > 0 && step <= LINE);
    for (size_t blocks; rows->heights[at] != WINOGRAD_F32_END; at++) {
        for (blocks = 0; rows->heights[at] != WINOGRAD_F32_PANEL; at++)
            blocks++;
        assert_true(blocks == 0 || blocks * LINES * step >= min_size(GROUP, LINES * LINE));
        assert_true(blocks < 2 || blocks * LINES * step >= GROUP);
    }
}

static void check_pieces(const struct convolution_winograd *plan, struct span tiles)
{
    static struct arrangement rows;
    struct products next = {0, 0, 0};
    winograd_arrange(plan, tiles, &rows);
    for (size_t i = 0; i < rows.piece_count; i++) {
        check_piece(plan, &rows, &rows.pieces[i], tiles, &next);
        check_fetching(&rows, i);
    }
    assert_int_equal(next.point, plan->down * plan->across);
    assert_int_equal(rows.panel,
                     (plan->slot ? tiles.end - tiles.begin : next.sums) * WINOGRAD_F32_NR);
}

/* Of some points, of one, or of some of its blocks; and where sums take the place of inputs. */
static void pieces_have_the_rows_of_all_points_in_order(void **state)
{
    (void)state;
    static const size_t of_piece[] = {64, 16, 1}, slots[] = {0, 100000};
    for (size_t height = 12; height < 60; height += 7)
        for (size_t i = 0; i < count_of(of_piece); i++)
            for (size_t s = 0; s < count_of(slots); s++) {
                struct convolution_winograd plan = {
                    .points = 8,
                    .down = 8,
                    .across = 8,
                    .padded = 12,
                    .of_piece = of_piece[i],
                    .most_blocks = of_piece[i] == 1 ? LEAST_BLOCKS : MOST_HEIGHTS,
                    .slot = slots[s],
                    .rows = winograd_cut(height, 3, 6),
                    .cols = winograd_cut(55, 3, 6),
                    .shape.batch = 1,
                };
                winograd_count_tiles(&plan);
                check_pieces(&plan, (struct span){0, plan.tiles});
                check_pieces(&plan, (struct span){plan.tiles / 3, plan.tiles});
            }
}

/* ---- blocking ---- */

/* Tiles of F(6, 3), as large as they can be, of one image after the other. */
static struct convolution_winograd plan_on(const struct cpu *cpu,
                                           const struct winograd_f32_kernel *kernel, neo_dim batch,
                                           neo_dim size, neo_dim ic, neo_dim oc)
{
    struct convolution_winograd plan = {
        .shape = {.batch = batch, .ic = ic, .oc = oc, .out = {1, size, size}},
        .rows = winograd_cut((size_t)size, 3, 6),
        .cols = winograd_cut((size_t)size, 3, 6),
        .points = 8,
        .down = 8,
        .across = 8,
        .padded = (size_t)ic,
        .kernel = kernel,
        .panels = layout_panel_count((size_t)oc),
        .point = (size_t)(ic * oc),
    };
    winograd_count_tiles(&plan);
    winograd_choose_blocking(&plan, cpu);
    return plan;
}

static struct convolution_winograd plan_for(const struct winograd_f32_kernel *kernel, neo_dim batch,
                                            neo_dim size, neo_dim ic, neo_dim oc)
{
    return plan_on(
        &(struct cpu){.core = core_named("neoverse-n1"), .l1_bytes = 1 << 16, .l2_bytes = 1 << 20},
        kernel, batch, size, ic, oc);
}

static struct convolution_winograd plan_of(neo_dim batch, neo_dim size, neo_dim ic, neo_dim oc)
{
    return plan_for(&winograd_f32_ref, batch, size, ic, oc);
}

static size_t input_bytes(const struct convolution_winograd *plan)
{
    return plan->strip * MOST_POINTS * plan->padded * sizeof(float);
}

static void small_weights_stay_from_strip_to_strip(void **state)
{
    (void)state;
    struct convolution_winograd plan = plan_of(4, 28, 32, 64);
    size_t weights = MOST_POINTS * plan.point * sizeof(float);
    assert_true(weights + input_bytes(&plan) < 3 << 18);
    assert_int_equal(plan.of_piece, MOST_POINTS);
}

static void blocks_are_whole_where_their_rows_take_no_longer(void **state)
{
    (void)state;
    static const struct winograd_f32_kernel deep = {.same = 5, .sums = 16};
    struct convolution_winograd usual = plan_of(1, 114, 16, 16);
    struct convolution_winograd whole = plan_for(&deep, 1, 114, 16, 16);
    assert_int_not_equal(usual.strip % WINOGRAD_F32_MR, 0);
    assert_int_equal(whole.strip, round_up(usual.strip, WINOGRAD_F32_MR));
}

static void inputs_stay_where_weights_do_not(void **state)
{
    (void)state;
    static const neo_dim sizes[] = {114, 52};
    for (size_t i = 0; i < count_of(sizes); i++) {
        struct convolution_winograd plan = plan_of(1, sizes[i], 64, 128);
        size_t round = MOST_POINTS * plan.point * sizeof(float) / plan.panels * plan.most_panels;
        assert_true(input_bytes(&plan) + 2 * round < 1 << 20);
        assert_true(plan.strip > 2 * WINOGRAD_F32_MR);
    }
}

static void rounds_turn_back_where_inputs_hardly_stay(void **state)
{
    (void)state;
    struct convolution_winograd plan = plan_of(1, 112, 64, 128);
    assert_true(plan.most_panels < plan.panels);
    assert_int_equal(plan.of_piece, MOST_POINTS / 8);
}

static void large_weights_come_once_and_sums_take_the_place_of_inputs(void **state)
{
    (void)state;
    struct convolution_winograd plan = plan_of(1, 56, 256, 256);
    assert_int_equal(plan.strip, plan.tiles);
    assert_int_equal(plan.most_panels, plan.panels);
    assert_int_equal(plan.of_piece, 1);
    assert_true(plan.slot >= plan.strip * plan.panels * WINOGRAD_F32_NR);
    assert_int_equal(plan.slot / 16 % 2, 1);
}

static void sums_of_very_many_channels_have_places_of_32_bits(void **state)
{
    (void)state;
    for (neo_dim ic = 1 << 12; ic <= 1 << 24; ic *= 4) {
        struct convolution_winograd plan = plan_of(1, 63, ic, 8);
        assert_true((MOST_POINTS * plan.slot + plan.strip * WINOGRAD_F32_NR) * sizeof(float) <=
                    UINT32_MAX);
    }
}

static void rows_that_do_not_stay_in_l1_are_multiplied_in_parts(void **state)
{
    (void)state;
    struct convolution_winograd plan = plan_of(1, 56, 256, 256);
    size_t row = plan.padded * sizeof(float), rows = plan.most_blocks * WINOGRAD_F32_MR;
    assert_true((rows + WINOGRAD_F32_NR) * row < 1 << 16);
    assert_true(rows < plan.strip);
    assert_true(plan_of(1, 56, 64, 64).most_blocks >= MOST_HEIGHTS);
}

/* Of all strips and rounds that there may be. */
static double least_traffic(const struct convolution_winograd *plan, const struct cpu *cpu)
{
    double least = HUGE_VAL;
    for (size_t most = min_size(MOST_STRIP, plan->tiles); most > 0; most--) {
        size_t strips = div_up(plan->tiles, most), blocks = div_up(most, WINOGRAD_F32_MR);
        bool fills = strips == 1 || most >= blocks * (WINOGRAD_F32_MR - 1);
        if (div_up(plan->tiles, strips) != most || !fills)
            continue;
        for (size_t rounds = 1; rounds <= plan->panels; rounds++) {
            struct winograd_blocking how = {strips, div_up(plan->panels, rounds)};
            least = fmin(least, winograd_traffic(plan, cpu, &how));
        }
    }
    return least;
}

static void ways_that_are_not_tried_move_no_less(void **state)
{
    (void)state;
    static const neo_dim sizes[] = {20, 28, 52}, channels[] = {16, 32, 64, 256};
    struct cpu cpu = {.core = core_named("neoverse-n1"), .l1_bytes = 1 << 16};
    for (cpu.l2_bytes = 1 << 19; cpu.l2_bytes <= 1 << 20; cpu.l2_bytes *= 2)
        for (size_t i = 0; i < count_of(sizes) * count_of(channels); i++) {
            neo_dim size = sizes[i % count_of(sizes)], ic = channels[i / count_of(sizes)];
            struct convolution_winograd plan = plan_on(&cpu, &winograd_f32_ref, 1, size, ic, 100);
            struct winograd_blocking how = {div_up(plan.tiles, plan.strip), plan.most_panels};
            double least = least_traffic(&plan, &cpu), chosen = winograd_traffic(&plan, &cpu, &how);
            if (chosen > least)
                fail_msg("%d channels at %d: %g bytes move, and %g may", (int)ic, (int)size, chosen,
                         least);
        }
}

static void strips_are_whole_blocks_or_nearly(void **state)
{
    (void)state;
    for (neo_dim size = 40; size < 200; size += 7)
        for (neo_dim ic = 4; ic < 400; ic = 2 * ic + 4) {
            size_t strip = plan_of(1, size, ic, 2 * ic).strip;
            assert_true(strip >= div_up(strip, WINOGRAD_F32_MR) * (WINOGRAD_F32_MR - 1));
        }
}

static void check_plan(const struct convolution_winograd *plan)
{
    size_t row =
        plan->slot ? plan->slot / plan->strip : plan->padded + plan->most_panels * WINOGRAD_F32_NR;
    assert_in_range(plan->strip, 1, MOST_STRIP);
    assert_in_range(plan->most_panels, 1, plan->panels);
    assert_in_range(plan->of_piece, 1, MOST_POINTS);
    assert_true(plan->most_blocks >= LEAST_BLOCKS);
    assert_true(plan->most_panels == 1 || plan->strip * MOST_POINTS * row < (size_t)3 << 20);
}

static void caches_of_any_size_have_blocks_of_some_megabytes(void **state)
{
    (void)state;
    for (size_t l1 = 1 << 12; l1 <= 1 << 18; l1 *= 4)
        for (size_t l2 = 2 * l1; l2 <= 1 << 27; l2 *= 8)
            for (neo_dim size = 4; size < 300; size = 3 * size + 2)
                for (neo_dim ic = 4; ic < 2000; ic = 7 * ic + 4) {
                    const struct cpu cpu = {
                        .core = core_named("neoverse-n1"), .l1_bytes = l1, .l2_bytes = l2};
                    struct convolution_winograd plan =
                        plan_on(&cpu, &winograd_f32_ref, 3, size, ic, ic + 20);
                    check_plan(&plan);
                }
}

/* How often all tasks together read the weights of a panel. */
static double reading_of(const struct convolution_winograd *plan, int threads)
{
    struct run run = {.plan = plan};
    winograd_divide(&run, threads);
    size_t read = 0;
    for (int i = 0; i < run.grid.tasks; i++) {
        struct partition_rect rect = partition_rect(&run.grid, i);
        read += (rect.rows.end - rect.rows.begin) * (rect.columns.end - rect.columns.begin);
    }
    return (double)read / (double)plan->panels;
}

/* Threads have panels of their own, where there are as many of these. */
static void threads_read_weights_from_memory_once(void **state)
{
    (void)state;
    static const neo_dim sizes[][2] = {{512, 7}, {512, 14}, {256, 14}, {128, 28}};
    for (size_t i = 0; i < count_of(sizes); i++) {
        neo_dim channels = sizes[i][0], size = sizes[i][1];
        struct convolution_winograd plan = plan_of(1, size, channels, channels);
        double four = reading_of(&plan, 4), sixteen = reading_of(&plan, 16);
        assert_true(four == 1 && sixteen == 1);
    }
}

/* ---- scratchpads of several threads ---- */

enum way { DIVIDED, LIMITED, SHARED };

/* How so many threads do it, and that their tasks are in the scratchpad. */
static enum way way_of(const struct convolution_winograd *plan, int threads)
{
    struct convolution_winograd own = *plan, shared = *plan;
    struct run run = {.plan = &own};
    size_t bytes = winograd_scratch_bytes(plan, threads), count = (size_t)threads;
    winograd_share_inputs(&shared, threads);
    assert_true(shared.input_bytes + count * shared.task_bytes <= bytes);
    if (!winograd_limit_strips(&own, threads))
        return SHARED;
    assert_true(count * own.task_bytes <= bytes);
    winograd_divide(&run, threads);
    if (winograd_sharing_cost(plan, threads) < run.grid.cost)
        return SHARED;
    return own.most_rows ? LIMITED : DIVIDED;
}

static void many_threads_have_small_strips_or_share_them(void **state)
{
    (void)state;
    static const struct {
        size_t l2;
        neo_dim ic, oc, size;
        int threads;
        enum way way;
    } cases[] = {
        {1 << 20, 16, 16, 112, 80, DIVIDED}, {1 << 15, 48, 48, 112, 80, LIMITED},
        {1 << 15, 40, 48, 160, 80, LIMITED}, {1 << 20, 64, 64, 224, 64, DIVIDED},
        {1 << 20, 64, 64, 56, 4, DIVIDED},   {1 << 20, 96, 80, 14, 80, SHARED},
        {1 << 20, 131, 61, 9, 80, SHARED},   {1 << 20, 512, 512, 28, 64, SHARED},
        {1 << 20, 512, 512, 7, 4, SHARED},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        const struct cpu cpu = {
            .core = core_named("neoverse-n1"), .l1_bytes = 1 << 16, .l2_bytes = cases[i].l2};
        struct convolution_winograd plan =
            plan_on(&cpu, &winograd_f32_ref, 1, cases[i].size, cases[i].ic, cases[i].oc);
        winograd_plan_scratch(&plan);
        enum way way = way_of(&plan, cases[i].threads);
        if (way != cases[i].way)
            fail_msg("%d to %d channels at %d, %d threads: way %d", (int)cases[i].ic,
                     (int)cases[i].oc, (int)cases[i].size, cases[i].threads, way);
    }
}

/* 64 MiB, or 8 and 1.25 for each thread. */
static void scratchpads_grow_little_with_threads(void **state)
{
    (void)state;
    static const neo_dim sizes[][3] = {{512, 512, 28}, {64, 64, 224},  {64, 64, 56},
                                       {512, 512, 7},  {16, 1024, 56}, {1024, 2048, 14}};
    const size_t all = 64 << 20, strip = 8 << 20, task = 5 << 18;
    for (size_t i = 0; i < count_of(sizes); i++) {
        struct convolution_winograd plan = plan_of(1, sizes[i][2], sizes[i][0], sizes[i][1]);
        winograd_plan_scratch(&plan);
        size_t before = winograd_scratch_bytes(&plan, 1);
        for (int threads = 2; threads <= 256; threads++) {
            size_t bytes = winograd_scratch_bytes(&plan, threads);
            assert_true(bytes <= max_size(all, strip + (size_t)threads * task));
            assert_true(bytes >= before);
            before = bytes;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_are_divided_where_that_changes_no_sum),
        cmocka_unit_test(strips_of_one_dimension_are_divided_too),
        cmocka_unit_test(every_tile_has_a_row_at_each_of_its_points),
        cmocka_unit_test(pieces_have_the_rows_of_all_points_in_order),
        cmocka_unit_test(small_weights_stay_from_strip_to_strip),
        cmocka_unit_test(blocks_are_whole_where_their_rows_take_no_longer),
        cmocka_unit_test(inputs_stay_where_weights_do_not),
        cmocka_unit_test(rounds_turn_back_where_inputs_hardly_stay),
        cmocka_unit_test(large_weights_come_once_and_sums_take_the_place_of_inputs),
        cmocka_unit_test(sums_of_very_many_channels_have_places_of_32_bits),
        cmocka_unit_test(rows_that_do_not_stay_in_l1_are_multiplied_in_parts),
        cmocka_unit_test(threads_read_weights_from_memory_once),
        cmocka_unit_test(many_threads_have_small_strips_or_share_them),
        cmocka_unit_test(scratchpads_grow_little_with_threads),
        cmocka_unit_test(ways_that_are_not_tried_move_no_less),
        cmocka_unit_test(strips_are_whole_blocks_or_nearly),
        cmocka_unit_test(caches_of_any_size_have_blocks_of_some_megabytes),
    };
    return cmocka_run_group_tests_name("winograd_strips", tests, NULL, NULL);
}
