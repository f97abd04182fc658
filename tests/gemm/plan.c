/* The blocked matrix multiplication: what is planned for stated cores and caches. */
#include "tests/support/test.h"

#include "src/core/checked.h"
#include "src/gemm/gemm.h"
#include "src/gemm/share.h"
#include "tests/support/stated_cpu.h"

/* Of dense rows of A in place, and packed weights. */
static struct gemm_shape packed_shape(size_t m, size_t n, size_t k)
{
    return (struct gemm_shape){.batch = 1,
                               .m = m,
                               .n = n,
                               .k = k,
                               .b_packed = true,
                               .segment = k,
                               .a_stride = k,
                               .a_is_regular = true};
}

/* Four of them fit into the L1 cache together, so tiles are low where instructions issue in order;
 * cores that reorder copy them. */
static void rows_that_collide_are_copied_for_many_columns(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("cortex-a55", 32768);
    const struct cpu other = stated_cpu("neoverse-n1", 32768);
    struct gemm_shape shape = packed_shape(70, 16, 4096);
    struct gemm_plan plan;
    gemm_plan_init(&plan, &shape, &cpu);
    assert_false(plan.copies);
    assert_int_equal(plan.tall, 4);
    gemm_plan_init(&plan, &shape, &other);
    assert_true(plan.copies);
    assert_int_equal(plan.tall, GEMM_F32_LISTED_HEIGHT);
    shape.a_stride = 4100;
    gemm_plan_init(&plan, &shape, &other);
    assert_false(plan.copies);
    assert_int_equal(plan.tall, GEMM_F32_LISTED_HEIGHT);
}

/* Two tiles of rows 4 KiB apart leave B little of their places; copies cost the less, the more
 * columns there are for each product of a cycle. */
static void rows_that_crowd_places_are_copied_for_many_columns(void **state)
{
    (void)state;
    static const struct {
        const char *core;
        size_t l1, m, n, k, stride;
        bool copies;
    } cases[] = {{"neoverse-n1", 65536, 128, 1024, 1024, 1024, true},
                 {"neoverse-n1", 65536, 128, 1024, 1024, 1028, false},
                 {"neoverse-n1", 65536, 128, 256, 1024, 1024, false},
                 {"neoverse-n1", 65536, 4, 1024, 1024, 1024, false},
                 {"neoverse-v1", 65536, 128, 768, 1024, 1024, false},
                 {"neoverse-v1", 65536, 128, 1024, 1024, 1024, true},
                 {"cortex-a55", 32768, 36, 261, 400, 512, false}};
    for (size_t i = 0; i < count_of(cases); i++) {
        struct cpu cpu = stated_cpu(cases[i].core, cases[i].l1);
        struct gemm_shape shape = packed_shape(cases[i].m, cases[i].n, cases[i].k);
        struct gemm_plan plan;
        cpu.l2_bytes = (size_t)1 << 20;
        shape.a_stride = cases[i].stride;
        gemm_plan_init(&plan, &shape, &cpu);
        if (plan.copies != cases[i].copies)
            fail_msg("case %zu: copies %d", i, plan.copies);
    }
}

/* Panels of 12 columns and of 8 come one after the other for a chunk of rows, if both stay in the
 * L1 cache. */
static void panels_of_two_widths_come_for_chunks_of_rows(void **state)
{
    (void)state;
    static const struct {
        size_t n, k;
        bool chunks;
    } cases[] = {
        {64, 66, true}, {128, 66, true}, {60, 66, false}, {16, 66, false}, {128, 258, false}};
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    for (size_t i = 0; i < count_of(cases); i++) {
        struct gemm_shape shape = packed_shape(3136, cases[i].n, cases[i].k);
        struct gemm_plan plan;
        gemm_plan_init(&plan, &shape, &cpu);
        size_t values = plan.chunk_tiles * plan.tile_rows * (shape.n + shape.k);
        assert_int_equal(plan.chunk_tiles < plan.row_tiles, cases[i].chunks);
        assert_true(!cases[i].chunks || (values + shape.n * shape.k) * sizeof(float) <= 65536);
    }
}

