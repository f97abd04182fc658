/* Products by weights in blocks with scales, of every format from which they are imported. Where
 * weights become floats, within the bound that is stated; where src is quantised, the definition's
 * bits. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gemm/types.h"
#include "tests/support/cases/blocks.h"
#include "tests/support/fill.h"
#include "tests/support/packed/weights.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

/* ---- what products are to be ---- */

static double src_at(const struct block_product *p, neo_dim m, neo_dim k)
{
    neo_dim rows = p->src.desc.dims[1];
    return typed_get(&p->src, (neo_dim[]){m / rows, m % rows, k});
}

static double dst_at(const struct block_product *p, neo_dim m, neo_dim n)
{
    neo_dim rows = p->dst.desc.dims[1];
    return typed_get(&p->dst, (neo_dim[]){m / rows, m % rows, n});
}

/* Steps of k that are summed as integers: a group, or a part of it. */
static size_t block_of(const neo_block_source *source)
{
    static const size_t own[] = {
        [NEO_BLOCKS_GGUF_Q4_0] = 32, [NEO_BLOCKS_GGUF_Q8_0] = 32, [NEO_BLOCKS_GGUF_Q4_K] = 32};
    size_t k = (size_t)source->k;
    size_t group = source->format > NEO_BLOCKS_ONNX ? own[source->format] : (size_t)source->group;
    if (!group || group >= k) {
        size_t units = (k + 15) / 16, parts = (units + 14) / 15;
        return (units + parts - 1) / parts * 16;
    }
    size_t block = 240;
    while (group % block)
        block -= 16;
    return block;
}

static float quantised_row(const struct block_product *p, neo_dim m, int *q)
{
    neo_dim k = p->stored.source.k;
    float size = 0;
    for (neo_dim i = 0; i < k; i++)
        size = fmaxf(size, fabsf((float)src_at(p, m, i)));
    float factor = size > 0 ? 127 / size : 0;
    for (neo_dim i = 0; i < k; i++)
        q[i] = (int)lrintf((float)src_at(p, m, i) * factor);
    return size / 127;
}

static float want_dynamic(const struct block_product *p, const int *q, float row_scale, size_t n)
{
    size_t k = (size_t)p->stored.source.k, block = block_of(&p->stored.source);
    float products = 0, shifts = 0;
    for (size_t first = 0; first < k; first += block) {
        struct decoded_weight group = block_weights_decode(&p->stored, first, n);
        int sum = 0, row = 0;
        for (size_t i = first; i < k && i < first + block; i++) {
            sum += q[i] * (block_weights_decode(&p->stored, i, n).q - group.c);
            row += q[i];
        }
        products = fmaf((float)sum, (float)group.scale, products);
        shifts = fmaf((float)row, (float)(group.c * group.scale - group.less), shifts);
    }
    volatile float left = products * row_scale, right = shifts * row_scale;
    return left + right;
}

static void check_dynamic(const struct block_product *p)
{
    neo_dim n = p->stored.source.n, rows = p->dst.desc.dims[0] * p->dst.desc.dims[1];
    int *q = malloc((size_t)p->stored.source.k * sizeof *q);
    require(q);
    for (neo_dim m = 0; m < rows; m++) {
        float row_scale = quantised_row(p, m, q);
        for (neo_dim j = 0; j < n; j++) {
            float want = want_dynamic(p, q, row_scale, (size_t)j);
            want += (float)typed_get(&p->bias, (neo_dim[]){0, 0, j});
            if ((float)dst_at(p, m, j) == want)
                continue;
            print_error("format %d, k %lld, (%lld, %lld): %.9g, not %.9g\n",
                        (int)p->stored.source.format, (long long)p->stored.source.k, (long long)m,
                        (long long)j, dst_at(p, m, j), (double)want);
            fail();
        }
    }
    free(q);
}

