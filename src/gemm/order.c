/* The blocked f32 matrix multiplication: the order of its loops and the sizes of its blocks, by the
 * lines that they make the caches move.
 *
 * There are three ways to do with less than all of A, B and C in the L2 cache at a time. With k
 * outside, a block of B serves all rows, but C goes out and comes back for each block of k. With k
 * inside, C stays, but B comes again for each block of rows. With blocks of columns both may stay,
 * and A comes again for each. */
#include <math.h>

#include "arch/costs.h"
#include "src/core/checked.h"
#include "src/gemm/step.h"
#include "src/tensor/layout.h"

enum { KEPT_BYTES = 512 * 1024 };
static const double LINE = 16; /* values */

/* Sizes in values: of the problem, and of its blocks. */
struct sizes {
    double m, n, k, mc, nc, kc;
    double a_row;     /* distinct values of a row of A: patches overlap */
    double a_values;  /* of all rows */
    double a_shared;  /* of a block of rows, with those beside it */
    double c_stride;  /* from row to row */
    double a_step;    /* in a block of k */
    double a_stride;  /* from row to row */
    double room;      /* in the L2 cache */
    double group;     /* columns of B in the L1 cache */
    double addresses; /* of a row, if they have to be found one by one */
    double copied;    /* values of a row that are copied next to those of others */
    double call;      /* what could be moved in the time of calls for a block and a group */
    bool keeps;       /* what the L2 cache has, until the next call */
    double all_of_a;  /* all rows, and what they take of a cache */
    double since;     /* the part of B and C that has left since the call before */
    const struct blocks_costs *costs;
};

struct order {
    bool k_inside;
    size_t tiles, panels;
    double cost; /* values moved */
};

/* Values on some of the places of a cache: as many as there would be if all places had as many. */
struct spread {
    double values, share;
};

/* Parts of so many rows. If the rows' distance is a multiple of a power of two, all of these parts
 * are in the places of a few. */
static struct spread spread_of(double rows, double width, double stride)
{
    size_t apart = power_of_two_in((size_t)stride);
    double row = fmax(width, fmin((double)apart, stride));
    return (struct spread){rows * row, row > 0 ? width / row : 1};
}

/* How much of a cache they take, as far as they are concerned. */
static double taken(double rows, double width, double stride)
{
    return spread_of(rows, width, stride).values;
}

/* The part of something that has left the cache when it is wanted again, so many values later: some
 * lines leave long before all of them do. An eight-way cache had lost 2 % of a block of B after 80
 * % of its size, 14 % after 88 %, and nearly all after all of it. */
static double gone(const struct sizes *s, double values)
{
    double over = fmin(fmax(values / s->room - s->costs->full, 0) / s->costs->filling, 1);
    return over * over;
}

/* The same with rows of C among these values, that are on some of the places. */
static double lost(const struct sizes *s, double others, struct spread c)
{
    return c.share * gone(s, others + c.values) + (1 - c.share) * gone(s, others);
}

/* How often something comes that is wanted `times` times, if such a part of it has left before the
 * first, and before each other time. */
static double comes(double times, double first, double again)
{
    return fmax(first, again) + (times - 1) * again;
}

/* What comes for the first time in a call, if so much of it has left since the call before. A small
 * cache has other work between two calls. */
static double first(const struct sizes *s, double since)
{
    return s->keeps ? since : 1;
}

/* Distinct values of so many rows of A, and what of the cache they take. */
static double values_of(const struct sizes *s, double rows)
{
    return fmin(s->a_values * rows / fmax(s->m, 1) + s->a_shared, s->a_values);
}

static bool has_patches(const struct sizes *s)
{
    return s->a_row < s->k;
}

static double rows_of_a(const struct sizes *s, double rows)
{
    return has_patches(s) ? values_of(s, rows) : taken(rows, s->a_row, s->a_stride);
}

static struct spread rows_of_c(const struct sizes *s, double rows)
{
    return spread_of(rows, s->nc, s->c_stride);
}

/* Two steps of so many rows of A, without gaps if these are copied. */
static double steps_of_a(const struct sizes *s, double rows)
{
    return taken(rows, 2 * s->a_step, s->copied > 0 ? s->a_step : s->a_stride);
}

/* Of a block of patches, most of which have the same pixels. */
static double steps_of_block(const struct sizes *s)
{
    double steps = steps_of_a(s, s->mc), others = s->a_shared * fmin(2 * s->kc / s->k, 1);
    double most = s->a_values * s->mc / fmax(s->m, 1) + others;
    return has_patches(s) ? fmin(steps, most) : steps;
}

/* Of the next block of rows, a step's, that a panel of B comes again amid; of patches half, as some
 * are between what is wanted by both. */
static double next_rows(const struct sizes *s)
{
    double values = fmin(s->mc * s->a_step, s->a_values * s->mc / fmax(s->m, 1));
    return has_patches(s) ? values / 2 : values;
}

/* What is wanted again is itself where these rows are. */
static struct spread own(struct spread rows)
{
    rows.share = 1;
    return rows;
}

static double blocks_of_rows(const struct sizes *s)
{
    return ceil(s->m / s->mc);
}

