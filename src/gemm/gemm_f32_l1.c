/* The blocked f32 matrix multiplication with rows in place: how many panels of B stay in the L1
 * cache together, and of how many values of k, by the lines that come from the L2 cache.
 *
 * The more panels, the more columns a tile's rows of A are used for; the fewer values of k, the
 * more often sums go to C and come back. What is used once more must not be driven out before:
 * lines of B when the next tile comes, after the rows of two tiles. Rows, and parts of panels, may
 * fall on few places of the cache, so it is not sizes that decide but how much falls on each place.
 */
#include <math.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/step.h"

enum { L1_WAYS = 4, PLACE = 64 /* values */, MOST_PLACES = 256, MOST_GROUP = 64 };

/* What a sum costs in each block of k, in values that come from the L2 cache: C comes and goes, and
 * in the time that it takes to load and store sums some six others would come. */
static const double block_cost = 8;

struct places {
    size_t count;
    uint8_t of_a[MOST_PLACES], of_b[MOST_PLACES];
};

/* So many runs of `width` values, `stride` values apart. */
static void put(const struct places *places, uint8_t *taken, size_t count, size_t width,
                size_t stride)
{
    for (size_t i = 0; i < count; i++) {
        size_t first = i * stride / PLACE, end = div_up(i * stride + width, PLACE);
        for (size_t p = first; p < end; p++)
            taken[p % places->count]++;
    }
}

/* Values of B that have to come again for each tile. */
static size_t driven_out(const struct places *places)
{
    size_t values = 0;
    for (size_t p = 0; p < places->count; p++)
        if (places->of_a[p] + places->of_b[p] > L1_WAYS)
            values += places->of_b[p] * (size_t)PLACE;
    return values;
}

/* Values that come for each product, with so many panels together. */
static double moved(const struct gemm_f32 *plan, struct places *places, size_t panels)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t k = plan->block_k, tall = plan->tall, width = panels * LAYOUT_PANEL;
    memset(places->of_a, 0, sizeof places->of_a);
    memset(places->of_b, 0, sizeof places->of_b);
    put(places, places->of_a, 2 * tall, k, shape->a_stride);
    put(places, places->of_b, panels, LAYOUT_PANEL * k, LAYOUT_PANEL * shape->k);
    double again = 1 - 1 / (double)plan->row_tiles;
    return ((double)(tall * k) + again * (double)driven_out(places)) / (double)(tall * k * width);
}

/* Sets the best group for the plan's block_k; the cost of a product. */
static double choose_group(struct gemm_f32 *plan, const struct cpu *cpu)
{
    size_t values = cpu->l1_bytes / sizeof(float), way = values / L1_WAYS;
    struct places places = {.count = min_size(max_size(way / PLACE, 1), MOST_PLACES)};
    size_t rows = plan->tall * plan->block_k, panel = LAYOUT_PANEL * plan->block_k;
    size_t most = values * 3 / 4 > rows ? (values * 3 / 4 - rows) / panel : 1;
    double least = HUGE_VAL;
    for (size_t panels = 1; panels <= max_size(min_size(most, MOST_GROUP), 1); panels++) {
        double cost = moved(plan, &places, panels);
        if (cost < least * 0.99) {
            least = cost;
            plan->group_panels = panels;
        }
    }
    return least + block_cost / (double)plan->block_k;
}

bool gemm_f32_knows_l1(const struct gemm_f32 *plan, const struct cpu *cpu)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    return plan->listed && shape->b_packed && !plan->copies && !cpu->core->in_order &&
           shape->a_is_regular && shape->segment == shape->k && shape->k > 0 &&
           shape->k != SIZE_MAX && shape->m > 0 && shape->m != SIZE_MAX && shape->n != SIZE_MAX;
}

void gemm_f32_choose_group(struct gemm_f32 *plan, const struct cpu *cpu)
{
    choose_group(plan, cpu);
}

void gemm_f32_choose_l1(struct gemm_f32 *plan, const struct cpu *cpu, size_t most_k)
{
    enum { EIGHTHS = 8, FEWEST = 4 };
    struct gemm_f32 best = *plan;
    double least = choose_group(&best, cpu);
    for (size_t part = EIGHTHS - 1; part >= FEWEST; part--) {
        size_t before = plan->block_k;
        gemm_f32_set_block_k(plan, most_k * part / EIGHTHS);
        if (plan->block_k == before)
            continue;
        double cost = choose_group(plan, cpu);
        if (cost < least * 0.95) {
            least = cost;
            best = *plan;
        }
    }
    *plan = best;
}
