/* The history of allocations: counts, peaks, log lines, the ring, and who was live at the peak. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neoprene/types.h"
#include "tests/support/capture.h"
#include "tests/support/domain.h"
#include "tests/support/fault.h"

static void *user_allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    return aligned_alloc(alignment, round_up(bytes, alignment));
}

static void user_release(void *context, void *data, size_t bytes, size_t alignment)
{
    (void)context;
    (void)bytes;
    (void)alignment;
    free(data);
}

static const neo_allocator user = {NULL, user_allocate, user_release};

/* The memory category is on as main() asked for it, until the first neo_set_verbose(). */
static int set_up_logging(void **state)
{
    (void)state;
    return domain_set_up_for(&user);
}

static int set_up(void **state)
{
    neo_set_verbose(0);
    return set_up_logging(state);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Text of a writer; to be released with free(). */
static char *text_of(neo_status (*write_to)(struct tracker *, FILE *), struct tracker *tracker)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    assert_int_equal(write_to(tracker, file), NEO_OK);
    fclose(file);
    return text;
}

static void a_history_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    static char a;
    assert_int_equal(tracker_add(&domain.tracker, NEO_KIND_HEAP, &a, 1, NULL), NEO_OK);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(tracker_write_history(&domain.tracker, full), NEO_IO_ERROR);
    fclose(full);
    assert_int_equal(tracker_remove(&domain.tracker, &a), NEO_OK);
}

/* ---- log lines ---- */

static void requests_of_known_sizes_give_the_known_lines(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        neo_allocation_kind kind;
    } rows[] = {
        {58987212, NEO_KIND_HEAP}, {4812, NEO_KIND_USER},     {58982400, NEO_KIND_HEAP},
        {44621568, NEO_KIND_USER}, {44236800, NEO_KIND_HEAP}, {14873856, NEO_KIND_USER},
    };
    struct allocation memory[count_of(rows)];
    capture_begin();
    for (size_t i = 0; i < count_of(rows); i++) {
        const neo_allocation_request request = {
            .bytes = rows[i].bytes, .kind = rows[i].kind, .flags = NEO_ALLOCATION_STRICT};
        allocation_create(&domain, &request, &memory[i]);
    }
    allocation_destroy(&memory[2]);
    allocation_destroy(&memory[5]);
    char *log = capture_end();
    static const char *const lines[] = {
        "Allocate 58987212 bytes of heap allocation type (current=58987212; max=58987212)",
        "Allocate 4812 bytes of user allocation type (current=4812; max=4812)",
        "Allocate 58982400 bytes of heap allocation type (current=117969612; max=117969612)",
        "Allocate 44621568 bytes of user allocation type (current=44626380; max=44626380)",
        "Allocate 44236800 bytes of heap allocation type (current=162206412; max=162206412)",
        "Allocate 14873856 bytes of user allocation type (current=59500236; max=59500236)",
        "Free 58982400 bytes of heap allocation type (current=103224012; max=162206412)",
        "Free 14873856 bytes of user allocation type (current=44626380; max=59500236)",
    };
    const char *at = log;
    for (size_t i = 0; i < count_of(lines); i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted, "neoprene_verbose,v1,memory,%s\n", lines[i]);
        assert_memory_equal(at, wanted, strlen(wanted));
        at += strlen(wanted);
    }
    assert_string_equal(at, "");
    free(log);
    for (size_t i = 0; i < count_of(rows); i++)
        allocation_destroy(&memory[i]);
}

/* ---- counting ---- */

static void the_peak_of_the_sum_is_not_the_sum_of_peaks(void **state)
{
    (void)state;
    static char a, b;
    struct tracker *tracker = &domain.tracker;
    assert_int_equal(tracker_add(tracker, NEO_KIND_HEAP, &a, 100, NULL), NEO_OK);
    assert_int_equal(tracker_remove(tracker, &a), NEO_OK);
    assert_int_equal(tracker_add(tracker, NEO_KIND_SHARED, &b, 80, NULL), NEO_OK);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_HEAP).max, 100);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_HEAP).current, 0);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_SHARED).max, 80);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_ALL).max, 100);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_ALL).current, 80);
    assert_int_equal(tracker_remove(tracker, &b), NEO_OK);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_ALL).frees, 2);
}

