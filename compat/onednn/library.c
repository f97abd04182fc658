/* The library as a whole: its version, its cache, the processor. */
#include "compat/onednn/objects.h"

EXPORT const dnnl_version_info *dnnl_version(void)
{
    static const dnnl_version_info version = {3, 7, 2, "neoprene", RUNTIME_OMP, 0};
    return &version;
}

EXPORT dnnl_status dnnl_get_primitive_cache_capacity(int *capacity)
{
    neo_cache_capacity ours;
    if (!capacity)
        return dnnl_invalid_arguments;
    neo_status status = neo_engine_get_cache_capacity(shared_engine(), &ours);
    if (status == NEO_OK)
        *capacity = ours.entries > INT32_MAX ? INT32_MAX : (int)ours.entries;
    return map_status(status);
}

EXPORT dnnl_status dnnl_set_primitive_cache_capacity(int capacity)
{
    neo_cache_capacity ours;
    if (capacity < 0)
        return dnnl_invalid_arguments;
    neo_status status = neo_engine_get_cache_capacity(shared_engine(), &ours);
    if (status != NEO_OK)
        return map_status(status);
    ours.entries = (size_t)capacity;
    return map_status(neo_engine_set_cache_capacity(shared_engine(), ours));
}

/* These are names of x86's instruction sets; 0 is "whatever there is". */
EXPORT int dnnl_get_effective_cpu_isa(void)
{
    return 0;
}
