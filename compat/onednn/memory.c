/* Memory: a descriptor and an address; nothing of Neoprene's until it is executed with. */
#include <stdlib.h>

#include "compat/onednn/theirs.h"

size_t dnnl_memory_desc_get_size(const dnnl_memory_desc *md);

static void *const allocate = (void *)(intptr_t)-1;

/* The memory's bytes from now on, new ones of its own if it is asked to allocate. Those that it had
 * are the caller's to free. */
static dnnl_status set_data(dnnl_memory *memory, void *handle)
{
    void *owned = NULL;
    if (handle == allocate) {
        size_t bytes = dnnl_memory_desc_get_size(&memory->md);
        if (bytes > 0 && posix_memalign(&owned, 64, bytes) != 0)
            return dnnl_out_of_memory;
        handle = owned;
    }
    memory->owned = owned;
    memory->data = handle;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_create(dnnl_memory **out, const dnnl_memory_desc *md,
                                      dnnl_engine *engine, void *handle)
{
    if (!out || !engine || (md && md->desc.format_kind == NEO_FORMAT_ANY))
        return dnnl_invalid_arguments;
    dnnl_memory *memory = malloc(sizeof *memory);
    if (!memory)
        return dnnl_out_of_memory;
    memory->md = md ? *md : no_desc;
    memory->engine = engine;
    dnnl_status status = set_data(memory, handle);
    if (status != dnnl_success) {
        free(memory);
        return status;
    }
    *out = memory;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_create_v2(dnnl_memory **out, const dnnl_memory_desc *md,
                                         dnnl_engine *engine, int count, void **handles)
{
    if (count > 1 || (count == 1 && !handles))
        return dnnl_invalid_arguments;
    return dnnl_memory_create(out, md, engine, count ? handles[0] : NULL);
}

EXPORT dnnl_status dnnl_memory_destroy(dnnl_memory *memory)
{
    if (!memory)
        return dnnl_success;
    if (memory->owned) /* seldom, and programs make and destroy memories at every call */
        free(memory->owned);
    free(memory);
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_get_memory_desc(const dnnl_memory *memory,
                                               const dnnl_memory_desc **md)
{
    if (!memory || !md)
        return dnnl_invalid_arguments;
    *md = &memory->md;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_get_engine(const dnnl_memory *memory, dnnl_engine **engine)
{
    if (!memory || !engine)
        return dnnl_invalid_arguments;
    *engine = memory->engine;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_get_data_handle(const dnnl_memory *memory, void **handle)
{
    if (!memory || !handle)
        return dnnl_invalid_arguments;
    *handle = memory->data;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_get_data_handle_v2(const dnnl_memory *memory, void **handle,
                                                  int index)
{
    return index == 0 ? dnnl_memory_get_data_handle(memory, handle) : dnnl_invalid_arguments;
}

EXPORT dnnl_status dnnl_memory_set_data_handle(dnnl_memory *memory, void *handle)
{
    if (!memory)
        return dnnl_invalid_arguments;
    void *before = memory->owned;
    dnnl_status status = set_data(memory, handle);
    if (status == dnnl_success)
        free(before);
    return status;
}

EXPORT dnnl_status dnnl_memory_set_data_handle_v2(dnnl_memory *memory, void *handle, int index)
{
    return index == 0 ? dnnl_memory_set_data_handle(memory, handle) : dnnl_invalid_arguments;
}

EXPORT dnnl_status dnnl_memory_map_data(const dnnl_memory *memory, void **mapped)
{
    return dnnl_memory_get_data_handle(memory, mapped);
}

EXPORT dnnl_status dnnl_memory_map_data_v2(const dnnl_memory *memory, void **mapped, int index)
{
    return dnnl_memory_get_data_handle_v2(memory, mapped, index);
}

EXPORT dnnl_status dnnl_memory_unmap_data(const dnnl_memory *memory, void *mapped)
{
    (void)mapped;
    return memory ? dnnl_success : dnnl_invalid_arguments;
}

EXPORT dnnl_status dnnl_memory_unmap_data_v2(const dnnl_memory *memory, void *mapped, int index)
{
    return index == 0 ? dnnl_memory_unmap_data(memory, mapped) : dnnl_invalid_arguments;
}
