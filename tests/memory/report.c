/* Pool dumps, memory by address, and the drawing of a history. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neoprene/types.h"
#include "src/memory/blocks/usage_report.h"
#include "src/memory/domain_report.h"
#include "src/memory/domain_source.h"
#include "tests/support/domain.h"
#include "tests/support/fault.h"
#include "tests/support/temporary.h"

/* ---- pool dump ---- */

/* A small network: the first record is shared by two layers one after the other, the second one is
 * above 2^53 bytes, where a double cannot tell neighbours apart, and the third one is free. */
static const struct pool_user shared_users[] = {{"conv1", 3, 16777217}, {"conv2, \"b\"", 4, 999}};
static const struct pool_user large_user[] = {{"fc", 9, 9007199254740993}};
static const struct pool_record net[] = {
    {"arena", "f32::nhwc::1x56x56x64", (const void *)(uintptr_t)0x1000, NEO_KIND_HEAP, 16777218,
     shared_users, 2},
    {"arena", NULL, (const void *)(uintptr_t)0x2000, NEO_KIND_SHARED, 9007199254740993, large_user,
     1},
    {"blocks", NULL, (const void *)(uintptr_t)0x3000, NEO_KIND_HUGE_PAGE, 2097152, NULL, 0},
};

static void a_pool_is_written_as_csv(void **state)
{
    (void)state;
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    assert_int_equal(pool_write_csv(file, net, count_of(net)), NEO_OK);
    fclose(file);
    assert_string_equal(
        text, "pool_type,layout,mem_ptr,mem_type,mem_pool_size,prim_id,unique_id,mem_size\n"
              "arena,f32::nhwc::1x56x56x64,0x1000,heap,16777218,conv1,3,16777217\n"
              "arena,f32::nhwc::1x56x56x64,0x1000,heap,16777218,\"conv2, \"\"b\"\"\",4,999\n"
              "arena,,0x2000,shared,9007199254740993,fc,9,9007199254740993\n"
              "blocks,,0x3000,huge_page,2097152,,0,0\n");
    free(text);
}

static void the_totals_are_exact(void **state)
{
    (void)state;
    struct pool_totals totals = pool_totals(net, count_of(net));
    assert_int_equal(totals.pool_bytes, UINT64_C(9007199254740993) + 16777218 + 2097152);
    assert_int_equal(totals.requested_bytes, UINT64_C(9007199254740993) + 16777217 + 999);
    assert_int_equal(totals.wasted_bytes, 1 + 2097152);
    assert_int_equal(totals.users, 3);
}

static void the_summary_has_utilisation_efficiency_and_lower_bound(void **state)
{
    (void)state;
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    assert_int_equal(pool_write_summary(file, net, 1, 16777217), NEO_OK);
    fclose(file);
    assert_string_equal(
        text, "arena 0x1000 heap: 16777218 bytes, used up to 99.9 %\n"
              "    conv1 3: 16777217 bytes, 99.9 %\n"
              "    conv2, \"b\" 4: 999 bytes, 0.0 %\n"
              "total: 1 records of 16777218 bytes for 2 users of 16778216 bytes, 1 bytes never "
              "used, efficiency 100.0 %, lower bound 16777217 bytes, pool / lower bound 100.0 %\n");
    free(text);
}

static void permille_is_exact_for_all_sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t part, whole, permille;
    } rows[] = {
        {0, 0, 0},
        {1, 0, 0},
        {1, 3, 333},
        {2, 3, 666},
        {999, 1000, 999},
        {9999, 10000, 999},
        {3, 1, 3000},
        {UINT64_MAX, UINT64_MAX, 1000},
        {UINT64_MAX - 1, UINT64_MAX, 999},
        {UINT64_MAX / 2, UINT64_MAX, 499},
        {UINT64_MAX, UINT64_MAX / 2, 2000},
        {UINT64_MAX, 1, UINT64_MAX},
    };
    for (size_t i = 0; i < count_of(rows); i++)
        assert_int_equal(pool_permille(rows[i].part, rows[i].whole), rows[i].permille);
    for (uint64_t part = 0; part < 500; part++)
        for (uint64_t whole = 1; whole < 100; whole++)
            assert_int_equal(pool_permille(part, whole), part * 1000 / whole);
}

