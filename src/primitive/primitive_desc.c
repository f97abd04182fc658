/* Primitive descriptors: a described problem with the implementation that serves it. */
#include <stdlib.h>

#include "src/core/log.h"
#include "src/memory/descriptor.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/primitive.h"

neo_status primitive_desc_refuse(const char *function, const char *why)
{
    log_check("%s: %s", function, why);
    return NEO_INVALID_ARGUMENT;
}

/* ---- life ---- */

static void log_creation(const struct implementation *impl, bool hit, uint64_t start_ns)
{
    if (!log_is_on(LOG_CREATE))
        return;
    char text[1024];
    log_line(LOG_CREATE, "primitive", "create:cache_%s,cpu,%s,%g", hit ? "hit" : "miss",
             implementation_text(impl, text, sizeof text),
             (double)(log_now_ns() - start_ns) * 1e-6);
}

static neo_status find_implementation(struct implementation **out, neo_engine *engine,
                                      const struct problem *problem, int index, bool *hit)
{
    uint64_t start_ns = log_is_on(LOG_CREATE) ? log_now_ns() : 0;
    neo_status status = implementation_find(out, engine, problem, index, hit);
    if (status == NEO_OK)
        log_creation(*out, *hit, start_ns);
    return status;
}

static const char *ndims_wrong(const struct problem *problem)
{
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims < 0 || problem->tensors[t].ndims > NEO_MAX_NDIMS)
            return "a tensor's number of dimensions is out of range";
    return NULL;
}

neo_status primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                 const struct problem *problem)
{
    const char *wrong = ndims_wrong(problem);
    if (wrong)
        return primitive_desc_refuse(problem->operation->name, wrong);
    neo_primitive_desc *pd = calloc(1, sizeof *pd);
    if (!pd)
        return NEO_OUT_OF_MEMORY;
    pd->engine = engine_retain(engine);
    pd->problem = *problem;
    neo_status status = attributes_init_copy(&pd->problem.attributes, &problem->attributes);
    if (status == NEO_OK)
        status = find_implementation(&pd->implementation, engine, problem, 0, &pd->cache_hit);
    if (status != NEO_OK) {
        neo_primitive_desc_destroy(pd);
        return status;
    }
    *out = pd;
    return NEO_OK;
}

static void desc_deinit(neo_primitive_desc *pd)
{
    implementation_release(pd->implementation);
    attributes_deinit(&pd->problem.attributes);
    neo_engine_destroy(pd->engine);
}

void neo_primitive_desc_destroy(neo_primitive_desc *pd)
{
    if (!pd)
        return;
    desc_deinit(pd);
    free(pd);
}

neo_status neo_primitive_desc_next(neo_primitive_desc *pd)
{
    if (!pd)
        return primitive_desc_refuse(__func__, "the descriptor is NULL");
    struct implementation *next;
    bool hit;
    neo_status status = find_implementation(&next, pd->engine, &pd->problem, pd->index + 1, &hit);
    if (status != NEO_OK)
        return status;
    implementation_release(pd->implementation);
    pd->implementation = next;
    pd->cache_hit = hit;
    pd->index++;
    return NEO_OK;
}

/* ---- queries ---- */

static const neo_memory_desc *operand_desc(const struct problem *problem, int arg)
{
    const neo_attributes *attributes = &problem->attributes;
    for (int i = 0; i < attributes->post_op_count; i++)
        if (arg == post_op_argument(&attributes->post_ops[i], i))
            return post_op_operand(&attributes->post_ops[i]);
    return NULL;
}

const neo_memory_desc *neo_primitive_desc_query(const neo_primitive_desc *pd, int arg)
{
    static const int args[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    if (!pd)
        return NULL;
    const struct problem *problem = &pd->implementation->problem;
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (arg == args[t])
            return problem->tensors[t].ndims ? &problem->tensors[t] : NULL;
    return operand_desc(problem, arg);
}

size_t neo_primitive_desc_scratchpad_size(const neo_primitive_desc *pd, int num_threads)
{
    return pd && num_threads > 0 ? implementation_scratch_bytes(pd->implementation, num_threads)
                                 : 0;
}

size_t neo_primitive_desc_scratchpad_alignment(const neo_primitive_desc *pd)
{
    (void)pd;
    return SCRATCH_ALIGNMENT;
}

const char *neo_primitive_desc_implementation(const neo_primitive_desc *pd)
{
    return pd ? pd->implementation->name : "";
}

const char *neo_primitive_desc_algorithm(const neo_primitive_desc *pd)
{
    return pd ? pd->implementation->algorithm->name : "";
}

const char *neo_primitive_desc_kernel(const neo_primitive_desc *pd)
{
    return pd ? pd->implementation->algorithm->kernel(pd->implementation->plan) : "";
}

double neo_primitive_desc_estimate(const neo_primitive_desc *pd)
{
    return pd && !pd->implementation->runtime ? pd->implementation->estimate : 0;
}

neo_status neo_primitive_desc_declined(const neo_primitive_desc *pd, int index,
                                       const char **algorithm, const char **reason)
{
    if (!pd || !algorithm || !reason)
        return primitive_desc_refuse(__func__, "a pointer is NULL");
    const struct implementation *impl = pd->implementation;
    if (index < 0 || index >= impl->declined_count)
        return NEO_NOT_FOUND;
    *algorithm = impl->declined[index].algorithm;
    *reason = impl->declined[index].reason;
    return NEO_OK;
}

int neo_primitive_desc_cache_hit(const neo_primitive_desc *pd)
{
    return pd && pd->cache_hit;
}
