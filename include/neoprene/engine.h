/* The engine (one context that owns memory, caches and threads) and streams (where primitives
 * run). */
#ifndef NEOPRENE_ENGINE_H
#define NEOPRENE_ENGINE_H

#include "neoprene/allocation.h"
#include "neoprene/threadpool.h"
#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An engine, neo_engine, is one context: it owns the allocator and its accounts, the pool of memory
 * blocks, the primitive cache and the default thread pool. Two engines share nothing. All functions
 * may be called from any thread. */

/* @param out receives the engine, or NULL on failure; release with neo_engine_destroy().
 * @return NEO_OK, NEO_INVALID_ARGUMENT (out is NULL), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_engine_create(neo_engine **out);

/* The same with heap memory from the user's allocator, whose table is copied; NULL: from the C
 * library.
 * @return also NEO_INVALID_ARGUMENT: the allocator lacks a function. */
NEO_API neo_status neo_engine_create_with_allocator(neo_engine **out,
                                                    const neo_allocator *allocator);

/* Drops the caller's reference. Streams, memory objects and primitives of the engine keep it alive,
 * so the order in which they are destroyed does not matter. NULL is fine. */
NEO_API void neo_engine_destroy(neo_engine *engine);

/* The memory that algorithms are chosen for, as weights come from there: GB/s that one core reads
 * while all cores do, by the kind of core or NEOPRENE_BANDWIDTH. The number of threads does not
 * matter to it.
 *
 * @param gigabytes_per_second  receives it; 0 if the core is not known.
 * @return NEO_OK, or NEO_INVALID_ARGUMENT if a pointer is NULL. */
NEO_API neo_status neo_engine_get_bandwidth(const neo_engine *engine, double *gigabytes_per_second);

/* Where primitives run: an engine and a thread pool. A stream is immutable: threads may share
 * it. */
typedef struct neo_stream neo_stream;

/* Zero-initialise it and set fields by name; zero means "default". */
typedef struct neo_stream_options {
    const neo_threadpool *threadpool; /* copied; NULL: the engine's own pool */
    int max_threads;                  /* 0: as many as the pool has; 1: only the calling thread */
    uint64_t reserved[4];             /* 0 */
} neo_stream_options;

/* @param out     receives the stream, or NULL on failure; release with neo_stream_destroy().
 * @param engine  the stream holds a reference to it.
 * @param options NULL for the defaults.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a NULL pointer, max_threads < 0, a pool with unknown
 *         flags or without num_threads, in_parallel or parallel_for), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_stream_create(neo_stream **out, neo_engine *engine,
                                     const neo_stream_options *options);

/* Waits until all that was executed in the stream is done: nothing to wait for today, since
 * neo_primitive_execute() returns when its work is done.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (stream is NULL). */
NEO_API neo_status neo_stream_wait(neo_stream *stream);

/* The number of threads a primitive would be split among if it were executed now; 0 for NULL. */
NEO_API int neo_stream_num_threads(const neo_stream *stream);

/* NULL is fine. */
NEO_API void neo_stream_destroy(neo_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
