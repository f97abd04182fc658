/* The primitive cache as users see it: hits, capacities, budgets, threads, engines, statistics, and
 * the log.
 *
 * Caches and pools like these are known to go wrong in ways that each have a test here; those that
 * need no primitive are listed in test_block_manager.c:
 *
 *  - a handle is destroyed from under an execution:
 *    a_primitive_in_use_is_not_destroyed
 *  - memory is limited by the count of entries:
 *    the_block_budget_is_kept, blocks_serve_any_shape
 *  - only memory is kept and objects are rebuilt:
 *    a_second_create_is_a_hit_of_the_same_plan
 *  - every run maps its memory again, or writes plans:
 *    nothing_is_written_to_a_plan_by_its_execution
 *  - no accounting and no trim:
 *    statistics_add_up, trim_gives_back_free_blocks
 *  - shrinking to half clears the cache:
 *    shrinking_to_half_keeps_the_newest_half
 *  - the number of threads is part of the key:
 *    threads_are_not_part_of_the_key
 *  - a negative capacity is no capacity:
 *    bad_environment_values_leave_the_defaults
 *  - one cache for all models:
 *    an_engine_gives_back_all_that_it_held */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/primitive/primitive.h"
#include "tests/support/capture.h"
#include "tests/support/fault.h"
#include "tests/support/guard.h"
#include "tests/support/pools.h"
#include "tests/support/primitives.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

static pthread_barrier_t barrier;

/* ---- short ways to say things ---- */

static neo_cache_statistics statistics(void)
{
    neo_cache_statistics stats;
    require(neo_engine_get_cache_statistics(engine, &stats) == NEO_OK);
    return stats;
}

static void set_capacity(size_t entries, size_t bytes)
{
    require(neo_engine_set_cache_capacity(engine, (neo_cache_capacity){entries, bytes}) == NEO_OK);
}

static neo_primitive_desc *describe(neo_dim m)
{
    neo_primitive_desc *pd;
    require(primitive_describe_matmul(&pd, engine, m, 9, 7) == NEO_OK);
    return pd;
}

/* Was the multiplication with m rows in the cache? It is afterwards. */
static bool is_hit(neo_dim m)
{
    neo_primitive_desc *pd = describe(m);
    bool hit = neo_primitive_desc_cache_hit(pd);
    neo_primitive_desc_destroy(pd);
    return hit;
}

static neo_primitive *create(neo_dim m)
{
    neo_primitive_desc *pd = describe(m);
    neo_primitive *primitive;
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

static neo_status execute_in(neo_stream *where, const neo_primitive *primitive,
                             const struct primitive_args *args)
{
    return neo_primitive_execute(primitive, where, args->count, args->list);
}

/* Compares what two primitives compute from the same arguments. */
static void check_same_results(const neo_primitive *a, neo_stream *a_stream, const neo_primitive *b,
                               neo_stream *b_stream)
{
    struct primitive_args args = primitive_args_make(engine, neo_primitive_get_desc(a), 3, 8);
    size_t bytes;
    void *dst = primitive_args_dst(&args, &bytes), *first = malloc(bytes), *old = malloc(bytes);
    require(first && old);
    memcpy(old, dst, bytes);
    assert_int_equal(execute_in(a_stream, a, &args), NEO_OK);
    memcpy(first, dst, bytes);
    memcpy(dst, old, bytes);
    assert_int_equal(execute_in(b_stream, b, &args), NEO_OK);
    assert_memory_equal(dst, first, bytes);
    free(first);
    free(old);
    primitive_args_free(&args);
}

/* ---- hits ---- */

static void a_second_create_is_a_hit_of_the_same_plan(void **state)
{
    (void)state;
    neo_primitive *first = create(5);
    void *block = first->tokens[0].block->data;
    struct implementation *impl = first->desc.implementation;
    neo_primitive_destroy(first);
    neo_primitive *second = create(5);
    assert_true(neo_primitive_desc_cache_hit(neo_primitive_get_desc(second)));
    assert_ptr_equal(second->desc.implementation, impl);
    assert_ptr_equal(second->tokens[0].block->data, block);
    neo_primitive *third = create(5); /* as many blocks as handles */
    assert_ptr_not_equal(third->tokens[0].block->data, block);
    assert_int_equal(statistics().blocks_held, 2);
    neo_primitive_destroy(second);
    neo_primitive_destroy(third);
    assert_int_equal(statistics().blocks_held, 0);
    assert_int_equal(statistics().hits, 2);
    assert_int_equal(statistics().misses, 1);
}

static void blocks_serve_any_shape(void **state)
{
    (void)state;
    for (neo_dim m = 1; m <= 40; m++)
        neo_primitive_destroy(create(m));
    neo_cache_statistics stats = statistics();
    assert_int_equal(stats.entries, 40);
    assert_true(stats.blocks_made < 10); /* as many as there are sizes */
    assert_int_equal(stats.blocks_held, 0);
}

static bool is_new(const neo_matmul_desc *desc, const neo_attributes *attributes)
{
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, desc, attributes), NEO_OK);
    bool hit = neo_primitive_desc_cache_hit(pd);
    neo_primitive_desc_destroy(pd);
    return !hit;
}

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    neo_memory_desc desc;
    require(neo_memory_desc_init_tag(&desc, 2, (neo_dim[]){rows, columns}, NEO_F32, tag) == NEO_OK);
    return desc;
}

