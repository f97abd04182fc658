/* The matrices of Winograd's minimal filtering F(m, 3): m outputs from n = m + 2 products.
 *
 *   y = A [ (G w) ∘ (B d) ],  w: 3 weights, d: n inputs, y[i] = sum over r < 3 of w[r] d[i + r]
 *
 * By Toom and Cook: G evaluates the polynomial w at n points, the largest of which is infinity; A
 * and B are what interpolation transposes to. The points are infinity, 0, 1, -1, 2, -2, 1/2, -1/2,
 * of which the first n are used. So weights transformed for one n serve every smaller one: factors
 * that depend on n are in B, but for those of the largest n of a layout, which are in G. */
#ifndef SRC_WEIGHTS_WINOGRAD_H
#define SRC_WEIGHTS_WINOGRAD_H

#include <stddef.h>

enum { WINOGRAD_TAPS = 3, WINOGRAD_MOST = 8 };

/* Row `point` of G: three coefficients. largest 1: of a dimension with one tap, which has one
 * point. */
void winograd_weights_row(size_t largest, size_t point, double *out);

/* B [n][n] and A [n - 2][n], for weights of a layout with at least n points; [1] for n = 1. */
void winograd_input_matrix(size_t largest, size_t n, float *out);
void winograd_output_matrix(size_t n, float *out);

#endif
