/* The attribute options: scales, zero points, modes; post-operations are in post_ops.c. */
#include "benchdnn/attributes/attributes.h"

#include "benchdnn/attributes/post_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define count_of(array) (sizeof(array) / sizeof *(array))

/* ---- scales and zero points: ARG:MASK[:VALUE][:TYPE[:GROUPS]], joined by + ---- */

static const struct {
    const char *name;
    enum quantity_arg arg;
} quantity_args[] = {
    {"src", QUANTITY_SRC},
    {"src0", QUANTITY_SRC},
    {"src1", QUANTITY_SRC1},
    {"wei", QUANTITY_WEI},
    {"dst", QUANTITY_DST},
    {"attr_post_op_dw_dst", QUANTITY_DW_DST},
    {"attr_post_op_dw_wei", QUANTITY_DW_WEI},
};

static bool parse_arg(struct quantity *out, const char *text)
{
    for (size_t i = 0; i < count_of(quantity_args); i++) {
        if (text_equal_nocase(text, quantity_args[i].name)) {
            out->arg = quantity_args[i].arg;
            return true;
        }
    }
    long long number;
    if (strncasecmp(text, "msrc", 4) != 0 || !text_to_int(text + 4, &number) || number < 0 ||
        number > 1024)
        return false;
    out->arg = QUANTITY_MULTIPLE_SRC;
    out->number = (int)number;
    return true;
}

/* A mask of no dimensions that a number follows is a common value, too. */
static bool takes_value(struct mask *mask, const char *rest)
{
    char part[64];
    double value;
    if (mask->policy == POLICY_NONE && mask->bits == 0 &&
        text_next_part(&rest, ':', part, sizeof part) && text_to_double(part, &value))
        mask->policy = POLICY_COMMON;
    return mask->policy == POLICY_COMMON || mask->policy == POLICY_HOST_SCALAR;
}

/* The fields after the mask. */
static bool parse_quantity_tail(struct quantity *out, const char *rest)
{
    char part[64];
    if (rest && takes_value(&out->mask, rest)) {
        if (!text_next_part(&rest, ':', part, sizeof part))
            return false;
        out->has_value = true;
        if (!text_to_double(part, &out->value))
            return false;
    }
    if (rest && (!text_next_part(&rest, ':', part, sizeof part) || !type_parse(&out->type, part)))
        return false;
    if (rest && (!text_next_part(&rest, ':', part, sizeof part) ||
                 !dims_parse(&out->groups, part) || out->groups.count != 2))
        return false;
    return rest == NULL;
}

static bool parse_quantity(struct quantity *out, const char *text, enum type type)
{
    *out = (struct quantity){.type = type, .value = type == TYPE_F32 ? 1 : 0};
    const char *rest = text;
    char part[64];
    if (!text_next_part(&rest, ':', part, sizeof part) || !parse_arg(out, part))
        return false;
    if (!rest)
        return true;
    if (!text_next_part(&rest, ':', part, sizeof part) || !mask_parse(&out->mask, part))
        return false;
    return parse_quantity_tail(out, rest);
}

static bool parse_quantities(struct quantities *out, const char *text, enum type type)
{
    *out = (struct quantities){0};
    if (!*text)
        return true;
    char part[128];
    for (const char *rest = text; rest;) {
        if (out->count == QUANTITIES_MAX || !text_next_part(&rest, '+', part, sizeof part) ||
            !parse_quantity(&out->at[out->count++], part, type))
            return false;
    }
    return true;
}

bool scales_parse(void *field, const char *text)
{
    return parse_quantities(field, text, TYPE_F32);
}

bool zero_points_parse(void *field, const char *text)
{
    return parse_quantities(field, text, TYPE_S32);
}

