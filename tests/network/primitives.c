/* Primitives as nodes of networks. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/cases/graph.h"
#include "tests/support/fault.h"
#include "tests/support/random.h"

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

static void fill_with_small(float *values, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)random_below(seed, 9) - 4;
}

/* c[m][n] = a[m][k] * b[k][n] */
static void multiply(float *c, const float *a, const float *b, size_t m, size_t k, size_t n)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            c[i * n + j] = 0;
            for (size_t p = 0; p < k; p++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
        }
}

static neo_memory *matrix_of(neo_engine *engine, neo_dim rows, neo_dim columns, float *values)
{
    neo_memory_desc desc;
    neo_memory *memory;
    neo_memory_desc_init_tag(&desc, 2, (neo_dim[]){rows, columns}, NEO_F32, "ab");
    assert_int_equal(neo_memory_create(&memory, &desc, engine, values), NEO_OK);
    return memory;
}

/* x * w * v */
struct products {
    neo_dim m, k, n;
    neo_memory *w, *v; /* k x n, n x k */
    neo_primitive *first, *second;
};

static neo_network *make_products(fixture *f, neo_network_order order, const struct products *p)
{
    neo_network *net;
    neo_network_options options = {.order = order, .flags = NEO_NETWORK_POISON};
    assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
    enum { X, W, V, Y, Z };
    add_matrix(net, "x", NEO_TENSOR_INPUT, p->m, p->k, NULL);
    add_matrix(net, "w", NEO_TENSOR_CONSTANT, p->k, p->n, p->w);
    add_matrix(net, "v", NEO_TENSOR_CONSTANT, p->n, p->k, p->v);
    add_matrix(net, "y", NEO_TENSOR_INTERMEDIATE, p->m, p->n, NULL);
    add_matrix(net, "z", NEO_TENSOR_OUTPUT, p->m, p->k, NULL);
    neo_node_arg args[2][3] = {{{NEO_ARG_SRC, X, NEO_READS},
                                {NEO_ARG_WEIGHTS, W, NEO_READS},
                                {NEO_ARG_DST, Y, NEO_WRITES}},
                               {{NEO_ARG_SRC, Y, NEO_READS},
                                {NEO_ARG_WEIGHTS, V, NEO_READS},
                                {NEO_ARG_DST, Z, NEO_WRITES}}};
    neo_node nodes[2] = {{.name = "first", .count = 3, .args = args[0], .primitive = p->first},
                         {.name = "second", .count = 3, .args = args[1], .primitive = p->second}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(neo_network_add_node(net, &nodes[i], NULL), NEO_OK);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    return net;
}

static void primitives_run_with_scratchpads_from_the_plan(void **state)
{
    fixture *f = *state;
    enum { M = 33, K = 20, N = 27 };
    static float x[M * K], w[K * N], v[N * K];
    float want[M * K], middle[M * N];
    uint64_t seed = 1;
    fill_with_small(x, count_of(x), &seed);
    fill_with_small(w, count_of(w), &seed);
    fill_with_small(v, count_of(v), &seed);
    multiply(middle, x, w, M, K, N);
    multiply(want, middle, v, M, N, K);
    struct products products = {.m = M,
                                .k = K,
                                .n = N,
                                .w = matrix_of(f->engine, K, N, w),
                                .v = matrix_of(f->engine, N, K, v),
                                .first = make_matmul(f->engine, M, K, N),
                                .second = make_matmul(f->engine, M, N, K)};
    for (int order = 0; order < 2; order++) {
        neo_network *net = make_products(f, (neo_network_order)order, &products);
        neo_network_bind(net, 0, x);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
            assert_memory_equal(neo_network_data(net, 4), want, sizeof want);
        }
        neo_network_destroy(net);
    }
    neo_primitive_destroy(products.first);
    neo_primitive_destroy(products.second);
    neo_memory_destroy(products.w);
    neo_memory_destroy(products.v);
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
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 4096);
        int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 4096);
        int b = graph_tensor(net, "b", NEO_TENSOR_OUTPUT, 1024);
        graph_node(net, "n0", graph_mix, NULL, in, -1, a, 0);
        graph_node(net, "n1", graph_mix, NULL, a, -1, b, 0);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_bind(net, in, values);
        neo_network_report report;
        size_t allocations = 0;
        for (int round = 0; round < 20; round++) {
            neo_tensor_shape shapes[] = {{a, graph_vector(round % 2 ? 4096 : 64)},
                                         {b, graph_vector(round % 2 ? 64 : 4096)}};
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
    for (size_t i = 0; i < graph_elements(out); i++)
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

enum { IMAGE_CHANNELS = 4, IMAGE_PIXELS = 25, IMAGE = IMAGE_CHANNELS * IMAGE_PIXELS };

/* x + 1 -> seen as a row -> seen as an image -> += 1x1 convolution of it, doubled -> the same again
 * in place -> out. All but out is one box. */
static neo_network *make_residual(fixture *f, neo_network_order order, neo_memory *weights,
                                  neo_primitive *convolution, const neo_memory_desc *image,
                                  int *last)
{
    neo_network *net;
    neo_network_options options = {.order = order, .flags = NEO_NETWORK_POISON};
    assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
    enum { IN, W, A, B };
    const neo_tensor tensors[] = {
        [IN] = {.name = "in", .kind = NEO_TENSOR_INPUT, .desc = *image},
        [W] = {.name = "w", .kind = NEO_TENSOR_CONSTANT, .memory = weights},
        [A] = {.name = "a", .desc = *image},
        [B] = {.name = "b", .desc = *image},
    };
    for (size_t i = 0; i < count_of(tensors); i++)
        assert_int_equal(neo_network_add_tensor(net, &tensors[i], NULL), NEO_OK);
    neo_memory_desc row;
    neo_memory_desc_init_tag(&row, 1, (neo_dim[]){IMAGE}, NEO_F32, "a");
    int flat = add_shared(net, "flat", &row, NEO_SHARES_VIEW, A);
    int back = add_shared(net, "back", image, NEO_SHARES_VIEW, flat);
    int sum = add_shared(net, "sum", image, NEO_SHARES_IN_PLACE, back);
    int sum2 = add_shared(net, "sum2", image, NEO_SHARES_IN_PLACE, sum);
    neo_tensor out = {.name = "out", .kind = NEO_TENSOR_OUTPUT, .desc = *image};
    assert_int_equal(neo_network_add_tensor(net, &out, last), NEO_OK);
    assert_int_equal(graph_node(net, "a", count_up, NULL, IN, -1, A, 0), NEO_OK);
    assert_int_equal(graph_node(net, "b", count_up, NULL, flat, -1, B, 0), NEO_OK);
    const int targets[2][2] = {{back, sum}, {sum, sum2}};
    for (int i = 0; i < 2; i++) {
        neo_node_arg args[] = {{NEO_ARG_SRC, B, NEO_READS},
                               {NEO_ARG_WEIGHTS, W, NEO_READS},
                               {NEO_ARG_UNDEF, targets[i][0], NEO_READS},
                               {NEO_ARG_DST, targets[i][1], NEO_WRITES}};
        neo_node node = {.name = "conv", .count = 4, .args = args, .primitive = convolution};
        assert_int_equal(neo_network_add_node(net, &node, NULL), NEO_OK);
    }
    assert_int_equal(graph_node(net, "out", count_up, NULL, sum2, -1, *last, 0), NEO_OK);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    return net;
}

/* The weights are twice the next channel. */
static void check_residual(const float *got, const float *x)
{
    for (int c = 0; c < IMAGE_CHANNELS; c++)
        for (int s = 0; s < IMAGE_PIXELS; s++) {
            int i = c * IMAGE_PIXELS + s, next = (c + 1) % IMAGE_CHANNELS * IMAGE_PIXELS + s;
            float added = 2 * (x[next] + 2); /* b is a + 1 */
            assert_true(got[i] == x[i] + 1 + 2 * added + 1);
        }
}

static void convolutions_add_in_place_to_a_chain_of_reshapes(void **state)
{
    fixture *f = *state;
    enum { C = IMAGE_CHANNELS };
    static float x[IMAGE], w[C * C];
    neo_memory_desc image, kernel;
    neo_memory *weights;
    neo_memory_desc_init_tag(&image, 4, (neo_dim[]){1, C, 5, 5}, NEO_F32, "abcd");
    neo_memory_desc_init_tag(&kernel, 4, (neo_dim[]){C, C, 1, 1}, NEO_F32, "abcd");
    for (int i = 0; i < C; i++)
        w[i * C + (i + 1) % C] = 2;
    for (int i = 0; i < IMAGE; i++)
        x[i] = (float)(i % 11);
    assert_int_equal(neo_memory_create(&weights, &kernel, f->engine, w), NEO_OK);
    neo_primitive *convolution = make_adding_convolution(f->engine, &image, &kernel);
    for (int order = 0; order < 2; order++) {
        int last;
        neo_network *net =
            make_residual(f, (neo_network_order)order, weights, convolution, &image, &last);
        neo_network_report report;
        neo_network_get_report(net, &report);
        assert_int_equal(report.buffers, 3); /* a with all that shares it, b, out */
        neo_network_bind(net, 0, x);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
            check_residual(neo_network_data(net, last), x);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        GRAPH_TEST(primitives_run_with_scratchpads_from_the_plan),
        GRAPH_TEST(warm_primitives_allocate_nothing_wherever_their_scratchpads_are),
        GRAPH_TEST(a_reshape_back_to_a_known_shape_allocates_nothing),
        GRAPH_TEST(convolutions_add_in_place_to_a_chain_of_reshapes),
        GRAPH_TEST(reshaping_leaves_packed_weights_alone),
    };
    return cmocka_run_group_tests_name("network primitives", tests, NULL, NULL);
}
