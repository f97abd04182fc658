/* How long the blocked f32 matrix multiplication takes. */
#include <math.h>

#include "arch/costs.h"
#include "src/gemm/gemm.h"
#include "src/gemm/rows.h"

/* Cycles of a tile for one step of k: multiply-adds, the chain of a sum, loads; and the
 * instructions around them, which matter less. */
static double step_cycles(const struct core *core, double height, double vectors)
{
    const struct gemm_costs *costs = &core_costs(core)->gemm;
    double loads = (height / 4 + vectors) / fmax(core->loads_per_cycle, 1);
    double sums = fmax(height * vectors / fmax(core->fmla_per_cycle, 1), core->fmla_latency);
    if (core->in_order) /* vectors of B take two loads and an insertion */
        return fmax(sums, (height * vectors + height / 2 + 3 * vectors + 2) / 2) + costs->step;
    return fmax(sums, loads) + costs->crowding * (height / 4 + vectors / 4 + costs->counting);
}

/* The same for so few columns that their sums are not a vector each; b_loads: of four steps. */
static double narrow_cycles(const struct core *core, double height, double columns, double b_loads)
{
    const struct gemm_costs *costs = &core_costs(core)->gemm;
    double per_cycle = fmax(core->fmla_per_cycle, 1);
    double loads = height + b_loads, sums = height * columns;
    if (core->in_order) /* what is loaded is needed soon after */
        return (costs->narrow_load * loads + costs->narrow_sum * sums / per_cycle) / 4;
    return fmax((loads + sums) / per_cycle, core->fmla_latency) / 4;
}

/* The panels of a tile's columns, one step of k. n is not that of a layout if sizes are unknown. */
static double panels_cycles(const struct core *core, double height, double full, double rest)
{
    double twelve = step_cycles(core, height, 3), eight = step_cycles(core, height, 2);
    if (rest == 0)
        return full * twelve;
    if (rest <= 4 && full > 0) /* two panels of 8 */
        return (full - 1) * twelve + 2 * eight;
    if (rest == 1)
        return narrow_cycles(core, height, rest, 4);
    return full * twelve + step_cycles(core, height, ceil(rest / 4));
}

/* Those of all tiles, which are as equal as they can be: low ones may wait for their sums where
 * tall ones do not. */
static double tiles_cycles(const struct core *core, double m, double tiles, double full,
                           double rest)
{
    double low = floor(m / tiles), tall_tiles = m - low * tiles;
    double tall = tall_tiles > 0 ? tall_tiles * panels_cycles(core, low + 1, full, rest) : 0;
    return tall + (tiles - tall_tiles) * panels_cycles(core, low, full, rest);
}

static const double MOST_PACKED_K = 256; /* of a block where rows are packed, about */

/* How long what is no sum takes, beside Neoverse N1; what is said of cores that issue in order are
 * their own cycles. */
static double beside_sums(const struct core *core)
{
    return core->in_order ? 1 : core->slowness;
}

/* Of a vector of sums, beside its rounds: a store; what has few rounds begins with zeros. */
static double first_cycles(const struct core *core, double k)
{
    const struct gemm_costs *costs = &core_costs(core)->gemm;
    return k < 8 ? costs->few_rounds : costs->rounds;
}

/* For each tile, of `most` rows at most, its rounds, then its stores; one block has whole_k values
 * of k. */
