/* The public handle of an allocation. */
#include <stdlib.h>

#include "src/core/log.h"
#include "src/primitive/engine.h"

struct neo_allocation {
    struct allocation inner;
    neo_engine *engine; /* a reference, or NULL */
};

neo_status allocation_handle_create(struct memory_domain *domain, neo_engine *engine,
                                    const neo_allocation_request *request, neo_allocation **out)
{
    if (!out)
        return NEO_INVALID_ARGUMENT;
    *out = NULL;
    neo_allocation *handle = malloc(sizeof *handle);
    if (!handle)
        return NEO_OUT_OF_MEMORY;
    neo_status status = allocation_create(domain, request, &handle->inner);
    if (status != NEO_OK) {
        free(handle);
        return status;
    }
    handle->engine = engine;
    *out = handle;
    return NEO_OK;
}

neo_status neo_allocation_destroy(neo_allocation *allocation)
{
    if (!allocation)
        return NEO_OK;
    neo_status status = allocation_destroy(&allocation->inner);
    engine_release(allocation->engine);
    free(allocation);
    return status;
}

void *neo_allocation_data(const neo_allocation *allocation)
{
    return allocation ? allocation->inner.data : NULL;
}

neo_status neo_allocation_query(const neo_allocation *allocation, neo_allocation_info *out)
{
    if (!allocation || !out)
        return log_refusal(__func__, "a pointer is NULL");
    allocation_query(&allocation->inner, out);
    return NEO_OK;
}

neo_status neo_allocation_seal(neo_allocation *allocation)
{
    return allocation ? allocation_seal(&allocation->inner)
                      : log_refusal(__func__, "allocation is NULL");
}
