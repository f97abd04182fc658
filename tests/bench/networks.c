/* Networks created, executed and destroyed with the primitive cache on and off, and the memory that
 * capacities and budgets lead to. Shapes come from benchdnn's input files.
 *
 *   networks CONVOLUTIONS MATMULS
 *
 * Off means that every creation checks the description, chooses an algorithm and plans it again.
 * The last figure is for a library that also packs the weights again for every primitive it
 * creates. */
#include <string.h>

#include "neoprene/neoprene.h"
#include "tests/bench/check.h"
#include "tests/bench/measure.h"
#include "tests/bench/shapes.h"

enum { MOST_LAYERS = 64, ROUNDS = 201 };

struct network {
    const char *name;
    struct shape shapes[MOST_LAYERS];
    size_t count;
};

static neo_primitive_desc *describe(neo_engine *engine, const struct shape *shape)
{
    neo_primitive_desc *pd;
    if (shape->is_matmul) {
        neo_matmul_desc desc = shape_matmul(shape);
        check_ok(neo_memory_desc_init_tag(&desc.bias, 2, (neo_dim[]){1, shape->n}, NEO_F32, "ab"));
        check_ok(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL));
        return pd;
    }
    neo_convolution_desc desc = shape_convolution(shape);
    check_ok(neo_memory_desc_init_tag(&desc.bias, 1, &shape->oc, NEO_F32, "a"));
    check_ok(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL));
    return pd;
}

static neo_primitive *create(neo_engine *engine, const struct shape *shape)
{
    neo_primitive_desc *pd = describe(engine, shape);
    neo_primitive *primitive;
    check_ok(neo_primitive_create(&primitive, pd));
    neo_primitive_desc_destroy(pd);
    return primitive;
}

/* Nanoseconds to create and destroy every primitive of the network once. */
static double create_and_destroy(neo_engine *engine, const struct network *network)
{
    double times[ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (size_t i = 0; i < network->count; i++)
            for (int j = 0; j < network->shapes[i].count; j++)
                neo_primitive_destroy(create(engine, &network->shapes[i]));
        times[round] = now_ns() - start;
    }
    qsort(times, ROUNDS, sizeof *times, compare_numbers);
    return times[ROUNDS / 2];
}

static double execute_layer(neo_engine *engine, neo_stream *stream, const struct shape *shape)
{
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    neo_exec_arg args[4];
    neo_primitive *primitive = create(engine, shape);
    const neo_primitive_desc *pd = neo_primitive_get_desc(primitive);
    for (int i = 0; i < 4; i++) {
        const neo_memory_desc *desc = neo_primitive_desc_query(pd, names[i]);
        args[i].arg = names[i];
        check_ok(neo_memory_create(&args[i].memory, desc, engine, NEO_MEMORY_ALLOCATE));
        memset(neo_memory_get_handle(args[i].memory), 0, neo_memory_desc_size(desc));
    }
    double start = now_ns();
    check_ok(neo_primitive_execute(primitive, stream, 4, args));
    double ns = now_ns() - start;
    for (int i = 0; i < 4; i++)
        neo_memory_destroy(args[i].memory);
    neo_primitive_destroy(primitive);
    return ns;
}

static void run(neo_stream *stream, neo_primitive_desc *pd, neo_memory *src, neo_memory *dst)
{
    const neo_exec_arg args[] = {{NEO_ARG_SRC, src}, {NEO_ARG_DST, dst}};
    neo_primitive *primitive;
    check_ok(neo_primitive_create(&primitive, pd));
    check_ok(neo_primitive_execute(primitive, stream, 2, args));
    neo_primitive_destroy(primitive);
}

/* Nanoseconds to pack the weights of a layer from their plain layout. */
static double pack_layer(neo_engine *engine, neo_stream *stream, const struct shape *shape)
{
    neo_primitive *primitive = create(engine, shape);
    const neo_memory_desc *packed =
        neo_primitive_desc_query(neo_primitive_get_desc(primitive), NEO_ARG_WEIGHTS);
    neo_memory_desc plain = shape_plain_weights(shape);
    neo_memory *src, *dst;
    neo_primitive_desc *pd;
    check_ok(neo_reorder_primitive_desc_create(&pd, engine, &plain, packed, NULL));
    check_ok(neo_memory_create(&src, &plain, engine, NEO_MEMORY_ALLOCATE));
    check_ok(neo_memory_create(&dst, packed, engine, NEO_MEMORY_ALLOCATE));
    memset(neo_memory_get_handle(src), 0, neo_memory_desc_size(&plain));
    memset(neo_memory_get_handle(dst), 0, neo_memory_desc_size(packed));
    double start = now_ns();
    run(stream, pd, src, dst);
    double ns = now_ns() - start;
    neo_memory_destroy(src);
    neo_memory_destroy(dst);
    neo_primitive_desc_destroy(pd);
    neo_primitive_destroy(primitive);
    return ns;
}

