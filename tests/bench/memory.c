/* What memory planning and shape prediction achieve and cost.
 *
 *   make bench-memory [TARGET=portable]
 *
 * Plans are in bytes and do not depend on the machine; times are those of the build that runs, so
 * under an emulator they are the emulator's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "neoprene/neoprene.h"
#include "src/core/log.h"
#include "src/memory/plan/check.h"
#include "src/memory/plan/interval_plan.h"
#include "tests/support/cases/networks.h"

#define RANDOM_NETWORKS 2000
#define RANDOM_TENSORS 50
#define STEPS 1000
#define ROW 64

typedef struct outcome {
    plan_report report;
    double ms;
} outcome;

/* Plans, times and verifies; ends the program when a plan is wrong. */
static outcome plan(const plan_box *boxes, size_t count)
{
    outcome o;
    plan_fault fault = {"memory is exhausted", 0, 0};
    size_t *offsets = calloc(count, sizeof *offsets);
    uint64_t begin = log_now_ns();
    neo_status status =
        offsets ? plan_intervals(boxes, count, offsets, &o.report) : NEO_OUT_OF_MEMORY;
    o.ms = (double)(log_now_ns() - begin) * 1e-6;
    if (status == NEO_OK)
        status = plan_check_intervals(boxes, count, offsets, o.report.bytes, &fault);
    if (status != NEO_OK) {
        fprintf(stderr, "a plan failed: %s: %zu and %zu\n", fault.text, fault.first, fault.second);
        exit(1);
    }
    free(offsets);
    return o;
}

static double ratio_of(const plan_report *report)
{
    return (double)report->bytes / (double)report->lower_bound;
}

static void bench_networks(void)
{
    static plan_box boxes[NETWORK_MAX_BOXES];
    printf("%-14s %6s %12s %12s %8s %12s %8s  %s\n", "network", "boxes", "planned", "bound",
           "ratio", "no reuse", "ms", "found by");
    for (size_t i = 0; i < network_shape_count; i++) {
        size_t count = network_shapes[i].fill(boxes);
        outcome o = plan(boxes, count);
        printf("%-14s %6zu %12zu %12zu %8.4f %12zu %8.2f  %s\n", network_shapes[i].name, count,
               o.report.bytes, o.report.lower_bound, ratio_of(&o.report), o.report.no_reuse_bytes,
               o.ms, o.report.method);
    }
}

static void bench_random(void)
{
    static plan_box boxes[RANDOM_TENSORS];
    double sum = 0, worst = 0, ms = 0, reuse = 0;
    int at_bound = 0;
    uint64_t seed = 1;
    for (int i = 0; i < RANDOM_NETWORKS; i++) {
        network_random(boxes, RANDOM_TENSORS, &seed);
        outcome o = plan(boxes, RANDOM_TENSORS);
        double ratio = ratio_of(&o.report);
        sum += ratio;
        worst = ratio > worst ? ratio : worst;
        ms += o.ms;
        reuse += (double)o.report.no_reuse_bytes / (double)o.report.lower_bound;
        at_bound += o.report.bytes == o.report.lower_bound;
    }
    printf("\n%d random networks of %d tensors: planned / bound: mean %.5f, worst %.4f, %d at the "
           "bound; no reuse: mean %.2f; %.2f ms each\n",
           RANDOM_NETWORKS, RANDOM_TENSORS, sum / RANDOM_NETWORKS, worst, at_bound,
           reuse / RANDOM_NETWORKS, ms / RANDOM_NETWORKS);
}

static void bench_sizes(void)
{
    static const size_t counts[] = {100, 1000, 10000}, lives[] = {10, 100, 1000};
    printf("\n%-28s %10s %10s\n", "boxes, steps they live", "ms", "ratio");
    for (size_t i = 0; i < 3; i++) {
        plan_box *boxes = calloc(counts[i], sizeof *boxes);
        for (size_t k = 0; boxes && k <= i; k++) {
            uint64_t seed = 9;
            network_random_lives(boxes, counts[i], lives[k], &seed);
            outcome o = plan(boxes, counts[i]);
            printf("%6zu, up to %-14zu %10.1f %10.4f\n", counts[i], lives[k], o.ms,
                   ratio_of(&o.report));
        }
        free(boxes);
    }
}

/* ---- whole networks: blocks of four branches that join, through the public functions ---- */

static neo_status do_nothing(const neo_node_call *call)
{
    (void)call;
    return NEO_OK;
}

static double processor_ms(void)
{
    return (double)clock() * 1000 / CLOCKS_PER_SEC;
}

static int add_step(neo_network *net, int from, int from2, int number)
{
    static const neo_dim sizes[] = {64, 1000, 300, 5000, 128};
    neo_tensor t = {.kind = number ? NEO_TENSOR_INTERMEDIATE : NEO_TENSOR_INPUT};
    char name[24];
    snprintf(name, sizeof name, "t%d", number);
    t.name = name;
    neo_memory_desc_init_tag(&t.desc, 1, &sizes[number % 5], NEO_F32, "a");
    int tensor = -1;
    neo_status status = neo_network_add_tensor(net, &t, &tensor);
    neo_node_arg args[] = {{1, tensor, NEO_WRITES}, {2, from, NEO_READS}, {3, from2, NEO_READS}};
    neo_node node = {.name = name,
                     .count = from2 >= 0 ? 3 : 2,
                     .args = args,
                     .function = do_nothing,
                     .workspace_bytes = number % 3 ? 0 : 2048};
    if (status == NEO_OK && number)
        status = neo_network_add_node(net, &node, NULL);
    if (status != NEO_OK)
        exit(1);
    return tensor;
}

