/* What a problem's result should be: the reference and everything attributes do to it. */
#include "benchdnn/expect.h"

#include "benchdnn/attributes/post_ops.h"
#include "benchdnn/driver.h"
#include "benchdnn/element.h"
#include "benchdnn/fused.h"
#include "benchdnn/globals.h"
#include "benchdnn/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ---- */

static void position_next(int64_t *position, const struct dims *dims)
{
    for (int d = dims->count - 1; d >= 0; d--) {
        if (++position[d] < dims->at[d])
            return;
        position[d] = 0;
    }
}

/* ---- scales and zero points ---- */

static const struct tensor *find_quantity(const struct quantities *all,
                                          const struct tensor *tensors, int arg)
{
    for (int i = 0; i < all->count; i++) {
        if (quantity_neo_arg(&all->at[i]) == arg)
            return &tensors[i];
    }
    return NULL;
}

/* The value that belongs to the element at position of a tensor of the dimensions dims. */
static double quantity_at(const struct tensor *q, const struct dims *dims, const int64_t *position)
{
    int64_t index = 0;
    for (int d = 0; d < dims->count; d++) {
        int64_t group = q->dims.at[d] ? dims->at[d] / q->dims.at[d] : 1;
        index = index * q->dims.at[d] + position[d] / (group ? group : 1);
    }
    return (double)q->values[index];
}

/* (value - zero point) * scale; returns values itself if there is neither. */
static float *dequantize(const struct problem *p, const struct data *data, const struct tensor *t)
{
    float *values = t->values;
    int arg = t->arg;
    if (!arg || arg == NEO_ARG_DST || p->driver->scales_result)
        return values;
    const struct tensor *scales = find_quantity(&p->attr.scales, data->scales, arg);
    const struct tensor *zero_points = find_quantity(&p->attr.zero_points, data->zero_points, arg);
    if (!scales && !zero_points)
        return values;
    int64_t count = dims_elements(&t->dims), position[NEO_MAX_NDIMS] = {0};
    float *out = bench_alloc((size_t)count * sizeof *out);
    for (int64_t i = 0; i < count; i++) {
        double value = (double)values[i];
        if (zero_points)
            value -= quantity_at(zero_points, &t->dims, position);
        if (scales)
            value *= quantity_at(scales, &t->dims, position);
        out[i] = (float)value;
        position_next(position, &t->dims);
    }
    return out;
}

static void scale_results(double *results, const struct problem *p, const struct data *data)
{
    const struct tensor *scale = find_quantity(&p->attr.scales, data->scales, NEO_ARG_SRC);
    for (int64_t i = 0; scale && i < dims_elements(&p->operands[DST].dims); i++)
        results[i] *= (double)scale->values[0];
}

/* ---- the sums of products ---- */

static void compute_sums(struct expectation *out, const struct problem *p, const struct data *data)
{
    struct tensor operands[OPERANDS];
    memcpy(operands, data->operands, sizeof operands);
    for (int i = 0; i < OPERANDS; i++)
        operands[i].values = dequantize(p, data, &operands[i]);
    struct reference r = {
        .src = operands[SRC].values,
        .operands = operands,
        .weights = operands[WEI].values,
        .result = out->values,
        .magnitude = out->slack,
        .fast = globals.fast_ref,
        .is_exact = globals.fill == FILL_INTEGER && p->operands[DST].type != TYPE_S32,
    };
    p->driver->reference(p, &r);
    if (p->driver->scales_result)
        scale_results(out->values, p, data);
    for (int i = 0; i < OPERANDS; i++)
        if (operands[i].values != data->operands[i].values)
            free(operands[i].values);
}

bool expect_other(const struct problem *p, const struct data *data, int operand, double *out)
{
    const struct reference r = {.src = data->operands[SRC].values, .operands = data->operands};
    bool is_written = operand != DST && data->operands[operand].arg && p->driver->also_writes;
    return is_written && p->driver->also_writes(p, &r, operand, out);
}

