/* A convolution that is computed by every implementation offered and compared with loops, exactly:
 * data are small integers. */
#ifndef TESTS_SUPPORT_CASES_CONVOLUTION_CASE_H
#define TESTS_SUPPORT_CASES_CONVOLUTION_CASE_H

#include "neoprene/neoprene.h"
#include "tests/support/cases/operands.h"

/* Spatial values are in the order of the tensor's dimensions; groups 0 means weights without a
 * group dimension; channels are those of all groups. */
struct convolution_case {
    const char *name;
    int space;
    neo_dim batch, groups, ic, oc;
    neo_dim in[3], kernel[3], stride[3], dilation[3], left[3], right[3];
    const char *src_tag, *weights_tag, *dst_tag;
};

/* What a row is run with: post-operations, and what they make of a sum. */
struct convolution_variant {
    const neo_attributes *attributes;
    float (*finish)(float value, float old); /* or NULL */
    const struct operands *operands;         /* or NULL */
    neo_dim bias_step;                       /* from one value to the next; 0: there is no bias */
    neo_dim gap; /* of images and plain weights, which are parts of larger tensors: tensor_part() */
    unsigned repeated_src, repeated_weights; /* tensor_repeated() */
};

/* The size of dst in spatial dimension i. */
neo_dim convolution_case_out(const struct convolution_case *row, int i);
neo_memory_desc convolution_case_dst(const struct convolution_case *row, neo_dim gap);

neo_convolution_desc convolution_case_desc(const struct convolution_case *row,
                                           const struct convolution_variant *variant);

/* Prints the names of implementations, and fails at the first element that differs. */
void convolution_case_check(const struct convolution_case *row,
                            const struct convolution_variant *variant);

#endif