static double blocks_of_columns(const struct sizes *s)
{
    return ceil(s->n / s->nc);
}

static double blocks_of_k(const struct sizes *s)
{
    return ceil(s->k / s->kc);
}

/* Unless each block uses all of it: then the last one leaves it for the next call's first. */
static double gone_since_call(const struct sizes *s)
{
    return gone(s, s->all_of_a + s->k * s->n + taken(s->m, s->n, s->c_stride));
}

/* A comes for each block of columns, after all rows; where little stays, for each group of them,
 * after a block; and patches for each block of k that is outside. */
static double a_comes(const struct sizes *s, bool k_inside)
{
    double a_stride = s->copied > 0 ? s->a_step : s->a_stride, blocks = blocks_of_columns(s);
    double all = lost(s, s->all_of_a + s->k * s->nc, rows_of_c(s, s->m));
    /* A pass is short: what stays may take more of the cache. */
    double pass = taken(s->mc, s->a_step, a_stride) + 2 * (s->kc + s->mc) * s->group;
    double passes = comes(ceil(s->nc / s->group), 1, gone(s, s->costs->pass * pass));
    if (has_patches(s) && !k_inside)
        passes *= comes(blocks_of_k(s), 1,
                        lost(s, steps_of_a(s, s->m) + s->kc * s->nc, rows_of_c(s, s->m)));
    return comes(blocks, first(s, 0), all) + blocks * (passes - 1);
}

/* B comes for each block of rows: after one of k of both, or all of k. */
static double b_comes(const struct sizes *s, bool k_inside)
{
    double blocks = blocks_of_rows(s), again;
    double next_a = blocks > 1 ? next_rows(s) : 0, next_c = blocks > 1 ? s->mc : 0;
    if (k_inside)
        again = lost(s, rows_of_a(s, s->mc) + next_a + s->k * s->nc, rows_of_c(s, s->mc + next_c));
    else
        again = lost(s, steps_of_block(s) + s->kc * s->nc, rows_of_c(s, s->mc));
    bool is_whole = blocks_of_columns(s) <= 1 && (k_inside || blocks_of_k(s) <= 1);
    return comes(blocks, first(s, is_whole ? 0 : s->since), again);
}

/* C comes for each block of k: after that of a block of rows, or of all rows. */
static double c_comes(const struct sizes *s, bool k_inside)
{
    double rows = k_inside ? s->mc : s->m;
    double others = k_inside ? steps_of_block(s) : steps_of_a(s, s->m);
    double again = lost(s, others + s->kc * s->nc, own(rows_of_c(s, rows)));
    bool is_whole = blocks_of_columns(s) <= 1 && (!k_inside || blocks_of_rows(s) <= 1);
    return comes(blocks_of_k(s), first(s, is_whole ? 0 : s->since), again);
}

/* Values that move between the L2 cache and what is behind it. */
static double memory_traffic(const struct sizes *s, bool k_inside)
{
    double a_values = k_inside ? blocks_of_rows(s) * values_of(s, s->mc) : s->a_values;
    return a_comes(s, k_inside) * a_values + b_comes(s, k_inside) * s->k * s->n +
           2 * c_comes(s, k_inside) * s->m * s->n;
}

/* Between the L1 and the L2 cache: A for each group of panels, B for each block of rows, C for each
 * block of k, and lines of C that belong to two groups once more. */
static double l1_traffic(const struct sizes *s)
{
    double groups = blocks_of_columns(s) * ceil(s->nc / s->group);
    double shared = fmod(fmin(s->nc, s->group), LINE) > 0 ? LINE * (groups - 1) : 0;
    return s->m * s->k * groups + blocks_of_rows(s) * s->k * s->n +
           2 * blocks_of_k(s) * s->m * (s->n + shared);
}

/* Rows of C that are a multiple of a large power of two apart fall on few places, and may be more
 * than these have room for beside A: a group of columns drives out what of A is there before the
 * next group comes, and so do lines of C that belong to both. */
static double collisions(const struct sizes *s)
{
    double apart = (double)power_of_two_in((size_t)s->c_stride);
    double again = ceil(s->nc / s->group) - 1;
    if (again <= 0 || s->mc * (apart + s->a_step) <= s->room)
        return 0;
    return again * s->m * (s->k * fmin((s->group + LINE) / apart, 1) + 2 * LINE);
}

/* Addresses of rows, which each block of columns asks for again. That of a patch takes about as
 * long as a line from behind the L2 cache; rows that are copied are read and written. */
static double listing(const struct sizes *s)
{
    const double line = 28;
    return s->m * (line * s->addresses + s->copied / 2) * blocks_of_columns(s);
}

/* One for each group of a block, and what a block of columns has to begin with takes as long as
 * one. */
static double calls(const struct sizes *s)
{
    double groups = ceil(s->n / s->group) + blocks_of_columns(s) - 1;
    return s->call * blocks_of_rows(s) * blocks_of_k(s) * groups;
}

/* What blocks cost beside what moves behind the L2 cache, whether k is inside or not. */
struct beside {
    double collisions, l1, listing, calls;
};

