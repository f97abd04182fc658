/* A cache file's bytes are hashed by the threads of the stream that wants them. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/weights/content_hash.h"
#include "src/weights/key.h"
#include "src/weights/provider.h"
#include "tests/support/pools.h"
#include "tests/support/weights.h"

enum { CHUNKS = 5, BYTES = CHUNKS * CONTENT_CHUNK_BYTES - 1000 };

/* A pool whose tasks run in the caller, after `before` was called. */
struct watched_pool {
    long calls;
    int most;
    void (*before)(const char *path);
    const char *path;
};

static int three(void *context)
{
    (void)context;
    return 3;
}

static int not_here(void *context)
{
    (void)context;
    return 0;
}

static void run_tasks(void *context, int n, neo_task_fn *task, void *argument)
{
    struct watched_pool *pool = context;
    pool->calls++;
    pool->most = n > pool->most ? n : pool->most;
    if (pool->before)
        pool->before(pool->path);
    parallel_run_inline(n, task, argument);
}

static struct parallel parallel_of(struct watched_pool *pool)
{
    const neo_threadpool table = {
        .context = pool, .num_threads = three, .in_parallel = not_here, .parallel_for = run_tasks};
    struct parallel parallel;
    parallel_init(&parallel, &table, NULL, 0);
    return parallel;
}

/* ---- an entry of several chunks ---- */

static unsigned char byte_of(size_t i)
{
    return (unsigned char)(i * 31 + i / 4096);
}

static neo_status pack(void *argument, void *data)
{
    unsigned char *bytes = data;
    (*(int *)argument)++;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = byte_of(i);
    return NEO_OK;
}

static bool is_right(const unsigned char *bytes)
{
    size_t i = 0;
    while (i < BYTES && bytes[i] == byte_of(i))
        i++;
    return i == BYTES;
}

/* Acquires the entry, compares its bytes, releases it. Returns whether it had to be packed. */
static bool use_entry(const neo_weights_provider *provider, const struct parallel *parallel)
{
    neo_weights_key key = weights_key_of(1, 1);
    int packed = 0;
    struct weights_request request = {.key = &key,
                                      .size = BYTES,
                                      .align = 64,
                                      .pack = pack,
                                      .argument = &packed,
                                      .parallel = parallel};
    struct weights_use use;
    assert_int_equal(weights_acquire(&use, provider, NULL, &request), NEO_OK);
    assert_true(is_right(use.data));
    weights_release(&use);
    assert_null(parallel_lent());
    return packed;
}

static void make_file(const char *path)
{
    unlink(path);
    neo_weights_provider provider = weights_open(path, 0);
    assert_true(use_entry(&provider, NULL));
    weights_close(&provider);
}

static uint64_t entry_offset(const char *path)
{
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(path, 0, NULL, NULL, &summary), NEO_OK);
    return summary.file_bytes - BYTES; /* the only one, and the file ends with it */
}

static const uint32_t reading_flags[] = {0, NEO_WEIGHTS_COPY, NEO_WEIGHTS_POPULATE};

/* ---- tests ---- */

static void the_pool_of_the_request_hashes(void **state)
{
    struct watched_pool pool = {.calls = 0};
    struct parallel parallel = parallel_of(&pool);
    neo_weights_provider provider = weights_open(*state, 0);
    assert_true(use_entry(&provider, &parallel));
    weights_close(&provider);
    assert_int_equal(pool.calls, 1); /* for the record's checksum */
    assert_int_equal(pool.most, 3);
    for (size_t f = 0; f < count_of(reading_flags); f++) {
        pool.calls = 0;
        provider = weights_open(*state, reading_flags[f]);
        assert_false(use_entry(&provider, &parallel));
        assert_int_equal(pool.calls, 1); /* to verify it */
        weights_close(&provider);
    }
}

static void what_was_verified_is_not_verified_again(void **state)
{
    struct watched_pool pool = {.calls = 0};
    struct parallel parallel = parallel_of(&pool);
    make_file(*state);
    neo_weights_provider provider = weights_open(*state, 0);
    for (int i = 0; i < 5; i++)
        assert_false(use_entry(&provider, &parallel));
    assert_int_equal(pool.calls, 1);
    weights_close(&provider);
    provider = weights_open(*state, NEO_WEIGHTS_TRUST);
    assert_false(use_entry(&provider, &parallel));
    assert_int_equal(pool.calls, 1);
    weights_close(&provider);
}

