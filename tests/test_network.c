/* Networks against the same nodes run one by one with separate buffers. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "neoprene/neoprene.h"
#include "src/core/log.h"
#include "tests/support/fault.h"
#include "tests/support/random.h"
#include "tests/support/temporary.h"

/* ---- helpers ---- */

static neo_memory_desc vector_of(neo_dim count)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 1, &count, NEO_S32, "a"), NEO_OK);
    return desc;
}

static int add_tensor(neo_network *net, const char *name, neo_tensor_kind kind, neo_dim count)
{
    int tensor = -1;
    neo_tensor t = {.name = name, .kind = kind, .desc = vector_of(count)};
    assert_int_equal(neo_network_add_tensor(net, &t, &tensor), NEO_OK);
    return tensor;
}

static int add_sharing(neo_network *net, const char *name, neo_dim count, neo_tensor_sharing how,
                       int with, size_t offset)
{
    int tensor = -1;
    neo_tensor t = {.name = name,
                    .desc = vector_of(count),
                    .sharing = how,
                    .shares_with = with,
                    .share_offset = offset};
    assert_int_equal(neo_network_add_tensor(net, &t, &tensor), NEO_OK);
    return tensor;
}

static neo_status add_node(neo_network *net, const char *name, neo_node_fn *function, void *context,
                           int in, int in2, int out, size_t workspace)
{
    neo_node_arg args[3];
    int count = 0;
    if (in >= 0)
        args[count++] = (neo_node_arg){1, in, NEO_READS};
    if (in2 >= 0)
        args[count++] = (neo_node_arg){2, in2, NEO_READS};
    args[count++] = (neo_node_arg){3, out, NEO_WRITES};
    neo_node node = {.name = name,
                     .count = count,
                     .args = args,
                     .function = function,
                     .context = context,
                     .workspace_bytes = workspace};
    return neo_network_add_node(net, &node, NULL);
}

typedef struct fixture {
    neo_engine *engine;
    neo_stream *stream;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    neo_set_verbose(0);
    assert_int_equal(neo_engine_create(&f->engine), NEO_OK);
    assert_int_equal(neo_stream_create(&f->stream, f->engine, NULL), NEO_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    neo_stream_destroy(f->stream);
    neo_engine_destroy(f->engine);
    free(f);
    return 0;
}

static size_t elements(const neo_memory *memory)
{
    return neo_memory_desc_elements(neo_memory_get_desc(memory));
}

/* out[i] = 3 * in[i] + in2[i] + 1, with wrapping sources; in place too. */
static neo_status mix(const neo_node_call *call)
{
    neo_memory *out = call->memories[call->count - 1];
    uint32_t *dst = neo_memory_get_handle(out);
    for (size_t i = 0; i < elements(out); i++) {
        uint32_t value = 1;
        for (int k = 0; k < call->count - 1; k++) {
            const uint32_t *src = neo_memory_get_handle(call->memories[k]);
            value += src[i % elements(call->memories[k])] * (k ? 1u : 3u);
        }
        dst[i] = value;
    }
    return NEO_OK;
}

/* ---- random networks against a simulation with separate buffers ---- */

enum { MAX_TENSORS = 40, MAX_ELEMENTS = 48 };

/* What node i computes: element j is a hash of all elements of all sources and j; a workspace is
 * filled first and must be intact after. An in-place node maps each element by itself. */
typedef struct recipe {
    uint32_t salt;
    int source_count, sources[3]; /* tensors */
    bool in_place, skipped, is_skippable;
    size_t size, workspace;
} recipe;

typedef struct random_network {
    recipe recipes[MAX_TENSORS];
    int count, inputs; /* tensors: the inputs first, then one for each node */
    uint32_t values[MAX_TENSORS][MAX_ELEMENTS];
    bool is_output[MAX_TENSORS];
} random_network;

static uint32_t fold(uint32_t hash, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ values[i]) * 2654435761u + 12345;
    return hash;
}

static neo_status cook(const neo_node_call *call)
{
    const recipe *r = call->context;
    uint32_t hash = r->salt;
    if (call->workspace_bytes)
        memset(call->workspace, (int)r->salt, call->workspace_bytes);
    for (int k = 0; k < call->count - 1; k++)
        hash = fold(hash, neo_memory_get_handle(call->memories[k]), elements(call->memories[k]));
    uint32_t *dst = neo_memory_get_handle(call->memories[call->count - 1]);
    for (size_t j = 0; j < r->size; j++)
        dst[j] = hash + (uint32_t)j;
    const unsigned char *workspace = call->workspace;
    for (size_t i = 0; i < call->workspace_bytes; i++)
        if (workspace[i] != (unsigned char)r->salt)
            return NEO_CORRUPT;
    return NEO_OK;
}

static void simulate(random_network *n)
{
    for (int t = n->inputs; t < n->count; t++) {
        const recipe *r = &n->recipes[t];
        uint32_t hash = r->salt;
        for (int k = 0; k < r->source_count; k++)
            hash = fold(hash, n->values[r->sources[k]], n->recipes[r->sources[k]].size);
        for (size_t j = 0; j < r->size; j++)
            n->values[t][j] = hash + (uint32_t)j;
        if (r->skipped)
            memcpy(n->values[t], n->values[r->sources[0]], r->size * sizeof(uint32_t));
    }
}

static int is_skipped(void *context)
{
    return ((recipe *)context)->skipped;
}

/* In-place only over what no other node reads and is no output. */
static bool may_overwrite(const random_network *n, int tensor)
{
    int readers = 0;
    for (int t = n->inputs; t < n->count; t++)
        for (int k = 0; k < n->recipes[t].source_count; k++)
            readers += n->recipes[t].sources[k] == tensor;
    return readers == 1 && !n->is_output[tensor] && tensor >= n->inputs;
}

static void fill_random(random_network *n, uint64_t *seed)
{
    n->inputs = 1 + (int)random_below(seed, 2);
    n->count = n->inputs + 3 + (int)random_below(seed, MAX_TENSORS - 6);
    for (int t = 0; t < n->count; t++) {
        recipe *r = &n->recipes[t];
        *r = (recipe){.salt = (uint32_t)random_next(seed), .size = 1 + random_below(seed, 48)};
        n->is_output[t] = t >= n->inputs && (t == n->count - 1 || random_below(seed, 9) == 0);
        for (size_t j = 0; j < r->size; j++)
            n->values[t][j] = (uint32_t)random_next(seed);
        if (t < n->inputs)
            continue;
        r->workspace = random_below(seed, 2) ? random_below(seed, 300) : 0;
        for (int k = 1 + (int)random_below(seed, 3); k; k--) {
            int source = (int)random_below(seed, (size_t)t), seen = 0;
            for (int s = 0; s < r->source_count; s++)
                seen |= r->sources[s] == source;
            if (!seen)
                r->sources[r->source_count++] = source;
        }
        r->is_skippable = random_below(seed, 5) == 0;
        if (r->is_skippable) /* then it has the size of what stands in */
            r->size = n->recipes[r->sources[0]].size;
        r->skipped = r->is_skippable && random_below(seed, 2);
    }
    /* cook() reads everything before it writes, so any reader may overwrite its source */
    for (int t = n->inputs; t < n->count; t++) {
        recipe *r = &n->recipes[t];
        int source = r->sources[r->source_count - 1];
        const recipe *from = &n->recipes[source];
        r->in_place = !r->is_skippable && !from->is_skippable && from->size >= r->size &&
                      random_below(seed, 2) && may_overwrite(n, source);
    }
}

