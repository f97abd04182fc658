/* What packed weights cost, for whole networks, through the public interface alone.
 *
 *   build/portable-gcc/bench/weights [--layers N] [--file PATH] [--inputs FOLDER]
 *
 * Each line is: network, what, value, unit. Every layer has weights of its own. A measurement that
 * starts an engine runs in a process of its own, as a program that starts does. Times are sums over
 * calls of neo_weights_pack() or neo_weights_pack_known(); making up the plain weights is not
 * counted. The decoder has N of its 22 layers (default: all, or as many as a third of the available
 * memory holds). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neoprene/convolution.h"
#include "neoprene/matmul.h"
#include "neoprene/packed_weights.h"
#include "neoprene/reorder.h"
#include "tests/bench/measure.h"

enum { MOST_ROWS = 64, DECODER_LAYERS = 22 };

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "weights: %s\n", what);
    exit(1);
}

/* ---- networks, from benchdnn's files ---- */

struct row { /* layers of one shape */
    bool matmul;
    int repeats;
    neo_dim m, k, n;                                     /* matmul */
    neo_dim groups, ic, ih, oc, oh, kh, stride, padding; /* square convolution */
};

struct network {
    const char *name, *file;
    struct row rows[MOST_ROWS];
    size_t count;
};

static struct network networks[] = {
    {.name = "resnet_50", .file = "conv/shapes_resnet_50"},
    {.name = "mobilenet_v1", .file = "conv/shapes_mobilenet_v1"},
    {.name = "decoder_1b", .file = "matmul/shapes_decoder_decode_weights"},
};

static neo_dim field(const char *line, const char *name, neo_dim otherwise)
{
    const char *at = strstr(line, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : otherwise;
}

static struct row parse_row(const char *line)
{
    const char *star = strrchr(line, '*');
    long long m, k, n;
    struct row row = {.repeats = star ? atoi(star + 1) : 1, .groups = 1};
    row.matmul = sscanf(line, "%lldx%lld:%*dx%lld", &m, &k, &n) == 3;
    if (row.matmul) {
        row.m = m, row.k = k, row.n = n;
        return row;
    }
    row.groups = *line == 'g' ? strtoll(line + 1, NULL, 10) : 1;
    row.ic = field(line, "ic", 0);
    row.ih = field(line, "ih", 0);
    row.oc = field(line, "oc", 0);
    row.oh = field(line, "oh", 0);
    row.kh = field(line, "kh", 0);
    row.stride = field(line, "sh", 1);
    row.padding = field(line, "ph", 0);
    return row;
}

static void read_network(struct network *network, const char *folder)
{
    char line[512], path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, network->file);
    FILE *file = fopen(path, "r");
    check(file, path);
    while (fgets(line, sizeof line, file))
        if (*line != '#' && *line != '\n') {
            check(network->count < MOST_ROWS, "a network has too many rows");
            network->rows[network->count++] = parse_row(line);
        }
    fclose(file);
}

static size_t row_bytes(const struct row *row)
{
    neo_dim elements =
        row->matmul ? row->k * row->n : row->oc * (row->ic / row->groups) * row->kh * row->kh;
    return (size_t)elements * sizeof(float);
}

static size_t network_bytes(const struct network *network)
{
    size_t bytes = 0;
    for (size_t i = 0; i < network->count; i++)
        bytes += row_bytes(&network->rows[i]) * (size_t)network->rows[i].repeats;
    return bytes;
}

/* Fewer layers, in proportion; one of each at least. */
static void scale_layers(struct network *network, int layers)
{
    for (size_t i = 0; i < network->count; i++) {
        struct row *row = &network->rows[i];
        if (row->repeats >= DECODER_LAYERS)
            row->repeats = row->repeats / DECODER_LAYERS * layers;
    }
}

/* ---- primitives ---- */

static neo_memory_desc desc_of(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    check(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag) == NEO_OK, tag);
    return desc;
}

static neo_memory_desc weights_desc(const struct row *row, bool any)
{
    if (row->matmul)
        return desc_of(2, (neo_dim[]){row->k, row->n}, any ? "any" : "ab");
    neo_dim g = row->groups, dims[] = {g, row->oc / g, row->ic / g, row->kh, row->kh};
    return g > 1 ? desc_of(5, dims, any ? "any" : "goihw")
                 : desc_of(4, dims + 1, any ? "any" : "oihw");
}

