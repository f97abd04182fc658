/* Values for tests: reproducible from a seed, which NEOPRENE_SEED sets and a failure should print.
 */
#ifndef TESTS_SUPPORT_FILL_H
#define TESTS_SUPPORT_FILL_H

#include <stddef.h>
#include <stdint.h>

/* NEOPRENE_SEED, or 1. */
uint32_t fill_seed(void);

/* The next number of the sequence; *state is any number. */
uint32_t fill_next(uint32_t *state);

/* Integers in [-4, 4]: sums of products are exact in f32 below 2^24, in any order. */
void fill_integers(float *out, size_t count, uint32_t *state);

/* Reals in [-1, 1), with a full significand. */
void fill_reals(float *out, size_t count, uint32_t *state);

/* So many rows of values, ldc apart, and the same values next to each other. */
void fill_rows(void (*fill)(float *out, size_t count, uint32_t *state), const size_t size[2],
               float *rows, size_t ldc, float *copy, uint32_t *state);

/* A value that no computation gives; for gaps that must survive. */
void fill_marker(float *out, size_t count);
int fill_is_marker(float value);

/* What functions called next find in variables that they do not set. */
void fill_stack(uint32_t *state);

#endif
