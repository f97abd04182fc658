/* Random convolutions against loops, by every implementation offered. A failing one is printed in
 * benchdnn's notation (g0: weights without groups); NEOPRENE_TEST_ROUND makes it alone. */
#include "tests/support/test.h"

#include "tests/support/cases/convolution_random.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"

static float at_least_zero(float value, float old)
{
    (void)old;
    return value < 0 ? 0 : value;
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
    char name[CONVOLUTION_NAME];
    struct convolution_case row = convolution_random(&seed, name);
    print_message("round %zu\n", round);
    neo_memory_desc dst = convolution_case_dst(&row, 0);
    struct operands operands = operands_make(engine, dst.ndims, dst.dims);
    neo_attributes *relu;
    assert_int_equal(neo_attributes_create(&relu), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(relu, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    const struct convolution_variant variants[] = {
        {.attributes = NULL},
        {.attributes = relu, .finish = at_least_zero},
        {.attributes = operands.attributes, .operands = &operands},
    };
    struct convolution_variant variant = RANDOM_OF(variants, &seed);
    variant.bias_step = (neo_dim)random_below(&seed, 3);
    variant.gap = random_below(&seed, 4) == 0;
    variant.repeated_src = random_dimension(row.space + 2, &seed);
    variant.repeated_weights = random_dimension(row.space + 2, &seed);
    convolution_case_check(&row, &variant);
    neo_attributes_destroy(relu);
    operands_free(&operands);
}

static void random_convolutions_are_exact(void **state)
{
    (void)state;
    rounds_run(600, 20000, check_round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_convolutions_are_exact)};
    return cmocka_run_group_tests_name("convolution_random", tests, session_setup,
                                       session_teardown);
}
