/* Networks against the same nodes run one by one with separate buffers. */
#include "tests/support/test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/core/log.h"
#include "tests/support/cases/graph.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"

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
        hash =
            fold(hash, neo_memory_get_handle(call->memories[k]), graph_elements(call->memories[k]));
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
                             .desc = graph_vector((neo_dim)r->size),
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
    size_t rounds = rounds_count(250, 10000);
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
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4);
        int cat = graph_tensor(net, "cat", NEO_TENSOR_INTERMEDIATE, 7);
        int a = graph_sharing(net, "a", 4, NEO_SHARES_VIEW, cat, 0);
        int b = graph_sharing(net, "b", 3, NEO_SHARES_VIEW, cat, 16);
        int flat = graph_sharing(net, "flat", 7, NEO_SHARES_VIEW, cat, 0);
        int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 7);
        assert_int_equal(graph_node(net, "left", graph_mix, NULL, in, -1, a, 0), NEO_OK);
        assert_int_equal(graph_node(net, "right", graph_mix, NULL, in, -1, b, 8), NEO_OK);
        assert_int_equal(graph_node(net, "both", graph_mix, NULL, flat, -1, out, 0), NEO_OK);
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
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 8);
        int step = graph_tensor(net, "step", NEO_TENSOR_INTERMEDIATE, 8);
        int first = graph_tensor(net, "first", NEO_TENSOR_INTERMEDIATE, 8);
        int inner = graph_tensor(net, "inner", NEO_TENSOR_INTERMEDIATE, 8);
        int next = graph_sharing(net, "next", 8, NEO_SHARES_IN_PLACE, first, 0);
        int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 8);
        graph_node(net, "make step", graph_mix, NULL, in, -1, step, 0);
        graph_node(net, "begin", graph_mix, NULL, in, -1, first, 0);
        graph_node(net, "body", graph_mix, NULL, first, step, inner, 64);
        graph_node(net, "carry", graph_mix, NULL, inner, -1, next, 64);
        graph_node(net, "end", graph_mix, NULL, next, -1, out, 0);
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
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 1);
        int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 1);
        int b = graph_sharing(net, "b", 1, NEO_SHARES_IN_PLACE, a, 0);
        int c = graph_sharing(net, "c", 1, NEO_SHARES_IN_PLACE, b, 0);
        int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 1);
        graph_node(net, "n0", graph_mix, NULL, in, -1, a, 0);
        graph_node(net, "n1", graph_mix, NULL, a, -1, b, 0);
        graph_node(net, "n2", graph_mix, NULL, b, -1, c, 0);
        graph_node(net, "n3", graph_mix, NULL, c, -1, out, 0);
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
    int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4);
    int start = graph_tensor(net, "start", NEO_TENSOR_INTERMEDIATE, 4);
    int left = graph_tensor(net, "left", NEO_TENSOR_INTERMEDIATE, 4);
    int right = graph_tensor(net, "right", NEO_TENSOR_INTERMEDIATE, 4);
    int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
    graph_node(net, "start", graph_mix, NULL, in, -1, start, 0);
    graph_node(net, "left", meet, &m[0], start, -1, left, 0);
    graph_node(net, "right", meet, &m[0], start, -1, right, 0);
    graph_node(net, "join", graph_mix, NULL, left, right, out, 0);
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
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4);
        int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4);
        int b = graph_tensor(net, "b", NEO_TENSOR_INTERMEDIATE, 4);
        int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
        graph_node(net, "a", fail_node, NULL, in, -1, a, 0);
        graph_node(net, "b", graph_mix, NULL, in, -1, b, 0);
        graph_node(net, "after", meet, &after, a, b, out, 0);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        uint32_t values[4] = {0};
        neo_network_bind(net, in, values);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_IO_ERROR);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_IO_ERROR);
        assert_int_equal(after.here, 0);
        neo_network_destroy(net);
    }
}

static atomic_bool first_failed, later_begun;

/* Not before the other one runs, which would otherwise not begin any more. */
static neo_status fail_first(const neo_node_call *call)
{
    (void)call;
    uint64_t begun = log_now_ns();
    while (!atomic_load(&later_begun) && log_now_ns() - begun < UINT64_C(2000000000))
        usleep(100);
    atomic_store(&first_failed, true);
    return NEO_IO_ERROR;
}

/* Fails only where another node has done so before; that one's status is kept by then. */
static neo_status fail_later(const neo_node_call *call)
{
    (void)call;
    uint64_t begun = log_now_ns();
    atomic_store(&later_begun, true);
    while (!atomic_load(&first_failed)) {
        if (log_now_ns() - begun > UINT64_C(3000000000))
            return NEO_OK;
        usleep(100);
    }
    usleep(50000);
    return NEO_UNSUPPORTED;
}

