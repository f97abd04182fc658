/* How much memory packed weights take, and where it is. */
#include "tests/support/test.h"

#include <numa.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/packed/packed.h"
#include "tests/support/session.h"

static void the_source_may_be_released(void **state)
{
    (void)state;
    neo_engine *own;
    neo_stream *in;
    neo_memory_usage usage;
    assert_int_equal(neo_engine_create(&own), NEO_OK);
    assert_int_equal(neo_stream_create(&in, own, NULL), NEO_OK);
    neo_primitive_desc *pd = packed_describe(own, 5, NULL);
    neo_memory_desc src_desc = tensor_matrix(5, 40, "ab"), dst_desc = tensor_matrix(5, 30, "ab");
    struct tensor src = tensor_make(own, &src_desc, 3), dst = tensor_make(own, &dst_desc, 0);
    struct tensor again = tensor_make(own, &dst_desc, 0), plain = packed_source(own, "ab", 4);
    assert_int_equal(neo_engine_get_memory_usage(own, NEO_KIND_ALL, &usage), NEO_OK);
    size_t with_source = usage.current;
    neo_packed_weights *weights = packed_make(in, pd, &plain);
    packed_multiply(pd, in, weights, &src, &dst);
    memset(plain.data, 0xff, sizeof(float) * 40 * 30);
    tensor_free(&plain);
    packed_multiply(pd, in, weights, &src, &again);
    assert_memory_equal(dst.data, again.data, sizeof(float) * 5 * 30);
    size_t packed_bytes = neo_memory_desc_size(neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    assert_int_equal(neo_engine_get_memory_usage(own, NEO_KIND_ALL, &usage), NEO_OK);
    assert_in_range(usage.current, packed_bytes,
                    with_source - sizeof(float) * 40 * 30 + 2 * packed_bytes + (1 << 22));
    neo_primitive_desc_destroy(pd);
    tensor_free(&src);
    tensor_free(&dst);
    tensor_free(&again);
    neo_stream_destroy(in);
    neo_engine_destroy(own); /* the weights keep what they need */
    assert_true(*(const float *)packed_data(weights) >= -4);
    neo_packed_weights_destroy(weights);
}

/* ---- packed and plain, compared ---- */

/* 0 where it says nothing: sanitizers keep what is freed. */
static size_t resident_bytes(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
#endif
}

/* What was packed needs its source no more: releasing it gives back its pages. */
static void releasing_the_source_returns_its_pages(void **state)
{
    (void)state;
    enum { SIDE = 2048 };
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
    neo_matmul_desc desc = {.src = tensor_matrix(1, SIDE, "ab"),
                            .weights = tensor_matrix(SIDE, SIDE, "any"),
                            .dst = tensor_matrix(1, SIDE, "ab")};
    neo_memory_desc plain_desc = tensor_matrix(SIDE, SIDE, "ab");
    neo_primitive_desc *pd;
    neo_memory *plain;
    neo_packed_weights *weights;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_memory_create(&plain, &plain_desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    memset(neo_memory_get_handle(plain), 0, bytes);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, plain), NEO_OK);
    neo_memory_usage with, without;
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &with), NEO_OK);
    size_t before = resident_bytes();
    neo_memory_destroy(plain);
    size_t after = resident_bytes();
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &without), NEO_OK);
    assert_int_equal(with.current - without.current, bytes);
    if (before)
        assert_true(after < before && before - after >= bytes / 100 * 95);
    else
        print_message("resident pages are not known here: only the accounting is tested\n");
    neo_packed_weights_destroy(weights);
    neo_primitive_desc_destroy(pd);
}

/* ---- by accounting ---- */

static size_t current_bytes(void)
{
    neo_memory_usage usage;
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &usage), NEO_OK);
    return usage.current;
}

/* Eight streams, batches of 1 to 64, weights packed by each for itself: one copy in memory, and a
 * bias that all of them are given is no copy at all. */
static void streams_and_batches_hold_one_copy(void **state)
{
    (void)state;
    enum { STREAMS = 8, BATCHES = 64 };
    static neo_packed_weights *held[STREAMS][BATCHES];
    struct tensor plain = packed_source(engine, "ab", 7);
    neo_stream *streams[STREAMS];
    for (int replicas = 0; replicas < 2; replicas++) {
        assert_int_equal(neo_engine_set_weights_replicas(engine, replicas), NEO_OK);
        size_t before = current_bytes(), first = 0;
        for (int s = 0; s < STREAMS; s++) {
            assert_int_equal(neo_stream_create(&streams[s], engine, NULL), NEO_OK);
            for (int b = 0; b < BATCHES; b++) {
                neo_primitive_desc *pd = packed_describe(engine, b + 1, NULL);
                held[s][b] = packed_make(streams[s], pd, &plain);
                neo_primitive_desc_destroy(pd);
                if (!first)
                    first = current_bytes() - before;
                if (!replicas)
                    assert_ptr_equal(packed_data(held[s][b]), packed_data(held[0][0]));
            }
        }
        size_t copies = (current_bytes() - before) / first;
        assert_true(first >= 40 * 30 * sizeof(float));
        assert_true(copies >= 1 && (current_bytes() - before) % first == 0);
        assert_true(copies <= (replicas && numa_available() >= 0
                                   ? (size_t)numa_num_configured_nodes()
                                   : 1)); /* the scheduler may move us from node to node */
        for (int s = 0; s < STREAMS; s++) {
            for (int b = 0; b < BATCHES; b++)
                neo_packed_weights_destroy(held[s][b]);
            neo_stream_destroy(streams[s]);
        }
        /* the provider keeps what it has, replicas go with their last user */
        assert_int_equal(current_bytes(), before + (replicas ? 0 : first));
    }
    tensor_free(&plain);
}

static void a_replica_lies_on_the_node_of_its_caller_and_computes_the_same(void **state)
{
    (void)state;
    neo_primitive_desc *pd = packed_describe(engine, 4, NULL);
    struct tensor plain = packed_source(engine, "ab", 8);
    neo_memory_desc src_desc = tensor_matrix(4, 40, "ab"), dst_desc = tensor_matrix(4, 30, "ab");
    struct tensor src = tensor_make(engine, &src_desc, 9), dst[2];
    neo_memory_usage usage;
    for (int replicas = 0; replicas < 2; replicas++) {
        assert_int_equal(neo_engine_set_weights_replicas(engine, replicas), NEO_OK);
        dst[replicas] = tensor_make(engine, &dst_desc, 1);
        neo_packed_weights *weights = packed_make(stream, pd, &plain);
        packed_multiply(pd, stream, weights, &src, &dst[replicas]);
        neo_engine_get_memory_usage(engine, NEO_KIND_NUMA_BOUND, &usage);
        if (numa_available() >= 0)
            assert_int_equal(usage.current > 0, replicas);
        neo_packed_weights_destroy(weights);
    }
    assert_memory_equal(dst[0].data, dst[1].data, sizeof(float) * 4 * 30);
    assert_int_equal(packed_statistics(engine).inserts, 1); /* the provider was not asked twice */
    tensor_free(&dst[0]);
    tensor_free(&dst[1]);
    tensor_free(&src);
    tensor_free(&plain);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_may_be_released),
        cmocka_unit_test_setup_teardown(streams_and_batches_hold_one_copy, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(
            a_replica_lies_on_the_node_of_its_caller_and_computes_the_same, session_setup,
            session_teardown),
        cmocka_unit_test_setup_teardown(releasing_the_source_returns_its_pages, session_setup,
                                        session_teardown),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("packed_memory", tests, NULL, NULL);
}
