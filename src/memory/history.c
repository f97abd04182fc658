/* The ring of allocation events, and its CSV form. */
#include "src/memory/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"

neo_status history_init(struct history *history, size_t capacity)
{
    *history = (struct history){.capacity = capacity};
    if (!capacity)
        return NEO_OK;
    history->events = calloc(capacity, sizeof *history->events); /* pages are used as it fills */
    return history->events ? NEO_OK : NEO_OUT_OF_MEMORY;
}

void history_deinit(struct history *history)
{
    free(history->events);
    *history = (struct history){0};
}

void history_push(struct history *history, const struct history_event *event)
{
    if (history->capacity)
        history->events[history->count++ % history->capacity] = *event;
}

struct history_event *history_copy(const struct history *history, size_t *count)
{
    *count = history->count < history->capacity ? (size_t)history->count : history->capacity;
    struct history_event *copy = *count ? malloc(*count * sizeof *copy) : NULL;
    for (size_t i = 0; copy && i < *count; i++)
        copy[i] = history->events[(history->count - *count + i) % history->capacity];
    return copy;
}

void history_write_text(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (const char *at = text; *at; at++) {
        if (*at == '"')
            fputc('"', file);
        fputc(*at, file);
    }
    fputc('"', file);
}

static void write_event(FILE *file, const struct history_event *event)
{
    fprintf(file, "%" PRIu64 ",%s,%s,%zu,", event->time_ns, event->is_free ? "free" : "allocate",
            neo_allocation_kind_name(event->kind), event->bytes);
    history_write_text(file, event->owner);
    fprintf(file, ",%d,0x%" PRIxPTR ",%zu,%zu,%zu,%zu\n", event->thread, (uintptr_t)event->data,
            event->current, event->max, event->total_current, event->total_max);
}

neo_status history_write(FILE *file, const struct history_event *events, size_t count)
{
    fputs("time_ns,event,kind,bytes,owner,thread,pointer,current,max,total_current,total_max\n",
          file);
    for (size_t i = 0; i < count; i++)
        write_event(file, &events[i]);
    return ferror(file) ? NEO_IO_ERROR : NEO_OK;
}