static void bench_finalize(neo_engine *engine, int nodes, neo_network_order order)
{
    neo_network *net;
    neo_network_options options = {.order = order};
    neo_network_report report;
    if (neo_network_create(&net, engine, &options) != NEO_OK)
        exit(1);
    double begin = processor_ms();
    int x = add_step(net, -1, -1, 0), number = 1;
    while (number + 7 <= nodes) {
        int branches[4];
        for (int i = 0; i < 4; i++)
            branches[i] = add_step(net, x, -1, number++);
        int left = add_step(net, branches[0], branches[1], number++);
        int right = add_step(net, branches[2], branches[3], number++);
        x = add_step(net, left, right, number++);
    }
    double added = processor_ms();
    if (neo_network_finalize(net) != NEO_OK || neo_network_get_report(net, &report) != NEO_OK)
        exit(1);
    printf("%6d %-13s %10.1f %12.1f %10.4f\n", nodes,
           order == NEO_NETWORK_IN_ORDER ? "in order" : "out of order", added - begin,
           processor_ms() - added, (double)report.planned_bytes / (double)report.lower_bound_bytes);
    neo_network_destroy(net);
}

static void bench_finalizing(void)
{
    neo_engine *engine;
    if (neo_engine_create(&engine) != NEO_OK)
        exit(1);
    printf("\n%-20s %10s %12s %10s\n", "nodes", "add, ms", "finalize, ms", "ratio");
    for (int nodes = 100; nodes <= 10000; nodes *= 10)
        for (int order = 0; order < 2; order++)
            bench_finalize(engine, nodes, (neo_network_order)order);
    neo_engine_destroy(engine);
}

/* ---- decoding: a tensor of `size` rows grows at every step ---- */

typedef struct mode {
    const char *name;
    int64_t iterations;
    double ratio;
    uint32_t flags;
} mode;

static const mode modes[] = {
    {"off", 0, 1.0, 0},
    {"compatible", 10, 1.1, NEO_PREDICTOR_ROW_BOUND | NEO_PREDICTOR_ALWAYS_PAD},
    {"default", 10, 1.1, 0},
    {"geometric", 10, 1.1, NEO_PREDICTOR_GEOMETRIC},
};

static neo_shape_predictor *make_predictor(const mode *with)
{
    neo_shape_predictor *predictor;
    neo_shape_predictor_settings settings;
    neo_shape_predictor_get_default_settings(&settings);
    settings.iterations = with->iterations;
    settings.ratio = with->ratio;
    settings.flags = with->flags;
    if (neo_shape_predictor_create(&predictor, &settings) != NEO_OK)
        exit(1);
    return predictor;
}

typedef struct decoding {
    uint64_t capacity, reallocations;
    double slack, worst_slack; /* unused bytes per needed byte: the mean, the most */
} decoding;

static void decode_step(neo_shape_predictor *predictor, neo_dim size, decoding *d)
{
    neo_shape shape = {2, {size, ROW}}, predicted;
    uint64_t needed = (uint64_t)size * ROW * 4;
    int reuse = neo_shape_predictor_can_reuse_buffer(predictor, "cache", 0, d->capacity, needed);
    int found = neo_shape_predictor_predict_preallocation_shape(predictor, "cache", &shape, 32,
                                                                reuse, &predicted);
    if (!reuse) {
        uint64_t bytes = found ? (uint64_t)predicted.dims[0] * (uint64_t)predicted.dims[1] * 4 : 0;
        d->capacity = bytes > needed ? bytes : needed;
        d->reallocations++;
    }
    double slack = (double)d->capacity / (double)needed - 1;
    d->slack += slack / STEPS;
    d->worst_slack = slack > d->worst_slack ? slack : d->worst_slack;
}

static void bench_decoding(void)
{
    printf("\n%d decoding steps   %14s %12s %12s\n", STEPS, "reallocations", "mean slack",
           "most slack");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        for (neo_dim by = 1; by <= 3; by++) {
            neo_shape_predictor *predictor = make_predictor(&modes[i]);
            decoding d = {0, 0, 0, 0};
            for (neo_dim step = 0; step < STEPS; step++)
                decode_step(predictor, 1 + step * by, &d);
            printf("%-12s +%d a step %14" PRIu64 " %11.1f%% %11.1f%%\n", modes[i].name, (int)by,
                   d.reallocations, 100 * d.slack, 100 * d.worst_slack);
            neo_shape_predictor_destroy(predictor);
        }
    }
}

int main(void)
{
    bench_networks();
    bench_random();
    bench_sizes();
    bench_finalizing();
    bench_decoding();
    return 0;
}
