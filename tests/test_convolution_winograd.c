/* Winograd's algorithm: error bounds on reals, exactness where it is exact; chosen rows and random
 * ones, of which NEO_TEST_ROUND makes one alone. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/support/fill.h"
#include "tests/support/operands.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

#include "src/primitive/engine.h"

/* kernel: {0, 0} is 3 x 3; {0, 3} has one dimension. */
struct row {
    const char *name;
    neo_dim batch, ic, oc, height, width, pad[2], right[2];
    const char *src_tag, *dst_tag;
    bool grouped;
    neo_dim kernel[2];
};

/* Sizes with every remainder of 2, 4 and 6. */
static const struct row rows[] = {
    {"one tile", 1, 4, 4, 4, 4, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"7 x 7", 1, 33, 26, 7, 7, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"one output", 1, 5, 3, 3, 3, {0, 0}, {0, 0}, "nhwc", "nhwc", true, {0, 0}},
    {"5 x 11", 2, 8, 13, 5, 11, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"10 x 9, no padding", 1, 16, 24, 12, 11, {0, 0}, {0, 0}, "nhwc", "nhwc", false, {0, 0}},
    {"14 x 14", 1, 20, 16, 14, 14, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"much padding", 1, 7, 9, 3, 8, {4, 2}, {3, 5}, "nhwc", "nhwc", false, {0, 0}},
    {"many strips", 1, 6, 5, 37, 43, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"nchw", 2, 21, 14, 8, 13, {1, 1}, {1, 1}, "nchw", "nchw", true, {0, 0}},
    {"nchw of few channels", 1, 5, 1, 9, 12, {1, 0}, {0, 1}, "nchw", "nchw", false, {0, 0}},
    {"nchw to nhwc", 1, 18, 4, 6, 6, {1, 1}, {1, 1}, "nchw", "nhwc", false, {0, 0}},
    {"nhwc to nchw", 1, 18, 4, 6, 6, {1, 1}, {1, 1}, "nhwc", "nchw", false, {0, 0}},
    {"odd order", 2, 6, 7, 6, 5, {1, 1}, {1, 1}, "chwn", "dcab", false, {0, 0}},
    {"one channel, images inside", 3, 6, 1, 9, 11, {1, 1}, {1, 1}, "nhwc", "chwn", false, {0, 0}},
    {"3 x 1", 2, 9, 14, 13, 5, {1, 0}, {1, 0}, "nhwc", "nhwc", false, {3, 1}},
    {"1 x 3", 2, 12, 13, 3, 20, {0, 1}, {0, 1}, "nhwc", "nhwc", true, {1, 3}},
    {"3 x 1, nchw", 1, 21, 10, 9, 7, {2, 0}, {0, 1}, "nchw", "nchw", false, {3, 1}},
    {"1 x 3, nchw", 1, 6, 9, 4, 11, {0, 1}, {0, 1}, "nchw", "nchw", false, {1, 3}},
    {"3", 2, 16, 13, 1, 500, {0, 1}, {0, 1}, "nwc", "nwc", false, {0, 3}},
    {"3, rounds that turn back", 1, 1500, 26, 1, 100, {0, 1}, {0, 1}, "nwc", "nwc", false, {0, 3}},
    {"3, one tile", 1, 4, 4, 1, 4, {0, 0}, {0, 0}, "nwc", "nwc", true, {0, 3}},
    {"3, ncw", 1, 35, 5, 1, 35, {0, 2}, {0, 0}, "ncw", "ncw", false, {0, 3}},
    {"3, ncw to nwc", 1, 7, 9, 1, 17, {0, 1}, {0, 1}, "ncw", "nwc", false, {0, 3}},
};

/* Post-operations, and what they make of a sum. */
struct chain {
    const neo_attributes *attributes;
    float (*finish)(float value, float old); /* or NULL */
    const struct operands *operands;         /* or NULL */
};

struct problem {
    const struct row *row;
    struct tensor src, weights, bias, dst, old;
    const struct chain *chain;
    double factor; /* of the error bound; 0: exact */
    double worst;
};

static bool is_line(const struct row *row)
{
    return row->kernel[0] == 0 && row->kernel[1] > 0;
}

