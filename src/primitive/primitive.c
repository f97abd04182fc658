/* Handles: creation with a resource, execution with checks, destruction. */
#include "src/primitive/primitive.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/descriptor.h"
#include "src/primitive/memory.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/resource.h"

/* ---- life ---- */

neo_status neo_primitive_create(neo_primitive **out, const neo_primitive_desc *pd)
{
    if (out)
        *out = NULL;
    if (!out || !pd)
        return primitive_desc_refuse(__func__, "out or pd is NULL");
    struct implementation *impl = pd->implementation;
    neo_primitive *primitive = handle_create(handle_engine(&pd->handle));
    if (!primitive)
        return NEO_OUT_OF_MEMORY;
    neo_status status = create_resource(impl, primitive->tokens);
    if (status != NEO_OK) {
        handle_destroy(&primitive->desc.handle);
        return status;
    }
    primitive->desc.implementation = implementation_retain(impl);
    primitive->desc.index = pd->index;
    primitive->desc.cache_hit = pd->cache_hit;
    *out = primitive;
    return NEO_OK;
}

void neo_primitive_destroy(neo_primitive *primitive)
{
    if (!primitive)
        return;
    struct implementation *impl = primitive->desc.implementation;
    if (atomic_load_explicit(&primitive->tokens->running, memory_order_acquire)) {
        log_error("%s: the primitive is being executed; it is not destroyed", __func__);
        return;
    }
    destroy_resource(impl, primitive->tokens);
    implementation_release(impl);
    handle_destroy(&primitive->desc.handle);
}

const neo_primitive_desc *neo_primitive_get_desc(const neo_primitive *primitive)
{
    return primitive ? &primitive->desc : NULL;
}

/* ---- arguments ---- */

enum { MAX_ARGS = TENSOR_COUNT + NEO_MAX_POST_OPS + 1 };

/* The arguments of one execution, each at its place. */
struct arguments {
    neo_memory *tensors[TENSOR_COUNT];
    neo_memory *operands[NEO_MAX_POST_OPS];
    neo_memory *scratchpad;
};

static neo_status refuse_argument(const struct problem *problem, int arg, const char *why)
{
    log_check("neo_primitive_execute: %s: argument %d %s", problem->operation->name, arg, why);
    return NEO_INVALID_ARGUMENT;
}

/* The place of an argument, or NULL if the primitive has no such one. */
static neo_memory **argument_place(const struct problem *problem, struct arguments *args, int arg)
{
    static const int names[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS,
                                            NEO_ARG_DST};
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (arg == names[t])
            return problem->tensors[t].ndims ? &args->tensors[t] : NULL;
    if (arg == NEO_ARG_SCRATCHPAD)
        return &args->scratchpad;
    const neo_attributes *attributes = &problem->attributes;
    int index = arg / NEO_ARG_ATTR_MULTIPLE_POST_OP(0) - 1;
    if (index < 0 || index >= attributes->post_op_count)
        return NULL;
    const struct post_op *op = &attributes->post_ops[index];
    bool is_operand = post_op_operand(op) && arg == post_op_argument(op, index);
    return is_operand ? &args->operands[index] : NULL;
}

static neo_status collect_arguments(const struct problem *problem, struct arguments *args,
                                    int count, const neo_exec_arg *list)
{
    for (int i = 0; i < count; i++) {
        neo_memory **place = argument_place(problem, args, list[i].arg);
        if (!place)
            return refuse_argument(problem, list[i].arg, "is not one of the primitive's");
        if (*place)
            return refuse_argument(problem, list[i].arg, "is given twice");
        if (!list[i].memory)
            return refuse_argument(problem, list[i].arg, "has no memory");
        *place = list[i].memory;
    }
    return NEO_OK;
}

static neo_status check_argument(const struct problem *problem, const neo_engine *engine, int arg,
                                 const neo_memory_desc *expected, const neo_memory *memory)
{
    if (!memory)
        return refuse_argument(problem, arg, "is missing");
    if (memory->engine != engine)
        return refuse_argument(problem, arg, "belongs to another engine");
    if (!desc_matches(expected, &memory->desc)) {
        char wanted[DESC_TEXT_BYTES], given[DESC_TEXT_BYTES];
        log_check("neo_primitive_execute: %s: argument %d is %s, not %s", problem->operation->name,
                  arg, desc_text(&memory->desc, given, sizeof given),
                  desc_text(expected, wanted, sizeof wanted));
        return NEO_INVALID_ARGUMENT;
    }
    if (!memory->handle && !desc_is_empty(&memory->desc))
        return refuse_argument(problem, arg, "has no buffer");
    return NEO_OK;
}