/* Addresses that would fill the L1 cache beside all panels are listed for some tiles at a time, of
 * which each is worth a new beginning. */
static void few_tiles_are_listed_at_a_time(void **state)
{
    (void)state;
    static const struct {
        size_t m, n, k, segment, laps;
    } cases[] = {{529, 9, 175, 7, 3},
                 {361, 17, 117, 13, 3},
                 {190, 9, 175, 7, 1},
                 {529, 96, 175, 7, 1},
                 {529, 9, 175, 175, 1}};
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    for (size_t i = 0; i < count_of(cases); i++) {
        struct gemm_shape shape = packed_shape(cases[i].m, cases[i].n, cases[i].k);
        struct gemm_plan plan;
        shape.segment = shape.a_stride = cases[i].segment;
        shape.a_is_regular = shape.segment == shape.k;
        gemm_plan_init(&plan, &shape, &cpu);
        assert_int_equal(div_up(plan.row_tiles, min_size(plan.lap_tiles, plan.row_tiles)),
                         cases[i].laps);
        assert_false(plan.is_short && cases[i].laps > 1);
    }
}

/* Panels that stay in the L1 cache come together, those of 8 columns with the last ones of 12. */
static void regular_rows_come_for_panels_of_both_widths(void **state)
{
    (void)state;
    static const struct {
        size_t n, k, panels;
    } cases[] = {{64, 64, 4}, {128, 64, 10}, {96, 64, 8},   {512, 128, 6},
                 {24, 16, 2}, {64, 66, 0},   {64, 12, 0},   {62, 64, 0},
                 {16, 64, 0}, {71, 64, 0},   {64, 1024, 2}, {64, 1026, 0}};
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    for (size_t i = 0; i < count_of(cases); i++) {
        struct gemm_shape shape = packed_shape(3136, cases[i].n, cases[i].k);
        struct gemm_plan plan;
        gemm_plan_init(&plan, &shape, &cpu);
        assert_int_equal(plan.regular_panels, cases[i].panels);
        assert_true(plan.regular_panels == 0 || plan.chunk_tiles > plan.row_tiles);
    }
}

/* Those of the L1 cache: rows of 512 values fall on half of the places that a block of 256 of them
 * needs, and blocks of panels of 320 values all on the same ones. */
static void blocks_are_as_large_as_their_places_in_the_cache(void **state)
{
    (void)state;
    static const struct {
        size_t k, block_k, panels;
    } cases[] = {{512, 176, 4}, {768, 192, 4}, {320, 320, 2}, {384, 128, 7}};
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    cpu.l2_bytes = 4 << 20; /* all of A, B and C stay there */
    for (size_t i = 0; i < count_of(cases); i++) {
        struct gemm_shape shape = packed_shape(196, 512, cases[i].k);
        struct gemm_plan plan;
        gemm_plan_init(&plan, &shape, &cpu);
        assert_int_equal(plan.block_k, cases[i].block_k);
        assert_int_equal(plan.group_panels, cases[i].panels);
    }
}

/* 240 columns of 40 values fill most of the L1 cache, with rows of A and C that touch each other:
 * they come once. */
static void short_panels_come_together(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    struct gemm_shape shape = packed_shape(784, 240, 40);
    struct gemm_plan plan;
    gemm_plan_init(&plan, &shape, &cpu);
    assert_int_equal(plan.regular_panels, 20);
}

/* Of a kernel of 3x3: with a stride of 2 blocks of rows beside which all weights stay, and the next
 * block's patches; dilated, as few blocks as the cache has room for, as each brings weights once
 * more. */
