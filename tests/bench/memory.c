/* What memory planning and shape prediction achieve and cost.
 *
 *   make bench-memory [TARGET=portable]
 *
 * Plans are in bytes and do not depend on the machine; times are those of the build that runs, so
 * under an emulator they are the emulator's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "neoprene/shape_predictor.h"
#include "src/core/log.h"
#include "src/memory/interval_plan.h"
#include "src/memory/plan_check.h"
#include "tests/support/networks.h"

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
    bench_decoding();
    return 0;
}