static neo_status check_arguments(const struct problem *problem, const neo_engine *engine,
                                  const struct arguments *args)
{
    static const int names[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS,
                                            NEO_ARG_DST};
    neo_status status = NEO_OK;
    for (int t = 0; t < TENSOR_COUNT && status == NEO_OK; t++)
        if (problem->tensors[t].ndims)
            status =
                check_argument(problem, engine, names[t], &problem->tensors[t], args->tensors[t]);
    for (int i = 0; i < problem->attributes.post_op_count && status == NEO_OK; i++) {
        const struct post_op *op = &problem->attributes.post_ops[i];
        if (post_op_operand(op))
            status = check_argument(problem, engine, post_op_argument(op, i), post_op_operand(op),
                                    args->operands[i]);
    }
    return status;
}

/* ---- run-time sizes ---- */

/* The problem of one execution, for primitives that learn their sizes from it. */
struct concrete {
    struct problem problem;
    struct post_op post_ops[NEO_MAX_POST_OPS];
    _Alignas(64) unsigned char plan[PLAN_MAX_BYTES];
};

/* Sizes that the arguments agree on, checked as a description is. The weights of prelu follow from
 * dst, so they are compared once more. */
static neo_status make_concrete(struct concrete *concrete, const struct implementation *impl,
                                const struct arguments *args)
{
    concrete->problem = impl->problem;
    int count = impl->problem.attributes.post_op_count;
    if (count)
        memcpy(concrete->post_ops, impl->problem.attributes.post_ops,
               (size_t)count * sizeof *concrete->post_ops);
    concrete->problem.attributes.post_ops = concrete->post_ops;
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (args->tensors[t])
            concrete->problem.tensors[t] = args->tensors[t]->desc;
    for (int i = 0; i < count; i++)
        if (concrete->post_ops[i].kind == NEO_POST_OP_BINARY)
            concrete->post_ops[i].binary.src1 = args->operands[i]->desc;
    bool unsupported = false;
    const char *wrong = impl->problem.operation->check(&concrete->problem, &unsupported);
    if (!wrong)
        wrong = post_ops_check(&concrete->problem, &unsupported);
    if (!wrong && desc_overlaps_itself(&concrete->problem.tensors[DST]))
        wrong = "elements of dst overlap each other";
    for (int i = 0; i < count && !wrong; i++)
        if (concrete->post_ops[i].kind == NEO_POST_OP_PRELU &&
            !neo_memory_desc_equal(&concrete->post_ops[i].prelu.weights, &args->operands[i]->desc))
            wrong = "prelu's weights do not have dst's sizes where its mask has a bit";
    if (wrong)
        return primitive_desc_refuse("neo_primitive_execute", wrong);
    memset(concrete->plan, 0, impl->algorithm->plan_bytes);
    impl->algorithm->plan(concrete->plan, &concrete->problem, impl->engine->cpu);
    return NEO_OK;
}

/* ---- execution ---- */

static void *first_element(const neo_memory *memory)
{
    const neo_memory_desc *desc = &memory->desc;
    size_t offset = desc->format_kind == NEO_FORMAT_STRIDED ? (size_t)desc->offset : 0;
    return (unsigned char *)memory->handle + offset * neo_data_type_bits(desc->data_type) / 8;
}

static void fill_execution(struct execution *execution, const struct problem *problem,
                           const struct arguments *args)
{
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (args->tensors[t] && args->tensors[t]->handle)
            execution->buffers[t] = first_element(args->tensors[t]);
    for (int i = 0; i < problem->attributes.post_op_count; i++)
        if (args->operands[i] && args->operands[i]->handle)
            execution->operands[i] = first_element(args->operands[i]);
}

