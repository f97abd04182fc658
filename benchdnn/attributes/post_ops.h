/* Post-operations: the grammar of --attr-post-ops, their translation, and what they compute. */
#ifndef BENCHDNN_ATTRIBUTES_POST_OPS_H
#define BENCHDNN_ATTRIBUTES_POST_OPS_H

#include "benchdnn/attributes/attributes.h"

const char *post_ops_out_of_scope(const struct post_ops *ops);
neo_status post_ops_append(neo_attributes *to, const struct post_ops *ops,
                           const struct attribute_shape *shape);

/* The descriptor of a binary operand. With actual it has all its sizes, and no `any`. */
neo_status post_op_desc(neo_memory_desc *out, const struct post_op *op,
                        const struct attribute_shape *shape, bool actual);

/* What operation number i is resolved against. */
struct attribute_shape post_op_shape(const struct post_ops *ops, int i,
                                     const struct attribute_shape *shape);

/* A selection's condition as an operand of s8 by itself. */
struct post_op post_op_condition(const struct post_op *op);

static inline bool post_op_selects(const struct post_op *op)
{
    return op->kind == POST_OP_BINARY && op->binary == NEO_BINARY_SELECT;
}

bool post_ops_have_kind(const struct post_ops *ops, enum post_op_kind kind);
bool post_ops_have_eltwise(const struct post_ops *ops, neo_eltwise algorithm);
/* An operation that can turn negative values into zeros, or yields only 0 and 1. */
bool post_ops_make_zeros(const struct post_ops *ops);
/* An operation that can turn finite values into NaN or infinity. */
bool post_ops_make_non_finite(const struct post_ops *ops);
/* Arithmetic with operands that are not small integers: the last bits depend on rounding. */
bool post_ops_round(const struct post_ops *ops);

/* What an operation makes of x: operand is src1, the prelu weight or dst's old value; condition is
 * a selection's. */
double post_op_apply(const struct post_op *op, double x, double operand, double condition);

#endif
