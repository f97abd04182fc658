/* XNNPACK (Debian 13's libxnnpack-dev): fully connected layers and 2D convolution, channels last,
 * weights packed when the operator is created. Where src is of f32 and weights are integers, its
 * rows become bytes within the call. */
#include "tests/perf/driver.h"
#include "tests/perf/operations_xnnpack.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

enum { MAX_OWNED = 10 };

struct work {
    const struct problem *problem;
    xnn_operator_t before; /* NULL, or what comes before op */
    xnn_operator_t op;
    void *src, *dst; /* of the problem's types; NULL: the problem's own */
    int8_t *bytes;   /* of src, for each row with a scale and a zero point */
    struct xnn_quantization_params *rows;
    void *owned[MAX_OWNED];
    size_t owned_count;
};

static const char *start(void)
{
    return xnn_initialize(NULL) == xnn_status_success ? NULL : "xnn_initialize() failed";
}

/* The array is freed with the work. */
static void *keep(struct work *work, void *array)
{
    work->owned[work->owned_count++] = array;
    return array;
}

static const float *ones(struct work *work, size_t count)
{
    float *values = keep(work, driver_floats(count));
    for (size_t i = 0; i < count; i++)
        values[i] = 1;
    return values;
}

/* ---- fully connected ---- */

/* Weights as [n][k], as the library has them by default. */
static float *weights_by_column(const struct problem *problem)
{
    const struct matmul_problem *p = &problem->matmul;
    float *to = driver_floats(problem->weights_size);
    for (size_t n = 0; n < p->n; n++)
        for (size_t k = 0; k < p->k; k++)
            to[n * p->k + k] = p->transposed & OPERAND_WEIGHTS ? problem->weights[n * p->k + k]
                                                               : problem->weights[k * p->n + n];
    return to;
}

static void *column_weights(struct work *work)
{
    float *values = weights_by_column(work->problem);
    void *typed = driver_typed(work->problem->weights_type, values, work->problem->weights_size);
    free(values);
    return keep(work, typed);
}

/* Two weights a byte, the first in the low half, 8 added. */
static uint8_t *column_nibbles(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    float *values = weights_by_column(work->problem);
    size_t row = (p->k + 1) / 2;
    uint8_t *to = keep(work, driver_allocate(p->n * row));
    memset(to, 0, p->n * row);
    for (size_t n = 0; n < p->n; n++)
        for (size_t k = 0; k < p->k; k++)
            to[n * row + k / 2] |= (uint8_t)(((int)values[n * p->k + k] + 8) << (k % 2 ? 4 : 0));
    free(values);
    return to;
}

static enum xnn_status matmul_f32(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    enum xnn_status status =
        xnn_create_fully_connected_nc_f32(p->k, p->n, p->k, p->n, column_weights(work), NULL,
                                          -INFINITY, INFINITY, 0, NULL, NULL, &work->op);
    if (status == xnn_status_success)
        status = xnn_reshape_fully_connected_nc_f32(work->op, p->m, NULL);
    return status == xnn_status_success
               ? xnn_setup_fully_connected_nc_f32(work->op, work->src, work->dst)
               : status;
}

static enum xnn_status matmul_f16(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    enum xnn_status status =
        xnn_create_fully_connected_nc_f16(p->k, p->n, p->k, p->n, column_weights(work), NULL,
                                          -INFINITY, INFINITY, 0, NULL, NULL, &work->op);
    if (status == xnn_status_success)
        status = xnn_reshape_fully_connected_nc_f16(work->op, p->m, NULL);
    return status == xnn_status_success
               ? xnn_setup_fully_connected_nc_f16(work->op, work->src, work->dst)
               : status;
}

static enum xnn_status matmul_s8(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    enum xnn_status status = xnn_create_fully_connected_nc_qs8_qc8w(
        p->k, p->n, p->k, p->n, 0, 1, ones(work, p->n), column_weights(work), NULL, 0, 1, INT8_MIN,
        INT8_MAX, 0, NULL, NULL, &work->op);
    if (status == xnn_status_success)
        status = xnn_reshape_fully_connected_nc_qs8_qc8w(work->op, p->m, NULL);
    return status == xnn_status_success
               ? xnn_setup_fully_connected_nc_qs8_qc8w(work->op, work->src, work->dst)
               : status;
}