/* ---- what is done to each of them ---- */

struct epilogue {
    const struct problem *problem;
    const struct data *data;
    const struct dims *dst;
    struct dims bias; /* with as many dimensions as dst */
    const struct tensor *dst_scales, *dst_zero_points;
};

static struct epilogue make_epilogue(const struct problem *p, const struct data *data)
{
    struct epilogue e = {.problem = p, .data = data, .dst = &p->operands[DST].dims};
    e.bias = p->operands[BIA].dims;
    if (p->operands[BIA].arg == NEO_ARG_BIAS && e.bias.count == 1) { /* OC values: dimension 1 */
        e.bias = *e.dst;
        for (int i = 0; i < e.bias.count; i++)
            e.bias.at[i] = i == 1 ? e.dst->at[1] : 1;
    }
    e.dst_scales = find_quantity(&p->attr.scales, data->scales, NEO_ARG_DST);
    e.dst_zero_points = find_quantity(&p->attr.zero_points, data->zero_points, NEO_ARG_DST);
    return e;
}

/* dst's old value; a sum may read the same bits as another type. */
static double old_value(const struct epilogue *e, const struct post_op *op, int64_t index)
{
    enum type type = e->problem->operands[DST].type;
    double value = (double)e->data->operands[DST].values[index];
    if (op->type == TYPE_UNDEF || op->type == type)
        return value;
    uint64_t bits = 0;
    element_store(type, &bits, 0, value);
    return element_load(op->type, &bits, 0);
}

static double operand_value(const struct epilogue *e, int i, int64_t index, const int64_t *position)
{
    const struct post_op *op = &e->problem->attr.post_ops.at[i];
    const struct tensor *t = &e->data->post_ops[i];
    if (op->kind == POST_OP_SUM)
        return old_value(e, op, index);
    return t->values ? (double)t->values[dims_broadcast_index(&t->dims, position)] : 0;
}

static double condition_value(const struct epilogue *e, int i, const int64_t *position)
{
    const struct tensor *t = &e->data->conditions[i];
    return t->values ? (double)t->values[dims_broadcast_index(&t->dims, position)] : 0;
}

static double finish(const struct epilogue *e, double value, int64_t index, const int64_t *position)
{
    const struct post_ops *ops = &e->problem->attr.post_ops;
    const struct tensor *bias = &e->data->operands[BIA];
    if (bias->arg == NEO_ARG_BIAS)
        value += (double)bias->values[dims_broadcast_index(&e->bias, position)];
    for (int i = 0; i < ops->count; i++) { /* between them values are f32: they may overflow */
        double operand = operand_value(e, i, index, position);
        double condition = condition_value(e, i, position);
        value = (double)(float)post_op_apply(&ops->at[i], value, operand, condition);
    }
    if (e->dst_scales)
        value /= quantity_at(e->dst_scales, e->dst, position);
    if (e->dst_zero_points)
        value += quantity_at(e->dst_zero_points, e->dst, position);
    return value;
}

/* A sum of k products in any order is off by less than k * 2^-24 of the sum of their absolute
 * values; twice that leaves room for the roundings that follow. Winograd's transforms add and
 * subtract inputs first, which costs a factor that depends on the tile. */
static double sum_error(const struct problem *p, bool is_winograd, double magnitude)
{
    double k = (double)p->driver->reduction(p) + 4;
    return (is_winograd ? 32 : 1) * k * 0x1p-23 * magnitude;
}

