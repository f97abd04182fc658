/* Processes that die while they write a cache file, and processes that share one. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "src/packed/provider.h"
#include "tests/support/packed/weights.h"
#include "tests/support/syscalls.h"

/* What a process does with the file until it is killed. It says which entries were committed by
 * writing their numbers to a pipe. */
typedef void job_fn(const char *path, int committed);

static void report(int committed, uint32_t i)
{
    if (write(committed, &i, sizeof i) != (ssize_t)sizeof i)
        _exit(9);
}

static void add_and_report(const char *path, int committed, uint32_t begin, uint32_t end,
                           uint32_t flags)
{
    neo_weights_provider provider = weights_open(path, flags);
    for (uint32_t i = begin; i < end; i++) {
        if (weights_add(&provider, i) != NEO_OK || weights_statistics(&provider).fallbacks)
            _exit(8);
        report(committed, i);
    }
    weights_close(&provider);
}

static void insert_into_a_new_file(const char *path, int committed)
{
    add_and_report(path, committed, 0, 4, 0);
}

static void insert_durably(const char *path, int committed)
{
    add_and_report(path, committed, 0, 3, NEO_WEIGHTS_DURABLE);
}

/* The second index block is made on the way. */
static void insert_past_an_index_block(const char *path, int committed)
{
    add_and_report(path, committed, FORMAT_BLOCK_SLOTS - 3, FORMAT_BLOCK_SLOTS + 2, 0);
}

static void compact_and_insert(const char *path, int committed)
{
    if (neo_weights_file_compact(path, 0, NULL, NULL, NULL) != NEO_OK)
        _exit(7);
    add_and_report(path, committed, 5, 7, 0);
}

/* The file has a damaged header: it is written anew on the first insertion. */
static void insert_into_a_broken_file(const char *path, int committed)
{
    int fd = open(path, O_RDWR);
    const uint8_t byte = 0xff;
    off_t place = offsetof(struct format_header, checksum);
    lseek(fd, place, SEEK_SET);
    if (write(fd, &byte, 1) != 1) /* not a call that is counted */
        _exit(6);
    close(fd);
    add_and_report(path, committed, 0, 3, 0);
}

struct scenario {
    const char *name;
    job_fn *job;
    uint32_t entries_before;
    bool entries_stay; /* those from before are still there, whatever happens */
};

