/* How the columns of a matrix are divided into strips, and what they cost. */
#include <math.h>

#include "arch/costs.h"
#include "src/core/checked.h"
#include "src/matmul/direct/direct.h"
#include "src/tensor/layout.h"

enum { MAX_SHALLOW = 4, LEAST_TAIL = 8, LEAST_PARTS = 9 };
static const double LINE = 16; /* values */
_Static_assert((int)LEAST_TAIL >= (int)GEMM_F32_PANELS_LEAST_TAIL, "kernels take so few steps");
_Static_assert((int)LEAST_PARTS > (int)MAX_SHALLOW, "a depth has kernels of one kind");

static void set_height(struct strips *run, const struct core *core)
{
    run->height = (uint8_t)gemm_f32_direct_height(core, direct_kind(run));
}

/* Cores like this one have tiles of their own for these columns, of rows of src. */
static bool is_tuned(const struct core *core, const struct strips *run)
{
    struct gemm_f32_kind kind = {
        .way = GEMM_F32_ROWS, .vectors = run->vectors, .group = run->group};
    return gemm_f32_direct_is_tuned(core, 1, kind);
}

static void add_strips(struct columns *columns, const struct core *core, size_t count,
                       size_t vectors, size_t group, size_t lanes, size_t b_step)
{
    if (count == 0)
        return;
    struct strips *added = &columns->runs[columns->run_count++];
    *added = (struct strips){
        .count = (uint32_t)count,
        .vectors = (uint8_t)vectors,
        .group = (uint8_t)group,
        .lanes = (uint8_t)lanes,
        .a_columns = columns->a_columns,
        .b_step = b_step,
    };
    set_height(added, core);
    columns->strip_count += count;
}

/* Packed weights: panels of 12 columns, and those after them in vectors, or 0. */
struct packed {
    size_t full, k;
    uint8_t middle, last, lanes; /* lanes: columns in the last vector */
};

static struct packed packed_panels(size_t n, size_t k)
{
    size_t count = layout_panel_count(n);
    struct layout_panel last = layout_panel(n, count - 1);
    struct packed packed = {.full = count, .k = k, .lanes = 4};
    if (last.valid == LAYOUT_PANEL)
        return packed;
    packed.lanes = (uint8_t)(last.valid - (last.width - 4));
    packed.last = (uint8_t)(last.width / 4);
    packed.full--;
    if (packed.full && layout_panel(n, packed.full - 1).width < LAYOUT_PANEL)
        packed.middle = (uint8_t)(layout_panel(n, --packed.full).width / 4);
    return packed;
}

/* A single panel has kernels of its own, which are higher, and panels of one width may: those of
 * cores that issue in order have. */
static void add_panels(struct columns *columns, const struct core *core, size_t count,
                       struct gemm_f32_panels panels, size_t lanes, size_t k)
{
    size_t vectors = gemm_f32_panels_vectors(panels);
    bool alone = panels.full + (panels.middle > 0) + (panels.last > 0) == 1;
    bool alike = panels.full ? vectors == 3u * panels.full : panels.middle == panels.last;
    size_t group = alone ? vectors : panels.full ? 3 : panels.middle;
    if (count == 0 || vectors == 0)
        return;
    add_strips(columns, core, count, vectors, group, lanes, 4 * vectors * k);
    if (alone && !panels.tail)
        return;
    struct strips *added = &columns->runs[columns->run_count - 1], other = *added;
    other.panels = panels;
    set_height(&other, core);
    bool tuned = is_tuned(core, added);
    bool enough = alone || (alike && (tuned || added->height >= other.height));
    bool narrow = vectors == 1; /* no core has kernels for less than a vector but those of a tail */
    if (enough && ((tuned && !narrow) || !panels.tail))
        return;
    *added = other;
}

/* The last ones as kernels have them: few columns have their own; and a last panel of 12 columns is
 * a full one for others. */
static struct gemm_f32_panels last_panels(const struct core *core, struct gemm_f32_panels last,
                                          uint8_t tail)
{
    struct strips own = {.vectors = (uint8_t)gemm_f32_panels_vectors(last),
                         .panels = {last.full, last.middle, last.last, tail}};
    if (tail && gemm_f32_direct_height(core, direct_kind(&own)))
        return own.panels;
    if (last.last == 3)
        last.full++, last.last = 0;
    return last;
}

