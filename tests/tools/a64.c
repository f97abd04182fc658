/* The instruction classes of the counting plugin, on words that an assembler made. */
#include "tests/perf/plugins/a64.h"
#include "tests/support/test.h"

#include <stddef.h>
#include <string.h>

/* the table's only user in this program: the plugin links it by itself */
#include "tests/perf/plugins/a64.c"

struct expectation {
    uint32_t word;
    const char *text;
    unsigned counter; /* A64_*: its class */
    uint32_t amount;  /* macs or bytes; 0: not checked */
};

/* clang-format off */
static const struct expectation expectations[] = {
    {0x4E22CC20, "fmla v0.4s, v1.4s, v2.4s", A64_mac, 4},
    {0x0E22CC20, "fmla v0.2s, v1.2s, v2.2s", A64_mac, 2},
    {0x4E62CC20, "fmla v0.2d, v1.2d, v2.2d", A64_mac, 2},
    {0x4EA2CC20, "fmls v0.4s, v1.4s, v2.4s", A64_mac, 4},
    {0x4FA21820, "fmla v0.4s, v1.4s, v2.s[3]", A64_mac, 4},
    {0x4FA29820, "fmul v0.4s, v1.4s, v2.s[3]", A64_mac, 4},
    {0x6E22DC20, "fmul v0.4s, v1.4s, v2.4s", A64_mac, 4},
    {0x4E420C20, "fmla v0.8h, v1.8h, v2.8h", A64_mac, 8},
    {0x4F321820, "fmla v0.8h, v1.8h, v2.h[7]", A64_mac, 8},
    {0x4E22EC20, "fmlal v0.4s, v1.4h, v2.4h", A64_mac, 4},
    {0x1F020C20, "fmadd s0, s1, s2, s3", A64_mac, 1},
    {0x4E829420, "sdot v0.4s, v1.16b, v2.16b", A64_mac, 16},
    {0x4FA2E820, "sdot v0.4s, v1.16b, v2.4b[3]", A64_mac, 16},
    {0x6E829420, "udot v0.4s, v1.16b, v2.16b", A64_mac, 16},
    {0x4E82A420, "smmla v0.4s, v1.16b, v2.16b", A64_mac, 32},
    {0x4E82AC20, "usmmla v0.4s, v1.16b, v2.16b", A64_mac, 32},
    {0x6E42EC20, "bfmmla v0.4s, v1.8h, v2.8h", A64_mac, 16},
    {0x6E42FC20, "bfdot v0.4s, v1.8h, v2.8h", A64_mac, 8},
    {0x2EC2FC20, "bfmlalb v0.4s, v1.8h, v2.8h", A64_mac, 4},
    {0x0E228020, "smlal v0.8h, v1.8b, v2.8b", A64_mac, 8},
    {0x4E629420, "mla v0.8h, v1.8h, v2.8h", A64_mac, 8},
    {0x4E22D420, "fadd v0.4s, v1.4s, v2.4s", A64_simd, 0},
    {0x4EA28420, "add v0.4s, v1.4s, v2.4s", A64_simd, 0},
    {0x4E040420, "dup v0.4s, v1.s[0]", A64_perm, 0},
    {0x4E181D00, "mov v0.d[1], x8", A64_perm, 0},
    {0x4E823820, "zip1 v0.4s, v1.4s, v2.4s", A64_perm, 0},
    {0x6E024020, "ext v0.16b, v1.16b, v2.16b, #8", A64_perm, 0},
    {0x4EA00820, "rev64 v0.4s, v1.4s", A64_perm, 0},
    {0x3DC00020, "ldr q0, [x1]", A64_load, 16},
    {0xACC10420, "ldp q0, q1, [x1], #32", A64_load, 32},
    {0x4CDF2820, "ld1 { v0.4s, v1.4s, v2.4s, v3.4s }, [x1], #64", A64_load, 64},
    {0x4D40C820, "ld1r { v0.4s }, [x1]", A64_load, 4},
    {0x0D408020, "ld1 { v0.s }[0], [x1]", A64_load, 4},
    {0xFD400020, "ldr d0, [x1]", A64_load, 8},
    {0xA9400420, "ldp x0, x1, [x1]", A64_load, 16},
    {0x39400020, "ldrb w0, [x1]", A64_load, 1},
    {0xAD000420, "stp q0, q1, [x1]", A64_store, 32},
    {0x4C002820, "st1 { v0.4s, v1.4s, v2.4s, v3.4s }, [x1]", A64_store, 64},
    {0xB9000020, "str w0, [x1]", A64_store, 4},
    {0xF9800020, "prfm pldl1keep, [x1]", A64_prefetch, 0},
    {0x54FFFFE1, "b.ne #-4", A64_branch, 0},
    {0xD65F03C0, "ret", A64_branch, 0},
    {0xB5FFFFE0, "cbnz x0, #-4", A64_branch, 0},
    {0xF1000400, "subs x0, x0, #1", A64_integer, 0},
    {0x9B020C20, "madd x0, x1, x2, x3", A64_integer, 0},
    {0xD503201F, "nop", A64_integer, 0},
    {0x04A00000, "add z0.s, z0.s, z0.s", A64_sve, 0},
};
/* clang-format on */

/* The counter next to a class that holds its amount. */
static unsigned amount_of(unsigned counter)
{
    return counter == A64_mac || counter == A64_load || counter == A64_store ? counter + 1
                                                                             : A64_total;
}

static void every_instruction_is_in_its_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expectations); i++) {
        const struct expectation *e = &expectations[i];
        uint32_t counts[A64_COUNTS] = {0};
        a64_count(e->word, counts);
        if (counts[e->counter] != 1)
            fail_msg("%s is not in class %u", e->text, e->counter);
        if (e->amount && counts[amount_of(e->counter)] != e->amount)
            fail_msg("%s: amount %u, expected %u", e->text, counts[amount_of(e->counter)],
                     e->amount);
    }
}

static void an_instruction_is_in_one_class_only(void **state)
{
    (void)state;
    static const unsigned classes[] = {A64_mac,    A64_simd,    A64_load, A64_store,  A64_prefetch,
                                       A64_branch, A64_integer, A64_sve,  A64_unknown};
    for (size_t i = 0; i < COUNT_OF(expectations); i++) {
        uint32_t counts[A64_COUNTS] = {0}, sum = 0;
        a64_count(expectations[i].word, counts);
        for (size_t c = 0; c < COUNT_OF(classes); c++)
            sum += counts[classes[c]];
        assert_int_equal(sum, 1);
        assert_int_equal(counts[A64_total], 1);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_is_in_its_class),
        cmocka_unit_test(an_instruction_is_in_one_class_only),
    };
    return cmocka_run_group_tests_name("a64", tests, NULL, NULL);
}
