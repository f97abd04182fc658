/* Neoprene's primitives for the operations beside products and convolutions. */
#ifndef PERF_OPERATIONS_NEOPRENE_H
#define PERF_OPERATIONS_NEOPRENE_H

#include "tests/perf/driver.h"

#include "neoprene/primitive.h"

/* The primitive descriptor, and arguments that are the problem's own arrays, of f32; both are the
 * caller's to destroy, after a failure, too. */
neo_status operation_plan(neo_primitive_desc **pd, neo_exec_arg arguments[OPERATION_ARGUMENTS],
                          int *count, neo_engine *engine, const struct problem *problem);

#endif
