/* The file provider: how a file stays within a limit, and what goes for new entries. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "src/packed/provider.h"
#include "tests/support/packed/weights.h"

static neo_weights_provider open_limited(const char *path, uint64_t limit)
{
    neo_weights_provider provider;
    neo_weights_file_options options = {.limit_bytes = limit};
    assert_int_equal(neo_weights_file_provider_create(&provider, path, &options), NEO_OK);
    return provider;
}

static void the_least_recently_used_entries_make_room(void **state)
{
    enum { LIMIT = 1000000 };
    neo_weights_provider provider = open_limited(*state, LIMIT);
    for (uint32_t round = 0; round < 40; round++) {
        assert_int_equal(weights_add(&provider, round), NEO_OK);
        assert_int_equal(weights_add(&provider, 3), NEO_OK); /* in use all the time */
        assert_int_equal(weights_get(&provider, round), NEO_OK);
        assert_true(weights_file_bytes(*state) <= LIMIT);
    }
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_true(statistics.rewrites > 0);
    assert_int_equal(statistics.fallbacks, 0);
    assert_int_equal(weights_get(&provider, 39), NEO_OK);
    assert_int_equal(weights_get(&provider, 0), NEO_NOT_FOUND);
    weights_close(&provider);
}

/* One byte and a little more, so that there are many records in few bytes. */
static uint32_t small_entry(uint32_t i)
{
    return 2 + 8 * i;
}

static void an_index_block_stays_within_the_limit_too(void **state)
{
    enum { MANY = FORMAT_BLOCK_SLOTS + 2, STEP = 1024 };
    uint64_t least = FORMAT_EMPTY_BYTES + FORMAT_BLOCK_BYTES;
    for (uint64_t limit = least; limit < least + 2 * FORMAT_BLOCK_BYTES; limit += STEP) {
        unlink(*state);
        neo_weights_provider provider = open_limited(*state, limit);
        for (uint32_t i = 0; i < MANY; i++)
            assert_int_equal(weights_add(&provider, small_entry(i)), NEO_OK);
        weights_close(&provider);
        assert_true(weights_file_bytes(*state) <= limit);
    }
}

/* What another thread has reserved would be lost. */
static void a_file_that_is_packed_into_is_not_written_anew(void **state)
{
    enum { LARGE = 6, LIMIT = 1000000 }; /* three large entries are all that fit */
    neo_weights_provider provider = open_limited(*state, LIMIT);
    assert_int_equal(weights_add(&provider, LARGE), NEO_OK);
    assert_int_equal(weights_add(&provider, LARGE + 8), NEO_OK);
    neo_weights_key key = weights_key_of(LARGE + 16, 1);
    neo_weights_reservation reservation;
    neo_weights_blob blob;
    size_t size = weights_size_of(LARGE + 16);
    assert_int_equal(provider.reserve_space(provider.context, &key, size, 64, &reservation),
                     NEO_OK);
    weights_fill(reservation.data, size, LARGE + 16);
    assert_int_equal(weights_add(&provider, LARGE + 24), NEO_OK); /* in memory */
    assert_int_equal(weights_statistics(&provider).fallbacks, 1);
    assert_int_equal(provider.look_up_or_insert(provider.context, &key, &reservation, &blob),
                     NEO_OK);
    assert_int_equal(weights_statistics(&provider).rewrites, 0);
    assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK);
    weights_close(&provider);
    provider = weights_open(*state, NEO_WEIGHTS_READ_ONLY);
    for (uint32_t i = LARGE; i <= LARGE + 16; i += 8)
        assert_int_equal(weights_get(&provider, i), NEO_OK);
    weights_close(&provider);
}

/* The only entry's. */
enum { USED_NS_PLACE = FORMAT_HEADER_BYTES + offsetof(struct format_record, used_ns) };

static uint64_t seconds_since_use(const char *path)
{
    uint64_t used_ns;
    int fd = open(path, O_RDONLY);
    assert_int_equal(pread(fd, &used_ns, sizeof used_ns, USED_NS_PLACE), sizeof used_ns);
    close(fd);
    return (format_now_ns() - used_ns) / 1000000000;
}

static void pretend_last_use(const char *path, uint64_t seconds_ago)
{
    uint64_t used_ns = format_now_ns() - seconds_ago * 1000000000;
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, &used_ns, sizeof used_ns, USED_NS_PLACE), sizeof used_ns);
    close(fd);
}

/* Each write ends the stamp of a verified file. */
static void the_time_of_a_use_is_written_where_it_decides_what_goes(void **state)
{
    enum { HOUR = 3600, LIMIT = 1000000 };
    static const struct {
        uint64_t limit, ago;
        bool written;
    } rows[] = {{0, HOUR, false}, {0, 7 * HOUR, true}, {LIMIT, HOUR, true}};
    weights_add_all(*state, 1);
    for (size_t i = 0; i < count_of(rows); i++) {
        pretend_last_use(*state, rows[i].ago);
        neo_weights_provider provider = open_limited(*state, rows[i].limit);
        assert_int_equal(weights_get(&provider, 0), NEO_OK);
        weights_close(&provider);
        assert_int_equal(seconds_since_use(*state) < HOUR / 2, rows[i].written);
    }
}

