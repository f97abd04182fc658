/* Dynamic quantisation: the range of the elements that share a scale, then their integers. */
#include "neoprene/quantization.h"

#include <math.h>
#include <string.h>

#include "kernels/elementwise/quantize.h"
#include "src/core/checked.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"

struct quantization_parameters {
    uint64_t algorithm; /* neo_quantization */
};

enum { SCALE, ZERO_POINT }; /* extra tensors */

struct quantization_plan {
    neo_quantization algorithm;
    struct line_type src;
    const struct quantize_kernel *kernel;
    int32_t least;
    size_t regions;                /* elements that share a scale */
    neo_dim shared[NEO_MAX_NDIMS]; /* their sizes */
};

static neo_quantization algorithm_of(const struct problem *problem)
{
    return (neo_quantization)((const struct quantization_parameters *)(const void *)
                                  problem->parameters)
        ->algorithm;
}

/* ---- checks ---- */

static const char *check_extra(const struct problem *problem, int i)
{
    const neo_memory_desc *dst = &problem->tensors[DST], *desc = &problem->extras[i].desc;
    neo_data_type type = desc->data_type;
    if (desc->ndims != dst->ndims)
        return "scale or zero_point does not have dst's number of dimensions";
    for (int d = 0; d < dst->ndims; d++)
        if (desc->dims[d] < 1 ? dst->dims[d] != 0 : dst->dims[d] % desc->dims[d])
            return "a size of scale or zero_point does not divide dst's";
    if (i == SCALE)
        return type == NEO_F32 ? NULL : "scale is not of f32";
    for (int d = 0; d < dst->ndims; d++)
        if (desc->dims[d] != problem->extras[SCALE].desc.dims[d])
            return "scale and zero_point do not have the same sizes";
    return type == NEO_S32 || type == dst->data_type
               ? NULL
               : "zero_point is neither of s32 nor of dst's type";
}

static const char *quantization_check(struct problem *problem, bool *unsupported)
{
    const char *wrong = lines_check_same(problem, SRC);
    if (algorithm_of(problem) > NEO_QUANTIZATION_SYMMETRIC)
        return "the algorithm is unknown";
    if (problem->extra_count == 1 && algorithm_of(problem) != NEO_QUANTIZATION_SYMMETRIC)
        return "zero_point is absent";
    *unsupported = !wrong && problem_is_runtime(problem);
    if (*unsupported)
        return "sizes are not known";
    for (int i = 0; !wrong && i < problem->extra_count; i++)
        wrong = check_extra(problem, i);
    if (wrong)
        return wrong;
    *unsupported = problem->attributes.post_op_count > 0;
    return *unsupported ? "quantisation takes no post-operations" : NULL;
}

/* ---- plan ---- */

static double quantization_estimate(const struct algorithm *self, const struct problem *problem,
                                    const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 2);
}

static void quantization_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct quantization_plan *mine = plan;
    const neo_memory_desc *dst = &problem->tensors[DST];
    bool is_signed = dst->data_type == NEO_S8;
    mine->algorithm = algorithm_of(problem);
    mine->src = line_type(problem->tensors[SRC].data_type, cpu);
    mine->kernel = quantize_find(cpu->features, is_signed ? ELEMENT_S8 : ELEMENT_U8);
    mine->least = is_signed ? INT8_MIN : 0;
    mine->regions = 1;
    for (int d = 0; d < dst->ndims; d++) {
        neo_dim count = problem->extras[SCALE].desc.dims[d];
        mine->regions *= (size_t)count;
        mine->shared[d] = count ? dst->dims[d] / count : 0;
    }
}

static const char *quantization_kernel(const void *plan)
{
    return ((const struct quantization_plan *)plan)->kernel->name;
}

/* ---- run ---- */

/* Elements that share a scale, and the line of the last dimension that is looked at. */
struct region {
    const struct quantization_plan *plan;
    const struct execution *execution;
    neo_dim scale_position[NEO_MAX_NDIMS], at[NEO_MAX_NDIMS]; /* at: within the region */
    float range[2];
    struct quantize_line line;
};

typedef void line_fn(struct region *region, neo_dim from, size_t count);

static neo_dim place(const struct region *region, enum tensor t, neo_dim from)
{
    const neo_memory_desc *desc = &region->execution->problem->tensors[t];
    neo_dim position[NEO_MAX_NDIMS];
    for (int d = 0; d < desc->ndims; d++)
        position[d] = region->scale_position[d] * region->plan->shared[d] + region->at[d];
    position[desc->ndims - 1] += from;
    return desc_offset(desc, position);
}

static const float *load(const struct region *region, neo_dim from, size_t count, float *buffer)
{
    const neo_memory_desc *src = &region->execution->problem->tensors[SRC];
    const void *data =
        line_at(&region->plan->src, region->execution->buffers[SRC], place(region, SRC, from));
    return lines_load(&region->plan->src, data, src->strides[src->ndims - 1], count, buffer);
}

static void find_range(struct region *region, neo_dim from, size_t count)
{
    float buffer[LINE_MOST];
    region->plan->kernel->range(count, load(region, from, count, buffer), region->range);
}