static void every_kind_of_pool_verifies(void **state)
{
    make_file(*state);
    for (int kind = 0; kind < TEST_POOL_KINDS; kind++)
        for (size_t f = 0; f < count_of(reading_flags); f++) {
            struct test_pool *pool = test_pool_create((enum test_pool_kind)kind, 4);
            struct parallel parallel;
            parallel_init(&parallel, test_pool_table(pool), NULL, 0);
            neo_weights_provider provider = weights_open(*state, reading_flags[f]);
            assert_false(use_entry(&provider, &parallel));
            weights_close(&provider);
            test_pool_destroy(pool);
        }
}

static void flip(const char *path, uint64_t offset)
{
    unsigned char byte;
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    byte ^= 16;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

static void a_flipped_byte_is_found_in_every_chunk(void **state)
{
    struct watched_pool pool = {.calls = 0};
    struct parallel parallel = parallel_of(&pool);
    for (size_t chunk = 0; chunk < CHUNKS; chunk++)
        for (size_t f = 0; f < count_of(reading_flags); f++) {
            make_file(*state);
            flip(*state, entry_offset(*state) + chunk * CONTENT_CHUNK_BYTES + 77);
            neo_weights_provider provider = weights_open(*state, reading_flags[f]);
            assert_true(use_entry(&provider, &parallel));
            assert_int_equal(weights_statistics(&provider).damaged, 1);
            weights_close(&provider);
        }
}

static void cut_to_nothing(const char *path)
{
    assert_int_equal(truncate(path, 20480), 0);
}

static void cut_in_a_chunk(const char *path)
{
    assert_int_equal(truncate(path, (off_t)(weights_file_bytes(path) - CONTENT_CHUNK_BYTES)), 0);
}

/* The file had its size when the entry was mapped; it loses it before a byte is read. */
static void a_file_truncated_while_it_is_verified_is_damaged(void **state)
{
    static void (*const cuts[])(const char *) = {cut_to_nothing, cut_in_a_chunk};
    for (size_t cut = 0; cut < count_of(cuts); cut++)
        for (size_t f = 0; f < count_of(reading_flags); f++) {
            struct watched_pool pool = {.before = cuts[cut], .path = *state};
            struct parallel parallel = parallel_of(&pool);
            neo_weights_key key = weights_key_of(1, 1);
            neo_weights_blob blob;
            make_file(*state);
            neo_weights_provider provider = weights_open(*state, reading_flags[f]);
            parallel_lend(&parallel);
            assert_int_equal(provider.look_up(provider.context, &key, &blob), NEO_NOT_FOUND);
            parallel_lend(NULL);
            assert_int_equal(pool.calls, 1);
            assert_int_equal(weights_statistics(&provider).damaged, 1);
            assert_true(use_entry(&provider, NULL)); /* into a file that was written anew */
            assert_int_equal(weights_statistics(&provider).fallbacks, 0);
            weights_close(&provider);
        }
}

static bool refuse_third(void *context, size_t begin, size_t size)
{
    (void)size;
    (*(long *)context)++;
    return begin != 2 * (size_t)CONTENT_CHUNK_BYTES;
}

static void nothing_is_touched_after_a_chunk_is_refused(void **state)
{
    (void)state;
    unsigned char *bytes = calloc(1, BYTES);
    assert_non_null(bytes);
    long asked = 0;
    const struct content_source source = {bytes, BYTES, refuse_third, &asked};
    content_hash_from(&source, NULL);
    assert_int_equal(asked, 3);
    free(bytes);
}

int main(void)
{
#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, weights_folder_setup, weights_folder_teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_pool_of_the_request_hashes),
        IN_FOLDER(what_was_verified_is_not_verified_again),
        IN_FOLDER(every_kind_of_pool_verifies),
        IN_FOLDER(a_flipped_byte_is_found_in_every_chunk),
        IN_FOLDER(a_file_truncated_while_it_is_verified_is_damaged),
        cmocka_unit_test(nothing_is_touched_after_a_chunk_is_refused),
    };
    return cmocka_run_group_tests_name("weights_threads", tests, NULL, NULL);
}