/* All that a plan depends on tells descriptions apart, to the last bit. */
static void whatever_differs_is_another_entry(void **state)
{
    (void)state;
    neo_matmul_desc desc = {
        .src = matrix(5, 7, "ab"), .weights = matrix(7, 9, "ab"), .dst = matrix(5, 9, "ab")};
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_true(is_new(&desc, NULL));
    assert_false(is_new(&desc, attributes));
    desc.bias = matrix(1, 9, "ab");
    assert_true(is_new(&desc, NULL));
    desc.bias = matrix(5, 9, "ab");
    assert_true(is_new(&desc, NULL));
    desc.bias.ndims = 0;
    desc.weights = matrix(7, 9, "ba");
    assert_true(is_new(&desc, NULL));
    desc.weights = matrix(7, 9, "any");
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = 8;
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = (neo_dim)7 << 32; /* beyond 32 bits */
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = (neo_dim)7 << 33;
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = 7;
    desc.src.offset = 1;
    assert_true(is_new(&desc, NULL));
    neo_attributes_append_eltwise(attributes, NEO_ELTWISE_LINEAR, 0.0f, 1);
    assert_true(is_new(&desc, attributes));
    assert_false(is_new(&desc, attributes));
    neo_attributes *negative;
    assert_int_equal(neo_attributes_create(&negative), NEO_OK);
    neo_attributes_append_eltwise(negative, NEO_ELTWISE_LINEAR, -0.0f, 1);
    assert_true(is_new(&desc, negative));
    neo_attributes_set_scratchpad_mode(negative, NEO_SCRATCHPAD_USER);
    assert_true(is_new(&desc, negative));
    neo_attributes_destroy(negative);
    neo_attributes_destroy(attributes);
}

/* A wrong value must not look like a right one whose bits it ends with. */
static void garbage_is_not_a_hit(void **state)
{
    (void)state;
    neo_matmul_desc desc = {
        .src = matrix(5, 7, "ab"), .weights = matrix(7, 9, "ab"), .dst = matrix(5, 9, "ab")};
    assert_true(is_new(&desc, NULL));
    for (unsigned bit = 6; bit < 31; bit++) {
        neo_primitive_desc *pd;
        neo_matmul_desc wrong = desc;
        wrong.src.data_type = (neo_data_type)((unsigned)wrong.src.data_type | 1u << bit);
        assert_int_not_equal(neo_matmul_primitive_desc_create(&pd, engine, &wrong, NULL), NEO_OK);
        wrong = desc;
        wrong.dst.format_kind = (neo_format_kind)((unsigned)wrong.dst.format_kind | 1u << bit);
        assert_int_not_equal(neo_matmul_primitive_desc_create(&pd, engine, &wrong, NULL), NEO_OK);
    }
}

