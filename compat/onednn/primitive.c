/* Primitives: made of a descriptor; executed with the addresses of the call. */
#include <stdlib.h>
#include <time.h>

#include "compat/onednn/theirs.h"

EXPORT dnnl_status dnnl_primitive_create(dnnl_primitive **out, const dnnl_primitive_desc *pd)
{
    if (!out || !pd)
        return dnnl_invalid_arguments;
    dnnl_primitive *primitive = calloc(1, sizeof *primitive);
    if (!primitive)
        return dnnl_out_of_memory;
    dnnl_status status = pd->neo ? map_status(neo_primitive_create(&primitive->neo, pd->neo))
                                 : theirs()->dnnl_primitive_create(&primitive->theirs, pd->theirs);
    if (status != dnnl_success) {
        free(primitive);
        return status;
    }
    primitive->pd = (dnnl_primitive_desc *)(uintptr_t)pd; /* it is counted in there */
    __atomic_add_fetch(&primitive->pd->references, 1, __ATOMIC_RELAXED);
    *out = primitive;
    return dnnl_success;
}

dnnl_status dnnl_primitive_desc_destroy(dnnl_primitive_desc *pd);

EXPORT dnnl_status dnnl_primitive_destroy(dnnl_primitive *primitive)
{
    if (!primitive)
        return dnnl_success;
    neo_primitive_destroy(primitive->neo);
    if (primitive->theirs)
        theirs()->dnnl_primitive_destroy(primitive->theirs);
    dnnl_primitive_desc_destroy(primitive->pd);
    free(primitive);
    return dnnl_success;
}

EXPORT dnnl_status dnnl_primitive_get_primitive_desc(const dnnl_primitive *primitive,
                                                     const dnnl_primitive_desc **pd)
{
    if (!primitive || !pd)
        return dnnl_invalid_arguments;
    *pd = primitive->pd;
    return dnnl_success;
}

/* The arguments of one execution as Neoprene takes them. */
enum { MAX_ARGUMENTS = 96 };
struct call {
    const dnnl_primitive_desc *pd;
    neo_packed_weights *packed; /* whose memory is one of args' */
    int count;
    neo_exec_arg args[MAX_ARGUMENTS];
};

static const struct reshaped *find_reshaped(const dnnl_primitive_desc *pd, int arg)
{
    for (int i = 0; i < MAX_RESHAPED && pd->reshaped[i].arg; i++)
        if (pd->reshaped[i].arg == arg)
            return &pd->reshaped[i];
    return NULL;
}

/* Plain weights as Neoprene packs them: an inner product's are a matrix there. */
static neo_status plain_weights(neo_memory **out, const dnnl_primitive_desc *pd, void *data)
{
    const neo_memory_desc *plain =
        pd->plain_weights.ndims ? &pd->plain_weights : &pd_argument(pd, NEO_ARG_WEIGHTS)->desc;
    return neo_memory_create(out, plain, shared_engine(), data);
}

static neo_status add_packed(struct call *call, void *data)
{
    neo_memory *plain;
    neo_status status = plain_weights(&plain, call->pd, data);
    if (status != NEO_OK)
        return status;
    status = kept_pack(&call->packed, call->pd->neo, plain);
    neo_memory_destroy(plain);
    if (status == NEO_OK)
        call->args[call->count++] =
            (neo_exec_arg){NEO_ARG_WEIGHTS, neo_packed_weights_memory(call->packed)};
    return status;
}

static int is_quantisation(const dnnl_primitive_attr *attr, int arg)
{
    for (int i = 0; i < attr->quantisation_count; i++)
        if (attr->quantisations[i].arg == arg)
            return 1;
    return 0;
}

/* Arguments that the primitive does not have are none of oneDNN's business. Memory may have another
 * shape than the primitive's: ONNX Runtime gives a vector for each row of a matrix as the vector
 * that it is. */
static neo_status add(struct call *call, const dnnl_exec_arg *given)
{
    const dnnl_memory *memory = given->memory;
    const neo_memory_desc *wanted = neo_primitive_desc_query(call->pd->neo, given->arg);
    if (!memory || memory->md.desc.ndims == 0 || given->arg == NEO_ARG_SCRATCHPAD)
        return NEO_OK;
    if (!wanted && !is_quantisation(call->pd->attr, given->arg))
        return NEO_OK;
    if (call->count == MAX_ARGUMENTS)
        return NEO_INVALID_ARGUMENT;
    if (desc_is_theirs(&memory->md))
        return NEO_INVALID_ARGUMENT;
    const neo_memory_desc *desc = &memory->md.desc;
    const struct reshaped *reshaped = find_reshaped(call->pd, given->arg);
    if (reshaped && !desc_is_alike(desc, &reshaped->seen.desc))
        return NEO_INVALID_ARGUMENT;
    if (call->pd->packs_weights && given->arg == NEO_ARG_WEIGHTS)
        return add_packed(call, memory->data);
    if (wanted && (reshaped || desc_is_alike(desc, wanted)))
        desc = wanted;
    neo_exec_arg *arg = &call->args[call->count];
    arg->arg = given->arg;
    neo_status status = neo_memory_create(&arg->memory, desc, shared_engine(), memory->data);
    call->count += status == NEO_OK;
    return status;
}

static void release(struct call *call)
{
    const neo_memory *packed = call->packed ? neo_packed_weights_memory(call->packed) : NULL;
    for (int i = 0; i < call->count; i++)
        if (call->args[i].memory != packed)
            neo_memory_destroy(call->args[i].memory);
    neo_packed_weights_destroy(call->packed);
}

static double now_milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

EXPORT dnnl_status dnnl_primitive_execute(const dnnl_primitive *primitive, dnnl_stream *stream,
                                          int count, const dnnl_exec_arg *args)
{
    if (!primitive || !stream || count < 0 || (count > 0 && !args))
        return dnnl_invalid_arguments;
    if (primitive->theirs)
        return theirs_execute(primitive->theirs, count, args);
    int verbose = verbose_level();
    double start = verbose ? now_milliseconds() : 0;
    struct call call = {.pd = primitive->pd, .packed = NULL, .count = 0};
    neo_status status = NEO_OK;
    for (int i = 0; status == NEO_OK && i < count; i++)
        status = add(&call, &args[i]);
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive->neo, shared_stream(), call.count, call.args);
    release(&call);
    if (verbose && status == NEO_OK)
        verbose_executed(primitive->pd, now_milliseconds() - start);
    return map_status(status);
}