static neo_network *build_random(random_network *n, neo_engine *engine, neo_network_order order)
{
    neo_network *net;
    neo_network_options options = {.order = order, .flags = NEO_NETWORK_POISON};
    assert_int_equal(neo_network_create(&net, engine, &options), NEO_OK);
    for (int t = 0; t < n->count; t++) {
        const recipe *r = &n->recipes[t];
        char name[16];
        snprintf(name, sizeof name, "t%d", t);
        neo_tensor tensor = {.name = name,
                             .kind = t < n->inputs     ? NEO_TENSOR_INPUT
                                     : n->is_output[t] ? NEO_TENSOR_OUTPUT
                                                       : NEO_TENSOR_INTERMEDIATE,
                             .desc = vector_of((neo_dim)r->size),
                             .sharing = r->in_place ? NEO_SHARES_IN_PLACE : NEO_SHARES_NOTHING,
                             .shares_with = r->in_place ? r->sources[r->source_count - 1] : 0};
        assert_int_equal(neo_network_add_tensor(net, &tensor, NULL), NEO_OK);
    }
    for (int t = n->inputs; t < n->count; t++) {
        recipe *r = &n->recipes[t];
        neo_node_arg args[4];
        for (int k = 0; k < r->source_count; k++)
            args[k] = (neo_node_arg){k + 1, r->sources[k], NEO_READS};
        args[r->source_count] = (neo_node_arg){9, t, NEO_WRITES};
        neo_node node = {.name = "cook",
                         .count = r->source_count + 1,
                         .args = args,
                         .function = cook,
                         .context = r,
                         .workspace_bytes = r->workspace,
                         .skip = r->is_skippable ? is_skipped : NULL,
                         .skipped_to = r->sources[0]};
        assert_int_equal(neo_network_add_node(net, &node, NULL), NEO_OK);
    }
    return net;
}

static void run_random(fixture *f, uint64_t seed, neo_network_order order)
{
    static random_network n;
    static uint32_t inputs[2][MAX_ELEMENTS];
    uint64_t random = seed;
    fill_random(&n, &random);
    neo_network *net = build_random(&n, f->engine, order);
    neo_status status = neo_network_finalize(net);
    if (status != NEO_OK && order == NEO_NETWORK_OUT_OF_ORDER) {
        neo_network_destroy(net); /* an in-place write that is safe only in order */
        return;
    }
    assert_int_equal(status, NEO_OK);
    for (int t = 0; t < n.inputs; t++) {
        memcpy(inputs[t], n.values[t], sizeof inputs[t]);
        assert_int_equal(neo_network_bind(net, t, inputs[t]), NEO_OK);
    }
    for (int round = 0; round < 3; round++) {
        for (int t = n.inputs; t < n.count; t++)
            n.recipes[t].skipped = n.recipes[t].is_skippable && random_below(&random, 2);
        simulate(&n);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        for (int t = 0; t < n.count; t++)
            if (n.is_output[t] && memcmp(neo_network_data(net, t), n.values[t],
                                         n.recipes[t].size * sizeof(uint32_t)) != 0)
                fail_msg("seed %llu, order %d, round %d: tensor %d differs",
                         (unsigned long long)seed, order, round, t);
    }
    neo_network_destroy(net);
}

static void random_networks_compute_what_separate_buffers_do(void **state)
{
    size_t rounds = getenv("NEO_LONG") ? 10000 : 250;
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        run_random(*state, seed, NEO_NETWORK_IN_ORDER);
        run_random(*state, seed, NEO_NETWORK_OUT_OF_ORDER);
    }
}

/* ---- sharing ---- */

static void parts_of_a_concatenation_are_written_where_they_belong(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        neo_network_options options = {.order = (neo_network_order)order,
                                       .flags = NEO_NETWORK_POISON};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 4);
        int cat = add_tensor(net, "cat", NEO_TENSOR_INTERMEDIATE, 7);
        int a = add_sharing(net, "a", 4, NEO_SHARES_VIEW, cat, 0);
        int b = add_sharing(net, "b", 3, NEO_SHARES_VIEW, cat, 16);
        int flat = add_sharing(net, "flat", 7, NEO_SHARES_VIEW, cat, 0);
        int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 7);
        assert_int_equal(add_node(net, "left", mix, NULL, in, -1, a, 0), NEO_OK);
        assert_int_equal(add_node(net, "right", mix, NULL, in, -1, b, 8), NEO_OK);
        assert_int_equal(add_node(net, "both", mix, NULL, flat, -1, out, 0), NEO_OK);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        uint32_t values[4] = {1, 2, 3, 4};
        neo_network_bind(net, in, values);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        const uint32_t *got = neo_network_data(net, out);
        for (size_t i = 0; i < 7; i++)
            assert_int_equal(got[i], 3 * (3 * values[i % 4] + 1) + 1);
        neo_network_report report;
        assert_int_equal(neo_network_get_report(net, &report), NEO_OK);
        assert_int_equal(report.buffers, 3); /* cat, out, the workspace */
        neo_network_destroy(net);
    }
}

static int again(void *context, int64_t rounds)
{
    return rounds < *(int *)context;
}

static void a_loop_carries_a_value_from_round_to_round(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        int rounds = 5;
        neo_network_options options = {.order = (neo_network_order)order,
                                       .flags = NEO_NETWORK_POISON};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 8);
        int step = add_tensor(net, "step", NEO_TENSOR_INTERMEDIATE, 8);
        int first = add_tensor(net, "first", NEO_TENSOR_INTERMEDIATE, 8);
        int inner = add_tensor(net, "inner", NEO_TENSOR_INTERMEDIATE, 8);
        int next = add_sharing(net, "next", 8, NEO_SHARES_IN_PLACE, first, 0);
        int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 8);
        add_node(net, "make step", mix, NULL, in, -1, step, 0);
        add_node(net, "begin", mix, NULL, in, -1, first, 0);
        add_node(net, "body", mix, NULL, first, step, inner, 64);
        add_node(net, "carry", mix, NULL, inner, -1, next, 64);
        add_node(net, "end", mix, NULL, next, -1, out, 0);
        assert_int_equal(neo_network_add_loop(net, 2, 3, again, &rounds), NEO_OK);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        uint32_t values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        neo_network_bind(net, in, values);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        const uint32_t *got = neo_network_data(net, out);
        for (size_t i = 0; i < 8; i++) {
            uint32_t x = 3 * values[i] + 1, add = x;
            for (int r = 0; r < rounds; r++)
                x = 3 * (3 * x + add + 1) + 1;
            assert_int_equal(got[i], 3 * x + 1);
        }
        neo_network_destroy(net);
    }
}

