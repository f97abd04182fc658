/* Handles: creation with a resource, execution with checks, destruction. */
#include "src/primitive/primitive.h"

#include <stdio.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/primitive/apart.h"
#include "src/primitive/by_size.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/quantization.h"
#include "src/primitive/resource.h"
#include "src/tensor/descriptor.h"
#include "src/threading/partition.h"

/* ---- life ---- */

neo_status neo_primitive_create(neo_primitive **out, const neo_primitive_desc *pd)
{
    if (out)
        *out = NULL;
    if (!out || !pd)
        return log_refusal(__func__, "out or pd is NULL");
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
    if (!primitive || !handle_is_live(&primitive->desc.handle, __func__))
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

enum { ARGUMENT_TEXT_BYTES = 64 };

static const char *argument_name(int arg)
{
    static const struct {
        int arg;
        const char *name;
    } names[] = {
        {NEO_ARG_SRC, "src"},
        {NEO_ARG_SRC_1, "src1"},
        {NEO_ARG_SRC_2, "src2"},
        {NEO_ARG_DST, "dst"},
        {NEO_ARG_WEIGHTS, "weights"},
        {NEO_ARG_BIAS, "bias"},
        {NEO_ARG_MEAN, "mean"},
        {NEO_ARG_VARIANCE, "variance"},
        {NEO_ARG_SCALE, "scale"},
        {NEO_ARG_SHIFT, "shift"},
        {NEO_ARG_WORKSPACE, "workspace"},
        {NEO_ARG_SCRATCHPAD, "scratchpad"},
    };
    for (size_t i = 0; i < count_of(names); i++)
        if (names[i].arg == arg)
            return names[i].name;
    return "that has no name";
}

/* "weights", "scales of src", "src1 of post-operation 2": the number alone tells nobody. */
static const char *argument_text(int arg, char out[ARGUMENT_TEXT_BYTES])
{
    int first = NEO_ARG_ATTR_MULTIPLE_POST_OP(0);
    int values = arg > 0 ? arg & (NEO_ARG_ATTR_SCALES | NEO_ARG_ATTR_ZERO_POINTS) : 0;
    const char *what = values == NEO_ARG_ATTR_SCALES ? "scales of "
                       : values                      ? "zero points of "
                                                     : "";
    int depthwise = arg > 0 && arg < first ? arg & NEO_ARG_ATTR_POST_OP_DW : 0;
    if (arg >= first)
        snprintf(out, ARGUMENT_TEXT_BYTES, "%s%s of post-operation %d", what,
                 argument_name((arg ^ values) % first), arg / first - 1);
    else
        snprintf(out, ARGUMENT_TEXT_BYTES, "%s%s%s", what, depthwise ? "depthwise " : "",
                 argument_name(arg ^ values ^ depthwise));
    return out;
}

static neo_status refuse_argument(const struct problem *problem, int arg, const char *why)
{
    char name[ARGUMENT_TEXT_BYTES];
    log_check("neo_primitive_execute: %s: argument %s (%d) %s", problem->operation->name,
              argument_text(arg, name), arg, why);
    return NEO_INVALID_ARGUMENT;
}

static const int tensor_args[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS,
                                              NEO_ARG_DST};

/* TENSOR_COUNT if arg is not a tensor of any primitive. */
static inline enum tensor tensor_of(int arg)
{
    switch (arg) {
    case NEO_ARG_SRC:
        return SRC;
    case NEO_ARG_WEIGHTS:
        return WEIGHTS;
    case NEO_ARG_BIAS:
        return BIAS;
    case NEO_ARG_DST:
        return DST;
    default:
        return TENSOR_COUNT;
    }
}

static neo_status refuse_description(const struct problem *problem, int arg,
                                     const neo_memory_desc *expected, const neo_memory_desc *actual)
{
    char wanted[DESC_TEXT_BYTES], given[DESC_TEXT_BYTES], name[ARGUMENT_TEXT_BYTES];
    log_check("neo_primitive_execute: %s: argument %s (%d) is %s, not %s", problem->operation->name,
              argument_text(arg, name), arg, desc_text(actual, given, sizeof given),
              desc_text(expected, wanted, sizeof wanted));
    return NEO_INVALID_ARGUMENT;
}

static neo_status check_engine(const struct problem *problem, const neo_engine *engine, int arg,
                               const neo_memory *memory)
{
    return memory->engine == engine ? NEO_OK
                                    : refuse_argument(problem, arg, "belongs to another engine");
}

static neo_status check_operand(const struct problem *problem, const neo_engine *engine, int arg,
                                const neo_memory_desc *expected, const neo_memory *memory)
{
    neo_status status = check_engine(problem, engine, arg, memory);
    if (status != NEO_OK)
        return status;
    if (!desc_matches(expected, &memory->desc))
        return refuse_description(problem, arg, expected, &memory->desc);
    if (!memory->handle && !desc_is_empty(&memory->desc))
        return refuse_argument(problem, arg, "has no buffer");
    return NEO_OK;
}

/* Elements, if they follow each other from the first one on, or -1. Memory's descriptors are right,
 * and have no run-time sizes. */
static neo_dim dense_elements(const neo_memory_desc *desc)
{
    neo_dim elements = 1, reach = 1;
    if (desc->format_kind != NEO_FORMAT_STRIDED || desc->offset)
        return -1;
    for (int i = 0; i < desc->ndims; i++) {
        elements *= desc->dims[i];
        reach += (desc->dims[i] - 1) * desc->strides[i];
    }
    return elements == 0 || elements == reach ? elements : -1;
}

/* Scales or zero points: values one after the other, in however many dimensions. */
static neo_status check_values(const struct problem *problem, const neo_engine *engine, int index,
                               const neo_memory *memory)
{
    const struct quantization *q = &problem->attributes.quantizations[index];
    const neo_memory_desc *desc = &memory->desc;
    neo_status status = check_engine(problem, engine, q->arg, memory);
    if (status != NEO_OK)
        return status;
    neo_dim count = quantization_count(q, quantization_tensor(problem, q));
    neo_dim given = dense_elements(desc);
    if (desc->data_type != q->type || given < 0 || (count != NEO_RUNTIME_DIM && given != count)) {
        char text[DESC_TEXT_BYTES], name[ARGUMENT_TEXT_BYTES];
        log_check("neo_primitive_execute: %s: argument %s (%d) is %s, not %lld values of %s",
                  problem->operation->name, argument_text(q->arg, name), q->arg,
                  desc_text(desc, text, sizeof text), (long long)count,
                  neo_data_type_name(q->type));
        return NEO_INVALID_ARGUMENT;
    }
    return memory->handle || !given ? NEO_OK : refuse_argument(problem, q->arg, "has no buffer");
}

/* The scales or zero points that an argument is, or -1. */
static int quantization_of(const struct problem *problem, int arg)
{
    int index = problem->attributes.quantization_count - 1;
    while (index >= 0 && problem->attributes.quantizations[index].arg != arg)
        index--;
    return index;
}

static neo_status take_values(const struct problem *problem, const neo_engine *engine,
                              struct arguments *args, int index, const neo_memory *memory)
{
    int arg = problem->attributes.quantizations[index].arg;
    if (args->quantizations[index])
        return refuse_argument(problem, arg, "is given twice");
    if (!memory)
        return refuse_argument(problem, arg, "has no memory");
    args->quantizations[index] = memory;
    return check_values(problem, engine, index, memory);
}

/* Where an argument that is not one of the four tensors goes, and how it is described; NULL, if it
 * is none of the primitive's. *expected is NULL for the scratchpad, which has no shape. */
static const neo_memory **other_place(const struct problem *problem, struct arguments *args,
                                      int arg, const neo_memory_desc **expected)
{
    *expected = NULL;
    if (arg == NEO_ARG_SCRATCHPAD)
        return &args->scratchpad;
    int extra = problem_extra(problem, arg);
    if (extra >= 0) {
        *expected = &problem->extras[extra].desc;
        return &args->extras[extra];
    }
    int place = post_ops_place(&problem->attributes, arg);
    if (place < 0)
        return NULL;
    *expected = post_ops_operand(&problem->attributes, place);
    return &args->operands[place];
}

static neo_status take_other(const struct problem *problem, const neo_engine *engine,
                             struct arguments *args, const neo_exec_arg *given)
{
    int values = quantization_of(problem, given->arg);
    if (values >= 0)
        return take_values(problem, engine, args, values, given->memory);
    const neo_memory_desc *expected;
    const neo_memory **place = other_place(problem, args, given->arg, &expected);
    if (!place)
        return refuse_argument(problem, given->arg, "is not one of the primitive's");
    if (*place)
        return refuse_argument(problem, given->arg, "is given twice");
    if (!given->memory)
        return refuse_argument(problem, given->arg, "has no memory");
    *place = given->memory;
    return expected ? check_operand(problem, engine, given->arg, expected, given->memory)
                    : check_engine(problem, engine, given->arg, given->memory);
}

static neo_status refuse_missing(const struct problem *problem, const struct arguments *args)
{
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims && !args->tensors[t])
            return refuse_argument(problem, tensor_args[t], "is missing");
    for (int i = 0; i < problem->extra_count; i++)
        if (!args->extras[i])
            return refuse_argument(problem, problem->extras[i].arg, "is missing");
    const neo_attributes *attributes = &problem->attributes;
    for (int place = 0; place < post_ops_places(attributes); place++)
        if (post_ops_operand(attributes, place) && !args->operands[place])
            return refuse_argument(problem, post_ops_argument(attributes, place), "is missing");
    for (int i = 0; i < problem->attributes.quantization_count; i++)
        if (!args->quantizations[i])
            return refuse_argument(problem, problem->attributes.quantizations[i].arg, "is missing");
    return NEO_OK;
}

