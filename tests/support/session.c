#include "tests/support/session.h"

neo_engine *engine;
neo_stream *stream;

int session_setup(void **state)
{
    (void)state;
    return neo_engine_create(&engine) || neo_stream_create(&stream, engine, NULL);
}

int session_setup_single(void **state)
{
    const neo_stream_options one = {.max_threads = 1};
    (void)state;
    return neo_engine_create(&engine) || neo_stream_create(&stream, engine, &one);
}

int session_teardown(void **state)
{
    (void)state;
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
    return 0;
}
