/* Weights of four or eight bits with a scale for each block of them, as language models have them,
 * from the formats in which they are stored straight into the layout that kernels read. */
#ifndef NEOPRENE_BLOCK_WEIGHTS_H
#define NEOPRENE_BLOCK_WEIGHTS_H

#include "neoprene/packed_weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where q[p][j] is the integer for step p < k of column j < n, and g = p / group:
 *
 *   * PLAIN: weight = (q - zero_point[g][j]) * scale[g][j]; q of s4, u4, s8 or u8 at element p *
 *     k_stride + j * n_stride, zero_points 0 if there are none. Scales and zero points are dense,
 *     groups × n, as neo_attributes_set_scales() has them for weights of k × n.
 *   * ONNX: MatMulNBits; q of u4 or u8, rows of a column's blocks, padded to whole blocks; scales
 *     n × blocks; zero points n × blocks of type u4 (two a byte, each column's from a whole byte
 *     on) or u8, or of floats; 8 or 128 if there are none.
 *   * GGUF_Q4_0: blocks of 32: f16 d, 16 bytes with steps i and i + 16; d * (q - 8).
 *   * GGUF_Q8_0: blocks of 32: f16 d, 32 s8; d * q.
 *   * GGUF_Q4_K: blocks of 256: f16 d and dmin, 12 bytes of eight 6-bit scales and minima for 32
 *     steps each, 128 bytes; d * scale * q - dmin * minimum.
 *
 * GGUF's have a row of blocks for each column (their tensor is n × k), all numbers little-endian.
 */
typedef enum neo_block_format {
    NEO_BLOCKS_PLAIN,
    NEO_BLOCKS_ONNX,
    NEO_BLOCKS_GGUF_Q4_0,
    NEO_BLOCKS_GGUF_Q8_0,
    NEO_BLOCKS_GGUF_Q4_K,
} neo_block_format;

/* Zero-initialise it and set fields by name. Fields that a format does not name are not read. */
typedef struct neo_block_source {
    neo_block_format format;
    int ndims;     /* of the descriptor, whose first dimensions are 1: 2 … NEO_MAX_NDIMS; 0: 2 */
    neo_dim k, n;  /* of the matrix, >= 1 */
    neo_dim group; /* PLAIN: a multiple of 16, or 0: all of k; ONNX: a power of 2, at least 16. k
                      need not be a multiple of it */
    neo_data_type type;         /* PLAIN: s4, u4, s8, u8; ONNX: u4, u8 */
    neo_dim k_stride, n_stride; /* PLAIN: >= 0, in elements; both 0: n and 1 */
    const void *weights;
    const void *scales;
    neo_data_type scale_type;      /* PLAIN, ONNX: f32, f16, bf16 */
    const void *zero_points;       /* NULL: none */
    neo_data_type zero_point_type; /* PLAIN: s4, u4, s8, u8, s32; ONNX: u4, u8 or scale_type */
    uint64_t reserved[4];          /* 0 */
} neo_block_source;

/* Describes such weights in the layout that neo_block_weights_import() brings them into: of s4 or
 * s8, k × n, packed. Pointers of source are not looked at but for whether they are NULL. Scales and
 * what zero points and minima come to are in the layout, so attributes have none for such weights:
 * a weight is fma(q', scale, offset) of f32, with offset (c - zero_point) * scale, or c * scale -
 * minimum, rounded to f32, where q' = q - c, c is 8 or 128 for unsigned q and 0 for others. A block
 * is a group, or a part of one of more than 240 steps: as large a part of up to 240 steps, in units
 * of 16, as divides it; all of k is parted into the fewest blocks of equal size. Scales of f16 stay
 * so, others become f32. A matrix takes, for each weight, half a byte or one, and for each group
 * and column a scale, and 4 bytes more where there are offsets.
 *
 * src of matrix multiplications with them is of f32, f16 or bf16. Weights become f32 when they are
 * multiplied, unless neo_attributes_set_dynamic_src() permits what is faster.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a pointer is NULL, a field is none of those above; *out is
 *         left alone). */
NEO_API neo_status neo_block_weights_describe(neo_memory_desc *out, const neo_block_source *source);

/* Brings them into it, as neo_weights_pack() does: the provider of the stream's engine is asked
 * first, by a hash of all bytes that source names and by what source says of them, so that weights
 * that are in its file are not read otherwise.
 *
 * @param out    receives the weights, or NULL on failure; release them with
 *               neo_packed_weights_destroy().
 * @param stream whose threads do the packing.
 * @param source read only during the call.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_block_weights_import(neo_packed_weights **out, neo_stream *stream,
                                            const neo_block_source *source);

#ifdef __cplusplus
}
#endif

#endif