static void nested_loops_run_their_nodes_as_often_as_they_say(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        int outer = 3, inner = 4;
        neo_network_options options = {.order = (neo_network_order)order};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 1);
        int a = add_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 1);
        int b = add_sharing(net, "b", 1, NEO_SHARES_IN_PLACE, a, 0);
        int c = add_sharing(net, "c", 1, NEO_SHARES_IN_PLACE, b, 0);
        int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 1);
        add_node(net, "n0", mix, NULL, in, -1, a, 0);
        add_node(net, "n1", mix, NULL, a, -1, b, 0);
        add_node(net, "n2", mix, NULL, b, -1, c, 0);
        add_node(net, "n3", mix, NULL, c, -1, out, 0);
        assert_int_equal(neo_network_add_loop(net, 2, 2, again, &inner), NEO_OK);
        assert_int_equal(neo_network_add_loop(net, 1, 2, again, &outer), NEO_OK);
        assert_int_equal(neo_network_add_loop(net, 2, 3, again, &outer), NEO_INVALID_ARGUMENT);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        uint32_t value = 2, x = 7;
        neo_network_bind(net, in, &value);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        for (int i = 0; i < outer * (1 + inner) + 1; i++)
            x = 3 * x + 1;
        assert_int_equal(*(uint32_t *)neo_network_data(net, out), x);
        neo_network_destroy(net);
    }
}

/* ---- out of order ---- */

typedef struct meeting {
    int expected; /* nodes */
    atomic_int here;
    atomic_bool met;
} meeting;

static neo_status meet(const neo_node_call *call)
{
    meeting *m = call->context;
    atomic_fetch_add(&m->here, 1);
    uint64_t begun = log_now_ns();
    while (atomic_load(&m->here) < m->expected && log_now_ns() - begun < UINT64_C(5000000000))
        usleep(100);
    if (atomic_load(&m->here) >= m->expected)
        atomic_store(&m->met, true);
    return NEO_OK;
}

static void branches_really_run_at_the_same_time(void **state)
{
    fixture *f = *state;
    /* Nothing can run at the same time on one processor. */
    int expected = neo_stream_num_threads(f->stream) < 2 ? 1 : 2;
    neo_network *net;
    neo_network_options options = {.order = NEO_NETWORK_OUT_OF_ORDER};
    assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
    meeting m[2] = {{expected, 0, false}, {expected, 0, false}};
    int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 4);
    int start = add_tensor(net, "start", NEO_TENSOR_INTERMEDIATE, 4);
    int left = add_tensor(net, "left", NEO_TENSOR_INTERMEDIATE, 4);
    int right = add_tensor(net, "right", NEO_TENSOR_INTERMEDIATE, 4);
    int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
    add_node(net, "start", mix, NULL, in, -1, start, 0);
    add_node(net, "left", meet, &m[0], start, -1, left, 0);
    add_node(net, "right", meet, &m[0], start, -1, right, 0);
    add_node(net, "join", mix, NULL, left, right, out, 0);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    uint32_t values[4] = {0};
    neo_network_bind(net, in, values);
    assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
    assert_true(m[0].met);
    neo_network_destroy(net);
}

static neo_status fail_node(const neo_node_call *call)
{
    (void)call;
    return NEO_IO_ERROR;
}

static void a_failing_node_ends_the_execution(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        neo_network_options options = {.order = (neo_network_order)order};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        meeting after = {2, 0, false};
        int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 4);
        int a = add_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4);
        int b = add_tensor(net, "b", NEO_TENSOR_INTERMEDIATE, 4);
        int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
        add_node(net, "a", fail_node, NULL, in, -1, a, 0);
        add_node(net, "b", mix, NULL, in, -1, b, 0);
        add_node(net, "after", meet, &after, a, b, out, 0);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        uint32_t values[4] = {0};
        neo_network_bind(net, in, values);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_IO_ERROR);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_IO_ERROR);
        assert_int_equal(after.here, 0);
        neo_network_destroy(net);
    }
}

/* ---- mistakes ---- */

static void wrong_networks_are_refused(void **state)
{
    fixture *f = *state;
    enum { GOOD, NO_WRITER, READ_EARLY, OVERWRITTEN, TWO_WRITERS, OVER_INPUT, TOO_LARGE, CASES };
    for (int what = 0; what < CASES; what++) {
        neo_network *net;
        assert_int_equal(neo_network_create(&net, f->engine, NULL), NEO_OK);
        int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 4);
        int a = add_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4);
        int b = what == OVERWRITTEN ? add_sharing(net, "b", 4, NEO_SHARES_IN_PLACE, a, 0)
                : what == TOO_LARGE ? add_sharing(net, "b", 4, NEO_SHARES_VIEW, in, 4)
                                    : add_tensor(net, "b", NEO_TENSOR_INTERMEDIATE, 4);
        int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
        neo_status status = NEO_OK;
        if (what == READ_EARLY)
            status = add_node(net, "early", mix, NULL, a, -1, out, 0);
        if (what != NO_WRITER)
            assert_int_equal(add_node(net, "n1", mix, NULL, in, -1, a, 0), NEO_OK);
        if (what != TOO_LARGE)
            assert_int_equal(add_node(net, "n2", mix, NULL, a, -1, b, 0), NEO_OK);
        if (what == TWO_WRITERS)
            status = add_node(net, "n3", mix, NULL, a, -1, b, 0);
        if (what == OVER_INPUT)
            status = add_node(net, "n3", mix, NULL, a, -1, in, 0);
        if (what != READ_EARLY)
            assert_int_equal(add_node(net, "n4", mix, NULL, a, b, out, 0), NEO_OK);
        if (status == NEO_OK)
            status = neo_network_finalize(net);
        assert_int_equal(status, what == GOOD ? NEO_OK : NEO_INVALID_ARGUMENT);
        neo_network_destroy(net);
    }
    neo_network_destroy(NULL);
}

