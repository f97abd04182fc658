/* The drivers of layer, batch and group normalisation. */
#include "benchdnn/drivers/images.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN = MORE_OPERANDS, VARIANCE, WORKSPACE, SCALE = WEI, SHIFT = BIA };

/* ---- flags: letters ---- */

static const struct {
    char letter;
    unsigned flag; /* 0: not of this library */
} letters[] = {{'G', NEO_NORMALIZATION_USE_GLOBAL_STATS},
               {'C', NEO_NORMALIZATION_USE_SCALE},
               {'H', NEO_NORMALIZATION_USE_SHIFT},
               {'R', NEO_NORMALIZATION_FUSE_RELU},
               {'M', NEO_NORMALIZATION_RMS},
               {'A', 0}};

static bool flags_parse(void *field, const char *text)
{
    for (const char *c = text; *c; c++) {
        bool is_known = false;
        for (size_t i = 0; i < count_of(letters); i++)
            is_known = is_known || letters[i].letter == *c;
        if (!is_known)
            return false;
    }
    return words_parse(field, text);
}

static unsigned flags_of(const struct problem *p)
{
    unsigned flags = 0;
    for (size_t i = 0; i < count_of(letters); i++)
        if (strchr(p->lines.flags.text, letters[i].letter))
            flags |= letters[i].flag;
    return flags;
}

#define LINES_FLAGS(help)                                                     \
    {                                                                         \
        "flags", NULL, FIELD(lines.flags), "", flags_parse, words_print, help \
    }

static const struct option layer_outer[] = {
    LINES_DIR,
    LINES_TYPES("dt", lines.sdts),
    LINES_TAGS("tag", lines.stags),
    LINES_TAG("stat_tag", lines.stat_tag, "any"),
    LINES_TYPE("ss_dt", lines.scale_type, "a data type"),
    LINES_FLAGS("letters: G statistics are given, C scale, H shift, M mean counts as 0"),
    LINES_INPLACE,
};

static const struct option image_outer[] = {
    LINES_DIR,
    LINES_TYPES("dt", lines.sdts),
    LINES_TAGS("tag", lines.stags),
    LINES_FLAGS("letters: G statistics are given, C scale, H shift, R relu"),
    LINES_INPLACE,
};

static const struct option inner[] = {LINES_MB};

/* ---- descriptors ---- */

static bool image_parse(struct problem *p, const char *text)
{
    struct image_numbers *n = &p->lines.numbers;
    if (!images_parse(p, text))
        return false;
    p->lines.group = n->g >= 0 ? (int64_t)n->g : 1;
    p->lines.has_epsilon = n->eps >= 0;
    p->lines.epsilon = n->eps >= 0 ? n->eps : 1.0 / 16;
    return true;
}

static void image_print(struct text *out, const struct problem *p, bool canonical)
{
    if (p->driver == &driver_gnorm)
        text_printf(out, "g%lld", (long long)p->lines.group);
    images_print(out, &p->lines.shapes[0], "i");
    if (p->lines.has_epsilon || canonical)
        text_printf(out, "eps%g", p->lines.epsilon);
    if (p->name[0])
        text_printf(out, "n%s", p->name);
}

static bool layer_parse(struct problem *p, const char *text)
{
    p->lines.epsilon = 1.0 / 16;
    return lines_parse(p, text);
}

/* ---- operands ---- */

/* Rows of a layer, channels of a batch, groups of images. */
static struct dims statistics_dims(const struct problem *p)
{
    struct dims dims = p->lines.shapes[0];
    if (p->driver == &driver_lnorm)
        dims.count--;
    else if (p->driver == &driver_bnorm)
        dims = (struct dims){1, {dims.at[1]}};
    else
        dims = (struct dims){2, {dims.at[0], p->lines.group}};
    return dims;
}