/* A tensor is right at a glance if it is described as the primitive's is, has a buffer and was not
 * given before. All else is looked at more closely: run-time sizes, no elements, errors. */
static neo_status look_closely(const struct implementation *impl, const neo_engine *engine,
                               struct arguments *args, enum tensor t, const neo_exec_arg *given)
{
    const struct problem *problem = &impl->problem;
    if (t == TENSOR_COUNT || !problem->tensors[t].ndims)
        return take_other(problem, engine, args, given);
    if (args->tensors[t])
        return refuse_argument(problem, given->arg, "is given twice");
    if (!given->memory)
        return refuse_argument(problem, given->arg, "has no memory");
    args->tensors[t] = given->memory;
    return check_operand(problem, engine, given->arg, implementation_argument(impl, t),
                         given->memory);
}

/* Checks each argument where it comes, then that none is missing. */
static inline neo_status take_arguments(const struct implementation *impl, const neo_engine *engine,
                                        struct arguments *args, int count, const neo_exec_arg *list)
{
    uint32_t missing = impl->facts.tensors;
    for (const neo_exec_arg *given = list; given < list + count; given++) {
        enum tensor t = tensor_of(given->arg);
        const neo_memory *memory = given->memory;
        uint32_t bit = 1u << t;
        if ((missing & bit) && memory && memory->engine == engine &&
            desc_image_equal(impl->facts.images[t], memory->image)) {
            args->tensors[t] = memory;
        } else {
            neo_status status = look_closely(impl, engine, args, t, given);
            if (status != NEO_OK)
                return status;
        }
        missing &= ~bit;
    }
    return missing == 0 && impl->facts.only_tensors ? NEO_OK : refuse_missing(&impl->problem, args);
}