static void wrong_calls_are_refused(void **state)
{
    fixture *f = *state;
    neo_network *net;
    int tensor = 77;
    assert_int_equal(neo_network_create(NULL, f->engine, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_create(&net, NULL, NULL), NEO_INVALID_ARGUMENT);
    assert_null(net);
    assert_int_equal(neo_network_create(&net, f->engine, NULL), NEO_OK);
    int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 4);
    int out = add_tensor(net, "out", NEO_TENSOR_BOUND_OUTPUT, 4);
    neo_tensor again_in = {.name = "in", .desc = vector_of(4)};
    assert_int_equal(neo_network_add_tensor(net, &again_in, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_find_tensor(net, "out", &tensor), NEO_OK);
    assert_int_equal(tensor, out);
    assert_int_equal(neo_network_find_tensor(net, "none", &tensor), NEO_NOT_FOUND);
    assert_int_equal(neo_network_execute(net, f->stream), NEO_INVALID_ARGUMENT);
    add_node(net, "n", mix, NULL, in, -1, out, 0);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    assert_int_equal(neo_network_finalize(net), NEO_INVALID_ARGUMENT);
    uint32_t values[4] = {1, 2, 3, 4}, results[4] = {0};
    assert_int_equal(neo_network_execute(net, f->stream), NEO_INVALID_ARGUMENT); /* not bound */
    assert_int_equal(neo_network_bind(net, 9, values), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_bind(net, in, values), NEO_OK);
    assert_int_equal(neo_network_bind(net, out, results), NEO_OK);
    assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
    assert_int_equal(results[3], 13);
    neo_network_destroy(net);
}

/* ---- memory ---- */

static neo_network *make_chain(fixture *f, int nodes, neo_dim count, neo_network_order order)
{
    neo_network *net;
    neo_network_options options = {.order = order};
    if (neo_network_create(&net, f->engine, &options) != NEO_OK)
        return NULL;
    for (int i = 0; i <= nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        neo_tensor t = {.name = name,
                        .kind = i == 0       ? NEO_TENSOR_INPUT
                                : i == nodes ? NEO_TENSOR_OUTPUT
                                             : NEO_TENSOR_INTERMEDIATE,
                        .desc = vector_of(count)};
        if (neo_network_add_tensor(net, &t, NULL) != NEO_OK ||
            (i && add_node(net, name, mix, NULL, i - 1, -1, i, 256) != NEO_OK)) {
            neo_network_destroy(net);
            return NULL;
        }
    }
    return net;
}

static void a_chain_needs_two_tensors_and_a_workspace(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        neo_network *net = make_chain(f, 20, 1024, (neo_network_order)order);
        neo_network_report report;
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        assert_int_equal(neo_network_get_report(net, &report), NEO_OK);
        assert_int_equal(report.planned_bytes, 2 * 4096 + 256);
        assert_int_equal(report.lower_bound_bytes, report.planned_bytes);
        assert_int_equal(report.no_reuse_bytes, 20 * (4096 + 256));
        assert_true(report.optimal);
        neo_network_destroy(net);
    }
}

static void a_warm_execution_allocates_nothing(void **state)
{
    fixture *f = *state;
    uint32_t values[64] = {1};
    for (int order = 0; order < 2; order++) {
        neo_network *net = make_chain(f, 20, 64, (neo_network_order)order);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_bind(net, 0, values);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        size_t allocations = fault_allocations();
        for (int i = 0; i < 10; i++)
            assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        assert_int_equal(fault_allocations(), allocations);
        neo_network_destroy(net);
    }
}

static void the_plan_is_dumped_as_a_table(void **state)
{
    fixture *f = *state;
    neo_network *net = make_chain(f, 2, 32, NEO_NETWORK_IN_ORDER);
    const char *path = temporary_file("plan");
    char line[128];
    assert_int_equal(neo_network_dump_plan(net, path), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    assert_int_equal(neo_network_dump_plan(net, path), NEO_OK);
    assert_int_equal(neo_network_dump_plan(net, "/nonexistent/plan"), NEO_IO_ERROR);
    FILE *file = fopen(path, "r");
    int lines = 0;
    bool has_workspace = false;
    while (fgets(line, sizeof line, file)) {
        if (lines++ == 0)
            assert_string_equal(line, "name,start,finish,offset,size\n");
        has_workspace |= strncmp(line, "t2.workspace,1,1,", 17) == 0 ||
                         strncmp(line, "t2.workspace,1,-1,", 18) == 0;
    }
    assert_int_equal(lines, 5); /* t1, t2 and two workspaces */
    assert_true(has_workspace);
    fclose(file);
    neo_network_destroy(net);
}

static void read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
}

static void the_arena_is_dumped_with_its_users(void **state)
{
    fixture *f = *state;
    neo_network *net = make_chain(f, 2, 32, NEO_NETWORK_IN_ORDER);
    const char *path = temporary_file("pool");
    char text[1024], expected[1024];
    assert_int_equal(neo_network_dump_pool(net, path, NEO_DUMP_CSV), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    assert_int_equal(neo_network_dump_pool(net, path, NEO_DUMP_CSV), NEO_OK);
    read_file(path, text, sizeof text);
    char where[32] = "";
    assert_int_equal(sscanf(strchr(text, '\n'), "\narena,,%31[^,]", where), 1);
    snprintf(expected, sizeof expected,
             "pool_type,layout,mem_ptr,mem_type,mem_pool_size,prim_id,unique_id,mem_size\n"
             "arena,,%s,heap,512,t1,1,128\n"
             "arena,,%s,heap,512,t2,2,128\n"
             "arena,,%s,heap,512,t1,3,256\n"
             "arena,,%s,heap,512,t2,4,256\n",
             where, where, where, where);
    assert_string_equal(text, expected);
    assert_int_equal(neo_network_dump_pool(net, path, NEO_DUMP_TEXT), NEO_OK);
    read_file(path, text, sizeof text);
    assert_non_null(strstr(text, "efficiency 150.0 %, lower bound 512 bytes"));
    neo_network_destroy(net);
}

/* The arena is the sum of what a plan has at once, so a budget that is smaller by a byte moves all
 * of it to the next kind. */
static void an_arena_beyond_the_budget_of_its_kind_is_on_the_heap(void **state)
{
    fixture *f = *state;
    const size_t arena = 16384;
    for (int i = -1; i <= 1; i++) {
        neo_engine_set_memory_budget(f->engine, NEO_KIND_SHARED, arena + (size_t)i);
        neo_network *net;
        neo_network_options options = {.kind = NEO_KIND_SHARED};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 2048);
        int a = add_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 2048);
        int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 2048);
        add_node(net, "n0", mix, NULL, in, -1, a, 0);
        add_node(net, "n1", mix, NULL, a, -1, out, 0);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_memory_usage usage;
        neo_engine_get_memory_usage(f->engine, NEO_KIND_SHARED, &usage);
        assert_int_equal(usage.current, i < 0 ? 0 : arena);
        neo_network_report report;
        neo_network_get_report(net, &report);
        assert_int_equal(report.arena_bytes, arena);
        neo_network_destroy(net);
    }
}

typedef struct runner {
    neo_engine *engine;
    neo_network *net;
    uint32_t values[1000], faults;
} runner;

static void *run_often(void *argument)
{
    runner *r = argument;
    neo_stream *stream;
    if (neo_stream_create(&stream, r->engine, NULL) != NEO_OK)
        return NULL;
    for (uint32_t round = 0; round < 40; round++) {
        for (size_t i = 0; i < count_of(r->values); i++)
            r->values[i] += 7 * round;
        r->faults += neo_network_execute(r->net, stream) != NEO_OK;
        const uint32_t *got = neo_network_data(r->net, 6);
        for (size_t i = 0; i < count_of(r->values); i++) {
            uint32_t x = r->values[i];
            for (int k = 0; k < 6; k++)
                x = 3 * x + 1;
            r->faults += got[i] != x;
        }
    }
    neo_stream_destroy(stream);
    return r;
}

static void networks_of_one_engine_run_at_once_in_arenas_of_their_own(void **state)
{
    fixture *f = *state;
    static runner runners[2];
    pthread_t threads[2];
    for (uint32_t i = 0; i < 2; i++) {
        runners[i] = (runner){.engine = f->engine, .values = {i}};
        runners[i].net = make_chain(f, 6, 1000, (neo_network_order)i);
        assert_int_equal(neo_network_finalize(runners[i].net), NEO_OK);
        neo_network_bind(runners[i].net, 0, runners[i].values);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_non_null(result);
        assert_int_equal(runners[i].faults, 0);
        neo_network_destroy(runners[i].net);
    }
}

