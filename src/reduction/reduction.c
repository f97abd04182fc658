/* Reductions. Where elements that become one follow each other in memory, a line of them becomes
 * one value; else lines along dst are put together, element by element. */
#include "neoprene/reduction.h"

#include <math.h>

#include "kernels/elementwise/f32/binary.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "kernels/elementwise/f32/fold.h"
#include "src/core/checked.h"
#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

struct reduction_parameters {
    uint64_t algorithm; /* neo_reduction */
    float p, epsilon;
};

struct reduction_plan {
    struct reduction_parameters parameters;
    struct walk walk;       /* over dst */
    struct walk region;     /* over what one element of dst stands for */
    neo_memory_desc inside; /* src, with one element where dst has more than one */
    bool along;             /* lines of the region become values */
    double elements;        /* of the region */
    struct line_type src, dst;
    float neutral;
    fold_f32_fn *fold;
    binary_f32_fn *together;
    eltwise_f32_fn *abs, *pow;
};

static const struct reduction_parameters *parameters_of(const struct problem *problem)
{
    return (const void *)problem->parameters;
}

/* ---- algorithms ---- */

static bool is_norm(uint64_t algorithm)
{
    return algorithm >= NEO_REDUCTION_NORM_LP_MAX;
}

/* How two values become one, by lines and in lines; the others are sums of something. */
static const struct method {
    float neutral;
    enum fold_f32_alg fold;
    enum binary_f32_alg together;
} sums = {0, FOLD_F32_SUM, BINARY_F32_ADD},
  methods[] = {
      [NEO_REDUCTION_MAX] = {-INFINITY, FOLD_F32_MAX, BINARY_F32_MAX},
      [NEO_REDUCTION_MIN] = {INFINITY, FOLD_F32_MIN, BINARY_F32_MIN},
      [NEO_REDUCTION_SUM] = {0, FOLD_F32_SUM, BINARY_F32_ADD},
      [NEO_REDUCTION_MUL] = {1, FOLD_F32_PRODUCT, BINARY_F32_MUL},
};

static const struct method *method_of(uint64_t algorithm)
{
    return algorithm <= NEO_REDUCTION_MUL ? &methods[algorithm] : &sums;
}

/* What is made of a sum at the end. */
static float finish_norm(const struct reduction_parameters *p, float sum)
{
    bool takes_larger = p->algorithm == NEO_REDUCTION_NORM_LP_MAX ||
                        p->algorithm == NEO_REDUCTION_NORM_LP_POWER_P_MAX;
    bool takes_root =
        p->algorithm == NEO_REDUCTION_NORM_LP_MAX || p->algorithm == NEO_REDUCTION_NORM_LP_SUM;
    float bounded = takes_larger ? fmaxf(sum, p->epsilon) : sum + p->epsilon;
    return takes_root ? powf(bounded, 1 / p->p) : bounded;
}

/* ---- checks and plan ---- */

static const char *reduction_check(struct problem *problem, bool *unsupported)
{
    const struct reduction_parameters *p = parameters_of(problem);
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    if (p->algorithm > NEO_REDUCTION_NORM_LP_POWER_P_SUM)
        return "the algorithm is unknown";
    if (is_norm(p->algorithm) && !(p->p >= 1))
        return "p of a norm is below 1";
    if (!dst->ndims || src->ndims != dst->ndims)
        return "src and dst do not have the same number of dimensions";
    (void)unsupported;
    for (int i = 0; i < dst->ndims; i++)
        if (dst->dims[i] != 1 && !lines_is_same_size(dst->dims[i], src->dims[i]))
            return "a size of dst is neither src's nor 1";
    return NULL;
}

static double reduction_estimate(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    (void)self, (void)cpu;
    double elements = (double)neo_memory_desc_elements(&problem->tensors[SRC]);
    return lines_cycles(problem, 2) +
           elements * (is_norm(parameters_of(problem)->algorithm) ? 8 : 1);
}

/* Of more than one element. */
static int innermost(const neo_memory_desc *desc)
{
    int order[NEO_MAX_NDIMS];
    desc_memory_order(desc, order);
    int i = desc->ndims - 1;
    while (i > 0 && desc->dims[order[i]] == 1)
        i--;
    return order[i];
}

static void reduction_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct reduction_plan *mine = plan;
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    mine->parameters = *parameters_of(problem);
    const struct method *method = method_of(mine->parameters.algorithm);
    mine->src = line_type(src->data_type, cpu);
    mine->dst = line_type(dst->data_type, cpu);
    mine->neutral = method->neutral;
    mine->fold = fold_f32_find(cpu->features, method->fold)->run;
    mine->together = binary_f32_find(cpu->features, method->together)->run;
    mine->abs = eltwise_f32_find(cpu->features, ELTWISE_F32_ABS)->run;
    mine->pow = eltwise_f32_find(cpu->features, ELTWISE_F32_POW)->run;
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    mine->inside = *src;
    for (int i = 0; i < dst->ndims; i++)
        if (dst->dims[i] != 1)
            mine->inside.dims[i] = 1;
    mine->elements = (double)neo_memory_desc_elements(&mine->inside);
    int inner = innermost(src);
    mine->along = mine->inside.dims[inner] != 1;
    walk_init(&mine->region, &mine->inside, NULL, 0, false, mine->along ? LINE_MOST : 1);
    walk_init(&mine->walk, dst, &src, 1, post_ops_have_operand(&problem->attributes), LINE_MOST);
}

