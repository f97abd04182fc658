/* Calls whose refusals must be told: every status but NEO_OK has a sentence in the log. */
#ifndef TESTS_FUZZ_TOLD_H
#define TESTS_FUZZ_TOLD_H

#include "neoprene/types.h"

extern neo_status fuzz_told_status; /* of the last call */

/* Before and after the call; `call` is its text. Aborts where a refusal comes without a sentence,
 * or with a status that is no refusal. */
void fuzz_told_begin(void);
void fuzz_told_end(const char *call, neo_status status);

#define FUZZ_TOLD(call)               \
    do {                              \
        fuzz_told_begin();            \
        fuzz_told_end(#call, (call)); \
    } while (0)

#endif
