// A program as oneDNN's users write them, against oneDNN's own C++ header and without a word about
// Neoprene: a small network (convolution with ReLU, pooling, inner product, softmax) and an int8
// product, made and executed by several threads, each with an engine of its own. It prints what it
// computed.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <vector>

#include "dnnl.hpp"

namespace
{

using dnnl::memory;
using tag = memory::format_tag;
using type = memory::data_type;

constexpr int threads = 4, rounds = 8;
constexpr memory::dim batch = 2, channels = 16, kernels = 32, size = 14, classes = 10;

float value(size_t i, int seed)
{
    return static_cast<float>((i * 7 + static_cast<size_t>(seed) * 5) % 9) / 8.0f - 0.5f;
}

// Memory of plain layout, filled, unless seed is negative.
template <typename element>
memory tensor(const memory::dims &dims, type data_type, tag layout, const dnnl::engine &engine,
              int seed, float scale = 1)
{
    memory result({dims, data_type, layout}, engine);
    auto *data = static_cast<element *>(result.get_data_handle());
    size_t count = result.get_desc().get_size() / sizeof(element);
    for (size_t i = 0; seed >= 0 && i < count; i++)
        data[i] = static_cast<element>(scale * value(i, seed));
    return result;
}

memory floats(const memory::dims &dims, tag layout, const dnnl::engine &engine, int seed)
{
    return tensor<float>(dims, type::f32, layout, engine, seed);
}

// A network whose layouts the library chooses, but for its input and its output.
class network
{
  public:
    network(const dnnl::engine &engine, int seed) : engine_(engine), stream_(engine)
    {
        input_ = floats({batch, channels, size, size}, tag::nchw, engine, seed);
        memory image = convolve(input_, seed + 1);
        memory halves = pool(image);
        memory scores = classify(halves, seed + 2);
        output_ = soften(scores);
    }

    std::vector<float> run()
    {
        for (auto &step : steps_)
            step.first.execute(stream_, step.second);
        stream_.wait();
        const auto *data = static_cast<const float *>(output_.get_data_handle());
        return {data, data + batch * classes};
    }

  private:
    using arguments = std::unordered_map<int, memory>;

    memory convolve(memory &src, int seed)
    {
        memory weights = floats({kernels, channels, 3, 3}, tag::oihw, engine_, seed);
        memory bias = floats({kernels}, tag::x, engine_, seed + 1);
        dnnl::post_ops ops;
        ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
        dnnl::primitive_attr attributes;
        attributes.set_post_ops(ops);
        memory::desc any_src(src.get_desc().get_dims(), type::f32, tag::any),
            any_weights(weights.get_desc().get_dims(), type::f32, tag::any);
        memory::desc any_dst({batch, kernels, size, size}, type::f32, tag::any);
        dnnl::convolution_forward::primitive_desc pd(
            engine_, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
            any_src, any_weights, bias.get_desc(), any_dst, {1, 1}, {1, 1}, {1, 1}, attributes);
        memory dst(pd.dst_desc(), engine_);
        steps_.emplace_back(dnnl::convolution_forward(pd),
                            arguments{{DNNL_ARG_SRC, in_layout(src, pd.src_desc())},
                                      {DNNL_ARG_WEIGHTS, in_layout(weights, pd.weights_desc())},
                                      {DNNL_ARG_BIAS, bias},
                                      {DNNL_ARG_DST, dst}});
        return dst;
    }

