/* Batch and group normalisation: first a factor and two offsets for every channel (of every image,
 * if statistics are of one), then all elements line by line. */
#include <math.h>

#include "kernels/elementwise/f32/binary.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "kernels/elementwise/f32/fold.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/normalization/normalization.h"
#include "src/tensor/descriptor.h"

/* The vectors in the scratchpad: result = (x - center) * factor + shift. */
enum { CENTER, FACTOR, SHIFT, VECTORS };

struct channels_plan {
    struct normalization_parameters parameters;
    struct walk walk;           /* over dst */
    struct walk region;         /* over what one mean and one variance are of */
    neo_memory_desc region_src; /* its sizes, src's strides */
    neo_memory_desc vector;     /* a vector in the scratchpad, as dst's dimensions have it */
    size_t images, groups, channels, per_group, elements; /* of the last: in a region */
    struct line_type src, dst, workspace_type;
    int scale, shift, mean, variance, workspace; /* extra tensors, or -1 */
    bool reads_statistics;
    bool reads_dst; /* what dst held before is wanted after a line is made */
    fold_f32_fn *sum, *squares;
    eltwise_f32_fn *linear, *relu;
    binary_f32_fn *subtract, *multiply, *add;
};

static bool is_of_groups(const struct problem *problem)
{
    return normalization_parameters(problem)->groups > 0;
}

static const char *check_workspace(const struct problem *problem, const neo_memory_desc *workspace)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    for (int i = 0; i < dst->ndims; i++)
        if (!lines_is_same_size(workspace->dims[i], dst->dims[i]))
            return "the workspace does not have dst's sizes";
    return NULL;
}

/* Vectors have a value for each channel; statistics of groups one for each group of each image. */
static const char *check_extra(const struct problem *problem, const struct extra *extra)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    if (extra->arg == NEO_ARG_WORKSPACE)
        return check_workspace(problem, &extra->desc);
    bool is_vector = extra->arg == NEO_ARG_SCALE || extra->arg == NEO_ARG_SHIFT;
    if (is_vector || !is_of_groups(problem))
        return lines_is_same_size(extra->desc.dims[0], dst->dims[1])
                   ? NULL
                   : "scale, shift or statistics do not have a value for each channel";
    return lines_is_same_size(extra->desc.dims[0], dst->dims[0]) &&
                   extra->desc.dims[1] == normalization_parameters(problem)->groups
               ? NULL
               : "the statistics do not have a value for each group of each image";
}

static const char *channels_check(struct problem *problem, bool *unsupported)
{
    const struct normalization_parameters *p = normalization_parameters(problem);
    const neo_memory_desc *dst = &problem->tensors[DST];
    unsigned known = NEO_NORMALIZATION_USE_GLOBAL_STATS | NEO_NORMALIZATION_USE_SCALE |
                     NEO_NORMALIZATION_USE_SHIFT;
    if (!is_of_groups(problem))
        known |= NEO_NORMALIZATION_FUSE_RELU;
    if (p->flags & ~known)
        return "a flag is unknown, or is another kind of normalisation's";
    if (dst->ndims < 2)
        return "dst has fewer than two dimensions";
    const char *wrong = lines_check_same(problem, SRC);
    if (wrong)
        return wrong;
    for (int i = 0; i < problem->extra_count && !wrong; i++)
        wrong = check_extra(problem, &problem->extras[i]);
    if (wrong)
        return wrong;
    bool is_known = dst->dims[1] != NEO_RUNTIME_DIM;
    if (is_of_groups(problem) && is_known && dst->dims[1] % p->groups) {
        log_check("group_normalization: %lld groups, and dst has %lld channels",
                  (long long)p->groups, (long long)dst->dims[1]);
        return "the channels cannot be divided into so many groups";
    }
    (void)unsupported;
    return NULL;
}

static double channels_estimate(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    bool reads = normalization_parameters(problem)->flags & NEO_NORMALIZATION_USE_GLOBAL_STATS;
    (void)self, (void)cpu;
    return lines_cycles(problem, reads ? 2 : 4);
}

/* ---- plan ---- */

