/* Packed weights through engines: processes, threads, pools and reloads that meet in one provider.
 */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neoprene/packed_weights.h"
#include "tests/support/packed/weights.h"
#include "tests/support/pages.h"
#include "tests/support/pools.h"
#include "tests/support/require.h"
#include "tests/support/tensor.h"

enum { LAYERS = 12 };

/* Layer i multiplies by a matrix of its own size; every third one is 'ba'. */
static neo_dim layer_rows(size_t i)
{
    return (neo_dim)(17 + 29 * i);
}

static neo_dim layer_columns(size_t i)
{
    return (neo_dim)(40 + 7 * i);
}

/* What a program has while it runs. */
struct program {
    neo_engine *engine;
    neo_stream *stream;
    neo_weights_provider provider; /* all NULL: the engine's own */
};

static struct program start(const char *path, uint32_t flags, const neo_threadpool *pool)
{
    struct program program = {.engine = NULL};
    const neo_stream_options options = {.threadpool = pool};
    require(neo_engine_create(&program.engine) == NEO_OK);
    require(neo_stream_create(&program.stream, program.engine, &options) == NEO_OK);
    if (path) {
        program.provider = weights_open(path, flags);
        require(neo_engine_set_weights_provider(program.engine, &program.provider) == NEO_OK);
    }
    return program;
}

static void end(struct program *program)
{
    neo_stream_destroy(program->stream);
    neo_engine_destroy(program->engine);
    if (program->provider.destroy)
        weights_close(&program->provider);
}

static neo_weights_statistics statistics(const struct program *program)
{
    neo_weights_statistics s;
    require(neo_engine_get_weights_statistics(program->engine, &s) == NEO_OK);
    return s;
}

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    neo_memory_desc desc;
    require(neo_memory_desc_init_tag(&desc, 2, (neo_dim[]){rows, columns}, NEO_F32, tag) == NEO_OK);
    return desc;
}

static neo_primitive_desc *describe(const struct program *program, neo_dim rows, neo_dim columns)
{
    neo_primitive_desc *pd;
    neo_matmul_desc desc = {.src = matrix(3, rows, "ab"),
                            .weights = matrix(rows, columns, "any"),
                            .dst = matrix(3, columns, "ab")};
    require(neo_matmul_primitive_desc_create(&pd, program->engine, &desc, NULL) == NEO_OK);
    return pd;
}

static float element(size_t layer, size_t i)
{
    return (float)((i * 2654435761u + layer * 97) % 65536) * 0x1p-7f;
}

/* Packs layer i of the model; only the packed weights are left. */
static neo_packed_weights *load_layer(const struct program *program, size_t i)
{
    neo_dim rows = layer_rows(i), columns = layer_columns(i);
    neo_primitive_desc *pd = describe(program, rows, columns);
    neo_memory_desc desc = matrix(rows, columns, i % 3 ? "ab" : "ba");
    neo_memory *plain;
    neo_packed_weights *weights;
    require(neo_memory_create(&plain, &desc, program->engine, NEO_MEMORY_ALLOCATE) == NEO_OK);
    float *data = neo_memory_get_handle(plain);
    for (size_t e = 0; e < (size_t)(rows * columns); e++)
        data[e] = element(i, e);
    require(neo_weights_pack(&weights, pd, program->stream, plain) == NEO_OK);
    neo_memory_destroy(plain);
    neo_primitive_desc_destroy(pd);
    return weights;
}

static const void *data_of(const neo_packed_weights *weights)
{
    return neo_memory_get_handle(neo_packed_weights_memory(weights));
}

static size_t bytes_of(const neo_packed_weights *weights)
{
    return neo_memory_desc_size(neo_memory_get_desc(neo_packed_weights_memory(weights)));
}

struct model {
    neo_packed_weights *layers[LAYERS];
};

static struct model load_model(const struct program *program)
{
    struct model model;
    for (size_t i = 0; i < LAYERS; i++)
        model.layers[i] = load_layer(program, i);
    return model;
}

static void unload_model(struct model *model)
{
    for (size_t i = 0; i < LAYERS; i++)
        neo_packed_weights_destroy(model->layers[i]);
}

static neo_weights_content model_hash(const struct model *model)
{
    neo_weights_content all[LAYERS];
    for (size_t i = 0; i < LAYERS; i++)
        all[i] = neo_weights_hash(data_of(model->layers[i]), bytes_of(model->layers[i]));
    return neo_weights_hash(all, sizeof all);
}

/* The hash of what one thread packs into memory. */
static neo_weights_content reference_hash(void)
{
    struct program program = start(NULL, 0, NULL);
    struct model model = load_model(&program);
    neo_weights_content hash = model_hash(&model);
    unload_model(&model);
    end(&program);
    return hash;
}

