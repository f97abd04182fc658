/* Plain weights of depthwise convolutions of any types to packed ones, and back. */
#include "src/packed/depthwise.h"
#include "src/primitive/types.h"
#include "src/reorder/reorder.h"
#include "src/tensor/depthwise_layout.h"
#include "src/tensor/element.h"

static bool is_depthwise(const neo_memory_desc *desc)
{
    return desc->format_kind == NEO_FORMAT_PACKED && depthwise_layout_is(desc->packed.id);
}

static const char *refuse_tensors(const struct problem *problem, int packed, int plain)
{
    if (!is_depthwise(&problem->tensors[packed]) ||
        problem->tensors[plain].format_kind == NEO_FORMAT_PACKED)
        return "one side is not packed for depthwise kernels, or the other one is packed";
    return problem->attributes.post_op_count ? "packed weights take no post-operations" : NULL;
}

/* Weights of f32 are rounded to shorter floats. */
static const char *pack_refuse(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    neo_data_type from = problem->tensors[SRC].data_type, to = problem->tensors[DST].data_type;
    bool rounds = from == NEO_F32 && !element_is_integer(element_of(to));
    const char *why = refuse_tensors(problem, DST, SRC);
    (void)self, (void)cpu;
    return why || from == to || rounds ? why : "packing does not convert these types";
}

static const char *unpack_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    const char *why = refuse_tensors(problem, SRC, DST);
    (void)self, (void)cpu;
    return why || src->data_type == dst->data_type ? why : "unpacking does not convert types";
}

static double depthwise_estimate(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    enum { CYCLES = 8 };
    (void)self, (void)cpu;
    return reorder_estimate(problem, CYCLES);
}

/* There is nothing to plan. */
static void depthwise_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    (void)plan, (void)problem, (void)cpu;
}

static const char *depthwise_kernel(const void *plan)
{
    (void)plan;
    return "pack_block";
}

static struct depthwise_transfer transfer_of(const struct execution *execution, int plain,
                                             int packed)
{
    const neo_memory_desc *tensors = execution->problem->tensors;
    return (struct depthwise_transfer){.plain = &tensors[plain],
                                       .packed = &tensors[packed],
                                       .plain_data = execution->buffers[plain],
                                       .packed_data = execution->buffers[packed]};
}

static void pack_run(const void *plan, const struct execution *execution)
{
    struct depthwise_transfer transfer = transfer_of(execution, SRC, DST);
    (void)plan;
    depthwise_pack(&transfer, execution->parallel, execution->threads);
}

static void unpack_run(const void *plan, const struct execution *execution)
{
    struct depthwise_transfer transfer = transfer_of(execution, DST, SRC);
    (void)plan;
    depthwise_unpack(&transfer, execution->parallel, execution->threads);
}

const struct algorithm reorder_pack_depthwise = {
    .name = "pack_depthwise",
    .types = reorder_all_types,
    .refuse = pack_refuse,
    .estimate = depthwise_estimate,
    .plan = depthwise_plan,
    .kernel = depthwise_kernel,
    .run = pack_run,
};

const struct algorithm reorder_unpack_depthwise = {
    .name = "unpack_depthwise",
    .types = reorder_types,
    .refuse = unpack_refuse,
    .estimate = depthwise_estimate,
    .plan = depthwise_plan,
    .kernel = depthwise_kernel,
    .run = unpack_run,
};
