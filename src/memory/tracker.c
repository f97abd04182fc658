/* The table of live allocations, the counters and the log lines. */
#include "src/memory/tracker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/core/log.h"

#define FIRST_PLACES 64

neo_status tracker_init(struct tracker *tracker, size_t history_events)
{
    *tracker = (struct tracker){.places = FIRST_PLACES};
    pthread_mutex_init(&tracker->lock, NULL);
    neo_status status = history_init(&tracker->history, history_events);
    tracker->table = calloc(FIRST_PLACES, sizeof *tracker->table);
    tracker->departed = calloc(FIRST_PLACES / 2, sizeof *tracker->departed);
    if (status == NEO_OK && tracker->table && tracker->departed)
        return NEO_OK;
    tracker_deinit(tracker);
    return NEO_OUT_OF_MEMORY;
}

void tracker_deinit(struct tracker *tracker)
{
    if (!tracker || !tracker->places)
        return;
    history_deinit(&tracker->history);
    free(tracker->table);
    free(tracker->departed);
    pthread_mutex_destroy(&tracker->lock);
    *tracker = (struct tracker){0};
}

/* ---- the table ---- */

/* Fibonacci hashing: the low bits of an address are the same in all of them. */
static size_t home(const struct tracker *tracker, const void *data)
{
    uint64_t mixed = (uint64_t)(uintptr_t)data * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 32) & (tracker->places - 1);
}

/* The record of data, or the free place where it would go. */
static struct tracker_record *find(struct tracker *tracker, const void *data)
{
    size_t i = home(tracker, data);
    while (tracker->table[i].data && tracker->table[i].data != data)
        i = (i + 1) & (tracker->places - 1);
    return &tracker->table[i];
}

/* Backward shift: the entries after the gap move up as far as their home lets them, so that no
 * marks of removed entries pile up. */
static void erase(struct tracker *tracker, struct tracker_record *record)
{
    size_t mask = tracker->places - 1;
    size_t gap = (size_t)(record - tracker->table);
    for (size_t i = (gap + 1) & mask; tracker->table[i].data; i = (i + 1) & mask) {
        size_t distance = (i - home(tracker, tracker->table[i].data)) & mask;
        if (distance >= ((i - gap) & mask)) {
            tracker->table[gap] = tracker->table[i];
            gap = i;
        }
    }
    tracker->table[gap].data = NULL;
    tracker->live--;
}

/* Both arrays grow together, so that a free never needs memory. */
static bool grow(struct tracker *tracker)
{
    size_t old_places = tracker->places;
    struct tracker_record *old = tracker->table;
    struct tracker_record *departed =
        realloc(tracker->departed, old_places * sizeof *tracker->departed);
    if (!departed)
        return false;
    tracker->departed = departed;
    struct tracker_record *table = calloc(old_places * 2, sizeof *table);
    if (!table)
        return false;
    tracker->table = table;
    tracker->places = old_places * 2;
    for (size_t i = 0; i < old_places; i++)
        if (old[i].data)
            *find(tracker, old[i].data) = old[i];
    free(old);
    return true;
}

/* ---- counting ---- */

static void count_up(neo_memory_usage *usage, size_t bytes)
{
    usage->current += bytes;
    usage->max = max_size(usage->max, usage->current);
    usage->allocations++;
}

static void count_down(neo_memory_usage *usage, size_t bytes)
{
    usage->current -= bytes;
    usage->frees++;
}

static void note(struct tracker *tracker, const struct tracker_record *record, bool is_free)
{
    const neo_memory_usage *kind = &tracker->usage[record->kind];
    const neo_memory_usage *all = &tracker->usage[NEO_KIND_ALL];
    log_line(LOG_MEMORY, "memory", "%s %zu bytes of %s allocation type (current=%zu; max=%zu)",
             is_free ? "Free" : "Allocate", record->bytes, neo_allocation_kind_name(record->kind),
             kind->current, kind->max);
    struct history_event event = {
        .time_ns = is_free ? log_now_ns() : record->time_ns,
        .bytes = record->bytes,
        .data = record->data,
        .current = kind->current,
        .max = kind->max,
        .total_current = all->current,
        .total_max = all->max,
        .kind = record->kind,
        .thread = is_free ? gettid() : record->thread,
        .is_free = is_free,
    };
    memcpy(event.owner, record->owner, sizeof event.owner);
    history_push(&tracker->history, &event);
}

static neo_status add(struct tracker *tracker, const struct tracker_record *added)
{
    if ((tracker->live + 1) * 2 > tracker->places && !grow(tracker))
        return NEO_OUT_OF_MEMORY;
    struct tracker_record *record = find(tracker, added->data);
    if (record->data)
        return NEO_INVALID_ARGUMENT;
    *record = *added;
    record->born = ++tracker->events;
    tracker->live++;
    size_t peak = tracker->usage[NEO_KIND_ALL].max;
    count_up(&tracker->usage[record->kind], record->bytes);
    count_up(&tracker->usage[NEO_KIND_ALL], record->bytes);
    if (tracker->usage[NEO_KIND_ALL].max > peak) {
        tracker->peak_event = record->born;
        tracker->departed_count = 0;
    }
    note(tracker, record, false);
    return NEO_OK;
}

