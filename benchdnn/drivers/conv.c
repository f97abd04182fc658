/* The convolution driver. */
#include "benchdnn/drivers/conv.h"

#include "benchdnn/driver.h"
#include "benchdnn/fused.h"
#include "benchdnn/timing/peer.h"

#include <stdio.h>
#include <string.h>

#define count_of(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) OPTION_FIELD(struct problem, field)

/* ---- options ---- */

static const char *const alg_names[] = {"auto", "direct", "wino"}; /* as in the library's enum */

static bool parse_alg(void *field, const char *text)
{
    static const char prefix[] = "convolution_";
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1;
    if (text_equal_nocase(text, "winograd"))
        text = "wino";
    for (size_t i = 0; i < count_of(alg_names); i++) {
        if (text_equal_nocase(text, alg_names[i])) {
            *(neo_convolution_algorithm *)field = (neo_convolution_algorithm)i;
            return true;
        }
    }
    return false;
}

void conv_print_alg(struct text *out, const void *field)
{
    text_printf(out, "%s", alg_names[*(const neo_convolution_algorithm *)field]);
}

static const struct option outer[] = {
    {"dir", NULL, FIELD(dir), "FWD_B", direction_parse, direction_print,
     "FWD_B, FWD_D, FWD_I, BWD_D, BWD_W, BWD_WB or BWD_DW"},
    {"dt", NULL, FIELD(dt), "f32", types_parse, types_print, "one data type or three, SRC:WEI:DST"},
    {"bia-dt", "bia_dt", FIELD(bia_dt), "undef", one_type_parse, one_type_print, "a data type"},
    {"stag", NULL, FIELD(stag), "any", one_tag_parse, one_tag_print, "a format tag"},
    {"wtag", NULL, FIELD(wtag), "any", one_tag_parse, one_tag_print, "a format tag"},
    {"dtag", NULL, FIELD(dtag), "any", one_tag_parse, one_tag_print, "a format tag"},
    {"strides", NULL, FIELD(strides), "", strides3_parse, strides3_print,
     "SRC:WEI:DST, each empty or AxBx…"},
    {"alg", NULL, FIELD(alg), "direct", parse_alg, conv_print_alg, "direct, wino or auto"},
};

static const struct option inner[] = {
    {"mb", NULL, FIELD(mb), "0", option_parse_count, NULL, "a number; 0: as in the descriptor"},
};

/* ---- from options and descriptor to tensors ---- */

static struct dims spatial_dims(int64_t first, int64_t second, const int64_t *sizes, int spatial)
{
    struct dims dims = {.count = 2 + spatial, .at = {first, second}};
    memcpy(dims.at + 2, sizes + SPATIAL - spatial, (size_t)spatial * sizeof *sizes);
    return dims;
}

static struct dims weights_dims(const struct conv_shape *c)
{
    struct dims dims = spatial_dims(c->oc / c->g, c->ic / c->g, c->k, c->spatial);
    if (!c->has_groups)
        return dims;
    memmove(dims.at + 1, dims.at, (size_t)dims.count * sizeof *dims.at);
    dims.at[0] = c->g;
    dims.count++;
    return dims;
}

static bool is_backward(enum direction dir)
{
    return dir >= BWD_D;
}

/* Directions with a bias have one in f32 unless told otherwise. */
static enum type bias_type(const struct problem *p)
{
    bool is_biased = p->dir == FWD_B || p->dir == BWD_WB;
    return is_biased && p->bia_dt == TYPE_UNDEF ? TYPE_F32 : p->bia_dt;
}

/* A tensor has strides or a tag, not both. */
static bool check_strides(const struct problem *p)
{
    const struct tag *tags[] = {&p->stag, &p->wtag, &p->dtag};
    for (int i = 0; i < 3; i++) {
        if (p->strides.at[i].count && !tag_is_any(tags[i])) {
            bench_error("strides and a tag can't be given for one tensor.");
            return false;
        }
    }
    return true;
}