/* Two roundings of a weight, its offset's and its own, and those of the sum. */
static void check_exact(const struct block_product *p)
{
    neo_dim k = p->stored.source.k, n = p->stored.source.n;
    neo_dim rows = p->dst.desc.dims[0] * p->dst.desc.dims[1];
    for (neo_dim m = 0; m < rows; m++)
        for (neo_dim j = 0; j < n; j++) {
            double sum = typed_get(&p->bias, (neo_dim[]){0, 0, j}), sizes = fabs(sum);
            for (neo_dim i = 0; i < k; i++) {
                struct decoded_weight d = block_weights_decode(&p->stored, (size_t)i, (size_t)j);
                double a = src_at(p, m, i), offset = fabs(d.c * d.scale - d.less);
                sum += a * (d.q * d.scale - d.less);
                sizes += fabs(a) * (fabs((d.q - d.c) * d.scale) + offset);
            }
            double bound = (double)(k + 3) * 0x1p-23 * sizes;
            if (fabs(dst_at(p, m, j) - sum) <= bound)
                continue;
            print_error("format %d, (%lld, %lld): %.9g, not %.9g\n", (int)p->stored.source.format,
                        (long long)m, (long long)j, dst_at(p, m, j), sum);
            fail();
        }
}

/* ---- products ---- */

