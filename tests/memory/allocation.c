/* Allocations of all kinds: what is common to them, how they fall back, what they refuse. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/memory/kinds/mapping.h"
#include "src/primitive/engine.h"
#include "tests/support/domain.h"
#include "tests/support/fault.h"
#include "tests/support/pages.h"
#include "tests/support/temporary.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_MLOCK_A_STUB true
#else
#define IS_MLOCK_A_STUB false
#endif

static bool is_filled(const void *data, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)data)[i] != value)
            return false;
    return true;
}

/* ---- all kinds ---- */

static void every_kind_gives_aligned_memory_that_can_be_used(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 4096, 4097, 100003, (2u << 20) + 1};
    static const size_t alignments[] = {0, 8, 64, 4096, 65536, 2u << 20};
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++) {
        if (kind == NEO_KIND_FILE)
            continue;
        for (size_t i = 0; i < count_of(sizes) * count_of(alignments); i++) {
            const neo_allocation_request request = {
                .bytes = sizes[i % count_of(sizes)],
                .alignment = alignments[i / count_of(sizes)],
                .kind = (neo_allocation_kind)kind,
            };
            struct allocation memory;
            assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
            assert_int_equal((uintptr_t)memory.data % max_size(64, request.alignment), 0);
            memset(memory.data, 0x5A, request.bytes);
            neo_allocation_info info;
            allocation_query(&memory, &info);
            assert_true(info.bytes == request.bytes && info.held_bytes >= info.bytes);
            assert_true(info.page_bytes >= mapping_page_bytes());
            assert_int_equal(info.requested, kind);
            assert_int_equal(allocation_destroy(&memory), NEO_OK);
            assert_null(memory.data);
        }
    }
}

static void kinds_say_what_they_are(void **state)
{
    (void)state;
    static const struct {
        neo_allocation_kind kind;
        int lockable, migratable, cross_process;
    } rows[] = {
        {NEO_KIND_HEAP, 0, 1, 0},
        {NEO_KIND_SHARED, 1, 1, 1},
        {NEO_KIND_GUARDED, 1, 1, 0},
        {NEO_KIND_NUMA_BOUND, 1, 0, 0},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct allocation memory;
        neo_allocation_info info;
        assert_int_equal(domain_create(rows[i].kind, 5000, 0, &memory), NEO_OK);
        allocation_query(&memory, &info);
        if (info.kind == rows[i].kind) { /* NUMA may be absent; heap's answers are row 0 */
            assert_int_equal(info.lockable, rows[i].lockable);
            assert_int_equal(info.migratable, rows[i].migratable);
            assert_int_equal(info.cross_process, rows[i].cross_process);
            assert_int_equal(info.node, info.kind == NEO_KIND_NUMA_BOUND ? 0 : -1);
            assert_int_equal(info.fd >= 0, info.kind == NEO_KIND_SHARED);
        }
        allocation_destroy(&memory);
    }
    assert_string_equal(neo_allocation_kind_name(NEO_KIND_HUGE_PAGE), "huge_page");
    assert_string_equal(neo_allocation_kind_name(NEO_KIND_ALL), "all");
    assert_string_equal(neo_allocation_kind_name((neo_allocation_kind)77), "unknown");
}

static void the_zero_flag_clears_memory_that_held_other_contents(void **state)
{
    (void)state;
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++) {
        if (kind == NEO_KIND_FILE)
            continue;
        for (int round = 0; round < 3; round++) {
            struct allocation memory;
            domain.poison = 0xFF;
            assert_int_equal(domain_create((neo_allocation_kind)kind, 70001, 0, &memory), NEO_OK);
            assert_true(is_filled(memory.data, 70001, 0xFF));
            allocation_destroy(&memory);
            assert_int_equal(
                domain_create((neo_allocation_kind)kind, 70001, NEO_ALLOCATION_ZERO, &memory),
                NEO_OK);
            assert_true(is_filled(memory.data, 70001, 0));
            allocation_destroy(&memory);
        }
    }
}

static void zero_bytes_are_an_allocation_without_memory(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(domain_create(NEO_KIND_HEAP, 0, 0, &memory), NEO_OK);
    assert_null(memory.data);
    assert_int_equal(allocation_destroy(&memory), NEO_OK);
    assert_int_equal(tracker_usage(&domain.tracker, NEO_KIND_ALL).allocations, 0);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    int fd = temporary_bytes(100);
    const neo_allocation_request rows[] = {
        {.bytes = 1, .kind = NEO_KIND_COUNT},
        {.bytes = 1, .flags = 64},
        {.bytes = 1, .alignment = 96},
        {.bytes = 1, .alignment = 4u << 20},
        {.bytes = 1, .kind = NEO_KIND_NUMA_BOUND, .node = -1},
        {.bytes = 1, .flags = NEO_ALLOCATION_ATTACH},
        {.bytes = 1, .flags = NEO_ALLOCATION_READ_ONLY},
        {.bytes = 1, .flags = NEO_ALLOCATION_GUARD_END},
        {.bytes = 1, .offset = 64},
        {.bytes = 1, .kind = NEO_KIND_FILE, .flags = NEO_ALLOCATION_ZERO, .fd = fd},
        {.bytes = 1, .kind = NEO_KIND_FILE, .offset = 7, .fd = fd},
        {.bytes = 1, .kind = NEO_KIND_FILE, .offset = 32, .fd = fd},
        {.bytes = 1, .kind = NEO_KIND_FILE, .offset = 2, .alignment = 4, .fd = fd},
        {.bytes = 101, .kind = NEO_KIND_FILE, .fd = fd},
        {.bytes = 1, .kind = NEO_KIND_FILE, .offset = 128, .fd = fd},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct allocation memory;
        assert_int_equal(allocation_create(&domain, &rows[i], &memory), NEO_INVALID_ARGUMENT);
        assert_null(memory.data);
    }
    close(fd);
    neo_allocation_request no_file = {.kind = NEO_KIND_FILE, .path = "/nonexistent/weights"};
    struct allocation memory;
    assert_int_equal(allocation_create(&domain, &no_file, &memory), NEO_IO_ERROR);
}

