/* Reorders between plain layouts and types. */
#include "compat/onednn/functions.h"

dnnl_status reorder_create(dnnl_primitive_desc **out, const dnnl_memory_desc *src,
                           dnnl_engine *src_engine, const dnnl_memory_desc *dst,
                           dnnl_engine *dst_engine, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    if (!src || !dst || !dst_engine)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_REORDER, src_engine, attr);
    if (status != dnnl_success)
        return status;
    return creation_end(&creation, out,
                        neo_reorder_primitive_desc_create(&creation.pd->neo, creation.engine,
                                                          &src->desc, &dst->desc,
                                                          creation.attributes));
}
