/* Convolutions of any kind, and small: of all that the generator's next numbers stand for. */
#ifndef TESTS_SUPPORT_CASES_CONVOLUTION_RANDOM_H
#define TESTS_SUPPORT_CASES_CONVOLUTION_RANDOM_H

#include <stdint.h>

#include "tests/support/cases/convolution_case.h"

enum { CONVOLUTION_NAME = 256 };

/* The next one; name, of CONVOLUTION_NAME characters, becomes its name: the problem in benchdnn's
 * notation (g0: weights without groups). */
struct convolution_case convolution_random(uint64_t *seed, char *name);

#endif