/* ---- fall-back ---- */

static void a_kind_that_cannot_be_had_becomes_the_next_one_or_unsupported(void **state)
{
    (void)state;
    neo_allocation_request request = {.bytes = 1000, .kind = NEO_KIND_NUMA_BOUND, .node = 4000};
    struct allocation memory;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_HEAP);
    assert_int_equal(memory.requested, NEO_KIND_NUMA_BOUND);
    assert_int_equal(memory.node, -1);
    allocation_destroy(&memory);
    request.flags = NEO_ALLOCATION_STRICT;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_UNSUPPORTED);
    request.kind = NEO_KIND_USER;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_UNSUPPORTED);
    request.flags = 0;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_HEAP);
    allocation_destroy(&memory);
}

static void locked_memory_is_resident_or_strictly_refused(void **state)
{
    (void)state;
    SKIP_WITH_PRETENDED_PAGES();
    struct allocation memory;
    assert_int_equal(
        domain_create(NEO_KIND_SHARED, 3 * mapping_page_bytes(), NEO_ALLOCATION_LOCKED, &memory),
        NEO_OK);
    unsigned char resident[3] = {0};
    if (IS_MLOCK_A_STUB) {
        print_message("this sanitizer's mlock() does nothing\n");
    } else if (memory.locked) {
        assert_int_equal(mincore(memory.data, 3 * mapping_page_bytes(), resident), 0);
        assert_true(resident[0] & resident[1] & resident[2] & 1);
    } else {
        print_message("the system does not let this process pin memory\n");
    }
    allocation_destroy(&memory);
    assert_int_equal(
        domain_create(NEO_KIND_HEAP, 1000, NEO_ALLOCATION_LOCKED | NEO_ALLOCATION_STRICT, &memory),
        NEO_UNSUPPORTED);
    assert_int_equal(domain_create(NEO_KIND_HEAP, 1000, NEO_ALLOCATION_LOCKED, &memory), NEO_OK);
    assert_false(memory.locked);
    allocation_destroy(&memory);
}

/* ---- the user's allocator ---- */

struct user_heap {
    size_t calls, live_bytes;
    size_t misaligned_by;
    bool is_empty;
};

static void *user_allocate(void *context, size_t bytes, size_t alignment)
{
    struct user_heap *heap = context;
    if (heap->is_empty)
        return NULL;
    heap->calls++;
    heap->live_bytes += bytes;
    return (char *)aligned_alloc(alignment, round_up(bytes + alignment, alignment)) +
           heap->misaligned_by;
}

static void user_release(void *context, void *data, size_t bytes, size_t alignment)
{
    struct user_heap *heap = context;
    (void)alignment;
    heap->live_bytes -= bytes;
    free((char *)data - heap->misaligned_by);
}

static void heap_memory_comes_from_the_users_allocator(void **state)
{
    (void)state;
    struct user_heap heap = {0};
    const neo_allocator user = {&heap, user_allocate, user_release};
    struct memory_domain theirs;
    assert_int_equal(memory_domain_init(&theirs, &user), NEO_OK);
    neo_allocation_request request = {.bytes = 777, .alignment = 128};
    struct allocation memory;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_USER);
    assert_int_equal(heap.live_bytes, 777);
    allocation_destroy(&memory);
    assert_int_equal(heap.live_bytes, 0);

    request.flags = NEO_ALLOCATION_STRICT;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_HEAP);
    allocation_destroy(&memory);

    request.flags = 0;
    heap.misaligned_by = 8;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_RUNTIME_ERROR);
    assert_int_equal(heap.live_bytes, 0);
    heap.is_empty = true;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_OUT_OF_MEMORY);
    assert_int_equal(tracker_live(&theirs.tracker), 0);
    assert_int_equal(atomic_load(&theirs.limits.used), 0);
    memory_domain_deinit(&theirs);
    assert_int_equal(memory_domain_init(&theirs, &(neo_allocator){.allocate = user_allocate}),
                     NEO_INVALID_ARGUMENT);
    memory_domain_deinit(&theirs);
}

