/* What primitives hold and give back: blocks, engines, plans, scratchpads of users, and little
 * memory.
 */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/primitive/engine.h"
#include "src/primitive/primitive.h"
#include "tests/support/cached.h"
#include "tests/support/capture.h"
#include "tests/support/fault.h"
#include "tests/support/guard.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

static pthread_barrier_t barrier;

/* ---- blocks ---- */

static void the_block_budget_is_kept(void **state)
{
    (void)state;
    enum { HANDLES = 12 };
    neo_primitive *handles[HANDLES];
    handles[0] = cached_create(20);
    size_t one = cached_statistics().bytes_held;
    size_t budget = 3 * one;
    assert_true(one > 0);
    assert_int_equal(neo_engine_set_block_budget(engine, budget), NEO_OK);
    for (size_t i = 1; i < HANDLES; i++) {
        handles[i] = cached_create(20);
        assert_true(cached_statistics().bytes_held + cached_statistics().bytes_free <= budget);
    }
    assert_int_equal(cached_statistics().blocks_held, 3);
    for (size_t i = 1; i < HANDLES; i++) {
        cached_check_same_results(handles[0], stream, handles[i], stream);
        assert_true(cached_statistics().bytes_held + cached_statistics().bytes_free <= budget);
    }
    assert_true(cached_statistics().peak_block_bytes <=
                budget + one); /* by the block being served */
    for (size_t i = 0; i < HANDLES; i++)
        neo_primitive_destroy(handles[i]);
    assert_int_equal(cached_statistics().bytes_held, 0);
    neo_engine_set_block_budget(engine, 0);
    assert_int_equal(cached_statistics().bytes_free, 0);
    neo_primitive *leaner = cached_create(20);
    cached_check_same_results(leaner, stream, leaner, stream);
    assert_int_equal(cached_statistics().bytes_held + cached_statistics().bytes_free, 0);
    neo_primitive_destroy(leaner);
}

static void trim_gives_back_free_blocks(void **state)
{
    (void)state;
    neo_primitive *handle = cached_create(20);
    neo_primitive_destroy(cached_create(200));
    size_t held = cached_statistics().bytes_held, free_bytes = cached_statistics().bytes_free,
           freed;
    assert_true(held > 0 && free_bytes > 0);
    assert_int_equal(neo_engine_trim(engine, free_bytes, &freed), NEO_OK);
    assert_int_equal(freed, 0);
    assert_int_equal(neo_engine_trim(engine, 0, &freed), NEO_OK);
    assert_int_equal(freed, free_bytes);
    assert_int_equal(cached_statistics().bytes_free, 0);
    assert_int_equal(cached_statistics().bytes_held, held);
    neo_primitive_destroy(handle);
    assert_int_equal(neo_engine_trim(engine, 0, NULL), NEO_OK);
    assert_int_equal(cached_statistics().blocks_free, 0);
}