static void finish_all(struct expectation *x, const struct problem *p, const struct data *data,
                       bool is_winograd)
{
    struct epilogue e = make_epilogue(p, data);
    int64_t count = dims_elements(e.dst), position[NEO_MAX_NDIMS] = {0};
    double epsilon = type_epsilon(p->operands[DST].type);
    /* where a function fades to 0, its error is that of a product with its argument */
    bool has_eltwise = post_ops_have_kind(&p->attr.post_ops, POST_OP_ELTWISE);
    for (int64_t i = 0; i < count; i++) {
        double sum = x->values[i], value = finish(&e, sum, i, position);
        if (x->slack) {
            double error = sum_error(p, is_winograd, x->slack[i]);
            double above = fabs(finish(&e, sum + error, i, position) - value);
            double below = fabs(finish(&e, sum - error, i, position) - value);
            double size = fabs(value) + (has_eltwise ? fabs(sum) : 0);
            x->slack[i] = (above > below ? above : below) + 8 * epsilon * size + 1e-30;
        }
        x->values[i] = value;
        position_next(position, e.dst);
    }
}

static void alloc_expectation(struct expectation *out, const struct problem *p)
{
    size_t bytes = (size_t)dims_elements(&p->operands[DST].dims) * sizeof(double);
    *out = (struct expectation){.values = bench_alloc(bytes)};
    if (globals.fill == FILL_REAL)
        out->slack = bench_alloc(bytes);
}

static void expect_one(struct expectation *out, const struct problem *p, const struct data *data,
                       bool is_winograd)
{
    alloc_expectation(out, p);
    compute_sums(out, p, data);
    bool is_plain = !p->attr.post_ops.count && !p->operands[BIA].arg && !p->attr.scales.count &&
                    !p->attr.zero_points.count && !out->slack;
    if (!is_plain)
        finish_all(out, p, data, is_winograd);
}

/* ---- a convolution and a depthwise one ---- */

/* What the image in between holds of the expected values. */
static float *round_between(const struct expectation *x, enum type type, size_t count)
{
    float *out = bench_alloc(count * sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = (float)element_round(type, x->values[i]);
    return out;
}

/* Adds to the sums' slack what the image in between may be off, in sum_error()'s unit. */
static void spread_slack(struct expectation *x, const struct fused_half *half,
                         const struct expectation *between)
{
    const struct problem *p = &half->problem;
    size_t in = (size_t)dims_elements(&p->operands[SRC].dims);
    size_t taps = (size_t)dims_elements(&p->operands[WEI].dims);
    size_t count = (size_t)dims_elements(&p->operands[DST].dims);
    float *slack = bench_alloc(in * sizeof *slack), *weights = bench_alloc(taps * sizeof *weights);
    double *spread = bench_alloc(count * sizeof *spread);
    for (size_t i = 0; i < in; i++)
        slack[i] = (float)between->slack[i];
    for (size_t i = 0; i < taps; i++)
        weights[i] = fabsf(half->data.operands[WEI].values[i]);
    struct reference r = {.src = slack, .weights = weights, .result = spread};
    p->driver->reference(p, &r);
    for (size_t i = 0; i < count; i++)
        x->slack[i] += spread[i] / sum_error(p, false, 1);
    free(spread);
    free(weights);
    free(slack);
}

static void expect_both(struct expectation *out, const struct problem *p, const struct data *data,
                        bool is_winograd)
{
    struct fused_half *half = bench_alloc(sizeof *half);
    struct expectation between;
    fused_first(half, p, data);
    expect_one(&between, &half->problem, &half->data, is_winograd);
    size_t count = (size_t)dims_elements(&half->problem.operands[DST].dims);
    float *values = round_between(&between, half->problem.operands[DST].type, count);
    fused_second(half, p, data);
    half->data.operands[SRC].values = values;
    alloc_expectation(out, &half->problem);
    compute_sums(out, &half->problem, &half->data);
    if (out->slack)
        spread_slack(out, half, &between);
    finish_all(out, &half->problem, &half->data, false);
    expect_deinit(&between);
    free(values);
    free(half);
}

void expect_init(struct expectation *out, const struct problem *p, const struct data *data,
                 bool is_winograd)
{
    (fused_depthwise(p) ? expect_both : expect_one)(out, p, data, is_winograd);
}

void expect_deinit(struct expectation *x)
{
    free(x->values);
    free(x->slack);
}
