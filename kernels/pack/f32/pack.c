/* Packing by vectors of the compiler, on any CPU: straight copies where lanes are neighbours, 4x4
 * transposes where steps are, four loads and a store where neither is. The last four lanes, and
 * steps, overlap the ones before if there are not whole vectors of them.
 *
 * A transposed block takes 4 loads, 8 shuffles and 4 stores for 16 elements. Panels are done CHUNK
 * steps at a time, so that the lines which some lanes write in part are still in the L1 when the
 * next lanes come. */
#include "kernels/pack/f32/pack.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"

enum {
    CHUNK = 64,
    MOST_VECTORS = 4, /* of lanes in a panel whose addresses are constants, */
    MAY_MISS = 3,     /* and how many of its lanes may not be there */
    AHEAD_BYTES = 256,
};

typedef float quad __attribute__((vector_size(16)));
typedef float quad_anywhere __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));
typedef int32_t bits __attribute__((vector_size(16)));
typedef double pair __attribute__((vector_size(16)));

static inline quad load(const float *from)
{
    return *(const quad_anywhere *)from;
}

/* The first elements, 1 to 4, then zeros. */
INLINE quad load_part(const float *from, size_t count)
{
    if (count == 4)
        return load(from);
    if (count == 1)
        return (quad){from[0]};
    double two;
    memcpy(&two, from, sizeof two);
    quad value = (quad)(pair){two};
    if (count == 3)
        value[2] = from[2];
    return value;
}

static inline void store(float *to, quad value)
{
    *(quad_anywhere *)to = value;
}

static inline void transpose_4x4(quad rows[4])
{
    quad a = __builtin_shufflevector(rows[0], rows[2], 0, 4, 1, 5);
    quad b = __builtin_shufflevector(rows[0], rows[2], 2, 6, 3, 7);
    quad c = __builtin_shufflevector(rows[1], rows[3], 0, 4, 1, 5);
    quad d = __builtin_shufflevector(rows[1], rows[3], 2, 6, 3, 7);
    rows[0] = __builtin_shufflevector(a, c, 0, 4, 1, 5);
    rows[1] = __builtin_shufflevector(a, c, 2, 6, 3, 7);
    rows[2] = __builtin_shufflevector(b, d, 0, 4, 1, 5);
    rows[3] = __builtin_shufflevector(b, d, 2, 6, 3, 7);
}

static inline const float *lane_start(const struct pack_f32_panel *panel, size_t i)
{
    return panel->lanes ? panel->lanes[i] : panel->src + (ptrdiff_t)i * panel->lane;
}

/* Where steps go, one after the other. */
struct rows {
    float *next;
    size_t tap, taps;
    ptrdiff_t down, back; /* to the next tap's row; from the last tap's to the first one's */
};

INLINE struct rows rows_from(const struct pack_f32_panel *panel, size_t p, bool has_taps)
{
    size_t taps = has_taps ? panel->taps : 1, down = has_taps ? panel->k / taps : 1;
    size_t width = panel->width;
    return (struct rows){
        .next = panel->out + (p % taps * down + p / taps) * width,
        .tap = p % taps,
        .taps = taps,
        .down = (ptrdiff_t)(down * width),
        .back = (ptrdiff_t)width - (ptrdiff_t)((taps - 1) * down * width),
    };
}

INLINE float *next_row(struct rows *rows, bool has_taps)
{
    float *row = rows->next;
    bool last = has_taps && ++rows->tap == rows->taps;
    rows->next += last ? rows->back : rows->down;
    rows->tap = last ? 0 : rows->tap;
    return row;
}

/* All lanes, by elements. */
static void pack_elements(const struct pack_f32_panel *panel)
{
    bool has_taps = panel->taps > 1;
    for (size_t i = 0; i < panel->count; i++) {
        const float *from = lane_start(panel, i);
        struct rows rows = rows_from(panel, 0, has_taps);
        for (size_t p = 0; p < panel->k; p++, from += panel->step)
            next_row(&rows, has_taps)[i] = *from;
    }
}

