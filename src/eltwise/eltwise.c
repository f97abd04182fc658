/* Element-wise functions of one argument: the public function and the step. */
#include "neoprene/eltwise.h"

#include "src/core/checked.h"
#include "src/lines/map.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"

struct eltwise_parameters {
    uint32_t algorithm; /* neo_eltwise */
    float alpha, beta;
    uint32_t unused;
};

struct eltwise_plan {
    struct map map; /* first */
    struct eltwise_parameters parameters;
    const struct eltwise_f32_kernel *kernel;
};

static const struct eltwise_parameters *parameters_of(const struct problem *problem)
{
    return (const void *)problem->parameters;
}

static const char *eltwise_check(struct problem *problem, bool *unsupported)
{
    (void)unsupported;
    const struct eltwise_parameters *p = parameters_of(problem);
    const char *wrong = attributes_eltwise_wrong((neo_eltwise)p->algorithm, p->alpha, p->beta);
    return wrong ? wrong : lines_check_same(problem, SRC);
}

static double eltwise_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 2);
}

static void eltwise_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct eltwise_plan *mine = plan;
    mine->parameters = *parameters_of(problem);
    mine->kernel =
        eltwise_f32_find(cpu->features, (enum eltwise_f32_alg)mine->parameters.algorithm);
    map_init(&mine->map, problem, cpu, (const uint8_t[]){SRC}, 1, true);
}

static const char *eltwise_kernel(const void *plan)
{
    return ((const struct eltwise_plan *)plan)->kernel->name;
}

static void eltwise_step(const struct map_chunk *chunk, size_t count, float *out)
{
    const struct eltwise_plan *plan = (const void *)chunk->map;
    plan->kernel->run(count, map_source(chunk, 0, out), out, plan->parameters.alpha,
                      plan->parameters.beta);
}

static void eltwise_run(const void *plan, const struct execution *execution)
{
    map_run(plan, execution, eltwise_step);
}

static const struct algorithm eltwise_lines = {
    .name = "lines",
    .quantizes = true,
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = eltwise_estimate,
    .plan = eltwise_plan,
    .plan_bytes = sizeof(struct eltwise_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = eltwise_kernel,
    .run = eltwise_run,
};

static const struct algorithm *const eltwise_algorithms[] = {&eltwise_lines};

static const struct operation eltwise_operation = {
    .name = "eltwise",
    .parameter_bytes = sizeof(struct eltwise_parameters),
    .takes_all_types = true,
    .in_place = true,
    .check = eltwise_check,
    .check_quantization = lines_check_quantization,
    .algorithms = eltwise_algorithms,
    .algorithm_count = count_of(eltwise_algorithms),
    .describe = lines_describe,
};

neo_status neo_eltwise_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                             neo_prop_kind prop_kind, neo_eltwise algorithm,
                                             const neo_memory_desc *src, const neo_memory_desc *dst,
                                             float alpha, float beta,
                                             const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    struct eltwise_parameters parameters = {(uint32_t)algorithm, alpha, beta, 0};
    struct description description = {
        .operation = &eltwise_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
        .prop_kind = prop_kind,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