/* ---- capacities ---- */

static void the_least_recently_used_goes_first(void **state)
{
    (void)state;
    set_capacity(3, SIZE_MAX);
    for (neo_dim m = 1; m <= 3; m++)
        assert_false(is_hit(m));
    assert_true(is_hit(1));
    assert_false(is_hit(4)); /* evicts 2 */
    assert_true(is_hit(1));
    assert_true(is_hit(3));
    assert_true(is_hit(4));
    assert_false(is_hit(2));
    assert_int_equal(statistics().entries, 3);
}

static void shrinking_to_half_keeps_the_newest_half(void **state)
{
    (void)state;
    static const size_t sizes[] = {12, 16, 100};
    for (size_t i = 0; i < count_of(sizes); i++) {
        size_t size = sizes[i];
        neo_engine_clear_cache(engine);
        set_capacity(1024, SIZE_MAX);
        for (size_t m = 1; m <= size; m++)
            is_hit((neo_dim)m);
        set_capacity(size / 2, SIZE_MAX);
        assert_int_equal(statistics().entries, size / 2);
        for (size_t m = size / 2 + 1; m <= size; m++)
            assert_true(is_hit((neo_dim)m));
        assert_false(is_hit(1));
    }
}

static void capacities_of_0_and_1_compute_the_same(void **state)
{
    (void)state;
    neo_primitive *kept = create(6);
    for (size_t capacity = 0; capacity < 2; capacity++) {
        set_capacity(capacity, SIZE_MAX);
        for (neo_dim m = 1; m < 30; m++) {
            neo_primitive *one = create(m), *other = create(m);
            assert_int_equal(one->desc.implementation == other->desc.implementation, capacity);
            check_same_results(one, stream, other, stream);
            neo_primitive_destroy(one);
            neo_primitive_destroy(other);
            assert_true(statistics().entries <= capacity);
        }
    }
    check_same_results(kept, stream, kept, stream);
    neo_primitive_destroy(kept);
}

static void bytes_are_a_capacity_too(void **state)
{
    (void)state;
    is_hit(1);
    size_t one = statistics().bytes;
    assert_true(one > sizeof(struct problem));
    set_capacity(1024, 3 * one + one / 2);
    for (neo_dim m = 1; m <= 10; m++) {
        is_hit(m);
        assert_true(statistics().bytes <= 3 * one + one / 2);
    }
    assert_int_equal(statistics().entries, 3);
    set_capacity(1024, one - 1); /* too small for any: served, not kept */
    assert_false(is_hit(5));
    assert_false(is_hit(5));
    assert_int_equal(statistics().entries, 0);
}

static void bad_environment_values_leave_the_defaults(void **state)
{
    (void)state;
    static const char *const bad[] = {"-1", "garbage", "12x", "99999999999999999999999", ""};
    neo_set_verbose(0);
    for (size_t i = 0; i < count_of(bad); i++) {
        setenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY", bad[i], 1);
        setenv("NEOPRENE_PRIMITIVE_CACHE_BYTES", bad[i], 1);
        setenv("NEOPRENE_BLOCK_BUDGET", bad[i], 1);
        neo_engine *other;
        neo_cache_capacity capacity;
        size_t budget;
        assert_int_equal(neo_engine_create(&other), NEO_OK);
        neo_engine_get_cache_capacity(other, &capacity);
        neo_engine_get_block_budget(other, &budget);
        assert_int_equal(capacity.entries, 1024);
        assert_true(capacity.bytes == SIZE_MAX && budget == SIZE_MAX);
        neo_engine_destroy(other);
    }
    setenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY", "7", 1);
    setenv("NEOPRENE_PRIMITIVE_CACHE_BYTES", "2M", 1);
    setenv("NEOPRENE_BLOCK_BUDGET", "3K", 1);
    neo_engine *other;
    neo_cache_capacity capacity;
    size_t budget;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    neo_engine_get_cache_capacity(other, &capacity);
    neo_engine_get_block_budget(other, &budget);
    assert_int_equal(capacity.entries, 7);
    assert_int_equal(capacity.bytes, 2 << 20);
    assert_int_equal(budget, 3 << 10);
    neo_engine_destroy(other);
    unsetenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY");
    unsetenv("NEOPRENE_PRIMITIVE_CACHE_BYTES");
    unsetenv("NEOPRENE_BLOCK_BUDGET");
}