/* Lanes that do not exist. */
static void clear_lanes(const struct pack_f32_panel *panel)
{
    float *row = panel->out;
    for (size_t p = 0; p < panel->k; p++, row += panel->width)
        for (size_t i = panel->count; i < panel->width; i++)
            row[i] = 0;
}

/* All of a panel of `vectors` times four lanes, of which the last vector has one at least, with
 * step == 1 and four steps at least: addresses are constants. Lanes that are missing are read as
 * the last one, and become zeros. */
INLINE void transpose_panel(const struct pack_f32_panel *panel, size_t vectors, bool ragged)
{
    const float *from[4 * MOST_VECTORS];
    bits exists[MAY_MISS];
    size_t k = panel->k, first = 4 * vectors - MAY_MISS;
#pragma GCC unroll 16
    for (size_t i = 0; i < 4 * vectors; i++)
        from[i] = lane_start(panel, ragged ? smaller(i, panel->count - 1) : i);
#pragma GCC unroll 3
    for (size_t i = 0; i < MAY_MISS; i++)
        exists[i] = (bits){0} - (first + i < panel->count);
    for (size_t p = 0, end = k & ~(size_t)3;; p = k - 4, end = k) {
        float *out = panel->out + p * 4 * vectors;
        for (; p < end; p += 4, out += 16 * vectors) {
            quad block[4 * MOST_VECTORS] = {{0}};
#pragma GCC unroll 16
            for (size_t i = 0; i < 4 * vectors; i++)
                block[i] = load(from[i] + p);
#pragma GCC unroll 3
            for (size_t i = 0; ragged && i < MAY_MISS; i++)
                block[first + i] = (quad)((bits)block[first + i] & exists[i]);
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                transpose_4x4(block + 4 * v);
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; v++)
                    store(out + 4 * (x * vectors + v), block[4 * v + x]);
        }
        if (end == k)
            return;
    }
}

INLINE void transpose_by_width(const struct pack_f32_panel *panel, bool ragged)
{
    if (panel->width == 12)
        transpose_panel(panel, 3, ragged);
    else if (panel->width == 8)
        transpose_panel(panel, 2, ragged);
    else if (panel->width == 16)
        transpose_panel(panel, 4, ragged);
    else
        transpose_panel(panel, 1, ragged);
}

/* Four lanes from i on, of steps first … last - 1, which are neighbours: so many at a time. */
INLINE void transpose_lanes(const struct pack_f32_panel *panel, size_t i, size_t first, size_t last,
                            size_t steps, bool has_taps)
{
    const float *from[4];
#pragma GCC unroll 4
    for (size_t x = 0; x < 4; x++)
        from[x] = lane_start(panel, i + x);
    struct rows rows = rows_from(panel, first, has_taps);
    for (size_t p = first; p < last; p += steps) {
        quad block[4] = {{0}};
        if (!has_taps) {
            p = smaller(p, last - steps);
            rows = rows_from(panel, p, false);
        }
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++)
            block[x] = load_part(from[x] + p, steps);
        transpose_4x4(block);
#pragma GCC unroll 4
        for (size_t x = 0; x < steps; x++)
            store(next_row(&rows, has_taps) + i, block[x]);
    }
}

/* Four lanes at least, and steps. */
INLINE void transpose(const struct pack_f32_panel *panel, bool has_taps)
{
    size_t k = panel->k, whole = has_taps ? k - k % 4 : k;
    for (size_t first = 0, last; first < k; first = last) {
        last = smaller(first + CHUNK, whole);
        if (first == whole)
            first = k - 4, last = k;
        for (size_t i = 0; i < panel->count; i += 4)
            transpose_lanes(panel, smaller(i, panel->count - 4), first, last, 4, has_taps);
    }
}

