/* Depthwise convolution: which tiles have a place in the L1 cache for each of their lines, and that
 * kernels have the memory they need, and long rows get it. */
#include "tests/support/test.h"

#include "src/convolution/depthwise/depthwise.h"
#include "src/primitive/primitive.h"
#include "tests/support/session.h"
#include "tests/support/stated_cpu.h"

/* Square images, kernels of 3x3 with padding of 1. */
static struct convolution_depthwise plan_of_tiles(const struct cpu *cpu, size_t channels,
                                                  size_t size, size_t stride)
{
    size_t out = (size - 1) / stride + 1;
    struct convolution_depthwise plan = {
        .cpu = cpu,
        .channels = channels,
        .taps = 9,
        .shape.in = {1, (neo_dim)size, (neo_dim)size},
        .shape.out = {1, (neo_dim)out, (neo_dim)out},
        .task = {.kd = 1, .kh = 3, .kw = 3, .dilation_h = 1, .dilation_w = 1, .first = -1},
    };
    plan.task.stride_h = plan.task.stride_w = stride;
    plan.task.out_cols = out;
    depthwise_plan_tiles(&plan);
    return plan;
}

/* Columns of dst that are done in all rows, and channels that are done in all of these. */
static const struct {
    size_t channels, size, stride, strip, together;
} cases[] = {
    {512, 14, 1, 7, 128},  {256, 28, 1, 7, 128}, {128, 56, 1, 14, 128}, {192, 28, 1, 28, 64},
    {512, 14, 2, 7, 128},  {256, 28, 2, 7, 128}, {128, 56, 2, 7, 128},  {64, 112, 2, 14, 64},
    {96, 112, 2, 28, 32},  {72, 56, 1, 14, 80},  {72, 56, 2, 7, 80},    {200, 14, 1, 7, 208},
    {304, 129, 1, 70, 16}, {728, 33, 1, 7, 256},
};

static void tiles_have_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(cases); i++) {
        size_t out = (cases[i].size - 1) / cases[i].stride + 1;
        struct core core = {.fmla_per_cycle = 2};
        struct cpu cpu = {.core = &core, .l1_bytes = 64 << 10, .l2_bytes = 1 << 20};
        struct convolution_depthwise plan =
            plan_of_tiles(&cpu, cases[i].channels, cases[i].size, cases[i].stride);
        assert_int_equal(plan.task.copies_weights, cases[i].channels == 512 && out == 14);
        assert_int_equal(plan.task.strip, cases[i].strip);
        assert_int_equal(plan.task.tile_channels, cases[i].together);
    }
}

/* Twice as many ways have places for tiles without turns. */
static void more_ways_are_more_places(void **state)
{
    (void)state;
    struct core core = {.fmla_per_cycle = 4};
    struct cpu cpu = {.core = &core, .l1_bytes = 128 << 10};
    struct convolution_depthwise plan = {.cpu = &cpu, .channels = 512};
    assert_int_equal(depthwise_l1_ways(&cpu), 8);
    assert_int_equal(depthwise_pixels_in_l1(&plan), 64);
    cpu.l1_bytes = 32 << 10;
    assert_int_equal(depthwise_l1_ways(&cpu), 4);
    assert_int_equal(depthwise_pixels_in_l1(&plan), 16);
}

/* Images with channels last, kernels of 3x3, dilation 2: rows of dst in a call, of all parts. */
static const struct call_case {
    const char *core;
    neo_dim channels, height, width;
    size_t rows;
} calls[] = {
    {"neoverse-n1", 64, 30, 40, 30},   /* all */
    {"neoverse-n1", 1024, 80, 80, 8},  /* that stay in the L2 cache */
    {"neoverse-n1", 16, 40000, 6, 64}, /* where more would stay */
};

static neo_memory_desc tensor_of(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

static void parts_of_dilated_images_have_rows_that_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(calls); i++) {
        const neo_dim *image = (neo_dim[]){1, calls[i].channels, calls[i].height, calls[i].width};
        struct cpu cpu = stated_cpu(calls[i].core, 64 << 10);
        struct problem problem = {.convolution_algorithm = NEO_CONVOLUTION_DIRECT};
        struct convolution_depthwise plan = {0};
        cpu.l2_bytes = 1 << 20;
        problem.tensors[SRC] = problem.tensors[DST] = tensor_of(4, image, "nhwc");
        problem.tensors[WEIGHTS] = tensor_of(5, (neo_dim[]){image[1], 1, 1, 3, 3}, "goihw");
        for (int j = 0; j < 2; j++) {
            problem.window.strides[j] = problem.window.dilations[j] = 1;
            problem.window.left[j] = problem.window.right[j] = 2;
        }
        convolution_derive(&problem);
        depthwise_plan(&plan, &problem, &cpu);
        assert_int_equal(plan.rows, calls[i].rows);
    }
}