/* ---- shapes that change ---- */

static void reshape_chain(neo_network *net, int nodes, neo_dim count)
{
    neo_tensor_shape shapes[32];
    for (int i = 0; i <= nodes; i++)
        shapes[i] = (neo_tensor_shape){i, vector_of(count)};
    assert_int_equal(neo_network_reshape(net, nodes + 1, shapes), NEO_OK);
}

static void growing_shapes_need_few_allocations(void **state)
{
    fixture *f = *state;
    static uint32_t values[2048];
    neo_network *net = make_chain(f, 4, 1, NEO_NETWORK_IN_ORDER);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_network_bind(net, 0, values);
    for (neo_dim n = 2; n <= 1000; n++) {
        reshape_chain(net, 4, n);
        values[n - 1] = (uint32_t)n;
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        uint32_t x = (uint32_t)n;
        for (int i = 0; i < 4; i++)
            x = 3 * x + 1;
        assert_int_equal(((uint32_t *)neo_network_data(net, 4))[n - 1], x);
    }
    neo_network_report report;
    neo_network_get_report(net, &report);
    print_message("1000 shapes: %llu plans, %llu allocations\n",
                  (unsigned long long)report.plans_made,
                  (unsigned long long)report.arena_allocations);
    assert_true(report.plans_made <= 94);
    assert_true(report.arena_allocations <= 94);
    assert_int_equal(report.plans_made + report.plans_kept + report.plans_reused, 1000);
    neo_network_destroy(net);
}

static void a_shape_that_comes_again_finds_its_plan(void **state)
{
    fixture *f = *state;
    neo_network *net = make_chain(f, 4, 100000, NEO_NETWORK_IN_ORDER);
    neo_network_report report;
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    reshape_chain(net, 4, 100); /* a thousandth: another plan */
    reshape_chain(net, 4, 100000);
    neo_network_get_report(net, &report);
    assert_int_equal(report.plans_made, 2);
    assert_int_equal(report.plans_reused, 1);
    assert_true(report.arena_bytes >= 800000);
    size_t allocations = fault_allocations();
    reshape_chain(net, 4, 90000); /* fits: nothing happens */
    assert_int_equal(fault_allocations(), allocations);
    neo_network_get_report(net, &report);
    assert_int_equal(report.plans_kept, 1);
    neo_network_destroy(net);
}

static void a_failed_reshape_can_be_repeated(void **state)
{
    fixture *f = *state;
    uint32_t *values = calloc(4000, sizeof *values);
    neo_tensor_shape shapes[4];
    for (int i = 0; i < 4; i++)
        shapes[i] = (neo_tensor_shape){i, vector_of(4000)};
    neo_status status = NEO_OUT_OF_MEMORY;
    for (size_t n = 1; status != NEO_OK; n++) {
        neo_network *net = make_chain(f, 3, 10, NEO_NETWORK_OUT_OF_ORDER);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_bind(net, 0, values);
        fault_arm(n);
        status = neo_network_reshape(net, 4, shapes);
        bool delivered = fault_disarm();
        if (status != NEO_OK) {
            assert_true(delivered);
            assert_int_equal(neo_network_execute(net, f->stream), NEO_INVALID_ARGUMENT);
            assert_int_equal(neo_network_reshape(net, 4, shapes), NEO_OK);
        }
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        assert_int_equal(((uint32_t *)neo_network_data(net, 3))[3999], 13);
        neo_network_destroy(net);
        assert_true(n < 200);
    }
    free(values);
}

static void no_failed_allocation_leaks_or_crashes(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        bool delivered = true;
        for (size_t n = 1; delivered; n++) {
            fault_arm(n);
            neo_network *net = make_chain(f, 3, 10, (neo_network_order)order);
            neo_status status = net ? neo_network_finalize(net) : NEO_OUT_OF_MEMORY;
            delivered = fault_disarm();
            assert_true(delivered || status == NEO_OK);
            if (net && status != NEO_OK) {
                assert_int_equal(status, NEO_OUT_OF_MEMORY);
                assert_int_equal(neo_network_finalize(net), NEO_OK); /* the next call works */
            }
            neo_network_destroy(net);
            assert_true(n < 500);
        }
    }
}

static void destroying_a_network_returns_its_memory(void **state)
{
    fixture *f = *state;
    neo_memory_usage before, during, after;
    neo_engine_get_memory_usage(f->engine, NEO_KIND_ALL, &before);
    neo_network *net = make_chain(f, 5, 5000, NEO_NETWORK_IN_ORDER);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_engine_get_memory_usage(f->engine, NEO_KIND_ALL, &during);
    assert_true(during.current >= before.current + 40000);
    neo_network_destroy(net);
    neo_engine_get_memory_usage(f->engine, NEO_KIND_ALL, &after);
    assert_int_equal(after.current, before.current);
}

/* ---- primitives ---- */

