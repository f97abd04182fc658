/* Packing by vectors: straight copies where lanes are neighbours, 4x4 transposes or interleaving
 * stores where steps are, element by element where neither is.
 *
 * A transposed block takes 4 loads, 8 ZIPs and 4 stores for 16 elements. Long panels are done
 * CHUNK steps at a time, so that the lines a block of lanes writes in part are still in the L1
 * when the next block of lanes comes. */
#include <stdbool.h>

#include "kernels/asm/vector_neon.h"

typedef float32x4_t quad;

static inline quad load(const float *from)
{
    return vld1q_f32(from);
}

static inline void store(float *to, quad value)
{
    vst1q_f32(to, value);
}

#include "kernels/pack/f32/pack_quads.h"

/* lane == 1: a step is one copy. */
static void pack_steps(const struct pack_f32_panel *panel)
{
    size_t width = panel->width, count = panel->count;
    for (size_t p = 0; p < panel->k; p++) {
        const float *from = panel->src + (ptrdiff_t)p * panel->step;
        float *out = panel->out + p * width;
        for (size_t i = 0; i < width; i += 4)
            store_part(out + i, load_part(from + i, left(count, i)), width - i);
    }
}

/* The same for whole vectors of a constant number: one load and one store of several registers. */
INLINE void copy_step(const float *from, float *out, size_t vectors)
{
    if (vectors == 3)
        vst1q_f32_x3(out, vld1q_f32_x3(from));
    else if (vectors == 2)
        vst1q_f32_x2(out, vld1q_f32_x2(from));
    else
        vst1q_f32(out, vld1q_f32(from));
}

INLINE void copy_steps(const struct pack_f32_panel *panel, size_t vectors)
{
    enum { AT_ONCE = 4 };
    const float *from = panel->src;
    float *out = panel->out;
    ptrdiff_t step = panel->step;
    size_t rest = panel->k % AT_ONCE;
    for (size_t rounds = panel->k / AT_ONCE; rounds; rounds--)
#pragma GCC unroll 4
        for (size_t x = 0; x < AT_ONCE; x++, from += step, out += 4 * vectors)
            copy_step(from, out, vectors);
    for (; rest; rest--, from += step, out += 4 * vectors)
        copy_step(from, out, vectors);
}

/* The same for one vector of which a constant number of columns exists. */
INLINE void copy_few(const struct pack_f32_panel *panel, size_t count)
{
    const float *from = panel->src;
    float *out = panel->out;
    for (size_t p = panel->k; p; p--, from += panel->step, out += 4) {
        float32x2_t none = vdup_n_f32(0);
        float32x2_t low = count > 1 ? vld1_f32(from) : vld1_lane_f32(from, none, 0);
        float32x2_t high = count > 2 ? vld1_lane_f32(from + 2, none, 0) : none;
        vst1q_f32(out, vcombine_f32(low, high));
    }
}

static void pack_few(const struct pack_f32_panel *panel)
{
    if (panel->count == 3)
        copy_few(panel, 3);
    else if (panel->count == 2)
        copy_few(panel, 2);
    else
        copy_few(panel, 1);
}

static void pack_neighbours(const struct pack_f32_panel *panel)
{
    if (panel->width == 4 && panel->count > 0 && panel->count < 4)
        pack_few(panel);
    else if (panel->count != panel->width)
        pack_steps(panel);
    else if (panel->width == 12)
        copy_steps(panel, 3);
    else if (panel->width == 8)
        copy_steps(panel, 2);
    else if (panel->width == 4)
        copy_steps(panel, 1);
    else
        pack_steps(panel);
}

/* A panel of `vectors` times four lanes, of which the last vector has one at least, and of four
 * steps at least, of which the last four overlap the ones before if there are not whole vectors of
 * them: addresses are constants. Lanes that are missing are read as the last one, and become zeros.
 */
