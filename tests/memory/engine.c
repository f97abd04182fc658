/* Memory through an engine: the public calls, and that everything an engine holds is counted. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neoprene/neoprene.h"
#include "tests/support/fault.h"
#include "tests/support/temporary.h"

static neo_engine *engine;

static int set_up(void **state)
{
    (void)state;
    neo_set_verbose(0);
    return neo_engine_create(&engine) != NEO_OK;
}

static int tear_down(void **state)
{
    (void)state;
    neo_engine_destroy(engine);
    engine = NULL;
    return 0;
}

static size_t current_bytes(neo_allocation_kind kind)
{
    neo_memory_usage usage;
    assert_int_equal(neo_engine_get_memory_usage(engine, kind, &usage), NEO_OK);
    return usage.current;
}

static void an_engine_allocates_and_counts_every_kind(void **state)
{
    (void)state;
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++) {
        if (kind == NEO_KIND_FILE)
            continue;
        const neo_allocation_request request = {.bytes = 10000, .kind = (neo_allocation_kind)kind};
        neo_allocation *allocation;
        neo_allocation_info info;
        size_t before = current_bytes(NEO_KIND_ALL);
        assert_int_equal(neo_engine_allocate(engine, &request, &allocation), NEO_OK);
        assert_int_equal(neo_allocation_query(allocation, &info), NEO_OK);
        memset(info.data, 1, info.bytes);
        assert_int_equal(current_bytes(NEO_KIND_ALL), before + info.held_bytes);
        assert_true(current_bytes(info.kind) >= info.held_bytes);
        assert_int_equal(neo_allocation_destroy(allocation), NEO_OK);
        assert_int_equal(current_bytes(NEO_KIND_ALL), before);
    }
}

static void an_allocation_keeps_its_engine_alive(void **state)
{
    (void)state;
    const neo_allocation_request request = {.bytes = 10000};
    neo_allocation *allocation;
    assert_int_equal(neo_engine_allocate(engine, &request, &allocation), NEO_OK);
    neo_engine_destroy(engine);
    engine = NULL;
    memset(neo_allocation_data(allocation), 1, 10000);
    assert_int_equal(neo_allocation_destroy(allocation), NEO_OK);
}

static void memory_objects_count_and_obey_the_limit(void **state)
{
    (void)state;
    const neo_dim dims[] = {100, 100};
    neo_memory_desc desc;
    neo_memory *a, *b;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, "ab"), NEO_OK);
    size_t before = current_bytes(NEO_KIND_ALL);
    assert_int_equal(neo_engine_set_memory_limits(engine, 0, before + 79999), NEO_OK);
    assert_int_equal(neo_memory_create(&a, &desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    assert_int_equal(current_bytes(NEO_KIND_ALL), before + 40000);
    assert_int_equal(neo_memory_create(&b, &desc, engine, NEO_MEMORY_ALLOCATE), NEO_OUT_OF_MEMORY);
    neo_memory_destroy(a);
    assert_int_equal(current_bytes(NEO_KIND_ALL), before);
    size_t object, total;
    assert_int_equal(neo_engine_get_memory_limits(engine, &object, &total), NEO_OK);
    assert_int_equal(total, before + 79999);
    assert_int_equal(neo_engine_set_memory_limits(engine, 0, 0), NEO_OK);
}

struct heap {
    size_t live;
};

static void *heap_allocate(void *context, size_t bytes, size_t alignment)
{
    ((struct heap *)context)->live++;
    return aligned_alloc(alignment, round_up(bytes, alignment));
}

static void heap_release(void *context, void *data, size_t bytes, size_t alignment)
{
    (void)bytes, (void)alignment;
    ((struct heap *)context)->live--;
    free(data);
}

static void memory_objects_come_from_the_users_allocator(void **state)
{
    (void)state;
    struct heap heap = {0};
    const neo_allocator user = {&heap, heap_allocate, heap_release};
    const neo_dim dims[] = {10, 10};
    neo_memory_desc desc;
    neo_memory *memory;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, "ab"), NEO_OK);
    assert_int_equal(neo_engine_set_allocator(engine, &user), NEO_OK);
    assert_int_equal(neo_memory_create(&memory, &desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    assert_int_equal(heap.live, 1);
    assert_int_equal(neo_engine_set_allocator(engine, NULL), NEO_OK);
    neo_memory_destroy(memory);
    assert_int_equal(heap.live, 0);
}

static void budgets_and_dumps_work_through_the_engine(void **state)
{
    (void)state;
    const neo_allocation_request request = {.bytes = 4097, .kind = NEO_KIND_SHARED, .owner = "me"};
    neo_allocation *allocation;
    neo_allocation_info info;
    assert_int_equal(neo_engine_set_memory_budget(engine, NEO_KIND_SHARED, 4096), NEO_OK);
    assert_int_equal(neo_engine_allocate(engine, &request, &allocation), NEO_OK);
    assert_int_equal(neo_allocation_query(allocation, &info), NEO_OK);
    assert_int_equal(info.kind, NEO_KIND_HEAP);
    neo_allocation_destroy(allocation);
    const char *path = temporary_file("dump");
    assert_int_equal(neo_engine_dump_memory_peak(engine, path), NEO_OK);
    assert_int_equal(neo_engine_dump_memory_history(engine, path), NEO_OK);
    FILE *file = fopen(path, "r");
    char line[512];
    bool found = false;
    while (fgets(line, sizeof line, file))
        found |= strstr(line, ",free,heap,4097,me,") != NULL;
    fclose(file);
    assert_true(found);
}

/* One that takes a scratchpad. */
static neo_primitive *make_matmul(neo_dim n)
{
    neo_matmul_desc desc = {0};
    neo_memory_desc_init_tag(&desc.src, 2, (neo_dim[]){n, n}, NEO_F32, "ba");
    neo_memory_desc_init_tag(&desc.weights, 2, (neo_dim[]){n, n}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&desc.dst, 2, (neo_dim[]){n, n}, NEO_F32, "ab");
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    while (neo_primitive_desc_scratchpad_size(pd, 1) == 0)
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

/* How many lines of the dump have this text. */
static int count_in_dump(const char *path, neo_dump_format format, const char *text)
{
    assert_int_equal(neo_engine_dump_memory_pool(engine, path, format), NEO_OK);
    FILE *file = fopen(path, "r");
    char line[512];
    int count = 0;
    while (fgets(line, sizeof line, file))
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

static void scratchpads_are_dumped_with_their_primitives(void **state)
{
    (void)state;
    const char *path = temporary_file("pool");
    neo_primitive *first = make_matmul(100), *second = make_matmul(100);
    assert_true(neo_primitive_desc_scratchpad_size(neo_primitive_get_desc(first), 1) > 0);
    assert_int_equal(count_in_dump(path, NEO_DUMP_CSV, ",matmul,"), 2);
    assert_int_equal(count_in_dump(path, NEO_DUMP_TEXT, "efficiency"), 1);
    neo_primitive_destroy(first);
    neo_primitive_destroy(second);
    assert_int_equal(count_in_dump(path, NEO_DUMP_CSV, ",matmul,"), 0);
    assert_int_equal(neo_engine_dump_memory_pool(engine, "/nonexistent/x", NEO_DUMP_CSV),
                     NEO_IO_ERROR);
    assert_int_equal(neo_engine_dump_memory_pool(engine, path, (neo_dump_format)2),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_dump_memory_pool(engine, NULL, NEO_DUMP_CSV), NEO_INVALID_ARGUMENT);
}

static void missing_pointers_are_refused(void **state)
{
    (void)state;
    const neo_allocation_request request = {.bytes = 1};
    neo_allocation *allocation;
    neo_memory_usage usage;
    assert_int_equal(neo_engine_allocate(NULL, &request, &allocation), NEO_INVALID_ARGUMENT);
    assert_null(allocation);
    assert_int_equal(neo_engine_allocate(engine, NULL, &allocation), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_allocate(engine, &request, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_set_allocator(NULL, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_set_memory_limits(NULL, 0, 0), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_get_memory_limits(NULL, NULL, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_set_memory_budget(NULL, NEO_KIND_HEAP, 0), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_get_memory_usage(NULL, NEO_KIND_HEAP, &usage),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_dump_memory_history(NULL, "x"), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_dump_memory_peak(NULL, "x"), NEO_INVALID_ARGUMENT);
}

static void a_failing_allocation_drops_the_reference_to_the_engine(void **state)
{
    (void)state;
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        const neo_allocation_request request = {.bytes = 10000, .kind = NEO_KIND_SHARED};
        neo_allocation *allocation;
        fault_arm(n);
        neo_status status = neo_engine_allocate(engine, &request, &allocation);
        delivered = fault_disarm();
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        neo_allocation_destroy(allocation);
    } /* a reference that is left shows as a leak of the engine */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_engine_allocates_and_counts_every_kind),
        TEST(an_allocation_keeps_its_engine_alive),
        TEST(memory_objects_count_and_obey_the_limit),
        TEST(memory_objects_come_from_the_users_allocator),
        TEST(budgets_and_dumps_work_through_the_engine),
        TEST(scratchpads_are_dumped_with_their_primitives),
        TEST(missing_pointers_are_refused),
        TEST(a_failing_allocation_drops_the_reference_to_the_engine),
    };
    return cmocka_run_group_tests_name("memory_engine", tests, NULL, NULL);
}
