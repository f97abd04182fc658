/* Attributes: what to change about an operation, and what to do with its result before it is
 * stored. */
#ifndef NEOPRENE_ATTRIBUTES_H
#define NEOPRENE_ATTRIBUTES_H

#include "neoprene/memory.h"
#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Attributes are read when a primitive descriptor is created and copied into it. One object may be
 * read by several threads, but not while one changes it.
 *
 * All functions here that return a status return NEO_INVALID_ARGUMENT where a pointer is NULL, a
 * value is none of its type, or what is said at the function; the object is then as before. */
typedef struct neo_attributes neo_attributes;

/* Attributes that change nothing, and a copy.
 *
 * @param out receives them, or NULL on failure; release with neo_attributes_destroy().
 * @return also NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_attributes_create(neo_attributes **out);
NEO_API neo_status neo_attributes_clone(neo_attributes **out, const neo_attributes *attributes);
NEO_API void neo_attributes_destroy(neo_attributes *attributes); /* NULL is fine */

/* ---- scratchpad ---- */

typedef enum neo_scratchpad_mode {
    NEO_SCRATCHPAD_LIBRARY, /* the library lends each execution a block of the engine's pool */
    NEO_SCRATCHPAD_USER,    /* each execution gets a buffer as NEO_ARG_SCRATCHPAD */
} neo_scratchpad_mode;

NEO_API neo_status neo_attributes_set_scratchpad_mode(neo_attributes *attributes,
                                                      neo_scratchpad_mode mode);
/* NEO_SCRATCHPAD_LIBRARY for NULL. */
NEO_API neo_scratchpad_mode neo_attributes_get_scratchpad_mode(const neo_attributes *attributes);

/* ---- arithmetic ---- */

typedef enum neo_fpmath_mode {
    NEO_FPMATH_STRICT, /* f32 stays f32 */
    NEO_FPMATH_BF16,
    NEO_FPMATH_F16,
    NEO_FPMATH_TF32,
    NEO_FPMATH_ANY,
} neo_fpmath_mode;

/* Permits, never demands, that f32 is rounded to a shorter type on the way into a multiplication.
 * apply_to_int != 0: integer weights are converted to floating point (weights decompression), as
 * they are in products by floats in any case.
 *
 * Of matmuls and convolutions, BF16 and ANY let src and weights of f32 be rounded to bf16, to the
 * nearest, ties to even, where the processor multiplies that faster; sums stay f32. It changes a
 * sum by up to (2^-8 + 2^-17) * the sum of |src * weights|, and numbers that are denormal in bf16
 * count as 0. F16 and TF32 permit what no processor here does faster with sums of f32, so nothing
 * changes. With ANY a convolution may be computed by any of Winograd's algorithms, too. */
NEO_API neo_status neo_attributes_set_fpmath_mode(neo_attributes *attributes, neo_fpmath_mode mode,
                                                  int apply_to_int);

typedef enum neo_accumulation_mode {
    NEO_ACCUMULATION_STRICT,
    NEO_ACCUMULATION_RELAXED,
    NEO_ACCUMULATION_ANY,
    NEO_ACCUMULATION_F32,
    NEO_ACCUMULATION_F16,
    NEO_ACCUMULATION_S32,
} neo_accumulation_mode;

/* What sums may be kept in. Those of floats are f32, and those of integers s32, unless src and
 * weights of a matrix multiplication or convolution are f16 and the mode is F16, RELAXED or ANY:
 * then up to 1024 products are summed in f16 where the processor does that faster, and such sums
 * added in f32. That is off by up to (min(k, 1024) + 1) * 2^-11 * the sum of |src * weights|, and
 * infinite where a sum is above 65504 on the way. Where dst is f16, too, bias and the limits of a
 * clamp may be rounded to it before they meet such sums. */
NEO_API neo_status neo_attributes_set_accumulation_mode(neo_attributes *attributes,
                                                        neo_accumulation_mode mode);

/* Results are always bit-identical for every number of threads (but see neo_convolution_desc for
 * weights that are not finite); this is for completeness. */
NEO_API neo_status neo_attributes_set_deterministic(neo_attributes *attributes, int deterministic);

/* ---- memory ---- */

/* How many bytes an algorithm may take: for weights in a layout of its own (that the library is
 * asked for, NEO_FORMAT_ANY), and for the scratchpad of an execution by as many threads as the
 * engine's pool has. Of the algorithms that take no more the fastest one is chosen; if all take
 * more, the one that takes the least. Other algorithms give other bits: with a budget the choice
 * depends on the number of threads that the engine has, though not on a stream's.
 *
 * @param bytes 0, as in the beginning: the environment variable NEOPRENE_ALGORITHM_BUDGET as it was
 *              when the engine was made, or no limit if it was not set.
 * @return NEO_OK, NEO_INVALID_ARGUMENT. */
