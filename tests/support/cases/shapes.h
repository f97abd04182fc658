/* Short ways to write shapes, and to ask a shape predictor about them. */
#ifndef TESTS_SUPPORT_CASES_SHAPES_H
#define TESTS_SUPPORT_CASES_SHAPES_H

#include <stddef.h>
#include <stdint.h>

#include "neoprene/shape_predictor.h"

/* Initialisers of a neo_shape. */
/* clang-format off */
#define S0 {0, {0}}
#define S1(a) {1, {a}}
#define S2(a, b) {2, {a, b}}
#define S3(a, b, c) {3, {a, b, c}}
#define S4(a, b, c, d) {4, {a, b, c, d}}
/* clang-format on */

/* Both flags for compatibility. */
#define SHAPES_LOOSE (NEO_PREDICTOR_ROW_BOUND | NEO_PREDICTOR_ALWAYS_PAD)

/* A predictor with the default settings but for these two; the environment does not count. */
neo_shape_predictor *shapes_make(double ratio, uint32_t flags);

/* Records the shape 1 x size of f32 for an id. */
int shapes_ask(neo_shape_predictor *p, const char *id, neo_dim size, int reused, neo_shape *out);

/* Fails the test unless both are equal; what and row are for its message. */
void shapes_assert(const neo_shape *got, const neo_shape *want, const char *what, size_t row);

#endif
