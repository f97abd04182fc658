/* Matrix multiplication against loops: layouts, batches, run-time sizes, bias masks,
 * post-operations. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/support/operands.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* One problem: sizes, tags ("any" weights are packed by a reorder), bias mask (-1: none). */
struct row {
    const char *name;
    int ndims;
    neo_dim src[5], weights[5], dst[5];
    const char *src_tag, *weights_tag, *dst_tag;
    int bias_mask;
    int runtime; /* every size is known only at run time */
};

/* What all rows are run with: post-operations, and what they make of a sum. */
struct variant {
    const neo_attributes *attributes;
    float (*finish)(float value, float old); /* or NULL */
    const struct operands *operands;         /* or NULL */
    neo_dim bias_step;                       /* from one value to the next; 0: 1 */
};

struct expected {
    const struct tensor *src, *weights, *bias, *old;
    struct tensor *dst;
    neo_dim k;
    const struct variant *variant;
};

static void check_element(void *context, const neo_dim *position)
{
    const struct expected *e = context;
    int last = e->dst->desc.ndims - 1;
    neo_dim a[NEO_MAX_NDIMS], b[NEO_MAX_NDIMS];
    memcpy(a, position, sizeof a);
    memcpy(b, position, sizeof b);
    float sum = 0;
    for (neo_dim p = 0; p < e->k; p++) {
        a[last] = b[last - 1] = p;
        sum += *tensor_at(e->src, a) * *tensor_at(e->weights, b);
    }
    if (e->bias)
        sum += *tensor_at(e->bias, position);
    if (e->variant->finish)
        sum = e->variant->finish(sum, *tensor_at(e->old, position));
    if (e->variant->operands)
        sum = operands_apply(e->variant->operands, sum, position);
    float got = *tensor_at(e->dst, position);
    if (got != sum)
        fail_msg("at %d,%d: got %g, want %g", (int)position[last - 1], (int)position[last],
                 (double)got, (double)sum);
}

static neo_memory_desc runtime_desc(const neo_memory_desc *desc)
{
    neo_dim dims[NEO_MAX_NDIMS], strides[NEO_MAX_NDIMS];
    neo_memory_desc out;
    for (int i = 0; i < desc->ndims; i++)
        dims[i] = strides[i] = NEO_RUNTIME_DIM;
    assert_int_equal(neo_memory_desc_init_strides(&out, desc->ndims, dims, NEO_F32, strides),
                     NEO_OK);
    return out;
}

static neo_memory_desc row_desc(const struct row *row, const neo_dim *dims, const char *tag)
{
    return tensor_desc(row->ndims, dims, tag);
}

static const char plain_tags[][6] = {"", "a", "ab", "abc", "abcd", "abcde"};

static neo_memory_desc bias_of(const struct row *row, neo_dim step)
{
    neo_dim dims[5];
    for (int i = 0; i < row->ndims; i++)
        dims[i] = row->bias_mask >> i & 1 ? row->dst[i] : 1;
    neo_memory_desc bias = tensor_desc(row->ndims, dims, plain_tags[row->ndims]);
    for (int i = 0; step && i < row->ndims; i++)
        bias.strides[i] *= step;
    return bias;
}

/* What a row asks for, and what it is given. */
struct row_descs {
    neo_matmul_desc desc;
    neo_memory_desc src, weights, dst, bias; /* actual ones; weights are plain */
};

static void describe_row(struct row_descs *d, const struct row *row, neo_dim bias_step)
{
    d->desc = (neo_matmul_desc){
        .src = row_desc(row, row->src, row->src_tag),
        .weights = row_desc(row, row->weights, row->weights_tag),
        .dst = row_desc(row, row->dst, row->dst_tag),
    };
    if (row->bias_mask >= 0)
        d->desc.bias = bias_of(row, bias_step);
    d->src = d->desc.src, d->dst = d->desc.dst, d->bias = d->desc.bias;
    d->weights = strcmp(row->weights_tag, "any")
                     ? d->desc.weights
                     : row_desc(row, row->weights, plain_tags[row->ndims]);
    if (!row->runtime)
        return;
    d->desc.src = runtime_desc(&d->desc.src);
    d->desc.weights = runtime_desc(&d->desc.weights);
    d->desc.dst = runtime_desc(&d->desc.dst);
    if (row->bias_mask >= 0)
        d->desc.bias = runtime_desc(&d->desc.bias);
}

