/* Whose a function of the interface is: read it as a table. What is not in it is Neoprene's alone.
 *
 * A row has the function, Neoprene's part of it, and its arguments, each with a letter of what it
 * is: for another library that takes the call over, objects become that library's. */
#ifndef COMPAT_ONEDNN_FUNCTIONS_H
#define COMPAT_ONEDNN_FUNCTIONS_H

#include "compat/onednn/objects.h"

/* Letters: E engine, S stream, D descriptor of memory, L list of `count` of them, T attributes,
 * O post-operations, H descriptor of the forward pass; and what is passed on as it is: I int,
 * U unsigned, Z dimension or size, F float, N list of dimensions, P list of floats, W a word. */
#define TYPE_E dnnl_engine *
#define TYPE_S dnnl_stream *
#define TYPE_D const dnnl_memory_desc *
#define TYPE_L const dnnl_memory_desc *const *
#define TYPE_T const dnnl_primitive_attr *
#define TYPE_O const dnnl_post_ops *
#define TYPE_H const dnnl_primitive_desc *
#define TYPE_I int
#define TYPE_U unsigned
#define TYPE_Z neo_dim
#define TYPE_F float
#define TYPE_N const neo_dim *
#define TYPE_P const float *
#define TYPE_W uintptr_t

/* clang-format off */
/* ---- arguments ---- */
#define SPATIAL(A) A(N, strides) A(N, dilations) A(N, padding_left) A(N, padding_right)
#define HINTED(A) A(H, hint) A(T, attr)
#define FORWARD(A) A(E, engine) A(I, prop_kind)
#define CONVOLUTION(A) FORWARD(A) A(I, algorithm) A(D, src) A(D, weights) A(D, bias) A(D, dst) SPATIAL(A) A(T, attr)
#define CONVOLUTION_DATA(A) \
    A(E, engine) A(I, algorithm) A(D, diff_src) A(D, weights) A(D, diff_dst) SPATIAL(A) HINTED(A)
#define CONVOLUTION_WEIGHTS(A) \
    A(E, engine) A(I, algorithm) A(D, src) A(D, diff_weights) A(D, diff_bias) A(D, diff_dst) SPATIAL(A) HINTED(A)
#define INNER_PRODUCT(A) FORWARD(A) A(D, src) A(D, weights) A(D, bias) A(D, dst) A(T, attr)
#define INNER_PRODUCT_DATA(A) A(E, engine) A(D, diff_src) A(D, weights) A(D, diff_dst) HINTED(A)
#define INNER_PRODUCT_WEIGHTS(A) A(E, engine) A(D, src) A(D, diff_weights) A(D, diff_bias) A(D, diff_dst) HINTED(A)
#define MATMUL(A) A(E, engine) A(D, src) A(D, weights) A(D, bias) A(D, dst) A(T, attr)
#define REORDER(A) A(D, src) A(E, src_engine) A(D, dst) A(E, dst_engine) A(T, attr)
#define CONCAT(A) A(E, engine) A(D, dst) A(I, count) A(I, axis) A(L, sources) A(T, attr)
#define SUM(A) A(E, engine) A(D, dst) A(I, count) A(P, scales) A(L, sources) A(T, attr)
#define BINARY(A) A(E, engine) A(I, algorithm) A(D, src0) A(D, src1) A(D, dst) A(T, attr)
#define SELECT(A) A(E, engine) A(I, algorithm) A(D, src0) A(D, src1) A(D, src2) A(D, dst) A(T, attr)
#define ELTWISE(A) FORWARD(A) A(I, algorithm) A(D, src) A(D, dst) A(F, alpha) A(F, beta) A(T, attr)
#define ELTWISE_BACKWARD(A) \
    A(E, engine) A(I, algorithm) A(D, diff_src) A(D, diff_dst) A(D, data) A(F, alpha) A(F, beta) HINTED(A)
#define PRELU(A) FORWARD(A) A(D, src) A(D, weights) A(D, dst) A(T, attr)
#define PRELU_BACKWARD(A) \
    A(E, engine) A(D, src) A(D, weights) A(D, diff_src) A(D, diff_weights) A(D, diff_dst) HINTED(A)
