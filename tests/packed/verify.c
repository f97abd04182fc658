/* A cache file's bytes are verified: by the threads of the stream that wants them, and how often.
 */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "src/packed/content_hash.h"
#include "src/packed/file/stamp.h"
#include "src/packed/key.h"
#include "src/packed/provider.h"
#include "src/threading/nesting.h"
#include "tests/support/packed/weights.h"
#include "tests/support/pools.h"

enum { CHUNKS = 3, BYTES = CHUNKS * CONTENT_CHUNK_BYTES - 1000 };

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

static void what_was_packed_here_is_not_verified(void **state)
{
    struct watched_pool pool = {.calls = 0};
    struct parallel parallel = parallel_of(&pool);
    neo_weights_provider provider = weights_open(*state, NEO_WEIGHTS_VERIFY);
    assert_true(use_entry(&provider, &parallel));
    assert_false(use_entry(&provider, &parallel));
    assert_int_equal(pool.calls, 1); /* for the record's checksum */
    weights_close(&provider);
}

static neo_status pack_less(void *argument, void *data)
{
    (*(int *)argument)++;
    memset(data, 7, BYTES - 64);
    return NEO_OK;
}

/* The record is sound, and not what is wanted: none of its bytes is worth reading. */
static void check_another_size(const char *path, size_t size)
{
    make_file(path);
    struct watched_pool pool = {.calls = 0};
    struct parallel parallel = parallel_of(&pool);
    neo_weights_key key = weights_key_of(1, 1);
    int packed = 0;
    struct weights_request request = {.key = &key,
                                      .size = size,
                                      .align = 64,
                                      .pack = pack_less,
                                      .argument = &packed,
                                      .parallel = &parallel};
    neo_weights_provider provider = weights_open(path, 0);
    struct weights_use use;
    assert_int_equal(weights_acquire(&use, &provider, NULL, &request), NEO_OK);
    assert_int_equal(packed, 1);
    assert_int_equal(pool.calls, 1); /* for the new record's checksum */
    assert_int_equal(weights_statistics(&provider).damaged, 1);
    weights_release(&use);
    weights_close(&provider);
}

static void an_entry_of_another_size_is_not_verified(void **state)
{
    check_another_size(*state, BYTES + 64);
    check_another_size(*state, BYTES - 64);
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

static int mappings_of(const char *path)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        count += strstr(line, path) != NULL;
    fclose(file);
    return count;
}

static void a_damaged_entry_does_not_stay_mapped(void **state)
{
    make_file(*state);
    flip(*state, entry_offset(*state));
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_key key = weights_key_of(1, 1);
    neo_weights_blob blob;
    assert_int_equal(provider.look_up(provider.context, &key, &blob), NEO_NOT_FOUND);
    assert_int_equal(mappings_of(*state), 0);
    weights_close(&provider);
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

static bool refuse_second(void *context, size_t begin, size_t size)
{
    (void)size;
    (*(long *)context)++;
    return begin != CONTENT_CHUNK_BYTES;
}

static void nothing_is_touched_after_a_chunk_is_refused(void **state)
{
    (void)state;
    unsigned char *bytes = calloc(1, BYTES);
    assert_non_null(bytes);
    long asked = 0;
    const struct content_source source = {bytes, BYTES, refuse_second, &asked};
    content_hash_from(&source, NULL);
    assert_int_equal(asked, 2);
    free(bytes);
}

/* ---- how often ---- */

/* How far the clock of this program is ahead of that of files. */
static time_t ahead_s;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = __real_clock_gettime(clock, out);
    out->tv_sec += clock == CLOCK_REALTIME ? ahead_s : 0;
    return result;
}

/* All that was written is on the disk, and was written long ago. */
static void settle(const char *path)
{
    static const struct timespec some_ticks = {.tv_nsec = 20000000};
    int fd = open(path, O_RDWR);
    assert_int_equal(fsync(fd), 0);
    close(fd);
    nanosleep(&some_ticks, NULL); /* so that the next write has another time */
    ahead_s = 100;
}

static int reset_clock(void **state)
{
    ahead_s = 0;
    return weights_folder_teardown(state);
}

static bool can_be_stamped(const char *path)
{
    struct file_stamp stamp;
    const struct stamped_file file = {path, open(path, O_RDWR | O_CREAT, 0600), 1, 2};
    settle(path);
    bool can = file.fd >= 0 && stamp_begin(&stamp, &file, 0, 1);
    if (can)
        stamp_end(&stamp, &file, 3);
    can = can && stamp_covers(&file, 3);
    close(file.fd);
    unlink(path);
    ahead_s = 0;
    return can;
}

