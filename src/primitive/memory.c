/* Memory objects. */
#include "src/primitive/memory.h"

#include <stdlib.h>

#include "src/core/log.h"
#include "src/primitive/engine.h"
#include "src/tensor/descriptor.h"

static const char *memory_wrong(const neo_memory_desc *desc)
{
    if (desc_is_absent(desc))
        return "desc is NULL or absent";
    const char *wrong = desc_wrong(desc);
    if (wrong)
        return wrong;
    if (desc->format_kind == NEO_FORMAT_ANY)
        return "the format is any: ask a primitive descriptor which one it chose";
    return desc_is_runtime(desc) ? "a size is known only at run time" : NULL;
}

static void drop_buffer(neo_memory *memory)
{
    allocation_destroy(&memory->owned);
    memory_set_handle(memory, NULL);
}

void memory_describe(neo_memory *memory, const neo_memory_desc *desc)
{
    size_t offset = desc->format_kind == NEO_FORMAT_STRIDED ? (size_t)desc->offset : 0;
    memory->desc = *desc;
    memory->first = offset * neo_data_type_bits(desc->data_type) / 8;
    memory->bytes = neo_memory_desc_size(desc);
    desc_image(desc, memory->image);
    memory->image_begin = memory->image[0] | engine_mark(memory->engine);
    memory_set_handle(memory, memory->handle);
}

/* On failure the object keeps what it has. */
static neo_status set_buffer(neo_memory *memory, void *handle)
{
    struct allocation owned = {0};
    if (handle == memory->handle)
        return NEO_OK; /* also where the object owns it */
    if (handle == NEO_MEMORY_ALLOCATE) {
        neo_allocation_request request = {.bytes = neo_memory_desc_size(&memory->desc),
                                          .kind = NEO_KIND_HEAP,
                                          .owner = "memory object"};
        neo_status status = allocation_create(&memory->engine->memory, &request, &owned);
        if (status != NEO_OK)
            return status;
        handle = owned.data;
    }
    drop_buffer(memory);
    memory_set_handle(memory, handle);
    memory->owned = owned;
    return NEO_OK;
}

neo_status neo_memory_create(neo_memory **out, const neo_memory_desc *desc, neo_engine *engine,
                             void *handle)
{
    const char *wrong = !out || !engine ? "out or engine is NULL" : memory_wrong(desc);
    if (out)
        *out = NULL;
    if (wrong)
        return log_refusal(__func__, wrong);
    neo_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NEO_OUT_OF_MEMORY;
    memory->engine = engine_retain(engine);
    memory_describe(memory, desc);
    neo_status status = set_buffer(memory, handle);
    if (status != NEO_OK) {
        neo_memory_destroy(memory);
        return status;
    }
    *out = memory;
    return NEO_OK;
}

void neo_memory_destroy(neo_memory *memory)
{
    if (!memory)
        return;
    drop_buffer(memory);
    engine_release(memory->engine);
    free(memory);
}

const neo_memory_desc *neo_memory_get_desc(const neo_memory *memory)
{
    return memory ? &memory->desc : NULL;
}

void *neo_memory_get_handle(const neo_memory *memory)
{
    return memory ? memory->handle : NULL;
}

neo_status neo_memory_set_handle(neo_memory *memory, void *handle)
{
    return memory ? set_buffer(memory, handle) : log_refusal(__func__, "memory is NULL");
}

neo_status neo_memory_set_desc(neo_memory *memory, const neo_memory_desc *desc)
{
    const char *wrong = !memory ? "memory is NULL" : memory_wrong(desc);
    if (!wrong && memory->owned.data && neo_memory_desc_size(desc) > memory->owned.bytes)
        wrong = "the buffer that the object owns is too small for desc";
    if (wrong)
        return log_refusal(__func__, wrong);
    memory_describe(memory, desc);
    return NEO_OK;
}
