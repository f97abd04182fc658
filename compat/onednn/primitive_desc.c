/* Primitive descriptors: their life, and the answers to what programs ask of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/onednn/theirs.h"

EXPORT dnnl_status dnnl_primitive_desc_destroy(dnnl_primitive_desc *pd)
{
    if (!pd || __atomic_sub_fetch(&pd->references, 1, __ATOMIC_ACQ_REL) > 0)
        return dnnl_success;
    neo_primitive_desc_destroy(pd->neo);
    if (pd->theirs)
        theirs()->dnnl_primitive_desc_destroy(pd->theirs);
    dnnl_primitive_attr_destroy(pd->attr);
    free(pd);
    return dnnl_success;
}

/* ---- another library's ---- */

dnnl_status pd_of_theirs(dnnl_primitive_desc **out, dnnl_primitive_desc *theirs,
                         const dnnl_primitive_attr *attr)
{
    dnnl_primitive_desc *pd = calloc(1, sizeof *pd);
    if (!pd)
        return dnnl_out_of_memory;
    pd->references = 1;
    pd->attr = attr_copy(attr);
    dnnl_status status =
        pd->attr ? dnnl_engine_create(&pd->engine, ENGINE_CPU, 0) : dnnl_out_of_memory;
    if (status != dnnl_success) {
        dnnl_primitive_desc_destroy(pd);
        return status;
    }
    pd->theirs = theirs;
    *out = pd;
    return dnnl_success;
}

/* What a forward pass leaves for its backward pass, the library has to write that reads it. */
void pd_set_theirs(dnnl_primitive_desc *pd, dnnl_primitive_desc *theirs)
{
    pd->theirs = theirs;
    if (pd_argument(pd, NEO_ARG_WORKSPACE)->desc.ndims == 0)
        return;
    neo_primitive_desc_destroy(pd->neo);
    pd->neo = NULL;
}

/* Apart from the first: the next implementation is looked for in each by itself. */
static dnnl_status clone_theirs(dnnl_primitive_desc **out, const dnnl_primitive_desc *pd)
{
    dnnl_primitive_desc *clone;
    dnnl_status status = theirs()->dnnl_primitive_desc_clone(&clone, pd->theirs);
    if (status != dnnl_success)
        return status;
    status = pd_of_theirs(out, clone, pd->attr);
    if (status != dnnl_success)
        theirs()->dnnl_primitive_desc_destroy(clone);
    return status;
}

static dnnl_status query_theirs(const dnnl_primitive_desc *pd, int what, int index, void *result)
{
    dnnl_status status = theirs()->dnnl_primitive_desc_query(pd->theirs, what, index, result);
    const dnnl_memory_desc **md = result;
    if (status == dnnl_success && what >= QUERY_SRC && what <= QUERY_ARGUMENT)
        *md = *md ? desc_of_theirs(*md) : NULL;
    if (status == dnnl_success && (what == QUERY_ENGINE || what == QUERY_SCRATCHPAD_ENGINE))
        *(dnnl_engine **)result = pd->engine;
    return status;
}

/* ---- either's ---- */

EXPORT dnnl_status dnnl_primitive_desc_clone(dnnl_primitive_desc **out, dnnl_primitive_desc *pd)
{
    if (!out || !pd)
        return dnnl_invalid_arguments;
    if (!pd->neo)
        return clone_theirs(out, pd);
    __atomic_add_fetch(&pd->references, 1, __ATOMIC_RELAXED);
    *out = pd;
    return dnnl_success;
}

dnnl_status creation_begin(struct creation *creation, int kind, dnnl_engine *engine,
                           const dnnl_primitive_attr *attr)
{
    memset(creation, 0, sizeof *creation);
    if (!engine)
        return dnnl_invalid_arguments;
    creation->engine = shared_engine();
    creation->pd = calloc(1, sizeof *creation->pd);
    if (!creation->engine || !creation->pd)
        return creation_end(creation, NULL, NEO_OUT_OF_MEMORY);
    creation->pd->references = 1;
    creation->pd->kind = kind;
    creation->pd->engine = engine;
    creation->pd->attr = attr_copy(attr);
    if (!creation->pd->attr)
        return creation_end(creation, NULL, NEO_OUT_OF_MEMORY);
    neo_status status = attr_convert(&creation->attributes, creation->pd->attr);
    return status == NEO_OK ? dnnl_success : creation_end(creation, NULL, status);
}

