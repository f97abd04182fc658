/* Products of matrices. The second one may be another operation's result, so it is taken as it is:
 * packing it by content pays for weights only, and here nothing tells which it is. */
#include "compat/onednn/functions.h"

dnnl_status matmul_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                          const dnnl_memory_desc *src, const dnnl_memory_desc *weights,
                          const dnnl_memory_desc *bias, const dnnl_memory_desc *dst,
                          const dnnl_primitive_attr *attr)
{
    struct creation creation;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_MATMUL, engine, attr);
    if (status != dnnl_success)
        return status;
    neo_matmul_desc desc = {.src = desc_of(src),
                            .weights = desc_of(weights),
                            .bias = desc_of(bias),
                            .dst = desc_of(dst)};
    neo_memory_desc *const descs[] = {&desc.src, &desc.weights, &desc.bias, &desc.dst};
    for (int i = 0; i < 4; i++)
        desc_settle(descs[i], map_tag(descs[i]->ndims + 1)); /* row-major */
    return creation_end(&creation, out,
                        neo_matmul_primitive_desc_create(&creation.pd->neo, creation.engine, &desc,
                                                         creation.attributes));
}
