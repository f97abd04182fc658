/* The matmul driver. */
#include "benchdnn/drivers/matmul.h"

#include "benchdnn/driver.h"
#include "benchdnn/reference.h"
#include "benchdnn/timing/peer.h"

#include <stdio.h>
#include <string.h>

#define count_of(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) OPTION_FIELD(struct problem, field)

/* ---- options ---- */

static bool parse_masks(void *field, const char *text)
{
    struct runtime_masks *out = field;
    *out = (struct runtime_masks){0};
    char part[16];
    for (const char *rest = *text ? text : NULL; rest;) {
        long long value;
        if (out->count == 2 || !text_next_part(&rest, ':', part, sizeof part) ||
            !text_to_int(part, &value) || value < 0 || value >= 1 << NEO_MAX_NDIMS)
            return false;
        out->at[out->count++] = (int)value;
    }
    return true;
}

static void print_masks(struct text *out, const void *field)
{
    const struct runtime_masks *masks = field;
    if (masks->at[0] || masks->at[1])
        text_printf(out, "%d:%d", masks->at[0], masks->at[1]);
}

static const struct option outer[] = {
    {"dt", NULL, FIELD(dt), "f32", types_parse, types_print, "one data type or three, SRC:WEI:DST"},
    {"stag", NULL, FIELD(stag), "any", one_tag_parse, one_tag_print, "a format tag"},
    {"wtag", NULL, FIELD(wtag), "any", one_tag_parse, one_tag_print, "a format tag"},
    {"dtag", NULL, FIELD(dtag), "any", one_tag_parse, one_tag_print, "a format tag"},
    {"encoding", NULL, FIELD(encoding), "", words_parse, words_print, "SRC:WEI:DST"},
    {"grouped", NULL, FIELD(grouped), "", words_parse, words_print, "ARG:DIM:COUNT:SIZES"},
    {"strides", NULL, FIELD(strides), "", strides3_parse, strides3_print,
     "SRC:WEI:DST, each empty or AxBx…"},
    {"runtime_dims_masks", "runtime-dims-masks", FIELD(runtime_masks), "", parse_masks, print_masks,
     "SRC:WEI, integers"},
};

static const struct option inner[] = {
    {"bia-dt", "bia_dt", FIELD(bia_dt), "undef", one_type_parse, one_type_print, "a data type"},
    {"bia_mask", "bia-mask", FIELD(bia_mask), "2", option_parse_count, option_print_count,
     "an integer: bit d, the bias has dimension d"},
};

/* ---- descriptor: MxK:KxN with batch dimensions in front of both, and a name ---- */

static bool parse(struct problem *problem, const char *text)
{
    struct matmul_shape *m = &problem->matmul;
    const char *at = text;
    *m = (struct matmul_shape){0};
    const char *wrong = dims_read(&m->src, &at);
    if (!wrong)
        wrong = *at++ == ':' ? dims_read(&m->weights, &at) : "there is one";
    if (!wrong && *at == ':')
        wrong = "there is a third one";
    if (wrong) {
        bench_error("Expected number of dims arguments is `2` in `%s`: %s.", text, wrong);
        return false;
    }
    if (!problem_read_name(problem, at))
        return false;
    if (m->src.count < 2) {
        bench_error("At least two dimensions are expected in `%s`.", text);
        return false;
    }
    while (m->weights.count < m->src.count)
        m->weights.at[m->weights.count++] = 1;
    if (m->weights.count > m->src.count + 1) {
        bench_error("Different numbers of dimensions in `%s`.", text);
        return false;
    }
    int n = m->src.count;
    m->dst = m->src;
    for (int i = 0; i < n - 2; i++) {
        if (m->weights.at[i] > m->dst.at[i])
            m->dst.at[i] = m->weights.at[i];
    }
    m->dst.at[n - 1] = m->weights.at[m->weights.count - 1];
    return true;
}

static void print(struct text *out, const struct problem *problem, bool canonical)
{
    (void)canonical;
    dims_print(out, &problem->matmul.src);
    text_printf(out, ":");
    dims_print(out, &problem->matmul.weights);
    if (problem->name[0])
        text_printf(out, "n%s", problem->name);
}

/* ---- from options and descriptor to tensors ---- */

