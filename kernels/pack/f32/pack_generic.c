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

const struct pack_f32_kernel pack_f32_generic = {"pack_f32_generic", 0, pack, NULL};
