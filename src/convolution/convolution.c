/* Convolution: the operation and its algorithms. */
#include "src/convolution/convolution.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/core/checked.h"
#include "src/primitive/by_size.h"
#include "src/primitive/types.h"

/* "ih*" for a size that is not known yet. */
static size_t write_size(char *out, size_t size, const char *name, neo_dim value)
{
    return (size_t)(value == NEO_RUNTIME_DIM ? snprintf(out, size, "%s*", name)
                                             : snprintf(out, size, "%s%" PRId64, name, value));
}

void convolution_describe(const struct problem *problem, char *out, size_t size)
{
    struct convolution_shape s = *convolution_shape_of(problem);
    static const char axes[] = "dhw";
    size_t used = (size_t)snprintf(out, size, "g%" PRId64, s.groups);
    used += write_size(out + used, size - used, "mb", s.batch);
    used += (size_t)snprintf(out + used, size - used, "_ic%" PRId64 "oc%" PRId64, s.ic * s.groups,
                             s.oc * s.groups);
    for (int i = SPACE - (problem->tensors[DST].ndims - 2); i < SPACE && used < size; i++) {
        const char in[] = {'_', 'i', axes[i], 0}, to[] = {'o', axes[i], 0};
        used += write_size(out + used, size - used, in, s.in[i]);
        if (used < size)
            used += write_size(out + used, size - used, to, s.out[i]);
        if (used < size)
            used += (size_t)snprintf(out + used, size - used,
                                     "k%c%" PRId64 "s%c%" PRId64 "d%c%" PRId64 "p%c%" PRId64,
                                     axes[i], s.kernel[i], axes[i], s.stride[i], axes[i],
                                     s.dilation[i] - 1, axes[i], s.padding[i]);
    }
}

/* Channels are dimension 1 of images; of weights they come first, after groups. */
static const char *convolution_check_quantization(const struct problem *problem,
                                                  const struct quantization *q, enum tensor t)
{
    int channels = t == WEIGHTS ? convolution_is_grouped(problem) ? 3 : 1 : 2;
    bool is_scale = q->arg & NEO_ARG_ATTR_SCALES;
    if (q->group_ndims)
        return "scales or zero points are in groups";
    if (q->mask & ~channels)
        return "scales or zero points are not the same along other dimensions than channels";
    if (t == SRC && is_scale && q->mask)
        return "src has a scale for each channel";
    return NULL;
}

static const struct algorithm *const convolution_algorithms[] = {
    &convolution_depthwise,
    &convolution_depthwise_typed,
    &convolution_winograd_2,
    &convolution_winograd_4,
    &convolution_winograd_6,
    &convolution_planes,
    &convolution_rows,
    &convolution_indirect,
    &convolution_gemm,
    &convolution_typed,
    &convolution_columns,
    &convolution_matmul,
    &convolution_transposed,
    &convolution_transposed_winograd_2,
    &convolution_transposed_winograd_4,
    &convolution_transposed_winograd_6,
    &convolution_transposed_planes,
    &convolution_dilated_winograd_2,
    &convolution_dilated_winograd_4,
    &convolution_dilated_winograd_6,
    &convolution_reference,
};
_Static_assert(count_of(convolution_algorithms) <= MAX_ALGORITHMS, "there is room to rank all");

const struct operation convolution_operation = {
    .name = "convolution",
    .check = convolution_check,
    .derive = convolution_derive,
    .late = &by_size,
    .suppose = convolution_suppose,
    .types = convolution_types,
    .check_quantization = convolution_check_quantization,
    .algorithms = convolution_algorithms,
    .algorithm_count = count_of(convolution_algorithms),
    .describe = convolution_describe,
};