/* The operator that makes src bytes. */
static enum xnn_status quantise_rows(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    size_t rows = p->m + XNN_EXTRA_QUANTIZATION_PARAMS;
    work->bytes = keep(work, driver_allocate(p->m * p->k + XNN_EXTRA_BYTES));
    work->rows = keep(work, driver_allocate(rows * sizeof *work->rows));
    enum xnn_status status = xnn_create_convert_nc_f32_qd8(0, &work->before);
    if (status == xnn_status_success)
        status = xnn_reshape_convert_nc_f32_qd8(work->before, p->m, p->k, p->k, p->k, NULL);
    return status == xnn_status_success
               ? xnn_setup_convert_nc_f32_qd8(work->before, work->src, work->bytes, work->rows)
               : status;
}

static enum xnn_status matmul_dynamic_s8(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    if (work->problem->group)
        return xnn_status_unsupported_parameter;
    enum xnn_status status = quantise_rows(work);
    if (status == xnn_status_success)
        status = xnn_create_fully_connected_nc_qd8_f32_qc8w(
            p->k, p->n, p->k, p->n, ones(work, p->n), column_weights(work), NULL, -INFINITY,
            INFINITY, 0, NULL, NULL, &work->op);
    if (status == xnn_status_success)
        status = xnn_reshape_fully_connected_nc_qd8_f32_qc8w(work->op, p->m, NULL);
    return status == xnn_status_success ? xnn_setup_fully_connected_nc_qd8_f32_qc8w(
                                              work->op, work->bytes, work->dst, work->rows)
                                        : status;
}

static enum xnn_status matmul_dynamic_s4_columns(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    enum xnn_status status = xnn_create_fully_connected_nc_qd8_f32_qc4w(
        p->k, p->n, p->k, p->n, 8, ones(work, p->n), column_nibbles(work), NULL, -INFINITY,
        INFINITY, 0, NULL, NULL, &work->op);
    if (status == xnn_status_success)
        status = xnn_reshape_fully_connected_nc_qd8_f32_qc4w(work->op, p->m, NULL);
    return status == xnn_status_success ? xnn_setup_fully_connected_nc_qd8_f32_qc4w(
                                              work->op, work->bytes, work->dst, work->rows)
                                        : status;
}

static enum xnn_status matmul_dynamic_s4_blocks(struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    size_t scales = p->n * ((p->k + work->problem->group - 1) / work->problem->group);
    const void *bf16 = keep(work, driver_typed(DRIVER_BF16, ones(work, scales), scales));
    enum xnn_status status = xnn_create_fully_connected_nc_qd8_f32_qb4w(
        p->k, p->n, p->k, p->n, work->problem->group, 8, bf16, column_nibbles(work), NULL,
        -INFINITY, INFINITY, 0, NULL, NULL, &work->op);
    if (status == xnn_status_success)
        status = xnn_reshape_fully_connected_nc_qd8_f32_qb4w(work->op, p->m, NULL);
    return status == xnn_status_success ? xnn_setup_fully_connected_nc_qd8_f32_qb4w(
                                              work->op, work->bytes, work->dst, work->rows)
                                        : status;
}

static enum xnn_status matmul_dynamic_s4(struct work *work)
{
    enum xnn_status status = quantise_rows(work);
    if (status != xnn_status_success)
        return status;
    return work->problem->group ? matmul_dynamic_s4_blocks(work) : matmul_dynamic_s4_columns(work);
}

static const char *refuse_matmul(const struct matmul_problem *p)
{
    if (matmul_batch(p) != 1)
        return "no batches of products";
    if (!p->packed)
        return "weights are always packed beforehand";
    if (p->transposed & ~(unsigned)OPERAND_WEIGHTS)
        return "no transposed activations";
    return NULL;
}

/* ---- convolution ---- */

