/* The pooling driver. */
#include "benchdnn/drivers/conv.h"
#include "benchdnn/drivers/lines.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *const alg_names[] = {"max", "avg_p", "avg_np"}; /* as in the library's enum */

static bool parse_alg(void *field, const char *text)
{
    static const char *const others[] = {"max", "avg_include_padding", "avg_exclude_padding"};
    return lines_parse_name(field, text, "pooling_", alg_names, count_of(alg_names)) ||
           lines_parse_name(field, text, "pooling_", others, count_of(others));
}

static void print_alg(struct text *out, const void *field)
{
    text_printf(out, "%s", alg_names[*(const int *)field]);
}

static const struct option outer[] = {
    LINES_DIR,
    LINES_TYPES("dt", lines.sdts),
    LINES_TAGS("tag", lines.stags),
    {"alg", NULL, FIELD(lines.alg), "max", parse_alg, print_alg, "max, avg_p or avg_np"},
};

static const struct option inner[] = {LINES_MB};

static struct dims image_dims(const struct conv_shape *c, const int64_t *sizes)
{
    struct dims dims = {.count = 2 + c->spatial, .at = {c->mb, c->ic}};
    memcpy(dims.at + 2, sizes + SPATIAL - c->spatial, (size_t)c->spatial * sizeof *sizes);
    return dims;
}

static int64_t tap_count(const struct conv_shape *c)
{
    return c->k[0] * c->k[1] * c->k[2];
}

static bool complete(struct problem *p)
{
    const struct line_options *l = &p->lines;
    struct conv_shape *c = &p->conv;
    if (p->mb)
        c->mb = p->mb;
    memset(p->operands, 0, sizeof p->operands);
    struct dims dst = image_dims(c, c->o);
    struct tag any = {"any"};
    p->operands[SRC] = (struct operand){NEO_ARG_SRC,
                                        lines_type(&l->sdts, 0),
                                        image_dims(c, c->i),
                                        *lines_tag(&l->stags, 0),
                                        {0},
                                        0};
    p->operands[DST] = (struct operand){NEO_ARG_DST, lines_type(&l->sdts, 1),
                                        dst,         l->stags.count > 1 ? l->stags.at[1] : any,
                                        {0},         0};
    if (p->dir == FWD_D && l->alg == NEO_POOLING_MAX)
        p->operands[BIA] = (struct operand){
            NEO_ARG_WORKSPACE, tap_count(c) <= 256 ? TYPE_U8 : TYPE_S32, dst, any, {0}, 0};
    return true;
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    const struct conv_shape *c = &p->conv;
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    if (status != NEO_OK)
        return status;
    neo_pooling_desc desc = {.prop_kind = lines_prop_kind(p),
                             .algorithm = (neo_pooling)p->lines.alg,
                             .src = descs[SRC],
                             .dst = descs[DST]};
    for (int i = 0; i < c->spatial; i++) {
        int a = SPATIAL - c->spatial + i;
        desc.kernel[i] = c->k[a];
        desc.strides[i] = c->s[a];
        desc.dilations[i] = c->d[a];
        desc.padding_left[i] = c->p[a];
        desc.padding_right[i] = c->right[a];
    }
    return neo_pooling_primitive_desc_create(out, engine, &desc, attributes);
}

static double ops(const struct problem *p)
{
    return lines_ops(p) * (double)tap_count(&p->conv);
}

/* What a window of an image has: the tap that wins is the first of several; 0: none is inside. */
struct window {
    double max, sum, count;
    int64_t winner;
};

/* Where a tap is in the image; -1: outside. */
static int64_t tap_index(const struct conv_shape *c, const int64_t *at, int64_t tap)
{
    int64_t k[SPATIAL] = {tap / (c->k[1] * c->k[2]), tap / c->k[2] % c->k[1], tap % c->k[2]};
    int64_t index = 0;
    for (int a = 0; a < SPATIAL; a++) {
        int64_t x = at[a] * c->s[a] - c->p[a] + k[a] * (c->d[a] + 1);
        if (x < 0 || x >= c->i[a])
            return -1;
        index = index * c->i[a] + x;
    }
    return index;
}

/* One window of the image that begins at src. */
static struct window window_at(const struct problem *p, const float *src, const int64_t *at)
{
    static const double lowest[TYPE_COUNT] = {
        [TYPE_F32] = -(double)FLT_MAX, [TYPE_F16] = -65504, [TYPE_BF16] = -0x1.fep127,
        [TYPE_S32] = -0x1p31,          [TYPE_S8] = -128,    [TYPE_U8] = 0};
    struct window w = {.max = lowest[p->operands[SRC].type]};
    for (int64_t tap = 0; tap < tap_count(&p->conv); tap++) {
        int64_t index = tap_index(&p->conv, at, tap);
        if (index < 0)
            continue;
        double x = (double)src[index];
        if (w.count == 0 || x > w.max)
            w.winner = tap;
        w.max = fmax(w.max, x);
        w.sum += x;
        w.count++;
    }
    return w;
}

static double result_of(const struct problem *p, const struct window *w)
{
    if (p->lines.alg == NEO_POOLING_MAX)
        return w->max;
    bool counts_all = p->lines.alg == NEO_POOLING_AVERAGE_INCLUDE_PADDING;
    double taps = counts_all ? (double)tap_count(&p->conv) : w->count;
    return taps > 0 ? w->sum / taps : 0;
}

/* The results of all windows, or which taps win. */
static void pool_windows(const struct problem *p, const float *src, bool winners, double *out)
{
    const struct conv_shape *c = &p->conv;
    int64_t image = c->i[0] * c->i[1] * c->i[2];
    for (int64_t n = 0; n < c->mb * c->ic; n++) {
        struct dims dims = {SPATIAL, {c->o[0], c->o[1], c->o[2]}};
        int64_t at[NEO_MAX_NDIMS] = {0};
        do {
            struct window w = window_at(p, src + n * image, at);
            *out++ = winners ? (double)w.winner : result_of(p, &w);
        } while (lines_next(at, &dims));
    }
}

static void reference(const struct problem *p, const struct reference *r)
{
    pool_windows(p, r->src, false, r->result);
}

/* The workspace. */
static bool also_writes(const struct problem *p, const struct reference *r, int operand,
                        double *out)
{
    if (p->operands[operand].arg != NEO_ARG_WORKSPACE)
        return false;
    pool_windows(p, r->src, true, out);
    return true;
}

static double tolerance(const struct problem *p)
{
    return p->lines.alg == NEO_POOLING_MAX ? 0 : 1e-6;
}

const struct driver driver_pool = {
    .name = "pool",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = conv_desc_parse,
    .complete = complete,
    .print = conv_desc_print,
    .out_of_scope = lines_out_of_scope,
    .create = create,
    .ops = ops,
    .reduction = lines_reduction,
    .reference = reference,
    .also_writes = also_writes,
    .tolerance = tolerance,
};
