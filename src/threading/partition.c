/* Splits counts and grids of tiles. */
#include "src/threading/partition.h"

#include <math.h>

#include "arch/costs.h"
#include "src/core/checked.h"

/* count * i / parts without overflow, for i <= parts. */
static size_t boundary(size_t count, size_t parts, size_t i)
{
    return count / parts * i + count % parts * i / parts;
}

struct span partition_span(size_t count, size_t parts, size_t i)
{
    return (struct span){boundary(count, parts, i), boundary(count, parts, i + 1)};
}

struct span partition_weighted(size_t count, const double *weights, size_t parts, size_t i)
{
    double before = 0, total = 0;
    for (size_t part = 0; part < parts; part++) {
        before += part < i ? weights[part] : 0;
        total += weights[part];
    }
    double after = before + weights[i];
    size_t begin = (size_t)((double)count * (before / total) + 0.5);
    size_t end = (size_t)((double)count * (after / total) + 0.5);
    /* Rounding must neither lose the last tiles nor invent one. */
    return (struct span){min_size(begin, count), i + 1 == parts ? count : min_size(end, count)};
}

/* ---- how many threads ---- */

double partition_time(double cycles, int threads, const struct core *core)
{
    if (threads == 1)
        return cycles;
    return cycles / threads + core->share_cycles + (double)(threads - 1) * core->thread_cycles;
}

int partition_threads(double cycles, int available, const struct core *core)
{
    /* The derivative of the time is 0 at the root; the best whole number is next to it. */
    double root = cycles > 0 ? sqrt(cycles / fmax(core->thread_cycles, 1)) : 0;
    int best = root < available ? (int)root : available;
    if (best < 1)
        best = 1;
    if (best < available &&
        partition_time(cycles, best + 1, core) < partition_time(cycles, best, core))
        best++;
    return partition_time(cycles, best, core) <= core_costs(core)->other.threads * cycles ? best
                                                                                          : 1;
}

/* ---- one dimension on unequal cores ---- */

#define TAIL_SLICES 16 /* of the tail, in a static slice */

struct partition_slices partition_slices(size_t count, int threads, const double *weights,
                                         double tail)
{
    size_t wanted = (size_t)((double)count * tail);
    size_t tail_count = threads > 1 ? min_size(wanted, count) : 0;
    size_t static_count = count - tail_count;
    size_t slice = max_size(1, div_up(count, (size_t)threads * TAIL_SLICES));
    return (struct partition_slices){
        .count = count,
        .static_count = static_count,
        .threads = threads,
        .tasks = threads + (int)div_up(tail_count, slice),
        .weights = weights,
    };
}

struct span partition_slice(const struct partition_slices *s, int i)
{
    if (i < s->threads)
        return s->weights
                   ? partition_weighted(s->static_count, s->weights, (size_t)s->threads, (size_t)i)
                   : partition_span(s->static_count, (size_t)s->threads, (size_t)i);
    struct span tail = partition_span(s->count - s->static_count, (size_t)(s->tasks - s->threads),
                                      (size_t)(i - s->threads));
    return (struct span){s->static_count + tail.begin, s->static_count + tail.end};
}

/* ---- two dimensions ---- */

/* The first task of band b. */
static size_t first_task(const struct partition_grid *g, size_t b)
{
    return boundary((size_t)g->tasks, (size_t)g->bands, b);
}

/* Where the band that begins with this task begins: the tasks' share of the extent, rounded. */
static size_t band_begin(const struct partition_grid *g, size_t task)
{
    size_t extent = g->bands_are_columns ? g->columns : g->rows;
    size_t tasks = (size_t)g->tasks;
    return extent / tasks * task + (extent % tasks * task * 2 + tasks) / (tasks * 2);
}

static double cost_of(const struct partition_grid *g, const struct partition_costs *costs,
                      size_t band, size_t across)
{
    double rows = (double)(g->bands_are_columns ? across : band);
    double columns = (double)(g->bands_are_columns ? band : across);
    return rows * columns * costs->tile + rows * costs->row + columns * costs->column;
}

/* The cost of the longest of the tasks that share a band with so many. Rounding makes an extent one
 * larger than its share at most, and one smaller: a share below one may leave it empty. */
static double longest_of(const struct partition_grid *g, const struct partition_costs *costs,
                         size_t sharers, size_t extent, size_t across)
{
    size_t tasks = (size_t)g->tasks;
    if (sharers > across || extent * sharers < tasks)
        return (double)INFINITY;
    return cost_of(g, costs, div_up(extent * sharers, tasks), div_up(across, sharers));
}

/* No task costs more than that; infinity if one might be empty. Bands differ by one task, so only
 * two kinds are looked at: the search must not cost more than the tasks. */