/* [group][oc][ic][tap] to [group][oc][tap][ic] */
static void *weights_by_tap(struct work *work)
{
    const struct problem *problem = work->problem;
    const struct conv_problem *p = &problem->conv;
    size_t icg = p->ic / p->groups, taps = conv_positions(p->kernel);
    float *to = driver_floats(problem->weights_size);
    for (size_t oc = 0; oc < p->oc; oc++)
        for (size_t ic = 0; ic < icg; ic++)
            for (size_t tap = 0; tap < taps; tap++)
                to[(oc * taps + tap) * icg + ic] = problem->weights[(oc * icg + ic) * taps + tap];
    void *typed = driver_typed(problem->weights_type, to, problem->weights_size);
    free(to);
    return keep(work, typed);
}

static const char *refuse_conv(const struct conv_problem *p)
{
    if (!p->channels_last)
        return "only channels last";
    if (p->spatial_dims == 3)
        return "no three-dimensional convolution";
    for (int dim = 1; dim < 3; dim++)
        if (conv_pad_named(p, dim) < 0)
            return "no sources that are longer than what is read";
    return NULL;
}

/* Top, right, bottom, left; kernel, strides, dilations, groups, channels: in this order they are in
 * front of every create function's arguments. */
#define GEOMETRY(p)                                                                         \
    (uint32_t)(p)->pad[1], (uint32_t)conv_pad_named(p, 2), (uint32_t)conv_pad_named(p, 1),  \
        (uint32_t)(p)->pad[2], (uint32_t)(p)->kernel[1], (uint32_t)(p)->kernel[2],          \
        (uint32_t)(p)->stride[1], (uint32_t)(p)->stride[2], (uint32_t)(p)->dilation[1] + 1, \
        (uint32_t)(p)->dilation[2] + 1, (uint32_t)(p)->groups, (p)->ic / (p)->groups,       \
        (p)->oc / (p)->groups, (p)->ic, (p)->oc

static enum xnn_status create_f32(struct work *work)
{
    return xnn_create_convolution2d_nhwc_f32(GEOMETRY(&work->problem->conv), weights_by_tap(work),
                                             NULL, -INFINITY, INFINITY, 0, NULL, NULL, &work->op);
}

static enum xnn_status create_f16(struct work *work)
{
    return xnn_create_convolution2d_nhwc_f16(GEOMETRY(&work->problem->conv), weights_by_tap(work),
                                             NULL, -INFINITY, INFINITY, 0, NULL, NULL, &work->op);
}

static enum xnn_status create_s8(struct work *work)
{
    return xnn_create_convolution2d_nhwc_qs8_qc8w(
        GEOMETRY(&work->problem->conv), 0, 1, ones(work, work->problem->conv.oc),
        weights_by_tap(work), NULL, 0, 1, INT8_MIN, INT8_MAX, 0, NULL, NULL, &work->op);
}

#undef GEOMETRY

typedef enum xnn_status reshape_fn(xnn_operator_t op, size_t images, size_t height, size_t width,
                                   size_t *bytes, size_t *alignment, size_t *out_height,
                                   size_t *out_width, pthreadpool_t pool);

static enum xnn_status reshape_conv(struct work *work, reshape_fn *reshape, void **scratch)
{
    const struct conv_problem *p = &work->problem->conv;
    size_t bytes, alignment, out[2];
    enum xnn_status status =
        reshape(work->op, p->mb, p->in[1], p->in[2], &bytes, &alignment, &out[0], &out[1], NULL);
    *scratch = status == xnn_status_success ? keep(work, driver_allocate(bytes)) : NULL;
    return status;
}

static enum xnn_status conv_f32(struct work *work)
{
    void *scratch;
    enum xnn_status status = create_f32(work);
    if (status == xnn_status_success)
        status = reshape_conv(work, xnn_reshape_convolution2d_nhwc_f32, &scratch);
    return status == xnn_status_success
               ? xnn_setup_convolution2d_nhwc_f32(work->op, scratch, work->src, work->dst)
               : status;
}