NEO_API neo_status neo_attributes_set_memory_budget(neo_attributes *attributes, size_t bytes);
NEO_API size_t neo_attributes_get_memory_budget(const neo_attributes *attributes); /* 0 for NULL */

/* ---- quantisation ---- */

/* Declares that scales (or zero points) for the argument arg come at execution as
 * NEO_ARG_ATTR_SCALES | arg (NEO_ARG_ATTR_ZERO_POINTS | arg). A second call for an argument
 * replaces the first.
 *
 * An element x of an argument with scale s and zero point z stands for (x - z) * s, and dst's are
 * chosen so that it stands for the result. In detail, with f32 arithmetic unless said otherwise:
 *
 *   sum    = 0; for each group of the inner dimension in which scales and zero points are the same:
 *   part   = the sum of (src - zero point of src) * (weights - zero point of weights), in s32
 *            modulo 2^32 if both are integers
 *   sum   += part * scale of src * scale of weights
 *   x      = post-operations of (sum + bias)
 *   dst    = x / scale of dst + zero point of dst, to the nearest, ties to even, saturated; NaN
 *            becomes 0 in an integer
 *
 * Integers by integers are exact: the same on every processor. Where a part is summed in f32, or
 * weights become floats before they are multiplied, roundings may be at other places.
 *
 * At execution the values are one after the other, in the order of the argument's dimensions: a
 * dense tensor of as many elements, in however many dimensions.
 *
 * @param mask        bit d set: one value per index of dimension d; 0: one value.
 * @param group_ndims 0, or 2: group_dims[0] × group_dims[1] indices of the last two dimensions
 *                    share one; the dimensions are multiples of these, and in the mask where it is
 *                    more than 1.
 * @param type        of scales f32, f16 or bf16; of zero points s32, s8, u8, s4 or u4.
 * @return NEO_OK, NEO_INVALID_ARGUMENT. What an operation does not take is found when a primitive
 *         descriptor is created: NEO_INVALID_ARGUMENT where it contradicts the argument's sizes,
 *         NEO_UNSUPPORTED where nothing computes it. */
NEO_API neo_status neo_attributes_set_scales(neo_attributes *attributes, int arg, int mask,
                                             int group_ndims, const neo_dim *group_dims,
                                             neo_data_type type);
NEO_API neo_status neo_attributes_set_zero_points(neo_attributes *attributes, int arg, int mask,
                                                  int group_ndims, const neo_dim *group_dims,
                                                  neo_data_type type);

/* Permits that a matrix multiplication quantises the rows of a floating-point src itself: integers
 * are multiplied then, which is several times faster. Each row of src gives
 *
 *   size    = the largest |src[p]|
 *   x[p]    = src[p] * (127 / size) to the nearest, ties to even
 *
 * By weights of s8, u8, s4 or u4, where all of a column has one scale and zero point and src has
 * none, packed by this library or plain, the result is
 *
 *   dst     = post-operations of ((the sum of x[p] * (weight[p] - zero point)) * (size / 127) *
 *             scale + bias)
 *
 * and by weights in blocks with scales (neoprene/block_weights.h), where q' and the scale and
 * offset of a block are as neo_block_weights_describe() says,
 *
 *   sum     = fma(the sum of x[p] * q'[p], the block's scale, sum) for one block after the other
 *   shift   = fma(the sum of x[p], the block's offset, shift), if there are offsets
 *   dst     = post-operations of (sum * (size / 127) + shift * (size / 127) + bias)
 *
 * in f32, the sums of integers exact (modulo 2^32): all processors, and all numbers of threads and
 * of rows, have the same bits. A src[p] is off by size / 254 at most, so a result by that times the
 * sum of its weights' sizes, and by the roundings of f32. NaN in src counts as 0; a row with an
 * infinity gives NaN; one whose size is below 2^-119 counts as zeros. Other operations, and other
 * weights, are not changed by it.
 *
 * Without this attribute weights become floats, and floats are multiplied.
 *
 * @param type NEO_S8: permits it; NEO_DATA_TYPE_UNDEF, as in the beginning: does not.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (another type). */
NEO_API neo_status neo_attributes_set_dynamic_src(neo_attributes *attributes, neo_data_type type);

/* ---- post-operations ---- */