static void blocks_of_patches_suit_their_values(void **state)
{
    (void)state;
    static const struct {
        size_t m, n, channels, stride, image, shared, most_tiles;
    } cases[] = {{784, 128, 128, 256, 56 * 56, 56, 10},
                 {784, 128, 64, 128, 56 * 56, 56, 28},
                 {784, 256, 256, 256, 28 * 28, 4 * 28, 38},
                 {33 * 33, 256, 256, 256, 33 * 33, 12 * 33, 39}};
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    cpu.l2_bytes = 1 << 20;
    for (size_t i = 0; i < count_of(cases); i++) {
        struct gemm_shape shape = packed_shape(cases[i].m, cases[i].n, 9 * cases[i].channels);
        struct gemm_plan plan;
        shape.segment = cases[i].channels, shape.a_stride = cases[i].stride;
        shape.a_is_regular = false;
        shape.a_values = cases[i].image * cases[i].channels;
        shape.a_shared = cases[i].shared * cases[i].channels;
        gemm_plan_init(&plan, &shape, &cpu);
        assert_true(plan.k_inside);
        assert_true(plan.block_tiles <= cases[i].most_tiles &&
                    plan.block_tiles > cases[i].most_tiles * 3 / 4);
    }
}

/* Long rows are divided: parts of them leave room for more panels. */
static void parts_of_rows_suit_the_l1_cache(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    struct gemm_shape shape = packed_shape(1500, 384, 384);
    struct gemm_plan plan;
    gemm_plan_init(&plan, &shape, &cpu);
    assert_true(plan.block_k > 0 && plan.block_k < 384);
    assert_true(plan.group_panels > 2);
}

/* Windows that overlap share lines: their taps, as long, are not divided. */
static void taps_of_windows_are_whole(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    struct gemm_shape shape = packed_shape(750, 384, 3 * 384);
    struct gemm_plan plan;
    shape.segment = 384, shape.a_stride = 2 * 384;
    shape.a_is_regular = false;
    shape.a_values = 1500 * 384;
    gemm_plan_init(&plan, &shape, &cpu);
    assert_int_equal(plan.block_k, 384);
}

/* Between two blocks of rows all weights are used, and rows of C of both: they stay in the L2 cache
 * until then. */
static void weights_stay_for_the_next_block_of_rows(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    cpu.l2_bytes = 1 << 20;
    struct gemm_shape shape = packed_shape(784, 256, 512);
    struct gemm_plan plan;
    gemm_plan_init(&plan, &shape, &cpu);
    size_t rows = plan.block_tiles * plan.tile_rows;
    size_t values = shape.k * shape.n + rows * (shape.k + 2 * shape.n);
    assert_true(plan.block_tiles < plan.row_tiles);
    assert_true(values * sizeof(float) <= cpu.l2_bytes / 5 * 4);
}

/* Arrays that are a little more than the L2 cache: weights that all blocks of rows use, or rows
 * that all blocks of columns use, are still there for the next call, the others not. A small cache
 * has other things then. */
static void something_stays_for_the_next_call(void **state)
{
    (void)state;
    static const struct {
        size_t l2, m, n, k;
        bool cuts_rows, cuts_columns;
    } cases[] = {{1 << 20, 196, 512, 256, true, false},
                 {1 << 20, 196, 192, 768, false, true},
                 {1 << 20, 196, 256, 256, false, false},
                 {384 << 10, 196, 256, 128, false, false}};
    for (size_t i = 0; i < count_of(cases); i++) {
        struct cpu cpu = stated_cpu("neoverse-n1", 65536);
        cpu.l2_bytes = cases[i].l2;
        struct gemm_shape shape = packed_shape(cases[i].m, cases[i].n, cases[i].k);
        struct gemm_plan plan;
        gemm_plan_init(&plan, &shape, &cpu);
        if ((plan.block_tiles < plan.row_tiles) != cases[i].cuts_rows ||
            (plan.block_panels < plan.panels) != cases[i].cuts_columns)
            fail_msg("case %zu: %zu of %zu tiles, %zu of %zu panels", i, plan.block_tiles,
                     plan.row_tiles, plan.block_panels, plan.panels);
    }
}

