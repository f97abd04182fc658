/* Operations against definitions in double. */
#include "tests/support/cases/operation_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases/operation_node.h"
#include "tests/support/estimate.h"
#include "tests/support/fault.h"
#include "tests/support/pools.h"
#include "tests/support/session.h"
#include "tests/support/small_stack.h"
#include "tests/support/tensor.h"
#include "tests/support/test.h"

int operation_tensor_index(const struct operation_case *row, int arg)
{
    for (int i = 0; i < row->count; i++)
        if (row->tensors[i].arg == arg)
            return i;
    fail_msg("%s has no tensor %d", row->name, arg);
    return -1;
}

static int dst_of(const struct operation_case *row)
{
    int i = 0;
    while (!row->tensors[i].is_output)
        i++;
    return i;
}

/* Markers, and values at the elements if seed is not 0: small integers, of floating-point types
 * multiples of 1/8. */
static struct typed filled(const neo_memory_desc *desc, unsigned seed)
{
    struct typed tensor = typed_make(engine, desc);
    neo_dim position[NEO_MAX_NDIMS] = {0};
    uint32_t state = seed;
    typed_mark(&tensor);
    if (!seed || neo_memory_desc_elements(desc) == 0)
        return tensor;
    do {
        state = state * 1664525u + 1013904223u;
        int number = (int)(state >> 16) % 65 - 32;
        typed_put(&tensor, position, desc->data_type >= NEO_S32 ? number / 4 : number / 8.0);
    } while (typed_next(desc->ndims, desc->dims, position));
    return tensor;
}

static size_t bytes_of(const struct typed *tensor)
{
    return neo_memory_desc_size(&tensor->desc);
}

/* ---- the chain of post-operations: dst = (x + dst / 2) * factor[channel], at least -3 ---- */

struct chain {
    neo_attributes *attributes; /* NULL: none */
    struct typed factor;
};

