/* Runs what was made, on guarded memory, and compares it with the loops. */
#ifndef TESTS_FUZZ_EXECUTION_H
#define TESTS_FUZZ_EXECUTION_H

#include "tests/fuzz/problem.h"

/* Whether there is little enough to do and to hold. */
bool fuzz_is_small(const struct fuzz_problem *problem);

/* Executes every implementation from pd on, in the stream; a few bytes choose what is passed wrong
 * first. Aborts when a result is not the reference implementation's, when anything but dst was
 * written, or when a wrong call was accepted or not told. */
void fuzz_execute(neo_engine *engine, neo_stream *stream, const struct fuzz_problem *problem,
                  neo_primitive_desc *pd, struct fuzz_bytes *bytes);

#endif
