/* Plain tensors to packed weights of another type, and back, with all that a reorder between plain
 * layouts does to values: two nested reorders, with plain weights of the packed ones' type in the
 * scratchpad between them. So results have the bits of these two, and whatever is packed is
 * converted, too. */
#include "src/core/checked.h"
#include "src/primitive/implementation.h"
#include "src/reorder/reorder.h"
#include "src/tensor/block_layout.h"

enum { STAGES = 2 };

struct reorder_converted {
    const char *kernel; /* the algorithm that packs or unpacks */
    neo_memory_desc between;
};

static bool is_packed(const neo_memory_desc *desc)
{
    return desc->format_kind == NEO_FORMAT_PACKED;
}

static bool packs(const struct problem *whole)
{
    return is_packed(&whole->tensors[DST]);
}

static const neo_memory_desc *plain_side(const struct problem *whole)
{
    return &whole->tensors[packs(whole) ? SRC : DST];
}

static const neo_memory_desc *packed_side(const struct problem *whole)
{
    return &whole->tensors[packs(whole) ? DST : SRC];
}

/* Halves of bytes are unpacked into whole ones: threads would write both halves of one at once. */
static neo_data_type type_between(const struct problem *whole)
{
    neo_data_type type = packed_side(whole)->data_type;
    return packs(whole) || neo_data_type_bits(type) >= 8 ? type : NEO_S8;
}

/* The packed tensor, in the order of the plain one. */
static neo_memory_desc between_of(const struct problem *whole)
{
    const neo_memory_desc *plain = plain_side(whole);
    neo_memory_desc between = *plain;
    between.data_type = type_between(whole);
    between.format_kind = NEO_FORMAT_ANY;
    between.offset = 0;
    desc_set_order_of(&between, plain);
    return between;
}

/* Which of the two has a packed side; the other one has the attributes. */
static int packed_stage(const struct problem *whole)
{
    return packs(whole) ? 1 : 0;
}

static void make_stage(struct problem *stage, const struct problem *whole,
                       const neo_memory_desc *between, int number)
{
    const neo_memory_desc *tensors = whole->tensors;
    struct description description = {
        .operation = whole->operation,
        .tensors =
            {[SRC] = number ? between : &tensors[SRC], [DST] = number ? &tensors[DST] : between},
        .attributes = number == packed_stage(whole) ? &attributes_default : &whole->attributes,
    };
    problem_init(stage, &description);
}

/* Nobody's, with no cycles, if the stage is not served. */
static __attribute__((noinline)) struct candidate best_of_stage(const struct problem *whole,
                                                                const neo_memory_desc *between,
                                                                int number, const struct cpu *cpu)
{
    struct problem stage;
    make_stage(&stage, whole, between, number);
    return selection_best(&stage, NULL, cpu);
}

static struct candidate best_of_packed_stage(const struct problem *whole, const struct cpu *cpu)
{
    neo_memory_desc between = between_of(whole);
    return best_of_stage(whole, &between, packed_stage(whole), cpu);
}

static bool has_sum(const neo_attributes *attributes)
{
    for (int i = 0; i < attributes->post_op_count; i++)
        if (attributes->post_ops[i].kind == NEO_POST_OP_SUM)
            return true;
    return false;
}

static const char *refuse_packed(const struct problem *whole, const struct cpu *cpu)
{
    if (block_layout_is(packed_side(whole)->packed.id))
        return "weights in blocks have scales of their own, which neo_block_weights_import() makes";
    if (best_of_packed_stage(whole, cpu).algorithm)
        return NULL;
    return packs(whole) ? "plain weights of dst's own type cannot be packed into its layout"
                        : "src cannot be unpacked into plain weights of its own type";
}

static const char *converted_refuse(const struct algorithm *self, const struct problem *problem,
                                    const struct cpu *cpu)
{
    (void)self;
    if (is_packed(&problem->tensors[SRC]) == is_packed(&problem->tensors[DST]))
        return "not exactly one side is packed";
    if (plain_side(problem)->data_type == type_between(problem) &&
        !problem->attributes.post_op_count && !problem->attributes.quantization_count)
        return "nothing is converted";
    if (packs(problem) && has_sum(&problem->attributes))
        return "a sum post-operation has no packed dst to read";
    return refuse_packed(problem, cpu);
}

static double converted_estimate(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    neo_memory_desc between = between_of(problem);
    double cycles = 0;
    (void)self;
    for (int i = 0; i < STAGES; i++)
        cycles += best_of_stage(problem, &between, i, cpu).cost.cycles;
    return cycles;
}

static void converted_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct reorder_converted *mine = plan;
    mine->kernel = best_of_packed_stage(problem, cpu).algorithm->name;
    mine->between = between_of(problem);
}

static neo_status nest_stage(struct implementation *implementation, int number)
{
    const struct reorder_converted *mine = (const void *)implementation->plan;
    struct problem stage;
    make_stage(&stage, &implementation->problem, &mine->between, number);
    struct description description = problem_describe(&stage);
    return implementation_nest(implementation, &description);
}

static neo_status converted_nest(struct implementation *implementation)
{
    neo_status status = nest_stage(implementation, 0);
    return status == NEO_OK ? nest_stage(implementation, 1) : status;
}

/* All of the tensor: what packs reads it in an order of its own. */
static size_t converted_scratch_bytes(const void *plan, int threads)
{
    const struct reorder_converted *mine = plan;
    (void)threads;
    return neo_memory_desc_size(&mine->between);
}

static const char *converted_kernel(const void *plan)
{
    return ((const struct reorder_converted *)plan)->kernel;
}

static void converted_run(const void *plan, const struct execution *execution)
{
    void *first[TENSOR_COUNT] = {[SRC] = execution->buffers[SRC], [DST] = execution->scratch};
    void *second[TENSOR_COUNT] = {[SRC] = execution->scratch, [DST] = execution->buffers[DST]};
    (void)plan;
    implementation_run_nested(execution, 0, first);
    implementation_run_nested(execution, 1, second);
}

const struct algorithm reorder_converted = {
    .name = "converted",
    .types = reorder_all_types,
    .quantizes = true,
    .refuse = converted_refuse,
    .estimate = converted_estimate,
    .plan = converted_plan,
    .plan_bytes = sizeof(struct reorder_converted),
    .nest = converted_nest,
    .scratch_bytes = converted_scratch_bytes,
    .kernel = converted_kernel,
    .run = converted_run,
};
