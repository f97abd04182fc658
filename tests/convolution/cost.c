/* Costs: how long convolutions and products take, and which algorithm is chosen, where weights come
 * from memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

#include "neoprene/log.h"

#include "arch/costs.h"
#include "src/convolution/convolution.h"
#include "src/core/log.h"
#include "src/matmul/matmul.h"
#include "src/primitive/engine.h"
#include "src/primitive/selection.h"
#include "src/tensor/layout.h"
#include "tests/support/stated_cpu.h"

static void assert_near(double value, double expected, double tolerance)
{
    assert_true(fabs(value - expected) <= tolerance);
}

static neo_memory_desc tensor_of(const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 4, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

/* Channels last; the padding is half of the kernel. */
static struct problem layer(neo_dim ic, neo_dim oc, neo_dim size, neo_dim kernel, neo_dim stride)
{
    struct problem problem = {.operation = &convolution_operation,
                              .convolution_algorithm = NEO_CONVOLUTION_AUTO};
    neo_dim out = (size - 1) / stride + 1, pad = kernel / 2;
    problem.tensors[SRC] = tensor_of((neo_dim[]){1, ic, size, size}, "nhwc");
    problem.tensors[DST] = tensor_of((neo_dim[]){1, oc, out, out}, "nhwc");
    problem.tensors[WEIGHTS] = tensor_of((neo_dim[]){oc, ic, kernel, kernel}, "any");
    for (int i = 0; i < 2; i++) {
        problem.window.strides[i] = stride;
        problem.window.left[i] = pad;
        problem.window.right[i] = (out - 1) * stride + kernel - size - pad;
    }
    convolution_derive(&problem);
    return problem;
}

/* 3x3, stride 1, as many channels out as in. */
static struct problem square(neo_dim channels, neo_dim size)
{
    return layer(channels, channels, size, 3, 1);
}

static struct cpu core_with(const char *core, double bandwidth)
{
    struct cpu cpu = stated_cpu(core, core_named(core)->l1_bytes);
    cpu.l2_bytes = core_named(core)->l2_bytes;
    cpu.bandwidth = bandwidth;
    return cpu;
}

static struct cost estimated(const struct algorithm *algorithm, const struct problem *problem,
                             const struct cpu *cpu)
{
    return cost_of(algorithm, problem, cpu, algorithm->estimate(algorithm, problem, cpu));
}

static void winograd_counts_its_weights_as_they_are_kept(void **state)
{
    (void)state;
    struct cpu cpu = core_with("neoverse-n1", 3);
    struct problem problem = square(64, 28), few = square(64, 3);
    double plain = 64.0 * 64 * 9 * sizeof(float);
    assert_true(estimated(&convolution_gemm, &problem, &cpu).weights == plain);
    assert_near(estimated(&convolution_winograd_2, &problem, &cpu).weights, plain * 16 / 9, 1);
    assert_near(estimated(&convolution_winograd_6, &problem, &cpu).weights, plain * 64 / 9, 1);
    /* Tiles of an image of 3 have no more than 5 points along it. */
    assert_near(estimated(&convolution_winograd_6, &few, &cpu).weights, plain * 25 / 9, 1);
    assert_true(estimated(&convolution_reference, &problem, &cpu).others == 0);
    cpu.l2_bytes = 1;
    double image = 64.0 * 28 * 28 * sizeof(float);
    const struct other_costs *part = &core_costs(cpu.core)->other;
    assert_near(estimated(&convolution_reference, &problem, &cpu).others,
                image * (part->images + part->results), 1);
    assert_true(estimated(&convolution_winograd_6, &problem, &cpu).others > 2 * image);
    struct problem sparse =
        layer(64, 64, 28, 1, 2); /* reads every other pixel of every other row */
    assert_near(estimated(&convolution_reference, &sparse, &cpu).others,
                image / 4 * (part->images + part->results), 1);
}