INLINE void transpose_panel(const struct pack_f32_panel *panel, size_t vectors, bool ragged)
{
    enum { MOST = 16, MAY_MISS = 3 };
    const float *from[MOST];
    uint32x4_t exists[MAY_MISS];
    size_t k = panel->k, first = 4 * vectors - MAY_MISS;
#pragma GCC unroll 16
    for (size_t i = 0; i < 4 * vectors; i++)
        from[i] = lane_start(panel, ragged ? smaller(i, panel->count - 1) : i);
#pragma GCC unroll 3
    for (size_t i = 0; i < MAY_MISS; i++)
        exists[i] = vdupq_n_u32(first + i < panel->count ? UINT32_MAX : 0);
    for (size_t p = 0, end = k & ~(size_t)3;; p = k - 4, end = k) {
        float *out = panel->out + p * 4 * vectors;
        for (; p < end; p += 4, out += 16 * vectors) {
            float32x4_t block[MOST];
#pragma GCC unroll 16
            for (size_t i = 0; i < 4 * vectors; i++)
                block[i] = vld1q_f32(from[i] + p);
#pragma GCC unroll 3
            for (size_t i = 0; ragged && i < MAY_MISS; i++)
                block[first + i] = vreinterpretq_f32_u32(
                    vandq_u32(vreinterpretq_u32_f32(block[first + i]), exists[i]));
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                transpose_4x4(block + 4 * v);
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; v++)
                    vst1q_f32(out + 4 * (x * vectors + v), block[4 * v + x]);
        }
        if (end == k)
            return;
    }
}

INLINE bool transpose_by_width(const struct pack_f32_panel *panel, bool ragged)
{
    if (panel->width == 12)
        transpose_panel(panel, 3, ragged);
    else if (panel->width == 8)
        transpose_panel(panel, 2, ragged);
    else if (panel->width == 16)
        transpose_panel(panel, 4, ragged);
    else if (panel->width == 4)
        transpose_panel(panel, 1, ragged);
    else
        return false;
    return true;
}

static bool transpose_whole(const struct pack_f32_panel *panel)
{
    if (panel->count == panel->width)
        return transpose_by_width(panel, false);
    return panel->width - panel->count < 4 && panel->count > 0 && transpose_by_width(panel, true);
}

/* Four valid lanes from i on, which have one to three steps, with step == 1: a load takes a lane's
 * steps apart. */
INLINE void split_lanes(const struct pack_f32_panel *panel, size_t i, size_t k)
{
    const float *from[4];
    float32x4_t none = vdupq_n_f32(0);
    float *out = panel->out + i;
#pragma GCC unroll 4
    for (size_t x = 0; x < 4; x++)
        from[x] = lane_start(panel, i + x);
    if (k == 3) {
        float32x4x3_t rows = {{none, none, none}};
        rows = vld3q_lane_f32(from[0], rows, 0);
        rows = vld3q_lane_f32(from[1], rows, 1);
        rows = vld3q_lane_f32(from[2], rows, 2);
        rows = vld3q_lane_f32(from[3], rows, 3);
        vst1q_f32(out, rows.val[0]);
        vst1q_f32(out + panel->width, rows.val[1]);
        vst1q_f32(out + 2 * panel->width, rows.val[2]);
    } else if (k == 2) {
        float32x4_t low = vcombine_f32(vld1_f32(from[0]), vld1_f32(from[1]));
        float32x4_t high = vcombine_f32(vld1_f32(from[2]), vld1_f32(from[3]));
        vst1q_f32(out, vuzp1q_f32(low, high));
        vst1q_f32(out + panel->width, vuzp2q_f32(low, high));
    } else {
        float32x4_t row = vld1q_lane_f32(from[0], none, 0);
        row = vld1q_lane_f32(from[1], row, 1);
        row = vld1q_lane_f32(from[2], row, 2);
        vst1q_f32(out, vld1q_lane_f32(from[3], row, 3));
    }
}

/* Whole vectors of lanes whose two or three steps are all that lies there: loads take them apart.
 * Returns how many lanes that are. */
static size_t split_dense(const struct pack_f32_panel *panel)
{
    size_t i = 0, width = panel->width, k = panel->k;
    const float *from = panel->src;
    float *out = panel->out;
    if (panel->lanes || panel->lane != (ptrdiff_t)k || k < 2)
        return 0;
    for (; k == 2 && i + 4 <= panel->count; i += 4, from += 8, out += 4) {
        float32x4x2_t rows = vld2q_f32(from);
        vst1q_f32(out, rows.val[0]);
        vst1q_f32(out + width, rows.val[1]);
    }
    for (; k == 3 && i + 4 <= panel->count; i += 4, from += 12, out += 4) {
        float32x4x3_t rows = vld3q_f32(from);
        vst1q_f32(out, rows.val[0]);
        vst1q_f32(out + width, rows.val[1]);
        vst1q_f32(out + 2 * width, rows.val[2]);
    }
    return i;
}

