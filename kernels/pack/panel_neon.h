/* Packing of panels for NEON: loops over whole vectors, which are a function for each size of a
 * unit and each conversion, and what panel_units_neon.c does with them for all types alike.
 *
 * A unit is a lane's group of elements, 2 … 16 bytes. Lanes whose elements are next to each other
 * are a matrix of units that is transposed: so many lanes as fill a vector with one unit of each
 * come together, sixteen bytes of each at a time. Elements that are next to each other in other
 * lanes are interleaved, a group of steps at a time. Both are rounds of ZIP; what is neither comes
 * through a buffer, one element after the other, and so does what fills no vector. Elements are
 * converted as they are loaded. */
#ifndef KERNELS_PACK_PANEL_NEON_H
#define KERNELS_PACK_PANEL_NEON_H

#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/gemm/types.h"
#include "kernels/pack/panel.h"

enum { VECTOR_BYTES = 16, MOST_GROUP = 16, MOST_LANES = 8 };

/* Sixteen bytes of a panel's elements, from as many of the source. */
typedef uint8x16_t load_fn(const void *from);

/* `vectors` vectors of each of a fixed number of lanes, whose elements are next to each other, then
 * `rest` bytes of the panel more, which fill none: each unit to a place that is out_step bytes
 * behind that of the one before. Of the rest a whole vector is read, which ends where it does. */
typedef void pack_lanes_fn(const uint8_t *const *from, size_t vectors, size_t rest, uint8_t *out,
                           size_t out_step);

/* `groups` groups of steps, which are step bytes apart; of each, `vectors` vectors of lanes that
 * are next to each other. */
typedef void pack_steps_fn(const uint8_t *from, ptrdiff_t step, size_t groups, size_t vectors,
                           uint8_t *out, size_t out_step);

/* A pair of types, with its loops: over MOST_LANES lanes, over pack_few_lanes() ones, over one. */
struct pack_units {
    pack_lanes_fn *most, *few, *one;
    pack_steps_fn *steps;
    pack_steps_fn *last; /* of the lanes that GEMM_NR leaves beside whole vectors, or NULL */
    uint8_t at_once;     /* elements, a power of two */
    uint8_t unit;        /* bytes of a group */
    uint8_t to_bytes;    /* of an element of the panel */
    uint8_t from_bytes;  /* of one of the source */
    uint8_t nothing;     /* each byte of an element of the source that becomes zero */
};

void pack_panel_units(const struct pack_units *units, const struct pack_panel *panel);

/* So many as fill a vector with one unit of each, but no more than four. */
static inline size_t pack_few_lanes(size_t unit)
{
    return smaller(VECTOR_BYTES / unit, 4);
}

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

/* Units of `lanes` lanes, one of each after the other, of the first `bytes` bytes of their vectors;
 * lanes: as many as fill whole vectors with one unit of each, or a power of two below that. */
INLINE void store_units(uint8x16_t *vectors, size_t unit, size_t lanes, size_t bytes, uint8_t *out,
                        size_t out_step)
{
    size_t most = VECTOR_BYTES / unit, together = lanes < most ? lanes : most;
    size_t pieces = most / together; /* of a vector */
#pragma GCC unroll 8
    for (size_t i = 0; i < lanes; i += together) {
        interleave(vectors + i, together, unit);
#pragma GCC unroll 8
        for (size_t g = 0; g < most; g++)
            if (g * unit < bytes)
                store_piece(out + g * out_step + i * unit, vectors[i + g / pieces], g % pieces,
                            together * unit);
    }
}

/* The last bytes of a vector, moved down, and zeros: the first `bytes` of its places. */
INLINE uint8x16_t places_of_last(size_t bytes)
{
    static const uint8_t numbers[VECTOR_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                  8, 9, 10, 11, 12, 13, 14, 15};
    return vaddq_u8(vld1q_u8(numbers), vdupq_n_u8((uint8_t)(VECTOR_BYTES - bytes)));
}

/* from_bytes: of what a vector is loaded from. */
INLINE void pack_lanes(load_fn *load, size_t from_bytes, size_t unit, size_t lanes,
                       const uint8_t *const *from, size_t vectors, size_t rest, uint8_t *out,
                       size_t out_step)
{
    uint8x16_t vector[MOST_LANES];
    const uint8_t *lane[MOST_LANES]; /* in registers, not where out might be, too */
    size_t at = 0;
#pragma GCC unroll 8
    for (size_t i = 0; i < lanes; i++)
        lane[i] = from[i];
    for (; vectors; vectors--, at += from_bytes) {
#pragma GCC unroll 8
        for (size_t i = 0; i < lanes; i++)
            vector[i] = load(lane[i] + at);
        store_units(vector, unit, lanes, VECTOR_BYTES, out, out_step);
        out += VECTOR_BYTES / unit * out_step;
    }
    if (!rest)
        return;
    uint8x16_t places = places_of_last(rest);
    at = at + rest * from_bytes / VECTOR_BYTES - from_bytes;
#pragma GCC unroll 8
    for (size_t i = 0; i < lanes; i++)
        vector[i] = vqtbl1q_u8(load(lane[i] + at), places);
    store_units(vector, unit, lanes, rest, out, out_step);
}

