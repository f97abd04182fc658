/* A product whose dst has contiguous columns, as the transposed product: dst^T = weights^T src^T.
 * Descriptors are transposed, no element moves. What BLAS calls column-major is then what the other
 * algorithms know as rows; of nested products, the best is taken. */
#include "src/matmul/quantized.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/selection.h"

struct matmul_swapped {
    const char *kernel; /* the algorithm of the nested product */
};

/* Which tensor of the product each one of the transposed product is. */
static const int origin[TENSOR_COUNT] = {
    [SRC] = WEIGHTS, [WEIGHTS] = SRC, [BIAS] = BIAS, [DST] = DST};

static void transpose(neo_memory_desc *desc)
{
    if (desc->ndims < 2)
        return;
    neo_dim *sizes = desc->dims + desc->ndims - 2, *strides = desc->strides + desc->ndims - 2;
    neo_dim size = sizes[0], stride = strides[0];
    sizes[0] = sizes[1], strides[0] = strides[1];
    sizes[1] = size, strides[1] = stride;
}

static void make_swapped(struct problem *swapped, const struct problem *problem)
{
    *swapped = (struct problem){.operation = problem->operation, .attributes = problem->attributes};
    for (int t = 0; t < TENSOR_COUNT; t++) {
        swapped->tensors[t] = problem->tensors[origin[t]];
        transpose(&swapped->tensors[t]);
    }
}

/* Of one column from src whose columns are contiguous: as one row from rows, no element of src is
 * far from the one before. One element is a row already: it would be turned again and again. */
static bool is_better_as_row(const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    int last = dst->ndims - 1;
    return dst->dims[last] == 1 && dst->dims[last - 1] != 1 && dst->strides[last - 1] == 1 &&
           src->format_kind == NEO_FORMAT_STRIDED && src->strides[last - 1] == 1 &&
           src->strides[last] != 1;
}

static const char *swapped_refuse(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    (void)self, (void)cpu;
    if (problem_is_runtime(problem))
        return "a size is known only at run time";
    if (problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED)
        return "packed weights cannot be transposed";
    bool rows = matmul_is_contiguous(dst, dst->ndims - 1) && !is_better_as_row(problem);
    if (rows || !matmul_is_contiguous(dst, dst->ndims - 2))
        return "columns of dst are not contiguous, or its rows are too";
    if (post_ops_have_operand(&problem->attributes))
        return "a post-operation has an operand";
    if (matmul_is_dynamic(problem))
        return MATMUL_IS_DYNAMIC;
    return NULL;
}

/* The same where tensors may be `any`. */
static __attribute__((noinline)) void make_chosen(struct problem *swapped,
                                                  const struct algorithm *self,
                                                  const struct problem *problem,
                                                  const struct cpu *cpu)
{
    struct problem chosen = *problem;
    matmul_choose_plain(self, &chosen, cpu);
    make_swapped(swapped, &chosen);
}

static double swapped_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    const double nesting = 40 * cpu->core->slowness;
    struct problem swapped;
    make_chosen(&swapped, self, problem, cpu);
    return nesting + selection_best(&swapped, NULL, cpu).cost.cycles;
}

static void swapped_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct problem swapped;
    make_swapped(&swapped, problem);
    ((struct matmul_swapped *)plan)->kernel = selection_best(&swapped, NULL, cpu).algorithm->name;
}

static neo_status swapped_nest(struct implementation *implementation)
{
    struct problem swapped;
    make_swapped(&swapped, &implementation->problem);
    struct description description = problem_describe(&swapped);
    return implementation_nest(implementation, &description);
}

static const char *swapped_kernel(const void *plan)
{
    return ((const struct matmul_swapped *)plan)->kernel;
}

static bool swapped_is_nested_one(const void *plan)
{
    (void)plan;
    return true;
}

static void swapped_run(const void *plan, const struct execution *execution)
{
    void *buffers[TENSOR_COUNT];
    (void)plan;
    for (int t = 0; t < TENSOR_COUNT; t++)
        buffers[t] = execution->buffers[origin[t]];
    implementation_run_nested(execution, 0, buffers);
}

const struct algorithm matmul_swapped = {
    .name = "swapped",
    .refuse = swapped_refuse,
    .choose = matmul_choose_plain,
    .estimate = swapped_estimate,
    .plan = swapped_plan,
    .plan_bytes = sizeof(struct matmul_swapped),
    .nest = swapped_nest,
    .kernel = swapped_kernel,
    .run = swapped_run,
    .is_nested_one = swapped_is_nested_one,
    .swaps = true,
};
