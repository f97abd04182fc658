/* Exhaustive search for the smallest plan, within a number of nodes.
 *
 * Some best plan has every box as low as those under it allow. Sorted by offset (ties by index) its
 * boxes can be placed one after another, each on top of the highest box in conflict with it, and
 * the offsets never go down. So it is enough to try all sequences with offsets that do not go down,
 * and a branch can be cut when
 *   - some clique cannot end under the limit: what it still has to place goes on top of the lowest
 *     place its members can take; or
 *   - a box that is left out would fit entirely under the offset chosen now: it could be lowered
 *     later, so another branch has that plan.
 * A low limit cuts much: the lower bound is tried first, then values between it and the best plan.
 * The boxes are renumbered in the order in which they are tried, in several ways. */
#include "src/memory/plan/graph.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/memory/plan/bitset.h"

#define MAX_WORDS (PLAN_MAX_SEARCHED / 64)
#define HALVINGS 4

typedef struct rank {
    double keys[3];
    uint16_t box;
} rank;

typedef struct search {
    const plan_graph *graph; /* in the caller's numbers */
    plan_best *best;
    size_t count, words, clique_count;
    uint64_t *rows, *cliques;        /* in the order of trial, as all below */
    uint16_t box[PLAN_MAX_SEARCHED]; /* the caller's number */
    size_t size[PLAN_MAX_SEARCHED], alignment[PLAN_MAX_SEARCHED], offset[PLAN_MAX_SEARCHED];
    rank ranks[PLAN_MAX_SEARCHED];
    uint16_t number[PLAN_MAX_SEARCHED]; /* by the caller's number */
    uint64_t todo[MAX_WORDS];           /* boxes not placed */
    size_t *low;                        /* count entries for each depth: where each box would go */
    uint64_t nodes_left;
    size_t limit; /* the most bytes that are of interest */
    bool found;
} search;

/* ---- bounds ---- */

static bool clique_fits(const search *s, const uint64_t *clique, const size_t *low, size_t last)
{
    size_t rest = 0, base = SIZE_MAX;
    for (size_t w = 0; w < s->words; w++) {
        for (uint64_t set = clique[w] & s->todo[w]; set; set &= set - 1) {
            size_t i = w * 64 + (size_t)__builtin_ctzll(set);
            rest += s->size[i];
            base = min_size(base, low[i]);
        }
    }
    return !rest || max_size(base, last) + rest <= s->limit;
}

static bool may_fit(const search *s, const size_t *low, size_t last)
{
    for (size_t c = 0; c < s->clique_count; c++)
        if (!clique_fits(s, s->cliques + c * s->words, low, last))
            return false;
    return true;
}

/* ---- one step ---- */

typedef struct choices {
    uint16_t boxes[PLAN_MAX_SEARCHED]; /* by offset, then by number */
    size_t count;
} choices;

static void insert(choices *choice, const size_t *low, size_t box)
{
    size_t at = choice->count++;
    for (; at && low[choice->boxes[at - 1]] > low[box]; at--)
        choice->boxes[at] = choice->boxes[at - 1];
    choice->boxes[at] = (uint16_t)box;
}

/* What may come after a box at last_offset: not lower (from number after on if as low), and so low
 * that no box left out would fit entirely under it. */
static void find_choice(const search *s, const size_t *low, size_t after, size_t last_offset,
                        choices *choice)
{
    size_t hole = SIZE_MAX;
    for (size_t i = bitset_next(s->todo, s->words, 0); i != BITSET_NONE;
         i = bitset_next(s->todo, s->words, i + 1))
        hole = min_size(hole, low[i] + s->size[i]);
    choice->count = 0;
    for (size_t i = bitset_next(s->todo, s->words, 0); i != BITSET_NONE;
         i = bitset_next(s->todo, s->words, i + 1)) {
        bool follows = low[i] > last_offset || (low[i] == last_offset && i >= after);
        if (follows && low[i] < hole)
            insert(choice, low, i);
    }
}

static void raise(const search *s, const size_t *low, size_t box, size_t *raised)
{
    size_t end = low[box] + s->size[box];
    const uint64_t *row = s->rows + box * s->words;
    memcpy(raised, low, s->count * sizeof *raised);
    for (size_t w = 0; w < s->words; w++) {
        for (uint64_t set = row[w] & s->todo[w]; set; set &= set - 1) {
            size_t i = w * 64 + (size_t)__builtin_ctzll(set), align = s->alignment[i];
            raised[i] = max_size(raised[i], (end + align - 1) & ~(align - 1));
        }
    }
}

static void keep(search *s)
{
    size_t bytes = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->best->offset[s->box[i]] = s->offset[i];
        bytes = max_size(bytes, s->offset[i] + s->size[i]);
    }
    s->best->bytes = bytes;
    s->best->method = "exhaustive search";
    s->limit = bytes - 1;
    s->found = true;
}

static bool is_over(const search *s)
{
    return !s->nodes_left || s->limit < s->graph->lower_bound;
}

/* after: 1 + the number of the box placed before, 0 at first. Recursion is at most
 * PLAN_MAX_SEARCHED deep. */