/* By the best algorithm that takes one. */
static void create_with_scratchpad(neo_primitive **out, neo_primitive_desc *pd)
{
    while (neo_primitive_desc_scratchpad_size(pd, 1) == 0)
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    assert_int_equal(neo_primitive_create(out, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static neo_primitive *make_matmul(neo_engine *engine, neo_dim m, neo_dim k, neo_dim n)
{
    neo_matmul_desc desc = {0};
    neo_memory_desc_init_tag(&desc.src, 2, (neo_dim[]){m, k}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&desc.weights, 2, (neo_dim[]){k, n}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&desc.dst, 2, (neo_dim[]){m, n}, NEO_F32, "ab");
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    create_with_scratchpad(&primitive, pd);
    neo_attributes_destroy(attributes);
    return primitive;
}

static void add_matrix(neo_network *net, const char *name, neo_tensor_kind kind, neo_dim rows,
                       neo_dim columns, neo_memory *memory)
{
    neo_tensor t = {.name = name, .kind = kind, .memory = memory};
    neo_memory_desc_init_tag(&t.desc, 2, (neo_dim[]){rows, columns}, NEO_F32, "ab");
    assert_int_equal(neo_network_add_tensor(net, &t, NULL), NEO_OK);
}

static void primitives_run_with_scratchpads_from_the_plan(void **state)
{
    fixture *f = *state;
    enum { M = 33, K = 20, N = 27 };
    static float x[M * K], w[K * N], v[N * K];
    float want[M * K], middle[M * N];
    uint64_t seed = 1;
    for (size_t i = 0; i < count_of(x); i++)
        x[i] = (float)random_below(&seed, 9) - 4;
    for (size_t i = 0; i < count_of(w); i++) {
        w[i] = (float)random_below(&seed, 9) - 4;
        v[i] = (float)random_below(&seed, 9) - 4;
    }
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            middle[i * N + j] = 0;
            for (size_t k = 0; k < K; k++)
                middle[i * N + j] += x[i * K + k] * w[k * N + j];
        }
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < K; j++) {
            want[i * K + j] = 0;
            for (size_t k = 0; k < N; k++)
                want[i * K + j] += middle[i * N + k] * v[k * K + j];
        }
    neo_memory_desc w_desc, v_desc;
    neo_memory *w_memory, *v_memory;
    neo_memory_desc_init_tag(&w_desc, 2, (neo_dim[]){K, N}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&v_desc, 2, (neo_dim[]){N, K}, NEO_F32, "ab");
    assert_int_equal(neo_memory_create(&w_memory, &w_desc, f->engine, w), NEO_OK);
    assert_int_equal(neo_memory_create(&v_memory, &v_desc, f->engine, v), NEO_OK);
    neo_primitive *first = make_matmul(f->engine, M, K, N),
                  *second = make_matmul(f->engine, M, N, K);
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        neo_network_options options = {.order = (neo_network_order)order,
                                       .flags = NEO_NETWORK_POISON};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        add_matrix(net, "x", NEO_TENSOR_INPUT, M, K, NULL);
        add_matrix(net, "w", NEO_TENSOR_CONSTANT, K, N, w_memory);
        add_matrix(net, "v", NEO_TENSOR_CONSTANT, N, K, v_memory);
        add_matrix(net, "y", NEO_TENSOR_INTERMEDIATE, M, N, NULL);
        add_matrix(net, "z", NEO_TENSOR_OUTPUT, M, K, NULL);
        neo_node_arg args[2][3] = {{{NEO_ARG_SRC, 0, NEO_READS},
                                    {NEO_ARG_WEIGHTS, 1, NEO_READS},
                                    {NEO_ARG_DST, 3, NEO_WRITES}},
                                   {{NEO_ARG_SRC, 3, NEO_READS},
                                    {NEO_ARG_WEIGHTS, 2, NEO_READS},
                                    {NEO_ARG_DST, 4, NEO_WRITES}}};
        neo_node nodes[2] = {{.name = "first", .count = 3, .args = args[0], .primitive = first},
                             {.name = "second", .count = 3, .args = args[1], .primitive = second}};
        for (int i = 0; i < 2; i++)
            assert_int_equal(neo_network_add_node(net, &nodes[i], NULL), NEO_OK);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_bind(net, 0, x);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
            assert_memory_equal(neo_network_data(net, 4), want, sizeof want);
        }
        neo_network_destroy(net);
    }
    neo_primitive_destroy(first);
    neo_primitive_destroy(second);
    neo_memory_destroy(w_memory);
    neo_memory_destroy(v_memory);
}

/* x -> a -> b, c (independent, one primitive handle) -> join -> out, with scratchpads of the user's
 * or of the library's. */
static neo_network *make_diamond(fixture *f, neo_network_order order, neo_primitive *primitive,
                                 neo_memory *weights)
{
    enum { N = 64 };
    static const struct {
        const char *name;
        int from, to;
    } products[] = {{"a", 0, 2}, {"b", 2, 3}, {"c", 2, 4}, {"d", 2, 5}};
    neo_network *net;
    neo_network_options options = {.order = order};
    assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
    add_matrix(net, "x", NEO_TENSOR_INPUT, N, N, NULL);
    add_matrix(net, "w", NEO_TENSOR_CONSTANT, N, N, weights);
    add_matrix(net, "ta", NEO_TENSOR_INTERMEDIATE, N, N, NULL);
    add_matrix(net, "tb", NEO_TENSOR_OUTPUT, N, N, NULL);
    add_matrix(net, "tc", NEO_TENSOR_OUTPUT, N, N, NULL);
    add_matrix(net, "td", NEO_TENSOR_OUTPUT, N, N, NULL);
    for (size_t i = 0; i < count_of(products); i++) {
        neo_node_arg args[] = {{NEO_ARG_SRC, products[i].from, NEO_READS},
                               {NEO_ARG_WEIGHTS, 1, NEO_READS},
                               {NEO_ARG_DST, products[i].to, NEO_WRITES}};
        neo_node node = {
            .name = products[i].name, .count = 3, .args = args, .primitive = primitive};
        assert_int_equal(neo_network_add_node(net, &node, NULL), NEO_OK);
    }
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    return net;
}

static neo_primitive *make_library_matmul(neo_engine *engine, neo_dim n)
{
    neo_matmul_desc desc = {0};
    neo_memory_desc_init_tag(&desc.src, 2, (neo_dim[]){n, n}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&desc.weights, 2, (neo_dim[]){n, n}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&desc.dst, 2, (neo_dim[]){n, n}, NEO_F32, "ab");
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    create_with_scratchpad(&primitive, pd);
    return primitive;
}

static void warm_primitives_allocate_nothing_wherever_their_scratchpads_are(void **state)
{
    fixture *f = *state;
    static float x[64 * 64], w[64 * 64];
    neo_memory_desc desc;
    neo_memory *weights;
    neo_memory_desc_init_tag(&desc, 2, (neo_dim[]){64, 64}, NEO_F32, "ab");
    assert_int_equal(neo_memory_create(&weights, &desc, f->engine, w), NEO_OK);
    for (int what = 0; what < 4; what++) {
        neo_primitive *primitive =
            what & 1 ? make_library_matmul(f->engine, 64) : make_matmul(f->engine, 64, 64, 64);
        assert_true(neo_primitive_desc_scratchpad_size(neo_primitive_get_desc(primitive), 1) > 0);
        neo_network *net = make_diamond(
            f, what & 2 ? NEO_NETWORK_OUT_OF_ORDER : NEO_NETWORK_IN_ORDER, primitive, weights);
        neo_network_bind(net, 0, x);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        size_t allocations = fault_allocations();
        for (int i = 0; i < 40; i++)
            if (neo_network_execute(net, f->stream) != NEO_OK)
                fail_msg("execution %d failed", i);
        assert_int_equal(fault_allocations(), allocations);
        neo_network_destroy(net);
        neo_primitive_destroy(primitive);
    }
    neo_memory_destroy(weights);
}

/* Two shapes, neither of which fits into the other's plan, in an arena that has room for both. */
static void a_reshape_back_to_a_known_shape_allocates_nothing(void **state)
{
    fixture *f = *state;
    static uint32_t values[4096];
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        neo_network_options options = {.order = (neo_network_order)order};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 4096);
        int a = add_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4096);
        int b = add_tensor(net, "b", NEO_TENSOR_OUTPUT, 1024);
        add_node(net, "n0", mix, NULL, in, -1, a, 0);
        add_node(net, "n1", mix, NULL, a, -1, b, 0);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_bind(net, in, values);
        neo_network_report report;
        size_t allocations = 0;
        for (int round = 0; round < 20; round++) {
            neo_tensor_shape shapes[] = {{a, vector_of(round % 2 ? 4096 : 64)},
                                         {b, vector_of(round % 2 ? 64 : 4096)}};
            if (round == 4)
                allocations = fault_allocations();
            if (neo_network_reshape(net, 2, shapes) != NEO_OK ||
                neo_network_execute(net, f->stream) != NEO_OK)
                fail_msg("round %d failed", round);
        }
        assert_int_equal(fault_allocations(), allocations);
        neo_network_get_report(net, &report);
        assert_true(report.plans_reused >= 16);
        neo_network_destroy(net);
    }
}

