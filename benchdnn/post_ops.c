/* Post-operations: the grammar of --attr-post-ops, their translation, and what they compute. */
#include "benchdnn/post_ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define count_of(array) (sizeof(array) / sizeof *(array))

/* ---- names ---- */

struct eltwise_name {
    const char *name;
    neo_eltwise eltwise;
};

/* Those ending in _dst differ from the others only in what they keep for a backward pass. */
static const struct eltwise_name eltwise_names[] = {
#define NAME_ENTRY(id, text, formula) {text, id},
    NEO_ELTWISE_LIST(NAME_ENTRY)
#undef NAME_ENTRY
        {"srelu", NEO_ELTWISE_SOFT_RELU},
    {"relu_dst", NEO_ELTWISE_RELU},
    {"tanh_dst", NEO_ELTWISE_TANH},
    {"elu_dst", NEO_ELTWISE_ELU},
    {"sqrt_dst", NEO_ELTWISE_SQRT},
    {"logistic_dst", NEO_ELTWISE_LOGISTIC},
    {"exp_dst", NEO_ELTWISE_EXP},
    {"clip_v2_dst", NEO_ELTWISE_CLIP_V2},
};

static const struct {
    const char *name;
    neo_binary binary;
} binary_names[] = {
#define NAME_ENTRY(id, text) {text, id},
    NEO_BINARY_LIST(NAME_ENTRY)
#undef NAME_ENTRY
};

/* ---- grammar: OP[:FIELD…] joined by + ---- */

/* Moves *rest behind the next field; "" when there is none. */
static bool next_field(const char **rest, char *part, size_t size)
{
    part[0] = 0;
    return !*rest || text_next_part(rest, ':', part, size);
}

static bool next_double(const char **rest, double *out)
{
    char part[48];
    return next_field(rest, part, sizeof part) && (!part[0] || text_to_double(part, out));
}

static bool parse_sum(struct post_op *op, const char *rest)
{
    double zero_point = 0;
    char part[48];
    op->alpha = 1;
    if (!next_double(&rest, &op->alpha) || !next_double(&rest, &zero_point) ||
        !next_field(&rest, part, sizeof part))
        return false;
    op->zero_point = (int)zero_point;
    return rest == NULL && fabs(zero_point) <= INT32_MAX && op->zero_point == zero_point &&
           (!part[0] || type_parse(&op->type, part));
}

/* Whatever follows beta has never been looked at, and batch files rely on that. */
static bool parse_eltwise(struct post_op *op, const char *rest)
{
    return next_double(&rest, &op->alpha) && next_double(&rest, &op->beta);
}

static bool parse_binary(struct post_op *op, const char *rest)
{
    char part[64];
    op->type = TYPE_F32;
    op->mask.policy = POLICY_COMMON;
    strcpy(op->tag.text, "any");
    if (!next_field(&rest, part, sizeof part) || (part[0] && !type_parse(&op->type, part)))
        return false;
    if (!next_field(&rest, part, sizeof part) || (part[0] && !mask_parse(&op->mask, part)))
        return false;
    if (!next_field(&rest, part, sizeof part) || (part[0] && !tag_parse(&op->tag, part)))
        return false;
    if (!next_field(&rest, part, sizeof part) || (part[0] && !dims_parse(&op->strides, part, 'x')))
        return false;
    return rest == NULL;
}

static bool parse_prelu(struct post_op *op, const char *rest)
{
    char part[48];
    op->mask.policy = POLICY_COMMON;
    return next_field(&rest, part, sizeof part) && (!part[0] || mask_parse(&op->mask, part)) &&
           rest == NULL;
}

/* dw:k3s1p1[:TYPE] */
static bool parse_depthwise(struct post_op *op, const char *rest)
{
    char part[48];
    int end = 0;
    if (!next_field(&rest, part, sizeof part) ||
        sscanf(part, "k%9ds%9dp%9d%n", &op->kernel, &op->stride, &op->padding, &end) != 3 ||
        part[end] || op->kernel < 1 || op->stride < 1 || op->padding < 0)
        return false;
    op->type = TYPE_F32;
    return next_field(&rest, part, sizeof part) && (!part[0] || type_parse(&op->type, part));
}

/* The operands of a selection may be of any form: the library has no such operation. */
static bool parse_select(struct post_op *op, const char *rest)
{
    op->type = TYPE_F32;
    return !rest || *rest;
}

static const struct {
    const char *name;
    enum post_op_kind kind;
    bool (*parse)(struct post_op *, const char *);
} other_names[] = {
    {"sum", POST_OP_SUM, parse_sum},
    {"prelu", POST_OP_PRELU, parse_prelu},
    {"dw", POST_OP_DEPTHWISE, parse_depthwise},
    {"select", POST_OP_SELECT, parse_select},
};

static const char *without_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncasecmp(text, prefix, length) == 0 ? text + length : text;
}

