/* Which number of oneDNN's is which of Neoprene's: read it as tables. */
#ifndef COMPAT_ONEDNN_MAPPING_H
#define COMPAT_ONEDNN_MAPPING_H

#include "compat/onednn/abi.h"

/* Statuses. What oneDNN has no word for is a runtime error. */
#define STATUS_LIST(X)                              \
    X(NEO_OK, dnnl_success)                         \
    X(NEO_OUT_OF_MEMORY, dnnl_out_of_memory)        \
    X(NEO_INVALID_ARGUMENT, dnnl_invalid_arguments) \
    X(NEO_UNSUPPORTED, dnnl_unimplemented)          \
    X(NEO_LAST_IMPLEMENTATION, dnnl_last_impl_reached)

/* Data types. f64, booleans and 8-bit floats have none here. */
#define DATA_TYPE_LIST(X) \
    X(1, NEO_F16)         \
    X(2, NEO_BF16)        \
    X(3, NEO_F32)         \
    X(4, NEO_S32)         \
    X(5, NEO_S8)          \
    X(6, NEO_U8)          \
    X(11, NEO_S4)         \
    X(12, NEO_U4)

/* Kinds of primitives, and their names in the log. */
#define PRIMITIVE_LIST(X)                             \
    X(1, REORDER, "reorder")                          \
    X(2, SHUFFLE, "shuffle")                          \
    X(3, CONCAT, "concat")                            \
    X(4, SUM, "sum")                                  \
    X(5, CONVOLUTION, "convolution")                  \
    X(6, DECONVOLUTION, "deconvolution")              \
    X(7, ELTWISE, "eltwise")                          \
    X(8, LRN, "lrn")                                  \
    X(9, BATCH_NORMALIZATION, "batch_normalization")  \
    X(10, INNER_PRODUCT, "inner_product")             \
    X(13, BINARY, "binary")                           \
    X(14, MATMUL, "matmul")                           \
    X(15, RESAMPLING, "resampling")                   \
    X(16, POOLING, "pooling")                         \
    X(17, REDUCTION, "reduction")                     \
    X(18, PRELU, "prelu")                             \
    X(19, SOFTMAX, "softmax")                         \
    X(20, LAYER_NORMALIZATION, "layer_normalization") \
    X(21, GROUP_NORMALIZATION, "group_normalization")

enum {
#define PRIMITIVE_ENTRY(number, name, text) PRIMITIVE_##name = (number),
    PRIMITIVE_LIST(PRIMITIVE_ENTRY)
#undef PRIMITIVE_ENTRY
};

#define ELTWISE_LIST(X)            \
    X(32, NEO_ELTWISE_RELU)        \
    X(33, NEO_ELTWISE_TANH)        \
    X(34, NEO_ELTWISE_ELU)         \
    X(35, NEO_ELTWISE_SQUARE)      \
    X(36, NEO_ELTWISE_ABS)         \
    X(37, NEO_ELTWISE_SQRT)        \
    X(38, NEO_ELTWISE_LINEAR)      \
    X(39, NEO_ELTWISE_SOFT_RELU)   \
    X(40, NEO_ELTWISE_HARDSIGMOID) \
    X(41, NEO_ELTWISE_LOGISTIC)    \
    X(42, NEO_ELTWISE_EXP)         \
    X(43, NEO_ELTWISE_GELU_TANH)   \
    X(44, NEO_ELTWISE_SWISH)       \
    X(45, NEO_ELTWISE_LOG)         \
    X(46, NEO_ELTWISE_CLIP)        \
    X(47, NEO_ELTWISE_CLIP_V2)     \
    X(48, NEO_ELTWISE_POW)         \
    X(49, NEO_ELTWISE_GELU_ERF)    \
    X(50, NEO_ELTWISE_ROUND)       \
    X(51, NEO_ELTWISE_MISH)        \
    X(52, NEO_ELTWISE_HARDSWISH)

#define BINARY_LIST(X)         \
    X(0x1fff0, NEO_BINARY_ADD) \
    X(0x1fff1, NEO_BINARY_MUL) \
    X(0x1fff2, NEO_BINARY_MAX) \
    X(0x1fff3, NEO_BINARY_MIN) \
    X(0x1fff4, NEO_BINARY_DIV) \
    X(0x1fff5, NEO_BINARY_SUB) \
    X(0x1fff6, NEO_BINARY_GE)  \
    X(0x1fff7, NEO_BINARY_GT)  \
    X(0x1fff8, NEO_BINARY_LE)  \
    X(0x1fff9, NEO_BINARY_LT)  \
    X(0x1fffa, NEO_BINARY_EQ)  \
    X(0x1fffb, NEO_BINARY_NE)  \
    X(0x1fffc, NEO_BINARY_SELECT)