static neo_primitive_desc *describe(neo_engine *engine, const struct row *row)
{
    neo_primitive_desc *pd;
    if (row->matmul) {
        neo_matmul_desc desc = {.src = desc_of(2, (neo_dim[]){row->m, row->k}, "ab"),
                                .weights = weights_desc(row, true),
                                .dst = desc_of(2, (neo_dim[]){row->m, row->n}, "ab")};
        check(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL) == NEO_OK, "matmul");
        return pd;
    }
    neo_dim right = (row->oh - 1) * row->stride + row->kh - row->ih - row->padding;
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_DIRECT,
        .src = desc_of(4, (neo_dim[]){1, row->ic, row->ih, row->ih}, "nhwc"),
        .weights = weights_desc(row, true),
        .dst = desc_of(4, (neo_dim[]){1, row->oc, row->oh, row->oh}, "nhwc"),
        .strides = {row->stride, row->stride},
        .padding_left = {row->padding, row->padding},
        .padding_right = {right, right},
    };
    check(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL) == NEO_OK, "convolution");
    return pd;
}

static neo_memory *memory_of(neo_engine *engine, const neo_memory_desc *desc)
{
    neo_memory *memory;
    check(neo_memory_create(&memory, desc, engine, NEO_MEMORY_ALLOCATE) == NEO_OK, "memory");
    memset(neo_memory_get_handle(memory), 0, neo_memory_desc_size(desc));
    return memory;
}

/* Milliseconds of one execution. */
static double execute(neo_engine *engine, neo_stream *stream, const neo_primitive_desc *pd,
                      neo_memory *weights)
{
    neo_memory *src = memory_of(engine, neo_primitive_desc_query(pd, NEO_ARG_SRC));
    neo_memory *dst = memory_of(engine, neo_primitive_desc_query(pd, NEO_ARG_DST));
    neo_exec_arg args[] = {{NEO_ARG_SRC, src}, {NEO_ARG_WEIGHTS, weights}, {NEO_ARG_DST, dst}};
    neo_primitive *primitive;
    double begin = now_ns();
    check(neo_primitive_create(&primitive, pd) == NEO_OK, "primitive");
    check(neo_primitive_execute(primitive, stream, 3, args) == NEO_OK, "execute");
    double ms = (now_ns() - begin) / 1e6;
    neo_primitive_destroy(primitive);
    neo_memory_destroy(src);
    neo_memory_destroy(dst);
    return ms;
}

/* ---- plain weights ---- */

/* One array with two times the largest tensor: layer i begins somewhere in it, so that it is not in
 * a cache, and its first words make it unique. */
struct source {
    float *data;
    size_t room, next;
};

static struct source make_source(const struct network *network)
{
    struct source source = {.room = 64 << 20};
    for (size_t i = 0; i < network->count; i++)
        if (2 * row_bytes(&network->rows[i]) > source.room)
            source.room = 2 * row_bytes(&network->rows[i]);
    source.data = malloc(source.room);
    check(source.data, "no memory");
    uint32_t x = 1;
    for (size_t i = 0; i < source.room / sizeof(float); i++) {
        x = x * 1664525 + 1013904223;
        source.data[i] = (float)(int32_t)x * 0x1p-31f;
    }
    return source;
}

static float *next_tensor(struct source *source, size_t bytes, uint32_t number)
{
    if (source->next + bytes > source->room)
        source->next = 0;
    float *data = source->data + source->next / sizeof(float);
    source->next += (bytes + 63) / 64 * 64;
    data[0] = (float)number;
    data[1] = (float)bytes;
    return data;
}

/* ---- one start of a program ---- */

