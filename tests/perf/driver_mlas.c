/* MLAS, the kernels of ONNX Runtime's CPU provider (Debian 13's libonnxruntime-dev, 1.21), through
 * its C interface: a session of one node a problem, on one thread, weights constants of the model,
 * which it packs when the session is made. What is measured is a whole run of the session. */
#include "tests/perf/driver.h"
#include "tests/perf/onnx_model.h"

#include <onnxruntime/onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 9, MAX_OWNED = 8 };

struct work {
    const struct problem *problem;
    struct onnx_bytes node;
    const char *operation, *domain;
    struct onnx_tensor inputs[MAX_INPUTS], output;
    size_t input_count;
    void *src, *weights, *dst; /* of the problem's types */
    OrtSession *session;
    OrtIoBinding *binding;
    OrtValue *values[3]; /* src, dst, and weights that are no constant */
    void *owned[MAX_OWNED];
    size_t owned_count;
};

static const OrtApi *ort;
static OrtEnv *environment;
static OrtSessionOptions *options;
static OrtMemoryInfo *memory;

/* NULL, or a copy of why not; valid until the next problem. */
static const char *failure(OrtStatus *status)
{
    static char text[256];
    if (!status)
        return NULL;
    snprintf(text, sizeof text, "%s", ort->GetErrorMessage(status));
    ort->ReleaseStatus(status);
    text[strcspn(text, "\n")] = 0;
    return text;
}

