/* Post-operations: what they compute, in double. */
#include <math.h>

#include "benchdnn/attributes/post_ops.h"

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double logistic(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* log(1 + exp(x)) without overflow. */
static double soft_plus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double gelu_tanh(double x)
{
    const double root = 0.79788456080286535588;                 /* sqrt(2 / pi) */
    return x * logistic(2 * root * (x + 0.044715 * x * x * x)); /* 1 + tanh(y) without cancelling */
}

static double apply_eltwise(const struct post_op *op, double x)
{
    double a = (double)(float)op->alpha, b = (double)(float)op->beta;
    switch (op->eltwise) {
    case NEO_ELTWISE_RELU:
        return x > 0 ? x : a * x;
    case NEO_ELTWISE_TANH:
        return tanh(x);
    case NEO_ELTWISE_ELU:
        return x > 0 ? x : a * expm1(x);
    case NEO_ELTWISE_SQUARE:
        return x * x;
    case NEO_ELTWISE_ABS:
        return fabs(x);
    case NEO_ELTWISE_SQRT:
        return sqrt(x);
    case NEO_ELTWISE_LINEAR:
        return a * x + b;
    case NEO_ELTWISE_SOFT_RELU:
        return soft_plus(a * x) / a;
    case NEO_ELTWISE_HARDSIGMOID:
        return clamp(a * x + b, 0, 1);
    case NEO_ELTWISE_LOGISTIC:
        return logistic(x);
    case NEO_ELTWISE_EXP:
        return exp(x);
    case NEO_ELTWISE_GELU_TANH:
        return gelu_tanh(x);
    case NEO_ELTWISE_GELU_ERF:
        return 0.5 * x * erfc(-x * 0.70710678118654752440); /* 1 + erf(y) likewise */
    case NEO_ELTWISE_SWISH:
        return x * logistic(a * x);
    case NEO_ELTWISE_LOG:
        return log(x);
    case NEO_ELTWISE_CLIP:
    case NEO_ELTWISE_CLIP_V2:
        return clamp(x, a, b);
    case NEO_ELTWISE_POW:
        return b == 0 ? a : a * pow(x, b);
    case NEO_ELTWISE_ROUND:
        return nearbyint(x);
    case NEO_ELTWISE_MISH:
        return x * tanh(soft_plus(x));
    case NEO_ELTWISE_HARDSWISH:
        return x * clamp(a * x + b, 0, 1);
    }
    return (double)NAN;
}

static double apply_binary(neo_binary algorithm, double x, double y)
{
    switch (algorithm) {
    case NEO_BINARY_ADD:
        return x + y;
    case NEO_BINARY_SUB:
        return x - y;
    case NEO_BINARY_MUL:
        return x * y;
    case NEO_BINARY_DIV:
        return x / y;
    case NEO_BINARY_MIN:
        return x < y ? x : y;
    case NEO_BINARY_MAX:
        return x > y ? x : y;
    case NEO_BINARY_GE:
        return x >= y;
    case NEO_BINARY_GT:
        return x > y;
    case NEO_BINARY_LE:
        return x <= y;
    case NEO_BINARY_LT:
        return x < y;
    case NEO_BINARY_EQ:
        return x == y;
    case NEO_BINARY_NE:
        return x != y;
    case NEO_BINARY_SELECT: /* has three operands: see post_op_apply() */
        break;
    }
    return (double)NAN;
}

double post_op_apply(const struct post_op *op, double x, double operand, double condition)
{
    if (post_op_selects(op))
        return condition != 0 ? x : operand;
    switch (op->kind) {
    case POST_OP_SUM:
        return x + (double)(float)op->alpha * (operand - op->zero_point);
    case POST_OP_ELTWISE:
        return apply_eltwise(op, x);
    case POST_OP_BINARY:
        return apply_binary(op->binary, x, operand);
    case POST_OP_PRELU:
        return x > 0 ? x : x * operand;
    default:
        return (double)NAN;
    }
}
