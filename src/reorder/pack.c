/* Plain weights to packed ones, back, and copies of packed ones. */
#include <string.h>

#include "kernels/pack/f32/pack.h"
#include "src/packed/pack.h"
#include "src/reorder/reorder.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

struct reorder_pack {
    const struct cpu *cpu;
    size_t bytes;
};

static bool is_packed(const struct problem *problem, int tensor)
{
    return problem->tensors[tensor].format_kind == NEO_FORMAT_PACKED;
}

static const char *refuse_unless(bool fits, const struct problem *problem)
{
    if (!fits)
        return "another side is packed";
    return problem->attributes.post_op_count ? "packed weights take no post-operations" : NULL;
}

/* As f32 is multiplied: panels of another type, which f32 is rounded to, are reorder_pack_typed's.
 */
static bool is_packed_as_f32(const struct problem *problem, int tensor)
{
    return is_packed(problem, tensor) && layout_is_f32(problem->tensors[tensor].packed.id);
}

static const char *pack_refuse(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return refuse_unless(!is_packed(problem, SRC) && is_packed_as_f32(problem, DST), problem);
}

static const char *unpack_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (is_packed(problem, SRC) && layout_winograd_points(problem->tensors[SRC].packed.id))
        return "weights transformed for Winograd's algorithm cannot be given back exactly";
    return refuse_unless(is_packed_as_f32(problem, SRC) && !is_packed(problem, DST), problem);
}

static const char *repack_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    (void)self, (void)cpu;
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    if (is_packed(problem, SRC) && is_packed(problem, DST) && !neo_memory_desc_equal(src, dst))
        return "the two packed layouts differ";
    return refuse_unless(is_packed(problem, SRC) && is_packed(problem, DST), problem);
}

static double pack_estimate(const struct algorithm *self, const struct problem *problem,
                            const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return reorder_estimate(problem, 1);
}

static void pack_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct reorder_pack *mine = plan;
    mine->cpu = cpu;
    mine->bytes = neo_memory_desc_size(&problem->tensors[SRC]);
}

static const char *pack_kernel(const void *plan)
{
    (void)plan;
    return "pack_f32";
}

static const char *repack_kernel(const void *plan)
{
    (void)plan;
    return "memmove";
}

static struct weights_transfer transfer_of(const struct reorder_pack *plan,
                                           const struct execution *execution, int plain, int packed)
{
    const neo_memory_desc *tensors = execution->problem->tensors;
    return (struct weights_transfer){
        .plain = &tensors[plain],
        .packed = &tensors[packed],
        .plain_data = execution->buffers[plain],
        .packed_data = execution->buffers[packed],
        .cpu = plan->cpu,
    };
}

static void pack_run(const void *plan, const struct execution *execution)
{
    struct weights_transfer transfer = transfer_of(plan, execution, SRC, DST);
    weights_pack(&transfer, execution->parallel, execution->threads);
}

static void unpack_run(const void *plan, const struct execution *execution)
{
    struct weights_transfer transfer = transfer_of(plan, execution, DST, SRC);
    weights_unpack(&transfer, execution->parallel, execution->threads);
}

static void repack_run(const void *plan, const struct execution *execution)
{
    const struct reorder_pack *mine = plan;
    memmove(execution->buffers[DST], execution->buffers[SRC], mine->bytes); /* may be in place */
}

const struct algorithm reorder_pack = {
    .name = "pack",
    .refuse = pack_refuse,
    .estimate = pack_estimate,
    .plan = pack_plan,
    .plan_bytes = sizeof(struct reorder_pack),
    .kernel = pack_kernel,
    .run = pack_run,
};

const struct algorithm reorder_unpack = {
    .name = "unpack",
    .refuse = unpack_refuse,
    .estimate = pack_estimate,
    .plan = pack_plan,
    .plan_bytes = sizeof(struct reorder_pack),
    .kernel = pack_kernel,
    .run = unpack_run,
};

const struct algorithm reorder_repack = {
    .name = "copy_packed",
    .types = reorder_all_types,
    .refuse = repack_refuse,
    .estimate = pack_estimate,
    .plan = pack_plan,
    .plan_bytes = sizeof(struct reorder_pack),
    .kernel = repack_kernel,
    .run = repack_run,
};