/* A line from behind the L2 cache takes some nine times as long as one from there; twelve times
 * where rows are patches, as l1_traffic() counts a line for each of the taps that share it. */
static struct beside beside_of(const struct sizes *s)
{
    double l1_lines = has_patches(s) ? 12 : 9;
    return (struct beside){collisions(s), l1_traffic(s) / l1_lines, listing(s), calls(s)};
}

static double cost_of(double traffic, const struct beside *beside)
{
    return traffic + beside->collisions + beside->l1 + beside->listing + beside->calls;
}

static struct sizes sizes_of(const struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    struct sizes s = {
        .m = (double)shape->m,
        .n = (double)shape->n,
        .k = (double)shape->k,
        .kc = (double)plan->block_k,
        .room = (double)cpu->l2_bytes / sizeof(float),
        .group = (double)(plan->group_panels * LAYOUT_PANEL),
        .costs = &core_costs(cpu->core)->blocks,
    };
    if (plan->full_panels == 0) /* the two that few columns end in come together */
        s.group = fmax(s.group, s.n);
    s.a_row = shape->segment < shape->k ? fmin(2 * (double)shape->segment, s.k) : s.k;
    s.a_step = fmin(s.a_row, s.kc);
    s.a_values = shape->a_values ? (double)shape->a_values : s.m * s.a_row;
    s.a_shared = (double)shape->a_shared;
    s.c_stride = (double)(shape->c_stride ? shape->c_stride : shape->n);
    if (!shape->a_is_regular)
        s.addresses = s.k / fmin((double)shape->segment, s.kc);
    s.keeps = cpu->l2_bytes >= KEPT_BYTES;
    s.copied = plan->copies ? s.k : 0;
    s.call = cpu->core->in_order ? 500 : 0; /* others multiply meanwhile */
    s.a_stride = shape->a_is_regular ? (double)shape->a_stride : s.a_step;
    s.all_of_a = rows_of_a(&s, s.m);
    s.since = gone_since_call(&s);
    return s;
}

/* Blocks of rows and of columns that are as equal as they can be. */
static size_t part(size_t count, size_t parts)
{
    return div_up(count, min_size(parts, count));
}

/* Tiles of a block, if there are more blocks than there have to be: so many eighths, rounded up. */
static size_t tiles_of(const struct gemm_plan *plan, size_t more)
{
    size_t fewest = div_up(plan->row_tiles, max_size(plan->block_tiles, 1));
    return part(max_size(plan->row_tiles, 1), fewest + div_up(more * fewest, 8));
}

/* Of equal ones that with larger blocks, which comes first. */
static bool is_better(double cost, const struct order *best, const struct sizes *s)
{
    return cost < best->cost * s->costs->order;
}

/* Blocks of s->nc columns and these tiles, with k outside and inside. */
static void consider(struct order *best, struct sizes *s, struct order order)
{
    struct beside beside = beside_of(s);
    if (!is_better(cost_of(0, &beside), best, s))
        return;
    for (int inside = 0; inside < 2; inside++) {
        order.k_inside = inside;
        order.cost = cost_of(memory_traffic(s, inside), &beside);
        if (is_better(order.cost, best, s))
            *best = order;
    }
}

/* So many panels of columns, with all numbers of tiles that differ. */
static void consider_columns(struct order *best, const struct gemm_plan *plan, struct sizes *s,
                             size_t panels)
{
    static const uint8_t more_blocks[] = {0, 1, 3, 6, 8, 12, 16, 24, 32, 40, 56, 88, 120};
    s->nc = fmin((double)(panels * LAYOUT_PANEL), s->n);
    for (size_t r = 0, before = 0; r < count_of(more_blocks); r++) {
        size_t tiles = tiles_of(plan, more_blocks[r]);
        s->mc = fmin((double)(tiles * plan->tile_rows), s->m);
        if (tiles != before)
            consider(best, s, (struct order){.tiles = tiles, .panels = panels});
        before = tiles;
    }
}

/* Does all of A, B and C? What has no gaps falls on all places alike. */
static bool all_stays(const struct sizes *s)
{
    bool has_gaps = s->c_stride != s->n || (s->a_stride != s->k && !has_patches(s));
    return s->a_values + s->k * s->n + taken(s->m, s->n, s->c_stride) <=
           s->room * (has_gaps ? s->costs->gaps : s->costs->room);
}

double gemm_choose_order(struct gemm_plan *plan, const struct cpu *cpu)
{
    static const uint8_t column_parts[] = {1, 2, 3, 4, 6, 8};
    struct sizes s = sizes_of(plan, cpu);
    struct order best = {.cost = HUGE_VAL};
    if (all_stays(&s))
        return 0;
    for (size_t c = 0, before = 0; c < count_of(column_parts); c++) {
        size_t panels = part(plan->block_panels, column_parts[c]);
        if (panels != before)
            consider_columns(&best, plan, &s, panels);
        before = panels;
    }
    plan->k_inside = best.k_inside;
    plan->block_tiles = best.tiles;
    plan->block_panels = best.panels;
    return best.cost;
}
