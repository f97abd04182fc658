/* The file provider: what it keeps, what it refuses, and what it does when the file refuses. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/weights/file_format.h"
#include "src/weights/provider.h"
#include "tests/support/fault.h"
#include "tests/support/syscalls.h"
#include "tests/support/weights.h"

enum { ENTRIES = 16 };

static void add_all(const char *path, uint32_t count)
{
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    weights_close(&provider);
}

static void get_all(const char *path, uint32_t count, uint32_t flags)
{
    neo_weights_provider provider = weights_open(path, flags);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(weights_get(&provider, i), NEO_OK);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_int_equal(statistics.hits, count);
    assert_int_equal(statistics.damaged, 0);
    weights_close(&provider);
}

static uint64_t unique_bytes(uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += weights_size_of(i);
    return bytes;
}

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
    add_all(*state, ENTRIES);
    for (size_t i = 0; i < count_of(flags); i++)
        get_all(*state, ENTRIES, flags[i]);
}

static void more_entries_than_an_index_block_holds(void **state)
{
    enum { MANY = 3 * FORMAT_BLOCK_SLOTS };
    add_all(*state, MANY);
    get_all(*state, MANY, 0);
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(*state, 1, NULL, NULL, &summary), NEO_OK);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], MANY);
    assert_int_equal(summary.bytes[NEO_WEIGHTS_USABLE], unique_bytes(MANY));
    assert_int_equal(summary.lost_records, 0);
}

static void the_file_is_private(void **state)
{
    mode_t before = umask(0);
    add_all(*state, 1);
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
    add_all(*state, 3);
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
    add_all(*state, 64);
    uint64_t unique = unique_bytes(64), bytes = weights_file_bytes(*state);
    assert_true(bytes >= unique);
    assert_in_range(bytes - FORMAT_EMPTY_BYTES - FORMAT_BLOCK_BYTES, 0, unique + unique / 20);
}

static void reloading_a_hundred_times_adds_nothing(void **state)
{
    add_all(*state, ENTRIES);
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
    get_all(*state, 0, 0);
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
    get_all(*state, 1, 0);
}

/* ---- the limit ---- */

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
    add_all(*state, 8);
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

/* ---- the order of system calls ---- */

static void see_last_call(void *argument)
{
    *(enum syscall_kind *)argument = syscalls_last();
}

static void a_new_file_is_on_the_disk_before_it_takes_the_place(void **state)
{
    enum syscall_kind before_rename = SYSCALL_KINDS;
    add_all(*state, 8);
    syscalls_hook(SYSCALL_RENAME, see_last_call, &before_rename);
    enum syscall_kind before_folder = SYSCALL_KINDS;
    syscalls_hook(SYSCALL_FSYNC, see_last_call, &before_folder);
    assert_int_equal(neo_weights_file_compact(*state, 0, NULL, NULL, NULL), NEO_OK);
    assert_int_equal(before_rename, SYSCALL_FDATASYNC);
    assert_int_equal(before_folder, SYSCALL_RENAME);
}

static void a_durable_entry_is_on_the_disk_before_its_record(void **state)
{
    add_all(*state, 1);
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
    add_all(other, 8);
    add_all(*state, 2);
    neo_weights_provider provider = weights_open(*state, 0);
    syscalls_hook(SYSCALL_FLOCK, replace_file, *state);
    assert_int_equal(weights_add(&provider, 9), NEO_OK);
    weights_close(&provider);
    provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 7), NEO_OK);
    assert_int_equal(weights_get(&provider, 9), NEO_OK); /* it went to the file that is there */
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
    add_all(other, 8);
    assert_int_equal(rename(other, *state), 0);
    assert_int_equal(weights_get(&provider, 7), NEO_OK);
    assert_true(
        weights_are_right(provider.offset_to_addr(provider.context, blob.offset), blob.size, 3));
    assert_int_equal(weights_add(&provider, 8), NEO_OK);
    provider.unpin(provider.context, blob.offset);
    assert_int_equal(weights_statistics(&provider).inserts, 2);
    weights_close(&provider);
    get_all(*state, 9, 0);
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
        add_all(*state, 8);
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
        get_all(*state, 8, flags[f]);
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
            add_all(*state, 8);
            neo_weights_provider before = weights_open(*state, 0);
            assert_int_equal(truncate(*state, sizes[i]), 0);
            neo_weights_provider after = weights_open(*state, 0);
            add_without_fallback(opened_before ? &before : &after,
                                 opened_before || sizes[i] > 7 ? 0 : 9);
            weights_close(opened_before ? &after : &before);
        }
    }
}

/* ---- the file refuses ---- */

