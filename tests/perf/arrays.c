/* Memory for problems and libraries: where arrays begin, and what is in them. */
#include "tests/perf/problem.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *driver_allocate(size_t bytes)
{
    size_t rounded = (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, rounded ? rounded : 64);
    if (!memory) {
        fprintf(stderr, "driver: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

float *driver_floats(size_t count)
{
    return driver_allocate(count * sizeof(float));
}

/* Small integers from least on: all sums are exact, so that a direct method must hit the result.
 * They are as good as random, and those of src and weights have nothing to do with each other: sums
 * grow by the root of their products only, and types of few bits hold them. */
static void fill(float *values, size_t count, uint32_t seed, enum driver_type type)
{
    int least = type == DRIVER_U8 ? 0 : -4;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = ((uint32_t)i + seed) * 0x9e3779b1u;
        bits = (bits ^ bits >> 15) * 0x85ebca6bu;
        values[i] = (float)((int)((bits >> 16) * 9 >> 16) + least);
    }
}

enum { SRC, WEIGHTS, DST };

/* Values that an array begins later by: PERF_PLACEMENT=n moves each by so many lines, up to as many
 * as a way of L2 has, and what a library allocates afterwards by all of them. Distances between
 * arrays, too, are others for each n, on the places of L1 and of L2. */
static size_t shift_of(int array)
{
    static const size_t steps[] = {[SRC] = 1171, [WEIGHTS] = 683, [DST] = 331};
    enum { PLACES = 2048, LINE = 16 };
    const char *n = getenv("PERF_PLACEMENT");
    return n ? strtoul(n, NULL, 10) * steps[array] % PLACES * LINE : 0;
}

static float *allocate_array(size_t count, int array)
{
    return driver_floats(count + shift_of(array)) + shift_of(array);
}

static void free_array(float *values, int array)
{
    free(values - shift_of(array));
}

static void make_positive(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = fabsf(values[i]) + 1;
}

void problem_allocate_arrays(struct problem *problem)
{
    problem->src = allocate_array(problem->src_size, SRC);
    problem->weights = allocate_array(problem->weights_size, WEIGHTS);
    problem->dst = allocate_array(problem->dst_size, DST);
    fill(problem->src, problem->src_size, 1, problem->src_type);
    fill(problem->weights, problem->weights_size, 1 << 30, problem->weights_type);
    if (problem->kind == PROBLEM_OPERATION && problem->operation.operation == OPERATION_BATCH_NORM)
        make_positive(problem->weights + problem->weights_size / 4 * 3, problem->weights_size / 4);
    memset(problem->dst, 0, problem->dst_size * sizeof(float));
}

void problem_free_arrays(struct problem *problem)
{
    free_array(problem->src, SRC);
    free_array(problem->weights, WEIGHTS);
    free_array(problem->dst, DST);
}