#define POOLING_OF(A) A(N, strides) A(N, kernel) A(N, dilations) A(N, padding_left) A(N, padding_right)
#define POOLING(A) FORWARD(A) A(I, algorithm) A(D, src) A(D, dst) POOLING_OF(A) A(T, attr)
#define POOLING_BACKWARD(A) A(E, engine) A(I, algorithm) A(D, diff_src) A(D, diff_dst) POOLING_OF(A) HINTED(A)
#define SOFTMAX(A) FORWARD(A) A(I, algorithm) A(D, src) A(D, dst) A(I, axis) A(T, attr)
#define SOFTMAX_BACKWARD(A) \
    A(E, engine) A(I, algorithm) A(D, diff_src) A(D, diff_dst) A(D, dst) A(I, axis) HINTED(A)
#define BATCH(A) FORWARD(A) A(D, src) A(D, dst) A(F, epsilon) A(U, flags) A(T, attr)
#define BATCH_BACKWARD(A) \
    FORWARD(A) A(D, diff_src) A(D, diff_dst) A(D, src) A(F, epsilon) A(U, flags) HINTED(A)
#define GROUPS(A) FORWARD(A) A(D, src) A(D, dst) A(Z, groups) A(F, epsilon) A(U, flags) A(T, attr)
#define GROUPS_BACKWARD(A) \
    FORWARD(A) A(D, diff_src) A(D, diff_dst) A(D, src) A(Z, groups) A(F, epsilon) A(U, flags) HINTED(A)
#define LAYER(A) FORWARD(A) A(D, src) A(D, dst) A(D, statistics) A(F, epsilon) A(U, flags) A(T, attr)
#define LAYER_V2(A) \
    FORWARD(A) A(D, src) A(D, dst) A(D, statistics) A(I, scale_type) A(F, epsilon) A(U, flags) A(T, attr)
#define LAYER_BACKWARD(A) \
    FORWARD(A) A(D, diff_src) A(D, diff_dst) A(D, src) A(D, statistics) A(F, epsilon) A(U, flags) HINTED(A)
#define LAYER_BACKWARD_V2(A) \
    FORWARD(A) A(D, diff_src) A(D, diff_dst) A(D, src) A(D, statistics) A(I, diff_scale_type) A(I, scale_type) \
    A(F, epsilon) A(U, flags) HINTED(A)
#define LRN_OF(A) A(Z, local_size) A(F, alpha) A(F, beta) A(F, k)
#define LRN(A) FORWARD(A) A(I, algorithm) A(D, src) A(D, dst) LRN_OF(A) A(T, attr)
#define LRN_BACKWARD(A) A(E, engine) A(I, algorithm) A(D, diff_src) A(D, diff_dst) A(D, src) LRN_OF(A) HINTED(A)
#define RESAMPLING(A) FORWARD(A) A(I, algorithm) A(P, factors) A(D, src) A(D, dst) A(T, attr)
#define RESAMPLING_BACKWARD(A) A(E, engine) A(I, algorithm) A(P, factors) A(D, diff_src) A(D, diff_dst) HINTED(A)
#define REDUCTION(A) A(E, engine) A(I, algorithm) A(D, src) A(D, dst) A(F, p) A(F, epsilon) A(T, attr)
#define SHUFFLE(A) FORWARD(A) A(D, src) A(D, dst) A(I, axis) A(Z, group_size) A(T, attr)
#define SHUFFLE_BACKWARD(A) A(E, engine) A(D, diff_src) A(D, diff_dst) A(I, axis) A(Z, group_size) HINTED(A)
/* Recurrent layers: tensors of the layer and of the iteration, then their gradients. */
#define GRU_TENSORS(A) \
    A(D, src_layer) A(D, src_iter) A(D, weights_layer) A(D, weights_iter) A(D, bias) A(D, dst_layer) A(D, dst_iter)
#define GRU_GRADIENTS(A) \
    A(D, diff_src_layer) A(D, diff_src_iter) A(D, diff_weights_layer) A(D, diff_weights_iter) A(D, diff_bias) \
    A(D, diff_dst_layer) A(D, diff_dst_iter)
#define VANILLA(A) \
    FORWARD(A) A(I, activation) A(I, direction) GRU_TENSORS(A) A(U, flags) A(F, alpha) A(F, beta) A(T, attr)
