/* Which algorithms serve products, how columns are divided among kernels, and how batches are gone
 * through. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cores.h"
#include "src/convolution/convolution.h"
#include "src/matmul/direct/direct.h"
#include "src/primitive/primitive.h"
#include "src/primitive/selection.h"
#include "tests/support/session.h"
#include "tests/support/stated_cpu.h"

enum { PANEL_VECTORS = 3 };

/* The widest strip of one row, in panels. */
static size_t panels_beside_each_other(size_t k, size_t l1_bytes)
{
    const struct core core = {
        .name = "any", .fmla_per_cycle = 2, .fmla_latency = 4, .loads_per_cycle = 2, .slowness = 1};
    struct columns columns;
    size_t widest = 0;
    direct_columns_choose(
        &columns, &core,
        &(struct direct_shape){.m = 1, .n = 1200, .k = k, .l1_bytes = l1_bytes, .panels = true});
    for (size_t r = 0; r < columns.run_count; r++)
        widest = max_size(widest, columns.runs[r].vectors);
    return widest / PANEL_VECTORS;
}

static void panels_on_one_place_of_the_cache_are_as_many_as_its_ways(void **state)
{
    (void)state;
    assert_int_equal(panels_beside_each_other(1000, 65536), 6);
    assert_int_equal(panels_beside_each_other(512, 65536), 6);
    assert_int_equal(panels_beside_each_other(1024, 65536), 4);
    assert_int_equal(panels_beside_each_other(2048, 65536), 4);
    assert_int_equal(panels_beside_each_other(4096, 65536), 4);
    assert_int_equal(panels_beside_each_other(1024, 131072), 6);
    assert_int_equal(panels_beside_each_other(2048, 131072), 4);
}

static void last_columns_have_kernels_of_their_own(void **state)
{
    (void)state;
    static const struct {
        size_t n, k;
        bool a_columns;
        uint8_t tail;
    } rows[] = {{5, 40, false, 1},  {9, 40, false, 1},  {13, 40, false, 1}, {17, 40, false, 1},
                {33, 40, false, 1}, {37, 40, false, 1}, {53, 40, false, 1}, {101, 40, false, 1},
                {10, 40, false, 0}, {18, 40, false, 0}, {7, 40, false, 0},  {23, 40, false, 0},
                {1, 40, false, 1},  {2, 40, false, 2},  {3, 40, false, 3},  {36, 40, false, 0},
                {5, 40, true, 0},   {37, 40, true, 0},  {17, 7, false, 0}};
    const struct core core = {
        .name = "any", .fmla_per_cycle = 2, .fmla_latency = 4, .loads_per_cycle = 2, .slowness = 1};
    for (size_t i = 0; i < count_of(rows); i++) {
        struct columns columns;
        direct_columns_choose(&columns, &core,
                              &(struct direct_shape){.m = 20,
                                                     .n = rows[i].n,
                                                     .k = rows[i].k,
                                                     .l1_bytes = 65536,
                                                     .panels = true,
                                                     .a_columns = rows[i].a_columns});
        assert_int_equal(columns.runs[columns.run_count - 1].panels.tail, rows[i].tail);
    }
}

static void few_sums_are_four_parts_each(void **state)
{
    (void)state;
    static const struct {
        size_t m, n, k;
        bool a_columns, panels, parts;
        uint8_t in_order;
    } rows[] = {
        {1, 8, 128, false, true, true, 0},   {1, 12, 128, false, true, true, 0},
        {1, 8, 128, false, false, true, 0},  {3, 8, 128, false, true, true, 0},
        {1, 7, 128, false, true, true, 0},   {8, 12, 128, false, true, false, 0},
        {1, 8, 8, false, true, false, 0},    {1, 120, 128, false, true, false, 0},
        {1, 8, 128, true, true, false, 0},   {1, 8, 128, false, true, false, IN_ORDER_NARROW},
        {2, 28, 128, false, false, true, 0},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        const struct core core = {.name = "any",
                                  .fmla_per_cycle = 2,
                                  .fmla_latency = 4,
                                  .loads_per_cycle = 2,
                                  .in_order = rows[i].in_order};
        struct columns columns;
        direct_columns_choose(&columns, &core,
                              &(struct direct_shape){.m = rows[i].m,
                                                     .n = rows[i].n,
                                                     .k = rows[i].k,
                                                     .l1_bytes = 65536,
                                                     .panels = rows[i].panels,
                                                     .a_columns = rows[i].a_columns});
        bool parts = false;
        for (size_t r = 0; r < columns.run_count; r++)
            parts = parts || columns.runs[r].has_parts;
        assert_int_equal(parts, rows[i].parts);
    }
}

