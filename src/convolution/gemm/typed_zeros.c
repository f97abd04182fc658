/* Zero points of weights by channel of dst. */
#include <string.h>

#include "src/convolution/gemm/typed.h"
#include "src/gemm/shift.h"

void convolution_typed_weights_position(const struct execution *execution, size_t group,
                                        size_t channel, neo_dim *position)
{
    memset(position, 0, NEO_MAX_NDIMS * sizeof *position);
    if (convolution_is_grouped(execution->problem))
        position[0] = (neo_dim)group, position[1] = (neo_dim)channel;
    else
        position[0] = (neo_dim)channel;
}

int32_t convolution_typed_weights_zero_point(const struct execution *execution, size_t group,
                                             size_t channel)
{
    neo_dim position[NEO_MAX_NDIMS];
    convolution_typed_weights_position(execution, group, channel, position);
    return quantization_zero_point(execution, WEIGHTS, position);
}

int32_t convolution_typed_zero_of_weights(const struct typed_call *call, size_t group,
                                          size_t channel)
{
    return gemm_shift_zero(type_of(call->execution->problem, WEIGHTS),
                           convolution_typed_weights_zero_point(call->execution, group, channel));
}
