/* The engine of the process, and its threads: as many as the BLAS behind this one would use. */
#include "compat/blas/threads.h"

#include <pthread.h>

/* Weak: OpenBLAS and OpenMP may not be in the process. The former knows OPENBLAS_NUM_THREADS,
 * OMP_NUM_THREADS, and what the program asked for later. */
__attribute__((weak)) int openblas_get_num_threads(void);
__attribute__((weak)) int omp_in_parallel(void);

static neo_engine *engine;
static neo_stream *stream;
static neo_threadpool built_in;

static int limit(void)
{
    return openblas_get_num_threads ? openblas_get_num_threads() : 0;
}

/* A program that calls from inside its own parallel region has the CPUs at work already. */
static int num_threads(void *context)
{
    if (omp_in_parallel && omp_in_parallel())
        return 1;
    int most = limit(), have = built_in.num_threads(context);
    return most > 0 && most < have ? most : have;
}

static void start(void)
{
    int threads = limit();
    neo_threadpool_options options = {.threads = threads > 512 ? 512 : threads};
    if (neo_engine_create(&engine) != NEO_OK ||
        neo_threadpool_create(&built_in, &options) != NEO_OK)
        return;
    neo_threadpool pool = built_in;
    pool.num_threads = num_threads;
    /* On failure the stream is NULL, which is what callers look at. */
    (void)neo_stream_create(&stream, engine, &(neo_stream_options){.threadpool = &pool});
}

neo_stream *threads_stream(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, start);
    return stream;
}

neo_engine *threads_engine(void)
{
    return threads_stream() ? engine : NULL;
}
