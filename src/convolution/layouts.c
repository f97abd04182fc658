/* Convolution: what layouts algorithms choose and decline, and weights that are packed at each
 * execution. */
#include "src/convolution/convolution.h"
#include "src/packed/pack.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

void convolution_set_channels_last(neo_memory_desc *desc)
{
    static const char *const tags[] = {"acb", "acdb", "acdeb"};
    desc->format_kind = NEO_FORMAT_ANY;
    desc_set_tag(desc, tags[desc->ndims - 3]);
}

void convolution_choose_images(struct problem *problem)
{
    neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    neo_memory_desc *bias = &problem->tensors[BIAS];
    if (src->format_kind == NEO_FORMAT_ANY && dst->format_kind == NEO_FORMAT_ANY) {
        convolution_set_channels_last(src);
        convolution_set_channels_last(dst);
    }
    if (src->format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(src, dst);
    if (dst->format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(dst, src);
    if (bias->ndims && bias->format_kind == NEO_FORMAT_ANY)
        desc_set_plain(bias);
}

void convolution_choose_packed(const struct algorithm *self, struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind == NEO_FORMAT_ANY)
        layout_set(weights, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
}

const char *convolution_refuse_tensors(const struct problem *problem, uint32_t layout)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != layout)
        return "the weights are packed for another algorithm";
    if (bias->ndims && bias->dims[0] != 1 && bias->format_kind == NEO_FORMAT_STRIDED &&
        bias->strides[0] != 1)
        return "the values of bias do not follow each other";
    return NULL;
}

const char *convolution_refuse_direct(const struct problem *problem)
{
    return problem->convolution_algorithm == NEO_CONVOLUTION_WINOGRAD ? "Winograd was asked for"
                                                                      : NULL;
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
