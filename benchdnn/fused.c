/* Convolutions with a depthwise post-operation, as two problems one after the other. */
#include "benchdnn/fused.h"

#include "benchdnn/attributes/post_ops.h"

#include <string.h>

static int depthwise_index(const struct problem *p)
{
    int i = p->attr.post_ops.count - 1;
    while (i >= 0 && p->attr.post_ops.at[i].kind != POST_OP_DEPTHWISE)
        i--;
    return i;
}

const struct post_op *fused_depthwise(const struct problem *p)
{
    int i = depthwise_index(p);
    return i < 0 ? NULL : &p->attr.post_ops.at[i];
}

struct conv_shape fused_shape(const struct problem *p, const struct post_op *depthwise)
{
    const struct conv_shape *c = &p->conv;
    struct conv_shape shape = *c;
    shape.has_groups = true;
    shape.g = shape.ic = c->oc;
    for (int i = SPATIAL - c->spatial; i < SPATIAL; i++) {
        shape.i[i] = c->o[i];
        shape.k[i] = depthwise->kernel;
        shape.s[i] = depthwise->stride;
        shape.p[i] = depthwise->padding;
        shape.d[i] = 0;
        shape.o[i] = (c->o[i] + depthwise->stride - 1) / depthwise->stride;
        shape.right[i] = (shape.o[i] - 1) * shape.s[i] + shape.k[i] - shape.i[i] - shape.p[i];
    }
    return shape;
}

void fused_complete(struct problem *p, enum type bias)
{
    const struct post_op *depthwise = fused_depthwise(p);
    struct operand *o = p->operands;
    if (!depthwise)
        return;
    struct conv_shape shape = fused_shape(p, depthwise);
    o[DST].type = depthwise->type;
    o[DST].dims = problem_conv_dst(&shape);
    o[DW_WEI] = (struct operand){.arg = NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_WEIGHTS,
                                 .type = problem_type(&p->dt, WEI),
                                 .dims = {.count = 3 + shape.spatial, .at = {shape.oc, 1, 1}},
                                 .tag = {"any"}};
    for (int i = 0; i < shape.spatial; i++)
        o[DW_WEI].dims.at[3 + i] = depthwise->kernel;
    if (bias != TYPE_UNDEF)
        o[DW_BIA] = (struct operand){NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_BIAS,
                                     bias,
                                     {.count = 1, .at = {shape.oc}},
                                     {"x"},
                                     {0},
                                     0};
}

/* ---- halves ---- */

/* What scales or zero points of the whole are for in the second half; QUANTITY_NONE: nothing. */
enum { QUANTITY_NONE = -1 };

static int quantity_in_second(enum quantity_arg arg)
{
    return arg == QUANTITY_DST      ? QUANTITY_SRC
           : arg == QUANTITY_DW_WEI ? QUANTITY_WEI
           : arg == QUANTITY_DW_DST ? QUANTITY_DST
                                    : QUANTITY_NONE;
}

static int quantity_in_first(enum quantity_arg arg)
{
    return arg == QUANTITY_DW_WEI || arg == QUANTITY_DW_DST ? QUANTITY_NONE : (int)arg;
}

static void split(struct quantities *to, struct tensor *tensors, const struct quantities *from,
                  const struct tensor *given, int (*arg_in_half)(enum quantity_arg))
{
    to->count = 0;
    for (int i = 0; i < from->count; i++) {
        int arg = arg_in_half(from->at[i].arg);
        if (arg == QUANTITY_NONE)
            continue;
        to->at[to->count] = from->at[i];
        to->at[to->count].arg = (enum quantity_arg)arg;
        tensors[to->count++] = given[i];
    }
}

static void init_half(struct fused_half *half, const struct problem *p, const struct data *data,
                      int (*arg_in_half)(enum quantity_arg))
{
    half->problem = *p;
    half->data = *data;
    split(&half->problem.attr.scales, half->data.scales, &p->attr.scales, data->scales,
          arg_in_half);
    split(&half->problem.attr.zero_points, half->data.zero_points, &p->attr.zero_points,
          data->zero_points, arg_in_half);
    for (int i = MORE_OPERANDS; i < OPERANDS; i++)
        half->problem.operands[i].arg = half->data.operands[i].arg = 0;
}

void fused_first(struct fused_half *half, const struct problem *p, const struct data *data)
{
    init_half(half, p, data, quantity_in_first);
    half->problem.attr.post_ops.count = depthwise_index(p);
    half->problem.operands[DST].type = problem_type(&p->dt, DST);
    half->problem.operands[DST].dims = problem_conv_dst(&p->conv);
}

static void take_operand(struct fused_half *half, const struct problem *p, const struct data *data,
                         int to, int from, int arg)
{
    half->problem.operands[to] = p->operands[from];
    half->data.operands[to] = data->operands[from];
    half->problem.operands[to].arg = half->data.operands[to].arg = p->operands[from].arg ? arg : 0;
}

void fused_second(struct fused_half *half, const struct problem *p, const struct data *data)
{
    const int first = depthwise_index(p) + 1;
    size_t count = (size_t)(p->attr.post_ops.count - first);
    struct post_ops *ops = &half->problem.attr.post_ops;
    init_half(half, p, data, quantity_in_second);
    half->problem.conv = fused_shape(p, fused_depthwise(p));
    ops->count = (int)count;
    memmove(ops->at, p->attr.post_ops.at + first, count * sizeof *ops->at);
    memmove(half->data.post_ops, data->post_ops + first, count * sizeof *data->post_ops);
    memmove(half->data.conditions, data->conditions + first, count * sizeof *data->conditions);
    take_operand(half, p, data, WEI, DW_WEI, NEO_ARG_WEIGHTS);
    take_operand(half, p, data, BIA, DW_BIA, NEO_ARG_BIAS);
    half->problem.operands[SRC].type = problem_type(&p->dt, DST);
    half->problem.operands[SRC].dims = half->data.operands[SRC].dims = problem_conv_dst(&p->conv);
}
