/* Primitive descriptors: a described problem with the implementation that serves it. */
#include "src/core/log.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

/* ---- life ---- */

static void log_creation(const struct implementation *impl, enum cache_outcome outcome,
                         uint64_t start_ns)
{
    static const char *const names[] = {
        [CACHE_HIT] = "hit", [CACHE_MISS] = "miss", [CACHE_WAIT] = "wait"};
    uint64_t time_ns = log_now_ns() - start_ns;
    char text[1024];
    log_line(LOG_CREATE, "primitive", "create:cache_%s,cpu,%s,%g", names[outcome],
             implementation_text(impl, text, sizeof text), (double)time_ns * 1e-6);
}

/* Puts the index-th implementation into pd; on failure pd stays as it is. */
static neo_status find(neo_primitive_desc *pd, const struct description *description, int index)
{
    uint64_t start_ns = log_is_on(LOG_CREATE) ? log_now_ns() : 0;
    struct implementation *found;
    enum cache_outcome outcome;
    neo_status status =
        implementation_find(&found, handle_engine(&pd->handle), description, index, &outcome);
    if (status != NEO_OK)
        return status;
    if (start_ns)
        log_creation(found, outcome, start_ns);
    implementation_release(pd->implementation);
    pd->implementation = found;
    pd->index = index;
    pd->cache_hit = outcome != CACHE_MISS;
    return NEO_OK;
}

static const char *description_wrong(const struct description *description)
{
    for (int t = 0; t < TENSOR_COUNT; t++) {
        const neo_memory_desc *desc = description->tensors[t];
        if (desc && (desc->ndims < 0 || desc->ndims > NEO_MAX_NDIMS))
            return "a tensor's number of dimensions is out of range";
    }
    for (int i = 0; i < description->extra_count; i++) {
        const neo_memory_desc *desc = &description->extras[i].desc;
        if (desc->ndims < 0 || desc->ndims > NEO_MAX_NDIMS)
            return "a tensor's number of dimensions is out of range";
    }
    return NULL;
}

neo_status primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                 struct description *description)
{
    const char *wrong = description_wrong(description);
    if (wrong)
        return log_refusal(description->operation->name, wrong);
    if (!description->attributes)
        description->attributes = &attributes_default;
    neo_primitive_desc *pd = handle_create(engine);
    if (!pd)
        return NEO_OUT_OF_MEMORY;
    neo_status status = find(pd, description, 0);
    if (status != NEO_OK) {
        handle_destroy(&pd->handle);
        return status;
    }
    *out = pd;
    return NEO_OK;
}

void neo_primitive_desc_destroy(neo_primitive_desc *pd)
{
    if (!pd || !handle_is_live(&pd->handle, __func__))
        return;
    implementation_release(pd->implementation);
    handle_destroy(&pd->handle);
}

neo_status neo_primitive_desc_next(neo_primitive_desc *pd)
{
    if (!pd)
        return log_refusal(__func__, "the descriptor is NULL");
    struct implementation *last = implementation_retain(pd->implementation);
    struct description description = problem_describe(&last->described);
    neo_status status = find(pd, &description, pd->index + 1);
    implementation_release(last);
    return status;
}

/* ---- queries ---- */

static const neo_memory_desc *operand_desc(const struct problem *problem, int arg)
{
    const neo_attributes *attributes = &problem->attributes;
    for (int i = 0; i < post_ops_places(attributes); i++)
        if (arg == post_ops_argument(attributes, i))
            return post_ops_operand(attributes, i);
    return NULL;
}

const neo_memory_desc *neo_primitive_desc_query(const neo_primitive_desc *pd, int arg)
{
    static const int args[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    if (!pd)
        return NULL;
    const struct problem *problem = &pd->implementation->problem;
    for (enum tensor t = 0; t < TENSOR_COUNT; t++)
        if (arg == args[t])
            return problem->tensors[t].ndims ? implementation_argument(pd->implementation, t)
                                             : NULL;
    int extra = problem_extra(problem, arg);
    if (extra >= 0)
        return &problem->extras[extra].desc;
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
        return log_refusal(__func__, "a pointer is NULL");
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
