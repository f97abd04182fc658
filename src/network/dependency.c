/* Which buffers may share bytes, how long they live, and which writes in place are safe. */
#include "src/network/dependency.h"

#include <stdlib.h>

#include "src/network/dependency_analysis.h"

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
    analysis_release(&a);
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
    analysis_release(&a);
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
    analysis_release(&a);
    return status;
}