#define VANILLA_BACKWARD(A) \
    FORWARD(A) A(I, activation) A(I, direction) GRU_TENSORS(A) GRU_GRADIENTS(A) A(U, flags) A(F, alpha) A(F, beta) \
    HINTED(A)
#define GRU(A) FORWARD(A) A(I, direction) GRU_TENSORS(A) A(U, flags) A(T, attr)
#define GRU_BACKWARD(A) FORWARD(A) A(I, direction) GRU_TENSORS(A) GRU_GRADIENTS(A) A(U, flags) HINTED(A)
#define AUGRU_TENSORS(A) \
    A(D, src_layer) A(D, src_iter) A(D, attention) A(D, weights_layer) A(D, weights_iter) A(D, bias) A(D, dst_layer) \
    A(D, dst_iter)
#define AUGRU_GRADIENTS(A) \
    A(D, diff_src_layer) A(D, diff_src_iter) A(D, diff_attention) A(D, diff_weights_layer) A(D, diff_weights_iter) \
    A(D, diff_bias) A(D, diff_dst_layer) A(D, diff_dst_iter)
#define AUGRU(A) FORWARD(A) A(I, direction) AUGRU_TENSORS(A) A(U, flags) A(T, attr)
#define AUGRU_BACKWARD(A) FORWARD(A) A(I, direction) AUGRU_TENSORS(A) AUGRU_GRADIENTS(A) A(U, flags) HINTED(A)
#define LSTM_TENSORS(A) \
    A(D, src_layer) A(D, src_iter) A(D, src_iter_c) A(D, weights_layer) A(D, weights_iter) A(D, weights_peephole) \
    A(D, weights_projection) A(D, bias) A(D, dst_layer) A(D, dst_iter) A(D, dst_iter_c)
#define LSTM_GRADIENTS(A) \
    A(D, diff_src_layer) A(D, diff_src_iter) A(D, diff_src_iter_c) A(D, diff_weights_layer) A(D, diff_weights_iter) \
    A(D, diff_weights_peephole) A(D, diff_weights_projection) A(D, diff_bias) A(D, diff_dst_layer) \
    A(D, diff_dst_iter) A(D, diff_dst_iter_c)
#define LSTM(A) FORWARD(A) A(I, direction) LSTM_TENSORS(A) A(U, flags) A(T, attr)
#define LSTM_BACKWARD(A) FORWARD(A) A(I, direction) LSTM_TENSORS(A) LSTM_GRADIENTS(A) A(U, flags) HINTED(A)
/* Memory, attributes, and words. */
#define TAGGED(A) A(I, ndims) A(N, dims) A(I, data_type) A(I, tag)
#define STRIDED(A) A(I, ndims) A(N, dims) A(I, data_type) A(N, strides)
#define STRING_TAGGED(A) A(I, ndims) A(N, dims) A(I, data_type) A(W, tag)
#define SUBMEMORY(A) A(D, parent) A(N, dims) A(N, offsets)
#define RESHAPED(A) A(D, in) A(I, ndims) A(N, dims)
#define PERMUTED(A) A(D, in) A(W, permutation)
#define VALUE(A) A(I, value)
#define MATH(A) A(I, mode) A(I, apply_to_int)
#define MASKED(A) A(I, arg) A(I, mask)
#define GROUPED(A) A(I, arg) A(I, mask) A(I, ndims) A(N, groups) A(I, data_type)
#define ROUNDED(A) A(I, arg) A(I, mode)
#define SHIFTED(A) A(F, scale) A(F, shift)
#define SCALED(A) A(Z, count) A(I, mask) A(P, scales)
#define DEPTHWISE(A) \
    A(I, weights_type) A(I, bias_type) A(I, dst_type) A(Z, kernel) A(Z, stride) A(Z, padding)