static neo_dim taps_of(const struct row *row, int dimension)
{
    return row->kernel[dimension] ? row->kernel[dimension] : is_line(row) ? 1 : 3;
}

/* Dimensions as {…, height, width}, of a tensor that may have no height: `before` are not of space.
 */
static neo_memory_desc image_desc(const struct row *row, int before, const neo_dim *dims,
                                  const char *tag)
{
    neo_dim line[5];
    memcpy(line, dims, (size_t)before * sizeof *line);
    line[before] = dims[before + 1];
    return is_line(row) ? tensor_desc(before + 1, line, tag) : tensor_desc(before + 2, dims, tag);
}

static const float *image_at(const struct problem *p, const struct tensor *tensor, neo_dim n,
                             neo_dim c, neo_dim y, neo_dim x)
{
    return tensor_at(tensor, is_line(p->row) ? (neo_dim[]){n, c, x} : (neo_dim[]){n, c, y, x});
}

/* Elements of src that any output of a tile that (y, x) may belong to depends on: their largest
 * magnitude. */
static double largest_source(const struct problem *p, const neo_dim *at, neo_dim channel)
{
    double largest = 0;
    neo_dim down = taps_of(p->row, 0) == 1 ? 0 : 7, across = taps_of(p->row, 1) == 1 ? 0 : 7;
    neo_dim top = at[2] - p->row->pad[0], left = at[3] - p->row->pad[1];
    for (neo_dim y = top - down; y <= top + down; y++)
        for (neo_dim x = left - across; x <= left + across; x++)
            if (y >= 0 && y < p->row->height && x >= 0 && x < p->row->width)
                largest = fmax(largest, fabs((double)*image_at(p, &p->src, at[0], channel, y, x)));
    return largest;
}

struct sums {
    double value, bound;
};

static struct sums convolve(const struct problem *p, const neo_dim *at)
{
    struct sums sums = {0, 0};
    neo_dim w[5] = {0}, kernel[] = {taps_of(p->row, 0), taps_of(p->row, 1)};
    int first = p->row->grouped, last = p->weights.desc.ndims - 1;
    for (neo_dim c = 0; c < p->row->ic; c++) {
        double largest = 0;
        for (neo_dim tap = 0; tap < kernel[0] * kernel[1]; tap++) {
            neo_dim down = tap / kernel[1], across = tap % kernel[1];
            w[last - 1] = down, w[last] = across, w[first] = at[1], w[first + 1] = c;
            double weight = (double)*tensor_at(&p->weights, w);
            neo_dim y = at[2] - p->row->pad[0] + down, x = at[3] - p->row->pad[1] + across;
            largest = fmax(largest, fabs(weight));
            if (y >= 0 && y < p->row->height && x >= 0 && x < p->row->width)
                sums.value += weight * (double)*image_at(p, &p->src, at[0], c, y, x);
        }
        if (p->factor > 0)
            sums.bound += (double)(kernel[0] * kernel[1]) * largest * largest_source(p, at, c);
    }
    return sums;
}

static void check_element(void *context, const neo_dim *position)
{
    struct problem *p = context;
    bool line = is_line(p->row);
    neo_dim at[] = {position[0], position[1], line ? 0 : position[2], position[line ? 2 : 3]};
    struct sums want = convolve(p, at);
    float value = (float)(want.value + (double)p->bias.data[position[1]]);
    if (p->chain->finish)
        value = p->chain->finish(value, *tensor_at(&p->old, position));
    if (p->chain->operands)
        value = operands_apply(p->chain->operands, value, position);
    double got = (double)*tensor_at(&p->dst, position), error = fabs(got - (double)value);
    double unit = want.bound * 0x1p-24 + fabs((double)value) * 0x1p-23;
    if (!(error <= p->factor * unit))
        fail_msg("%s: at %d %d %d %d: got %g, want %g: the error is %g of a bound of %g",
                 p->row->name, (int)at[0], (int)at[1], (int)at[2], (int)at[3], got, (double)value,
                 error, p->factor * unit);
    if (want.bound > 0)
        p->worst = fmax(p->worst, error / unit);
}