static void memory_takes_time_beside_products(void **state)
{
    (void)state;
    struct cost cost = {.cycles = 1e6, .weights = 2e6, .others = 1e6};
    struct cpu cpu = core_with("neoverse-n1", 3);
    assert_near(cost_time(&cost, &cpu), 1e6 + 2.5e6, 1);
    assert_near(cost_compute_ms(&cost, &cpu), 0.4, 1e-6);
    assert_near(cost_memory_ms(&cost, &cpu), 1, 1e-6);
    cost.meanwhile = 0.9e6;                /* reading is the longer one, */
    const double some = 0.15, line = 17.7; /* cycles for each, however fast memory is */
    assert_near(cost_time(&cost, &cpu), 0.1e6 + 2e6 / 3 * 2.5 + 1e6 / 3 * 2.5, 1);
    cpu.bandwidth = 30; /* or products are, which wait for some of it */
    assert_near(cost_time(&cost, &cpu), 1e6 + some * 2e6 / 64 * line + 1e6 / 30 * 2.5, 1);
    cpu.bandwidth = 0; /* the core's own */
    cost.meanwhile = 0;
    assert_near(cost_time(&cost, &cpu), 1e6 + 3e6 / cpu.core->bandwidth * cpu.core->ghz, 1);
    const struct core unknown = {.name = "any"};
    cpu.core = &unknown;
    assert_near(cost_time(&cost, &cpu), 1e6, 1);
    assert_true(cost_memory_ms(&cost, &cpu) == 0);
}

/* 4x4 points of a strip, which has half of 49 tiles or more: inputs of all channels, and sums of
 * some panels. A direct one has only its first panel, whose reading nothing hides. */
static void what_nothing_hides_is_beside_weights(void **state)
{
    (void)state;
    struct cpu cpu = core_with("neoverse-n1", 3);
    struct problem problem = square(96, 14);
    double inputs = 49.0 * 16 * 96 * sizeof(float);
    struct cost cost = estimated(&convolution_winograd_2, &problem, &cpu);
    assert_true(cost.others >= inputs / 2 && cost.others <= 1.5 * inputs);
#if !NEO_PORTABLE
    problem = square(128, 7);
    cost = estimated(&convolution_gemm, &problem, &cpu);
    assert_true(cost.meanwhile == cost.cycles);
    assert_near(cost.others, cost.weights * LAYOUT_PANEL / 128, 1);
#endif
}

static void an_engine_tells_its_bandwidth(void **state)
{
    (void)state;
    neo_engine *engine;
    double bandwidth = 0;
    assert_int_equal(neo_engine_create(&engine), NEO_OK);
    const struct cpu *detected = engine->cpu;
    struct cpu cpu = core_with("neoverse-n1", 9.5);
    engine->cpu = &cpu;
    assert_int_equal(neo_engine_get_bandwidth(engine, &bandwidth), NEO_OK);
    assert_true(bandwidth == 9.5);
    cpu.bandwidth = 0;
    assert_int_equal(neo_engine_get_bandwidth(engine, &bandwidth), NEO_OK);
    assert_true(bandwidth == cpu.core->bandwidth);
    engine->cpu = detected;
    neo_engine_destroy(engine);
}

static char last_choice[256];

static void keep_choice(void *context, const char *line)
{
    (void)context;
    const char *choice = strstr(line, "create:choice,");
    if (choice)
        snprintf(last_choice, sizeof last_choice, "%s", choice);
}