static bool same(neo_weights_content a, neo_weights_content b)
{
    return a.low == b.low && a.high == b.high;
}

/* ---- processes ---- */

enum { PROCESSES = 8 };

struct child {
    uint64_t inserts, fallbacks;
    neo_weights_content hash;
};

static void load_in_child(const char *path, const int go[2], int result)
{
    struct child child;
    char byte;
    close(go[1]);
    struct program program = start(path, 0, NULL);
    require(read(go[0], &byte, 1) == 0); /* all begin when the parent closes the pipe */
    struct model model = load_model(&program);
    child.hash = model_hash(&model);
    child.inserts = statistics(&program).inserts;
    child.fallbacks = statistics(&program).fallbacks;
    require(write(result, &child, sizeof child) == sizeof child);
    unload_model(&model);
    end(&program);
    _exit(0);
}

static void processes_that_start_together_pack_each_layer_once(void **state)
{
    int go[2], result[2];
    assert_int_equal(pipe(go) || pipe(result), 0);
    pid_t children[PROCESSES];
    for (size_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            load_in_child(*state, go, result[1]);
    }
    close(go[0]);
    close(go[1]);
    neo_weights_content expected = reference_hash();
    uint64_t inserts = 0;
    for (size_t i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        struct child child;
        assert_int_equal(read(result[0], &child, sizeof child), sizeof child);
        assert_true(same(child.hash, expected));
        assert_int_equal(child.fallbacks, 0);
        inserts += child.inserts;
    }
    assert_int_equal(inserts, LAYERS);
    close(result[0]);
    close(result[1]);
}