dnnl_status creation_begin_forward(struct creation *creation, int kind, dnnl_engine *engine,
                                   int prop_kind, neo_memory_desc descs[2],
                                   const dnnl_memory_desc *src, const dnnl_memory_desc *dst,
                                   const dnnl_primitive_attr *attr)
{
    if (map_prop_kind(prop_kind) < 0 || !src || !dst)
        return dnnl_invalid_arguments;
    descs[0] = src->desc;
    descs[1] = dst->desc;
    desc_settle(&descs[0], map_tag(descs[0].ndims + 1));
    dnnl_status status = creation_begin(creation, kind, engine, attr);
    if (status == dnnl_success)
        creation->pd->parameters.prop_kind = prop_kind;
    return status;
}

dnnl_status creation_end(struct creation *creation, dnnl_primitive_desc **out, neo_status status)
{
    neo_attributes_destroy(creation->attributes);
    if (status == NEO_OK && !out)
        status = NEO_INVALID_ARGUMENT;
    if (status != NEO_OK) {
        dnnl_primitive_desc_destroy(creation->pd);
        return map_status(status);
    }
    snprintf(creation->pd->implementation, sizeof creation->pd->implementation, "neoprene:%s",
             neo_primitive_desc_implementation(creation->pd->neo));
    *out = creation->pd;
    return dnnl_success;
}

void creation_reshape(struct creation *creation, int arg, const neo_memory_desc *seen)
{
    struct reshaped *reshaped = creation->pd->reshaped;
    while (reshaped->arg)
        reshaped++;
    *reshaped = (struct reshaped){.arg = arg, .seen.desc = *seen};
}

/* A dnnl_memory_desc has a neo_memory_desc and nothing else, so the address of one is that of the
 * other. */
const dnnl_memory_desc *pd_argument(const dnnl_primitive_desc *pd, int arg)
{
    for (int i = 0; i < MAX_RESHAPED && pd->reshaped[i].arg; i++)
        if (pd->reshaped[i].arg == arg)
            return &pd->reshaped[i].seen;
    const neo_memory_desc *desc = neo_primitive_desc_query(pd->neo, arg);
    return desc ? (const dnnl_memory_desc *)(const void *)desc : &no_desc;
}

/* Tensors by what a query calls them. Normalisation's scale and shift are its weights there; mean
 * and variance are sources where they are given, else results. */
enum { MAX_NAMED = 3 };
struct named {
    int what, args[MAX_NAMED];
};
static const struct named usual[] = {
    {QUERY_SRC, {NEO_ARG_SRC, NEO_ARG_SRC_1, NEO_ARG_SRC_2}},
    {QUERY_WEIGHTS, {NEO_ARG_WEIGHTS, NEO_ARG_BIAS}},
    {QUERY_DST, {NEO_ARG_DST}},
    {0, {0}},
};
static const struct named with_given_statistics[] = {
    {QUERY_SRC, {NEO_ARG_SRC, NEO_ARG_MEAN, NEO_ARG_VARIANCE}},
    {QUERY_WEIGHTS, {NEO_ARG_SCALE}},
    {QUERY_DST, {NEO_ARG_DST}},
    {0, {0}},
};
static const struct named with_own_statistics[] = {
    {QUERY_SRC, {NEO_ARG_SRC}},
    {QUERY_WEIGHTS, {NEO_ARG_SCALE}},
    {QUERY_DST, {NEO_ARG_DST, NEO_ARG_MEAN, NEO_ARG_VARIANCE}},
    {0, {0}},
};

static const struct named *names_of(const dnnl_primitive_desc *pd)
{
    switch (pd->kind) {
    case PRIMITIVE_BATCH_NORMALIZATION:
    case PRIMITIVE_LAYER_NORMALIZATION:
    case PRIMITIVE_GROUP_NORMALIZATION:
        return pd->parameters.flags & NEO_NORMALIZATION_USE_GLOBAL_STATS ? with_given_statistics
                                                                         : with_own_statistics;
    default:
        return usual;
    }
}

static int argument_of(const dnnl_primitive_desc *pd, int what, int index)
{
    if (what == QUERY_ARGUMENT)
        return index;
    if (what == QUERY_WORKSPACE)
        return NEO_ARG_WORKSPACE;
    if (what == QUERY_SRC && pd->sources > 0)
        return NEO_ARG_MULTIPLE_SRC + index;
    for (const struct named *named = names_of(pd); named->what; named++)
        if (named->what == what)
            return index < MAX_NAMED ? named->args[index] : 0;
    return 0; /* scratchpads too: none is needed */
}

