/* How matrices of elements of any type become panels: the two sides of a product. */
#ifndef SRC_PACKED_SIDE_H
#define SRC_PACKED_SIDE_H

#include "kernels/gemm/types.h"
#include "kernels/pack/panel.h"
#include "neoprene/types.h"

struct gemm_side {
    enum element from; /* what packing reads; s8 for halves of bytes, which are widened before */
    enum element stored, to;
    size_t group;
    pack_panel_fn *pack;
};

/* type: what panels hold; NULL: f32, for its own kernels. NULL or why there is no such packing. */
const char *gemm_side_init(struct gemm_side *side, neo_data_type stored,
                           const struct gemm_type *type, const struct cpu *cpu);

/* A panel's element (i, p) = element first + i * lane + p * step of data, for i < count and p < k;
 * see struct pack_panel. */
struct gemm_side_panel {
    const void *data;
    ptrdiff_t first, lane, step;
    size_t width, count, k;
    void *out;
    int32_t *sums; /* or NULL */
};
void gemm_side_pack(const struct gemm_side *side, const struct gemm_side_panel *panel);

#endif
