/* Builds without kernels of their own: products take tiles that compilers make vectors of, and are
 * faster than the loop that anybody would write. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { M = 128, N = 768, K = 768, ROUNDS = 5 };

/* A product of M × K by K × N, and what it takes. */
struct product {
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_memory *src, *weights, *dst;
};

static neo_memory *filled(const neo_memory_desc *desc)
{
    neo_memory *memory;
    assert_int_equal(neo_memory_create(&memory, desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    memset(neo_memory_get_handle(memory), 0, neo_memory_desc_size(desc));
    return memory;
}

/* A matrix of one type. */
static neo_memory_desc typed(neo_dim rows, neo_dim columns, const char *tag, neo_data_type type)
{
    neo_memory_desc desc = tensor_matrix(rows, columns, tag);
    desc.data_type = type;
    return desc;
}

/* Of s8 is s32. */
static struct product product_make(neo_data_type type, neo_dim m, neo_dim k, neo_dim n,
                                   const char *weights_tag)
{
    neo_data_type dst = type == NEO_S8 ? NEO_S32 : type;
    neo_matmul_desc desc = {.src = typed(m, k, "ab", type),
                            .weights = typed(k, n, weights_tag, type),
                            .dst = typed(m, n, "ab", dst)};
    struct product p;
    assert_int_equal(neo_matmul_primitive_desc_create(&p.pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&p.primitive, p.pd), NEO_OK);
    p.src = filled(&desc.src);
    p.weights = filled(neo_primitive_desc_query(p.pd, NEO_ARG_WEIGHTS));
    p.dst = filled(&desc.dst);
    return p;
}

static void product_free(struct product *p)
{
    neo_memory_destroy(p->src);
    neo_memory_destroy(p->weights);
    neo_memory_destroy(p->dst);
    neo_primitive_destroy(p->primitive);
    neo_primitive_desc_destroy(p->pd);
}

/* Compilers make no vectors of other kernels: they take twenty times as long. */
static void check_kernel(neo_data_type type, const neo_dim *sizes, const char *tag)
{
    struct product p = product_make(type, sizes[0], sizes[1], sizes[2], tag);
    const char *kernel = neo_primitive_desc_kernel(p.pd);
    if (NEO_PORTABLE ? !strstr(kernel, "generic") : strstr(kernel, "generic") != NULL)
        fail_msg("%dx%d by %d, type %d, weights '%s': %s", (int)sizes[0], (int)sizes[1],
                 (int)sizes[2], (int)type, tag, kernel);
    product_free(&p);
}

static void products_take_tiles_of_vectors(void **state)
{
    (void)state;
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S8};
    static const char *const tags[] = {"any", "ab", "ba"};
    static const neo_dim sizes[][3] = {{M, K, N}, {1, 768, 768}, {16, 64, 16}, {200, 100, 300}};
    for (size_t type = 0; type < count_of(types); type++)
        for (size_t t = 0; t < count_of(tags); t++)
            for (size_t i = 0; i < count_of(sizes); i++)
                check_kernel(types[type], sizes[i], tags[t]);
}

/* What a caller without a library would write, in an order in which it is not slow. */
static __attribute__((noinline)) void loop(const float *a, const float *b, float *c)
{
    memset(c, 0, sizeof(float) * M * N);
    for (size_t i = 0; i < M; i++)
        for (size_t p = 0; p < K; p++)
            for (size_t j = 0; j < N; j++)
                c[i * N + j] += a[i * K + p] * b[p * N + j];
}

static double seconds(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of the fastest of some rounds, in processor time of this thread. */
static void compare(const struct product *p, const float *plain, double *ours, double *loops)
{
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, p->src}, {NEO_ARG_WEIGHTS, p->weights}, {NEO_ARG_DST, p->dst}};
    *ours = *loops = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double begin = seconds();
        assert_int_equal(neo_primitive_execute(p->primitive, stream, 3, args), NEO_OK);
        double middle = seconds();
        loop(neo_memory_get_handle(p->src), plain, neo_memory_get_handle(p->dst));
        double end = seconds();
        *ours = middle - begin < *ours ? middle - begin : *ours;
        *loops = end - middle < *loops ? end - middle : *loops;
    }
}

static void they_are_twice_as_fast_as_a_loop(void **state)
{
    (void)state;
#if !NEO_PORTABLE || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("a time in an emulator, or with a sanitizer, is no speed\n");
    skip();
#endif
    static float plain[K * N];
    struct product p = product_make(NEO_F32, M, K, N, "any");
    double ours, loops;
    compare(&p, plain, &ours, &loops);
    product_free(&p);
    double gflops = 2e-9 * M * N * K / ours;
    print_message("%dx%d by %d: %.1f GFLOP/s, %.1f times as fast as a loop\n", M, K, N, gflops,
                  loops / ours);
    assert_true(loops >= 2 * ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_take_tiles_of_vectors),
        cmocka_unit_test(they_are_twice_as_fast_as_a_loop),
    };
    return cmocka_run_group_tests(tests, session_setup_single, session_teardown);
}
