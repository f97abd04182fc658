/* Post-operations: the grammar of --attr-post-ops. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "benchdnn/attributes/post_ops.h"

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
    if (!(fabs(zero_point) <= INT32_MAX)) /* nor a number */
        return false;
    op->zero_point = (int)zero_point;
    return rest == NULL && op->zero_point == zero_point &&
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
    if (!next_field(&rest, part, sizeof part) || (part[0] && !dims_parse(&op->strides, part)))
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

/* MASK[.TAG]; nothing: one value. */
static bool parse_form(struct operand_form *out, const char *text)
{
    char part[64];
    const char *rest = text && *text ? text : NULL;
    out->mask.policy = POLICY_COMMON;
    strcpy(out->tag.text, "any");
    if (rest && (!text_next_part(&rest, '.', part, sizeof part) || !mask_parse(&out->mask, part)))
        return false;
    return !rest || tag_parse(&out->tag, rest);
}

/* select:TYPE[.MASK[.TAG]][:MASK[.TAG]]: src1, and the condition, which is s8. */
static bool parse_select(struct post_op *op, const char *rest)
{
    char src1[96], type[16];
    struct operand_form form;
    const char *own = src1;
    op->type = TYPE_F32;
    op->binary = NEO_BINARY_SELECT;
    if (!next_field(&rest, src1, sizeof src1))
        return false;
    if (*own && (!text_next_part(&own, '.', type, sizeof type) || !type_parse(&op->type, type)))
        return false;
    if (!parse_form(&form, own) || !parse_form(&op->condition, rest))
        return false;
    op->mask = form.mask;
    op->tag = form.tag;
    return true;
}

static const struct {
    const char *name;
    enum post_op_kind kind;
    bool (*parse)(struct post_op *, const char *);
} other_names[] = {
    {"sum", POST_OP_SUM, parse_sum},
    {"prelu", POST_OP_PRELU, parse_prelu},
    {"dw", POST_OP_DEPTHWISE, parse_depthwise},
    {"select", POST_OP_BINARY, parse_select},
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
        if (text_equal_nocase(without_prefix(name, "binary_"), other_names[i].name)) {
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

static void print_form(struct text *out, char before, const struct mask *mask,
                       const struct tag *tag)
{
    text_printf(out, "%c", before);
    mask_print(out, mask);
    if (!tag_is_any(tag))
        text_printf(out, ".%s", tag->text);
}

static void print_select(struct text *out, const struct post_op *op)
{
    text_printf(out, ":%s", type_name(op->type));
    print_form(out, '.', &op->mask, &op->tag);
    print_form(out, ':', &op->condition.mask, &op->condition.tag);
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
        (post_op_selects(op) ? print_select : print_binary)(out, op);
        break;
    case POST_OP_PRELU:
        text_printf(out, ":");
        mask_print(out, &op->mask);
        break;
    case POST_OP_DEPTHWISE:
        text_printf(out, ":k%ds%dp%d:%s", op->kernel, op->stride, op->padding, type_name(op->type));
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