/* ---- blocks ---- */

static void the_block_budget_is_kept(void **state)
{
    (void)state;
    enum { HANDLES = 12 };
    neo_primitive *handles[HANDLES];
    handles[0] = create(20);
    size_t one = statistics().bytes_held;
    size_t budget = 3 * one;
    assert_true(one > 0);
    assert_int_equal(neo_engine_set_block_budget(engine, budget), NEO_OK);
    for (size_t i = 1; i < HANDLES; i++) {
        handles[i] = create(20);
        assert_true(statistics().bytes_held + statistics().bytes_free <= budget);
    }
    assert_int_equal(statistics().blocks_held, 3);
    for (size_t i = 1; i < HANDLES; i++) {
        check_same_results(handles[0], stream, handles[i], stream);
        assert_true(statistics().bytes_held + statistics().bytes_free <= budget);
    }
    assert_true(statistics().peak_block_bytes <= budget + one); /* by the block being served */
    for (size_t i = 0; i < HANDLES; i++)
        neo_primitive_destroy(handles[i]);
    assert_int_equal(statistics().bytes_held, 0);
    neo_engine_set_block_budget(engine, 0);
    assert_int_equal(statistics().bytes_free, 0);
    neo_primitive *leaner = create(20);
    check_same_results(leaner, stream, leaner, stream);
    assert_int_equal(statistics().bytes_held + statistics().bytes_free, 0);
    neo_primitive_destroy(leaner);
}

static void trim_gives_back_free_blocks(void **state)
{
    (void)state;
    neo_primitive *handle = create(20);
    neo_primitive_destroy(create(200));
    size_t held = statistics().bytes_held, free_bytes = statistics().bytes_free, freed;
    assert_true(held > 0 && free_bytes > 0);
    assert_int_equal(neo_engine_trim(engine, free_bytes, &freed), NEO_OK);
    assert_int_equal(freed, 0);
    assert_int_equal(neo_engine_trim(engine, 0, &freed), NEO_OK);
    assert_int_equal(freed, free_bytes);
    assert_int_equal(statistics().bytes_free, 0);
    assert_int_equal(statistics().bytes_held, held);
    neo_primitive_destroy(handle);
    assert_int_equal(neo_engine_trim(engine, 0, NULL), NEO_OK);
    assert_int_equal(statistics().blocks_free, 0);
}

