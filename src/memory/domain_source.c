/* Allocations that are found again by their address, in the tracker. */
#include "src/memory/domain_source.h"

#include <stdlib.h>

#include "src/core/log.h"

neo_status domain_allocate(struct memory_domain *domain, const neo_allocation_request *request,
                           void **out)
{
    *out = NULL;
    if (!request->bytes)
        return NEO_INVALID_ARGUMENT;
    struct allocation *allocation = malloc(sizeof *allocation);
    if (!allocation)
        return NEO_OUT_OF_MEMORY;
    neo_status status = allocation_create(domain, request, allocation);
    if (status != NEO_OK) {
        free(allocation);
        return status;
    }
    tracker_set_handle(&domain->tracker, allocation->data, allocation);
    *out = allocation->data;
    return NEO_OK;
}

neo_status domain_free(struct memory_domain *domain, void *data)
{
    if (!data)
        return NEO_OK;
    struct allocation *allocation = tracker_take_handle(&domain->tracker, data);
    if (!allocation) {
        log_error("free of %p, which is not live", data);
        return NEO_NOT_FOUND;
    }
    neo_status status = allocation_destroy(allocation);
    free(allocation);
    return status;
}

static neo_status allocate_block(void *context, size_t bytes, size_t align, void **out)
{
    const neo_allocation_request request = {
        .bytes = bytes, .alignment = align, .owner = "block pool"};
    return domain_allocate(context, &request, out);
}

static void release_block(void *context, void *data, size_t bytes)
{
    (void)bytes;
    domain_free(context, data);
}

static neo_allocation_kind kind_of_block(void *context, const void *data)
{
    struct memory_domain *domain = context;
    return tracker_kind(&domain->tracker, data);
}

struct block_source domain_block_source(struct memory_domain *domain)
{
    return (struct block_source){domain, allocate_block, release_block, kind_of_block};
}