static void statistics_add_up(void **state)
{
    (void)state;
    cached_set_capacity(4, SIZE_MAX);
    for (neo_dim m = 1; m <= 6; m++)
        cached_is_hit(m);
    cached_is_hit(6);
    neo_cache_statistics stats = cached_statistics();
    assert_int_equal(stats.misses, 6);
    assert_int_equal(stats.hits, 1);
    assert_int_equal(stats.waits, 0);
    assert_int_equal(stats.evictions, 2);
    assert_int_equal(stats.entries, 4);
    assert_int_equal(stats.peak_entries, 4);
    assert_true(stats.bytes > 0 && stats.peak_bytes >= stats.bytes);
    neo_engine_clear_cache(engine);
    assert_int_equal(cached_statistics().entries, 0);
    assert_int_equal(cached_statistics().bytes, 0);
    assert_int_equal(cached_statistics().misses, 6);
    assert_int_equal(neo_engine_get_cache_statistics(engine, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_trim(NULL, 0, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_set_block_budget(NULL, 0), NEO_INVALID_ARGUMENT);
}

/* ---- lives ---- */

static void an_evicted_primitive_works_and_frees_its_blocks_at_the_end(void **state)
{
    (void)state;
    neo_primitive *evicted = cached_create(11);
    neo_engine_clear_cache(engine);
    neo_primitive *fresh = cached_create(11);
    assert_ptr_not_equal(evicted->desc.implementation, fresh->desc.implementation);
    cached_check_same_results(evicted, stream, fresh, stream);
    neo_primitive_destroy(evicted);
    neo_primitive_destroy(fresh);
    assert_int_equal(cached_statistics().blocks_held, 0);
    neo_engine_trim(engine, 0, NULL);
    assert_int_equal(cached_statistics().bytes_free, 0);
}

/* Memory that a model's engine has from its user, and gives back. */
struct counter {
    atomic_size_t bytes;
};

static void *counted_allocate(void *context, size_t bytes, size_t alignment)
{
    struct counter *counter = context;
    void *data = aligned_alloc(alignment, round_up(bytes, alignment));
    counter->bytes += data ? bytes : 0;
    return data;
}

static void counted_release(void *context, void *data, size_t bytes, size_t alignment)
{
    struct counter *counter = context;
    (void)alignment;
    counter->bytes -= bytes;
    free(data);
}

static void an_engine_gives_back_all_that_it_held(void **state)
{
    (void)state;
    struct counter counter = {0};
    const neo_allocator allocator = {
        .context = &counter, .allocate = counted_allocate, .release = counted_release};
    neo_engine *model;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_stream *in;
    assert_false(cached_is_hit(5));
    assert_int_equal(neo_engine_create_with_allocator(&model, &allocator), NEO_OK);
    assert_int_equal(neo_stream_create(&in, model, NULL), NEO_OK);
    assert_int_equal(primitive_describe_matmul(&pd, model, 5, 90, 70), NEO_OK);
    assert_false(neo_primitive_desc_cache_hit(pd)); /* engines share nothing */
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_true(counter.bytes > 0);
    neo_engine_destroy(model); /* the primitive and the stream keep it alive */
    neo_primitive_desc_destroy(pd);
    assert_true(counter.bytes > 0);
    neo_primitive_destroy(primitive);
    assert_true(counter.bytes > 0);
    neo_stream_destroy(in);
    assert_int_equal(counter.bytes, 0);
    assert_true(cached_is_hit(5)); /* and the other engine did not notice */
}

/* Each thread makes a primitive from the descriptor after the user has let go of the engine;
 * whoever is last, destroys it. */
static void *create_from(void *argument)
{
    neo_primitive *primitive;
    pthread_barrier_wait(&barrier);
    require(neo_primitive_create(&primitive, argument) == NEO_OK);
    pthread_barrier_wait(&barrier);
    neo_primitive_destroy(primitive);
    return NULL;
}

static void the_last_handle_in_any_thread_takes_the_engine_with_it(void **state)
{
    (void)state;
    enum { HOLDERS = 20 };
    struct counter counter = {0};
    const neo_allocator allocator = {
        .context = &counter, .allocate = counted_allocate, .release = counted_release};
    neo_engine *model;
    neo_primitive_desc *pd;
    pthread_t threads[HOLDERS];
    assert_int_equal(neo_engine_create_with_allocator(&model, &allocator), NEO_OK);
    assert_int_equal(primitive_describe_matmul(&pd, model, 5, 9, 7), NEO_OK);
    neo_engine_destroy(model);
    pthread_barrier_init(&barrier, NULL, HOLDERS + 1);
    for (size_t i = 0; i < HOLDERS; i++)
        require(pthread_create(&threads[i], NULL, create_from, pd) == 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    neo_primitive_desc_destroy(pd);
    for (size_t i = 0; i < HOLDERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    assert_int_equal(counter.bytes, 0);
}

static void a_primitive_in_use_is_not_destroyed(void **state)
{
    (void)state;
    neo_primitive *primitive = cached_create(5);
    struct lease execution;
    struct implementation *impl = primitive->desc.implementation;
    assert_int_equal(block_manager_lease(&impl->blocks, primitive->tokens, 1, &execution), NEO_OK);
    neo_set_verbose(0);
    neo_primitive_destroy(primitive);
    assert_int_equal(cached_statistics().blocks_held, 1);
    assert_int_equal(block_manager_return(&impl->blocks, &execution), NEO_OK);
    cached_check_same_results(primitive, stream, primitive, stream);
    neo_primitive_destroy(primitive);
    assert_int_equal(cached_statistics().blocks_held, 0);
}

static void a_second_destroy_is_refused(void **state)
{
    (void)state;
    neo_primitive_desc *pd = cached_describe(5);
    neo_primitive *primitive, *other = cached_create(5);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_set_verbose(1);
    capture_begin();
    for (int i = 0; i < 2; i++)
        neo_primitive_destroy(primitive);
    for (int i = 0; i < 2; i++)
        neo_primitive_desc_destroy(pd);
    char *text = capture_end();
    neo_set_verbose(0);
    assert_non_null(strstr(text, "error,neo_primitive_destroy: the object is destroyed already"));
    assert_non_null(strstr(text, "error,neo_primitive_desc_destroy: the object is destroyed"));
    free(text);
    cached_check_same_results(other, stream, other, stream);
    neo_primitive_destroy(other);
    assert_int_equal(cached_statistics().blocks_held, 0);
}

/* A copy of an implementation, all that must not change on pages that cannot be written. */
struct frozen {
    unsigned char *map;
    size_t map_bytes, read_only_bytes;
    struct implementation *implementation;
};

static struct frozen freeze(const struct implementation *impl)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), split = offsetof(struct implementation, engine);
    struct frozen frozen = {.read_only_bytes = round_up(sizeof *impl - split, page)};
    frozen.map_bytes = page + frozen.read_only_bytes;
    frozen.map =
        mmap(NULL, frozen.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(frozen.map != MAP_FAILED);
    frozen.implementation = (void *)(frozen.map + page - split);
    memcpy(frozen.map + page - split, (const void *)impl, sizeof *impl);
    require(mprotect(frozen.map + page, frozen.read_only_bytes, PROT_READ) == 0);
    return frozen;
}

static void run_frozen(const struct primitive_problem *problem, int index,
                       const neo_primitive_desc *pd)
{
    neo_primitive *primitive;
    (void)problem, (void)index;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct implementation *impl = primitive->desc.implementation;
    struct frozen frozen = freeze(impl);
    primitive->desc.implementation = frozen.implementation;
    cached_check_same_results(primitive, stream, primitive, stream);
    primitive->desc.implementation = impl;
    munmap(frozen.map, frozen.map_bytes);
    neo_primitive_destroy(primitive);
}

static void nothing_is_written_to_a_plan_by_its_execution(void **state)
{
    (void)state;
    primitive_for_each(engine, false, run_frozen);
}

/* ---- all algorithms ---- */

/* Of each operation that has a problem, which of its algorithms the problems reach. */
static struct {
    const struct operation *operation;
    uint64_t reached; /* a bit each */
} seen[8];

static void note_algorithm(const struct primitive_problem *problem, int index,
                           const neo_primitive_desc *pd)
{
    const struct implementation *impl = pd->implementation;
    const struct operation *operation = impl->problem.operation;
    (void)problem, (void)index;
    size_t i = 0, number = 0;
    while (i + 1 < count_of(seen) && seen[i].operation && seen[i].operation != operation)
        i++;
    seen[i].operation = operation;
    while (operation->algorithms[number] != impl->algorithm)
        number++;
    seen[i].reached |= (uint64_t)1 << number;
}

/* So that what is tested with all problems is tested with all algorithms, also those of tomorrow.
 */
static void the_problems_reach_every_algorithm(void **state)
{
    (void)state;
    memset(seen, 0, sizeof seen);
    primitive_for_each(engine, false, note_algorithm);
    for (size_t i = 0; i < count_of(seen) && seen[i].operation; i++)
        for (size_t number = 0; number < seen[i].operation->algorithm_count; number++)
            if (!(seen[i].reached >> number & 1))
                fail_msg("no problem in tests/support/cases/primitives.c reaches %s of %s",
                         seen[i].operation->algorithms[number]->name, seen[i].operation->name);
}

/* ---- scratchpads of users, and little memory ---- */

/* The scratchpad begins right after one forbidden page, or ends right before another. */
static void run_in_guarded_scratchpad(const neo_primitive *primitive,
                                      const struct primitive_args *args, int at_end)
{
    struct guard guard;
    struct primitive_args guarded = *args;
    int last = args->count - 1;
    neo_memory_desc desc = *neo_memory_get_desc(args->list[last].memory);
    size_t bytes = neo_memory_desc_size(&desc);
    guard_init(&guard, bytes);
    assert_int_equal(neo_memory_create(&guarded.list[last].memory, &desc, engine,
                                       guard_at(&guard, bytes, at_end)),
                     NEO_OK);
    assert_int_equal(cached_execute(stream, primitive, &guarded), NEO_OK);
    neo_memory_destroy(guarded.list[last].memory);
    guard_deinit(&guard);
}

static int with_scratchpad;

static void run_in_user_s_scratchpad(const struct primitive_problem *problem, int index,
                                     const neo_primitive_desc *pd)
{
    neo_primitive *primitive;
    (void)problem, (void)index;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct primitive_args args = primitive_args_make(engine, pd, 1, 1);
    if (neo_primitive_desc_scratchpad_size(pd, 1)) {
        run_in_guarded_scratchpad(primitive, &args, 0);
        run_in_guarded_scratchpad(primitive, &args, 1);
        with_scratchpad++;
    }
    assert_int_equal(cached_statistics().blocks_held, 0); /* none of the library's is used */
    primitive_args_free(&args);
    neo_primitive_destroy(primitive);
}

static void a_user_s_scratchpad_is_not_left(void **state)
{
    (void)state;
    with_scratchpad = 0;
    primitive_for_each(engine, true, run_in_user_s_scratchpad);
    assert_true(with_scratchpad > 3);
}

/* Descriptors and primitives that are out, and the objects that keep their engine alive. */
static size_t live_handles(void)
{
    size_t count = 0;
    for (int i = 0; i < HANDLE_LANES; i++) {
        struct slab_stats stats;
        slab_stats(&engine->lanes[i].slab, &stats);
        count += stats.used;
    }
    return count;
}

/* The n-th allocation fails between the description and the execution's end. */
static bool survives(const struct primitive_problem *problem, int index,
                     const struct primitive_args *args, size_t n)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive = NULL;
    neo_engine_clear_cache(engine);
    neo_engine_trim(engine, 0, NULL);
    size_t handles = live_handles();
    fault_arm(n);
    neo_status status = primitive_problem_describe(&pd, engine, problem, index);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK)
        status = cached_execute(stream, primitive, args);
    bool delivered = fault_disarm();
    assert_true(status == NEO_OK || (delivered && status == NEO_OUT_OF_MEMORY));
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    assert_int_equal(cached_statistics().blocks_held, 0);
    assert_int_equal(live_handles(), handles);
    return delivered;
}

static void fail_each_allocation(const struct primitive_problem *problem, int index,
                                 const neo_primitive_desc *pd)
{
    struct primitive_args args = primitive_args_make(engine, pd, 1, 1);
    size_t n = 1;
    while (survives(problem, index, &args, n))
        n++;
    assert_true(n > 1);
    primitive_args_free(&args);
}

static void every_algorithm_survives_every_failing_allocation(void **state)
{
    (void)state;
    primitive_for_each(engine, false, fail_each_allocation);
}

/* Many shapes, each created and destroyed, in an address space with room for a few. */
static int live_in_little_memory(void)
{
    enum { SHAPES = 300, ROOM = 64 << 20 };
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        return 1;
    fclose(file);
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM;
    if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most}))
        return 2;
    for (neo_dim i = 1; i <= SHAPES; i++) {
        neo_primitive_desc *pd;
        neo_primitive *primitive;
        if (primitive_describe_matmul(&pd, engine, 200 + 8 * i, 1000 + 40 * i, 1000) != NEO_OK ||
            neo_primitive_create(&primitive, pd) != NEO_OK)
            return 3;
        neo_primitive_destroy(primitive);
        neo_primitive_desc_destroy(pd);
    }
    return 0;
}

/* Each has a scratchpad of 2 MB: 600 MB if every cached implementation kept its own. */
static void three_hundred_cached_shapes_live_in_little_memory(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 1024; capacity *= 32) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            cached_set_capacity(capacity, SIZE_MAX);
            _exit(live_in_little_memory());
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup_single, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_block_budget_is_kept),
        TEST(trim_gives_back_free_blocks),
        TEST(statistics_add_up),
        TEST(an_evicted_primitive_works_and_frees_its_blocks_at_the_end),
        TEST(an_engine_gives_back_all_that_it_held),
        TEST(the_last_handle_in_any_thread_takes_the_engine_with_it),
        TEST(a_primitive_in_use_is_not_destroyed),
        TEST(a_second_destroy_is_refused),
        TEST(nothing_is_written_to_a_plan_by_its_execution),
        TEST(the_problems_reach_every_algorithm),
        TEST(a_user_s_scratchpad_is_not_left),
        TEST(every_algorithm_survives_every_failing_allocation),
        TEST(three_hundred_cached_shapes_live_in_little_memory),
    };
    return cmocka_run_group_tests_name("primitive_lives", tests, NULL, NULL);
}