static void statistics_add_up(void **state)
{
    (void)state;
    set_capacity(4, SIZE_MAX);
    for (neo_dim m = 1; m <= 6; m++)
        is_hit(m);
    is_hit(6);
    neo_cache_statistics stats = statistics();
    assert_int_equal(stats.misses, 6);
    assert_int_equal(stats.hits, 1);
    assert_int_equal(stats.waits, 0);
    assert_int_equal(stats.evictions, 2);
    assert_int_equal(stats.entries, 4);
    assert_int_equal(stats.peak_entries, 4);
    assert_true(stats.bytes > 0 && stats.peak_bytes >= stats.bytes);
    neo_engine_clear_cache(engine);
    assert_int_equal(statistics().entries, 0);
    assert_int_equal(statistics().bytes, 0);
    assert_int_equal(statistics().misses, 6);
    assert_int_equal(neo_engine_get_cache_statistics(engine, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_trim(NULL, 0, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_set_block_budget(NULL, 0), NEO_INVALID_ARGUMENT);
}

/* ---- lives ---- */

static void an_evicted_primitive_works_and_frees_its_blocks_at_the_end(void **state)
{
    (void)state;
    neo_primitive *evicted = create(11);
    neo_engine_clear_cache(engine);
    neo_primitive *fresh = create(11);
    assert_ptr_not_equal(evicted->desc.implementation, fresh->desc.implementation);
    check_same_results(evicted, stream, fresh, stream);
    neo_primitive_destroy(evicted);
    neo_primitive_destroy(fresh);
    assert_int_equal(statistics().blocks_held, 0);
    neo_engine_trim(engine, 0, NULL);
    assert_int_equal(statistics().bytes_free, 0);
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
    assert_false(is_hit(5));
    assert_int_equal(neo_engine_create_with_allocator(&model, &allocator), NEO_OK);
    assert_int_equal(neo_stream_create(&in, model, NULL), NEO_OK);
    assert_int_equal(primitive_describe_matmul(&pd, model, 5, 9, 7), NEO_OK);
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
    assert_true(is_hit(5)); /* and the other engine did not notice */
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
    neo_primitive *primitive = create(5);
    struct lease execution;
    struct implementation *impl = primitive->desc.implementation;
    assert_int_equal(block_manager_lease(&impl->blocks, primitive->tokens, 1, &execution), NEO_OK);
    neo_set_verbose(0);
    neo_primitive_destroy(primitive);
    assert_int_equal(statistics().blocks_held, 1);
    assert_int_equal(block_manager_return(&impl->blocks, &execution), NEO_OK);
    check_same_results(primitive, stream, primitive, stream);
    neo_primitive_destroy(primitive);
    assert_int_equal(statistics().blocks_held, 0);
}

static void a_second_destroy_is_refused(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe(5);
    neo_primitive *primitive, *other = create(5);
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
    check_same_results(other, stream, other, stream);
    neo_primitive_destroy(other);
    assert_int_equal(statistics().blocks_held, 0);
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

static void nothing_is_written_to_a_plan_by_its_execution(void **state)
{
    (void)state;
    for (size_t i = 0; i < primitive_problem_count; i++) {
        struct primitive_problem problem;
        neo_primitive_desc *pd;
        neo_primitive *primitive;
        primitive_problem_init(&problem, engine, i, false);
        assert_int_equal(primitive_problem_describe(&pd, engine, &problem, 0), NEO_OK);
        assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
        struct implementation *impl = primitive->desc.implementation;
        struct frozen frozen = freeze(impl);
        primitive->desc.implementation = frozen.implementation;
        check_same_results(primitive, stream, primitive, stream);
        primitive->desc.implementation = impl;
        munmap(frozen.map, frozen.map_bytes);
        neo_primitive_destroy(primitive);
        neo_primitive_desc_destroy(pd);
        primitive_problem_deinit(&problem);
    }
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
    assert_int_equal(execute_in(stream, primitive, &guarded), NEO_OK);
    neo_memory_destroy(guarded.list[last].memory);
    guard_deinit(&guard);
}

static void a_user_s_scratchpad_is_not_left(void **state)
{
    (void)state;
    int with_scratchpad = 0;
    for (size_t i = 0; i < primitive_problem_count; i++) {
        struct primitive_problem problem;
        neo_primitive_desc *pd;
        neo_primitive *primitive;
        primitive_problem_init(&problem, engine, i, true);
        assert_int_equal(primitive_problem_describe(&pd, engine, &problem, 0), NEO_OK);
        assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
        struct primitive_args args = primitive_args_make(engine, pd, 1, 1);
        if (neo_primitive_desc_scratchpad_size(pd, 1)) {
            run_in_guarded_scratchpad(primitive, &args, 0);
            run_in_guarded_scratchpad(primitive, &args, 1);
            with_scratchpad++;
        }
        assert_int_equal(statistics().blocks_held, 0); /* none of the library's is used */
        primitive_args_free(&args);
        neo_primitive_destroy(primitive);
        neo_primitive_desc_destroy(pd);
        primitive_problem_deinit(&problem);
    }
    assert_true(with_scratchpad > 3);
}

/* The n-th allocation fails between the description and the execution's end. */
static bool survives(size_t number, size_t n)
{
    struct primitive_problem problem;
    neo_primitive_desc *pd, *sample;
    neo_primitive *primitive = NULL;
    primitive_problem_init(&problem, engine, number, false);
    assert_int_equal(primitive_problem_describe(&sample, engine, &problem, 0), NEO_OK);
    struct primitive_args args = primitive_args_make(engine, sample, 1, 1);
    neo_primitive_desc_destroy(sample);
    neo_engine_clear_cache(engine);
    neo_engine_trim(engine, 0, NULL);
    fault_arm(n);
    neo_status status = primitive_problem_describe(&pd, engine, &problem, 0);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK)
        status = execute_in(stream, primitive, &args);
    bool delivered = fault_disarm();
    assert_true(status == NEO_OK || (delivered && status == NEO_OUT_OF_MEMORY));
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    primitive_args_free(&args);
    primitive_problem_deinit(&problem);
    assert_int_equal(statistics().blocks_held, 0);
    return delivered;
}

static void every_problem_survives_every_failing_allocation(void **state)
{
    (void)state;
    for (size_t number = 0; number < primitive_problem_count; number++) {
        size_t n = 1;
        while (survives(number, n))
            n++;
        assert_true(n > 1);
    }
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
            set_capacity(capacity, SIZE_MAX);
            _exit(live_in_little_memory());
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* ---- threads ---- */

static void threads_are_not_part_of_the_key(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 7; threads += 3) {
        struct test_pool *pool = test_pool_create(TEST_POOL_SYNCHRONOUS, threads);
        const neo_stream_options options = {.threadpool = test_pool_table(pool)};
        neo_stream *other;
        assert_int_equal(neo_stream_create(&other, engine, &options), NEO_OK);
        neo_primitive *one = create(33), *two = create(33);
        check_same_results(one, stream, two, other);
        neo_primitive_destroy(one);
        neo_primitive_destroy(two);
        neo_stream_destroy(other);
        test_pool_destroy(pool);
    }
    assert_int_equal(statistics().misses, 1);
}

enum { CREATORS = 32 };

static atomic_int round_number;

static void *create_the_same(void *argument)
{
    neo_primitive **out = argument;
    pthread_barrier_wait(&barrier);
    *out = create(100 + atomic_load(&round_number));
    return NULL;
}

static void thirty_two_creators_build_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        pthread_t threads[CREATORS];
        neo_primitive *made[CREATORS];
        atomic_store(&round_number, round);
        pthread_barrier_init(&barrier, NULL, CREATORS);
        for (size_t i = 0; i < CREATORS; i++)
            require(pthread_create(&threads[i], NULL, create_the_same, &made[i]) == 0);
        for (size_t i = 0; i < CREATORS; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        assert_int_equal(statistics().misses, round + 1);
        for (size_t i = 0; i < CREATORS; i++) {
            assert_ptr_equal(made[i]->desc.implementation, made[0]->desc.implementation);
            neo_primitive_destroy(made[i]); /* in another thread than the one that made it */
        }
    }
    neo_cache_statistics stats = statistics();
    assert_int_equal(stats.hits + stats.waits, 20 * (CREATORS - 1));
    assert_int_equal(stats.blocks_held, 0);
}

static neo_status describe_unsupported(void)
{
    neo_matmul_desc desc = {
        .src = matrix(5, 7, "ab"), .weights = matrix(7, 9, "ab"), .dst = matrix(5, 9, "ab")};
    neo_attributes *attributes;
    require(neo_attributes_create(&attributes) == NEO_OK);
    require(neo_attributes_append_sum(attributes, 1, 0, NEO_S32) == NEO_OK); /* f32 read as s32 */
    neo_primitive_desc *pd;
    neo_status status = neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes);
    neo_attributes_destroy(attributes);
    require(pd == NULL);
    return status;
}

