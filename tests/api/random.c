/* Descriptions of primitives made of random bytes: each is refused with a sentence or gives what
 * its reference implementation gives. NEOPRENE_TEST_ROUND makes a failing one alone. */
#include "tests/support/test.h"

#include "tests/fuzz/primitive.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"

enum { MOST_BYTES = 320 };

static void check_round(size_t round)
{
    uint8_t bytes[MOST_BYTES];
    uint64_t seed = round;
    size_t size = random_below(&seed, MOST_BYTES);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_below(&seed, 256);
    print_message("round %zu\n", round);
    fuzz_primitive(bytes, size);
}

static void random_descriptions_are_refused_or_right(void **state)
{
    (void)state;
    fuzz_primitive_begin();
    rounds_run(1500, 60000, check_round);
    fuzz_primitive_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_descriptions_are_refused_or_right)};
    return cmocka_run_group_tests_name("api_random", tests, NULL, NULL);
}
