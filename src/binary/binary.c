/* Element-wise functions of two arguments, and selection: the public function and the steps. */
#include "neoprene/binary.h"

#include "src/core/checked.h"
#include "src/lines/map.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"

struct binary_parameters {
    uint64_t algorithm; /* neo_binary */
};

enum { SRC1 = TENSOR_COUNT, SRC2 };

struct binary_plan {
    struct map map;                         /* first */
    const struct binary_f32_kernel *kernel; /* NULL: select */
};

static uint64_t algorithm_of(const struct problem *problem)
{
    return ((const struct binary_parameters *)(const void *)problem->parameters)->algorithm;
}

static const char *check_source(const struct problem *problem, int tensor)
{
    const neo_memory_desc *src = problem_tensor(problem, tensor), *dst = &problem->tensors[DST];
    if (src->ndims != dst->ndims)
        return "a source and dst do not have the same number of dimensions";
    for (int i = 0; i < dst->ndims; i++)
        if (src->dims[i] != 1 && !lines_is_same_size(src->dims[i], dst->dims[i]))
            return "a size of a source is neither dst's nor 1";
    return NULL;
}

static const char *binary_check(struct problem *problem, bool *unsupported)
{
    (void)unsupported;
    bool selects = algorithm_of(problem) == NEO_BINARY_SELECT;
    if (algorithm_of(problem) > NEO_BINARY_SELECT)
        return "the algorithm is unknown";
    if (selects != (problem->extra_count == 2))
        return selects ? "select has no src2" : "src2 is for select only";
    if (!problem->tensors[DST].ndims)
        return "dst is absent";
    const char *wrong = check_source(problem, SRC);
    for (int i = 0; i < problem->extra_count && !wrong; i++)
        wrong = check_source(problem, TENSOR_COUNT + i);
    return wrong;
}

static double binary_estimate(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 2);
}

static void binary_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct binary_plan *mine = plan;
    if (algorithm_of(problem) != NEO_BINARY_SELECT)
        mine->kernel = binary_f32_find(cpu->features, (enum binary_f32_alg)algorithm_of(problem));
    map_init(&mine->map, problem, cpu, (const uint8_t[]){SRC, SRC1, SRC2}, 1 + problem->extra_count,
             true);
}

static const char *binary_kernel(const void *plan)
{
    const struct binary_plan *mine = plan;
    return mine->kernel ? mine->kernel->name : "select_f32";
}

/* The first source may be in out, and then in dst too, if that has the same descriptor. */
static void binary_step(const struct map_chunk *chunk, size_t count, float *out)
{
    const struct binary_plan *plan = (const void *)chunk->map;
    float first[LINE_MOST], second[LINE_MOST];
    size_t step;
    const float *a = map_source(chunk, 0, first);
    const float *b = map_source_or_one(chunk, 1, second, &step);
    plan->kernel->run(count, a, b, step, out);
}

static void select_step(const struct map_chunk *chunk, size_t count, float *out)
{
    float first[LINE_MOST], second[LINE_MOST], third[LINE_MOST];
    const float *a = map_source(chunk, 0, first), *b = map_source(chunk, 1, second);
    const float *condition = map_source(chunk, 2, third);
    for (size_t i = 0; i < count; i++)
        out[i] = condition[i] != 0 ? a[i] : b[i];
}

static void binary_run(const void *plan, const struct execution *execution)
{
    const struct binary_plan *mine = plan;
    map_run(&mine->map, execution, mine->kernel ? binary_step : select_step);
}

static const struct algorithm binary_lines = {
    .name = "lines",
    .quantizes = true,
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = binary_estimate,
    .plan = binary_plan,
    .plan_bytes = sizeof(struct binary_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = binary_kernel,
    .run = binary_run,
};

static const struct algorithm *const binary_algorithms[] = {&binary_lines};

static const struct operation binary_operation = {
    .name = "binary",
    .parameter_bytes = sizeof(struct binary_parameters),
    .takes_all_types = true,
    .in_place = true,
    .check = binary_check,
    .check_quantization = lines_check_quantization,
    .algorithms = binary_algorithms,
    .algorithm_count = count_of(binary_algorithms),
    .describe = lines_describe,
};

neo_status neo_binary_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                            neo_binary algorithm, const neo_memory_desc *src0,
                                            const neo_memory_desc *src1,
                                            const neo_memory_desc *src2, const neo_memory_desc *dst,
                                            const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src0 || !src1 || !dst);
    if (status != NEO_OK)
        return status;
    struct binary_parameters parameters = {(uint64_t)algorithm};
    struct extra extras[] = {{NEO_ARG_SRC_1, *src1}, {NEO_ARG_SRC_2, {0}}};
    if (src2)
        extras[1].desc = *src2;
    struct description description = {
        .operation = &binary_operation,
        .tensors = {[SRC] = src0, [DST] = dst},
        .attributes = attributes,
        .extra_count = src2 ? 2 : 1,
        .extras = extras,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
