/* The matrices of Winograd's minimal filtering F(m, t): m outputs of t = 3, 5 or 7 taps from
 * n = m + t - 1 products.
 *
 *   y = A [ (G w) ∘ (B d) ],  w: t weights, d: n inputs, y[i] = sum over r < t of w[r] d[i + r]
 *
 * By Toom and Cook: G evaluates the polynomial w at n points, the largest of which is infinity; A
 * and B are what interpolation transposes to. The points are infinity, 0, 1, -1, 2, -2, 1/2, -1/2,
 * of which the first n are used; B does not depend on t. So weights transformed for one n serve
 * every smaller one: factors that depend on n are in B, but for those of the largest n of a layout,
 * which are in G. */
#ifndef SRC_TENSOR_WINOGRAD_H
#define SRC_TENSOR_WINOGRAD_H

#include <stdbool.h>
#include <stddef.h>

enum { WINOGRAD_LEAST_TAPS = 3, WINOGRAD_MOST_TAPS = 7, WINOGRAD_MOST = 8 };

/* Outputs of so many points, at least two; 0: there are no such tiles. One point is for a dimension
 * with one tap, and has one output. */
static inline size_t winograd_outputs(size_t n, size_t taps)
{
    if (taps == 1)
        return n == 1;
    bool has_taps = taps % 2 && taps >= WINOGRAD_LEAST_TAPS && taps <= WINOGRAD_MOST_TAPS;
    return has_taps && n > taps ? n - taps + 1 : 0;
}

/* Row `point` of G: a coefficient for each tap. */
void winograd_weights_row(size_t largest, size_t taps, size_t point, double *out);

/* B [n][n] and A [outputs][n], for weights of a layout with at least n points; [1] for n = 1. */
void winograd_input_matrix(size_t largest, size_t n, float *out);
void winograd_output_matrix(size_t n, size_t taps, float *out);

#endif
