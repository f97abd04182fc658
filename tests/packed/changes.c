/* The file provider: the order of its system calls, and files that change under it. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "tests/support/packed/weights.h"
#include "tests/support/syscalls.h"

/* ---- the order of system calls ---- */

static void see_last_call(void *argument)
{
    *(enum syscall_kind *)argument = syscalls_last();
}

static void a_new_file_is_on_the_disk_before_it_takes_the_place(void **state)
{
    enum syscall_kind before_link = SYSCALL_KINDS, before_rename = SYSCALL_KINDS;
    weights_add_all(*state, 8);
    syscalls_hook(SYSCALL_LINK, see_last_call, &before_link);
    syscalls_hook(SYSCALL_RENAME, see_last_call, &before_rename);
    enum syscall_kind before_folder = SYSCALL_KINDS;
    syscalls_hook(SYSCALL_FSYNC, see_last_call, &before_folder);
    assert_int_equal(neo_weights_file_compact(*state, 0, NULL, NULL, NULL), NEO_OK);
    bool had_no_name = before_link != SYSCALL_KINDS; /* not every file system has such files */
    assert_int_equal(had_no_name ? before_link : before_rename, SYSCALL_FDATASYNC);
    assert_int_equal(before_rename, had_no_name ? SYSCALL_LINK : SYSCALL_FDATASYNC);
    assert_int_equal(before_folder, SYSCALL_RENAME);
}

static void a_durable_entry_is_on_the_disk_before_its_record(void **state)
{
    weights_add_all(*state, 1);
    neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_DURABLE);
    neo_weights_key key = weights_key_of(3, 1);
    neo_weights_reservation reservation;
    neo_weights_blob blob;
    assert_int_equal(
        provider.reserve_space(provider.context, &key, weights_size_of(3), 64, &reservation),
        NEO_OK);
    weights_fill(reservation.data, reservation.size, 3);
    enum syscall_kind before_record = SYSCALL_KINDS;
    syscalls_hook(SYSCALL_PWRITE, see_last_call, &before_record);
    assert_int_equal(provider.look_up_or_insert(provider.context, &key, &reservation, &blob),
                     NEO_OK);
    assert_int_equal(before_record, SYSCALL_FDATASYNC);
    provider.unpin(provider.context, blob.offset);
    weights_close(&provider);
}

/* ---- the file changes under us ---- */

static void replace_file(void *argument)
{
    const char *path = argument;
    char other[4096];
    snprintf(other, sizeof other, "%s.other", path);
    if (rename(other, path))
        abort();
}

static void a_file_replaced_just_before_the_lease_is_noticed(void **state)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.other", (const char *)*state);
    weights_add_all(other, 8);
    weights_add_all(*state, 2);
    neo_weights_provider provider = weights_open(*state, 0);
    syscalls_hook(SYSCALL_FLOCK, replace_file, *state);
    assert_int_equal(weights_add(&provider, 9), NEO_OK);
    weights_close(&provider);
    provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 7), NEO_OK);
    assert_int_equal(weights_get(&provider, 9), NEO_OK); /* it went to the file that is there */
    weights_close(&provider);
}

static void add_one(void *path)
{
    weights_add_all(path, 1);
}

static void add_one_before_next_read(void *path)
{
    syscalls_hook(SYSCALL_PREAD, add_one, path);
}

/* Its header is read, and then its other bytes. */
static void a_file_formatted_between_two_reads_is_not_taken_for_foreign(void **state)
{
    int fd = open(*state, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, FORMAT_EMPTY_BYTES), 0);
    close(fd);
    neo_weights_provider provider = weights_open(*state, 0);
    syscalls_hook(SYSCALL_PREAD, add_one_before_next_read, *state);
    assert_int_equal(weights_add(&provider, 9), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    assert_int_equal(weights_get(&provider, 0), NEO_OK);
    weights_close(&provider);
}

static void a_removed_file_is_made_again(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_blob blob;
    assert_int_equal(weights_put(&provider, 3, &blob), NEO_OK);
    assert_int_equal(unlink(*state), 0);
    assert_int_equal(weights_get(&provider, 3), NEO_OK);
    assert_int_equal(weights_add(&provider, 4), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    assert_true(
        weights_are_right(provider.offset_to_addr(provider.context, blob.offset), blob.size, 3));
    provider.unpin(provider.context, blob.offset);
    weights_close(&provider);
    provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 4), NEO_OK);
    weights_close(&provider);
}

