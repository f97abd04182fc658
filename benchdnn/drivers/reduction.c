/* The reduction driver. */
#include "benchdnn/drivers/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const alg_names[] = {
#define NAME(id, text, formula) text,
    NEO_REDUCTION_LIST(NAME)
#undef NAME
};

static bool parse_alg(void *field, const char *text)
{
    return lines_parse_name(field, text, "reduction_", alg_names, count_of(alg_names));
}

static void print_alg(struct text *out, const void *field)
{
    text_printf(out, "%s", alg_names[*(const int *)field]);
}

static const struct option outer[] = {
    LINES_TYPE("sdt", sdt, "a data type"),
    LINES_TYPE("ddt", ddt, "a data type"),
    LINES_TAG("stag", stag, "abx"),
    LINES_TAG("dtag", dtag, "any"),
    {"alg", NULL, FIELD(lines.alg), "sum", parse_alg, print_alg, "how elements become one"},
    LINES_NUMBER("p", lines.p, "1"),
    LINES_NUMBER("eps", lines.epsilon, "0"),
};

static bool complete(struct problem *p)
{
    const struct line_options *l = &p->lines;
    if (!lines_expect(p, 2, 2))
        return false;
    memset(p->operands, 0, sizeof p->operands);
    p->operands[SRC] = (struct operand){NEO_ARG_SRC, p->sdt, l->shapes[0], p->stag, {0}, 0};
    p->operands[DST] = (struct operand){NEO_ARG_DST, p->ddt, l->shapes[1], p->dtag, {0}, 0};
    return true;
}

static bool is_norm(const struct problem *p)
{
    return p->lines.alg >= NEO_REDUCTION_NORM_LP_MAX;
}

static const char *out_of_scope(const struct problem *p)
{
    return is_norm(p) && p->lines.p < 1 ? "Invalid case" : lines_out_of_scope(p);
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    return status != NEO_OK
               ? status
               : neo_reduction_primitive_desc_create(out, engine, (neo_reduction)p->lines.alg,
                                                     &descs[SRC], &descs[DST], (float)p->lines.p,
                                                     (float)p->lines.epsilon, attributes);
}

static int64_t elements_each(const struct problem *p)
{
    int64_t all = dims_elements(&p->operands[SRC].dims);
    int64_t results = dims_elements(&p->operands[DST].dims);
    return results ? all / results : 1;
}

static double put_together(const struct problem *p, double y, double x)
{
    switch (p->lines.alg) {
    case NEO_REDUCTION_MAX:
        return fmax(y, x);
    case NEO_REDUCTION_MIN:
        return fmin(y, x);
    case NEO_REDUCTION_MUL:
        return y * x;
    case NEO_REDUCTION_SUM:
    case NEO_REDUCTION_MEAN:
        return y + x;
    default:
        return y + pow(fabs(x), p->lines.p);
    }
}

static double finish(const struct problem *p, double y)
{
    double epsilon = (double)(float)p->lines.epsilon, root = 1 / p->lines.p;
    switch (p->lines.alg) {
    case NEO_REDUCTION_MEAN:
        return y / (double)elements_each(p);
    case NEO_REDUCTION_NORM_LP_MAX:
        return pow(fmax(y, epsilon), root);
    case NEO_REDUCTION_NORM_LP_SUM:
        return pow(y + epsilon, root);
    case NEO_REDUCTION_NORM_LP_POWER_P_MAX:
        return fmax(y, epsilon);
    case NEO_REDUCTION_NORM_LP_POWER_P_SUM:
        return y + epsilon;
    default:
        return y;
    }
}

static void reference(const struct problem *p, const struct reference *r)
{
    const struct dims *src = &p->operands[SRC].dims, *dst = &p->operands[DST].dims;
    static const double neutral[] = {
        [NEO_REDUCTION_MAX] = -HUGE_VAL, [NEO_REDUCTION_MIN] = HUGE_VAL, [NEO_REDUCTION_MUL] = 1};
    int64_t position[NEO_MAX_NDIMS] = {0}, count = dims_elements(src);
    int64_t results = dims_elements(dst);
    for (int64_t i = 0; i < results; i++)
        r->result[i] = p->lines.alg <= NEO_REDUCTION_MUL ? neutral[p->lines.alg] : 0;
    for (int64_t i = 0; i < count; i++) {
        double *y = &r->result[dims_broadcast_index(dst, position)];
        *y = put_together(p, *y, (double)r->src[i]);
        lines_next(position, src);
    }
    for (int64_t i = 0; i < results; i++)
        r->result[i] = finish(p, r->result[i]);
}

static double tolerance(const struct problem *p)
{
    return is_norm(p) || p->lines.alg == NEO_REDUCTION_MEAN || p->lines.alg == NEO_REDUCTION_MUL
               ? 1e-5
               : 0;
}

/* Products of many elements stay in range if there are ones and twos. */
static bool fill(struct tensor *t, const struct problem *p, int operand)
{
    if (operand != SRC || p->lines.alg != NEO_REDUCTION_MUL)
        return false;
    int64_t count = dims_elements(&t->dims), each = elements_each(p);
    for (int64_t i = 0; i < count; i++)
        t->values[i] = i * 2654435761 % (each > 8 ? each : 8) < 4 ? 2 : 1;
    return true;
}

const struct driver driver_reduction = {
    .name = "reduction",
    .outer = {outer, count_of(outer)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = lines_parse,
    .complete = complete,
    .print = lines_print,
    .out_of_scope = out_of_scope,
    .create = create,
    .ops = lines_ops,
    .reduction = elements_each,
    .reference = reference,
    .tolerance = tolerance,
    .fill = fill,
};
