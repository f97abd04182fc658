#include "tests/perf/operations_acl.h"

#include <arm_compute/runtime/NEON/NEFunctions.h>

#include <algorithm>

namespace
{

using arm_compute::ActivationLayerInfo;
using arm_compute::ConvertPolicy;
using arm_compute::DataLayout;
using arm_compute::IFunction;
using arm_compute::PoolingType;
using arm_compute::Status;
using arm_compute::Tensor;
using arm_compute::TensorInfo;
using arm_compute::TensorShape;

using Made = std::unique_ptr<IFunction>;
using Problem = struct operation_problem;

void init(Tensor &tensor, const TensorShape &shape)
{
    TensorInfo info(shape, 1, arm_compute::DataType::F32);
    info.set_data_layout(DataLayout::NHWC);
    tensor.allocator()->init(info);
}

/* One of the library's functions, if it takes the tensors. */
template <typename Function, typename... More>
Status make_of_one(Made &made, operation_tensors &t, More... more)
{
    Status status = Function::validate(t.src.info(), t.dst.info(), more...);
    if (status) {
        auto function = std::make_unique<Function>();
        function->configure(&t.src, &t.dst, more...);
        made = std::move(function);
    }
    return status;
}

template <typename Function, typename... More>
Status make_of_two(Made &made, operation_tensors &t, More... more)
{
    Status status = Function::validate(t.src.info(), t.second.info(), t.dst.info(), more...);
    if (status) {
        auto function = std::make_unique<Function>();
        function->configure(&t.src, &t.second, &t.dst, more...);
        made = std::move(function);
    }
    return status;
}

Status make_activation(Made &made, operation_tensors &t,
                       ActivationLayerInfo::ActivationFunction function, float a = 0, float b = 0)
{
    return make_of_one<arm_compute::NEActivationLayer>(made, t,
                                                       ActivationLayerInfo(function, a, b));
}

Status make_pool(Made &made, operation_tensors &t, const Problem &p, PoolingType type)
{
    auto size = [](size_t value) { return static_cast<unsigned>(value); };
    auto after = [&p](int dim) {
        return static_cast<unsigned>(std::max<ptrdiff_t>(operation_pad_after(&p, dim), 0));
    };
    arm_compute::PadStrideInfo geometry(size(p.stride), size(p.stride), size(p.pad),
                                        after(1), size(p.pad),
                                        after(0),
                                        arm_compute::DimensionRoundingType::FLOOR);
    arm_compute::PoolingLayerInfo info(type, size(p.kernel), DataLayout::NHWC, geometry, true);
    return make_of_one<arm_compute::NEPoolingLayer>(made, t, info, nullptr);
}

/* Scale, shift, mean and variance, as the problem has them. */
Status make_batch_norm(Made &made, operation_tensors &t, const Problem &p)
{
    using Layer = arm_compute::NEBatchNormalizationLayer;
    for (int i = 0; i < 4; i++) {
        t.parameters.push_back(std::make_unique<Tensor>());
        init(*t.parameters.back(), TensorShape(p.channels));
    }
    auto &scale = *t.parameters[0], &shift = *t.parameters[1];
    auto &mean = *t.parameters[2], &variance = *t.parameters[3];
    Status status = Layer::validate(t.src.info(), t.dst.info(), mean.info(), variance.info(),
                                    shift.info(), scale.info(), OPERATION_EPSILON);
    if (status) {
        auto function = std::make_unique<Layer>();
        function->configure(&t.src, &t.dst, &mean, &variance, &shift, &scale, OPERATION_EPSILON);
        made = std::move(function);
    }
    return status;
}

Status make_bilinear(Made &made, operation_tensors &t)
{
    arm_compute::ScaleKernelInfo info(
        arm_compute::InterpolationPolicy::BILINEAR, arm_compute::BorderMode::REPLICATE,
        arm_compute::PixelValue(), arm_compute::SamplingPolicy::CENTER, false, false,
        DataLayout::NHWC);
    return make_of_one<arm_compute::NEScale>(made, t, info);
}

Status make_concat(Made &made, operation_tensors &t)
{
    using Layer = arm_compute::NEConcatenateLayer;
    Status status = Layer::validate({t.src.info(), t.second.info()}, t.dst.info(), 0);
    if (status) {
        auto function = std::make_unique<Layer>();
        function->configure({&t.src, &t.second}, &t.dst, 0);
        made = std::move(function);
    }
    return status;
}

} // namespace

Status operation_make(Made &made, operation_tensors &t, const Problem &p)
{
    using Function = ActivationLayerInfo::ActivationFunction;
    init(t.src, TensorShape(p.channels, p.width, p.height, p.mb));
    init(t.second, TensorShape(p.channels, p.width, p.height, p.mb));
    init(t.dst, TensorShape(p.out_channels, p.out_width, p.out_height, p.mb));
    switch (p.operation) {
    case OPERATION_RELU:
        return make_activation(made, t, Function::RELU);
    case OPERATION_HARDSWISH:
        return make_activation(made, t, Function::HARD_SWISH);
    case OPERATION_LOGISTIC:
        return make_activation(made, t, Function::LOGISTIC);
    case OPERATION_TANH:
        return make_activation(made, t, Function::TANH, 1, 1);
    case OPERATION_GELU:
        return make_activation(made, t, Function::GELU);
    case OPERATION_EXP:
        return make_of_one<arm_compute::NEExpLayer>(made, t);
    case OPERATION_ADD:
        return make_of_two<arm_compute::NEArithmeticAddition>(made, t, ConvertPolicy::SATURATE);
    case OPERATION_MULTIPLY:
        return make_of_two<arm_compute::NEPixelWiseMultiplication>(
            made, t, 1.0f, ConvertPolicy::SATURATE, arm_compute::RoundingPolicy::TO_ZERO);
    case OPERATION_MAX_POOL:
        return make_pool(made, t, p, PoolingType::MAX);
    case OPERATION_AVERAGE_POOL:
        return make_pool(made, t, p, PoolingType::AVG);
    case OPERATION_SOFTMAX:
        return make_of_one<arm_compute::NESoftmaxLayer>(made, t, 1.0f, 0);
    case OPERATION_BATCH_NORM:
        return make_batch_norm(made, t, p);
    case OPERATION_BILINEAR:
        return make_bilinear(made, t);
    case OPERATION_CONCAT:
        return make_concat(made, t);
    default:
        return Status(arm_compute::ErrorCode::RUNTIME_ERROR, "no such operation");
    }
}
