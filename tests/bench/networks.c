/* Networks created, executed and destroyed with the primitive cache on and off, and the memory that
 * capacities and budgets lead to. Shapes come from benchdnn's input files.
 *
 *   networks CONVOLUTIONS MATMULS
 *
 * Off means that every creation checks the description, chooses an algorithm and plans it again.
 * The last figure is for a library that also packs the weights again for every primitive it
 * creates. */
#include <inttypes.h>
#include <string.h>

#include "neoprene/neoprene.h"
#include "tests/bench/measure.h"

enum { MOST_LAYERS = 64, ROUNDS = 201, LINE_BYTES = 256 };

struct layer {
    neo_convolution_desc convolution; /* dst.ndims is 0 if it is a multiplication */
    neo_matmul_desc matmul;
    int count; /* how often it is in the network */
};

struct network {
    const char *name;
    struct layer layers[MOST_LAYERS];
    size_t count;
};

static void require_ok(neo_status status)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s\n", neo_status_text(status));
    exit(1);
}

/* ---- reading ---- */

static neo_memory_desc tensor(int ndims, const char *tag, const neo_dim *dims)
{
    neo_memory_desc desc;
    require_ok(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag));
    return desc;
}

/* The number after a name of the description, which ends at the quote; otherwise if it is not
 * there.
 */
static neo_dim field(const char *line, const char *name, neo_dim otherwise)
{
    size_t length = strlen(name);
    for (const char *at = line; *at && *at != '"'; at++) {
        int starts = at == line || (at[-1] >= '0' && at[-1] <= '9') || at[-1] == '_';
        if (starts && !strncmp(at, name, length) && at[length] >= '0' && at[length] <= '9')
            return (neo_dim)strtoll(at + length, NULL, 10);
    }
    return otherwise;
}

/* "…*5" at the end of the name. */
static int repetitions(const char *line)
{
    const char *star = strchr(line, '"') ? strchr(strchr(line, '"'), '*') : NULL;
    return star ? atoi(star + 1) : 1;
}

/* Square images, kernels and steps only. */
static void read_convolution(struct layer *layer, const char *line)
{
    neo_dim g = field(line, "g", 1), mb = field(line, "mb", 1), ic = field(line, "ic", 1);
    neo_dim oc = field(line, "oc", 1), ih = field(line, "ih", 1), oh = field(line, "oh", 1);
    neo_dim k = field(line, "kh", 1), s = field(line, "sh", 1), p = field(line, "ph", 0);
    neo_dim right = (oh - 1) * s + k - ih - p;
    layer->convolution = (neo_convolution_desc){
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = tensor(4, "nhwc", (neo_dim[]){mb, ic, ih, ih}),
        .weights = g > 1 ? tensor(5, "any", (neo_dim[]){g, oc / g, ic / g, k, k})
                         : tensor(4, "any", (neo_dim[]){oc, ic, k, k}),
        .bias = tensor(1, "a", (neo_dim[]){oc}),
        .dst = tensor(4, "nhwc", (neo_dim[]){mb, oc, oh, oh}),
        .strides = {s, s},
        .padding_left = {p, p},
        .padding_right = {right, right},
    };
}

static void read_matmul(struct layer *layer, const char *line)
{
    int64_t m, k, n;
    if (sscanf(line, "%" SCNd64 "x%" SCNd64 ":%*dx%" SCNd64, &m, &k, &n) != 3)
        exit(1);
    layer->matmul = (neo_matmul_desc){
        .src = tensor(2, "ab", (neo_dim[]){m, k}),
        .weights = tensor(2, "any", (neo_dim[]){k, n}),
        .bias = tensor(2, "ab", (neo_dim[]){1, n}),
        .dst = tensor(2, "ab", (neo_dim[]){m, n}),
    };
}

static void read_network(struct network *network, const char *name, const char *path,
                         void (*read_layer)(struct layer *layer, const char *line))
{
    char line[LINE_BYTES];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    network->name = name;
    while (network->count < MOST_LAYERS && fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '\n' || line[0] == '-')
            continue;
        struct layer *layer = &network->layers[network->count++];
        read_layer(layer, line);
        layer->count = repetitions(line);
    }
    fclose(file);
}

/* ---- steps ---- */