/* How panels become strips: of at most `side` panels of 12 columns, as even as they can be. What
 * comes after these panels takes joined - 1 of them into its strip; 0: nothing is joined. apart:
 * the last one of two that come after them is not. tail: the last columns may have their own
 * kernels, which are worth it for more than a round of k. */
struct joints {
    size_t side, joined;
    bool apart, tail;
};

static void packed_columns(struct columns *columns, const struct core *core,
                           const struct packed *packed, const struct joints *joints)
{
    size_t side = joints->side, joined = joints->joined;
    size_t taken = joined ? joined - 1 : 0, whole = packed->full - taken;
    size_t strips = div_up(whole, side), each = whole / max_size(strips, 1);
    size_t larger = whole - strips * each, k = packed->k;
    struct gemm_f32_panels more = {.full = (uint8_t)(each + 1)}, fewer = {.full = (uint8_t)each};
    struct gemm_f32_panels middle = {.middle = packed->middle}, last = {.last = packed->last};
    bool own = joints->tail && packed->lanes < 4 && !columns->a_columns && k >= LEAST_TAIL;
    add_panels(columns, core, larger, more, 4, k);
    add_panels(columns, core, strips - larger, fewer, 4, k);
    if (joints->apart)
        middle = (struct gemm_f32_panels){.full = (uint8_t)taken, .last = packed->middle};
    else if (joined)
        last.full = (uint8_t)taken, last.middle = packed->middle;
    if (!joined || joints->apart)
        add_panels(columns, core, 1, middle, 4, k);
    add_panels(columns, core, 1, last_panels(core, last, own ? packed->lanes : 0), packed->lanes,
               k);
}

/* Vectors of 4 columns: strips of `widest`, then of eight and four, then the rest; a single vector
 * takes one from the strip before, and four beyond twelve take four, if they are not to be alone.
 * The last one may be ragged. */
static void plain_columns(struct columns *columns, const struct core *core, size_t n, size_t widest,
                          bool four_alone)
{
    size_t vectors = div_up(n, 4), lanes = (n - 1) % 4 + 1, whole = n / 4;
    for (; widest > 4; widest -= 4) {
        size_t count = whole / widest;
        count -= count > 0 && whole % widest == 4 && widest == 12 && !four_alone;
        add_strips(columns, core, count, widest, 4, 4, 4 * widest);
        vectors -= count * widest, whole -= count * widest;
    }
    size_t count = vectors / widest, rest = vectors % widest;
    bool borrow = rest == 1 && count > 0 && widest >= 3;
    if (borrow)
        count--, rest += widest - 2;
    bool last_is_whole = rest == 0 && count > 0 && lanes < 4;
    add_strips(columns, core, count - last_is_whole, widest, widest, 4, 4 * widest);
    if (last_is_whole)
        add_strips(columns, core, 1, widest, widest, lanes, 4 * widest);
    add_strips(columns, core, rest > 0, rest, rest, lanes, 4 * rest);
    if (borrow)
        columns->runs[columns->run_count - 1].lanes = 4;
    if (borrow)
        add_strips(columns, core, 1, 2, 2, lanes, 8);
}

/* ---- estimate ---- */

/* Cycles of one step of k on a core that issues in order, by tiles made for it: multiply-adds, or
 * all instructions two at a time, where a vector takes two loads and an insertion. */
static double tuned_cycles(const struct core *core, double height, double vectors, double group)
{
    const struct direct_costs *costs = &core_costs(core)->direct;
    double macs = height * vectors, loads = height / 2 + 1;
    double least = fmax(macs / fmax(core->fmla_per_cycle, 1), core->fmla_latency);
    bool low = height < 3, few = vectors < 3; /* of many, low tiles add no addresses */
    double all = macs + loads + 3 * vectors + (low && !few ? 0 : vectors / group);
    double wait = !low ? 0 : few ? costs->low_few_wait : costs->low_wait;
    /* What is loaded has no place beside products, by the tile's rows: */
    const double *waits = few ? costs->crowded_few : costs->crowded;
    double crowded = vectors < 2 ? 0 : waits[(size_t)ceil(height)];
    return fmax(least, fmax(all / 2, 2 * vectors + height / 2) + wait) + crowded;
}