/* FIRST is the first one after the file has come to rest: it verifies, for all that follow. */
enum start_kind { COLD, FIRST, WARM, WARM_VERIFIED, KNOWN_VERIFIED, KNOWN, STARTS };
static const struct {
    const char *name;
    bool known; /* the contents are given; else the sources are hashed */
    uint32_t flags;
} starts[] = {
    {"cold", false, 0},
    {"first warm", false, 0},
    {"warm", false, 0},
    {"warm, always verified", false, NEO_WEIGHTS_VERIFY},
    {"warm, content known, always verified", true, NEO_WEIGHTS_VERIFY},
    {"warm, content known", true, 0},
};
enum { REST_S = 4 };

struct result {
    double pack_ms, first_ms, peak_mib, fallbacks;
    double rss_mib, pss_mib; /* of the weights */
    double own_mib;          /* anonymous memory of the whole process */
};

static const char *cache_path = "/tmp/neoprene-bench.weights";

struct program {
    neo_engine *engine;
    neo_stream *stream;
    neo_weights_provider provider;
};

static struct program start_program(uint32_t flags)
{
    struct program program;
    neo_weights_file_options options = {.flags = flags};
    check(neo_engine_create(&program.engine) == NEO_OK, "engine");
    check(neo_stream_create(&program.stream, program.engine, NULL) == NEO_OK, "stream");
    check(neo_weights_file_provider_create(&program.provider, cache_path, &options) == NEO_OK,
          "provider");
    check(neo_engine_set_weights_provider(program.engine, &program.provider) == NEO_OK, "provider");
    return program;
}

/* The content of tensor `number`, as a model's file would have it: kept by the first start. */
static neo_weights_content *contents;

static neo_packed_weights *bring(const struct program *program, const struct row *row,
                                 const neo_primitive_desc *pd, float *data, uint32_t number,
                                 enum start_kind kind, double *ms)
{
    neo_memory_desc desc = weights_desc(row, false);
    neo_memory *plain;
    neo_packed_weights *weights;
    check(neo_memory_create(&plain, &desc, program->engine, data) == NEO_OK, "memory");
    if (kind == COLD)
        check(neo_weights_identify(&contents[number], program->stream, plain) == NEO_OK,
              "identify");
    double begin = now_ns();
    neo_status status = starts[kind].known ? neo_weights_pack_known(&weights, pd, program->stream,
                                                                    plain, &contents[number])
                                           : neo_weights_pack(&weights, pd, program->stream, plain);
    *ms += (now_ns() - begin) / 1e6;
    check(status == NEO_OK, neo_status_text(status));
    neo_memory_destroy(plain);
    return weights;
}

static bool same_kind(const struct row *a, const struct row *b)
{
    return !a->matmul && !b->matmul && a->kh == b->kh && a->stride == b->stride &&
           (a->groups > 1) == (b->groups > 1);
}

/* A convolution of each kind, a product of each shape. */
static bool is_first_of_kind(const struct network *network, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_kind(&network->rows[i], &network->rows[j]))
            return false;
    return true;
}

static double proc_kib(const char *path, const char *name)
{
    char line[256];
    double sum = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            sum += strtod(line + strlen(name), NULL);
    if (file)
        fclose(file);
    return sum;
}

static double status_mib(const char *name)
{
    return proc_kib("/proc/self/status", name) / 1024;
}

/* All weights of a network; then one layer of each kind is run. */
static void run_start(const struct network *network, enum start_kind kind, struct result *result)
{
    struct source source = make_source(network);
    double base = status_mib("VmRSS:");
    struct program program = start_program(starts[kind].flags);
    uint32_t number = 0;
    for (size_t i = 0; i < network->count; i++) {
        const struct row *row = &network->rows[i];
        neo_primitive_desc *pd = describe(program.engine, row);
        for (int r = 0; r < row->repeats; r++, number++) {
            float *data = next_tensor(&source, row_bytes(row), number);
            neo_packed_weights *weights =
                bring(&program, row, pd, data, number, kind, &result->pack_ms);
            if (r == 0 && is_first_of_kind(network, i))
                result->first_ms +=
                    execute(program.engine, program.stream, pd, neo_packed_weights_memory(weights));
        } /* the weights stay: this is a running program */
    }
    neo_weights_statistics statistics;
    check(neo_engine_get_weights_statistics(program.engine, &statistics) == NEO_OK, "statistics");
    result->fallbacks = (double)statistics.fallbacks;
    check(kind == COLD || statistics.inserts == 0, "a warm start packed something");
    result->peak_mib = status_mib("VmHWM:") - base;
}