static void descend(search *s, size_t depth, size_t after)
{
    const size_t *low = s->low + depth * s->count;
    size_t *raised = s->low + (depth + 1) * s->count;
    if (depth == s->count) {
        keep(s); /* may_fit() saw every box end within the limit */
        return;
    }
    choices choice;
    find_choice(s, low, after, after ? s->offset[after - 1] : 0, &choice);
    for (size_t k = 0; k < choice.count && !is_over(s); k++) {
        size_t i = choice.boxes[k];
        s->nodes_left--;
        s->offset[i] = low[i];
        raise(s, low, i, raised);
        bitset_remove(s->todo, i);
        if (low[i] + s->size[i] <= s->limit && may_fit(s, raised, low[i]))
            descend(s, depth + 1, i + 1);
        bitset_add(s->todo, i);
    }
}

/* Returns true when it went through all; found says if there is a plan within limit. */
static bool run(search *s, size_t limit, uint64_t nodes)
{
    s->limit = limit;
    s->nodes_left = nodes;
    s->found = false;
    bitset_clear(s->todo, s->words);
    bitset_add_range(s->todo, 0, s->count);
    memset(s->low, 0, s->count * sizeof *s->low);
    descend(s, 0, 0);
    return s->nodes_left > 0;
}

/* ---- orders of trial ---- */

static int compare_ranks(const void *left, const void *right)
{
    const rank *a = left, *b = right;
    for (size_t k = 0; k < count_of(a->keys); k++)
        if (a->keys[k] != b->keys[k])
            return a->keys[k] > b->keys[k] ? -1 : 1;
    return a->box < b->box ? -1 : 1;
}

enum { BY_PEAK, BY_EXTENT, BY_SIZE, BY_AREA };
static const unsigned char orders[][3] = {
    {BY_EXTENT, BY_AREA, BY_PEAK},
    {BY_PEAK, BY_AREA, BY_EXTENT},
    {BY_PEAK, BY_EXTENT, BY_AREA},
    {BY_SIZE, BY_EXTENT, BY_PEAK},
};

static double key_of(const plan_graph *graph, size_t box, unsigned what)
{
    switch (what) {
    case BY_PEAK:
        return (double)graph->peak[box];
    case BY_EXTENT:
        return (double)graph->extent[box];
    case BY_SIZE:
        return (double)graph->size[box];
    default:
        return (double)graph->size[box] * (double)graph->extent[box];
    }
}

static void renumber_set(uint64_t *to, const uint64_t *from, const uint16_t *number, size_t words)
{
    bitset_clear(to, words);
    for (size_t i = bitset_next(from, words, 0); i != BITSET_NONE;
         i = bitset_next(from, words, i + 1))
        bitset_add(to, number[i]);
}

static void number_boxes(search *s, size_t order)
{
    const plan_graph *graph = s->graph;
    rank *ranks = s->ranks;
    uint16_t *number = s->number;
    for (size_t i = 0; i < s->count; i++) {
        ranks[i].box = (uint16_t)i;
        for (size_t k = 0; k < count_of(ranks[i].keys); k++)
            ranks[i].keys[k] = key_of(graph, i, orders[order][k]);
    }
    qsort(ranks, s->count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < s->count; i++) {
        s->box[i] = ranks[i].box;
        s->size[i] = graph->size[ranks[i].box];
        s->alignment[i] = graph->alignment[ranks[i].box];
        number[ranks[i].box] = (uint16_t)i;
    }
    for (size_t i = 0; i < s->count; i++)
        renumber_set(s->rows + i * s->words, plan_graph_row(graph, s->box[i]), number, s->words);
    for (size_t c = 0; c < s->clique_count; c++)
        renumber_set(s->cliques + c * s->words, graph->cliques + c * s->words, number, s->words);
}

/* ---- the whole ---- */

/* Looks for a plan within limit in every order; false when there is none, for certain. */
static bool try_limit(search *s, size_t limit, uint64_t nodes)
{
    for (size_t order = 0; order < count_of(orders); order++) {
        number_boxes(s, order);
        bool complete = run(s, limit, nodes);
        if (s->found || complete)
            return s->found;
    }
    return true;
}

static void search_all(search *s, uint64_t nodes)
{
    size_t low = s->graph->lower_bound, best;
    size_t target = low;
    for (int i = 0; i < HALVINGS && low < s->best->bytes; i++) {
        best = s->best->bytes;
        bool possible = try_limit(s, target, nodes / 4);
        low = possible ? low : target + 1;
        if (s->best->bytes == best && possible && target + 1 == best)
            break;
        target = low + (s->best->bytes - low) / 2;
        target = target < s->best->bytes ? target : s->best->bytes - 1;
    }
    number_boxes(s, 0);
    s->best->optimal = low >= s->best->bytes || run(s, s->best->bytes - 1, nodes);
}

bool plan_search(const plan_graph *graph, uint64_t nodes, plan_best *best)
{
    size_t n = graph->count;
    search *s = calloc(1, sizeof *s);
    if (!s)
        return false;
    *s = (search){.graph = graph,
                  .best = best,
                  .count = n,
                  .words = graph->words,
                  .clique_count = graph->clique_count,
                  .rows = calloc(n * graph->words, sizeof *s->rows),
                  .cliques = calloc((graph->clique_count + 1) * graph->words, sizeof *s->cliques),
                  .low = calloc((n + 2) * n, sizeof *s->low)};
    bool ok = s->rows && s->cliques && s->low;
    if (ok)
        search_all(s, nodes);
    free(s->low);
    free(s->cliques);
    free(s->rows);
    free(s);
    return ok;
}
