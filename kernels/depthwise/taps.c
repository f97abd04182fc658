/* The list of kernels for depthwise convolutions of any type. */
#include "kernels/depthwise/taps.h"

#define FIVE(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4]
#define TEN(t) FIVE(t), &(t)[5], &(t)[6], &(t)[7], &(t)[8], &(t)[9]
const struct depthwise_taps_kernel *const depthwise_taps_kernels[] = {
#if !NEO_PORTABLE
    TEN(depthwise_s8_dotprod), TEN(depthwise_s8_neon),  FIVE(depthwise_f32_neon),
    FIVE(depthwise_f16_fp16),  FIVE(depthwise_f16_fhm), FIVE(depthwise_f16_neon),
    FIVE(depthwise_bf16_neon),
#endif
    FIVE(depthwise_taps_ref),
};
#undef TEN
#undef FIVE
const size_t depthwise_taps_kernel_count =
    sizeof depthwise_taps_kernels / sizeof depthwise_taps_kernels[0];

static int suits(const struct depthwise_taps_kernel *kernel, size_t columns, size_t stride,
                 size_t dilation)
{
    return !kernel->columns ||
           (kernel->columns == columns && kernel->stride == stride && dilation == 1);
}

static int may_use(enum element kernels, enum element said)
{
    return kernels != ELEMENT_F16 || said == ELEMENT_F16;
}

const struct depthwise_taps_kernel *depthwise_taps_find(uint32_t features, enum element src,
                                                        enum element weights, enum element sum,
                                                        size_t columns, size_t stride,
                                                        size_t dilation)
{
    for (const struct depthwise_taps_kernel *const *k = depthwise_taps_kernels;; k++)
        if ((*k)->src == src && !((*k)->needs & ~features) && may_use((*k)->weights, weights) &&
            may_use((*k)->sum, sum) && suits(*k, columns, stride, dilation))
            return *k;
}