static void the_first_of_two_errors_is_told(void **state)
{
    fixture *f = *state;
    neo_network *net;
    neo_network_options options = {.order = NEO_NETWORK_OUT_OF_ORDER};
    atomic_store(&first_failed, false);
    atomic_store(&later_begun, false);
    assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
    int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4);
    int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4);
    int b = graph_tensor(net, "b", NEO_TENSOR_INTERMEDIATE, 4);
    int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
    graph_node(net, "a", fail_first, NULL, in, -1, a, 0);
    graph_node(net, "b", fail_later, NULL, in, -1, b, 0);
    graph_node(net, "join", graph_mix, NULL, a, b, out, 0);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    uint32_t values[4] = {0};
    neo_network_bind(net, in, values);
    assert_int_equal(neo_network_execute(net, f->stream), NEO_IO_ERROR);
    neo_network_destroy(net);
}

/* ---- poison ---- */

struct watched {
    const uint32_t *values; /* of the second tensor */
    uint32_t seen;          /* there, when nobody uses it any more */
};

static neo_status note_source(const neo_node_call *call)
{
    struct watched *watched = call->context;
    watched->values = neo_memory_get_handle(call->memories[0]);
    return graph_mix(call);
}

static neo_status look_back(const neo_node_call *call)
{
    struct watched *watched = call->context;
    watched->seen = *watched->values;
    return graph_mix(call);
}

static void what_nobody_uses_any_more_is_poisoned(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        neo_network *net;
        struct watched watched = {NULL, 0};
        neo_network_options options = {.order = (neo_network_order)order,
                                       .flags = NEO_NETWORK_POISON};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4);
        int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4);
        int b = graph_tensor(net, "b", NEO_TENSOR_INTERMEDIATE, 4);
        int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
        graph_node(net, "a", graph_mix, NULL, in, -1, a, 0);
        graph_node(net, "b", note_source, &watched, a, -1, b, 0);
        graph_node(net, "end", look_back, &watched, b, -1, out, 0);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        uint32_t values[4] = {1, 2, 3, 4};
        neo_network_bind(net, in, values);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        assert_int_equal(watched.seen, UINT32_MAX);
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
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4);
        int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4);
        int b = what == OVERWRITTEN ? graph_sharing(net, "b", 4, NEO_SHARES_IN_PLACE, a, 0)
                : what == TOO_LARGE ? graph_sharing(net, "b", 4, NEO_SHARES_VIEW, in, 4)
                                    : graph_tensor(net, "b", NEO_TENSOR_INTERMEDIATE, 4);
        int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 4);
        neo_status status = NEO_OK;
        if (what == READ_EARLY)
            status = graph_node(net, "early", graph_mix, NULL, a, -1, out, 0);
        if (what != NO_WRITER)
            assert_int_equal(graph_node(net, "n1", graph_mix, NULL, in, -1, a, 0), NEO_OK);
        if (what != TOO_LARGE)
            assert_int_equal(graph_node(net, "n2", graph_mix, NULL, a, -1, b, 0), NEO_OK);
        if (what == TWO_WRITERS)
            status = graph_node(net, "n3", graph_mix, NULL, a, -1, b, 0);
        if (what == OVER_INPUT)
            status = graph_node(net, "n3", graph_mix, NULL, a, -1, in, 0);
        if (what != READ_EARLY)
            assert_int_equal(graph_node(net, "n4", graph_mix, NULL, a, b, out, 0), NEO_OK);
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
    int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4);
    int out = graph_tensor(net, "out", NEO_TENSOR_BOUND_OUTPUT, 4);
    neo_tensor again_in = {.name = "in", .desc = graph_vector(4)};
    assert_int_equal(neo_network_add_tensor(net, &again_in, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_find_tensor(net, "out", &tensor), NEO_OK);
    assert_int_equal(tensor, out);
    assert_int_equal(neo_network_find_tensor(net, "none", &tensor), NEO_NOT_FOUND);
    assert_int_equal(neo_network_execute(net, f->stream), NEO_INVALID_ARGUMENT);
    graph_node(net, "n", graph_mix, NULL, in, -1, out, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        GRAPH_TEST(random_networks_compute_what_separate_buffers_do),
        GRAPH_TEST(parts_of_a_concatenation_are_written_where_they_belong),
        GRAPH_TEST(a_loop_carries_a_value_from_round_to_round),
        GRAPH_TEST(nested_loops_run_their_nodes_as_often_as_they_say),
        GRAPH_TEST(branches_really_run_at_the_same_time),
        GRAPH_TEST(a_failing_node_ends_the_execution),
        GRAPH_TEST(the_first_of_two_errors_is_told),
        GRAPH_TEST(what_nobody_uses_any_more_is_poisoned),
        GRAPH_TEST(wrong_networks_are_refused),
        GRAPH_TEST(wrong_calls_are_refused),
    };
    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
