/* From flags to arguments. */
#include "src/normalization/normalization.h"

#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

neo_memory_desc normalization_statistics(const neo_memory_desc *of, int ndims)
{
    neo_memory_desc desc = {.ndims = ndims, .data_type = NEO_F32};
    for (int i = 0; i < ndims; i++)
        desc.dims[i] = of->dims[i];
    desc_set_plain(&desc);
    return desc;
}

bool normalization_writes(const struct problem *problem, int arg)
{
    bool is_given = normalization_parameters(problem)->flags & NEO_NORMALIZATION_USE_GLOBAL_STATS;
    bool is_statistic = arg == NEO_ARG_MEAN || arg == NEO_ARG_VARIANCE;
    return arg == NEO_ARG_WORKSPACE || (!is_given && is_statistic);
}

static void add(struct description *description, struct extra *extras, int arg,
                const neo_memory_desc *desc)
{
    extras[description->extra_count++] = (struct extra){arg, *desc};
}

/* dst's sizes, and its order if that is known. */
static neo_memory_desc workspace_of(const neo_memory_desc *dst)
{
    neo_memory_desc workspace = *dst;
    workspace.data_type = NEO_U8;
    workspace.format_kind = NEO_FORMAT_ANY;
    workspace.offset = 0;
    return workspace;
}

neo_status normalization_create(neo_primitive_desc **out, const struct normalization *n)
{
    uint32_t flags = n->parameters.flags;
    neo_memory_desc vector = {.ndims = 1, .data_type = n->scale_shift_type, .dims = {n->channels}};
    struct extra extras[5];
    struct description description = {
        .operation = n->operation,
        .tensors = {[SRC] = n->src, [DST] = n->dst},
        .attributes = n->attributes,
        .prop_kind = n->prop_kind,
        .extras = extras,
        .parameters = &n->parameters,
    };
    desc_set_plain(&vector);
    if (flags & NEO_NORMALIZATION_USE_SCALE)
        add(&description, extras, NEO_ARG_SCALE, &vector);
    if (flags & NEO_NORMALIZATION_USE_SHIFT)
        add(&description, extras, NEO_ARG_SHIFT, &vector);
    if (flags & NEO_NORMALIZATION_USE_GLOBAL_STATS || n->prop_kind == NEO_FORWARD_TRAINING) {
        if (!(flags & NEO_NORMALIZATION_RMS))
            add(&description, extras, NEO_ARG_MEAN, &n->statistics);
        add(&description, extras, NEO_ARG_VARIANCE, &n->statistics);
    }
    neo_memory_desc workspace = workspace_of(n->dst);
    if (flags & NEO_NORMALIZATION_FUSE_RELU && n->prop_kind == NEO_FORWARD_TRAINING)
        add(&description, extras, NEO_ARG_WORKSPACE, &workspace);
    return primitive_desc_create(out, n->engine, &description);
}