static neo_status refuse_shared(const struct problem *problem, struct shared_arguments shared)
{
    char written[ARGUMENT_TEXT_BYTES], other[ARGUMENT_TEXT_BYTES];
    log_check("neo_primitive_execute: %s: %s (%d) is written and shares memory with %s (%d)",
              problem->operation->name, argument_text(shared.written, written), shared.written,
              argument_text(shared.other, other), shared.other);
    return NEO_INVALID_ARGUMENT;
}

/* ---- execution ---- */

static inline void fill_execution(struct execution *execution, const struct problem *problem,
                                  const struct arguments *args)
{
#pragma GCC unroll 4
    for (int t = 0; t < TENSOR_COUNT; t++)
        execution->buffers[t] = memory_first_element(args->tensors[t]);
    for (int i = 0; i < problem->extra_count; i++)
        execution->extras[i] = memory_first_element(args->extras[i]);
    for (int i = 0; i < post_ops_places(&problem->attributes); i++)
        execution->operands[i] = memory_first_element(args->operands[i]);
    for (int i = 0; i < problem->attributes.quantization_count; i++)
        execution->quantizations[i] = memory_first_element(args->quantizations[i]);
}

static neo_status check_user_scratch(const struct problem *problem, const neo_memory *memory,
                                     size_t bytes)
{
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
    return impl->runtime ? implementation_own_bytes(impl->algorithm, plan, threads)
                         : implementation_scratch_bytes(impl, threads);
}

