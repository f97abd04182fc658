/* Matrix multiplication: the public function, checks, shapes. */
#include "src/matmul/matmul.h"

#include <math.h>
#include <stdio.h>

#include "neoprene/matmul.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

/* ---- checks ---- */

/* Sizes that have to be the same may also be unknown on one side. */
static bool same(neo_dim a, neo_dim b)
{
    return a == b || a == NEO_RUNTIME_DIM || b == NEO_RUNTIME_DIM;
}

static bool same_or_one(neo_dim a, neo_dim dst)
{
    return a == 1 || same(a, dst);
}

static const char *check_batch(const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    for (int i = 0; i < dst->ndims - 2; i++) {
        if (!same_or_one(src->dims[i], dst->dims[i]))
            return "a batch size of src is neither dst's nor 1";
        if (!same_or_one(weights->dims[i], dst->dims[i]))
            return "a batch size of weights is neither dst's nor 1";
        bool both_one = src->dims[i] == 1 && weights->dims[i] == 1;
        if (both_one && !same(dst->dims[i], 1))
            return "a batch size of dst is that of neither src nor weights";
    }
    return NULL;
}

static const char *check_bias(const struct problem *problem)
{
    const neo_memory_desc *bias = &problem->tensors[BIAS], *dst = &problem->tensors[DST];
    if (bias->ndims == 0)
        return NULL;
    if (bias->ndims != dst->ndims)
        return "bias has another number of dimensions than dst";
    for (int i = 0; i < dst->ndims; i++)
        if (!same_or_one(bias->dims[i], dst->dims[i]))
            return "a size of bias is neither dst's nor 1";
    return NULL;
}

static const char *check_any(const struct problem *problem)
{
    for (int t = 0; t < TENSOR_COUNT; t++) {
        const neo_memory_desc *desc = &problem->tensors[t];
        if (desc->ndims && desc->format_kind == NEO_FORMAT_ANY && desc_is_runtime(desc))
            return "a tensor with a run-time size cannot be `any`";
    }
    return NULL;
}

static const char *matmul_check(struct problem *problem, bool *unsupported)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    (void)unsupported;
    int ndims = dst->ndims;
    if (!src->ndims || !weights->ndims || !ndims)
        return "src, weights or dst is absent";
    if (ndims < 2 || src->ndims != ndims || weights->ndims != ndims)
        return "src, weights and dst do not have the same number of dimensions, at least 2";
    if (!same(src->dims[ndims - 2], dst->dims[ndims - 2]))
        return "M of src is not M of dst";
    if (!same(weights->dims[ndims - 1], dst->dims[ndims - 1]))
        return "N of weights is not N of dst";
    if (!same(src->dims[ndims - 1], weights->dims[ndims - 2]))
        return "K of src is not K of weights";
    for (int t = SRC; t <= DST; t++)
        if (t != WEIGHTS && problem->tensors[t].format_kind == NEO_FORMAT_PACKED)
            return "only weights can be packed";
    const char *wrong = check_batch(problem);
    if (!wrong)
        wrong = check_bias(problem);
    return wrong ? wrong : check_any(problem);
}

/* ---- shapes ---- */

void matmul_choose_plain(const struct algorithm *self, struct problem *problem,
                         const struct cpu *cpu)
{
    (void)self, (void)cpu;
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims && problem->tensors[t].format_kind == NEO_FORMAT_ANY)
            desc_set_plain(&problem->tensors[t]);
}

void matmul_choose_packed(const struct algorithm *self, struct problem *problem,
                          const struct cpu *cpu)
{
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        layout_set(&problem->tensors[WEIGHTS], LAYOUT_MATMUL_F32, false);
    matmul_choose_plain(self, problem, cpu);
}

