/* The benchmark of packed weights: one start of a program. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/bench/measure.h"
#include "tests/bench/weights/weights.h"

enum { MOST_TENSORS = 4096 };

const struct start starts[STARTS] = {
    {"cold", false, 0},
    {"first warm", false, 0},
    {"warm", false, 0},
    {"warm, always verified", false, NEO_WEIGHTS_VERIFY},
    {"warm, content known, always verified", true, NEO_WEIGHTS_VERIFY},
    {"warm, content known", true, 0},
};

static const char *cache_path;

struct program {
    neo_engine *engine;
    neo_stream *stream;
    neo_weights_provider provider;
};

static struct program start_program(uint32_t flags)
{
    struct program program;
    neo_weights_file_options options = {.flags = flags};
    check_ok(neo_engine_create(&program.engine));
    check_ok(neo_stream_create(&program.stream, program.engine, NULL));
    check_ok(neo_weights_file_provider_create(&program.provider, cache_path, &options));
    check_ok(neo_engine_set_weights_provider(program.engine, &program.provider));
    return program;
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
    check_ok(neo_primitive_create(&primitive, pd));
    check_ok(neo_primitive_execute(primitive, stream, 3, args));
    double ms = (now_ns() - begin) / 1e6;
    neo_primitive_destroy(primitive);
    neo_memory_destroy(src);
    neo_memory_destroy(dst);
    return ms;
}

/* The content of tensor `number`, as a model's file would have it: kept by the first start. */
static neo_weights_content *contents;

void start_prepare(const char *path)
{
    cache_path = path;
    contents = mmap(NULL, MOST_TENSORS * sizeof *contents, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(contents != MAP_FAILED, "no memory");
}

static neo_packed_weights *bring(const struct program *program, const struct shape *shape,
                                 const neo_primitive_desc *pd, float *data, uint32_t number,
                                 enum start_kind kind, double *ms)
{
    neo_memory_desc desc = shape_plain_weights(shape);
    neo_memory *plain;
    neo_packed_weights *weights;
    check(number < MOST_TENSORS, "a network has too many tensors");
    check_ok(neo_memory_create(&plain, &desc, program->engine, data));
    if (kind == COLD)
        check_ok(neo_weights_identify(&contents[number], program->stream, plain));
    double begin = now_ns();
    neo_status status = starts[kind].known ? neo_weights_pack_known(&weights, pd, program->stream,
                                                                    plain, &contents[number])
                                           : neo_weights_pack(&weights, pd, program->stream, plain);
    *ms += (now_ns() - begin) / 1e6;
    check_ok(status);
    neo_memory_destroy(plain);
    return weights;
}

static bool same_kind(const struct shape *a, const struct shape *b)
{
    return !a->is_matmul && !b->is_matmul && a->kernel == b->kernel && a->stride == b->stride &&
           (a->groups > 1) == (b->groups > 1);
}

/* A convolution of each kind, a product of each shape. */
static bool is_first_of_kind(const struct network *network, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_kind(&network->shapes[i], &network->shapes[j]))
            return false;
    return true;
}

static double status_mib(const char *name)
{
    return proc_kib("/proc/self/status", name) / 1024;
}

void run_start(const struct network *network, enum start_kind kind, struct result *result)
{
    struct source source = make_source(network);
    double base = status_mib("VmRSS:");
    struct program program = start_program(starts[kind].flags);
    uint32_t number = 0;
    for (size_t i = 0; i < network->count; i++) {
        const struct shape *shape = &network->shapes[i];
        neo_primitive_desc *pd = describe(program.engine, shape);
        for (int r = 0; r < shape->count; r++, number++) {
            float *data = next_tensor(&source, shape_bytes(shape), number);
            neo_packed_weights *weights =
                bring(&program, shape, pd, data, number, kind, &result->pack_ms);
            if (r == 0 && is_first_of_kind(network, i))
                result->first_ms +=
                    execute(program.engine, program.stream, pd, neo_packed_weights_memory(weights));
        } /* the weights stay: this is a running program */
    }
    neo_weights_statistics statistics;
    check_ok(neo_engine_get_weights_statistics(program.engine, &statistics));
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

void run_share(const struct network *network, struct result *result, const int barrier[2])
{
    struct program program = start_program(NEO_WEIGHTS_VERIFY);
    static float nothing[16]; /* never read */
    char byte;
    uint32_t number = 0;
    for (size_t i = 0; i < network->count; i++)
        for (int r = 0; r < network->shapes[i].count; r++, number++) {
            neo_primitive_desc *pd = describe(program.engine, &network->shapes[i]);
            bring(&program, &network->shapes[i], pd, nothing, number, KNOWN, &result->pack_ms);
            neo_primitive_desc_destroy(pd);
        }
    check(write(barrier[1], "r", 1) == 1 && read(barrier[0], &byte, 1) == 1, "barrier");
    result->rss_mib = mapping_mib("Rss:");
    result->pss_mib = mapping_mib("Pss:");
    result->own_mib = proc_kib("/proc/self/smaps_rollup", "Anonymous:") / 1024;
}
