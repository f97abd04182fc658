/* The inner product as a matrix product: images and rows of weights are flattened where they are,
 * or after a copy in one order. */
#include "neoprene/inner_product.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/lines/copy.h"
#include "src/lines/operation.h"
#include "src/matmul/matmul.h"
#include "src/primitive/by_size.h"
#include "src/primitive/implementation.h"
#include "src/primitive/primitive.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"

struct inner_product_plan {
    const char *kernel;
    neo_memory_desc copies[2]; /* of SRC and WEIGHTS in the scratchpad; ndims 0: it is in place */
};

/* ---- checks ---- */

static const char *inner_product_check(struct problem *problem, bool *unsupported)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *bias = &problem->tensors[BIAS], *dst = &problem->tensors[DST];
    const char *wrong = problem_prop_kind_wrong(problem);
    if (wrong)
        return wrong;
    if (src->ndims < 2 || src->ndims > 5 || weights->ndims != src->ndims)
        return "src and weights do not have the same number of dimensions, 2 to 5";
    if (dst->ndims != 2 || (bias->ndims && bias->ndims != 1))
        return "dst does not have two dimensions, or bias not one";
    wrong = by_size_refuse_growing(problem, 1 << 0);
    *unsupported = wrong;
    if (wrong)
        return wrong;
    for (int i = 1; i < src->ndims; i++)
        if (src->dims[i] != weights->dims[i])
            return "src and weights differ in a size that is not the first one";
    if (!lines_is_same_size(dst->dims[0], src->dims[0]) || dst->dims[1] != weights->dims[0])
        return "dst does not have src's first size and weights' first size";
    return bias->ndims && bias->dims[0] != dst->dims[1]
               ? "bias does not have a value for each column of dst"
               : NULL;
}

/* As matmul has them, for all of a tensor, or for each column of dst. */
static const char *inner_product_check_quantization(const struct problem *problem,
                                                    const struct quantization *q, enum tensor t)
{
    (void)problem;
    int columns = t == WEIGHTS ? 1 : t == DST ? 2 : 0;
    return q->mask & ~columns || q->group_ndims
               ? "scales or zero points are neither one for a tensor nor one for a column of dst"
               : NULL;
}

/* ---- flattening ---- */

/* The order of the dimensions that are flattened, from the outermost in memory on. */
static int order_of(const neo_memory_desc *desc, int *order)
{
    int all[NEO_MAX_NDIMS], count = 0;
    desc_memory_order(desc, all);
    for (int i = 0; i < desc->ndims; i++)
        if (all[i] != 0 && desc->dims[all[i]] != 1)
            order[count++] = all[i];
    return count;
}

/* Does one stride lead through all of them, in this order? */
static bool is_flat(const neo_memory_desc *desc, const int *order, int count)
{
    for (int i = 0; i + 1 < count; i++)
        if (desc->strides[order[i]] != desc->strides[order[i + 1]] * desc->dims[order[i + 1]])
            return false;
    return true;
}

/* The same tensor without gaps, in the order of weights, with the first dimension outermost. */
static neo_memory_desc copy_of(const neo_memory_desc *desc, const int *order, int count)
{
    neo_memory_desc copy = *desc;
    neo_dim stride = 1;
    copy.offset = 0;
    for (int i = 1; i < desc->ndims; i++)
        copy.strides[i] = 1;
    for (int i = count - 1; i >= 0; i--) {
        copy.strides[order[i]] = stride;
        stride *= desc->dims[order[i]];
    }
    copy.strides[0] = stride;
    return copy;
}

/* A matrix of the first dimension by all others. */
static neo_memory_desc matrix_of(const neo_memory_desc *desc, const int *order, int count)
{
    neo_memory_desc matrix = *desc;
    matrix.ndims = 2;
    matrix.dims[1] = 1;
    for (int i = 0; i < count; i++)
        matrix.dims[1] *= desc->dims[order[i]];
    matrix.strides[1] = count ? desc->strides[order[count - 1]] : 1;
    return matrix;
}

static neo_memory_desc transposed(const neo_memory_desc *matrix)
{
    neo_memory_desc result = *matrix;
    for (int i = 0; i < 2; i++) {
        result.dims[i] = matrix->dims[1 - i];
        result.strides[i] = matrix->strides[1 - i];
    }
    return result;
}

/* The product of matrices; copies: of src and weights, ndims 0 where they stay in place. */
static void make_product(struct problem *product, const struct problem *problem,
                         neo_memory_desc copies[2])
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    int order[NEO_MAX_NDIMS], count = order_of(weights, order);
    memset(copies, 0, 2 * sizeof *copies);
    if (!is_flat(src, order, count))
        copies[0] = copy_of(src, order, count);
    if (!is_flat(weights, order, count))
        copies[1] = copy_of(weights, order, count);
    *product = *problem;
    product->operation = &matmul_operation;
    for (int i = 0; i < product->attributes.quantization_count; i++) {
        struct quantization *q = &product->attributes.quantizations[i];
        if (q->arg % NEO_ARG_ATTR_SCALES == NEO_ARG_WEIGHTS && q->mask)
            q->mask = 2; /* columns are the second dimension of a matrix */
    }
    neo_memory_desc columns = matrix_of(copies[1].ndims ? &copies[1] : weights, order, count);
    product->tensors[SRC] = matrix_of(copies[0].ndims ? &copies[0] : src, order, count);
    product->tensors[WEIGHTS] = transposed(&columns);
    neo_memory_desc *bias = &product->tensors[BIAS];
    if (bias->ndims) {
        bias->ndims = 2;
        bias->dims[1] = bias->dims[0];
        bias->strides[1] = bias->strides[0];
        bias->dims[0] = 1;
        bias->strides[0] = bias->dims[1] * bias->strides[1];
    }
}

