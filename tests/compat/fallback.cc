// A program of oneDNN's users, against its own C++ headers, that wants what Neoprene does not serve: a recurrent layer,
// backward passes, layouts in blocks, a type of its own, a graph. Each prints its name and what it computed, or
// that it was refused.
#include <cstdio>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dnnl.hpp"
#include "oneapi/dnnl/dnnl_graph.hpp"

namespace
{

using dnnl::memory;
using tag = memory::format_tag;
using type = memory::data_type;
using arguments = std::unordered_map<int, memory>;

struct context {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};

    memory empty(const memory::desc &desc) const
    {
        return memory(desc, engine);
    }

    // Plain memory with values that depend on the seed.
    memory filled(const memory::dims &dims, tag layout, int seed) const
    {
        memory result = empty({dims, type::f32, layout});
        auto *data = static_cast<float *>(result.get_data_handle());
        size_t count = result.get_desc().get_size() / sizeof(float);
        for (size_t i = 0; i < count; i++)
            data[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed) * 5) % 9) / 8.0f - 0.5f;
        return result;
    }

    void run(const dnnl::primitive &primitive, const arguments &args)
    {
        primitive.execute(stream, args);
        stream.wait();
    }

    // The memory itself, or a copy in the layout that a primitive wants.
    memory in_layout(memory plain, const memory::desc &wanted)
    {
        if (plain.get_desc() == wanted)
            return plain;
        memory other = empty(wanted);
        run(dnnl::reorder(plain, other), {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, other}});
        return other;
    }

    void print(const memory &computed, tag layout)
    {
        memory plain = in_layout(computed, {computed.get_desc().get_dims(), type::f32, layout});
        const auto *data = static_cast<const float *>(plain.get_data_handle());
        size_t count = plain.get_desc().get_size() / sizeof(float);
        for (size_t i = 0; i < count; i++)
            std::printf("%.9g\n", static_cast<double>(data[i]));
    }
};

memory::desc any(const memory &plain)
{
    return {plain.get_desc().get_dims(), type::f32, tag::any};
}

void lstm(context &c)
{
    constexpr memory::dim steps = 3, batch = 2, width = 8, gates = 4;
    memory src = c.filled({steps, batch, width}, tag::tnc, 1),
           of_layer = c.filled({1, 1, width, gates, width}, tag::ldigo, 2),
           of_iter = c.filled({1, 1, width, gates, width}, tag::ldigo, 3),
           bias = c.filled({1, 1, gates, width}, tag::ldgo, 4), dst = c.filled({steps, batch, width}, tag::tnc, 5);
    dnnl::lstm_forward::primitive_desc pd(
        c.engine, dnnl::prop_kind::forward_inference, dnnl::rnn_direction::unidirectional_left2right, src.get_desc(),
        memory::desc(), memory::desc(), any(of_layer), any(of_iter), bias.get_desc(), dst.get_desc(), memory::desc(),
        memory::desc());
    c.run(dnnl::lstm_forward(pd), {{DNNL_ARG_SRC_LAYER, src},
                                   {DNNL_ARG_WEIGHTS_LAYER, c.in_layout(of_layer, pd.weights_layer_desc())},
                                   {DNNL_ARG_WEIGHTS_ITER, c.in_layout(of_iter, pd.weights_iter_desc())},
                                   {DNNL_ARG_BIAS, bias},
                                   {DNNL_ARG_DST_LAYER, dst}});
    c.print(dst, tag::tnc);
}

void convolution(context &c)
{
    memory src = c.filled({2, 8, 9, 9}, tag::nchw, 1), weights = c.filled({16, 8, 3, 3}, tag::oihw, 2),
           bias = c.filled({16}, tag::a, 3), dst = c.empty({{2, 16, 9, 9}, type::f32, tag::nchw});
    const memory::dims one{1, 1};
    dnnl::convolution_forward::primitive_desc forward(
        c.engine, dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, src.get_desc(),
        weights.get_desc(), bias.get_desc(), dst.get_desc(), one, one, one);
    c.run(dnnl::convolution_forward(forward),
          {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, dst}});
    c.print(dst, tag::nchw);

    dnnl::convolution_backward_data::primitive_desc to_src(
        c.engine, dnnl::algorithm::convolution_direct, any(src), any(weights), any(dst), one, one, one, forward);
    memory diff_src = c.empty(to_src.diff_src_desc());
    c.run(dnnl::convolution_backward_data(to_src), {{DNNL_ARG_DIFF_DST, c.in_layout(dst, to_src.diff_dst_desc())},
                                                    {DNNL_ARG_WEIGHTS, c.in_layout(weights, to_src.weights_desc())},
                                                    {DNNL_ARG_DIFF_SRC, diff_src}});
    c.print(diff_src, tag::nchw);

    dnnl::convolution_backward_weights::primitive_desc to_weights(
        c.engine, dnnl::algorithm::convolution_direct, src.get_desc(), any(weights), bias.get_desc(), dst.get_desc(),
        one, one, one, forward);
    memory diff_weights = c.empty(to_weights.diff_weights_desc()), diff_bias = c.empty(bias.get_desc());
    c.run(dnnl::convolution_backward_weights(to_weights), {{DNNL_ARG_SRC, src},
                                                           {DNNL_ARG_DIFF_DST, dst},
                                                           {DNNL_ARG_DIFF_WEIGHTS, diff_weights},
                                                           {DNNL_ARG_DIFF_BIAS, diff_bias}});
    c.print(diff_weights, tag::oihw);
    c.print(diff_bias, tag::a);
}