struct matmul_shape matmul_shape(const struct problem *problem)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    int ndims = dst->ndims;
    struct matmul_shape shape = {
        .batch = 1,
        .m = dst->dims[ndims - 2],
        .n = dst->dims[ndims - 1],
        .k = problem->tensors[SRC].dims[ndims - 1],
    };
    for (int i = 0; i < ndims - 2; i++)
        if (shape.batch == NEO_RUNTIME_DIM || dst->dims[i] == NEO_RUNTIME_DIM)
            shape.batch = NEO_RUNTIME_DIM;
        else
            shape.batch *= dst->dims[i];
    return shape;
}

bool matmul_is_contiguous(const neo_memory_desc *desc, int dim)
{
    return desc->format_kind == NEO_FORMAT_ANY || desc->dims[dim] == 1 || desc->strides[dim] == 1;
}

bool matmul_is_bias_by_column(const struct problem *problem)
{
    const neo_memory_desc *bias = &problem->tensors[BIAS], *dst = &problem->tensors[DST];
    int last = bias->ndims - 1;
    for (int i = 0; i < last; i++)
        if (bias->dims[i] != 1)
            return false;
    if (bias->ndims && bias->dims[last] == 1)
        return dst->dims[last] == 1;
    return bias->ndims && bias->strides[last] == 1;
}

void matmul_position(const struct problem *problem, size_t index, neo_dim *position)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    position[dst->ndims - 1] = position[dst->ndims - 2] = 0;
    for (int i = dst->ndims - 3; i >= 0; i--) {
        position[i] = (neo_dim)(index % (size_t)dst->dims[i]);
        index /= (size_t)dst->dims[i];
    }
}

neo_dim matmul_batch_offset(const neo_memory_desc *tensor, const neo_dim *position)
{
    neo_dim offset = 0;
    for (int i = 0; i < tensor->ndims - 2; i++)
        if (tensor->dims[i] != 1)
            offset += position[i] * tensor->strides[i];
    return offset;
}

size_t matmul_weights_index(const neo_memory_desc *weights, const neo_dim *position)
{
    size_t index = 0;
    for (int i = 0; i < weights->ndims - 2; i++)
        index =
            index * (size_t)weights->dims[i] + (weights->dims[i] == 1 ? 0 : (size_t)position[i]);
    return index;
}

static void matmul_describe(const struct problem *problem, char *out, size_t size)
{
    char src[DESC_TEXT_BYTES], weights[DESC_TEXT_BYTES];
    snprintf(out, size, "%s:%s", desc_dims_text(&problem->tensors[SRC], src, sizeof src),
             desc_dims_text(&problem->tensors[WEIGHTS], weights, sizeof weights));
}

static const struct algorithm *const matmul_algorithms[] = {
    &matmul_dot, &matmul_direct, &matmul_gemm, &matmul_swapped, &matmul_reference};
_Static_assert(count_of(matmul_algorithms) <= MAX_ALGORITHMS, "there is room to rank all");

const struct operation matmul_operation = {
    .name = "matmul",
    .check = matmul_check,
    .algorithms = matmul_algorithms,
    .algorithm_count = count_of(matmul_algorithms),
    .describe = matmul_describe,
};

const struct algorithm *matmul_best(const struct problem *problem, const struct cpu *cpu)
{
    const struct algorithm *best = &matmul_reference;
    double least = HUGE_VAL;
    for (size_t i = 0; i < count_of(matmul_algorithms); i++) {
        const struct algorithm *algorithm = matmul_algorithms[i];
        if (algorithm->refuse(algorithm, problem, cpu))
            continue;
        double cycles = algorithm->estimate(algorithm, problem, cpu);
        if (cycles < least)
            least = cycles, best = algorithm;
    }
    return best;
}

neo_status neo_matmul_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                            const neo_matmul_desc *desc,
                                            const neo_attributes *attributes)
{
    if (out)
        *out = NULL;
    if (!out || !engine || !desc)
        return log_refusal(__func__, "out, engine or desc is NULL");
    struct description description = {
        .operation = &matmul_operation,
        .tensors = {&desc->src, &desc->weights, &desc->bias, &desc->dst},
        .attributes = attributes,
    };
    return primitive_desc_create(out, engine, &description);
}
