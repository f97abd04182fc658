/* Convolution: what can be wrong with a description. */
#include "src/convolution/convolution.h"
#include "src/core/log.h"
#include "src/primitive/by_size.h"

static const char *check_ndims(const struct problem *problem)
{
    const neo_memory_desc *tensors = problem->tensors;
    int ndims = tensors[DST].ndims;
    if (!tensors[SRC].ndims || !tensors[WEIGHTS].ndims || !ndims)
        return "src, weights or dst is absent";
    if (ndims < 3 || ndims > 5 || tensors[SRC].ndims != ndims)
        return "src and dst do not both have 3, 4 or 5 dimensions";
    if (tensors[WEIGHTS].ndims != ndims && tensors[WEIGHTS].ndims != ndims + 1)
        return "weights have neither as many dimensions as dst nor one more for groups";
    for (int t = SRC; t <= DST; t++)
        if (t != WEIGHTS && tensors[t].format_kind == NEO_FORMAT_PACKED)
            return "only weights can be packed";
    if (tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED &&
        tensors[WEIGHTS].packed.grouped != convolution_is_grouped(problem))
        return "packed weights disagree with the number of dimensions about groups";
    return NULL;
}

static const char *check_channels(const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST], *bias = &problem->tensors[BIAS];
    bool grouped = convolution_is_grouped(problem);
    neo_dim groups = grouped ? weights->dims[0] : 1;
    neo_dim oc = weights->dims[grouped], ic = weights->dims[grouped + 1];
    if (groups < 1)
        return "there are no groups";
    if (src->dims[0] != dst->dims[0] && src->dims[0] != NEO_RUNTIME_DIM &&
        dst->dims[0] != NEO_RUNTIME_DIM)
        return "the batch of src is not that of dst";
    if (src->dims[1] % groups || src->dims[1] / groups != ic)
        return "the channels of src are not groups times the input channels of weights";
    if (dst->dims[1] % groups || dst->dims[1] / groups != oc)
        return "the channels of dst are not groups times the output channels of weights";
    if (bias->ndims && (bias->ndims != 1 || bias->dims[0] != dst->dims[1]))
        return "bias is not one value per channel of dst";
    return NULL;
}

/* Along one dimension; sizes of src and dst may be run-time ones, of which the smallest is taken
 * for src to see what overflows. */
static const char *check_window(const struct problem *problem, int i)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    neo_dim in = problem->tensors[SRC].dims[2 + i], out = problem->tensors[DST].dims[2 + i];
    neo_dim taps = weights->dims[weights->ndims - (problem->tensors[DST].ndims - 2) + i];
    neo_dim stride = problem->window.strides[i], dilation = problem->window.dilations[i];
    neo_dim left = problem->window.left[i], right = problem->window.right[i], extent, padded;
    bool is_late = in == NEO_RUNTIME_DIM || out == NEO_RUNTIME_DIM;
    if (stride < 1 || stride > INT32_MAX)
        return "a stride is out of range";
    if (dilation < 0 || dilation >= INT32_MAX)
        return "a dilation is out of range";
    if (left < 0)
        return "a padding on the left is negative";
    if (taps < 1)
        return "a kernel size is less than 1";
    if (__builtin_mul_overflow(taps - 1, dilation + 1, &extent) ||
        __builtin_add_overflow(in == NEO_RUNTIME_DIM ? 0 : in, left, &padded) ||
        __builtin_add_overflow(padded, right, &padded) ||
        __builtin_sub_overflow(padded, extent, &padded) || left > INT32_MAX || right > INT32_MAX ||
        extent > INT32_MAX)
        return "the padding or the kernel's extent is out of range";
    neo_dim expected = padded < 1 ? 0 : (padded - 1) / stride + 1;
    if (!is_late && expected != out) {
        log_check("convolution: dimension %d of dst has %lld, and %lld follow", 2 + i,
                  (long long)out, (long long)expected);
        return "a spatial size of dst does not follow from src, kernel, stride, dilation and "
               "padding";
    }
    return NULL;
}

static const char *check_space(const struct problem *problem)
{
    const char *wrong = NULL;
    for (int i = 0; i < problem->tensors[DST].ndims - 2 && !wrong; i++)
        wrong = check_window(problem, i);
    return wrong;
}

const char *convolution_check(struct problem *problem, bool *unsupported)
{
    const char *wrong = problem_prop_kind_wrong(problem);
    if (wrong)
        return wrong;
    if ((unsigned)problem->convolution_algorithm > NEO_CONVOLUTION_WINOGRAD)
        return "the algorithm is unknown";
    wrong = check_ndims(problem);
    if (wrong)
        return wrong;
    wrong = by_size_refuse(problem, ~(1u << 1));
    *unsupported = wrong;
    if (!wrong)
        wrong = check_channels(problem);
    return wrong ? wrong : check_space(problem);
}