/* Of the mappings of the cache file alone. */
static double mapping_mib(const char *name)
{
    char line[4096];
    double sum = 0;
    bool ours = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strstr(line, cache_path))
            ours = true;
        else if (strchr("0123456789abcdef", *line))
            ours = false;
        else if (ours && !strncmp(line, name, strlen(name)))
            sum += strtod(line + strlen(name), NULL);
    }
    if (file)
        fclose(file);
    return sum / 1024;
}

/* Maps all and touches every page, to verify it, as inference does; then measures beside the
 * others. */
static void run_share(const struct network *network, struct result *result, const int barrier[2])
{
    struct program program = start_program(NEO_WEIGHTS_VERIFY);
    static float nothing[16]; /* never read */
    char byte;
    uint32_t number = 0;
    for (size_t i = 0; i < network->count; i++)
        for (int r = 0; r < network->rows[i].repeats; r++, number++) {
            neo_primitive_desc *pd = describe(program.engine, &network->rows[i]);
            bring(&program, &network->rows[i], pd, nothing, number, KNOWN, &result->pack_ms);
            neo_primitive_desc_destroy(pd);
        }
    check(write(barrier[1], "r", 1) == 1 && read(barrier[0], &byte, 1) == 1, "barrier");
    result->rss_mib = mapping_mib("Rss:");
    result->pss_mib = mapping_mib("Pss:");
    result->own_mib = proc_kib("/proc/self/smaps_rollup", "Anonymous:") / 1024;
}

/* ---- processes ---- */

static struct result measure_start(const struct network *network, enum start_kind kind)
{
    int pipes[2];
    struct result result = {.pack_ms = 0};
    fflush(stdout);
    check(!pipe(pipes), "pipe");
    pid_t child = fork();
    if (child == 0) {
        run_start(network, kind, &result);
        check(write(pipes[1], &result, sizeof result) == sizeof result, "pipe");
        _exit(0);
    }
    close(pipes[1]);
    check(read(pipes[0], &result, sizeof result) == sizeof result, "a start failed");
    close(pipes[0]);
    waitpid(child, NULL, 0);
    return result;
}

/* The sums over so many processes that have all weights at the same time. */
static struct result measure_share(const struct network *network, int processes)
{
    int ready[2], go[2], results[2], end[2];
    struct result sum = {.pack_ms = 0}, one = {.pack_ms = 0};
    char byte;
    fflush(stdout);
    check(!pipe(ready) && !pipe(go) && !pipe(results) && !pipe(end), "pipe");
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            run_share(network, &one, (int[]){go[0], ready[1]});
            check(write(results[1], &one, sizeof one) == sizeof one, "pipe");
            check(read(end[0], &byte, 1) == 1, "pipe"); /* the others measure still */
            _exit(0);
        }
    close(ready[1]);
    for (int i = 0; i < processes; i++)
        check(read(ready[0], &byte, 1) == 1, "a process failed");
    for (int i = 0; i < processes; i++)
        check(write(go[1], "g", 1) == 1, "pipe");
    for (int i = 0; i < processes; i++) {
        check(read(results[0], &one, sizeof one) == sizeof one, "a process failed");
        sum.rss_mib += one.rss_mib;
        sum.pss_mib += one.pss_mib;
        sum.own_mib += one.own_mib;
    }
    for (int i = 0; i < processes; i++)
        check(write(end[1], "e", 1) == 1, "pipe");
    while (wait(NULL) > 0)
        ;
    const int ends[] = {ready[0], go[0], go[1], results[0], results[1], end[0], end[1]};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        close(ends[i]);
    return sum;
}

/* ---- packing against memcpy ---- */

enum { COPY, PACK, UNPACK, TRANSFERS };

struct rates {
    double ns[TRANSFERS], bytes;
};

struct reorder {
    neo_primitive *primitive;
    neo_exec_arg args[2];
};

