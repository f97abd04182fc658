/* Features, cores and caches, read from invented machines. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/caches.h"
#include "arch/cores.h"
#include "arch/cpu.h"
#include "tests/support/temporary.h"

static void put_cache(const char *root, unsigned cpu, unsigned index, const char *level,
                      const char *type, const char *size)
{
    const char *const rows[][2] = {
        {"level", level}, {"type", type}, {"size", size}, {"coherency_line_size", "128\n"}};
    char name[128];
    for (size_t i = 0; i < count_of(rows); i++) {
        (void)snprintf(name, sizeof name, "cpu%u/cache/index%u/%s", cpu, index, rows[i][0]);
        temporary_put(root, name, rows[i][1]);
    }
}

static int make_root(void **state)
{
    *state = (void *)(uintptr_t)temporary_folder("arch");
    return 0;
}

static int remove_root(void **state)
{
    temporary_remove(*state);
    return 0;
}

static void sizes_are_parsed_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } rows[] = {
        {"64K\n", 65536}, {"512", 512}, {"2M", 2 << 20}, {"1G", 1 << 30}, {"", 0},
        {"K", 0},         {"-1K", 0},   {"64KB", 0},     {"1.5M", 0},     {"64 K", 0},
        {" 64K", 0},      {"64K x", 0}, {"0", 0},        {"+4K", 0},      {"99999999999999G", 0}};
    for (size_t i = 0; i < count_of(rows); i++)
        assert_int_equal(caches_parse_size(rows[i].text), rows[i].bytes);
}

static void caches_come_from_sysfs(void **state)
{
    const char *root = *state;
    put_cache(root, 3, 0, "1\n", "Instruction\n", "32K\n");
    put_cache(root, 3, 1, "1\n", "Data\n", "64K\n");
    put_cache(root, 3, 2, "3\n", "Unified\n", "32M\n");
    put_cache(root, 3, 3, "2\n", "Unified\n", "1M\n");
    put_cache(root, 3, 4, "9\n", "Unified\n", "7M\n");
    put_cache(root, 3, 5, "junk\n", "Unified\n", "7M\n");
    struct caches caches;
    caches_read(&caches, root, 3);
    assert_int_equal(caches.l1_bytes, 64 << 10);
    assert_int_equal(caches.l2_bytes, 1 << 20);
    assert_int_equal(caches.l3_bytes, 32 << 20);
    assert_int_equal(caches.line_bytes, 128);
    caches_read(&caches, root, 4);
    assert_int_equal(caches.l1_bytes + caches.l2_bytes + caches.l3_bytes + caches.line_bytes, 0);
}

static void the_fastest_core_is_taken_with_its_own_caches(void **state)
{
    const char *root = *state;
    temporary_put(root, "cpu0/regs/identification/midr_el1", "0x00000000410fd050\n"); /* A55 */
    put_cache(root, 0, 0, "1\n", "Data\n", "16K\n");
    temporary_put(root, "cpu1/regs/identification/midr_el1", "junk\n");
    temporary_put(root, "cpu5/regs/identification/midr_el1", "0x00000000411fd440\n"); /* X1 */
    put_cache(root, 5, 0, "1\n", "Data\n", "48K\n");
    temporary_put(root, "cpu6/regs/identification/midr_el1", "0x00000000411fd410\n"); /* A78 */
    const struct cpu_sources sources = {.sysfs = root, .midr = 0x410fd050};
    struct cpu cpu;
    cpu_detect(&cpu, &sources);
    assert_string_equal(cpu.core->name, "cortex-x1");
    assert_int_equal(cpu.l1_bytes, 48 << 10);
    assert_int_equal(cpu.l2_bytes, cpu.core->l2_bytes); /* not told: the core's row */
    assert_int_equal(cpu.l3_bytes, 0);
}

static void without_sysfs_the_id_register_decides(void **state)
{
    const char *root = *state;
    put_cache(root, 0, 0, "1\n", "Data\n", "48K\n"); /* of an emulator's host: not believed */
    struct cpu_sources sources = {.sysfs = root, .midr = 0x413fd0c1};
    struct cpu cpu;
    cpu_detect(&cpu, &sources);
    assert_string_equal(cpu.core->name, "neoverse-n1");
    assert_int_equal(cpu.l1_bytes, cpu.core->l1_bytes);
    assert_int_equal(cpu.line_bytes, 64);
    sources.midr = 0;
    sources.trust_caches = 1;
    cpu_detect(&cpu, &sources);
    assert_string_equal(cpu.core->name, "generic");
    assert_int_equal(cpu.l1_bytes, 48 << 10);
    assert_int_equal(cpu.line_bytes, 128);
}