static ssize_t get_stamp(const char *path, struct file_stamp *out)
{
    char name[STAMP_NAME], folder[256];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    stamp_name(name, path);
    return getxattr(folder, name, out, sizeof *out);
}

static void put_stamp(const char *path, const void *stamp, size_t size)
{
    char name[STAMP_NAME], folder[256];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    stamp_name(name, path);
    assert_int_equal(setxattr(folder, name, stamp, size, 0), 0);
}

static const char *stamp_path(void **state)
{
    if (!can_be_stamped(*state)) {
        print_message("no file system here has attributes and tells of every change\n");
        skip();
    }
    return *state;
}

/* Uses the entry in a new provider, as a new process does. Returns whether it was verified. */
static bool is_verified_anew(const char *path, uint32_t flags)
{
    struct watched_pool pool = {.calls = 0};
    struct parallel parallel = parallel_of(&pool);
    neo_weights_provider provider = weights_open(path, flags);
    assert_false(use_entry(&provider, &parallel));
    weights_close(&provider);
    return pool.calls;
}

/* A file whose entry was verified, and that has a stamp which says so. */
static const char *make_stamped_file(void **state)
{
    const char *path = stamp_path(state);
    make_file(path);
    settle(path);
    assert_true(is_verified_anew(path, 0));
    return path;
}

static void a_file_at_rest_is_verified_once(void **state)
{
    const char *path = make_stamped_file(state);
    for (int i = 0; i < 3; i++)
        assert_false(is_verified_anew(path, 0));
    assert_false(is_verified_anew(path, NEO_WEIGHTS_READ_ONLY));
    assert_true(is_verified_anew(path, NEO_WEIGHTS_VERIFY));
    assert_true(is_verified_anew(path, NEO_WEIGHTS_COPY)); /* it is read anyway */
}

static void a_file_just_written_is_verified_again(void **state)
{
    const char *path = stamp_path(state);
    make_file(path);
    for (int i = 0; i < 3; i++)
        assert_true(is_verified_anew(path, 0)); /* the next write might leave the time as it is */
}

static void a_read_only_provider_leaves_no_stamp(void **state)
{
    const char *path = stamp_path(state);
    make_file(path);
    settle(path);
    struct file_stamp stamp;
    put_stamp(path, "none", 4); /* that of the trial */
    for (int i = 0; i < 2; i++)
        assert_true(is_verified_anew(path, NEO_WEIGHTS_READ_ONLY));
    assert_int_equal(get_stamp(path, &stamp), 4);
}

static void store_through_a_mapping(const char *path, uint64_t offset)
{
    int fd = open(path, O_RDWR);
    size_t size = (size_t)weights_file_bytes(path);
    unsigned char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    map[offset] ^= 1;
    munmap(map, size);
    close(fd);
}

