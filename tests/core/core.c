/* Status texts, data types, number parsing, checked sizes. */
#include "tests/support/test.h"

#include <string.h>

#include "neoprene/types.h"
#include "src/core/checked.h"
#include "src/core/env.h"

static void every_status_has_its_own_text(void **state)
{
    (void)state;
    for (int a = NEO_OK; a <= NEO_RUNTIME_ERROR; a++)
        for (int b = NEO_OK; b < a; b++)
            assert_string_not_equal(neo_status_text((neo_status)a), neo_status_text((neo_status)b));
    assert_string_equal(neo_status_text((neo_status)1000), "not a status");
}

static void data_types_have_names_and_sizes(void **state)
{
    (void)state;
    assert_string_equal(neo_data_type_name(NEO_BF16), "bf16");
    assert_int_equal(neo_data_type_bits(NEO_S4), 4);
    assert_string_equal(neo_data_type_name((neo_data_type)99), "undef");
    assert_int_equal(neo_data_type_bits((neo_data_type)99), 0);
}

static void numbers_are_validated(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool suffixes, valid;
        uint64_t value;
    } rows[] = {
        {"0", false, true, 0},
        {"1024", false, true, 1024},
        {"64K", true, true, 65536},
        {"2g", true, true, 2u << 30},
        {"64K", false, false, 0},
        {"", false, false, 0},
        {"-1", false, false, 0},
        {"+1", false, false, 0},
        {" 1", false, false, 0},
        {"1 ", false, false, 0},
        {"1 ", true, false, 0},
        {"1KB", true, false, 0},
        {"1.5", false, false, 0},
        {"18446744073709551616", false, false, 0},
        {"99999999999G", true, false, 0},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        uint64_t value = 77;
        assert_int_equal(parse_number(rows[i].text, 0, UINT64_MAX, rows[i].suffixes, &value),
                         rows[i].valid);
        assert_int_equal(value, rows[i].valid ? rows[i].value : 77);
    }
}

static void sizes_do_not_wrap(void **state)
{
    (void)state;
    size_t out = 5;
    assert_false(checked_add(&out, SIZE_MAX, 1));
    assert_false(checked_mul(&out, SIZE_MAX / 2, 3));
    assert_false(checked_round_up(&out, SIZE_MAX - 3, 64));
    assert_int_equal(out, 5);
    assert_true(checked_round_up(&out, 65, 64));
    assert_int_equal(out, 128);
    assert_int_equal(div_up(SIZE_MAX, 2), SIZE_MAX / 2 + 1);
    assert_int_equal(div_up(8, 4), 2);
    assert_int_equal(power_of_two_in(0), 0);
    assert_int_equal(power_of_two_in(3 << 20), 1 << 20);
}

static void the_version_is_that_of_the_headers(void **state)
{
    (void)state;
    const neo_version *version = neo_get_version();
    assert_int_equal(version->major, NEO_VERSION_MAJOR);
    assert_int_equal(version->minor, NEO_VERSION_MINOR);
    assert_int_equal(version->patch, NEO_VERSION_PATCH);
}

/* Older ones and this one, and none that is still to come, whichever of the three numbers is
 * another. */
static void the_preprocessor_knows_whether_headers_are_late_enough(void **state)
{
    (void)state;
    enum { MAJOR = NEO_VERSION_MAJOR, MINOR = NEO_VERSION_MINOR, PATCH = NEO_VERSION_PATCH };
    assert_true(NEO_VERSION_AT_LEAST(MAJOR, MINOR, PATCH));
    assert_true(NEO_VERSION_AT_LEAST(MAJOR, MINOR, PATCH - 1));
    assert_true(NEO_VERSION_AT_LEAST(MAJOR, MINOR - 1, PATCH + 1));
    assert_true(NEO_VERSION_AT_LEAST(MAJOR - 1, MINOR + 1, PATCH + 1));
    assert_false(NEO_VERSION_AT_LEAST(MAJOR, MINOR, PATCH + 1));
    assert_false(NEO_VERSION_AT_LEAST(MAJOR, MINOR + 1, 0));
    assert_false(NEO_VERSION_AT_LEAST(MAJOR + 1, 0, 0));
}

static void the_ends_of_a_range_are_in_it(void **state)
{
    (void)state;
    uint64_t value = 0;
    assert_true(parse_number("3", 3, 9, false, &value));
    assert_int_equal(value, 3);
    assert_true(parse_number("9", 3, 9, false, &value));
    assert_int_equal(value, 9);
    assert_false(parse_number("2", 3, 9, false, &value));
    assert_false(parse_number("10", 3, 9, false, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(the_version_is_that_of_the_headers),
        cmocka_unit_test(the_preprocessor_knows_whether_headers_are_late_enough),
        cmocka_unit_test(data_types_have_names_and_sizes),
        cmocka_unit_test(numbers_are_validated),
        cmocka_unit_test(the_ends_of_a_range_are_in_it),
        cmocka_unit_test(sizes_do_not_wrap),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
