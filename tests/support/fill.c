/* A 32-bit xorshift sequence as integers, reals and markers. */
#include "tests/support/fill.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t marker = 0x7fb0a55eu; /* a NaN with a payload of its own */

uint32_t fill_seed(void)
{
    const char *text = getenv("NEOPRENE_SEED");
    return text ? (uint32_t)strtoul(text, NULL, 0) : 1;
}

uint32_t fill_next(uint32_t *state)
{
    uint32_t x = *state ? *state : 0x9e3779b9u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x * 0x9e3779b1u;
}

void fill_integers(float *out, size_t count, uint32_t *state)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)((int)((fill_next(state) >> 8) % 9) - 4);
}

void fill_reals(float *out, size_t count, uint32_t *state)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)((int32_t)fill_next(state) >> 7) / (float)(1 << 24);
}

void fill_rows(void (*fill)(float *out, size_t count, uint32_t *state), const size_t size[2],
               float *rows, size_t ldc, float *copy, uint32_t *state)
{
    for (size_t i = 0; i < size[0]; i++) {
        fill(rows + i * ldc, size[1], state);
        memcpy(copy + i * size[1], rows + i * ldc, size[1] * sizeof *copy);
    }
}

void fill_marker(float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(&out[i], &marker, sizeof marker);
}

int fill_is_marker(float value)
{
    return memcmp(&value, &marker, sizeof marker) == 0;
}

__attribute__((noinline)) void fill_stack(uint32_t *state)
{
    volatile uint32_t words[2048];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = fill_next(state);
}