#define DROPPED(A) A(D, dropout)
#define CHAINED(A) A(O, post_ops)
#define JOINED(A) A(I, algorithm) A(D, src1)
#define CURVED(A) A(I, algorithm) A(F, alpha) A(F, beta)
#define SLOPED(A) A(I, mask)
#define ADDED(A) A(F, scale) A(I, zero_point) A(I, data_type)
#define OF_ATTR_2(A) A(T, attr) A(W, w1) A(W, w2)
#define OF_ATTR_3(A) OF_ATTR_2(A) A(W, w3)
#define STREAM(A) A(S, stream)
#define PROFILED(A) STREAM(A) W3(A)
#define EXECUTED(A) A(W, compiled) A(S, stream) W4(A)
#define COMPILED(A) A(W, partition) A(W, compiled) W4(A) A(E, engine)
#define TENSOR(A) A(W, tensor) A(W, logical) A(E, engine) A(W, handle)
#define W1(A) A(W, w1)
#define W2(A) W1(A) A(W, w2)
#define W3(A) W2(A) A(W, w3)
#define W4(A) W3(A) A(W, w4)
#define W5(A) W4(A) A(W, w5)
#define W6(A) W5(A) A(W, w6)
#define W7(A) W6(A) A(W, w7)
#define GEMM(A) W5(A) A(F, alpha) A(W, w6) A(Z, lda) A(W, w7) A(Z, ldb) A(F, beta) A(W, w8) A(Z, ldc)

/* ---- functions ---- */
/* Descriptors of primitives that Neoprene makes. What it refuses is passed on. */
#define SERVED_LIST(X) \
    X(dnnl_batch_normalization_forward_primitive_desc_create, batch_normalization_create, BATCH) \
    X(dnnl_binary_primitive_desc_create, binary_create, BINARY) \
    X(dnnl_binary_primitive_desc_create_v2, select_create, SELECT) \
    X(dnnl_concat_primitive_desc_create, concat_create, CONCAT) \
    X(dnnl_convolution_forward_primitive_desc_create, convolution_create, CONVOLUTION) \
    X(dnnl_deconvolution_forward_primitive_desc_create, deconvolution_create, CONVOLUTION) \
    X(dnnl_eltwise_forward_primitive_desc_create, eltwise_create, ELTWISE) \
    X(dnnl_group_normalization_forward_primitive_desc_create, group_normalization_create, GROUPS) \
    X(dnnl_inner_product_forward_primitive_desc_create, inner_product_create, INNER_PRODUCT) \
    X(dnnl_layer_normalization_forward_primitive_desc_create, layer_normalization_create_of_f32, LAYER) \
    X(dnnl_layer_normalization_forward_primitive_desc_create_v2, layer_normalization_create, LAYER_V2) \
    X(dnnl_lrn_forward_primitive_desc_create, lrn_create, LRN) \
    X(dnnl_matmul_primitive_desc_create, matmul_create, MATMUL) \
    X(dnnl_pooling_forward_primitive_desc_create, pooling_create, POOLING) \
    X(dnnl_prelu_forward_primitive_desc_create, prelu_create, PRELU) \
    X(dnnl_reduction_primitive_desc_create, reduction_create, REDUCTION) \
    X(dnnl_reorder_primitive_desc_create, reorder_create, REORDER) \
    X(dnnl_resampling_forward_primitive_desc_create, resampling_create, RESAMPLING) \
    X(dnnl_shuffle_forward_primitive_desc_create, shuffle_create, SHUFFLE) \
    X(dnnl_softmax_forward_primitive_desc_create, softmax_create, SOFTMAX) \
    X(dnnl_sum_primitive_desc_create, sum_create, SUM)