/* Panels of one to three steps, with step == 1. */
static void pack_shallow(const struct pack_f32_panel *panel)
{
    size_t i = split_dense(panel), k = panel->k;
    for (; i + 4 <= panel->count; i += 4)
        if (k == 3)
            split_lanes(panel, i, 3);
        else if (k == 2)
            split_lanes(panel, i, 2);
        else if (k == 1)
            split_lanes(panel, i, 1);
    for (; i < panel->width; i++)
        pack_lane(panel, i, 0, k);
}

/* Whole vectors of lanes, of so few steps that all of a vector's are done at once: the last four
 * overlap those before. Returns how many lanes that are. */
static size_t transpose_few_steps(const struct pack_f32_panel *panel)
{
    size_t i = 0, k = panel->k, width = panel->width;
    if (panel->lanes || k > CHUNK)
        return 0;
    for (; i + 4 <= panel->count; i += 4) {
        const float *from = panel->src + (ptrdiff_t)i * panel->lane, *second = from + panel->lane;
        const float *third = second + panel->lane, *fourth = third + panel->lane;
        for (size_t left = k; left;) {
            size_t p = k - (left > 4 ? left : 4);
            float *out = panel->out + p * width + i;
            float32x4_t block[4] = {vld1q_f32(from + p), vld1q_f32(second + p),
                                    vld1q_f32(third + p), vld1q_f32(fourth + p)};
            transpose_4x4(block);
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++, out += width)
                vst1q_f32(out, block[x]);
            left = left > 4 ? left - 4 : 0;
        }
    }
    return i;
}

/* step == 1, at least four lanes, and steps; the last four lanes, and steps, overlap the ones
 * before if there are not whole vectors of them. */
static void pack_by_transposes(const struct pack_f32_panel *panel)
{
    size_t whole = panel->k & ~(size_t)3;
    if (transpose_whole(panel))
        return;
    size_t done = transpose_few_steps(panel);
    if (whole < panel->k)
        for (size_t i = done; i < panel->width; i += 4)
            transpose_lanes(panel, smaller(i, panel->width - 4), panel->k - 4, panel->k);
    for (size_t first = 0; first < whole && done < panel->width; first += CHUNK)
        for (size_t i = done; i < panel->width; i += 4)
            transpose_lanes(panel, smaller(i, panel->width - 4), first,
                            smaller(first + CHUNK, whole));
}

/* step == 1 and one to three lanes, all valid: stores interleave them. */
static void pack_narrow(const struct pack_f32_panel *panel)
{
    size_t width = panel->width, p = 0;
    const float *a = lane_start(panel, 0), *b = width > 1 ? lane_start(panel, 1) : a;
    const float *c = width > 2 ? lane_start(panel, 2) : a;
    for (; p + 4 <= panel->k; p += 4) {
        float *out = panel->out + p * width;
        float32x4_t x = vld1q_f32(a + p);
        if (width == 1)
            vst1q_f32(out, x);
        else if (width == 2)
            vst2q_f32(out, ((float32x4x2_t){{x, vld1q_f32(b + p)}}));
        else
            vst3q_f32(out, ((float32x4x3_t){{x, vld1q_f32(b + p), vld1q_f32(c + p)}}));
    }
    for (size_t i = 0; i < width; i++)
        pack_lane(panel, i, p, panel->k);
}

/* step == 1, eight valid lanes, at least four steps: the last ones overlap those before. */
static void pack_8(const struct pack_f32_panel *panel)
{
    const float *from[8];
    size_t k = panel->k;
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        from[i] = lane_start(panel, i);
    for (size_t p = 0; p < k; p += 4) {
        float32x4_t low[4], high[4];
        p = smaller(p, k - 4);
        float *out = panel->out + p * 8;
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            low[i] = vld1q_f32(from[i] + p);
            high[i] = vld1q_f32(from[i + 4] + p);
        }
        transpose_4x4(low);
        transpose_4x4(high);
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            vst1q_f32(out + i * 8, low[i]);
            vst1q_f32(out + i * 8 + 4, high[i]);
        }
    }
}

/* In assembly, as compilers take two instructions for an element instead of one. */
void pack_f32_8_lanes_neon(const float *const lanes[8], ptrdiff_t step, size_t k, float *out);

static void pack_8_lanes(const struct pack_f32_panel *panel)
{
    const float *from[8];
    for (size_t i = 0; i < 8; i++)
        from[i] = lane_start(panel, i);
    pack_f32_8_lanes_neon(from, panel->step, panel->k, panel->out);
}