/* Returns whether the child was killed; fills in which entries it had committed. */
static bool run_until_killed(const struct scenario *scenario, const char *path, size_t n, bool torn,
                             bool *committed, size_t count)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        syscalls_kill_at(n, torn);
        scenario->job(path, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    uint32_t i;
    while (read(ends[0], &i, sizeof i) == (ssize_t)sizeof i && i < count)
        committed[i] = true;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static void expect_committed(const char *path, const bool *committed, uint32_t count)
{
    neo_weights_provider provider = weights_open(path, NEO_WEIGHTS_READ_ONLY);
    for (uint32_t i = 0; i < count; i++) {
        neo_status status = weights_get(&provider, i);
        assert_true(status == NEO_OK || status == NEO_NOT_FOUND); /* never wrong bytes */
        if (committed[i])
            assert_int_equal(status, NEO_OK);
    }
    weights_close(&provider);
}

/* And the next process goes on as if nothing had happened. */
static void expect_usable(const char *path)
{
    for (int round = 0; round < 2; round++) {
        neo_weights_provider provider = weights_open(path, 0);
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        assert_int_equal(weights_statistics(&provider).fallbacks, 0);
        if (round)
            assert_int_equal(weights_statistics(&provider).inserts, 0);
        weights_close(&provider);
    }
}

/* A process is slow to start under the thread sanitizer, which has little to find here. */
#ifdef __SANITIZE_THREAD__
enum { STEP = 5 };
#else
enum { STEP = 1 };
#endif

static void killed_at_every_call(const struct scenario *scenario, const char *path, bool torn)
{
    enum { COUNT = 2 * FORMAT_BLOCK_SLOTS };
    bool killed = true;
    size_t n = 1;
    for (; killed; n += STEP) {
        bool committed[COUNT] = {false};
        unlink(path);
        neo_weights_provider provider = weights_open(path, 0);
        for (uint32_t i = 0; i < scenario->entries_before; i++) {
            assert_int_equal(weights_add(&provider, i), NEO_OK);
            committed[i] = scenario->entries_stay;
        }
        weights_close(&provider);
        killed = run_until_killed(scenario, path, n, torn, committed, COUNT);
        expect_committed(path, committed, COUNT);
        expect_usable(path);
    }
    assert_true(n > 8); /* it was killed more than a few times */
}

static void a_writer_killed_at_any_call_loses_nothing_committed(void **state)
{
    static const struct scenario scenarios[] = {
        {"new file", insert_into_a_new_file, 0, true},
        {"durable", insert_durably, 0, true},
        {"second index block", insert_past_an_index_block, FORMAT_BLOCK_SLOTS - 3, true},
        {"compaction", compact_and_insert, 5, true},
        {"broken file", insert_into_a_broken_file, 3, false},
    };
    for (size_t i = 0; i < count_of(scenarios); i++)
        for (int torn = 0; torn < 2; torn++)
            killed_at_every_call(&scenarios[i], *state, torn);
}

/* ---- while packing ---- */

static void kill_while_packing(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    neo_weights_key key = weights_key_of(6, 1);
    neo_weights_reservation reservation;
    provider.reserve_space(provider.context, &key, weights_size_of(6), 64, &reservation);
    weights_fill(reservation.data, weights_size_of(6) / 2, 6);
    kill(getpid(), SIGKILL);
}

static void e10_a_crash_while_packing_keeps_what_was_committed(void **state)
{
    uint64_t bytes = 0;
    for (int round = 0; round < 10; round++) { /* and leaves no space behind */
        neo_weights_provider provider = weights_open(*state, 0);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        weights_close(&provider);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            kill_while_packing(*state);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        provider = weights_open(*state, 0);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(weights_get(&provider, i), NEO_OK);
        assert_int_equal(weights_get(&provider, 6), NEO_NOT_FOUND);
        weights_close(&provider);
        if (round == 0)
            bytes = weights_file_bytes(*state);
        assert_int_equal(weights_file_bytes(*state), bytes);
    }
}

/* ---- processes that start together ---- */

enum { PROCESSES = 8, KEYS = 24 };

/* In memory that the processes share. */
struct counters {
    unsigned packed[KEYS];
    unsigned ready, failed;
};

struct pack_argument {
    struct counters *counters;
    uint32_t i;
};

static neo_status pack_and_count(void *argument, void *data)
{
    const struct pack_argument *pack = argument;
    __atomic_fetch_add(&pack->counters->packed[pack->i], 1, __ATOMIC_SEQ_CST);
    weights_fill(data, weights_size_of(pack->i), pack->i);
    return NEO_OK;
}

static bool use_all_keys(const neo_weights_provider *provider, struct counters *counters)
{
    bool good = true;
    for (uint32_t i = 0; i < KEYS; i++) {
        struct pack_argument pack = {counters, i};
        neo_weights_key key = weights_key_of(i, 1);
        struct weights_request request = {&key, weights_size_of(i), 64, pack_and_count, &pack,
                                          NULL};
        struct weights_use use;
        good &= weights_acquire(&use, provider, NULL, &request) == NEO_OK &&
                weights_are_right(use.data, weights_size_of(i), i);
        weights_release(&use);
    }
    return good;
}

static void start_cold(const char *path, struct counters *counters)
{
    __atomic_fetch_add(&counters->ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&counters->ready, __ATOMIC_SEQ_CST) < PROCESSES)
        usleep(100);
    neo_weights_provider provider;
    neo_weights_file_options options = {.lease_timeout_ms = 60000};
    bool good = neo_weights_file_provider_create(&provider, path, &options) == NEO_OK;
    good = good && use_all_keys(&provider, counters);
    good = good && weights_statistics(&provider).fallbacks == 0;
    weights_close(&provider);
    _exit(good ? 0 : 1);
}

static struct counters *shared_counters(void)
{
    struct counters *counters =
        mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(counters != MAP_FAILED);
    return counters;
}