/* All entries are right, and each that the file did not take is counted. */
static void expect_fallbacks(const char *path, neo_status file_status, int file_errno)
{
    neo_weights_provider provider = weights_open(path, 0);
    neo_weights_blob blobs[4];
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(weights_put(&provider, i, &blobs[i]), NEO_OK);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_int_equal(statistics.fallbacks, 4);
    assert_int_equal(statistics.file_status, file_status);
    assert_int_equal(statistics.file_errno, file_errno);
    assert_int_equal(statistics.memory_bytes, unique_bytes(4));
    for (uint32_t i = 0; i < 4; i++)
        provider.unpin(provider.context, blobs[i].offset);
    weights_close(&provider);
    neo_weights_file_options options = {.flags = NEO_WEIGHTS_REQUIRE_FILE};
    neo_status status = neo_weights_file_provider_create(&provider, path, &options);
    assert_int_equal(status, file_status);
}

static void links_folders_and_pipes_are_refused(void **state)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.other", (const char *)*state);
    add_all(other, 4);
    assert_int_equal(symlink(other, *state), 0);
    expect_fallbacks(*state, NEO_IO_ERROR, ELOOP);
    unlink(*state);
    assert_int_equal(mkdir(*state, 0700), 0);
    expect_fallbacks(*state, NEO_IO_ERROR, EISDIR);
    rmdir(*state);
    assert_int_equal(mkfifo(*state, 0600), 0);
    expect_fallbacks(*state, NEO_IO_ERROR, EPERM);
    unlink(*state);
}

static void a_file_that_others_may_write_to_is_refused(void **state)
{
    add_all(*state, 4);
    assert_int_equal(chmod(*state, 0620), 0);
    expect_fallbacks(*state, NEO_IO_ERROR, EPERM);
    if (geteuid() == 0) { /* only root can give files away */
        assert_int_equal(chmod(*state, 0600), 0);
        assert_int_equal(chown(*state, 65534, 65534), 0);
        expect_fallbacks(*state, NEO_IO_ERROR, EPERM);
    }
}

static void a_missing_folder_is_no_disaster(void **state)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/in/no/folder", (const char *)*state);
    expect_fallbacks(path, NEO_NOT_FOUND, ENOENT);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    chmod(path, 0600);
}

static void a_file_that_is_no_cache_is_never_written_to(void **state)
{
    static const char model[30000] = "my only copy of a model";
    static const char zeros[1000000];
    write_file(*state, model, sizeof model);
    expect_fallbacks(*state, NEO_CORRUPT, EILSEQ);
    assert_int_equal(neo_weights_file_delete(*state), NEO_CORRUPT);
    assert_int_equal(neo_weights_file_compact(*state, 0, NULL, NULL, NULL), NEO_CORRUPT);
    char back[sizeof model];
    FILE *file = fopen(*state, "rb");
    assert_int_equal(fread(back, 1, sizeof back, file), sizeof back);
    fclose(file);
    assert_memory_equal(back, model, sizeof model);
    write_file(*state, "x", 1);
    expect_fallbacks(*state, NEO_CORRUPT, EILSEQ);
    write_file(*state, zeros, sizeof zeros);
    expect_fallbacks(*state, NEO_CORRUPT, EILSEQ);
}

static void a_newer_format_is_left_alone(void **state)
{
    add_all(*state, 4);
    int fd = open(*state, O_RDWR);
    uint32_t version = FORMAT_VERSION + 1;
    assert_int_equal(pwrite(fd, &version, sizeof version, offsetof(struct format_header, version)),
                     sizeof version);
    close(fd);
    expect_fallbacks(*state, NEO_UNSUPPORTED, EPROTONOSUPPORT);
    assert_int_equal(neo_weights_file_list(*state, 0, NULL, NULL, NULL), NEO_UNSUPPORTED);
}

static void an_empty_file_is_used(void **state)
{
    write_file(*state, "", 0);
    add_all(*state, 4);
    get_all(*state, 4, 0);
}

/* Runs check in a child without privileges; the parent's asserts see its exit status. */
static void as_nobody(void (*check)(const char *path), const char *path)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(2);
        check(path);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void require(bool condition, int code)
{
    if (!condition)
        _exit(code);
}

static void insert_without_permission(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    require(weights_get(&provider, 1) == NEO_OK, 3); /* root's file may be read */
    require(weights_add(&provider, 9) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks == 1 && statistics.file_errno == EACCES, 5);
    weights_close(&provider);
}

static void create_without_permission(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    require(weights_add(&provider, 9) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks == 1 && statistics.file_errno == EACCES, 5);
    weights_close(&provider);
}

