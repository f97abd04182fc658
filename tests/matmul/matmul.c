/* Matrix multiplication against loops: layouts, batches, run-time sizes, bias masks,
 * post-operations. */
#include "tests/support/test.h"

#include "tests/support/cases/divided.h"
#include "tests/support/cases/matmul_case.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* clang-format off */
static const struct matmul_case rows[] = {
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
    {"batch, both broadcast", 3, {1, 5, 6}, {1, 6, 7}, {3, 5, 7}, "abc", "abc", "abc", 7, 0},
    {"batch, both broadcast, packed", 4, {2, 1, 5, 6}, {2, 1, 6, 7}, {2, 3, 5, 7}, "abcd", "any", "abcd", 4, 0},
    {"batch, src broadcast", 3, {1, 5, 6}, {3, 6, 7}, {3, 5, 7}, "abc", "any", "abc", 7, 0},
    {"weights repeated", 4, {2, 3, 5, 6}, {1, 3, 6, 7}, {2, 3, 5, 7}, "abcd", "abdc", "acbd", 9, 0},
    {"five", 5, {2, 1, 2, 4, 3}, {1, 3, 2, 3, 5}, {2, 3, 2, 4, 5}, "abcde", "any", "abcde", 16, 0},
    {"in turn", 5, {2, 1, 3, 5, 7}, {1, 4, 3, 7, 6}, {2, 4, 3, 5, 6},
     "abcde", "any", "abcde", -1, 0},
    {"in turn, plain", 5, {2, 1, 3, 5, 7}, {1, 4, 3, 7, 6}, {2, 4, 3, 5, 6},
     "abcde", "abcde", "abcde", 16, 0},
    {"dot products in turn", 5, {2, 1, 3, 1, 9}, {1, 4, 3, 9, 2}, {2, 4, 3, 1, 2},
     "abcde", "abced", "abcde", -1, 0},
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
    {"many tiny", 3, {75, 3, 2}, {75, 2, 3}, {75, 3, 3}, "abc", "abc", "abc", -1, 0},
    {"many tiny, transposed", 3, {21, 2, 5}, {21, 5, 3}, {21, 2, 3}, "acb", "acb", "acb", -1, 0},
    {"many tiny, strided", 3, {19, 3, 4}, {19, 4, 2}, {19, 3, 2}, "bac", "abc", "bac", -1, 0},
    {"many tiny, src broadcast", 3, {1, 3, 3}, {70, 3, 5}, {70, 3, 5}, "abc", "acb", "abc", -1, 0},
    {"many tiny, lots", 4, {3, 9, 2, 3}, {1, 9, 3, 2}, {3, 9, 2, 2}, "abcd", "abcd", "abcd", -1, 0},
    {"points, transposed dst", 2, {530, 3}, {3, 2}, {530, 2}, "ab", "ab", "ba", 3, 0},
    {"few rows, transposed weights", 2, {2, 3}, {3, 70}, {2, 70}, "ab", "ba", "ab", 2, 0},
    {"one column, transposed src", 2, {37, 70}, {70, 1}, {37, 1}, "ba", "ab", "ab", 1, 0},
    {"two columns, transposed src", 2, {37, 70}, {70, 2}, {37, 2}, "ba", "ab", "ab", 2, 0},
    {"transposed weights, ragged", 2, {13, 34}, {34, 43}, {13, 43}, "ab", "ba", "ab", 2, 0},
    {"transposed operands", 2, {23, 29}, {29, 31}, {23, 31}, "ba", "ba", "ab", 2, 0},
    {"transposed src, packed", 2, {21, 18}, {18, 30}, {21, 30}, "ba", "any", "ab", 2, 0},
    {"transposed src of one column", 2, {15, 1}, {1, 17}, {15, 17}, "ba", "ab", "ab", 1, 0},
    {"transposed dst, bias by row", 2, {14, 21}, {21, 19}, {14, 19}, "ba", "ab", "ba", 1, 0},
    {"queries and keys", 4, {2, 3, 9, 16}, {2, 3, 16, 11}, {2, 3, 9, 11},
     "abcd", "abdc", "abcd", -1, 0},
    {"heads between rows", 4, {2, 3, 9, 16}, {2, 3, 16, 11}, {2, 3, 9, 11},
     "acbd", "acdb", "acbd", 8, 0},
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
/* clang-format on */

/* What is done after the sums is tried on every second row. */
enum { EVERY = 2 };

static void check_some_rows(const struct matmul_variant *variant)
{
    static size_t variants;
    size_t number = variants++;
    for (size_t i = 0; i < count_of(rows); i++)
        if (rounds_has(i, number, EVERY))
            matmul_case_check(&rows[i], variant);
}

static void layouts_and_batches(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        print_message("  %s\n", rows[i].name);
        matmul_case_check(&rows[i], &(struct matmul_variant){0});
    }
    check_some_rows(&(struct matmul_variant){.bias_step = 3});
    check_some_rows(&(struct matmul_variant){.bias_is_vector = 1, .bias_step = 3});
    check_some_rows(&(struct matmul_variant){.bias_is_vector = 1, .bias_is_any = 1});
}

