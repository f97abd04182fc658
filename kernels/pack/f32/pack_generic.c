/* Packing by vectors of the compiler, on any CPU: straight copies where lanes are neighbours, 4x4
 * transposes where steps are, element by element where neither is.
 *
 * A transposed block takes 4 loads, 8 shuffles and 4 stores for 16 elements. Panels are done CHUNK
 * steps and four lanes at a time: rows of a power of two bytes share a set of the L1, which has
 * room for four of them beside the lines that are written, and not for twelve. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float quad __attribute__((vector_size(16)));

static inline quad load(const float *from)
{
    quad value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void store(float *to, quad value)
{
    memcpy(to, &value, sizeof value);
}

static inline void transpose_4x4(quad rows[4])
{
    quad a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
    quad b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    quad c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
    quad d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    rows[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

#include "kernels/asm/inline.h"
#include "kernels/pack/f32/pack_quads.h"

enum { AHEAD_BYTES = 256 };

/* ---- into a panel ---- */

/* lane == 1: a step is one copy. */
static void copy_steps(const struct pack_f32_panel *panel)
{
    size_t bytes = panel->count * sizeof(float);
    size_t padding = (panel->width - panel->count) * sizeof(float);
    float *out = panel->out;
    for (size_t p = 0; p < panel->k; p++, out += panel->width) {
        memcpy(out, panel->src + (ptrdiff_t)p * panel->step, bytes);
        memset(out + panel->count, 0, padding);
    }
}

/* The same for a constant number of lanes, all valid. What follows a row is most often the same row
 * of the next panels; steps far apart are too many streams for the hardware to see that. */
INLINE void copy_full(const struct pack_f32_panel *panel, size_t width)
{
    float *out = panel->out;
    const float *from = panel->src;
    for (size_t p = 0; p < panel->k; p++, out += width, from += panel->step) {
        memcpy(out, from, width * sizeof(float));
        __builtin_prefetch((const void *)((uintptr_t)from + AHEAD_BYTES));
    }
}

static void pack_neighbours(const struct pack_f32_panel *panel)
{
    size_t full = panel->count == panel->width ? panel->width : 0;
    if (full == 12)
        copy_full(panel, 12);
    else if (full == 8)
        copy_full(panel, 8);
    else if (full == 4)
        copy_full(panel, 4);
    else
        copy_steps(panel);
}

/* step == 1 and at least four lanes; the last four lanes overlap the ones before if there are not
 * whole vectors of them. */
static void pack_by_transposes(const struct pack_f32_panel *panel)
{
    size_t whole = panel->k & ~(size_t)3;
    for (size_t first = 0; first < whole; first += CHUNK)
        for (size_t i = 0; i < panel->width; i += 4)
            transpose_lanes(panel, smaller(i, panel->width - 4), first,
                            smaller(first + CHUNK, whole));
    for (size_t i = 0; i < panel->width; i++)
        pack_lane(panel, i, whole, panel->k);
}

static void pack(const struct pack_f32_panel *panel)
{
    if (panel->step == 1 && panel->width >= 4)
        pack_by_transposes(panel);
    else if (panel->lane == 1 && !panel->lanes && panel->count)
        pack_neighbours(panel);
    else
        pack_by_elements(panel);
}

/* ---- taps innermost in the source, outermost in the panel ---- */

/* All whole vectors of lanes, elements q .. q + 3 of each: a row is written at once, since the rows
 * of all taps may share a set of the L1. */
static inline void transpose_taps(const struct pack_f32_taps *panel, size_t lanes, size_t q,
                                  struct tap_cursor *cursor)
{
    float *rows[4];
    const float *from = panel->src + q;
#pragma GCC unroll 4
    for (size_t x = 0; x < 4; x++)
        rows[x] = panel->out + tap_row(cursor);
    for (size_t i = 0; i < lanes; i += 4) {
        quad block[4];
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++, from += panel->lane)
            block[x] = load(from);
        transpose_4x4(block);
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++)
            store(rows[x] + i, block[x]);
    }
}

static void pack_taps(const struct pack_f32_taps *panel)
{
    size_t whole = panel->k * panel->taps & ~(size_t)3, lanes = panel->count & ~(size_t)3;
    struct tap_cursor cursor = tap_cursor(panel->width, panel->k, panel->taps, 0);
    for (size_t q = 0; q < whole; q += 4)
        transpose_taps(panel, lanes, q, &cursor);
    gather_taps(panel, 0, lanes, whole);
    if (lanes < panel->width)
        gather_taps(panel, lanes, panel->width, 0);
}

/* ---- back ---- */

/* lane == 1: a step is one copy. */
INLINE void uncopy_steps(const struct unpack_f32_panel *panel, size_t count)
{
    const float *from = panel->panel;
    float *to = panel->dst;
    for (size_t p = 0; p < panel->k; p++, from += panel->width, to += panel->step) {
        memcpy(to, from, count * sizeof(float));
        __builtin_prefetch((const void *)((uintptr_t)to + AHEAD_BYTES), 1);
    }
}

static void unpack_neighbours(const struct unpack_f32_panel *panel)
{
    if (panel->count == 12)
        uncopy_steps(panel, 12);
    else if (panel->count == 8)
        uncopy_steps(panel, 8);
    else
        uncopy_steps(panel, panel->count);
}

/* Four valid lanes from i on, with step == 1; first and last are multiples of 4. */
static void untranspose_lanes(const struct unpack_f32_panel *panel, size_t i, size_t first,
                              size_t last)
{
    for (size_t p = first; p < last; p += 4) {
        quad block[4];
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++)
            block[x] = load(panel->panel + (p + x) * panel->width + i);
        transpose_4x4(block);
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++)
            store(panel->dst + (ptrdiff_t)(i + x) * panel->lane + p, block[x]);
    }
}

static void unpack(const struct unpack_f32_panel *panel)
{
    if (panel->lane == 1) {
        unpack_neighbours(panel);
        return;
    }
    bool transposes = panel->step == 1 && panel->count >= 4;
    size_t whole = transposes ? panel->k & ~(size_t)3 : 0;
    for (size_t first = 0; first < whole; first += CHUNK)
        for (size_t i = 0; i < panel->count; i += 4)
            untranspose_lanes(panel, smaller(i, panel->count - 4), first,
                              smaller(first + CHUNK, whole));
    for (size_t first = whole; first < panel->k; first += CHUNK)
        for (size_t i = 0; i < panel->count; i++)
            unpack_lane(panel, i, first, smaller(first + CHUNK, panel->k));
}

const struct pack_f32_kernel pack_f32_generic = {"pack_f32_generic", 0,      pack,
                                                 pack_taps,          unpack, unpack_taps};
