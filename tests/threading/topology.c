/* How many threads: affinity masks, cgroup quotas and core classes of invented machines. */
#include "tests/support/test.h"

#include <numa.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/cores.h"
#include "arch/nodes.h"
#include "arch/topology.h"
#include "src/threading/default_pool.h"
#include "tests/support/temporary.h"

static const char *root;

static void put(const char *path, const char *text)
{
    temporary_put(root, path, text);
}

static void put_cpu(int cpu, const char *name, const char *format, unsigned long value)
{
    char path[128], text[64];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    (void)snprintf(text, sizeof text, format, value); /* NOLINT: the formats are below */
    put(path, text);
}

static void put_capacity(int cpu, unsigned long value)
{
    put_cpu(cpu, "cpu_capacity", "%lu\n", value);
}

static void put_clock(int cpu, unsigned long khz)
{
    put_cpu(cpu, "cpufreq/cpuinfo_max_freq", "%lu\n", khz);
}

static void put_part(int cpu, unsigned long part)
{
    put_cpu(cpu, "regs/identification/midr_el1", "0x%016lx\n", 0x410f0000ul | part << 4);
}

static int make_root(void **state)
{
    (void)state;
    root = temporary_folder("topology");
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    temporary_remove(root);
    return 0;
}

static struct topology t;

static int threads_of(const char *allowed)
{
    topology_read(&t, &(struct topology_sources){.root = root, .allowed = allowed});
    return topology_default_threads(&t);
}

static void one_three_four_by_capacity_uses_four(void **state)
{
    (void)state;
    static const unsigned capacity[] = {250, 250, 250, 250, 829, 829, 829, 1024};
    for (int i = 0; i < 8; i++)
        put_capacity(i, capacity[i]);
    assert_int_equal(threads_of("0-7"), 4);
    assert_int_equal(t.count, 8);
    assert_int_equal(t.cpus[0].class, TOPOLOGY_LITTLE);
    assert_int_equal(t.cpus[4].class, TOPOLOGY_MID);
    assert_int_equal(t.cpus[7].class, TOPOLOGY_BIG);
    assert_int_equal(t.cpus[4].capacity, 829);
    /* what is allowed counts, and little cores are better than nothing */
    assert_int_equal(threads_of("0-3"), 4);
    assert_int_equal(threads_of("0-4"), 1);
    assert_int_equal(threads_of("4,5,7"), 3);
}

