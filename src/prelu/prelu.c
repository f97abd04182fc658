/* Leaky relu with a tensor of slopes: the binary function of src and weights. */
#include "neoprene/prelu.h"

#include "src/core/checked.h"
#include "src/lines/map.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"

struct prelu_plan {
    struct map map; /* first */
    const struct binary_f32_kernel *kernel;
};

static const char *prelu_check(struct problem *problem, bool *unsupported)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *dst = &problem->tensors[DST];
    (void)unsupported;
    const char *wrong = lines_check_same(problem, SRC);
    if (wrong)
        return wrong;
    if (weights->ndims != dst->ndims)
        return "weights and dst do not have the same number of dimensions";
    for (int i = 0; i < dst->ndims; i++)
        if (weights->dims[i] != 1 && !lines_is_same_size(weights->dims[i], dst->dims[i]))
            return "a size of weights is neither dst's nor 1";
    return NULL;
}

static double prelu_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 2);
}

static void prelu_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct prelu_plan *mine = plan;
    mine->kernel = binary_f32_find(cpu->features, BINARY_F32_PRELU);
    map_init(&mine->map, problem, cpu, (const uint8_t[]){SRC, WEIGHTS}, 2, true);
}

static const char *prelu_kernel(const void *plan)
{
    return ((const struct prelu_plan *)plan)->kernel->name;
}

static void prelu_step(const struct map_chunk *chunk, size_t count, float *out)
{
    const struct prelu_plan *plan = (const void *)chunk->map;
    float first[LINE_MOST], second[LINE_MOST];
    size_t step;
    const float *x = map_source(chunk, 0, first);
    const float *slopes = map_source_or_one(chunk, 1, second, &step);
    plan->kernel->run(count, x, slopes, step, out);
}

static void prelu_run(const void *plan, const struct execution *execution)
{
    map_run(plan, execution, prelu_step);
}

static const struct algorithm prelu_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = prelu_estimate,
    .plan = prelu_plan,
    .plan_bytes = sizeof(struct prelu_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = prelu_kernel,
    .run = prelu_run,
};

static const struct algorithm *const prelu_algorithms[] = {&prelu_lines};

static const struct operation prelu_operation = {
    .name = "prelu",
    .takes_all_types = true,
    .in_place = true,
    .check = prelu_check,
    .algorithms = prelu_algorithms,
    .algorithm_count = count_of(prelu_algorithms),
    .describe = lines_describe,
};

neo_status neo_prelu_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                           neo_prop_kind prop_kind, const neo_memory_desc *src,
                                           const neo_memory_desc *weights,
                                           const neo_memory_desc *dst,
                                           const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !weights || !dst);
    if (status != NEO_OK)
        return status;
    struct description description = {
        .operation = &prelu_operation,
        .tensors = {[SRC] = src, [WEIGHTS] = weights, [DST] = dst},
        .attributes = attributes,
        .prop_kind = prop_kind,
    };
    return primitive_desc_create(out, engine, &description);
}
