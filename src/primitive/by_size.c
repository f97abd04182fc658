/* Implementations for run-time sizes: a small table of those of the sizes used last. */
#include "src/primitive/by_size.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/core/checked.h"
#include "src/core/lock.h"
#include "src/primitive/post_ops.h"
#include "src/tensor/descriptor.h"

enum { SIZES = 8 };

/* Bytes of a handle's block at least. The likely sizes may need none where small ones do: fetching
 * a block from the pool takes some 460 instructions, 5 % of calls of 9000, which need up to two
 * bytes for each instruction. */
enum { SMALL_SCRATCH = 32 << 10 };

struct by_size {
    struct implementation *supposed;       /* a reference */
    _Atomic(struct implementation *) last; /* of one execution, a reference; NULL: it is borrowed */
    struct lock lock;                      /* of what follows */
    uint64_t uses;
    struct {
        struct implementation *implementation; /* a reference, or NULL */
        uint64_t last_use;
    } sized[SIZES];
};

/* The plan: where the kernel's name and the scratchpad's size come from. */
struct by_size_plan {
    const struct by_size *sizes;
};

/* ---- questions ---- */

static bool is_late_beside(const neo_memory_desc *desc, uint32_t late_dimensions)
{
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] == NEO_RUNTIME_DIM && !(late_dimensions >> i & 1))
            return true;
    return false;
}

const char *by_size_refuse(const struct problem *problem, uint32_t late_dimensions)
{
    const neo_memory_desc *tensors = problem->tensors;
    if (desc_is_runtime(&tensors[WEIGHTS]) ||
        (tensors[BIAS].ndims && desc_is_runtime(&tensors[BIAS])))
        return "weights or bias have run-time sizes";
    return is_late_beside(&tensors[SRC], late_dimensions) ||
                   is_late_beside(&tensors[DST], late_dimensions)
               ? "a size of src or dst that weights depend on is known at run time only"
               : NULL;
}

const char *by_size_refuse_growing(const struct problem *problem, uint32_t late_dimensions)
{
    const char *wrong = by_size_refuse(problem, late_dimensions);
    bool is_users = problem->attributes.scratchpad == NEO_SCRATCHPAD_USER;
    return !wrong && is_users && problem_is_runtime(problem)
               ? "sizes are not known, and so how large the user's scratchpad has to be"
               : wrong;
}

void by_size_suppose_batch(struct problem *problem)
{
    neo_dim *src = problem->tensors[SRC].dims, *dst = problem->tensors[DST].dims;
    if (*src == NEO_RUNTIME_DIM)
        *src = *dst == NEO_RUNTIME_DIM ? 1 : *dst;
    *dst = *src;
}

static const struct implementation *supposed(const void *plan)
{
    return ((const struct by_size_plan *)plan)->sizes->supposed;
}

static const char *by_size_kernel(const void *plan)
{
    const struct implementation *impl = supposed(plan);
    return impl->algorithm->kernel(impl->plan);
}

/* Blocks of images and strips of tiles are made for a core's second level cache; the likely sizes
 * may need less than others do. */
static size_t by_size_scratch_bytes(const void *plan, int threads)
{
    const size_t room = (size_t)1 << 20;
    return implementation_scratch_bytes(supposed(plan), threads) + (size_t)threads * room;
}

/* ---- life ---- */

static void by_size_forget(struct implementation *impl)
{
    struct by_size *sizes = impl->by_size;
    if (!sizes)
        return;
    for (int i = 0; i < SIZES; i++)
        implementation_release(sizes->sized[i].implementation);
    implementation_release(sizes->supposed);
    implementation_release(atomic_load_explicit(&sizes->last, memory_order_acquire));
    lock_deinit(&sizes->lock);
    free(sizes);
}

static neo_status find_supposed(struct by_size *sizes, const struct implementation *impl)
{
    struct concrete *concrete = malloc(sizeof *concrete); /* more than a small stack has room for */
    enum cache_outcome outcome;
    if (!concrete)
        return NEO_OUT_OF_MEMORY;
    concrete_suppose(concrete, &impl->problem);
    struct description description = problem_describe(&concrete->problem);
    neo_status status =
        implementation_find(&sizes->supposed, impl->engine, &description, 0, &outcome);
    free(concrete);
    return status;
}

static void take_layout(neo_memory_desc *desc, const neo_memory_desc *from)
{
    if (desc->format_kind != NEO_FORMAT_ANY)
        return;
    if (desc_is_runtime(desc))
        desc_set_order_of(desc, from);
    else
        *desc = *from;
}

/* Layouts that were `any`. */
static void take_layouts(struct problem *problem, const struct problem *from)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    for (int t = 0; t < TENSOR_COUNT; t++)
        take_layout(&problem->tensors[t], &from->tensors[t]);
    for (int i = 0; i < problem->attributes.post_op_count; i++) {
        struct post_op *op = &problem->attributes.post_ops[i];
        if (op->kind == NEO_POST_OP_BINARY && op->binary.src1.format_kind == NEO_FORMAT_ANY)
            desc_set_order_of(&op->binary.src1, dst);
    }
}

static neo_status by_size_nest(struct implementation *impl)
{
    struct by_size *sizes = calloc(1, sizeof *sizes);
    if (!sizes)
        return NEO_OUT_OF_MEMORY;
    lock_init(&sizes->lock);
    impl->by_size = sizes;
    ((struct by_size_plan *)(void *)impl->plan)->sizes = sizes;
    neo_status status = find_supposed(sizes, impl);
    if (status != NEO_OK)
        return status;
    const struct implementation *from = sizes->supposed;
    take_layouts(&impl->problem, &from->problem);
    for (int i = 0; i < from->declined_count; i++)
        impl->declined[i] = from->declined[i];
    impl->declined_count = from->declined_count;
    if (impl->problem.attributes.scratchpad == NEO_SCRATCHPAD_LIBRARY)
        impl->reserve_bytes = max_size(
            implementation_scratch_bytes(from, default_pool_threads(impl->engine->threads)),
            SMALL_SCRATCH);
    snprintf(impl->name, sizeof impl->name, "%s:%s", by_size.name,
             impl->engine->cpu->features & CPU_NEON ? "neon" : "portable");
    return NEO_OK;
}