static const char *reduction_kernel(const void *plan)
{
    return ((const struct reduction_plan *)plan)->along ? "fold_f32" : "lines_f32";
}

/* ---- execution ---- */

/* |x|^p of norms; others are as they are. Returns where the values are. */
static const float *prepare(const struct reduction_plan *plan, const float *x, size_t count,
                            float *buffer)
{
    if (!is_norm(plan->parameters.algorithm))
        return x;
    plan->abs(count, x, buffer, 0, 0);
    if (plan->parameters.p != 1)
        plan->pow(count, buffer, buffer, 1, plan->parameters.p);
    return buffer;
}

/* All that becomes the element of dst which begins at data. */
static float fold_region(const struct reduction_plan *plan, const void *data)
{
    float result = plan->neutral;
    neo_dim step = walk_step(&plan->region, &plan->inside);
    for (size_t i = 0; i < plan->region.tiles; i++) {
        float buffer[LINE_MOST];
        struct walk_chunk chunk = walk_chunk(&plan->region, i);
        const void *line =
            line_at(&plan->src, data, walk_first(&plan->region, &plan->inside, &chunk));
        const float *x = lines_load(&plan->src, line, step, chunk.count, buffer);
        float value = plan->fold(chunk.count, prepare(plan, x, chunk.count, buffer), 0);
        plan->together(1, &result, &value, 1, &result);
    }
    return result;
}

/* All that becomes count elements of dst, which begin at data, step apart. */
static void fold_lines(const struct reduction_plan *plan, const void *data, neo_dim step,
                       size_t count, float *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = plan->neutral;
    for (size_t i = 0; i < plan->region.tiles; i++) {
        float buffer[LINE_MOST];
        struct walk_chunk chunk = walk_chunk(&plan->region, i);
        const void *line =
            line_at(&plan->src, data, walk_first(&plan->region, &plan->inside, &chunk));
        const float *x = lines_load(&plan->src, line, step, count, buffer);
        plan->together(count, values, prepare(plan, x, count, buffer), 1, values);
    }
}

static void finish(const struct reduction_plan *plan, float *values, size_t count)
{
    const struct reduction_parameters *p = &plan->parameters;
    if (p->algorithm == NEO_REDUCTION_MEAN)
        for (size_t i = 0; i < count; i++)
            /* NOLINTNEXTLINE(clang-analyzer-core.*): make_line() has set them */
            values[i] = (float)((double)values[i] / plan->elements);
    if (is_norm(p->algorithm))
        for (size_t i = 0; i < count; i++)
            /* NOLINTNEXTLINE(clang-analyzer-core.*): make_line() has set them */
            values[i] = finish_norm(p, values[i]);
}

static void make_line(const struct reduction_plan *plan, const struct execution *execution,
                      size_t tile)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    struct walk_chunk chunk = walk_chunk(&plan->walk, tile);
    neo_dim step = walk_step(&plan->walk, src);
    const void *from =
        line_at(&plan->src, execution->buffers[SRC], walk_first(&plan->walk, src, &chunk));
    void *to = line_at(&plan->dst, execution->buffers[DST], walk_first(&plan->walk, dst, &chunk));
    float values[LINE_MOST];
    struct line line;
    if (!plan->along)
        fold_lines(plan, from, step, chunk.count, values);
    for (size_t i = 0; plan->along && i < chunk.count; i++)
        values[i] = fold_region(plan, line_at(&plan->src, from, (neo_dim)i * step));
    finish(plan, values, chunk.count);
    walk_line(&plan->walk, &chunk, &line);
    finish_line(execution, &line, values, false, to, walk_step(&plan->walk, dst));
}

static void make_lines(void *argument, struct span tiles, int slot)
{
    const struct lines_task *task = argument;
    (void)slot;
    for (size_t i = tiles.begin; i < tiles.end; i++)
        make_line(task->plan, task->execution, i);
}

static void reduction_run(const void *plan, const struct execution *execution)
{
    lines_run(execution, plan, ((const struct reduction_plan *)plan)->walk.tiles, make_lines);
}

static const struct algorithm reduction_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = reduction_estimate,
    .plan = reduction_plan,
    .plan_bytes = sizeof(struct reduction_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = reduction_kernel,
    .run = reduction_run,
};

static const struct algorithm *const reduction_algorithms[] = {&reduction_lines};

static const struct operation reduction_operation = {
    .name = "reduction",
    .parameter_bytes = sizeof(struct reduction_parameters),
    .takes_all_types = true,
    .check = reduction_check,
    .algorithms = reduction_algorithms,
    .algorithm_count = count_of(reduction_algorithms),
    .describe = lines_describe,
};

neo_status neo_reduction_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                               neo_reduction algorithm, const neo_memory_desc *src,
                                               const neo_memory_desc *dst, float p, float epsilon,
                                               const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    struct reduction_parameters parameters = {(uint64_t)algorithm, p, epsilon};
    struct description description = {
        .operation = &reduction_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
