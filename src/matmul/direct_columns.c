/* How the columns of a matrix are divided into strips, and what they cost. */
#include <math.h>

#include "src/core/checked.h"
#include "src/matmul/direct.h"
#include "src/weights/layout.h"

enum { MAX_SHALLOW = 8 };

static size_t tile_height(const struct columns *columns, const struct core *core, size_t vectors,
                          size_t group)
{
    if (columns->a_columns)
        return vectors == group ? gemm_f32_outer_height(vectors) : 0;
    return gemm_f32_direct_height(core, vectors, group);
}

static void add_strips(struct columns *columns, const struct core *core, size_t count,
                       size_t vectors, size_t group, size_t lanes, size_t b_step)
{
    if (count == 0)
        return;
    columns->runs[columns->run_count++] = (struct strips){
        .count = (uint32_t)count,
        .vectors = (uint8_t)vectors,
        .group = (uint8_t)group,
        .lanes = (uint8_t)lanes,
        .height = (uint8_t)tile_height(columns, core, vectors, group),
        .a_columns = columns->a_columns,
        .b_step = b_step,
    };
    columns->strip_count += count;
}

/* Panels of 12 columns side by side, as many as make the widest tile, then those that are left: two
 * of 8 columns are side by side, too, if there are no more rows than such a tile has. */
static void packed_columns(struct columns *columns, const struct core *core,
                           const struct direct_shape *shape, size_t widest)
{
    size_t n = shape->n, k = shape->k;
    size_t panels = layout_panel_count(n), full = panels > 2 ? panels - 2 : 0, whole;
    while (full < panels && layout_panel(n, full).valid == LAYOUT_PANEL)
        full++;
    whole = full;
    for (size_t side = widest; side >= 1; side /= 2) {
        add_strips(columns, core, full / side, 3 * side, 3, 4, side * LAYOUT_PANEL * k);
        full %= side;
    }
    bool low = widest > 1 && shape->m <= tile_height(columns, core, 4, 2);
    if (low && panels - whole == 2 && layout_panel(n, panels - 1).valid == 8) {
        add_strips(columns, core, 1, 4, 2, 4, 16 * k);
        return;
    }
    for (size_t p = whole; p < panels; p++) {
        struct layout_panel panel = layout_panel(n, p);
        add_strips(columns, core, 1, panel.width / 4, panel.width / 4,
                   panel.valid - (panel.width - 4), panel.width * k);
    }
}

/* Vectors of 4 columns: strips of `widest`, then of four, then the rest; a single vector takes one
 * from the strip before. The last one may be ragged. */