static neo_primitive *make_adding_convolution(neo_engine *engine, const neo_memory_desc *image,
                                              const neo_memory_desc *kernel)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = *image,
        .weights = *kernel,
        .dst = *image,
        .strides = {1, 1},
    };
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(attributes, 1, 0, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    return primitive;
}

static neo_status count_up(const neo_node_call *call)
{
    neo_memory *out = call->memories[call->count - 1];
    const float *src = neo_memory_get_handle(call->memories[0]);
    float *dst = neo_memory_get_handle(out);
    for (size_t i = 0; i < elements(out); i++)
        dst[i] = src[i] + 1;
    return NEO_OK;
}

static int add_shared(neo_network *net, const char *name, const neo_memory_desc *desc,
                      neo_tensor_sharing how, int with)
{
    int tensor;
    neo_tensor t = {.name = name, .desc = *desc, .sharing = how, .shares_with = with};
    assert_int_equal(neo_network_add_tensor(net, &t, &tensor), NEO_OK);
    return tensor;
}

/* x + 1 -> seen as a row -> seen as an image -> += 1x1 convolution of it, doubled -> the same again
 * in place -> out. All but out is one box. */
static void convolutions_add_in_place_to_a_chain_of_reshapes(void **state)
{
    fixture *f = *state;
    enum { C = 4, S = 25, N = C * S };
    static float x[N], w[C * C];
    neo_memory_desc image, row, kernel;
    neo_memory *weights;
    neo_memory_desc_init_tag(&image, 4, (neo_dim[]){1, C, 5, 5}, NEO_F32, "abcd");
    neo_memory_desc_init_tag(&row, 1, (neo_dim[]){N}, NEO_F32, "a");
    neo_memory_desc_init_tag(&kernel, 4, (neo_dim[]){C, C, 1, 1}, NEO_F32, "abcd");
    for (int i = 0; i < C; i++)
        w[i * C + (i + 1) % C] = 2; /* twice the next channel */
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 11);
    assert_int_equal(neo_memory_create(&weights, &kernel, f->engine, w), NEO_OK);
    neo_primitive *convolution = make_adding_convolution(f->engine, &image, &kernel);
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        neo_network_options options = {.order = (neo_network_order)order,
                                       .flags = NEO_NETWORK_POISON};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        enum { IN, W, A, B };
        neo_tensor in = {.name = "in", .kind = NEO_TENSOR_INPUT, .desc = image};
        neo_tensor wt = {.name = "w", .kind = NEO_TENSOR_CONSTANT, .memory = weights};
        neo_tensor a = {.name = "a", .desc = image}, b = {.name = "b", .desc = image};
        assert_int_equal(neo_network_add_tensor(net, &in, NULL), NEO_OK);
        assert_int_equal(neo_network_add_tensor(net, &wt, NULL), NEO_OK);
        assert_int_equal(neo_network_add_tensor(net, &a, NULL), NEO_OK);
        assert_int_equal(neo_network_add_tensor(net, &b, NULL), NEO_OK);
        int flat = add_shared(net, "flat", &row, NEO_SHARES_VIEW, A);
        int back = add_shared(net, "back", &image, NEO_SHARES_VIEW, flat);
        int sum = add_shared(net, "sum", &image, NEO_SHARES_IN_PLACE, back);
        int sum2 = add_shared(net, "sum2", &image, NEO_SHARES_IN_PLACE, sum);
        neo_tensor out = {.name = "out", .kind = NEO_TENSOR_OUTPUT, .desc = image};
        int last;
        assert_int_equal(neo_network_add_tensor(net, &out, &last), NEO_OK);
        assert_int_equal(add_node(net, "a", count_up, NULL, IN, -1, A, 0), NEO_OK);
        assert_int_equal(add_node(net, "b", count_up, NULL, flat, -1, B, 0), NEO_OK);
        const int targets[2][2] = {{back, sum}, {sum, sum2}};
        for (int i = 0; i < 2; i++) {
            neo_node_arg args[] = {{NEO_ARG_SRC, B, NEO_READS},
                                   {NEO_ARG_WEIGHTS, W, NEO_READS},
                                   {NEO_ARG_UNDEF, targets[i][0], NEO_READS},
                                   {NEO_ARG_DST, targets[i][1], NEO_WRITES}};
            neo_node node = {.name = "conv", .count = 4, .args = args, .primitive = convolution};
            assert_int_equal(neo_network_add_node(net, &node, NULL), NEO_OK);
        }
        assert_int_equal(add_node(net, "out", count_up, NULL, sum2, -1, last, 0), NEO_OK);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_report report;
        neo_network_get_report(net, &report);
        assert_int_equal(report.buffers, 3); /* a with all that shares it, b, out */
        neo_network_bind(net, IN, x);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
            const float *got = neo_network_data(net, last);
            for (int c = 0; c < C; c++)
                for (int s = 0; s < S; s++) {
                    float added = 2 * (x[(c + 1) % C * S + s] + 2); /* b is a + 1 */
                    assert_true(got[c * S + s] == x[c * S + s] + 1 + 2 * added + 1);
                }
        }
        neo_network_destroy(net);
    }
    neo_primitive_destroy(convolution);
    neo_memory_destroy(weights);
}

/* M is known only at execution; weights are packed once, before. */
static neo_primitive *make_growing_matmul(neo_engine *engine, neo_dim k, neo_dim n)
{
    neo_matmul_desc desc = {0};
    neo_memory_desc_init_tag(&desc.src, 2, (neo_dim[]){NEO_RUNTIME_DIM, k}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&desc.weights, 2, (neo_dim[]){k, n}, NEO_F32, "any");
    neo_memory_desc_init_tag(&desc.dst, 2, (neo_dim[]){NEO_RUNTIME_DIM, n}, NEO_F32, "ab");
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    create_with_scratchpad(&primitive, pd);
    return primitive;
}

static neo_memory *pack(fixture *f, const float *data, const neo_memory_desc *plain,
                        const neo_memory_desc *chosen)
{
    neo_memory *from, *to;
    neo_primitive_desc *pd;
    neo_primitive *reorder;
    union {
        const float *in;
        void *out;
    } writable = {data}; /* only read */
    assert_int_equal(neo_memory_create(&from, plain, f->engine, writable.out), NEO_OK);
    assert_int_equal(neo_memory_create(&to, chosen, f->engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, f->engine, plain, chosen, NULL),
                     NEO_OK);
    assert_int_equal(neo_primitive_create(&reorder, pd), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}};
    assert_int_equal(neo_primitive_execute(reorder, f->stream, 2, args), NEO_OK);
    neo_primitive_destroy(reorder);
    neo_primitive_desc_destroy(pd);
    neo_memory_destroy(from);
    return to;
}