/* The same by tiles that read columns of A: two vectors of it, and three instructions that count.
 */
static double tuned_columns_cycles(const struct core *core, double height, double vectors)
{
    double macs = height * vectors, others = 9 + 3 * vectors;
    double least = fmax(macs / fmax(core->fmla_per_cycle, 1), core->fmla_latency);
    return fmax(least, (macs + others) / 2) + core_costs(core)->direct.columns_step;
}

/* Cycles of a tile for one step of k: multiply-adds, the chain of a sum, loads. */
static double step_cycles(const struct core *core, double height, double vectors, double loads,
                          double chain)
{
    double cycles = fmax(height * vectors / fmax(core->fmla_per_cycle, 1), chain);
    loads += height / 4;
    /* Without reordering, vector loads take both slots of two cycles. */
    return core->in_order ? cycles + 2 * loads
                          : fmax(cycles, loads / fmax(core->loads_per_cycle, 1));
}

/* The loads of a step and what counts steps take their places among other instructions, which
 * matters less, least where these are reordered. */
static double crowding_cycles(const struct core *core, double loads)
{
    const struct direct_costs *costs = &core_costs(core)->direct;
    return costs->crowding * (loads + costs->counting);
}

static double untuned_cycles(const struct core *core, double height, double vectors, double group)
{
    return step_cycles(core, height, vectors, ceil(vectors), core->fmla_latency) +
           crowding_cycles(core, height / 4 + vectors / group);
}

/* The same where the last columns take four steps at once: a round of nothing but these has as many
 * loads as sums, whose addresses go on by themselves. */
static double tail_cycles(const struct core *core, double height, const struct strips *run)
{
    double tail = run->panels.tail, whole = run->vectors - 1, vectors = whole + tail / 4;
    double chain = core->fmla_latency, loads = fmax(core->loads_per_cycle, 1);
    if (whole == 0)
        chain = fmax(chain / 4, height * (tail + core_costs(core)->direct.tail_loads) /
                                    (core->in_order ? 16 : 8 * loads));
    return step_cycles(core, height, vectors, vectors, chain) +
           crowding_cycles(core, height / 4 + vectors / run->group);
}

static double tile_cycles(const struct core *core, const struct strips *run, double height)
{
    bool other = run->a_columns || direct_has_panels(run);
    if (run->has_parts) /* each step waits for the one before the last three */
        return step_cycles(core, height, run->vectors, run->vectors,
                           (double)core->fmla_latency / 4) +
               crowding_cycles(core, height / 4 + 1);
    if (run->panels.tail)
        return tail_cycles(core, height, run);
    if (!other && is_tuned(core, run))
        return tuned_cycles(core, height, run->vectors, run->group);
    if (run->a_columns && gemm_f32_direct_is_tuned(core, (size_t)height, direct_kind(run)))
        return tuned_columns_cycles(core, height, run->vectors);
    return untuned_cycles(core, height, run->vectors, run->group);
}

/* Row by row: the same, a load of A and a store of C, which fast cores have beside products; the
 * strip of B once. */
static double shallow_cycles(const struct core *core, const struct strips *run, double m)
{
    double depth = run->depth, row = tile_cycles(core, run, 1);
    double macs = depth * run->vectors / fmax(core->fmla_per_cycle, 1);
    const struct direct_costs *costs = &core_costs(core)->direct;
    double slow = core->slowness;
    if (core->in_order)
        return depth * row + m * (macs + 2 * ceil(depth / 4) + run->vectors);
    double beside = slow * slow * costs->shallow_vector * (run->vectors + 1);
    return depth * row + m * fmax(macs + beside, slow * (run->vectors + costs->shallow_row));
}

/* Of tiles of so many rows on average. On cores that reorder those of a row less count apart: they
 * may wait for their sums where the others do not. */
static double mean_tile_cycles(const struct core *core, const struct strips *run, double height)
{
    if (core->in_order)
        return tile_cycles(core, run, height);
    double low = floor(height), share = height - low, cycles = tile_cycles(core, run, low);
    return share > 0 ? cycles + share * (tile_cycles(core, run, low + 1) - cycles) : cycles;
}

