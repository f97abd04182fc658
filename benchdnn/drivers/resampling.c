/* The drivers of resampling and of local response normalisation. */
#include "benchdnn/drivers/images.h"

#include <math.h>
#include <string.h>

static const struct option inner[] = {LINES_MB};

static void set_operands(struct problem *p, enum type src, enum type dst, const struct dims *dims)
{
    struct tag any = {"any"};
    memset(p->operands, 0, sizeof p->operands);
    p->operands[SRC] = (struct operand){
        NEO_ARG_SRC, src, p->lines.shapes[0], *lines_tag(&p->lines.stags, 0), {0}, 0};
    p->operands[DST] = (struct operand){NEO_ARG_DST, dst, *dims, any, {0}, 0};
}

static double close_to(const struct problem *p)
{
    (void)p;
    return 1e-5;
}

/* ---- resampling ---- */

static const char *const resampling_names[] = {"nearest", "linear"};

static bool resampling_alg(void *field, const char *text)
{
    return lines_parse_name(field, text, "resampling_", resampling_names, 2);
}

static void print_resampling_alg(struct text *out, const void *field)
{
    text_printf(out, "%s", resampling_names[*(const int *)field]);
}

static const struct option resampling_outer[] = {
    LINES_DIR,
    LINES_TYPE("sdt", sdt, "a data type"),
    LINES_TYPE("ddt", ddt, "a data type"),
    LINES_TAGS("tag", lines.stags),
    {"alg", NULL, FIELD(lines.alg), "nearest", resampling_alg, print_resampling_alg,
     "nearest or linear"},
};

static bool resampling_complete(struct problem *p)
{
    images_set_dst(p);
    lines_set_batch(p);
    set_operands(p, p->sdt, p->ddt, &p->lines.shapes[1]);
    return true;
}

static void resampling_print(struct text *out, const struct problem *p, bool canonical)
{
    (void)canonical;
    images_print(out, &p->lines.shapes[0], "i");
    images_print(out, &p->lines.shapes[1], "o");
    if (p->name[0])
        text_printf(out, "n%s", p->name);
}

static neo_status resampling_create(neo_primitive_desc **out, const struct problem *p,
                                    neo_engine *engine, const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    return status != NEO_OK
               ? status
               : neo_resampling_primitive_desc_create(out, engine, lines_prop_kind(p),
                                                      (neo_resampling)p->lines.alg, NULL,
                                                      &descs[SRC], &descs[DST], attributes);
}

/* Along dimension d and those after it; at has the positions before it. */
static double sample(const struct problem *p, const struct reference *r, const int64_t *position,
                     int d, int64_t *at)
{
    const struct dims *src = &p->lines.shapes[0], *dst = &p->lines.shapes[1];
    if (d == src->count)
        return lines_value(r, SRC, at);
    double in = (double)src->at[d];
    double x = ((double)position[d] + 0.5) * in / (double)dst->at[d] - 0.5, left = floor(x);
    if (p->lines.alg == NEO_RESAMPLING_NEAREST) {
        at[d] = (int64_t)fmin(round(x), in - 1);
        return sample(p, r, position, d + 1, at);
    }
    at[d] = (int64_t)fmax(left, 0);
    double low = sample(p, r, position, d + 1, at);
    at[d] = (int64_t)fmin(left + 1, in - 1);
    return low * (1 - (x - left)) + sample(p, r, position, d + 1, at) * (x - left);
}

static void resampling_reference(const struct problem *p, const struct reference *r)
{
    const struct dims *dims = &p->operands[DST].dims;
    int64_t position[NEO_MAX_NDIMS] = {0}, count = dims_elements(dims);
    for (int64_t i = 0; i < count; i++) {
        int64_t at[NEO_MAX_NDIMS] = {position[0], position[1]};
        r->result[i] = sample(p, r, position, 2, at);
        lines_next(position, dims);
    }
}

