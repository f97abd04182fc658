/* Packing of panels for NEON, for all types: which one is a matter of constants after inlining.
 *
 * A unit is a lane's group of elements, 2 … 16 bytes. Lanes whose elements are next to each other
 * are a matrix of units that is transposed: so many lanes as fill a vector with one unit of each
 * come together, sixteen bytes of each at a time. Elements that are next to each other in other
 * lanes are interleaved, a group of steps at a time. Both are rounds of ZIP; what is neither comes
 * through a buffer, one element after the other. Elements are converted as they are loaded. */
#ifndef KERNELS_PACK_PANEL_NEON_H
#define KERNELS_PACK_PANEL_NEON_H

#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/gemm/types.h"
#include "kernels/pack/panel.h"

enum { MOST_GROUP = 16, MOST_LANES = 8 };
enum { LANE_BYTES = 160 }; /* of a lane that are gathered at once: whole groups of each type */

/* Sixteen bytes of a panel's elements, from as many of the source. */
typedef uint8x16_t load_fn(const void *from);

/* MOST_LANES lanes, as pack_lanes() says: a function of its own, since two ways have them. */
typedef void most_lanes_fn(const uint8_t *const *from, size_t k, uint8_t *out, size_t out_step);

/* A type's own numbers. */
struct pack_units {
    load_fn *load;
    most_lanes_fn *most_lanes;
    size_t unit;           /* bytes of a group */
    size_t to_bytes;       /* of an element of the panel */
    size_t from_bytes;     /* of one of the source */
    unsigned char nothing; /* each byte of an element of the source that becomes zero */
};

INLINE uint8x16_t zip_low(uint8x16_t a, uint8x16_t b, size_t bytes)
{
    switch (bytes) {
    case 1:
        return vzip1q_u8(a, b);
    case 2:
        return vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    case 4:
        return vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    default:
        return vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
    }
}

INLINE uint8x16_t zip_high(uint8x16_t a, uint8x16_t b, size_t bytes)
{
    switch (bytes) {
    case 1:
        return vzip2q_u8(a, b);
    case 2:
        return vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    case 4:
        return vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    default:
        return vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
    }
}

/* Of `count` vectors, a power of two: the first piece of `bytes` bytes of each, then the second …
 */
INLINE void interleave(uint8x16_t *vectors, size_t count, size_t bytes)
{
    uint8x16_t next[MOST_GROUP];
#pragma GCC unroll 4
    for (size_t done = 1; done < count; done *= 2) {
#pragma GCC unroll 8
        for (size_t i = 0; i < count / 2; i++) {
            next[2 * i] = zip_low(vectors[i], vectors[i + count / 2], bytes);
            next[2 * i + 1] = zip_high(vectors[i], vectors[i + count / 2], bytes);
        }
#pragma GCC unroll 16
        for (size_t i = 0; i < count; i++)
            vectors[i] = next[i];
    }
}

/* Piece `number` of so many bytes. */
INLINE void store_piece(uint8_t *to, uint8x16_t vector, size_t number, size_t bytes)
{
    if (bytes == 16) {
        vst1q_u8(to, vector);
    } else if (bytes == 8) {
        uint64_t piece = vreinterpretq_u64_u8(vector)[number];
        memcpy(to, &piece, sizeof piece);
    } else if (bytes == 4) {
        uint32_t piece = vreinterpretq_u32_u8(vector)[number];
        memcpy(to, &piece, sizeof piece);
    } else {
        uint16_t piece = vreinterpretq_u16_u8(vector)[number];
        memcpy(to, &piece, sizeof piece);
    }
}

/* The first `count` elements of the source, then such as become zeros. */
INLINE uint8x16_t load_some(const struct pack_units *units, const uint8_t *from, size_t count)
{
    uint8_t all[16 * sizeof(float)];
    memset(all, units->nothing, sizeof all);
    memcpy(all, from, count * units->from_bytes);
    return units->load(all);
}

