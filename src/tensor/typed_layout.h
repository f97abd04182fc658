/* Packed layouts for what is multiplied as another type than f32, of matmul's weights and of
 * convolutions'. The id tells the operation and the type of the panels; matrices and panels are
 * those of f32, and a panel has all of k in groups (gemm_panel_at()), which may have elements of
 * two taps. A matrix of integers ends with the sums of its columns, of s32, padding
 * included. Matrices are multiples of LAYOUT_ALIGNMENT bytes. */
#ifndef SRC_TENSOR_TYPED_LAYOUT_H
#define SRC_TENSOR_TYPED_LAYOUT_H

#include "kernels/gemm/types.h"
#include "src/tensor/layout.h"

/* The layout of panels of a type for an operation: LAYOUT_MATMUL_TYPED, LAYOUT_CONVOLUTION_TYPED.
 */
enum layout_id typed_layout_of(enum layout_id operation, const struct gemm_type *type);

static inline bool typed_layout_is_convolution(uint16_t id)
{
    return id >= LAYOUT_CONVOLUTION_TYPED;
}

/* The type of the panels; NULL: the layout is not one of these. */
static inline const struct gemm_type *typed_layout_type(uint16_t id)
{
    int first = typed_layout_is_convolution(id) ? LAYOUT_CONVOLUTION_TYPED : LAYOUT_MATMUL_TYPED;
    return id > first && id < first + GEMM_TYPES ? &gemm_types[id - first] : NULL;
}

/* NULL, or why the descriptor's layout, which is one of these, is wrong. */
const char *typed_layout_wrong(const neo_memory_desc *desc);

/* Bytes of a matrix of k rows and n columns, up to its sums, and in all. SIZE_MAX: too many. */
size_t typed_layout_sums_at(const struct gemm_type *type, size_t k, size_t n);
size_t typed_layout_step(const struct gemm_type *type, size_t k, size_t n);

#endif
