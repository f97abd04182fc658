/* Changes what a primitive is expected to cost, so that a small one is split among many threads. */
#ifndef TESTS_SUPPORT_ESTIMATE_H
#define TESTS_SUPPORT_ESTIMATE_H

#include "neoprene/primitive.h"

/* For the implementation behind pd, wherever it is used from now on. */
void estimate_set(const neo_primitive_desc *pd, double cycles);

#endif