/* The last `rest` elements of `all`, then zeros: those of the last whole vector, moved down. */
INLINE uint8x16_t load_rest(const struct pack_units *units, const uint8_t *from, size_t all,
                            size_t rest)
{
    static const uint8_t places[32] = {0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,
                                       11,  12,  13,  14,  15,  255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    size_t at_once = 16 / units->to_bytes;
    if (all < at_once)
        return load_some(units, from, rest);
    uint8x16_t last = units->load(from + (all - at_once) * units->from_bytes);
    return vqtbl1q_u8(last, vld1q_u8(places + (at_once - rest) * units->to_bytes));
}

/* ---- lanes whose elements are next to each other ---- */

/* `groups` units of `lanes` lanes, at most sixteen bytes of each, to places that are out_step bytes
 * apart; lanes: as many as fill whole vectors with one unit of each, or a power of two below that.
 */
INLINE void store_units(const struct pack_units *units, uint8x16_t *vectors, size_t lanes,
                        size_t groups, uint8_t *out, size_t out_step)
{
    size_t most = 16 / units->unit, together = lanes < most ? lanes : most;
    size_t pieces = most / together; /* of a vector */
#pragma GCC unroll 8
    for (size_t i = 0; i < lanes; i += together) {
        interleave(vectors + i, together, units->unit);
#pragma GCC unroll 8
        for (size_t g = 0; g < most && g < groups; g++)
            store_piece(out + g * out_step + i * units->unit, vectors[i + g / pieces], g % pieces,
                        together * units->unit);
    }
}

INLINE void pack_lanes(const struct pack_units *units, size_t lanes, const uint8_t *const *from,
                       size_t k, uint8_t *out, size_t out_step)
{
    size_t at_once = 16 / units->to_bytes, rest = k % at_once,
           group = units->unit / units->to_bytes;
    uint8x16_t vectors[MOST_LANES];
    const uint8_t *lane[MOST_LANES]; /* in registers, not where out might be, too */
#pragma GCC unroll 8
    for (size_t i = 0; i < lanes; i++)
        lane[i] = from[i];
    for (size_t p = 0; p + at_once <= k; p += at_once) {
#pragma GCC unroll 8
        for (size_t i = 0; i < lanes; i++)
            vectors[i] = units->load(lane[i] + p * units->from_bytes);
        store_units(units, vectors, lanes, at_once, out, out_step);
        out += 16 / units->unit * out_step;
    }
    if (!rest)
        return;
#pragma GCC unroll 8
    for (size_t i = 0; i < lanes; i++)
        vectors[i] = load_rest(units, lane[i], k, rest);
    store_units(units, vectors, lanes, (rest + group - 1) / group, out, out_step);
}

/* `count` lanes of a panel, from its lane number `first` on: MOST_LANES at a time, then as many as
 * fill a vector with one unit of each, but no more than four, then single ones. */
INLINE void pack_near_steps(const struct pack_units *units, const uint8_t *const *from,
                            size_t count, size_t k, uint8_t *out, size_t out_step)
{
    size_t some = smaller(16 / units->unit, 4);
    for (; count >= MOST_LANES; count -= MOST_LANES) {
        units->most_lanes(from, k, out, out_step);
        from += MOST_LANES;
        out += MOST_LANES * units->unit;
    }
    for (; some > 1 && count >= some; count -= some) {
        pack_lanes(units, some, from, k, out, out_step);
        from += some;
        out += some * units->unit;
    }
    for (; count; count--, from++, out += units->unit)
        pack_lanes(units, 1, from, k, out, out_step);
}

/* ---- lanes that are next to each other ---- */

/* A vector of twelve bytes, or of eight, that are what load() makes of the source's. */
INLINE uint8x16_t load_12_or_8(const struct pack_units *units, const uint8_t *from, size_t bytes)
{
    uint32_t last = 0;
    if (bytes == 12)
        memcpy(&last, from + 8, sizeof last);
    uint8x8_t high = vreinterpret_u8_u32(vset_lane_u32(last, vdup_n_u32(0), 0));
    uint8x16_t both = vcombine_u8(vld1_u8(from), high);
    return units->nothing ? veorq_u8(both, vdupq_n_u8(units->nothing)) : both;
}

/* As many lanes as a vector has, or what panels of GEMM_NR lanes leave. */
INLINE uint8x16_t load_lanes(const struct pack_units *units, const uint8_t *from, size_t lanes)
{
    size_t bytes = lanes * units->to_bytes;
    if (bytes == 16)
        return units->load(from);
    if (units->from_bytes == units->to_bytes)
        return load_12_or_8(units, from, bytes);
    return load_some(units, from, lanes);
}

/* A whole group of so many lanes, constants after inlining. */
INLINE void pack_group_lanes(const struct pack_units *units, const uint8_t *from,
                             ptrdiff_t step_bytes, size_t lanes, uint8_t *out)
{
    size_t group = units->unit / units->to_bytes, bytes = lanes * units->unit;
    uint8x16_t vectors[MOST_GROUP];
#pragma GCC unroll 16
    for (size_t p = 0; p < group; p++)
        vectors[p] = load_lanes(units, from + (ptrdiff_t)p * step_bytes, lanes);
    interleave(vectors, group, units->to_bytes);
#pragma GCC unroll 16
    for (size_t v = 0; v < group; v++) {
        if (16 * v + 16 <= bytes)
            vst1q_u8(out + 16 * v, vectors[v]);
        else if (16 * v + 8 == bytes)
            vst1_u8(out + 16 * v, vget_low_u8(vectors[v]));
    }
}

/* Lanes and steps that are fewer than a vector's and a group's, among others that become zeros. */
struct pack_part {
    uint8_t from[MOST_GROUP][16 * sizeof(float)], out[MOST_GROUP * 16];
};

static __attribute__((noinline)) void load_part(struct pack_part *part, const uint8_t *from,
                                                ptrdiff_t step_bytes, size_t steps, size_t bytes,
                                                unsigned char nothing)
{
    memset(part->from, nothing, sizeof part->from);
    for (size_t p = 0; p < steps; p++, from += step_bytes)
        memcpy(part->from[p], from, bytes);
}

/* A group of `count` lanes, of which the source has so many steps. */
INLINE void pack_group(const struct pack_units *units, const uint8_t *from, ptrdiff_t step_bytes,
                       size_t steps, size_t count, uint8_t *out)
{
    size_t at_once = 16 / units->to_bytes, usual = GEMM_NR % at_once;
    size_t group = units->unit / units->to_bytes, lanes;
    struct pack_part part;
    for (; count && (count != usual || steps < group); count -= lanes) {
        lanes = smaller(count, at_once);
        int is_whole = lanes == at_once && steps >= group;
        if (!is_whole)
            load_part(&part, from, step_bytes, smaller(steps, group), lanes * units->from_bytes,
                      units->nothing);
        pack_group_lanes(units, is_whole ? from : part.from[0],
                         is_whole ? step_bytes : (ptrdiff_t)sizeof part.from[0], at_once,
                         is_whole ? out : part.out);
        if (!is_whole)
            memcpy(out, part.out, lanes * units->unit);
        from += lanes * units->from_bytes;
        out += lanes * units->unit;
    }
    if (count)
        pack_group_lanes(units, from, step_bytes, usual, out);
}

INLINE void pack_near_lanes(const struct pack_units *units, const struct pack_panel *panel,
                            uint8_t *out, size_t out_step)
{
    const uint8_t *from = panel->src;
    ptrdiff_t step = panel->step * (ptrdiff_t)units->from_bytes;
    for (size_t p = 0; p < panel->k; p += panel->group, out += out_step)
        pack_group(units, from + (ptrdiff_t)p * step, step, panel->k - p, panel->count, out);
}

/* ---- any strides ---- */

/* Up to so many lanes, by their addresses. */
struct pack_lanes {
    const uint8_t *from[MOST_LANES];
    size_t count;
};
struct pack_gathered {
    const uint8_t *from[MOST_LANES];
    uint8_t buffer[MOST_LANES][LANE_BYTES];
};

/* Steps p … of each lane come next to each other. */
INLINE void gather(const struct pack_units *units, struct pack_gathered *to,
                   const struct pack_lanes *lanes, ptrdiff_t step, size_t p, size_t steps)
{
    for (size_t i = 0; i < lanes->count; i++) {
        to->from[i] = to->buffer[i];
        for (size_t s = 0; s < steps; s++)
            memcpy(to->buffer[i] + s * units->from_bytes,
                   lanes->from[i] + (ptrdiff_t)(p + s) * step * (ptrdiff_t)units->from_bytes,
                   units->from_bytes);
    }
}

/* Steps that are apart are gathered, so many at a time as are whole groups. */
INLINE void pack_some_lanes(const struct pack_units *units, const struct pack_lanes *lanes,
                            const struct pack_panel *panel, uint8_t *out)
{
    size_t out_step = panel->width * units->unit;
    size_t at_once = panel->step == 1 ? panel->k : LANE_BYTES / units->from_bytes;
    struct pack_gathered gathered;
    for (size_t p = 0; p < panel->k; p += at_once) {
        size_t steps = smaller(panel->k - p, at_once);
        if (panel->step != 1)
            gather(units, &gathered, lanes, panel->step, p, steps);
        pack_near_steps(units, panel->step == 1 ? lanes->from : gathered.from, lanes->count, steps,
                        out, out_step);
        out += at_once * units->to_bytes / units->unit * out_step;
    }
}

/* ---- all of it ---- */

/* Lanes that do not exist, in every group. */
static inline void clear_lanes(const struct pack_panel *panel, size_t unit, uint8_t *out)
{
    size_t groups = (panel->k + panel->group - 1) / panel->group;
    size_t bytes = (panel->width - panel->count) * unit;
    for (size_t g = 0; g < groups && bytes; g++)
        memset(out + (g * panel->width + panel->count) * unit, 0, bytes);
}

/* Adds what a panel of s8 has, lane by lane. */
static inline void add_lane_sums(const struct pack_panel *panel)
{
    size_t group = panel->group, groups = (panel->k + group - 1) / group;
    const int8_t *from = panel->out;
    for (size_t i = 0; i < panel->count; i++) {
        int32x4_t sum = vdupq_n_s32(0);
        for (size_t g = 0; g < groups; g++) {
            const int8_t *unit = from + (g * panel->width + i) * group;
            int8x8_t low = vdup_n_s8(0), high = low;
            if (group >= 8)
                low = vld1_s8(unit);
            else
                memcpy(&low, unit, 4);
            if (group == 16)
                high = vld1_s8(unit + 8);
            sum = vpadalq_s16(sum, vaddl_s8(low, high));
        }
        panel->sums[i] += vaddvq_s32(sum);
    }
}

/* Where up to MOST_LANES lanes are, from number `first` on. */
static inline void find_lanes(struct pack_lanes *lanes, const struct pack_panel *panel,
                              size_t first, size_t bytes)
{
    lanes->count = smaller(panel->count - first, MOST_LANES);
    for (size_t i = 0; i < lanes->count; i++) {
        ptrdiff_t lane = (ptrdiff_t)(first + i) * panel->lane * (ptrdiff_t)bytes;
        lanes->from[i] =
            panel->lanes ? panel->lanes[first + i] : (const uint8_t *)panel->src + lane;
    }
}

/* What is packed most: a panel of all lanes, whose steps are next to each other. */
INLINE int is_whole(const struct pack_panel *panel)
{
    return panel->width == MOST_LANES && panel->count == MOST_LANES && panel->step == 1 &&
           (panel->lanes || panel->lane != 1);
}

INLINE void pack_whole(const struct pack_units *units, const struct pack_panel *panel)
{
    const uint8_t *from[MOST_LANES];
    ptrdiff_t lane = panel->lane * (ptrdiff_t)units->from_bytes;
#pragma GCC unroll 8
    for (ptrdiff_t i = 0; i < MOST_LANES; i++)
        from[i] = panel->lanes ? panel->lanes[i] : (const uint8_t *)panel->src + i * lane;
    units->most_lanes(from, panel->k, panel->out, MOST_LANES * units->unit);
}

INLINE void pack_panel_units(const struct pack_units *units, const struct pack_panel *panel)
{
    uint8_t *out = panel->out;
    struct pack_lanes lanes;
    if (is_whole(panel) && !panel->sums) {
        pack_whole(units, panel);
        return;
    }
    clear_lanes(panel, units->unit, out);
    if (panel->lane == 1 && !panel->lanes)
        pack_near_lanes(units, panel, out, panel->width * units->unit);
    else
        for (size_t i = 0; i < panel->count; i += MOST_LANES) {
            find_lanes(&lanes, panel, i, units->from_bytes);
            pack_some_lanes(units, &lanes, panel, out + i * units->unit);
        }
    if (panel->sums)
        add_lane_sums(panel);
}

/* A kernel of this name: how it loads, bytes of a unit, and see struct pack_units. */
#define PACK_PANEL(name, load, unit, to_bytes, from_bytes, nothing)                          \
    static most_lanes_fn name##_lanes;                                                       \
    static const struct pack_units name##_units = {load,     name##_lanes, unit,             \
                                                   to_bytes, from_bytes,   nothing};         \
    static __attribute__((noinline)) void name##_lanes(const uint8_t *const *from, size_t k, \
                                                       uint8_t *out, size_t out_step)        \
    {                                                                                        \
        pack_lanes(&name##_units, MOST_LANES, from, k, out, out_step);                       \
    }                                                                                        \
    static void name(const struct pack_panel *panel)                                         \
    {                                                                                        \
        pack_panel_units(&name##_units, panel);                                              \
    }

#endif