static void *fail_together(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&barrier);
    require(describe_unsupported() == NEO_UNSUPPORTED);
    return NULL;
}

static void a_failure_reaches_all_and_is_not_kept(void **state)
{
    (void)state;
    pthread_t threads[CREATORS];
    neo_set_verbose(0);
    pthread_barrier_init(&barrier, NULL, CREATORS);
    for (size_t i = 0; i < CREATORS; i++)
        require(pthread_create(&threads[i], NULL, fail_together, NULL) == 0);
    for (size_t i = 0; i < CREATORS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    neo_cache_statistics stats = statistics();
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.failures, stats.misses);
    assert_int_equal(stats.hits, 0);
    assert_int_equal(describe_unsupported(), NEO_UNSUPPORTED); /* tried again */
    assert_int_equal(statistics().failures, stats.failures + 1);
}

/* ---- the log ---- */

static void creations_and_evictions_are_logged_with_their_times(void **state)
{
    (void)state;
    set_capacity(1, SIZE_MAX);
    neo_set_verbose(2);
    capture_begin();
    is_hit(5);
    is_hit(5);
    is_hit(6);
    char *text = capture_end();
    neo_set_verbose(0);
    static const char *const wanted[] = {
        "neoprene_verbose,v1,primitive,create:cache_miss,cpu,matmul,",
        "neoprene_verbose,v1,primitive,create:cache_hit,cpu,matmul,",
        "neoprene_verbose,v1,primitive,create:cache_evict,cpu,matmul,",
        "neoprene_verbose,v1,primitive,create:cache_miss,cpu,matmul,",
    };
    const char *at = text;
    for (size_t i = 0; i < count_of(wanted); i++) {
        const char *end = strchr(at, '\n');
        if (strncmp(at, wanted[i], strlen(wanted[i])) || !end)
            fail_msg("line %zu of the log is not '%s…':\n%s", i, wanted[i], text);
        const char *time = end;
        while (time[-1] != ',')
            time--;
        char *rest;
        double milliseconds = strtod(time, &rest);
        assert_ptr_equal(rest, end);
        assert_true(milliseconds > 0 && milliseconds < 10000);
        at = end + 1;
    }
    assert_int_equal(*at, 0);
    assert_non_null(strstr(text, ",5x7:7x9,"));
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup_single, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_second_create_is_a_hit_of_the_same_plan),
        TEST(blocks_serve_any_shape),
        TEST(whatever_differs_is_another_entry),
        TEST(garbage_is_not_a_hit),
        TEST(the_least_recently_used_goes_first),
        TEST(shrinking_to_half_keeps_the_newest_half),
        TEST(capacities_of_0_and_1_compute_the_same),
        TEST(bytes_are_a_capacity_too),
        TEST(bad_environment_values_leave_the_defaults),
        TEST(the_block_budget_is_kept),
        TEST(trim_gives_back_free_blocks),
        TEST(statistics_add_up),
        TEST(an_evicted_primitive_works_and_frees_its_blocks_at_the_end),
        TEST(an_engine_gives_back_all_that_it_held),
        TEST(the_last_handle_in_any_thread_takes_the_engine_with_it),
        TEST(a_primitive_in_use_is_not_destroyed),
        TEST(a_second_destroy_is_refused),
        TEST(nothing_is_written_to_a_plan_by_its_execution),
        TEST(a_user_s_scratchpad_is_not_left),
        TEST(every_problem_survives_every_failing_allocation),
        TEST(three_hundred_cached_shapes_live_in_little_memory),
        TEST(threads_are_not_part_of_the_key),
        TEST(thirty_two_creators_build_once),
        TEST(a_failure_reaches_all_and_is_not_kept),
        TEST(creations_and_evictions_are_logged_with_their_times),
    };
    return cmocka_run_group_tests_name("primitive_cache", tests, NULL, NULL);
}