static void a_read_only_file_and_folder_are_no_disaster(void **state)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", (const char *)*state);
    *strrchr(folder, '/') = 0;
    assert_int_equal(chmod(folder, 0555), 0);
    as_nobody(create_without_permission, *state);
    assert_int_equal(chmod(folder, 0755), 0);
    add_all(*state, 4);
    assert_int_equal(chmod(*state, 0444), 0);
    as_nobody(insert_without_permission, *state);
}

static void a_read_only_provider_changes_nothing(void **state)
{
    add_all(*state, 4);
    struct stat before, after;
    assert_int_equal(stat(*state, &before), 0);
    neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_READ_ONLY);
    assert_int_equal(weights_get(&provider, 1), NEO_OK);
    assert_int_equal(weights_add(&provider, 5), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 1);
    assert_int_equal(weights_statistics(&provider).file_errno, EROFS);
    weights_close(&provider);
    assert_int_equal(stat(*state, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
}

static void under_file_size_limit(const char *path)
{
    struct rlimit limit = {100000, 100000};
    require(setrlimit(RLIMIT_FSIZE, &limit) == 0, 3);
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < 8; i++)
        require(weights_add(&provider, i) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks >= 1 && statistics.file_errno == EFBIG, 5);
    require(statistics.file_entries >= 5, 6);
    weights_close(&provider);
}

static void a_file_size_limit_does_not_kill(void **state)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        under_file_size_limit(*state);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* SIGXFSZ would have ended it */
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(weights_file_bytes(*state) <= 100000);
}

/* On a disk of 256 KiB: a tmpfs in the child's own mount namespace, where one may be made. */
static void on_a_full_disk(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s.disk", path);
    require(mkdir(folder, 0700) == 0, 3);
    if (mount("none", folder, "tmpfs", 0, "size=256k"))
        _exit(77);
    snprintf(folder, sizeof folder, "%s.disk/cache", path);
    neo_weights_provider provider = weights_open(folder, 0);
    neo_weights_blob blobs[24];
    for (uint32_t i = 0; i < 24; i++)
        require(weights_put(&provider, i, &blobs[i]) == NEO_OK, 4);
    neo_weights_statistics statistics = weights_statistics(&provider);
    require(statistics.fallbacks >= 1 && statistics.file_errno == ENOSPC, 5);
    require(statistics.inserts == 24 && statistics.file_entries >= 8, 6);
    for (uint32_t i = 0; i < 24; i++)
        require(provider.unpin(provider.context, blobs[i].offset) == NEO_OK, 7);
    weights_close(&provider);
    snprintf(folder, sizeof folder, "%s.disk", path);
    umount(folder);
}

static void a_full_disk_is_no_disaster(void **state)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        on_a_full_disk(*state);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) { /* no right to mount: the refusal is played instead */
        syscalls_fail_all(SYSCALL_FALLOCATE, ENOSPC);
        expect_fallbacks(*state, NEO_IO_ERROR, ENOSPC);
        syscalls_reset();
    } else {
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void every_kind_of_call_may_fail_for_good(void **state)
{
    for (int kind = 0; kind < SYSCALL_KINDS; kind++) {
        unlink(*state);
        syscalls_reset();
        syscalls_fail_all((enum syscall_kind)kind, EIO);
        neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_DURABLE);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(weights_add(&provider, i), NEO_OK);
            assert_int_equal(weights_get(&provider, i), NEO_OK);
        }
        weights_close(&provider);
        syscalls_reset();
    }
}

static void any_failed_call_leaves_right_entries(void **state)
{
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        unlink(*state);
        neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_DURABLE);
        syscalls_fail_at(n, ENOSPC);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        neo_status compacted = neo_weights_file_compact(*state, 0, NULL, NULL, NULL);
        delivered = syscalls_reset();
        assert_true(compacted == NEO_OK || delivered);
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        assert_in_range(weights_statistics(&provider).fallbacks, 0, 1);
        weights_close(&provider);
        add_all(*state, 6);
        get_all(*state, 6, 0);
    }
}

static void any_failed_allocation_leaves_right_entries(void **state)
{
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        unlink(*state);
        neo_weights_provider provider;
        fault_arm(n);
        neo_status status = neo_weights_file_provider_create(&provider, *state, NULL);
        for (uint32_t i = 0; status == NEO_OK && i < 4; i++) {
            neo_status added = weights_add(&provider, i);
            assert_true(added == NEO_OK || added == NEO_OUT_OF_MEMORY);
        }
        neo_status compacted = neo_weights_file_compact(*state, 0, NULL, NULL, NULL);
        delivered = fault_disarm();
        assert_true(status == NEO_OK || status == NEO_OUT_OF_MEMORY);
        assert_true(compacted == NEO_OK || delivered);
        if (status == NEO_OK) {
            for (uint32_t i = 0; i < 6; i++)
                assert_int_equal(weights_add(&provider, i), NEO_OK);
            weights_close(&provider);
        }
        add_all(*state, 6);
        get_all(*state, 6, 0);
    }
}

