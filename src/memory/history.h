/* A bounded ring of allocation events. */
#ifndef SRC_MEMORY_HISTORY_H
#define SRC_MEMORY_HISTORY_H

#include <stdio.h>

#include "neoprene/allocation.h"

#define HISTORY_OWNER_BYTES 48
#define HISTORY_EVENTS 4096

struct history_event {
    uint64_t time_ns;
    size_t bytes;
    const void *data;
    size_t current, max;             /* of the kind, after the event */
    size_t total_current, total_max; /* of all kinds */
    neo_allocation_kind kind;
    int thread;
    int is_free;
    char owner[HISTORY_OWNER_BYTES];
};

/* The owner locks. events[i % capacity] is event i; the latest min(count, capacity) are there. */
struct history {
    struct history_event *events;
    size_t capacity; /* 0: nothing is kept */
    uint64_t count;
};

neo_status history_init(struct history *history, size_t capacity);
void history_deinit(struct history *history);
void history_push(struct history *history, const struct history_event *event);

/* A copy of what is there, oldest first, to be released with free(); *count of them. NULL with a
 * count of 0 when there is nothing, with a count when memory is out. */
struct history_event *history_copy(const struct history *history, size_t *count);

neo_status history_write(FILE *file, const struct history_event *events, size_t count);

/* One CSV field, quoted where it has to be. */
void history_write_text(FILE *file, const char *text);

#endif
