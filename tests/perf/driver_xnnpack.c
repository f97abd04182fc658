/* XNNPACK (Debian 13's libxnnpack-dev): fully connected layers and 2D convolution, channels last,
 * weights packed when the operator is created. */
#include "tests/perf/driver.h"

#include <math.h>
#include <stdlib.h>
#include <xnnpack.h>

struct work {
    xnn_operator_t op;
    float *weights, *bias; /* copies in XNNPACK's order; zeros */
    void *scratch;
};

static const char *start(void)
{
    return xnn_initialize(NULL) == xnn_status_success ? NULL : "xnn_initialize() failed";
}

static float *zeros(size_t count)
{
    float *values = driver_floats(count);
    for (size_t i = 0; i < count; i++)
        values[i] = 0;
    return values;
}

/* ---- fully connected ---- */

static const char *prepare_matmul(const struct problem *problem, struct work *work)
{
    const struct matmul_problem *p = &problem->matmul;
    if (matmul_batch(p) != 1)
        return "no batches of products";
    if (!p->packed)
        return "weights are always packed beforehand";
    if (p->transposed & ~(unsigned)OPERAND_WEIGHTS)
        return "no transposed activations";
    work->bias = zeros(p->n);
    enum xnn_status status = xnn_create_fully_connected_nc_f32(
        p->k, p->n, p->k, p->n, problem->weights, work->bias, -INFINITY, INFINITY,
        p->transposed & OPERAND_WEIGHTS ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS, NULL, NULL, &work->op);
    if (status == xnn_status_success)
        status = xnn_reshape_fully_connected_nc_f32(work->op, p->m, NULL);
    if (status == xnn_status_success)
        status = xnn_setup_fully_connected_nc_f32(work->op, problem->src, problem->dst);
    return status == xnn_status_success ? NULL : "creating the operator failed";
}

/* ---- convolution ---- */

/* [group][oc][ic][tap] to [group][oc][tap][ic] */
static float *weights_by_tap(const struct problem *problem)
{
    const struct conv_problem *p = &problem->conv;
    size_t icg = p->ic / p->groups, taps = conv_positions(p->kernel);
    float *to = driver_floats(problem->weights_size);
    for (size_t oc = 0; oc < p->oc; oc++)
        for (size_t ic = 0; ic < icg; ic++)
            for (size_t tap = 0; tap < taps; tap++)
                to[(oc * taps + tap) * icg + ic] = problem->weights[(oc * icg + ic) * taps + tap];
    return to;
}

static const char *refuse_conv(const struct conv_problem *p)
{
    if (!p->channels_last)
        return "only channels last";
    if (p->spatial_dims == 3)
        return "no three-dimensional convolution";
    for (int dim = 1; dim < 3; dim++)
        if (conv_pad_after(p, dim) < 0)
            return "no negative padding";
    return NULL;
}

static const char *prepare_conv(const struct problem *problem, struct work *work)
{
    const struct conv_problem *p = &problem->conv;
    const char *why_not = refuse_conv(p);
    if (why_not)
        return why_not;
    work->weights = weights_by_tap(problem);
    work->bias = zeros(p->oc);
    enum xnn_status status = xnn_create_convolution2d_nhwc_f32(
        (uint32_t)p->pad[1], (uint32_t)conv_pad_after(p, 2), (uint32_t)conv_pad_after(p, 1),
        (uint32_t)p->pad[2], (uint32_t)p->kernel[1], (uint32_t)p->kernel[2], (uint32_t)p->stride[1],
        (uint32_t)p->stride[2], (uint32_t)p->dilation[1] + 1, (uint32_t)p->dilation[2] + 1,
        (uint32_t)p->groups, p->ic / p->groups, p->oc / p->groups, p->ic, p->oc, work->weights,
        work->bias, -INFINITY, INFINITY, 0, NULL, NULL, &work->op);
    size_t bytes, alignment, out[2];
    if (status == xnn_status_success)
        status = xnn_reshape_convolution2d_nhwc_f32(work->op, p->mb, p->in[1], p->in[2], &bytes,
                                                    &alignment, &out[0], &out[1], NULL);
    if (status == xnn_status_success)
        work->scratch = driver_allocate(bytes);
    if (status == xnn_status_success)
        status =
            xnn_setup_convolution2d_nhwc_f32(work->op, work->scratch, problem->src, problem->dst);
    return status == xnn_status_success ? NULL : "creating the operator failed";
}

/* ---- the peer ---- */

static const char *prepare(const struct problem *problem, void **state)
{
    struct work *work = driver_allocate(sizeof *work);
    *work = (struct work){0};
    *state = work;
    return problem->kind == PROBLEM_MATMUL ? prepare_matmul(problem, work)
                                           : prepare_conv(problem, work);
}

static void run(void *state)
{
    const struct work *work = state;
    xnn_run_operator(work->op, NULL);
}

static void release(void *state)
{
    struct work *work = state;
    xnn_delete_operator(work->op);
    free(work->weights);
    free(work->bias);
    free(work->scratch);
    free(work);
}

const struct peer peer = {"xnnpack", start, prepare, run, NULL, release, NULL};