static void plan_vectors(struct channels_plan *plan, const neo_memory_desc *dst)
{
    plan->vector = (neo_memory_desc){.ndims = dst->ndims, .data_type = NEO_F32};
    for (int i = 0; i < dst->ndims; i++)
        plan->vector.dims[i] = 1;
    plan->vector.dims[0] = (neo_dim)plan->images;
    plan->vector.dims[1] = dst->dims[1];
    desc_set_order_of(&plan->vector, dst); /* along a line of dst without gaps */
}

static void plan_region(struct channels_plan *plan, const neo_memory_desc *src)
{
    neo_memory_desc *region = &plan->region_src;
    *region = *src;
    region->dims[0] = plan->images > 1 || plan->parameters.groups ? 1 : src->dims[0];
    region->dims[1] = (neo_dim)plan->per_group;
    plan->elements = (size_t)neo_memory_desc_elements(region);
    walk_init(&plan->region, region, NULL, 0, false, LINE_MOST);
}

static void plan_kernels(struct channels_plan *plan, uint32_t features)
{
    plan->sum = fold_f32_find(features, FOLD_F32_SUM)->run;
    plan->squares = fold_f32_find(features, FOLD_F32_SQUARES)->run;
    plan->linear = eltwise_f32_find(features, ELTWISE_F32_LINEAR)->run;
    plan->relu = eltwise_f32_find(features, ELTWISE_F32_RELU)->run;
    plan->subtract = binary_f32_find(features, BINARY_F32_SUB)->run;
    plan->multiply = binary_f32_find(features, BINARY_F32_MUL)->run;
    plan->add = binary_f32_find(features, BINARY_F32_ADD)->run;
}

static void channels_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct channels_plan *mine = plan;
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    mine->parameters = *normalization_parameters(problem);
    mine->src = line_type(src->data_type, cpu);
    mine->dst = line_type(dst->data_type, cpu);
    mine->scale = problem_extra(problem, NEO_ARG_SCALE);
    mine->shift = problem_extra(problem, NEO_ARG_SHIFT);
    mine->mean = problem_extra(problem, NEO_ARG_MEAN);
    mine->variance = problem_extra(problem, NEO_ARG_VARIANCE);
    mine->workspace = problem_extra(problem, NEO_ARG_WORKSPACE);
    mine->workspace_type = line_type(NEO_U8, cpu);
    mine->reads_dst = post_ops_fusion(problem).reads_dst;
    mine->reads_statistics = mine->parameters.flags & NEO_NORMALIZATION_USE_GLOBAL_STATS;
    plan_kernels(mine, cpu->features);
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    mine->channels = (size_t)dst->dims[1];
    mine->images = is_of_groups(problem) ? (size_t)dst->dims[0] : 1;
    mine->groups = is_of_groups(problem) ? (size_t)mine->parameters.groups : mine->channels;
    mine->per_group = mine->groups ? mine->channels / mine->groups : 0;
    plan_vectors(mine, dst);
    plan_region(mine, src);
    const neo_memory_desc *others[3] = {src, &mine->vector};
    bool keeps = mine->workspace >= 0;
    if (keeps)
        others[2] = &problem->extras[mine->workspace].desc;
    walk_init(&mine->walk, dst, others, 2 + keeps, post_ops_have_operand(&problem->attributes),
              LINE_MOST);
}

static size_t vector_floats(const struct channels_plan *plan)
{
    return round_up(plan->images * plan->channels, SCRATCH_ALIGNMENT / sizeof(float));
}

static size_t channels_scratch_bytes(const void *plan, int threads)
{
    (void)threads;
    return VECTORS * vector_floats(plan) * sizeof(float);
}

static const char *channels_kernel(const void *plan)
{
    (void)plan;
    return "normalization_f32";
}

/* ---- statistics ---- */

/* The sum over a region of what fold makes of each chunk, in double, chunk after chunk. */
static double fold_region(const struct channels_plan *plan, const void *data, fold_f32_fn *fold,
                          float about)
{
    double sum = 0;
    for (size_t i = 0; i < plan->region.tiles; i++) {
        float buffer[LINE_MOST];
        struct walk_chunk chunk = walk_chunk(&plan->region, i);
        const void *line =
            line_at(&plan->src, data, walk_first(&plan->region, &plan->region_src, &chunk));
        neo_dim step = walk_step(&plan->region, &plan->region_src);
        const float *values = lines_load(&plan->src, line, step, chunk.count, buffer);
        sum += (double)fold(chunk.count, values, about);
    }
    return sum;
}