static void print_quantity(struct text *out, const struct quantity *q, enum type type)
{
    const char *name = "msrc";
    for (size_t i = count_of(quantity_args); i-- > 0;) {
        if (quantity_args[i].arg == q->arg)
            name = quantity_args[i].name;
    }
    text_printf(out, "%s", name);
    if (q->arg == QUANTITY_MULTIPLE_SRC)
        text_printf(out, "%d", q->number);
    text_printf(out, ":");
    mask_print(out, &q->mask);
    if (q->has_value)
        text_printf(out, ":%g", q->value);
    if (q->type != type || q->groups.count)
        text_printf(out, ":%s", type_name(q->type));
    if (q->groups.count) {
        text_printf(out, ":");
        dims_print(out, &q->groups);
    }
}

static void print_quantities(struct text *out, const struct quantities *all, enum type type)
{
    for (int i = 0; i < all->count; i++) {
        text_printf(out, "%s", i ? "+" : "");
        print_quantity(out, &all->at[i], type);
    }
}

void scales_print(struct text *out, const void *field)
{
    print_quantities(out, field, TYPE_F32);
}

void zero_points_print(struct text *out, const void *field)
{
    print_quantities(out, field, TYPE_S32);
}

int quantity_neo_arg(const struct quantity *quantity)
{
    switch (quantity->arg) {
    case QUANTITY_SRC:
        return NEO_ARG_SRC;
    case QUANTITY_SRC1:
        return NEO_ARG_SRC_1;
    case QUANTITY_MULTIPLE_SRC:
        return NEO_ARG_MULTIPLE_SRC + quantity->number;
    case QUANTITY_WEI:
        return NEO_ARG_WEIGHTS;
    case QUANTITY_DST:
        return NEO_ARG_DST;
    case QUANTITY_DW_WEI:
        return NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_WEIGHTS;
    case QUANTITY_DW_DST:
        return NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_DST;
    default:
        return 0;
    }
}

/* ---- modes ---- */

static bool find_word(const char *const *words, size_t count, const char *text, size_t *index)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equal_nocase(text, words[i])) {
            *index = i;
            return true;
        }
    }
    return false;
}

static const char *const scratchpad_names[] = {"library", "user"};

bool scratchpad_parse(void *field, const char *text)
{
    size_t i;
    if (!find_word(scratchpad_names, count_of(scratchpad_names), text, &i))
        return false;
    *(neo_scratchpad_mode *)field = (neo_scratchpad_mode)i;
    return true;
}

void scratchpad_print(struct text *out, const void *field)
{
    text_printf(out, "%s", scratchpad_names[*(const neo_scratchpad_mode *)field]);
}

/* In the order of neo_fpmath_mode. */
static const char *const fpmath_names[] = {"strict", "bf16", "f16", "tf32", "any"};

bool fpmath_parse(void *field, const char *text)
{
    struct fpmath *out = field;
    *out = (struct fpmath){0};
    char part[16];
    const char *rest = text;
    size_t i;
    if (!*text) /* an empty element of a list is what there is without the option */
        return true;
    if (!text_next_part(&rest, ':', part, sizeof part) ||
        !find_word(fpmath_names, count_of(fpmath_names), part, &i))
        return false;
    out->mode = (neo_fpmath_mode)i;
    return !rest || text_to_bool(rest, &out->apply_to_int);
}

void fpmath_print(struct text *out, const void *field)
{
    const struct fpmath *f = field;
    text_printf(out, "%s%s", fpmath_names[f->mode], f->apply_to_int ? ":true" : "");
}

/* In the order of neo_accumulation_mode. */
static const char *const accumulation_names[] = {"strict", "relaxed", "any", "f32", "f16", "s32"};

bool accumulation_parse(void *field, const char *text)
{
    size_t i;
    *(neo_accumulation_mode *)field = NEO_ACCUMULATION_STRICT;
    if (!*text)
        return true;
    if (!find_word(accumulation_names, count_of(accumulation_names), text, &i))
        return false;
    *(neo_accumulation_mode *)field = (neo_accumulation_mode)i;
    return true;
}

void accumulation_print(struct text *out, const void *field)
{
    text_printf(out, "%s", accumulation_names[*(const neo_accumulation_mode *)field]);
}