static struct reorder make_reorder(neo_engine *engine, neo_memory *from, neo_memory *to)
{
    struct reorder reorder = {.args = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}}};
    neo_primitive_desc *pd;
    check(neo_reorder_primitive_desc_create(&pd, engine, neo_memory_get_desc(from),
                                            neo_memory_get_desc(to), NULL) == NEO_OK,
          "reorder");
    check(neo_primitive_create(&reorder.primitive, pd) == NEO_OK, "reorder");
    neo_primitive_desc_destroy(pd);
    return reorder;
}

static void run_reorder(neo_stream *stream, const struct reorder *reorder)
{
    check(neo_primitive_execute(reorder->primitive, stream, 2, reorder->args) == NEO_OK, "execute");
}

/* The least of a few: the machine does other things too. All three read data that was written or
 * read just before, and write to pages that are there. */
static void time_transfers(neo_stream *stream, const struct reorder *pack,
                           const struct reorder *unpack, const float *data, float *copy,
                           size_t bytes, struct rates *sum)
{
    double least[TRANSFERS] = {1e18, 1e18, 1e18};
    for (int i = 0; i < 3; i++) {
        double times[TRANSFERS + 1] = {now_ns()};
        memcpy(copy, data, bytes);
        __asm__ volatile("" : : "r"(copy) : "memory"); /* somebody might read it */
        times[1] = now_ns();
        run_reorder(stream, pack);
        times[2] = now_ns();
        run_reorder(stream, unpack);
        times[3] = now_ns();
        for (int t = 0; t < TRANSFERS; t++)
            if (times[t + 1] - times[t] < least[t])
                least[t] = times[t + 1] - times[t];
    }
    sum->bytes += (double)bytes;
    for (int t = 0; t < TRANSFERS; t++)
        sum->ns[t] += least[t];
}