static void quantize(struct region *region, neo_dim from, size_t count)
{
    const neo_memory_desc *dst = &region->execution->problem->tensors[DST];
    const struct quantize_kernel *kernel = region->plan->kernel;
    bool divides = region->plan->algorithm == NEO_QUANTIZATION_DIVIDE;
    neo_dim step = dst->strides[dst->ndims - 1];
    uint8_t *to = (uint8_t *)region->execution->buffers[DST] + place(region, DST, from);
    float buffer[LINE_MOST];
    uint8_t apart[LINE_MOST], *bytes = step == 1 ? to : apart;
    region->line.n = count;
    region->line.src = load(region, from, count, buffer);
    region->line.dst = bytes;
    (divides ? kernel->divide : kernel->multiply)(&region->line);
    for (size_t i = 0; step != 1 && i < count; i++)
        to[(neo_dim)i * step] = bytes[i];
}

/* To the next line of the region; false after the last one. */
static bool next_line(struct region *region, int last)
{
    for (int d = last - 1; d >= 0; d--) {
        if (++region->at[d] < region->plan->shared[d])
            return true;
        region->at[d] = 0;
    }
    return false;
}

static void for_each_line(struct region *region, line_fn *run)
{
    int last = region->execution->problem->tensors[DST].ndims - 1;
    neo_dim length = region->plan->shared[last];
    do
        for (neo_dim from = 0; from < length; from += LINE_MOST)
            run(region, from, min_size(LINE_MOST, (size_t)(length - from)));
    while (next_line(region, last));
}

/* The scale and the zero point, also as the line wants them. */
static float choose(struct region *region)
{
    const struct quantization_plan *plan = region->plan;
    bool is_symmetric = plan->algorithm == NEO_QUANTIZATION_SYMMETRIC;
    float low = region->range[0], high = region->range[1];
    float scale = is_symmetric ? fmaxf(high, -low) / 127 : (high - low) / 255;
    scale = scale == 0 ? 1 : scale;
    region->line.zero =
        is_symmetric ? plan->least + 128
                     : s32_of_f32((float)plan->least - low / scale, plan->least, plan->least + 255);
    region->line.scale = plan->algorithm == NEO_QUANTIZATION_DIVIDE ? scale : 1 / scale;
    return scale;
}

static void write_extra(const struct region *region, int extra, float value)
{
    const struct problem *problem = region->execution->problem;
    if (extra >= problem->extra_count)
        return;
    const neo_memory_desc *desc = &problem->extras[extra].desc;
    element_write_f32(element_of(desc->data_type), region->execution->extras[extra],
                      (ptrdiff_t)desc_offset(desc, region->scale_position), value);
}

static void run_regions(void *argument, struct span regions, int slot)
{
    const struct lines_task *task = argument;
    const neo_memory_desc *scales = &task->execution->problem->extras[SCALE].desc;
    (void)slot;
    for (size_t r = regions.begin; r < regions.end; r++) {
        struct region region = {.plan = task->plan, .execution = task->execution};
        size_t index = r;
        for (int d = scales->ndims - 1; d >= 0; index /= (size_t)scales->dims[d--])
            region.scale_position[d] = (neo_dim)(index % (size_t)scales->dims[d]);
        for_each_line(&region, find_range);
        write_extra(&region, SCALE, choose(&region));
        write_extra(&region, ZERO_POINT, (float)region.line.zero);
        for_each_line(&region, quantize);
    }
}

static void quantization_run(const void *plan, const struct execution *execution)
{
    lines_run(execution, plan, ((const struct quantization_plan *)plan)->regions, run_regions);
}

/* ---- tables ---- */

static const struct type_set quantization_types[] = {
    {{1 << NEO_F32 | 1 << NEO_F16 | 1 << NEO_BF16, 0, 0, 1 << NEO_S8 | 1 << NEO_U8}},
    {{0}},
};

static const struct algorithm quantization_lines = {
    .name = "lines",
    .types = quantization_types,
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = quantization_estimate,
    .plan = quantization_plan,
    .plan_bytes = sizeof(struct quantization_plan),
    .kernel = quantization_kernel,
    .run = quantization_run,
};

static const struct algorithm *const quantization_algorithms[] = {&quantization_lines};

static bool quantization_writes(const struct problem *problem, int arg)
{
    (void)problem;
    return arg == NEO_ARG_SCALE || arg == NEO_ARG_SHIFT;
}

static const struct operation quantization_operation = {
    .name = "quantization",
    .parameter_bytes = sizeof(struct quantization_parameters),
    .takes_all_types = true,
    .writes = quantization_writes,
    .check = quantization_check,
    .types = quantization_types,
    .algorithms = quantization_algorithms,
    .algorithm_count = count_of(quantization_algorithms),
    .describe = lines_describe,
};

neo_status neo_quantization_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_quantization algorithm,
    const neo_memory_desc *src, const neo_memory_desc *dst, const neo_memory_desc *scale,
    const neo_memory_desc *zero_point, const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst || !scale);
    if (status != NEO_OK)
        return status;
    struct quantization_parameters parameters = {(uint64_t)algorithm};
    struct extra extras[2] = {{NEO_ARG_SCALE, *scale}};
    if (zero_point)
        extras[ZERO_POINT] = (struct extra){NEO_ARG_SHIFT, *zero_point};
    struct description description = {
        .operation = &quantization_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
        .extra_count = zero_point ? 2 : 1,
        .extras = extras,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