/* Steps beside rounds of four, of rows of A: without rounds, each waits for what it loads; cores
 * that issue in order wait beside rounds, too, and for few columns of A. */
static double odd_cycles(const struct core *core, const struct strips *run, double height, double k)
{
    const struct direct_costs *costs = &core_costs(core)->direct;
    double values = height * run->vectors, steps = fmod(k, 4);
    if (run->a_columns)
        return k < 8 ? costs->few_columns : 0;
    if (!core->in_order)
        return k < 4 ? 8 * k : 0;
    if (k < 4)
        return (costs->odd_value + costs->odd_step * k) * values;
    return steps > 0 ? costs->odd_begin + costs->odd_later * steps : 0;
}

/* For m rows of one strip: as few tiles as there can be, as even as they can be. */
static double strip_cycles(const struct core *core, const struct strips *run, double m, double k)
{
    if (run->depth)
        return shallow_cycles(core, run, m);
    /* What adds a row's sums of four parts, by how many there are; three make low tiles, too. */
    const double *parts = core_costs(core)->direct.tail_sums;
    double tiles = ceil(m / run->height), height = m / tiles;
    double step = mean_tile_cycles(core, run, height);
    double around = 6 + height * run->vectors / 2 +
                    height * parts[run->panels.tail] / fmax(core->fmla_per_cycle, 1);
    if (run->has_parts) /* these become one */
        around +=
            5 * core->fmla_latency + 3 * height * run->vectors / fmax(core->fmla_per_cycle, 1);
    if (!core->in_order && run->lanes < 4 && !direct_has_panels(run))
        around += height; /* vectors that are stored in parts */
    if (!core->in_order && k > 8)
        around *= core->slowness;
    return tiles * (k * step + around + odd_cycles(core, run, height, k));
}

/* Tiles of a row less have a call of their own where kernels that issue in order are tuned. */
static size_t strip_calls(const struct core *core, const struct strips *run, double m)
{
    double tiles = ceil(m / run->height);
    return is_tuned(core, run) && fmod(m, tiles) > 0 ? 2 : 1;
}

/* Calls after the first one: more where they are too many to be known beforehand. Cores that
 * reorder have the former beside products. */
static double calls_cycles(const struct core *core, const struct columns *columns, double m)
{
    static const struct {
        double listed, other;
    } cycles[] = {[0] = {0, 6}, [IN_ORDER_NARROW] = {18, 45}};
    size_t calls = 0;
    for (size_t r = 0; r < columns->run_count; r++)
        calls += columns->runs[r].count * strip_calls(core, &columns->runs[r], m);
    double each = calls > MAX_CALLS ? cycles[core->in_order].other : cycles[core->in_order].listed;
    return each * (double)(calls - 1);
}

static double columns_cycles(const struct core *core, const struct columns *columns, double m,
                             double k)
{
    double cycles = 0;
    for (size_t r = 0; r < columns->run_count; r++) {
        if (columns->runs[r].height == 0)
            return HUGE_VAL; /* there are no kernels */
        cycles += columns->runs[r].count * (8 + strip_cycles(core, &columns->runs[r], m, k));
    }
    return cycles + (columns->a_columns ? 0 : calls_cycles(core, columns, m));
}

/* Kernels for this depth alone, if there are any for all strips. */
static bool make_shallow(struct columns *columns, const struct core *core, size_t k)
{
    for (size_t r = 0; r < columns->run_count; r++) {
        struct strips *run = &columns->runs[r];
        if (k > MAX_SHALLOW || direct_has_panels(run))
            return false;
        run->depth = (uint8_t)k;
        set_height(run, core);
        if (run->height == 0)
            return false;
    }
    return true;
}

/* Kernels with four sums of each element for strips of so few that these would wait. On cores that
 * issue in order other tiles wait less. */