static void the_environment_gives_every_engine_a_file(void **state)
{
    neo_weights_content expected = reference_hash();
    for (int round = 0; round < 2; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setenv("NEOPRENE_WEIGHTS_CACHE", *state, 1);
            struct program program = start(NULL, 0, NULL);
            struct model model = load_model(&program);
            neo_weights_statistics s = statistics(&program);
            require(s.inserts == (round ? 0 : LAYERS) && s.file_entries == LAYERS);
            require(s.hits == (round ? LAYERS : 0) && s.fallbacks == 0);
            require(same(model_hash(&model), expected));
            unload_model(&model);
            end(&program);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* ---- reloads ---- */

static size_t usage(const struct program *program)
{
    neo_memory_usage usage;
    require(neo_engine_get_memory_usage(program->engine, NEO_KIND_ALL, &usage) == NEO_OK);
    return usage.current;
}

static void a_hundred_reloads_grow_nothing(void **state)
{
    struct program program = start(*state, 0, NULL);
    struct model model = load_model(&program);
    unload_model(&model);
    uint64_t file_bytes = weights_file_bytes(*state);
    size_t held = usage(&program);
    for (int i = 0; i < 100; i++) {
        struct program other = start(i % 2 ? *state : NULL, 0, NULL); /* a new engine */
        model = load_model(i % 2 ? &other : &program);
        unload_model(&model);
        end(&other);
    }
    neo_weights_statistics s = statistics(&program);
    assert_int_equal(weights_file_bytes(*state), file_bytes);
    assert_int_equal(usage(&program), held);
    assert_int_equal(s.inserts, LAYERS);
    assert_int_equal(s.mapped_bytes + s.memory_bytes + s.pinned, 0);
    assert_int_equal(s.file_entries, LAYERS);
    end(&program);
}

/* ---- memory after the source has gone ---- */

static size_t resident_pages(void *data, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = bytes / page, count = 0;
    unsigned char *present = malloc(pages);
    require(present && mincore(data, bytes, present) == 0);
    for (size_t i = 0; i < pages; i++)
        count += present[i] & 1;
    free(present);
    return count;
}

/* The source's pages are given back once it is packed; what is multiplied with afterwards is right,
 * and the engine holds one packed copy and little else. */
static void packed_weights_do_not_need_their_source(void **state)
{
    SKIP_WITH_PRETENDED_PAGES();
    const neo_dim rows = 1024, columns = 1020;
    const size_t bytes = sizeof(float) * 1024 * 1020;
    struct program program = start(*state, 0, NULL);
    neo_primitive_desc *pd = describe(&program, rows, columns);
    neo_memory_desc desc = matrix(rows, columns, "ab");
    float *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(data != MAP_FAILED);
    for (size_t i = 0; i < bytes / sizeof *data; i++)
        data[i] = element(0, i);
    neo_memory *plain;
    neo_packed_weights *weights;
    size_t before = usage(&program);
    assert_int_equal(neo_memory_create(&plain, &desc, program.engine, data), NEO_OK);
    assert_int_equal(neo_weights_pack(&weights, pd, program.stream, plain), NEO_OK);
    float first = data[0], second = data[1];
    size_t resident = resident_pages(data, bytes);
    neo_memory_destroy(plain);
    assert_int_equal(madvise(data, bytes, MADV_DONTNEED), 0);
    assert_in_range(resident_pages(data, bytes), 0, resident / 20);
    assert_int_equal(munmap(data, bytes), 0);
    assert_in_range(usage(&program) - before, 0, bytes / 20); /* the copy is in the file */
    assert_int_equal(statistics(&program).mapped_bytes, bytes_of(weights));
    const float *packed = data_of(weights);
    assert_true(packed[0] == first && packed[1] == second);
    neo_packed_weights_destroy(weights);
    neo_primitive_desc_destroy(pd);
    end(&program);
}

/* ---- threads ---- */

static void every_pool_packs_the_same_bytes(void **state)
{
    (void)state;
    neo_weights_content expected = reference_hash();
    for (int kind = 0; kind < TEST_POOL_KINDS; kind++)
        for (int threads = 1; threads <= 5; threads++) {
            struct test_pool *pool = test_pool_create((enum test_pool_kind)kind, threads);
            struct program program = start(NULL, 0, test_pool_table(pool));
            struct model model = load_model(&program);
            if (!same(model_hash(&model), expected)) {
                print_error("%s pool, %d threads: other bytes\n",
                            test_pool_name((enum test_pool_kind)kind), threads);
                fail();
            }
            unload_model(&model);
            end(&program);
            test_pool_destroy(pool);
        }
}

enum { THREADS = 4 };

struct worker {
    const struct program *program;
    size_t first; /* layer to begin with */
    neo_weights_content hash;
};

static void *load_many_times(void *argument)
{
    struct worker *worker = argument;
    for (int round = 0; round < 3; round++) {
        struct model model = {{NULL}};
        for (size_t i = 0; i < LAYERS; i++) {
            size_t layer = (worker->first + i) % LAYERS;
            model.layers[layer] = load_layer(worker->program, layer);
        }
        worker->hash = model_hash(&model);
        unload_model(&model);
    }
    return NULL;
}

static void run_workers(const struct program *program)
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    neo_weights_content expected = reference_hash();
    for (size_t i = 0; i < THREADS; i++) { /* two pairs: the same layers, and different ones */
        workers[i] = (struct worker){.program = program, .first = i / 2 * (LAYERS / 2)};
        assert_int_equal(pthread_create(&threads[i], NULL, load_many_times, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(same(workers[i].hash, expected));
    }
    assert_int_equal(statistics(program).inserts, LAYERS);
    assert_int_equal(statistics(program).fallbacks, 0);
}

static void threads_of_one_engine_pack_each_layer_once(void **state)
{
    struct program memory = start(NULL, 0, NULL), file = start(*state, 0, NULL);
    run_workers(&memory);
    run_workers(&file);
    end(&memory);
    end(&file);
}

/* ---- files that cannot be used ---- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    require(file && fputs(text, file) >= 0 && fclose(file) == 0);
    require(chmod(path, 0600) == 0);
}

static void a_refusing_file_is_counted_and_costs_nothing_else(void **state)
{
    static const struct {
        const char *suffix, *text; /* text: what the file holds already */
        uint32_t flags;
    } cases[] = {
        {"/no/such/folder", NULL, 0},
        {"-foreign", "this is a text, and nobody may overwrite it", 0},
        {"-absent", NULL, NEO_WEIGHTS_READ_ONLY},
    };
    neo_weights_content expected = reference_hash();
    for (size_t i = 0; i < count_of(cases); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", (const char *)*state, cases[i].suffix);
        if (cases[i].text)
            write_file(path, cases[i].text);
        struct program program = start(path, cases[i].flags, NULL);
        struct model model = load_model(&program);
        neo_weights_statistics s = statistics(&program);
        assert_true(same(model_hash(&model), expected));
        assert_int_equal(s.fallbacks, LAYERS);
        assert_int_not_equal(s.file_status, NEO_OK);
        assert_int_not_equal(s.file_errno, 0);
        assert_true(s.memory_bytes > 0 && s.mapped_bytes == 0);
        unload_model(&model);
        end(&program);
        if (cases[i].text)
            assert_int_equal(weights_file_bytes(path), strlen(cases[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(processes_that_start_together_pack_each_layer_once),
        WEIGHTS_TEST(the_environment_gives_every_engine_a_file),
        WEIGHTS_TEST(a_hundred_reloads_grow_nothing),
        WEIGHTS_TEST(packed_weights_do_not_need_their_source),
        cmocka_unit_test(every_pool_packs_the_same_bytes),
        WEIGHTS_TEST(threads_of_one_engine_pack_each_layer_once),
        WEIGHTS_TEST(a_refusing_file_is_counted_and_costs_nothing_else),
    };
    unsetenv("NEOPRENE_WEIGHTS_CACHE");
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("weights_engine", tests, NULL, NULL);
}