// Where the maximum was is what one library writes and the same one reads.
void pooling(context &c)
{
    memory src = c.filled({2, 4, 8, 8}, tag::nchw, 1), dst = c.filled({2, 4, 4, 4}, tag::nchw, 2),
           diff_src = c.empty(src.get_desc());
    const memory::dims two{2, 2}, zero{0, 0};
    dnnl::pooling_forward::primitive_desc forward(c.engine, dnnl::prop_kind::forward_training,
                                                  dnnl::algorithm::pooling_max, src.get_desc(), dst.get_desc(), two,
                                                  two, zero, zero, zero);
    memory workspace = c.empty(forward.workspace_desc());
    c.run(dnnl::pooling_forward(forward),
          {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}, {DNNL_ARG_WORKSPACE, workspace}});
    dnnl::pooling_backward::primitive_desc backward(c.engine, dnnl::algorithm::pooling_max, src.get_desc(),
                                                    dst.get_desc(), two, two, zero, zero, zero, forward);
    c.run(dnnl::pooling_backward(backward),
          {{DNNL_ARG_DIFF_DST, dst}, {DNNL_ARG_WORKSPACE, workspace}, {DNNL_ARG_DIFF_SRC, diff_src}});
    c.print(diff_src, tag::nchw);
}

void blocks(context &c)
{
    memory src = c.filled({2, 16, 5, 5}, tag::nchw, 1),
           blocked = c.in_layout(src, {{2, 16, 5, 5}, type::f32, tag::nChw8c}), dst = c.empty(blocked.get_desc());
    dnnl::post_ops ops;
    ops.append_binary(dnnl::algorithm::binary_add, blocked.get_desc());
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(ops);
    dnnl::eltwise_forward::primitive_desc pd(c.engine, dnnl::prop_kind::forward_inference,
                                             dnnl::algorithm::eltwise_relu, blocked.get_desc(), dst.get_desc(), 0.5f,
                                             0.0f, attributes);
    c.run(dnnl::eltwise_forward(pd), {{DNNL_ARG_SRC, blocked},
                                      {DNNL_ARG_DST, dst},
                                      {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, blocked}});
    c.print(dst, tag::nchw);
}

// Attributes are what makes this the other library's: images are plain, parts of larger ones. The first post-operation
// is one that Neoprene has too; the second one adds blocks. Both are copied on their way.
void attributes(context &c)
{
    memory in = c.filled({2, 16, 6, 5}, tag::nchw, 1), out = c.filled({2, 16, 6, 5}, tag::nchw, 2),
           added = c.in_layout(c.filled({2, 16, 5, 5}, tag::nchw, 3), {{2, 16, 5, 5}, type::f32, tag::nChw8c});
    const memory::desc part = in.get_desc().submemory_desc({2, 16, 5, 5}, {0, 0, 1, 0});
    memory src(part, c.engine, in.get_data_handle()), dst(part, c.engine, out.get_data_handle());
    dnnl::post_ops ops;
    ops.append_eltwise(dnnl::algorithm::eltwise_linear, 2.0f, 1.0f);
    ops.append_binary(dnnl::algorithm::binary_add, added.get_desc());
    dnnl::primitive_attr first, second;
    first.set_post_ops(ops);
    second.set_post_ops(dnnl::post_ops(first.get_post_ops()));
    dnnl::binary::primitive_desc pd(c.engine, dnnl::algorithm::binary_mul, part, part, part, second);
    c.run(dnnl::binary(pd), {{DNNL_ARG_SRC_0, src},
                             {DNNL_ARG_SRC_1, src},
                             {DNNL_ARG_DST, dst},
                             {DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1, added}});
    c.print(dst, tag::nchw);
}

void small_floats(context &c)
{
    memory src = c.filled({3, 17}, tag::ab, 1);
    c.print(c.in_layout(src, {{3, 17}, type::f8_e5m2, tag::ab}), tag::ab);
}

void graph(context &c)
{
    namespace g = dnnl::graph;
    using tensor = g::logical_tensor;
    constexpr auto strided = tensor::layout_type::strided;
    memory a = c.filled({5, 7}, tag::ab, 1), b = c.filled({7, 6}, tag::ab, 2), d = c.filled({5, 6}, tag::ab, 3);
    tensor at(0, tensor::data_type::f32, {5, 7}, strided), bt(1, tensor::data_type::f32, {7, 6}, strided),
        product(2, tensor::data_type::f32, {5, 6}, strided), dt(3, tensor::data_type::f32, {5, 6}, strided);
    g::graph whole(dnnl::engine::kind::cpu);
    whole.add_op(g::op(0, g::op::kind::MatMul, {at, bt}, {product}, "product"));
    whole.add_op(g::op(1, g::op::kind::ReLU, {product}, {dt}, "relu"));
    whole.finalize();
    auto compiled = whole.get_partitions().at(0).compile({at, bt}, {dt}, c.engine);
    compiled.execute(c.stream, {g::tensor(at, c.engine, a.get_data_handle()), g::tensor(bt, c.engine, b.get_data_handle())},
                     {g::tensor(dt, c.engine, d.get_data_handle())});
    c.stream.wait();
    c.print(d, tag::ab);
}

} // namespace

int main()
{
    const std::vector<std::pair<const char *, std::function<void(context &)>>> cases{
        {"lstm", lstm},
        {"convolution", convolution},
        {"pooling", pooling},
        {"blocks", blocks},
        {"attributes", attributes},
        {"small_floats", small_floats},
        {"graph", graph},
    };
    for (const auto &one : cases) {
        std::printf("%s\n", one.first);
        try {
            context c;
            one.second(c);
        } catch (const dnnl::error &error) {
            std::printf("refused with status %d: %s\n", error.status, error.what());
        }
    }
}
