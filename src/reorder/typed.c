/* Plain weights to packed ones of any type, and back. */
#include "src/packed/typed.h"
#include "src/primitive/types.h"
#include "src/reorder/reorder.h"
#include "src/tensor/element.h"
#include "src/tensor/typed_layout.h"

struct reorder_typed {
    struct gemm_side side;
};

static const struct gemm_type *type_of(const neo_memory_desc *desc)
{
    return desc->format_kind == NEO_FORMAT_PACKED ? typed_layout_type(desc->packed.id) : NULL;
}

/* f32 is rounded by packing where panels have the type that weights are stored as. */
static const char *pack_refuse(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    const struct gemm_type *type = type_of(dst);
    struct gemm_side side;
    (void)self;
    if (!type || src->format_kind == NEO_FORMAT_PACKED)
        return "dst is not packed for another type than f32, or src is packed";
    if (problem->attributes.post_op_count)
        return "packed weights take no post-operations";
    bool is_own = element_of(dst->data_type) == type->element && type->sum != ELEMENT_S32;
    if (src->data_type != dst->data_type && (src->data_type != NEO_F32 || !is_own))
        return "packing does not convert these types";
    return gemm_side_init(&side, src->data_type, type, cpu);
}

static const char *unpack_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    (void)self, (void)cpu;
    if (!type_of(src) || dst->format_kind == NEO_FORMAT_PACKED)
        return "src is not packed for another type than f32, or dst is packed";
    if (problem->attributes.post_op_count)
        return "packed weights take no post-operations";
    bool widens = neo_data_type_bits(src->data_type) < 8 && dst->data_type == NEO_S8;
    return widens || src->data_type == dst->data_type ? NULL : "unpacking does not convert types";
}

static double typed_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return reorder_estimate(problem, 1);
}

static void pack_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct reorder_typed *mine = plan;
    gemm_side_init(&mine->side, problem->tensors[SRC].data_type, type_of(&problem->tensors[DST]),
                   cpu);
}

static void unpack_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    (void)plan, (void)problem, (void)cpu;
}

static const char *typed_kernel(const void *plan)
{
    (void)plan;
    return "pack_panel";
}

static void pack_run(const void *plan, const struct execution *execution)
{
    const struct reorder_typed *mine = plan;
    const neo_memory_desc *tensors = execution->problem->tensors;
    struct typed_transfer transfer = {.plain = &tensors[SRC],
                                      .packed = &tensors[DST],
                                      .plain_data = execution->buffers[SRC],
                                      .packed_data = execution->buffers[DST],
                                      .side = mine->side};
    typed_pack(&transfer, execution->parallel, execution->threads);
}

static void unpack_run(const void *plan, const struct execution *execution)
{
    const neo_memory_desc *tensors = execution->problem->tensors;
    struct typed_transfer transfer = {.plain = &tensors[DST],
                                      .packed = &tensors[SRC],
                                      .plain_data = execution->buffers[DST],
                                      .packed_data = execution->buffers[SRC]};
    (void)plan;
    typed_unpack(&transfer, execution->parallel, execution->threads);
}

const struct algorithm reorder_pack_typed = {
    .name = "pack_typed",
    .types = reorder_all_types,
    .refuse = pack_refuse,
    .estimate = typed_estimate,
    .plan = pack_plan,
    .plan_bytes = sizeof(struct reorder_typed),
    .kernel = typed_kernel,
    .run = pack_run,
};

/* Halves of bytes would be written by two threads at once. */
const struct algorithm reorder_unpack_typed = {
    .name = "unpack_typed",
    .types = reorder_types,
    .refuse = unpack_refuse,
    .estimate = typed_estimate,
    .plan = unpack_plan,
    .plan_bytes = sizeof(struct reorder_typed),
    .kernel = typed_kernel,
    .run = unpack_run,
};