/* Nanoseconds of all layers; those of one shape are measured once and counted. */
static double sum_over_layers(neo_engine *engine, const struct network *network,
                              double (*measure)(neo_engine *, neo_stream *, const struct shape *))
{
    neo_stream *stream;
    double ns = 0;
    check_ok(neo_stream_create(&stream, engine, NULL));
    for (size_t i = 0; i < network->count; i++)
        ns += measure(engine, stream, &network->shapes[i]) * network->shapes[i].count;
    neo_stream_destroy(stream);
    return ns;
}

static int count_primitives(const struct network *network)
{
    int count = 0;
    for (size_t i = 0; i < network->count; i++)
        count += network->shapes[i].count;
    return count;
}

static void report_network(const struct network *network)
{
    neo_engine *engine;
    check_ok(neo_engine_create(&engine));
    double execution = sum_over_layers(engine, network, execute_layer);
    double packing = sum_over_layers(engine, network, pack_layer);
    double on = create_and_destroy(engine, network);
    neo_engine_set_cache_capacity(engine, (neo_cache_capacity){0, SIZE_MAX});
    double off = create_and_destroy(engine, network);
    printf("%s, %d primitives\n", network->name, count_primitives(network));
    printf("  create and destroy            %10.2f us with the cache, %10.2f us without: %6.2f x\n",
           on / 1e3, off / 1e3, off / on);
    printf("  and execute                   %10.2f ms with the cache, %10.2f ms without: %6.2f x\n",
           (on + execution) / 1e6, (off + execution) / 1e6, (off + execution) / (on + execution));
    printf("  and pack weights each time    %10.2f ms with the cache, %10.2f ms without: %6.2f x\n",
           (on + execution) / 1e6, (off + execution + packing) / 1e6,
           (off + execution + packing) / (on + execution));
    neo_engine_destroy(engine);
}

/* ---- memory ---- */

struct limits {
    const char *text;
    size_t entries, cache_bytes, block_bytes;
};

/* Every primitive of both networks, alive at once or one after the other. */
static void create_all(neo_engine *engine, const struct network *networks, int at_once)
{
    static neo_primitive *primitives[2 * MOST_LAYERS];
    size_t count = 0;
    for (size_t n = 0; n < 2; n++) {
        for (size_t i = 0; i < networks[n].count; i++) {
            neo_primitive *primitive = create(engine, &networks[n].shapes[i]);
            if (at_once)
                primitives[count++] = primitive;
            else
                neo_primitive_destroy(primitive);
        }
    }
    while (count)
        neo_primitive_destroy(primitives[--count]);
}

static void report_memory(const struct network *networks, const struct limits *limits, int at_once)
{
    neo_engine *engine;
    neo_cache_statistics stats;
    check_ok(neo_engine_create(&engine));
    check_ok(neo_engine_set_cache_capacity(
        engine, (neo_cache_capacity){limits->entries, limits->cache_bytes}));
    check_ok(neo_engine_set_block_budget(engine, limits->block_bytes));
    for (int round = 0; round < 3; round++)
        create_all(engine, networks, at_once);
    check_ok(neo_engine_get_cache_statistics(engine, &stats));
    printf(
        "%-34s %-12s cache peak %7.1f KiB (%zu entries)   blocks peak %8.1f KiB, left %8.1f KiB\n",
        limits->text, at_once ? "all alive" : "one by one", (double)stats.peak_bytes / 1024,
        stats.peak_entries, (double)stats.peak_block_bytes / 1024,
        (double)(stats.bytes_free + stats.bytes_held) / 1024);
    neo_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    static struct network networks[2] = {{.name = "ResNet-50"}, {.name = "BERT-base"}};
    static const struct limits limits[] = {
        {"1 entry", 1, SIZE_MAX, SIZE_MAX},
        {"64 entries", 64, SIZE_MAX, SIZE_MAX},
        {"1024 entries", 1024, SIZE_MAX, SIZE_MAX},
        {"64 KiB of entries, 1 MiB of blocks", 1024, 65536, 1 << 20},
    };
    if (argc != 3) {
        fprintf(stderr, "usage: networks CONVOLUTIONS MATMULS (benchdnn's input files)\n");
        return 1;
    }
    become_threaded();
    for (size_t i = 0; i < 2; i++) {
        networks[i].count = shapes_read(networks[i].shapes, MOST_LAYERS, argv[i + 1]);
        report_network(&networks[i]);
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int at_once = 0; at_once < 2; at_once++)
            report_memory(networks, &limits[i], at_once);
    return 0;
}
