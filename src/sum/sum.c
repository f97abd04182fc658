/* The sum of tensors. */
#include "neoprene/sum.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/elementwise/f32/eltwise.h"
#include "src/core/checked.h"
#include "src/lines/map.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

struct sum_parameters {
    float scales[NEO_MAX_SOURCES];
};

struct sum_plan {
    struct map map; /* first */
    struct sum_parameters parameters;
    eltwise_f32_fn *linear;
    sum_f32_fn *add;
};

static const char *sum_check(struct problem *problem, bool *unsupported)
{
    (void)unsupported;
    for (int i = 0; i < problem->extra_count; i++) {
        const char *wrong = lines_check_same(problem, TENSOR_COUNT + i);
        if (wrong)
            return wrong;
        if (problem->extras[i].desc.format_kind == NEO_FORMAT_ANY)
            return "a source is `any`";
    }
    return NULL;
}

static void sum_choose(const struct algorithm *self, struct problem *problem, const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (problem->tensors[DST].format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(&problem->tensors[DST], &problem->extras[0].desc);
}

static double sum_estimate(const struct algorithm *self, const struct problem *problem,
                           const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 2 * (double)problem->extra_count);
}

static void sum_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct sum_plan *mine = plan;
    uint8_t sources[MAX_EXTRAS];
    for (int i = 0; i < problem->extra_count; i++)
        sources[i] = (uint8_t)(TENSOR_COUNT + i);
    memcpy(&mine->parameters, problem->parameters, sizeof mine->parameters);
    mine->linear = eltwise_f32_find(cpu->features, ELTWISE_F32_LINEAR)->run;
    mine->add = sum_f32_find(cpu->features)->run;
    map_init(&mine->map, problem, cpu, sources, problem->extra_count, false);
}

static const char *sum_kernel(const void *plan)
{
    (void)plan;
    return "sum_f32";
}

static void sum_step(const struct map_chunk *chunk, size_t count, float *out)
{
    const struct sum_plan *plan = (const void *)chunk->map;
    const float *scales = plan->parameters.scales;
    float buffer[LINE_MOST];
    plan->linear(count, map_source(chunk, 0, buffer), out, scales[0], 0);
    for (int i = 1; i < chunk->map->source_count; i++)
        plan->add(count, out, map_source(chunk, i, buffer), scales[i], 0, out);
}

static void sum_run(const void *plan, const struct execution *execution)
{
    map_run(plan, execution, sum_step);
}

static const struct algorithm sum_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = sum_choose,
    .estimate = sum_estimate,
    .plan = sum_plan,
    .plan_bytes = sizeof(struct sum_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = sum_kernel,
    .run = sum_run,
};

static const struct algorithm *const sum_algorithms[] = {&sum_lines};

static const struct operation sum_operation = {
    .name = "sum",
    .parameter_bytes = sizeof(struct sum_parameters),
    .takes_all_types = true,
    .in_place = true,
    .check = sum_check,
    .algorithms = sum_algorithms,
    .algorithm_count = count_of(sum_algorithms),
    .describe = lines_describe,
};

neo_status neo_sum_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                         const neo_memory_desc *dst, int count, const float *scales,
                                         const neo_memory_desc *sources,
                                         const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !dst || !sources);
    if (status != NEO_OK)
        return status;
    struct extra *extras;
    status = lines_sources(__func__, &extras, count, sources);
    if (status != NEO_OK)
        return status;
    struct sum_parameters parameters = {{0}};
    for (int i = 0; i < count; i++)
        parameters.scales[i] = scales ? scales[i] : 1;
    struct description description = {
        .operation = &sum_operation,
        .tensors = {[DST] = dst},
        .attributes = attributes,
        .extra_count = count,
        .extras = extras,
        .parameters = &parameters,
    };
    status = primitive_desc_create(out, engine, &description);
    free(extras);
    return status;
}