/* The index-th implementation, or NULL. */
static neo_primitive_desc *implementation_at(const neo_matmul_desc *desc,
                                             const neo_attributes *attributes, int index)
{
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, desc, attributes), NEO_OK);
    neo_status status = NEO_OK;
    for (int i = 0; i < index && status == NEO_OK; i++)
        status = neo_primitive_desc_next(pd);
    if (status == NEO_OK)
        return pd;
    assert_int_equal(status, NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
    return NULL;
}

/* The index-th implementation of a row; false if there are not so many. */
static bool run_one(const struct row *row, const struct variant *variant, int index)
{
    struct row_descs d;
    describe_row(&d, row, variant->bias_step);
    neo_primitive_desc *pd = implementation_at(&d.desc, variant->attributes, index);
    if (!pd)
        return false;
    if (!row->runtime) {
        d.src = *neo_primitive_desc_query(pd, NEO_ARG_SRC);
        d.dst = *neo_primitive_desc_query(pd, NEO_ARG_DST);
    }
    struct tensor src = tensor_make(engine, &d.src, 3),
                  weights = tensor_make(engine, &d.weights, 7);
    struct tensor dst = tensor_make(engine, &d.dst, 9), old = tensor_make(engine, &d.dst, 9);
    struct tensor packed = {0}, bias = {0};
    if (row->bias_mask >= 0)
        bias = tensor_make(engine, &d.bias, 5);
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    if (!row->runtime && !neo_memory_desc_equal(chosen, &d.weights))
        packed = tensor_reordered(engine, stream, &weights, chosen);
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[4 + OPERAND_COUNT] = {
        {NEO_ARG_SRC, src.memory},
        {NEO_ARG_WEIGHTS, packed.memory ? packed.memory : weights.memory},
        {NEO_ARG_DST, dst.memory},
        {NEO_ARG_BIAS, bias.memory},
    };
    int count = bias.memory ? 4 : 3;
    if (variant->operands) {
        operands_set(variant->operands, args + count);
        count += OPERAND_COUNT;
    }
    assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
    struct expected expected = {.src = &src,
                                .weights = &weights,
                                .bias = bias.memory ? &bias : NULL,
                                .old = &old,
                                .dst = &dst,
                                .k = row->src[row->ndims - 1],
                                .variant = variant};
    tensor_for_each(row->ndims, row->dst, check_element, &expected);
    tensor_check_gaps(&dst);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    struct tensor *all[] = {&src, &weights, &dst, &old, &bias, &packed};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    return true;
}

/* By every implementation that serves it. */
static void run_row(const struct row *row, const struct variant *variant)
{
    int count = 0;
    while (run_one(row, variant, count))
        count++;
    assert_true(count > 0);
}

