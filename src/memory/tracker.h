/* Counts every live allocation of an engine, by kind and in total, and keeps its history.
 *
 * One short lock covers the table of live allocations, the counters, the ring of events and the log
 * line, so that all four tell the same order: max is the true peak of that order. */
#ifndef SRC_MEMORY_TRACKER_H
#define SRC_MEMORY_TRACKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "neoprene/allocation.h"
#include "src/memory/history.h"

/* One live allocation. */
struct tracker_record {
    const void *data; /* NULL: a free place of the table */
    size_t bytes;
    uint64_t time_ns;
    uint64_t born; /* number of the event that made it */
    neo_allocation_kind kind;
    int thread;
    void *handle; /* see tracker_set_handle() */
    char owner[HISTORY_OWNER_BYTES];
};

/* Invariants: live <= places / 2, places is a power of two; departed has room for places / 2.
 * usage[NEO_KIND_ALL] is the sum of the others' current, with a peak of its own.
 * What was live at the peak of the sum: table entries born up to peak_event, and departed. */
struct tracker {
    pthread_mutex_t lock;
    struct history history;
    neo_memory_usage usage[NEO_KIND_COUNT + 1];
    struct tracker_record *table; /* open addressing by data */
    size_t places, live;
    struct tracker_record *departed; /* live at the peak, freed since */
    size_t departed_count;
    uint64_t events;     /* so far */
    uint64_t peak_event; /* the one that made the latest peak of the sum */
};

neo_status tracker_init(struct tracker *tracker, size_t history_events);

/* Everything may be live still; that is the caller's business. NULL and zeroes are fine. */
void tracker_deinit(struct tracker *tracker);

/* Records an allocation. NEO_OUT_OF_MEMORY: nothing was recorded. NEO_INVALID_ARGUMENT: data is
 * live already. */
neo_status tracker_add(struct tracker *tracker, neo_allocation_kind kind, const void *data,
                       size_t bytes, const char *owner);

/* Records a free; NEO_NOT_FOUND when data is not live. Call before the memory is released: later
 * its address may belong to another allocation. */
neo_status tracker_remove(struct tracker *tracker, const void *data);

/* Ties an object to a live allocation, so that it is found again by address. */
void tracker_set_handle(struct tracker *tracker, const void *data, void *handle);

/* Returns the object and unties it: of several callers one gets it. NULL: there is none. */
void *tracker_take_handle(struct tracker *tracker, const void *data);

/* Of a live allocation; heap if it is none. */
neo_allocation_kind tracker_kind(struct tracker *tracker, const void *data);

neo_memory_usage tracker_usage(struct tracker *tracker, neo_allocation_kind kind);
size_t tracker_live(struct tracker *tracker);

/* CSV, as neo_engine_dump_memory_history() and neo_engine_dump_memory_peak() say. */
neo_status tracker_write_history(struct tracker *tracker, FILE *file);
neo_status tracker_write_peak(struct tracker *tracker, FILE *file);

#endif