static neo_convolution_desc row_desc(const struct row *row, neo_convolution_algorithm algorithm)
{
    neo_dim kernel[] = {taps_of(row, 0), taps_of(row, 1)};
    neo_dim height = row->height + row->pad[0] + row->right[0] - kernel[0] + 1;
    neo_dim width = row->width + row->pad[1] + row->right[1] - kernel[1] + 1;
    neo_dim grouped[] = {1, row->oc, row->ic, kernel[0], kernel[1]};
    int line = is_line(row);
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = algorithm,
        .src = image_desc(row, 2, (neo_dim[]){row->batch, row->ic, row->height, row->width},
                          row->src_tag),
        .weights = row->grouped ? image_desc(row, 3, grouped, "any")
                                : image_desc(row, 2, grouped + 1, "any"),
        .bias = tensor_desc(1, &row->oc, "a"),
        .dst = image_desc(row, 2, (neo_dim[]){row->batch, row->oc, height, width}, row->dst_tag),
        .strides = {1, 1},
        .padding_left = {row->pad[line], row->pad[1]},
        .padding_right = {row->right[line], row->right[1]},
    };
    return desc;
}

struct filling {
    struct tensor *tensor;
    uint32_t *seed;
};

static void fill_real(void *context, const neo_dim *position)
{
    struct filling *filling = context;
    fill_reals(tensor_at(filling->tensor, position), 1, filling->seed);
}

static void make_reals(struct tensor *tensor, uint32_t *seed)
{
    struct filling filling = {tensor, seed};
    tensor_for_each(tensor->desc.ndims, tensor->desc.dims, fill_real, &filling);
}

static void execute(const neo_primitive_desc *pd, struct problem *p, struct tensor *packed)
{
    neo_exec_arg args[4 + OPERAND_COUNT] = {{NEO_ARG_SRC, p->src.memory},
                                            {NEO_ARG_WEIGHTS, packed->memory},
                                            {NEO_ARG_BIAS, p->bias.memory},
                                            {NEO_ARG_DST, p->dst.memory}};
    if (p->chain->operands)
        operands_set(p->chain->operands, args + 4);
    int count = p->chain->operands ? 4 + OPERAND_COUNT : 4;
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
    neo_primitive_destroy(primitive);
}

static double factor_of(const struct row *row, const char *name)
{
    double factor = strstr(name, "winograd_2")   ? NEO_WINOGRAD_ERROR_2
                    : strstr(name, "winograd_4") ? NEO_WINOGRAD_ERROR_4
                                                 : NEO_WINOGRAD_ERROR_6;
    return taps_of(row, 0) == 1 || taps_of(row, 1) == 1 ? 2 * sqrt(factor) : factor;
}

static double check_implementation(const struct row *row, const neo_primitive_desc *pd, bool reals,
                                   const struct chain *chain)
{
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    const neo_memory_desc *dst = neo_primitive_desc_query(pd, NEO_ARG_DST);
    static const char *const tags[] = {[3] = "abc", [4] = "abcd", [5] = "abcde"};
    neo_memory_desc plain = tensor_desc(chosen->ndims, chosen->dims, tags[chosen->ndims]);
    uint32_t seed = fill_seed();
    struct problem p = {
        .row = row,
        .src = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_SRC), 3),
        .weights = tensor_make(engine, &plain, 7),
        .bias = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_BIAS), 5),
        .dst = tensor_make(engine, dst, 9),
        .old = tensor_make(engine, dst, 9),
        .chain = chain,
        .factor = reals ? factor_of(row, neo_primitive_desc_implementation(pd)) : 0,
    };
    if (reals) {
        make_reals(&p.src, &seed);
        make_reals(&p.weights, &seed);
    }
    struct tensor packed = tensor_reordered(engine, stream, &p.weights, chosen);
    execute(pd, &p, &packed);
    tensor_for_each(dst->ndims, dst->dims, check_element, &p);
    tensor_check_gaps(&p.dst);
    struct tensor *all[] = {&p.src, &p.weights, &p.bias, &p.dst, &p.old, &packed};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    return p.worst;
}

