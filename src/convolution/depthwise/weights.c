/* Depthwise convolution: plain weights are packed when they are needed. */
#include "src/convolution/depthwise/depthwise.h"
#include "src/packed/pack.h"
#include "src/tensor/layout.h"
#include "src/threading/partition.h"

enum { PACK_CYCLES = 2 /* for each of the plain weights */ };

/* Weights of several output channels a group, or without groups; a tap after the other. */
static void pack_repeated(const struct convolution_depthwise *plan, const float *weights,
                          float *packed)
{
    const struct convolution_shape *s = &plan->shape;
    for (size_t tap = 0; tap < plan->taps; tap++)
        plan->copy(&(struct copy_f32_plane){
            .rows = (size_t)s->groups,
            .cols = plan->multiplier,
            .src = weights + convolution_weights_tap(s, tap),
            .src_row = s->weights_g,
            .src_col = s->weights_o,
            .dst = packed + tap * plan->channels,
            .dst_row = (ptrdiff_t)plan->multiplier,
            .dst_col = 1,
        });
}

const float *depthwise_weights(const struct convolution_depthwise *plan,
                               const struct execution *execution)
{
    const neo_memory_desc *given = &execution->problem->tensors[WEIGHTS];
    if (!plan->packed_bytes)
        return execution->buffers[WEIGHTS];
    if (plan->multiplier > 1 || !convolution_is_grouped(execution->problem)) {
        pack_repeated(plan, execution->buffers[WEIGHTS], execution->scratch);
        return execution->scratch;
    }
    neo_memory_desc packed = *given;
    layout_set(&packed, LAYOUT_DEPTHWISE_F32, true);
    struct weights_transfer transfer = {.plain = given,
                                        .packed = &packed,
                                        .plain_data = execution->buffers[WEIGHTS],
                                        .packed_data = execution->scratch,
                                        .cpu = plan->cpu};
    size_t floats = plan->packed_bytes / sizeof(float);
    double cycles = (double)PACK_CYCLES * (double)floats;
    weights_pack(&transfer, execution->parallel,
                 partition_threads(cycles, execution->threads, plan->cpu->core));
    return execution->scratch;
}
