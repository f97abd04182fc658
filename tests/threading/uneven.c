/* Unequal cores: how tiles are given to them. The machine is stated, not asked. */
#include "tests/support/test.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arch/topology.h"
#include "src/core/checked.h"
#include "src/threading/default_pool.h"
#include "src/threading/parallel.h"
#include "tests/support/pools.h"

/* One big core, three middle ones, four little ones. */
static void describe_phone(struct topology *t)
{
    static const uint32_t capacities[] = {1024, 800, 800, 800, 300, 300, 300, 300};
    *t = (struct topology){.count = 8};
    for (int i = 0; i < t->count; i++)
        t->cpus[i] = (struct topology_cpu){
            .cpu = i,
            .core = i,
            .cluster = i == 0  ? 0
                       : i < 4 ? 1
                               : 2,
            .capacity = capacities[i],
            .class = i == 0  ? TOPOLOGY_BIG
                     : i < 4 ? TOPOLOGY_MID
                             : TOPOLOGY_LITTLE,
        };
}

static struct default_pool *make_phone_pool(int threads, neo_affinity affinity)
{
    struct topology t;
    describe_phone(&t);
    struct default_pool *pool;
    neo_threadpool_options options = {.threads = threads, .affinity = affinity};
    assert_int_equal(default_pool_create_on(&pool, &options, &t), NEO_OK);
    return pool;
}

/* ---- tiles ---- */

enum { MOST_TILES = 1000, MOST_SLOTS = 64 };

struct record {
    _Atomic int done[MOST_TILES];
    _Atomic int busy[MOST_SLOTS];
    _Atomic size_t tiles[MOST_SLOTS];
    _Atomic bool shared; /* a slot was in use twice at a time */
};

static void run_tiles(void *argument, struct span tiles, int slot)
{
    struct record *r = argument;
    if (atomic_exchange(&r->busy[slot], 1))
        atomic_store(&r->shared, true);
    for (size_t i = tiles.begin; i < tiles.end; i++)
        atomic_fetch_add(&r->done[i], 1);
    atomic_fetch_add(&r->tiles[slot], tiles.end - tiles.begin);
    (void)sched_yield();
    atomic_store(&r->busy[slot], 0);
}

static void check_tiles(const struct parallel *p, size_t count, int threads)
{
    struct record *r = calloc(1, sizeof *r);
    assert_non_null(r);
    parallel_for_tiles(p, count, threads, run_tiles, r);
    for (size_t i = 0; i < MOST_TILES; i++)
        assert_int_equal(r->done[i], i < count);
    for (int slot = threads; slot < MOST_SLOTS; slot++)
        assert_int_equal(r->tiles[slot], 0);
    assert_false(r->shared);
    free(r);
}

static void check_counts(const struct parallel *p)
{
    static const size_t counts[] = {0, 1, 2, 7, 8, 9, 31, 100, 999};
    for (size_t c = 0; c < count_of(counts); c++)
        for (int threads = 1; threads <= 8; threads++)
            check_tiles(p, counts[c], threads);
}

static void each_tile_is_computed_once_on_unequal_cores(void **state)
{
    (void)state;
    static const neo_affinity modes[] = {NEO_AFFINITY_NONE, NEO_AFFINITY_COMPACT,
                                         NEO_AFFINITY_SPREAD};
    for (size_t m = 0; m < count_of(modes); m++) {
        struct parallel p;
        parallel_init(&p, NULL, make_phone_pool(8, modes[m]), 0);
        check_counts(&p);
        default_pool_destroy(p.builtin);
    }
}

static void each_tile_is_computed_once_on_every_users_pool(void **state)
{
    (void)state;
    struct default_pool *machine = make_phone_pool(8, NEO_AFFINITY_NONE);
    for (int kind = 0; kind < TEST_POOL_KINDS; kind++) {
        struct test_pool *user = test_pool_create((enum test_pool_kind)kind, 8);
        struct parallel p;
        parallel_init(&p, test_pool_table(user), machine, 0);
        assert_true(kind == TEST_POOL_ONE || parallel_cores(&p).tail > 0);
        check_counts(&p);
        test_pool_destroy(user);
    }
    default_pool_destroy(machine);
}

/* ---- shares ---- */