#if !NEO_PORTABLE
/* Sixteen sums, which four pipes want, are those of four vectors in parts, not of two times eight.
 */
static void four_vectors_beside_wide_strips_are_parts(void **state)
{
    (void)state;
    struct columns columns;
    direct_columns_choose(&columns, core_named("m1-firestorm"),
                          &(struct direct_shape){.m = 1, .n = 256, .k = 512, .l1_bytes = 131072});
    assert_int_equal(columns.run_count, 2);
    assert_int_equal(columns.runs[0].count, 5);
    assert_int_equal(columns.runs[0].vectors, 12);
    assert_int_equal(columns.runs[1].vectors, 4);
    assert_true(columns.runs[1].has_parts);
}

/* Of the two panels of eight columns behind four full ones the first is read beside these; the
 * other one has sums of four parts. */
static void first_of_two_last_panels_is_beside_full_ones(void **state)
{
    (void)state;
    struct columns columns;
    direct_columns_choose(
        &columns, core_named("neoverse-n1"),
        &(struct direct_shape){.m = 1, .n = 64, .k = 256, .l1_bytes = 65536, .panels = true});
    assert_int_equal(columns.run_count, 2);
    assert_int_equal(columns.runs[0].panels.full, 4);
    assert_int_equal(columns.runs[0].panels.middle, 0);
    assert_int_equal(columns.runs[0].panels.last, 2);
    assert_int_equal(columns.runs[0].lanes, 4);
    assert_int_equal(columns.runs[1].vectors, 2);
    assert_true(columns.runs[1].has_parts);
}
#endif

/* Two panels and few rows of src are more than the L1 cache has, one is not: rows stay then. With
 * fewer values of k both ways do, and where not even one panel leaves room, two come for them at
 * once; but not if these leave before the next tile. */
static void rows_stay_beside_one_panel(void **state)
{
    (void)state;
    static const struct {
        size_t m, k;
        uint8_t vectors;
    } rows[] = {{6, 512, 3}, {8, 512, 3}, {12, 512, 3}, {16, 512, 6},
                {4, 512, 6}, {8, 256, 6}, {4, 1024, 6}, {24, 640, 3}};
    const struct core core = {
        .name = "any", .fmla_per_cycle = 2, .fmla_latency = 4, .loads_per_cycle = 2, .slowness = 1};
    for (size_t i = 0; i < count_of(rows); i++) {
        struct columns columns;
        struct direct_shape shape = {
            .m = rows[i].m, .n = 512, .k = rows[i].k, .l1_bytes = 65536, .panels = true};
        direct_columns_choose(&columns, &core, &shape);
        assert_int_equal(columns.runs[0].vectors, rows[i].vectors);
    }
}

