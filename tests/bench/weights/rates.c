/* The benchmark of packed weights: packing and unpacking against memcpy. */
#include <stdlib.h>
#include <string.h>

#include "neoprene/reorder.h"
#include "tests/bench/measure.h"
#include "tests/bench/weights/weights.h"

struct reorder {
    neo_primitive *primitive;
    neo_exec_arg args[2];
};

static struct reorder make_reorder(neo_engine *engine, neo_memory *from, neo_memory *to)
{
    struct reorder reorder = {.args = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}}};
    neo_primitive_desc *pd;
    check_ok(neo_reorder_primitive_desc_create(&pd, engine, neo_memory_get_desc(from),
                                               neo_memory_get_desc(to), NULL));
    check_ok(neo_primitive_create(&reorder.primitive, pd));
    neo_primitive_desc_destroy(pd);
    return reorder;
}

static void run_reorder(neo_stream *stream, const struct reorder *reorder)
{
    check_ok(neo_primitive_execute(reorder->primitive, stream, 2, reorder->args));
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

static void time_shape(neo_engine *engine, neo_stream *stream, const struct shape *shape,
                       float *data, float *copy, struct rates *rates)
{
    neo_primitive_desc *pd = describe(engine, shape);
    neo_memory_desc desc = shape_plain_weights(shape);
    neo_memory *plain, *back;
    neo_memory *packed = memory_of(engine, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    check_ok(neo_memory_create(&plain, &desc, engine, data));
    check_ok(neo_memory_create(&back, &desc, engine, copy));
    struct reorder pack = make_reorder(engine, plain, packed);
    struct reorder unpack = make_reorder(engine, packed, back);
    time_transfers(stream, &pack, &unpack, data, copy, shape_bytes(shape), rates);
    check(!memcmp(copy, data, shape_bytes(shape)), "unpacking does not give back what was packed");
    neo_primitive_destroy(pack.primitive);
    neo_primitive_destroy(unpack.primitive);
    neo_primitive_desc_destroy(pd);
    neo_memory_destroy(plain);
    neo_memory_destroy(back);
    neo_memory_destroy(packed);
}

struct rates measure_rates(const struct network *network)
{
    struct source source = make_source(network);
    float *copy = malloc(source.room);
    check(copy, "no memory");
    memset(copy, 1, source.room);
    struct rates rates = {.bytes = 0};
    neo_engine *engine;
    neo_stream *stream;
    check_ok(neo_engine_create(&engine) == NEO_OK &&
             neo_stream_create(&stream, engine, &(neo_stream_options){.max_threads = 1}));
    for (size_t i = 0; i < network->count; i++)
        time_shape(engine, stream, &network->shapes[i],
                   next_tensor(&source, shape_bytes(&network->shapes[i]), 0), copy, &rates);
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
    free(copy);
    free(source.data);
    return rates;
}