const struct driver driver_resampling = {
    .name = "resampling",
    .outer = {resampling_outer, count_of(resampling_outer)},
    .inner = {inner, count_of(inner)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = images_parse,
    .complete = resampling_complete,
    .print = resampling_print,
    .out_of_scope = lines_out_of_scope,
    .create = resampling_create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = resampling_reference,
    .tolerance = close_to,
    .near = close_to,
};

/* ---- lrn ---- */

static const char *const lrn_names[] = {"across", "within"};

static bool lrn_alg(void *field, const char *text)
{
    return lines_parse_name(field, text, "lrn_", lrn_names, 2);
}

static void print_lrn_alg(struct text *out, const void *field)
{
    text_printf(out, "%s", lrn_names[*(const int *)field]);
}

static const struct option lrn_outer[] = {
    LINES_DIR,
    LINES_TYPE("dt", sdt, "a data type"),
    LINES_TAGS("tag", lines.stags),
    {"alg", NULL, FIELD(lines.alg), "across", lrn_alg, print_lrn_alg, "across or within"},
};

static double or_else(double value, double other)
{
    return value >= 0 ? value : other;
}

static bool lrn_complete(struct problem *p)
{
    struct image_numbers *n = &p->lines.numbers;
    lines_set_batch(p);
    set_operands(p, p->sdt, p->sdt, &p->lines.shapes[0]);
    n->ls = or_else(n->ls, 5);
    n->alpha = or_else(n->alpha, 1.0 / 8192);
    n->beta = or_else(n->beta, 0.75);
    n->k = or_else(n->k, 1);
    return true;
}

static void lrn_print(struct text *out, const struct problem *p, bool canonical)
{
    const struct image_numbers *n = &p->lines.numbers;
    (void)canonical;
    images_print(out, &p->lines.shapes[0], "i");
    text_printf(out, "ls%galpha%gbeta%gk%g", n->ls, n->alpha, n->beta, n->k);
    if (p->name[0])
        text_printf(out, "n%s", p->name);
}

static neo_status lrn_create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                             const neo_attributes *attributes)
{
    const struct image_numbers *n = &p->lines.numbers;
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    return status != NEO_OK
               ? status
               : neo_lrn_primitive_desc_create(out, engine, lines_prop_kind(p),
                                               (neo_lrn)p->lines.alg, &descs[SRC], &descs[DST],
                                               (neo_dim)n->ls, (float)n->alpha, (float)n->beta,
                                               (float)n->k, attributes);
}

/* Squares of all that is near in the dimensions from d to last. */
static double sum_near(const struct problem *p, const struct reference *r, const int64_t *position,
                       int d, int last, int64_t *at)
{
    int64_t half = ((int64_t)p->lines.numbers.ls - 1) / 2;
    double sum = 0;
    if (d > last)
        return lines_value(r, SRC, at) * lines_value(r, SRC, at);
    for (at[d] = position[d] - half; at[d] <= position[d] + half; at[d]++)
        if (at[d] >= 0 && at[d] < p->lines.shapes[0].at[d])
            sum += sum_near(p, r, position, d + 1, last, at);
    return sum;
}

static void lrn_reference(const struct problem *p, const struct reference *r)
{
    const struct image_numbers *n = &p->lines.numbers;
    const struct dims *dims = &p->operands[DST].dims;
    bool across = p->lines.alg == NEO_LRN_ACROSS_CHANNELS;
    int last = across ? 1 : dims->count - 1;
    double all = pow(n->ls, across ? 1 : dims->count - 2);
    int64_t position[NEO_MAX_NDIMS] = {0}, count = dims_elements(dims);
    for (int64_t i = 0; i < count; i++) {
        int64_t at[NEO_MAX_NDIMS];
        memcpy(at, position, sizeof at);
        double sum = sum_near(p, r, position, across ? 1 : 2, last, at);
        r->result[i] = (double)r->src[i] * pow(n->k + n->alpha * sum / all, -n->beta);
        lines_next(position, dims);
    }
}

const struct driver driver_lrn = {
    .name = "lrn",
    .outer = {lrn_outer, count_of(lrn_outer)},
    .inner = {inner, count_of(inner)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = images_parse,
    .complete = lrn_complete,
    .print = lrn_print,
    .out_of_scope = lines_out_of_scope,
    .create = lrn_create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = lrn_reference,
    .tolerance = close_to,
    .near = close_to,
};