/* The set of cores that may be used decides, not the one that happens to ask. */
static void kinds_of_core_are_those_of_the_affinity_mask(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        put_capacity(i, i < 4 ? 250 : i < 7 ? 829 : 1024);
        put_part(i, i < 4 ? 0xd05 : i < 7 ? 0xd41 : 0xd44);
    }
    static const struct {
        const char *allowed;
        int count;
        struct {
            const char *name;
            int cpus;
        } kinds[3];
    } rows[] = {
        {"0-7", 3, {{"cortex-x1", 1}, {"cortex-a78", 3}, {"cortex-a55", 4}}},
        {"0-3", 1, {{"cortex-a55", 4}}},
        {"2,3,5", 2, {{"cortex-a78", 1}, {"cortex-a55", 2}}},
        {"7", 1, {{"cortex-x1", 1}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct topology_kind kinds[4];
        (void)threads_of(rows[i].allowed);
        assert_int_equal(topology_kinds(&t, kinds, 4), rows[i].count);
        for (int k = 0; k < rows[i].count; k++) {
            assert_string_equal(kinds[k].core->name, rows[i].kinds[k].name);
            assert_int_equal(kinds[k].cpus, rows[i].kinds[k].cpus);
        }
        assert_int_equal(topology_kinds(&t, kinds, 1), 1);
        topology_read(&t, &(struct topology_sources){
                              .root = root, .allowed = rows[i].allowed, .core = "neoverse-n1"});
        assert_int_equal(topology_kinds(&t, kinds, 4), 1);
        assert_string_equal(kinds[0].core->name, "neoverse-n1");
        (void)threads_of(rows[i].allowed);

        cpu_set_t allowed;
        CPU_ZERO(&allowed);
        for (int c = 0; c < t.count; c++)
            CPU_SET((size_t)t.cpus[c].cpu, &allowed);
        char sysfs[256];
        (void)snprintf(sysfs, sizeof sysfs, "%s/sys/devices/system/cpu", root);
        struct cpu cpu;
        cpu_detect(&cpu, &(struct cpu_sources){.sysfs = sysfs, .allowed = &allowed});
        assert_string_equal(cpu.core->name, rows[i].kinds[0].name);
    }
}

/* CPUs 0, 2, … issue in order. Which kernels a thread takes depends on where it runs, not on which
 * of them made the pool. */
static void a_pool_knows_the_core_of_each_cpu(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        put_part(i, i % 2 ? 0xd41 : 0xd05);
    (void)threads_of("0-7");
    struct default_pool *pool;
    neo_threadpool_options options = {.threads = 8};
    assert_int_equal(default_pool_create_on(&pool, &options, &t), NEO_OK);
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    for (size_t cpu = 0; cpu < 8; cpu++) {
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (CPU_ISSET(cpu, &before) && !sched_setaffinity(0, sizeof one, &one))
            assert_int_equal(default_pool_kind_here(pool), cpu % 2 ? 0 : IN_ORDER_NARROW);
    }
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    default_pool_destroy(pool);
}

static void two_two_four_by_capacity_uses_four(void **state)
{
    (void)state;
    static const unsigned capacity[] = {124, 124, 124, 124, 427, 427, 1024, 1024};
    for (int i = 0; i < 8; i++)
        put_capacity(i, capacity[i]);
    assert_int_equal(threads_of("0-7"), 4);
}

static void four_four_by_clock_uses_four(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        put_clock(i, i < 4 ? 1800000 : 2400000);
    assert_int_equal(threads_of("0-7"), 4);
    assert_int_equal(t.cpus[0].capacity, 768);
}

/* Clocks that are nearly equal tell nothing; the register that names the core does. */
static void two_six_by_kind_of_core_uses_two(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        put_clock(i, i < 6 ? 2000000 : 2200000);
        put_part(i, i < 6 ? 0xd05 : 0xd0b); /* Cortex-A55 and A76 */
    }
    assert_int_equal(threads_of("0-7"), 2);
    assert_true(t.cpus[0].capacity < 512);
}

/* A machine whose slower cores are out of order too keeps all of them. */
static void slower_big_cores_are_not_little(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        put_capacity(i, i < 4 ? 600 : 1024);
        put_part(i, i < 4 ? 0xd81 : 0xd82); /* Cortex-A720 and X4 */
    }
    assert_int_equal(threads_of("0-7"), 8);
}

static void equal_cores_are_all_used(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++)
        put_clock(i, i % 2 ? 2600000 : 2500000); /* favoured cores */
    assert_int_equal(threads_of("0-63"), 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(t.cpus[i].class, TOPOLOGY_BIG);
    assert_int_equal(threads_of("8-11,40"), 5);
}

static void equal_in_order_cores_are_all_used(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        put_part(i, 0xd03);
    assert_int_equal(threads_of("0-3"), 4);
}

static void quotas_are_rounded_up(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/cpu.max", "800000 100000\n");
    assert_int_equal(threads_of("0-7"), 2); /* the parent's 1.5 CPUs */
    assert_true(t.quota > 1.49 && t.quota < 1.51);
    assert_int_equal(threads_of("3"), 1);
    put("/sys/fs/cgroup/a/b/cpu.max", "10000 100000\n");
    assert_int_equal(threads_of("0-7"), 1);
}

static void quotas_of_version_one_count(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:name=systemd:/x\n4:memory:/a\n1:cpu,cpuacct:/host/only\n0::/\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_int_equal(threads_of("0-7"), 3); /* the path is not to be seen, its root is */
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(threads_of("0-7"), 8);
}

static void absent_and_broken_files_restrict_nothing(void **state)
{
    (void)state;
    assert_int_equal(threads_of("0-7"), 8);
    assert_true(t.quota <= 0);
    put("/proc/self/cgroup", "nonsense\n0\n0:\n0::\n0::noslash\n");
    put("/sys/fs/cgroup/cpu.max", "0 0\n");
    put("/sys/devices/system/node/online", "0-x\n");
    for (int i = 0; i < 8; i++)
        put_cpu(i, "cpu_capacity", "big%lu\n", 1);
    put_clock(0, 1); /* the others have none */
    assert_int_equal(threads_of("0-7"), 8);
}