static void features_need_all_their_bits(void **state)
{
    struct cpu_sources sources = {.sysfs = *state, .hwcap = 1u << 1 | 1u << 9 | 1u << 20};
    struct cpu cpu;
    cpu_detect(&cpu, &sources);
    assert_int_equal(cpu.features, CPU_NEON | CPU_DOTPROD); /* half of fp16 is not fp16 */
    sources.hwcap |= 1u << 10;
    sources.hwcap |= 1u << 23;
    sources.hwcap2 = 1u << 13 | 1u << 14;
    cpu_detect(&cpu, &sources);
    const uint32_t all = CPU_NEON | CPU_FP16 | CPU_DOTPROD | CPU_BF16 | CPU_I8MM | CPU_FHM;
    assert_int_equal(cpu.features, all);
    sources.disabled = "dotprod,,nonsense, i8mm,fp16x";
    cpu_detect(&cpu, &sources);
    assert_int_equal(cpu.features, CPU_NEON | CPU_FP16 | CPU_BF16 | CPU_FHM);
    sources.disabled = "";
    cpu_detect(&cpu, &sources);
    assert_int_equal(cpu.features, all);
    static const char *const names[] = {"neon", "fp16", "dotprod", "bf16", "i8mm", "fhm"};
    for (unsigned i = 0; i < count_of(names); i++) {
        sources.disabled = names[i];
        cpu_detect(&cpu, &sources);
        assert_int_equal(cpu.features, all & ~(1u << i));
    }
}

static void a_bandwidth_can_be_stated(void **state)
{
    struct cpu_sources sources = {.sysfs = *state, .bandwidth = "9.5"};
    struct cpu cpu;
    cpu_detect(&cpu, &sources);
    assert_true(cpu.bandwidth == 9.5);
    static const char *const wrong[] = {"", "0", "-1", "9.5 GB", "nan", "inf", "1e300", "fast"};
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_true(cpu_parse_bandwidth(wrong[i]) == 0);
    assert_true(cpu_parse_bandwidth(NULL) == 0);
}

static void every_core_has_a_clock_and_a_bandwidth(void **state)
{
    (void)state;
    for (size_t i = 0; i < core_count; i++)
        assert_true(cores[i].ghz >= 1 && cores[i].ghz <= 6 && cores[i].bandwidth > 0);
}

static void a_core_can_be_assumed(void **state)
{
    struct cpu_sources sources = {.sysfs = *state, .midr = (uint64_t)0x41 << 24 | 0xd0c << 4};
    struct cpu cpu;
    sources.core = "cortex-a55";
    cpu_detect(&cpu, &sources);
    assert_string_equal(cpu.core->name, "cortex-a55");
    assert_int_equal(cpu.core->in_order, IN_ORDER_NARROW);
    sources.core = "cortex-a9000";
    cpu_detect(&cpu, &sources);
    assert_string_equal(cpu.core->name, "neoverse-n1");
}

/* Cortex-A53 and A55 are one kind; wider cores that issue in order are as those that do not. */
static void kinds_are_how_cores_issue(void **state)
{
    static const struct {
        uint64_t part;
        int kind;
    } cases[] = {{0xd03, IN_ORDER_NARROW}, {0xd05, IN_ORDER_NARROW}, {0xd46, 0}, {0xd0c, 0}};
    for (size_t i = 0; i < count_of(cases); i++) {
        struct cpu_sources sources = {.sysfs = *state,
                                      .midr = (uint64_t)0x41 << 24 | cases[i].part << 4};
        struct cpu cpu;
        cpu_detect(&cpu, &sources);
        assert_int_equal(core_kind(cpu.core), cases[i].kind);
    }
    for (size_t i = 0; i < core_count; i++)
        assert_in_range(core_kind(&cores[i]), 0, CORE_KINDS - 1);
}

static void every_row_is_found_by_its_own_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < core_count; i++) {
        uint64_t midr = (uint64_t)cores[i].implementer << 24 | (uint64_t)cores[i].part << 4;
        assert_ptr_equal(core_find(midr | 0xf00003), &cores[i]);
        assert_true(cores[i].fmla_per_cycle && cores[i].fmla_latency);
        assert_true(cores[i].share_cycles && cores[i].thread_cycles);
        assert_true(cores[i].slowness > 0);
        assert_true(cores[i].l1_bytes >= 16384 && cores[i].l2_bytes > cores[i].l1_bytes);
    }
    assert_ptr_equal(core_find(0x7f0ffff0), &cores[core_count - 1]);
}

static void this_machine_is_the_same_on_every_call(void **state)
{
    (void)state;
    const struct cpu *cpu = cpu_get();
    assert_ptr_equal(cpu, cpu_get());
    assert_non_null(cpu->core);
    assert_true(cpu->l1_bytes && cpu->l2_bytes && cpu->line_bytes);
#if NEO_PORTABLE
    assert_int_equal(cpu->features, 0);
#else
    assert_true(cpu->features & CPU_NEON);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_parsed_strictly),
        cmocka_unit_test_setup_teardown(caches_come_from_sysfs, make_root, remove_root),
        cmocka_unit_test_setup_teardown(the_fastest_core_is_taken_with_its_own_caches, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(without_sysfs_the_id_register_decides, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(features_need_all_their_bits, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_bandwidth_can_be_stated, make_root, remove_root),
        cmocka_unit_test_setup_teardown(every_core_has_a_clock_and_a_bandwidth, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(a_core_can_be_assumed, make_root, remove_root),
        cmocka_unit_test_setup_teardown(kinds_are_how_cores_issue, make_root, remove_root),
        cmocka_unit_test(every_row_is_found_by_its_own_number),
        cmocka_unit_test(this_machine_is_the_same_on_every_call),
    };
    return cmocka_run_group_tests_name("arch", tests, NULL, NULL);
}
