/* Implementations for run-time sizes: a small table of those of the sizes used last. */
#include "src/primitive/by_size.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/primitive/post_ops.h"
#include "src/tensor/descriptor.h"

enum { SIZES = 8 };

struct by_size {
    struct implementation *supposed; /* a reference */
    pthread_mutex_t lock;
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
    pthread_mutex_destroy(&sizes->lock);
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

/* Layouts that were `any`. */
static void take_layouts(struct problem *problem, const struct problem *from)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].format_kind == NEO_FORMAT_ANY)
            problem->tensors[t] = from->tensors[t];
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
    pthread_mutex_init(&sizes->lock, NULL);
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
    snprintf(impl->name, sizeof impl->name, "%s:%s", by_size.name,
             impl->engine->cpu->features & CPU_NEON ? "neon" : "portable");
    return NEO_OK;
}

/* ---- look-up ---- */

static bool fits(const struct implementation *sized, const struct arguments *args)
{
    const struct problem *problem = &sized->problem;
    if (!desc_image_equal(sized->facts.images[SRC], args->tensors[SRC]->image) ||
        !desc_image_equal(sized->facts.images[DST], args->tensors[DST]->image))
        return false;
    for (int i = 0; i < post_ops_places(&problem->attributes); i++) {
        const neo_memory_desc *operand = post_ops_operand(&problem->attributes, i);
        if (operand && !neo_memory_desc_equal(operand, &args->operands[i]->desc))
            return false;
    }
    return true;
}

/* A reference, or NULL. */
static struct implementation *look_up(struct by_size *sizes, const struct arguments *args)
{
    struct implementation *found = NULL;
    pthread_mutex_lock(&sizes->lock);
    for (int i = 0; i < SIZES && !found; i++) {
        struct implementation *sized = sizes->sized[i].implementation;
        if (sized && fits(sized, args)) {
            sizes->sized[i].last_use = ++sizes->uses;
            found = implementation_retain(sized);
        }
    }
    pthread_mutex_unlock(&sizes->lock);
    return found;
}

/* Replaces the one that was not used for longest. Threads that make the same one at the same time
 * have a place each, which is harmless. */
static void keep(struct by_size *sizes, struct implementation *sized)
{
    int oldest = 0;
    pthread_mutex_lock(&sizes->lock);
    for (int i = 1; i < SIZES; i++)
        if (sizes->sized[i].last_use < sizes->sized[oldest].last_use)
            oldest = i;
    struct implementation *replaced = sizes->sized[oldest].implementation;
    sizes->sized[oldest].implementation = implementation_retain(sized);
    sizes->sized[oldest].last_use = ++sizes->uses;
    pthread_mutex_unlock(&sizes->lock);
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

neo_status by_size_find(struct implementation **out, const struct implementation *impl,
                        const struct arguments *args)
{
    *out = look_up(impl->by_size, args);
    if (*out)
        return NEO_OK;
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
