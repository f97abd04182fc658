/* Products whose packed weights come from memory: is each line of them fetched once, before it is
 * used? Kernels are replaced by some that only write down which lines of B they use and fetch. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cores.h"
#include "src/core/checked.h"
#include "src/gemm/gemm.h"
#include "src/gemm/step.h"
#include "src/gemm/ways.h"
#include "src/tensor/layout.h"
#include "tests/support/stated_cpu.h"

enum { LINE = 64, MOST_LINES = 1 << 16 };

/* B begins at a line. Lines of it that were fetched before their first use, and those that were
 * not; calls that fetched a line which another call had fetched, and lines that are not B's. */
static struct {
    const char *b;
    size_t lines, calls, ready, missed, again, outside;
    uint16_t fetched_by[MOST_LINES]; /* a call, from 1 on */
    bool used[MOST_LINES];
} seen;
static const float *a_row, *b_values;
static float *c_values;

static void use_lines(const float *from, size_t count)
{
    size_t first = (size_t)((const char *)from - seen.b) / LINE;
    size_t end = div_up((size_t)((const char *)(from + count) - seen.b), LINE);
    assert_true(end <= seen.lines);
    for (size_t i = first; i < end; i++) {
        *(seen.fetched_by[i] ? &seen.ready : &seen.missed) += !seen.used[i];
        seen.used[i] = true;
    }
}

static void use(const struct gemm_f32_listed *strip)
{
    size_t depth = 4 * strip->rounds + strip->tail;
    for (size_t q = 0; q < strip->panels; q++)
        for (size_t s = 0; s < strip->segments && strip->width == LAYOUT_PANEL; s++)
            use_lines(strip->b + q * strip->b_step + s * (depth * LAYOUT_PANEL + strip->b_skip),
                      depth * LAYOUT_PANEL);
}

static void fetch_line(uintptr_t address)
{
    uintptr_t line = (address - (uintptr_t)seen.b) / LINE;
    if (line >= seen.lines) {
        seen.outside++;
        return;
    }
    seen.again += seen.fetched_by[line] && seen.fetched_by[line] != seen.calls;
    seen.fetched_by[line] = (uint16_t)seen.calls;
}

static void use_and_fetch(const struct gemm_f32_listed *strip)
{
    seen.calls++;
    for (size_t q = 0; q < strip->panels; q++) {
        uintptr_t next = (uintptr_t)(strip->b + q * strip->b_step) + strip->ahead;
        for (size_t i = 0; i < 2 * strip->rounds * strip->segments; i++, next += strip->ahead_step)
            fetch_line(next);
    }
    use(strip);
}

static void locate(const void *context, size_t batch, struct gemm_place *out)
{
    const size_t *n = context;
    (void)batch;
    *out = (struct gemm_place){.b = b_values, .c = c_values, .c_row = *n, .c_column = 1};
}

static void list_a(const void *context, const void *task_scratch, const struct gemm_list *list)
{
    size_t count = (list->tall + list->low) * list->segments * GEMM_F32_LIST;
    (void)context, (void)task_scratch;
    for (size_t i = 0; i < count; i++)
        list->out[i] = a_row;
}

static void record(struct gemm_plan *plan, struct gemm_f32_listed_kernels *recording)
{
    *recording = *plan->tiles.listed;
    for (size_t height = 0; height < GEMM_F32_LISTED_HEIGHT; height++) {
        for (size_t width = 0; width < GEMM_F32_LISTED_WIDTHS; width++)
            recording->run[width][height] = use;
        recording->fetch[height] = use_and_fetch;
    }
    plan->tiles.listed = recording;
    plan->fetches = true; /* portable kernels do not */
    plan->regular_panels = 0;
    plan->way = gemm_way_of(plan, &plan->tiles);
    gemm_plan_passes(plan);
}

static void run(struct gemm_plan *plan)
{
    const struct gemm_call call = {.context = &plan->shape.n, .locate = locate, .list_a = list_a};
    struct parallel parallel;
    void *scratch = test_malloc(gemm_scratch_bytes(plan, 1));
    parallel_init(&parallel, NULL, NULL, 0);
    gemm_run(plan, &call, &parallel, 1, scratch);
    test_free(scratch);
}

struct size {
    size_t m, n, k, segments;
};

static struct gemm_plan plan_of(const struct size *size, const struct cpu *cpu)
{
    const struct gemm_shape shape = {.batch = 1,
                                     .m = size->m,
                                     .n = size->n,
                                     .k = size->k,
                                     .b_packed = true,
                                     .low = -INFINITY,
                                     .high = INFINITY,
                                     .segment = size->k / size->segments,
                                     .a_stride = size->k / size->segments,
                                     .a_is_regular = size->segments == 1};
    struct gemm_plan plan;
    gemm_plan_init(&plan, &shape, cpu);
    assert_int_equal(plan.fetches, !NEO_PORTABLE);
    return plan;
}

/* Nothing comes before the first pass, so its panels are fetched by nobody. */
static void check(const struct size *size, const struct cpu *cpu)
{
    struct gemm_plan plan = plan_of(size, cpu);
    struct gemm_f32_listed_kernels recording;
    size_t full = plan.full_panels * LAYOUT_PANEL * size->k * sizeof(float) / LINE;
    size_t first = plan.group_panels * div_up(plan.block_k * LAYOUT_PANEL * sizeof(float), LINE);
    seen.lines = div_up(layout_all_columns(size->n) * size->k * sizeof(float), LINE);
    assert_true(seen.lines <= MOST_LINES);
    seen.calls = seen.ready = seen.missed = seen.again = seen.outside = 0;
    memset(seen.fetched_by, 0, sizeof seen.fetched_by);
    memset(seen.used, 0, sizeof seen.used);
    record(&plan, &recording);
    run(&plan);
    if (seen.ready + first < full || seen.missed > first || seen.again > full / 8 ||
        seen.outside > full / 100)
        fail_msg("%zux%zux%zu: %zu of %zu lines were fetched, %zu not, of which the first pass has "
                 "%zu; %zu twice, %zu elsewhere",
                 size->m, size->n, size->k, seen.ready, full, seen.missed, first, seen.again,
                 seen.outside);
}

static void each_line_is_fetched_before_it_is_used(void **state)
{
    (void)state;
    static const struct size sizes[] = {
        {32, 1024, 1024, 1}, {32, 512, 512, 1},  {32, 320, 1024, 1},
        {24, 516, 512, 1},   {64, 500, 700, 1},  {8, 1024, 1024, 1},
        {13, 720, 400, 1},   {49, 256, 2304, 9}, {100, 256, 1024, 1},
    };
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    cpu.l2_bytes = cpu.core->l2_bytes;
    cpu.bandwidth = 3;
    void *values = aligned_alloc(LINE, (size_t)LINE * MOST_LINES);
    assert_non_null(values);
    b_values = values, seen.b = values;
    a_row = values, c_values = values; /* which nothing reads or writes */
    for (size_t i = 0; i < count_of(sizes); i++)
        check(&sizes[i], &cpu);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_fetched_before_it_is_used),
    };
    return cmocka_run_group_tests_name("gemm_fetching", tests, NULL, NULL);
}