static void a_free_of_an_unknown_pointer_is_an_error_that_changes_nothing(void **state)
{
    (void)state;
    static char a, b;
    struct tracker *tracker = &domain.tracker;
    assert_int_equal(tracker_add(tracker, NEO_KIND_HEAP, &a, 5, NULL), NEO_OK);
    assert_int_equal(tracker_add(tracker, NEO_KIND_HEAP, &a, 5, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(tracker_remove(tracker, &b), NEO_NOT_FOUND);
    assert_int_equal(tracker_remove(tracker, NULL), NEO_NOT_FOUND);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_HEAP).current, 5);
    assert_int_equal(tracker_remove(tracker, &a), NEO_OK);
    assert_int_equal(tracker_remove(tracker, &a), NEO_NOT_FOUND);
    assert_int_equal(tracker_usage(tracker, NEO_KIND_HEAP).current, 0);

    struct allocation memory, copy;
    const neo_allocation_request request = {.bytes = 10};
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    copy = memory;
    assert_int_equal(allocation_destroy(&memory), NEO_OK);
    assert_int_equal(allocation_destroy(&copy), NEO_NOT_FOUND);
}

/* Pointers of a small range at random, against an array of flags: the table's removal has to keep
 * every chain of collisions whole. */
static void a_handle_is_taken_once(void **state)
{
    (void)state;
    static char data, handle;
    struct tracker *tracker = &domain.tracker;
    assert_int_equal(tracker_add(tracker, NEO_KIND_HEAP, &data, 1, NULL), NEO_OK);
    tracker_set_handle(tracker, &data, &handle);
    assert_ptr_equal(tracker_take_handle(tracker, &data), &handle);
    assert_null(tracker_take_handle(tracker, &data));
    assert_null(tracker_take_handle(tracker, NULL));
    assert_int_equal(tracker_remove(tracker, &data), NEO_OK);
}

static void the_table_agrees_with_a_plain_array(void **state)
{
    (void)state;
    enum { PLACES = 3000 };
    static char memory[PLACES];
    static bool live[PLACES];
    struct tracker *tracker = &domain.tracker;
    uint64_t seed = 4101842887655102017u;
    size_t count = 0;
    memset(live, 0, sizeof live);
    for (int i = 0; i < 60000; i++) {
        size_t at = (size_t)(next_random(&seed) % PLACES);
        if (next_random(&seed) % 2) {
            neo_status wanted = live[at] ? NEO_INVALID_ARGUMENT : NEO_OK;
            assert_int_equal(tracker_add(tracker, NEO_KIND_HEAP, &memory[at], 1, NULL), wanted);
            count += !live[at];
            live[at] = true;
        } else {
            neo_status wanted = live[at] ? NEO_OK : NEO_NOT_FOUND;
            assert_int_equal(tracker_remove(tracker, &memory[at]), wanted);
            count -= live[at];
            live[at] = false;
        }
        assert_int_equal(tracker_usage(tracker, NEO_KIND_HEAP).current, count);
    }
    for (size_t at = 0; at < PLACES; at++)
        if (live[at])
            assert_int_equal(tracker_remove(tracker, &memory[at]), NEO_OK);
}

static void a_table_that_cannot_grow_records_nothing(void **state)
{
    (void)state;
    static char memory[200];
    struct tracker *tracker = &domain.tracker;
    size_t added = 0;
    for (size_t n = 1; added < count_of(memory); n = n % 2 + 1) {
        fault_arm(n);
        neo_status status = tracker_add(tracker, NEO_KIND_HEAP, &memory[added], 1, NULL);
        bool delivered = fault_disarm();
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        if (delivered) /* the next call works */
            assert_int_equal(tracker_add(tracker, NEO_KIND_HEAP, &memory[added], 1, NULL), NEO_OK);
        added++;
    }
    assert_int_equal(tracker_live(tracker), count_of(memory));
    for (size_t i = 0; i < count_of(memory); i++)
        assert_int_equal(tracker_remove(tracker, &memory[i]), NEO_OK);
}

/* ---- threads ---- */

#define THREADS 16
#define STEPS 400
#define SLOTS 12

struct worker {
    pthread_t thread;
    uint64_t seed;
    size_t failures, live_bytes;
    struct allocation slots[SLOTS];
};

static void *work(void *argument)
{
    static const neo_allocation_kind kinds[] = {NEO_KIND_HEAP, NEO_KIND_SHARED, NEO_KIND_GUARDED,
                                                NEO_KIND_NUMA_BOUND};
    struct worker *worker = argument;
    for (int i = 0; i < STEPS; i++) {
        struct allocation *slot = &worker->slots[next_random(&worker->seed) % SLOTS];
        if (slot->data) {
            worker->failures += allocation_destroy(slot) != NEO_OK;
            continue;
        }
        const neo_allocation_request request = {
            .bytes = 1 + (size_t)(next_random(&worker->seed) % 20000),
            .kind = kinds[next_random(&worker->seed) % count_of(kinds)],
            .owner = "worker",
        };
        worker->failures += allocation_create(&domain, &request, slot) != NEO_OK;
    }
    return NULL;
}

