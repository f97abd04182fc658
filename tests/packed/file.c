/* The file provider: what it keeps, and threads. How it stays within a limit: limit.c.
 */
#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "src/packed/provider.h"
#include "tests/support/packed/weights.h"
#include "tests/support/packed/weights_race.h"

enum { ENTRIES = 16 };

/* ---- keeping ---- */

static void entries_are_found_again(void **state)
{
    static const uint32_t flags[] = {
        0,
        NEO_WEIGHTS_READ_ONLY,
        NEO_WEIGHTS_COPY,
        NEO_WEIGHTS_TRUST,
        NEO_WEIGHTS_WILLNEED | NEO_WEIGHTS_HUGE_PAGES,
        NEO_WEIGHTS_POPULATE,
        NEO_WEIGHTS_LOCK,
        NEO_WEIGHTS_DURABLE,
    };
    weights_add_all(*state, ENTRIES);
    for (size_t i = 0; i < count_of(flags); i++)
        weights_get_all(*state, ENTRIES, flags[i]);
}

static void more_entries_than_an_index_block_holds(void **state)
{
    enum { MANY = 3 * FORMAT_BLOCK_SLOTS };
    weights_add_all(*state, MANY);
    weights_get_all(*state, MANY, 0);
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(*state, 1, NULL, NULL, &summary), NEO_OK);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], MANY);
    assert_int_equal(summary.bytes[NEO_WEIGHTS_USABLE], weights_unique_bytes(MANY));
    assert_int_equal(summary.lost_records, 0);
}

static void the_file_is_private(void **state)
{
    mode_t before = umask(0);
    weights_add_all(*state, 1);
    umask(before);
    struct stat file;
    assert_int_equal(stat(*state, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
}

/* Descriptors of the file that a program started by this process would get. */
static int inherited_descriptors(const char *path)
{
    struct stat file, other;
    int count = 0, inherited = 0;
    assert_int_equal(stat(path, &file), 0);
    for (int fd = 0; fd < 1024; fd++)
        if (fstat(fd, &other) == 0 && other.st_ino == file.st_ino && other.st_dev == file.st_dev) {
            count++;
            inherited += !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        }
    assert_true(count > 0);
    return inherited;
}

static void descriptors_are_closed_on_exec(void **state)
{
    static const uint32_t flags[] = {0, NEO_WEIGHTS_READ_ONLY, NEO_WEIGHTS_COPY};
    weights_add_all(*state, 3);
    for (size_t i = 0; i < count_of(flags); i++) {
        neo_weights_provider provider = weights_open(*state, flags[i]);
        assert_int_equal(weights_get(&provider, 0), NEO_OK);
        assert_int_equal(inherited_descriptors(*state), 0);
        if (i == 0) { /* the file that takes its place too */
            assert_int_equal(neo_weights_file_compact(*state, 0, NULL, NULL, NULL), NEO_OK);
            assert_int_equal(weights_add(&provider, 5), NEO_OK);
            assert_int_equal(inherited_descriptors(*state), 0);
        }
        weights_close(&provider);
    }
}

static void only_insertion_makes_a_file(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 1), NEO_NOT_FOUND);
    weights_close(&provider);
    assert_int_equal(access(*state, F_OK), -1);
}

static void size_is_unique_bytes_and_little_more(void **state)
{
    weights_add_all(*state, 64);
    uint64_t unique = weights_unique_bytes(64), bytes = weights_file_bytes(*state);
    assert_true(bytes >= unique);
    assert_in_range(bytes - FORMAT_EMPTY_BYTES - FORMAT_BLOCK_BYTES, 0, unique + unique / 20);
}

static void reloading_a_hundred_times_adds_nothing(void **state)
{
    weights_add_all(*state, ENTRIES);
    uint64_t bytes = weights_file_bytes(*state);
    for (int round = 0; round < 100; round++) {
        neo_weights_provider provider = weights_open(*state, 0);
        neo_weights_blob blobs[ENTRIES];
        for (uint32_t i = 0; i < ENTRIES; i++)
            assert_int_equal(weights_put(&provider, i, &blobs[i]), NEO_OK);
        neo_weights_statistics statistics = weights_statistics(&provider);
        assert_int_equal(statistics.inserts + statistics.fallbacks, 0);
        for (uint32_t i = 0; i < ENTRIES; i++)
            provider.unpin(provider.context, blobs[i].offset);
        statistics = weights_statistics(&provider);
        assert_int_equal(statistics.mapped_bytes + statistics.memory_bytes, 0);
        weights_close(&provider);
        assert_int_equal(weights_file_bytes(*state), bytes);
    }
}

