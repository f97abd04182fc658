/* The lists of kernels for matrices in place, fastest first. */
#include "kernels/gemm/f32/direct/direct.h"

#include <string.h>

#if !NEO_PORTABLE
#include "kernels/gemm/f32/direct/offsets.h"
#endif

/* clang-format off */
#if NEO_PORTABLE
#define NEON(...)
#else
#define NEON(name, ...) ENTRY(name, CPU_NEON, __VA_ARGS__)
#endif
#define REF(name, ...) ENTRY(name, 0, 0, __VA_ARGS__)

#define LIST(list)
#define ENTRY(name, ...) gemm_f32_direct_fn gemm_f32_##name;
#define END(list)
#include "kernels/gemm/f32/direct/table.h"
#undef LIST
#undef ENTRY
#undef END

#define LIST(list) static const struct gemm_f32_direct_kernel list[] = {
#define ENTRY(name, needs, in_order, height, ...) \
    {"gemm_f32_" #name, needs, in_order, height, __VA_ARGS__, gemm_f32_##name},
#define END(list) };
#include "kernels/gemm/f32/direct/table.h"

#define COUNTED(list) {list, sizeof (list) / sizeof (list)[0]}
const struct gemm_f32_direct_list gemm_f32_direct_lists[GEMM_F32_WAYS] = {
    [GEMM_F32_ROWS] = COUNTED(rows),       [GEMM_F32_PARTS] = COUNTED(parts),
    [GEMM_F32_SHALLOW] = COUNTED(shallow), [GEMM_F32_COLUMNS] = COUNTED(columns),
    [GEMM_F32_PANELS] = COUNTED(panels),
};
#undef COUNTED
/* clang-format on */

static int is_of(const struct gemm_f32_direct_kernel *kernel, const struct gemm_f32_kind *kind)
{
    return memcmp(&kernel->kind, kind, sizeof *kind) == 0;
}

const struct gemm_f32_direct_kernel *gemm_f32_direct_find(const struct cpu *cpu, size_t height,
                                                          struct gemm_f32_kind kind)
{
    const struct gemm_f32_direct_list *list = &gemm_f32_direct_lists[kind.way];
    for (size_t i = 0; i < list->count; i++) {
        const struct gemm_f32_direct_kernel *kernel = &list->kernels[i];
        if (kernel->height == height && is_of(kernel, &kind) &&
            cpu_suits(kernel->needs, kernel->in_order, cpu->features, cpu->core->in_order))
            return kernel;
    }
    return NULL;
}

/* Those of kernels for one class of cores, a bit for each. */
static uint64_t heights_of(const struct gemm_f32_kind *kind, int in_order)
{
    const struct gemm_f32_direct_list *list = &gemm_f32_direct_lists[kind->way];
    uint64_t heights = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_of(&list->kernels[i], kind) && list->kernels[i].in_order == in_order)
            heights |= (uint64_t)1 << list->kernels[i].height;
    return heights;
}

int gemm_f32_direct_is_tuned(const struct core *core, size_t height, struct gemm_f32_kind kind)
{
    return core->in_order && heights_of(&kind, core->in_order) >> height & 1;
}

size_t gemm_f32_direct_height(const struct core *core, struct gemm_f32_kind kind)
{
    int tuned = gemm_f32_direct_is_tuned(core, 1, kind);
    uint64_t heights = heights_of(&kind, tuned ? core->in_order : 0);
    size_t last = 0;
    while (heights >> (last + 1) & 1)
        last++;
    return last;
}
