/* Panels of any pair of types, by its loops over whole vectors. */
#include "kernels/pack/panel_neon.h"

enum { LANE_BYTES = 160 }; /* of a lane that are gathered at once: whole groups of each type */
enum { MOST_FROM = 2 * VECTOR_BYTES }; /* of the source that a vector comes from */

/* Up to so many lanes, by their addresses. */
struct lanes {
    const uint8_t *from[MOST_LANES];
    size_t count;
};

/* Two pieces of so many bytes, which overlap where there are fewer than two of them. */
INLINE void copy_ends(uint8_t *to, const uint8_t *from, size_t bytes, size_t piece)
{
    uint8_t first[VECTOR_BYTES], last[VECTOR_BYTES];
    memcpy(first, from, piece);
    memcpy(last, from + bytes - piece, piece);
    memcpy(to, first, piece);
    memcpy(to + bytes - piece, last, piece);
}

/* Up to two vectors, by moves of constant sizes. */
INLINE void copy_few(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (bytes >= 16)
        copy_ends(to, from, bytes, 16);
    else if (bytes >= 8)
        copy_ends(to, from, bytes, 8);
    else if (bytes >= 4)
        copy_ends(to, from, bytes, 4);
    else if (bytes >= 2)
        copy_ends(to, from, bytes, 2);
    else if (bytes)
        *to = *from;
}

static void copy_units(uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (; bytes > MOST_FROM; bytes -= VECTOR_BYTES, to += VECTOR_BYTES, from += VECTOR_BYTES)
        vst1q_u8(to, vld1q_u8(from));
    copy_few(to, from, bytes);
}

/* ---- lanes whose elements are next to each other ---- */

/* Lanes that fill no vector: copies, before which a vector may be read. */
static void pack_short(const struct pack_units *units, pack_lanes_fn *pack,
                       const struct lanes *lanes, size_t k, uint8_t *out, size_t out_step)
{
    uint8_t copies[MOST_LANES][2 * MOST_FROM];
    const uint8_t *from[MOST_LANES];
    for (size_t i = 0; i < lanes->count; i++) {
        copy_few(copies[i] + MOST_FROM, lanes->from[i], k * units->from_bytes);
        from[i] = copies[i] + MOST_FROM;
    }
    pack(from, 0, k * units->to_bytes, out, out_step);
}

/* As many lanes as the loop is for. */
static void pack_all(const struct pack_units *units, pack_lanes_fn *pack, const struct lanes *lanes,
                     size_t k, uint8_t *out, size_t out_step)
{
    size_t vectors = k >> __builtin_ctz(units->at_once), rest = k & (units->at_once - 1u);
    if (!vectors)
        pack_short(units, pack, lanes, k, out, out_step);
    else
        pack(lanes->from, vectors, rest * units->to_bytes, out, out_step);
}

static void pack_few(const struct pack_units *units, const struct lanes *all, size_t k,
                     uint8_t *out, size_t out_step)
{
    size_t few = pack_few_lanes(units->unit);
    for (size_t i = 0, count; i < all->count; i += count) {
        struct lanes some = {.count = count = all->count - i >= few ? few : 1};
        memcpy(some.from, all->from + i, count * sizeof *some.from);
        pack_all(units, count == 1 ? units->one : units->few, &some, k, out + i * units->unit,
                 out_step);
    }
}

static void pack_near_steps(const struct pack_units *units, const struct lanes *lanes, size_t k,
                            uint8_t *out, size_t out_step)
{
    if (lanes->count == MOST_LANES)
        pack_all(units, units->most, lanes, k, out, out_step);
    else
        pack_few(units, lanes, k, out, out_step);
}

/* ---- lanes that are next to each other ---- */

/* Some lanes of a panel, of all steps: no whole vectors of it, or steps that are no whole group. */
struct corner {
    const uint8_t *from;
    ptrdiff_t step; /* bytes */
    size_t steps, lanes;
};

/* As many groups at a time as rows fit. */
static void pack_corner(const struct pack_units *units, const struct corner *corner, uint8_t *out,
                        size_t out_step)
{
    uint8_t rows[MOST_GROUP][MOST_FROM], packed[MOST_GROUP * VECTOR_BYTES];
    size_t group = units->unit / units->to_bytes, group_bytes = group * VECTOR_BYTES;
    size_t lane_bytes = corner->lanes * units->from_bytes;
    const uint8_t *from = corner->from;
    memset(rows, units->nothing, sizeof rows);
    for (size_t done = 0; done < corner->steps; done += MOST_GROUP) {
        size_t steps = smaller(corner->steps - done, MOST_GROUP);
        for (size_t p = 0; p < steps; p++, from += corner->step)
            copy_few(rows[p], from, lane_bytes);
        memset(rows + steps, units->nothing, (MOST_GROUP - steps) * MOST_FROM);
        units->steps(rows[0], MOST_FROM, (steps + group - 1) / group, 1, packed, group_bytes);
        for (size_t p = 0; p < steps; p += group, out += out_step)
            copy_units(out, packed + p * VECTOR_BYTES, corner->lanes * units->unit);
    }
}

/* Steps from `step` on, and lanes from `lane` on. */
static void pack_corners(const struct pack_units *units, const struct pack_panel *panel,
                         size_t step, size_t lane, uint8_t *out, size_t out_step)
{
    ptrdiff_t step_bytes = panel->step * (ptrdiff_t)units->from_bytes;
    const uint8_t *from = (const uint8_t *)panel->src + (ptrdiff_t)step * step_bytes;
    out += step / panel->group * out_step;
    for (size_t i = lane; i < panel->count; i += units->at_once)
        pack_corner(units,
                    &(struct corner){from + i * units->from_bytes, step_bytes, panel->k - step,
                                     smaller(panel->count - i, units->at_once)},
                    out + i * units->unit, out_step);
}