/* Applied in the order in which they are appended, to the f32 value, before it is stored. */
#define NEO_MAX_POST_OPS 32

typedef enum neo_post_op_kind {
    NEO_POST_OP_UNDEF,
    NEO_POST_OP_SUM,
    NEO_POST_OP_ELTWISE,
    NEO_POST_OP_BINARY,
    NEO_POST_OP_PRELU,
    NEO_POST_OP_DEPTHWISE,
} neo_post_op_kind;

/* name, text, what it computes of x. */
#define NEO_ELTWISE_LIST(X)                                                                  \
    X(NEO_ELTWISE_RELU, "relu", "x > 0 ? x : alpha * x")                                     \
    X(NEO_ELTWISE_TANH, "tanh", "tanh(x)")                                                   \
    X(NEO_ELTWISE_ELU, "elu", "x > 0 ? x : alpha * (exp(x) - 1)")                            \
    X(NEO_ELTWISE_SQUARE, "square", "x * x")                                                 \
    X(NEO_ELTWISE_ABS, "abs", "|x|")                                                         \
    X(NEO_ELTWISE_SQRT, "sqrt", "sqrt(x)")                                                   \
    X(NEO_ELTWISE_LINEAR, "linear", "alpha * x + beta")                                      \
    X(NEO_ELTWISE_SOFT_RELU, "soft_relu", "log(1 + exp(alpha * x)) / alpha")                 \
    X(NEO_ELTWISE_HARDSIGMOID, "hardsigmoid", "max(0, min(1, alpha * x + beta))")            \
    X(NEO_ELTWISE_LOGISTIC, "logistic", "1 / (1 + exp(-x))")                                 \
    X(NEO_ELTWISE_EXP, "exp", "exp(x)")                                                      \
    X(NEO_ELTWISE_GELU_TANH, "gelu_tanh", "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))") \
    X(NEO_ELTWISE_GELU_ERF, "gelu_erf", "0.5 x (1 + erf(x / sqrt(2)))")                      \
    X(NEO_ELTWISE_SWISH, "swish", "x / (1 + exp(-alpha * x))")                               \
    X(NEO_ELTWISE_LOG, "log", "log(x)")                                                      \
    X(NEO_ELTWISE_CLIP, "clip", "min(beta, max(alpha, x))")                                  \
    X(NEO_ELTWISE_CLIP_V2, "clip_v2", "min(beta, max(alpha, x))")                            \
    X(NEO_ELTWISE_POW, "pow", "alpha * x^beta")                                              \
    X(NEO_ELTWISE_ROUND, "round", "nearest integer, ties to even")                           \
    X(NEO_ELTWISE_MISH, "mish", "x * tanh(log(1 + exp(x)))")                                 \
    X(NEO_ELTWISE_HARDSWISH, "hardswish", "x * max(0, min(1, alpha * x + beta))")

typedef enum neo_eltwise {
#define NEO_ELTWISE_ENTRY(name, text, formula) name,
    NEO_ELTWISE_LIST(NEO_ELTWISE_ENTRY)
#undef NEO_ELTWISE_ENTRY
} neo_eltwise;

/* Comparisons give 1 or 0. select has three operands: neo_attributes_append_select(). */
#define NEO_BINARY_LIST(X)   \
    X(NEO_BINARY_ADD, "add") \
    X(NEO_BINARY_SUB, "sub") \
    X(NEO_BINARY_MUL, "mul") \
    X(NEO_BINARY_DIV, "div") \
    X(NEO_BINARY_MIN, "min") \
    X(NEO_BINARY_MAX, "max") \
    X(NEO_BINARY_GE, "ge")   \
    X(NEO_BINARY_GT, "gt")   \
    X(NEO_BINARY_LE, "le")   \
    X(NEO_BINARY_LT, "lt")   \
    X(NEO_BINARY_EQ, "eq")   \
    X(NEO_BINARY_NE, "ne")   \
    X(NEO_BINARY_SELECT, "select")

typedef enum neo_binary {
#define NEO_BINARY_ENTRY(name, text) name,
    NEO_BINARY_LIST(NEO_BINARY_ENTRY)
#undef NEO_BINARY_ENTRY
} neo_binary;

NEO_API const char *neo_eltwise_name(neo_eltwise algorithm); /* "relu"; "undef" for no algorithm */
NEO_API const char *neo_binary_name(neo_binary algorithm);