/* ---- memory by address ---- */

static void memory_is_freed_by_address_once(void **state)
{
    (void)state;
    const neo_allocation_request request = {.bytes = 1000, .kind = NEO_KIND_SHARED};
    void *data;
    static char local;
    assert_int_equal(domain_allocate(&domain, &request, &data), NEO_OK);
    assert_int_equal(domain_free(&domain, &local), NEO_NOT_FOUND);
    assert_int_equal(domain_free(&domain, data), NEO_OK);
    assert_int_equal(domain_free(&domain, data), NEO_NOT_FOUND);
    assert_int_equal(domain_free(&domain, NULL), NEO_OK);
    struct allocation other; /* has an owner who frees it */
    assert_int_equal(allocation_create(&domain, &request, &other), NEO_OK);
    assert_int_equal(domain_free(&domain, other.data), NEO_NOT_FOUND);
    assert_int_equal(allocation_destroy(&other), NEO_OK);
    const neo_allocation_request nothing = {.bytes = 0};
    assert_int_equal(domain_allocate(&domain, &nothing, &data), NEO_INVALID_ARGUMENT);
}

static void a_block_pool_draws_counted_memory(void **state)
{
    (void)state;
    struct block_source source = domain_block_source(&domain);
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        void *data;
        fault_arm(n);
        neo_status status = source.allocate(source.context, 50000, 4096, &data);
        delivered = fault_disarm();
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        if (status == NEO_OK) {
            assert_int_equal((uintptr_t)data % 4096, 0);
            assert_int_equal(tracker_usage(&domain.tracker, NEO_KIND_HEAP).current, 50000);
            source.release(source.context, data, 50000);
        }
        assert_int_equal(tracker_live(&domain.tracker), 0);
    }
}

/* ---- settings and dumps ---- */