    memory pool(memory &src)
    {
        memory::desc any_dst({batch, kernels, size / 2, size / 2}, type::f32, tag::any);
        dnnl::pooling_forward::primitive_desc pd(engine_, dnnl::prop_kind::forward_inference,
                                                 dnnl::algorithm::pooling_max, src.get_desc(),
                                                 any_dst, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {0, 0});
        memory dst(pd.dst_desc(), engine_);
        steps_.emplace_back(dnnl::pooling_forward(pd),
                            arguments{{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
        return dst;
    }

    memory classify(memory &src, int seed)
    {
        memory weights = floats({classes, kernels, size / 2, size / 2}, tag::oihw, engine_, seed);
        memory bias = floats({classes}, tag::x, engine_, seed + 1);
        memory::desc any_weights(weights.get_desc().get_dims(), type::f32, tag::any),
            plain_dst({batch, classes}, type::f32, tag::nc);
        dnnl::inner_product_forward::primitive_desc pd(engine_, dnnl::prop_kind::forward_inference,
                                                       src.get_desc(), any_weights, bias.get_desc(),
                                                       plain_dst);
        memory dst(pd.dst_desc(), engine_);
        steps_.emplace_back(dnnl::inner_product_forward(pd),
                            arguments{{DNNL_ARG_SRC, src},
                                      {DNNL_ARG_WEIGHTS, in_layout(weights, pd.weights_desc())},
                                      {DNNL_ARG_BIAS, bias},
                                      {DNNL_ARG_DST, dst}});
        return dst;
    }

    memory soften(memory &src)
    {
        dnnl::softmax_forward::primitive_desc pd(engine_, dnnl::prop_kind::forward_inference,
                                                 dnnl::algorithm::softmax_accurate, src.get_desc(),
                                                 src.get_desc(), 1);
        memory dst(pd.dst_desc(), engine_);
        steps_.emplace_back(dnnl::softmax_forward(pd),
                            arguments{{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
        return dst;
    }

    // The memory itself, or a copy in the layout that a primitive wants; made once.
    memory in_layout(memory &plain, const memory::desc &wanted)
    {
        if (plain.get_desc() == wanted)
            return plain;
        memory other(wanted, engine_);
        dnnl::reorder(plain, other).execute(stream_, plain, other);
        stream_.wait();
        return other;
    }

    dnnl::engine engine_;
    dnnl::stream stream_;
    memory input_, output_;
    std::vector<std::pair<dnnl::primitive, arguments>> steps_;
};

// u8 by s8 with a scale for each column and a zero point, to f32.
std::vector<float> quantised_product(const dnnl::engine &engine, int seed)
{
    constexpr memory::dim m = 5, n = 33, k = 47;
    dnnl::stream stream(engine);
    memory src = tensor<uint8_t>({m, k}, type::u8, tag::ab, engine, seed, 0),
           weights = tensor<int8_t>({k, n}, type::s8, tag::ab, engine, seed + 1, 100);
    for (int i = 0; i < m * k; i++)
        static_cast<uint8_t *>(src.get_data_handle())[i] = static_cast<uint8_t>(i * 37 + seed);
    memory dst = tensor<float>({m, n}, type::f32, tag::ab, engine, -1);
    memory scales = floats({n}, tag::a, engine, seed + 2), one = floats({1}, tag::a, engine, -1);
    memory zero({{1}, type::s32, tag::a}, engine);
    *static_cast<float *>(one.get_data_handle()) = 0.25f;
    *static_cast<int32_t *>(zero.get_data_handle()) = 117;
    dnnl::primitive_attr attributes;
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    attributes.set_scales_mask(DNNL_ARG_WEIGHTS, 1 << 1);
    attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
    dnnl::matmul::primitive_desc pd(engine, src.get_desc(), weights.get_desc(), dst.get_desc(),
                                    attributes);
    dnnl::matmul(pd).execute(stream, {{DNNL_ARG_SRC, src},
                                      {DNNL_ARG_WEIGHTS, weights},
                                      {DNNL_ARG_DST, dst},
                                      {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, one},
                                      {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scales},
                                      {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, zero}});
    stream.wait();
    const auto *data = static_cast<const float *>(dst.get_data_handle());
    return {data, data + m * n};
}

std::vector<float> all_of(int seed)
{
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    std::vector<float> values = network(engine, seed).run(),
                       product = quantised_product(engine, seed);
    values.insert(values.end(), product.begin(), product.end());
    return values;
}

// Threads compute the same problems in different orders, so that each is made by one and found by
// others.
void live(int thread, const std::vector<std::vector<float>> &expected, int *errors)
{
    try {
        for (int round = 0; round < rounds; round++) {
            int seed = (round + 3 * thread) % rounds;
            *errors += all_of(seed) != expected[static_cast<size_t>(seed)];
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        *errors += rounds;
    }
}

} // namespace

int main()
{
    std::vector<std::vector<float>> expected;
    for (int seed = 0; seed < rounds; seed++)
        expected.push_back(all_of(seed));
    std::vector<std::thread> others;
    int errors[threads] = {}, all_errors = 0;
    for (int thread = 0; thread < threads; thread++)
        others.emplace_back(live, thread, std::cref(expected), &errors[thread]);
    for (int thread = 0; thread < threads; thread++) {
        others[static_cast<size_t>(thread)].join();
        all_errors += errors[thread];
    }
    for (const auto &values : expected)
        for (float x : values)
            std::printf("%.9g\n", static_cast<double>(x));
    if (all_errors)
        std::fprintf(stderr, "%d rounds of threads differ from the first\n", all_errors);
    return all_errors != 0;
}
