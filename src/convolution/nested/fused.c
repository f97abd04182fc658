/* A convolution with a depthwise post-operation, as blocks of mobile networks begin: two nested
 * convolutions one after the other, with the image in between in the scratchpad, where the second
 * one finds it in the caches if these hold it.
 *
 * It is an operation by itself, since its dst is not the convolution's: that is the `between` of
 * the post-operation, and the depthwise weights and bias are extra tensors. All that can be wrong
 * with either convolution, and all that is chosen for it, is its own business: each is made a
 * problem, and asked. */
#include "src/convolution/nested/fused.h"

#include <string.h>

#include "src/convolution/convolution.h"
#include "src/core/log.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/quantization.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"

enum { BASE, DEPTHWISE, STAGES };
enum { DW_WEIGHTS, DW_BIAS }; /* extra tensors; the latter may be missing */

struct fused_plan {
    size_t between_bytes;
    struct part parts[STAGES];
};

static struct post_op *depthwise_of(const struct problem *whole)
{
    return &whole->attributes.post_ops[post_ops_depthwise(&whole->attributes)];
}

/* ---- attributes ---- */

/* What an argument that has scales or zero points is to one of the two; -1: nothing. */
static int argument_in(int stage, int arg, int depthwise)
{
    int first = NEO_ARG_ATTR_MULTIPLE_POST_OP(0);
    if (arg >= first) {
        int index = arg / first - 1;
        if (stage == BASE)
            return index < depthwise ? arg : -1;
        return index > depthwise ? arg - NEO_ARG_ATTR_MULTIPLE_POST_OP(depthwise) : -1;
    }
    if (stage == BASE)
        return arg & NEO_ARG_ATTR_POST_OP_DW ? -1 : arg;
    if (arg == NEO_ARG_DST)
        return NEO_ARG_SRC;
    return arg & NEO_ARG_ATTR_POST_OP_DW ? arg ^ NEO_ARG_ATTR_POST_OP_DW : -1;
}

/* Attributes keep them by rising argument. */
static void insert(neo_attributes *to, struct part *part, struct quantization q, int number)
{
    int at = to->quantization_count++;
    for (; at > 0 && to->quantizations[at - 1].arg > q.arg; at--) {
        to->quantizations[at] = to->quantizations[at - 1];
        part->quantizations[at] = part->quantizations[at - 1];
    }
    to->quantizations[at] = q;
    part->quantizations[at] = (uint8_t)number;
}

/* Those of one of the two. Post-operations stay the whole's. */
static void split_attributes(neo_attributes *to, struct part *part, const struct problem *whole,
                             int stage)
{
    const neo_attributes *from = &whole->attributes;
    const int values = NEO_ARG_ATTR_SCALES | NEO_ARG_ATTR_ZERO_POINTS;
    int depthwise = post_ops_depthwise(from);
    *to = *from;
    to->quantization_count = 0;
    part->first_post_op = stage == BASE ? 0 : depthwise + 1;
    to->post_ops += part->first_post_op;
    to->post_op_count = stage == BASE ? depthwise : from->post_op_count - depthwise - 1;
    for (int i = 0; i < from->quantization_count; i++) {
        struct quantization q = from->quantizations[i];
        int arg = argument_in(stage, q.arg & ~values, depthwise);
        if (arg < 0)
            continue;
        q.arg = arg | (q.arg & values);
        insert(to, part, q, i);
    }
}

/* ---- the two problems ---- */

static void make_base(struct problem *base, struct part *part, const struct problem *whole)
{
    neo_attributes attributes;
    split_attributes(&attributes, part, whole, BASE);
    struct description description = {
        .operation = &convolution_operation,
        .tensors = {&whole->tensors[SRC], &whole->tensors[WEIGHTS], &whole->tensors[BIAS],
                    &depthwise_of(whole)->depthwise.between},
        .attributes = &attributes,
        .prop_kind = whole->prop_kind,
        .convolution_algorithm = whole->convolution_algorithm,
        .window = &whole->window,
    };
    problem_init(base, &description);
}

