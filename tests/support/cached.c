/* Products of the session's engine. */
#include "tests/support/cached.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/require.h"
#include "tests/support/session.h"
#include "tests/support/test.h"

neo_cache_statistics cached_statistics(void)
{
    neo_cache_statistics stats;
    require(neo_engine_get_cache_statistics(engine, &stats) == NEO_OK);
    return stats;
}

void cached_set_capacity(size_t entries, size_t bytes)
{
    require(neo_engine_set_cache_capacity(engine, (neo_cache_capacity){entries, bytes}) == NEO_OK);
}

neo_primitive_desc *cached_describe(neo_dim m)
{
    neo_primitive_desc *pd;
    require(primitive_describe_matmul(&pd, engine, m, 29, 27) == NEO_OK);
    return pd;
}

bool cached_is_hit(neo_dim m)
{
    neo_primitive_desc *pd = cached_describe(m);
    bool hit = neo_primitive_desc_cache_hit(pd);
    neo_primitive_desc_destroy(pd);
    return hit;
}

neo_primitive *cached_create(neo_dim m)
{
    neo_primitive_desc *pd = cached_describe(m);
    neo_primitive *primitive;
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

neo_status cached_execute(neo_stream *where, const neo_primitive *primitive,
                          const struct primitive_args *args)
{
    return neo_primitive_execute(primitive, where, args->count, args->list);
}

void cached_check_same_results(const neo_primitive *a, neo_stream *a_stream, const neo_primitive *b,
                               neo_stream *b_stream)
{
    struct primitive_args args = primitive_args_make(engine, neo_primitive_get_desc(a), 3, 8);
    size_t bytes;
    void *dst = primitive_args_dst(&args, &bytes), *first = malloc(bytes), *old = malloc(bytes);
    require(first && old);
    memcpy(old, dst, bytes);
    assert_int_equal(cached_execute(a_stream, a, &args), NEO_OK);
    memcpy(first, dst, bytes);
    memcpy(dst, old, bytes);
    assert_int_equal(cached_execute(b_stream, b, &args), NEO_OK);
    assert_memory_equal(dst, first, bytes);
    free(first);
    free(old);
    primitive_args_free(&args);
}
