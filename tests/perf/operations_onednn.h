/* oneDNN's primitives for the operations beside products and convolutions. */
#ifndef PERF_OPERATIONS_ONEDNN_H
#define PERF_OPERATIONS_ONEDNN_H

#include "tests/perf/driver.h"

#include <oneapi/dnnl/dnnl.h>

/* The primitive descriptor, and arguments that are the problem's own arrays, of f32; both are the
 * caller's to destroy, after a failure, too. */
dnnl_status_t operation_plan(dnnl_primitive_desc_t *pd,
                             dnnl_exec_arg_t arguments[OPERATION_ARGUMENTS], int *count,
                             dnnl_engine_t engine, const struct problem *problem);

#endif