/* ---- the algorithm ---- */

/* src, then the order of the one for the other; dst and bias row-major. */
static void inner_product_choose(const struct algorithm *self, struct problem *problem,
                                 const struct cpu *cpu)
{
    neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    (void)self, (void)cpu;
    if (src->format_kind == NEO_FORMAT_ANY && weights->format_kind != NEO_FORMAT_ANY)
        desc_set_order_of(src, weights);
    if (src->format_kind == NEO_FORMAT_ANY)
        desc_set_plain(src);
    if (weights->format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(weights, src);
    for (int t = BIAS; t <= DST; t++)
        if (problem->tensors[t].ndims && problem->tensors[t].format_kind == NEO_FORMAT_ANY)
            desc_set_plain(&problem->tensors[t]);
}

/* The product where tensors may be `any`. */
static __attribute__((noinline)) void
make_chosen_product(struct problem *product, const struct algorithm *self,
                    const struct problem *problem, const struct cpu *cpu, neo_memory_desc copies[2])
{
    struct problem chosen = *problem;
    inner_product_choose(self, &chosen, cpu);
    make_product(product, &chosen, copies);
}

static __attribute__((noinline)) double product_cycles(const struct algorithm *self,
                                                       const struct problem *problem,
                                                       const struct cpu *cpu,
                                                       neo_memory_desc copies[2])
{
    struct problem product;
    make_chosen_product(&product, self, problem, cpu, copies);
    return selection_best(&product, NULL, cpu).cost.cycles;
}

static double inner_product_estimate(const struct algorithm *self, const struct problem *problem,
                                     const struct cpu *cpu)
{
    neo_memory_desc copies[2];
    double cycles = product_cycles(self, problem, cpu, copies);
    for (int i = 0; i < 2; i++)
        if (copies[i].ndims)
            cycles += (double)neo_memory_desc_elements(&copies[i]);
    return cycles;
}

static void inner_product_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct inner_product_plan *mine = plan;
    struct problem product;
    make_product(&product, problem, mine->copies);
    const struct algorithm *best = selection_best(&product, NULL, cpu).algorithm;
    mine->kernel = best ? best->name : "";
}

static neo_status inner_product_nest(struct implementation *implementation)
{
    struct inner_product_plan *mine = (void *)implementation->plan;
    struct problem product;
    make_product(&product, &implementation->problem, mine->copies);
    struct description description = problem_describe(&product);
    return implementation_nest(implementation, &description);
}

static size_t copy_bytes(const neo_memory_desc *copy)
{
    return copy->ndims ? round_up(neo_memory_desc_size(copy), SCRATCH_ALIGNMENT) : 0;
}

static size_t inner_product_scratch_bytes(const void *plan, int threads)
{
    const struct inner_product_plan *mine = plan;
    (void)threads;
    return copy_bytes(&mine->copies[0]) + copy_bytes(&mine->copies[1]);
}

static const char *inner_product_kernel(const void *plan)
{
    return ((const struct inner_product_plan *)plan)->kernel;
}

static bool inner_product_is_nested_one(const void *plan)
{
    const struct inner_product_plan *mine = plan;
    return !mine->copies[0].ndims && !mine->copies[1].ndims;
}

static void inner_product_run(const void *plan, const struct execution *execution)
{
    const struct inner_product_plan *mine = plan;
    static const enum tensor copied[] = {SRC, WEIGHTS};
    void *buffers[TENSOR_COUNT];
    unsigned char *scratch = execution->scratch;
    memcpy(buffers, execution->buffers, sizeof buffers);
    for (int i = 0; i < 2; i++) {
        enum tensor t = copied[i];
        if (!mine->copies[i].ndims)
            continue;
        lines_copy(execution, &execution->problem->tensors[t], execution->buffers[t],
                   &mine->copies[i], scratch, 1);
        buffers[t] = scratch;
        scratch += copy_bytes(&mine->copies[i]);
    }
    implementation_run_nested(execution, 0, buffers);
}

static const struct algorithm inner_product_matmul = {
    .name = "matmul",
    .types = matmul_types,
    .quantizes = true,
    .refuse = lines_refuse,
    .choose = inner_product_choose,
    .estimate = inner_product_estimate,
    .plan = inner_product_plan,
    .plan_bytes = sizeof(struct inner_product_plan),
    .nest = inner_product_nest,
    .scratch_bytes = inner_product_scratch_bytes,
    .kernel = inner_product_kernel,
    .run = inner_product_run,
    .is_nested_one = inner_product_is_nested_one,
};

static const struct algorithm *const inner_product_algorithms[] = {&inner_product_matmul};

static const struct operation inner_product_operation = {
    .name = "inner_product",
    .types = matmul_types,
    .check = inner_product_check,
    .check_quantization = inner_product_check_quantization,
    .late = &by_size,
    .suppose = by_size_suppose_batch,
    .algorithms = inner_product_algorithms,
    .algorithm_count = count_of(inner_product_algorithms),
    .describe = lines_describe,
};

neo_status neo_inner_product_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                   const neo_inner_product_desc *desc,
                                                   const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !desc);
    if (status != NEO_OK)
        return status;
    if (reserved_is_set(desc->reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    struct description description = {
        .operation = &inner_product_operation,
        .tensors = {&desc->src, &desc->weights, &desc->bias, &desc->dst},
        .attributes = attributes,
        .prop_kind = desc->prop_kind,
    };
    return primitive_desc_create(out, engine, &description);
}
