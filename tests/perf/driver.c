/* The main program of every driver: stdin to measured regions.
 *
 *   DRIVER [--time | --cycles | --warm-cycles]
 *
 * Input, one problem a line (shapes.py writes them; batches as 4x8; transposed: OPERAND_* bits):
 *
 *   matmul M N K PACKED TRANSPOSED SRC_BATCH WEIGHTS_BATCH
 *   conv G MB IC OC ID IH IW OD OH OW KD KH KW SD SH SW PD PH PW DD DH DW SPATIAL CHANNELS_LAST
 *   operation NAME MB CHANNELS HEIGHT WIDTH KERNEL STRIDE PAD
 *
 * PERF_TYPES=src:weights:dst asks for other types than f32, as s8:s8:s8. PERF_GROUP=n, where
 * weights are integers and src is not, asks for a scale for each n rows of a column (0: one for
 * all), and for src as integers within the call.
 *
 * Output, one line a problem: the largest error among sampled elements, or why there is no region.
 *
 *   ok ERROR
 *   refused REASON
 *
 * With --cycles, or --warm-cycles, for the cycle simulator (cycles.py): one problem, and of one
 * call whose weights are in no cache, or are,
 *
 *   ok ERROR NANOSECONDS IMPLEMENTATION WEIGHTS_BYTES
 *
 * With --time, for real hardware: no regions, but a first line, and for each problem the shortest
 * of many calls.
 *
 *   peak VECTOR_MACS_PER_NS clock CYCLES_PER_NS events yes|no: REASON
 *   ok ERROR NANOSECONDS CYCLES INSTRUCTIONS L1_MISSES LAST_LEVEL_MISSES
 */
#include "tests/perf/hardware.h"
#include "tests/perf/problem.h"
#include "tests/perf/region.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef __aarch64__
#error "drivers are AArch64 programs"
#endif

/* Above this many products a call is its own warm-up: what happens once no longer shows. */
#define WARM_UP_LIMIT ((size_t)1 << 27)

/* ---- measure ---- */

enum mode { COUNTED, TIMED, CYCLES, WARM_CYCLES };

static enum mode mode_of(const char *option)
{
    static const char *const options[] = {"", "--time", "--cycles", "--warm-cycles"};
    enum mode mode = WARM_CYCLES;
    while (mode > COUNTED && strcmp(option, options[mode]) != 0)
        mode--;
    return mode;
}

static double checked(const struct problem *problem, void *state)
{
    if (peer.fetch)
        peer.fetch(state);
    return problem_largest_error(problem);
}

static void run_in_region(const struct problem *problem, void *state)
{
    if (problem_products(problem) < WARM_UP_LIMIT)
        peer.run(state);
    region_begin();
    peer.run(state);
    region_end();
}

static void run_timed(const struct problem *problem, void *state)
{
    struct hardware_sample sample = hardware_time(peer.run, state);
    printf("ok %g %llu", checked(problem, state), (unsigned long long)sample.ns);
    for (size_t i = 0; i < HARDWARE_EVENTS; i++)
        printf(" %llu", (unsigned long long)sample.events[i]);
    printf("\n");
}

/* ---- the cycle simulator ---- */

/* More than its caches hold, read and not written; volatile, or the compiler knows that it is all
 * zeros and reads nothing. */
static void fill_caches(void)
{
    enum { BYTES = 24 << 20, LINE = 64 };
    static volatile unsigned char other[BYTES];
    for (size_t i = 0; i < BYTES; i += LINE)
        (void)other[i];
}

static long long simulated_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* From here on the simulator runs cycle by cycle; it takes every other core for broken. */
static void begin_cycles(void)
{
    __asm__ volatile(".inst 0xff520110" ::: "memory");
}

static size_t weights_bytes(const struct problem *problem, void *state)
{
    return peer.weights_bytes ? peer.weights_bytes(state) : problem->weights_size * sizeof(float);
}

/* Results are checked before, where the simulator is quick: the call that counts has the same. */
static void run_simulated(const struct problem *problem, void *state, bool cold)
{
    peer.run(state);
    double error = checked(problem, state);
    if (cold)
        fill_caches();
    else
        peer.run(state);
    begin_cycles();
    long long start = simulated_ns();
    peer.run(state);
    long long end = simulated_ns();
    printf("ok %g %lld %s %zu\n", error, end - start,
           peer.implementation ? peer.implementation(state) : peer.name,
           weights_bytes(problem, state));
    fflush(stdout);
    _exit(0); /* what is left would be simulated, too */
}

static void print_machine(void)
{
    const char *refusal = hardware_refusal();
    hardware_stay();
    printf("peak %g clock %g events %s%s\n", hardware_peak(), hardware_clock(),
           refusal ? "no: " : "yes", refusal ? refusal : "");
    fflush(stdout);
}

static void measure(struct problem *problem, enum mode mode)
{
    void *state = NULL;
    problem_set_types(problem);
    problem_allocate_arrays(problem);
    const char *why_not = peer.prepare(problem, &state);
    if (why_not) {
        printf("refused %s\n", why_not);
    } else if (mode == TIMED) {
        run_timed(problem, state);
    } else if (mode == CYCLES || mode == WARM_CYCLES) {
        run_simulated(problem, state, mode == CYCLES);
    } else {
        run_in_region(problem, state);
        printf("ok %g\n", checked(problem, state));
    }
    fflush(stdout);
    peer.release(state);
    problem_free_arrays(problem);
}

int main(int argc, char **argv)
{
    enum mode mode = mode_of(argc > 1 ? argv[1] : "");
    const char *why_not = peer.start();
    if (why_not) {
        fprintf(stderr, "%s: %s\n", peer.name, why_not);
        return 1;
    }
    if (mode == TIMED)
        print_machine();
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        struct problem problem;
        if (!problem_parse(&problem, line)) {
            fprintf(stderr, "%s: not a problem: %s", peer.name, line);
            return 1;
        }
        measure(&problem, mode);
    }
    return 0;
}