static void wait_for_all(const pid_t *children, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void eight_processes_pack_each_entry_once(void **state)
{
    struct counters *counters = shared_counters();
    pid_t children[PROCESSES];
    for (size_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            start_cold(*state, counters);
    }
    wait_for_all(children, PROCESSES);
    uint64_t unique = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_equal(counters->packed[i], 1);
        unique += weights_size_of(i);
    }
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(*state, 1, NULL, NULL, &summary), NEO_OK);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], KEYS);
    assert_int_equal(summary.bytes[NEO_WEIGHTS_USABLE], unique);
    assert_in_range(summary.file_bytes, unique, unique + unique / 20 + FORMAT_EMPTY_BYTES);
    munmap(counters, sizeof *counters);
}

/* ---- processes that disturb each other ---- */

static void add_and_compact_at_random(const char *path, uint32_t seed)
{
    for (uint32_t round = 0; round < 12; round++) {
        neo_weights_provider provider;
        neo_weights_file_options options = {.limit_bytes = 1500000, .lease_timeout_ms = 60000};
        if (neo_weights_file_provider_create(&provider, path, &options) != NEO_OK)
            _exit(1);
        for (uint32_t i = 0; i < 6; i++) {
            seed = seed * 1664525u + 1013904223u;
            neo_weights_blob blob;
            if (weights_put(&provider, (seed >> 16) % 40, &blob) != NEO_OK ||
                provider.unpin(provider.context, blob.offset) != NEO_OK)
                _exit(2);
        }
        weights_close(&provider);
        seed = seed * 1664525u + 1013904223u;
        if ((seed >> 16) % 4 == 0)
            neo_weights_file_compact(path, 1000000, NULL, NULL, NULL);
        if ((seed >> 16) % 16 == 1)
            unlink(path);
    }
    _exit(0);
}

static void processes_that_insert_compact_and_remove_never_see_wrong_bytes(void **state)
{
    pid_t children[4];
    for (uint32_t i = 0; i < count_of(children); i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            add_and_compact_at_random(*state, i + 1);
    }
    wait_for_all(children, count_of(children));
    expect_usable(*state);
}

/* ---- forks of a process that uses the file ---- */

static void a_forked_child_does_not_share_its_parents_lease(void **state)
{
    neo_weights_provider provider;
    neo_weights_file_options hurried = {.lease_timeout_ms = 20};
    assert_int_equal(neo_weights_file_provider_create(&provider, *state, &hurried), NEO_OK);
    neo_weights_blob blob;
    assert_int_equal(weights_put(&provider, 0, &blob), NEO_OK);
    neo_weights_key key = weights_key_of(3, 1);
    neo_weights_reservation reservation;
    assert_int_equal(
        provider.reserve_space(provider.context, &key, weights_size_of(3), 64, &reservation),
        NEO_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        neo_weights_provider own;
        if (neo_weights_file_provider_create(&own, *state, &hurried) != NEO_OK)
            _exit(1);
        if (weights_get(&provider, 0) != NEO_OK || weights_add(&own, 5) != NEO_OK)
            _exit(2);
        if (weights_add(&provider, 6) != NEO_OK)
            _exit(5);
        if (weights_statistics(&own).fallbacks != 1 || weights_statistics(&provider).fallbacks != 1)
            _exit(3); /* the parent has the lease */
        weights_close(&own);
        neo_weights_blob copy;
        if (provider.look_up_or_insert(provider.context, &key, &reservation, &copy) == NEO_OK)
            _exit(4); /* the reservation is the parent's */
        weights_close(&provider);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    neo_weights_blob second;
    weights_fill(reservation.data, weights_size_of(3), 3);
    assert_int_equal(provider.look_up_or_insert(provider.context, &key, &reservation, &second),
                     NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    provider.unpin(provider.context, blob.offset);
    provider.unpin(provider.context, second.offset);
    weights_close(&provider);
    provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 3), NEO_OK);
    weights_close(&provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(a_writer_killed_at_any_call_loses_nothing_committed),
        WEIGHTS_TEST(e10_a_crash_while_packing_keeps_what_was_committed),
        WEIGHTS_TEST(eight_processes_pack_each_entry_once),
        WEIGHTS_TEST(processes_that_insert_compact_and_remove_never_see_wrong_bytes),
        WEIGHTS_TEST(a_forked_child_does_not_share_its_parents_lease),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_crash", tests, NULL, NULL);
}