static void pack(const struct pack_f32_panel *panel)
{
    if (panel->step == 1 && panel->width == 8 && panel->count == 8 && panel->k >= 4)
        pack_8(panel);
    else if (panel->step == 1 && panel->width >= 4 && panel->k < 4)
        pack_shallow(panel);
    else if (panel->step == 1 && panel->width >= 4)
        pack_by_transposes(panel);
    else if (panel->step == 1 && panel->count == panel->width)
        pack_narrow(panel);
    else if (panel->lane == 1 && !panel->lanes)
        pack_neighbours(panel);
    else if (panel->width == 8 && panel->count == 8 && panel->k > 0)
        pack_8_lanes(panel);
    else
        pack_by_elements(panel);
}

/* ---- taps innermost in the source, outermost in the panel ---- */

/* Element q = p * taps + t of a lane is in row t * k + p of the panel: how many elements in that
 * row begins. */
struct tap_cursor {
    size_t tap, taps;
    ptrdiff_t row, next, wrap; /* to the next tap's row; from the last one's to the first */
};

static inline struct tap_cursor tap_cursor(size_t width, size_t k, size_t taps, size_t q)
{
    size_t tap = q % taps, p = q / taps;
    return (struct tap_cursor){
        .tap = tap,
        .taps = taps,
        .row = (ptrdiff_t)((tap * k + p) * width),
        .next = (ptrdiff_t)(k * width),
        .wrap = (ptrdiff_t)width - (ptrdiff_t)((taps - 1) * k * width),
    };
}

static inline ptrdiff_t tap_row(struct tap_cursor *cursor)
{
    ptrdiff_t row = cursor->row;
    bool last = ++cursor->tap == cursor->taps;
    cursor->row += last ? cursor->wrap : cursor->next;
    cursor->tap = last ? 0 : cursor->tap;
    return row;
}

/* Lanes that are no whole vector, padding, and the last elements of all lanes. */
static void gather_taps(const struct pack_f32_taps *panel, size_t i, size_t last_lane, size_t first)
{
    struct tap_cursor cursor = tap_cursor(panel->width, panel->k, panel->taps, first);
    for (size_t q = first; q < panel->k * panel->taps; q++) {
        const float *from = panel->src + (ptrdiff_t)i * panel->lane + q;
        float *row = panel->out + tap_row(&cursor);
        for (size_t lane = i; lane < last_lane; lane++, from += panel->lane)
            row[lane] = lane < panel->count ? *from : 0;
    }
}

/* `vectors` times four lanes from i on, elements first .. last - 1 of each, a multiple of 4. */
INLINE void transpose_taps(const struct pack_f32_taps *panel, size_t i, size_t first, size_t last,
                           size_t vectors)
{
    struct tap_cursor cursor = tap_cursor(panel->width, panel->k, panel->taps, first);
    const float *from = panel->src + (ptrdiff_t)i * panel->lane;
    for (size_t q = first; q < last; q += 4) {
        float32x4_t block[3][4];
#pragma GCC unroll 3
        for (size_t v = 0; v < vectors; v++) {
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                block[v][x] = vld1q_f32(from + (ptrdiff_t)(4 * v + x) * panel->lane + q);
            transpose_4x4(block[v]);
        }
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++) {
            float *row = panel->out + tap_row(&cursor) + i;
#pragma GCC unroll 3
            for (size_t v = 0; v < vectors; v++)
                vst1q_f32(row + 4 * v, block[v][x]);
        }
    }
}

static void pack_taps(const struct pack_f32_taps *panel)
{
    size_t whole = panel->k * panel->taps & ~(size_t)3, lanes = panel->count & ~(size_t)3;
    for (size_t first = 0; first < whole; first += CHUNK) {
        size_t last = smaller(first + CHUNK, whole), i = 0;
        for (; i + 12 <= lanes; i += 12)
            transpose_taps(panel, i, first, last, 3);
        for (; i + 8 <= lanes; i += 8)
            transpose_taps(panel, i, first, last, 2);
        for (; i < lanes; i += 4)
            transpose_taps(panel, i, first, last, 1);
    }
    gather_taps(panel, 0, lanes, whole);
    if (lanes < panel->width)
        gather_taps(panel, lanes, panel->width, 0);
}

const struct pack_f32_kernel pack_f32_neon = {"pack_f32_neon", CPU_NEON, pack, pack_taps};
