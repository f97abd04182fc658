/* What the main program does with a problem: a line of input gets types and arrays, and a library's
 * result is checked. Libraries' own files need driver.h alone. */
#ifndef PERF_PROBLEM_H
#define PERF_PROBLEM_H

#include "tests/perf/driver.h"

/* False: the line is no problem. */
bool problem_parse(struct problem *problem, const char *line);
/* Of types that nobody knows it says so, and ends the process. */
void problem_set_types(struct problem *problem);
/* Scalar products of the definition. */
size_t problem_products(const struct problem *problem);

/* With values in the sources, and zeros in dst. */
void problem_allocate_arrays(struct problem *problem);
void problem_free_arrays(struct problem *problem);

/* Among elements of dst that are sampled. */
double problem_largest_error(const struct problem *problem);

#endif
