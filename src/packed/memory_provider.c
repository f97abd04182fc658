/* The provider that keeps packed weights in memory: a store whose entries are allocations. */
#include <stdlib.h>

#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/packed/allocator.h"
#include "src/packed/store/store.h"

static neo_status memory_reserve(void *context, struct store_entry *entry, bool *found)
{
    const neo_weights_allocator *allocator = context;
    (void)found;
    entry->data = allocator->allocate(allocator->context, entry->size, entry->align);
    if (!entry->data)
        return NEO_OUT_OF_MEMORY;
    entry->memory_bytes = entry->size;
    return NEO_OK;
}

static void memory_release(void *context, struct store_entry *entry, bool committed)
{
    const neo_weights_allocator *allocator = context;
    (void)committed;
    if (entry->data)
        allocator->release(allocator->context, entry->data, entry->size);
}

static const struct store_backend memory_backend = {
    .entry_bytes = sizeof(struct store_entry),
    .reserve = memory_reserve,
    .release = memory_release,
    .destroy = free,
};

neo_status neo_weights_memory_provider_create(neo_weights_provider *out,
                                              const neo_weights_memory_options *options)
{
    static const neo_weights_memory_options defaults;
    if (!out)
        return log_refusal(__func__, "out is NULL");
    *out = (neo_weights_provider){.context = NULL};
    options = options ? options : &defaults;
    if (reserved_is_set(options->reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    neo_weights_allocator allocator;
    if (!allocator_init(&allocator, &options->allocator))
        return log_refusal(__func__, "the allocator lacks allocate or release");
    neo_weights_allocator *context = malloc(sizeof *context);
    if (!context)
        return NEO_OUT_OF_MEMORY;
    *context = allocator;
    return store_create(out, &memory_backend, context, options->limit_bytes);
}