static void check_row(const struct row *row, bool reals, const struct chain *chain)
{
    neo_convolution_desc desc = row_desc(row, NEO_CONVOLUTION_WINOGRAD);
    neo_primitive_desc *pd;
    int counts[2] = {0, 0}; /* transposed ones: for all sizes of tiles or for none */
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, chain->attributes),
                     NEO_OK);
    do {
        const char *name = neo_primitive_desc_implementation(pd);
        assert_non_null(strstr(name, "winograd"));
        counts[strstr(name, "transposed") != NULL]++;
        if (!reals && !strstr(name, "winograd_2"))
            continue;
        double worst = check_implementation(row, pd, reals, chain);
        print_message("  %s: %s: %.1f\n", row->name, name, worst);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    assert_int_equal(counts[0], 3);
    assert_true(counts[1] == 3 || counts[1] == 0);
    neo_primitive_desc_destroy(pd);
}

static void check_rows(bool reals, const struct chain *chain)
{
    for (size_t i = 0; i < count_of(rows); i++)
        check_row(&rows[i], reals, chain);
}

static void errors_are_within_the_stated_bounds(void **state)
{
    (void)state;
    check_rows(true, &(struct chain){0});
}

/* Its matrices have no other fractions than powers of 2. */
static void tiles_of_2_are_exact_on_integers(void **state)
{
    (void)state;
    check_rows(false, &(struct chain){0});
}

static float clamp(float value, float old)
{
    (void)old;
    return value < -3 ? -3 : value > 20 ? 20 : value;
}

static float sum_linear(float value, float old)
{
    return 0.5f * (value + 2 * (old - 1)) + 3;
}

static float linear(float value, float old)
{
    (void)old;
    return 0.5f * value + 3;
}

static void post_operations_are_applied(void **state)
{
    (void)state;
    neo_attributes *clip, *sum, *affine;
    assert_int_equal(neo_attributes_create(&clip), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(clip, NEO_ELTWISE_CLIP, -3, 20), NEO_OK);
    assert_int_equal(neo_attributes_create(&sum), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(sum, 2, 1, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(sum, NEO_ELTWISE_LINEAR, 0.5f, 3), NEO_OK);
    assert_int_equal(neo_attributes_create(&affine), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(affine, NEO_ELTWISE_LINEAR, 0.5f, 3), NEO_OK);
    check_rows(false, &(struct chain){clip, clamp, NULL});
    check_rows(false, &(struct chain){sum, sum_linear, NULL});
    check_rows(false, &(struct chain){affine, linear, NULL});
    neo_attributes_destroy(clip);
    neo_attributes_destroy(sum);
    neo_attributes_destroy(affine);
}

static void operands_of_post_operations_are_read_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_convolution_desc desc = row_desc(&rows[i], NEO_CONVOLUTION_WINOGRAD);
        struct operands operands = operands_make(engine, desc.dst.ndims, desc.dst.dims);
        check_row(&rows[i], false, &(struct chain){operands.attributes, NULL, &operands});
        operands_free(&operands);
    }
}

/* Winograd wants four input channels. */
static const neo_dim ic_choices[] = {4, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 33, 50};
static const neo_dim oc_choices[] = {1, 1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 24, 33, 50};
static const neo_dim size_choices[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 17, 26};
static const neo_dim kernel_choices[][2] = {{0, 0}, {0, 0}, {1, 3}, {3, 1}, {0, 3}};
static const char *const plane_tags[] = {"nhwc", "nhwc", "nchw", "nchw", "chwn", "dcab", "acbd"};
static const char *const line_tags[] = {"nwc", "nwc", "ncw", "ncw", "bca", "cab", "cba"};

/* Paddings of up to two pixels more than the kernel reaches. */
static void choose_space(struct row *row, int dimension, uint64_t *seed)
{
    neo_dim *size = dimension ? &row->width : &row->height, taps = taps_of(row, dimension);
    *size = RANDOM_OF(size_choices, seed);
    row->pad[dimension] = (neo_dim)random_below(seed, (size_t)taps + 2);
    row->right[dimension] = (neo_dim)random_below(seed, (size_t)taps + 2);
    if (*size + row->pad[dimension] + row->right[dimension] < taps)
        row->right[dimension] = taps;
}