static void make_parts(struct columns *columns, const struct core *core, double m, double k)
{
    const double least = LEAST_PARTS; /* clang wants a double */
    bool may = !core->in_order && !columns->a_columns && k >= least;
    for (size_t r = 0; may && r < columns->run_count; r++) {
        struct strips *run = &columns->runs[r], other = *run;
        if (run->vectors != run->group || direct_has_panels(run))
            continue;
        other.has_parts = true;
        set_height(&other, core);
        if (other.height > 0 && strip_cycles(core, &other, m, k) < strip_cycles(core, run, m, k))
            *run = other;
    }
}

/* Packing strips on a core that issues in order, which waits for all that is around blocks of four
 * lanes and steps; found from counts of 64 products. */
static double tuned_turning_cycles(const struct direct_shape *shape, const struct core *core,
                                   const struct columns *columns)
{
    const struct direct_costs *costs = &core_costs(core)->direct;
    double k = (double)shape->k, vectors = ceil((double)shape->n / 4);
    double all = costs->call + costs->strip * (double)columns->strip_count +
                 costs->vector * vectors + (shape->k < 4 ? costs->shallow : 0);
    if (shape->n < 4)
        return all + costs->narrow + costs->narrow_step * k;
    all += 4 * vectors * k * costs->value;
    return shape->n % 4 ? all + costs->ragged + costs->ragged_step * k : all;
}

/* Packing a strip: two loads and stores for eight elements, and shuffles, which cores that issue in
 * order wait for, as they do for rows of less than a vector, one by one. */
static double turning_cycles(const struct direct_shape *shape, const struct core *core,
                             const struct columns *columns)
{
    double elements = fmax((double)shape->n, 4) * (double)shape->k;
    const struct direct_costs *costs = &core_costs(core)->direct;
    bool waits = core->in_order && shape->n % 4 > 0;
    double rows = waits ? 12 * core->slowness * (double)shape->k : 0;
    double strips = (double)columns->strip_count;
    double turns =
        core->slowness * (costs->turn + costs->turned_strip * strips + costs->turned * elements);
    if (!shape->turned)
        return 0;
    return core->in_order && !shape->a_columns ? tuned_turning_cycles(shape, core, columns)
                                               : turns + rows;
}

/* Lines of rows that do not stay in the L1 cache come for each tile: of a strip of plain rows that
 * begins within a line, one more. */
static double lines_of_rows(const struct direct_shape *shape, const struct strips *run)
{
    size_t width = 4u * run->vectors, line = (size_t)LINE;
    size_t parts = shape->turned ? 0 : line - min_size(power_of_two_in(width), line);
    size_t tiles = div_up(shape->m, max_size(run->height, 1));
    return (double)(run->count * tiles * shape->k * (width + parts)) / LINE;
}

/* Lines that come again with packed weights: src's with each strip, and a strip's with each tile,
 * if so much of other lines is used before that the L1 cache does not keep them. Beside all
 * weights, if these are few, strips take turns at some rows of src. */
static double lines_of_panels(const struct core *core, const struct direct_shape *shape,
                              const struct strips *run)
{
    double l1 = (double)shape->l1_bytes / sizeof(float), k = (double)shape->k;
    double room = core_costs(core)->direct.l1_room * l1;
    bool has_turns = k * (double)shape->n <= l1 * 10 / 16;
    double strip = 4 * run->vectors * k;
    const double dst = 4 * LINE; /* of a row: this strip's and the one's before */
    double m = (double)shape->m, tiles = ceil(m / fmax(run->height, 1)), rows = ceil(m / tiles);
    double values = strip + m * (k + dst) > room && !has_turns ? m * k : 0;
    if (strip + rows * (k + dst) > room)
        values += (tiles - 1) * strip;
    return run->count * values / LINE;
}

/* They come in the time of products: so little that only among strips of about the same cycles the
 * fewest are taken. Cores that issue in order have single panels anyway. */
static double lines_cycles(const struct core *core, const struct direct_shape *shape,
                           const struct columns *columns)
{
    const double rows_per_cycle = 4, panels_per_cycle = 2;
    double cycles = 0;
    for (size_t r = 0; r < columns->run_count; r++)
        if (shape->panels && !shape->a_columns && !core->in_order)
            cycles += lines_of_panels(core, shape, &columns->runs[r]) / panels_per_cycle;
        else if (shape->b_leaves)
            cycles += lines_of_rows(shape, &columns->runs[r]) / rows_per_cycle;
    return cycles;
}

