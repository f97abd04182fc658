#include "tests/perf/operations_xnnpack.h"

#include <math.h>

static size_t pixels(const struct operation_problem *p)
{
    return p->mb * p->height * p->width;
}

static enum xnn_status of_elements(struct xnnpack_operators *o, const struct problem *problem,
                                   enum xnn_unary_operator kind)
{
    const struct operation_problem *p = &problem->operation;
    const union xnn_unary_params relu = {.clamp = {0, INFINITY}};
    enum xnn_status status = xnn_create_unary_elementwise_nc(
        kind, xnn_datatype_fp32, xnn_datatype_fp32, kind == xnn_unary_clamp ? &relu : NULL, NULL,
        NULL, 0, &o->first);
    if (status == xnn_status_success)
        status = xnn_reshape_unary_elementwise_nc(o->first, pixels(p), p->channels, p->channels,
                                                  p->channels, NULL);
    return status == xnn_status_success
               ? xnn_setup_unary_elementwise_nc(o->first, problem->src, problem->dst)
               : status;
}

static enum xnn_status of_two(struct xnnpack_operators *o, const struct problem *problem,
                              enum xnn_binary_operator kind)
{
    const struct operation_problem *p = &problem->operation;
    const size_t shape[] = {p->mb, p->height, p->width, p->channels};
    enum xnn_status status =
        xnn_create_binary_elementwise_nd(kind, xnn_datatype_fp32, NULL, NULL, NULL, 0, &o->first);
    if (status == xnn_status_success)
        status = xnn_reshape_binary_elementwise_nd(o->first, 4, shape, 4, shape, NULL);
    return status == xnn_status_success
               ? xnn_setup_binary_elementwise_nd(o->first, problem->src, problem->weights,
                                                 problem->dst)
               : status;
}

static enum xnn_status max_pool(struct xnnpack_operators *o, const struct problem *problem)
{
    const struct operation_problem *p = &problem->operation;
    uint32_t kernel = (uint32_t)p->kernel, stride = (uint32_t)p->stride, pad = (uint32_t)p->pad;
    size_t out[2];
    enum xnn_status status =
        xnn_create_max_pooling2d_nhwc_f32(pad, pad, pad, pad, kernel, kernel, stride, stride, 1, 1,
                                          -INFINITY, INFINITY, 0, &o->first);
    if (status == xnn_status_success)
        status =
            xnn_reshape_max_pooling2d_nhwc_f32(o->first, p->mb, p->height, p->width, p->channels,
                                               p->channels, p->channels, &out[0], &out[1], NULL);
    return status == xnn_status_success
               ? xnn_setup_max_pooling2d_nhwc_f32(o->first, problem->src, problem->dst)
               : status;
}

static enum xnn_status average_pool(struct xnnpack_operators *o, const struct problem *problem)
{
    const struct operation_problem *p = &problem->operation;
    uint32_t kernel = (uint32_t)p->kernel, stride = (uint32_t)p->stride, pad = (uint32_t)p->pad;
    size_t out[2], bytes, alignment;
    enum xnn_status status = xnn_create_average_pooling2d_nhwc_f32(
        pad, pad, pad, pad, kernel, kernel, stride, stride, -INFINITY, INFINITY, 0, &o->first);
    if (status == xnn_status_success)
        status = xnn_reshape_average_pooling2d_nhwc_f32(o->first, p->mb, p->height, p->width,
                                                        p->channels, p->channels, p->channels,
                                                        &bytes, &alignment, &out[0], &out[1], NULL);
    if (status != xnn_status_success)
        return status;
    o->scratch = driver_allocate(bytes);
    return xnn_setup_average_pooling2d_nhwc_f32(o->first, o->scratch, problem->src, problem->dst);
}

static enum xnn_status softmax(struct xnnpack_operators *o, const struct problem *problem)
{
    const struct operation_problem *p = &problem->operation;
    enum xnn_status status = xnn_create_softmax_nc_f32(0, &o->first);
    if (status == xnn_status_success)
        status = xnn_reshape_softmax_nc_f32(o->first, p->channels, p->channels, p->channels,
                                            pixels(p), NULL);
    return status == xnn_status_success
               ? xnn_setup_softmax_nc_f32(o->first, problem->src, problem->dst)
               : status;
}

static enum xnn_status bilinear(struct xnnpack_operators *o, const struct problem *problem)
{
    const struct operation_problem *p = &problem->operation;
    size_t bytes, alignment;
    enum xnn_status status =
        xnn_create_resize_bilinear2d_nhwc_f32(p->out_height, p->out_width, 0, &o->first);
    if (status == xnn_status_success)
        status = xnn_reshape_resize_bilinear2d_nhwc_f32(o->first, p->mb, p->height, p->width,
                                                        p->channels, p->channels, p->channels,
                                                        &bytes, &alignment, NULL);
    if (status != xnn_status_success)
        return status;
    o->scratch = driver_allocate(bytes);
    return xnn_setup_resize_bilinear2d_nhwc_f32(o->first, o->scratch, problem->src, problem->dst);
}

/* The channels of one of the images to their place. */
static enum xnn_status copy(xnn_operator_t *to, const struct operation_problem *p,
                            const float *from, float *dst)
{
    enum xnn_status status = xnn_create_copy_nc_x32(0, to);
    if (status == xnn_status_success)
        status = xnn_reshape_copy_nc_x32(*to, pixels(p), p->channels, p->channels, p->out_channels,
                                         NULL);
    return status == xnn_status_success ? xnn_setup_copy_nc_x32(*to, from, dst) : status;
}

static enum xnn_status concat(struct xnnpack_operators *o, const struct problem *problem)
{
    const struct operation_problem *p = &problem->operation;
    enum xnn_status status = copy(&o->first, p, problem->src, problem->dst);
    return status == xnn_status_success
               ? copy(&o->second, p, problem->weights, problem->dst + p->channels)
               : status;
}

static enum xnn_unary_operator unary_of(enum operation operation)
{
    switch (operation) {
    case OPERATION_RELU:
        return xnn_unary_clamp;
    case OPERATION_HARDSWISH:
        return xnn_unary_hardswish;
    case OPERATION_LOGISTIC:
        return xnn_unary_sigmoid;
    case OPERATION_TANH:
        return xnn_unary_tanh;
    case OPERATION_GELU:
        return xnn_unary_gelu;
    case OPERATION_EXP:
        return xnn_unary_exp;
    default:
        return xnn_unary_invalid;
    }
}

enum xnn_status operators_create(struct xnnpack_operators *operators, const struct problem *problem)
{
    switch (problem->operation.operation) {
    case OPERATION_ADD:
        return of_two(operators, problem, xnn_binary_add);
    case OPERATION_MULTIPLY:
        return of_two(operators, problem, xnn_binary_multiply);
    case OPERATION_MAX_POOL:
        return max_pool(operators, problem);
    case OPERATION_AVERAGE_POOL:
        return average_pool(operators, problem);
    case OPERATION_SOFTMAX:
        return softmax(operators, problem);
    case OPERATION_BILINEAR:
        return bilinear(operators, problem);
    case OPERATION_CONCAT:
        return concat(operators, problem);
    case OPERATION_LAYER_NORM:
    case OPERATION_BATCH_NORM:
        return xnn_status_unsupported_parameter;
    default:
        return of_elements(operators, problem, unary_of(problem->operation.operation));
    }
}