static struct moments make_moments(const struct channels_plan *plan,
                                   const struct execution *execution, size_t region)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    float *mean = plan->mean < 0 ? NULL : (float *)execution->extras[plan->mean] + region;
    float *variance =
        plan->variance < 0 ? NULL : (float *)execution->extras[plan->variance] + region;
    if (plan->reads_statistics && mean && variance) /* it has both, then */
        return (struct moments){*mean, *variance};
    neo_dim first = (neo_dim)(region / plan->groups) * src->strides[0] +
                    (neo_dim)(region % plan->groups * plan->per_group) * src->strides[1];
    const void *data = line_at(&plan->src, execution->buffers[SRC], first);
    struct moments m;
    m.mean = (float)(fold_region(plan, data, plan->sum, 0) / (double)plan->elements);
    m.variance = (float)(fold_region(plan, data, plan->squares, m.mean) / (double)plan->elements);
    if (mean)
        *mean = m.mean;
    if (variance)
        *variance = m.variance;
    return m;
}

static void fill_vectors(const struct channels_plan *plan, const struct execution *execution,
                         size_t region)
{
    float *vectors = execution->scratch;
    size_t floats = vector_floats(plan);
    struct moments m = make_moments(plan, execution, region);
    float factor = 1 / sqrtf(m.variance + plan->parameters.epsilon);
    const float *scale = plan->scale < 0 ? NULL : execution->extras[plan->scale];
    const float *shift = plan->shift < 0 ? NULL : execution->extras[plan->shift];
    size_t image = region / plan->groups, first = region % plan->groups * plan->per_group;
    for (size_t channel = first; channel < first + plan->per_group; channel++) {
        size_t at =
            image * (size_t)plan->vector.strides[0] + channel * (size_t)plan->vector.strides[1];
        vectors[CENTER * floats + at] = m.mean;
        vectors[FACTOR * floats + at] = scale ? factor * scale[channel] : factor;
        vectors[SHIFT * floats + at] = shift ? shift[channel] : 0;
    }
}

static void fill_regions(void *argument, struct span regions, int slot)
{
    const struct lines_task *task = argument;
    (void)slot;
    for (size_t i = regions.begin; i < regions.end; i++)
        fill_vectors(task->plan, task->execution, i);
}

/* ---- elements ---- */

/* One channel, or one after another. */
static void normalize(const struct channels_plan *plan, const float *vectors, bool one,
                      const float *x, size_t count, float *out)
{
    size_t floats = vector_floats(plan);
    const float *center = vectors + CENTER * floats, *factor = vectors + FACTOR * floats;
    const float *shift = vectors + SHIFT * floats;
    plan->subtract(count, x, center, !one, out);
    if (one) {
        plan->linear(count, out, out, *factor, *shift);
    } else {
        plan->multiply(count, out, factor, 1, out);
        plan->add(count, out, shift, 1, out);
    }
    if (plan->parameters.flags & NEO_NORMALIZATION_FUSE_RELU)
        plan->relu(count, out, out, 0, 0);
}

/* Where relu let something through. */
static void keep_positive(const struct channels_plan *plan, const struct execution *execution,
                          const struct walk_chunk *chunk, const float *values)
{
    const neo_memory_desc *desc = &execution->problem->extras[plan->workspace].desc;
    void *to = line_at(&plan->workspace_type, execution->extras[plan->workspace],
                       walk_first(&plan->walk, desc, chunk));
    float positive[LINE_MOST];
    for (size_t i = 0; i < chunk->count; i++)
        positive[i] = values[i] > 0;
    lines_store(&plan->workspace_type, positive, chunk->count, to, walk_step(&plan->walk, desc));
}