static void loading_in_one_provider_again_and_again_adds_nothing(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    uint64_t bytes = 0;
    for (int round = 0; round < 100; round++) {
        neo_weights_blob blobs[4];
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(weights_put(&provider, i, &blobs[i]), NEO_OK);
        for (uint32_t i = 0; i < 4; i++)
            provider.unpin(provider.context, blobs[i].offset);
        if (round == 0)
            bytes = weights_file_bytes(*state);
    }
    assert_int_equal(weights_file_bytes(*state), bytes);
    assert_int_equal(weights_statistics(&provider).inserts, 4);
    assert_int_equal(weights_statistics(&provider).entries, 0);
    weights_close(&provider);
}

static void cancelled_space_is_used_again(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_key key = weights_key_of(6, 1);
    for (int round = 0; round < 20; round++) {
        neo_weights_reservation reservation;
        assert_int_equal(provider.reserve_space(provider.context, &key, 300000, 64, &reservation),
                         NEO_OK);
        memset(reservation.data, 0xee, reservation.size);
        assert_int_equal(provider.cancel(provider.context, &reservation), NEO_OK);
    }
    assert_int_equal(weights_statistics(&provider).cancelled, 20);
    assert_true(weights_file_bytes(*state) < 2 * 300000);
    assert_int_equal(weights_add(&provider, 6), NEO_OK);
    assert_true(weights_file_bytes(*state) < 2 * 300000);
    weights_close(&provider);
    weights_get_all(*state, 0, 0);
}

static neo_status put_version(const neo_weights_provider *provider, uint32_t i, uint32_t version,
                              bool *packed)
{
    neo_weights_key key = weights_key_of(i, version);
    neo_weights_blob blob;
    *packed = provider->look_up(provider->context, &key, &blob) != NEO_OK;
    if (*packed) {
        neo_weights_reservation reservation;
        neo_status status =
            provider->reserve_space(provider->context, &key, weights_size_of(i), 64, &reservation);
        if (status != NEO_OK)
            return status;
        weights_fill(reservation.data, reservation.size, i + version);
        status = provider->look_up_or_insert(provider->context, &key, &reservation, &blob);
        if (status != NEO_OK)
            return status;
    }
    return provider->unpin(provider->context, blob.offset);
}

static int keep_current(void *argument, const neo_weights_file_entry *entry)
{
    (void)argument;
    return entry->state != NEO_WEIGHTS_STALE;
}

static void a_new_layout_version_repacks_only_what_it_affects(void **state)
{
    bool packed;
    neo_weights_provider provider = weights_open(*state, 0);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(put_version(&provider, i, 1, &packed), NEO_OK);
    for (uint32_t i = 0; i < 6; i++) { /* the even ones have another version now */
        assert_int_equal(put_version(&provider, i, i % 2 ? 1 : 2, &packed), NEO_OK);
        assert_int_equal(packed, i % 2 == 0);
    }
    for (uint32_t i = 0; i < 6;
         i++) { /* and a program with the older layouts still finds its own */
        assert_int_equal(put_version(&provider, i, 1, &packed), NEO_OK);
        assert_false(packed);
    }
    weights_close(&provider);
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(*state, 1, NULL, NULL, &summary), NEO_OK);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], 6);
    assert_int_equal(summary.entries[NEO_WEIGHTS_STALE], 3);
    uint64_t before = weights_file_bytes(*state);
    assert_int_equal(neo_weights_file_compact(*state, 0, keep_current, NULL, &summary), NEO_OK);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], 6);
    assert_int_equal(summary.entries[NEO_WEIGHTS_STALE], 0);
    assert_true(weights_file_bytes(*state) < before);
}

static void different_attributes_share_one_entry(void **state)
{
    /* Scales and zero points are not in the key: two operations over the same weights meet. */
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_blob first, second;
    assert_int_equal(weights_put(&provider, 3, &first), NEO_OK);
    assert_int_equal(weights_put(&provider, 3, &second), NEO_OK);
    assert_int_equal(first.offset, second.offset);
    assert_int_equal(weights_statistics(&provider).inserts, 1);
    weights_close(&provider);
    provider.unpin(provider.context, first.offset);
    provider.unpin(provider.context, second.offset);
}

static void pinned_entries_outlive_provider_and_file(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_blob blob;
    assert_int_equal(weights_put(&provider, 3, &blob), NEO_OK);
    weights_close(&provider);
    assert_int_equal(neo_weights_file_delete(*state), NEO_OK);
    const void *data = provider.offset_to_addr(provider.context, blob.offset);
    assert_true(weights_are_right(data, blob.size, 3));
    assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK);
}

