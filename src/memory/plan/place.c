/* Greedy placement: boxes one after another, each into a gap between those placed before it.
 *
 * A box takes the lowest gap that fits, or the tightest one, or hangs from the top of the highest
 * one under a ceiling (the lower bound): what hangs does not break up the room below it. */
#include "src/memory/plan/graph.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/memory/plan/bitset.h"

/* Work is counted in boxes and words looked at; one unit is a few nanoseconds. */
#define ORDERS_WORK UINT64_C(35000000)
#define IMPROVE_WORK UINT64_C(10000000)
#define IMPROVE_ROUNDS 1500

typedef struct block {
    size_t offset, end;
} block;

/* What an order sorts by. */
typedef struct sort_key {
    double first, second;
    uint32_t box;
} sort_key;

/* One placement in progress, and its scratch. */
typedef struct placer {
    const plan_graph *graph;
    size_t *offset;      /* of each placed box */
    uint64_t *placed;    /* set of boxes */
    uint32_t *by_offset; /* the placed boxes, lowest first */
    size_t placed_count;
    block *blocks; /* the placed boxes in conflict with the one at hand, lowest first */
    size_t block_count;
    uint32_t *order, *trial_order;
    uint8_t *hangs, *trial_hangs; /* per box */
    sort_key *keys;
    uint64_t work;
} placer;

typedef enum fit { FIRST_FIT, BEST_FIT, FIT_COUNT } fit;