/* What calls a tile is time in which nothing is multiplied: a group
 * of panels has more than a few rows. */
static void calls_are_few_where_they_take_time(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 32768);
    cpu.l2_bytes = 256 << 10;
    struct gemm_shape shape = packed_shape(512, 512, 512);
    struct gemm_plan plan;
    gemm_plan_init(&plan, &shape, &cpu);
    assert_non_null(plan.listed);
    size_t blocks = div_up(plan.row_tiles, plan.block_tiles);
    assert_in_range(blocks, 2, plan.row_tiles / 8);
}

/* Kernels that multiply the last columns by four steps of k: where they are faster, and all of k is
 * one block. Their tiles may be lower. */
static void last_columns_have_kernels_of_their_own(void **state)
{
    (void)state;
    static const struct {
        const char *core;
        size_t n, k;
        bool packed, has_tail;
        size_t tall;
    } rows[] = {
        {"neoverse-n1", 7, 144, true, true, 6},    {"neoverse-n1", 7, 144, false, false, 7},
        {"neoverse-n1", 11, 144, true, false, 7},  {"neoverse-n1", 13, 144, true, true, 6},
        {"neoverse-n1", 13, 1440, true, false, 7}, {"neoverse-n1", 8, 144, true, false, 7},
        {"neoverse-n1", 2, 144, true, true, 6},    {"neoverse-v2", 10, 144, true, true, 5},
        {"m1-firestorm", 7, 144, true, false, 7},  {"m1-firestorm", 9, 144, true, false, 7},
        {"cortex-a55", 9, 144, true, false, 7},    {"cortex-a55", 3, 144, true, true, 6},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct cpu cpu = stated_cpu(rows[i].core, 65536);
        struct gemm_shape shape = packed_shape(210, rows[i].n, rows[i].k);
        struct gemm_plan plan;
        shape.b_packed = rows[i].packed;
        gemm_plan_init(&plan, &shape, &cpu);
        assert_int_equal(plan.has_tail, rows[i].has_tail);
        assert_int_equal(plan.tall, min_size(rows[i].tall, plan.listed->height));
    }
}

/* Panels that all tasks together read, over those that there are, and the tiles of the longest one
 * over the mean. */
struct shared {
    double reading, longest;
};

static struct shared share_among(size_t m, size_t n, size_t k, size_t l2_bytes, int threads)
{
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    struct gemm_shape shape = packed_shape(m, n, k);
    struct gemm_plan plan;
    cpu.l2_bytes = l2_bytes;
    gemm_plan_init(&plan, &shape, &cpu);
    struct gemm_share share = gemm_share_tiles(&plan, threads);
    size_t panels = 0, most = 0;
    assert_in_range(share.tasks, 1, threads);
    for (int i = 0; i < share.tasks; i++) {
        struct partition_rect rects[PARTITION_RUN_RECTS];
        size_t count = gemm_share_rects(&share, i, rects), tiles = 0;
        for (size_t r = 0; r < count; r++)
            tiles += (rects[r].rows.end - rects[r].rows.begin) *
                     (rects[r].columns.end - rects[r].columns.begin);
        panels += rects[count - 1].columns.end - rects[0].columns.begin;
        most = max_size(most, tiles);
    }
    double mean = (double)(plan.row_tiles * plan.panels) / threads;
    return (struct shared){(double)panels / (double)plan.panels, (double)most / mean};
}