static void what_is_packed_or_found_cannot_be_written_to(void **state)
{
    for (int found = 0; found < 2; found++) {
        neo_weights_provider provider = weights_open(*state, 0);
        neo_weights_blob blob;
        assert_int_equal(weights_put(&provider, 0, &blob), NEO_OK);
        void *data = (void *)(uintptr_t)provider.offset_to_addr(provider.context, blob.offset);
        pid_t child = fork();
        if (child == 0) {
            (void)signal(SIGSEGV, SIG_DFL); /* and not cmocka's */
            memset(data, 0, 1);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_not_equal(status, 0);
        assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK);
        weights_close(&provider);
    }
}

static void the_environment_names_a_file(void **state)
{
    neo_weights_provider provider;
    unsetenv("NEOPRENE_WEIGHTS_CACHE");
    assert_int_equal(neo_weights_provider_from_environment(&provider), NEO_NOT_FOUND);
    setenv("NEOPRENE_WEIGHTS_CACHE", "", 1);
    assert_int_equal(neo_weights_provider_from_environment(&provider), NEO_NOT_FOUND);
    setenv("NEOPRENE_WEIGHTS_CACHE", *state, 1);
    setenv("NEOPRENE_WEIGHTS_CACHE_LIMIT", "40K", 1);
    assert_int_equal(neo_weights_provider_from_environment(&provider), NEO_OK);
    assert_int_equal(weights_add(&provider, 0), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    assert_int_equal(weights_add(&provider, 3), NEO_OK); /* 70000 bytes */
    assert_int_equal(weights_statistics(&provider).fallbacks, 1);
    weights_close(&provider);
    unsetenv("NEOPRENE_WEIGHTS_CACHE");
    unsetenv("NEOPRENE_WEIGHTS_CACHE_LIMIT");
    weights_get_all(*state, 1, 0);
}

/* ---- threads ---- */

static void threads_and_providers_pack_each_key_once(void **state)
{
    struct weights_race races[2] = {{.provider = weights_open(*state, 0), .rounds = 1},
                                    {.provider = weights_open(*state, 0), .rounds = 1}};
    weights_race_run(races, 2, 6);
    assert_int_equal(atomic_load(&races[0].wrong) + atomic_load(&races[1].wrong), 0);
    for (size_t i = 0; i < WEIGHTS_RACE_KEYS; i++)
        assert_int_equal(atomic_load(&races[0].packed[i]) + atomic_load(&races[1].packed[i]), 1);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(weights_statistics(&races[i].provider).fallbacks, 0);
        weights_close(&races[i].provider);
    }
    weights_get_all(*state, WEIGHTS_RACE_KEYS, 0);
}

static void a_relative_path_is_resolved_once(void **state)
{
    char folder[256], *slash;
    snprintf(folder, sizeof folder, "%s", (const char *)*state);
    slash = strrchr(folder, '/');
    *slash = '\0';
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    neo_weights_provider provider = weights_open(slash + 1, 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(weights_add(&provider, 3), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    weights_close(&provider);
    assert_int_equal(chdir(before), 0);
    free(before);
    provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 3), NEO_OK);
    weights_close(&provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(entries_are_found_again),
        WEIGHTS_TEST(more_entries_than_an_index_block_holds),
        WEIGHTS_TEST(the_file_is_private),
        WEIGHTS_TEST(descriptors_are_closed_on_exec),
        WEIGHTS_TEST(only_insertion_makes_a_file),
        WEIGHTS_TEST(size_is_unique_bytes_and_little_more),
        WEIGHTS_TEST(reloading_a_hundred_times_adds_nothing),
        WEIGHTS_TEST(loading_in_one_provider_again_and_again_adds_nothing),
        WEIGHTS_TEST(cancelled_space_is_used_again),
        WEIGHTS_TEST(a_new_layout_version_repacks_only_what_it_affects),
        WEIGHTS_TEST(different_attributes_share_one_entry),
        WEIGHTS_TEST(pinned_entries_outlive_provider_and_file),
        WEIGHTS_TEST(what_is_packed_or_found_cannot_be_written_to),
        WEIGHTS_TEST(the_environment_names_a_file),
        WEIGHTS_TEST(threads_and_providers_pack_each_key_once),
        WEIGHTS_TEST(a_relative_path_is_resolved_once),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_file", tests, NULL, NULL);
}