/* The line that describing the problem with this processor writes. */
static const char *logged_choice(const struct problem *problem, const struct cpu *cpu)
{
    const neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                       .src = problem->tensors[SRC],
                                       .weights = problem->tensors[WEIGHTS],
                                       .dst = problem->tensors[DST],
                                       .strides = {1, 1},
                                       .padding_left = {1, 1},
                                       .padding_right = {1, 1}};
    uint32_t before = __atomic_load_n(&log_categories, __ATOMIC_RELAXED);
    neo_engine *engine;
    neo_primitive_desc *pd;
    assert_int_equal(neo_engine_create(&engine), NEO_OK);
    const struct cpu *detected = engine->cpu;
    engine->cpu = cpu;
    neo_set_log(keep_choice, NULL);
    __atomic_store_n(&log_categories, LOG_DISPATCH, __ATOMIC_RELAXED);
    neo_status status = neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL);
    __atomic_store_n(&log_categories, before, __ATOMIC_RELAXED);
    neo_set_log(NULL, NULL);
    assert_int_equal(status, NEO_OK);
    neo_primitive_desc_destroy(pd);
    engine->cpu = detected;
    neo_engine_destroy(engine);
    return last_choice;
}

/* What the chosen one takes, and the next one, each by products and by memory, at a bandwidth. */
static void the_log_says_why_something_was_chosen(void **state)
{
    (void)state;
    static const double ghz = 2.5, bandwidths[] = {3, 9};
    for (size_t i = 0; i < count_of(bandwidths); i++) {
        struct cpu cpu = core_with("neoverse-n1", bandwidths[i]);
        struct problem problem = square(128, 7);
        struct ranking ranking;
        char expected[256];
        selection_rank(&ranking, &problem, &cpu);
        const struct candidate *best = &ranking.serving[0], *next = &ranking.serving[1];
        snprintf(expected, sizeof expected,
                 "create:choice,convolution,%s: %.3g ms of products, %.3g of memory; "
                 "%s %.3g, %.3g (%g GB/s)",
                 best->algorithm->name, best->cost.cycles / (ghz * 1e6),
                 (best->cost.weights + best->cost.others) / (bandwidths[i] * 1e6),
                 next->algorithm->name, next->cost.cycles / (ghz * 1e6),
                 (next->cost.weights + next->cost.others) / (bandwidths[i] * 1e6), bandwidths[i]);
        assert_string_equal(logged_choice(&problem, &cpu), expected);
    }
}

/* Bytes of weights as the fastest algorithm keeps them. */
static size_t packed_bytes(struct problem *problem, const struct cpu *cpu)
{
    const struct algorithm *best = selection_best(problem, NULL, cpu).algorithm;
    best->choose(best, problem, cpu);
    return neo_memory_desc_size(&problem->tensors[WEIGHTS]);
}

/* ResNet-50's layers, so many of each. Winograd's weights are several times the plain ones. */
static void packed_weights_of_a_network_are_not_many_times_the_plain_ones(void **state)
{
    (void)state;
    static const struct {
        size_t layers;
        neo_dim ic, oc, size, kernel, stride;
    } rows[] = {
        {1, 3, 64, 224, 7, 2},    {1, 64, 64, 56, 1, 1},     {2, 256, 64, 56, 1, 1},
        {4, 64, 256, 56, 1, 1},   {3, 64, 64, 56, 3, 1},     {1, 256, 128, 56, 1, 1},
        {1, 128, 128, 56, 3, 2},  {1, 256, 512, 56, 1, 2},   {3, 512, 128, 28, 1, 1},
        {4, 128, 512, 28, 1, 1},  {3, 128, 128, 28, 3, 1},   {1, 512, 256, 28, 1, 1},
        {1, 256, 256, 28, 3, 2},  {1, 512, 1024, 28, 1, 2},  {5, 1024, 256, 14, 1, 1},
        {6, 256, 1024, 14, 1, 1}, {5, 256, 256, 14, 3, 1},   {1, 1024, 512, 14, 1, 1},
        {1, 512, 512, 14, 3, 2},  {1, 1024, 2048, 14, 1, 2}, {2, 2048, 512, 7, 1, 1},
        {3, 512, 2048, 7, 1, 1},  {2, 512, 512, 7, 3, 1},
    };
    struct cpu cpu = core_with("neoverse-n1", 0);
    size_t plain = 0, packed = 0, layers = 0;
    for (size_t i = 0; i < count_of(rows); i++) {
        struct problem problem =
            layer(rows[i].ic, rows[i].oc, rows[i].size, rows[i].kernel, rows[i].stride);
        neo_dim values = rows[i].ic * rows[i].oc * rows[i].kernel * rows[i].kernel;
        plain += rows[i].layers * (size_t)values * sizeof(float);
        packed += rows[i].layers * packed_bytes(&problem, &cpu);
        layers += rows[i].layers;
    }
    assert_int_equal(layers, 53);
    assert_true((double)packed <= 2.5 * (double)plain);
}

