/* What programs make and destroy around each execution, each kind in a region of its own for the
 * emulator's plugin; prints a line a region. tests/compat/calls.py runs it. */
#include <stdio.h>

#include "tests/compat/convolution.h"
#include "tests/perf/region.h"

enum { ROUNDS = 10 }; /* the last round is the one that is counted */

/* ideep makes an engine for each memory, and four memories and a scratchpad's for each execution.
 */
static void objects(struct convolution *c)
{
    dnnl_engine *engines[5];
    dnnl_memory *memories[5];
    dnnl_stream *in_order;
    void *data[] = {c->src, c->weights, c->bias, c->dst, NULL};
    ok(dnnl_stream_create(&in_order, engine, 1));
    for (int i = 0; i < 5; i++) {
        ok(dnnl_engine_create(&engines[i], ENGINE_CPU, 0));
        ok(dnnl_memory_create(&memories[i], c->mds[i % 4], engines[i], data[i]));
    }
    for (int i = 0; i < 5; i++) {
        ok(dnnl_memory_destroy(memories[i]));
        ok(dnnl_engine_destroy(engines[i]));
    }
    ok(dnnl_stream_destroy(in_order));
}

static void descriptors(struct convolution *c)
{
    dnnl_memory_desc *mds[4];
    (void)c;
    for (int i = 0; i < 4; i++)
        mds[i] = describe(4, (neo_dim[]){N, IC, H, W}, TAG_ACDB);
    for (int i = 0; i < 4; i++)
        ok(dnnl_memory_desc_destroy(mds[i]));
}

static void attribute(struct convolution *c)
{
    (void)c;
    ok(dnnl_primitive_attr_destroy(attributes(1)));
}

static void primitive(struct convolution *c)
{
    dnnl_primitive *made;
    ok(dnnl_primitive_create(&made, c->pd));
    ok(dnnl_primitive_destroy(made));
}

static const struct {
    const char *name;
    void (*run)(struct convolution *c);
} parts[] = {
    {"stream, 5 engines, 5 memories", objects},
    {"4 memory descriptors", descriptors},
    {"attributes with a ReLU", attribute},
    {"primitive of a known descriptor", primitive},
};

int main(void)
{
    struct convolution c;
    if (create_engine(NULL))
        return 1;
    convolution_create(&c, TAG_ACDB, 1, 1);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (int round = 1; round < ROUNDS; round++)
            parts[i].run(&c);
        region_begin();
        parts[i].run(&c);
        region_end();
        printf("%s\n", parts[i].name);
    }
    convolution_destroy(&c);
    return 0;
}
