/* Resampling by lines of dst: along channels a line is a sum of lines of src; along space its
 * elements are gathered. */
#include "neoprene/resampling.h"

#include <math.h>

#include "kernels/elementwise/f32/binary.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

struct resampling_parameters {
    int64_t algorithm; /* neo_resampling */
};

struct resampling_plan {
    struct walk walk;
    struct line_type src, dst;
    int space;
    bool linear;
    sum_f32_fn *add;
    blend_f32_fn *blend;
    bool reads_dst; /* what dst held before is wanted after a line is made */
    bool in_place;  /* what is blended along channels is what dst is to hold there */
};

static neo_resampling algorithm_of(const struct problem *problem)
{
    return (neo_resampling)((const struct resampling_parameters *)(const void *)problem->parameters)
        ->algorithm;
}

static const char *resampling_check(struct problem *problem, bool *unsupported)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    if ((unsigned)algorithm_of(problem) > NEO_RESAMPLING_LINEAR)
        return "the algorithm is unknown";
    if (src->ndims != dst->ndims || src->ndims < 3 || src->ndims > 5)
        return "src and dst do not have the same number of dimensions, 3 to 5";
    (void)unsupported;
    if (!lines_is_same_size(src->dims[0], dst->dims[0]) ||
        !lines_is_same_size(src->dims[1], dst->dims[1]))
        return "src and dst do not have the same batch and channels";
    for (int i = 2; i < src->ndims; i++)
        if (src->dims[i] == 0 && dst->dims[i] != 0)
            return "src has no pixels";
    return NULL;
}

static double resampling_estimate(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    (void)self, (void)cpu;
    int taps =
        algorithm_of(problem) == NEO_RESAMPLING_LINEAR ? 1 << (problem->tensors[DST].ndims - 2) : 1;
    return lines_cycles(problem, 1 + 2 * taps);
}

static void resampling_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct resampling_plan *mine = plan;
    mine->src = line_type(problem->tensors[SRC].data_type, cpu);
    mine->dst = line_type(problem->tensors[DST].data_type, cpu);
    mine->space = problem->tensors[DST].ndims - 2;
    mine->linear = algorithm_of(problem) == NEO_RESAMPLING_LINEAR;
    mine->add = sum_f32_find(cpu->features)->run;
    mine->blend = blend_f32_find(cpu->features)->run;
    mine->reads_dst = post_ops_fusion(problem).reads_dst;
    mine->in_place = !problem->attributes.post_op_count &&
                     !problem->attributes.quantization_count && mine->dst.element == ELEMENT_F32 &&
                     problem->tensors[DST].strides[1] == 1;
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    walk_init(&mine->walk, &problem->tensors[DST], NULL, 0, true, LINE_MOST);
}

static const char *resampling_kernel(const void *plan)
{
    return ((const struct resampling_plan *)plan)->linear ? "linear_f32" : "nearest_f32";
}

/* What pixel o of `out` ones is made of, of `in` ones: at most two. */
struct pixels {
    neo_dim at[2];
    float weights[2];
};

/* The nearest one that there is: f32 does not tell large positions apart. */
static neo_dim pixel_within(neo_dim pixel, neo_dim in)
{
    return pixel < 0 ? 0 : pixel < in ? pixel : in - 1;
}

static struct pixels pixels_of(const struct resampling_plan *plan, neo_dim o, neo_dim out,
                               neo_dim in)
{
    float x = ((float)o + 0.5f) * (float)in / (float)out - 0.5f;
    if (!plan->linear)
        return (struct pixels){{pixel_within((neo_dim)roundf(x), in), 0}, {1, 0}};
    float left = floorf(x);
    neo_dim first = (neo_dim)left;
    return (struct pixels){{pixel_within(first, in), pixel_within(first + 1, in)},
                           {1 - (x - left), x - left}};
}

/* A line that is being made. */
struct resampling_line {
    const struct resampling_plan *plan;
    const struct execution *execution;
    struct line line;
    float values[LINE_MOST];
};

/* Of the dimensions of space but the line's own one, pixel number `which` of each (a bit a
 * dimension): where that is in src, and its weight; a weight of 0 where there is no such pixel. */
