/* What a shape predictor remembers: one record for each id and output, found by hash. */
#ifndef SRC_MEMORY_SHAPES_TABLE_H
#define SRC_MEMORY_SHAPES_TABLE_H

#include "src/memory/shapes/settings.h"

#define SHAPE_HISTORY 3

typedef struct shape_record {
    struct shape_record *chain;         /* next in the bucket */
    struct shape_record *newer, *older; /* by use */
    uint64_t hash;
    int32_t output;

    int32_t ndims; /* of all shapes in the history */
    int32_t count; /* shapes in the history, the latest first */
    neo_dim shapes[SHAPE_HISTORY][NEO_MAX_NDIMS];
    uint32_t quiet; /* calls since it last grew */

    /* giving up buffers that are too large */
    uint64_t given_up_bytes; /* the last one; 0: none yet */
    uint32_t since_given_up; /* calls */
    uint32_t cooldown;       /* calls that give up nothing */
    uint32_t backoff;        /* the next cooldown */

    shape_settings *own; /* NULL: the predictor's */
    char id[];
} shape_record;

typedef struct shape_table {
    shape_record **buckets;
    size_t bucket_count, count, max; /* bucket_count is a power of two */
    shape_record *newest, *oldest;
} shape_table;

/* max is at least 1. */
neo_status shape_table_init(shape_table *table, size_t max);
void shape_table_deinit(shape_table *table);

/* Forgets all histories; records with settings of their own stay. */
void shape_table_clear(shape_table *table);

/* The record, which becomes the newest; NULL if there is none. */
shape_record *shape_table_find(shape_table *table, const char *id, int32_t output);

/* The same, made if there is none: the oldest record without settings of its own goes if there are
 * max of them. NULL when memory is exhausted or none can go. */
shape_record *shape_table_get(shape_table *table, const char *id, int32_t output);

#endif
