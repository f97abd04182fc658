/* Attributes made of bytes. */
#ifndef TESTS_FUZZ_ATTRIBUTES_H
#define TESTS_FUZZ_ATTRIBUTES_H

#include "tests/fuzz/problem.h"

/* For a problem whose tensors are chosen; now and then none, or wrong ones. */
void fuzz_attributes_make(struct fuzz_problem *problem, struct fuzz_bytes *bytes);

#endif