static void faster_cores_get_larger_slices(void **state)
{
    (void)state;
    struct parallel p;
    parallel_init(&p, NULL, make_phone_pool(8, NEO_AFFINITY_COMPACT), 0);
    struct parallel_cores cores = parallel_cores(&p);
    assert_non_null(cores.weights);
    struct partition_slices s = partition_slices(1000, 8, cores.weights, cores.tail);
    size_t sizes[8];
    for (int i = 0; i < 8; i++) {
        struct span span = partition_slice(&s, i);
        sizes[i] = span.end - span.begin;
    }
    /* In proportion to 1024, 800 and 300, of the nine tenths that are not left to the tail. */
    assert_in_range(sizes[0], 199, 201);
    for (int i = 1; i < 4; i++)
        assert_in_range(sizes[i], 155, 157);
    for (int i = 4; i < 8; i++)
        assert_in_range(sizes[i], 57, 60);
    default_pool_destroy(p.builtin);
}

/* What a call takes if slot i works at speed weights[i] and takes the next slice when it is free.
 */
static double simulated_time(const struct partition_slices *s, const double *speeds, int threads)
{
    double free_at[MOST_SLOTS] = {0}, end = 0;
    for (int i = 0; i < s->tasks; i++) {
        int slot = i;
        if (i >= threads) {
            slot = 0;
            for (int j = 1; j < threads; j++)
                slot = free_at[j] < free_at[slot] ? j : slot;
        }
        struct span span = partition_slice(s, i);
        free_at[slot] += (double)(span.end - span.begin) / speeds[slot];
        end = free_at[slot] > end ? free_at[slot] : end;
    }
    return end;
}

static void unequal_cores_finish_together(void **state)
{
    (void)state;
    static const double speeds[] = {1024, 800, 800, 800, 300, 300, 300, 300};
    double ideal = 1000 / (1024 + 3 * 800 + 4 * 300.0);
    for (int known = 0; known < 2; known++) {
        struct parallel p;
        parallel_init(&p, NULL,
                      make_phone_pool(8, known ? NEO_AFFINITY_COMPACT : NEO_AFFINITY_NONE), 0);
        struct parallel_cores cores = parallel_cores(&p);
        assert_int_equal(cores.weights != NULL, known);
        struct partition_slices s = partition_slices(1000, 8, cores.weights, cores.tail);
        struct partition_slices equal = partition_slices(1000, 8, NULL, 0);
        double time = simulated_time(&s, speeds, 8);
        if (time >= (known ? 1.08 : 1.25) * ideal)
            fail_msg("%g times the ideal time", time / ideal);
        assert_true(time < 0.75 * simulated_time(&equal, speeds, 8));
        default_pool_destroy(p.builtin);
    }
}

static void equal_cores_get_one_slice_each(void **state)
{
    (void)state;
    struct topology t = {.count = 4};
    for (int i = 0; i < t.count; i++)
        t.cpus[i] = (struct topology_cpu){.cpu = i, .capacity = 1024, .class = TOPOLOGY_BIG};
    struct parallel p;
    struct default_pool *pool;
    neo_threadpool_options options = {.threads = 4, .affinity = NEO_AFFINITY_COMPACT};
    assert_int_equal(default_pool_create_on(&pool, &options, &t), NEO_OK);
    parallel_init(&p, NULL, pool, 0);
    assert_int_equal(parallel_pieces(&p, 4), 4);
    assert_true(parallel_cores(&p).tail <= 0);
    check_counts(&p);
    default_pool_destroy(pool);
}

static void pieces_are_smaller_on_unequal_cores(void **state)
{
    (void)state;
    struct parallel p;
    parallel_init(&p, NULL, make_phone_pool(8, NEO_AFFINITY_NONE), 0);
    assert_true(parallel_pieces(&p, 8) >= 32);
    assert_int_equal(parallel_pieces(&p, 1), 1);
    default_pool_destroy(p.builtin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tile_is_computed_once_on_unequal_cores),
        cmocka_unit_test(each_tile_is_computed_once_on_every_users_pool),
        cmocka_unit_test(faster_cores_get_larger_slices),
        cmocka_unit_test(unequal_cores_finish_together),
        cmocka_unit_test(equal_cores_get_one_slice_each),
        cmocka_unit_test(pieces_are_smaller_on_unequal_cores),
    };
    return cmocka_run_group_tests_name("threads_uneven", tests, NULL, NULL);
}
