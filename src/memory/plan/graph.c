/* Builds the graph of conflicts, its cliques and what the orders of placement go by. */
#include "src/memory/plan/graph.h"

#include <stdlib.h>

#include "src/core/checked.h"
#include "src/memory/plan/bitset.h"

void plan_graph_deinit(plan_graph *graph)
{
    free(graph->size);
    free(graph->alignment);
    free(graph->position);
    free(graph->extent);
    free(graph->crowd);
    free(graph->peak);
    free(graph->rows);
    free(graph->cliques);
}

static bool init(plan_graph *graph, const plan_item *items, size_t count)
{
    *graph = (plan_graph){.count = count, .words = bitset_words(count)};
    size_t searched = count <= PLAN_MAX_SEARCHED ? count : 0;
    graph->size = calloc(count, sizeof *graph->size);
    graph->alignment = calloc(count, sizeof *graph->alignment);
    graph->position = calloc(count, sizeof *graph->position);
    graph->extent = calloc(count, sizeof *graph->extent);
    graph->crowd = calloc(count, sizeof *graph->crowd);
    graph->peak = calloc(count, sizeof *graph->peak);
    graph->rows = calloc(count * graph->words, sizeof *graph->rows);
    graph->cliques = calloc(searched * graph->words + 1, sizeof *graph->cliques);
    if (!graph->size || !graph->alignment || !graph->position || !graph->extent || !graph->crowd ||
        !graph->peak || !graph->rows || !graph->cliques)
        return false;
    for (size_t i = 0; i < count; i++) {
        graph->size[i] = items[i].size;
        graph->alignment[i] = items[i].alignment;
    }
    return true;
}

static uint64_t *row_of(plan_graph *graph, size_t i)
{
    return graph->rows + i * graph->words;
}

/* Bytes that a set of boxes which are all in conflict needs: stacked, each box but the highest ends
 * where an aligned one may begin. */
typedef struct stack {
    size_t bytes, slack; /* sum of the rounded sizes; the most that rounding added to one */
} stack;

static size_t least_alignment(const plan_graph *graph)
{
    size_t least = graph->alignment[0];
    for (size_t i = 1; i < graph->count; i++)
        least = min_size(least, graph->alignment[i]);
    return least;
}

static size_t rounded(size_t size, size_t align)
{
    return (size + align - 1) & ~(align - 1);
}

static size_t stacked(const plan_graph *graph, const uint64_t *members, size_t align)
{
    stack s = {0, 0};
    for (size_t w = 0; w < graph->words; w++) {
        for (uint64_t bits = members[w]; bits; bits &= bits - 1) {
            size_t size = graph->size[w * 64 + (size_t)__builtin_ctzll(bits)];
            s.bytes += rounded(size, align);
            s.slack = max_size(s.slack, rounded(size, align) - size);
        }
    }
    return s.bytes - s.slack;
}

static bool contains(const uint64_t *set, const uint64_t *part, size_t words)
{
    for (size_t w = 0; w < words; w++)
        if (part[w] & ~set[w])
            return false;
    return true;
}

static void add_clique(plan_graph *graph, const uint64_t *members, size_t bytes)
{
    graph->lower_bound = max_size(graph->lower_bound, bytes);
    for (size_t w = 0; w < graph->words; w++) {
        for (uint64_t bits = members[w]; bits; bits &= bits - 1) {
            size_t i = w * 64 + (size_t)__builtin_ctzll(bits);
            graph->peak[i] = max_size(graph->peak[i], bytes);
        }
    }
    if (graph->count > PLAN_MAX_SEARCHED)
        return;
    for (size_t c = 0; c < graph->clique_count; c++)
        if (contains(graph->cliques + c * graph->words, members, graph->words))
            return;
    bitset_copy(graph->cliques + graph->clique_count++ * graph->words, members, graph->words);
}

static void sum_crowd(plan_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const uint64_t *row = row_of(graph, i);
        for (size_t w = 0; w < graph->words; w++)
            for (uint64_t bits = row[w]; bits; bits &= bits - 1)
                graph->crowd[i] += graph->size[w * 64 + (size_t)__builtin_ctzll(bits)];
    }
}

/* ---- boxes with times: items are sorted by start ---- */

