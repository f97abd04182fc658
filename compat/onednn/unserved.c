/* Functions of oneDNN's that Neoprene has nothing for: what is backward, recurrent, sparse, a
 * graph, or an operation that is not here. They are there, so that programs load; each says that it
 * is not served. */
#include "compat/onednn/objects.h"

#define UNSERVED_LIST(X)                                          \
    X(dnnl_augru_backward_primitive_desc_create)                  \
    X(dnnl_augru_forward_primitive_desc_create)                   \
    X(dnnl_batch_normalization_backward_primitive_desc_create)    \
    X(dnnl_convolution_backward_data_primitive_desc_create)       \
    X(dnnl_convolution_backward_weights_primitive_desc_create)    \
    X(dnnl_deconvolution_backward_data_primitive_desc_create)     \
    X(dnnl_deconvolution_backward_weights_primitive_desc_create)  \
    X(dnnl_eltwise_backward_primitive_desc_create)                \
    X(dnnl_gemm_bf16bf16f32)                                      \
    X(dnnl_get_cpu_isa_hints)                                     \
    X(dnnl_get_default_fpmath_mode)                               \
    X(dnnl_graph_add_op)                                          \
    X(dnnl_graph_allocator_create)                                \
    X(dnnl_graph_allocator_destroy)                               \
    X(dnnl_graph_compiled_partition_create)                       \
    X(dnnl_graph_compiled_partition_destroy)                      \
    X(dnnl_graph_compiled_partition_execute)                      \
    X(dnnl_graph_compiled_partition_get_inplace_ports)            \
    X(dnnl_graph_compiled_partition_query_logical_tensor)         \
    X(dnnl_graph_get_compiled_partition_cache_capacity)           \
    X(dnnl_graph_get_constant_tensor_cache)                       \
    X(dnnl_graph_get_constant_tensor_cache_capacity)              \
    X(dnnl_graph_graph_create)                                    \
    X(dnnl_graph_graph_create_with_fpmath_mode)                   \
    X(dnnl_graph_graph_destroy)                                   \
    X(dnnl_graph_graph_filter)                                    \
    X(dnnl_graph_graph_finalize)                                  \
    X(dnnl_graph_graph_get_fpmath_mode)                           \
    X(dnnl_graph_graph_get_partition_num)                         \
    X(dnnl_graph_graph_get_partitions)                            \
    X(dnnl_graph_graph_is_finalized)                              \
    X(dnnl_graph_graph_set_fpmath_mode)                           \
    X(dnnl_graph_logical_tensor_get_mem_size)                     \
    X(dnnl_graph_logical_tensor_init)                             \
    X(dnnl_graph_logical_tensor_init_with_dims)                   \
    X(dnnl_graph_logical_tensor_init_with_strides)                \
    X(dnnl_graph_logical_tensor_is_equal)                         \
    X(dnnl_graph_make_engine_with_allocator)                      \
    X(dnnl_graph_op_add_input)                                    \
    X(dnnl_graph_op_add_output)                                   \
    X(dnnl_graph_op_create)                                       \
    X(dnnl_graph_op_destroy)                                      \
    X(dnnl_graph_op_get_id)                                       \
    X(dnnl_graph_op_get_kind)                                     \
    X(dnnl_graph_op_set_attr_bool)                                \
    X(dnnl_graph_op_set_attr_f32)                                 \
    X(dnnl_graph_op_set_attr_s64)                                 \
    X(dnnl_graph_op_set_attr_str)                                 \
    X(dnnl_graph_partition_compile)                               \
    X(dnnl_graph_partition_create_with_op)                        \
    X(dnnl_graph_partition_destroy)                               \
    X(dnnl_graph_partition_get_engine_kind)                       \
    X(dnnl_graph_partition_get_id)                                \
    X(dnnl_graph_partition_get_input_ports)                       \
    X(dnnl_graph_partition_get_input_ports_num)                   \
    X(dnnl_graph_partition_get_op_num)                            \
    X(dnnl_graph_partition_get_ops)                               \
    X(dnnl_graph_partition_get_output_ports)                      \
    X(dnnl_graph_partition_get_output_ports_num)                  \
    X(dnnl_graph_partition_is_supported)                          \
    X(dnnl_graph_set_compiled_partition_cache_capacity)           \
    X(dnnl_graph_set_constant_tensor_cache)                       \
    X(dnnl_graph_set_constant_tensor_cache_capacity)              \
    X(dnnl_graph_sycl_interop_allocator_create)                   \
    X(dnnl_graph_sycl_interop_compiled_partition_execute)         \
    X(dnnl_graph_sycl_interop_make_engine_with_allocator)         \
    X(dnnl_graph_tensor_create)                                   \
    X(dnnl_graph_tensor_destroy)                                  \
    X(dnnl_graph_tensor_get_data_handle)                          \
    X(dnnl_graph_tensor_get_engine)                               \
    X(dnnl_graph_tensor_get_logical_tensor)                       \
    X(dnnl_graph_tensor_set_data_handle)                          \
    X(dnnl_group_normalization_backward_primitive_desc_create)    \
    X(dnnl_gru_backward_primitive_desc_create)                    \
    X(dnnl_gru_forward_primitive_desc_create)                     \
    X(dnnl_inner_product_backward_data_primitive_desc_create)     \
    X(dnnl_inner_product_backward_weights_primitive_desc_create)  \
    X(dnnl_layer_normalization_backward_primitive_desc_create)    \
    X(dnnl_layer_normalization_backward_primitive_desc_create_v2) \
    X(dnnl_lbr_augru_backward_primitive_desc_create)              \
    X(dnnl_lbr_augru_forward_primitive_desc_create)               \
    X(dnnl_lbr_gru_backward_primitive_desc_create)                \
    X(dnnl_lbr_gru_forward_primitive_desc_create)                 \
    X(dnnl_lrn_backward_primitive_desc_create)                    \
    X(dnnl_lstm_backward_primitive_desc_create)                   \
    X(dnnl_lstm_forward_primitive_desc_create)                    \
    X(dnnl_memory_desc_create_with_coo_encoding)                  \
    X(dnnl_memory_desc_create_with_csr_encoding)                  \
    X(dnnl_memory_desc_create_with_packed_encoding)               \
    X(dnnl_memory_desc_create_with_string_tag)                    \
    X(dnnl_memory_desc_set_data_type)                             \
    X(dnnl_pooling_backward_primitive_desc_create)                \
    X(dnnl_post_ops_append_dw)                                    \
    X(dnnl_post_ops_get_params_dw)                                \
    X(dnnl_prelu_backward_primitive_desc_create)                  \
    X(dnnl_primitive_attr_get_dropout)                            \
    X(dnnl_primitive_attr_get_rnn_data_qparams)                   \
    X(dnnl_primitive_attr_get_rnn_weights_projection_qparams)     \
    X(dnnl_primitive_attr_get_rnn_weights_qparams)                \
    X(dnnl_primitive_attr_get_rounding)                           \
    X(dnnl_primitive_attr_set_dropout)                            \
    X(dnnl_primitive_attr_set_rnn_data_qparams)                   \
    X(dnnl_primitive_attr_set_rnn_weights_projection_qparams)     \
    X(dnnl_primitive_attr_set_rnn_weights_qparams)                \
    X(dnnl_primitive_attr_set_rounding)                           \
    X(dnnl_primitive_create_from_cache_blob)                      \
    X(dnnl_primitive_get_cache_blob)                              \
    X(dnnl_query_profiling_data)                                  \
    X(dnnl_resampling_backward_primitive_desc_create)             \
    X(dnnl_reset_profiling)                                       \
    X(dnnl_set_cpu_isa_hints)                                     \
    X(dnnl_set_default_fpmath_mode)                               \
    X(dnnl_set_jit_dump)                                          \
    X(dnnl_set_jit_profiling_flags)                               \
    X(dnnl_set_jit_profiling_jitdumpdir)                          \
    X(dnnl_shuffle_backward_primitive_desc_create)                \
    X(dnnl_softmax_backward_primitive_desc_create)                \
    X(dnnl_vanilla_rnn_backward_primitive_desc_create)            \
    X(dnnl_vanilla_rnn_forward_primitive_desc_create)

/* A caller passes arguments that are not looked at. */
#define UNSERVED(function)             \
    EXPORT dnnl_status function(void); \
    EXPORT dnnl_status function(void)  \
    {                                  \
        return unserved(#function);    \
    }
UNSERVED_LIST(UNSERVED)