static struct row choose_row(uint64_t *seed)
{
    struct row row = {.name = "random",
                      .batch = 1 + (neo_dim)random_below(seed, 3),
                      .ic = RANDOM_OF(ic_choices, seed),
                      .oc = RANDOM_OF(oc_choices, seed),
                      .grouped = random_below(seed, 4) == 0};
    memcpy(row.kernel, RANDOM_OF(kernel_choices, seed), sizeof row.kernel);
    if (is_line(&row))
        row.height = 1;
    else
        choose_space(&row, 0, seed);
    choose_space(&row, 1, seed);
    row.src_tag = is_line(&row) ? RANDOM_OF(line_tags, seed) : RANDOM_OF(plane_tags, seed);
    row.dst_tag = is_line(&row) ? RANDOM_OF(line_tags, seed) : RANDOM_OF(plane_tags, seed);
    return row;
}

static void check_round(size_t round)
{
    uint64_t seed = round;
    struct row row = choose_row(&seed);
    neo_convolution_desc desc = row_desc(&row, NEO_CONVOLUTION_WINOGRAD);
    struct operands operands = operands_make(engine, desc.dst.ndims, desc.dst.dims);
    const struct chain chains[] = {{0}, {operands.attributes, NULL, &operands}};
    print_message("round %zu: %s -> %s, %d images, %d to %d channels, %d x %d, kernel %d x %d\n",
                  round, row.src_tag, row.dst_tag, (int)row.batch, (int)row.ic, (int)row.oc,
                  (int)row.height, (int)row.width, (int)taps_of(&row, 0), (int)taps_of(&row, 1));
    check_row(&row, false, &RANDOM_OF(chains, &seed));
    check_row(&row, true, &chains[0]);
    operands_free(&operands);
}

static void random_rows_are_exact_or_within_the_bounds(void **state)
{
    (void)state;
    rounds_run(60, 3000, check_round);
}

/* ---- caches of other sizes ---- */

/* With few channels, so that products are few, enough of them at a point for one round of all
 * panels: tiles of several sizes, panels of two widths, several strips; of one dimension, of one
 * strip. */
static const struct row one_round[] = {
    {"33 x 33", 1, 48, 34, 33, 33, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"3, one round", 1, 64, 44, 1, 420, {0, 1}, {0, 1}, "nwc", "nwc", false, {0, 3}},
};

/* An engine of its own, as the other one has primitives for these problems. */
static void blocks_for_small_caches_change_no_result(void **state)
{
    (void)state;
    neo_engine *usual = engine;
    neo_stream *usual_stream = stream;
    assert_int_equal(session_setup(NULL), 0);
    struct cpu small = *engine->cpu;
    small.l1_bytes = 8 << 10;
    small.l2_bytes = 64 << 10;
    engine->cpu = &small;
    for (size_t i = 0; i < count_of(one_round); i++)
        check_row(&one_round[i], true, &(struct chain){0});
    session_teardown(NULL);
    engine = usual;
    stream = usual_stream;
}

/* A reorder back would not give the weights that were packed. */
static void transformed_weights_are_not_given_back(void **state)
{
    (void)state;
    neo_convolution_desc desc = row_desc(&rows[0], NEO_CONVOLUTION_WINOGRAD);
    neo_primitive_desc *pd, *back;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_memory_desc plain = tensor_desc(4, (neo_dim[]){4, 4, 3, 3}, "oihw");
    assert_int_equal(
        neo_reorder_primitive_desc_create(
            &back, engine, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), &plain, NULL),
        NEO_UNSUPPORTED);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_within_the_stated_bounds),
        cmocka_unit_test(tiles_of_2_are_exact_on_integers),
        cmocka_unit_test(post_operations_are_applied),
        cmocka_unit_test(operands_of_post_operations_are_read_where_they_belong),
        cmocka_unit_test(random_rows_are_exact_or_within_the_bounds),
        cmocka_unit_test(blocks_for_small_caches_change_no_result),
        cmocka_unit_test(transformed_weights_are_not_given_back),
    };
    return cmocka_run_group_tests_name("convolution_winograd", tests, session_setup,
                                       session_teardown);
}