static neo_primitive *create(neo_engine *engine, const struct layer *layer)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    require_ok(layer->convolution.dst.ndims
                   ? neo_convolution_primitive_desc_create(&pd, engine, &layer->convolution, NULL)
                   : neo_matmul_primitive_desc_create(&pd, engine, &layer->matmul, NULL));
    require_ok(neo_primitive_create(&primitive, pd));
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
            for (int j = 0; j < network->layers[i].count; j++)
                neo_primitive_destroy(create(engine, &network->layers[i]));
        times[round] = now_ns() - start;
    }
    qsort(times, ROUNDS, sizeof *times, compare_numbers);
    return times[ROUNDS / 2];
}

static double execute_layer(neo_engine *engine, neo_stream *stream, const struct layer *layer)
{
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    neo_exec_arg args[4];
    neo_primitive *primitive = create(engine, layer);
    const neo_primitive_desc *pd = neo_primitive_get_desc(primitive);
    for (int i = 0; i < 4; i++) {
        const neo_memory_desc *desc = neo_primitive_desc_query(pd, names[i]);
        args[i].arg = names[i];
        require_ok(neo_memory_create(&args[i].memory, desc, engine, NEO_MEMORY_ALLOCATE));
        memset(neo_memory_get_handle(args[i].memory), 0, neo_memory_desc_size(desc));
    }
    double start = now_ns();
    require_ok(neo_primitive_execute(primitive, stream, 4, args));
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
    require_ok(neo_primitive_create(&primitive, pd));
    require_ok(neo_primitive_execute(primitive, stream, 2, args));
    neo_primitive_destroy(primitive);
}

/* Nanoseconds to pack the weights of a layer from their plain layout. */
static double pack_layer(neo_engine *engine, neo_stream *stream, const struct layer *layer)
{
    neo_primitive *primitive = create(engine, layer);
    const neo_memory_desc *packed =
        neo_primitive_desc_query(neo_primitive_get_desc(primitive), NEO_ARG_WEIGHTS);
    neo_memory_desc plain;
    neo_memory *src, *dst;
    neo_primitive_desc *pd;
    require_ok(neo_memory_desc_init_tag(&plain, packed->ndims, packed->dims, NEO_F32,
                                        packed->ndims == 2   ? "ab"
                                        : packed->ndims == 4 ? "abcd"
                                                             : "abcde"));
    require_ok(neo_reorder_primitive_desc_create(&pd, engine, &plain, packed, NULL));
    require_ok(neo_memory_create(&src, &plain, engine, NEO_MEMORY_ALLOCATE));
    require_ok(neo_memory_create(&dst, packed, engine, NEO_MEMORY_ALLOCATE));
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
                              double (*measure)(neo_engine *, neo_stream *, const struct layer *))
{
    neo_stream *stream;
    double ns = 0;
    require_ok(neo_stream_create(&stream, engine, NULL));
    for (size_t i = 0; i < network->count; i++)
        ns += measure(engine, stream, &network->layers[i]) * network->layers[i].count;
    neo_stream_destroy(stream);
    return ns;
}

static int count_primitives(const struct network *network)
{
    int count = 0;
    for (size_t i = 0; i < network->count; i++)
        count += network->layers[i].count;
    return count;
}

static void report_network(const struct network *network)
{
    neo_engine *engine;
    require_ok(neo_engine_create(&engine));
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
            neo_primitive *primitive = create(engine, &networks[n].layers[i]);
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
    require_ok(neo_engine_create(&engine));
    require_ok(neo_engine_set_cache_capacity(
        engine, (neo_cache_capacity){limits->entries, limits->cache_bytes}));
    require_ok(neo_engine_set_block_budget(engine, limits->block_bytes));
    for (int round = 0; round < 3; round++)
        create_all(engine, networks, at_once);
    require_ok(neo_engine_get_cache_statistics(engine, &stats));
    printf(
        "%-34s %-12s cache peak %7.1f KiB (%zu entries)   blocks peak %8.1f KiB, left %8.1f KiB\n",
        limits->text, at_once ? "all alive" : "one by one", (double)stats.peak_bytes / 1024,
        stats.peak_entries, (double)stats.peak_block_bytes / 1024,
        (double)(stats.bytes_free + stats.bytes_held) / 1024);
    neo_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    static struct network networks[2];
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
    read_network(&networks[0], "ResNet-50", argv[1], read_convolution);
    read_network(&networks[1], "BERT-base", argv[2], read_matmul);
    for (size_t i = 0; i < 2; i++)
        report_network(&networks[i]);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int at_once = 0; at_once < 2; at_once++)
            report_memory(networks, &limits[i], at_once);
    return 0;
}