#define POOLING_LIST(X)                           \
    X(0x1ff, NEO_POOLING_MAX)                     \
    X(0x2ff, NEO_POOLING_AVERAGE_INCLUDE_PADDING) \
    X(0x3ff, NEO_POOLING_AVERAGE_EXCLUDE_PADDING)

#define SOFTMAX_LIST(X)              \
    X(0x30000, NEO_SOFTMAX_ACCURATE) \
    X(0x30001, NEO_SOFTMAX_LOG)

#define CONVOLUTION_LIST(X)        \
    X(1, NEO_CONVOLUTION_AUTO)     \
    X(2, NEO_CONVOLUTION_WINOGRAD) \
    X(3, NEO_CONVOLUTION_AUTO)

#define LRN_LIST(X)                   \
    X(0xaff, NEO_LRN_ACROSS_CHANNELS) \
    X(0xbff, NEO_LRN_WITHIN_CHANNEL)

#define RESAMPLING_LIST(X)             \
    X(0x2fff0, NEO_RESAMPLING_NEAREST) \
    X(0x2fff1, NEO_RESAMPLING_LINEAR)

#define REDUCTION_LIST(X)                         \
    X(0x2fff2, NEO_REDUCTION_MAX)                 \
    X(0x2fff3, NEO_REDUCTION_MIN)                 \
    X(0x2fff4, NEO_REDUCTION_SUM)                 \
    X(0x2fff5, NEO_REDUCTION_MUL)                 \
    X(0x2fff6, NEO_REDUCTION_MEAN)                \
    X(0x2fff7, NEO_REDUCTION_NORM_LP_MAX)         \
    X(0x2fff8, NEO_REDUCTION_NORM_LP_SUM)         \
    X(0x2fff9, NEO_REDUCTION_NORM_LP_POWER_P_MAX) \
    X(0x2fffa, NEO_REDUCTION_NORM_LP_POWER_P_SUM)

/* Winograd's transforms are not for transposed convolutions; who asks for them gets products. */
#define DECONVOLUTION_LIST(X)      \
    X(0xa, NEO_CONVOLUTION_DIRECT) \
    X(0xb, NEO_CONVOLUTION_DIRECT)

#define FPMATH_LIST(X)      \
    X(0, NEO_FPMATH_STRICT) \
    X(1, NEO_FPMATH_BF16)   \
    X(2, NEO_FPMATH_F16)    \
    X(3, NEO_FPMATH_ANY)    \
    X(4, NEO_FPMATH_TF32)

#define ACCUMULATION_LIST(X)       \
    X(0, NEO_ACCUMULATION_STRICT)  \
    X(1, NEO_ACCUMULATION_RELAXED) \
    X(2, NEO_ACCUMULATION_ANY)     \
    X(3, NEO_ACCUMULATION_S32)     \
    X(4, NEO_ACCUMULATION_F32)     \
    X(5, NEO_ACCUMULATION_F16)

/* clang-format off */
/* Format tags without blocks: a number, and the letters from the outermost dimension in. */
#define TAG_LIST(X)                                                                           \
    X(1, any) X(2, a) X(3, ab) X(4, abc) X(5, abcd) X(6, abcde) X(7, abcdef) X(8, abcdefg)    \
    X(9, abcdefgh) X(10, abcdefghi) X(11, abcdefghij) X(12, abcdefghijk) X(13, abcdefghijkl)  \
    X(14, ba) X(15, acb) X(16, bac) X(17, bca) X(18, cab) X(19, cba) X(20, abdc) X(21, acbd)  \
    X(22, acdb) X(23, adbc) X(24, adcb) X(25, bacd) X(26, bcda) X(27, cdab) X(28, cdba)       \
    X(29, dcab) X(30, abced) X(31, abdec) X(32, acbde) X(33, acdeb) X(34, adecb) X(35, bacde) \
    X(36, bcdea) X(37, cdeab) X(38, cdeba) X(39, decab) X(40, abcdfe) X(41, abdefc)           \
    X(42, abdfce) X(43, acbdef) X(44, adefcb) X(45, defcab) X(46, abcdegf) X(47, abcdefhg)    \
    X(48, abcdefgih) X(49, abcdefghji) X(50, abcdefghikj) X(51, abcdefghijlk) X(835, bcad)    \
    X(836, cabd) X(837, dabc)
/* clang-format on */

/* Each returns -1, or NULL, for what has no counterpart. */
int map_data_type(int number);
int map_data_type_back(neo_data_type type);
int map_eltwise(int number);
int map_binary(int number);
int map_pooling(int number);
int map_softmax(int number);
int map_convolution(int number);
int map_lrn(int number);
int map_resampling(int number);
int map_reduction(int number);
int map_deconvolution(int number);
int map_fpmath(int number);
int map_accumulation(int number);
int map_prop_kind(int number);
const char *map_tag(int number);
const char *map_primitive_name(int kind);
dnnl_status map_status(neo_status status);

#endif