static void limits_budgets_and_usage_are_set_and_read(void **state)
{
    (void)state;
    size_t object, total;
    domain_set_limits(&domain, 1000, 2000);
    domain_get_limits(&domain, &object, &total);
    assert_true(object == 1000 && total == 2000);
    domain_set_limits(&domain, 0, 0);
    domain_get_limits(&domain, &object, NULL);
    domain_get_limits(&domain, NULL, &total);
    assert_true(object == total && total == limits_read_machine(""));
    assert_int_equal(domain_set_budget(&domain, NEO_KIND_SHARED, 5), NEO_OK);
    assert_int_equal(domain_set_budget(&domain, NEO_KIND_ALL, 5), NEO_INVALID_ARGUMENT);
    neo_memory_usage usage;
    assert_int_equal(domain_get_usage(&domain, NEO_KIND_ALL, &usage), NEO_OK);
    assert_int_equal(usage.max, 0);
    assert_int_equal(domain_get_usage(&domain, (neo_allocation_kind)(NEO_KIND_ALL + 1), &usage),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(domain_get_usage(&domain, NEO_KIND_HEAP, NULL), NEO_INVALID_ARGUMENT);
}

static void limits_come_from_the_environment(void **state)
{
    (void)state;
    struct memory_domain other;
    size_t object, total;
    setenv("NEOPRENE_MEMORY_LIMIT", "64M", 1);
    setenv("NEOPRENE_MEMORY_OBJECT_LIMIT", "3K", 1);
    assert_int_equal(memory_domain_init(&other, NULL), NEO_OK);
    unsetenv("NEOPRENE_MEMORY_LIMIT");
    unsetenv("NEOPRENE_MEMORY_OBJECT_LIMIT");
    domain_get_limits(&other, &object, &total);
    assert_true(object == 3072 && total == 64u << 20);
    memory_domain_deinit(&other);
}

static void a_dump_that_cannot_be_written_says_so(void **state)
{
    (void)state;
    static const neo_allocation_request request = {.bytes = 100};
    struct allocation memory;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    assert_int_equal(domain_dump_history(&domain, "/nonexistent/history.csv"), NEO_IO_ERROR);
    assert_int_equal(domain_dump_history(&domain, "/dev/full"), NEO_IO_ERROR);
    assert_int_equal(domain_dump_peak(&domain, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(domain_dump_peak(&domain, "/dev/null"), NEO_OK);
    allocation_destroy(&memory);
}

/* ---- drawing ---- */

static void run(const char *command, int wanted)
{
    int result = system(command);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), wanted);
}

static size_t count_in(const char *path, const char *word)
{
    size_t count = 0, length;
    char *text = NULL;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t room = 0;
    while (getline(&text, &room, file) >= 0)
        for (const char *at = text; (at = strstr(at, word)); at += length) {
            length = strlen(word);
            count++;
        }
    free(text);
    fclose(file);
    return count;
}

static void write_history(const char *path)
{
    struct allocation memory[6];
    for (size_t i = 0; i < count_of(memory); i++) {
        const neo_allocation_request request = {.bytes = 1000 * (i + 1),
                                                .kind = i % 2 ? NEO_KIND_SHARED : NEO_KIND_HEAP,
                                                .owner = "a \"name\" with, everything <in> it"};
        assert_int_equal(allocation_create(&domain, &request, &memory[i]), NEO_OK);
    }
    for (size_t i = 0; i < count_of(memory); i++)
        allocation_destroy(&memory[i]);
    assert_int_equal(domain_dump_history(&domain, path), NEO_OK);
}

static void a_history_and_a_plan_become_a_well_formed_drawing(void **state)
{
    (void)state;
    const char *folder = temporary_folder("plot");
    assert_int_equal(access("tests/memory_plot.py", R_OK), 0); /* tests run in the top folder */
    char history[256], plan[256], drawing[256], command[1024];
    snprintf(history, sizeof history, "%s/history.csv", folder);
    snprintf(plan, sizeof plan, "%s/plan.csv", folder);
    snprintf(drawing, sizeof drawing, "%s/drawing.svg", folder);
    write_history(history);
    temporary_put(folder, "plan.csv",
                  "name,start,finish,offset,size\nconv1,0,1,0,500\n\"a<b\"\"c\",1,-1,500,200\n");
    snprintf(command, sizeof command, "python3 tests/memory_plot.py %s --plan %s -o %s", history,
             plan, drawing);
    run(command, 0);
    snprintf(command, sizeof command,
             "python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' %s", drawing);
    run(command, 0);
    assert_int_equal(count_in(drawing, "class=\"box\""), 2);
    assert_int_equal(count_in(drawing, "class=\"kind\""), 2);
    assert_int_equal(count_in(drawing, "class=\"peak\""), 1);
    assert_int_equal(count_in(drawing, "class=\"bound\""), 1);
    snprintf(command, sizeof command, "python3 tests/memory_plot.py %s 2>/dev/null", plan);
    run(command, 1); /* not a history */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, domain_set_up, domain_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pool_is_written_as_csv),
        TEST(the_totals_are_exact),
        TEST(the_summary_has_utilisation_efficiency_and_lower_bound),
        TEST(permille_is_exact_for_all_sizes),
        TEST(memory_is_freed_by_address_once),
        TEST(a_block_pool_draws_counted_memory),
        TEST(limits_budgets_and_usage_are_set_and_read),
        TEST(limits_come_from_the_environment),
        TEST(a_dump_that_cannot_be_written_says_so),
        TEST(a_history_and_a_plan_become_a_well_formed_drawing),
    };
    return cmocka_run_group_tests_name("memory_report", tests, NULL, NULL);
}
