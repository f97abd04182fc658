/* Dependency sets by bitsets: one row of followers for each node, one for each cluster of aliases.
 */
#include "src/network/dependency_analysis.h"

#include <stdlib.h>

#include "src/core/checked.h"
#include "src/core/log.h"

/* ---- checks ---- */

static neo_status refuse(const char *what, size_t i)
{
    log_check("network dependencies: %s %zu is out of range or goes backwards", what, i);
    return NEO_INVALID_ARGUMENT;
}

static bool is_buffer_valid(const dependency_graph *graph, size_t i)
{
    const dependency_buffer *b = &graph->buffers[i];
    if (b->writer != DEPENDENCY_NONE && b->writer >= graph->node_count)
        return false;
    if (b->alias_of != DEPENDENCY_NONE && b->alias_of >= i)
        return false;
    return b->stands_in == DEPENDENCY_NONE || (b->stands_in < i && b->writer != DEPENDENCY_NONE);
}

static bool is_read_valid(const dependency_graph *graph, const dependency_read *read)
{
    if (read->buffer >= graph->buffer_count || read->node >= graph->node_count)
        return false;
    uint32_t writer = graph->buffers[read->buffer].writer;
    return writer == DEPENDENCY_NONE || writer < read->node;
}

static neo_status check_graph(const dependency_graph *graph)
{
    for (size_t i = 0; i < graph->buffer_count; i++)
        if (!is_buffer_valid(graph, i))
            return refuse("buffer", i);
    for (size_t i = 0; i < graph->read_count; i++)
        if (!is_read_valid(graph, &graph->reads[i]))
            return refuse("read", i);
    for (size_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].before >= graph->edges[i].after ||
            graph->edges[i].after >= graph->node_count)
            return refuse("edge", i);
    for (size_t i = 0; i < graph->loop_count; i++)
        if (graph->loops[i].first > graph->loops[i].last ||
            graph->loops[i].last >= graph->node_count)
            return refuse("loop", i);
    return NEO_OK;
}

/* ---- who happens before whom ---- */

/* Direct successors, as lists: the followers of a node are needed before its own are complete. */
typedef struct successors {
    size_t *begin; /* node_count + 1 entries */
    uint32_t *list;
} successors;

static void count_edge(successors *s, uint32_t before, uint32_t after)
{
    (void)after;
    s->begin[before + 1]++;
}

static void store_edge(successors *s, uint32_t before, uint32_t after)
{
    s->list[--s->begin[before + 1]] = after;
}

static void visit_edges(const dependency_graph *graph, successors *s,
                        void (*visit)(successors *s, uint32_t before, uint32_t after))
{
    for (size_t i = 0; i < graph->read_count; i++) {
        uint32_t writer = graph->buffers[graph->reads[i].buffer].writer;
        if (writer != DEPENDENCY_NONE)
            visit(s, writer, graph->reads[i].node);
    }
    for (size_t i = 0; i < graph->edge_count; i++)
        visit(s, graph->edges[i].before, graph->edges[i].after);
}

/* Loops are barriers on both sides. */
static void add_loop_order(const analysis *a, size_t node)
{
    size_t end = a->graph->node_count;
    for (size_t i = 0; i < a->graph->loop_count; i++) {
        const dependency_loop *loop = &a->graph->loops[i];
        if (node < loop->first)
            bitset_add_range(followers_of(a, node), loop->first, end);
        else if (node <= loop->last)
            bitset_add_range(followers_of(a, node), loop->last + 1, end);
    }
}

/* From the last node back: what follows a successor follows too, unless it is known already. */
static void close_order(const analysis *a, const successors *s)
{
    for (size_t node = a->graph->node_count; node-- > 0;) {
        uint64_t *row = followers_of(a, node);
        add_loop_order(a, node);
        for (size_t k = s->begin[node + 1]; k < s->begin[node + 2]; k++) {
            bitset_add(row, s->list[k]);
            bitset_or(row, followers_of(a, s->list[k]), a->words);
        }
    }
}

static neo_status find_followers(analysis *a)
{
    const dependency_graph *graph = a->graph;
    size_t n = graph->node_count;
    if (a->order == DEPENDENCY_IN_ORDER)
        return NEO_OK;
    successors s = {.begin = calloc(n + 2, sizeof *s.begin),
                    .list = calloc(graph->read_count + graph->edge_count + 1, sizeof *s.list)};
    a->followers = calloc(n * a->words + 1, sizeof *a->followers);
    neo_status status = s.begin && s.list && a->followers ? NEO_OK : NEO_OUT_OF_MEMORY;
    if (status == NEO_OK) {
        visit_edges(graph, &s, count_edge);
        for (size_t i = 1; i <= n + 1; i++)
            s.begin[i] += s.begin[i - 1];
        visit_edges(graph, &s, store_edge);
        close_order(a, &s);
    }
    free(s.list);
    free(s.begin);
    return status;
}