/* Descriptors of primitives that Neoprene does not have. */
#define PASSED_CREATE_LIST(X) \
    X(dnnl_augru_backward_primitive_desc_create, AUGRU_BACKWARD) \
    X(dnnl_augru_forward_primitive_desc_create, AUGRU) \
    X(dnnl_batch_normalization_backward_primitive_desc_create, BATCH_BACKWARD) \
    X(dnnl_convolution_backward_data_primitive_desc_create, CONVOLUTION_DATA) \
    X(dnnl_convolution_backward_weights_primitive_desc_create, CONVOLUTION_WEIGHTS) \
    X(dnnl_deconvolution_backward_data_primitive_desc_create, CONVOLUTION_DATA) \
    X(dnnl_deconvolution_backward_weights_primitive_desc_create, CONVOLUTION_WEIGHTS) \
    X(dnnl_eltwise_backward_primitive_desc_create, ELTWISE_BACKWARD) \
    X(dnnl_group_normalization_backward_primitive_desc_create, GROUPS_BACKWARD) \
    X(dnnl_gru_backward_primitive_desc_create, GRU_BACKWARD) \
    X(dnnl_gru_forward_primitive_desc_create, GRU) \
    X(dnnl_inner_product_backward_data_primitive_desc_create, INNER_PRODUCT_DATA) \
    X(dnnl_inner_product_backward_weights_primitive_desc_create, INNER_PRODUCT_WEIGHTS) \
    X(dnnl_layer_normalization_backward_primitive_desc_create, LAYER_BACKWARD) \
    X(dnnl_layer_normalization_backward_primitive_desc_create_v2, LAYER_BACKWARD_V2) \
    X(dnnl_lbr_augru_backward_primitive_desc_create, AUGRU_BACKWARD) \
    X(dnnl_lbr_augru_forward_primitive_desc_create, AUGRU) \
    X(dnnl_lbr_gru_backward_primitive_desc_create, GRU_BACKWARD) \
    X(dnnl_lbr_gru_forward_primitive_desc_create, GRU) \
    X(dnnl_lrn_backward_primitive_desc_create, LRN_BACKWARD) \
    X(dnnl_lstm_backward_primitive_desc_create, LSTM_BACKWARD) \
    X(dnnl_lstm_forward_primitive_desc_create, LSTM) \
    X(dnnl_pooling_backward_primitive_desc_create, POOLING_BACKWARD) \
    X(dnnl_prelu_backward_primitive_desc_create, PRELU_BACKWARD) \
    X(dnnl_resampling_backward_primitive_desc_create, RESAMPLING_BACKWARD) \
    X(dnnl_shuffle_backward_primitive_desc_create, SHUFFLE_BACKWARD) \
    X(dnnl_softmax_backward_primitive_desc_create, SOFTMAX_BACKWARD) \
    X(dnnl_vanilla_rnn_backward_primitive_desc_create, VANILLA_BACKWARD) \
    X(dnnl_vanilla_rnn_forward_primitive_desc_create, VANILLA)

/* Descriptors of memory: layouts in blocks and other types are passed on. */
#define DESC_LIST(X) \
    X(dnnl_memory_desc_create_with_tag, desc_create_with_tag, TAGGED) \
    X(dnnl_memory_desc_create_with_strides, desc_create_with_strides, STRIDED) \
    X(dnnl_memory_desc_create_with_string_tag, desc_create_with_string_tag, STRING_TAGGED) \
    X(dnnl_memory_desc_create_submemory, desc_create_submemory, SUBMEMORY) \
    X(dnnl_memory_desc_reshape, desc_reshape, RESHAPED) \
    X(dnnl_memory_desc_permute_axes, desc_permute_axes, PERMUTED)

/* What changes attributes and post-operations changes those of both libraries. */
#define ATTR_LIST(X) \
    X(dnnl_primitive_attr_set_accumulation_mode, attr_set_accumulation_mode, VALUE) \
    X(dnnl_primitive_attr_set_deterministic, attr_set_deterministic, VALUE) \
    X(dnnl_primitive_attr_set_fpmath_mode, attr_set_fpmath_mode, VALUE) \
    X(dnnl_primitive_attr_set_fpmath_mode_v2, attr_set_fpmath_mode_v2, MATH) \
    X(dnnl_primitive_attr_set_post_ops, attr_set_post_ops, CHAINED) \
    X(dnnl_primitive_attr_set_scales, attr_set_scales, GROUPED) \
    X(dnnl_primitive_attr_set_scales_mask, attr_set_scales_mask, MASKED) \
    X(dnnl_primitive_attr_set_scratchpad_mode, attr_set_scratchpad_mode, VALUE) \
    X(dnnl_primitive_attr_set_zero_points, attr_set_zero_points, GROUPED) \
    X(dnnl_primitive_attr_set_zero_points_mask, attr_set_zero_points_mask, MASKED)
#define PASSED_ATTR_LIST(X) \
    X(dnnl_primitive_attr_set_dropout, DROPPED) \
    X(dnnl_primitive_attr_set_rnn_data_qparams, SHIFTED) \
    X(dnnl_primitive_attr_set_rnn_weights_projection_qparams, SCALED) \
    X(dnnl_primitive_attr_set_rnn_weights_qparams, SCALED) \
    X(dnnl_primitive_attr_set_rounding, ROUNDED)