#if !NEO_PORTABLE
/* Whatever core the plan is for, a thread on another one has the kernel for that. */
static void each_kind_of_core_has_its_kernel(void **state)
{
    static const struct {
        const char *core;
        const struct dwconv_f32_kernel *kernel;
    } kinds[] = {{"cortex-a76", &dwconv_f32_planes_neon},
                 {"cortex-a55", &dwconv_f32_planes_a55_neon}};
    (void)state;
    for (size_t i = 0; i < count_of(kinds); i++) {
        struct cpu cpu = stated_cpu(kinds[i].core, 32 << 10);
        struct problem problem = {.convolution_algorithm = NEO_CONVOLUTION_DIRECT,
                                  .window = {.strides = {1, 1}, .left = {1, 1}, .right = {1, 1}}};
        struct convolution_depthwise plan = {0};
        problem.tensors[SRC] = tensor_of(4, (neo_dim[]){1, 64, 56, 56}, "nchw");
        problem.tensors[DST] = tensor_of(4, (neo_dim[]){1, 64, 56, 56}, "nchw");
        problem.tensors[WEIGHTS] = tensor_of(5, (neo_dim[]){64, 1, 1, 3, 3}, "goihw");
        convolution_derive(&problem);
        depthwise_plan(&plan, &problem, &cpu);
        assert_string_equal(plan.kernel, kinds[i].kernel->name);
        for (size_t j = 0; j < count_of(kinds); j++)
            assert_ptr_equal(plan.run[core_kind(core_named(kinds[j].core))], kinds[j].kernel->run);
    }
}
#endif

static void check_memory(const struct convolution_depthwise *plan)
{
    for (int kind = 0; kind < CORE_KINDS; kind++) {
        const struct dwconv_f32_kernel *kernel =
            dwconv_f32_find(plan->cpu->features, kind, &plan->task);
        if (kernel->scratch_bytes && kernel->scratch_bytes(&plan->task) > plan->kernel_bytes)
            fail_msg("%s has too little memory", kernel->name);
    }
}

/* Of a row with as many columns of dst as of src. */
struct row {
    neo_dim channels, width, taps, step;
};

/* The first way that is planned; the layout of src and dst is the tag's, which has a width of 1 if
 * it has one dimension more. */
static neo_primitive_desc *describe_row(const struct row *row, const char *tag)
{
    neo_dim reach = (row->taps - 1) * row->step;
    neo_memory_desc image, weights;
    neo_dim dims[] = {1, row->channels, row->width, 1},
            kernel[] = {row->channels, 1, 1, row->taps, 1};
    int ndims = (int)strlen(tag);
    assert_int_equal(neo_memory_desc_init_tag(&image, ndims, dims, NEO_F32, tag), NEO_OK);
    assert_int_equal(neo_memory_desc_init_tag(&weights, ndims + 1, kernel, NEO_F32, "any"), NEO_OK);
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_AUTO,
        .src = image,
        .weights = weights,
        .dst = image,
        .strides = {1, 1},
        .dilations = {row->step - 1},
        .padding_left = {reach / 2},
        .padding_right = {reach - reach / 2},
    };
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    return pd;
}

typedef void check_fn(const struct convolution_depthwise *plan);

static void check_row(const struct row *row, const char *tag, check_fn *check)
{
    neo_primitive_desc *pd = describe_row(row, tag);
    int seen = 0;
    do
        if (pd->implementation->algorithm == &convolution_depthwise) {
            check((const void *)pd->implementation->plan);
            seen++;
        }
    while (neo_primitive_desc_next(pd) == NEO_OK);
    assert_int_equal(seen, 1);
    neo_primitive_desc_destroy(pd);
}

static void check_turned(const struct convolution_depthwise *plan)
{
    check_memory(plan);
    assert_int_equal(plan->shape.out[HEIGHT], 1);
    assert_int_equal(plan->task.out_cols, 400);
    assert_int_equal(plan->task.kw, 9);
}

/* Kernels go along rows; an image that is one pixel wide has one that is a column. */
static void columns_of_pixels_are_rows(void **state)
{
    (void)state;
    static const char *const tags[] = {"nhwc", "nchw"};
    for (size_t i = 0; i < count_of(tags); i++)
        check_row(&(struct row){64, 400, 9, 1}, tags[i], check_turned);
}

/* A thread may run on a core of another kind than the one that a plan was made for. */
static void kernels_of_any_core_have_their_memory(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {32, 10, 7, 1}, {32, 40, 3, 1}, {32, 600, 31, 1}, {31, 40, 87, 3}, {24, 20, 87, 3}};
    for (size_t i = 0; i < count_of(rows); i++)
        check_row(&rows[i], "nwc", check_memory);
}

static void check_planes(const struct convolution_depthwise *plan)
{
    check_memory(plan);
    assert_true(plan->by_plane);
}

/* Their kernels want no more memory for them than there is for a plane. */
static void long_rows_are_done_as_they_are(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {2, 16000, 31, 1}, {2, 24 << 10, 31, 1}, {2, 25 << 10, 31, 1}, {2, 40000, 31, 2}};
    for (size_t i = 0; i < count_of(rows); i++)
        check_row(&rows[i], "ncw", check_planes);
}

/* Planes of so many channels, rows and columns, with padding of half a square kernel but for
 * `less`. */
struct planes_case {
    neo_dim channels, height, width, taps, less;
    bool turns;
};