static double listed_cycles(const struct cpu *cpu, double m, double n, double k, double most,
                            double whole_k)
{
    const double nr = GEMM_F32_NR; /* clang wants a double */
    double tiles = ceil(m / most), height = m / tiles;
    double full = floor(n / nr), rest = n - full * nr, panels = full + (rest > 0);
    double around = panels * 3 + first_cycles(cpu->core, k) * height * n / 4;
    double blocks = fmax(ceil(k / whole_k), 1);
    if (cpu->core->in_order) {
        around = blocks * (panels * (blocks > 1 ? 60 : 30) + height * n / 4);
        if (rest > 0 && fmod(n, 4) > 0) /* sums of no whole vectors come and go one by one */
            around += (blocks - 1) * height * rest * 10;
    }
    double rounds = k * tiles_cycles(cpu->core, m, tiles, full, rest);
    double slow = beside_sums(cpu->core);
    /* A block begins, and then each of its panels; in order, `around` has the latter. */
    double block = (700 + (cpu->core->in_order ? 0 : 80 * panels)) * cpu->core->slowness;
    return slow * panels * 15 + rounds + tiles * slow * (6 + around) + (blocks - 1) * block;
}

size_t gemm_tail_height(size_t n)
{
    return gemm_f32_listed_columns_height(layout_panel(n, layout_panel_count(n) - 1).valid);
}

/* The same with the last columns one by one: for these a multiply-add is four steps, and sums of
 * four parts are added at the end of a tile. */
static double tail_cycles(const struct cpu *cpu, double m, size_t n, double k, double most)
{
    const struct core *core = cpu->core;
    const struct gemm_costs *costs = &core_costs(core)->gemm;
    size_t count = layout_panel_count(n), full = layout_full_panels(n);
    size_t vectors = layout_panel(n, count - 1).valid / 4;
    double columns = (double)layout_tail_columns(n), per_cycle = fmax(core->fmla_per_cycle, 1);
    double whole = (double)vectors;
    double tiles = ceil(m / fmin(most, (double)gemm_tail_height(n))), height = m / tiles;
    double loads = height / 4 + whole + columns / 4, sums = height * (whole + columns / 4);
    double latency = whole == 0 ? (double)core->fmla_latency / 4 : core->fmla_latency;
    double step = fmax(fmax(sums / per_cycle, latency), loads / fmax(core->loads_per_cycle, 1)) +
                  costs->crowding * (loads + costs->tail_counting);
    if (whole == 0 && core->in_order)
        step = narrow_cycles(core, height, columns, columns);
    step += (double)full * step_cycles(core, height, 3);
    if (count > full + 1)
        step += step_cycles(core, height, (double)layout_panel(n, full).width / 4);
    double around = first_cycles(core, k) * height * (double)n / 4;
    around += (double)count * (core->in_order ? 15 : 3);
    around += height * (whole > 0 ? costs->parts / per_cycle : columns); /* sums of parts */
    double slow = beside_sums(core);
    double once = slow * (double)count * 15;
    return once + tiles * (k * step + slow * (6 + around));
}

bool gemm_tail_pays(const struct cpu *cpu, size_t m, size_t n, size_t k)
{
    if (m == 0 || n == 0 || layout_tail_columns(n) == 0 || gemm_tail_height(n) == 0)
        return false;
    if (cpu->core->in_order) /* has kernels of its own for whole vectors */
        return layout_panel(n, layout_panel_count(n) - 1).valid < 4;
    size_t most = gemm_f32_listed_find(cpu->features, cpu->core->in_order)->height;
    return tail_cycles(cpu, (double)m, n, (double)k, (double)most) <
           listed_cycles(cpu, (double)m, (double)n, (double)k, (double)most,
                         (double)gemm_whole_k(cpu, most, n));
}

static bool ends_in_one_vector(size_t n)
{
    return n > 0 && layout_panel(n, layout_panel_count(n) - 1).width == 4;
}

/* Rows that packed tiles take as long as. The last tile takes as long as a whole one at least: only
 * whole ones have kernels made for narrow cores, others wait for what they load. */
static double packed_rows(const struct core *core, double m)
{
    const double mr = GEMM_F32_MR; /* clang wants a double */
    const struct gemm_costs *costs = &core_costs(core)->gemm;
    double last = fmod(m, mr), waits = costs->packed_wait + costs->packed_row * last;
    return m - last + (last == 0 ? 0 : fmax(mr, waits));
}