#define POST_OPS_LIST(X) \
    X(dnnl_post_ops_append_binary, post_ops_append_binary, JOINED) \
    X(dnnl_post_ops_append_dw, post_ops_append_dw, DEPTHWISE) \
    X(dnnl_post_ops_append_eltwise, post_ops_append_eltwise, CURVED) \
    X(dnnl_post_ops_append_prelu, post_ops_append_prelu, SLOPED) \
    X(dnnl_post_ops_append_sum, post_ops_append_sum, ADDED)

/* Whatever else Neoprene has nothing for. Objects of graphs are the other library's own. */
#define PASSED_LIST(X) \
    X(dnnl_gemm_bf16bf16f32, GEMM) \
    X(dnnl_get_default_fpmath_mode, W1) \
    X(dnnl_graph_add_op, W2) \
    X(dnnl_graph_allocator_create, W3) \
    X(dnnl_graph_allocator_destroy, W1) \
    X(dnnl_graph_compiled_partition_create, W2) \
    X(dnnl_graph_compiled_partition_destroy, W1) \
    X(dnnl_graph_compiled_partition_execute, EXECUTED) \
    X(dnnl_graph_compiled_partition_get_inplace_ports, W3) \
    X(dnnl_graph_compiled_partition_query_logical_tensor, W3) \
    X(dnnl_graph_get_compiled_partition_cache_capacity, W1) \
    X(dnnl_graph_get_constant_tensor_cache, W1) \
    X(dnnl_graph_get_constant_tensor_cache_capacity, W2) \
    X(dnnl_graph_graph_create, W2) \
    X(dnnl_graph_graph_create_with_fpmath_mode, W3) \
    X(dnnl_graph_graph_destroy, W1) \
    X(dnnl_graph_graph_filter, W2) \
    X(dnnl_graph_graph_finalize, W1) \
    X(dnnl_graph_graph_get_fpmath_mode, W3) \
    X(dnnl_graph_graph_get_partition_num, W2) \
    X(dnnl_graph_graph_get_partitions, W3) \
    X(dnnl_graph_graph_is_finalized, W2) \
    X(dnnl_graph_graph_set_fpmath_mode, W3) \
    X(dnnl_graph_logical_tensor_get_mem_size, W2) \
    X(dnnl_graph_logical_tensor_init, W6) \
    X(dnnl_graph_logical_tensor_init_with_dims, W7) \
    X(dnnl_graph_logical_tensor_init_with_strides, W7) \
    X(dnnl_graph_logical_tensor_is_equal, W3) \
    X(dnnl_graph_op_add_input, W2) \
    X(dnnl_graph_op_add_output, W2) \
    X(dnnl_graph_op_create, W4) \
    X(dnnl_graph_op_destroy, W1) \
    X(dnnl_graph_op_get_id, W2) \
    X(dnnl_graph_op_get_kind, W2) \
    X(dnnl_graph_op_set_attr_bool, W4) \
    X(dnnl_graph_op_set_attr_f32, W4) \
    X(dnnl_graph_op_set_attr_s64, W4) \
    X(dnnl_graph_op_set_attr_str, W4) \
    X(dnnl_graph_partition_compile, COMPILED) \
    X(dnnl_graph_partition_create_with_op, W3) \
    X(dnnl_graph_partition_destroy, W1) \
    X(dnnl_graph_partition_get_engine_kind, W2) \
    X(dnnl_graph_partition_get_id, W2) \
    X(dnnl_graph_partition_get_input_ports, W3) \
    X(dnnl_graph_partition_get_input_ports_num, W2) \
    X(dnnl_graph_partition_get_op_num, W2) \
    X(dnnl_graph_partition_get_ops, W3) \
    X(dnnl_graph_partition_get_output_ports, W3) \
    X(dnnl_graph_partition_get_output_ports_num, W2) \
    X(dnnl_graph_partition_is_supported, W2) \
    X(dnnl_graph_set_compiled_partition_cache_capacity, W1) \
    X(dnnl_graph_set_constant_tensor_cache, W1) \
    X(dnnl_graph_set_constant_tensor_cache_capacity, W2) \
    X(dnnl_graph_tensor_create, TENSOR) \
    X(dnnl_graph_tensor_destroy, W1) \
    X(dnnl_graph_tensor_get_data_handle, W2) \
    X(dnnl_graph_tensor_get_logical_tensor, W2) \
    X(dnnl_graph_tensor_set_data_handle, W2) \
    X(dnnl_primitive_attr_get_rnn_data_qparams, OF_ATTR_2) \
    X(dnnl_primitive_attr_get_rnn_weights_projection_qparams, OF_ATTR_3) \
    X(dnnl_primitive_attr_get_rnn_weights_qparams, OF_ATTR_3) \
    X(dnnl_primitive_attr_get_rounding, OF_ATTR_2) \
    X(dnnl_query_profiling_data, PROFILED) \
    X(dnnl_reset_profiling, STREAM) \
    X(dnnl_set_cpu_isa_hints, W1) \
    X(dnnl_set_default_fpmath_mode, W1) \
    X(dnnl_set_jit_dump, W1) \
    X(dnnl_set_jit_profiling_flags, W1) \
    X(dnnl_set_jit_profiling_jitdumpdir, W1) \
    X(dnnl_set_max_cpu_isa, W1)