static void memory_goes_back_to_the_allocator_it_came_from(void **state)
{
    (void)state;
    struct user_heap heaps[2] = {{0}};
    const neo_allocator users[] = {{&heaps[0], user_allocate, user_release},
                                   {&heaps[1], user_allocate, user_release}};
    const neo_allocation_request request = {.bytes = 100};
    struct allocation memory[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(memory_domain_set_user(&domain, i < 2 ? &users[i] : NULL), NEO_OK);
        assert_int_equal(allocation_create(&domain, &request, &memory[i]), NEO_OK);
        assert_int_equal(memory[i].kind, i < 2 ? NEO_KIND_USER : NEO_KIND_HEAP);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(allocation_destroy(&memory[i]), NEO_OK);
    assert_true(heaps[0].calls == 1 && heaps[1].calls == 1);
    assert_true(heaps[0].live_bytes == 0 && heaps[1].live_bytes == 0);
}

static void the_environment_sets_poison_and_history(void **state)
{
    (void)state;
    struct memory_domain other;
    struct allocation memory;
    const neo_allocation_request request = {.bytes = 5000};
    setenv("NEOPRENE_MEMORY_POISON", "255", 1);
    setenv("NEOPRENE_MEMORY_HISTORY", "3", 1);
    assert_int_equal(memory_domain_init(&other, NULL), NEO_OK);
    assert_int_equal(other.tracker.history.capacity, 3);
    assert_int_equal(allocation_create(&other, &request, &memory), NEO_OK);
    assert_true(is_filled(memory.data, 5000, 0xFF));
    allocation_destroy(&memory);
    memory_domain_deinit(&other);
    setenv("NEOPRENE_MEMORY_POISON", "256", 1);
    setenv("NEOPRENE_MEMORY_HISTORY", "many", 1);
    assert_int_equal(memory_domain_init(&other, NULL), NEO_OK);
    assert_int_equal(other.poison, -1);
    assert_int_equal(other.tracker.history.capacity, HISTORY_EVENTS);
    memory_domain_deinit(&other);
    unsetenv("NEOPRENE_MEMORY_POISON");
    unsetenv("NEOPRENE_MEMORY_HISTORY");
}

/* ---- failing system ---- */

static void every_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    int fd = temporary_bytes(5000);
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++) {
        bool delivered = true;
        for (size_t n = 1; delivered; n++) {
            neo_allocation_request request = {.bytes = 5000,
                                              .kind = (neo_allocation_kind)kind,
                                              .fd = kind == NEO_KIND_FILE ? fd : 0};
            neo_allocation *handle;
            fault_arm(n);
            neo_status status = allocation_handle_create(&domain, NULL, &request, &handle);
            delivered = fault_disarm();
            assert_true(delivered || status == NEO_OK);
            assert_true(status == NEO_OK || status == NEO_OUT_OF_MEMORY);
            assert_int_equal(status == NEO_OK, handle != NULL);
            assert_int_equal(neo_allocation_destroy(handle), NEO_OK);
            assert_int_equal(tracker_live(&domain.tracker), 0);
            assert_int_equal(atomic_load(&domain.limits.used), 0);
        }
    }
    close(fd);
}

static void a_domain_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct memory_domain other;
        fault_arm(n);
        neo_status status = memory_domain_init(&other, NULL);
        bool delivered = fault_disarm();
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        memory_domain_deinit(&other);
        if (!delivered)
            break;
    }
}

static void a_handle_answers_questions(void **state)
{
    (void)state;
    neo_allocation_request request = {.bytes = 100};
    neo_allocation *handle;
    neo_allocation_info info;
    assert_int_equal(allocation_handle_create(&domain, NULL, &request, &handle), NEO_OK);
    assert_int_equal(neo_allocation_query(handle, &info), NEO_OK);
    assert_ptr_equal(info.data, neo_allocation_data(handle));
    assert_int_equal(neo_allocation_seal(handle), NEO_UNSUPPORTED);
    assert_int_equal(neo_allocation_destroy(handle), NEO_OK);
    assert_int_equal(neo_allocation_destroy(NULL), NEO_OK);
    assert_null(neo_allocation_data(NULL));
    assert_int_equal(neo_allocation_query(NULL, &info), NEO_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, domain_set_up, domain_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_gives_aligned_memory_that_can_be_used),
        TEST(kinds_say_what_they_are),
        TEST(the_zero_flag_clears_memory_that_held_other_contents),
        TEST(zero_bytes_are_an_allocation_without_memory),
        TEST(wrong_requests_are_refused),
        TEST(a_kind_that_cannot_be_had_becomes_the_next_one_or_unsupported),
        TEST(locked_memory_is_resident_or_strictly_refused),
        TEST(heap_memory_comes_from_the_users_allocator),
        TEST(memory_goes_back_to_the_allocator_it_came_from),
        TEST(the_environment_sets_poison_and_history),
        TEST(every_failing_allocation_leaves_nothing_behind),
        TEST(a_domain_is_made_whole_or_not_at_all),
        TEST(a_handle_answers_questions),
    };
    return cmocka_run_group_tests_name("memory_allocation", tests, NULL, NULL);
}