static double most_of(const struct partition_grid *g, const struct partition_costs *costs)
{
    size_t extent = g->bands_are_columns ? g->columns : g->rows;
    size_t across = g->bands_are_columns ? g->rows : g->columns;
    size_t few = (size_t)(g->tasks / g->bands),
           many = (size_t)(g->tasks % g->bands ? few + 1 : few);
    double cost = longest_of(g, costs, few, extent, across);
    if (many == few)
        return cost;
    return fmax(cost, longest_of(g, costs, many, extent, across));
}

static void consider(struct partition_grid *best, struct partition_grid g,
                     const struct partition_costs *costs)
{
    g.cost = most_of(&g, costs);
    if (g.cost < best->cost || (g.cost <= best->cost && g.tasks < best->tasks))
        *best = g;
}

/* For each number of bands: the largest whole rectangle of tasks, and that without the tasks which
 * would not make the longest one shorter; then all tasks. */
static void consider_bands(struct partition_grid *best, struct partition_grid g, int max_tasks,
                           const struct partition_costs *costs)
{
    size_t extent = g.bands_are_columns ? g.columns : g.rows;
    size_t across = g.bands_are_columns ? g.rows : g.columns;
    int most = extent < (size_t)max_tasks ? (int)extent : max_tasks;
    for (g.bands = 1; g.bands <= most; g.bands++) {
        size_t cuts = min_size((size_t)(max_tasks / g.bands), across);
        g.tasks = g.bands * (int)cuts;
        consider(best, g, costs);
        struct partition_grid fewer = g;
        fewer.bands = (int)div_up(extent, div_up(extent, (size_t)g.bands));
        fewer.tasks = fewer.bands * (int)div_up(across, div_up(across, cuts));
        if (fewer.tasks < g.tasks)
            consider(best, fewer, costs);
        if (max_tasks == g.tasks)
            continue;
        g.tasks = max_tasks;
        consider(best, g, costs);
    }
}

/* The cost of the longest task. */
static double longest(const struct partition_grid *g, const struct partition_costs *costs)
{
    size_t across = g->bands_are_columns ? g->rows : g->columns;
    double most = 0;
    for (size_t b = 0; b < (size_t)g->bands; b++) {
        size_t begin = first_task(g, b), end = first_task(g, b + 1);
        size_t extent = band_begin(g, end) - band_begin(g, begin);
        most = fmax(most, cost_of(g, costs, extent, div_up(across, end - begin)));
    }
    return most;
}

struct partition_grid partition_grid(size_t rows, size_t columns, int max_tasks,
                                     const struct partition_costs *costs)
{
    struct partition_grid g = {.rows = rows, .columns = columns, .bands = 1, .tasks = 1};
    g.cost = cost_of(&g, costs, rows, columns);
    if (max_tasks == 1)
        return g;
    struct partition_grid best = g;
    consider_bands(&best, g, max_tasks, costs);
    g.bands_are_columns = 1;
    consider_bands(&best, g, max_tasks, costs);
    best.cost = longest(&best, costs);
    return best;
}

struct partition_rect partition_rect(const struct partition_grid *g, int i)
{
    if (g->tasks == 1) /* without divisions */
        return (struct partition_rect){{0, g->rows}, {0, g->columns}};
    size_t task = (size_t)i, bands = (size_t)g->bands, tasks = (size_t)g->tasks;
    size_t b = task * bands / tasks; /* or the next one, because boundaries round down */
    while (first_task(g, b + 1) <= task)
        b++;
    size_t begin = first_task(g, b), end = first_task(g, b + 1);
    struct span band = {band_begin(g, begin), band_begin(g, end)};
    size_t across = g->bands_are_columns ? g->rows : g->columns;
    struct span cut = partition_span(across, end - begin, task - begin);
    return g->bands_are_columns ? (struct partition_rect){.rows = cut, .columns = band}
                                : (struct partition_rect){.rows = band, .columns = cut};
}

/* ---- runs ---- */

/* The next rectangle of a run of tiles, as large as it can be. */
static struct partition_rect first_rect(size_t rows, struct span tiles)
{
    size_t column = tiles.begin / rows, row = tiles.begin % rows, count = tiles.end - tiles.begin;
    if (row > 0 || count < rows)
        return (struct partition_rect){{row, min_size(row + count, rows)}, {column, column + 1}};
    return (struct partition_rect){{0, rows}, {column, tiles.end / rows}};
}

size_t partition_run(size_t rows, size_t columns, int tasks, int i,
                     struct partition_rect rects[PARTITION_RUN_RECTS])
{
    struct span tiles = partition_span(rows * columns, (size_t)tasks, (size_t)i);
    size_t count = 0;
    while (tiles.begin < tiles.end) {
        struct partition_rect rect = first_rect(rows, tiles);
        size_t down = rect.rows.end - rect.rows.begin;
        tiles.begin += down * (rect.columns.end - rect.columns.begin);
        rects[count++] = rect;
    }
    return count;
}