/* ---- what comes after all users of a cluster ---- */

static void remove_up_to(uint64_t *set, size_t node)
{
    bitset_clear(set, node / 64);
    set[node / 64] &= node % 64 == 63 ? 0 : ~UINT64_C(0) << (node % 64 + 1);
}

static void add_user(const analysis *a, size_t cluster, size_t node)
{
    if (a->order == DEPENDENCY_IN_ORDER)
        remove_up_to(after_of(a, cluster), node);
    else
        bitset_and(after_of(a, cluster), followers_of(a, node), a->words);
}

static void find_clusters(const analysis *a)
{
    for (uint32_t i = 0; i < a->graph->buffer_count; i++) {
        uint32_t of = a->graph->buffers[i].alias_of;
        a->cluster[i] = of == DEPENDENCY_NONE ? i : a->cluster[of];
    }
}

static void add_writers(const analysis *a)
{
    for (size_t i = 0; i < a->graph->buffer_count; i++) {
        const dependency_buffer *b = &a->graph->buffers[i];
        if (b->writer != DEPENDENCY_NONE)
            add_user(a, a->cluster[i], b->writer);
        if (b->flags & DEPENDENCY_OUTPUT)
            bitset_clear(after_of(a, a->cluster[i]), a->words);
    }
}

static bool is_inside(const dependency_loop *loop, uint32_t node)
{
    return node != DEPENDENCY_NONE && node >= loop->first && node <= loop->last;
}

/* A reader in a loop of what comes from outside: every node of the loop then counts as a reader,
 * as it runs before the reader does in the next round. */
static void add_reads(const analysis *a)
{
    const dependency_graph *graph = a->graph;
    for (size_t i = 0; i < graph->read_count; i++) {
        uint32_t buffer = graph->reads[i].buffer, node = graph->reads[i].node;
        add_user(a, a->cluster[buffer], node);
        for (size_t k = 0; k < graph->loop_count; k++) {
            const dependency_loop *loop = &graph->loops[k];
            if (!is_inside(loop, node) || is_inside(loop, graph->buffers[buffer].writer))
                continue;
            for (uint32_t inner = loop->first; inner <= loop->last; inner++)
                add_user(a, a->cluster[buffer], inner);
        }
    }
}

static bool and_changes(uint64_t *set, const uint64_t *with, size_t words)
{
    uint64_t lost = 0;
    for (size_t w = 0; w < words; w++) {
        lost |= set[w] & ~with[w];
        set[w] &= with[w];
    }
    return lost != 0;
}

/* When a writer is skipped, its readers read what stands in. Chains of such writers go from later
 * buffers to earlier ones, so one pass backwards does nearly always; a second one confirms it. */
static void add_stand_ins(const analysis *a)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = a->graph->buffer_count; i-- > 0;) {
            uint32_t source = a->graph->buffers[i].stands_in;
            if (source != DEPENDENCY_NONE)
                changed |= and_changes(after_of(a, a->cluster[source]), after_of(a, a->cluster[i]),
                                       a->words);
        }
    }
}

neo_status analyse(analysis *a, const dependency_graph *graph, dependency_order order)
{
    *a = (analysis){.graph = graph, .order = order, .words = bitset_words(graph->node_count)};
    neo_status status = check_graph(graph);
    if (status != NEO_OK)
        return status;
    a->cluster = calloc(graph->buffer_count + 1, sizeof *a->cluster);
    a->after = calloc(graph->buffer_count * a->words + 1, sizeof *a->after);
    if (!a->cluster || !a->after)
        return NEO_OUT_OF_MEMORY;
    status = find_followers(a);
    if (status != NEO_OK)
        return status;
    for (size_t i = 0; i < graph->buffer_count; i++)
        bitset_add_range(after_of(a, i), 0, graph->node_count);
    find_clusters(a);
    add_writers(a);
    add_reads(a);
    add_stand_ins(a);
    return NEO_OK;
}

void analysis_release(analysis *a)
{
    free(a->after);
    free(a->cluster);
    free(a->followers);
}
