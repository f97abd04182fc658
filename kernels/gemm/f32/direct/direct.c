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
    return kernel->vectors == kind->vectors && kernel->group == kind->group &&
           kernel->depth == kind->depth && kernel->parts == kind->parts &&
           kernel->height == kind->height;
}

static size_t find(const struct cpu *cpu, const struct kind *kind)
{
    size_t i = 0;
    for (; i < gemm_f32_direct_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = &gemm_f32_direct_kernels[i];
        if (is_kind(kernel, kind) &&
            cpu_suits(kernel->needs, kernel->in_order, cpu->features, cpu->core->in_order))
            break;
    }
    return i;
}

/* Numbers that kernels have, a bit for each: of those for all cores, and of those for one class. */
struct numbers {
    uint64_t all, own;
};

static void add_number(struct numbers *numbers, const struct gemm_f32_direct_kernel *kernel,
                       size_t number, int in_order)
{
    uint64_t bit = (uint64_t)1 << number;
    numbers->all |= kernel->in_order ? 0 : bit;
    numbers->own |= kernel->in_order == in_order ? bit : 0;
}

/* Heights of a kind but for its own height. */
static struct numbers heights_of(struct kind kind, int in_order)
{
    struct numbers heights = {0, 0};
    for (size_t i = 0; i < gemm_f32_direct_kernel_count; i++) {
        kind.height = gemm_f32_direct_kernels[i].height;
        if (is_kind(&gemm_f32_direct_kernels[i], &kind))
            add_number(&heights, &gemm_f32_direct_kernels[i], kind.height, in_order);
    }
    return heights;
}

/* The last one of those from 1 on. */
static size_t last_number(uint64_t numbers)
{
    size_t last = 0;
    while (numbers >> (last + 1) & 1)
        last++;
    return last;
}

size_t gemm_f32_direct_find(const struct cpu *cpu, size_t height, size_t vectors, size_t group)
{
    return find(cpu, &(struct kind){height, vectors, group, 0, 0});
}

static int are_tuned(const struct numbers *heights)
{
    return heights->own >> 1 & 1;
}

int gemm_f32_direct_is_tuned(const struct core *core, size_t vectors, size_t group)
{
    struct numbers heights = heights_of((struct kind){0, vectors, group, 0, 0}, core->in_order);
    return are_tuned(&heights);
}

size_t gemm_f32_direct_height(const struct core *core, size_t vectors, size_t group)
{
    struct numbers heights = heights_of((struct kind){0, vectors, group, 0, 0}, core->in_order);
    return last_number(are_tuned(&heights) ? heights.own : heights.all);
}

size_t gemm_f32_shallow_find(const struct cpu *cpu, size_t depth, size_t vectors)
{
    return find(cpu, &(struct kind){1, vectors, vectors, depth, 0});
}

size_t gemm_f32_shallow_vectors(size_t depth)
{
    struct numbers vectors = {0, 0};
    for (size_t i = 0; depth && i < gemm_f32_direct_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = &gemm_f32_direct_kernels[i];
        if (is_kind(kernel, &(struct kind){1, kernel->vectors, kernel->vectors, depth, 0}))
            add_number(&vectors, kernel, kernel->vectors, 0);
    }
    return last_number(vectors.all);
}

size_t gemm_f32_parts_find(const struct cpu *cpu, size_t height, size_t vectors)
{
    return find(cpu, &(struct kind){height, vectors, vectors, 0, 4});
}

/* By their list, as estimates ask often. */
size_t gemm_f32_parts_height(size_t vectors)
{
    static const struct {
        uint8_t height, vectors;
    } parts[] = {
#define KERNEL(height, width) {height, width / 4},
#include "kernels/gemm/f32/direct/parts_list.h"
#undef KERNEL
    };
    uint64_t heights = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].vectors == vectors)
            heights |= (uint64_t)1 << parts[i].height;
    return last_number(heights);
}
