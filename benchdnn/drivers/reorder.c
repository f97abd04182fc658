/* The reorder driver. */
#include "benchdnn/driver.h"
#include "benchdnn/packed.h"
#include "benchdnn/reference.h"

#include <stdio.h>
#include <string.h>

#define count_of(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) OPTION_FIELD(struct problem, field)

static bool parse_cross_engine(void *field, const char *text)
{
    static const char *const known[] = {"none", "cpu2gpu", "gpu2cpu"};
    for (size_t i = 0; i < count_of(known); i++) {
        if (strcmp(text, known[i]) == 0)
            return words_parse(field, text);
    }
    return false;
}

static const struct option outer[] = {
    {"sdt", NULL, FIELD(sdt), "f32", one_type_parse, one_type_print, "a data type"},
    {"ddt", NULL, FIELD(ddt), "f32", one_type_parse, one_type_print, "a data type"},
    {"stag", NULL, FIELD(stag), "abx", one_tag_parse, one_tag_print, "a format tag"},
    {"dtag", NULL, FIELD(dtag), "abx", one_tag_parse, one_tag_print, "a format tag"},
    {"strides", NULL, FIELD(strides), "", strides2_parse, strides2_print,
     "SRC:DST, each empty or AxBx…"},
    {"oflag", NULL, FIELD(oflag), "", words_parse, words_print,
     "s8s8_comp:MASK and zp_comp:MASK, joined by +"},
    {"cross-engine", NULL, FIELD(cross_engine), "none", parse_cross_engine, words_print,
     "none, cpu2gpu or gpu2cpu"},
    {"runtime-dim-mask", NULL, FIELD(runtime_dim_mask), "0", option_parse_count, option_print_count,
     "an integer: bit d, dimension d is told at execution"},
};

/* ---- descriptor: AxBxC and a name ---- */

static bool parse(struct problem *problem, const char *text)
{
    const char *at = text;
    const char *wrong = dims_read(&problem->reorder, &at);
    if (wrong) {
        bench_error("Dimensions are expected in `%s`: %s.", text, wrong);
        return false;
    }
    return problem_read_name(problem, at);
}

static void print(struct text *out, const struct problem *problem, bool canonical)
{
    (void)canonical;
    dims_print(out, &problem->reorder);
    if (problem->name[0])
        text_printf(out, "n%s", problem->name);
}

static bool complete(struct problem *p)
{
    const struct quantities *scales = &p->attr.scales;
    for (int i = 0; i < scales->count; i++) {
        if (scales->at[i].mask.policy == POLICY_PER_OC) {
            bench_error("the policy `per_oc` is not defined for reorder, use "
                        "`per_dim_0` or `per_dim_1`.");
            return false;
        }
    }
    memset(p->operands, 0, sizeof p->operands);
    unsigned runtime = (unsigned)p->runtime_dim_mask;
    p->operands[SRC] =
        (struct operand){NEO_ARG_SRC, p->sdt, p->reorder, p->stag, p->strides.at[0], runtime};
    p->operands[DST] =
        (struct operand){NEO_ARG_DST, p->ddt, p->reorder, p->dtag, p->strides.at[1], runtime};
    return true;
}

static const char *out_of_scope(const struct problem *p)
{
    bool has_flags = p->oflag.text[0] || strcmp(p->cross_engine.text, "none") != 0;
    return has_flags ? "Case not supported" : NULL;
}

static neo_status init_desc(neo_memory_desc *out, const struct operand *operand, neo_engine *engine)
{
    bool is_packed = packed_is_tag(&operand->tag) && !operand->strides.count;
    return is_packed ? packed_desc(out, operand, engine) : operand_desc(out, operand, false);
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc src, dst;
    neo_status status = init_desc(&src, &p->operands[SRC], engine);
    if (status == NEO_OK)
        status = init_desc(&dst, &p->operands[DST], engine);
    if (status != NEO_OK)
        return status;
    return neo_reorder_primitive_desc_create(out, engine, &src, &dst, attributes);
}

static int64_t reduction(const struct problem *p)
{
    (void)p;
    return 1;
}

static double ops(const struct problem *p)
{
    (void)p;
    return 0;
}

static void reference(const struct problem *p, const struct reference *r)
{
    int64_t count = dims_elements(&p->reorder);
    for (int64_t i = 0; i < count; i++)
        r->result[i] = (double)r->src[i];
}

const struct driver driver_reorder = {
    .name = "reorder",
    .outer = {outer, count_of(outer)},
    .zero_trust = 30,
    .parse = parse,
    .complete = complete,
    .print = print,
    .out_of_scope = out_of_scope,
    .create = create,
    .ops = ops,
    .reduction = reduction,
    .reference = reference,
};