/* The handle's block, or another one where that is in use. The token's "running" mark is all that
 * changes in a handle: it is atomic. */
static neo_status lease_block(const neo_primitive *primitive, size_t bytes, struct lease *lease)
{
    struct reservation *own = (struct reservation *)(uintptr_t)primitive->tokens;
    return block_manager_lease(&primitive->desc.implementation->blocks, own, bytes, lease);
}

neo_status primitive_run_in_block(const neo_primitive *primitive, run_fn *run, const void *plan,
                                  struct execution *execution, size_t bytes)
{
    struct lease lease;
    neo_status status = lease_block(primitive, bytes, &lease);
    if (status != NEO_OK)
        return status;
    execution->scratch = lease.data;
    run(plan, execution);
    return block_manager_return(&primitive->desc.implementation->blocks, &lease);
}

/* Runs with a scratchpad from where the attributes say. */
static neo_status run_with_scratch(const neo_primitive *primitive, const void *plan,
                                   struct execution *execution, const struct arguments *args)
{
    const struct implementation *impl = execution->implementation;
    size_t bytes = plan == impl->plan && execution->threads == 1
                       ? impl->facts.scratch_bytes
                       : scratch_bytes(impl, plan, execution->threads);
    if (bytes == 0) {
        execution->scratch = NULL;
        impl->algorithm->run(plan, execution);
        return NEO_OK;
    }
    if (impl->problem.attributes.scratchpad == NEO_SCRATCHPAD_USER) {
        neo_status status = check_user_scratch(&impl->problem, args->scratchpad, bytes);
        if (status != NEO_OK)
            return status;
        execution->scratch = args->scratchpad->handle;
        impl->algorithm->run(plan, execution);
        return NEO_OK;
    }
    return primitive_run_in_block(primitive, impl->algorithm->run, plan, execution, bytes);
}

static inline int threads_worth(const struct implementation *impl, const neo_stream *stream)
{
    return impl->facts.parallel ? implementation_threads(impl, parallel_threads(&stream->parallel))
                                : 1;
}

/* What is made for one execution's sizes. */
static neo_status run_late(const neo_primitive *primitive, struct late *late,
                           struct execution *execution, const struct arguments *args)
{
    const struct implementation *impl = primitive->desc.implementation;
    const struct algorithm *algorithm = impl->algorithm;
    const struct cpu *cpu = impl->engine->cpu;
    struct problem *problem = &late->concrete.problem;
    neo_status status = concrete_of_arguments(&late->concrete, &impl->problem, args);
    if (status != NEO_OK || desc_is_empty(&problem->tensors[DST]))
        return status;
    memset(late->plan, 0, algorithm->plan_bytes);
    algorithm->plan(late->plan, problem, cpu);
    double estimate = algorithm->estimate(algorithm, problem, cpu);
    execution->threads = partition_threads(estimate, execution->threads, cpu->core);
    execution->problem = problem;
    fill_execution(execution, problem, args);
    return run_with_scratch(primitive, late->plan, execution, args);
}

/* Small stacks have no room for that. */
static neo_status execute_runtime(const neo_primitive *primitive, struct execution *execution,
                                  const struct arguments *args)
{
    struct lease lease;
    neo_status status = lease_block(primitive, sizeof(struct late), &lease);
    if (status != NEO_OK)
        return status;
    status = run_late(primitive, lease.data, execution, args);
    (void)block_manager_return(&primitive->desc.implementation->blocks, &lease);
    return status;
}