static const struct row rows[] = {
    {"one", 2, {1, 1}, {1, 1}, {1, 1}, "ab", "ab", "ab", -1, 0},
    {"plain", 2, {17, 19}, {19, 23}, {17, 23}, "ab", "ab", "ab", 2, 0},
    {"packed", 2, {17, 19}, {19, 23}, {17, 23}, "ab", "any", "ab", 2, 0},
    {"all any", 2, {9, 40}, {40, 64}, {9, 64}, "any", "any", "any", -1, 0},
    {"transposed src", 2, {33, 7}, {7, 13}, {33, 13}, "ba", "ab", "ab", 0, 0},
    {"transposed weights", 2, {33, 7}, {7, 13}, {33, 13}, "ab", "ba", "ab", 1, 0},
    {"transposed dst", 2, {33, 7}, {7, 13}, {33, 13}, "ab", "ab", "ba", 3, 0},
    {"all transposed", 2, {10, 70}, {70, 49}, {10, 49}, "ba", "ba", "ba", 2, 0},
    {"deep", 2, {11, 1300}, {1300, 26}, {11, 26}, "ab", "ab", "ab", 2, 0},
    {"deep, packed, transposed dst", 2, {11, 1300}, {1300, 26}, {11, 26}, "ab", "any", "ba", 1, 0},
    {"one row", 2, {1, 77}, {77, 101}, {1, 101}, "ab", "any", "ab", 2, 0},
    {"one column", 2, {101, 77}, {77, 1}, {101, 1}, "ab", "ab", "ab", 1, 0},
    {"no depth", 2, {5, 0}, {0, 6}, {5, 6}, "ab", "ab", "ab", 2, 0},
    {"no rows", 2, {0, 4}, {4, 6}, {0, 6}, "ab", "ab", "ab", -1, 0},
    {"batch", 3, {3, 5, 6}, {3, 6, 7}, {3, 5, 7}, "abc", "abc", "abc", 4, 0},
    {"batch, src broadcast", 3, {1, 5, 6}, {3, 6, 7}, {3, 5, 7}, "abc", "any", "abc", 7, 0},
    {"weights repeated", 4, {2, 3, 5, 6}, {1, 3, 6, 7}, {2, 3, 5, 7}, "abcd", "abdc", "acbd", 9, 0},
    {"five", 5, {2, 1, 2, 4, 3}, {1, 3, 2, 3, 5}, {2, 3, 2, 4, 5}, "abcde", "any", "abcde", 16, 0},
    {"eight", 2, {8, 8}, {8, 8}, {8, 8}, "ab", "any", "ab", 2, 0},
    {"23", 2, {23, 23}, {23, 23}, {23, 23}, "ab", "any", "ab", 2, 0},
    {"depth below a vector", 2, {9, 3}, {3, 21}, {9, 21}, "ab", "ab", "ab", 2, 0},
    {"depth 1", 2, {6, 1}, {1, 30}, {6, 30}, "ab", "any", "ab", -1, 0},
    {"two columns", 2, {31, 9}, {9, 2}, {31, 2}, "ab", "ab", "ab", 2, 0},
    {"three columns", 2, {31, 9}, {9, 3}, {31, 3}, "ab", "ab", "ab", 2, 0},
    {"one row, plain", 2, {1, 33}, {33, 111}, {1, 111}, "ab", "ab", "ab", 2, 0},
    {"one row, many panels", 2, {1, 61}, {61, 116}, {1, 116}, "ab", "any", "ab", 2, 0},
    {"one row, transposed weights", 2, {1, 45}, {45, 21}, {1, 21}, "ab", "ba", "ab", 2, 0},
    {"one column, one run of weights", 2, {37, 70}, {70, 1}, {37, 1}, "ab", "ba", "ab", 0, 0},
    {"two rows", 2, {2, 40}, {40, 71}, {2, 71}, "ab", "ab", "ab", 2, 0},
    {"three rows, plain", 2, {3, 37}, {37, 99}, {3, 99}, "ab", "ab", "ab", -1, 0},
    {"four rows", 2, {4, 50}, {50, 110}, {4, 110}, "ab", "any", "ab", 2, 0},
    {"sixteen rows", 2, {16, 50}, {50, 57}, {16, 57}, "ab", "any", "ab", 2, 0},
    {"many small", 3, {20, 8, 8}, {20, 8, 8}, {20, 8, 8}, "abc", "abc", "abc", 4, 0},
    {"many small, strided", 3, {6, 5, 9}, {6, 9, 11}, {6, 5, 11}, "bac", "bac", "bac", 4, 0},
    {"one column, transposed src", 2, {37, 70}, {70, 1}, {37, 1}, "ba", "ab", "ab", 1, 0},
    {"two columns, transposed src", 2, {37, 70}, {70, 2}, {37, 2}, "ba", "ab", "ab", 2, 0},
    {"transposed weights, ragged", 2, {13, 34}, {34, 43}, {13, 43}, "ab", "ba", "ab", 2, 0},
    {"transposed operands", 2, {23, 29}, {29, 31}, {23, 31}, "ba", "ba", "ab", 2, 0},
    {"transposed src, packed", 2, {21, 18}, {18, 30}, {21, 30}, "ba", "any", "ab", 2, 0},
    {"transposed src of one column", 2, {15, 1}, {1, 17}, {15, 17}, "ba", "ab", "ab", 1, 0},
    {"transposed dst, bias by row", 2, {14, 21}, {21, 19}, {14, 19}, "ba", "ab", "ba", 1, 0},
    {"queries and keys",
     4,
     {2, 3, 9, 16},
     {2, 3, 16, 11},
     {2, 3, 9, 11},
     "abcd",
     "abdc",
     "abcd",
     -1,
     0},
    {"heads between rows",
     4,
     {2, 3, 9, 16},
     {2, 3, 16, 11},
     {2, 3, 9, 11},
     "acbd",
     "acdb",
     "acbd",
     8,
     0},
    {"transposed batch", 3, {3, 12, 7}, {1, 7, 18}, {3, 12, 18}, "acb", "acb", "acb", 4, 0},
    {"few columns, fewer rows", 2, {2, 9}, {9, 3}, {2, 3}, "ab", "ab", "ab", 2, 0},
    {"long rows", 2, {3, 7}, {7, 601}, {3, 601}, "ab", "any", "ab", 2, 0},
    {"any src, transposed dst", 2, {14, 21}, {21, 19}, {14, 19}, "any", "ab", "ba", 2, 0},
    {"rows in parts", 2, {300, 40}, {40, 75}, {300, 75}, "ab", "any", "ab", 2, 0},
    {"rows in parts, plain", 2, {300, 40}, {40, 75}, {300, 75}, "ab", "ab", "ab", 2, 0},
    {"columns in parts", 2, {300, 40}, {40, 75}, {300, 75}, "ba", "ab", "ab", 1, 0},
    {"rows in parts of two", 3, {2, 300, 2}, {2, 2, 256}, {2, 300, 256}, "abc", "any", "abc", 4, 0},
    {"run-time sizes", 2, {17, 19}, {19, 23}, {17, 23}, "ab", "ba", "ab", 2, 1},
    {"run-time batch", 3, {3, 5, 300}, {3, 300, 7}, {3, 5, 7}, "abc", "abc", "acb", 4, 1},
};

