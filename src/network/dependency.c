/* Dependency sets by bitsets: one row of followers for each node, one for each cluster of aliases.
 */
#include "src/network/dependency.h"

#include <stdlib.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/bitset.h"

/* A cluster is named by the smallest number among its buffers. */
typedef struct analysis {
    const dependency_graph *graph;
    dependency_order order;
    size_t words;        /* of a set of nodes */
    uint64_t *followers; /* per node, out of order only: the nodes it happens before */
    uint32_t *cluster;   /* per buffer */
    uint64_t *after;     /* per buffer, valid for names: nodes after all users of the cluster */
} analysis;

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

static uint64_t *followers_of(const analysis *a, size_t node)
{
    return a->followers + node * a->words;
}

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

static uint64_t *after_of(const analysis *a, size_t cluster)
{
    return a->after + cluster * a->words;
}

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

static neo_status analyse(analysis *a, const dependency_graph *graph, dependency_order order)
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

static void release(analysis *a)
{
    free(a->after);
    free(a->cluster);
    free(a->followers);
}

/* ---- conflicts ---- */

/* Buffers of each cluster one after another: the first is the name. */
static void link_members(const analysis *a, uint32_t *next)
{
    for (size_t i = a->graph->buffer_count; i-- > 0;) {
        uint32_t name = a->cluster[i];
        if (i == name)
            continue;
        next[i] = next[name];
        next[name] = (uint32_t)i;
    }
}

static bool may_reuse(const analysis *a, const uint32_t *next, uint32_t first, uint32_t later)
{
    const uint64_t *after = after_of(a, first);
    for (uint32_t i = later; i != DEPENDENCY_NONE; i = next[i]) {
        uint32_t writer = a->graph->buffers[i].writer;
        if (writer == DEPENDENCY_NONE || !bitset_has(after, writer))
            return false;
    }
    return true;
}

static bool is_external(const analysis *a, const uint32_t *next, uint32_t cluster)
{
    for (uint32_t i = cluster; i != DEPENDENCY_NONE; i = next[i])
        if (a->graph->buffers[i].flags & DEPENDENCY_EXTERNAL)
            return true;
    return false;
}

static void forbid(const uint32_t *next, uint64_t *rows, size_t words, uint32_t first,
                   uint32_t second)
{
    for (uint32_t i = first; i != DEPENDENCY_NONE; i = next[i]) {
        for (uint32_t j = second; j != DEPENDENCY_NONE; j = next[j]) {
            bitset_add(rows + i * words, j);
            bitset_add(rows + j * words, i);
        }
    }
}

/* Nearly all clusters have one member and a writer: for two of those it takes two bits to tell. */
static bool are_in_conflict(const analysis *a, const uint32_t *next, uint32_t i, uint32_t j)
{
    uint32_t writer_i = a->graph->buffers[i].writer, writer_j = a->graph->buffers[j].writer;
    if (next[i] == DEPENDENCY_NONE && next[j] == DEPENDENCY_NONE && writer_i != DEPENDENCY_NONE &&
        writer_j != DEPENDENCY_NONE)
        return !bitset_has(after_of(a, i), writer_j) && !bitset_has(after_of(a, j), writer_i);
    return !may_reuse(a, next, i, j) && !may_reuse(a, next, j, i);
}

/* names is scratch for buffer_count numbers. */
static void fill_rows(const analysis *a, const uint32_t *next, uint32_t *names, uint64_t *rows)
{
    uint32_t n = (uint32_t)a->graph->buffer_count, count = 0;
    size_t words = bitset_words(n);
    bitset_clear(rows, n * words);
    for (uint32_t i = 0; i < n; i++)
        if (a->cluster[i] == i && !is_external(a, next, i))
            names[count++] = i;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t m = 0; m < k; m++)
            if (are_in_conflict(a, next, names[k], names[m]))
                forbid(next, rows, words, names[k], names[m]);
}

neo_status dependency_conflicts(const dependency_graph *graph, dependency_order order,
                                uint64_t *rows)
{
    analysis a;
    neo_status status = analyse(&a, graph, order);
    uint32_t *next = calloc((graph->buffer_count + 1) * 2, sizeof *next);
    if (status == NEO_OK && !next)
        status = NEO_OUT_OF_MEMORY;
    if (status == NEO_OK) {
        for (size_t i = 0; i < graph->buffer_count; i++)
            next[i] = DEPENDENCY_NONE;
        link_members(&a, next);
        fill_rows(&a, next, next + graph->buffer_count, rows);
    }
    free(next);
    release(&a);
    return status;
}

