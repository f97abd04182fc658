/* Matrix multiplication: what can be wrong with a description. */
#include "src/matmul/matmul.h"
#include "src/primitive/types.h"
#include "src/tensor/descriptor.h"

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
    }
    return NULL;
}

/* A vector becomes one row that all matrices have in common. */
static void widen(neo_memory_desc *bias, int ndims)
{
    int last = ndims - 1;
    bias->ndims = ndims;
    bias->dims[last] = bias->dims[0];
    bias->strides[last] = bias->strides[0];
    for (int i = 0; i < last; i++)
        bias->dims[i] = bias->strides[i] = 1;
}

static const char *check_bias(struct problem *problem)
{
    neo_memory_desc *bias = &problem->tensors[BIAS], *dst = &problem->tensors[DST];
    if (bias->ndims == 0)
        return NULL;
    if (bias->ndims == 1)
        widen(bias, dst->ndims);
    if (bias->ndims != dst->ndims)
        return "bias has neither one dimension nor as many as dst";
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

const char *matmul_check(struct problem *problem, bool *unsupported)
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