/* As many threads as the user's scratchpad has room for. */
static int threads_within(const struct implementation *impl, int threads, const neo_memory *given)
{
    size_t bytes = given ? neo_memory_desc_size(&given->desc) : 0;
    if (impl->problem.attributes.scratchpad == NEO_SCRATCHPAD_USER)
        while (threads > 1 && implementation_scratch_bytes(impl, threads) > bytes)
            threads--;
    return threads;
}

static inline __attribute__((always_inline)) neo_status
execute_as(const neo_primitive *primitive, const struct implementation *impl,
           const neo_stream *stream, const struct arguments *args)
{
    struct execution execution; /* not cleared: it is large, and what is read is set */
    execution.implementation = impl;
    execution.problem = &impl->problem;
    execution.parallel = &stream->parallel;
    execution.threads = threads_worth(impl, stream);
    if (impl->runtime)
        return execute_runtime(primitive, &execution, args);
    if (impl->facts.empty)
        return NEO_OK;
    if (impl != primitive->desc.implementation)
        execution.threads = threads_within(impl, execution.threads, args->scratchpad);
    fill_execution(&execution, &impl->problem, args);
    if (execution.threads > 1 || impl->facts.scratch_bytes)
        return run_with_scratch(primitive, impl->plan, &execution, args);
    execution.scratch = NULL;
    impl->algorithm->run(impl->plan, &execution);
    return NEO_OK;
}

/* Sizes that were not there before. */
static __attribute__((noinline)) neo_status execute_new_sizes(const neo_primitive *primitive,
                                                              const neo_stream *stream,
                                                              const struct arguments *args)
{
    struct implementation *sized;
    neo_status status = by_size_make(&sized, primitive->desc.implementation, args);
    if (status != NEO_OK)
        return status;
    status = execute_as(primitive, sized, stream, args);
    implementation_release(sized);
    return status;
}

static inline neo_status execute(const neo_primitive *primitive, const struct implementation *impl,
                                 const neo_stream *stream, const struct arguments *args)
{
    return impl->by_size ? execute_new_sizes(primitive, stream, args)
                         : execute_as(primitive, impl, stream, args);
}

static neo_status execute_logged(const neo_primitive *primitive, const struct implementation *impl,
                                 const neo_stream *stream, const struct arguments *args)
{
    uint64_t start_ns = log_now_ns();
    neo_status status = execute(primitive, impl, stream, args);
    char text[1024];
    if (status == NEO_OK)
        log_line(LOG_EXEC, "primitive", "exec,cpu,%s,%g",
                 implementation_text(primitive->desc.implementation, text, sizeof text),
                 (double)(log_now_ns() - start_ns) * 1e-6);
    return status;
}

neo_status primitive_execute_checked(const neo_primitive *primitive,
                                     const struct implementation *impl, const neo_stream *stream,
                                     int count, const neo_exec_arg *list)
{
    const neo_engine *engine = handle_engine(&primitive->desc.handle);
    if (count && !list)
        return log_refusal("neo_primitive_execute", "the list is NULL");
    if (stream->engine != engine)
        return log_refusal("neo_primitive_execute", "the stream belongs to another engine");
    struct arguments args;
    for (int t = 0; t < TENSOR_COUNT; t++)
        args.tensors[t] = NULL;
    for (int i = 0; i < impl->problem.extra_count; i++)
        args.extras[i] = NULL;
    for (int i = 0; i < post_ops_places(&impl->problem.attributes); i++)
        args.operands[i] = NULL;
    for (int i = 0; i < impl->problem.attributes.quantization_count; i++)
        args.quantizations[i] = NULL;
    args.scratchpad = NULL;
    neo_status status = take_arguments(impl, engine, &args, count, list);
    if (status != NEO_OK)
        return status;
    struct shared_arguments shared = arguments_shared(impl, &args);
    if (shared.written)
        return refuse_shared(&impl->problem, shared);
    return log_is_on(LOG_EXEC) ? execute_logged(primitive, impl, stream, &args)
                               : execute(primitive, impl, stream, &args);
}