static bool complete(struct problem *p)
{
    struct conv_shape *c = &p->conv;
    if (p->mb)
        c->mb = p->mb;
    if (!check_strides(p))
        return false;
    struct operand *o = p->operands;
    memset(o, 0, sizeof p->operands);
    o[SRC] = (struct operand){
        NEO_ARG_SRC, problem_type(&p->dt, SRC), spatial_dims(c->mb, c->ic, c->i, c->spatial),
        p->stag,     p->strides.at[0],          0};
    o[WEI] = (struct operand){NEO_ARG_WEIGHTS, problem_type(&p->dt, WEI), weights_dims(c),
                              p->wtag,         p->strides.at[1],          0};
    o[DST] = (struct operand){
        NEO_ARG_DST, problem_type(&p->dt, DST), spatial_dims(c->mb, c->oc, c->o, c->spatial),
        p->dtag,     p->strides.at[2],          0};
    enum type bias = bias_type(p);
    if (bias != TYPE_UNDEF)
        o[BIA] = (struct operand){NEO_ARG_BIAS, bias, {.count = 1, .at = {c->oc}}, {"x"}, {0}, 0};
    fused_complete(p, bias);
    return true;
}

static const char *out_of_scope(const struct problem *p)
{
    bool is_other = p->driver->is_turned && p->alg == NEO_CONVOLUTION_WINOGRAD;
    return is_other || is_backward(p->dir) ? "Case not supported" : NULL;
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    const struct conv_shape *c = &p->conv;
    neo_convolution_desc desc = {
        .prop_kind = p->dir == FWD_I ? NEO_FORWARD_INFERENCE : NEO_FORWARD_TRAINING,
        .algorithm = p->alg,
    };
    neo_memory_desc *const mds[MORE_OPERANDS] = {&desc.src, &desc.weights, &desc.bias, &desc.dst};
    struct operand between = p->operands[DST]; /* the same, but for a depthwise post-operation */
    between.type = problem_type(&p->dt, DST);
    between.dims = problem_conv_dst(c);
    for (int i = 0; i < MORE_OPERANDS; i++) {
        neo_status status = operand_desc(mds[i], i == DST ? &between : &p->operands[i], false);
        if (status != NEO_OK)
            return status;
    }
    for (int i = 0; i < c->spatial; i++) {
        int axis = SPATIAL - c->spatial + i;
        desc.strides[i] = c->s[axis];
        desc.dilations[i] = c->d[axis];
        desc.padding_left[i] = c->p[axis];
        desc.padding_right[i] = c->right[axis];
    }
    return neo_convolution_primitive_desc_create(out, engine, &desc, attributes);
}

static int64_t reduction(const struct problem *p)
{
    const struct conv_shape *c = &p->conv;
    return c->ic / c->g * c->k[0] * c->k[1] * c->k[2];
}

/* How many pairs of an output (of a deconvolution: input) and a kernel position of one axis hit the
 * other image. */
static double valid_pairs(const struct problem *p, int axis)
{
    const struct conv_shape *c = &p->conv;
    bool is_turned = p->driver->is_turned;
    int64_t from = (is_turned ? c->i : c->o)[axis], to = (is_turned ? c->o : c->i)[axis];
    double pairs = 0;
    for (int64_t k = 0; k < c->k[axis]; k++) {
        for (int64_t o = 0; o < from; o++) {
            int64_t i = o * c->s[axis] - c->p[axis] + k * (c->d[axis] + 1);
            pairs += i >= 0 && i < to;
        }
    }
    return pairs;
}

double conv_ops(const struct problem *p)
{
    const struct conv_shape *c = &p->conv;
    double pairs = valid_pairs(p, 0) * valid_pairs(p, 1) * valid_pairs(p, 2);
    int64_t depth = c->ic / c->g;
    return 2.0 * (double)c->mb * (double)c->oc * (double)depth * pairs;
}

const struct driver driver_conv = {
    .name = "conv",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .is_convolution = true,
    .zero_trust = 70,
    .parse = conv_desc_parse,
    .complete = complete,
    .print = conv_desc_print,
    .out_of_scope = out_of_scope,
    .create = create,
    .ops = conv_ops,
    .reduction = reduction,
    .reference = conv_reference,
    .peer_create = peer_conv_create,
    .peer_run = peer_run,
    .peer_destroy = peer_destroy,
};

const struct driver driver_deconv = {
    .name = "deconv",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .is_convolution = true,
    .is_turned = true,
    .zero_trust = 70,
    .parse = conv_desc_parse,
    .complete = complete,
    .print = conv_desc_print,
    .out_of_scope = out_of_scope,
    .create = deconv_create,
    .ops = conv_ops,
    .reduction = reduction,
    .reference = deconv_reference,
};
