/* Explicit rules for what is not computed. */
#include "benchdnn/support.h"

#include "benchdnn/attributes/post_ops.h"
#include "benchdnn/driver.h"
#include "benchdnn/globals.h"

#include <string.h>

#define count_of(array) (sizeof(array) / sizeof *(array))

static const char *const case_reason = "Case not supported";
static const char *const type_reason = "Data type not supported";

/* ---- out of scope ---- */

static const char *operand_out_of_scope(const struct operand *o)
{
    if (!o->arg)
        return NULL;
    if (type_to_neo(o->type) == NEO_DATA_TYPE_UNDEF)
        return type_reason;
    return tag_is_blocked(&o->tag) ? case_reason : NULL;
}

/* One buffer for tensors that are not the same. */
static bool is_shared_by_different(const struct problem *p)
{
    const struct operand *src = &p->operands[SRC], *dst = &p->operands[DST];
    bool same_dims = src->dims.count == dst->dims.count;
    for (int i = 0; same_dims && i < dst->dims.count; i++)
        same_dims = src->dims.at[i] == dst->dims.at[i];
    bool same_tag = tag_is_any(&dst->tag) || strcmp(src->tag.text, dst->tag.text) == 0;
    return p->lines.inplace && !(same_dims && same_tag && src->type == dst->type);
}

const char *support_out_of_scope(const struct problem *p)
{
    if (globals.is_gpu)
        return case_reason;
    if (is_shared_by_different(p))
        return "Invalid case";
    if (post_ops_have_kind(&p->attr.post_ops, POST_OP_DEPTHWISE) && p->driver != &driver_conv)
        return case_reason;
    const char *reason = p->driver->out_of_scope(p);
    for (int i = 0; i < OPERANDS && !reason; i++)
        reason = operand_out_of_scope(&p->operands[i]);
    return reason ? reason : attributes_out_of_scope(&p->attr);
}

/* ---- not served ---- */

/* Winograd where its conditions do not hold. */
static bool is_winograd(const struct problem *p)
{
    return p->driver == &driver_conv && p->alg == NEO_CONVOLUTION_WINOGRAD;
}

/* A sum that reads dst's bits as a type of another size. */
static bool has_resized_sum(const struct problem *p)
{
    neo_data_type dst = type_to_neo(p->operands[DST].type);
    for (int i = 0; i < p->attr.post_ops.count; i++) {
        const struct post_op *op = &p->attr.post_ops.at[i];
        if (op->kind == POST_OP_SUM && op->type &&
            neo_data_type_bits(type_to_neo(op->type)) != neo_data_type_bits(dst))
            return true;
    }
    return false;
}

/* Sums in other types than f32 are for other data types. */
static bool has_other_accumulator(const struct problem *p)
{
    neo_accumulation_mode mode = p->attr.accumulation;
    return mode == NEO_ACCUMULATION_F16 || mode == NEO_ACCUMULATION_S32;
}

static const struct {
    bool (*applies)(const struct problem *);
    const char *const *reason;
} rules[] = {
    {is_winograd, &case_reason},
    {has_resized_sum, &case_reason},
    {has_other_accumulator, &case_reason},
};

const char *support_skip_reason(const struct problem *p)
{
    for (size_t i = 0; i < count_of(rules); i++) {
        if (rules[i].applies(p))
            return *rules[i].reason;
    }
    return NULL;
}