static bool complete(struct problem *p)
{
    const struct line_options *l = &p->lines;
    unsigned flags = flags_of(p);
    bool is_layer = p->driver == &driver_lnorm;
    if (is_layer && !lines_expect(p, 1, 1))
        return false;
    lines_set_batch(p);
    memset(p->operands, 0, sizeof p->operands);
    const struct dims *dims = &l->shapes[0];
    struct dims vector = {1, {dims->at[is_layer ? dims->count - 1 : 1]}};
    struct tag any = {"any"}; /* the library says where its values are */
    struct tag dst_tag = l->stags.count > 1 ? l->stags.at[1] : any;
    p->operands[SRC] = (struct operand){
        NEO_ARG_SRC, lines_type(&l->sdts, 0), *dims, *lines_tag(&l->stags, 0), {0}, 0};
    p->operands[DST] =
        (struct operand){NEO_ARG_DST, lines_type(&l->sdts, 1), *dims, dst_tag, {0}, 0};
    enum type scale_type = is_layer ? l->scale_type : TYPE_F32;
    if (flags & NEO_NORMALIZATION_USE_SCALE)
        p->operands[SCALE] = (struct operand){NEO_ARG_SCALE, scale_type, vector, any, {0}, 0};
    if (flags & NEO_NORMALIZATION_USE_SHIFT)
        p->operands[SHIFT] = (struct operand){NEO_ARG_SHIFT, scale_type, vector, any, {0}, 0};
    if (p->dir == FWD_D && flags & NEO_NORMALIZATION_FUSE_RELU)
        p->operands[WORKSPACE] = (struct operand){NEO_ARG_WORKSPACE, TYPE_U8, *dims, any, {0}, 0};
    if (p->dir != FWD_D && !(flags & NEO_NORMALIZATION_USE_GLOBAL_STATS))
        return true;
    struct dims statistics = statistics_dims(p);
    bool has_tag = is_layer && strcmp(l->stat_tag.text, "undef") != 0;
    struct tag tag = has_tag ? l->stat_tag : any;
    if (!(flags & NEO_NORMALIZATION_RMS))
        p->operands[MEAN] = (struct operand){NEO_ARG_MEAN, TYPE_F32, statistics, tag, {0}, 0};
    p->operands[VARIANCE] = (struct operand){NEO_ARG_VARIANCE, TYPE_F32, statistics, tag, {0}, 0};
    return true;
}

static const char *out_of_scope(const struct problem *p)
{
    bool adds = strchr(p->lines.flags.text, 'A') != NULL;
    if (p->driver == &driver_gnorm && p->operands[DST].dims.at[1] % p->lines.group)
        return "Invalid case";
    return adds ? "Case not supported" : lines_out_of_scope(p);
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    float epsilon = (float)p->lines.epsilon;
    neo_status status = lines_descs(descs, p);
    if (status != NEO_OK)
        return status;
    if (p->driver == &driver_bnorm)
        return neo_batch_normalization_primitive_desc_create(out, engine, lines_prop_kind(p),
                                                             &descs[SRC], &descs[DST], epsilon,
                                                             flags_of(p), attributes);
    if (p->driver == &driver_gnorm)
        return neo_group_normalization_primitive_desc_create(
            out, engine, lines_prop_kind(p), &descs[SRC], &descs[DST], p->lines.group, epsilon,
            flags_of(p), attributes);
    bool has_layout = descs[VARIANCE].ndims && descs[VARIANCE].format_kind != NEO_FORMAT_ANY;
    return neo_layer_normalization_primitive_desc_create(
        out, engine, lines_prop_kind(p), &descs[SRC], &descs[DST],
        has_layout ? &descs[VARIANCE] : NULL, type_to_neo(p->lines.scale_type), epsilon,
        flags_of(p), attributes);
}

/* ---- reference ---- */

/* Which mean and variance, and which scale and shift, belong to an element. */
static int64_t region_of(const struct problem *p, const int64_t *position, int64_t *channel)
{
    const struct dims *dims = &p->lines.shapes[0];
    if (p->driver == &driver_lnorm) {
        int64_t row = 0;
        for (int i = 0; i < dims->count - 1; i++)
            row = row * dims->at[i] + position[i];
        *channel = position[dims->count - 1];
        return row;
    }
    *channel = position[1];
    int64_t group = position[1] / (dims->at[1] / (p->lines.group ? p->lines.group : 1));
    return p->driver == &driver_bnorm ? position[1] : position[0] * p->lines.group + group;
}

/* Adds (x - about)^power of every element to its region's sum. */
static void add_powers(const struct problem *p, const struct reference *r, const double *about,
                       int power, double *sums, double *counts)
{
    const struct dims *dims = &p->lines.shapes[0];
    int64_t position[NEO_MAX_NDIMS] = {0}, channel, i = 0;
    if (!dims_elements(dims))
        return;
    do {
        int64_t region = region_of(p, position, &channel);
        double x = (double)r->src[i++] - (about ? about[region] : 0);
        sums[region] += power == 2 ? x * x : x;
        counts[region]++;
    } while (lines_next(position, dims));
}

struct statistics {
    int64_t count;
    double *mean, *variance;
};

