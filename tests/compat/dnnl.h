/* oneDNN's C interface as a program sees it, and what its tests share. */
#ifndef TESTS_COMPAT_DNNL_H
#define TESTS_COMPAT_DNNL_H

#include "compat/onednn/mapping.h"
#include "tests/support/test.h"

/* As oneDNN's header has them; a program includes that one. */
dnnl_status dnnl_engine_create(dnnl_engine **engine, int kind, size_t index);
dnnl_status dnnl_stream_create(dnnl_stream **stream, dnnl_engine *engine, unsigned flags);
dnnl_status dnnl_memory_desc_create_with_tag(dnnl_memory_desc **out, int ndims, const neo_dim *dims,
                                             int data_type, int tag);
dnnl_status dnnl_memory_desc_create_with_strides(dnnl_memory_desc **out, int ndims,
                                                 const neo_dim *dims, int data_type,
                                                 const neo_dim *strides);
dnnl_status dnnl_memory_desc_reshape(dnnl_memory_desc **out, const dnnl_memory_desc *in, int ndims,
                                     const neo_dim *dims);
dnnl_status dnnl_memory_desc_query(const dnnl_memory_desc *md, int what, void *result);
dnnl_status dnnl_memory_desc_destroy(dnnl_memory_desc *md);
int dnnl_memory_desc_equal(const dnnl_memory_desc *a, const dnnl_memory_desc *b);
size_t dnnl_memory_desc_get_size(const dnnl_memory_desc *md);
dnnl_status dnnl_memory_create(dnnl_memory **out, const dnnl_memory_desc *md, dnnl_engine *engine,
                               void *handle);
dnnl_status dnnl_memory_destroy(dnnl_memory *memory);
dnnl_status dnnl_primitive_attr_create(dnnl_primitive_attr **out);
dnnl_status dnnl_primitive_attr_set_scratchpad_mode(dnnl_primitive_attr *attr, int mode);
dnnl_status dnnl_primitive_attr_set_post_ops(dnnl_primitive_attr *attr,
                                             const dnnl_post_ops *post_ops);
dnnl_status dnnl_primitive_attr_destroy(dnnl_primitive_attr *attr);
dnnl_status dnnl_post_ops_create(dnnl_post_ops **out);
dnnl_status dnnl_post_ops_append_eltwise(dnnl_post_ops *post_ops, int algorithm, float alpha,
                                         float beta);
dnnl_status dnnl_post_ops_append_dw(dnnl_post_ops *post_ops, int weights_type, int bias_type,
                                    int dst_type, neo_dim kernel, neo_dim stride, neo_dim padding);
dnnl_status dnnl_post_ops_get_params_dw(const dnnl_post_ops *post_ops, int index, int *weights_type,
                                        int *bias_type, int *dst_type, neo_dim *kernel,
                                        neo_dim *stride, neo_dim *padding);
dnnl_status dnnl_post_ops_destroy(dnnl_post_ops *post_ops);
dnnl_status dnnl_memory_desc_clone(dnnl_memory_desc **out, const dnnl_memory_desc *md);
dnnl_status dnnl_reorder_primitive_desc_create(dnnl_primitive_desc **out,
                                               const dnnl_memory_desc *src, dnnl_engine *src_engine,
                                               const dnnl_memory_desc *dst, dnnl_engine *dst_engine,
                                               const dnnl_primitive_attr *attr);
dnnl_status dnnl_convolution_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, int algorithm,
    const dnnl_memory_desc *src, const dnnl_memory_desc *weights, const dnnl_memory_desc *bias,
    const dnnl_memory_desc *dst, const neo_dim *strides, const neo_dim *dilations,
    const neo_dim *padding_left, const neo_dim *padding_right, const dnnl_primitive_attr *attr);
dnnl_status dnnl_inner_product_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, const dnnl_memory_desc *src,
    const dnnl_memory_desc *weights, const dnnl_memory_desc *bias, const dnnl_memory_desc *dst,
    const dnnl_primitive_attr *attr);
const dnnl_memory_desc *dnnl_primitive_desc_query_md(const dnnl_primitive_desc *pd, int what,
                                                     int index);
dnnl_status dnnl_primitive_desc_query(const dnnl_primitive_desc *pd, int what, int index,
                                      void *result);
dnnl_status dnnl_primitive_desc_destroy(dnnl_primitive_desc *pd);
dnnl_status dnnl_primitive_create(dnnl_primitive **out, const dnnl_primitive_desc *pd);
dnnl_status dnnl_primitive_execute(const dnnl_primitive *primitive, dnnl_stream *stream, int count,
                                   const dnnl_exec_arg *args);
