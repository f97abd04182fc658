/* Compares a result with what the reference says. */
#ifndef BENCHDNN_COMPARE_H
#define BENCHDNN_COMPARE_H

#include "benchdnn/problem.h"
#include "benchdnn/report.h"

struct comparison {
    const struct problem *problem;
    const double *expected; /* before it is rounded to dst's type */
    const double *slack;    /* how far a result may be off, or NULL: compare by rules */
    const double *got;
    bool has_dst_scale;
    bool is_winograd;
};

/* Sets state (PASSED, FAILED or MISTRUSTED), errors and total. */
void compare_results(const struct comparison *comparison, struct outcome *outcome);

#endif