/* Dst tells how much padding is on the right. */
static struct window window_between(const struct post_op *op, const neo_memory_desc *dst)
{
    const neo_memory_desc *between = &op->depthwise.between;
    neo_dim stride = op->depthwise.stride;
    struct window window = {.kernel = {0}};
    for (int i = 0; i < between->ndims - 2; i++) {
        window.strides[i] = stride;
        window.left[i] = op->depthwise.padding;
        window.right[i] = (dst->dims[2 + i] - 1) * stride + op->depthwise.kernel -
                          between->dims[2 + i] - op->depthwise.padding;
    }
    return window;
}

static void make_depthwise(struct problem *second, struct part *part, const struct problem *whole)
{
    neo_attributes attributes;
    split_attributes(&attributes, part, whole, DEPTHWISE);
    const struct post_op *op = depthwise_of(whole);
    struct window window = window_between(op, &whole->tensors[DST]);
    bool is_winograd = whole->convolution_algorithm == NEO_CONVOLUTION_WINOGRAD;
    struct description description = {
        .operation = &convolution_operation,
        .tensors = {&op->depthwise.between, &whole->extras[DW_WEIGHTS].desc,
                    whole->extra_count > DW_BIAS ? &whole->extras[DW_BIAS].desc : NULL,
                    &whole->tensors[DST]},
        .attributes = &attributes,
        .prop_kind = whole->prop_kind,
        .convolution_algorithm = is_winograd ? NEO_CONVOLUTION_AUTO : whole->convolution_algorithm,
        .window = &window,
    };
    problem_init(second, &description);
}

static void make_stage(struct problem *problem, struct part *part, const struct problem *whole,
                       int stage)
{
    (stage == BASE ? make_base : make_depthwise)(problem, part, whole);
}

/* What has been chosen for one of the two becomes the whole's. */
static void take_layouts(struct problem *whole, const struct problem *problem, int stage)
{
    struct post_op *op = depthwise_of(whole);
    const neo_memory_desc *t = problem->tensors;
    if (stage == BASE) {
        whole->tensors[SRC] = t[SRC];
        whole->tensors[WEIGHTS] = t[WEIGHTS];
        whole->tensors[BIAS] = t[BIAS];
        op->depthwise.between = t[DST];
        memcpy(whole->shape, problem->shape, sizeof whole->shape); /* for its description */
        return;
    }
    whole->extras[DW_WEIGHTS].desc = t[WEIGHTS];
    if (whole->extra_count > DW_BIAS)
        whole->extras[DW_BIAS].desc = t[BIAS];
    whole->tensors[DST] = t[DST];
}

/* ---- checks ---- */

/* As algorithms take it: a check finds the scales and zero points of each tensor, too. */
static neo_status make_checked(struct problem *problem, struct part *part,
                               const struct problem *whole, int stage)
{
    make_stage(problem, part, whole, stage);
    return problem_check(problem);
}

static neo_status check_stage(const struct problem *whole, int stage)
{
    struct problem problem;
    struct part part;
    return make_checked(&problem, &part, whole, stage);
}

static const char *check_chain(const struct problem *whole)
{
    const neo_attributes *attributes = &whole->attributes;
    int depthwise = post_ops_depthwise(attributes);
    for (int i = 0; i < depthwise; i++) {
        if (attributes->post_ops[i].kind == NEO_POST_OP_DEPTHWISE)
            return "there are two depthwise post-operations";
        if (attributes->post_ops[i].kind == NEO_POST_OP_SUM)
            return "a sum in front of a depthwise post-operation: there is no dst that it could "
                   "add";
    }
    return NULL;
}

static const char *fused_check(struct problem *whole, bool *unsupported)
{
    static const char *const wrong[STAGES] = {
        "the convolution in front of a depthwise post-operation is refused",
        "the convolution that a depthwise post-operation is, is refused",
    };
    const char *why = check_chain(whole);
    if (why)
        return why;
    *unsupported =
        problem_is_runtime(whole) || desc_is_runtime(&depthwise_of(whole)->depthwise.between);
    if (*unsupported)
        return "sizes that are known late do not go with a depthwise post-operation";
    for (int stage = BASE; stage < STAGES; stage++) {
        neo_status status = check_stage(whole, stage);
        *unsupported = status == NEO_UNSUPPORTED;
        if (status != NEO_OK)
            return wrong[stage];
    }
    return NULL;
}

/* Each of the two has checked its own. */
static const char *fused_check_quantization(const struct problem *whole,
                                            const struct quantization *q, enum tensor t)
{
    (void)whole, (void)q, (void)t;
    return NULL;
}

