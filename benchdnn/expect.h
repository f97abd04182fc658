/* What a problem's result should be: the reference and everything attributes do to it. */
#ifndef BENCHDNN_EXPECT_H
#define BENCHDNN_EXPECT_H

#include "benchdnn/data.h"

/* Both have dst's elements in natural order; release with free(). */
struct expectation {
    double *values;
    double *slack; /* NULL if results are exact */
};

void expect_init(struct expectation *out, const struct problem *problem, const struct data *data,
                 bool is_winograd);
void expect_deinit(struct expectation *expectation);

/* What an operand other than dst has after the execution; false: what it had before. */
bool expect_other(const struct problem *problem, const struct data *data, int operand, double *out);

#endif
