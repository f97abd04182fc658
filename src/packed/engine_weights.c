/* The weights provider of an engine. */
#include "src/packed/engine_weights.h"

#include "src/core/log.h"
#include "src/memory/domain_source.h"

static void *domain_take(void *context, size_t size, size_t align)
{
    void *data;
    neo_allocation_request request = {
        .bytes = size, .alignment = align, .kind = NEO_KIND_HEAP, .owner = "packed weights"};
    return domain_allocate(context, &request, &data) == NEO_OK ? data : NULL;
}

static void domain_give(void *context, void *data, size_t size)
{
    (void)size;
    domain_free(context, data);
}

neo_status engine_weights_init(struct engine_weights *weights, struct memory_domain *domain)
{
    const neo_weights_memory_options options = {
        .allocator = {.context = domain, .allocate = domain_take, .release = domain_give}};
    *weights = (struct engine_weights){0};
    lock_init(&weights->lock);
    neo_status status = neo_weights_memory_provider_create(&weights->memory, &options);
    if (status != NEO_OK)
        return status;
    status = neo_weights_provider_from_environment(&weights->file);
    if (status == NEO_OUT_OF_MEMORY)
        return status;
    if (status != NEO_OK && status != NEO_NOT_FOUND)
        log_warn("weights: NEOPRENE_WEIGHTS_CACHE cannot be used: %s", neo_status_text(status));
    weights->current = weights->file.destroy ? weights->file : weights->memory;
    return NEO_OK;
}

void engine_weights_deinit(struct engine_weights *weights)
{
    if (weights->file.destroy)
        weights->file.destroy(weights->file.context);
    if (weights->memory.destroy)
        weights->memory.destroy(weights->memory.context);
    lock_deinit(&weights->lock);
    *weights = (struct engine_weights){0};
}

void engine_weights_set(struct engine_weights *weights, const neo_weights_provider *provider)
{
    lock_take(&weights->lock);
    weights->current = provider ? *provider : weights->memory;
    lock_give(&weights->lock);
}

neo_weights_provider engine_weights_get(struct engine_weights *weights)
{
    lock_take(&weights->lock);
    neo_weights_provider current = weights->current;
    lock_give(&weights->lock);
    return current;
}
