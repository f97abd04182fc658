/* Convolution: what layouts algorithms choose and decline, and weights that are packed at each
 * execution. */
#include "src/convolution/convolution.h"
#include "src/packed/pack.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

void convolution_choose_packed(const struct algorithm *self, struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind == NEO_FORMAT_ANY)
        layout_set(weights, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
}

const float *convolution_packed_weights(const struct execution *execution, const struct cpu *cpu)
{
    const neo_memory_desc *given = &execution->problem->tensors[WEIGHTS];
    if (given->format_kind == NEO_FORMAT_PACKED)
        return execution->buffers[WEIGHTS];
    neo_memory_desc packed = *given;
    layout_set(&packed, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(execution->problem));
    struct weights_transfer transfer = {.plain = given,
                                        .packed = &packed,
                                        .plain_data = execution->buffers[WEIGHTS],
                                        .packed_data = execution->scratch,
                                        .cpu = cpu};
    weights_pack(&transfer, execution->parallel, execution->threads);
    return execution->scratch;
}