static void time_row(const struct program *program, const struct row *row, float *data, float *copy,
                     struct rates *rates)
{
    neo_primitive_desc *pd = describe(program->engine, row);
    neo_memory_desc desc = weights_desc(row, false);
    neo_memory *plain, *back;
    neo_memory *packed = memory_of(program->engine, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    check(neo_memory_create(&plain, &desc, program->engine, data) == NEO_OK, "memory");
    check(neo_memory_create(&back, &desc, program->engine, copy) == NEO_OK, "memory");
    struct reorder pack = make_reorder(program->engine, plain, packed);
    struct reorder unpack = make_reorder(program->engine, packed, back);
    time_transfers(program->stream, &pack, &unpack, data, copy, row_bytes(row), rates);
    check(!memcmp(copy, data, row_bytes(row)), "unpacking does not give back what was packed");
    neo_primitive_destroy(pack.primitive);
    neo_primitive_destroy(unpack.primitive);
    neo_primitive_desc_destroy(pd);
    neo_memory_destroy(plain);
    neo_memory_destroy(back);
    neo_memory_destroy(packed);
}

/* One tensor of each shape, in one thread, between pages that are there. */
static struct rates measure_rates(const struct network *network)
{
    struct source source = make_source(network);
    float *copy = malloc(source.room);
    check(copy, "no memory");
    memset(copy, 1, source.room);
    struct rates rates = {.bytes = 0};
    struct program program;
    check(neo_engine_create(&program.engine) == NEO_OK &&
              neo_stream_create(&program.stream, program.engine,
                                &(neo_stream_options){.max_threads = 1}) == NEO_OK,
          "engine");
    for (size_t i = 0; i < network->count; i++)
        time_row(&program, &network->rows[i], next_tensor(&source, row_bytes(&network->rows[i]), 0),
                 copy, &rates);
    neo_stream_destroy(program.stream);
    neo_engine_destroy(program.engine);
    free(copy);
    free(source.data);
    return rates;
}

/* ---- the report ---- */

static void print(const struct network *network, const char *what, double value, const char *unit)
{
    printf("%-13s %-44s %12.3f %s\n", network->name, what, value, unit);
    fflush(stdout);
}

static void print_start(const struct network *network, enum start_kind kind,
                        const struct result *result)
{
    char what[96];
    double mib = (double)network_bytes(network) / (1 << 20);
    snprintf(what, sizeof what, "%s start", starts[kind].name);
    print(network, what, result->pack_ms, "ms");
    snprintf(what, sizeof what, "%s start, rate", starts[kind].name);
    print(network, what, mib / result->pack_ms * 1e3, "MiB/s");
    snprintf(what, sizeof what, "%s start, first inference", starts[kind].name);
    print(network, what, result->first_ms, "ms");
    snprintf(what, sizeof what, "%s start, peak memory", starts[kind].name);
    print(network, what, result->peak_mib, "MiB");
    check(result->fallbacks <= 0, "the file refused an entry");
}

static void report_shares(const struct network *network, double unique_mib)
{
    static const char *const units[] = {"", "1 process", "2 processes", "", "4 processes"};
    for (int processes = 1; processes <= 4; processes *= 2) {
        struct result sum = measure_share(network, processes);
        char what[96];
        snprintf(what, sizeof what, "resident, %s", units[processes]);
        print(network, what, sum.rss_mib / unique_mib, "copies");
        snprintf(what, sizeof what, "proportional, %s", units[processes]);
        print(network, what, sum.pss_mib / unique_mib, "copies");
        snprintf(what, sizeof what, "other memory, %s", units[processes]);
        print(network, what, sum.own_mib, "MiB");
    }
}

/* Bytes that the primitives want: the file cannot be smaller. */
static double unique_bytes(void)
{
    neo_weights_file_summary summary;
    check(neo_weights_file_list(cache_path, 0, NULL, NULL, &summary) == NEO_OK, "list");
    return (double)summary.bytes[NEO_WEIGHTS_USABLE];
}

static void report_rates(const struct network *network)
{
    struct rates rates = measure_rates(network);
    print(network, "plain weights", (double)network_bytes(network) / (1 << 20), "MiB");
    print(network, "memcpy", rates.bytes / rates.ns[COPY] * 1e3, "MB/s");
    print(network, "packing", rates.bytes / rates.ns[PACK] * 1e3, "MB/s");
    print(network, "packing / memcpy", rates.ns[COPY] / rates.ns[PACK], "times");
    print(network, "unpacking / memcpy", rates.ns[COPY] / rates.ns[UNPACK], "times");
}

static void report_network(const struct network *network)
{
    report_rates(network);
    unlink(cache_path);
    double cold_ms = 0;
    for (enum start_kind kind = COLD; kind < STARTS; kind++) {
        struct result result = measure_start(network, kind);
        print_start(network, kind, &result);
        if (kind == COLD)
            sleep(REST_S);
        cold_ms = kind == COLD ? result.pack_ms : cold_ms;
        char what[96];
        snprintf(what, sizeof what, "cold / %s", starts[kind].name);
        if (kind != COLD)
            print(network, what, cold_ms / result.pack_ms, "times");
    }
    struct stat file;
    check(!stat(cache_path, &file), "stat");
    double unique = unique_bytes();
    print(network, "file / unique bytes", (double)file.st_size / unique, "times");
    report_shares(network, unique / (1 << 20));
    unlink(cache_path);
}

static int layers_that_fit(void)
{
    const int all = DECODER_LAYERS;
    double mib = proc_kib("/proc/meminfo", "MemAvailable:") / 1024 / 3;
    double layer = (double)network_bytes(&networks[2]) / (1 << 20) / all;
    return mib > layer * all ? all : mib > layer ? (int)(mib / layer) : 1;
}

int main(int count, char **words)
{
    const char *folder = "benchdnn/inputs";
    int layers = 0;
    for (int i = 1; i + 1 < count; i += 2)
        if (!strcmp(words[i], "--layers"))
            layers = atoi(words[i + 1]);
        else if (!strcmp(words[i], "--file"))
            cache_path = words[i + 1];
        else if (!strcmp(words[i], "--inputs"))
            folder = words[i + 1];
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        read_network(&networks[i], folder);
    if (layers < 1 || layers > DECODER_LAYERS)
        layers = layers_that_fit();
    scale_layers(&networks[2], layers);
    if (layers < DECODER_LAYERS)
        printf("# the decoder has %d of its %d layers\n", layers, DECODER_LAYERS);
    size_t bytes = 4096 * sizeof *contents;
    contents = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(contents != MAP_FAILED, "no memory");
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        report_network(&networks[i]);
    return 0;
}
