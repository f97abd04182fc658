/* The driver of the inner product. */
#include "benchdnn/drivers/images.h"

#include <stdio.h>
#include <string.h>

static const struct option outer[] = {
    {"dir", NULL, FIELD(dir), "FWD_B", direction_parse, direction_print,
     "FWD_B, FWD_D, FWD_I or a backward one"},
    {"dt", NULL, FIELD(dt), "f32", types_parse, types_print, "one data type or three, SRC:WEI:DST"},
    {"bia-dt", "bia_dt", FIELD(bia_dt), "undef", one_type_parse, one_type_print, "a data type"},
    LINES_TAG("stag", stag, "any"),
    LINES_TAG("wtag", wtag, "any"),
    LINES_TAG("dtag", dtag, "any"),
};

static const struct option inner[] = {LINES_MB};

static bool complete(struct problem *p)
{
    const struct image_numbers *n = &p->lines.numbers;
    if (n->oc < 0) {
        bench_error("`oc` is mandatory.");
        return false;
    }
    lines_set_batch(p);
    memset(p->operands, 0, sizeof p->operands);
    const struct dims *src = &p->lines.shapes[0];
    struct dims weights = *src, columns = {1, {(int64_t)n->oc}};
    struct dims dst = {2, {src->at[0], columns.at[0]}};
    struct tag any = {"any"};
    weights.at[0] = columns.at[0];
    enum type bias = p->dir == FWD_B && p->bia_dt == TYPE_UNDEF ? TYPE_F32 : p->bia_dt;
    p->operands[SRC] =
        (struct operand){NEO_ARG_SRC, problem_type(&p->dt, SRC), *src, p->stag, {0}, 0};
    p->operands[WEI] =
        (struct operand){NEO_ARG_WEIGHTS, problem_type(&p->dt, WEI), weights, p->wtag, {0}, 0};
    p->operands[DST] =
        (struct operand){NEO_ARG_DST, problem_type(&p->dt, DST), dst, p->dtag, {0}, 0};
    if (bias != TYPE_UNDEF)
        p->operands[BIA] = (struct operand){NEO_ARG_BIAS, bias, columns, any, {0}, 0};
    return true;
}

static void print(struct text *out, const struct problem *p, bool canonical)
{
    (void)canonical;
    images_print(out, &p->lines.shapes[0], "i");
    text_printf(out, "oc%g", p->lines.numbers.oc);
    if (p->name[0])
        text_printf(out, "n%s", p->name);
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    if (status != NEO_OK)
        return status;
    neo_inner_product_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                   .src = descs[SRC],
                                   .weights = descs[WEI],
                                   .bias = descs[BIA],
                                   .dst = descs[DST]};
    return neo_inner_product_primitive_desc_create(out, engine, &desc, attributes);
}

static int64_t reduction(const struct problem *p)
{
    const struct dims *src = &p->lines.shapes[0];
    int64_t count = 1;
    for (int i = 1; i < src->count; i++)
        count *= src->at[i];
    return count;
}

static double ops(const struct problem *p)
{
    return 2 * lines_ops(p) * (double)reduction(p);
}

static void reference(const struct problem *p, const struct reference *r)
{
    const struct dims *dst = &p->operands[DST].dims;
    int64_t k = reduction(p);
    for (int64_t n = 0; n < dst->at[0]; n++)
        for (int64_t c = 0; c < dst->at[1]; c++) {
            double sum = 0;
            for (int64_t i = 0; i < k; i++)
                sum += (double)r->src[n * k + i] * (double)r->weights[c * k + i];
            r->result[n * dst->at[1] + c] = sum;
        }
}

const struct driver driver_ip = {
    .name = "ip",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .is_on_lines = true,
    .zero_trust = 90,
    .parse = images_parse,
    .complete = complete,
    .print = print,
    .out_of_scope = lines_out_of_scope,
    .create = create,
    .ops = ops,
    .reduction = reduction,
    .reference = reference,
};
