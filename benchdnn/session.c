/* The engine and the streams that problems run in. */
#include "benchdnn/session.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define STREAMS_MAX 64

static struct {
    neo_engine *engine;
    struct {
        neo_stream *stream;
        int max_threads, index;
    } streams[STREAMS_MAX];
    int count;
} session;

static void require(neo_status status, const char *what)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "benchdnn: no %s: %s\n", what, neo_status_text(status));
    exit(1);
}

neo_engine *session_engine(void)
{
    if (!session.engine)
        require(neo_engine_create(&session.engine), "engine");
    return session.engine;
}

neo_stream *session_stream(int max_threads, int index)
{
    for (int i = 0; i < session.count; i++) {
        if (session.streams[i].max_threads == max_threads && session.streams[i].index == index)
            return session.streams[i].stream;
    }
    if (session.count == STREAMS_MAX)
        return session.streams[0].stream;
    neo_stream_options options = {.max_threads = max_threads};
    neo_stream *stream;
    require(neo_stream_create(&stream, session_engine(), &options), "stream");
    session.streams[session.count].stream = stream;
    session.streams[session.count].max_threads = max_threads;
    session.streams[session.count].index = index;
    session.count++;
    return stream;
}

void session_end(void)
{
    for (int i = 0; i < session.count; i++)
        neo_stream_destroy(session.streams[i].stream);
    neo_engine_destroy(session.engine);
    session.engine = NULL;
    session.count = 0;
}

void session_print_memory(void)
{
    for (int i = 0; i <= NEO_KIND_COUNT; i++) {
        neo_allocation_kind kind = (neo_allocation_kind)i;
        neo_memory_usage usage;
        bool is_known = neo_engine_get_memory_usage(session_engine(), kind, &usage) == NEO_OK;
        if (is_known && (usage.allocations || kind == NEO_KIND_ALL))
            printf("memory: %-9s current %zu bytes, peak %zu bytes, %llu allocations, %llu frees\n",
                   neo_allocation_kind_name(kind), usage.current, usage.max,
                   (unsigned long long)usage.allocations, (unsigned long long)usage.frees);
    }
    neo_engine_dump_memory_pool(session_engine(), "-", NEO_DUMP_TEXT);
}