static bool parse_post_op(struct post_op *op, const char *text)
{
    *op = (struct post_op){0};
    const char *rest = text;
    char name[48];
    if (!text_next_part(&rest, ':', name, sizeof name))
        return false;
    for (size_t i = 0; i < count_of(other_names); i++) {
        if (text_equal_nocase(name, other_names[i].name)) {
            op->name = other_names[i].name;
            op->kind = other_names[i].kind;
            return other_names[i].parse(op, rest);
        }
    }
    for (size_t i = 0; i < count_of(eltwise_names); i++) {
        if (text_equal_nocase(without_prefix(name, "eltwise_"), eltwise_names[i].name)) {
            op->name = eltwise_names[i].name;
            op->kind = POST_OP_ELTWISE;
            op->eltwise = eltwise_names[i].eltwise;
            return parse_eltwise(op, rest);
        }
    }
    for (size_t i = 0; i < count_of(binary_names); i++) {
        if (text_equal_nocase(without_prefix(name, "binary_"), binary_names[i].name)) {
            op->name = binary_names[i].name;
            op->kind = POST_OP_BINARY;
            op->binary = binary_names[i].binary;
            return parse_binary(op, rest);
        }
    }
    return false;
}

bool post_ops_parse(void *field, const char *text)
{
    struct post_ops *out = field;
    *out = (struct post_ops){0};
    char part[160];
    for (const char *rest = *text ? text : NULL; rest;) {
        if (out->count == NEO_MAX_POST_OPS || !text_next_part(&rest, '+', part, sizeof part) ||
            !parse_post_op(&out->at[out->count++], part))
            return false;
    }
    return true;
}

static void print_sum(struct text *out, const struct post_op *op)
{
    if (op->alpha != 1 || op->zero_point || op->type)
        text_printf(out, ":%g", op->alpha);
    if (op->zero_point || op->type)
        text_printf(out, ":%d", op->zero_point);
    if (op->type)
        text_printf(out, ":%s", type_name(op->type));
}

static void print_eltwise(struct text *out, const struct post_op *op)
{
    if (op->alpha != 0 || op->beta != 0)
        text_printf(out, ":%g", op->alpha);
    if (op->beta != 0)
        text_printf(out, ":%g", op->beta);
}

static void print_binary(struct text *out, const struct post_op *op)
{
    bool has_tag = !tag_is_any(&op->tag) || op->strides.count;
    bool has_mask = op->mask.policy != POLICY_COMMON || has_tag;
    text_printf(out, ":%s", type_name(op->type));
    if (has_mask) {
        text_printf(out, ":");
        mask_print(out, &op->mask);
    }
    if (has_tag)
        text_printf(out, ":%s", op->tag.text);
    if (op->strides.count) {
        text_printf(out, ":");
        dims_print(out, &op->strides);
    }
}

static void print_post_op(struct text *out, const struct post_op *op)
{
    text_printf(out, "%s", op->name);
    switch (op->kind) {
    case POST_OP_SUM:
        print_sum(out, op);
        break;
    case POST_OP_ELTWISE:
        print_eltwise(out, op);
        break;
    case POST_OP_BINARY:
        print_binary(out, op);
        break;
    case POST_OP_PRELU:
        text_printf(out, ":");
        mask_print(out, &op->mask);
        break;
    case POST_OP_DEPTHWISE:
        text_printf(out, ":k%ds%dp%d:%s", op->kernel, op->stride, op->padding, type_name(op->type));
        break;
    case POST_OP_SELECT:
        break;
    }
}

void post_ops_print(struct text *out, const void *field)
{
    const struct post_ops *ops = field;
    for (int i = 0; i < ops->count; i++) {
        text_printf(out, "%s", i ? "+" : "");
        print_post_op(out, &ops->at[i]);
    }
}

/* ---- for the library ---- */

const char *post_ops_out_of_scope(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        const struct post_op *op = &ops->at[i];
        if (op->kind == POST_OP_DEPTHWISE || op->kind == POST_OP_SELECT)
            return "Case not supported";
        bool has_type = op->kind == POST_OP_BINARY || (op->kind == POST_OP_SUM && op->type);
        if (has_type && type_to_neo(op->type) == NEO_DATA_TYPE_UNDEF)
            return "Data type not supported";
        if (op->kind == POST_OP_BINARY && tag_is_blocked(&op->tag))
            return "Case not supported";
    }
    return NULL;
}

struct dims post_op_dims(const struct post_op *op, const struct attribute_shape *shape)
{
    struct dims dims = *shape->dst;
    int mask = mask_resolve(&op->mask, QUANTITY_SRC1, shape);
    for (int i = 0; i < dims.count; i++) {
        if (!(mask >> i & 1))
            dims.at[i] = 1;
    }
    return dims;
}

/* The operand's dimensions; those that are dst's are told at execution where dst's are. */
static struct dims described_dims(const struct post_op *op, const struct attribute_shape *shape,
                                  bool actual)
{
    struct dims dims = post_op_dims(op, shape);
    unsigned mask = (unsigned)mask_resolve(&op->mask, QUANTITY_SRC1, shape);
    for (int i = 0; i < dims.count; i++) {
        if (!actual && (mask & shape->dst_runtime) >> i & 1)
            dims.at[i] = NEO_RUNTIME_DIM;
    }
    return dims;
}

