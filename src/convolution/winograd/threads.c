/* Winograd convolution: strips for several threads. The plan's strips are as large as they can be,
 * as all weights come for each; several threads need more of them, or some have nothing to do. */
#include <math.h>

#include "src/convolution/winograd/winograd.h"

/* ---- the same bits ----
 *
 * How the kernels add a sum's terms depends on the rows of its block if these are few. So strips
 * may differ from the plan's only where neither have so few tiles at any point. */

static bool is_usual(const struct convolution_winograd *plan, struct span tiles)
{
    const struct kinds *kinds = &plan->kinds;
    size_t counts[KINDS];
    winograd_count_kinds(kinds, tiles, counts);
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t rows = kinds->points[kind] ? winograd_rows_at(plan, kind, counts) : 0;
        if (rows > 0 && rows < plan->kernel->same)
            return false;
    }
    return true;
}

/* Are the plan's strips? */
static bool is_divisible(const struct convolution_winograd *plan)
{
    for (size_t begin = 0; begin < plan->tiles; begin += plan->strip)
        if (!is_usual(plan, (struct span){begin, min_size(begin + plan->strip, plan->tiles)}))
            return false;
    return true;
}

/* ---- strips of equal work ---- */

/* The points of the first so many tiles. */
static size_t points_before(const struct kinds *kinds, size_t tile)
{
    size_t points = 0;
    for (size_t kind = 0, begin = 0; kind < KINDS && begin < tile; begin = kinds->ends[kind++])
        points += (min_size(kinds->ends[kind], tile) - begin) * kinds->points[kind];
    return points;
}

/* The tile where so many points are reached. */
static size_t tile_after(const struct kinds *kinds, size_t points)
{
    size_t begin = 0;
    for (size_t kind = 0; kind < KINDS; begin = kinds->ends[kind++]) {
        size_t here = (kinds->ends[kind] - begin) * kinds->points[kind];
        if (points < here)
            return begin + (points + kinds->points[kind] / 2) / kinds->points[kind];
        points -= here;
    }
    return begin;
}

/* Is there room in a task's scratchpad, which is for the plan's strips? */
static bool has_room(const struct convolution_winograd *plan, struct span tiles)
{
    const struct kinds *kinds = &plan->kinds;
    size_t rows = points_before(kinds, tiles.end) - points_before(kinds, tiles.begin);
    size_t points = plan->down * plan->across;
    size_t most = plan->most_rows ? plan->most_rows : plan->strip * points;
    return tiles.end - tiles.begin <= (plan->slot ? most / points : MOST_STRIP) && rows <= most;
}

/* The end that is next to `wanted` and leaves no few tiles of a kind on either side. */
static size_t end_of_strip(const struct convolution_winograd *plan, size_t begin, size_t wanted)
{
    for (size_t away = 0; away < 2 * plan->kernel->same; away++) {
        size_t end = away % 2 ? wanted - (away + 1) / 2 : wanted + away / 2;
        struct span rest = {end, min_size(end + plan->kernel->same, plan->tiles)};
        if (end > begin && end < plan->tiles && is_usual(plan, (struct span){begin, end}) &&
            is_usual(plan, rest))
            return end;
    }
    return 0;
}

static bool divide(struct run *run, size_t strips)
{
    const struct convolution_winograd *plan = run->plan;
    const struct kinds *kinds = &plan->kinds;
    size_t points = points_before(kinds, plan->tiles), begin = 0;
    for (size_t i = 0; i < strips; i++) {
        size_t wanted = tile_after(kinds, points * (i + 1) / strips);
        size_t end = i + 1 < strips ? end_of_strip(plan, begin, wanted) : plan->tiles;
        struct span tiles = {begin, end};
        if (end <= begin || !is_usual(plan, tiles) || !has_room(plan, tiles))
            return false;
        run->ends[i] = (uint32_t)end;
        begin = end;
    }
    return true;
}

struct span winograd_strip(const struct run *run, size_t index)
{
    size_t strip = run->plan->strip, tiles = run->plan->tiles;
    if (run->divided)
        return (struct span){index ? run->ends[index - 1] : 0, run->ends[index]};
    return (struct span){index * strip, min_size((index + 1) * strip, tiles)};
}

/* ---- how many ---- */

/* In rows of a panel: its products, reading its weights, and transforming the results; a strip's
 * inputs are transformed again by every task that has some of its panels. */
static struct partition_costs costs_of(const struct convolution_winograd *plan, double strip)
{
    return (struct partition_costs){.tile = strip + plan->weights_rows, .row = 4 * strip / 5};
}

/* For each thread, so many strips after each other. */
static size_t strips_in_turn(const struct convolution_winograd *plan, size_t strips)
{
    size_t rows = points_before(&plan->kinds, plan->tiles);
    return plan->most_rows ? div_up(rows, strips * plan->most_rows) : 1;
}

/* Of one strip, or some if there is no room for one, and some panels for each thread the cheapest
 * division, if it is cheaper than the run's. */
static void divide_for(struct run *run, size_t threads)
{
    const struct convolution_winograd *plan = run->plan;
    if (!is_divisible(plan))
        return;
    struct run best = *run;
    for (size_t cuts = 1; cuts <= min_size(threads, plan->panels); cuts++) {
        size_t turns = strips_in_turn(plan, threads / cuts), strips = turns * (threads / cuts);
        struct partition_costs costs = costs_of(plan, (double)plan->tiles / (double)strips);
        double cost = (double)turns * ((double)div_up(plan->panels, cuts) * costs.tile + costs.row);
        if (cost >= best.grid.cost || strips > MOST_DIVIDED || !divide(run, strips))
            continue;
        best = *run;
        best.divided = true;
        best.grid = partition_grid(strips, plan->panels, (int)threads, &costs);
        best.grid.cost = cost;
    }
    *run = best;
}

void winograd_divide(struct run *run, int threads)
{
    const struct convolution_winograd *plan = run->plan;
    size_t strips = div_up(plan->tiles, plan->strip);
    struct partition_costs costs = costs_of(plan, (double)plan->strip);
    run->grid = partition_grid(strips, plan->panels, threads, &costs);
    if (plan->most_rows)
        run->grid.cost = (double)INFINITY;
    if (threads > 1)
        divide_for(run, (size_t)threads);
}

/* For a strip, all threads wait for each other twice. */
double winograd_sharing_cost(const struct convolution_winograd *plan, int threads)
{
    const double waiting = 2;
    size_t strips = div_up(plan->tiles, plan->strip), count = (size_t)threads;
    struct partition_costs costs = costs_of(plan, (double)plan->tiles / (double)strips);
    double inputs = costs.row / (double)min_size(count, winograd_chunks(plan));
    return (double)strips * ((double)div_up(plan->panels, count) * costs.tile + inputs + waiting);
}
