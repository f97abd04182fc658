/* Fuzzer of descriptions of primitives. With clang: make fuzz; without: tests/api/random.c
 * runs the same function over random bytes. */
#include "tests/fuzz/primitive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/execution.h"
#include "tests/fuzz/told.h"
#include "tests/support/pool_override.h"
#include "tests/support/pools.h"
#include "tests/support/require.h"

/* ---- one engine, and streams with pools of all sorts ---- */

static const struct {
    enum test_pool_kind kind;
    int threads;
} pool_choices[] = {
    {TEST_POOL_ONE, 1},          {TEST_POOL_SYNCHRONOUS, 3}, {TEST_POOL_HOSTILE, 7},
    {TEST_POOL_ASYNCHRONOUS, 2}, {TEST_POOL_DEFERRED, 64},
};
enum { POOLS = sizeof pool_choices / sizeof *pool_choices };

static neo_engine *engine;
static neo_stream *streams[POOLS + 1]; /* the first is the engine's own, with one thread */
static struct test_pool *pools[POOLS];

/* Large problems fail for want of memory before they take the machine's. */
enum { MEMORY_LIMIT = 1 << 28 };

void fuzz_primitive_begin(void)
{
    setenv("NEOPRENE_VERBOSE", "error,warn,check", 1);
    setenv("NEOPRENE_MEMORY_POISON", "255", 0);
    require(neo_engine_create(&engine) == NEO_OK);
    require(neo_engine_set_memory_limits(engine, MEMORY_LIMIT, MEMORY_LIMIT) == NEO_OK);
    const neo_stream_options one = {.max_threads = 1};
    require(neo_stream_create(&streams[0], engine, &one) == NEO_OK);
    for (int i = 0; i < POOLS; i++) {
        pools[i] = test_pool_create(pool_choices[i].kind, pool_choices[i].threads);
        const neo_stream_options options = {.threadpool = test_pool_table(pools[i])};
        require(neo_stream_create(&streams[i + 1], engine, &options) == NEO_OK);
    }
}

void fuzz_primitive_end(void)
{
    for (int i = 0; i <= POOLS; i++)
        neo_stream_destroy(streams[i]);
    for (int i = 0; i < POOLS; i++)
        test_pool_destroy(pools[i]);
    neo_engine_destroy(engine);
}

/* Nothing is held by anything, and the allocator has it all back. */
static void check_nothing_is_left(void)
{
    neo_cache_statistics cache;
    neo_memory_usage usage;
    require(neo_engine_clear_cache(engine) == NEO_OK);
    require(neo_engine_trim(engine, 0, NULL) == NEO_OK);
    require(neo_engine_get_cache_statistics(engine, &cache) == NEO_OK);
    require(cache.entries == 0 && cache.bytes == 0);
    require(cache.blocks_held == 0 && cache.bytes_held == 0 && cache.blocks_free == 0);
    require(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &usage) == NEO_OK);
    require(usage.current == 0);
}

/* ---- what a primitive descriptor says ---- */

static bool says_something(const char *text)
{
    return text && *text;
}

static void check_answers(const struct fuzz_problem *problem, const neo_primitive_desc *pd)
{
    const char *algorithm, *reason;
    double estimate = neo_primitive_desc_estimate(pd);
    require(isfinite(estimate) && estimate >= 0);
    require(says_something(neo_primitive_desc_implementation(pd)));
    require(says_something(neo_primitive_desc_algorithm(pd)) && neo_primitive_desc_kernel(pd));
    for (int i = 0; neo_primitive_desc_declined(pd, i, &algorithm, &reason) == NEO_OK; i++)
        require(says_something(algorithm) && says_something(reason));
    for (int t = 0; t < FUZZ_TENSORS; t++) {
        const neo_memory_desc *asked = &problem->described[t];
        const neo_memory_desc *answer = neo_primitive_desc_query(pd, fuzz_args[t]);
        require(!asked->ndims == !answer);
        if (asked->ndims && asked->format_kind != NEO_FORMAT_ANY)
            require(neo_memory_desc_equal(asked, answer));
    }
    size_t alignment = neo_primitive_desc_scratchpad_alignment(pd);
    require(alignment && !(alignment & (alignment - 1)));
    for (int threads = 1; threads <= 64; threads *= 4)
        require(neo_primitive_desc_scratchpad_size(pd, threads) < (size_t)1 << 62);
}

