/* Deconvolution: the public function and its checks, and likely sizes. */
#include "src/deconvolution/deconvolution.h"

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/lines/operation.h"
#include "src/primitive/by_size.h"
#include "src/primitive/primitive.h"
#include "src/primitive/types.h"
#include "src/tensor/descriptor.h"

#define MOST_SPACE ((neo_dim)1 << 30)

static bool is_small(neo_dim value, neo_dim least)
{
    return value >= least && value <= MOST_SPACE;
}

static neo_dim out_for(const struct problem *problem, int i, neo_dim in)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    const struct window *window = &problem->window;
    neo_dim kernel = weights->dims[weights->ndims - problem->tensors[DST].ndims + 2 + i];
    return (in - 1) * window->strides[i] + (kernel - 1) * (window->dilations[i] + 1) + 1 -
           window->left[i] - window->right[i];
}

static const char *check_dimension(const struct problem *problem, int i)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    const struct window *window = &problem->window;
    neo_dim in = problem->tensors[SRC].dims[2 + i], out = problem->tensors[DST].dims[2 + i];
    neo_dim kernel = weights->dims[weights->ndims - problem->tensors[DST].ndims + 2 + i];
    if (!is_small(window->strides[i], 1) || !is_small(window->dilations[i], 0) ||
        !is_small(window->left[i], -MOST_SPACE) || !is_small(window->right[i], -MOST_SPACE) ||
        !is_small(kernel, 1) || (in != NEO_RUNTIME_DIM && !is_small(in, 1)))
        return "a stride is below 1, a dilation negative, a size 0, or one of them beyond 2^30";
    if (in == NEO_RUNTIME_DIM || out == NEO_RUNTIME_DIM)
        return NULL;
    if (out_for(problem, i, in) != out)
        return "a size of dst is not what follows from src, weights, stride and padding";
    return NULL;
}

static const char *check_channels(const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *bias = &problem->tensors[BIAS], *dst = &problem->tensors[DST];
    int first = deconvolution_is_grouped(problem);
    neo_dim groups = first ? weights->dims[0] : 1;
    if (!lines_is_same_size(src->dims[0], dst->dims[0]))
        return "src and dst do not have the same batch";
    if (groups < 1 || weights->dims[first] * groups != dst->dims[1] ||
        weights->dims[first + 1] * groups != src->dims[1])
        return "the channels of weights are not those of src and dst";
    if (bias->ndims && (bias->ndims != 1 || bias->dims[0] != dst->dims[1]))
        return "bias does not have a value for each channel of dst";
    return NULL;
}

static const char *deconvolution_check(struct problem *problem, bool *unsupported)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    const char *wrong = problem_prop_kind_wrong(problem);
    if (wrong)
        return wrong;
    if (src->ndims != dst->ndims || src->ndims < 3 || src->ndims > 5)
        return "src and dst do not have the same number of dimensions, 3 to 5";
    if (weights->ndims != dst->ndims && weights->ndims != dst->ndims + 1)
        return "weights do not have dst's number of dimensions, or one more for groups";
    wrong = by_size_refuse_growing(problem, ~(1u << 1));
    *unsupported = wrong;
    if (!wrong)
        wrong = check_channels(problem);
    for (int i = 0; i < dst->ndims - 2 && !wrong; i++)
        wrong = check_dimension(problem, i);
    return wrong;
}

/* The sums of an output channel have one factor. */
static const char *check_quantization(const struct problem *problem, const struct quantization *q,
                                      enum tensor t)
{
    int channels = deconvolution_is_grouped(problem) ? 3 : 1;
    if (t == DST)
        return NULL;
    bool is_zero_point = q->arg & NEO_ARG_ATTR_ZERO_POINTS;
    bool is_by_channel = q->mask == 2 && !q->group_ndims;
    if (t == SRC)
        return q->mask == 0 || (is_zero_point && is_by_channel)
                   ? NULL
                   : "src of a deconvolution takes one scale, and one zero point, or one a channel";
    if (is_zero_point)
        return "weights of a deconvolution take no zero points";
    return q->mask == 0 || q->mask == channels
               ? NULL
               : "weights of a deconvolution take one scale, or one an output channel";
}

/* ---- sizes that are likely ---- */

/* Of src along each dimension of space: decoders and generators have most of their work there. */
static const neo_dim likely_in = 16;

/* Of src for a size of dst, or the next one that gives dst some: 1 at least. */
static neo_dim in_for(const struct problem *problem, int i, neo_dim out)
{
    neo_dim stride = problem->window.strides[i], more = out - out_for(problem, i, 1);
    return more > 0 ? (more + stride - 1) / stride + 1 : 1;
}

static void suppose_along(struct problem *problem, int i)
{
    neo_dim *in = &problem->tensors[SRC].dims[2 + i], *out = &problem->tensors[DST].dims[2 + i];
    if (*in == NEO_RUNTIME_DIM) {
        neo_dim least = in_for(problem, i, *out == NEO_RUNTIME_DIM ? 1 : *out);
        *in = *out == NEO_RUNTIME_DIM && least < likely_in ? likely_in : least;
    }
    *out = out_for(problem, i, *in);
}

static void deconvolution_suppose(struct problem *problem)
{
    by_size_suppose_batch(problem);
    for (int i = 0; i < problem->tensors[DST].ndims - 2; i++)
        suppose_along(problem, i);
}

static const struct algorithm *const deconvolution_algorithms[] = {&deconvolution_columns};

static const struct operation deconvolution_operation = {
    .name = "deconvolution",
    .takes_all_types = true,
    .check = deconvolution_check,
    .check_quantization = check_quantization,
    .late = &by_size,
    .suppose = deconvolution_suppose,
    .algorithms = deconvolution_algorithms,
    .algorithm_count = count_of(deconvolution_algorithms),
    .describe = lines_describe,
};

neo_status neo_deconvolution_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                   const neo_deconvolution_desc *desc,
                                                   const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !desc);
    if (status != NEO_OK)
        return status;
    if (reserved_is_set(desc->reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    struct window window = window_of(desc->strides, desc->dilations, desc->padding_left,
                                     desc->padding_right); /* weights have its size */
    struct description description = {
        .operation = &deconvolution_operation,
        .tensors = {&desc->src, &desc->weights, &desc->bias, &desc->dst},
        .attributes = attributes,
        .prop_kind = desc->prop_kind,
        .window = &window,
    };
    return primitive_desc_create(out, engine, &description);
}