static double packed_cycles(const struct cpu *cpu, double m, double n, double k)
{
    double per_cycle = 4 * fmax(cpu->core->fmla_per_cycle, 1);
    const double mr = GEMM_F32_MR, nr = GEMM_F32_NR; /* clang wants them to be double */
    double tiles = ceil(m / mr) * ceil(n / nr);
    double vectors = ceil(n / 4);
    if (cpu->core->in_order && ends_in_one_vector((size_t)n)) /* waits, as long as two take */
        vectors++;
    double compute = packed_rows(cpu->core, m) * vectors * 4 * k / per_cycle;
    bool ragged = cpu->core->in_order && fmod(n, 4) > 0; /* its sums go to C one by one */
    const struct gemm_costs *costs = &core_costs(cpu->core)->gemm;
    double blocks = cpu->core->in_order ? ceil(k / MOST_PACKED_K) : 1;
    double tile = cpu->core->slowness * costs->tile * blocks;
    return costs->packed_sums * compute + costs->a * m * k + tile * tiles +
           (ragged ? 10 * m * fmod(n, nr) : 0);
}

/* Of plain rows of B, and what comes around a panel, which matters where k is small. */
static double pack_cycles(const struct core *core, double n, double k)
{
    const double nr = GEMM_F32_NR; /* clang wants a double */
    const struct gemm_costs *costs = &core_costs(core)->gemm;
    bool is_ragged = fmod(n, 4) > 0;
    double ragged = is_ragged ? costs->ragged * core->slowness : 0;
    double matrix = core->slowness * (is_ragged ? 200 : 100);
    return matrix + (costs->b * n + ragged) * k + 60 * ceil(n / nr);
}

double gemm_planes_estimate(const struct cpu *cpu, double batch, double m, double n, double k,
                            bool b_packed)
{
    const double nr = GEMM_F32_NR; /* clang wants a double */
    double slow = cpu->core->slowness;
    double tile =
        22 * slow * fmin(slow, 1); /* its beginning and end, beside others on fast cores */
    double per_cycle = 4 * fmax(cpu->core->fmla_per_cycle, 1);
    double sums = ceil(m / 4) * 4 * ceil(n / 4) * 4 * k / per_cycle;
    sums *= core_costs(cpu->core)->gemm.planes_sums;
    double tiles = ceil(m / 8) * ceil(n / nr), b = b_packed ? 0 : pack_cycles(cpu->core, n, k);
    /* Columns that fill no vectors are copied from between, of each tile. */
    double copies = fmod(n, 4) > 0 ? 16 * slow * ceil(m / 8) * fmod(n, nr) : 0;
    return 200 + batch * (300 + sums + tile * tiles + copies + b);
}

/* Where rows are packed. */
static double first_of_call(const struct core *core)
{
    return core->in_order ? 100 : 200 + 250 * core->slowness;
}

static double step_of_matrix(const struct core *core)
{
    return 400 * beside_sums(core);
}

/* Of a single column in rounds of four steps: a step beside these takes as long as four, and
 * sums of four are added. */
static double beside_rounds(const struct core *core, double m, double n, double k, double most)
{
    double tiles = ceil(m / most), height = m / tiles;
    if (core->in_order || n != 1)
        return 0;
    return tiles * (3 * fmod(k, 4) * narrow_cycles(core, height, n, 4) +
                    beside_sums(core) * 2 * height * n);
}

