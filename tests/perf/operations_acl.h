/* ACL's functions for the operations beside products and convolutions. */
#ifndef PERF_OPERATIONS_ACL_H
#define PERF_OPERATIONS_ACL_H

#include "tests/perf/driver.h"

#include <arm_compute/runtime/IFunction.h>
#include <arm_compute/runtime/Tensor.h>

#include <memory>
#include <vector>

/* Tensors of f32; parameters are those of channels. They get memory, and src's and the others'
 * values, after operation_make(). */
struct operation_tensors {
    arm_compute::Tensor src, second, dst;
    std::vector<std::unique_ptr<arm_compute::Tensor>> parameters;
};

/* `function` is left alone where the library does not do the problem; then the status says why. */
arm_compute::Status operation_make(std::unique_ptr<arm_compute::IFunction> &function,
                                   operation_tensors &tensors,
                                   const struct operation_problem &problem);

#endif