static void plan_planes(struct convolution_depthwise *plan, const struct planes_case *planes,
                        const struct cpu *cpu)
{
    struct problem problem = {.convolution_algorithm = NEO_CONVOLUTION_DIRECT};
    neo_dim less = 2 * planes->less, channels = planes->channels, taps = planes->taps;
    neo_dim src[] = {1, channels, planes->height, planes->width};
    neo_dim dst[] = {1, channels, planes->height - less, planes->width - less};
    problem.tensors[SRC] = tensor_of(4, src, "nchw");
    problem.tensors[DST] = tensor_of(4, dst, "nchw");
    problem.tensors[WEIGHTS] = tensor_of(5, (neo_dim[]){channels, 1, 1, taps, taps}, "goihw");
    for (int i = 0; i < 2; i++) {
        problem.window.strides[i] = 1;
        problem.window.left[i] = problem.window.right[i] = taps / 2 - planes->less;
    }
    convolution_derive(&problem);
    depthwise_plan(plan, &problem, cpu);
}

/* By the model of docs/measuring.md, on cores that reorder. */
static void planes_are_turned_where_it_is_faster(void **state)
{
    (void)state;
    static const struct planes_case planes[] = {
        {384, 14, 14, 7, 0, true},  {768, 7, 7, 7, 0, false},   {64, 7, 14, 7, 0, true},
        {64, 16, 16, 7, 0, true},   {64, 22, 22, 7, 0, true},   {64, 9, 23, 7, 0, true},
        {64, 5, 14, 7, 0, true},    {60, 14, 14, 7, 0, false},  {64, 14, 14, 7, 1, false},
        {480, 14, 14, 5, 0, false}, {528, 11, 11, 5, 0, true},  {960, 7, 7, 5, 0, false},
        {64, 10, 7, 5, 0, true},    {64, 17, 17, 5, 0, true},   {64, 21, 21, 5, 0, false},
        {64, 9, 9, 3, 0, false},    {64, 200, 10, 7, 0, false},
    };
    for (size_t i = 0; i < 2 * count_of(planes); i++) {
        const struct planes_case *this = &planes[i / 2];
        struct cpu cpu = stated_cpu(i % 2 ? "cortex-a55" : "neoverse-n1", 64 << 10);
        struct convolution_depthwise plan = {0};
        plan_planes(&plan, this, &cpu);
        bool turns = this->turns && !(i % 2) && (cpu.features & CPU_NEON);
        if (plan.turns != turns)
            fail_msg("%d channels of %dx%d, kernel of %d: %s", (int)this->channels,
                     (int)this->height, (int)this->width, (int)this->taps,
                     turns ? "not turned" : "turned");
        check_memory(&plan);
        assert_true(!turns || (plan.channel_block % 8 == 0 && plan.rows >= 5));
    }
}

/* Where each tap would load all of a plane, its rows are copied only if channels fill no vectors;
 * on cores that issue in order those for 5x5 are never copied then. */
static void planes_of_many_channels_are_not_copied(void **state)
{
    (void)state;
    static const struct planes_case planes[] = {
        {16, 28, 28, 7, 0, true},  {15, 28, 28, 7, 0, false}, {64, 28, 28, 3, 0, false},
        {64, 28, 28, 5, 0, false}, {64, 30, 30, 5, 0, true},  {15, 30, 30, 5, 0, false},
        {24, 11, 11, 2, 0, true},  {9, 11, 11, 2, 0, false},
    };
    for (size_t i = 0; i < 2 * count_of(planes); i++) {
        const struct planes_case *this = &planes[i / 2];
        struct cpu cpu = stated_cpu(i % 2 ? "cortex-a55" : "neoverse-n1", 64 << 10);
        struct convolution_depthwise plan = {0};
        plan_planes(&plan, this, &cpu);
        bool copies = !this->turns || (this->taps == 5 && !(i % 2));
        if ((cpu.features & CPU_NEON) && plan.by_plane != copies)
            fail_msg("%d channels of %dx%d, kernel of %d: %s", (int)this->channels,
                     (int)this->height, (int)this->width, (int)this->taps,
                     copies ? "interleaved" : "copied");
        /* and what kernels for interleaved channels like is not asked of those for planes */
        if ((cpu.features & CPU_NEON) && this->turns && this->taps == 7)
            assert_true(plan.tile_rows > DEPTHWISE_SLIDING_ROWS);
        check_memory(&plan);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_have_places),
        cmocka_unit_test(parts_of_dilated_images_have_rows_that_stay),
        cmocka_unit_test(more_ways_are_more_places),
#if !NEO_PORTABLE
        cmocka_unit_test(each_kind_of_core_has_its_kernel),
#endif
        cmocka_unit_test(columns_of_pixels_are_rows),
        cmocka_unit_test(kernels_of_any_core_have_their_memory),
        cmocka_unit_test(long_rows_are_done_as_they_are),
        cmocka_unit_test(planes_are_turned_where_it_is_faster),
        cmocka_unit_test(planes_of_many_channels_are_not_copied),
    };
    return cmocka_run_group_tests_name("convolution_depthwise", tests, session_setup,
                                       session_teardown);
}
