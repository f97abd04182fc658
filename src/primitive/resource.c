/* Resources of handles. */
#include "src/primitive/resource.h"

static bool user_has_scratchpad(const struct implementation *impl)
{
    return impl->problem.attributes.scratchpad == NEO_SCRATCHPAD_USER;
}

static neo_status reserve_block(struct implementation *impl, struct reservation *resource)
{
    int threads = default_pool_threads(impl->engine->threads);
    size_t bytes = implementation_scratch_bytes(impl, threads);
    if (bytes == 0 || user_has_scratchpad(impl))
        return NEO_OK; /* an empty token: nothing to give back */
    return block_manager_reserve(&impl->blocks, bytes, resource);
}

neo_status create_resource(struct implementation *impl, struct reservation *resource)
{
    const struct operation *operation = impl->problem.operation;
    *resource = (struct reservation){0};
    return operation->create_resource ? operation->create_resource(impl, resource)
                                      : reserve_block(impl, resource);
}

void destroy_resource(struct implementation *impl, struct reservation *resource)
{
    const struct operation *operation = impl->problem.operation;
    if (operation->destroy_resource)
        operation->destroy_resource(impl, resource);
    else if (resource->block)
        block_manager_unreserve(&impl->blocks, resource);
}
