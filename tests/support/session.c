#include "tests/support/session.h"

#include "src/primitive/engine.h"
#include "tests/support/test.h"

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

void session_state_caches(struct cpu *copy, size_t l1_bytes, size_t l2_bytes)
{
    *copy = *engine->cpu;
    copy->l1_bytes = l1_bytes;
    copy->l2_bytes = l2_bytes;
    engine->cpu = copy;
}

void other_caches_begin(struct other_caches *other, size_t l1_bytes, size_t l2_bytes)
{
    other->engine = engine;
    other->stream = stream;
    assert_int_equal(session_setup(NULL), 0);
    session_state_caches(&other->cpu, l1_bytes, l2_bytes);
}

void other_caches_end(const struct other_caches *other)
{
    session_teardown(NULL);
    engine = other->engine;
    stream = other->stream;
}
