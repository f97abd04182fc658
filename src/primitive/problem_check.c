/* Checks that every operation has in common. */
#include <stdio.h>

#include "neoprene/primitive.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/problem.h"
#include "src/primitive/quantization.h"
#include "src/primitive/types.h"
#include "src/tensor/descriptor.h"

static const struct {
    int arg;
    const char *name;
} extra_names[] = {
    {NEO_ARG_SRC_1, "src1"},
    {NEO_ARG_SRC_2, "src2"},
    {NEO_ARG_WORKSPACE, "workspace"},
    {NEO_ARG_MEAN, "mean"},
    {NEO_ARG_VARIANCE, "variance"},
    {NEO_ARG_SCALE, "scale"},
    {NEO_ARG_SHIFT, "shift"},
    {NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_WEIGHTS, "depthwise weights"},
    {NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_BIAS, "depthwise bias"},
};

const char *problem_tensor_name(const struct problem *problem, int i)
{
    static const char *const names[TENSOR_COUNT] = {"src", "weights", "bias", "dst"};
    if (i < TENSOR_COUNT)
        return names[i];
    for (size_t n = 0; n < count_of(extra_names); n++)
        if (extra_names[n].arg == problem->extras[i - TENSOR_COUNT].arg)
            return extra_names[n].name;
    return "a source";
}

/* Where a data type or a size is right but nothing computes with it. */
static const char *unsupported_reason(const struct problem *problem)
{
    uint16_t extras = problem->operation->takes_all_types ? TYPES_WHOLE : TYPES_F32;
    for (int i = 0; i < problem->extra_count; i++)
        if (problem->extras[i].desc.ndims && !types_have(extras, problem->extras[i].desc.data_type))
            return "a tensor beside src, weights, bias and dst has a type that is not supported";
    if (!problem_is_moderate(problem))
        return "a tensor has more elements or larger strides than an address space has room for";
    return types_refuse(problem->operation->types, problem);
}

enum { SENTENCE_BYTES = 1024 };

/* " (src f32:ab:2x4, weights f32:ab:5x3, …)": what a sentence compares, on both sides. */
static void tensors_text(const struct problem *problem, char *out, size_t size)
{
    size_t used = 0;
    for (int t = 0; t < problem_tensor_count(problem) && used < size; t++) {
        char text[DESC_TEXT_BYTES];
        const neo_memory_desc *desc = problem_tensor(problem, t);
        if (desc->ndims)
            used += (size_t)snprintf(out + used, size - used, "%s%s %s", used ? ", " : " (",
                                     problem_tensor_name(problem, t),
                                     desc_text(desc, text, sizeof text));
    }
    if (used && used < size)
        snprintf(out + used, size - used, ")");
}

neo_status problem_reject(const struct problem *problem, neo_status status, const char *what,
                          const char *why)
{
    char tensors[SENTENCE_BYTES] = "";
    if (!*what && log_is_on(LOG_CHECK))
        tensors_text(problem, tensors, sizeof tensors);
    log_check("%s: %s%s%s%s", problem->operation->name, what, *what ? ": " : "", why, tensors);
    return status;
}

neo_status problem_check_tensors(const struct problem *problem)
{
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        const neo_memory_desc *desc = problem_tensor(problem, t);
        const char *wrong = desc->ndims ? desc_wrong(desc) : NULL;
        if (wrong)
            return problem_reject(problem, NEO_INVALID_ARGUMENT, problem_tensor_name(problem, t),
                                  wrong);
    }
    return NEO_OK;
}

const char *problem_prop_kind_wrong(const struct problem *problem)
{
    if (problem->prop_kind == NEO_FORWARD_TRAINING || problem->prop_kind == NEO_FORWARD_INFERENCE)
        return NULL;
    return "prop_kind is neither forward_training nor forward_inference";
}

neo_status problem_check(struct problem *problem)
{
    neo_status status = problem_check_tensors(problem);
    if (status != NEO_OK)
        return status;
    if (desc_overlaps_itself(&problem->tensors[DST]))
        return problem_reject(problem, NEO_INVALID_ARGUMENT, "",
                              "elements of dst overlap each other");
    if ((unsigned)problem->prop_kind > NEO_FORWARD_INFERENCE)
        return problem_reject(problem, NEO_INVALID_ARGUMENT, "", "the propagation kind is unknown");
    bool unsupported = false;
    const char *wrong = problem->operation->check(problem, &unsupported);
    if (!wrong)
        wrong = post_ops_check(problem, &unsupported);
    if (!wrong)
        wrong = quantization_check(problem, &unsupported);
    if (wrong)
        return problem_reject(problem, unsupported ? NEO_UNSUPPORTED : NEO_INVALID_ARGUMENT, "",
                              wrong);
    const char *reason = unsupported_reason(problem);
    if (reason)
        return problem_reject(problem, NEO_UNSUPPORTED, "", reason);
    if (problem->operation->derive)
        problem->operation->derive(problem);
    return NEO_OK;
}
