/* Whatever PyTorch 2.6 and ONNX Runtime 1.21 import of libdnnl.so is there. This program is bound
 * when it is loaded, as they may be, so a name that is missing ends it before its test. */
#include "tests/support/test.h"

#define IMPORTED_LIST(X)                                         \
    X(dnnl_batch_normalization_backward_primitive_desc_create)   \
    X(dnnl_batch_normalization_forward_primitive_desc_create)    \
    X(dnnl_binary_primitive_desc_create)                         \
    X(dnnl_concat_primitive_desc_create)                         \
    X(dnnl_convolution_backward_data_primitive_desc_create)      \
    X(dnnl_convolution_backward_weights_primitive_desc_create)   \
    X(dnnl_convolution_forward_primitive_desc_create)            \
    X(dnnl_deconvolution_backward_data_primitive_desc_create)    \
    X(dnnl_deconvolution_backward_weights_primitive_desc_create) \
    X(dnnl_deconvolution_forward_primitive_desc_create)          \
    X(dnnl_eltwise_backward_primitive_desc_create)               \
    X(dnnl_eltwise_forward_primitive_desc_create)                \
    X(dnnl_engine_create)                                        \
    X(dnnl_engine_destroy)                                       \
    X(dnnl_engine_get_count)                                     \
    X(dnnl_engine_get_kind)                                      \
    X(dnnl_gemm_s8s8s32)                                         \
    X(dnnl_get_effective_cpu_isa)                                \
    X(dnnl_graph_add_op)                                         \
    X(dnnl_graph_allocator_create)                               \
    X(dnnl_graph_allocator_destroy)                              \
    X(dnnl_graph_compiled_partition_create)                      \
    X(dnnl_graph_compiled_partition_destroy)                     \
    X(dnnl_graph_compiled_partition_execute)                     \
    X(dnnl_graph_compiled_partition_get_inplace_ports)           \
    X(dnnl_graph_compiled_partition_query_logical_tensor)        \
    X(dnnl_graph_graph_create)                                   \
    X(dnnl_graph_graph_destroy)                                  \
    X(dnnl_graph_graph_filter)                                   \
    X(dnnl_graph_graph_finalize)                                 \
    X(dnnl_graph_graph_get_partition_num)                        \
    X(dnnl_graph_graph_get_partitions)                           \
    X(dnnl_graph_graph_is_finalized)                             \
    X(dnnl_graph_logical_tensor_get_mem_size)                    \
    X(dnnl_graph_logical_tensor_init)                            \
    X(dnnl_graph_logical_tensor_init_with_dims)                  \
    X(dnnl_graph_logical_tensor_init_with_strides)               \
    X(dnnl_graph_make_engine_with_allocator)                     \
    X(dnnl_graph_op_add_input)                                   \
    X(dnnl_graph_op_add_output)                                  \
    X(dnnl_graph_op_create)                                      \
    X(dnnl_graph_op_destroy)                                     \
    X(dnnl_graph_op_set_attr_bool)                               \
    X(dnnl_graph_op_set_attr_f32)                                \
    X(dnnl_graph_op_set_attr_s64)                                \
    X(dnnl_graph_op_set_attr_str)                                \
    X(dnnl_graph_partition_compile)                              \
    X(dnnl_graph_partition_destroy)                              \
    X(dnnl_graph_partition_get_input_ports)                      \
    X(dnnl_graph_partition_get_input_ports_num)                  \
    X(dnnl_graph_partition_get_op_num)                           \
    X(dnnl_graph_partition_get_ops)                              \
    X(dnnl_graph_partition_is_supported)                         \
    X(dnnl_graph_set_constant_tensor_cache)                      \
    X(dnnl_graph_tensor_create)                                  \
    X(dnnl_graph_tensor_destroy)                                 \
    X(dnnl_inner_product_backward_data_primitive_desc_create)    \
    X(dnnl_inner_product_backward_weights_primitive_desc_create) \
    X(dnnl_inner_product_forward_primitive_desc_create)          \
    X(dnnl_layer_normalization_forward_primitive_desc_create_v2) \
    X(dnnl_lrn_forward_primitive_desc_create)                    \
    X(dnnl_lstm_backward_primitive_desc_create)                  \
    X(dnnl_lstm_forward_primitive_desc_create)                   \
    X(dnnl_matmul_primitive_desc_create)                         \
    X(dnnl_memory_create)                                        \
    X(dnnl_memory_create_v2)                                     \
    X(dnnl_memory_desc_clone)                                    \
    X(dnnl_memory_desc_create_submemory)                         \
    X(dnnl_memory_desc_create_with_blob)                         \
    X(dnnl_memory_desc_create_with_strides)                      \
    X(dnnl_memory_desc_create_with_tag)                          \
    X(dnnl_memory_desc_destroy)                                  \
    X(dnnl_memory_desc_equal)                                    \
    X(dnnl_memory_desc_get_blob)                                 \
    X(dnnl_memory_desc_get_size_v2)                              \
    X(dnnl_memory_desc_permute_axes)                             \
    X(dnnl_memory_desc_query)                                    \
    X(dnnl_memory_desc_query_v2)                                 \
    X(dnnl_memory_desc_reshape)                                  \
    X(dnnl_memory_destroy)                                       \
    X(dnnl_memory_get_data_handle_v2)                            \
    X(dnnl_memory_get_engine)                                    \
    X(dnnl_memory_get_memory_desc)                               \
    X(dnnl_memory_set_data_handle_v2)                            \
    X(dnnl_pooling_backward_primitive_desc_create)               \
    X(dnnl_pooling_forward_primitive_desc_create)                \
    X(dnnl_post_ops_append_binary)                               \
    X(dnnl_post_ops_append_eltwise)                              \
    X(dnnl_post_ops_append_sum)                                  \
    X(dnnl_post_ops_clone)                                       \
    X(dnnl_post_ops_create)                                      \
    X(dnnl_post_ops_destroy)                                     \
    X(dnnl_post_ops_get_kind)                                    \
    X(dnnl_post_ops_get_params_binary)                           \
    X(dnnl_post_ops_get_params_eltwise)                          \
    X(dnnl_post_ops_get_params_sum)                              \
    X(dnnl_post_ops_len)                                         \
    X(dnnl_prelu_backward_primitive_desc_create)                 \
    X(dnnl_prelu_forward_primitive_desc_create)                  \
    X(dnnl_primitive_attr_clone)                                 \
    X(dnnl_primitive_attr_create)                                \
    X(dnnl_primitive_attr_destroy)                               \
    X(dnnl_primitive_attr_get_accumulation_mode)                 \
    X(dnnl_primitive_attr_get_deterministic)                     \
    X(dnnl_primitive_attr_get_fpmath_mode)                       \
    X(dnnl_primitive_attr_get_post_ops)                          \
    X(dnnl_primitive_attr_get_scratchpad_mode)                   \
    X(dnnl_primitive_attr_set_fpmath_mode)                       \
    X(dnnl_primitive_attr_set_post_ops)                          \
    X(dnnl_primitive_attr_set_rnn_data_qparams)                  \
    X(dnnl_primitive_attr_set_rnn_weights_qparams)               \
    X(dnnl_primitive_attr_set_scales_mask)                       \
    X(dnnl_primitive_attr_set_scratchpad_mode)                   \
    X(dnnl_primitive_attr_set_zero_points_mask)                  \
    X(dnnl_primitive_create)                                     \
    X(dnnl_primitive_desc_destroy)                               \
    X(dnnl_primitive_desc_get_attr)                              \
    X(dnnl_primitive_desc_query)                                 \
    X(dnnl_primitive_desc_query_md)                              \
    X(dnnl_primitive_destroy)                                    \
    X(dnnl_primitive_execute)                                    \
    X(dnnl_reduction_primitive_desc_create)                      \
    X(dnnl_reorder_primitive_desc_create)                        \
    X(dnnl_set_verbose)                                          \
    X(dnnl_softmax_forward_primitive_desc_create)                \
    X(dnnl_stream_create)                                        \
    X(dnnl_stream_destroy)                                       \
    X(dnnl_stream_wait)                                          \
    X(dnnl_sum_primitive_desc_create)                            \
    X(dnnl_version)

/* Both together, without the names that they share. */
enum { IMPORTED_COUNT = 130 };

#define DECLARE(function) extern void function(void);
IMPORTED_LIST(DECLARE)

#define ENTRY(function) {#function, function},
static const struct {
    const char *name;
    void (*function)(void);
} imported[] = {IMPORTED_LIST(ENTRY)};

static void every_import_is_a_function_of_its_own(void **state)
{
    (void)state;
    size_t count = sizeof imported / sizeof *imported;
    for (size_t i = 0; i < count; i++) {
        assert_non_null(imported[i].function);
        for (size_t j = 0; j < i; j++)
            if (imported[i].function == imported[j].function)
                fail_msg("%s is %s", imported[i].name, imported[j].name);
    }
    assert_int_equal(count, IMPORTED_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_import_is_a_function_of_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
