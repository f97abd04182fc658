/* Executes convolutions whose sizes are known when they are created, and the same ones whose batch
 * and sizes of space are known late, each warm and in a region of its own for the emulator's
 * plugin, and prints what was executed, a line for two regions, with 1 if both have their
 * weights in the same layout:
 *
 *   qemu-aarch64 -cpu neoverse-n1 -plugin build/tools/icount.so,out=FILE PROGRAM
 *
 * tests/perf/late_sizes.py runs it and divides. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "neoprene/convolution.h"
#include "neoprene/engine.h"
#include "tests/perf/described.h"
#include "tests/perf/region.h"

struct row {
    neo_dim batch, groups, ic, size, oc, kernel, stride; /* groups 0: without that dimension */
};

/* Of ResNet-50, MobileNet v2 and detectors; small ones, whose fixed costs count most. */
static const struct row rows[] = {
    {1, 0, 64, 56, 64, 3, 1},     {1, 0, 128, 28, 128, 3, 1},   {1, 0, 512, 7, 512, 3, 1},
    {1, 0, 64, 56, 256, 1, 1},    {1, 0, 256, 14, 1024, 1, 1},  {1, 0, 256, 56, 512, 1, 2},
    {1, 0, 3, 112, 32, 3, 2},     {1, 0, 3, 112, 64, 7, 2},     {2, 0, 64, 28, 96, 3, 2},
    {1, 144, 144, 56, 144, 3, 1}, {1, 144, 144, 56, 144, 3, 2}, {1, 576, 576, 14, 576, 3, 1},
    {1, 0, 16, 7, 16, 1, 1},      {1, 0, 8, 5, 8, 3, 1},        {1, 0, 8, 7, 8, 3, 1},
    {1, 0, 8, 14, 8, 3, 2},       {1, 32, 32, 8, 32, 3, 1},     {1, 0, 32, 100, 32, 3, 1},
    {3, 0, 24, 33, 40, 5, 1},
};

static neo_memory_desc image_of(const struct row *row, neo_dim channels, neo_dim size, bool late)
{
    neo_dim batch = late ? NEO_RUNTIME_DIM : row->batch, space = late ? NEO_RUNTIME_DIM : size;
    return desc_of(4, (neo_dim[]){batch, channels, space, space}, "nhwc");
}

static neo_dim out_of(const struct row *row)
{
    return (row->size + 2 * (row->kernel / 2) - row->kernel) / row->stride + 1;
}

static neo_convolution_desc describe(const struct row *row, bool late)
{
    neo_dim groups = row->groups ? row->groups : 1, padding = row->kernel / 2;
    neo_dim weights[] = {groups, row->oc / groups, row->ic / groups, row->kernel, row->kernel};
    return (neo_convolution_desc){
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = image_of(row, row->ic, row->size, late),
        .weights = desc_of(row->groups ? 5 : 4, weights + !row->groups, "any"),
        .dst = image_of(row, row->oc, out_of(row), late),
        .strides = {row->stride, row->stride},
        .padding_left = {padding, padding},
        .padding_right = {padding, padding},
    };
}

static neo_memory *zeros(neo_engine *engine, const neo_memory_desc *desc)
{
    neo_memory *memory;
    check(neo_memory_create(&memory, desc, engine, NEO_MEMORY_ALLOCATE), "memory");
    memset(neo_memory_get_handle(memory), 0, neo_memory_desc_size(desc));
    return memory;
}

/* Returns how the weights are packed. */
static neo_memory_desc measure(neo_engine *engine, neo_stream *stream, const struct row *row,
                               bool late)
{
    neo_convolution_desc desc = describe(row, late), sized = describe(row, false);
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    check(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), "convolution");
    check(neo_primitive_create(&primitive, pd), "primitive");
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, zeros(engine, &sized.src)},
        {NEO_ARG_WEIGHTS, zeros(engine, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS))},
        {NEO_ARG_DST, zeros(engine, &sized.dst)}};
    for (int warm = 0; warm < 2; warm++)
        check(neo_primitive_execute(primitive, stream, 3, args), "execute");
    region_begin();
    check(neo_primitive_execute(primitive, stream, 3, args), "execute");
    region_end();
    neo_memory_desc weights = *neo_memory_get_desc(args[1].memory);
    for (int i = 0; i < 3; i++)
        neo_memory_destroy(args[i].memory);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return weights;
}

static void print(const struct row *row, bool same_layout)
{
    if (row->groups)
        printf("g%lld", (long long)row->groups);
    printf("mb%lldic%lldih%lldoc%lldkh%lldsh%lldph%lld %d\n", (long long)row->batch,
           (long long)row->ic, (long long)row->size, (long long)row->oc, (long long)row->kernel,
           (long long)row->stride, (long long)row->kernel / 2, same_layout);
}

int main(void)
{
    neo_engine *engine;
    neo_stream *stream;
    check(neo_engine_create(&engine), "engine");
    check(neo_stream_create(&stream, engine, &(neo_stream_options){.max_threads = 1}), "stream");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        neo_memory_desc fixed = measure(engine, stream, &rows[i], false);
        neo_memory_desc late = measure(engine, stream, &rows[i], true);
        print(&rows[i], neo_memory_desc_equal(&fixed, &late));
    }
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
    return 0;
}
