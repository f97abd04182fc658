/* Division by a known number: by its reciprocal in two parts, where no quotient is rounded
 * otherwise.
 *
 * most is 1 / divisor rounded down, and rest what that leaves, rounded, which is above 0: so
 * infinite dividends stay infinite. Before the last rounding the sum is off by at most 2^-46 of
 * itself. A quotient is rounded otherwise only if it is so near to the middle of two floats. With
 * significands X of the dividend and D of the divisor, both of 24 bits, and an odd M of 25 bits for
 * the middle, that is
 *
 *   X * 2^s = M * D + t,   0 < |t| <= 8,   s = 24 where X >= D, or 25
 *
 * M is odd, so t has as many factors of 2 as D has; and for each t there are as many M as 2 to that
 * number, by the inverse of D's odd part modulo a power of two. */
#include "src/gemm/reciprocal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { BITS = 24, MOST_T = 8 };

/* Of an odd number, modulo 2^32: each step makes twice as many bits right. */
static uint32_t inverse_of(uint32_t odd)
{
    uint32_t inverse = odd;
    for (int bits = 3; bits < 32; bits *= 2)
        inverse *= 2 - odd * inverse;
    return inverse;
}

static bool is_right(float dividend, float divisor, struct gemm_reciprocal reciprocal)
{
    return fmaf(dividend, reciprocal.most, dividend * reciprocal.rest) == dividend / divisor;
}

/* Dividends for one t; significand: the divisor's, 2^twos times an odd number. */
static bool is_right_near(uint32_t significand, int twos, int32_t t, int s, float divisor,
                          struct gemm_reciprocal reciprocal)
{
    uint32_t inverse = inverse_of(significand >> twos), odd_t = (uint32_t)(t / (1 << twos));
    uint32_t step = UINT32_C(1) << (s - twos), least = UINT32_C(1) << BITS;
    uint32_t first = (0 - odd_t * inverse - least) & (step - 1);
    for (uint32_t middle = least + first; middle < 2 * least; middle += step) {
        int64_t dividend = ((int64_t)middle * significand + t) >> s;
        if (dividend < 1 << (BITS - 1) || dividend >= 1 << BITS)
            continue;
        if (!is_right((float)dividend, divisor, reciprocal))
            return false;
    }
    return true;
}

static bool is_right_everywhere(float divisor, struct gemm_reciprocal reciprocal)
{
    int exponent, twos = 0;
    uint32_t significand = (uint32_t)ldexpf(frexpf(divisor, &exponent), BITS);
    while (!(significand >> twos & 1))
        twos++;
    for (int32_t t = 1 << twos; twos <= 3 && t <= MOST_T; t += 2 << twos)
        for (int s = BITS; s <= BITS + 1; s++)
            if (!is_right_near(significand, twos, t, s, divisor, reciprocal) ||
                !is_right_near(significand, twos, -t, s, divisor, reciprocal))
                return false;
    return true;
}

struct gemm_reciprocal gemm_reciprocal_of(float divisor)
{
    const struct gemm_reciprocal none = {0, 0};
    if (!(divisor >= 0x1p-30f && divisor <= 0x1p30f))
        return none;
    double exact = 1 / (double)divisor;
    struct gemm_reciprocal both = {.most = (float)exact};
    if ((double)both.most > exact)
        both.most = nextafterf(both.most, 0);
    both.rest = (float)(exact - (double)both.most);
    return both.rest == 0 || is_right_everywhere(divisor, both) ? both : none;
}