/* Four lanes at least, of one to three steps. */
static void transpose_shallow(const struct pack_f32_panel *panel)
{
    for (size_t i = 0; i < panel->count; i += 4) {
        size_t lane = smaller(i, panel->count - 4);
        if (panel->k == 3)
            transpose_lanes(panel, lane, 0, 3, 3, false);
        else if (panel->k == 2)
            transpose_lanes(panel, lane, 0, 2, 2, false);
        else
            transpose_lanes(panel, lane, 0, 1, 1, false);
    }
}

/* Four lanes at least, anywhere. */
static void gather(const struct pack_f32_panel *panel)
{
    for (size_t i = 0; i < panel->count; i += 4) {
        size_t lane = smaller(i, panel->count - 4);
        const float *a = lane_start(panel, lane), *b = lane_start(panel, lane + 1);
        const float *c = lane_start(panel, lane + 2), *d = lane_start(panel, lane + 3);
        float *out = panel->out + lane;
        for (size_t p = panel->k; p; p--, out += panel->width) {
            store(out, (quad){*a, *b, *c, *d});
            a += panel->step, b += panel->step, c += panel->step, d += panel->step;
        }
    }
}

/* Lanes that are neighbours, from i on, in so many vectors, of which the last one has so many. What
 * follows a step is most often the same one of the next panels; steps far apart are too many
 * streams for the hardware to see that. */
INLINE void copy_steps(const struct pack_f32_panel *panel, size_t i, size_t vectors, size_t in_last)
{
    const float *from = panel->src + i;
    float *out = panel->out + i;
#pragma GCC unroll 4
    for (size_t p = panel->k; p; p--, from += panel->step, out += panel->width) {
        quad step[MOST_VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            step[v] = load_part(from + 4 * v, v + 1 < vectors ? 4 : in_last);
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            store(out + 4 * v, step[v]);
        if (NEO_PORTABLE)
            __builtin_prefetch((const void *)((uintptr_t)from + AHEAD_BYTES));
    }
}

static void copy_lanes(const struct pack_f32_panel *panel)
{
    for (size_t i = 0; i < panel->count;) {
        size_t rest = panel->count - i;
        if (rest >= 16)
            copy_steps(panel, i, 4, 4), i += 16;
        else if (rest >= 12)
            copy_steps(panel, i, 3, 4), i += 12;
        else if (rest >= 8)
            copy_steps(panel, i, 2, 4), i += 8;
        else if (rest >= 4)
            copy_steps(panel, i, 1, 4), i += 4;
        else if (rest == 3)
            copy_steps(panel, i, 1, 3), i += 3;
        else if (rest == 2)
            copy_steps(panel, i, 1, 2), i += 2;
        else
            copy_steps(panel, i, 1, 1), i += 1;
    }
}

/* Panels of vectors that have a lane each. */
static bool pack_vectors(const struct pack_f32_panel *panel)
{
    bool has_lanes = panel->width % 4 == 0 && panel->width - panel->count < 4 && panel->count;
    if (!has_lanes || panel->taps > 1)
        return false;
    if (panel->lane == 1 && !panel->lanes)
        copy_lanes(panel);
    else if (panel->step != 1 || panel->k < 4 || panel->width > 4 * MOST_VECTORS)
        return false;
    else if (panel->count == panel->width)
        transpose_by_width(panel, false);
    else
        transpose_by_width(panel, true);
    return true;
}

void pack_f32(const struct pack_f32_panel *panel)
{
    if (pack_vectors(panel))
        return;
    if (panel->count < panel->width)
        clear_lanes(panel);
    if (panel->count < 4 || (panel->taps > 1 && panel->k < 4))
        pack_elements(panel);
    else if (panel->taps > 1)
        transpose(panel, true);
    else if (panel->step == 1 && panel->k >= 4)
        transpose(panel, false);
    else if (panel->step == 1 && panel->k)
        transpose_shallow(panel);
    else
        gather(panel);
}