static void reshaping_leaves_packed_weights_alone(void **state)
{
    fixture *f = *state;
    enum { K = 19, N = 13, MOST = 40 };
    static float x[MOST * K], w[K * N];
    uint64_t seed = 3;
    for (size_t i = 0; i < count_of(x); i++)
        x[i] = (float)random_below(&seed, 9) - 4;
    for (size_t i = 0; i < count_of(w); i++)
        w[i] = (float)random_below(&seed, 9) - 4;
    neo_primitive *matmul = make_growing_matmul(f->engine, K, N);
    neo_memory_desc plain;
    neo_memory_desc_init_tag(&plain, 2, (neo_dim[]){K, N}, NEO_F32, "ab");
    const neo_memory_desc *chosen =
        neo_primitive_desc_query(neo_primitive_get_desc(matmul), NEO_ARG_WEIGHTS);
    neo_memory *weights = pack(f, w, &plain, chosen);
    size_t bytes = neo_memory_desc_size(chosen);
    void *before = malloc(bytes);
    memcpy(before, neo_memory_get_handle(weights), bytes);
    neo_network *net;
    assert_int_equal(neo_network_create(&net, f->engine, NULL), NEO_OK);
    add_matrix(net, "x", NEO_TENSOR_INPUT, 1, K, NULL);
    add_matrix(net, "w", NEO_TENSOR_CONSTANT, K, N, weights);
    add_matrix(net, "y", NEO_TENSOR_OUTPUT, 1, N, NULL);
    neo_node_arg args[] = {
        {NEO_ARG_SRC, 0, NEO_READS}, {NEO_ARG_WEIGHTS, 1, NEO_READS}, {NEO_ARG_DST, 2, NEO_WRITES}};
    neo_node node = {.name = "matmul", .count = 3, .args = args, .primitive = matmul};
    assert_int_equal(neo_network_add_node(net, &node, NULL), NEO_OK);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_network_bind(net, 0, x);
    static const neo_dim sizes[] = {1, 2, 3, 4, 5, MOST, 7, MOST, 1};
    for (size_t s = 0; s < count_of(sizes); s++) {
        neo_tensor_shape shapes[2] = {{.tensor = 0}, {.tensor = 2}};
        neo_memory_desc_init_tag(&shapes[0].desc, 2, (neo_dim[]){sizes[s], K}, NEO_F32, "ab");
        neo_memory_desc_init_tag(&shapes[1].desc, 2, (neo_dim[]){sizes[s], N}, NEO_F32, "ab");
        assert_int_equal(neo_network_reshape(net, 2, shapes), NEO_OK);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        const float *got = neo_network_data(net, 2);
        for (size_t i = 0; i < (size_t)sizes[s]; i++)
            for (size_t j = 0; j < N; j++) {
                float want = 0;
                for (size_t k = 0; k < K; k++)
                    want += x[i * K + k] * w[k * N + j];
                assert_true(got[i * N + j] == want);
            }
    }
    assert_memory_equal(neo_memory_get_handle(weights), before, bytes);
    neo_network_destroy(net);
    free(before);
    neo_memory_destroy(weights);
    neo_primitive_destroy(matmul);
}

static void geometric_growth_needs_a_handful_of_allocations(void **state)
{
    fixture *f = *state;
    neo_shape_predictor_settings settings;
    neo_shape_predictor_get_default_settings(&settings);
    settings.flags = NEO_PREDICTOR_GEOMETRIC;
    neo_network_options options = {.prediction = &settings};
    neo_network *net;
    assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
    int in = add_tensor(net, "in", NEO_TENSOR_INPUT, 64);
    int a = add_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 64);
    int out = add_tensor(net, "out", NEO_TENSOR_OUTPUT, 64);
    add_node(net, "n0", mix, NULL, in, -1, a, 0);
    add_node(net, "n1", mix, NULL, a, -1, out, 0);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_network_report report;
    for (neo_dim n = 2; n <= 1000; n++) {
        neo_tensor_shape shapes[3] = {
            {in, vector_of(64 * n)}, {a, vector_of(64 * n)}, {out, vector_of(64 * n)}};
        assert_int_equal(neo_network_reshape(net, 3, shapes), NEO_OK);
        neo_network_get_report(net, &report);
        assert_true(report.arena_bytes <= (size_t)(2 * 64 * 4 * n) * 3 / 2 + 256);
    }
    assert_true(report.arena_allocations <= 20);
    neo_network_destroy(net);
}

static void a_reshape_beyond_the_limit_fails_and_the_next_one_works(void **state)
{
    fixture *f = *state;
    uint32_t *values = calloc(1000, sizeof *values);
    neo_engine_set_memory_limits(f->engine, 0, (size_t)1 << 20);
    neo_network *net = make_chain(f, 3, 1000, NEO_NETWORK_IN_ORDER);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_tensor_shape shapes[4];
    for (int i = 0; i < 4; i++)
        shapes[i] = (neo_tensor_shape){i, vector_of(1 << 20)};
    assert_int_equal(neo_network_reshape(net, 4, shapes), NEO_OUT_OF_MEMORY);
    reshape_chain(net, 3, 900);
    neo_network_bind(net, 0, values);
    assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
    neo_network_destroy(net);
    free(values);
}

#define NETWORK_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NETWORK_TEST(random_networks_compute_what_separate_buffers_do),
        NETWORK_TEST(parts_of_a_concatenation_are_written_where_they_belong),
        NETWORK_TEST(a_loop_carries_a_value_from_round_to_round),
        NETWORK_TEST(nested_loops_run_their_nodes_as_often_as_they_say),
        NETWORK_TEST(branches_really_run_at_the_same_time),
        NETWORK_TEST(a_failing_node_ends_the_execution),
        NETWORK_TEST(wrong_networks_are_refused),
        NETWORK_TEST(wrong_calls_are_refused),
        NETWORK_TEST(a_chain_needs_two_tensors_and_a_workspace),
        NETWORK_TEST(a_warm_execution_allocates_nothing),
        NETWORK_TEST(the_plan_is_dumped_as_a_table),
        NETWORK_TEST(the_arena_is_dumped_with_its_users),
        NETWORK_TEST(an_arena_beyond_the_budget_of_its_kind_is_on_the_heap),
        NETWORK_TEST(networks_of_one_engine_run_at_once_in_arenas_of_their_own),
        NETWORK_TEST(convolutions_add_in_place_to_a_chain_of_reshapes),
        NETWORK_TEST(growing_shapes_need_few_allocations),
        NETWORK_TEST(a_shape_that_comes_again_finds_its_plan),
        NETWORK_TEST(a_failed_reshape_can_be_repeated),
        NETWORK_TEST(no_failed_allocation_leaks_or_crashes),
        NETWORK_TEST(destroying_a_network_returns_its_memory),
        NETWORK_TEST(reshaping_leaves_packed_weights_alone),
        NETWORK_TEST(geometric_growth_needs_a_handful_of_allocations),
        NETWORK_TEST(a_reshape_beyond_the_limit_fails_and_the_next_one_works),
        NETWORK_TEST(warm_primitives_allocate_nothing_wherever_their_scratchpads_are),
        NETWORK_TEST(a_reshape_back_to_a_known_shape_allocates_nothing),
        NETWORK_TEST(primitives_run_with_scratchpads_from_the_plan),
    };
    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
