/* The blocked f32 matrix multiplication with rows in place: how many panels of B stay in the L1
 * cache together, and of how many values of k, by the lines that come from the L2 cache.
 *
 * The more panels, the more columns a tile's rows of A are used for; the fewer values of k, the
 * more often sums go to C and come back. What is used once more must not be driven out before:
 * lines of B when the next tile comes, after the rows of two tiles. Rows, and parts of panels, may
 * fall on few places of the cache, so it is not sizes that decide but how much falls on each place.
 * Rows of a part of a tap are as far from each other as pixels, but where rows of pixels end. */
#include <math.h>
#include <string.h>

#include "arch/costs.h"
#include "src/core/checked.h"
#include "src/gemm/step.h"
#include "src/tensor/layout.h"

enum {
    LINE = 16 /* values */,
    PLACE = 4 /* lines */,
    MOST_PLACES = 256,
    MOST_GROUP = 64,
    LONG = 384 /* values of a tap: parts of it are rows a_stride apart, and no block is too short */
};
enum { PLACE_LINES = CPU_L1_WAYS * PLACE };

/* What a sum costs in each block of k, in values that come from the L2 cache: C comes and goes, and
 * in the time that it takes to load and store sums some others would come, the more the faster
 * products are; and as many again where those of the last panel are copied for that. */
static double block_cost(const struct gemm_plan *plan, const struct cpu *cpu)
{
    double others = (double)cpu->core->fmla_per_cycle;
    return 2 + others * (plan->shape.n % 4 ? 2 : 1);
}

/* What a value of A costs that is copied: it is loaded and stored, and its place in the copies
 * comes and goes. */
static double copy_cost(const struct cpu *cpu)
{
    return 2 + (double)cpu->core->fmla_per_cycle;
}

/* Lines of an array on each place of the cache. */
struct places {
    size_t count;
    uint16_t lines[MOST_PLACES];
};

/* Chances that a place has so many lines; the last one: or more. */
struct chances {
    double of[PLACE_LINES + 2];
};

static size_t up_to_more(size_t lines)
{
    return min_size(lines, PLACE_LINES + 1);
}

/* So many more runs of `width` values, `stride` values apart; those that touch share a line. */
static void put_more(struct places *places, size_t first, size_t count, size_t width, size_t stride)
{
    for (size_t i = 0, before = 0; i < count; i++) {
        size_t begin = first + i * stride, end = div_up(begin + width, LINE);
        size_t at = max_size(begin / LINE, before);
        before = end;
        for (size_t next; at < end; at = next) {
            next = min_size((at / PLACE + 1) * PLACE, end);
            places->lines[at / PLACE % places->count] += (uint16_t)(next - at);
        }
    }
}

static void put(struct places *places, size_t count, size_t width, size_t stride)
{
    memset(places->lines, 0, sizeof places->lines);
    put_more(places, 0, count, width, stride);
}

/* What passes by is at any distance from what stays: it moves on with each tile. */
static struct chances chances_of(const struct places *places)
{
    struct chances chances = {{0}};
    for (size_t p = 0; p < places->count; p++)
        chances.of[up_to_more(places->lines[p])] += 1 / (double)places->count;
    return chances;
}

static struct chances sum_of(const struct chances *a, const struct chances *b)
{
    struct chances sum = {{0}};
    for (size_t i = 0; i < count_of(a->of); i++)
        for (size_t j = 0; a->of[i] > 0 && j < count_of(b->of); j++)
            sum.of[up_to_more(i + j)] += a->of[i] * b->of[j];
    return sum;
}

/* Values of B that have to come again for each tile. */
static double driven_out(const struct places *b, const struct chances *passing)
{
    double lines = 0, more[PLACE_LINES + 2] = {0}; /* more[i]: than i lines */
    for (size_t i = PLACE_LINES + 1; i-- > 0;)
        more[i] = more[i + 1] + passing->of[i + 1];
    for (size_t p = 0; p < b->count; p++) {
        size_t here = b->lines[p];
        lines += (double)here * (here > PLACE_LINES ? 1 : more[PLACE_LINES - here]);
    }
    return lines * (double)LINE;
}

/* Do panels of 8 columns come for a tile's rows right after those of 12? */
static bool has_eights(const struct gemm_shape *shape)
{
    enum { EIGHT = 8 };
    size_t full = layout_full_panels(shape->n) * LAYOUT_PANEL;
    return full > 0 && full < shape->n && (shape->n - full) % EIGHT == 0;
}

/* A block of k of so many full panels of B, or of all columns, if they come together. */
static void put_panels(struct places *places, const struct gemm_plan *plan, size_t panels)
{
    const struct gemm_shape *shape = &plan->shape;
    bool all = has_eights(shape) && gemm_panel_groups(shape->n, panels) == 1;
    put(places, all ? plan->full_panels : panels, LAYOUT_PANEL * plan->block_k,
        LAYOUT_PANEL * shape->k);
    for (size_t p = plan->full_panels; all && p < plan->panels; p++) {
        struct layout_panel panel = layout_panel(shape->n, p);
        put_more(places, panel.first * shape->k, 1, panel.width * plan->block_k, 0);
    }
}

