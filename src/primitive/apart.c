/* Which arguments share memory: by their ends, as most lie apart, and then exactly. */
#include "src/primitive/apart.h"

#include "neoprene/primitive.h"
#include "src/primitive/memory.h"
#include "src/primitive/post_ops.h"
#include "src/tensor/overlap.h"

/* One of the arguments, in a row of all of them. */
struct given {
    int arg;
    const neo_memory *memory; /* NULL: there is none */
    bool is_operand;          /* of a post-operation */
};

static int given_count(const struct problem *problem)
{
    return TENSOR_COUNT + 1 + problem->extra_count + post_ops_places(&problem->attributes) +
           problem->attributes.quantization_count;
}

static struct given given_at(const struct problem *problem, const struct arguments *args, int i)
{
    static const int tensors[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS,
                                              NEO_ARG_DST};
    const neo_attributes *attributes = &problem->attributes;
    if (i < TENSOR_COUNT)
        return (struct given){tensors[i], args->tensors[i], false};
    i -= TENSOR_COUNT;
    if (i == 0)
        return (struct given){NEO_ARG_SCRATCHPAD, args->scratchpad, false};
    i -= 1;
    if (i < problem->extra_count)
        return (struct given){problem->extras[i].arg, args->extras[i], false};
    i -= problem->extra_count;
    if (i < post_ops_places(attributes))
        return (struct given){post_ops_argument(attributes, i), args->operands[i], true};
    i -= post_ops_places(attributes);
    return (struct given){attributes->quantizations[i].arg, args->quantizations[i], false};
}

static bool is_written(const struct problem *problem, int arg)
{
    const struct operation *operation = problem->operation;
    return arg == NEO_ARG_DST || arg == NEO_ARG_SCRATCHPAD ||
           (operation->writes && problem_extra(problem, arg) >= 0 &&
            operation->writes(problem, arg));
}

static bool is_source(int arg)
{
    return arg == NEO_ARG_SRC || arg == NEO_ARG_SRC_1 || arg == NEO_ARG_SRC_2 ||
           (arg >= NEO_ARG_MULTIPLE_SRC && arg < NEO_ARG_MULTIPLE_SRC + MAX_EXTRAS + 1);
}

/* Each element is read before it is written, by whoever writes it. */
static bool may_be_dst(const struct problem *problem, const struct given *other,
                       const neo_memory *dst)
{
    bool is_read_so = other->is_operand || (problem->operation->in_place && is_source(other->arg));
    return is_read_so && other->memory->handle == dst->handle &&
           neo_memory_desc_equal(&other->memory->desc, &dst->desc);
}

static bool are_apart(const neo_memory *a, const neo_memory *b)
{
    uintptr_t distance = (uintptr_t)b->handle - (uintptr_t)a->handle;
    return distance >= a->bytes && -distance >= b->bytes;
}

static bool share_memory(const neo_memory *a, const neo_memory *b)
{
    if (are_apart(a, b))
        return false;
    return desc_share_bytes(&a->desc, a->handle, &b->desc, b->handle);
}

static int shared_with(const struct problem *problem, const struct arguments *args, int index)
{
    struct given written = given_at(problem, args, index);
    for (int i = 0; i < given_count(problem); i++) {
        struct given other = given_at(problem, args, i);
        if (i != index && other.memory && share_memory(written.memory, other.memory) &&
            !(written.arg == NEO_ARG_DST && may_be_dst(problem, &other, written.memory)))
            return other.arg;
    }
    return NEO_ARG_UNDEF;
}

static inline bool is_apart_from(const neo_memory *written, const neo_memory *const *others,
                                 int count)
{
    for (int i = 0; i < count; i++)
        if (others[i] && !are_apart(written, others[i]))
            return false;
    return true;
}

/* tensors: so many of them, from the first one on. */
static bool is_apart_from_all(const struct implementation *impl, const struct arguments *args,
                              const neo_memory *written, int tensors)
{
    const struct problem *problem = &impl->problem;
    return is_apart_from(written, args->tensors, tensors) &&
           (impl->facts.only_tensors ||
            (is_apart_from(written, args->extras, problem->extra_count) &&
             is_apart_from(written, args->operands, post_ops_places(&problem->attributes)) &&
             is_apart_from(written, args->quantizations, problem->attributes.quantization_count)));
}

/* As far as their ends tell, where nothing is written but dst, which is the last tensor, and the
 * scratchpad. */
static bool lie_apart(const struct implementation *impl, const struct arguments *args)
{
    const neo_memory *dst = args->tensors[DST], *scratchpad = args->scratchpad;
    return (impl->facts.only_tensors || !impl->problem.operation->writes) &&
           (!dst || is_apart_from_all(impl, args, dst, DST)) &&
           (!scratchpad || is_apart_from_all(impl, args, scratchpad, TENSOR_COUNT));
}

struct shared_arguments arguments_shared(const struct implementation *impl,
                                         const struct arguments *args)
{
    const struct problem *problem = &impl->problem;
    if (lie_apart(impl, args))
        return (struct shared_arguments){0, 0};
    for (int i = 0; i < given_count(problem); i++) {
        struct given written = given_at(problem, args, i);
        int other = written.memory && is_written(problem, written.arg)
                        ? shared_with(problem, args, i)
                        : NEO_ARG_UNDEF;
        if (other)
            return (struct shared_arguments){written.arg, other};
    }
    return (struct shared_arguments){0, 0};
}
