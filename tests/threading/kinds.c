/* Machines of several kinds of core: which kernels a thread uses. The machine is stated. */
#include "tests/support/test.h"

#include <sched.h>

#include "arch/cores.h"
#include "arch/topology.h"
#include "src/core/checked.h"
#include "src/gemm/tiles.h"
#include "src/threading/default_pool.h"
#include "src/threading/parallel.h"

static void pin_this_thread(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static struct default_pool *make_pool_of(const char *const *names, int count)
{
    struct topology t = {.count = count};
    for (int i = 0; i < count; i++)
        t.cpus[i] =
            (struct topology_cpu){.cpu = i, .capacity = 1024, .model = core_named(names[i])};
    struct default_pool *pool;
    neo_threadpool_options options = {.threads = count};
    assert_int_equal(default_pool_create_on(&pool, &options, &t), NEO_OK);
    return pool;
}

/* Which tile kernel a thread takes that was planned for a core that reorders. */
static gemm_f32_fn *kernel_here(struct default_pool *pool)
{
    struct cpu cpu = *cpu_get();
    cpu.core = core_named("cortex-a76");
    struct parallel p;
    parallel_init(&p, NULL, pool, 0);
    struct gemm_tiles planned, own;
    gemm_tiles_init(&planned, &cpu, 0);
    return gemm_tiles_here(&planned, &own, &p)->run[2][7];
}

static gemm_f32_fn *kernel_for(const char *core)
{
    struct cpu cpu = *cpu_get();
    cpu.core = core_named(core);
    return gemm_f32_find(&cpu, GEMM_F32_MR, GEMM_F32_NR, 0)->run;
}

/* The same core everywhere, whatever CPU asks: nothing depends on where the pool was made. */
static void threads_use_the_kernels_of_the_pools_cores(void **state)
{
    (void)state;
    static const char *const sets[][3] = {{"cortex-a55", "cortex-a55", "cortex-a55"},
                                          {"cortex-a510", "cortex-a510", "cortex-a520"},
                                          {"cortex-x1", "cortex-a78", "cortex-a76"}};
    for (size_t i = 0; i < count_of(sets); i++) {
        struct default_pool *pool = make_pool_of(sets[i], 3);
        assert_int_equal(default_pool_kind_here(pool), core_kind(core_named(sets[i][0])));
        assert_ptr_equal(kernel_here(pool), kernel_for(sets[i][0]));
        default_pool_destroy(pool);
    }
}

/* A thread that moves to a core of another kind takes that kind's kernels from then on. */
static void a_thread_uses_the_kernels_of_the_core_it_runs_on(void **state)
{
    (void)state;
    static const char *const names[] = {"cortex-a55", "cortex-a76", "cortex-a510", "cortex-x1"};
    cpu_set_t before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    struct default_pool *pool = make_pool_of(names, 4);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &before))
            continue;
        pin_this_thread(cpu);
        const char *here = cpu < 4 ? names[cpu] : "cortex-a76"; /* unknown: as planned */
        assert_int_equal(default_pool_kind_here(pool), cpu < 4 ? core_kind(core_named(here)) : -1);
        assert_ptr_equal(kernel_here(pool), kernel_for(here));
        assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    }
    default_pool_destroy(pool);
}

/* Then the plan's kernels are used. */
static void cores_that_nobody_names_are_not_guessed(void **state)
{
    (void)state;
    static const char *const nobody[] = {"?", "?"}, *const some[] = {"cortex-a55", "?"};
    struct default_pool *pool = make_pool_of(nobody, 2);
    assert_int_equal(default_pool_kind_here(pool), -1);
    assert_ptr_equal(kernel_here(pool), kernel_for("cortex-a76"));
    default_pool_destroy(pool);
    pool = make_pool_of(some, 2);
    int kind = default_pool_kind_here(pool);
    assert_true(kind == -1 || kind == IN_ORDER_NARROW);
    default_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_use_the_kernels_of_the_pools_cores),
        cmocka_unit_test(a_thread_uses_the_kernels_of_the_core_it_runs_on),
        cmocka_unit_test(cores_that_nobody_names_are_not_guessed),
    };
    return cmocka_run_group_tests_name("threads_kinds", tests, NULL, NULL);
}