static int compare_blocks(const void *left, const void *right)
{
    const block *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort_blocks(block *blocks, size_t count)
{
    if (count > 24) {
        qsort(blocks, count, sizeof *blocks, compare_blocks);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        block moving = blocks[i];
        size_t at = i;
        for (; at && blocks[at - 1].offset > moving.offset; at--)
            blocks[at] = blocks[at - 1];
        blocks[at] = moving;
    }
}

static void push_block(placer *p, size_t box)
{
    p->blocks[p->block_count++] = (block){p->offset[box], p->offset[box] + p->graph->size[box]};
}

static size_t count_placed_conflicts(const placer *p, const uint64_t *row)
{
    size_t count = 0;
    for (size_t w = 0; w < p->graph->words; w++)
        count += (size_t)__builtin_popcountll(row[w] & p->placed[w]);
    return count;
}

/* Collects the few conflicts and sorts them, or, when they are many, filters the sorted list. */
static void find_blocks(placer *p, size_t box)
{
    const uint64_t *row = plan_graph_row(p->graph, box);
    size_t expected = count_placed_conflicts(p, row);
    p->block_count = 0;
    if (expected * 32 < p->placed_count) { /* sorting takes that much longer than filtering */
        for (size_t w = 0; w < p->graph->words; w++)
            for (uint64_t bits = row[w] & p->placed[w]; bits; bits &= bits - 1)
                push_block(p, w * 64 + (size_t)__builtin_ctzll(bits));
        sort_blocks(p->blocks, p->block_count);
        p->work += p->graph->words + expected * 8;
    } else {
        for (size_t i = 0; p->block_count < expected; i++)
            if (bitset_has(row, p->by_offset[i]))
                push_block(p, p->by_offset[i]);
        p->work += p->graph->words + p->placed_count * 2;
    }
}

static size_t align_up(size_t offset, size_t align)
{
    return (offset + align - 1) & ~(align - 1);
}

static size_t highest_end(const placer *p)
{
    size_t high = 0;
    for (size_t i = 0; i < p->block_count; i++)
        high = max_size(high, p->blocks[i].end);
    return high;
}

/* The lowest gap that is large enough, or the tightest one; else the end. */
static size_t find_standing(const placer *p, size_t box, fit how)
{
    size_t size = p->graph->size[box], align = p->graph->alignment[box];
    size_t low = 0, chosen = SIZE_MAX, chosen_room = SIZE_MAX;
    for (size_t i = 0; i < p->block_count; i++) {
        const block *next = &p->blocks[i];
        size_t at = align_up(low, align);
        if (next->offset >= at && next->offset - at >= size && next->offset - low < chosen_room) {
            chosen = at;
            chosen_room = next->offset - low;
            if (how == FIRST_FIT)
                return chosen;
        }
        low = max_size(low, next->end);
    }
    return chosen != SIZE_MAX ? chosen : align_up(low, align);
}

/* The top of the highest gap that is large enough under the ceiling; else the end. */
static size_t find_hanging(const placer *p, size_t box)
{
    size_t size = p->graph->size[box], align = p->graph->alignment[box];
    size_t low = 0, chosen = SIZE_MAX;
    for (size_t i = 0; i <= p->block_count; i++) {
        size_t high = i < p->block_count ? p->blocks[i].offset : p->graph->lower_bound;
        high = min_size(high, p->graph->lower_bound);
        size_t at = high >= size ? (high - size) & ~(align - 1) : 0;
        if (high >= size && at >= low)
            chosen = at;
        if (i < p->block_count)
            low = max_size(low, p->blocks[i].end);
    }
    return chosen != SIZE_MAX ? chosen : align_up(highest_end(p), align);
}

static size_t find_gap(const placer *p, size_t box, const uint8_t *hangs, fit how)
{
    return hangs[box] ? find_hanging(p, box) : find_standing(p, box, how);
}

static void insert(placer *p, uint32_t box, size_t offset)
{
    size_t low = 0, high = p->placed_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->offset[p->by_offset[middle]] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(p->by_offset + low + 1, p->by_offset + low,
            (p->placed_count - low) * sizeof *p->by_offset);
    p->by_offset[low] = box;
    p->offset[box] = offset;
    p->placed_count++;
    bitset_add(p->placed, box);
}

/* Returns the bytes of the plan, or SIZE_MAX when they would exceed limit. */
static size_t place_in_order(placer *p, const uint32_t *order, const uint8_t *hangs, fit how,
                             size_t limit)
{
    size_t bytes = 0;
    p->placed_count = 0;
    bitset_clear(p->placed, p->graph->words);
    for (size_t i = 0; i < p->graph->count; i++) {
        find_blocks(p, order[i]);
        size_t offset = find_gap(p, order[i], hangs, how);
        bytes = max_size(bytes, offset + p->graph->size[order[i]]);
        if (bytes > limit)
            return SIZE_MAX;
        insert(p, order[i], offset);
    }
    return bytes;
}

/* ---- orders ---- */

static int compare_keys(const void *left, const void *right)
{
    const sort_key *a = left, *b = right;
    if (a->first != b->first)
        return a->first > b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return a->box < b->box ? -1 : a->box > b->box;
}

static double size_of(const plan_graph *graph, size_t i)
{
    return (double)graph->size[i];
}

static double area_of(const plan_graph *graph, size_t i)
{
    return (double)graph->size[i] * (double)graph->extent[i];
}

static double extent_of(const plan_graph *graph, size_t i)
{
    return (double)graph->extent[i];
}

static double earliness_of(const plan_graph *graph, size_t i)
{
    return -(double)graph->position[i];
}

static double lateness_of(const plan_graph *graph, size_t i)
{
    return (double)(graph->position[i] + graph->extent[i]);
}

static double crowd_of(const plan_graph *graph, size_t i)
{
    return (double)graph->crowd[i] + (double)graph->size[i];
}

static double peak_of(const plan_graph *graph, size_t i)
{
    return (double)graph->peak[i];
}

/* Largest key first; ties by the second key, then by index, so that the order is unique. */
static const struct {
    const char *name;
    double (*first)(const plan_graph *graph, size_t i);
    double (*second)(const plan_graph *graph, size_t i);
} orders[] = {
    {"largest first", size_of, extent_of},
    {"largest first, late ones before early ones", size_of, lateness_of},
    {"fullest moment first", peak_of, size_of},
    {"size times extent", area_of, size_of},
    {"longest first", extent_of, size_of},
    {"most conflicts first", crowd_of, size_of},
    {"earliest first", earliness_of, size_of},
    {"latest first", lateness_of, size_of},
};

static void fill_order(const plan_graph *graph, size_t which, sort_key *keys, uint32_t *order)
{
    for (size_t i = 0; i < graph->count; i++)
        keys[i] =
            (sort_key){orders[which].first(graph, i), orders[which].second(graph, i), (uint32_t)i};
    qsort(keys, graph->count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < graph->count; i++)
        order[i] = keys[i].box;
}

static void keep(const placer *p, size_t bytes, const char *method, plan_best *best)
{
    best->bytes = bytes;
    best->method = method;
    memcpy(best->offset, p->offset, p->graph->count * sizeof *best->offset);
}

/* Leaves the order of the best plan in p->order and returns its fit. */
static fit try_orders(placer *p, plan_best *best)
{
    const plan_graph *graph = p->graph;
    fit best_fit = FIRST_FIT;
    for (size_t which = 0; which < count_of(orders); which++) {
        fill_order(graph, which, p->keys, p->trial_order);
        for (fit how = FIRST_FIT; how < FIT_COUNT; how++) {
            if (best->bytes == graph->lower_bound || p->work > ORDERS_WORK)
                return best_fit;
            /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): plan_place() releases all of p */
            size_t bytes = place_in_order(p, p->trial_order, p->hangs, how, best->bytes);
            if (bytes >= best->bytes)
                continue;
            keep(p, bytes, orders[which].name, best);
            memcpy(p->order, p->trial_order, graph->count * sizeof *p->order);
            best_fit = how;
        }
    }
    return best_fit;
}