/* ---- layouts ---- */

static __attribute__((noinline)) void derive_stage(struct problem *whole, int stage)
{
    struct problem problem;
    struct part part;
    make_stage(&problem, &part, whole, stage);
    convolution_derive(&problem);
    take_layouts(whole, &problem, stage);
}

static void fused_derive(struct problem *whole)
{
    for (int stage = BASE; stage < STAGES; stage++)
        derive_stage(whole, stage);
}

/* *problem: one of the two. */
static __attribute__((noinline)) struct candidate
find_best(struct problem *problem, const struct problem *whole, int stage, const struct cpu *cpu)
{
    struct part part;
    if (make_checked(problem, &part, whole, stage) != NEO_OK)
        return (struct candidate){.algorithm = NULL};
    return selection_best(problem, NULL, cpu);
}

static __attribute__((noinline)) struct candidate best_of(const struct problem *whole, int stage,
                                                          const struct cpu *cpu)
{
    struct problem problem;
    return find_best(&problem, whole, stage, cpu);
}

static __attribute__((noinline)) void choose_stage(struct problem *whole, int stage,
                                                   const struct cpu *cpu)
{
    struct problem problem;
    const struct algorithm *best = find_best(&problem, whole, stage, cpu).algorithm;
    if (best && best->choose)
        best->choose(best, &problem, cpu);
    take_layouts(whole, &problem, stage);
}

static void fused_choose(const struct algorithm *self, struct problem *whole, const struct cpu *cpu)
{
    (void)self;
    for (int stage = BASE; stage < STAGES; stage++)
        choose_stage(whole, stage, cpu);
}

/* ---- the algorithm ---- */

static const char *fused_refuse(const struct algorithm *self, const struct problem *whole,
                                const struct cpu *cpu)
{
    (void)self;
    if (!best_of(whole, BASE, cpu).algorithm)
        return "no algorithm serves the convolution in front of the depthwise one";
    return best_of(whole, DEPTHWISE, cpu).algorithm ? NULL
                                                    : "no algorithm serves the depthwise one";
}

static double fused_estimate(const struct algorithm *self, const struct problem *whole,
                             const struct cpu *cpu)
{
    (void)self;
    return best_of(whole, BASE, cpu).cost.cycles + best_of(whole, DEPTHWISE, cpu).cost.cycles;
}

static void plan_part(struct part *part, const struct problem *whole, int stage)
{
    neo_attributes attributes;
    split_attributes(&attributes, part, whole, stage);
}

static void fused_fill_plan(void *plan, const struct problem *whole, const struct cpu *cpu)
{
    struct fused_plan *mine = plan;
    (void)cpu;
    mine->between_bytes = neo_memory_desc_size(&depthwise_of(whole)->depthwise.between);
    for (int stage = BASE; stage < STAGES; stage++)
        plan_part(&mine->parts[stage], whole, stage);
}

static __attribute__((noinline)) neo_status nest(struct implementation *implementation,
                                                 const struct problem *problem)
{
    struct description description = problem_describe(problem);
    return implementation_nest(implementation, &description);
}

static neo_status nest_stage(struct implementation *implementation, int stage)
{
    struct problem problem;
    struct part part;
    make_stage(&problem, &part, &implementation->problem, stage);
    return nest(implementation, &problem);
}

static neo_status fused_nest(struct implementation *implementation)
{
    neo_status status = nest_stage(implementation, BASE);
    return status == NEO_OK ? nest_stage(implementation, DEPTHWISE) : status;
}

static size_t fused_scratch_bytes(const void *plan, int threads)
{
    const struct fused_plan *mine = plan;
    (void)threads;
    return mine->between_bytes;
}

static const char *fused_kernel(const void *plan)
{
    (void)plan;
    return "convolution and depthwise";
}

static void fused_run(const void *plan, const struct execution *execution)
{
    const struct fused_plan *mine = plan;
    void *const *given = execution->buffers, *between = execution->scratch;
    bool has_bias = execution->problem->extra_count > DW_BIAS;
    void *const base[TENSOR_COUNT] = {
        [SRC] = given[SRC], [WEIGHTS] = given[WEIGHTS], [BIAS] = given[BIAS], [DST] = between};
    void *const second[TENSOR_COUNT] = {
        [SRC] = between,
        [WEIGHTS] = execution->extras[DW_WEIGHTS],
        [BIAS] = has_bias ? execution->extras[DW_BIAS] : NULL,
        [DST] = given[DST],
    };
    implementation_run_part(execution, BASE, base, &mine->parts[BASE]);
    implementation_run_part(execution, DEPTHWISE, second, &mine->parts[DEPTHWISE]);
}