/* As `cp -a` and `rsync --inplace --times` do. */
static void flip_and_put_the_time_back(const char *path, uint64_t offset)
{
    struct stat before;
    assert_int_equal(stat(path, &before), 0);
    flip(path, offset);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_write_ends_the_stamp(void **state)
{
    static void (*const writes[])(const char *, uint64_t) = {flip, store_through_a_mapping,
                                                             flip_and_put_the_time_back};
    for (size_t i = 0; i < count_of(writes); i++) {
        const char *path = make_stamped_file(state);
        writes[i](path, entry_offset(path) + 5000);
        neo_weights_provider provider = weights_open(path, 0);
        assert_true(use_entry(&provider, NULL)); /* packed anew */
        assert_int_equal(weights_statistics(&provider).damaged, 1);
        weights_close(&provider);
    }
}

/* Once a page is dirty the kernel does not hear of more stores to it. */
static void a_store_to_a_dirty_page_is_found(void **state)
{
    const char *path = stamp_path(state);
    make_file(path);
    settle(path);
    uint64_t offset = entry_offset(path) + 5000;
    size_t size = (size_t)weights_file_bytes(path);
    int fd = open(path, O_RDWR);
    volatile unsigned char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    map[offset] = map[offset];
    assert_true(is_verified_anew(path, 0));
    map[offset] ^= 1;
    neo_weights_provider provider = weights_open(path, 0);
    assert_true(use_entry(&provider, NULL)); /* packed anew */
    assert_int_equal(weights_statistics(&provider).damaged, 1);
    weights_close(&provider);
    munmap((void *)(uintptr_t)map, size);
    close(fd);
}

static void another_size_or_time_ends_the_stamp(void **state)
{
    const char *path = make_stamped_file(state);
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    assert_true(is_verified_anew(path, 0));
    assert_false(is_verified_anew(path, 0));
    struct stat before;
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(truncate(path, before.st_size + 4096), 0);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(is_verified_anew(path, 0));
}

/* As if it had been made before the machine was started, or be of another file. */
static void a_stamp_of_another_boot_or_file_says_nothing(void **state)
{
    for (int field = 0; field < 4; field++) {
        const char *path = make_stamped_file(state);
        struct file_stamp stamp;
        assert_int_equal(get_stamp(path, &stamp), sizeof stamp);
        uint64_t *const fields[] = {&stamp.boot, &stamp.inode, &stamp.device, &stamp.file_id};
        (*fields[field])++;
        stamp.checksum = content_checksum(&stamp, offsetof(struct file_stamp, checksum), 0);
        put_stamp(path, &stamp, sizeof stamp);
        assert_true(is_verified_anew(path, 0));
        assert_false(is_verified_anew(path, 0)); /* it has a new one */
    }
}

static void a_damaged_stamp_says_nothing(void **state)
{
    const char *path = make_stamped_file(state);
    struct file_stamp stamp;
    for (size_t i = 0; i < sizeof stamp; i += 13) {
        assert_int_equal(get_stamp(path, &stamp), sizeof stamp);
        ((unsigned char *)&stamp)[i] ^= 4;
        put_stamp(path, &stamp, sizeof stamp);
        assert_true(is_verified_anew(path, 0));
    }
    put_stamp(path, "no", 2);
    assert_true(is_verified_anew(path, 0));
    assert_false(is_verified_anew(path, 0));
}

static void a_stamp_covers_the_entries_that_were_verified(void **state)
{
    const char *path = make_stamped_file(state);
    const struct stamped_file file = {path, open(path, O_RDWR), 11, 12};
    struct file_stamp stamp;
    const uint32_t slots[] = {0, 7, 8, 500, STAMP_SLOTS - 1};
    for (size_t i = 0; i < count_of(slots); i++) {
        assert_true(stamp_begin(&stamp, &file, 0, 4096));
        stamp_end(&stamp, &file, slots[i]);
    }
    uint32_t covered = 0;
    for (uint32_t slot = 0; slot < STAMP_SLOTS + 9; slot++)
        covered += stamp_covers(&file, slot);
    assert_int_equal(covered, count_of(slots));
    for (size_t i = 0; i < count_of(slots); i++)
        assert_true(stamp_covers(&file, slots[i]));
    stamp_end(&stamp, &file, STAMP_SLOTS);
    assert_false(stamp_covers(&file, STAMP_SLOTS));
    assert_true(stamp_begin(&stamp, &file, 0, 4096)); /* and what changes meanwhile is not noted */
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    stamp_end(&stamp, &file, 1);
    assert_false(stamp_covers(&file, 1));
    close(file.fd);
}

int main(void)
{
#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, weights_disk_folder_setup, reset_clock)
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(the_pool_of_the_request_hashes),
        WEIGHTS_TEST(what_was_verified_is_not_verified_again),
        WEIGHTS_TEST(what_was_packed_here_is_not_verified),
        WEIGHTS_TEST(an_entry_of_another_size_is_not_verified),
        WEIGHTS_TEST(every_kind_of_pool_verifies),
        WEIGHTS_TEST(a_flipped_byte_is_found_in_every_chunk),
        WEIGHTS_TEST(a_damaged_entry_does_not_stay_mapped),
        WEIGHTS_TEST(a_file_truncated_while_it_is_verified_is_damaged),
        cmocka_unit_test(nothing_is_touched_after_a_chunk_is_refused),
        ON_DISK(a_file_at_rest_is_verified_once),
        ON_DISK(a_file_just_written_is_verified_again),
        ON_DISK(a_read_only_provider_leaves_no_stamp),
        ON_DISK(a_write_ends_the_stamp),
        ON_DISK(a_store_to_a_dirty_page_is_found),
        ON_DISK(another_size_or_time_ends_the_stamp),
        ON_DISK(a_stamp_of_another_boot_or_file_says_nothing),
        ON_DISK(a_damaged_stamp_says_nothing),
        ON_DISK(a_stamp_covers_the_entries_that_were_verified),
    };
    return cmocka_run_group_tests_name("weights_verify", tests, NULL, NULL);
}