static neo_status check_user_scratch(const struct problem *problem, const neo_memory *memory,
                                     size_t bytes)
{
    if (bytes == 0)
        return NEO_OK;
    if (!memory || !memory->handle)
        return refuse_argument(problem, NEO_ARG_SCRATCHPAD, "is missing");
    if ((uintptr_t)memory->handle % SCRATCH_ALIGNMENT)
        return refuse_argument(problem, NEO_ARG_SCRATCHPAD, "is not aligned to 128 bytes");
    if (neo_memory_desc_size(&memory->desc) < bytes) {
        log_check("neo_primitive_execute: %s: the scratchpad has %zu bytes and needs %zu",
                  problem->operation->name, neo_memory_desc_size(&memory->desc), bytes);
        return NEO_INVALID_ARGUMENT;
    }
    return NEO_OK;
}

/* The plan of run-time sizes is not the implementation's own, and never has nested ones. */
static size_t scratch_bytes(const struct implementation *impl, const void *plan, int threads)
{
    return impl->runtime
               ? round_up(impl->algorithm->scratch_bytes(plan, threads), SCRATCH_ALIGNMENT)
               : implementation_scratch_bytes(impl, threads);
}

/* Runs with a scratchpad from where the attributes say. */
static neo_status run_with_scratch(const neo_primitive *primitive, const void *plan,
                                   struct execution *execution, const struct arguments *args)
{
    struct implementation *impl = primitive->desc.implementation;
    size_t bytes = scratch_bytes(impl, plan, execution->threads);
    if (impl->problem.attributes.scratchpad == NEO_SCRATCHPAD_USER) {
        neo_status status = check_user_scratch(&impl->problem, args->scratchpad, bytes);
        if (status != NEO_OK)
            return status;
        execution->scratch = bytes ? args->scratchpad->handle : NULL;
        impl->algorithm->run(plan, execution);
        return NEO_OK;
    }
    if (bytes == 0) {
        impl->algorithm->run(plan, execution);
        return NEO_OK;
    }
    struct lease lease;
    /* The token's "running" mark is all that changes in a handle: it is atomic. */
    struct reservation *own = (struct reservation *)(uintptr_t)primitive->tokens;
    neo_status status = block_manager_lease(&impl->blocks, own, bytes, &lease);
    if (status != NEO_OK)
        return status;
    execution->scratch = lease.data;
    impl->algorithm->run(plan, execution);
    return block_manager_return(&impl->blocks, &lease);
}

static neo_status execute(const neo_primitive *primitive, neo_stream *stream,
                          const struct arguments *args)
{
    struct implementation *impl = primitive->desc.implementation;
    struct execution execution = {
        .implementation = impl,
        .problem = &impl->problem,
        .parallel = &stream->parallel,
        .threads = implementation_threads(impl, parallel_threads(&stream->parallel)),
    };
    if (!impl->runtime) {
        if (desc_is_empty(&impl->problem.tensors[DST]))
            return NEO_OK;
        fill_execution(&execution, &impl->problem, args);
        return run_with_scratch(primitive, impl->plan, &execution, args);
    }
    struct concrete concrete;
    neo_status status = make_concrete(&concrete, impl, args);
    if (status != NEO_OK || desc_is_empty(&concrete.problem.tensors[DST]))
        return status;
    execution.problem = &concrete.problem;
    fill_execution(&execution, &concrete.problem, args);
    return run_with_scratch(primitive, concrete.plan, &execution, args);
}

static void log_execution(const struct implementation *impl, uint64_t start_ns)
{
    char text[1024];
    log_line(LOG_EXEC, "primitive", "exec,cpu,%s,%g", implementation_text(impl, text, sizeof text),
             (double)(log_now_ns() - start_ns) * 1e-6);
}

neo_status neo_primitive_execute(const neo_primitive *primitive, neo_stream *stream, int count,
                                 const neo_exec_arg *list)
{
    if (!primitive || !stream || count < 0 || (count && !list))
        return primitive_desc_refuse(__func__, "a pointer is NULL or the count is negative");
    struct implementation *impl = primitive->desc.implementation;
    neo_engine *engine = handle_engine(&primitive->desc.handle);
    if (stream->engine != engine)
        return primitive_desc_refuse(__func__, "the stream belongs to another engine");
    struct arguments args = {0};
    neo_status status = collect_arguments(&impl->problem, &args, count, list);
    if (status == NEO_OK)
        status = check_arguments(&impl->problem, engine, &args);
    if (status != NEO_OK)
        return status;
    uint64_t start_ns = log_is_on(LOG_EXEC) ? log_now_ns() : 0;
    status = execute(primitive, stream, &args);
    if (start_ns && status == NEO_OK)
        log_execution(impl, start_ns);
    return status;
}
