/* Arm Compute Library (Debian 13's libarm-compute-dev, 24.11): NEGEMM, NEConvolutionLayer and
 * NEDepthwiseConvolutionLayer on one thread, weights brought into its layout by prepare(). It wants
 * tensors of its own, since kernels may ask for room around them: values are copied in before and
 * out after what is measured. */
#include "tests/perf/driver.h"
#include "tests/perf/operations_acl.h"

#include <arm_compute/core/utils/quantization/AsymmHelpers.h>
#include <arm_compute/runtime/NEON/NEFunctions.h>
#include <arm_compute/runtime/Scheduler.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace
{

using arm_compute::DataLayout;
using arm_compute::DataType;
using arm_compute::QuantizationInfo;
using arm_compute::Status;
using arm_compute::Tensor;
using arm_compute::TensorInfo;
using arm_compute::TensorShape;

struct work {
    Tensor src, weights, dst;
    operation_tensors operation; /* instead of these three */
    std::unique_ptr<arm_compute::IFunction> function;
    const struct problem *problem = nullptr;
};

/* ---- tensors ---- */

DataType type_of(enum driver_type type)
{
    switch (type) {
    case DRIVER_F16:
        return DataType::F16;
    case DRIVER_BF16:
        return DataType::BFLOAT16;
    case DRIVER_S32:
        return DataType::S32;
    case DRIVER_S8:
        return DataType::QASYMM8_SIGNED;
    case DRIVER_U8:
        return DataType::QASYMM8;
    default:
        return DataType::F32;
    }
}

/* Scales are 1. */
TensorInfo info_of(const TensorShape &shape, DataLayout layout, enum driver_type type)
{
    TensorInfo info(shape, 1, type_of(type), QuantizationInfo(1, 0));
    info.set_data_layout(layout);
    return info;
}

/* Bytes have a scale for each of the channels. */
TensorInfo weights_info_of(const TensorShape &shape, DataLayout layout, enum driver_type type,
                           size_t channels)
{
    if (type != DRIVER_S8)
        return info_of(shape, layout, type);
    TensorInfo info(shape, 1, DataType::QSYMM8_PER_CHANNEL,
                    QuantizationInfo(std::vector<float>(channels, 1)));
    info.set_data_layout(layout);
    return info;
}

/* Calls copy(row of the tensor, where it is in a dense array, bytes) for each row of the innermost
 * dimension. */
template <typename Copy> void for_each_row(const Tensor &tensor, Copy copy)
{
    const auto &info = *tensor.info();
    const auto &strides = info.strides_in_bytes();
    size_t size = info.dimension(0) * info.element_size(), offset = 0;
    uint8_t *first = tensor.buffer() + info.offset_first_element_in_bytes();
    for (size_t w = 0; w < info.dimension(3); w++)
        for (size_t z = 0; z < info.dimension(2); z++)
            for (size_t y = 0; y < info.dimension(1); y++, offset += size)
                copy(first + w * strides[3] + z * strides[2] + y * strides[1], offset, size);
}

void allocate_from(Tensor &tensor, enum driver_type type, const float *values, size_t count)
{
    std::unique_ptr<void, decltype(&std::free)> typed(driver_typed(type, values, count), std::free);
    auto *bytes = static_cast<const uint8_t *>(typed.get());
    tensor.allocator()->allocate();
    for_each_row(tensor, [bytes](uint8_t *row, size_t offset, size_t size) {
        std::memcpy(row, bytes + offset, size);
    });
}

/* ---- products ---- */

/* What is matched to what in a batch: each with its own, or all with one. */
const char *refuse_matmul(const struct matmul_problem *p)
{
    if (p->transposed)
        return "no transposed operands";
    size_t sides = 1, weights = 1;
    for (size_t i = 0; i < p->batch_dims; i++) {
        sides *= p->src_batch[i];
        weights *= p->weights_batch[i];
    }
    if (sides != matmul_batch(p) || (weights != sides && weights != 1))
        return "no such broadcast";
    return nullptr;
}

/* How sums become bytes. */
Status output_stage(const work &work, arm_compute::GEMMLowpOutputStageInfo &stage)
{
    stage.type = arm_compute::GEMMLowpOutputStageType::QUANTIZE_DOWN_FIXEDPOINT;
    stage.output_data_type = work.dst.info()->data_type();
    stage.gemmlowp_min_bound = -128;
    stage.gemmlowp_max_bound = 127;
    stage.is_quantized_per_channel = true;
    return arm_compute::quantization::calculate_quantized_multipliers(
        work.src.info()->quantization_info(), work.weights.info()->quantization_info(),
        work.dst.info()->quantization_info(), stage);
}

Status make_integer_matmul(work &work, arm_compute::GEMMInfo how)
{
    using Function = arm_compute::NEGEMMLowpMatrixMultiplyCore;
    arm_compute::GEMMLowpOutputStageInfo stage;
    Status status;
    if (work.dst.info()->data_type() != DataType::S32) {
        status = output_stage(work, stage);
        how.set_gemmlowp_output_stage(stage);
    }
    if (status)
        status = Function::validate(work.src.info(), work.weights.info(), nullptr, work.dst.info(),
                                    how);
    if (status) {
        auto function = std::make_unique<Function>();
        function->configure(&work.src, &work.weights, nullptr, &work.dst, how);
        work.function = std::move(function);
    }
    return status;
}

Status make_float_matmul(work &work, const arm_compute::GEMMInfo &how)
{
    Status status = arm_compute::NEGEMM::validate(work.src.info(), work.weights.info(), nullptr,
                                                  work.dst.info(), 1.0f, 0.0f, how);
    if (status) {
        auto function = std::make_unique<arm_compute::NEGEMM>();
        function->configure(&work.src, &work.weights, nullptr, &work.dst, 1.0f, 0.0f, how);
        work.function = std::move(function);
    }
    return status;
}

/* Sums of f16 are f32, as ours, unless PERF_ACCUMULATION says otherwise; PERF_FPMATH allows products
 * of f32 by bf16. */
Status make_matmul(const struct problem *problem, work &work)
{
    const struct matmul_problem *p = &problem->matmul;
    size_t batch = matmul_batch(p), matrices = problem->weights_size / (p->k * p->n);
    /* one matrix for a whole batch: the rows of the batch follow each other */
    size_t rows = matrices == 1 ? p->m * batch : p->m;
    auto layout = DataLayout::NCHW;
    work.src.allocator()->init(
        info_of(TensorShape(p->k, rows, matrices), layout, problem->src_type));
    work.weights.allocator()->init(weights_info_of(TensorShape(p->n, p->k, matrices), layout,
                                                   problem->weights_type, p->n));
    work.dst.allocator()->init(
        info_of(TensorShape(p->n, rows, matrices), layout, problem->dst_type));
    arm_compute::GEMMInfo how(false, false, p->packed, 0, false, false, {},
                              !driver_allows_f16_sums(), driver_allows_bf16());
    return problem->src_type == DRIVER_S8 ? make_integer_matmul(work, how)
                                          : make_float_matmul(work, how);
}

/* ---- convolution ---- */

const char *refuse_conv(const struct conv_problem *p)
{
    if (p->spatial_dims == 3)
        return "no three-dimensional convolution";
    if (p->groups > 1 && p->groups != p->ic)
        return "no groups but depthwise";
    for (int dim = 1; dim < 3; dim++)
        if (conv_pad_named(p, dim) < 0)
            return "no sources that are longer than what is read";
    return nullptr;
}

TensorShape image_shape(const struct conv_problem *p, size_t channels, const size_t size[3])
{
    return p->channels_last ? TensorShape(channels, size[2], size[1], p->mb)
                            : TensorShape(size[2], size[1], channels, p->mb);
}

bool is_depthwise(const struct conv_problem *p)
{
    return p->groups > 1;
}

TensorShape weights_shape(const struct conv_problem *p)
{
    size_t width = p->kernel[2], height = p->kernel[1];
    if (is_depthwise(p))
        return p->channels_last ? TensorShape(p->oc, width, height)
                                : TensorShape(width, height, p->oc);
    return p->channels_last ? TensorShape(p->ic, width, height, p->oc)
                            : TensorShape(width, height, p->ic, p->oc);
}

/* [oc][ic][tap] to what the shape above means in memory */
std::vector<float> weights_of(const struct problem *problem)
{
    const struct conv_problem *p = &problem->conv;
    size_t icg = p->ic / p->groups, taps = conv_positions(p->kernel);
    std::vector<float> to(problem->weights, problem->weights + problem->weights_size);
    if (!p->channels_last)
        return to;
    for (size_t oc = 0; oc < p->oc; oc++)
        for (size_t ic = 0; ic < icg; ic++)
            for (size_t tap = 0; tap < taps; tap++)
                to[is_depthwise(p) ? tap * p->oc + oc : (oc * taps + tap) * icg + ic] =
                    problem->weights[(oc * icg + ic) * taps + tap];
    return to;
}

arm_compute::PadStrideInfo pads_of(const struct conv_problem *p)
{
    auto size = [](ptrdiff_t value) { return static_cast<unsigned>(value); };
    return {size(ptrdiff_t(p->stride[2])),
            size(ptrdiff_t(p->stride[1])),
            size(ptrdiff_t(p->pad[2])),
            size(conv_pad_named(p, 2)),
            size(ptrdiff_t(p->pad[1])),
            size(conv_pad_named(p, 1)),
            arm_compute::DimensionRoundingType::FLOOR};
}

Status make_depthwise(const struct conv_problem *p, const arm_compute::Size2D &dilation, work &work)
{
    using Layer = arm_compute::NEDepthwiseConvolutionLayer;
    auto multiplier = static_cast<unsigned>(p->oc / p->groups);
    arm_compute::ActivationLayerInfo none;
    Status status = Layer::validate(work.src.info(), work.weights.info(), nullptr, work.dst.info(),
                                    pads_of(p), multiplier, none, dilation);
    if (status) {
        auto function = std::make_unique<Layer>();
        function->configure(&work.src, &work.weights, nullptr, &work.dst, pads_of(p), multiplier,
                            none, dilation);
        work.function = std::move(function);
    }
    return status;
}

/* "Fast math" permits more of its Winograd algorithms. */
Status make_dense(const struct conv_problem *p, const arm_compute::Size2D &dilation, work &work)
{
    using Layer = arm_compute::NEConvolutionLayer;
    arm_compute::WeightsInfo plain;
    arm_compute::ActivationLayerInfo none;
    Status status = Layer::validate(work.src.info(), work.weights.info(), nullptr, work.dst.info(),
                                    pads_of(p), plain, dilation, none, true);
    if (status) {
        auto function = std::make_unique<Layer>();
        function->configure(&work.src, &work.weights, nullptr, &work.dst, pads_of(p), plain,
                            dilation, none, true);
        work.function = std::move(function);
    }
    return status;
}

Status make_conv(const struct problem *problem, work &work)
{
    const struct conv_problem *p = &problem->conv;
    auto layout = p->channels_last ? DataLayout::NHWC : DataLayout::NCHW;
    work.src.allocator()->init(info_of(image_shape(p, p->ic, p->in), layout, problem->src_type));
    work.weights.allocator()->init(
        weights_info_of(weights_shape(p), layout, problem->weights_type, p->oc));
    work.dst.allocator()->init(info_of(image_shape(p, p->oc, p->out), layout, problem->dst_type));
    arm_compute::Size2D dilation(p->dilation[2] + 1, p->dilation[1] + 1);
    return is_depthwise(p) ? make_depthwise(p, dilation, work) : make_dense(p, dilation, work);
}

/* ---- the peer ---- */

/* Its scheduler for a single thread fails with some products (24x24x24): so the usual one. */
const char *start()
{
    arm_compute::Scheduler::set(arm_compute::Scheduler::Type::CPP);
    arm_compute::Scheduler::get().set_num_threads(1);
    return nullptr;
}

Status make(const struct problem *problem, work &work)
{
    bool is_matmul = problem->kind == problem::PROBLEM_MATMUL;
    Status status = is_matmul ? make_matmul(problem, work) : make_conv(problem, work);
    if (!status)
        return status;
    allocate_from(work.src, problem->src_type, problem->src, problem->src_size);
    allocate_from(work.weights, problem->weights_type,
                  is_matmul ? problem->weights : weights_of(problem).data(), problem->weights_size);
    allocate_from(work.dst, problem->dst_type, problem->dst, problem->dst_size);
    work.problem = problem;
    work.function->prepare();
    return status;
}

Status make_operation(const struct problem *problem, work &work)
{
    auto &tensors = work.operation;
    Status status = operation_make(work.function, tensors, problem->operation);
    if (!status)
        return status;
    size_t channels = problem->operation.channels;
    allocate_from(tensors.src, DRIVER_F32, problem->src, problem->src_size);
    allocate_from(tensors.dst, DRIVER_F32, problem->dst, problem->dst_size);
    for (size_t i = 0; i < tensors.parameters.size(); i++)
        allocate_from(*tensors.parameters[i], DRIVER_F32, problem->weights + i * channels,
                      channels);
    if (problem->weights_size == problem->src_size)
        allocate_from(tensors.second, DRIVER_F32, problem->weights, problem->weights_size);
    work.problem = problem;
    work.function->prepare();
    return status;
}

/* One line; valid until the next problem. */
const char *reason(std::string text)
{
    static std::string kept;
    kept = text.substr(0, text.find('\n'));
    return kept.c_str();
}

const char *refusal(const struct problem *problem)
{
    if (problem->kind == problem::PROBLEM_OPERATION)
        return problem->src_type == DRIVER_F32 ? nullptr : "operations only of f32";
    return problem->kind == problem::PROBLEM_MATMUL ? refuse_matmul(&problem->matmul)
                                                    : refuse_conv(&problem->conv);
}

const char *prepare(const struct problem *problem, void **state)
{
    auto *made = new work;
    *state = made;
    const char *why_not = refusal(problem);
    if (problem->weights_type == DRIVER_S4 || problem->is_dynamic)
        return "no blocks of weights";
    if (why_not)
        return why_not;
    try {
        Status status = problem->kind == problem::PROBLEM_OPERATION
                            ? make_operation(problem, *made)
                            : make(problem, *made);
        return status ? nullptr : reason(status.error_description());
    } catch (const std::exception &error) {
        return reason(error.what());
    }
}

void run(void *state)
{
    static_cast<work *>(state)->function->run();
}

void fetch(void *state)
{
    auto *done = static_cast<work *>(state);
    const struct problem *problem = done->problem;
    const Tensor &dst =
        problem->kind == problem::PROBLEM_OPERATION ? done->operation.dst : done->dst;
    std::vector<uint8_t> dense(dst.info()->element_size() * problem->dst_size);
    for_each_row(dst, [&dense](const uint8_t *row, size_t offset, size_t size) {
        std::memcpy(dense.data() + offset, row, size);
    });
    driver_take_result(problem, dense.data());
}

void release(void *state)
{
    delete static_cast<work *>(state);
}

} // namespace

extern const struct peer peer;
const struct peer peer = {"acl", start, prepare, run, fetch, release, NULL, NULL};