static const char *start(void)
{
    ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
    if (!ort)
        return "the library is older than its header";
    const char *bf16 = driver_allows_bf16() ? "1" : "0";
    const char *why_not = failure(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "perf", &environment));
    if (!why_not)
        why_not = failure(ort->CreateSessionOptions(&options));
    if (!why_not)
        why_not = failure(ort->SetIntraOpNumThreads(options, 1));
    if (!why_not)
        why_not = failure(ort->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
    if (!why_not)
        why_not = failure(
            ort->AddSessionConfigEntry(options, "mlas.enable_gemm_fastmath_arm64_bfloat16", bf16));
    if (!why_not)
        why_not = failure(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
    return why_not;
}

static void *keep(struct work *work, void *array)
{
    work->owned[work->owned_count++] = array;
    return array;
}

/* ---- the node ---- */

static int onnx_type(enum driver_type type)
{
    switch (type) {
    case DRIVER_F16:
        return ONNX_F16;
    case DRIVER_S32:
        return ONNX_S32;
    case DRIVER_S8:
        return ONNX_S8;
    case DRIVER_U8:
        return ONNX_U8;
    default:
        return ONNX_F32;
    }
}

static size_t bytes_of(int type)
{
    return type == ONNX_F32 || type == ONNX_S32 ? 4 : type == ONNX_F16 ? 2 : 1;
}

static struct onnx_tensor *add_input(struct work *work, const char *name, int type)
{
    struct onnx_tensor *input = &work->inputs[work->input_count++];
    *input = (struct onnx_tensor){.name = name, .type = type};
    return input;
}

static void add_dim(struct onnx_tensor *tensor, size_t size)
{
    tensor->dims[tensor->ndims++] = (int64_t)size;
}

/* Of one element each; the values are those of zero points and of scales that are the same for all
 * of a tensor. */
static void add_scalar(struct work *work, const char *name, int type)
{
    static const float one = 1;
    static const int8_t zero = 0;
    struct onnx_tensor *input = add_input(work, name, type);
    input->values = type == ONNX_F32 ? (const void *)&one : &zero;
    input->bytes = bytes_of(type);
}

static void add_ones(struct work *work, const char *name, size_t count)
{
    float *ones = keep(work, driver_floats(count));
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    struct onnx_tensor *input = add_input(work, name, ONNX_F32);
    add_dim(input, count);
    input->values = ones;
    input->bytes = count * sizeof *ones;
}

static void add_zero_bytes(struct work *work, const char *name, int type, size_t count)
{
    void *zeros = keep(work, driver_allocate(count));
    memset(zeros, 0, count);
    struct onnx_tensor *input = add_input(work, name, type);
    add_dim(input, count);
    input->values = zeros;
    input->bytes = count;
}

/* Weights are a constant where the problem says that they are. */
static struct onnx_tensor *add_weights(struct work *work, const float *values)
{
    const struct problem *problem = work->problem;
    struct onnx_tensor *input = add_input(work, "w", onnx_type(problem->weights_type));
    work->weights = keep(work, driver_typed(problem->weights_type, values, problem->weights_size));
    input->values = work->weights;
    input->bytes = problem->weights_size * bytes_of(input->type);
    if (problem->kind == PROBLEM_MATMUL && !problem->matmul.packed)
        input->values = NULL;
    return input;
}

/* ---- products ---- */

static void add_matrix(struct onnx_tensor *tensor, const struct matmul_problem *p,
                       const size_t *batch, size_t rows, size_t columns)
{
    for (size_t i = 0; matmul_batch(p) > 1 && i < p->batch_dims; i++)
        add_dim(tensor, batch[i]);
    add_dim(tensor, rows);
    add_dim(tensor, columns);
}

static void float_matmul(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    work->operation = "MatMul";
    add_matrix(add_input(work, "x", onnx_type(work->problem->src_type)), p, p->src_batch, p->m,
               p->k);
    add_matrix(add_weights(work, work->problem->weights), p, p->weights_batch, p->k, p->n);
}

static void integer_matmul(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    int type = onnx_type(work->problem->src_type);
    work->operation = "QLinearMatMul";
    add_matrix(add_input(work, "x", type), p, p->src_batch, p->m, p->k);
    add_scalar(work, "xs", ONNX_F32);
    add_scalar(work, "xz", type);
    add_matrix(add_weights(work, work->problem->weights), p, p->weights_batch, p->k, p->n);
    add_ones(work, "ws", p->n);
    add_zero_bytes(work, "wz", ONNX_S8, p->n);
    add_scalar(work, "ys", ONNX_F32);
    add_scalar(work, "yz", type);
}

static void dynamic_matmul(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    work->operation = "DynamicQuantizeMatMul";
    work->domain = "com.microsoft";
    add_matrix(add_input(work, "x", ONNX_F32), p, p->src_batch, p->m, p->k);
    add_matrix(add_weights(work, work->problem->weights), p, p->weights_batch, p->k, p->n);
    add_ones(work, "ws", p->n);
}

/* [n][blocks][bytes], the first of two weights in the low half, 8 added. */
static void block_matmul(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    size_t block = work->problem->group, blocks = p->k / block;
    uint8_t *bytes = keep(work, driver_allocate(p->n * p->k / 2));
    memset(bytes, 0, p->n * p->k / 2);
    for (size_t n = 0; n < p->n; n++)
        for (size_t k = 0; k < p->k; k++)
            bytes[(n * p->k + k) / 2] |=
                (uint8_t)(((int)work->problem->weights[k * p->n + n] + 8) << (k % 2 ? 4 : 0));
    work->operation = "MatMulNBits";
    work->domain = "com.microsoft";
    add_matrix(add_input(work, "x", ONNX_F32), p, p->src_batch, p->m, p->k);
    struct onnx_tensor *weights = add_input(work, "w", ONNX_U8);
    add_dim(weights, p->n);
    add_dim(weights, blocks);
    add_dim(weights, block / 2);
    weights->values = bytes;
    weights->bytes = p->n * p->k / 2;
    add_ones(work, "ws", p->n * blocks);
    onnx_attribute(&work->node, "K", (int64_t)p->k);
    onnx_attribute(&work->node, "N", (int64_t)p->n);
    onnx_attribute(&work->node, "bits", 4);
    onnx_attribute(&work->node, "block_size", (int64_t)block);
    onnx_attribute(&work->node, "accuracy_level", 4); /* src may become bytes */
}

static const char *make_matmul(struct work *work)
{
    const struct problem *problem = work->problem;
    const struct matmul_problem *p = &problem->matmul;
    if (p->transposed)
        return "no transposed operands";
    if (!p->packed && problem->weights_type != problem->src_type)
        return "weights of another type than src are constants";
    if (problem->weights_type == DRIVER_S4 && (!problem->group || p->k % problem->group))
        return "no blocks that are not whole";
    if (problem->weights_type == DRIVER_S4)
        block_matmul(work);
    else if (problem->is_dynamic)
        dynamic_matmul(work);
    else if (problem->weights_type == DRIVER_S8)
        integer_matmul(work);
    else
        float_matmul(work);
    work->output = (struct onnx_tensor){.name = "y", .type = onnx_type(problem->dst_type)};
    add_matrix(&work->output, p, p->dst_batch, p->m, p->n);
    return NULL;
}

/* ---- convolution ---- */

static void add_image(struct onnx_tensor *tensor, const struct conv_problem *p, size_t channels,
                      const size_t space[3])
{
    add_dim(tensor, p->mb);
    if (!p->channels_last)
        add_dim(tensor, channels);
    for (size_t i = 3 - p->spatial_dims; i < 3; i++)
        add_dim(tensor, space[i]);
    if (p->channels_last)
        add_dim(tensor, channels);
}

static void add_geometry(struct work *work)
{
    const struct conv_problem *p = &work->problem->conv;
    int64_t pads[6], strides[3], dilations[3], kernel[3];
    size_t dims = p->spatial_dims;
    for (size_t i = 0; i < dims; i++) {
        size_t dim = 3 - dims + i;
        pads[i] = (int64_t)p->pad[dim];
        pads[dims + i] = conv_pad_named(p, (int)dim);
        strides[i] = (int64_t)p->stride[dim];
        dilations[i] = (int64_t)p->dilation[dim] + 1;
        kernel[i] = (int64_t)p->kernel[dim];
    }
    onnx_attribute(&work->node, "group", (int64_t)p->groups);
    onnx_attribute_list(&work->node, "pads", 2 * dims, pads);
    onnx_attribute_list(&work->node, "strides", dims, strides);
    onnx_attribute_list(&work->node, "dilations", dims, dilations);
    onnx_attribute_list(&work->node, "kernel_shape", dims, kernel);
}

static void add_kernel(struct work *work)
{
    const struct conv_problem *p = &work->problem->conv;
    struct onnx_tensor *weights = add_weights(work, work->problem->weights);
    add_dim(weights, p->oc);
    add_dim(weights, p->ic / p->groups);
    for (size_t i = 3 - p->spatial_dims; i < 3; i++)
        add_dim(weights, p->kernel[i]);
}

static void integer_conv(struct work *work)
{
    const struct conv_problem *p = &work->problem->conv;
    int type = onnx_type(work->problem->src_type);
    work->operation = "QLinearConv";
    work->domain = "com.microsoft"; /* the one that knows channels last */
    add_image(add_input(work, "x", type), p, p->ic, p->in);
    add_scalar(work, "xs", ONNX_F32);
    add_scalar(work, "xz", type);
    add_kernel(work);
    add_ones(work, "ws", p->oc);
    add_zero_bytes(work, "wz", ONNX_S8, p->oc);
    add_scalar(work, "ys", ONNX_F32);
    add_scalar(work, "yz", type);
    onnx_attribute(&work->node, "channels_last", p->channels_last);
}

static const char *make_conv(struct work *work)
{
    const struct problem *problem = work->problem;
    const struct conv_problem *p = &problem->conv;
    if (problem->is_dynamic || problem->weights_type == DRIVER_S4)
        return "no blocks of weights";
    for (size_t i = 3 - p->spatial_dims; i < 3; i++)
        if (conv_pad_named(p, (int)i) < 0)
            return "no sources that are longer than what is read";
    if (problem->weights_type == DRIVER_S8) {
        integer_conv(work);
    } else if (p->channels_last) {
        return "only channels first";
    } else {
        work->operation = "Conv";
        add_image(add_input(work, "x", onnx_type(problem->src_type)), p, p->ic, p->in);
        add_kernel(work);
    }
    add_geometry(work);
    work->output = (struct onnx_tensor){.name = "y", .type = onnx_type(problem->dst_type)};
    add_image(&work->output, p, p->oc, p->out);
    return NULL;
}

/* ---- the session ---- */

static const char *bind(OrtValue **value, const struct onnx_tensor *tensor, void *data,
                        size_t count)
{
    return failure(ort->CreateTensorWithDataAsOrtValue(
        memory, data, count * bytes_of(tensor->type), tensor->dims, tensor->ndims,
        (ONNXTensorElementDataType)tensor->type, value));
}

static const char *make_session(struct work *work)
{
    struct onnx_bytes model = {0};
    onnx_model(&model, work->operation, work->domain, &work->node, work->input_count, work->inputs,
               &work->output);
    const char *why_not = failure(
        ort->CreateSessionFromArray(environment, model.data, model.size, options, &work->session));
    free(model.data);
    return why_not ? why_not : failure(ort->CreateIoBinding(work->session, &work->binding));
}

/* Whatever is no constant gets its memory. */
static const char *bind_tensors(struct work *work)
{
    const struct problem *problem = work->problem;
    const char *why_not = NULL;
    for (size_t i = 0; !why_not && i < work->input_count; i++) {
        const struct onnx_tensor *input = &work->inputs[i];
        bool is_src = i == 0;
        OrtValue **value = &work->values[is_src ? 0 : 2];
        if (input->values)
            continue;
        why_not = bind(value, input, is_src ? work->src : work->weights,
                       is_src ? problem->src_size : problem->weights_size);
        if (!why_not)
            why_not = failure(ort->BindInput(work->binding, input->name, *value));
    }
    if (!why_not)
        why_not = bind(&work->values[1], &work->output, work->dst, problem->dst_size);
    return why_not ? why_not
                   : failure(ort->BindOutput(work->binding, work->output.name, work->values[1]));
}

/* ---- the peer ---- */

static bool has_types(const struct problem *problem)
{
    static const char *const types[] = {"f32:f32:f32", "f16:f16:f16", "s8:s8:s8",
                                        "u8:s8:u8",    "f32:s8:f32",  "f32:s4:f32"};
    bool integers_and_floats =
        problem->src_type == DRIVER_F32 && problem->weights_type != DRIVER_F32;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i], problem->types))
            return problem->is_dynamic == integers_and_floats;
    return false;
}

