/* The list of packing kernels for panels of all types, fastest first. */
#include "kernels/pack/panel.h"

#define FIVE(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4]
const struct pack_panel_kernel *const pack_panel_kernels[] = {
#if !NEO_PORTABLE
    &pack_panel_bf16[0],       &pack_panel_bf16[1],        FIVE(pack_panel_neon),
    FIVE(pack_panel_neon + 5), FIVE(pack_panel_neon + 10), FIVE(pack_panel_neon + 15),
    &pack_panel_neon[20],
#endif
    FIVE(pack_panel_ref),      FIVE(pack_panel_ref + 5),   FIVE(pack_panel_ref + 10),
};
#undef FIVE
const size_t pack_panel_kernel_count = sizeof pack_panel_kernels / sizeof pack_panel_kernels[0];

pack_panel_fn *pack_panel_find(uint32_t features, enum element from, enum element to, size_t group)
{
    for (size_t i = 0; i < pack_panel_kernel_count; i++) {
        const struct pack_panel_kernel *kernel = pack_panel_kernels[i];
        if (kernel->from == from && kernel->to == to && !(kernel->needs & ~features) &&
            (!kernel->group || kernel->group == group))
            return kernel->pack;
    }
    return NULL;
}