static void check(struct block_product *p)
{
    neo_primitive_desc *pd;
    require(block_product_describe(&pd, p, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    block_product_execute(p, pd);
    check_exact(p);
    assert_int_equal(neo_primitive_desc_next(pd), NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
    require(block_product_describe(&pd, p, NEO_S8) == NEO_OK);
    block_product_execute(p, pd);
    check_dynamic(p);
    assert_int_equal(neo_primitive_desc_next(pd), NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
}

/* One row, a tile's rows, some tiles, more than a band; columns and k that fill nothing. */
static void all_formats_are_multiplied(void **state)
{
    static const struct {
        neo_block_format format;
        neo_dim k, n, group;
    } cases[] = {
        {NEO_BLOCKS_PLAIN, 70, 37, 32},     {NEO_BLOCKS_PLAIN, 256, 16, 64},
        {NEO_BLOCKS_PLAIN, 300, 21, 128},   {NEO_BLOCKS_PLAIN, 301, 5, 0},
        {NEO_BLOCKS_PLAIN, 1, 1, 0},        {NEO_BLOCKS_PLAIN, 600, 18, 512},
        {NEO_BLOCKS_ONNX, 70, 37, 32},      {NEO_BLOCKS_ONNX, 288, 17, 16},
        {NEO_BLOCKS_ONNX, 160, 33, 128},    {NEO_BLOCKS_GGUF_Q4_0, 96, 33, 0},
        {NEO_BLOCKS_GGUF_Q8_0, 160, 30, 0}, {NEO_BLOCKS_GGUF_Q4_K, 512, 19, 0},
    };
    static const neo_dim rows[][2] = {{1, 1}, {1, 3}, {2, 7}, {1, 133}};
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t i = 0; i < count_of(cases); i++)
        for (size_t r = 0; r < count_of(rows) - (i % 3 > 0); r++) {
            struct block_product p = {.stored =
                                          block_weights_make(cases[i].format, cases[i].k,
                                                             cases[i].n, cases[i].group, &seed)};
            block_product_make(&p, rows[r][0], rows[r][1], types[(i + r) % count_of(types)], &seed);
            check(&p);
            block_product_free(&p);
        }
}

/* Largest integers everywhere: sums of a block are as far from zero as they come. */
static void extremes_are_exact(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (int type = NEO_S8; type <= NEO_U4; type++) {
        struct block_product p = {.stored =
                                      block_weights_make(NEO_BLOCKS_PLAIN, 960, 16, 240, &seed)};
        p.stored.source.type = (neo_data_type)type;
        memset(p.stored.weights, type == NEO_S4 ? 0x88 : type == NEO_S8 ? 0x80 : 0xff, 960 * 16);
        block_product_make(&p, 1, 9, NEO_F32, &seed);
        for (neo_dim i = 0; i < 960; i++)
            typed_put(&p.src, (neo_dim[]){0, 4, i}, -2);
        check(&p);
        block_product_free(&p);
    }
}

/* ---- rows that are no numbers ---- */

static void odd_rows_are_as_stated(void **state)
{
    uint32_t seed = fill_seed();
    struct block_product p = {.stored = block_weights_make(NEO_BLOCKS_GGUF_Q4_0, 64, 20, 0, &seed)};
    neo_primitive_desc *pd;
    (void)state;
    block_product_make(&p, 1, 4, NEO_F32, &seed);
    float *src = p.src.data;
    for (size_t i = 0; i < 64; i++)
        src[p.src.desc.strides[1] * 0 + (neo_dim)i] = 0x1p-130f;
    typed_put(&p.src, (neo_dim[]){0, 1, 5}, INFINITY);
    typed_put(&p.src, (neo_dim[]){0, 2, 6}, (double)NAN);
    require(block_product_describe(&pd, &p, NEO_S8) == NEO_OK);
    block_product_execute(&p, pd);
    for (neo_dim j = 0; j < 20; j++) {
        assert_true(dst_at(&p, 0, j) == typed_get(&p.bias, (neo_dim[]){0, 0, j}));
        assert_true(isnan(dst_at(&p, 1, j)));
    }
    float before[20];
    for (neo_dim j = 0; j < 20; j++)
        before[j] = (float)dst_at(&p, 2, j);
    typed_put(&p.src, (neo_dim[]){0, 2, 6}, 0);
    block_product_execute(&p, pd);
    for (neo_dim j = 0; j < 20; j++)
        assert_true((float)dst_at(&p, 2, j) == before[j]);
    neo_primitive_desc_destroy(pd);
    block_product_free(&p);
}

/* ---- run-time sizes ---- */

static void rows_may_be_known_late(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (neo_dim m = 1; m < 300; m = m * 5 + 1) {
        struct block_product p = {.stored = block_weights_make(NEO_BLOCKS_ONNX, 96, 20, 32, &seed)};
        struct block_product known;
        neo_primitive_desc *pd;
        block_product_make(&p, 1, m, NEO_F32, &seed);
        known = p;
        known.src.desc.dims[1] = known.dst.desc.dims[1] = NEO_RUNTIME_DIM;
        known.src.desc.strides[0] = known.dst.desc.strides[0] = NEO_RUNTIME_DIM;
        require(block_product_describe(&pd, &known, NEO_S8) == NEO_OK);
        block_product_execute(&p, pd);
        check_dynamic(&p);
        neo_primitive_desc_destroy(pd);
        block_product_free(&p);
    }
}

/* ---- kernels ---- */

/* Whole tiles take the instruction that does most; fewer rows the one that has weights as they are
 * kept, if there is one. */
static void few_rows_take_bytes_as_they_are_kept(void **state)
{
    const struct cpu *cpu = cpu_get();
    const char *fastest =
        gemm_kernel_find(cpu, gemm_type_choose(cpu, ELEMENT_S8, ELEMENT_S32))->name;
    const char *few = cpu->features & CPU_DOTPROD ? "gemm_s8_dot_dotprod" : fastest;
    uint32_t seed = fill_seed();
    (void)state;
    for (neo_dim m = 1; m <= 9; m++) {
        struct block_product p = {.stored =
                                      block_weights_make(NEO_BLOCKS_GGUF_Q8_0, 64, 20, 0, &seed)};
        neo_primitive_desc *pd;
        block_product_make(&p, 1, m, NEO_F32, &seed);
        require(block_product_describe(&pd, &p, NEO_S8) == NEO_OK);
        assert_string_equal(neo_primitive_desc_kernel(pd), m < 8 ? few : fastest);
        neo_primitive_desc_destroy(pd);
        block_product_free(&p);
    }
}

/* ---- out of the file ---- */

static void the_file_gives_the_same_weights(void **state)
{
    for (int round = 0; round < 2; round++) {
        uint32_t seed = fill_seed();
        neo_weights_provider provider = weights_open(*state, 0);
        struct block_product p = {.stored =
                                      block_weights_make(NEO_BLOCKS_GGUF_Q4_K, 256, 20, 0, &seed)};
        require(neo_engine_set_weights_provider(engine, &provider) == NEO_OK);
        block_product_make(&p, 1, 3, NEO_F32, &seed);
        check(&p);
        assert_int_equal(weights_statistics(&provider).hits, round);
        block_product_free(&p);
        require(neo_engine_set_weights_provider(engine, NULL) == NEO_OK);
        weights_close(&provider);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_are_multiplied),
        cmocka_unit_test(extremes_are_exact),
        cmocka_unit_test(odd_rows_are_as_stated),
        cmocka_unit_test(rows_may_be_known_late),
        cmocka_unit_test(few_rows_take_bytes_as_they_are_kept),
        WEIGHTS_TEST(the_file_gives_the_same_weights),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