/* Behind whole vectors come the lanes that a panel of GEMM_NR has, or a corner. */
static void pack_last_lanes_of(const struct pack_units *units, const struct pack_panel *panel,
                               size_t lane, uint8_t *out, size_t out_step)
{
    size_t whole = panel->k / panel->group;
    if (units->last && panel->count - lane == GEMM_NR % units->at_once) {
        units->last((const uint8_t *)panel->src + lane * units->from_bytes,
                    panel->step * (ptrdiff_t)units->from_bytes, whole, 1, out + lane * units->unit,
                    out_step);
        if (panel->k % panel->group)
            pack_corners(units, panel, whole * panel->group, lane, out, out_step);
    } else {
        pack_corners(units, panel, 0, lane, out, out_step);
    }
}

static void pack_near_lanes(const struct pack_units *units, const struct pack_panel *panel,
                            uint8_t *out, size_t out_step)
{
    size_t groups = panel->k / panel->group, at_once = units->at_once;
    size_t vectors = panel->count / at_once;
    ptrdiff_t step = panel->step * (ptrdiff_t)units->from_bytes;
    units->steps(panel->src, step, groups, vectors, out, out_step);
    if (panel->count % at_once)
        pack_last_lanes_of(units, panel, vectors * at_once, out, out_step);
    struct pack_panel whole = *panel;
    whole.count = vectors * at_once;
    if (panel->k % panel->group)
        pack_corners(units, &whole, groups * panel->group, 0, out, out_step);
}

/* ---- any strides ---- */

/* The compiler makes moves of constant sizes of these. */
static void gather_lane(uint8_t *to, const uint8_t *from, ptrdiff_t step, size_t steps,
                        size_t bytes)
{
    for (size_t s = 0; s < steps; s++, from += step, to += bytes)
        if (bytes == 1)
            *to = *from;
        else if (bytes == 2)
            memcpy(to, from, 2);
        else
            memcpy(to, from, 4);
}

/* Steps p … of each lane come next to each other. */
static void gather(const struct pack_units *units, uint8_t (*to)[LANE_BYTES],
                   const struct lanes *lanes, ptrdiff_t step, size_t p, size_t steps)
{
    for (size_t i = 0; i < lanes->count; i++)
        gather_lane(to[i], lanes->from[i] + (ptrdiff_t)p * step * units->from_bytes,
                    step * units->from_bytes, steps, units->from_bytes);
}

/* Steps that are apart are gathered, so many at a time as are whole groups. */
static void pack_gathered(const struct pack_units *units, const struct lanes *lanes,
                          const struct pack_panel *panel, uint8_t *out, size_t out_step)
{
    uint8_t buffer[MOST_LANES][LANE_BYTES];
    struct lanes near = {.count = lanes->count};
    size_t at_once = LANE_BYTES / units->from_bytes;
    for (size_t i = 0; i < near.count; i++)
        near.from[i] = buffer[i];
    for (size_t p = 0; p < panel->k; p += at_once) {
        size_t steps = smaller(panel->k - p, at_once);
        gather(units, buffer, lanes, panel->step, p, steps);
        pack_near_steps(units, &near, steps, out, out_step);
        out += at_once / panel->group * out_step;
    }
}

/* ---- all of it ---- */

/* Lanes that do not exist, in every group. */
static void clear_lanes(const struct pack_panel *panel, size_t unit, uint8_t *out)
{
    size_t groups = (panel->k + panel->group - 1) / panel->group;
    size_t bytes = (panel->width - panel->count) * unit;
    for (size_t g = 0; g < groups && bytes; g++)
        memset(out + (g * panel->width + panel->count) * unit, 0, bytes);
}

/* Adds what a panel of s8 has, lane by lane. */
static void add_lane_sums(const struct pack_panel *panel)
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
static void find_lanes(struct lanes *lanes, const struct pack_panel *panel, size_t first,
                       size_t bytes)
{
    ptrdiff_t lane = panel->lane * (ptrdiff_t)bytes;
    const uint8_t *from = (const uint8_t *)panel->src + (ptrdiff_t)first * lane;
    lanes->count = smaller(panel->count - first, MOST_LANES);
    if (panel->lanes)
        memcpy(lanes->from, panel->lanes + first, lanes->count * sizeof *lanes->from);
    else
        for (size_t i = 0; i < lanes->count; i++, from += lane)
            lanes->from[i] = from;
}

static void pack_lanes_of(const struct pack_units *units, const struct pack_panel *panel,
                          uint8_t *out, size_t out_step)
{
    for (size_t i = 0; i < panel->count; i += MOST_LANES, out += MOST_LANES * units->unit) {
        struct lanes lanes;
        find_lanes(&lanes, panel, i, units->from_bytes);
        if (panel->step == 1)
            pack_near_steps(units, &lanes, panel->k, out, out_step);
        else
            pack_gathered(units, &lanes, panel, out, out_step);
    }
}

void pack_panel_units(const struct pack_units *units, const struct pack_panel *panel)
{
    size_t out_step = panel->width * units->unit;
    if (panel->count < panel->width)
        clear_lanes(panel, units->unit, panel->out);
    if (panel->lane == 1 && !panel->lanes)
        pack_near_lanes(units, panel, panel->out, out_step);
    else
        pack_lanes_of(units, panel, panel->out, out_step);
    if (panel->sums)
        add_lane_sums(panel);
}