/* ---- look-up ---- */

/* Weights and the rest cannot differ; whoever checks arguments sees it where they are wrong. */
static bool fits_one(const struct implementation *sized, const neo_exec_arg *given)
{
    const neo_memory *memory = given->memory;
    if (!memory)
        return false;
    if (given->arg == NEO_ARG_SRC)
        return desc_image_equal(sized->facts.images[SRC], memory->image);
    if (given->arg == NEO_ARG_DST)
        return desc_image_equal(sized->facts.images[DST], memory->image);
    if (sized->facts.only_tensors)
        return true;
    int place = post_ops_place(&sized->problem.attributes, given->arg);
    return place < 0 || neo_memory_desc_equal(post_ops_operand(&sized->problem.attributes, place),
                                              &memory->desc);
}

static bool fits(const struct implementation *sized, int count, const neo_exec_arg *list)
{
    for (const neo_exec_arg *given = list; given < list + count; given++)
        if (!fits_one(sized, given))
            return false;
    return true;
}

static struct implementation *look_up(struct by_size *sizes, int count, const neo_exec_arg *list)
{
    struct implementation *found = NULL;
    lock_take(&sizes->lock);
    for (int i = 0; i < SIZES && !found; i++) {
        struct implementation *sized = sizes->sized[i].implementation;
        if (sized && fits(sized, count, list)) {
            sizes->sized[i].last_use = ++sizes->uses;
            found = implementation_retain(sized);
        }
    }
    lock_give(&sizes->lock);
    return found;
}

struct implementation *by_size_borrow(const struct implementation *impl)
{
    return atomic_exchange_explicit(&impl->by_size->last, NULL, memory_order_acquire);
}

bool by_size_exchange(const struct implementation *impl, struct implementation **borrowed,
                      int count, const neo_exec_arg *list)
{
    if (*borrowed && fits(*borrowed, count, list))
        return true;
    struct implementation *found = look_up(impl->by_size, count, list);
    if (found) {
        implementation_release(*borrowed);
        *borrowed = found;
    }
    return found;
}

void by_size_give_back(const struct implementation *impl, struct implementation *borrowed)
{
    implementation_release(
        atomic_exchange_explicit(&impl->by_size->last, borrowed, memory_order_acq_rel));
}

/* ---- making them ---- */

/* Replaces the one that was not used for longest. Threads that make the same one at the same time
 * have a place each, which is harmless. */
static void keep(struct by_size *sizes, struct implementation *sized)
{
    int oldest = 0;
    lock_take(&sizes->lock);
    for (int i = 1; i < SIZES; i++)
        if (sizes->sized[i].last_use < sizes->sized[oldest].last_use)
            oldest = i;
    struct implementation *replaced = sizes->sized[oldest].implementation;
    sizes->sized[oldest].implementation = implementation_retain(sized);
    sizes->sized[oldest].last_use = ++sizes->uses;
    lock_give(&sizes->lock);
    implementation_release(replaced);
}

/* The best one with a scratchpad of so many bytes on one thread, or that with the smallest one. */
static neo_status find_within(struct implementation **out, neo_engine *engine,
                              const struct description *description, size_t bytes)
{
    struct implementation *least = NULL;
    for (int index = 0;; index++) {
        enum cache_outcome outcome;
        neo_status status = implementation_find(out, engine, description, index, &outcome);
        bool is_last = status == NEO_LAST_IMPLEMENTATION;
        if (is_last)
            *out = implementation_retain(least);
        if (status != NEO_OK || implementation_scratch_bytes(*out, 1) <= bytes) {
            implementation_release(least);
            return is_last ? NEO_OK : status;
        }
        if (least &&
            implementation_scratch_bytes(*out, 1) >= implementation_scratch_bytes(least, 1)) {
            implementation_release(*out);
        } else {
            implementation_release(least);
            least = *out;
        }
    }
}

static neo_status find_concrete(struct implementation **out, const struct implementation *impl,
                                struct concrete *concrete, const struct arguments *args)
{
    bool limited = impl->problem.attributes.scratchpad == NEO_SCRATCHPAD_USER;
    size_t bytes = limited ? by_size_scratch_bytes(impl->plan, 1) : SIZE_MAX;
    neo_status status = concrete_of_arguments(concrete, &impl->problem, args);
    if (status != NEO_OK)
        return status;
    struct description description = problem_describe(&concrete->problem);
    return find_within(out, impl->engine, &description, bytes);
}

neo_status by_size_make(struct implementation **out, const struct implementation *impl,
                        const struct arguments *args)
{
    struct concrete *concrete = malloc(sizeof *concrete);
    if (!concrete)
        return NEO_OUT_OF_MEMORY;
    neo_status status = find_concrete(out, impl, concrete, args);
    free(concrete);
    if (status == NEO_OK)
        keep(impl->by_size, *out);
    return status;
}

const struct algorithm by_size = {
    .name = "by_size",
    .nest = by_size_nest,
    .forget = by_size_forget,
    .plan_bytes = sizeof(struct by_size_plan),
    .scratch_bytes = by_size_scratch_bytes,
    .kernel = by_size_kernel,
};