/* Run-time sizes of dst follow from those of src (all but K) and weights (N). */
static unsigned dst_runtime(const struct problem *p, int ndims)
{
    unsigned src = (unsigned)p->runtime_masks.at[0], weights = (unsigned)p->runtime_masks.at[1];
    unsigned batch = (1u << (ndims - 2)) - 1, m = 1u << (ndims - 2), n = 1u << (ndims - 1);
    return ((src | weights) & batch) | (src & m) | (weights & n);
}

static struct dims bias_dims(const struct problem *p)
{
    struct dims dims = p->matmul.dst;
    for (int i = 0; i < dims.count; i++) {
        if (!(p->bia_mask >> i & 1))
            dims.at[i] = 1;
    }
    return dims;
}

static bool complete(struct problem *p)
{
    const struct matmul_shape *m = &p->matmul;
    const struct tag *tags[] = {&p->stag, &p->wtag, &p->dtag};
    for (int i = 0; i < 3; i++) {
        if (p->strides.at[i].count && !tag_is_any(tags[i])) {
            bench_error("strides and a tag can't be given for one tensor.");
            return false;
        }
    }
    if (m->weights.count != m->src.count && !p->grouped.text[0]) { /* one for each group */
        bench_error("Different numbers of dimensions of src and weights.");
        return false;
    }
    struct operand *o = p->operands;
    memset(o, 0, sizeof p->operands);
    unsigned runtime = dst_runtime(p, m->dst.count);
    o[SRC] = (struct operand){NEO_ARG_SRC,      problem_type(&p->dt, SRC),       m->src, p->stag,
                              p->strides.at[0], (unsigned)p->runtime_masks.at[0]};
    o[WEI] =
        (struct operand){NEO_ARG_WEIGHTS,  problem_type(&p->dt, WEI),       m->weights, p->wtag,
                         p->strides.at[1], (unsigned)p->runtime_masks.at[1]};
    o[DST] = (struct operand){NEO_ARG_DST, problem_type(&p->dt, DST), m->dst,
                              p->dtag,     p->strides.at[2],          runtime};
    if (p->bia_dt != TYPE_UNDEF) {
        o[BIA] = (struct operand){NEO_ARG_BIAS, p->bia_dt, bias_dims(p), {"abx"}, {0}, 0};
        for (int i = 0; i < m->dst.count; i++)
            o[BIA].runtime |= o[BIA].dims.at[i] != 1 ? runtime & 1u << i : 0;
    }
    return true;
}

static const char *out_of_scope(const struct problem *p)
{
    return p->encoding.text[0] || p->grouped.text[0] ? "Case not supported" : NULL;
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_matmul_desc desc = {0};
    neo_memory_desc *const mds[MORE_OPERANDS] = {&desc.src, &desc.weights, &desc.bias, &desc.dst};
    for (int i = 0; i < MORE_OPERANDS; i++) {
        neo_status status = operand_desc(mds[i], &p->operands[i], false);
        if (status != NEO_OK)
            return status;
    }
    return neo_matmul_primitive_desc_create(out, engine, &desc, attributes);
}

static int64_t reduction(const struct problem *p)
{
    return p->matmul.src.at[p->matmul.src.count - 1];
}

static double ops(const struct problem *p)
{
    return 2.0 * (double)dims_elements(&p->matmul.dst) * (double)reduction(p);
}

/* ---- reference: one gemm for each matrix of dst ---- */

static void reference(const struct problem *p, const struct reference *r)
{
    const struct matmul_shape *s = &p->matmul;
    int ndims = s->dst.count;
    int64_t m = s->dst.at[ndims - 2], n = s->dst.at[ndims - 1], k = reduction(p);
    int64_t count = dims_elements(&s->dst) ? matmul_batch(s) : 0;
    for (int64_t b = 0; b < count; b++)
        reference_gemm(r, m, n, k, r->src + matmul_offset(&s->src, s, b),
                       r->weights + matmul_offset(&s->weights, s, b), b * m * n, n);
}

const struct driver driver_matmul = {
    .name = "matmul",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .zero_trust = 90,
    .parse = parse,
    .complete = complete,
    .print = print,
    .out_of_scope = out_of_scope,
    .create = create,
    .ops = ops,
    .reduction = reduction,
    .reference = reference,
    .peer_create = peer_matmul_create,
    .peer_run = peer_run,
    .peer_destroy = peer_destroy,
};
