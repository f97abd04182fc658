/* Threads and scratchpads of an implementation and the ones nested in it. */
#include <string.h>

#include "src/core/checked.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/threading/partition.h"

int implementation_threads(const struct implementation *impl, int available)
{
    bool is_given = impl->runtime || available == 1;
    return is_given ? available
                    : partition_threads(impl->estimate, available, impl->engine->cpu->core);
}

static size_t own_bytes(const struct implementation *impl, int threads)
{
    return implementation_own_bytes(impl->algorithm, impl->plan, threads);
}

static size_t tree_bytes(const struct implementation *impl, int threads)
{
    size_t bytes = own_bytes(impl, threads);
    for (int i = 0; i < impl->nested_count; i++)
        bytes += tree_bytes(impl->nested[i], threads);
    return bytes;
}

size_t implementation_scratch_bytes(const struct implementation *impl, int available)
{
    return impl->facts.empty ? 0 : tree_bytes(impl, implementation_threads(impl, available));
}

/* The parts of the scratchpad are in the order of the nested ones, after the holder's; NULL for one
 * that needs none, as if it ran by itself. */
static void *nested_scratch(const struct execution *execution, int index)
{
    const struct implementation *holder = execution->implementation;
    bool needs_none = execution->threads == 1 && holder->nested[index]->facts.scratch_bytes == 0;
    if (!execution->scratch || needs_none)
        return NULL;
    size_t offset = own_bytes(holder, execution->threads);
    for (int i = 0; i < index; i++)
        offset += tree_bytes(holder->nested[i], execution->threads);
    return (char *)execution->scratch + offset;
}

/* part: NULL if all of the attributes are the holder's own ones. */
static inline __attribute__((always_inline)) void run_nested(const struct execution *execution,
                                                             int index,
                                                             void *const buffers[TENSOR_COUNT],
                                                             const struct part *part)
{
    int first = part ? 2 * part->first_post_op : 0; /* place */
    const struct implementation *nested = execution->implementation->nested[index];
    struct execution inner; /* not cleared: it is large, and what is read is set */
    inner.implementation = nested;
    inner.problem = &nested->problem;
    inner.parallel = execution->parallel;
    inner.threads = execution->threads;
    inner.scratch = nested_scratch(execution, index);
    memcpy(inner.buffers, buffers, sizeof inner.buffers);
    for (int i = 0; i < nested->problem.attributes.quantization_count; i++)
        inner.quantizations[i] = execution->quantizations[part ? part->quantizations[i] : i];
    for (int i = 0; i < post_ops_places(&nested->problem.attributes); i++)
        if (post_ops_operand(&nested->problem.attributes, i))
            inner.operands[i] = execution->operands[first + i];
    nested->algorithm->run(nested->plan, &inner);
}

void implementation_run_nested(const struct execution *execution, int index,
                               void *const buffers[TENSOR_COUNT])
{
    run_nested(execution, index, buffers, NULL);
}

void implementation_run_part(const struct execution *execution, int index,
                             void *const buffers[TENSOR_COUNT], const struct part *part)
{
    run_nested(execution, index, buffers, part);
}
