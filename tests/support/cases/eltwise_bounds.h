/* Element-wise functions in double, and how far from them kernels may be: what the public header
 * says. */
#ifndef TESTS_SUPPORT_CASES_ELTWISE_BOUNDS_H
#define TESTS_SUPPORT_CASES_ELTWISE_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/elementwise/f32/eltwise.h"

enum { ELTWISE_PARAMETERS = 3 };

/* A result is right within ulps units in the last place, or within near of the f64 value. The
 * second is for functions that pass through cancellation, or whose tail is far below 1. */
struct eltwise_bound {
    double ulps, near;
    float alpha[ELTWISE_PARAMETERS], beta[ELTWISE_PARAMETERS];
};

extern const struct eltwise_bound eltwise_bounds[ELTWISE_F32_COUNT];

/* Are these parameters others than those before them? */
bool eltwise_bound_is_new(const struct eltwise_bound *bound, size_t parameters);

/* y[i] = f(x[i]) for i < n, in double. */
void eltwise_define(enum eltwise_f32_alg alg, size_t n, const float *x, double *y, float a,
                    float b);

/* 0 if got is right for a value that should be `want`; otherwise the error in ulps, or infinity. */
double eltwise_error(const struct eltwise_bound *bound, double want, float got);

#endif
