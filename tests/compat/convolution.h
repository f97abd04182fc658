/* A small convolution as a program of oneDNN's makes and runs it, and what its result has to be:
 * 2 images of 5 x 7 pixels, or of fewer rows, 3 x 3 taps, padding 1. */
#ifndef TESTS_COMPAT_CONVOLUTION_H
#define TESTS_COMPAT_CONVOLUTION_H

#include <string.h>

#include "tests/compat/dnnl.h"

enum { N = 2, IC = 6, OC = 13, H = 5, W = 7, K = 3 };
enum { SRC_COUNT = N * IC * H * W, WEIGHTS_COUNT = OC * IC * K * K, DST_COUNT = N * OC * H * W };

struct convolution {
    float src[SRC_COUNT], weights[WEIGHTS_COUNT], bias[OC], dst[DST_COUNT];
    int tag, relu;
    size_t rows;
    dnnl_memory_desc *mds[4];
    dnnl_primitive_desc *pd;
    dnnl_primitive *primitive;
};

/* The memories of a call live as long as the call does, as ideep's do. */
static inline void execute(const dnnl_primitive *primitive, dnnl_memory_desc *const mds[4],
                           void *const data[4])
{
    static const int args[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    dnnl_exec_arg given[4];
    for (int i = 0; i < 4; i++) {
        given[i].arg = args[i];
        ok(dnnl_memory_create(&given[i].memory, mds[i], engine, data[i]));
    }
    ok(dnnl_primitive_execute(primitive, stream, 4, given));
    for (int i = 0; i < 4; i++)
        ok(dnnl_memory_destroy(given[i].memory));
}

/* Where element (n, c, y, x) of a tensor of so many channels is. */
static inline size_t place(int tag, size_t channels, size_t n, size_t c, size_t y, size_t x,
                           size_t h, size_t w)
{
    if (tag == TAG_ACDB)
        return ((n * h + y) * w + x) * channels + c;
    return ((n * channels + c) * h + y) * w + x;
}

static inline float expected_at(const struct convolution *c, size_t n, size_t o, size_t y, size_t x)
{
    float sum = c->bias[o];
    for (size_t i = 0; i < IC; i++)
        for (size_t r = 0; r < K; r++)
            for (size_t s = 0; s < K; s++)
                if (y + r >= 1 && y + r - 1 < c->rows && x + s >= 1 && x + s - 1 < W)
                    sum += c->src[place(c->tag, IC, n, i, y + r - 1, x + s - 1, c->rows, W)] *
                           c->weights[place(c->tag, IC, o, i, r, s, K, K)];
    return c->relu && sum < 0 ? 0 : sum;
}

/* How many elements of dst are wrong. */
static inline int convolution_errors(const struct convolution *c)
{
    int errors = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t o = 0; o < OC; o++)
            for (size_t y = 0; y < c->rows; y++)
                for (size_t x = 0; x < W; x++)
                    errors += c->dst[place(c->tag, OC, n, o, y, x, c->rows, W)] !=
                              expected_at(c, n, o, y, x);
    return errors;
}

static inline dnnl_primitive_attr *attributes(int relu)
{
    dnnl_primitive_attr *attr;
    dnnl_post_ops *post_ops;
    ok(dnnl_primitive_attr_create(&attr));
    ok(dnnl_primitive_attr_set_scratchpad_mode(attr, SCRATCHPAD_USER));
    ok(dnnl_post_ops_create(&post_ops));
    if (relu)
        ok(dnnl_post_ops_append_eltwise(post_ops, RELU, 0, 0));
    ok(dnnl_primitive_attr_set_post_ops(attr, post_ops));
    ok(dnnl_post_ops_destroy(post_ops));
    return attr;
}

static inline void convolution_create_of(struct convolution *c, neo_dim rows, int tag, int relu,
                                         int seed)
{
    const neo_dim dims[4][4] = {{N, IC, rows, W}, {OC, IC, K, K}, {OC}, {N, OC, rows, W}};
    static const neo_dim one[] = {1, 1}, zero[] = {0, 0};
    c->tag = tag;
    c->relu = relu;
    c->rows = (size_t)rows;
    fill(c->src, SRC_COUNT, seed);
    fill(c->weights, WEIGHTS_COUNT, seed + 1);
    fill(c->bias, OC, seed + 2);
    for (int i = 0; i < 4; i++)
        c->mds[i] = describe(i == 2 ? 1 : 4, dims[i], i == 2 ? TAG_A : tag);
    dnnl_primitive_attr *attr = attributes(relu);
    ok(dnnl_convolution_forward_primitive_desc_create(&c->pd, engine, PROP_TRAINING, 1, c->mds[0],
                                                      c->mds[1], c->mds[2], c->mds[3], one, zero,
                                                      one, one, attr));
    ok(dnnl_primitive_attr_destroy(attr));
    ok(dnnl_primitive_create(&c->primitive, c->pd));
}

static inline void convolution_create(struct convolution *c, int tag, int relu, int seed)
{
    convolution_create_of(c, H, tag, relu, seed);
}

static inline void convolution_destroy(struct convolution *c)
{
    ok(dnnl_primitive_destroy(c->primitive));
    ok(dnnl_primitive_desc_destroy(c->pd));
    for (int i = 0; i < 4; i++)
        ok(dnnl_memory_desc_destroy(c->mds[i]));
}

/* With weights at any address. */
static inline int convolution_run(struct convolution *c, void *weights_at)
{
    void *data[] = {c->src, weights_at, c->bias, c->dst};
    memset(c->dst, 0xff, sizeof c->dst);
    execute(c->primitive, c->mds, data);
    return convolution_errors(c);
}

#endif
