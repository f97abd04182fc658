/* The binary driver, and that of leaky relu with a tensor of slopes. */
#include "benchdnn/attributes/post_ops.h"
#include "benchdnn/drivers/lines.h"

#include <string.h>

static bool parse_alg(void *field, const char *text)
{
    const char *names[NEO_BINARY_SELECT + 1];
    for (int i = 0; i <= NEO_BINARY_SELECT; i++)
        names[i] = neo_binary_name((neo_binary)i);
    return lines_parse_name(field, text, "binary_", names, count_of(names));
}

static void print_alg(struct text *out, const void *field)
{
    text_printf(out, "%s", neo_binary_name((neo_binary) * (const int *)field));
}

static const struct option outer[] = {
    LINES_TYPES("sdt", lines.sdts),
    LINES_TYPE("ddt", ddt, "a data type"),
    LINES_TAGS("stag", lines.stags),
    LINES_TAG("dtag", dtag, "any"),
    {"alg", NULL, FIELD(lines.alg), "add", parse_alg, print_alg, "a function"},
    LINES_INPLACE,
};

static struct dims larger_of(const struct dims *a, const struct dims *b)
{
    struct dims dims = *a;
    for (int i = 0; i < dims.count && i < b->count; i++)
        dims.at[i] = a->at[i] == 1 ? b->at[i] : a->at[i];
    return dims;
}

/* A selection's condition: s8 of the first source's sizes and layout, or as it is described. */
static struct operand condition_of(const struct line_options *l)
{
    struct operand o = {NEO_ARG_SRC_2, TYPE_S8, l->shapes[0], l->stags.at[0], {0}, 0};
    if (l->shape_count > 2)
        o.dims = l->shapes[2];
    if (l->sdts.count > 2)
        o.type = l->sdts.at[2];
    if (l->stags.count > 2)
        o.tag = l->stags.at[2];
    return o;
}

static bool complete(struct problem *p)
{
    static const int args[] = {NEO_ARG_SRC, NEO_ARG_SRC_1};
    const struct line_options *l = &p->lines;
    bool is_selection = l->alg == NEO_BINARY_SELECT;
    if (!lines_expect(p, 2, is_selection ? 3 : 2))
        return false;
    lines_pad(p);
    memset(p->operands, 0, sizeof p->operands);
    for (int i = 0; i < 2; i++)
        p->operands[lines_source(i)] = (struct operand){
            args[i], lines_type(&l->sdts, i), l->shapes[i], *lines_tag(&l->stags, i), {0}, 0};
    if (is_selection)
        p->operands[BIA] = condition_of(l);
    p->operands[DST] = (struct operand){
        NEO_ARG_DST, p->ddt, larger_of(&l->shapes[0], &l->shapes[1]), p->dtag, {0}, 0};
    return true;
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    if (status != NEO_OK)
        return status;
    const neo_memory_desc *condition = descs[BIA].ndims ? &descs[BIA] : NULL;
    return neo_binary_primitive_desc_create(out, engine, (neo_binary)p->lines.alg, &descs[SRC],
                                            &descs[WEI], condition, &descs[DST], attributes);
}

static void reference(const struct problem *p, const struct reference *r)
{
    const struct post_op op = {.kind = POST_OP_BINARY, .binary = (neo_binary)p->lines.alg};
    int64_t position[NEO_MAX_NDIMS] = {0}, count = dims_elements(&p->operands[DST].dims);
    for (int64_t i = 0; i < count; i++) {
        double a = lines_value(r, SRC, position), b = lines_value(r, WEI, position);
        bool selects = post_op_selects(&op);
        r->result[i] = post_op_apply(&op, a, b, selects ? lines_value(r, BIA, position) : 0);
        lines_next(position, &p->operands[DST].dims);
    }
}

/* A quotient is rounded. */
static double tolerance(const struct problem *p)
{
    return p->lines.alg == NEO_BINARY_DIV ? 1e-6 : 0;
}

const struct driver driver_binary = {
    .name = "binary",
    .outer = {outer, count_of(outer)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = lines_parse,
    .complete = complete,
    .print = lines_print,
    .out_of_scope = lines_out_of_scope,
    .create = create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = reference,
    .tolerance = tolerance,
};

/* ---- prelu ---- */

static const struct option prelu_outer[] = {
    LINES_DIR,
    LINES_TYPES("sdt", lines.sdts),
    LINES_TAGS("stag", lines.stags),
    LINES_TYPE("ddt", ddt, "a data type"),
    LINES_TAG("dtag", dtag, "any"),
};

static bool prelu_complete(struct problem *p)
{
    const struct line_options *l = &p->lines;
    if (!lines_expect(p, 2, 2))
        return false;
    lines_pad(p);
    memset(p->operands, 0, sizeof p->operands);
    p->operands[SRC] = (struct operand){
        NEO_ARG_SRC, lines_type(&l->sdts, 0), l->shapes[0], *lines_tag(&l->stags, 0), {0}, 0};
    p->operands[WEI] = (struct operand){
        NEO_ARG_WEIGHTS, lines_type(&l->sdts, 1), l->shapes[1], *lines_tag(&l->stags, 1), {0}, 0};
    p->operands[DST] =
        (struct operand){NEO_ARG_DST, lines_type(&l->sdts, 0), l->shapes[0], p->dtag, {0}, 0};
    return true;
}

static neo_status prelu_create(neo_primitive_desc **out, const struct problem *p,
                               neo_engine *engine, const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    return status != NEO_OK
               ? status
               : neo_prelu_primitive_desc_create(out, engine, lines_prop_kind(p), &descs[SRC],
                                                 &descs[WEI], &descs[DST], attributes);
}

static void prelu_reference(const struct problem *p, const struct reference *r)
{
    int64_t position[NEO_MAX_NDIMS] = {0}, count = dims_elements(&p->operands[DST].dims);
    for (int64_t i = 0; i < count; i++) {
        double x = lines_value(r, SRC, position);
        r->result[i] = x > 0 ? x : x * lines_value(r, WEI, position);
        lines_next(position, &p->operands[DST].dims);
    }
}

const struct driver driver_prelu = {
    .name = "prelu",
    .outer = {prelu_outer, count_of(prelu_outer)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = lines_parse,
    .complete = prelu_complete,
    .print = lines_print,
    .out_of_scope = lines_out_of_scope,
    .create = prelu_create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = prelu_reference,
};