/* Too large to be executed here: it is made, or there is no memory for it. */
static void make_only(const neo_primitive_desc *pd)
{
    neo_primitive *primitive;
    FUZZ_TOLD(neo_primitive_create(&primitive, pd));
    require(fuzz_told_status == NEO_OK || fuzz_told_status == NEO_OUT_OF_MEMORY);
    require(!primitive == (fuzz_told_status != NEO_OK));
    neo_primitive_destroy(primitive);
}

/* Weights that are packed as was chosen for `any` can be described as such. */
static void use_packed(const struct fuzz_problem *problem, const neo_memory_desc *packed,
                       neo_stream *stream, struct fuzz_bytes *bytes)
{
    struct fuzz_problem again = *problem;
    neo_primitive_desc *pd;
    again.described[FUZZ_WEIGHTS] = *packed;
    FUZZ_TOLD(fuzz_problem_describe(&pd, engine, &again));
    require(fuzz_told_status == NEO_OK);
    check_answers(&again, pd);
    fuzz_execute(engine, stream, &again, pd, bytes);
    neo_primitive_desc_destroy(pd);
}

static void use(const struct fuzz_problem *problem, neo_primitive_desc *pd,
                struct fuzz_bytes *bytes)
{
    neo_stream *stream = FUZZ_OF(streams, bytes);
    check_answers(problem, pd);
    if (fuzz_is_small(problem)) {
        const neo_memory_desc *weights = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
        if (weights && weights->format_kind == NEO_FORMAT_PACKED && fuzz_rarely(bytes, 4))
            use_packed(problem, weights, stream, bytes);
        fuzz_execute(engine, stream, problem, pd, bytes);
        return;
    }
    do {
        check_answers(problem, pd);
        make_only(pd);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
}

/* Elements are compared as f32, and no values of scales and zero points are made. */
static bool is_of_f32(const struct fuzz_problem *problem)
{
    for (int t = 0; t < FUZZ_TENSORS; t++)
        if (problem->described[t].ndims && problem->described[t].data_type != NEO_F32)
            return false;
    return !problem->is_quantized;
}

void fuzz_primitive(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    struct fuzz_problem problem;
    neo_primitive_desc *pd;
    pool_override_split(fuzz_below(&bytes, 2));
    fuzz_problem_init(&problem, &bytes);
    if (getenv("NEOPRENE_TEST_ROUND"))
        fuzz_problem_print(&problem);
    FUZZ_TOLD(fuzz_problem_describe(&pd, engine, &problem));
    neo_status status = fuzz_told_status;
    require(!pd == (status != NEO_OK));
    if (problem.is_right)
        require(status == NEO_OK || (status == NEO_UNSUPPORTED && !problem.is_supported));
    if (pd && is_of_f32(&problem))
        use(&problem, pd, &bytes);
    neo_primitive_desc_destroy(pd);
    fuzz_problem_deinit(&problem);
    check_nothing_is_left();
}

#ifdef FUZZER
int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEDS = 64, SEED_BYTES = 256 };

/* A corpus to begin with: random bytes, which are right descriptions as often as not. */
static void write_seed(const char *folder, unsigned number)
{
    char name[512];
    snprintf(name, sizeof name, "%s/%u", folder, number);
    FILE *file = fopen(name, "wb");
    require(file);
    uint32_t state = number;
    for (int i = 0; i < SEED_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        fputc((int)(state >> 24), file);
    }
    fclose(file);
}

/* FUZZ_SEEDS=FOLDER writes the corpus there. */
int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count;
    (void)words;
    const char *folder = getenv("FUZZ_SEEDS");
    for (unsigned i = 0; folder && i < SEEDS; i++)
        write_seed(folder, i);
    fuzz_primitive_begin();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_primitive(data, size);
    return 0;
}
#endif
