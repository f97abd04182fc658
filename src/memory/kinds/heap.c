/* Memory of the C library, and of the user's allocator. */
#include <stdlib.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/kinds/kinds.h"
#include "src/memory/kinds/mapping.h"

static neo_status heap_obtain(struct allocation_need *need, struct allocation *out,
                              const char **why_not)
{
    (void)why_not;
    need->alignment = max_size(need->alignment, sizeof(void *)); /* or it fails */
    if (posix_memalign(&out->data, need->alignment, need->bytes)) {
        out->data = NULL;
        return NEO_OUT_OF_MEMORY;
    }
    out->page_bytes = mapping_page_bytes();
    return NEO_OK;
}

static neo_status heap_release(struct allocation *allocation)
{
    free(allocation->data);
    return NEO_OK;
}

const struct kind_operations kind_heap = {.obtain = heap_obtain, .release = heap_release};

static neo_status user_release(struct allocation *allocation)
{
    const neo_allocator *user = &allocation->user;
    user->release(user->context, allocation->data, allocation->bytes, allocation->alignment);
    return NEO_OK;
}

static neo_status user_obtain(struct allocation_need *need, struct allocation *out,
                              const char **why_not)
{
    const neo_allocator *user = &need->user;
    if (!user->allocate) {
        *why_not = "the engine has no user allocator";
        return NEO_UNSUPPORTED;
    }
    need->alignment = max_size(need->alignment, sizeof(void *));
    out->data = user->allocate(user->context, need->bytes, need->alignment);
    if (!out->data)
        return NEO_OUT_OF_MEMORY;
    out->user = *user;
    out->page_bytes = mapping_page_bytes();
    if (!((uintptr_t)out->data & (need->alignment - 1)))
        return NEO_OK;
    log_error("the user allocator returned %p, which is not aligned to %zu bytes", out->data,
              need->alignment);
    user->release(user->context, out->data, need->bytes, need->alignment);
    out->data = NULL;
    return NEO_RUNTIME_ERROR;
}

const struct kind_operations kind_user = {.obtain = user_obtain, .release = user_release};