/* Eight rows are three tiles of 32 columns, or two of 16, which takes hardly longer. */
static void rows_of_weights_that_leave_the_cache_come_for_few_tiles(void **state)
{
    (void)state;
    const struct core core = {
        .name = "any", .fmla_per_cycle = 2, .fmla_latency = 4, .loads_per_cycle = 2};
    struct direct_shape shape = {.m = 8, .n = 512, .k = 64, .l1_bytes = 65536};
    struct columns stays, leaves;
    double least = direct_columns_choose(&stays, &core, &shape);
    shape.b_leaves = true;
    double cycles = direct_columns_choose(&leaves, &core, &shape);
    assert_int_equal(stays.runs[0].vectors, 8);
    assert_int_equal(leaves.runs[0].vectors, 4);
    assert_true(cycles >= least && cycles < least * 1.01);
}

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    neo_memory_desc desc;
    const neo_dim dims[] = {rows, columns};
    assert_int_equal(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

/* Where rows would leave the cache from strip to strip, and there are enough of both. Copies of
 * rows are parts of 12288 values at most, with a strip of 24 columns, or 12. */
static void few_rows_are_multiplied_in_parts_of_k(void **state)
{
    (void)state;
    static const struct {
        neo_dim m, n, k;
        size_t depth;
        bool copies;
        const char *core;
    } rows[] = {
        {4, 1024, 1024, 344, false, "neoverse-n1"},  /* rows that lie on a quarter of the cache */
        {4, 1024, 1000, 500, false, "neoverse-n1"},  /* anywhere */
        {5, 232, 602, 602, false, "neoverse-n1"},    /* all stays */
        {1, 1024, 4096, 4096, false, "neoverse-n1"}, /* calls cost more than the lines of a row */
        {4, 1022, 1024, 1024, false, "neoverse-n1"}, /* rows of dst end with a part of a vector */
        {4, 12, 4096, 4096, false, "neoverse-n1"},   /* a single strip */
        {3, 2048, 2048, 412, true, "neoverse-n1"},   /* fewer parts than of rows in place */
        {7, 2048, 2048, 512, true, "neoverse-n1"},   /* rows fill the cache whatever their part */
        {6, 512, 4096, 588, true, "neoverse-n1"},    /* and drive each other out of it */
        {6, 512, 4096, 4096, false, "cortex-a55"},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct problem problem = {.tensors = {[SRC] = matrix(rows[i].m, rows[i].k, "ab"),
                                              [WEIGHTS] = matrix(rows[i].k, rows[i].n, "any"),
                                              [DST] = matrix(rows[i].m, rows[i].n, "ab")}};
        const struct cpu cpu = stated_cpu(rows[i].core, 64 << 10);
        struct matmul_direct plan = {0};
        matmul_direct.choose(&matmul_direct, &problem, &cpu);
        matmul_direct.plan(&plan, &problem, &cpu);
        size_t room = rows[i].copies ? 2 * (size_t)rows[i].m * rows[i].depth * sizeof(float) : 0;
        if (plan.passes.depth != rows[i].depth || plan.passes.copies != rows[i].copies)
            fail_msg("%zu: %zu, %d", i, plan.passes.depth, plan.passes.copies);
        assert_true(matmul_direct.scratch_bytes(&plan, 2) >= room);
    }
    struct problem plain = {.tensors = {[SRC] = matrix(4, 1024, "ab"),
                                        [WEIGHTS] = matrix(1024, 1024, "ab"),
                                        [DST] = matrix(4, 1024, "ab")}};
    const struct cpu cpu = stated_cpu("neoverse-n1", 64 << 10);
    struct matmul_direct plan = {0};
    matmul_direct.plan(&plan, &plain, &cpu);
    assert_int_equal(plan.passes.depth, 1024);
}

#if !NEO_PORTABLE
/* Not the blocked product, which packs both operands. */
static void small_products_of_transposed_operands_are_done_in_place(void **state)
{
    (void)state;
    static const struct {
        const char *src, *weights, *dst, *algorithm;
        neo_dim n;
    } rows[] = {
        {"ab", "ab", "ab", "direct:", 16},  {"ba", "ab", "ab", "direct:", 16},
        {"ba", "ba", "ab", "direct:", 16},  {"ba", "any", "ab", "direct:", 16},
        {"ab", "ab", "ba", "swapped:", 16}, {"ba", "ba", "ba", "swapped:", 16},
        {"ba", "ab", "ab", "direct:", 2},   {"ba", "ab", "ab", "swapped:", 1},
        {"ab", "ab", "ab", "dot:", 1},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_primitive_desc *pd;
        neo_matmul_desc desc = {.src = matrix(16, 16, rows[i].src),
                                .weights = matrix(16, rows[i].n, rows[i].weights),
                                .dst = matrix(16, rows[i].n, rows[i].dst)};
        assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        const char *name = neo_primitive_desc_implementation(pd);
        if (strncmp(name, rows[i].algorithm, strlen(rows[i].algorithm)))
            fail_msg("%s, %s to %s: %s", rows[i].src, rows[i].weights, rows[i].dst, name);
        neo_primitive_desc_destroy(pd);
    }
}

/* By core and the layout of weights, where ways to do it are so close that estimates decide. */
static void estimates_know_what_takes_least(void **state)
{
    (void)state;
    static const struct {
        const char *core, *weights;
        neo_dim m, n, k;
        const struct algorithm *best;
    } rows[] = {
        {"cortex-a55", "ba", 7, 9, 13, &matmul_direct},
        {"cortex-a55", "ba", 2, 3, 5, &matmul_dot},
        {"cortex-a55", "ba", 7, 12, 64, &matmul_dot},
        {"cortex-a55", "ba", 13, 4, 75, &matmul_direct},
        {"cortex-a55", "ba", 2, 29, 6, &matmul_direct},
        {"cortex-a55", "ba", 11, 4, 3, &matmul_direct},
        {"cortex-a55", "ba", 8, 512, 64, &matmul_dot},
        {"cortex-a55", "ab", 40, 2, 30, &matmul_direct},
        {"cortex-a55", "any", 784, 2, 32, &matmul_dot},
        {"cortex-a55", "any", 784, 5, 64, &matmul_direct},
        {"neoverse-n1", "ba", 8, 512, 64, &matmul_dot},
        {"neoverse-n1", "ba", 8, 8, 8, &matmul_direct},
        {"neoverse-n1", "ba", 11, 4, 3, &matmul_direct},
        {"neoverse-n1", "ba", 8, 9, 7, &matmul_direct},
        {"neoverse-n1", "any", 3, 4, 8, &matmul_direct},
        {"neoverse-n1", "ab", 9, 2, 30, &matmul_direct},
        {"neoverse-n1", "ba", 1, 28, 64, &matmul_dot},
        {"neoverse-n1", "any", 784, 2, 16, &matmul_dot},
        {"neoverse-n1", "any", 784, 3, 16, &matmul_dot},
        {"neoverse-n1", "any", 784, 5, 64, &matmul_direct},
        {"neoverse-v2", "any", 784, 3, 16, &matmul_dot},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        const struct core *core = core_named(rows[i].core);
        struct cpu cpu = {CPU_NEON, core, core->l1_bytes, core->l2_bytes, 0, 64, 0};
        struct problem problem = {
            .operation = &matmul_operation,
            .tensors = {[SRC] = matrix(rows[i].m, rows[i].k, "ab"),
                        [WEIGHTS] = matrix(rows[i].k, rows[i].n, rows[i].weights),
                        [DST] = matrix(rows[i].m, rows[i].n, "ab")}};
        const struct algorithm *best = selection_best(&problem, NULL, &cpu).algorithm;
        if (best != rows[i].best)
            fail_msg("%s, %zu: %s", rows[i].core, i, best->name);
    }
}
#endif

/* Rows of dst that is `any` will be contiguous: results are where they belong, or not, as there. */
static void estimates_know_what_any_dst_becomes(void **state)
{
    (void)state;
    static const neo_dim sizes[][2] = {{784, 2}, {2, 784}, {7, 9}};
    const struct cpu cpu = stated_cpu("neoverse-n1", 64 << 10);
    for (size_t i = 0; i < count_of(sizes); i++) {
        neo_dim m = sizes[i][0], n = sizes[i][1];
        struct problem problem = {.tensors = {[SRC] = matrix(m, 16, "ab"),
                                              [WEIGHTS] = matrix(16, n, "ba"),
                                              [BIAS] = matrix(1, n, "ab"),
                                              [DST] = matrix(m, n, "ab")}};
        double rows = matmul_dot.estimate(&matmul_dot, &problem, &cpu);
        problem.tensors[DST] = matrix(m, n, "any");
        double any = matmul_dot.estimate(&matmul_dot, &problem, &cpu);
        assert_true(any >= rows && any <= rows);
    }
}

/* A bias of one value is the column's if there is only one; then tile kernels add it. */
static void one_column_has_a_bias_by_column(void **state)
{
    (void)state;
    static const struct {
        neo_dim bias_rows, bias_columns, n;
        bool by_column;
    } rows[] = {{1, 1, 1, true}, {1, 4, 4, true}, {1, 1, 4, false}, {5, 1, 1, false}};
    for (size_t i = 0; i < count_of(rows); i++) {
        struct problem problem = {
            .tensors = {[DST] = matrix(5, rows[i].n, "ab"),
                        [BIAS] = matrix(rows[i].bias_rows, rows[i].bias_columns, "ab")}};
        assert_int_equal(matmul_is_bias_by_column(&problem), rows[i].by_column);
    }
}

#if !NEO_PORTABLE
/* Cores that multiply f32 faster than bf16 have both, and weights of bf16 are half as long. */
static void few_rows_are_rounded_where_that_takes_less_time(void **state)
{
    (void)state;
    enum { K = 1024 };
    static const struct {
        const char *core;
        neo_dim rows;
        bool is_rounded;
    } rows[] = {
        {"neoverse-n2", 1, true},   {"neoverse-n2", 2, true},    {"neoverse-n2", 5, true},
        {"neoverse-n2", 128, true}, {"cortex-a710", 1, true},    {"m2-avalanche", 1, false},
        {"m2-avalanche", 8, false}, {"m2-avalanche", 64, false},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct cpu cpu = stated_cpu(rows[i].core, core_named(rows[i].core)->l1_bytes);
        cpu.features |= CPU_NEON | CPU_BF16;
        cpu.bandwidth = CPU_MAX_BANDWIDTH; /* what is read counts for nothing */
        struct problem problem = {.operation = &matmul_operation};
        problem.attributes.fpmath = NEO_FPMATH_BF16;
        problem.tensors[SRC] = matrix(rows[i].rows, K, "ab");
        problem.tensors[WEIGHTS] = matrix(K, K, "any");
        problem.tensors[DST] = matrix(rows[i].rows, K, "ab");
        struct ranking ranking;
        selection_rank(&ranking, &problem, &cpu);
        const struct algorithm *best = ranking.serving[0].algorithm;
        if ((best == &matmul_typed) != rows[i].is_rounded)
            fail_msg("%d rows on %s: %s", (int)rows[i].rows, rows[i].core, best->name);
    }
}

/* Modelled cycles of a Cortex-A53, which has no dot products, with scales of weights and of dst. */
static void products_of_bytes_without_dot_products_take_what_is_estimated(void **state)
{
    (void)state;
    static const struct {
        neo_dim m, k, n;
        double cycles;
    } rows[] = {{1568, 16, 96, 1.332e6}, {1568, 64, 96, 3.212e6}, {1568, 256, 96, 10.75e6},
                {49, 64, 96, 0.1162e6},  {49, 256, 96, 0.3673e6}, {8, 256, 96, 0.0647e6}};
    struct cpu cpu = stated_cpu("cortex-a53", core_named("cortex-a53")->l1_bytes);
    cpu.features = CPU_NEON;
    for (size_t i = 0; i < count_of(rows); i++) {
        struct problem problem = {.operation = &matmul_operation};
        problem.tensors[SRC] = matrix(rows[i].m, rows[i].k, "ab");
        problem.tensors[WEIGHTS] = matrix(rows[i].k, rows[i].n, "any");
        problem.tensors[DST] = matrix(rows[i].m, rows[i].n, "ab");
        problem.tensors[SRC].data_type = problem.tensors[WEIGHTS].data_type = NEO_S8;
        problem.tensors[DST].data_type = NEO_S8;
        double cycles = matmul_typed.estimate(&matmul_typed, &problem, &cpu);
        if (fabs(cycles / rows[i].cycles - 1) > 0.1)
            fail_msg("row %zu: %.0f of %.0f cycles", i, cycles, rows[i].cycles);
    }
}

static neo_memory_desc image(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

/* Their weights lie in the order of a patch, where images have channels last too; a dimension of
 * one group changes nothing. */
static void convolutions_to_few_channels_are_dot_products(void **state)
{
    (void)state;
    static const struct {
        neo_dim outputs, size, kernel;
        int groups; /* 1: weights have a dimension of them */
        bool are;
    } rows[] = {{1, 56, 1, 0, true},  {2, 56, 1, 0, true}, {2, 3, 3, 0, true},
                {4, 28, 1, 0, false}, {2, 56, 1, 1, true}, {2, 3, 3, 1, true}};
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_dim size = rows[i].size, kernel = rows[i].kernel, out = size - kernel + 1;
        const neo_dim weights[] = {1, rows[i].outputs, 64, kernel, kernel};
        neo_convolution_desc desc = {
            .prop_kind = NEO_FORWARD_INFERENCE,
            .algorithm = NEO_CONVOLUTION_AUTO,
            .src = image(4, (neo_dim[]){size == kernel ? 100 : 1, 64, size, size}, "nhwc"),
            .weights = image(4 + rows[i].groups, weights + !rows[i].groups, "any"),
            .dst =
                image(4, (neo_dim[]){size == kernel ? 100 : 1, rows[i].outputs, out, out}, "nhwc"),
            .strides = {1, 1},
        };
        neo_primitive_desc *pd;
        assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        const struct implementation *best = pd->implementation;
        bool are =
            best->algorithm == &convolution_matmul && best->nested[0]->algorithm == &matmul_dot;
        if (are != rows[i].are)
            fail_msg("%zu: %s", i, neo_primitive_desc_implementation(pd));
        /* Where both ways take nearly as long, too. */
        struct cpu cpu = stated_cpu("m1-firestorm", core_named("m1-firestorm")->l1_bytes);
        struct problem problem = best->problem;
        problem.tensors[WEIGHTS] = desc.weights;
        convolution_derive(&problem);
        convolution_matmul.choose(&convolution_matmul, &problem, &cpu);
        assert_int_equal(problem.tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED, rows[i].are);
        neo_primitive_desc_destroy(pd);
    }
}
#endif

/* Batches a to c of src, weights and dst. */
static struct problem batched(const neo_dim sizes[3][3])
{
    static const enum tensor tensors[] = {SRC, WEIGHTS, DST};
    struct problem problem = {0};
    for (size_t t = 0; t < count_of(tensors); t++) {
        const neo_dim dims[] = {sizes[t][0], sizes[t][1], sizes[t][2], 2, 2};
        neo_memory_desc *desc = &problem.tensors[tensors[t]];
        assert_int_equal(neo_memory_desc_init_tag(desc, 5, dims, NEO_F32, "abcde"), NEO_OK);
    }
    return problem;
}

static void assert_same_place(struct matmul_steps at, struct matmul_steps expected)
{
    assert_int_equal(at.src, expected.src);
    assert_int_equal(at.weights, expected.weights);
    assert_int_equal(at.dst, expected.dst);
}

/* Turn by turn, and each by its number, matrices are where their position is. */
static void check_places(const struct problem *problem, const struct matmul_batch *batch)
{
    struct matmul_walk walk = {.turns = {0}};
    size_t count = (size_t)matmul_shape(problem).batch, i = 0;
    do {
        struct matmul_steps at = walk.at;
        for (size_t j = 0; j < batch->loops->count; j++, i++) {
            neo_dim position[NEO_MAX_NDIMS];
            matmul_position(problem, i, position);
            struct matmul_steps expected = {
                matmul_batch_offset(&problem->tensors[SRC], position),
                matmul_batch_offset(&problem->tensors[WEIGHTS], position),
                matmul_batch_offset(&problem->tensors[DST], position),
            };
            assert_same_place(at, expected);
            assert_same_place(matmul_batch_at(batch, i), expected);
            at.src += batch->loops->steps.src, at.weights += batch->loops->steps.weights;
            at.dst += batch->loops->steps.dst;
        }
    } while (matmul_batch_turn(batch, &walk));
    assert_int_equal(i, count);
}

static void batches_are_as_few_loops_as_can_be(void **state)
{
    (void)state;
    static const struct {
        neo_dim sizes[3][3]; /* src, weights, dst */
        size_t loops;
    } rows[] = {
        {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 1}, {{{2, 3, 4}, {2, 3, 4}, {2, 3, 4}}, 1},
        {{{2, 3, 4}, {1, 1, 1}, {2, 3, 4}}, 1}, {{{2, 1, 4}, {2, 1, 4}, {2, 1, 4}}, 1},
        {{{2, 3, 4}, {1, 3, 4}, {2, 3, 4}}, 2}, {{{2, 3, 4}, {2, 3, 1}, {2, 3, 4}}, 2},
        {{{2, 3, 1}, {1, 1, 4}, {2, 3, 4}}, 2}, {{{2, 1, 4}, {1, 3, 4}, {2, 3, 4}}, 3},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct problem problem = batched(rows[i].sizes);
        struct matmul_batch batch;
        matmul_batch_init(&batch, &problem, 0);
        assert_int_equal(batch.loop_count, rows[i].loops);
        check_places(&problem, &batch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_on_one_place_of_the_cache_are_as_many_as_its_ways),
        cmocka_unit_test(last_columns_have_kernels_of_their_own),
        cmocka_unit_test(few_sums_are_four_parts_each),
#if !NEO_PORTABLE
        cmocka_unit_test(four_vectors_beside_wide_strips_are_parts),
        cmocka_unit_test(first_of_two_last_panels_is_beside_full_ones),
#endif
        cmocka_unit_test(rows_of_weights_that_leave_the_cache_come_for_few_tiles),
        cmocka_unit_test(rows_stay_beside_one_panel),
        cmocka_unit_test(batches_are_as_few_loops_as_can_be),
        cmocka_unit_test(estimates_know_what_any_dst_becomes),
        cmocka_unit_test(one_column_has_a_bias_by_column),
        cmocka_unit_test(few_rows_are_multiplied_in_parts_of_k),
#if !NEO_PORTABLE
        cmocka_unit_test(small_products_of_transposed_operands_are_done_in_place),
        cmocka_unit_test(estimates_know_what_takes_least),
        cmocka_unit_test(convolutions_to_few_channels_are_dot_products),
        cmocka_unit_test(few_rows_are_rounded_where_that_takes_less_time),
        cmocka_unit_test(products_of_bytes_without_dot_products_take_what_is_estimated),
#endif
    };
    return cmocka_run_group_tests_name("matmul_choices", tests, session_setup, session_teardown);
}
