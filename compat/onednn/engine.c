/* Engines and streams: one of each for the whole process, whatever a program creates. */
#include <pthread.h>
#include <stdlib.h>

#include "compat/onednn/objects.h"
#include "neoprene/openmp.h"

struct dnnl_engine {
    int kind;
};
struct dnnl_stream {
    dnnl_engine *engine;
};
static dnnl_engine the_dnnl_engine = {ENGINE_CPU};
static dnnl_stream the_dnnl_stream = {&the_dnnl_engine};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static neo_engine *the_engine;
static neo_stream *the_stream;

static void set_capacity_from_environment(void)
{
    const char *text = getenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY");
    neo_cache_capacity capacity;
    if (!text || neo_engine_get_cache_capacity(the_engine, &capacity) != NEO_OK)
        return;
    long entries = strtol(text, NULL, 10);
    if (entries < 0)
        return;
    capacity.entries = (size_t)entries;
    neo_engine_set_cache_capacity(the_engine, capacity);
}

/* Programs of oneDNN's use OpenMP, so its threads are there already: a second pool would fight
 * them. A forked child does not have them, and OpenMP would wait for them: it computes in the
 * thread that calls. */
static int is_forked_child;

static void remember_fork(void)
{
    is_forked_child = 1;
}

static int num_threads(void *context)
{
    return is_forked_child ? 1 : neo_openmp_num_threads(context);
}

static void parallel_for(void *context, int n, neo_task_fn *task, void *argument)
{
    if (!is_forked_child) {
        neo_openmp_parallel_for(context, n, task, argument);
        return;
    }
    for (int i = 0; i < n; i++)
        task(argument, i, n);
}

static void create(void)
{
    neo_threadpool openmp = neo_openmp_threadpool();
    neo_stream_options options = {.threadpool = &openmp};
    openmp.num_threads = num_threads;
    openmp.parallel_for = parallel_for;
    if (pthread_atfork(NULL, NULL, remember_fork) != 0 || neo_engine_create(&the_engine) != NEO_OK)
        return;
    set_capacity_from_environment();
    neo_stream_create(&the_stream, the_engine, &options);
}

neo_engine *shared_engine(void)
{
    pthread_once(&once, create);
    return the_engine;
}

neo_stream *shared_stream(void)
{
    pthread_once(&once, create);
    return the_stream;
}

static int is_cpu(int kind)
{
    return kind == ENGINE_CPU || kind == ENGINE_ANY;
}

EXPORT size_t dnnl_engine_get_count(int kind)
{
    return (size_t)is_cpu(kind);
}

EXPORT dnnl_status dnnl_engine_create(dnnl_engine **engine, int kind, size_t index)
{
    if (!engine || !is_cpu(kind) || index > 0)
        return dnnl_invalid_arguments;
    if (!shared_stream())
        return dnnl_out_of_memory;
    *engine = &the_dnnl_engine;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_engine_get_kind(const dnnl_engine *engine, int *kind)
{
    if (!engine || !kind)
        return dnnl_invalid_arguments;
    *kind = engine->kind;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_engine_destroy(dnnl_engine *engine)
{
    (void)engine;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_stream_create(dnnl_stream **stream, dnnl_engine *engine, unsigned flags)
{
    (void)flags; /* an execution is done when its call returns: in order, and out of order too */
    if (!stream || !engine)
        return dnnl_invalid_arguments;
    *stream = &the_dnnl_stream;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_stream_get_engine(const dnnl_stream *stream, dnnl_engine **engine)
{
    if (!stream || !engine)
        return dnnl_invalid_arguments;
    *engine = stream->engine;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_stream_wait(dnnl_stream *stream)
{
    return stream ? dnnl_success : dnnl_invalid_arguments;
}

EXPORT dnnl_status dnnl_stream_destroy(dnnl_stream *stream)
{
    (void)stream;
    return dnnl_success;
}
