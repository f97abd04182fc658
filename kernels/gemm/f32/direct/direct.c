/* The list of kernels for matrices in place, fastest first. */
#include "kernels/gemm/f32/direct/direct.h"

#if !NEO_PORTABLE
#include "kernels/gemm/f32/direct/offsets.h"
#endif

/* clang-format off */
#define ENTRY(name, run, ...) gemm_f32_direct_fn run;
#include "kernels/gemm/f32/direct/table.h"
#undef ENTRY

#define ENTRY(name_, run_, needs_, height_, vectors_, group_, depth_, parts_, in_order_) \
    {.name = #name_, .needs = needs_, .height = height_, .vectors = vectors_, .group = group_, \
     .depth = depth_, .parts = parts_, .in_order = in_order_, \
     .goes_on_lower = height_ > 1 && !in_order_, .run = run_},
const struct gemm_f32_direct_kernel gemm_f32_direct_kernels[] = {
#include "kernels/gemm/f32/direct/table.h"
};
#undef ENTRY
/* clang-format on */
const size_t gemm_f32_direct_kernel_count =
    sizeof gemm_f32_direct_kernels / sizeof gemm_f32_direct_kernels[0];

struct kind {
    size_t height, vectors, group, depth, parts;
};

static int is_kind(const struct gemm_f32_direct_kernel *kernel, const struct kind *kind)
{
    return kernel->height == kind->height && kernel->vectors == kind->vectors &&
           kernel->group == kind->group && kernel->depth == kind->depth &&
           kernel->parts == kind->parts;
}

static size_t find(const struct cpu *cpu, const struct kind *kind)
{
    size_t i = 0;
    for (; i < gemm_f32_direct_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = &gemm_f32_direct_kernels[i];
        int suits = !kernel->in_order || kernel->in_order == cpu->core->in_order;
        if (suits && is_kind(kernel, kind) && (kernel->needs & ~cpu->features) == 0)
            break;
    }
    return i;
}

static int exists(const struct kind *kind, int in_order)
{
    for (size_t i = 0; i < gemm_f32_direct_kernel_count; i++)
        if (gemm_f32_direct_kernels[i].in_order == in_order &&
            is_kind(&gemm_f32_direct_kernels[i], kind))
            return 1;
    return 0;
}

size_t gemm_f32_direct_find(const struct cpu *cpu, size_t height, size_t vectors, size_t group)
{
    return find(cpu, &(struct kind){height, vectors, group, 0, 0});
}

int gemm_f32_direct_is_tuned(const struct core *core, size_t vectors, size_t group)
{
    return exists(&(struct kind){1, vectors, group, 0, 0}, core->in_order);
}

size_t gemm_f32_direct_height(const struct core *core, size_t vectors, size_t group)
{
    int in_order = gemm_f32_direct_is_tuned(core, vectors, group) ? core->in_order : 0;
    size_t height = 0;
    while (exists(&(struct kind){height + 1, vectors, group, 0, 0}, in_order))
        height++;
    return height;
}

size_t gemm_f32_shallow_find(const struct cpu *cpu, size_t depth, size_t vectors)
{
    return find(cpu, &(struct kind){1, vectors, vectors, depth, 0});
}

size_t gemm_f32_shallow_vectors(size_t depth)
{
    size_t vectors = 0;
    while (depth && exists(&(struct kind){1, vectors + 1, vectors + 1, depth, 0}, 0))
        vectors++;
    return vectors;
}

size_t gemm_f32_parts_find(const struct cpu *cpu, size_t height, size_t vectors)
{
    return find(cpu, &(struct kind){height, vectors, vectors, 0, 4});
}

size_t gemm_f32_parts_height(size_t vectors)
{
    size_t height = 0;
    while (exists(&(struct kind){height + 1, vectors, vectors, 0, 4}, 0))
        height++;
    return height;
}