static neo_dim locate(const struct resampling_line *l, unsigned which, float *weight)
{
    const neo_memory_desc *src = &l->execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
    neo_dim offset = 0;
    *weight = 1;
    for (int i = 0; i < dst->ndims; i++) {
        neo_dim position = l->line.position[i];
        if (i >= 2 && i != l->line.direction) {
            struct pixels p = pixels_of(l->plan, position, dst->dims[i], src->dims[i]);
            position = p.at[which >> (i - 2) & 1];
            *weight *= p.weights[which >> (i - 2) & 1];
        }
        if (i < 2 || i != l->line.direction)
            offset += position * src->strides[i];
    }
    return offset;
}

/* Along channels or images: one more line of src. */
static void add_line(struct resampling_line *l, const void *data, float weight)
{
    const neo_memory_desc *src = &l->execution->problem->tensors[SRC];
    float buffer[LINE_MOST];
    const float *x =
        lines_load(&l->plan->src, data, src->strides[l->line.direction], l->line.count, buffer);
    l->plan->add(l->line.count, l->values, x, weight, 0, l->values);
}

/* Along a dimension of space: each element has its own pixels. */
static void add_pixels(struct resampling_line *l, const void *data, float weight)
{
    const neo_memory_desc *src = &l->execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
    int d = l->line.direction;
    for (size_t i = 0; i < l->line.count; i++) {
        neo_dim o = l->line.position[d] + (neo_dim)i;
        struct pixels p = pixels_of(l->plan, o, dst->dims[d], src->dims[d]);
        for (int t = 0; t < 2 && p.weights[t] != 0; t++) { /* as of lines: 0 times NaN is 0 */
            float x = element_read_f32(l->plan->src.element, data, p.at[t] * src->strides[d]);
            l->values[i] += x * p.weights[t] * weight;
        }
    }
}

/* Lines of f32 along channels are blended where they are, also into dst. */
static bool blends(const struct resampling_line *l)
{
    const struct problem *problem = l->execution->problem;
    return l->line.direction == 1 && l->plan->src.element == ELEMENT_F32 &&
           problem->tensors[SRC].strides[1] == 1;
}

/* What is blended: lines of src with weights other than 0. */
struct blended {
    size_t count;
    const float *lines[8];
    float weights[8];
};

/* Each line becomes the two that are that far apart along one more dimension. */
static void add_dimension(struct blended *b, const struct pixels *p, neo_dim stride)
{
    size_t count = b->count;
    for (size_t t = 0; t < count; t++) {
        if (p->weights[1] != 0) {
            b->lines[b->count] = b->lines[t] + p->at[1] * stride;
            b->weights[b->count++] = b->weights[t] * p->weights[1];
        }
        b->lines[t] += p->at[0] * stride;
        b->weights[t] *= p->weights[0];
    }
}

static void add_space(const struct resampling_line *l, struct blended *b, int i, neo_dim position)
{
    const struct problem *problem = l->execution->problem;
    const neo_memory_desc *src = &problem->tensors[SRC];
    struct pixels p = pixels_of(l->plan, position, problem->tensors[DST].dims[i], src->dims[i]);
    add_dimension(b, &p, src->strides[i]);
}

/* Lines of so many pixels along the last dimension: the others are found once. */
static void blend_lines(const struct resampling_line *l, size_t pixels, float *values)
{
    const neo_memory_desc *src = &l->execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
    const neo_dim *position = l->line.position;
    int last = dst->ndims - 1;
    struct blended rows; /* not cleared: what is counted is set */
    rows.count = 1;
    rows.weights[0] = 1;
    rows.lines[0] =
        (const float *)l->execution->buffers[SRC] + position[0] * src->strides[0] + position[1];
    for (int i = 2; i < last; i++)
        add_space(l, &rows, i, position[i]);
    for (size_t p = 0; p < pixels; p++) {
        struct blended b = rows;
        add_space(l, &b, last, position[last] + (neo_dim)p);
        l->plan->blend(l->line.count, b.count, b.lines, b.weights,
                       values + (neo_dim)p * dst->strides[last]);
    }
}

static void finish(struct resampling_line *l, float *values, void *data)
{
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
    finish_line(l->execution, &l->line, values, false, data, dst->strides[l->line.direction]);
}