/* Replays the ring, which has every event, and checks each one's numbers. */
static void check_replay(neo_memory_usage usage[NEO_KIND_COUNT + 1])
{
    size_t count;
    struct history_event *events = history_copy(&domain.tracker.history, &count);
    assert_non_null(events);
    assert_int_equal(count, domain.tracker.history.count);
    uint64_t time = 0;
    for (size_t i = 0; i < count; i++) {
        const struct history_event *event = &events[i];
        neo_memory_usage *both[] = {&usage[event->kind], &usage[NEO_KIND_ALL]};
        for (size_t k = 0; k < 2; k++) {
            both[k]->current += event->is_free ? -event->bytes : event->bytes;
            both[k]->max = max_size(both[k]->max, both[k]->current);
        }
        assert_int_equal(event->current, both[0]->current);
        assert_int_equal(event->max, both[0]->max);
        assert_int_equal(event->total_current, both[1]->current);
        assert_int_equal(event->total_max, both[1]->max);
        assert_true(event->time_ns >= time);
        time = event->time_ns;
    }
    free(events);
}

static void peaks_of_sixteen_threads_are_those_of_the_serial_history(void **state)
{
    (void)state;
    static struct worker workers[THREADS];
    history_deinit(&domain.tracker.history);
    assert_int_equal(history_init(&domain.tracker.history, THREADS * STEPS), NEO_OK);
    size_t live = 0;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.seed = 1000 + i};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].failures, 0);
        for (size_t k = 0; k < SLOTS; k++)
            live += workers[i].slots[k].held_bytes;
    }
    neo_memory_usage usage[NEO_KIND_COUNT + 1] = {0};
    check_replay(usage);
    assert_int_equal(usage[NEO_KIND_ALL].current, live);
    for (int kind = 0; kind <= NEO_KIND_COUNT; kind++) {
        neo_memory_usage kept = tracker_usage(&domain.tracker, (neo_allocation_kind)kind);
        assert_int_equal(kept.current, usage[kind].current);
        assert_int_equal(kept.max, usage[kind].max);
    }
    for (size_t i = 0; i < THREADS; i++)
        for (size_t k = 0; k < SLOTS; k++)
            allocation_destroy(&workers[i].slots[k]);
}

/* ---- the ring and its CSV ---- */

static void the_ring_keeps_the_latest_events(void **state)
{
    (void)state;
    struct history history;
    size_t count;
    assert_int_equal(history_init(&history, 8), NEO_OK);
    assert_null(history_copy(&history, &count));
    assert_int_equal(count, 0);
    for (size_t i = 0; i < 21; i++)
        history_push(&history, &(struct history_event){.bytes = i});
    struct history_event *events = history_copy(&history, &count);
    assert_int_equal(count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(events[i].bytes, 13 + i);
    free(events);
    history_deinit(&history);
    assert_int_equal(history_init(&history, 0), NEO_OK); /* switched off */
    history_push(&history, &(struct history_event){0});
    assert_null(history_copy(&history, &count));
    assert_int_equal(count, 0);
    history_deinit(&history);
}

static void the_history_is_written_as_csv(void **state)
{
    (void)state;
    struct history history;
    assert_int_equal(history_init(&history, 8), NEO_OK);
    struct history_event event = {
        .time_ns = 17,
        .bytes = 100,
        .data = (const void *)(uintptr_t)0xABC0,
        .current = 100,
        .max = 120,
        .total_current = 130,
        .total_max = 140,
        .kind = NEO_KIND_SHARED,
        .thread = 5,
        .owner = "conv \"a\", 3x3",
    };
    history_push(&history, &event);
    event.is_free = 1;
    strcpy(event.owner, "plain");
    history_push(&history, &event);
    char *text = NULL;
    size_t length, count;
    FILE *file = open_memstream(&text, &length);
    struct history_event *events = history_copy(&history, &count);
    assert_int_equal(history_write(file, events, count), NEO_OK);
    fclose(file);
    assert_string_equal(
        text, "time_ns,event,kind,bytes,owner,thread,pointer,current,max,total_current,total_max\n"
              "17,allocate,shared,100,\"conv \"\"a\"\", 3x3\",5,0xabc0,100,120,130,140\n"
              "17,free,shared,100,plain,5,0xabc0,100,120,130,140\n");
    free(text);
    free(events);
    history_deinit(&history);
}

static void owner_and_thread_are_in_the_history(void **state)
{
    (void)state;
    const neo_allocation_request request = {
        .bytes = 10, .owner = "an owner with a name that is longer than the place there is for it"};
    struct allocation memory;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    char *text = text_of(tracker_write_history, &domain.tracker);
    char wanted[128];
    snprintf(wanted, sizeof wanted, ",allocate,user,10,%.47s,%d,", request.owner, (int)gettid());
    assert_non_null(strstr(text, wanted));
    free(text);
    allocation_destroy(&memory);
}

/* ---- the peak ---- */

/* The lines of a dump after its header: how many, and the sum of their bytes. */
static void sum_of_peak(const char *text, size_t *count, size_t *bytes)
{
    *count = *bytes = 0;
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        ++*count;
        *bytes += (size_t)strtoull(strchr(line, ',') + 1, NULL, 10);
    }
}

