/* The engine and the streams that problems run in. */
#include "benchdnn/session.h"

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
}
