/* The element-wise driver. */
#include "benchdnn/attributes/post_ops.h"
#include "benchdnn/drivers/lines.h"

#include <stdio.h>
#include <string.h>

/* As among post-operations. */
static bool parse_alg(void *field, const char *text)
{
    struct post_ops ops;
    if (strpbrk(text, "+:") || !post_ops_parse(&ops, text) || ops.count != 1 ||
        ops.at[0].kind != POST_OP_ELTWISE)
        return false;
    *(int *)field = (int)ops.at[0].eltwise;
    return true;
}

static void print_alg(struct text *out, const void *field)
{
    text_printf(out, "%s", neo_eltwise_name((neo_eltwise) * (const int *)field));
}

static const struct option outer[] = {
    LINES_DIR,
    LINES_TYPES("dt", lines.sdts),
    LINES_TAGS("tag", lines.stags),
    {"alg", NULL, FIELD(lines.alg), "relu", parse_alg, print_alg, "a function"},
    LINES_NUMBER("alpha", lines.alpha, "0"),
    LINES_NUMBER("beta", lines.beta, "0"),
    LINES_INPLACE,
};

static const struct option inner[] = {LINES_MB};

static bool complete(struct problem *p)
{
    const struct line_options *l = &p->lines;
    if (!lines_expect(p, 1, 1))
        return false;
    lines_set_batch(p);
    memset(p->operands, 0, sizeof p->operands);
    p->operands[SRC] = (struct operand){
        NEO_ARG_SRC, lines_type(&l->sdts, 0), l->shapes[0], *lines_tag(&l->stags, 0), {0}, 0};
    p->operands[DST] = (struct operand){
        NEO_ARG_DST, lines_type(&l->sdts, 1), l->shapes[0], *lines_tag(&l->stags, 1), {0}, 0};
    return true;
}

/* Numbers for which the function is not defined, or means nothing. */
static const char *out_of_scope(const struct problem *p)
{
    const struct line_options *l = &p->lines;
    bool is_clip = l->alg == NEO_ELTWISE_CLIP || l->alg == NEO_ELTWISE_CLIP_V2;
    bool is_invalid =
        (is_clip && !(l->alpha <= l->beta)) || (l->alg == NEO_ELTWISE_SOFT_RELU && l->alpha == 0);
    return is_invalid ? "Invalid case" : lines_out_of_scope(p);
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    if (status != NEO_OK)
        return status;
    return neo_eltwise_primitive_desc_create(
        out, engine, lines_prop_kind(p), (neo_eltwise)p->lines.alg, &descs[SRC], &descs[DST],
        (float)p->lines.alpha, (float)p->lines.beta, attributes);
}

static void reference(const struct problem *p, const struct reference *r)
{
    const struct post_op op = {.kind = POST_OP_ELTWISE,
                               .eltwise = (neo_eltwise)p->lines.alg,
                               .alpha = p->lines.alpha,
                               .beta = p->lines.beta};
    int64_t count = dims_elements(&p->operands[DST].dims);
    for (int64_t i = 0; i < count; i++)
        r->result[i] = post_op_apply(&op, (double)r->src[i], 0, 0);
}

static double tolerance(const struct problem *p)
{
    (void)p;
    return 8e-6;
}

/* Where a function crosses 0 its terms cancel. */
static double near(const struct problem *p)
{
    (void)p;
    return 2e-5;
}

const struct driver driver_eltwise = {
    .name = "eltwise",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = lines_parse,
    .complete = complete,
    .print = lines_print,
    .out_of_scope = out_of_scope,
    .create = create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = reference,
    .tolerance = tolerance,
    .near = near,
};