static enum xnn_status conv_f16(struct work *work)
{
    void *scratch;
    enum xnn_status status = create_f16(work);
    if (status == xnn_status_success)
        status = reshape_conv(work, xnn_reshape_convolution2d_nhwc_f16, &scratch);
    return status == xnn_status_success
               ? xnn_setup_convolution2d_nhwc_f16(work->op, scratch, work->src, work->dst)
               : status;
}

static enum xnn_status conv_s8(struct work *work)
{
    void *scratch;
    enum xnn_status status = create_s8(work);
    if (status == xnn_status_success)
        status = reshape_conv(work, xnn_reshape_convolution2d_nhwc_qs8_qc8w, &scratch);
    return status == xnn_status_success
               ? xnn_setup_convolution2d_nhwc_qs8_qc8w(work->op, scratch, work->src, work->dst)
               : status;
}

/* ---- the peer ---- */

typedef enum xnn_status make_fn(struct work *work);

static const struct method {
    const char *types;
    bool is_dynamic;
    make_fn *matmul, *conv; /* NULL: there is none */
} methods[] = {
    {"f32:f32:f32", false, matmul_f32, conv_f32},  {"f16:f16:f16", false, matmul_f16, conv_f16},
    {"s8:s8:s8", false, matmul_s8, conv_s8},       {"f32:s8:f32", true, matmul_dynamic_s8, NULL},
    {"f32:s4:f32", true, matmul_dynamic_s4, NULL},
};

static make_fn *method_of(const struct problem *problem)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (!strcmp(methods[i].types, problem->types) &&
            methods[i].is_dynamic == problem->is_dynamic)
            return problem->kind == PROBLEM_MATMUL ? methods[i].matmul : methods[i].conv;
    return NULL;
}

/* Room behind src: kernels read up to so many bytes too many. */
static void type_arrays(struct work *work)
{
    const struct problem *problem = work->problem;
    size_t spare = XNN_EXTRA_BYTES;
    float *src = driver_floats(problem->src_size + spare);
    memset(src + problem->src_size, 0, spare * sizeof *src);
    memcpy(src, problem->src, problem->src_size * sizeof *src);
    work->src = keep(work, driver_typed(problem->src_type, src, problem->src_size + spare));
    work->dst = keep(work, driver_typed(problem->dst_type, problem->dst, problem->dst_size));
    free(src);
}

static const char *prepare_operation(struct work *work)
{
    struct xnnpack_operators operators = {0};
    if (strcmp(work->problem->types, "f32:f32:f32") != 0)
        return "no such types";
    enum xnn_status status = operators_create(&operators, work->problem);
    work->before = operators.second;
    work->op = operators.first;
    keep(work, operators.scratch);
    return status == xnn_status_success ? NULL : "no such operation";
}

static const char *prepare(const struct problem *problem, void **state)
{
    struct work *work = driver_allocate(sizeof *work);
    *work = (struct work){.problem = problem};
    *state = work;
    if (problem->kind == PROBLEM_OPERATION)
        return prepare_operation(work);
    const char *why_not = problem->kind == PROBLEM_MATMUL ? refuse_matmul(&problem->matmul)
                                                          : refuse_conv(&problem->conv);
    make_fn *make = method_of(problem);
    if (why_not)
        return why_not;
    if (!make)
        return "no such types";
    type_arrays(work);
    return make(work) == xnn_status_success ? NULL : "creating the operator failed";
}

static void run(void *state)
{
    const struct work *work = state;
    if (work->before)
        xnn_run_operator(work->before, NULL);
    xnn_run_operator(work->op, NULL);
}

static void fetch(void *state)
{
    const struct work *work = state;
    if (work->dst)
        driver_take_result(work->problem, work->dst);
}

static void release(void *state)
{
    struct work *work = state;
    xnn_delete_operator(work->before);
    xnn_delete_operator(work->op);
    while (work->owned_count)
        free(work->owned[--work->owned_count]);
    free(work);
}

const struct peer peer = {"xnnpack", start, prepare, run, fetch, release, NULL, NULL};