#if !NEO_PORTABLE
/* What a cycle simulator found fastest, or within 5 % of the fastest, on a core like Neoverse N1
 * with cold weights, where one core reads 3 GB/s (all cores of a server work) or 9 GB/s (one core
 * of a board does). */
static void the_fastest_with_cold_weights_is_chosen(void **state)
{
    (void)state;
    static const struct {
        neo_dim channels, size;
        double bandwidth;
        const struct algorithm *best;
    } rows[] = {
        {256, 14, 9, &convolution_winograd_4}, {256, 14, 3, &convolution_winograd_2},
        {512, 7, 9, &convolution_winograd_2},  {512, 7, 3, &convolution_gemm},
        {128, 7, 9, &convolution_winograd_2},  {128, 7, 3, &convolution_gemm},
        {64, 56, 3, &convolution_winograd_6},  {128, 28, 3, &convolution_winograd_6},
        {96, 14, 9, &convolution_winograd_4},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct cpu cpu = core_with("neoverse-n1", rows[i].bandwidth);
        struct problem problem = square(rows[i].channels, rows[i].size);
        const struct algorithm *best = selection_best(&problem, NULL, &cpu).algorithm;
        if (best != rows[i].best)
            fail_msg("%zu: %s", i, best->name);
    }
}

static double time_of(const struct ranking *ranking, const struct algorithm *algorithm)
{
    for (int i = 0; i < ranking->serving_count; i++)
        if (ranking->serving[i].algorithm == algorithm)
            return ranking->serving[i].time;
    return 0;
}

/* 3x3 of ResNet-50, VGG-16, a U-Net, and ten more: channels in, out, size. Where a direct one is
 * not chosen it would take longer by more than estimates err, so the choice is never slower than
 * that. */
static void winograd_is_chosen_by_a_margin(void **state)
{
    (void)state;
    static const double bandwidths[] = {3, 9, 12}, margin = 1.15;
    static const neo_dim rows[][3] = {
        {64, 64, 56},   {128, 128, 28},  {256, 256, 14}, {512, 512, 7},  {64, 64, 224},
        {64, 128, 112}, {128, 128, 112}, {128, 256, 56}, {256, 256, 56}, {256, 512, 28},
        {512, 512, 28}, {512, 512, 14},  {16, 16, 128},  {16, 32, 64},   {64, 64, 32},
        {128, 256, 8},  {256, 128, 16},  {32, 16, 128},  {96, 96, 14},   {96, 96, 28},
        {128, 128, 7},  {192, 192, 14},  {192, 320, 8},  {256, 256, 7},  {384, 384, 13},
        {64, 192, 28},  {160, 320, 10},  {320, 320, 16},
    };
    for (size_t i = 0; i < count_of(rows) * count_of(bandwidths); i++) {
        const neo_dim *row = rows[i / count_of(bandwidths)];
        struct cpu cpu = core_with("neoverse-n1", bandwidths[i % count_of(bandwidths)]);
        struct problem problem = layer(row[0], row[1], row[2], 3, 1);
        struct ranking ranking;
        selection_rank(&ranking, &problem, &cpu);
        const struct candidate *best = &ranking.serving[0];
        double direct = time_of(&ranking, &convolution_gemm);
        assert_true(direct > 0);
        if (best->algorithm != &convolution_gemm && direct < margin * best->time)
            fail_msg("%d to %d channels at %d: %s, but direct takes %.2f times that", (int)row[0],
                     (int)row[1], (int)row[2], best->algorithm->name, direct / best->time);
    }
}

