/* Explicit rules for what is not computed: what no inference library for CPUs is asked for, and
 * what this one does not serve yet. Anything else that is refused counts as a failure. */
#ifndef BENCHDNN_SUPPORT_H
#define BENCHDNN_SUPPORT_H

#include "benchdnn/problem.h"

/* Why the library is not asked at all; NULL if it is. */
const char *support_out_of_scope(const struct problem *problem);

/* Why the library's NEO_UNSUPPORTED is no failure; NULL if it is one. */
const char *support_skip_reason(const struct problem *problem);

#endif
