/* Runs a network of one type as it is planned, and its primitives one by one; compares both with
 * each other and with the plain layers. */
#include "examples/support/typed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static typed_network *create(const layers *l, int result, neo_data_type type)
{
    typed_network *n = model_allocate(1, sizeof *n);
    neo_network_options options = {
        .order = l->out_of_order ? NEO_NETWORK_OUT_OF_ORDER : NEO_NETWORK_IN_ORDER,
        .flags = NEO_NETWORK_POISON,
    };
    n->model = l;
    n->result = result;
    n->type = type;
    model_check(neo_engine_create(&n->engine), "the engine");
    model_check(neo_stream_create(&n->stream, n->engine, NULL), "the stream");
    model_check(neo_network_create(&n->network, n->engine, &options), "the network");
    return n;
}

static void destroy(typed_network *n)
{
    neo_network_destroy(n->network);
    for (int i = 0; i < n->node_count; i++)
        neo_primitive_destroy(n->nodes[i].primitive);
    for (int i = 0; i < n->tensor_count; i++)
        if (n->tensors[i].packed)
            neo_packed_weights_destroy(n->tensors[i].packed);
        else
            neo_memory_destroy(n->tensors[i].separate);
    neo_stream_destroy(n->stream);
    neo_engine_destroy(n->engine);
    free(n);
}

/* ---- one by one, with separate buffers ---- */

/* What is written in place begins as a copy of what it is written over. */
static void copy_shared(const typed_network *n, const typed_node *node)
{
    for (int i = 0; i < node->given.count; i++) {
        const typed_tensor *t = &n->tensors[node->args[i].tensor];
        if (node->args[i].access == NEO_WRITES && t->given.sharing == NEO_SHARES_IN_PLACE)
            memcpy(neo_memory_get_handle(t->separate),
                   neo_memory_get_handle(n->tensors[t->given.shares_with].separate),
                   neo_memory_desc_size(&t->given.desc));
    }
}

/* NULL if the primitive needs none; *data is to be freed. */
static neo_memory *make_scratchpad(const typed_network *n, const typed_node *node, void **data)
{
    const neo_primitive_desc *pd = neo_primitive_get_desc(node->primitive);
    neo_dim bytes =
        (neo_dim)neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(n->stream));
    neo_memory_desc desc;
    neo_memory *scratchpad;
    *data = NULL;
    if (!bytes)
        return NULL;
    if (posix_memalign(data, neo_primitive_desc_scratchpad_alignment(pd), (size_t)bytes))
        model_check(NEO_OUT_OF_MEMORY, "a scratchpad");
    model_check(neo_memory_desc_init_tag(&desc, 1, &bytes, NEO_U8, "a"), "a scratchpad");
    model_check(neo_memory_create(&scratchpad, &desc, n->engine, *data), "a scratchpad");
    return scratchpad;
}

static void run_separately(const typed_network *n, const typed_node *node)
{
    neo_exec_arg args[TYPED_MOST_ARGS + 1];
    int count = 0;
    void *data;
    for (int i = 0; i < node->given.count; i++)
        if (node->args[i].arg != NEO_ARG_UNDEF)
            args[count++] =
                (neo_exec_arg){node->args[i].arg, n->tensors[node->args[i].tensor].separate};
    neo_memory *scratchpad = make_scratchpad(n, node, &data);
    if (scratchpad)
        args[count++] = (neo_exec_arg){NEO_ARG_SCRATCHPAD, scratchpad};
    copy_shared(n, node);
    model_check(neo_primitive_execute(node->primitive, n->stream, count, args), node->name);
    model_check(neo_stream_wait(n->stream), node->name);
    neo_memory_destroy(scratchpad);
    free(data);
}

/* ---- comparison ---- */

static void print_report(const typed_network *n, bool same, double error, double bound)
{
    neo_network_report r;
    model_check(neo_network_get_report(n->network, &r), "the report");
    printf("%s, %s: %d nodes, %d buffers: planned %.2f MiB, lower bound %.2f (%.4f), without reuse "
           "%.2f; %s; off from double by %.2g of %.2g%s\n",
           n->model->title, neo_data_type_name(n->type), n->node_count, r.buffers,
           (double)r.planned_bytes / (1 << 20), (double)r.lower_bound_bytes / (1 << 20),
           (double)r.planned_bytes / (double)r.lower_bound_bytes,
           (double)r.no_reuse_bytes / (1 << 20),
           same ? "the same result as with separate buffers" : "THE RESULT DIFFERS", error, bound,
           error <= bound ? "" : ", WHICH IS TOO MUCH");
}

static void dump(const typed_network *n)
{
    const char *plan = getenv("PLAN_CSV"), *history = getenv("HISTORY_CSV");
    if (plan)
        model_check(neo_network_dump_plan(n->network, plan), plan);
    if (history)
        model_check(neo_engine_dump_memory_history(n->engine, history), history);
}

bool typed_run(const layers *l, neo_data_type type, double bound, bool is_first)
{
    const layer *result = &l->list[l->result];
    size_t count = model_elements(result);
    typed_network *n = create(l, l->result, type);
    int out = typed_build(n);
    model_check(neo_network_finalize(n->network), "finalize");
    for (int round = 0; round < 2; round++)
        model_check(neo_network_execute(n->network, n->stream), "execute");
    for (int i = 0; i < n->node_count; i++)
        run_separately(n, &n->nodes[i]);
    const float *planned = neo_network_data(n->network, out);
    const float *separate = neo_memory_get_handle(n->tensors[out].separate);
    double error = model_error(separate, result->values, count);
    bool same = memcmp(planned, separate, count * sizeof(float)) == 0;
    print_report(n, same, error, bound);
    if (is_first)
        dump(n);
    destroy(n);
    return same && error <= bound;
}