static void layouts_and_batches(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        print_message("  %s\n", rows[i].name);
        run_row(&rows[i], &(struct variant){0});
        run_row(&rows[i], &(struct variant){.bias_step = 3});
    }
}

/* Every way in which packed weights end, and panels are put side by side. */
static void few_rows_by_packed_weights_of_any_width(void **state)
{
    (void)state;
    for (neo_dim m = 1; m <= 6; m++)
        for (neo_dim n = 1; n <= 100; n += m < 4 ? 1 : 3) {
            struct row row = {"few rows", 2, {m, 5}, {5, n}, {m, n}, "ab", "any", "ab", 2, 0};
            run_row(&row, &(struct variant){0});
        }
}

static float relu(float value, float old)
{
    (void)old;
    return value > 0 ? value : 0;
}

static float leaky(float value, float old)
{
    (void)old;
    return value > 0 ? value : 0.5f * value;
}

static float sum_linear(float value, float old)
{
    return 0.5f * (value + 2 * (old - 1)) + 3;
}

static void post_operations_are_applied(void **state)
{
    (void)state;
    neo_attributes *clamp, *leak, *chain;
    assert_int_equal(neo_attributes_create(&leak), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(leak, NEO_ELTWISE_RELU, 0.5f, 0), NEO_OK);
    assert_int_equal(neo_attributes_create(&clamp), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(clamp, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    assert_int_equal(neo_attributes_create(&chain), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(chain, 2, 1, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(chain, NEO_ELTWISE_LINEAR, 0.5f, 3), NEO_OK);
    for (size_t i = 0; i < count_of(rows); i++) {
        run_row(&rows[i], &(struct variant){.attributes = clamp, .finish = relu});
        run_row(&rows[i], &(struct variant){.attributes = leak, .finish = leaky});
        run_row(&rows[i], &(struct variant){.attributes = chain, .finish = sum_linear});
    }
    neo_attributes_destroy(clamp);
    neo_attributes_destroy(leak);
    neo_attributes_destroy(chain);
}

static void operands_of_post_operations_are_read_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        struct operands operands = operands_make(engine, rows[i].ndims, rows[i].dst);
        run_row(&rows[i],
                &(struct variant){.attributes = operands.attributes, .operands = &operands});
        operands_free(&operands);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_and_batches),
        cmocka_unit_test(few_rows_by_packed_weights_of_any_width),
        cmocka_unit_test(post_operations_are_applied),
        cmocka_unit_test(operands_of_post_operations_are_read_where_they_belong),
    };
    return cmocka_run_group_tests_name("matmul", tests, session_setup, session_teardown);
}