static void *dst_line(const struct resampling_line *l)
{
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
    return line_at(&l->plan->dst, l->execution->buffers[DST], desc_offset(dst, l->line.position));
}

static void make_line(struct resampling_line *l)
{
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
    bool along_space = l->line.direction >= 2;
    void *data = dst_line(l);
    if (blends(l)) {
        float *values = lines_place(&l->plan->dst, l->plan->reads_dst, data,
                                    dst->strides[l->line.direction], l->values);
        blend_lines(l, 1, values);
        finish(l, values, data);
        return;
    }
    for (size_t i = 0; i < l->line.count; i++)
        l->values[i] = 0;
    for (unsigned which = 0; which < 1u << l->plan->space; which++) {
        bool is_own = along_space && which >> (l->line.direction - 2) & 1;
        float weight;
        neo_dim offset = locate(l, which, &weight);
        if (is_own || weight == 0)
            continue;
        const void *from = line_at(&l->plan->src, l->execution->buffers[SRC], offset);
        if (along_space)
            add_pixels(l, from, weight);
        else
            add_line(l, from, weight);
    }
    finish(l, l->values, data);
}

/* How many tiles from this one on are pixels of one row that are blended in dst; 0: this one is
 * not. */
static size_t row_tiles(const struct resampling_line *l, const struct walk_chunk *chunk)
{
    const struct walk *walk = &l->plan->walk;
    int outer = walk->ndims - 2, last = l->execution->problem->tensors[DST].ndims - 1;
    bool is_row = outer >= 0 && walk->dimension[outer] == last && walk->chunks == 1;
    return is_row && l->plan->in_place && blends(l) ? walk->sizes[outer] - chunk->index[outer] : 0;
}

static void make_lines(void *argument, struct span tiles, int slot)
{
    const struct lines_task *task = argument;
    struct resampling_line l; /* not cleared: make_line() sets what is read */
    (void)slot;
    l.plan = task->plan;
    l.execution = task->execution;
    for (size_t i = tiles.begin, count; i < tiles.end; i += count) {
        struct walk_chunk chunk = walk_chunk(&l.plan->walk, i);
        walk_line(&l.plan->walk, &chunk, &l.line);
        count = min_size(row_tiles(&l, &chunk), tiles.end - i);
        if (count > 0) {
            blend_lines(&l, count, dst_line(&l));
        } else {
            make_line(&l);
            count = 1;
        }
    }
}

static void resampling_run(const void *plan, const struct execution *execution)
{
    lines_run(execution, plan, ((const struct resampling_plan *)plan)->walk.tiles, make_lines);
}

static const struct algorithm resampling_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = resampling_estimate,
    .plan = resampling_plan,
    .plan_bytes = sizeof(struct resampling_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = resampling_kernel,
    .run = resampling_run,
};

static const struct algorithm *const resampling_algorithms[] = {&resampling_lines};

static const struct operation resampling_operation = {
    .name = "resampling",
    .parameter_bytes = sizeof(struct resampling_parameters),
    .takes_all_types = true,
    .check = resampling_check,
    .algorithms = resampling_algorithms,
    .algorithm_count = count_of(resampling_algorithms),
    .describe = lines_describe,
};

static bool fits_factors(const float *factors, const neo_memory_desc *src,
                         const neo_memory_desc *dst)
{
    for (int i = 2; factors && i < src->ndims && i < 5; i++) {
        bool are_known = src->dims[i] != NEO_RUNTIME_DIM && dst->dims[i] != NEO_RUNTIME_DIM;
        if (are_known && (neo_dim)floorf((float)src->dims[i] * factors[i - 2]) != dst->dims[i])
            return false;
    }
    return true;
}

neo_status neo_resampling_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                neo_prop_kind prop_kind, neo_resampling algorithm,
                                                const float *factors, const neo_memory_desc *src,
                                                const neo_memory_desc *dst,
                                                const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    if (!fits_factors(factors, src, dst))
        return log_refusal(__func__, "a size of dst is not src's by its factor");
    struct resampling_parameters parameters = {(int64_t)algorithm};
    struct description description = {
        .operation = &resampling_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
        .prop_kind = prop_kind,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