static void drop_finished(const plan_item *items, uint64_t *live, size_t words, int64_t now)
{
    for (size_t w = 0; w < words; w++)
        for (uint64_t bits = live[w]; bits; bits &= bits - 1) {
            size_t i = w * 64 + (size_t)__builtin_ctzll(bits);
            if (items[i].finish < now)
                bitset_remove(live, i);
        }
}

static size_t last_started(const plan_item *items, size_t count, size_t from, int64_t finish)
{
    size_t low = from, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (items[middle].start <= finish)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One sweep over the starts: what is alive there is in conflict, and is a clique. */
static void sweep(plan_graph *graph, const plan_item *items, uint64_t *live)
{
    size_t n = graph->count, align = least_alignment(graph);
    for (size_t i = 0; i < n; i++) {
        const plan_item *item = &items[i];
        drop_finished(items, live, bitset_words(i), item->start);
        bitset_copy(row_of(graph, i), live, bitset_words(i));
        bitset_add_range(row_of(graph, i), i + 1, last_started(items, n, i + 1, item->finish));
        bitset_add(live, i);
        if (i + 1 == n || items[i + 1].start != item->start)
            add_clique(graph, live, stacked(graph, live, align));
    }
}

static void set_times(plan_graph *graph, const plan_item *items)
{
    int64_t end = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const plan_item *item = &items[i];
        end = item->start > end ? item->start : end;
        end = item->finish != INT64_MAX && item->finish > end ? item->finish : end;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const plan_item *item = &items[i];
        int64_t finish = item->finish < end ? item->finish : end;
        graph->position[i] = (uint64_t)item->start;
        graph->extent[i] = (uint64_t)(finish - item->start) + 1;
    }
}

neo_status plan_graph_init_timed(plan_graph *graph, const plan_item *items, size_t count)
{
    if (!init(graph, items, count))
        return NEO_OUT_OF_MEMORY;
    uint64_t *live = calloc(graph->words, sizeof *live);
    if (!live)
        return NEO_OUT_OF_MEMORY;
    sweep(graph, items, live);
    set_times(graph, items);
    sum_crowd(graph);
    free(live);
    return NEO_OK;
}

/* ---- boxes with conflicts: items are sorted by size, largest first ---- */

static void connect_box(plan_graph *graph, const plan_conflict_rows *from, size_t box)
{
    size_t words = bitset_words(from->box_count), a = from->item_of[box];
    const uint64_t *row = from->rows + box * words;
    if (a == PLAN_NO_ITEM)
        return;
    for (size_t other = bitset_next(row, words, 0); other < from->box_count;
         other = bitset_next(row, words, other + 1)) {
        size_t b = from->item_of[other];
        if (b == PLAN_NO_ITEM || a == b)
            continue;
        bitset_add(row_of(graph, a), b);
        bitset_add(row_of(graph, b), a);
    }
}

static void grow_clique(plan_graph *graph, size_t seed, uint64_t *members, uint64_t *candidates)
{
    bitset_clear(members, graph->words);
    bitset_add(members, seed);
    bitset_copy(candidates, row_of(graph, seed), graph->words);
    for (size_t i = bitset_next(candidates, graph->words, 0); i != BITSET_NONE;
         i = bitset_next(candidates, graph->words, i)) {
        bitset_add(members, i);
        bitset_and(candidates, row_of(graph, i), graph->words);
    }
}

/* From every box, the largest that is in conflict with all so far. */
static neo_status find_cliques(plan_graph *graph)
{
    uint64_t *members = calloc(graph->words * 2 + 1, sizeof *members);
    if (!members)
        return NEO_OUT_OF_MEMORY;
    size_t align = least_alignment(graph);
    for (size_t seed = 0; seed < graph->count; seed++) {
        grow_clique(graph, seed, members, members + graph->words);
        add_clique(graph, members, stacked(graph, members, align));
    }
    free(members);
    return NEO_OK;
}

neo_status plan_graph_init_untimed(plan_graph *graph, const plan_item *items, size_t count,
                                   const plan_conflict_rows *from)
{
    if (!init(graph, items, count))
        return NEO_OUT_OF_MEMORY;
    for (size_t box = 0; box < from->box_count; box++)
        connect_box(graph, from, box);
    for (size_t i = 0; i < count; i++) {
        graph->position[i] = items[i].first_box;
        for (size_t w = 0; w < graph->words; w++)
            graph->extent[i] += (uint64_t)__builtin_popcountll(row_of(graph, i)[w]);
    }
    sum_crowd(graph);
    return find_cliques(graph);
}
