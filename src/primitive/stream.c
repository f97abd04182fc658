/* Streams: an engine and a resolved thread pool. */
#include <stdlib.h>

#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/primitive/engine.h"

static const char *pool_wrong(const neo_threadpool *pool)
{
    if (!pool->num_threads || !pool->in_parallel || !pool->parallel_for)
        return "the thread pool lacks num_threads, in_parallel or parallel_for";
    if (pool->flags & ~NEO_THREADPOOL_ASYNCHRONOUS)
        return "the thread pool has unknown flags";
    return NULL;
}

static const char *stream_wrong(neo_stream *const *out, const neo_engine *engine,
                                const neo_stream_options *options)
{
    if (!out || !engine)
        return "out or engine is NULL";
    if (options && reserved_is_set(options->reserved))
        return RESERVED_IS_SET;
    if (options && options->max_threads < 0)
        return "max_threads is negative";
    return options && options->threadpool ? pool_wrong(options->threadpool) : NULL;
}

neo_status neo_stream_create(neo_stream **out, neo_engine *engine,
                             const neo_stream_options *options)
{
    const char *wrong = stream_wrong(out, engine, options);
    if (out)
        *out = NULL;
    if (wrong)
        return log_refusal(__func__, wrong);
    neo_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NEO_OUT_OF_MEMORY;
    stream->engine = engine_retain(engine);
    parallel_init(&stream->parallel, options ? options->threadpool : NULL, engine->threads,
                  options ? options->max_threads : 0);
    *out = stream;
    return NEO_OK;
}

neo_status neo_stream_wait(neo_stream *stream)
{
    /* execute returns when its work is done */
    return stream ? NEO_OK : log_refusal(__func__, "stream is NULL");
}

int neo_stream_num_threads(const neo_stream *stream)
{
    return stream ? parallel_threads(&stream->parallel) : 0;
}

void neo_stream_destroy(neo_stream *stream)
{
    if (!stream)
        return;
    engine_release(stream->engine);
    free(stream);
}