static void the_peak_lists_who_was_live_then(void **state)
{
    (void)state;
    static char a, b, c, d;
    struct tracker *tracker = &domain.tracker;
    tracker_add(tracker, NEO_KIND_HEAP, &a, 10, "first");
    tracker_add(tracker, NEO_KIND_SHARED, &b, 20, "second");
    tracker_remove(tracker, &a);
    tracker_add(tracker, NEO_KIND_HEAP, &c, 5, "after the peak");
    tracker_add(tracker, NEO_KIND_HEAP, &a, 1, "reuses the address");
    char *text = text_of(tracker_write_peak, tracker);
    assert_ptr_equal(strstr(text, "kind,bytes,owner,thread,pointer,time_ns,still_live\n"), text);
    assert_non_null(strstr(text, "shared,20,second,"));
    assert_non_null(strstr(text, "heap,10,first,"));
    assert_null(strstr(text, "after the peak"));
    assert_null(strstr(text, "reuses"));
    free(text);
    tracker_add(tracker, NEO_KIND_HEAP, &d, 5, "the new peak");
    text = text_of(tracker_write_peak, tracker);
    assert_null(strstr(text, "first"));
    assert_non_null(strstr(text, "after the peak"));
    assert_non_null(strstr(text, "the new peak"));
    free(text);
    tracker_remove(tracker, &a);
    tracker_remove(tracker, &b);
    tracker_remove(tracker, &c);
    tracker_remove(tracker, &d);
}

/* At every moment the listed bytes are the peak, however the allocations came and went. */
static void the_bytes_listed_for_the_peak_are_the_peak(void **state)
{
    (void)state;
    enum { PLACES = 150 };
    static char memory[PLACES];
    bool live[PLACES] = {false};
    struct tracker *tracker = &domain.tracker;
    uint64_t seed = 2463534242u;
    for (int i = 0; i < 3000; i++) {
        size_t at = (size_t)(next_random(&seed) % PLACES);
        if (live[at])
            tracker_remove(tracker, &memory[at]);
        else
            tracker_add(tracker, NEO_KIND_HEAP, &memory[at], 1 + next_random(&seed) % 99, "x");
        live[at] = !live[at];
        if (i % 50)
            continue;
        char *text = text_of(tracker_write_peak, tracker);
        size_t count, bytes;
        sum_of_peak(text, &count, &bytes);
        free(text);
        assert_int_equal(bytes, tracker_usage(tracker, NEO_KIND_ALL).max);
    }
    for (size_t at = 0; at < PLACES; at++)
        tracker_remove(tracker, &memory[at]);
}

static void dumps_without_memory_say_so(void **state)
{
    (void)state;
    static char a;
    tracker_add(&domain.tracker, NEO_KIND_HEAP, &a, 1, NULL);
    FILE *file = tmpfile();
    fault_arm(1);
    assert_int_equal(tracker_write_history(&domain.tracker, file), NEO_OUT_OF_MEMORY);
    fault_arm(1);
    assert_int_equal(tracker_write_peak(&domain.tracker, file), NEO_OUT_OF_MEMORY);
    fault_disarm();
    fclose(file);
    tracker_remove(&domain.tracker, &a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, domain_tear_down)

int main(void)
{
    setenv("NEOPRENE_VERBOSE", "memory", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_of_known_sizes_give_the_known_lines,
                                        set_up_logging, domain_tear_down),
        TEST(a_history_that_cannot_be_written_is_an_error),
        TEST(the_peak_of_the_sum_is_not_the_sum_of_peaks),
        TEST(a_free_of_an_unknown_pointer_is_an_error_that_changes_nothing),
        TEST(a_handle_is_taken_once),
        TEST(the_table_agrees_with_a_plain_array),
        TEST(a_table_that_cannot_grow_records_nothing),
        TEST(peaks_of_sixteen_threads_are_those_of_the_serial_history),
        TEST(the_ring_keeps_the_latest_events),
        TEST(the_history_is_written_as_csv),
        TEST(owner_and_thread_are_in_the_history),
        TEST(the_peak_lists_who_was_live_then),
        TEST(the_bytes_listed_for_the_peak_are_the_peak),
        TEST(dumps_without_memory_say_so),
    };
    return cmocka_run_group_tests_name("memory_tracker", tests, NULL, NULL);
}