neo_status post_op_desc(neo_memory_desc *out, const struct post_op *op,
                        const struct attribute_shape *shape, bool actual)
{
    struct dims dims = described_dims(op, shape, actual);
    neo_data_type type = type_to_neo(op->type);
    if (op->strides.count)
        return op->strides.count == dims.count
                   ? neo_memory_desc_init_strides(out, dims.count, dims.at, type, op->strides.at)
                   : NEO_INVALID_ARGUMENT;
    struct tag tag = op->tag;
    char expanded[NEO_MAX_NDIMS + 24];
    if (tag_is_any(&tag) && (actual || shape->dst_runtime))
        strcpy(tag.text, "abx");
    if (!tag_expand(expanded, sizeof expanded, &tag, dims.count))
        return NEO_INVALID_ARGUMENT;
    return neo_memory_desc_init_tag(out, dims.count, dims.at, type, expanded);
}

static neo_status append_binary(neo_attributes *to, const struct post_op *op,
                                const struct attribute_shape *shape)
{
    neo_memory_desc src1;
    neo_status status = post_op_desc(&src1, op, shape, false);
    return status == NEO_OK ? neo_attributes_append_binary(to, op->binary, &src1) : status;
}

static neo_status append(neo_attributes *to, const struct post_op *op,
                         const struct attribute_shape *shape)
{
    switch (op->kind) {
    case POST_OP_SUM:
        return neo_attributes_append_sum(to, (float)op->alpha, op->zero_point,
                                         type_to_neo(op->type));
    case POST_OP_ELTWISE:
        return neo_attributes_append_eltwise(to, op->eltwise, (float)op->alpha, (float)op->beta);
    case POST_OP_BINARY:
        return append_binary(to, op, shape);
    case POST_OP_PRELU:
        return neo_attributes_append_prelu(to, mask_resolve(&op->mask, QUANTITY_SRC1, shape));
    default:
        return NEO_UNSUPPORTED;
    }
}

neo_status post_ops_append(neo_attributes *to, const struct post_ops *ops,
                           const struct attribute_shape *shape)
{
    neo_status status = NEO_OK;
    for (int i = 0; i < ops->count && status == NEO_OK; i++)
        status = append(to, &ops->at[i], shape);
    return status;
}

/* ---- properties ---- */

bool post_ops_have_kind(const struct post_ops *ops, enum post_op_kind kind)
{
    for (int i = 0; i < ops->count; i++) {
        if (ops->at[i].kind == kind)
            return true;
    }
    return false;
}

bool post_ops_have_eltwise(const struct post_ops *ops, neo_eltwise algorithm)
{
    for (int i = 0; i < ops->count; i++) {
        if (ops->at[i].kind == POST_OP_ELTWISE && ops->at[i].eltwise == algorithm)
            return true;
    }
    return false;
}

static bool makes_zeros(const struct post_op *op)
{
    if (op->kind == POST_OP_BINARY)
        return op->binary >= NEO_BINARY_MIN || op->binary == NEO_BINARY_MUL;
    if (op->kind != POST_OP_ELTWISE)
        return false;
    switch (op->eltwise) {
    case NEO_ELTWISE_RELU:
    case NEO_ELTWISE_ELU:
    case NEO_ELTWISE_LINEAR:
    case NEO_ELTWISE_CLIP:
    case NEO_ELTWISE_CLIP_V2:
    case NEO_ELTWISE_POW:
        return op->alpha == 0 || op->beta == 0;
    case NEO_ELTWISE_TANH:
    case NEO_ELTWISE_SQUARE:
    case NEO_ELTWISE_ABS:
    case NEO_ELTWISE_ROUND:
        return false;
    default: /* those that fade to zero on one side */
        return true;
    }
}

bool post_ops_make_zeros(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        if (makes_zeros(&ops->at[i]))
            return true;
    }
    return false;
}

/* No number, infinite, or such that a few of them multiplied are infinite. */
static bool is_huge(double x)
{
    return !(fabs(x) < 1e9);
}

bool post_ops_make_non_finite(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        const struct post_op *op = &ops->at[i];
        if ((op->kind == POST_OP_BINARY && op->binary == NEO_BINARY_DIV) || is_huge(op->alpha) ||
            is_huge(op->beta))
            return true;
    }
    return post_ops_have_eltwise(ops, NEO_ELTWISE_SQRT) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_LOG) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_POW) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_EXP) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_ELU) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_SQUARE);
}

static bool is_dyadic(double x)
{
    return x * 1024 == floor(x * 1024) && fabs(x) < 1024;
}

bool post_ops_round(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        const struct post_op *op = &ops->at[i];
        if (op->kind == POST_OP_BINARY && op->binary <= NEO_BINARY_DIV)
            return true;
        if (op->kind == POST_OP_SUM && !is_dyadic(op->alpha))
            return true;
        if (op->kind == POST_OP_PRELU)
            return true;
    }
    return false;
}

/* ---- what they compute, in double ---- */

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
    }
    return (double)NAN;
}

double post_op_apply(const struct post_op *op, double x, double operand)
{
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
