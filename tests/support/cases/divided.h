/* Which products go through k in parts: a test of such products says whether it had any. */
#ifndef TESTS_SUPPORT_CASES_DIVIDED_H
#define TESTS_SUPPORT_CASES_DIVIDED_H

#include <stdbool.h>
#include <stddef.h>

#include "neoprene/neoprene.h"

struct divided {
    size_t parts;  /* products in parts of k, and */
    size_t copies; /* those from copies of rows */
};

/* Adds one, as the algorithm "direct" plans it for the session's engine. */
void divided_count(struct divided *divided, const neo_matmul_desc *desc);

/* Does the engine's core copy rows at all? */
bool divided_may_copy(void);

#endif
