/* The public functions about an engine's memory. */
#include "src/core/log.h"
#include "src/memory/domain_report.h"
#include "src/primitive/engine.h"

neo_status neo_engine_allocate(neo_engine *engine, const neo_allocation_request *request,
                               neo_allocation **out)
{
    if (out)
        *out = NULL;
    if (!engine || !request || !out)
        return log_refusal(__func__, "a pointer is NULL");
    neo_status status =
        allocation_handle_create(&engine->memory, engine_retain(engine), request, out);
    if (status != NEO_OK)
        engine_release(engine);
    return status;
}

neo_status neo_engine_set_allocator(neo_engine *engine, const neo_allocator *allocator)
{
    return engine ? memory_domain_set_user(&engine->memory, allocator)
                  : log_refusal(__func__, "a pointer is NULL");
}

neo_status neo_engine_set_memory_limits(neo_engine *engine, size_t object_bytes, size_t total_bytes)
{
    if (!engine)
        return log_refusal(__func__, "a pointer is NULL");
    domain_set_limits(&engine->memory, object_bytes, total_bytes);
    return NEO_OK;
}

neo_status neo_engine_get_memory_limits(neo_engine *engine, size_t *object_bytes,
                                        size_t *total_bytes)
{
    if (!engine)
        return log_refusal(__func__, "a pointer is NULL");
    domain_get_limits(&engine->memory, object_bytes, total_bytes);
    return NEO_OK;
}

neo_status neo_engine_set_memory_budget(neo_engine *engine, neo_allocation_kind kind, size_t bytes)
{
    return engine ? domain_set_budget(&engine->memory, kind, bytes)
                  : log_refusal(__func__, "a pointer is NULL");
}

neo_status neo_engine_get_memory_usage(neo_engine *engine, neo_allocation_kind kind,
                                       neo_memory_usage *out)
{
    return engine ? domain_get_usage(&engine->memory, kind, out)
                  : log_refusal(__func__, "a pointer is NULL");
}

neo_status neo_engine_dump_memory_history(neo_engine *engine, const char *path)
{
    return engine ? domain_dump_history(&engine->memory, path)
                  : log_refusal(__func__, "a pointer is NULL");
}

neo_status neo_engine_dump_memory_peak(neo_engine *engine, const char *path)
{
    return engine ? domain_dump_peak(&engine->memory, path)
                  : log_refusal(__func__, "a pointer is NULL");
}

neo_status neo_engine_dump_memory_pool(neo_engine *engine, const char *path, neo_dump_format format)
{
    if (!engine || !path)
        return log_refusal(__func__, "a pointer is NULL");
    if (format > NEO_DUMP_TEXT)
        return log_refusal(__func__, "there is no such format");
    FILE *file = report_open(path);
    return file ? report_close(file, path, block_pool_write(engine->blocks, file, format))
                : NEO_IO_ERROR;
}