EXPORT const dnnl_memory_desc *dnnl_primitive_desc_query_md(const dnnl_primitive_desc *pd, int what,
                                                            int index)
{
    if (pd && !pd->neo) {
        const dnnl_memory_desc *md = NULL;
        query_theirs(pd, what, index, &md);
        return md ? md : &no_desc;
    }
    int arg = pd && index >= 0 ? argument_of(pd, what, index) : 0;
    return arg ? pd_argument(pd, arg) : &no_desc;
}

static int count_of(const dnnl_primitive_desc *pd, const int *args, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += pd_argument(pd, args[i])->desc.ndims > 0;
    return found;
}

EXPORT dnnl_status dnnl_primitive_desc_query(const dnnl_primitive_desc *pd, int what, int index,
                                             void *result)
{
    static const int inputs[] = {NEO_ARG_SRC,  NEO_ARG_SRC_1, NEO_ARG_WEIGHTS,
                                 NEO_ARG_BIAS, NEO_ARG_SCALE, NEO_ARG_SHIFT};
    static const int outputs[] = {NEO_ARG_DST, NEO_ARG_WORKSPACE};
    if (!pd || !result)
        return dnnl_invalid_arguments;
    if (!pd->neo)
        return query_theirs(pd, what, index, result);
    if (what >= QUERY_SRC && what <= QUERY_ARGUMENT) {
        *(const dnnl_memory_desc **)result = dnnl_primitive_desc_query_md(pd, what, index);
        return dnnl_success;
    }
    const struct parameters *p = &pd->parameters;
    switch (what) {
    case QUERY_ENGINE:
    case QUERY_SCRATCHPAD_ENGINE:
        *(dnnl_engine **)result = pd->engine;
        break;
    case QUERY_PRIMITIVE_KIND:
        *(int *)result = pd->kind;
        break;
    case QUERY_INPUTS:
        *(int *)result = pd->sources ? pd->sources : count_of(pd, inputs, 6);
        break;
    case QUERY_OUTPUTS:
        *(int *)result = count_of(pd, outputs, 2);
        break;
    case QUERY_MEMORY_CONSUMPTION:
        *(int64_t *)result = 0;
        break;
    case QUERY_IMPLEMENTATION:
        *(const char **)result = pd->implementation;
        break;
    case QUERY_PROP_KIND:
        *(int *)result = p->prop_kind;
        break;
    case QUERY_ALGORITHM:
        *(int *)result = p->algorithm;
        break;
    case QUERY_AXIS:
        *(int *)result = p->axis;
        break;
    case QUERY_ALPHA:
        *(float *)result = p->alpha;
        break;
    case QUERY_BETA:
        *(float *)result = p->beta;
        break;
    case QUERY_K:
        *(float *)result = p->k;
        break;
    case QUERY_P:
        *(float *)result = p->p;
        break;
    case QUERY_LOCAL_SIZE:
        *(neo_dim *)result = p->local_size;
        break;
    case QUERY_GROUP_SIZE:
        *(neo_dim *)result = p->group_size;
        break;
    case QUERY_FACTORS:
        *(const float **)result = p->factors;
        break;
    case QUERY_EPSILON:
        *(float *)result = p->epsilon;
        break;
    case QUERY_FLAGS:
        *(unsigned *)result = p->flags;
        break;
    case QUERY_STRIDES:
        *(const neo_dim **)result = p->strides;
        break;
    case QUERY_DILATIONS:
        *(const neo_dim **)result = p->dilations;
        break;
    case QUERY_KERNEL:
        *(const neo_dim **)result = p->kernel;
        break;
    case QUERY_PADDING_LEFT:
        *(const neo_dim **)result = p->padding_left;
        break;
    case QUERY_PADDING_RIGHT:
        *(const neo_dim **)result = p->padding_right;
        break;
    default:
        return dnnl_unimplemented;
    }
    return dnnl_success;
}

EXPORT int dnnl_primitive_desc_query_s32(const dnnl_primitive_desc *pd, int what, int index)
{
    int result = 0;
    dnnl_primitive_desc_query(pd, what, index, &result);
    return result;
}

EXPORT dnnl_status dnnl_primitive_desc_get_attr(const dnnl_primitive_desc *pd,
                                                const dnnl_primitive_attr **attr)
{
    if (!pd || !attr)
        return dnnl_invalid_arguments;
    *attr = pd->attr;
    return dnnl_success;
}

/* Neoprene's first implementation is the best one, and every one of them serves the whole
 * description. */
EXPORT dnnl_status dnnl_primitive_desc_next_impl(dnnl_primitive_desc *pd)
{
    if (pd && !pd->neo)
        return theirs()->dnnl_primitive_desc_next_impl(pd->theirs);
    return pd ? dnnl_last_impl_reached : dnnl_invalid_arguments;
}