bool words_parse(void *field, const char *text)
{
    struct words *out = field;
    return (size_t)snprintf(out->text, sizeof out->text, "%s", text) < sizeof out->text;
}

void words_print(struct text *out, const void *field)
{
    text_printf(out, "%s", ((const struct words *)field)->text);
}

/* ARG:MODE joined by +; the mode of the environment is what happens anyway. */
bool rounding_parse(void *field, const char *text)
{
    char part[64];
    for (const char *rest = *text ? text : NULL; rest;) {
        struct quantity ignored;
        const char *mode;
        if (!text_next_part(&rest, '+', part, sizeof part) || !(mode = strchr(part, ':')))
            return false;
        if (!text_equal_nocase(mode, ":environment") && !text_equal_nocase(mode, ":stochastic"))
            return false;
        part[mode - part] = 0;
        if (!parse_arg(&ignored, part) && strncmp(part, "diff_", 5) != 0)
            return false;
    }
    return words_parse(field, text);
}

/* ---- for the library ---- */

static const char *quantity_out_of_scope(const struct quantities *all)
{
    for (int i = 0; i < all->count; i++) {
        const struct quantity *q = &all->at[i];
        bool is_dynamic = q->mask.policy == POLICY_MX || q->mask.policy == POLICY_DYNAMIC_FP;
        if (!quantity_neo_arg(q) || is_dynamic)
            return "Case not supported";
        if (type_to_neo(q->type) == NEO_DATA_TYPE_UNDEF)
            return "Data type not supported";
    }
    return NULL;
}

const char *attributes_out_of_scope(const struct attributes *a)
{
    const char *reason = quantity_out_of_scope(&a->scales);
    if (!reason)
        reason = quantity_out_of_scope(&a->zero_points);
    if (!reason)
        reason = post_ops_out_of_scope(&a->post_ops);
    bool has_training = a->dropout.text[0] || strstr(a->rounding.text, "stochastic");
    if (!reason && (has_training || a->precomputed_reductions.text[0]))
        reason = "Case not supported";
    return reason;
}

typedef neo_status set_quantity_fn(neo_attributes *, int, int, int, const neo_dim *, neo_data_type);

static neo_status set_quantities(neo_attributes *to, const struct quantities *all,
                                 const struct attribute_shape *shape, set_quantity_fn *set)
{
    neo_status status = NEO_OK;
    for (int i = 0; i < all->count && status == NEO_OK; i++) {
        const struct quantity *q = &all->at[i];
        status = set(to, quantity_neo_arg(q), mask_resolve(&q->mask, q->arg, shape),
                     q->groups.count, q->groups.at, type_to_neo(q->type));
    }
    return status;
}

static neo_status set_modes(neo_attributes *to, const struct attributes *a)
{
    neo_status status = neo_attributes_set_scratchpad_mode(to, a->scratchpad);
    if (status == NEO_OK)
        status = neo_attributes_set_fpmath_mode(to, a->fpmath.mode, a->fpmath.apply_to_int);
    if (status == NEO_OK)
        status = neo_attributes_set_accumulation_mode(to, a->accumulation);
    if (status == NEO_OK)
        status = neo_attributes_set_deterministic(to, a->deterministic);
    return status;
}

neo_status attributes_create(neo_attributes **out, const struct attributes *a,
                             const struct attribute_shape *shape)
{
    *out = NULL;
    neo_attributes *to;
    neo_status status = neo_attributes_create(&to);
    if (status != NEO_OK)
        return status;
    status = set_modes(to, a);
    if (status == NEO_OK)
        status = set_quantities(to, &a->scales, shape, neo_attributes_set_scales);
    if (status == NEO_OK)
        status = set_quantities(to, &a->zero_points, shape, neo_attributes_set_zero_points);
    if (status == NEO_OK)
        status = post_ops_append(to, &a->post_ops, shape);
    if (status != NEO_OK)
        goto fail;
    *out = to;
    return NEO_OK;
fail:
    neo_attributes_destroy(to);
    return status;
}
