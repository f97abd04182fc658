/* XNNPACK's operators for the operations beside products and convolutions. */
#ifndef PERF_OPERATIONS_XNNPACK_H
#define PERF_OPERATIONS_XNNPACK_H

#include "tests/perf/driver.h"

#include <xnnpack.h>

/* One operator, or two; and memory that one works with, to be freed. */
struct xnnpack_operators {
    xnn_operator_t first, second;
    void *scratch;
};

/* Of f32. What the library has not is xnn_status_unsupported_parameter. */
enum xnn_status operators_create(struct xnnpack_operators *operators,
                                 const struct problem *problem);

#endif