static void a_replaced_file_is_read_and_the_old_one_stays_mapped(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_blob blob;
    assert_int_equal(weights_put(&provider, 3, &blob), NEO_OK);
    char other[4096];
    snprintf(other, sizeof other, "%s.other", (const char *)*state);
    weights_add_all(other, 8);
    assert_int_equal(rename(other, *state), 0);
    assert_int_equal(weights_get(&provider, 7), NEO_OK);
    assert_true(
        weights_are_right(provider.offset_to_addr(provider.context, blob.offset), blob.size, 3));
    assert_int_equal(weights_add(&provider, 8), NEO_OK);
    provider.unpin(provider.context, blob.offset);
    assert_int_equal(weights_statistics(&provider).inserts, 2);
    weights_close(&provider);
    weights_get_all(*state, 9, 0);
}

static void compaction_by_another_keeps_mappings_and_is_followed(void **state)
{
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_blob blobs[4];
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(weights_put(&provider, i, &blobs[i]), NEO_OK);
    assert_int_equal(neo_weights_file_compact(*state, 0, NULL, NULL, NULL), NEO_OK);
    assert_int_equal(weights_add(&provider, 5), NEO_OK);
    assert_int_equal(weights_statistics(&provider).generation, 2);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(weights_are_right(provider.offset_to_addr(provider.context, blobs[i].offset),
                                      blobs[i].size, i));
        provider.unpin(provider.context, blobs[i].offset);
    }
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(weights_get(&provider, i), i == 4 ? NEO_NOT_FOUND : NEO_OK);
    weights_close(&provider);
}

static void a_truncated_file_is_noticed_before_it_is_touched(void **state)
{
    static const uint32_t flags[] = {0, NEO_WEIGHTS_COPY, NEO_WEIGHTS_POPULATE};
    for (size_t f = 0; f < count_of(flags); f++) {
        unlink(*state);
        weights_add_all(*state, 8);
        neo_weights_provider provider = weights_open(*state, flags[f]);
        assert_int_equal(truncate(*state, FORMAT_EMPTY_BYTES + 100), 0);
        neo_weights_blob blobs[8];
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(weights_put(&provider, i, &blobs[i]), NEO_OK);
        neo_weights_statistics statistics = weights_statistics(&provider);
        assert_true(statistics.damaged > 0);
        assert_int_equal(statistics.fallbacks, 0);
        assert_int_equal(statistics.rewrites, 1);
        for (uint32_t i = 0; i < 8; i++)
            provider.unpin(provider.context, blobs[i].offset);
        weights_close(&provider);
        weights_get_all(*state, 8, flags[f]);
    }
}

static void add_without_fallback(const neo_weights_provider *provider, uint64_t fallbacks)
{
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(weights_add(provider, i), NEO_OK);
    assert_int_equal(weights_statistics(provider).fallbacks, fallbacks);
    weights_close(provider);
}

static void a_file_truncated_in_its_index_is_written_anew(void **state)
{
    /* of seven bytes nobody can say whose they were, so they are left alone */
    static const off_t sizes[] = {7, 8, 255, 256, 4096, 5000, FORMAT_EMPTY_BYTES};
    for (size_t i = 0; i < count_of(sizes); i++) {
        for (int opened_before = 0; opened_before < 2; opened_before++) {
            unlink(*state);
            weights_add_all(*state, 8);
            neo_weights_provider before = weights_open(*state, 0);
            assert_int_equal(truncate(*state, sizes[i]), 0);
            neo_weights_provider after = weights_open(*state, 0);
            add_without_fallback(opened_before ? &before : &after,
                                 opened_before || sizes[i] > 7 ? 0 : 9);
            weights_close(opened_before ? &after : &before);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(a_new_file_is_on_the_disk_before_it_takes_the_place),
        WEIGHTS_TEST(a_durable_entry_is_on_the_disk_before_its_record),
        WEIGHTS_TEST(a_file_replaced_just_before_the_lease_is_noticed),
        WEIGHTS_TEST(a_file_formatted_between_two_reads_is_not_taken_for_foreign),
        WEIGHTS_TEST(a_removed_file_is_made_again),
        WEIGHTS_TEST(a_replaced_file_is_read_and_the_old_one_stays_mapped),
        WEIGHTS_TEST(compaction_by_another_keeps_mappings_and_is_followed),
        WEIGHTS_TEST(a_truncated_file_is_noticed_before_it_is_touched),
        WEIGHTS_TEST(a_file_truncated_in_its_index_is_written_anew),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_changes", tests, NULL, NULL);
}