/* ---- improvement: whoever sticks out at the top is placed earlier next time ---- */

static uint32_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

/* The place, in the order, of one of the boxes that end where the plan ends. */
static size_t find_top(const plan_graph *graph, const plan_best *best, const uint32_t *order,
                       uint64_t *random)
{
    size_t found = 0, seen = 0;
    for (size_t i = 0; i < graph->count; i++)
        if (best->offset[order[i]] + graph->size[order[i]] == best->bytes &&
            next_random(random) % ++seen == 0)
            found = i;
    return found;
}

static void move_earlier(uint32_t *order, size_t from, size_t to)
{
    uint32_t box = order[from];
    memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = box;
}

static void vary(const plan_graph *graph, const plan_best *best, uint32_t *order, uint8_t *hangs,
                 uint64_t *random)
{
    size_t top = find_top(graph, best, order, random);
    if (top)
        move_earlier(order, top, next_random(random) % 2 ? next_random(random) % top : 0);
    uint32_t choice = next_random(random) % 4;
    if (choice < 2)
        hangs[next_random(random) % graph->count] ^= 1;
    if (top && choice % 2)
        return;
    if (graph->count < 2)
        return;
    size_t other = 1 + next_random(random) % (graph->count - 1);
    move_earlier(order, other, next_random(random) % other);
}

static void improve(placer *p, fit how, plan_best *best)
{
    const plan_graph *graph = p->graph;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15), end = p->work + IMPROVE_WORK;
    for (int round = 0; round < IMPROVE_ROUNDS && p->work < end; round++) {
        if (best->bytes == graph->lower_bound)
            return;
        memcpy(p->trial_order, p->order, graph->count * sizeof *p->order);
        memcpy(p->trial_hangs, p->hangs, graph->count * sizeof *p->hangs);
        vary(graph, best, p->trial_order, p->trial_hangs, &random);
        fit use = round % 4 == 3 ? (how == FIRST_FIT ? BEST_FIT : FIRST_FIT) : how;
        size_t bytes = place_in_order(p, p->trial_order, p->trial_hangs, use, best->bytes);
        p->work += graph->count;
        if (bytes == SIZE_MAX)
            continue;
        keep(p, bytes, bytes < best->bytes ? "improved order" : best->method, best);
        memcpy(p->order, p->trial_order, graph->count * sizeof *p->order);
        memcpy(p->hangs, p->trial_hangs, graph->count * sizeof *p->hangs);
        how = use;
    }
}

/* ---- the whole ---- */

static bool placer_init(placer *p, const plan_graph *graph)
{
    size_t n = graph->count + 1;
    p->graph = graph;
    p->offset = calloc(n, sizeof *p->offset);
    p->placed = calloc(graph->words + 1, sizeof *p->placed);
    p->by_offset = calloc(n, sizeof *p->by_offset);
    p->blocks = calloc(n, sizeof *p->blocks);
    p->order = calloc(n, sizeof *p->order);
    p->trial_order = calloc(n, sizeof *p->trial_order);
    p->hangs = calloc(n, sizeof *p->hangs);
    p->trial_hangs = calloc(n, sizeof *p->trial_hangs);
    p->keys = calloc(n, sizeof *p->keys);
    return p->offset && p->placed && p->by_offset && p->blocks && p->order && p->trial_order &&
           p->hangs && p->trial_hangs && p->keys;
}

static void placer_deinit(placer *p)
{
    free(p->keys);
    free(p->trial_hangs);
    free(p->hangs);
    free(p->trial_order);
    free(p->order);
    free(p->blocks);
    free(p->by_offset);
    free(p->placed);
    free(p->offset);
}

bool plan_place(const plan_graph *graph, plan_best *best)
{
    placer p = {0};
    bool ok = placer_init(&p, graph);
    if (ok) {
        fit how = try_orders(&p, best);
        improve(&p, how, best);
    }
    placer_deinit(&p);
    return ok;
}
