/* Operations of many sources: concatenation and the sum. */
#include "compat/onednn/functions.h"

static int collect(neo_memory_desc *descs, int count, const dnnl_memory_desc *const *sources)
{
    if (count < 1 || count > NEO_MAX_SOURCES || !sources)
        return 0;
    for (int i = 0; i < count; i++)
        descs[i] = desc_of(sources[i]);
    return 1;
}

/* No dst, and `any`, are for us to choose: the first source's order, or row-major where it has
 * another size. */
static neo_memory_desc choose_dst(const dnnl_memory_desc *dst, const neo_memory_desc *first)
{
    neo_memory_desc desc = dst ? dst->desc : *first;
    desc_settle(&desc, map_tag(desc.ndims + 1));
    return desc;
}

dnnl_status sum_create(dnnl_primitive_desc **out, dnnl_engine *engine, const dnnl_memory_desc *dst,
                       int count, const float *scales, const dnnl_memory_desc *const *sources,
                       const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[NEO_MAX_SOURCES];
    if (!collect(descs, count, sources))
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_SUM, engine, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->sources = count;
    neo_memory_desc to = choose_dst(dst, &descs[0]);
    return creation_end(&creation, out,
                        neo_sum_primitive_desc_create(&creation.pd->neo, creation.engine, &to,
                                                      count, scales, descs, creation.attributes));
}

dnnl_status concat_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                          const dnnl_memory_desc *dst, int count, int axis,
                          const dnnl_memory_desc *const *sources, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[NEO_MAX_SOURCES];
    if (!collect(descs, count, sources) || axis < 0 || axis >= descs[0].ndims)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_CONCAT, engine, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->sources = count;
    neo_memory_desc to = descs[0];
    for (int i = 1; i < count; i++)
        to.dims[axis] += descs[i].dims[axis];
    to.format_kind = NEO_FORMAT_ANY;
    to = choose_dst(dst, &to);
    return creation_end(&creation, out,
                        neo_concat_primitive_desc_create(&creation.pd->neo, creation.engine, &to,
                                                         count, axis, descs, creation.attributes));
}