static void make_line(const struct channels_plan *plan, const struct execution *execution,
                      size_t tile)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    struct walk_chunk chunk = walk_chunk(&plan->walk, tile);
    struct line line;
    float buffer[LINE_MOST];
    const void *from =
        line_at(&plan->src, execution->buffers[SRC], walk_first(&plan->walk, src, &chunk));
    void *to = line_at(&plan->dst, execution->buffers[DST], walk_first(&plan->walk, dst, &chunk));
    neo_dim step = walk_step(&plan->walk, dst);
    const float *x = lines_load(&plan->src, from, walk_step(&plan->walk, src), chunk.count, buffer);
    float *values = lines_place(&plan->dst, plan->reads_dst, to, step, buffer);
    const float *vectors =
        (const float *)execution->scratch + walk_first(&plan->walk, &plan->vector, &chunk);
    normalize(plan, vectors, walk_step(&plan->walk, &plan->vector) == 0, x, chunk.count, values);
    if (plan->workspace >= 0)
        keep_positive(plan, execution, &chunk, values);
    lines_scale(execution, SRC, chunk.count, values);
    walk_line(&plan->walk, &chunk, &line);
    finish_line(execution, &line, values, false, to, step);
}

static void make_lines(void *argument, struct span tiles, int slot)
{
    const struct lines_task *task = argument;
    (void)slot;
    for (size_t i = tiles.begin; i < tiles.end; i++)
        make_line(task->plan, task->execution, i);
}

static void channels_run(const void *plan, const struct execution *execution)
{
    const struct channels_plan *mine = plan;
    lines_run(execution, plan, mine->images * mine->groups, fill_regions);
    lines_run(execution, plan, mine->walk.tiles, make_lines);
}

static const struct algorithm channels_lines = {
    .name = "lines",
    .quantizes = true,
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = channels_estimate,
    .plan = channels_plan,
    .plan_bytes = sizeof(struct channels_plan),
    .scratch_bytes = channels_scratch_bytes,
    .kernel = channels_kernel,
    .run = channels_run,
};

static const struct algorithm *const channels_algorithms[] = {&channels_lines};

static const struct operation batch_operation = {
    .name = "batch_normalization",
    .parameter_bytes = sizeof(struct normalization_parameters),
    .takes_all_types = true,
    .in_place = true,
    .writes = normalization_writes,
    .check = channels_check,
    .check_quantization = lines_check_quantization,
    .algorithms = channels_algorithms,
    .algorithm_count = count_of(channels_algorithms),
    .describe = lines_describe,
};

static const struct operation group_operation = {
    .name = "group_normalization",
    .parameter_bytes = sizeof(struct normalization_parameters),
    .takes_all_types = true,
    .in_place = true,
    .writes = normalization_writes,
    .check = channels_check,
    .check_quantization = lines_check_quantization,
    .algorithms = channels_algorithms,
    .algorithm_count = count_of(channels_algorithms),
    .describe = lines_describe,
};

neo_status
neo_batch_normalization_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                              neo_prop_kind prop_kind, const neo_memory_desc *src,
                                              const neo_memory_desc *dst, float epsilon,
                                              unsigned flags, const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    neo_memory_desc channels = {.ndims = 1, .dims = {dst->dims[1]}};
    struct normalization n = {
        .operation = &batch_operation,
        .engine = engine,
        .prop_kind = prop_kind,
        .src = src,
        .dst = dst,
        .statistics = normalization_statistics(&channels, 1),
        .channels = dst->dims[1],
        .scale_shift_type = NEO_F32,
        .parameters = {epsilon, flags, 0},
        .attributes = attributes,
    };
    return normalization_create(out, &n);
}

neo_status neo_group_normalization_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_prop_kind prop_kind,
    const neo_memory_desc *src, const neo_memory_desc *dst, neo_dim groups, float epsilon,
    unsigned flags, const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    if (groups < 1)
        return log_refusal(__func__, "there is less than one group");
    neo_memory_desc regions = {.ndims = 2, .dims = {dst->dims[0], groups}};
    struct normalization n = {
        .operation = &group_operation,
        .engine = engine,
        .prop_kind = prop_kind,
        .src = src,
        .dst = dst,
        .statistics = normalization_statistics(&regions, 2),
        .channels = dst->dims[1],
        .scale_shift_type = NEO_F32,
        .parameters = {epsilon, flags, groups},
        .attributes = attributes,
    };
    return normalization_create(out, &n);
}