dnnl_status dnnl_primitive_destroy(dnnl_primitive *primitive);
dnnl_status dnnl_lstm_forward_primitive_desc_create(void);
dnnl_status dnnl_engine_destroy(dnnl_engine *engine);
dnnl_status dnnl_stream_wait(dnnl_stream *stream);
dnnl_status dnnl_stream_destroy(dnnl_stream *stream);
dnnl_status dnnl_memory_get_data_handle(const dnnl_memory *memory, void **handle);
dnnl_status dnnl_set_verbose(int level);
dnnl_status dnnl_deconvolution_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, int algorithm,
    const dnnl_memory_desc *src, const dnnl_memory_desc *weights, const dnnl_memory_desc *bias,
    const dnnl_memory_desc *dst, const neo_dim *strides, const neo_dim *dilations,
    const neo_dim *padding_left, const neo_dim *padding_right, const dnnl_primitive_attr *attr);
dnnl_status dnnl_reduction_primitive_desc_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                                                 int algorithm, const dnnl_memory_desc *src,
                                                 const dnnl_memory_desc *dst, float p,
                                                 float epsilon, const dnnl_primitive_attr *attr);
dnnl_status dnnl_prelu_forward_primitive_desc_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                                                     int prop_kind, const dnnl_memory_desc *src,
                                                     const dnnl_memory_desc *weights,
                                                     const dnnl_memory_desc *dst,
                                                     const dnnl_primitive_attr *attr);
dnnl_status dnnl_shuffle_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, const dnnl_memory_desc *src,
    const dnnl_memory_desc *dst, int axis, neo_dim group_size, const dnnl_primitive_attr *attr);
dnnl_status dnnl_group_normalization_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, const dnnl_memory_desc *src,
    const dnnl_memory_desc *dst, neo_dim groups, float epsilon, unsigned flags,
    const dnnl_primitive_attr *attr);
dnnl_status dnnl_layer_normalization_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, const dnnl_memory_desc *src,
    const dnnl_memory_desc *dst, const dnnl_memory_desc *statistics, float epsilon, unsigned flags,
    const dnnl_primitive_attr *attr);
dnnl_status dnnl_batch_normalization_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, const dnnl_memory_desc *src,
    const dnnl_memory_desc *dst, float epsilon, unsigned flags, const dnnl_primitive_attr *attr);
dnnl_status dnnl_lrn_forward_primitive_desc_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                                                   int prop_kind, int algorithm,
                                                   const dnnl_memory_desc *src,
                                                   const dnnl_memory_desc *dst, neo_dim local_size,
                                                   float alpha, float beta, float k,
                                                   const dnnl_primitive_attr *attr);
dnnl_status dnnl_resampling_forward_primitive_desc_create(dnnl_primitive_desc **out,
                                                          dnnl_engine *engine, int prop_kind,
                                                          int algorithm, const float *factors,
                                                          const dnnl_memory_desc *src,
                                                          const dnnl_memory_desc *dst,
                                                          const dnnl_primitive_attr *attr);
dnnl_status dnnl_binary_primitive_desc_create_v2(dnnl_primitive_desc **out, dnnl_engine *engine,
                                                 int algorithm, const dnnl_memory_desc *src0,
                                                 const dnnl_memory_desc *src1,
                                                 const dnnl_memory_desc *src2,
                                                 const dnnl_memory_desc *dst,
                                                 const dnnl_primitive_attr *attr);
dnnl_status dnnl_sgemm(char transa, char transb, neo_dim m, neo_dim n, neo_dim k, float alpha,
                       const float *a, neo_dim lda, const float *b, neo_dim ldb, float beta,
                       float *c, neo_dim ldc);
dnnl_status dnnl_gemm_u8s8s32(char transa, char transb, char offsetc, neo_dim m, neo_dim n,
                              neo_dim k, float alpha, const uint8_t *a, neo_dim lda, uint8_t ao,
                              const int8_t *b, neo_dim ldb, int8_t bo, float beta, int32_t *c,
                              neo_dim ldc, const int32_t *co);
dnnl_status dnnl_gemm_s8s8s32(char transa, char transb, char offsetc, neo_dim m, neo_dim n,
                              neo_dim k, float alpha, const int8_t *a, neo_dim lda, int8_t ao,
                              const int8_t *b, neo_dim ldb, int8_t bo, float beta, int32_t *c,
                              neo_dim ldc, const int32_t *co);

enum { F32 = 3, TAG_ANY = 1, TAG_A = 2, TAG_AB = 3, TAG_ABCD = 5, TAG_ACDB = 22, RELU = 32 };

#define ok(call) assert_int_equal(call, dnnl_success)

static dnnl_engine *engine;
static dnnl_stream *stream;

static inline int create_engine(void **state)
{
    (void)state;
    return dnnl_engine_create(&engine, ENGINE_CPU, 0) || dnnl_stream_create(&stream, engine, 1);
}

static inline dnnl_memory_desc *describe(int ndims, const neo_dim *dims, int tag)
{
    dnnl_memory_desc *md;
    ok(dnnl_memory_desc_create_with_tag(&md, ndims, dims, F32, tag));
    return md;
}

static inline void fill(float *values, size_t count, int seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((int)(i * 7 + (size_t)seed * 5) % 9 - 4);
}

#endif