static void broken_lists_still_give_a_cpu(void **state)
{
    (void)state;
    static const char *const lists[] = {"", "x", "-1", "5-2", "99999999999-99999999999"};
    for (size_t i = 0; i < count_of(lists); i++) {
        assert_int_equal(threads_of(lists[i]), 1);
        assert_int_equal(t.count, 1);
    }
    assert_int_equal(threads_of("0-1000000"), TOPOLOGY_MAX_CPUS);
}

static void nodes_cores_and_siblings_are_found(void **state)
{
    (void)state;
    put("/sys/devices/system/node/online", "0-1\n");
    put("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
    put("/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
    for (int i = 0; i < 8; i++) {
        put_cpu(i, "topology/physical_package_id", "%lu\n", (unsigned long)(i % 4 / 2));
        put_cpu(i, "topology/core_id", "%lu\n", (unsigned long)(i % 2));
        put_cpu(i, "topology/cluster_id", "%lu\n", 65535);
    }
    assert_int_equal(threads_of("0-7"), 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(t.cpus[i].node, i % 4 / 2);
        assert_int_equal(t.cpus[i].sibling, i / 4);
        assert_int_equal(t.cpus[i].cluster, 0);
    }
}

/* On the machine itself: never more than the affinity mask has. */
static void this_machine_gives_at_most_its_mask(void **state)
{
    (void)state;
    cpu_set_t mask, one;
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    topology_read(&t, &(struct topology_sources){.root = ""});
    assert_int_equal(t.count, CPU_COUNT(&mask));
    assert_in_range(topology_default_threads(&t), 1, CPU_COUNT(&mask));
    int first = t.cpus[0].cpu;
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    topology_read(&t, &(struct topology_sources){.root = ""});
    assert_int_equal(sched_setaffinity(0, sizeof mask, &mask), 0);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.cpus[0].cpu, first);
    assert_int_equal(topology_default_threads(&t), 1);
}

#define on_a_new_machine(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

static void the_current_node_is_that_of_the_current_cpu(void **state)
{
    (void)state;
    cpu_set_t before, here;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    assert_int_equal(sched_setaffinity(0, sizeof here, &here), 0);
    int node = numa_available() < 0 ? 0 : numa_node_of_cpu(sched_getcpu());
    assert_int_equal(topology_current_node(), node);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

/* The library asks the kernel by itself. */
static void the_nodes_are_those_of_libnuma(void **state)
{
    (void)state;
    struct nodes nodes;
    assert_int_equal(nodes_allowed(&nodes), numa_available() >= 0);
    for (int i = 0; numa_available() >= 0 && i <= numa_max_node() + 1; i++) {
        assert_int_equal(nodes_have(&nodes, i),
                         numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned)i));
        for (int j = 0; j <= numa_max_node() + 1; j++)
            assert_int_equal(nodes_distance(i, j), numa_distance(i, j));
    }
    assert_int_equal(nodes_have(&nodes, -1), 0);
    assert_int_equal(nodes_have(&nodes, NODES_MOST), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nodes_are_those_of_libnuma),
        on_a_new_machine(one_three_four_by_capacity_uses_four),
        on_a_new_machine(kinds_of_core_are_those_of_the_affinity_mask),
        on_a_new_machine(a_pool_knows_the_core_of_each_cpu),
        on_a_new_machine(two_two_four_by_capacity_uses_four),
        on_a_new_machine(four_four_by_clock_uses_four),
        on_a_new_machine(two_six_by_kind_of_core_uses_two),
        on_a_new_machine(slower_big_cores_are_not_little),
        on_a_new_machine(equal_cores_are_all_used),
        on_a_new_machine(equal_in_order_cores_are_all_used),
        on_a_new_machine(quotas_are_rounded_up),
        on_a_new_machine(quotas_of_version_one_count),
        on_a_new_machine(absent_and_broken_files_restrict_nothing),
        on_a_new_machine(broken_lists_still_give_a_cpu),
        on_a_new_machine(nodes_cores_and_siblings_are_found),
        cmocka_unit_test(the_current_node_is_that_of_the_current_cpu),
        cmocka_unit_test(this_machine_gives_at_most_its_mask),
    };
    return cmocka_run_group_tests_name("threads_topology", tests, NULL, NULL);
}
