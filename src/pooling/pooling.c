/* Pooling: the public function and its checks. */
#include "src/pooling/pooling.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

/* One dimension of space; NULL or a sentence. */
static const char *check_dimension(const struct problem *problem, int i)
{
    const struct window *window = &problem->window;
    neo_dim in = problem->tensors[SRC].dims[2 + i], out = problem->tensors[DST].dims[2 + i];
    neo_dim left = window->left[i], right = window->right[i];
    neo_dim step = window->dilations[i];
    if (window->kernel[i] < 1 || window->strides[i] < 1 || step < 0 || left < 0)
        return "a stride or a size of the window is below 1, or a dilation or left padding "
               "negative";
    if (window->kernel[i] > MOST_SPACE || window->strides[i] > MOST_SPACE || step > MOST_SPACE ||
        left > MOST_SPACE || right > MOST_SPACE || right < -MOST_SPACE)
        return "a stride, dilation, padding or size of the window is beyond 2^30";
    if (in == NEO_RUNTIME_DIM || out == NEO_RUNTIME_DIM)
        return NULL;
    neo_dim extent = (window->kernel[i] - 1) * (step + 1) + 1;
    neo_dim rest = in - extent + left + right;
    neo_dim expected = rest < 0 ? 0 : rest / window->strides[i] + 1;
    if (rest < 0 || expected != out) {
        log_check("pooling: dimension %d of dst has %lld, and %lld follow", 2 + i, (long long)out,
                  (long long)expected);
        return "a size of dst is not what follows from src, window, stride and padding";
    }
    return NULL;
}

static const char *pooling_check(struct problem *problem, bool *unsupported)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    const char *wrong = problem_prop_kind_wrong(problem);
    if (wrong)
        return wrong;
    if (pooling_parameters(problem)->algorithm > NEO_POOLING_AVERAGE_EXCLUDE_PADDING)
        return "the algorithm is unknown";
    if (src->ndims != dst->ndims || src->ndims < 3 || src->ndims > 5)
        return "src and dst do not have the same number of dimensions, 3 to 5";
    if (!lines_is_same_size(src->dims[0], dst->dims[0]) ||
        !lines_is_same_size(src->dims[1], dst->dims[1]))
        return "src and dst do not have the same batch and channels";
    for (int i = 0; i < dst->ndims && problem->extra_count; i++)
        if (!lines_is_same_size(problem->extras[0].desc.dims[i], dst->dims[i]))
            return "the workspace does not have dst's sizes";
    (void)unsupported;
    for (int i = 0; i < src->ndims - 2 && !wrong; i++)
        wrong = check_dimension(problem, i);
    return wrong;
}

static const struct algorithm *const pooling_algorithms[] = {&pooling_windows, &pooling_winners};

static bool pooling_writes(const struct problem *problem, int arg)
{
    (void)problem;
    return arg == NEO_ARG_WORKSPACE;
}

static const struct operation pooling_operation = {
    .name = "pooling",
    .parameter_bytes = sizeof(struct pooling_parameters),
    .takes_all_types = true,
    .writes = pooling_writes,
    .check = pooling_check,
    .algorithms = pooling_algorithms,
    .algorithm_count = count_of(pooling_algorithms),
    .describe = lines_describe,
};

/* dst's sizes, and its order if that is known. */
static neo_memory_desc workspace_of(const neo_pooling_desc *desc)
{
    neo_memory_desc workspace = desc->dst;
    neo_dim taps = 1;
    for (int i = 0; i < desc->dst.ndims - 2 && i < 3; i++)
        taps = taps > 256 ? taps : taps * (desc->kernel[i] > 256 ? 257 : desc->kernel[i]);
    workspace.data_type = taps <= 256 ? NEO_U8 : NEO_S32;
    workspace.format_kind = NEO_FORMAT_ANY;
    workspace.offset = 0;
    return workspace;
}

neo_status neo_pooling_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                             const neo_pooling_desc *desc,
                                             const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !desc);
    if (status != NEO_OK)
        return status;
    if (reserved_is_set(desc->reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    struct pooling_parameters parameters = {.algorithm = (uint64_t)desc->algorithm};
    struct window window =
        window_of(desc->strides, desc->dilations, desc->padding_left, desc->padding_right);
    memcpy(window.kernel, desc->kernel, sizeof window.kernel);
    struct extra workspace = {NEO_ARG_WORKSPACE, workspace_of(desc)};
    bool has_workspace =
        desc->prop_kind == NEO_FORWARD_TRAINING && desc->algorithm == NEO_POOLING_MAX;
    struct description description = {
        .operation = &pooling_operation,
        .tensors = {[SRC] = &desc->src, [DST] = &desc->dst},
        .attributes = attributes,
        .prop_kind = desc->prop_kind,
        .extra_count = has_workspace,
        .extras = &workspace,
        .parameters = &parameters,
        .window = &window,
    };
    return primitive_desc_create(out, engine, &description);
}