/* No more than one panel is read by two of them, so that all have as much to do. */
static void threads_read_weights_from_memory_once(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {
        {49, 512, 4608}, {196, 256, 2304}, {32, 1024, 1024}, {784, 256, 1152}, {196, 1024, 256}};
    for (size_t i = 0; i < count_of(sizes); i++)
        for (int threads = 4; threads <= 16; threads *= 4) {
            const size_t *s = sizes[i];
            struct shared far = share_among(s[0], s[1], s[2], 1 << 20, threads);
            double panels = (double)layout_panel_count(s[1]);
            bool once = far.reading <= 1 + (threads - 1) / panels;
            if (!once || far.longest > 1.15)
                fail_msg("%zux%zux%zu, %d threads: read %.2f times, longest %.2f", s[0], s[1], s[2],
                         threads, far.reading, far.longest);
        }
    assert_true(share_among(196, 256, 2304, 64 << 20, 16).reading > 2);
}

/* So a user's scratchpad is large enough when the sizes become known. */
static void unknown_sizes_have_most_on(const struct cpu *cpu)
{
    const size_t unknown = SIZE_MAX;
    struct gemm_shape any = {.batch = unknown,
                             .m = unknown,
                             .n = unknown,
                             .k = unknown,
                             .segment = unknown,
                             .a_stride = unknown,
                             .a_is_regular = true,
                             .output = GEMM_STAGED};
    struct gemm_plan most, plan;
    for (size_t m = 1; m < 3000; m = m * 3 + 1)
        for (size_t n = 1; n < 3000; n = n * 3 + 1)
            for (size_t k = 1; k < 3000; k = k * 3 + 1)
                for (int options = 0; options < 32; options++) {
                    struct gemm_shape shape = any;
                    any.n = options & 8 ? n : unknown;
                    any.b_packed = shape.b_packed = options & 16;
                    gemm_plan_init(&most, &any, cpu);
                    shape.batch = 1, shape.m = m, shape.n = n, shape.k = k;
                    shape.segment = options & 1 ? k : 0;
                    shape.a_stride = options & 4 ? 4096 : k;
                    shape.output = options & 2 ? GEMM_DIRECT : GEMM_STAGED;
                    gemm_plan_init(&plan, &shape, cpu);
                    assert_true(gemm_scratch_bytes(&plan, 1) <= gemm_scratch_bytes(&most, 1));
                }
}

static void unknown_sizes_have_the_largest_scratchpad(void **state)
{
    (void)state;
    struct cpu reorders = stated_cpu("neoverse-n1", 65536);
    struct cpu little = stated_cpu("cortex-a510", 32768), narrow = stated_cpu("cortex-a55", 32768);
    static const size_t l2[] = {256 << 10, 1 << 20, 2 << 20, 16 << 20};
    for (size_t i = 0; i < count_of(l2); i++) {
        reorders.l2_bytes = little.l2_bytes = narrow.l2_bytes = l2[i];
        unknown_sizes_have_most_on(&reorders);
        unknown_sizes_have_most_on(&little);
        unknown_sizes_have_most_on(&narrow);
    }
}

/* Tiles of packed rows. A few rows by themselves would leave most registers unused. */
static void the_last_tiles_share_their_rows(void **state)
{
    (void)state;
    for (size_t m = 1; m < 100; m++) {
        size_t end = 0;
        for (size_t t = 0; t < div_up(m, GEMM_F32_MR); t++) {
            struct span rows = gemm_row_tile(m, t);
            size_t height = rows.end - rows.begin;
            assert_int_equal(rows.begin, end);
            assert_in_range(height, m > GEMM_F32_MR ? GEMM_F32_MR / 2 : m, GEMM_F32_MR);
            end = rows.end;
        }
        assert_int_equal(end, m);
    }
}

/* Two groups of 128 columns side by side: each one's rows of C have half of the places of a cache,
 * and do not stay there for all blocks of k. */
static void rows_far_apart_take_places_of_others(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    cpu.l2_bytes = 1 << 20;
    struct gemm_shape shape = {.batch = 2,
                               .m = 729,
                               .n = 128,
                               .k = 432,
                               .b_packed = true,
                               .segment = 48,
                               .a_stride = 96,
                               .a_values = 729 * 48,
                               .a_shared = 2 * 27 * 48,
                               .c_stride = 128};
    struct gemm_plan near, apart;
    gemm_plan_init(&near, &shape, &cpu);
    shape.c_stride = 256;
    gemm_plan_init(&apart, &shape, &cpu);
    assert_non_null(near.listed);
    assert_false(near.k_inside);
    assert_true(apart.k_inside);
}