static struct chain chain_make(const neo_memory_desc *dst)
{
    struct chain chain;
    neo_dim dims[NEO_MAX_NDIMS];
    for (int i = 0; i < dst->ndims; i++)
        dims[i] = i == 1 || dst->ndims == 1 ? dst->dims[i] : 1;
    static const char *const tags[] = {"", "a", "ab", "abc", "abcd", "abcde", "abcdef"};
    neo_memory_desc factor = typed_desc(dst->ndims, dims, NEO_F32, tags[dst->ndims]);
    chain.factor = filled(&factor, 99);
    assert_int_equal(neo_attributes_create(&chain.attributes), NEO_OK);
    neo_attributes *a = chain.attributes;
    assert_int_equal(neo_attributes_append_sum(a, 0.5f, 0, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(neo_attributes_append_binary(a, NEO_BINARY_MUL, &factor), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(a, NEO_ELTWISE_CLIP, -3, 1e6f), NEO_OK);
    return chain;
}

static void chain_free(struct chain *chain)
{
    neo_attributes_destroy(chain->attributes);
    typed_free(&chain->factor);
}

static double chain_apply(const struct chain *chain, double value, double old,
                          const neo_dim *position)
{
    value = (value + old / 2) * typed_get(&chain->factor, position);
    return value < -3 ? -3 : value > 1e6 ? 1e6 : value;
}

/* ---- scales ---- */

static bool has_scales(const struct operation_case *row)
{
    bool has_some = false;
    for (int i = 0; i < row->count; i++)
        has_some = has_some || row->scales[i] != 0;
    return has_some;
}

static void set_scales(const struct operation_case *row, neo_attributes *attributes)
{
    for (int i = 0; i < row->count; i++)
        if (row->scales[i] != 0)
            assert_int_equal(
                neo_attributes_set_scales(attributes, row->tensors[i].arg, 0, 0, NULL, NEO_F32),
                NEO_OK);
}

static struct typed scale_of(float value)
{
    neo_dim one = 1;
    neo_memory_desc desc = typed_desc(1, &one, NEO_F32, "a");
    struct typed scale = typed_make(engine, &desc);
    typed_put(&scale, (neo_dim[]){0}, (double)value);
    return scale;
}

/* ---- one way to run it ---- */

struct way {
    const struct operation_case *row;
    const struct chain *chain; /* or NULL */
    const neo_attributes *attributes;
    bool in_place, is_scaled;
    neo_primitive *primitive;
    struct typed scales[OPERATION_MOST_TENSORS];
    struct typed tensors[OPERATION_MOST_TENSORS];
    struct typed before[OPERATION_MOST_TENSORS]; /* outputs, as they were */
    int output;
};

static neo_primitive *make_primitive(const struct operation_case *row,
                                     const neo_attributes *attributes, neo_memory_desc *descs)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_status status = row->create(&pd, engine, row, attributes);
    if (status != NEO_OK)
        fail_msg("%s: %s", row->name, neo_status_text(status));
    for (int i = 0; i < row->count; i++) {
        const neo_memory_desc *desc = neo_primitive_desc_query(pd, row->tensors[i].arg);
        assert_non_null(desc);
        descs[i] = *desc;
    }
    estimate_set(pd, 1e9); /* worth any number of threads */
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

enum { MOST_ARGUMENTS = 2 * OPERATION_MOST_TENSORS + 1 };

static int arguments_of(const struct way *way, struct node_tensor *out)
{
    const struct operation_case *row = way->row;
    int count = row->count;
    for (int i = 0; i < count; i++)
        out[i] =
            (struct node_tensor){row->tensors[i].arg, &way->tensors[i], row->tensors[i].is_output};
    for (int i = 0; i < row->count; i++)
        if (way->is_scaled && row->scales[i] != 0)
            out[count++] = (struct node_tensor){NEO_ARG_ATTR_SCALES | row->tensors[i].arg,
                                                &way->scales[i], false};
    if (way->chain)
        out[count++] = (struct node_tensor){NEO_ARG_ATTR_MULTIPLE_POST_OP(1) | NEO_ARG_SRC_1,
                                            &way->chain->factor, false};
    return count;
}

static neo_status try_execute(const struct way *way, const neo_primitive *primitive, neo_stream *on)
{
    struct node_tensor arguments[MOST_ARGUMENTS];
    neo_exec_arg args[MOST_ARGUMENTS];
    int count = arguments_of(way, arguments);
    for (int i = 0; i < count; i++)
        args[i] = (neo_exec_arg){arguments[i].arg, arguments[i].typed->memory};
    if (way->in_place)
        args[way->row->in_place].memory = way->tensors[dst_of(way->row)].memory;
    return neo_primitive_execute(primitive, on, count, args);
}

static void execute(const struct way *way, const neo_primitive *primitive, neo_stream *on)
{
    assert_int_equal(try_execute(way, primitive, on), NEO_OK);
    assert_int_equal(neo_stream_wait(on), NEO_OK);
}

static void restore_outputs(const struct way *way)
{
    for (int i = 0; i < way->row->count; i++)
        if (way->row->tensors[i].is_output)
            memcpy(way->tensors[i].data, way->before[i].data, bytes_of(&way->tensors[i]));
}

static void check_element(void *context, const neo_dim *position)
{
    struct way *way = context;
    const struct operation_case *row = way->row;
    const struct typed *output = &way->tensors[way->output];
    double want = row->want(row, way->tensors, way->output, position);
    if (way->is_scaled && row->scales_result && way->output == dst_of(row))
        want *= (double)row->scales[0];
    if (way->chain && way->output == dst_of(row))
        want =
            chain_apply(way->chain, want, typed_get(&way->before[way->output], position), position);
    if (way->is_scaled && row->scales[way->output] != 0)
        want /= (double)row->scales[way->output];
    double got = typed_get(output, position);
    double rounded = typed_round(output->desc.data_type, want);
    double size = fabs(want) > 1 ? fabs(want) : 1;
    double slack = typed_slack(output->desc.data_type, want, row->error * size * 8);
    if (got == rounded || fabs(got - rounded) <= slack || (isnan(got) && isnan(rounded)))
        return;
    fail_msg("%s%s%s: output %d at %d,%d,%d,%d is %.9g, not %.9g", row->name,
             way->chain ? " with post-operations" : "", way->in_place ? " in place" : "",
             row->tensors[way->output].arg, (int)position[0], (int)position[1], (int)position[2],
             (int)position[3], got, want);
}

static void check_outputs(struct way *way)
{
    for (way->output = 0; way->output < way->row->count; way->output++) {
        const struct typed *t = &way->tensors[way->output];
        if (!way->row->tensors[way->output].is_output)
            continue;
        tensor_for_each(t->desc.ndims, t->desc.dims, check_element, way);
        typed_check_gaps(t);
    }
}

struct call {
    const struct way *way;
    neo_status status;
};

static void call_it(void *argument)
{
    struct call *call = argument;
    call->status = try_execute(call->way, call->way->primitive, stream);
}

/* The same bits, with the library's lines and panels on a caller's little stack. */
static void check_stack(const struct way *way, const void *first)
{
    const struct typed *dst = &way->tensors[dst_of(way->row)];
    struct call call = {.way = way};
    restore_outputs(way);
    small_stack_run(call_it, &call);
    assert_int_equal(call.status, NEO_OK);
    assert_memory_equal(first, dst->data, bytes_of(dst));
}

/* The same bits on every number of threads, by a pool that runs tasks in any order. */
static void check_threads(const struct way *way, const void *first)
{
    int dst = dst_of(way->row);
    static const int counts[] = {1, 5, 128};
    for (size_t i = 0; i < count_of(counts); i++) {
        enum test_pool_kind kind = counts[i] == 128 ? TEST_POOL_ONE : TEST_POOL_HOSTILE;
        struct test_pool *pool = test_pool_create(kind, counts[i]);
        neo_stream_options options = {.threadpool = test_pool_table(pool)};
        neo_stream *other;
        assert_int_equal(neo_stream_create(&other, engine, &options), NEO_OK);
        restore_outputs(way);
        execute(way, way->primitive, other);
        assert_memory_equal(first, way->tensors[dst].data, bytes_of(&way->tensors[dst]));
        neo_stream_destroy(other);
        test_pool_destroy(pool);
    }
}

/* The same bits as a node of a network, whatever its order. */
static void check_nodes(const struct way *way, neo_primitive *primitive, const void *first)
{
    struct node_tensor arguments[MOST_ARGUMENTS];
    const struct typed *dst = &way->tensors[dst_of(way->row)];
    int count = arguments_of(way, arguments), replaced = way->in_place ? way->row->in_place : -1;
    for (int order = 0; order < 2; order++) {
        restore_outputs(way);
        operation_node_run(primitive, (neo_network_order)order, count, arguments, replaced);
        assert_memory_equal(first, dst->data, bytes_of(dst));
    }
}

/* ---- sizes that are known at execution ---- */

/* What is innermost stays so, as with a tag. */
static neo_memory_desc forget_sizes(const neo_memory_desc *desc, uint8_t known)
{
    neo_memory_desc late = *desc;
    if (known == ALL_KNOWN)
        return late;
    for (int i = 0; i < late.ndims; i++) {
        late.dims[i] = known >> i & 1 ? late.dims[i] : NEO_RUNTIME_DIM;
        late.strides[i] = late.strides[i] == 1 ? 1 : NEO_RUNTIME_DIM;
    }
    return late;
}

/* A dst of another first size is refused, and left alone. */
static void check_contradiction(const struct way *way, const neo_primitive *primitive)
{
    struct way other = *way;
    int dst = dst_of(way->row);
    neo_memory_desc desc = way->tensors[dst].desc;
    desc.strides[0] = (neo_dim)neo_memory_desc_size(&desc); /* outside of all others */
    desc.dims[0] += 7;
    other.tensors[dst] = typed_make(engine, &desc);
    unsigned char *bytes = other.tensors[dst].data;
    assert_int_equal(try_execute(&other, primitive, stream), NEO_INVALID_ARGUMENT);
    for (size_t i = 0; i < neo_memory_desc_size(&desc); i++)
        assert_int_equal(bytes[i], 0);
    typed_free(&other.tensors[dst]);
}

/* The same bits, by itself and as a node. */
static void check_late(const struct way *way, const void *first)
{
    struct operation_case late = *way->row;
    const struct typed *dst = &way->tensors[dst_of(way->row)];
    neo_memory_desc descs[OPERATION_MOST_TENSORS];
    for (int i = 0; i < late.count; i++)
        late.tensors[i].desc = forget_sizes(&way->tensors[i].desc, late.known[i]);
    neo_primitive *primitive = make_primitive(&late, way->attributes, descs);
    assert_true(descs[dst_of(&late)].dims[0] == NEO_RUNTIME_DIM);
    restore_outputs(way);
    execute(way, primitive, stream);
    assert_memory_equal(first, dst->data, bytes_of(dst));
    check_nodes(way, primitive, first);
    if (!way->in_place)
        check_contradiction(way, primitive);
    neo_primitive_destroy(primitive);
}

static void check_again(const struct way *way)
{
    const struct typed *dst = &way->tensors[dst_of(way->row)];
    void *first = malloc(bytes_of(dst) + 1);
    assert_non_null(first);
    memcpy(first, dst->data, bytes_of(dst));
    check_stack(way, first);
    check_threads(way, first);
    check_nodes(way, way->primitive, first);
    check_late(way, first);
    free(first);
}

static void run_way(const struct operation_case *row, const struct chain *chain, bool in_place,
                    const neo_attributes *scaled)
{
    struct way way = {.row = row, .chain = chain, .in_place = in_place, .is_scaled = scaled};
    const neo_attributes *attributes = scaled ? scaled : chain ? chain->attributes : NULL;
    neo_memory_desc descs[OPERATION_MOST_TENSORS];
    int dst = dst_of(row);
    way.attributes = attributes;
    way.primitive = make_primitive(row, attributes, descs);
    for (int i = 0; i < row->count; i++) {
        way.tensors[i] = filled(&descs[i], (unsigned)i + 1);
        way.before[i] = filled(&descs[i], 0);
    }
    if (row->fill)
        row->fill(row, way.tensors);
    for (int i = 0; scaled && i < row->count; i++) {
        way.scales[i] = scale_of(row->scales[i]);
        bool is_source = !row->tensors[i].is_output && !row->scales_result;
        way.tensors[i].scale = is_source ? (double)row->scales[i] : 0;
    }
    if (in_place)
        memcpy(way.tensors[dst].data, way.tensors[row->in_place].data, bytes_of(&way.tensors[dst]));
    for (int i = 0; i < row->count; i++)
        memcpy(way.before[i].data, way.tensors[i].data, bytes_of(&way.tensors[i]));
    execute(&way, way.primitive, stream);
    check_outputs(&way);
    for (int i = 0; i < row->count; i++)
        if (!row->tensors[i].is_output)
            assert_memory_equal(way.before[i].data, way.tensors[i].data, bytes_of(&way.tensors[i]));
    check_again(&way);
    neo_primitive_destroy(way.primitive);
    for (int i = 0; i < row->count; i++) {
        typed_free(&way.tensors[i]);
        typed_free(&way.before[i]);
        if (scaled)
            typed_free(&way.scales[i]);
    }
}

/* Creates it with the n-th allocation failing, until none does. */
static void check_allocations(const struct operation_case *row, const struct chain *chain)
{
    assert_int_equal(neo_engine_set_cache_capacity(engine, (neo_cache_capacity){0}), NEO_OK);
    for (size_t n = 1;; n++) {
        neo_primitive_desc *pd = NULL;
        neo_primitive *primitive = NULL;
        fault_arm(n);
        neo_status status = row->create(&pd, engine, row, chain ? chain->attributes : NULL);
        if (status == NEO_OK)
            status = neo_primitive_create(&primitive, pd);
        bool delivered = fault_disarm();
        neo_primitive_destroy(primitive);
        neo_primitive_desc_destroy(pd);
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        if (!delivered)
            break;
    }
}

static void check_scales(const struct operation_case *row)
{
    neo_attributes *attributes;
    if (!has_scales(row))
        return;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    set_scales(row, attributes);
    run_way(row, NULL, false, attributes);
    if (row->in_place >= 0)
        run_way(row, NULL, true, attributes);
    neo_attributes_destroy(attributes);
}

void operation_case_check(const struct operation_case *row)
{
    int dst = dst_of(row);
    run_way(row, NULL, false, NULL);
    if (row->in_place >= 0)
        run_way(row, NULL, true, NULL);
    check_allocations(row, NULL);
    check_scales(row);
    if (row->no_chains)
        return;
    struct chain chain = chain_make(&row->tensors[dst].desc);
    run_way(row, &chain, false, NULL);
    if (row->in_place >= 0)
        run_way(row, &chain, true, NULL);
    check_allocations(row, &chain);
    chain_free(&chain);
}