/* A convolution of channels in, out, a size, a kernel's size and a stride (3 and 1 where they are
 * zero), or a product of rows by packed weights of so many columns and values. */
struct simulated {
    neo_dim sizes[5];
    double bandwidth;
    const struct algorithm *algorithm;
    double microseconds;
};

static neo_memory_desc matrix_of(neo_dim rows, neo_dim columns, const char *tag)
{
    neo_memory_desc desc;
    neo_dim dims[] = {rows, columns};
    assert_int_equal(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

static struct problem problem_of(const struct simulated *row)
{
    neo_dim m = row->sizes[0], n = row->sizes[1], k = row->sizes[2];
    neo_dim kernel = row->sizes[3], stride = row->sizes[4];
    if (row->algorithm != &matmul_gemm && row->algorithm != &matmul_direct)
        return layer(m, n, k, kernel ? kernel : 3, stride ? stride : 1);
    struct problem problem = {.operation = &matmul_operation};
    problem.tensors[SRC] = matrix_of(m, k, "ab");
    problem.tensors[WEIGHTS] = matrix_of(k, n, "any");
    problem.tensors[DST] = matrix_of(m, n, "ab");
    return problem;
}

/* No image is in a cache when a simulated call begins, nor the call's code and its plan; in a
 * network small images are. Transforms wait for all of them. */
static double estimated_microseconds(const struct simulated *row)
{
    enum { CODE = 32 * 1024 /* bytes, with plans */ };
    struct cpu cpu = core_with("neoverse-n1", row->bandwidth), small = cpu;
    small.l2_bytes = 0;
    struct problem problem = problem_of(row);
    struct cost cost = estimated(row->algorithm, &problem, &cpu);
    struct image_bytes all = cost_images(&problem, &small);
    const struct other_costs *costs = &core_costs(cpu.core)->other;
    bool transforms = layout_winograd_points(row->algorithm->weights_layout);
    if (cost_images(&problem, &cpu).read == 0)
        cost.others += transforms ? all.read + all.written
                                  : costs->images * all.read + costs->results * all.written;
    cost.others += CODE;
    return cost_time(&cost, &cpu) / (cpu.core->ghz * 1000);
}

/* What make perf-cycles printed for a core like Neoverse N1, cold weights. */
static void estimates_are_near_what_was_simulated(void **state)
{
    (void)state;
    static const struct simulated rows[] = {
        {{64, 64, 32}, 3, &convolution_winograd_4, 999.8},
        {{64, 64, 32}, 3, &convolution_winograd_6, 1016.0},
        {{96, 96, 14}, 3, &convolution_winograd_2, 633.4},
        {{96, 96, 14}, 3, &convolution_winograd_4, 636.7},
        {{96, 96, 14}, 9, &convolution_winograd_4, 339.4},
        {{96, 96, 14}, 9, &convolution_winograd_6, 409.3},
        {{96, 96, 14}, 12, &convolution_winograd_4, 341.3},
        {{96, 96, 14}, 12, &convolution_winograd_6, 399.3},
        {{96, 96, 28}, 3, &convolution_winograd_4, 1362.6},
        {{96, 96, 28}, 3, &convolution_winograd_6, 1306.4},
        {{128, 128, 7}, 3, &convolution_gemm, 412.3},
        {{128, 128, 7}, 9, &convolution_gemm, 362.2},
        {{128, 128, 7}, 9, &convolution_winograd_2, 299.7},
        {{128, 256, 8}, 3, &convolution_gemm, 1034.8},
        {{128, 256, 8}, 3, &convolution_winograd_2, 880},
        {{128, 128, 28}, 3, &convolution_winograd_4, 2352.3},
        {{128, 128, 28}, 3, &convolution_winograd_6, 2137.3},
        {{192, 192, 14}, 3, &convolution_winograd_2, 2064.6},
        {{192, 192, 14}, 3, &convolution_winograd_4, 2089.3},
        {{256, 256, 7}, 3, &convolution_gemm, 1562.3},
        {{256, 256, 7}, 3, &convolution_winograd_2, 1630.5},
        {{256, 256, 14}, 3, &convolution_winograd_2, 3503.4},
        {{256, 256, 14}, 3, &convolution_winograd_4, 3626.7},
        {{256, 128, 16}, 9, &convolution_winograd_4, 1221.0},
        {{256, 128, 16}, 9, &convolution_winograd_6, 1438.0},
        {{256, 128, 16}, 12, &convolution_winograd_4, 1253.5},
        {{256, 128, 16}, 12, &convolution_winograd_6, 1419.6},
        {{160, 320, 10}, 9, &convolution_winograd_4, 1089.6},
        {{160, 320, 10}, 9, &convolution_winograd_2, 1229.7},
        {{320, 320, 16}, 9, &convolution_winograd_4, 3537.3},
        {{320, 320, 16}, 9, &convolution_winograd_6, 3962.8},
        {{320, 320, 16}, 12, &convolution_winograd_4, 3605.2},
        {{320, 320, 16}, 12, &convolution_winograd_6, 4257.9},
        {{384, 384, 13}, 3, &convolution_winograd_2, 7582.9},
        {{384, 384, 13}, 3, &convolution_winograd_4, 7821.7},
        {{384, 384, 13}, 12, &convolution_winograd_4, 4092.5},
        {{384, 384, 13}, 12, &convolution_winograd_6, 5413.7},
        {{512, 96, 7}, 3, &convolution_gemm, 1163.2},
        {{512, 512, 7}, 3, &convolution_gemm, 6035.3},
        {{512, 512, 14}, 3, &convolution_winograd_2, 13454.3},
        {{512, 512, 7}, 3, &convolution_winograd_2, 5999.3},
        {{64, 64, 56}, 3, &convolution_winograd_6, 2364.9},
        {{256, 64, 56, 1, 1}, 3, &convolution_matmul, 3237.0},
        {{64, 256, 56, 1, 1}, 3, &convolution_matmul, 2980.7},
        {{256, 128, 56, 1, 1}, 3, &convolution_matmul, 5908.3},
        {{512, 128, 28, 1, 1}, 3, &convolution_matmul, 2956.2},
        {{128, 512, 28, 1, 1}, 3, &convolution_matmul, 2810.7},
        {{512, 256, 28, 1, 1}, 3, &convolution_matmul, 5689.7},
        {{1024, 256, 14, 1, 1}, 3, &convolution_gemm, 2846.7},
        {{256, 1024, 14, 1, 1}, 3, &convolution_gemm, 2682.0},
        {{1024, 512, 14, 1, 1}, 3, &convolution_gemm, 5671.3},
        {{512, 2048, 7, 1, 1}, 3, &convolution_gemm, 2765.0},
        {{256, 512, 56, 1, 2}, 3, &convolution_gemm, 5620.4},
        {{512, 1024, 28, 1, 2}, 3, &convolution_gemm, 5557.5},
        {{1024, 2048, 14, 1, 2}, 3, &convolution_gemm, 5459.7},
        {{128, 128, 56, 3, 2}, 3, &convolution_gemm, 6375.3},
        {{256, 256, 28, 3, 2}, 3, &convolution_gemm, 6068.4},
        {{512, 512, 14, 3, 2}, 3, &convolution_gemm, 6104.6},
        {{16, 16, 128}, 3, &convolution_gemm, 2562.0},
        {{16, 16, 128}, 3, &convolution_winograd_4, 1998.6},
        {{16, 16, 128}, 3, &convolution_winograd_2, 3146.8},
        {{3, 64, 224, 7, 2}, 3, &convolution_rows, 6270.9},
        {{64, 64, 56, 1, 1}, 3, &convolution_matmul, 1025},
        {{2048, 512, 7, 1, 1}, 3, &convolution_gemm, 2883},
        {{2048, 512, 7, 1, 1}, 9, &convolution_gemm, 2724.1},
        {{512, 512, 7}, 9, &convolution_winograd_2, 3816.5},
        {{8, 1024, 1024}, 3, &matmul_gemm, 1310.4},
        {{8, 1024, 1024}, 9, &matmul_gemm, 494.2},
        {{8, 1024, 4096}, 3, &matmul_gemm, 5197.0},
        {{8, 1024, 4096}, 9, &matmul_gemm, 1969.2},
        {{16, 1024, 1024}, 3, &matmul_gemm, 1355.7},
        {{16, 1024, 1024}, 9, &matmul_gemm, 933.2},
        {{24, 512, 512}, 3, &matmul_gemm, 387.5},
        {{24, 512, 512}, 9, &matmul_gemm, 343.6},
        {{32, 512, 512}, 3, &matmul_gemm, 486.5},
        {{32, 512, 512}, 9, &matmul_gemm, 455.2},
        {{32, 320, 1024}, 3, &matmul_gemm, 626.5},
        {{32, 320, 1024}, 9, &matmul_gemm, 568.7},
        {{32, 1024, 1024}, 3, &matmul_gemm, 1885.4},
        {{32, 1024, 1024}, 9, &matmul_gemm, 1804.9},
        {{64, 64, 64}, 3, &matmul_direct, 36.5},
        {{64, 64, 64}, 9, &matmul_direct, 20.1},
        {{128, 128, 128}, 3, &matmul_gemm, 157.4},
        {{256, 256, 256}, 3, &matmul_gemm, 996.9},
        {{320, 320, 320}, 3, &matmul_gemm, 1889.8},
        {{384, 384, 384}, 3, &matmul_gemm, 3218.5},
        {{512, 512, 512}, 3, &matmul_gemm, 7397.4},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        double estimated = estimated_microseconds(&rows[i]);
        if (fabs(estimated / rows[i].microseconds - 1) > 0.1)
            fail_msg("row %zu, %s: %.1f of %.1f us", i, rows[i].algorithm->name, estimated,
                     rows[i].microseconds);
    }
}

/* Weights that may be rounded are packed as bf16. */
static void rounded_weights_are_read_as_they_are_kept(void **state)
{
    (void)state;
    struct cpu cpu = core_with("neoverse-n2", 3);
    struct problem problem = square(64, 28);
    double plain = 64.0 * 64 * 9 * sizeof(float);
    cpu.features |= CPU_NEON | CPU_BF16;
    assert_true(estimated(&convolution_typed, &problem, &cpu).weights == plain);
    problem.attributes.fpmath = NEO_FPMATH_BF16;
    assert_true(estimated(&convolution_typed, &problem, &cpu).weights == plain / 2);
    assert_true(estimated(&convolution_gemm, &problem, &cpu).weights == plain);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winograd_counts_its_weights_as_they_are_kept),
        cmocka_unit_test(memory_takes_time_beside_products),
        cmocka_unit_test(what_nothing_hides_is_beside_weights),
        cmocka_unit_test(an_engine_tells_its_bandwidth),
        cmocka_unit_test(the_log_says_why_something_was_chosen),
        cmocka_unit_test(packed_weights_of_a_network_are_not_many_times_the_plain_ones),
#if !NEO_PORTABLE
        cmocka_unit_test(the_fastest_with_cold_weights_is_chosen),
        cmocka_unit_test(winograd_is_chosen_by_a_margin),
        cmocka_unit_test(estimates_are_near_what_was_simulated),
        cmocka_unit_test(rounded_weights_are_read_as_they_are_kept),
#endif
    };
    return cmocka_run_group_tests_name("convolution_cost", tests, NULL, NULL);
}
