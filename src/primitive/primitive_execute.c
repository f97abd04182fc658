/* Execution of what is plain: tensors as they are described and nothing else, one thread, a
 * scratchpad from the library if any, no log. */
#include "src/core/log.h"
#include "src/primitive/by_size.h"
#include "src/primitive/memory.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

/* By one branch; its image has two words. Another engine's memory has another image, and so has one
 * whose buffer is missing. */
static inline bool is_plain(const struct expected *expected, const neo_memory *memory)
{
    return ((expected->image[0] ^ memory->image[0]) | (expected->image[1] ^ memory->image[1])) == 0;
}

static inline bool is_plain_if_longer(const struct expected *expected, const neo_memory *memory)
{
    return expected->if_longer && desc_image_equal(expected->if_longer, memory->image);
}

/* So many arguments as the primitive has tensors (at least one), each one right and in its place,
 * and with an image of two words. */
static inline bool take_in_order(const struct implementation *impl, void *buffers[TENSOR_COUNT],
                                 int count, const neo_exec_arg *list)
{
    const neo_exec_arg *given = list, *end = list + count;
    const struct expected *expected = impl->facts.in_order;
    do {
        const neo_memory *memory = given->memory;
        if (expected->arg != given->arg || !memory)
            return false;
        void **buffer = &buffers[expected->tensor];
        if (!is_plain(expected, memory))
            return false;
        *buffer = memory->elements;
        expected++;
    } while (++given != end);
    return true;
}

/* The same wherever they are, with any image: if none is missing then none is there twice either.
 */
static inline bool take_in_any_order(const struct implementation *impl, void *buffers[TENSOR_COUNT],
                                     int count, const neo_exec_arg *list)
{
    uint32_t taken = 0;
    for (const neo_exec_arg *given = list; given != list + count; given++) {
        const neo_memory *memory = given->memory;
        const struct expected *expected = &impl->facts.expected[(size_t)given->arg / 8 % 8];
        if (expected->arg != given->arg || !memory ||
            (!is_plain(expected, memory) && !is_plain_if_longer(expected, memory)))
            return false;
        buffers[expected->tensor] = memory->elements;
        taken |= expected->bit;
    }
    return taken == impl->facts.tensors;
}

/* Is the tensor not in dst's memory, as its ends tell? */
static inline bool lies_apart(const struct execution_facts *facts,
                              void *const buffers[TENSOR_COUNT], enum tensor t)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.*): all tensors of a plain call have been taken */
    uintptr_t from_dst = (uintptr_t)buffers[t] - (uintptr_t)buffers[DST];
    return from_dst + facts->near[t].behind >= facts->near[t].reach;
}

/* Does no tensor that is read lie in dst's memory, unless it may? Where it is not sure, those look
 * that check everything. */
static inline bool lie_well(const struct execution_facts *facts, void *const buffers[TENSOR_COUNT])
{
    bool src = lies_apart(facts, buffers, SRC), weights = lies_apart(facts, buffers, WEIGHTS);
    bool bias = lies_apart(facts, buffers, BIAS);
    return weights && bias && (src || (facts->in_place && buffers[SRC] == buffers[DST]));
}

static inline neo_status execute_plain(const neo_primitive *primitive,
                                       const struct implementation *impl, const neo_stream *stream,
                                       struct execution *execution)
{
    const struct implementation *doer = impl->facts.doer;
    execution->implementation = doer;
    execution->problem = &doer->problem;
    execution->parallel = &stream->parallel;
    execution->scratch = NULL;
    execution->threads = 1;
    if (impl->facts.scratch_bytes)
        return primitive_run_in_block(primitive, impl->facts.run, impl->facts.plan, execution,
                                      impl->facts.scratch_bytes);
    impl->facts.run(impl->facts.plan, execution);
    return NEO_OK;
}

/* By one branch. */
static inline bool may_be_plain(const struct implementation *impl, const neo_stream *stream,
                                int count)
{
    uintptr_t differences = ((uintptr_t)stream->engine ^ (uintptr_t)impl->facts.engine) |
                            (unsigned)(count ^ impl->facts.plain_count);
    return (differences == 0) & log_is_surely_off(LOG_EXEC);
}

/* As most lists are: false, and nothing is done, where this one is not. */
static inline __attribute__((always_inline)) bool
execute_in_order(const neo_primitive *primitive, const struct implementation *impl,
                 const neo_stream *stream, int count, const neo_exec_arg *list, neo_status *status)
{
    struct execution execution; /* not cleared: it is large, and what is read is set */
    execution.buffers[WEIGHTS] = execution.buffers[BIAS] = NULL;
    if (!may_be_plain(impl, stream, count) ||
        !take_in_order(impl, execution.buffers, count, list) ||
        !lie_well(&impl->facts, execution.buffers))
        return false;
    *status = execute_plain(primitive, impl, stream, &execution);
    return true;
}

static inline neo_status execute_in_any_order(const neo_primitive *primitive,
                                              const struct implementation *impl,
                                              const neo_stream *stream, int count,
                                              const neo_exec_arg *list)
{
    struct execution execution;
    execution.buffers[WEIGHTS] = execution.buffers[BIAS] = NULL;
    if (list && may_be_plain(impl, stream, count) &&
        take_in_any_order(impl, execution.buffers, count, list) &&
        lie_well(&impl->facts, execution.buffers))
        return execute_plain(primitive, impl, stream, &execution);
    return primitive_execute_checked(primitive, impl, stream, count, list);
}

/* Sizes are known late: by what an execution of such sizes was given, if there was one. */
static __attribute__((noinline)) neo_status execute_late(const neo_primitive *primitive,
                                                         const neo_stream *stream, int count,
                                                         const neo_exec_arg *list)
{
    const struct implementation *impl = primitive->desc.implementation;
    struct implementation *sized = by_size_borrow(impl);
    neo_status status;
    if (!sized || !list || !execute_in_order(primitive, sized, stream, count, list, &status)) {
        bool suits = list && by_size_exchange(impl, &sized, count, list);
        status = execute_in_any_order(primitive, suits ? sized : impl, stream, count, list);
    }
    by_size_give_back(impl, sized);
    return status;
}

static __attribute__((noinline)) neo_status execute_otherwise(const neo_primitive *primitive,
                                                              const neo_stream *stream, int count,
                                                              const neo_exec_arg *list)
{
    if (!primitive || !stream || count < 0)
        return log_refusal("neo_primitive_execute", "a pointer is NULL or the count is negative");
    const struct implementation *impl = primitive->desc.implementation;
    return impl->by_size ? execute_late(primitive, stream, count, list)
                         : execute_in_any_order(primitive, impl, stream, count, list);
}

/* For small problems the call is a good part of the work. All that is not plain, errors too, is
 * left to others: until the algorithm runs nothing has been done. */
neo_status neo_primitive_execute(const neo_primitive *primitive, neo_stream *stream, int count,
                                 const neo_exec_arg *list)
{
    neo_status status;
    return primitive && stream && list &&
                   execute_in_order(primitive, primitive->desc.implementation, stream, count, list,
                                    &status)
               ? status
               : execute_otherwise(primitive, stream, count, list);
}