/* Values of C that come and go with two groups, for each row: a line that both have a part of. */
static double shared(size_t width)
{
    double part = (double)min_size(power_of_two_in(width), LINE) / (double)LINE;
    return 2 * (double)LINE * (1 - part);
}

/* Values that come for each product, with so many panels together. Until a line of B is used once
 * more, C's rows of a tile pass by, and A's of two: of the tile before only in part with the first
 * and the last panel. */
static double moved(const struct gemm_plan *plan, size_t places_count, size_t panels)
{
    const struct gemm_shape *shape = &plan->shape;
    size_t k = plan->block_k, tall = plan->tall, width = panels * LAYOUT_PANEL;
    struct places places = {.count = places_count};
    put(&places, 2 * tall - tall / panels, k, plan->copies ? k : shape->a_stride);
    struct chances a = chances_of(&places);
    put(&places, tall, min_size(width, shape->n), shape->c_stride ? shape->c_stride : shape->n);
    struct chances c = chances_of(&places), passing = sum_of(&a, &c);
    put_panels(&places, plan, panels);
    double again = 1 - 1 / (double)plan->row_tiles;
    double n = (double)max_size(shape->n, 1), groups = (double)gemm_panel_groups(shape->n, panels);
    double rows = (double)(tall * k) + again * driven_out(&places, &passing);
    return groups * rows / ((double)(tall * k) * n) +
           (groups - 1) * shared(width) / (n * (double)k);
}

/* Sets the best group for the plan's block_k; the cost of a product. */
static double choose_group(struct gemm_plan *plan, const struct cpu *cpu)
{
    size_t values = cpu->l1_bytes / sizeof(float), way = values / CPU_L1_WAYS;
    size_t places = min_size(max_size(way / (PLACE * LINE), 1), MOST_PLACES);
    size_t rows = plan->tall * plan->block_k, panel = LAYOUT_PANEL * plan->block_k;
    size_t most = values * 3 / 4 > rows ? (values * 3 / 4 - rows) / panel : 1;
    double least = HUGE_VAL;
    for (size_t panels = 1; panels <= max_size(min_size(most, MOST_GROUP), 1); panels++) {
        double cost = moved(plan, places, panels);
        if (cost < least * core_costs(cpu->core)->blocks.group) {
            least = cost;
            plan->group_panels = panels;
        }
    }
    return least + block_cost(plan, cpu) / (double)plan->block_k;
}

bool gemm_knows_l1(const struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    bool is_one_run = shape->a_is_regular && shape->segment == shape->k;
    return plan->listed && shape->b_packed && !plan->copies && !cpu->core->in_order &&
           (is_one_run || shape->segment >= LONG) && shape->k > 0 && shape->k != SIZE_MAX &&
           shape->m > 0 && shape->m != SIZE_MAX && shape->n != SIZE_MAX;
}

void gemm_choose_group(struct gemm_plan *plan, const struct cpu *cpu)
{
    choose_group(plan, cpu);
}

enum { EIGHTHS = 8 };

/* The shortest blocks of k, in eighths of the longest. Rows less than k apart are windows, most of
 * which have lines in common: there shorter blocks save less than they cost. Lines of parts of
 * taps, and of few columns, whose last panels come by themselves unless they have 8 columns, are
 * estimated too low for the shortest. */
static size_t fewest_eighths(const struct gemm_shape *shape)
{
    enum { FEW_COLUMNS = 64 };
    if (shape->a_stride < shape->k)
        return EIGHTHS;
    if (shape->segment < shape->k)
        return 4;
    return shape->n > FEW_COLUMNS ? 3 : has_eights(shape) ? 2 : 4;
}

void gemm_choose_l1(struct gemm_plan *plan, const struct cpu *cpu, size_t most_k)
{
    struct gemm_plan best = *plan;
    double least = choose_group(&best, cpu);
    for (size_t part = EIGHTHS - 1; part >= fewest_eighths(&plan->shape); part--) {
        size_t before = plan->block_k;
        gemm_set_block_k(plan, most_k * part / EIGHTHS);
        if (plan->block_k == before)
            continue;
        double cost = choose_group(plan, cpu);
        if (cost < least * core_costs(cpu->core)->blocks.depth) {
            least = cost;
            best = *plan;
        }
    }
    *plan = best;
}

double gemm_l1_cost(const struct gemm_plan *plan, const struct cpu *cpu)
{
    struct gemm_plan same = *plan;
    double cost = choose_group(&same, cpu), n = (double)max_size(plan->shape.n, 1);
    return cost + (plan->copies ? copy_cost(cpu) / n : 0);
}