INLINE void pack_steps(load_fn *load, size_t from_bytes, size_t group, size_t to_bytes,
                       const uint8_t *from, ptrdiff_t step, size_t groups, size_t vectors,
                       uint8_t *out, size_t out_step)
{
    uint8x16_t vector[MOST_GROUP];
    for (size_t g = 0; g < groups; g++) {
        for (size_t v = 0; v < vectors; v++) {
#pragma GCC unroll 16
            for (size_t p = 0; p < group; p++)
                vector[p] = load(from + (ptrdiff_t)p * step + v * from_bytes);
            interleave(vector, group, to_bytes);
#pragma GCC unroll 16
            for (size_t p = 0; p < group; p++)
                vst1q_u8(out + (v * group + p) * VECTOR_BYTES, vector[p]);
        }
        from += (ptrdiff_t)group * step;
        out += out_step;
    }
}

/* A vector that begins with twelve bytes, or with eight. */
INLINE uint8x16_t load_12_or_8(const uint8_t *from, size_t bytes)
{
    uint32_t last = 0;
    if (bytes == 12)
        memcpy(&last, from + 8, sizeof last);
    uint8x8_t high = vreinterpret_u8_u32(vset_lane_u32(last, vdup_n_u32(0), 0));
    return vcombine_u8(vld1_u8(from), high);
}

/* The same for the first `bytes` of a vector, 12 or 8, whose bits change by `change` only. */
INLINE void pack_last_lanes(uint8_t change, size_t group, size_t to_bytes, size_t bytes,
                            const uint8_t *from, ptrdiff_t step, size_t groups, uint8_t *out,
                            size_t out_step)
{
    uint8x16_t vector[MOST_GROUP];
    for (size_t g = 0; g < groups; g++) {
#pragma GCC unroll 16
        for (size_t p = 0; p < group; p++) {
            vector[p] = load_12_or_8(from + (ptrdiff_t)p * step, bytes);
            if (change)
                vector[p] = veorq_u8(vector[p], vdupq_n_u8(change));
        }
        interleave(vector, group, to_bytes);
#pragma GCC unroll 16
        for (size_t p = 0; p < group; p++)
            if (VECTOR_BYTES * (p + 1) <= bytes * group)
                vst1q_u8(out + p * VECTOR_BYTES, vector[p]);
            else if (VECTOR_BYTES * p + 8 == bytes * group)
                vst1_u8(out + p * VECTOR_BYTES, vget_low_u8(vector[p]));
        from += (ptrdiff_t)group * step;
        out += out_step;
    }
}

/* Loops over lanes for a size of units, by a conversion that takes so many bytes for a vector. */
#define PACK_LANES(name, load, unit, bytes)                                                        \
    static void name##_most(const uint8_t *const *from, size_t vectors, size_t rest, uint8_t *out, \
                            size_t out_step)                                                       \
    {                                                                                              \
        pack_lanes(load, bytes, unit, MOST_LANES, from, vectors, rest, out, out_step);             \
    }                                                                                              \
    static void name##_few(const uint8_t *const *from, size_t vectors, size_t rest, uint8_t *out,  \
                           size_t out_step)                                                        \
    {                                                                                              \
        pack_lanes(load, bytes, unit, pack_few_lanes(unit), from, vectors, rest, out, out_step);   \
    }                                                                                              \
    static void name##_one(const uint8_t *const *from, size_t vectors, size_t rest, uint8_t *out,  \
                           size_t out_step)                                                        \
    {                                                                                              \
        pack_lanes(load, bytes, unit, 1, from, vectors, rest, out, out_step);                      \
    }

/* The loop over steps, for a group of elements of to_bytes. */
#define PACK_STEPS(name, load, group, to_bytes, bytes)                                           \
    static void name##_steps(const uint8_t *from, ptrdiff_t step, size_t groups, size_t vectors, \
                             uint8_t *out, size_t out_step)                                      \
    {                                                                                            \
        pack_steps(load, bytes, group, to_bytes, from, step, groups, vectors, out, out_step);    \
    }

/* The loop over steps of the lanes that GEMM_NR leaves. */
#define PACK_LAST(name, change, group, to_bytes)                                                 \
    static void name##_last(const uint8_t *from, ptrdiff_t step, size_t groups, size_t vectors,  \
                            uint8_t *out, size_t out_step)                                       \
    {                                                                                            \
        (void)vectors;                                                                           \
        pack_last_lanes(change, group, to_bytes, GEMM_NR *(to_bytes) % VECTOR_BYTES, from, step, \
                        groups, out, out_step);                                                  \
    }

/* A kernel of this name, by loops of those names; last: NULL, or of such a name, too. */
#define PACK_PANEL(name, lanes, steps, last, unit, to_bytes, from_bytes, nothing)        \
    static void name(const struct pack_panel *panel)                                     \
    {                                                                                    \
        static const struct pack_units units = {lanes##_most, lanes##_few,               \
                                                lanes##_one,  steps##_steps,             \
                                                last,         VECTOR_BYTES / (to_bytes), \
                                                unit,         to_bytes,                  \
                                                from_bytes,   nothing};                  \
        pack_panel_units(&units, panel);                                                 \
    }

/* One that shares its loops with none. */
#define PACK_PANEL_ALONE(name, load, unit, to_bytes, from_bytes)           \
    PACK_LANES(name, load, unit, VECTOR_BYTES / (to_bytes) * (from_bytes)) \
    PACK_STEPS(name, load, (unit) / (to_bytes), to_bytes,                  \
               VECTOR_BYTES / (to_bytes) * (from_bytes))                   \
    PACK_PANEL(name, name, name, NULL, unit, to_bytes, from_bytes, 0)

#endif