static void take_if_better(struct columns *best, double *least, const struct columns *columns,
                           double cycles)
{
    if (cycles >= *least)
        return;
    *least = cycles;
    *best = *columns;
}

/* Takes them if they cost less than *least, with the kernels that cost least, or with those of this
 * depth alone. */
static void keep_better(struct columns *best, double *least, const struct core *core,
                        const struct direct_shape *shape, struct columns *columns)
{
    double rows = (double)shape->m, depth = (double)shape->k;
    make_parts(columns, core, rows, depth);
    double others = turning_cycles(shape, core, columns) + lines_cycles(core, shape, columns);
    take_if_better(best, least, columns, others + columns_cycles(core, columns, rows, depth));
    if (!shape->a_columns && make_shallow(columns, core, shape->k))
        take_if_better(best, least, columns, others + columns_cycles(core, columns, rows, depth));
}

/* Panels side by side are read together, and each line in more than one step of k: so many that the
 * lines of one place of the L1 cache have a way each. Panels whose distance is a multiple of a
 * large power of two fall on few places: six of 2048 steps on one, where each line came twice. */
static size_t panels_that_stay(const struct direct_shape *shape)
{
    size_t way = shape->l1_bytes / CPU_L1_WAYS, apart = LAYOUT_PANEL * shape->k * sizeof(float);
    size_t places = way / max_size(min_size(power_of_two_in(apart), way), 1);
    return CPU_L1_WAYS * max_size(places, 1);
}

/* Many rows have sums enough with a panel or two. */
static double choose_packed(struct columns *best, const struct core *core,
                            const struct direct_shape *shape)
{
    struct packed packed = packed_panels(shape->n, shape->k);
    size_t stay = panels_that_stay(shape);
    size_t widest = min_size(shape->m == 1 ? 6 : shape->m == 2 ? 4 : 2, stay);
    size_t beside = min_size(shape->m == 1 ? 4 : 2, stay - 1);
    size_t most = packed.last ? min_size(packed.full, beside) + 1 : 0;
    double least = HUGE_VAL;
    if (shape->a_columns) /* single panels only */
        widest = 1, most = 0;
    for (size_t side = 1; side <= widest; side++)
        for (size_t joined = 0; joined <= most; joined++)
            for (int apart = 0; apart <= (packed.middle && joined > 1); apart++)
                for (int tail = 0; tail <= (packed.lanes < 4); tail++) {
                    struct columns columns = {.a_columns = shape->a_columns};
                    packed_columns(&columns, core, &packed,
                                   &(struct joints){side, joined, apart, tail});
                    keep_better(best, &least, core, shape, &columns);
                }
    return least - lines_cycles(core, shape, best);
}

double direct_columns_choose(struct columns *best, const struct core *core,
                             const struct direct_shape *shape)
{
    static const struct {
        uint8_t width;
        bool four_alone; /* they have four sums each where others would wait */
    } widest[] = {{4, false}, {3, false}, {2, false}, {8, false}, {12, false}, {12, true}};
    size_t count = shape->a_columns || shape->turned ? 3 : count_of(widest); /* 3 of one group */
    double least = HUGE_VAL;
    if (shape->panels)
        return choose_packed(best, core, shape);
    for (size_t i = 0; i < count; i++) {
        struct columns columns = {.a_columns = shape->a_columns};
        plain_columns(&columns, core, shape->n, widest[i].width, widest[i].four_alone);
        keep_better(best, &least, core, shape, &columns);
    }
    return least - lines_cycles(core, shape, best);
}

static void set_vectors(struct strips *run, const struct core *core, size_t vectors)
{
    run->vectors = run->group = (uint8_t)vectors;
    run->b_step = 4 * vectors;
    set_height(run, core);
}

void direct_columns_split(struct columns *columns, const struct core *core)
{
    struct strips *runs = columns->runs;
    if (columns->strip_count != 1 || runs[0].lanes == 4 || runs[0].vectors == 1)
        return;
    runs[1] = runs[0];
    set_vectors(&runs[0], core, runs[0].vectors - 1u);
    set_vectors(&runs[1], core, 1);
    runs[0].lanes = 4;
    columns->run_count = columns->strip_count = 2;
}
