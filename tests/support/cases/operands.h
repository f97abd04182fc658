/* Three post-operations with operands: what they read depends on every dimension of dst. */
#ifndef TESTS_SUPPORT_CASES_OPERANDS_H
#define TESTS_SUPPORT_CASES_OPERANDS_H

#include "tests/support/tensor.h"

enum { OPERAND_COUNT = 4 };

/* dst = condition ? value * scale + shift : other, in small integers. scale and condition are
 * broadcast along dst's dimensions 0, 2 and 4, shift and other along the others; so none has dst's
 * sizes, and may be in its buffer. */
struct operands {
    neo_attributes *attributes;
    struct tensor scale, shift, other, condition;
};

struct operands operands_make(neo_engine *engine, int ndims, const neo_dim *dims);
void operands_free(struct operands *operands);

/* Sets OPERAND_COUNT arguments of an execution. */
void operands_set(const struct operands *operands, neo_exec_arg *args);

float operands_apply(const struct operands *operands, float value, const neo_dim *position);

#endif
