/* Costs: cycles and bytes, and the time that both take. */
#include "src/primitive/cost.h"

#include <math.h>

#include "arch/costs.h"
#include "src/core/checked.h"
#include "src/core/data_type.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

enum { SPATIAL = 2 /* dimensions before these, in src and dst */ };

/* How many values are kept for each tap along a dimension of so many taps, whose result has `out`
 * values: one for each point of a tile, but no more than the image has. */
static double values_for_tap(double points, double taps, double out)
{
    return taps > 1 ? fmin(points, out + taps - 1) / taps : 1;
}

/* By how much the layout that the algorithm wants is larger than plain weights. */
static double growth(const struct algorithm *algorithm, const struct problem *problem)
{
    size_t points = layout_winograd_points(algorithm->weights_layout);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *dst = &problem->tensors[DST];
    double all = 1;
    for (int i = SPATIAL; points && i < dst->ndims; i++)
        all *=
            values_for_tap((double)points, (double)weights->dims[weights->ndims - dst->ndims + i],
                           (double)dst->dims[i]);
    return all;
}

/* 0 for sizes that are not known yet. */
static double elements_of(const neo_memory_desc *desc)
{
    double count = desc->ndims ? 1 : 0;
    for (int i = 0; i < desc->ndims; i++)
        count *= desc->dims[i] == NEO_RUNTIME_DIM ? 0 : (double)desc->dims[i];
    return count;
}

static double bytes_of(const neo_memory_desc *desc)
{
    return elements_of(desc) * (double)data_type_bits(desc->data_type) / 8;
}

static double weights_bytes(const struct algorithm *algorithm, const struct problem *problem,
                            const struct cpu *cpu)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    double elements = elements_of(weights);
    double bits = algorithm->weight_bits ? algorithm->weight_bits(algorithm, problem, cpu)
                                         : (double)data_type_bits(weights->data_type);
    return elements > 0 ? elements * bits / 8 * growth(algorithm, problem) : 0;
}

/* Beside kernels of vectors. Nested algorithms' costs have that in them. */
static double times_as_long(const struct algorithm *algorithm, const struct cpu *cpu)
{
    bool has_vectors = cpu->features & CPU_NEON || algorithm->by_vectors || algorithm->nest;
    return has_vectors ? 1 : core_costs(cpu->core)->other.loops;
}

/* The part of src that is read along a dimension: all of it but where strides leave pixels out. */
static double part_along(const struct problem *problem, int d)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    neo_dim taps = weights->dims[weights->ndims - dst->ndims + d];
    return src->dims[d] > 0 ? fmin((double)dst->dims[d] * (double)taps / (double)src->dims[d], 1)
                            : 1;
}

/* Only convolutions have weights and strides, and no more dimensions than strides. */
static double part_read(const struct problem *problem)
{
    double part = 1;
    int strides = problem->tensors[WEIGHTS].ndims ? (int)count_of(problem->window.strides) : 0;
    for (int i = 0; i < strides; i++)
        if (problem->window.strides[i] > 1)
            part *= part_along(problem, SPATIAL + i);
    return part;
}

struct image_bytes cost_images(const struct problem *problem, const struct cpu *cpu)
{
    struct image_bytes images = {.read = bytes_of(&problem->tensors[SRC]) * part_read(problem),
                                 .written = bytes_of(&problem->tensors[DST])};
    bool stay = images.read + images.written <= (double)cpu->l2_bytes;
    return stay ? (struct image_bytes){0, 0} : images;
}

struct cost cost_of(const struct algorithm *algorithm, const struct problem *problem,
                    const struct cpu *cpu, double cycles)
{
    const struct other_costs *costs = &core_costs(cpu->core)->other;
    struct image_bytes images = cost_images(problem, cpu);
    struct cost cost = {
        .cycles = cycles * times_as_long(algorithm, cpu),
        .weights = weights_bytes(algorithm, problem, cpu),
        .others = costs->images * images.read + costs->results * images.written,
    };
    if (algorithm->memory)
        algorithm->memory(algorithm, problem, cpu, &cost);
    return cost;
}

static double reading_cycles(double bytes, const struct cpu *cpu)
{
    double rate = cpu_bandwidth(cpu);
    return rate > 0 ? bytes / rate * cpu->core->ghz : 0;
}

/* Where reading is the longer one, memory is never idle; else products wait for a part of it. */
static double both(const struct core *core, double products, double reading)
{
    return fmax(reading, products + core_costs(core)->other.waiting * reading);
}

/* A core waits for no more than some lines at a time: what it fetches while it multiplies comes one
 * line after the other, however many memory could send. */
static double fetching_cycles(double bytes, const struct cpu *cpu)
{
    double line = core_costs(cpu->core)->other.fetched * cpu->core->slowness;
    return fmax(reading_cycles(bytes, cpu), bytes / fmax((double)cpu->line_bytes, 1) * line);
}

double cost_time(const struct cost *cost, const struct cpu *cpu)
{
    double weights = cost->meanwhile > 0 ? fetching_cycles(cost->weights, cpu)
                                         : reading_cycles(cost->weights, cpu);
    double alone = cost->cycles - cost->meanwhile + reading_cycles(cost->others, cpu);
    return alone + both(cpu->core, cost->meanwhile, weights);
}

struct candidate candidate_of(const struct algorithm *algorithm, const struct problem *problem,
                              const struct cpu *cpu, double cycles)
{
    struct cost cost = cost_of(algorithm, problem, cpu, cycles);
    return (struct candidate){algorithm, cost, cost_time(&cost, cpu)};
}

static double milliseconds(double cycles, const struct cpu *cpu)
{
    return cpu->core->ghz > 0 ? cycles / (cpu->core->ghz * 1e6) : 0;
}

double cost_compute_ms(const struct cost *cost, const struct cpu *cpu)
{
    return milliseconds(cost->cycles, cpu);
}

double cost_memory_ms(const struct cost *cost, const struct cpu *cpu)
{
    return milliseconds(reading_cycles(cost->weights + cost->others, cpu), cpu);
}