double gemm_estimate(const struct cpu *cpu, double batch, double m, double n, double k,
                     bool b_packed, bool a_listed, size_t a_stride)
{
    double b = b_packed ? 0 : pack_cycles(cpu->core, n, k);
    if (!a_listed || !gemm_lists(cpu, n) || m == 0)
        return first_of_call(cpu->core) +
               batch * (step_of_matrix(cpu->core) + packed_cycles(cpu, m, n, k) + b);
    const double low_tile = GEMM_LOW_TILE; /* clang wants a double */
    double height = gemm_f32_listed_find(cpu->features, cpu->core->in_order)->height, copies = 0;
    if (gemm_rows_collide(a_stride, cpu)) {
        bool low = gemm_lower_tiles_pay(cpu, n);
        height = low ? low_tile : height;
        copies = low ? 0 : m * k / 2;
    } else if (b_packed && n >= (double)gemm_copied_columns(a_stride, cpu)) {
        copies = m * k / 2;
    }
    size_t whole_k = gemm_whole_k(cpu, (size_t)height, (size_t)n);
    bool tail =
        b_packed && (size_t)k <= whole_k && gemm_tail_pays(cpu, (size_t)m, (size_t)n, (size_t)k);
    double cycles = tail ? tail_cycles(cpu, m, (size_t)n, k, height)
                         : listed_cycles(cpu, m, n, k, height, (double)whole_k) +
                               beside_rounds(cpu->core, m, n, k, height);
    const double each = 160 * cpu->core->slowness; /* of matrices */
    double all = cpu->core->in_order ? 800 : 600 * cpu->core->slowness;
    return all - each + batch * (each + cycles + copies + b);
}

/* Cycles for one of what a core does so many of in a cycle; 0: less than one. */
static double cycles_of(double in_a_cycle)
{
    return in_a_cycle > 0 ? 1 / in_a_cycle : 2;
}

/* All instructions that multiply. Where rows are few each waits for the sum that it adds to, or for
 * a vector of columns, which is loaded for few others. A square has two rows, and of one alone half
 * is empty. Squares of SMULL come one after the other, so rows wait for their own sums alone, and
 * four sums of each element become one in the end. */
static double typed_cycles(const struct core *core, const struct gemm_type *type, double m,
                           double n, double k)
{
    const double mr = GEMM_MR, joins = 4; /* clang wants a double */
    double unit = type->kind == MAC_SMMLA || type->kind == MAC_BFMMLA ? 2 : 1;
    bool is_joined = type->kind == MAC_SMULL;
    double rows = ceil(m / unit) * unit, columns = ceil(n / type->vector) * type->vector;
    double tall = fmin(rows, mr), loads = cycles_of(core->loads_per_cycle) / (tall / unit);
    double waits = core->fmla_latency / (tall * (is_joined ? 1 : GEMM_VECTORS));
    double issues = cycles_of((double)core->macs[type->kind]);
    double steps = (double)gemm_groups(type, (size_t)k) * type->group;
    double joined = is_joined ? joins * core->slowness * rows * columns / type->vector : 0;
    return rows * columns * steps / type->products * fmax(fmax(issues, waits), loads) + joined;
}

double gemm_typed_estimate(const struct cpu *cpu, const struct gemm_type *type, double batch,
                           double m, double n, double k, bool b_packed)
{
    if (!type)
        return gemm_estimate(cpu, batch, m, n, k, b_packed, false, 0);
    const struct gemm_costs *costs = &core_costs(cpu->core)->gemm;
    const double mr = GEMM_MR, nr = GEMM_VECTORS * (double)type->vector;
    double tiles = ceil(m / mr) * ceil(n / nr) * cpu->core->slowness * costs->tile;
    double packed = costs->a * m * k + (b_packed ? 0 : pack_cycles(cpu->core, n, k));
    double products = m > 0 ? costs->packed_sums * typed_cycles(cpu->core, type, m, n, k) : 0;
    return first_of_call(cpu->core) +
           batch * (step_of_matrix(cpu->core) + products + tiles + packed);
}

bool gemm_packing_pays(const struct cpu *cpu, double m, double n, double k, size_t a_stride)
{
    return !cpu->core->in_order && gemm_estimate(cpu, 1, m, n, k, true, false, 0) <
                                       gemm_estimate(cpu, 1, m, n, k, true, true, a_stride);
}
