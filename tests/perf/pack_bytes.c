/* Packs weights by reorders, each in a region of its own for the emulator's plugin, and prints what
 * was packed, a line a region:
 *
 *   qemu-aarch64 -cpu neoverse-n1 -plugin build/tools/icount.so,out=FILE PROGRAM
 *
 * tests/perf/pack_bytes.py runs it and divides. */
#include <stdio.h>
#include <string.h>

#include "neoprene/convolution.h"
#include "neoprene/matmul.h"
#include "neoprene/reorder.h"
#include "tests/perf/described.h"
#include "tests/perf/region.h"

struct row {
    const char *plain; /* its tag */
    int ndims, groups; /* groups: the first dimension is groups */
    neo_dim dims[5];
};

static const struct row rows[] = {
    {"ab", 2, 0, {768, 768}},           {"ba", 2, 0, {768, 768}},
    {"ab", 2, 0, {512, 1000}},          {"ba", 2, 0, {512, 1000}},
    {"oihw", 4, 0, {256, 256, 1, 1}},   {"oihw", 4, 0, {128, 128, 3, 3}},
    {"ohwi", 4, 0, {128, 128, 3, 3}},   {"hwio", 4, 0, {128, 128, 3, 3}},
    {"oihw", 4, 0, {64, 3, 7, 7}},      {"goihw", 5, 1, {512, 1, 1, 3, 3}},
    {"goihw", 5, 1, {240, 1, 1, 5, 5}}, {"goihw", 5, 1, {32, 8, 8, 3, 3}},
};

static neo_primitive_desc *describe_matmul(neo_engine *engine, const struct row *row)
{
    neo_primitive_desc *pd;
    neo_matmul_desc desc = {
        .src = desc_of(2, (neo_dim[]){64, row->dims[0]}, "ab"),
        .weights = desc_of(2, row->dims, "any"),
        .dst = desc_of(2, (neo_dim[]){64, row->dims[1]}, "ab"),
    };
    check(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), "matmul");
    return pd;
}

/* One output pixel, so that no transform of the weights is worth while. */
static neo_primitive_desc *describe_convolution(neo_engine *engine, const struct row *row)
{
    const neo_dim *dims = row->dims + row->groups;
    neo_dim groups = row->groups ? row->dims[0] : 1;
    neo_primitive_desc *pd;
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_DIRECT,
        .src = desc_of(4, (neo_dim[]){1, groups * dims[1], dims[2], dims[3]}, "nhwc"),
        .weights = desc_of(row->ndims, row->dims, "any"),
        .dst = desc_of(4, (neo_dim[]){1, groups * dims[0], 1, 1}, "nhwc"),
        .strides = {1, 1},
    };
    check(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), "convolution");
    return pd;
}

static void pack(neo_engine *engine, neo_stream *stream, const struct row *row)
{
    neo_primitive_desc *pd =
        row->ndims == 2 ? describe_matmul(engine, row) : describe_convolution(engine, row);
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_memory_desc plain = desc_of(row->ndims, row->dims, row->plain);
    neo_memory *from, *to;
    check(neo_memory_create(&from, &plain, engine, NEO_MEMORY_ALLOCATE), "memory");
    check(neo_memory_create(&to, chosen, engine, NEO_MEMORY_ALLOCATE), "memory");
    memset(neo_memory_get_handle(from), 0, neo_memory_desc_size(&plain));
    neo_primitive_desc *reorder_desc;
    neo_primitive *reorder;
    check(neo_reorder_primitive_desc_create(&reorder_desc, engine, &plain, chosen, NULL),
          "reorder");
    check(neo_primitive_create(&reorder, reorder_desc), "reorder");
    neo_exec_arg args[] = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}};
    check(neo_primitive_execute(reorder, stream, 2, args), "execute");
    region_begin();
    check(neo_primitive_execute(reorder, stream, 2, args), "execute");
    region_end();
    printf("%s", row->plain);
    for (int i = 0; i < row->ndims; i++)
        printf("%c%lld", i ? 'x' : ' ', (long long)row->dims[i]);
    printf(" %zu\n", neo_memory_desc_size(chosen));
    neo_primitive_destroy(reorder);
    neo_primitive_desc_destroy(reorder_desc);
    neo_memory_destroy(from);
    neo_memory_destroy(to);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    neo_engine *engine;
    neo_stream *stream;
    check(neo_engine_create(&engine), "engine");
    check(neo_stream_create(&stream, engine, &(neo_stream_options){.max_threads = 1}), "stream");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        pack(engine, stream, &rows[i]);
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
    return 0;
}
