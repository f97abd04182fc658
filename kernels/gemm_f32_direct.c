/* The list of kernels for matrices in place, fastest first. */
#include "kernels/gemm_f32_direct.h"

#define EIGHT(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4], &(t)[5], &(t)[6], &(t)[7]
#define THREE_EIGHTS(t) EIGHT(t), EIGHT(t + 8), EIGHT(t + 16)
#define TILES(t)                                                                                \
    THREE_EIGHTS(t), EIGHT(t + 24), &(t)[32], &(t)[33], &(t)[34], &(t)[35], &(t)[36], &(t)[37], \
        &(t)[38]
#define SHALLOW(t) THREE_EIGHTS(t), &(t)[24], &(t)[25], &(t)[26], &(t)[27], &(t)[28], &(t)[29]
#define IN_ORDER(t) THREE_EIGHTS(t), &(t)[24], &(t)[25]
const struct gemm_f32_direct_kernel *const gemm_f32_direct_kernels[] = {
#if !NEO_PORTABLE
    IN_ORDER(gemm_f32_direct_narrow_neon),
    IN_ORDER(gemm_f32_direct_wide_neon),
    &gemm_f32_direct_wide_neon[26],
    &gemm_f32_direct_wide_neon[27],
    &gemm_f32_direct_wide_neon[28],
    &gemm_f32_direct_wide_neon[29],
    &gemm_f32_direct_wide_neon[30],
    TILES(gemm_f32_direct_neon),
    SHALLOW(gemm_f32_shallow_neon),
#endif
    TILES(gemm_f32_direct_ref),
    SHALLOW(gemm_f32_shallow_ref),
};
#undef IN_ORDER
#undef SHALLOW
#undef TILES
#undef THREE_EIGHTS
#undef EIGHT
const size_t gemm_f32_direct_kernel_count =
    sizeof gemm_f32_direct_kernels / sizeof gemm_f32_direct_kernels[0];

struct kind {
    size_t height, vectors, group, depth;
};

static int is_kind(const struct gemm_f32_direct_kernel *kernel, const struct kind *kind)
{
    return kernel->height == kind->height && kernel->vectors == kind->vectors &&
           kernel->group == kind->group && kernel->depth == kind->depth;
}

static size_t find(const struct cpu *cpu, const struct kind *kind)
{
    size_t i = 0;
    for (; i < gemm_f32_direct_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = gemm_f32_direct_kernels[i];
        int suits = !kernel->in_order || kernel->in_order == cpu->core->in_order;
        if (suits && is_kind(kernel, kind) && (kernel->needs & ~cpu->features) == 0)
            break;
    }
    return i;
}

static int exists(const struct kind *kind, int in_order)
{
    for (size_t i = 0; i < gemm_f32_direct_kernel_count; i++)
        if (gemm_f32_direct_kernels[i]->in_order == in_order &&
            is_kind(gemm_f32_direct_kernels[i], kind))
            return 1;
    return 0;
}

size_t gemm_f32_direct_find(const struct cpu *cpu, size_t height, size_t vectors, size_t group)
{
    return find(cpu, &(struct kind){height, vectors, group, 0});
}

int gemm_f32_direct_is_tuned(const struct core *core, size_t vectors, size_t group)
{
    return exists(&(struct kind){1, vectors, group, 0}, core->in_order);
}

size_t gemm_f32_direct_height(const struct core *core, size_t vectors, size_t group)
{
    int in_order = gemm_f32_direct_is_tuned(core, vectors, group) ? core->in_order : 0;
    size_t height = 0;
    while (exists(&(struct kind){height + 1, vectors, group, 0}, in_order))
        height++;
    return height;
}

size_t gemm_f32_shallow_find(const struct cpu *cpu, size_t depth, size_t vectors)
{
    return find(cpu, &(struct kind){1, vectors, vectors, depth});
}

size_t gemm_f32_shallow_vectors(size_t depth)
{
    size_t vectors = 0;
    while (depth && exists(&(struct kind){1, vectors + 1, vectors + 1, depth}, 0))
        vectors++;
    return vectors;
}