neo_status tracker_add(struct tracker *tracker, neo_allocation_kind kind, const void *data,
                       size_t bytes, const char *owner)
{
    struct tracker_record record = {
        .data = data,
        .bytes = bytes,
        .kind = kind,
        .thread = gettid(),
    };
    snprintf(record.owner, sizeof record.owner, "%s", owner ? owner : "");
    pthread_mutex_lock(&tracker->lock);
    record.time_ns = log_now_ns(); /* inside: times go up with the order of events */
    neo_status status = add(tracker, &record);
    pthread_mutex_unlock(&tracker->lock);
    return status;
}

neo_status tracker_remove(struct tracker *tracker, const void *data)
{
    pthread_mutex_lock(&tracker->lock);
    struct tracker_record *place = data ? find(tracker, data) : NULL;
    bool found = place && place->data;
    if (found) {
        struct tracker_record record = *place;
        erase(tracker, place);
        tracker->events++;
        count_down(&tracker->usage[record.kind], record.bytes);
        count_down(&tracker->usage[NEO_KIND_ALL], record.bytes);
        if (record.born <= tracker->peak_event)
            tracker->departed[tracker->departed_count++] = record;
        note(tracker, &record, true);
    }
    pthread_mutex_unlock(&tracker->lock);
    return found ? NEO_OK : NEO_NOT_FOUND;
}

void tracker_set_handle(struct tracker *tracker, const void *data, void *handle)
{
    pthread_mutex_lock(&tracker->lock);
    struct tracker_record *record = find(tracker, data);
    if (record->data)
        record->handle = handle;
    pthread_mutex_unlock(&tracker->lock);
}

void *tracker_take_handle(struct tracker *tracker, const void *data)
{
    void *handle = NULL;
    pthread_mutex_lock(&tracker->lock);
    struct tracker_record *record = find(tracker, data);
    if (data && record->data) {
        handle = record->handle;
        record->handle = NULL;
    }
    pthread_mutex_unlock(&tracker->lock);
    return handle;
}

neo_allocation_kind tracker_kind(struct tracker *tracker, const void *data)
{
    pthread_mutex_lock(&tracker->lock);
    const struct tracker_record *record = find(tracker, data);
    neo_allocation_kind kind = data && record->data ? record->kind : NEO_KIND_HEAP;
    pthread_mutex_unlock(&tracker->lock);
    return kind;
}

neo_memory_usage tracker_usage(struct tracker *tracker, neo_allocation_kind kind)
{
    pthread_mutex_lock(&tracker->lock);
    neo_memory_usage usage = tracker->usage[kind];
    pthread_mutex_unlock(&tracker->lock);
    return usage;
}

size_t tracker_live(struct tracker *tracker)
{
    pthread_mutex_lock(&tracker->lock);
    size_t live = tracker->live;
    pthread_mutex_unlock(&tracker->lock);
    return live;
}

/* ---- dumps: copied under the lock, written outside ---- */

neo_status tracker_write_history(struct tracker *tracker, FILE *file)
{
    size_t count;
    pthread_mutex_lock(&tracker->lock);
    struct history_event *events = history_copy(&tracker->history, &count);
    pthread_mutex_unlock(&tracker->lock);
    if (count && !events)
        return NEO_OUT_OF_MEMORY;
    neo_status status = history_write(file, events, count);
    free(events);
    return status;
}

/* Copies what was live at the peak: first what still is, *still of them, then what is not. */
static struct tracker_record *copy_peak(const struct tracker *tracker, size_t *still, size_t *count)
{
    struct tracker_record *copy =
        malloc((tracker->live + tracker->departed_count + 1) * sizeof *copy);
    if (!copy)
        return NULL;
    *still = 0;
    for (size_t i = 0; i < tracker->places; i++)
        if (tracker->table[i].data && tracker->table[i].born <= tracker->peak_event)
            copy[(*still)++] = tracker->table[i];
    memcpy(copy + *still, tracker->departed, tracker->departed_count * sizeof *copy);
    *count = *still + tracker->departed_count;
    return copy;
}

static void write_record(FILE *file, const struct tracker_record *record, bool is_live)
{
    fprintf(file, "%s,%zu,", neo_allocation_kind_name(record->kind), record->bytes);
    history_write_text(file, record->owner);
    fprintf(file, ",%d,0x%" PRIxPTR ",%" PRIu64 ",%d\n", record->thread, (uintptr_t)record->data,
            record->time_ns, is_live);
}

neo_status tracker_write_peak(struct tracker *tracker, FILE *file)
{
    size_t still = 0, count = 0;
    pthread_mutex_lock(&tracker->lock);
    struct tracker_record *records = copy_peak(tracker, &still, &count);
    pthread_mutex_unlock(&tracker->lock);
    if (!records)
        return NEO_OUT_OF_MEMORY;
    fputs("kind,bytes,owner,thread,pointer,time_ns,still_live\n", file);
    for (size_t i = 0; i < count; i++)
        write_record(file, &records[i], i < still);
    free(records);
    return ferror(file) ? NEO_IO_ERROR : NEO_OK;
}
