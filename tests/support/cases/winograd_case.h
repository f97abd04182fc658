/* A convolution that is computed by Winograd's algorithm with tiles of each size: exactly those of
 * 2 x 2 outputs, whose matrices have no other fractions than powers of 2; within the stated bounds
 * all of them. */
#ifndef TESTS_SUPPORT_CASES_WINOGRAD_CASE_H
#define TESTS_SUPPORT_CASES_WINOGRAD_CASE_H

#include <stdbool.h>

#include "neoprene/neoprene.h"
#include "tests/support/cases/operands.h"

/* kernel: {0, 0} is 3 x 3; {0, 3} has one dimension. Then how many rows and columns its taps leave
 * out. */
struct winograd_case {
    const char *name;
    neo_dim batch, ic, oc, height, width, pad[2], right[2];
    const char *src_tag, *dst_tag;
    bool grouped;
    neo_dim kernel[4];
};

/* Post-operations, and what they make of a sum. */
struct winograd_chain {
    const neo_attributes *attributes;
    float (*finish)(float value, float old); /* or NULL */
    const struct operands *operands;         /* or NULL */
};

bool winograd_case_is_line(const struct winograd_case *row);
neo_dim winograd_case_taps(const struct winograd_case *row, int dimension);
/* From one tap to the next. */
neo_dim winograd_case_step(const struct winograd_case *row, int dimension);
bool winograd_case_is_dilated(const struct winograd_case *row);
neo_convolution_desc winograd_case_desc(const struct winograd_case *row);

/* Prints the names of implementations, and the largest errors beside their bounds' unit. reals: all
 * of them, with real numbers; else those that are exact, with integers. */
void winograd_case_check(const struct winograd_case *row, bool reals,
                         const struct winograd_chain *chain);

#endif
