/* Local response normalisation by lines of dst: for each neighbour, the line of src that is so far
 * away is squared and added. */
#include "neoprene/lrn.h"

#include "kernels/elementwise/f32/binary.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "src/core/checked.h"
#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

struct lrn_parameters {
    int64_t algorithm; /* neo_lrn */
    neo_dim local_size;
    float alpha, beta, k;
    uint32_t unused;
};

struct lrn_plan {
    struct walk walk;
    struct lrn_parameters parameters;
    struct line_type src, dst;
    int first, count; /* dimensions with neighbours */
    neo_dim half;
    size_t neighbours;
    float factor; /* alpha / n */
    binary_f32_fn *multiply, *add;
    eltwise_f32_fn *linear, *pow;
};

static const struct lrn_parameters *parameters_of(const struct problem *problem)
{
    return (const void *)problem->parameters;
}

static const char *lrn_check(struct problem *problem, bool *unsupported)
{
    const struct lrn_parameters *p = parameters_of(problem);
    int ndims = problem->tensors[DST].ndims;
    if (p->algorithm != NEO_LRN_ACROSS_CHANNELS && p->algorithm != NEO_LRN_WITHIN_CHANNEL)
        return "the algorithm is unknown";
    if (p->local_size < 1 || p->local_size > 1 << 10)
        return "the local size is below 1 or above 1024";
    if (ndims < 2 || ndims > 5)
        return "dst does not have two to five dimensions";
    (void)unsupported;
    return lines_check_same(problem, SRC);
}

static size_t neighbour_count(const struct lrn_parameters *p, int ndims)
{
    size_t width = 2 * (size_t)((p->local_size - 1) / 2) + 1, count = 1;
    int dimensions = p->algorithm == NEO_LRN_ACROSS_CHANNELS ? 1 : ndims - 2;
    for (int i = 0; i < dimensions; i++)
        count *= width;
    return count;
}

static double lrn_estimate(const struct algorithm *self, const struct problem *problem,
                           const struct cpu *cpu)
{
    size_t neighbours = neighbour_count(parameters_of(problem), problem->tensors[DST].ndims);
    (void)self, (void)cpu;
    return lines_cycles(problem, 20 + 2 * (double)neighbours);
}

static void lrn_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct lrn_plan *mine = plan;
    const struct lrn_parameters *p = parameters_of(problem);
    bool across = p->algorithm == NEO_LRN_ACROSS_CHANNELS;
    float n = 1;
    mine->parameters = *p;
    mine->src = line_type(problem->tensors[SRC].data_type, cpu);
    mine->dst = line_type(problem->tensors[DST].data_type, cpu);
    mine->first = across ? 1 : 2;
    mine->count = across ? 1 : problem->tensors[DST].ndims - 2;
    mine->half = (p->local_size - 1) / 2;
    mine->neighbours = neighbour_count(p, problem->tensors[DST].ndims);
    for (int i = 0; i < mine->count; i++)
        n *= (float)p->local_size;
    mine->factor = p->alpha / n;
    mine->multiply = binary_f32_find(cpu->features, BINARY_F32_MUL)->run;
    mine->add = binary_f32_find(cpu->features, BINARY_F32_ADD)->run;
    mine->linear = eltwise_f32_find(cpu->features, ELTWISE_F32_LINEAR)->run;
    mine->pow = eltwise_f32_find(cpu->features, ELTWISE_F32_POW)->run;
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    walk_init(&mine->walk, &problem->tensors[DST], NULL, 0, true, LINE_MOST);
}

static const char *lrn_kernel(const void *plan)
{
    (void)plan;
    return "lrn_f32";
}