static double *average(const struct problem *p, const struct reference *r, const double *about,
                       int power, int64_t count)
{
    double *sums = bench_alloc((size_t)count * sizeof *sums);
    double *counts = bench_alloc((size_t)count * sizeof *counts);
    memset(sums, 0, (size_t)count * sizeof *sums);
    memset(counts, 0, (size_t)count * sizeof *counts);
    add_powers(p, r, about, power, sums, counts);
    for (int64_t i = 0; i < count; i++)
        sums[i] /= counts[i] > 0 ? counts[i] : 1;
    free(counts);
    return sums;
}

static double *given(const struct tensor *t, int64_t count)
{
    double *values = bench_alloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = t->arg ? (double)t->values[i] : 0;
    return values;
}

static struct statistics make_statistics(const struct problem *p, const struct reference *r)
{
    struct dims dims = statistics_dims(p);
    struct statistics s = {.count = dims_elements(&dims)};
    bool is_rms = flags_of(p) & NEO_NORMALIZATION_RMS;
    if (flags_of(p) & NEO_NORMALIZATION_USE_GLOBAL_STATS) {
        s.mean = given(&r->operands[MEAN], s.count);
        s.variance = given(&r->operands[VARIANCE], s.count);
        return s;
    }
    s.mean = is_rms ? given(&(struct tensor){0}, s.count) : average(p, r, NULL, 1, s.count);
    s.variance = average(p, r, s.mean, 2, s.count);
    return s;
}

/* All elements before relu. */
static void normalize(const struct problem *p, const struct reference *r, double *out)
{
    const struct dims *dims = &p->lines.shapes[0];
    const float *scale = r->operands[SCALE].arg ? r->operands[SCALE].values : NULL;
    const float *shift = r->operands[SHIFT].arg ? r->operands[SHIFT].values : NULL;
    struct statistics s = make_statistics(p, r);
    int64_t position[NEO_MAX_NDIMS] = {0}, channel, count = dims_elements(dims);
    for (int64_t i = 0; i < count; i++) {
        int64_t region = region_of(p, position, &channel);
        double y = ((double)r->src[i] - s.mean[region]) /
                   sqrt(s.variance[region] + (double)(float)p->lines.epsilon);
        out[i] = y * (scale ? (double)scale[channel] : 1) + (shift ? (double)shift[channel] : 0);
        lines_next(position, dims);
    }
    free(s.mean);
    free(s.variance);
}

static void reference(const struct problem *p, const struct reference *r)
{
    normalize(p, r, r->result);
    bool has_relu = flags_of(p) & NEO_NORMALIZATION_FUSE_RELU;
    for (int64_t i = 0; has_relu && i < dims_elements(&p->lines.shapes[0]); i++)
        r->result[i] = r->result[i] < 0 ? 0 : r->result[i];
}

/* The workspace; mean and variance, unless they are given. */
static bool also_writes(const struct problem *p, const struct reference *r, int operand,
                        double *out)
{
    if (p->operands[operand].arg == NEO_ARG_WORKSPACE) {
        normalize(p, r, out);
        for (int64_t i = 0; i < dims_elements(&p->lines.shapes[0]); i++)
            out[i] = out[i] > 0;
        return true;
    }
    if ((operand != MEAN && operand != VARIANCE) ||
        flags_of(p) & NEO_NORMALIZATION_USE_GLOBAL_STATS)
        return false;
    struct statistics s = make_statistics(p, r);
    memcpy(out, operand == MEAN ? s.mean : s.variance, (size_t)s.count * sizeof *out);
    free(s.mean);
    free(s.variance);
    return true;
}

static double tolerance(const struct problem *p)
{
    (void)p;
    return 1e-5;
}

/* A variance is positive. */
static bool fill(struct tensor *t, const struct problem *p, int operand)
{
    (void)p;
    if (operand != VARIANCE)
        return false;
    for (int64_t i = 0; i < dims_elements(&t->dims); i++)
        t->values[i] = (float)(1 + i % 7) / 2;
    return true;
}

#define NORMALIZATION(title, options, parser, printer)                                           \
    {                                                                                            \
        .name = title, .outer = {options, count_of(options)}, .inner = {inner, count_of(inner)}, \
        .is_on_lines = true, .scales_result = true, .zero_trust = 100, .parse = parser,          \
        .complete = complete, .print = printer, .out_of_scope = out_of_scope, .create = create,  \
        .ops = lines_ops, .reduction = lines_reduction, .reference = reference,                  \
        .tolerance = tolerance, .near = tolerance, .fill = fill, .also_writes = also_writes      \
    }

const struct driver driver_lnorm = NORMALIZATION("lnorm", layer_outer, layer_parse, lines_print);
const struct driver driver_bnorm = NORMALIZATION("bnorm", image_outer, image_parse, image_print);
const struct driver driver_gnorm = NORMALIZATION("gnorm", image_outer, image_parse, image_print);