/* Each appends one operation, or nothing on failure.
 *
 * - sum: x + scale * (dst - zero_point), with dst's value before the execution; type, if not
 *   NEO_DATA_TYPE_UNDEF, is what dst's bits are read as.
 * - eltwise: see NEO_ELTWISE_LIST.
 * - binary: algorithm(x, src1), src1 coming at execution as
 *   NEO_ARG_ATTR_MULTIPLE_POST_OP(index) | NEO_ARG_SRC_1; each of its dimensions is dst's or 1
 *   (broadcast). It is strided or `any`. Scales and zero points may be set for that argument: then
 *   src1 is what (x - z) * s gives, in f32.
 * - select: condition != 0 ? x : src1; src1 comes as for binary, and condition as
 *   NEO_ARG_ATTR_MULTIPLE_POST_OP(index) | NEO_ARG_SRC_2. Each dimension of either is dst's or 1.
 * - prelu: x > 0 ? x : x * w, w coming as
 *   NEO_ARG_ATTR_MULTIPLE_POST_OP(index) | NEO_ARG_WEIGHTS: a dense f32 tensor of dst's dimensions
 *   where mask has a bit, and 1 elsewhere; for convolutions w's dimensions are in the plain order
 *   (abcd).
 *
 * @return NEO_OK; NEO_INVALID_ARGUMENT (also: clip with alpha above beta, soft_relu with alpha 0,
 *         a mask beyond the last dimension, NEO_MAX_POST_OPS operations are there already);
 *         NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_attributes_append_sum(neo_attributes *attributes, float scale,
                                             int32_t zero_point, neo_data_type type);
NEO_API neo_status neo_attributes_append_eltwise(neo_attributes *attributes, neo_eltwise algorithm,
                                                 float alpha, float beta);
NEO_API neo_status neo_attributes_append_binary(neo_attributes *attributes, neo_binary algorithm,
                                                const neo_memory_desc *src1);
NEO_API neo_status neo_attributes_append_select(neo_attributes *attributes,
                                                const neo_memory_desc *src1,
                                                const neo_memory_desc *condition);
NEO_API neo_status neo_attributes_append_prelu(neo_attributes *attributes, int mask);

/* Appends a depthwise convolution to a convolution, which has at most one: what the convolution's
 * description calls dst is then an image in between, of that type, and the depthwise convolution
 * makes of it
 *
 *   dst[n][c][y][x] = post_ops(bias_dw[c] + sum over r, s < kernel of
 *       between[n][c][y * stride - padding_left + r][x * stride - padding_left + s] *
 *       weights_dw[c][0][0][r][s])
 *
 * and likewise in one and three dimensions of space. Each of them has (in + stride - 1) / stride
 * elements in dst, so as many are padded on the right as that takes. The operations before this one
 * are applied to the image in between, and those behind it, with operands of dst's dimensions, to
 * dst, whose layout is in the order of the description's dst. The primitive's own dst and the
 * weights are to be asked for: neo_primitive_desc_query(pd, NEO_ARG_DST) and
 * (pd, NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_WEIGHTS), whose layout the library chooses. They come at
 * execution as these arguments, the bias as NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_BIAS.
 *
 * Scales and zero points of NEO_ARG_DST are the image's in between: what it holds is divided by the
 * scale, rounded, and multiplied by it again where it is read. NEO_ARG_ATTR_POST_OP_DW combined
 * with NEO_ARG_WEIGHTS or NEO_ARG_DST has those of the depthwise weights and of dst.
 *
 * The image in between is in the scratchpad, whole. Results are those of the two convolutions one
 * after the other, bit for bit. No size may be NEO_RUNTIME_DIM.
 *
 * @param weights_type, dst_type of the depthwise convolution: any that a convolution of the image
 *                               in between takes.
 * @param bias_type NEO_DATA_TYPE_UNDEF: there is no bias.
 * @param kernel, stride at least 1, the same along all dimensions of space.
 * @param padding_left at least 0.
 * @return as above. A primitive of another operation, or with a second one, is not created. */
NEO_API neo_status neo_attributes_append_depthwise(neo_attributes *attributes,
                                                   neo_data_type weights_type,
                                                   neo_data_type bias_type, neo_data_type dst_type,
                                                   neo_dim kernel, neo_dim stride,
                                                   neo_dim padding_left);

NEO_API int neo_attributes_post_op_count(const neo_attributes *attributes); /* 0 for NULL */
/* NEO_POST_OP_UNDEF for NULL, and when index is out of range. */
NEO_API neo_post_op_kind neo_attributes_post_op_kind(const neo_attributes *attributes, int index);

#ifdef __cplusplus
}
#endif

#endif
