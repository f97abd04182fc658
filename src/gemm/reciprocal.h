/* Division by a number that is known before the dividends, without divisions. */
#ifndef SRC_GEMM_RECIPROCAL_H
#define SRC_GEMM_RECIPROCAL_H

struct gemm_reciprocal {
    float most, rest; /* most: 0 if there is none */
};

/* For every float x, infinite ones too,
 *
 *   fmaf(x, most, x * rest) == x / divisor
 *
 * unless results are below 2^-60 in size, where they may differ and both stay below that; with
 * rest == 0 it is x * most that is the same. Divisors between 2^-30 and 2^30 have a reciprocal, but
 * for few: which ones is found by looking at all dividends that might be rounded otherwise
 * (Brisebarre, Muller, Raina: Accelerating correctly rounded floating-point division when the
 * divisor is known in advance, IEEE Trans. Computers 53/8, 2004). */
struct gemm_reciprocal gemm_reciprocal_of(float divisor);

#endif