/* Every way in which packed weights end, and panels are put side by side. */
static void few_rows_by_packed_weights_of_any_width(void **state)
{
    (void)state;
    for (neo_dim m = 1; m <= 6; m++)
        for (neo_dim n = 1; n <= 100; n++) {
            if (!rounds_has((size_t)n, (size_t)m, m < 4 ? 1 : 3))
                continue;
            struct matmul_case row = {"few rows", 2,     {m, 5}, {5, n}, {m, n},
                                      "ab",       "any", "ab",   2,      0};
            matmul_case_check(&row, &(struct matmul_variant){0});
        }
}

/* Whose elements are far from each other: columns of matrices, and their rows. */
static void a_product_of_two_vectors(void **state)
{
    (void)state;
    static const char *const tags[] = {"ab", "ba"};
    struct matmul_case row = {"vectors", 2, {1, 10}, {10, 1}, {1, 1}, "", "", "ab", -1, 0};
    for (int i = 0; i < 4; i++) {
        row.src_tag = tags[i / 2], row.weights_tag = tags[i % 2];
        matmul_case_check(&row, &(struct matmul_variant){.gap = 1});
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
    check_some_rows(&(struct matmul_variant){.attributes = clamp, .finish = relu});
    check_some_rows(&(struct matmul_variant){.attributes = leak, .finish = leaky});
    check_some_rows(&(struct matmul_variant){.attributes = chain, .finish = sum_linear});
    neo_attributes_destroy(clamp);
    neo_attributes_destroy(leak);
    neo_attributes_destroy(chain);
}

/* Few rows by packed weights of several numbers of columns, for a cache so large; with a bias, and
 * with limits too. */
static struct divided check_parts_of_k(neo_dim k, neo_dim first_m, neo_dim first_n, size_t l1_bytes)
{
    static struct other_caches caches; /* a failure leaves the engine with it */
    struct divided divided = {0};
    other_caches_begin(&caches, l1_bytes, 1 << 20);
    neo_attributes *clamp;
    assert_int_equal(neo_attributes_create(&clamp), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(clamp, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    for (neo_dim m = first_m; m <= first_m + 4; m += 2)
        for (neo_dim n = first_n; n <= first_n + 8; n += 4) {
            struct matmul_case row = {"parts of k", 2,     {m, k}, {k, n}, {m, n},
                                      "ab",         "any", "ab",   2,      0};
            matmul_case_check(&row, &(struct matmul_variant){0});
            matmul_case_check(&row, &(struct matmul_variant){.attributes = clamp, .finish = relu});
            divided_count(&divided,
                          &(neo_matmul_desc){.src = tensor_desc(2, row.src, "ab"),
                                             .weights = tensor_desc(2, row.weights, "any"),
                                             .dst = tensor_desc(2, row.dst, "ab")});
        }
    neo_attributes_destroy(clamp);
    other_caches_end(&caches);
    return divided;
}

/* Few rows that leave a small cache from strip to strip: the second part of k goes on from what is
 * in dst. Strips of every kind, the last ones of which cannot be divided; the last part is shorter;
 * a bias and limits come once. */
static void products_in_parts_of_k_are_exact(void **state)
{
    (void)state;
    struct divided divided = check_parts_of_k(602, 3, 228, 40 << 10);
    assert_true(divided.parts > divided.copies);
}

/* Rows that lie 8 KiB apart are copied, a part of k at a time; one tile, and two of other heights.
 */
static void products_of_copied_rows_are_exact(void **state)
{
    (void)state;
    struct divided divided = check_parts_of_k(2048, 5, 60, 32 << 10);
    assert_int_equal(divided.copies > 0, divided_may_copy());
}

static void operands_of_post_operations_are_read_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        if (!rounds_has(i, 1, EVERY))
            continue;
        struct operands operands = operands_make(engine, rows[i].ndims, rows[i].dst);
        matmul_case_check(&rows[i], &(struct matmul_variant){.attributes = operands.attributes,
                                                             .operands = &operands});
        operands_free(&operands);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_and_batches),
        cmocka_unit_test(few_rows_by_packed_weights_of_any_width),
        cmocka_unit_test(a_product_of_two_vectors),
        cmocka_unit_test(post_operations_are_applied),
        cmocka_unit_test(products_in_parts_of_k_are_exact),
        cmocka_unit_test(products_of_copied_rows_are_exact),
        cmocka_unit_test(operands_of_post_operations_are_read_where_they_belong),
    };
    return cmocka_run_group_tests_name("matmul", tests, session_setup, session_teardown);
}