static void plain_columns(struct columns *columns, const struct core *core, size_t n, size_t widest)
{
    size_t vectors = div_up(n, 4), lanes = (n - 1) % 4 + 1, whole = n / 4;
    if (widest > 4) {
        size_t count = whole / widest;
        add_strips(columns, core, count, widest, 4, 4, 4 * widest);
        vectors -= count * widest;
        widest = 4;
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
 * all instructions two at a time (narrow: a vector takes two loads and an insertion), or three. */
static double tuned_cycles(const struct core *core, double height, double vectors, double group)
{
    double macs = height * vectors, loads = height / 2 + 1;
    double least = fmax(macs / fmax(core->fmla_per_cycle, 1), core->fmla_latency);
    if (core->in_order == IN_ORDER_WIDE) {
        double others = 2 * vectors / group + height / 4 + 0.5;
        return fmax(least, (macs + others) / 3) + 0.25 * vectors / group;
    }
    double all = macs + loads + 3 * vectors + vectors / group, wait = height < 3 ? 1 : 0;
    return fmax(least, fmax(all / 2, 2 * vectors + height / 2) + wait);
}

/* Cycles of a tile for one step of k: multiply-adds, the chain of a sum, loads; and the
 * instructions around them, which matter less. */
static double untuned_cycles(const struct core *core, double height, double vectors, double group)
{
    double macs = height * vectors, loads = height / 4 + vectors;
    double cycles = fmax(macs / fmax(core->fmla_per_cycle, 1), core->fmla_latency);
    /* Without reordering, vector loads take both slots of two cycles. */
    cycles =
        core->in_order ? cycles + 2 * loads : fmax(cycles, loads / fmax(core->loads_per_cycle, 1));
    return cycles + 0.06 * (height / 4 + vectors / group + 0.5);
}

static double tile_cycles(const struct core *core, double height, double vectors, double group)
{
    bool tuned = core->in_order && gemm_f32_direct_is_tuned(core, (size_t)vectors, (size_t)group);
    return tuned ? tuned_cycles(core, height, vectors, group)
                 : untuned_cycles(core, height, vectors, group);
}

/* Row by row: the same, a load of A and a store of C; the strip of B once. */
static double shallow_cycles(const struct core *core, const struct strips *run, double m)
{
    double depth = run->depth, row = tile_cycles(core, 1, run->vectors, run->group);
    double macs = depth * run->vectors / fmax(core->fmla_per_cycle, 1);
    if (core->in_order)
        return depth * row + m * (macs + 2 * ceil(depth / 4) + run->vectors);
    return depth * row + m * (macs + 0.5 * run->vectors + 0.5);
}

/* For m rows of one strip: as few tiles as there can be, as even as they can be. */
static double strip_cycles(const struct core *core, const struct strips *run, double m, double k)
{
    if (run->depth)
        return shallow_cycles(core, run, m);
    double tiles = ceil(m / run->height), height = m / tiles;
    double step = run->a_columns ? untuned_cycles(core, height, run->vectors, run->group)
                                 : tile_cycles(core, height, run->vectors, run->group);
    return tiles * (k * step + 6 + 0.5 * height * run->vectors);
}

static double columns_cycles(const struct core *core, const struct columns *columns, double m,
                             double k)
{
    double cycles = 0;
    for (size_t r = 0; r < columns->run_count; r++)
        cycles += columns->runs[r].count * (8 + strip_cycles(core, &columns->runs[r], m, k));
    return cycles;
}

/* Takes the columns if they cost less than *least. */
static void keep_better(struct columns *best, double *least, const struct columns *columns,
                        double cycles)
{
    if (cycles >= *least)
        return;
    *least = cycles;
    *best = *columns;
}

/* Kernels for this depth alone, if there are any for all strips. */
static bool make_shallow(struct columns *columns, size_t k)
{
    size_t most = k <= MAX_SHALLOW ? gemm_f32_shallow_vectors(k) : 0;
    for (size_t r = 0; r < columns->run_count; r++) {
        struct strips *run = &columns->runs[r];
        if (run->vectors > most || run->vectors != run->group)
            return false;
        run->depth = (uint8_t)k;
        run->height = 1;
    }
    return true;
}

/* Packing a strip: two loads and stores for eight elements, and shuffles. */
static double turning_cycles(const struct direct_shape *shape, const struct columns *columns)
{
    double elements = (double)shape->n * (double)shape->k;
    return shape->turned ? 100 + 30 * (double)columns->strip_count + 0.45 * elements : 0;
}

double direct_columns_choose(struct columns *best, const struct core *core,
                             const struct direct_shape *shape)
{
    static const size_t plain_widths[] = {4, 3, 2, 8, 12}, packed_widths[] = {1, 2, 4};
    size_t count = shape->panels ? count_of(packed_widths) : count_of(plain_widths);
    size_t narrow = shape->panels ? 1 : 3; /* widths of one group come first */
    double least = HUGE_VAL;
    if (shape->a_columns || shape->turned)
        count = narrow;
    for (size_t i = 0; i < count; i++) {
        struct columns columns = {.a_columns = shape->a_columns};
        if (shape->panels)
            packed_columns(&columns, core, shape, packed_widths[i]);
        else
            plain_columns(&columns, core, shape->n, plain_widths[i]);
        double rows = (double)shape->m, depth = (double)shape->k;
        double turning = turning_cycles(shape, &columns);
        keep_better(best, &least, &columns, turning + columns_cycles(core, &columns, rows, depth));
        if (!shape->a_columns && make_shallow(&columns, shape->k))
            keep_better(best, &least, &columns,
                        turning + columns_cycles(core, &columns, rows, depth));
    }
    return least;
}

static void set_vectors(struct strips *run, const struct core *core, size_t vectors)
{
    run->vectors = run->group = (uint8_t)vectors;
    run->b_step = 4 * vectors;
    if (!run->depth)
        run->height = (uint8_t)gemm_f32_direct_height(core, vectors, vectors);
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
