/* The deconvolution driver's own parts; the others are the convolution's. */
#include "benchdnn/drivers/conv.h"

#include "benchdnn/reference.h"

#include <math.h>
#include <string.h>

neo_status deconv_create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    const struct conv_shape *c = &p->conv;
    neo_deconvolution_desc desc = {
        .prop_kind = p->dir == FWD_I ? NEO_FORWARD_INFERENCE : NEO_FORWARD_TRAINING,
    };
    neo_memory_desc *const mds[MORE_OPERANDS] = {&desc.src, &desc.weights, &desc.bias, &desc.dst};
    for (int i = 0; i < MORE_OPERANDS; i++) {
        neo_status status = operand_desc(mds[i], &p->operands[i], false);
        if (status != NEO_OK)
            return status;
    }
    const int first = SPATIAL - c->spatial;
    for (int i = 0; i < c->spatial; i++) {
        desc.strides[i] = c->s[first + i];
        desc.dilations[i] = c->d[first + i];
        desc.padding_left[i] = c->p[first + i];
        desc.padding_right[i] = c->right[first + i];
    }
    return neo_deconvolution_primitive_desc_create(out, engine, &desc, attributes);
}

/* The place in dst that a place in src and one of the kernel add to; -1: none. */
static int64_t target_of(const struct conv_shape *c, const int64_t *src, const int64_t *kernel)
{
    int64_t index = 0;
    for (int a = 0; a < SPATIAL; a++) {
        int64_t at = src[a] * c->s[a] - c->p[a] + kernel[a] * (c->d[a] + 1);
        if (at < 0 || at >= c->o[a])
            return -1;
        index = index * c->o[a] + at;
    }
    return index;
}

static void split(int64_t index, const int64_t *sizes, int64_t *at)
{
    for (int a = SPATIAL - 1; a >= 0; a--) {
        at[a] = index % sizes[a];
        index /= sizes[a];
    }
}

/* Adds what one plane of src and one kernel contribute to one plane of dst. */
static void spread(const struct conv_shape *c, const float *src, const float *kernel, double *sum,
                   double *magnitude)
{
    int64_t taps = c->k[0] * c->k[1] * c->k[2], points = c->i[0] * c->i[1] * c->i[2];
    int64_t at[SPATIAL], tap[SPATIAL];
    for (int64_t i = 0; i < points; i++) {
        split(i, c->i, at);
        for (int64_t k = 0; k < taps && src[i] != 0; k++) {
            split(k, c->k, tap);
            int64_t target = target_of(c, at, tap);
            double product = (double)src[i] * (double)kernel[k];
            if (target < 0)
                continue;
            sum[target] += product;
            if (magnitude)
                magnitude[target] += fabs(product);
        }
    }
}

void deconv_reference(const struct problem *p, const struct reference *r)
{
    const struct conv_shape *c = &p->conv;
    int64_t image = c->i[0] * c->i[1] * c->i[2], plane = c->o[0] * c->o[1] * c->o[2];
    int64_t taps = c->k[0] * c->k[1] * c->k[2], icg = c->ic / c->g, ocg = c->oc / c->g;
    size_t bytes = (size_t)(c->mb * c->oc * plane) * sizeof(double);
    memset(r->result, 0, bytes);
    if (r->magnitude)
        memset(r->magnitude, 0, bytes);
    for (int64_t to = 0; to < c->mb * c->oc; to++) {
        int64_t n = to / c->oc, o = to % c->oc, first = n * c->ic + o / ocg * icg;
        for (int64_t i = 0; i < icg; i++)
            spread(c, r->src + (first + i) * image, r->weights + (o * icg + i) * taps,
                   r->result + to * plane, r->magnitude ? r->magnitude + to * plane : NULL);
    }
}