static const struct algorithm fused = {
    .name = "depthwise_after",
    .quantizes = true,
    .refuse = fused_refuse,
    .choose = fused_choose,
    .estimate = fused_estimate,
    .plan = fused_fill_plan,
    .plan_bytes = sizeof(struct fused_plan),
    .nest = fused_nest,
    .scratch_bytes = fused_scratch_bytes,
    .kernel = fused_kernel,
    .run = fused_run,
};

static const struct algorithm *const fused_algorithms[] = {&fused};

static const struct operation fused_operation = {
    .name = "convolution",
    .takes_all_types = true,
    .check = fused_check,
    .check_quantization = fused_check_quantization,
    .derive = fused_derive,
    .algorithms = fused_algorithms,
    .algorithm_count = count_of(fused_algorithms),
    .describe = convolution_describe,
};

/* ---- descriptions ---- */

/* Dense, in the order of what is given. */
static void lay_like(neo_memory_desc *desc, const neo_memory_desc *given)
{
    desc->offset = 0;
    if (given->format_kind == NEO_FORMAT_STRIDED) {
        desc->format_kind = NEO_FORMAT_ANY;
        desc_set_order_of(desc, given);
    }
}

/* Of a number of dimensions that convolutions have. */
static neo_memory_desc result_of(const struct post_op *op, const neo_memory_desc *between)
{
    neo_memory_desc dst = *between;
    dst.data_type = op->depthwise.dst;
    for (int i = 2; i < dst.ndims; i++)
        if (dst.dims[i] > 0)
            dst.dims[i] = (dst.dims[i] - 1) / op->depthwise.stride + 1;
    lay_like(&dst, between);
    return dst;
}

static int make_extras(struct extra *extras, const struct post_op *op,
                       const neo_memory_desc *between)
{
    neo_dim channels = between->dims[1];
    neo_memory_desc weights = {.ndims = between->ndims + 1,
                               .data_type = op->depthwise.weights,
                               .format_kind = NEO_FORMAT_ANY,
                               .dims = {channels, 1, 1}};
    neo_memory_desc bias = {.ndims = 1,
                            .data_type = op->depthwise.bias,
                            .format_kind = NEO_FORMAT_ANY,
                            .dims = {channels}};
    for (int i = 3; i < weights.ndims; i++)
        weights.dims[i] = op->depthwise.kernel;
    extras[DW_WEIGHTS] = (struct extra){NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_WEIGHTS, weights};
    extras[DW_BIAS] = (struct extra){NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_BIAS, bias};
    return op->depthwise.bias == NEO_DATA_TYPE_UNDEF ? DW_BIAS : DW_BIAS + 1;
}

static neo_status create_by(neo_primitive_desc **out, neo_engine *engine,
                            const struct description *convolution, neo_attributes *attributes)
{
    struct post_op *op = &attributes->post_ops[post_ops_depthwise(attributes)];
    struct extra extras[2];
    struct description whole = *convolution;
    op->depthwise.between = *convolution->tensors[DST];
    neo_memory_desc dst = result_of(op, &op->depthwise.between);
    lay_like(&op->depthwise.between, convolution->tensors[DST]);
    whole.operation = &fused_operation;
    whole.tensors[DST] = &dst;
    whole.attributes = attributes;
    whole.extra_count = make_extras(extras, op, &op->depthwise.between);
    whole.extras = extras;
    return primitive_desc_create(out, engine, &whole);
}

neo_status fused_create(neo_primitive_desc **out, neo_engine *engine,
                        const struct description *convolution)
{
    neo_attributes attributes;
    int ndims = convolution->tensors[DST]->ndims;
    if (ndims < 3 || ndims > 5)
        return log_refusal("convolution", "dst does not have 3, 4 or 5 dimensions");
    neo_status status = attributes_init_copy(&attributes, convolution->attributes);
    if (status == NEO_OK)
        status = create_by(out, engine, convolution, &attributes);
    attributes_deinit(&attributes);
    return status;
}
