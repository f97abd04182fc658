/* Predicts how large a buffer whose shape changes from run to run will have to be, so that it need
 * not be allocated again at every step. */
#ifndef NEOPRENE_SHAPE_PREDICTOR_H
#define NEOPRENE_SHAPE_PREDICTOR_H

#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Remembers the last three shapes of every id. One for each context (a network, a request): two of
 * them share nothing. All functions may be called from any thread; calls for one predictor take
 * turns. After the first call for an id nothing is allocated. */
typedef struct neo_shape_predictor neo_shape_predictor;

/* ---- settings ---- */

/* flags of the settings */
#define NEO_PREDICTOR_GEOMETRIC 1u /* what grows gets `growth` times its size */
#define NEO_PREDICTOR_ROW_BOUND                                                                 \
    2u                              /* max_iteration_bytes bounds the dimensions that stay (the \
                                       bytes of a row), not the bytes that are added */
#define NEO_PREDICTOR_ALWAYS_PAD 4u /* the ratio also applies to what stays or shrinks */

typedef struct neo_shape_predictor_settings {
    /* Steps: a shape that grew twice by the same difference will go on like that, so it gets room
     * for so many more steps, if no dimension grows by more than max_dim_step and the bytes added
     * are at most iterations * max_iteration_bytes. 0 iterations: never. */
    int64_t iterations;          /* 10 */
    int64_t max_iteration_bytes; /* 16384 */
    int64_t max_dim_step;        /* 2 */
    /* Otherwise, if it grew: elements * ratio, rounded down, as a shape {that, 1, …}; 1.0: never.
     */
    double ratio; /* 1.1; from 1 to 1000, exact to nine decimals */

    uint32_t flags; /* NEO_PREDICTOR_*; 0 */

    /* With GEOMETRIC, instead of both: growth times as much in the one dimension that grew (or
     * flattened as above). The excess is halved for every eight calls that passed without growth,
     * and is at most max_slack_bytes. */
    double growth;           /* 1.5 */
    int64_t max_slack_bytes; /* 64 MiB */

    /* neo_shape_predictor_can_reuse_buffer() gives up a buffer more than so many times too large;
     * 0: never. */
    int64_t reclaim_factor; /* 10 */

    size_t max_ids; /* 4096; beyond, the id that was not used for longest is forgotten */

    /* neo_shape_predictor_can_preallocate(): a buffer of at most max_object_bytes, which together
     * with what is in use stays below memory_percent of max_total_bytes. 0 bytes: the machine's
     * memory when the predictor was made. used_bytes may be NULL: nothing is in use. It is called
     * without a lock held. */
    uint64_t max_object_bytes, max_total_bytes;
    int64_t memory_percent; /* 90 */
    uint64_t (*used_bytes)(void *context);
    void *context;
    uint64_t reserved[4]; /* 0 */
} neo_shape_predictor_settings;

/* The values in the comments above, changed by the environment variable
 *   NEOPRENE_MEM_PREALLOCATION='iterations max_iteration_bytes max_dim_step ratio'
 * (exactly four numbers, '10 16384 2 1.1' being the defaults; '0 0 0 1.0' turns prediction off).
 * A value that is not that is logged as a warning and ignored. */
NEO_API void neo_shape_predictor_get_default_settings(neo_shape_predictor_settings *out);

/* @param out      receives the predictor, or NULL on failure; release with
 *                 neo_shape_predictor_destroy().
 * @param settings copied; NULL for the default settings. With settings of the caller's the
 *                 environment does not count.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a negative value, a ratio or growth that is no number from
 *         1 to 1000, more than INT32_MAX iterations, no ids or more than 2^24, more than 100
 *         percent, an unknown flag), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_shape_predictor_create(neo_shape_predictor **out,
                                              const neo_shape_predictor_settings *settings);

/* NULL is fine. */
NEO_API void neo_shape_predictor_destroy(neo_shape_predictor *predictor);

/* Settings for one output of an id; NULL ends that. Such an output is never forgotten. Of max_ids,
 * the memory limits and the context the predictor's own count.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_OUT_OF_MEMORY (also: all ids have settings). */
NEO_API neo_status
neo_shape_predictor_set_id_settings(neo_shape_predictor *predictor, const char *id, int32_t output,
                                    const neo_shape_predictor_settings *settings);

/* Forgets all shapes; settings of ids stay. NULL is fine. */
NEO_API void neo_shape_predictor_clear(neo_shape_predictor *predictor);

/* ---- prediction ---- */

typedef struct neo_shape {
    int32_t ndims; /* 0 … NEO_MAX_NDIMS */
    neo_dim dims[NEO_MAX_NDIMS];
} neo_shape;

/* Records current_shape and predicts from the shapes of this id.
 *
 * @param id               whose shape it is; copied when it is new.
 * @param bits             of an element.
 * @param can_reuse_buffer not 0: the buffer is large enough; only record the shape.
 * @param predicted        the shape to allocate instead of the current one; ndims 0 if there is no
 *                         prediction.
 * @return 1 if there is a prediction, else 0: fewer than three shapes since the rank last changed,
 * no pattern, an overflow, a wrong argument (logged), or memory was exhausted at a new id. */
NEO_API int neo_shape_predictor_predict_preallocation_shape(neo_shape_predictor *predictor,
                                                            const char *id,
                                                            const neo_shape *current_shape,
                                                            size_t bits, int can_reuse_buffer,
                                                            neo_shape *predicted);

/* flags of a query */
#define NEO_SHAPE_REUSED 1u  /* can_reuse_buffer above */
#define NEO_SHAPE_BLOCKED 2u /* blocked or packed layout: it cannot be flattened */
#define NEO_SHAPE_GROWS                                                    \
    4u /* dimension grow_dim gets `iterations` more elements, whatever the \
          history says: for a cache that is filled from its first run on */

/* The same with everything that can be said. Zero-initialise it and set fields by name. */
typedef struct neo_shape_query {
    const char *id;
    int32_t output; /* which output of id; each has its own history */
    uint32_t flags; /* NEO_SHAPE_* */
    neo_shape shape;
    size_t bits;
    int64_t iterations; /* more than 0: instead of the settings' */
    int32_t grow_dim;
    uint64_t reserved[4]; /* 0 */
} neo_shape_query;

NEO_API int neo_shape_predictor_predict(neo_shape_predictor *predictor,
                                        const neo_shape_query *query, neo_shape *predicted);

/* 1 if a buffer of so many bytes may be allocated ahead of need; see the settings. */
NEO_API int neo_shape_predictor_can_preallocate(neo_shape_predictor *predictor, uint64_t bytes);

/* 1 if a buffer of capacity_bytes is to be kept for needed_bytes, 0 if another one should be
 * allocated: it is too small, or more than reclaim_factor times too large. When giving up a large
 * buffer turned out to be wrong soon after, the next 16 calls of that id, then 32, … 1024, give up
 * nothing. */
NEO_API int neo_shape_predictor_can_reuse_buffer(neo_shape_predictor *predictor, const char *id,
                                                 int32_t output, uint64_t capacity_bytes,
                                                 uint64_t needed_bytes);

#ifdef __cplusplus
}
#endif

#endif