/* The elements of a line that have this neighbour; position: of the first one's neighbour. */
static struct span locate(const struct lrn_plan *plan, const neo_memory_desc *desc,
                          const struct line *line, size_t neighbour, neo_dim *position)
{
    struct span span = {0, line->count};
    size_t width = 2 * (size_t)plan->half + 1;
    for (int i = 0; i < desc->ndims; i++)
        position[i] = line->position[i];
    for (int i = plan->first; i < plan->first + plan->count; i++) {
        neo_dim shift = (neo_dim)(neighbour % width) - plan->half, size = desc->dims[i];
        neo_dim at = position[i] + shift;
        neighbour /= width;
        if (i == line->direction) {
            span.begin = at < 0 ? min_size((size_t)-at, line->count) : 0;
            span.end = at < size ? min_size((size_t)(size - at), line->count) : 0;
            position[i] = at + (neo_dim)span.begin;
            continue;
        }
        if (at < 0 || at >= size)
            return (struct span){0, 0};
        position[i] = at;
    }
    return span;
}

static void add_squares(const struct lrn_plan *plan, const struct execution *execution,
                        const struct line *line, size_t neighbour, float *sums)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    neo_dim position[NEO_MAX_NDIMS];
    struct span span = locate(plan, src, line, neighbour, position);
    if (span.begin >= span.end)
        return;
    size_t count = span.end - span.begin;
    float buffer[LINE_MOST];
    const void *data = line_at(&plan->src, execution->buffers[SRC], desc_offset(src, position));
    const float *x = lines_load(&plan->src, data, src->strides[line->direction], count, buffer);
    plan->multiply(count, x, x, 1, buffer); /* x may be there */
    plan->add(count, sums + span.begin, buffer, 1, sums + span.begin);
}

static void make_line(const struct lrn_plan *plan, const struct execution *execution,
                      const struct line *line)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    float values[LINE_MOST], buffer[LINE_MOST];
    for (size_t i = 0; i < line->count; i++)
        values[i] = 0;
    for (size_t i = 0; i < plan->neighbours; i++)
        add_squares(plan, execution, line, i, values);
    const void *from =
        line_at(&plan->src, execution->buffers[SRC], desc_offset(src, line->position));
    void *to = line_at(&plan->dst, execution->buffers[DST], desc_offset(dst, line->position));
    const float *x =
        lines_load(&plan->src, from, src->strides[line->direction], line->count, buffer);
    plan->linear(line->count, values, values, plan->factor, plan->parameters.k);
    plan->pow(line->count, values, values, 1, -plan->parameters.beta);
    plan->multiply(line->count, values, x, 1, values);
    finish_line(execution, line, values, false, to, dst->strides[line->direction]);
}

static void make_lines(void *argument, struct span tiles, int slot)
{
    const struct lines_task *task = argument;
    const struct lrn_plan *plan = task->plan;
    (void)slot;
    for (size_t i = tiles.begin; i < tiles.end; i++) {
        struct walk_chunk chunk = walk_chunk(&plan->walk, i);
        struct line line;
        walk_line(&plan->walk, &chunk, &line);
        make_line(plan, task->execution, &line);
    }
}

static void lrn_run(const void *plan, const struct execution *execution)
{
    lines_run(execution, plan, ((const struct lrn_plan *)plan)->walk.tiles, make_lines);
}

static const struct algorithm lrn_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = lrn_estimate,
    .plan = lrn_plan,
    .plan_bytes = sizeof(struct lrn_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = lrn_kernel,
    .run = lrn_run,
};

static const struct algorithm *const lrn_algorithms[] = {&lrn_lines};

static const struct operation lrn_operation = {
    .name = "lrn",
    .parameter_bytes = sizeof(struct lrn_parameters),
    .takes_all_types = true,
    .check = lrn_check,
    .algorithms = lrn_algorithms,
    .algorithm_count = count_of(lrn_algorithms),
    .describe = lines_describe,
};

neo_status neo_lrn_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                         neo_prop_kind prop_kind, neo_lrn algorithm,
                                         const neo_memory_desc *src, const neo_memory_desc *dst,
                                         neo_dim local_size, float alpha, float beta, float k,
                                         const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    struct lrn_parameters parameters = {(int64_t)algorithm, local_size, alpha, beta, k, 0};
    struct description description = {
        .operation = &lrn_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
        .prop_kind = prop_kind,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
