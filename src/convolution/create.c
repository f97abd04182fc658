/* Convolution: the public function. */
#include "neoprene/convolution.h"

#include "src/convolution/convolution.h"
#include "src/convolution/nested/fused.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/primitive.h"

neo_status neo_convolution_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                 const neo_convolution_desc *desc,
                                                 const neo_attributes *attributes)
{
    if (out)
        *out = NULL;
    if (!out || !engine || !desc)
        return log_refusal(__func__, "out, engine or desc is NULL");
    if (reserved_is_set(desc->reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    struct window window =
        window_of(desc->strides, desc->dilations, desc->padding_left, desc->padding_right);
    struct description description = {
        .operation = &convolution_operation,
        .tensors = {&desc->src, &desc->weights, &desc->bias, &desc->dst},
        .attributes = attributes,
        .prop_kind = desc->prop_kind,
        .convolution_algorithm = desc->algorithm,
        .window = &window,
    };
    bool is_fused = attributes && post_ops_depthwise(attributes) >= 0;
    return is_fused ? fused_create(out, engine, &description)
                    : primitive_desc_create(out, engine, &description);
}
