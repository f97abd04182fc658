/* A matrix multiplication that is computed by every implementation offered and compared with loops,
 * exactly: data are small integers. */
#ifndef TESTS_SUPPORT_CASES_MATMUL_CASE_H
#define TESTS_SUPPORT_CASES_MATMUL_CASE_H

#include "neoprene/neoprene.h"
#include "tests/support/cases/operands.h"

/* One problem: sizes, tags ("any" weights are packed by a reorder), bias mask (-1: none). */
struct matmul_case {
    const char *name;
    int ndims;
    neo_dim src[5], weights[5], dst[5];
    const char *src_tag, *weights_tag, *dst_tag;
    int bias_mask;
    int runtime; /* every size is known only at run time */
};

/* What all rows are run with: post-operations, and what they make of a sum. */
struct matmul_variant {
    const neo_attributes *attributes;
    float (*finish)(float value, float old); /* or NULL */
    const struct operands *operands;         /* or NULL */
    neo_dim bias_step;                       /* from one value to the next; 0: 1 */
    int bias_is_vector;                      /* where the row's is one for each column */
    int bias_is_any;                         /* unless sizes are known only at run time */
    unsigned repeated_src, repeated_weights; /* tensor_repeated() */
    neo_dim gap, dst_gap; /* plain tensors are parts of larger ones: tensor_part() */
};

/* Fails at the first element that differs. */
void matmul_case_check(const struct matmul_case *row, const struct matmul_variant *variant);

#endif