static bool packs_rows(uint8_t fmla_per_cycle, uint8_t in_order, size_t m)
{
    const struct core core = {.name = "any",
                              .fmla_per_cycle = fmla_per_cycle,
                              .fmla_latency = 4,
                              .loads_per_cycle = 2,
                              .in_order = in_order,
                              .slowness = 1};
    const struct cpu cpu = {.l1_bytes = 65536, .l2_bytes = 1048576, .core = &core};
    return gemm_packing_pays(&cpu, (double)m, 5632, 2048, 2048);
}

static void rows_are_packed_where_low_tiles_wait_for_their_sums(void **state)
{
    (void)state;
    assert_true(packs_rows(4, 0, 8)); /* two tiles of 12 sums, which take as long as 16 */
    assert_true(packs_rows(4, 0, 16));
    assert_false(packs_rows(4, 0, 7));
    assert_false(packs_rows(2, 0, 14));
    assert_false(packs_rows(2, IN_ORDER_NARROW, 8));
}

/* Of bytes a fourth comes from memory, and is multiplied in a fourth of the time. */
static void packed_weights_from_memory_are_fetched(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    struct gemm_shape shape = packed_shape(32, 1024, 1024);
    struct gemm_plan plan, typed;
    cpu.l2_bytes = 1 << 20;
    gemm_plan_init(&plan, &shape, &cpu);
    shape.segment = 0;
    shape.type = &gemm_types[GEMM_S8_DOT];
    gemm_plan_init(&typed, &shape, &cpu);
    assert_int_equal(plan.fetches, (cpu.features & CPU_NEON) != 0);
    assert_true(typed.fetches);
    assert_true(gemm_fetches(&cpu, shape.type, 32, 1024, 1024));
    assert_true(typed.panel_reading == plan.panel_reading);
    shape.m = GEMM_MR;
    gemm_plan_init(&typed, &shape, &cpu);
    assert_false(typed.fetches); /* one tile, which cannot share it */
    shape.m = 32, shape.n = 256;
    gemm_plan_init(&typed, &shape, &cpu);
    assert_false(typed.fetches); /* all weights stay */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_collide_are_copied_for_many_columns),
        cmocka_unit_test(rows_that_crowd_places_are_copied_for_many_columns),
        cmocka_unit_test(panels_of_two_widths_come_for_chunks_of_rows),
        cmocka_unit_test(few_tiles_are_listed_at_a_time),
        cmocka_unit_test(regular_rows_come_for_panels_of_both_widths),
        cmocka_unit_test(blocks_are_as_large_as_their_places_in_the_cache),
        cmocka_unit_test(short_panels_come_together),
        cmocka_unit_test(blocks_of_patches_suit_their_values),
        cmocka_unit_test(parts_of_rows_suit_the_l1_cache),
        cmocka_unit_test(taps_of_windows_are_whole),
        cmocka_unit_test(weights_stay_for_the_next_block_of_rows),
        cmocka_unit_test(something_stays_for_the_next_call),
        cmocka_unit_test(calls_are_few_where_they_take_time),
        cmocka_unit_test(last_columns_have_kernels_of_their_own),
        cmocka_unit_test(rows_far_apart_take_places_of_others),
        cmocka_unit_test(threads_read_weights_from_memory_once),
        cmocka_unit_test(packed_weights_from_memory_are_fetched),
        cmocka_unit_test(unknown_sizes_have_the_largest_scratchpad),
        cmocka_unit_test(the_last_tiles_share_their_rows),
        cmocka_unit_test(rows_are_packed_where_low_tiles_wait_for_their_sums),
    };
    return cmocka_run_group_tests_name("gemm_plan_init", tests, NULL, NULL);
}