static const char *prepare(const struct problem *problem, void **state)
{
    struct work *work = driver_allocate(sizeof *work);
    *work = (struct work){.problem = problem, .domain = ""};
    *state = work;
    if (problem->kind == PROBLEM_OPERATION)
        return "no such operation";
    if (!has_types(problem))
        return "no such types";
    work->src = keep(work, driver_typed(problem->src_type, problem->src, problem->src_size));
    work->dst = keep(work, driver_typed(problem->dst_type, problem->dst, problem->dst_size));
    const char *why_not = problem->kind == PROBLEM_MATMUL ? make_matmul(work) : make_conv(work);
    if (!why_not)
        why_not = make_session(work);
    return why_not ? why_not : bind_tensors(work);
}

static void run(void *state)
{
    const struct work *work = state;
    const char *why_not = failure(ort->RunWithBinding(work->session, NULL, work->binding));
    if (why_not) {
        fprintf(stderr, "mlas: %s\n", why_not);
        exit(1);
    }
}

static void fetch(void *state)
{
    const struct work *work = state;
    driver_take_result(work->problem, work->dst);
}

static void release(void *state)
{
    struct work *work = state;
    for (size_t i = 0; i < sizeof work->values / sizeof work->values[0]; i++)
        if (work->values[i])
            ort->ReleaseValue(work->values[i]);
    if (work->binding)
        ort->ReleaseIoBinding(work->binding);
    if (work->session)
        ort->ReleaseSession(work->session);
    while (work->owned_count)
        free(work->owned[--work->owned_count]);
    free(work->node.data);
    free(work);
}

const struct peer peer = {"mlas", start, prepare, run, fetch, release, NULL, NULL};
