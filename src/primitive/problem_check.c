/* Checks that every operation has in common. */
#include "src/core/log.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/problem.h"
#include "src/tensor/descriptor.h"

const char *const problem_tensor_names[TENSOR_COUNT] = {"src", "weights", "bias", "dst"};

/* Where a data type, a size or an attribute is right but nothing computes with it. */
static const char *unsupported_reason(const struct problem *problem)
{
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims && problem->tensors[t].data_type != NEO_F32)
            return "only f32 tensors are supported";
    if (!problem_is_moderate(problem))
        return "a tensor has more elements or larger strides than an address space has room for";
    if (problem->attributes.quantization_count)
        return "scales and zero points are not supported for f32";
    return NULL;
}

neo_status problem_reject(const struct problem *problem, neo_status status, const char *what,
                          const char *why)
{
    log_check("%s: %s%s%s", problem->operation->name, what, *what ? ": " : "", why);
    return status;
}

neo_status problem_check_tensors(const struct problem *problem)
{
    for (int t = 0; t < TENSOR_COUNT; t++) {
        const char *wrong = problem->tensors[t].ndims ? desc_wrong(&problem->tensors[t]) : NULL;
        if (wrong)
            return problem_reject(problem, NEO_INVALID_ARGUMENT, problem_tensor_names[t], wrong);
    }
    return NEO_OK;
}

neo_status problem_check(struct problem *problem)
{
    neo_status status = problem_check_tensors(problem);
    if (status != NEO_OK)
        return status;
    bool unsupported = false;
    const char *wrong = problem->operation->check(problem, &unsupported);
    if (!wrong && desc_overlaps_itself(&problem->tensors[DST]))
        wrong = "elements of dst overlap each other";
    if (!wrong)
        wrong = post_ops_check(problem, &unsupported);
    if (wrong)
        return problem_reject(problem, unsupported ? NEO_UNSUPPORTED : NEO_INVALID_ARGUMENT, "",
                              wrong);
    const char *reason = unsupported_reason(problem);
    return reason ? problem_reject(problem, NEO_UNSUPPORTED, "", reason) : NEO_OK;
}
