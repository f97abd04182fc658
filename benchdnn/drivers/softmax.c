/* The softmax driver. */
#include "benchdnn/drivers/lines.h"

#include <math.h>
#include <string.h>

static const char *const alg_names[] = {"accurate", "log", "accurate_inf_as_zero"};

/* The field calls them by two sets of names. */
static bool parse_alg(void *field, const char *text)
{
    static const char *const others[] = {"softmax", "logsoftmax", "softmax_inf_as_zero"};
    return lines_parse_name(field, text, "", others, count_of(others)) ||
           lines_parse_name(field, text, "softmax_", alg_names, count_of(alg_names));
}

static void print_alg(struct text *out, const void *field)
{
    text_printf(out, "softmax_%s", alg_names[*(const int *)field]);
}

static const struct option outer[] = {
    LINES_DIR,
    LINES_TYPE("sdt", sdt, "a data type"),
    LINES_TYPE("ddt", ddt, "a data type"),
    LINES_TAG("stag", stag, "abx"),
    LINES_TAG("dtag", dtag, "any"),
    {"alg", NULL, FIELD(lines.alg), "softmax", parse_alg, print_alg,
     "softmax, logsoftmax or softmax_accurate_inf_as_zero"},
    LINES_COUNT("axis", lines.axis, "1"),
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
    p->operands[SRC] = (struct operand){NEO_ARG_SRC, p->sdt, l->shapes[0], p->stag, {0}, 0};
    p->operands[DST] = (struct operand){NEO_ARG_DST, p->ddt, l->shapes[0], p->dtag, {0}, 0};
    return true;
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    return status != NEO_OK
               ? status
               : neo_softmax_primitive_desc_create(out, engine, lines_prop_kind(p),
                                                   (neo_softmax)p->lines.alg, &descs[SRC],
                                                   &descs[DST], (int)p->lines.axis, attributes);
}

/* count elements, step apart. */
static void reference_row(const struct problem *p, const float *x, double *y, int64_t count,
                          int64_t step)
{
    double max = -HUGE_VAL, sum = 0;
    for (int64_t i = 0; i < count; i++)
        max = fmax(max, (double)x[i * step]);
    for (int64_t i = 0; i < count; i++)
        sum += exp((double)x[i * step] - max);
    for (int64_t i = 0; i < count; i++) {
        double shifted = (double)x[i * step] - max;
        bool is_masked = p->lines.alg == NEO_SOFTMAX_ACCURATE_INF_AS_ZERO && max == -HUGE_VAL;
        y[i * step] = is_masked                         ? 0
                      : p->lines.alg == NEO_SOFTMAX_LOG ? shifted - log(sum)
                                                        : exp(shifted) / sum;
    }
}

static void reference(const struct problem *p, const struct reference *r)
{
    const struct dims *dims = &p->operands[DST].dims;
    int64_t inside = 1, outside = 1, count = dims->at[p->lines.axis];
    for (int i = 0; i < dims->count; i++) {
        inside *= i > p->lines.axis ? dims->at[i] : 1;
        outside *= i < p->lines.axis ? dims->at[i] : 1;
    }
    for (int64_t o = 0; o < outside; o++)
        for (int64_t i = 0; i < inside; i++) {
            int64_t at = o * count * inside + i;
            reference_row(p, r->src + at, r->result + at, count, inside);
        }
}

static double tolerance(const struct problem *p)
{
    (void)p;
    return 4e-6;
}

/* The difference of two logarithms may be small. */
static double near(const struct problem *p)
{
    return p->lines.alg == NEO_SOFTMAX_LOG ? 5e-6 : 0;
}

/* Beyond the tensor's dimensions there is no axis. */
static const char *out_of_scope(const struct problem *p)
{
    return p->lines.axis >= p->operands[DST].dims.count ? "Invalid case" : lines_out_of_scope(p);
}

const struct driver driver_softmax = {
    .name = "softmax",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .is_on_lines = true,
    .scales_result = true,
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
