/* Random matrix multiplications against loops, by every implementation offered. A failing one is
 * printed; NEOPRENE_TEST_ROUND makes it alone. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/cases/matmul_case.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"

enum { MOST_SUMS = 1 << 16 }; /* multiply-adds of one product */

static const neo_dim size_choices[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15,
                                       16, 17, 20, 23, 24, 31, 33, 40, 47, 49, 64, 96, 113};
static const neo_dim batch_choices[] = {1, 1, 2, 3};
static const neo_dim gap_choices[] = {0, 0, 0, 1, 2, 3};
static const int ndims_choices[] = {2, 2, 2, 2, 3, 4, 5};

/* A size of a batch is 1 in src, weights or both, where it is broadcast, or dst's. */
static void choose_sizes(struct matmul_case *row, uint64_t *seed)
{
    int last = row->ndims - 1;
    for (int i = 0; i < last - 1; i++) {
        neo_dim size = RANDOM_OF(batch_choices, seed);
        row->src[i] = random_below(seed, 4) ? size : 1;
        row->weights[i] = random_below(seed, 4) ? size : 1;
        row->dst[i] = size;
    }
    row->src[last - 1] = row->dst[last - 1] = RANDOM_OF(size_choices, seed);
    row->src[last] = row->weights[last - 1] = RANDOM_OF(size_choices, seed);
    row->weights[last] = row->dst[last] = RANDOM_OF(size_choices, seed);
}

/* Rows or columns contiguous, and now and then the batch between them. */
static const char *choose_tag(int ndims, uint64_t *seed)
{
    static const char *const rows[] = {"ab", "abc", "abcd", "abcde"};
    static const char *const columns[] = {"ba", "acb", "abdc", "abced"};
    static const char *const between[] = {"ab", "bac", "acbd", "abdce"};
    static const char *const *const choices[] = {rows, rows, columns, between};
    return RANDOM_OF(choices, seed)[ndims - 2];
}

static neo_dim sums(const struct matmul_case *row)
{
    neo_dim count = row->src[row->ndims - 1];
    for (int i = 0; i < row->ndims; i++)
        count *= row->dst[i];
    return count;
}

static struct matmul_case choose(uint64_t *seed)
{
    struct matmul_case row;
    do {
        row = (struct matmul_case){.ndims = RANDOM_OF(ndims_choices, seed)};
        choose_sizes(&row, seed);
    } while (sums(&row) > MOST_SUMS);
    row.src_tag = choose_tag(row.ndims, seed);
    row.dst_tag = choose_tag(row.ndims, seed);
    row.runtime = random_below(seed, 8) == 0;
    row.weights_tag = row.runtime || random_below(seed, 2) ? choose_tag(row.ndims, seed) : "any";
    row.bias_mask = (int)random_below(seed, (size_t)1 << row.ndims) - 1;
    return row;
}

static void append_sizes(char *text, size_t size, const neo_dim *dims, int ndims, const char *tag)
{
    for (int i = 0; i < ndims; i++) {
        size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%d", i ? "x" : " ", (int)dims[i]);
    }
    size_t at = strlen(text);
    snprintf(text + at, size - at, ":%s", tag);
}

static void print_case(size_t round, const struct matmul_case *row)
{
    char text[256] = "";
    append_sizes(text, sizeof text, row->src, row->ndims, row->src_tag);
    append_sizes(text, sizeof text, row->weights, row->ndims, row->weights_tag);
    append_sizes(text, sizeof text, row->dst, row->ndims, row->dst_tag);
    print_message("round %zu:%s bias %d%s\n", round, text, row->bias_mask,
                  row->runtime ? " at run time" : "");
}

static float at_least_zero(float value, float old)
{
    (void)old;
    return value > 0 ? value : 0;
}

/* One element may stand for all positions along a dimension: now and then, a mask with one bit. */
static unsigned random_dimension(int ndims, uint64_t *seed)
{
    size_t dimension = random_below(seed, 8 * (size_t)ndims);
    return dimension < (size_t)ndims ? 1u << dimension : 0;
}

static void check_round(size_t round)
{
    uint64_t seed = round;
    struct matmul_case row = choose(&seed);
    print_case(round, &row);
    struct operands operands = operands_make(engine, row.ndims, row.dst);
    neo_attributes *relu;
    assert_int_equal(neo_attributes_create(&relu), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(relu, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    const struct matmul_variant variants[] = {
        {.attributes = NULL},
        {.attributes = relu, .finish = at_least_zero},
        {.attributes = operands.attributes, .operands = &operands},
    };
    struct matmul_variant variant = RANDOM_OF(variants, &seed);
    variant.bias_step = (neo_dim)random_below(&seed, 3);
    variant.gap = RANDOM_OF(gap_choices, &seed);
    variant.dst_gap = RANDOM_OF(gap_choices, &seed);
    variant.bias_is_vector = random_below(&seed, 2) == 0;
    variant.bias_is_any = random_below(&seed, 4) == 0;
    variant.repeated_src = random_dimension(row.ndims, &seed);
    variant.repeated_weights = random_dimension(row.ndims, &seed);
    matmul_case_check(&row, &variant);
    neo_attributes_destroy(relu);
    operands_free(&operands);
}

static void random_products_are_exact(void **state)
{
    (void)state;
    rounds_run(600, 20000, check_round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_products_are_exact)};
    return cmocka_run_group_tests_name("matmul_random", tests, session_setup, session_teardown);
}