/* ---- threads ---- */

enum { THREADS = 6, KEYS = 16 };

struct race {
    neo_weights_provider provider;
    atomic_int packed, wrong;
};

struct pack_argument {
    struct race *race;
    uint32_t i;
};

static neo_status pack_and_count(void *argument, void *data)
{
    const struct pack_argument *pack = argument;
    atomic_fetch_add(&pack->race->packed, 1);
    weights_fill(data, weights_size_of(pack->i), pack->i);
    return NEO_OK;
}

static void *use_all_keys(void *argument)
{
    struct race *race = argument;
    for (uint32_t i = 0; i < KEYS; i++) {
        struct pack_argument pack = {race, i};
        neo_weights_key key = weights_key_of(i, 1);
        struct weights_request request = {&key, weights_size_of(i), 64, pack_and_count, &pack,
                                          NULL};
        struct weights_use use;
        if (weights_acquire(&use, &race->provider, NULL, &request) != NEO_OK ||
            !weights_are_right(use.data, weights_size_of(i), i))
            atomic_fetch_add(&race->wrong, 1);
        weights_release(&use);
    }
    return NULL;
}

static void threads_and_providers_pack_each_key_once(void **state)
{
    struct race races[2] = {{.provider = weights_open(*state, 0)},
                            {.provider = weights_open(*state, 0)}};
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_all_keys, &races[i % 2]), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&races[0].wrong) + atomic_load(&races[1].wrong), 0);
    assert_int_equal(atomic_load(&races[0].packed) + atomic_load(&races[1].packed), KEYS);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(weights_statistics(&races[i].provider).fallbacks, 0);
        weights_close(&races[i].provider);
    }
    get_all(*state, KEYS, 0);
}

#define with_folder(test) \
    cmocka_unit_test_setup_teardown(test, weights_folder_setup, weights_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_folder(entries_are_found_again),
        with_folder(more_entries_than_an_index_block_holds),
        with_folder(the_file_is_private),
        with_folder(descriptors_are_closed_on_exec),
        with_folder(only_insertion_makes_a_file),
        with_folder(size_is_unique_bytes_and_little_more),
        with_folder(reloading_a_hundred_times_adds_nothing),
        with_folder(loading_in_one_provider_again_and_again_adds_nothing),
        with_folder(cancelled_space_is_used_again),
        with_folder(a_new_layout_version_repacks_only_what_it_affects),
        with_folder(different_attributes_share_one_entry),
        with_folder(pinned_entries_outlive_provider_and_file),
        with_folder(the_environment_names_a_file),
        with_folder(the_least_recently_used_entries_make_room),
        with_folder(entries_in_use_are_not_dropped_for_new_ones),
        with_folder(entries_found_in_the_file_are_in_use_too),
        with_folder(a_new_file_is_on_the_disk_before_it_takes_the_place),
        with_folder(a_durable_entry_is_on_the_disk_before_its_record),
        with_folder(a_file_replaced_just_before_the_lease_is_noticed),
        with_folder(a_removed_file_is_made_again),
        with_folder(a_replaced_file_is_read_and_the_old_one_stays_mapped),
        with_folder(compaction_by_another_keeps_mappings_and_is_followed),
        with_folder(a_truncated_file_is_noticed_before_it_is_touched),
        with_folder(a_file_truncated_in_its_index_is_written_anew),
        with_folder(links_folders_and_pipes_are_refused),
        with_folder(a_file_that_others_may_write_to_is_refused),
        with_folder(a_missing_folder_is_no_disaster),
        with_folder(a_file_that_is_no_cache_is_never_written_to),
        with_folder(a_newer_format_is_left_alone),
        with_folder(an_empty_file_is_used),
        with_folder(a_read_only_file_and_folder_are_no_disaster),
        with_folder(a_read_only_provider_changes_nothing),
        with_folder(a_file_size_limit_does_not_kill),
        with_folder(a_full_disk_is_no_disaster),
        with_folder(every_kind_of_call_may_fail_for_good),
        with_folder(any_failed_call_leaves_right_entries),
        with_folder(any_failed_allocation_leaves_right_entries),
        with_folder(threads_and_providers_pack_each_key_once),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_file", tests, NULL, NULL);
}