static void a_forked_child_writes_no_times(void **state)
{
    weights_add_all(*state, 1);
    pretend_last_use(*state, 24 * 3600);
    neo_weights_provider provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 1), NEO_NOT_FOUND); /* now it has read the file */
    pid_t child = fork();
    if (child == 0)
        _exit(weights_get(&provider, 0) != NEO_OK);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(seconds_since_use(*state) > 3600);
    assert_int_equal(weights_get(&provider, 0), NEO_OK);
    assert_true(seconds_since_use(*state) < 3600);
    weights_close(&provider);
}

static void entries_in_use_are_not_dropped_for_new_ones(void **state)
{
    enum { LIMIT = 800000 };
    neo_weights_provider provider = open_limited(*state, LIMIT);
    neo_weights_blob blobs[24];
    for (uint32_t i = 0; i < 24; i++)
        assert_int_equal(weights_put(&provider, i, &blobs[i]), NEO_OK);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_true(statistics.fallbacks > 0); /* three of 300 KB are more than the file may have */
    assert_true(weights_file_bytes(*state) <= LIMIT);
    for (uint32_t i = 0; i < 24; i++) {
        const void *data = provider.offset_to_addr(provider.context, blobs[i].offset);
        assert_true(weights_are_right(data, blobs[i].size, i));
        provider.unpin(provider.context, blobs[i].offset);
    }
    weights_close(&provider);
}

static void entries_found_in_the_file_are_in_use_too(void **state)
{
    enum { LIMIT = 800000 };
    weights_add_all(*state, 8);
    neo_weights_provider provider = open_limited(*state, LIMIT);
    neo_weights_blob blob;
    assert_int_equal(weights_put(&provider, 6, &blob), NEO_OK); /* 300000 bytes, found */
    for (uint32_t i = 8; i < 24; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    assert_true(weights_statistics(&provider).rewrites > 0);
    weights_close(&provider);
    neo_weights_provider second = weights_open(*state, 0);
    assert_int_equal(weights_get(&second, 6), NEO_OK);
    weights_close(&second);
    provider.unpin(provider.context, blob.offset);
}

/* A large entry used last leaves no room for others that fit. */
static void what_does_not_fit_keeps_nothing_else_out(void **state)
{
    enum { SMALL_ONES = 6 };
    uint32_t large = 0;
    for (uint32_t i = 1; i < 50; i++)
        large = weights_size_of(i) > weights_size_of(large) ? i : large;
    neo_weights_provider provider = weights_open(*state, 0);
    for (uint32_t i = 0, added = 0; added < SMALL_ONES; i++)
        if (weights_size_of(i) < 10000 && ++added)
            assert_int_equal(weights_add(&provider, i), NEO_OK);
    assert_int_equal(weights_add(&provider, large), NEO_OK);
    weights_close(&provider);
    neo_weights_file_summary summary;
    uint64_t limit = weights_size_of(large);
    assert_int_equal(neo_weights_file_compact(*state, limit, NULL, NULL, &summary), NEO_OK);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], SMALL_ONES);
    assert_true(summary.file_bytes <= limit);
}

/* A little more than 64 KiB. */
static uint32_t paged_entry(uint32_t i)
{
    return 3 + 8 * i;
}

/* An entry begins at a multiple of 256 bytes, one of 64 KiB at a page: more is left out than a
 * record takes. */
static void a_compacted_file_stays_within_the_limit(void **state)
{
    static const struct {
        uint32_t (*entry)(uint32_t i);
        uint32_t count;
        uint64_t bytes, step; /* that an entry takes at most; between limits */
    } rows[] = {{small_entry, 40, 1024, 400}, {paged_entry, 12, 75000, 70300}};
    const uint64_t least = FORMAT_EMPTY_BYTES + FORMAT_BLOCK_BYTES;
    for (size_t row = 0; row < count_of(rows); row++) {
        unlink(*state);
        neo_weights_provider provider = weights_open(*state, 0);
        for (uint32_t i = 0; i < rows[row].count; i++)
            assert_int_equal(weights_add(&provider, rows[row].entry(i)), NEO_OK);
        weights_close(&provider);
        for (uint64_t room = rows[row].step * rows[row].count; room; room -= rows[row].step) {
            neo_weights_file_summary summary;
            assert_int_equal(neo_weights_file_compact(*state, least + room, NULL, NULL, &summary),
                             NEO_OK);
            assert_true(summary.file_bytes <= least + room);
            assert_true(summary.entries[NEO_WEIGHTS_USABLE] >= room / rows[row].bytes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(the_least_recently_used_entries_make_room),
        WEIGHTS_TEST(an_index_block_stays_within_the_limit_too),
        WEIGHTS_TEST(a_file_that_is_packed_into_is_not_written_anew),
        WEIGHTS_TEST(the_time_of_a_use_is_written_where_it_decides_what_goes),
        WEIGHTS_TEST(a_forked_child_writes_no_times),
        WEIGHTS_TEST(entries_in_use_are_not_dropped_for_new_ones),
        WEIGHTS_TEST(entries_found_in_the_file_are_in_use_too),
        WEIGHTS_TEST(what_does_not_fit_keeps_nothing_else_out),
        WEIGHTS_TEST(a_compacted_file_stays_within_the_limit),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_limit", tests, NULL, NULL);
}