/* Nobody's: a handle of theirs would be handed out as one of ours; they are for other processors
 * than these (micro-kernels, which oneDNN has for x86); or their memory has several addresses. */
#define UNSERVED_LIST(X) \
    X(dnnl_brgemm_create) \
    X(dnnl_brgemm_destroy) \
    X(dnnl_brgemm_execute) \
    X(dnnl_brgemm_execute_postops) \
    X(dnnl_brgemm_finalize) \
    X(dnnl_brgemm_generate) \
    X(dnnl_brgemm_get_B_pack_type) \
    X(dnnl_brgemm_get_scratchpad_size) \
    X(dnnl_brgemm_is_execute_postops_valid) \
    X(dnnl_brgemm_release_hw_context) \
    X(dnnl_brgemm_set_A_scales) \
    X(dnnl_brgemm_set_B_scales) \
    X(dnnl_brgemm_set_D_scales) \
    X(dnnl_brgemm_set_add_C) \
    X(dnnl_brgemm_set_hw_context) \
    X(dnnl_brgemm_set_post_ops) \
    X(dnnl_get_cpu_isa_hints) \
    X(dnnl_graph_sycl_interop_allocator_create) \
    X(dnnl_graph_sycl_interop_compiled_partition_execute) \
    X(dnnl_graph_sycl_interop_make_engine_with_allocator) \
    X(dnnl_memory_desc_create_with_coo_encoding) \
    X(dnnl_memory_desc_create_with_csr_encoding) \
    X(dnnl_memory_desc_create_with_packed_encoding) \
    X(dnnl_memory_desc_set_data_type) \
    X(dnnl_primitive_attr_get_dropout) \
    X(dnnl_primitive_create_from_cache_blob) \
    X(dnnl_primitive_get_cache_blob) \
    X(dnnl_transform_create) \
    X(dnnl_transform_destroy) \
    X(dnnl_transform_execute) \
    X(dnnl_transform_generate)
/* clang-format on */

/* ---- what a list of arguments becomes ---- */
#define TYPED(letter, name) , TYPE_##letter name
#define NAMED(letter, name) , name

/* Neoprene's part of each row. */
#define DECLARE(function, ours, ARGUMENTS) \
    dnnl_status ours(dnnl_primitive_desc **out ARGUMENTS(TYPED));
SERVED_LIST(DECLARE)
#undef DECLARE
#define DECLARE(function, ours, ARGUMENTS) \
    dnnl_status ours(dnnl_memory_desc **out ARGUMENTS(TYPED));
DESC_LIST(DECLARE)
#undef DECLARE
#define DECLARE(function, ours, ARGUMENTS) \
    dnnl_status ours(dnnl_primitive_attr *attr ARGUMENTS(TYPED));
ATTR_LIST(DECLARE)
#undef DECLARE
#define DECLARE(function, ours, ARGUMENTS) \
    dnnl_status ours(dnnl_post_ops *post_ops ARGUMENTS(TYPED));
POST_OPS_LIST(DECLARE)
#undef DECLARE

#endif