/* ---- lives ---- */

neo_status dependency_lives(const dependency_graph *graph, int64_t *starts, int64_t *finishes)
{
    analysis a;
    neo_status status = analyse(&a, graph, DEPENDENCY_IN_ORDER);
    for (size_t i = 0; i < graph->buffer_count && status == NEO_OK; i++) {
        uint32_t name = a.cluster[i], writer = graph->buffers[i].writer;
        int64_t start = writer == DEPENDENCY_NONE ? 0 : writer;
        size_t next = bitset_next(after_of(&a, name), a.words, 0);
        /* with users up to the last node nothing is left after it, as for an output */
        finishes[name] = next == BITSET_NONE ? -1 : next == 0 ? 0 : (int64_t)next - 1;
        if (i == name || start < starts[name])
            starts[name] = start;
    }
    for (size_t i = 0; i < graph->buffer_count && status == NEO_OK; i++) {
        starts[i] = starts[a.cluster[i]];
        finishes[i] = finishes[a.cluster[i]];
    }
    release(&a);
    return status;
}

/* ---- in-place writes ---- */

/* The buffers that writing over one buffer may destroy: itself, what it is a view of, what stands
 * in for it, and so on. Aliases and stand-ins have smaller numbers, so one pass is enough; a search
 * that follows each link would take exponential time on chains that have both. */
static void find_targets(const dependency_graph *graph, size_t overwritten, uint64_t *targets)
{
    bitset_add(targets, overwritten);
    for (size_t i = overwritten + 1; i-- > 0;) {
        const dependency_buffer *b = &graph->buffers[i];
        if (!bitset_has(targets, i))
            continue;
        if (b->alias_of != DEPENDENCY_NONE && !(b->flags & DEPENDENCY_IN_PLACE))
            bitset_add(targets, b->alias_of);
        if (b->stands_in != DEPENDENCY_NONE)
            bitset_add(targets, b->stands_in);
    }
}

/* Adds all buffers that may be other names for the bytes of those in the set. */
static void add_other_names(const dependency_graph *graph, uint64_t *set)
{
    for (size_t i = 0; i < graph->buffer_count; i++) {
        const dependency_buffer *b = &graph->buffers[i];
        bool is_view = b->alias_of != DEPENDENCY_NONE && !(b->flags & DEPENDENCY_IN_PLACE);
        if ((is_view && bitset_has(set, b->alias_of)) ||
            (b->stands_in != DEPENDENCY_NONE && bitset_has(set, b->stands_in)))
            bitset_add(set, i);
    }
}

static bool happens_before(const analysis *a, uint32_t node, uint32_t later)
{
    return a->order == DEPENDENCY_IN_ORDER ? node < later
                                           : bitset_has(followers_of(a, node), later);
}

/* set is scratch. */
static bool may_overwrite(const analysis *a, uint32_t buffer, uint32_t overwriter, uint64_t *set)
{
    const dependency_graph *graph = a->graph;
    bitset_clear(set, bitset_words(graph->buffer_count));
    find_targets(graph, buffer, set);
    add_other_names(graph, set);
    for (size_t k = 0; k < graph->read_count; k++) {
        uint32_t node = graph->reads[k].node;
        if (node != overwriter && bitset_has(set, graph->reads[k].buffer) &&
            !happens_before(a, node, overwriter))
            return false;
    }
    for (size_t i = 0; i < graph->buffer_count; i++)
        if (graph->buffers[i].flags & DEPENDENCY_OUTPUT && bitset_has(set, i))
            return false;
    return true;
}

neo_status dependency_check_in_place(const dependency_graph *graph, dependency_order order,
                                     size_t *buffer)
{
    analysis a;
    neo_status status = analyse(&a, graph, order);
    uint64_t *set = malloc((bitset_words(graph->buffer_count) + 1) * sizeof *set);
    if (status == NEO_OK && !set)
        status = NEO_OUT_OF_MEMORY;
    for (size_t i = 0; i < graph->buffer_count && status == NEO_OK; i++) {
        const dependency_buffer *b = &graph->buffers[i];
        if (!(b->flags & DEPENDENCY_IN_PLACE) || b->alias_of == DEPENDENCY_NONE ||
            b->writer == DEPENDENCY_NONE || may_overwrite(&a, b->alias_of, b->writer, set))
            continue;
        *buffer = i;
        status = NEO_INVALID_ARGUMENT;
    }
    free(set);
    release(&a);
    return status;
}
