/* Packed layouts for what is multiplied as another type than f32, of matmul's weights and of
 * convolutions'. The id tells the operation and the type of the panels; matrices and panels are
 * those of f32, or where the type's vectors have more columns those of layout_widen(); a panel has
 * all of k in groups (gemm_panel_at()), which may have elements of two taps. A matrix of integers
 * ends with the sums of its columns, of s32, padding included. Matrices are multiples of
 * LAYOUT_ALIGNMENT bytes. */
#ifndef SRC_TENSOR_TYPED_LAYOUT_H
#define SRC_TENSOR_TYPED_LAYOUT_H

#include "kernels/gemm/types.h"
#include "src/core/checked.h"
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

/* How many columns the type's vectors have for each one of f32's. */
static inline size_t typed_layout_unit(const struct gemm_type *type)
{
    return type->vector / gemm_types[GEMM_F32].vector;
}

/* The panels of n columns, and all columns with padding. */
static inline size_t typed_layout_panel_count(const struct gemm_type *type, size_t n)
{
    return layout_panel_count(div_up(n, typed_layout_unit(type)));
}
static inline struct layout_panel typed_layout_panel(const struct gemm_type *type, size_t n,
                                                     size_t index)
{
    size_t unit = typed_layout_unit(type);
    return layout_widen(layout_panel(div_up(n, unit), index), n, unit);
}
size_t typed_layout_columns(const struct gemm_type *type, size_t n);

/* NULL, or why the descriptor's layout, which is one of these, is wrong. */
const char *typed_layout_wrong(const neo_memory_desc *desc);

/* Bytes of a matrix of k rows and n columns, up to its sums, and in all. SIZE_MAX: too many. */
size_t typed_layout_sums_at(const struct gemm_type *type, size_t k, size_t n);
size_t typed_layout_step(const struct gemm_type *type, size_t k, size_t n);

#endif
