/* Products of every combination of types, with scales and zero points of every kind, by every
 * implementation that is offered, against their definition (typed_product.h). */
#include "tests/support/test.h"

#include <string.h>

#include "src/primitive/engine.h"
#include "tests/support/cases/typed_product.h"
#include "tests/support/estimate.h"
#include "tests/support/fault.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

/* ---- random products ---- */

static neo_data_type one_of(const neo_data_type *types, size_t count, uint32_t *seed)
{
    return types[(fill_next(seed) >> 4) % count];
}

static uint32_t below(uint32_t *seed, uint32_t limit)
{
    return (fill_next(seed) >> 4) % limit;
}

static const neo_data_type floats[] = {NEO_F32, NEO_F16, NEO_BF16};
static const neo_data_type zero_types[] = {NEO_S32, NEO_S8, NEO_U8, NEO_S4, NEO_U4};
static const neo_data_type whole[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S32, NEO_S8, NEO_U8};

/* group: divides k. */
static struct typed_values random_values(int side, neo_dim group, const neo_data_type *types,
                                         size_t count, uint32_t *seed)
{
    static const int masks[SIDES][3] = {{0, 2, 3}, {0, 4, 5}, {0, 4, 7}};
    struct typed_values values = {.mask = -1};
    if (below(seed, 2))
        return values;
    values.mask = masks[side][below(seed, 3)];
    values.type = one_of(types, count, seed);
    if (side == DST || !below(seed, 2))
        return values;
    values.mask |= side == SRC ? 4 : 2;
    values.groups[0] = side == SRC ? 1 : group;
    values.groups[1] = side == SRC ? group : 1;
    return values;
}

static struct typed_product random_product(neo_data_type src, neo_data_type weights, uint32_t *seed)
{
    static const neo_dim sizes[] = {1, 2, 3, 5, 8, 9, 13, 17, 24, 33};
    static const char *const tags[] = {"abc", "acb", "abc", "bac"};
    neo_dim group = 1 + below(seed, 8), batch = 1 + below(seed, 2);
    struct typed_product p = {.types = {src, weights, one_of(whole, count_of(whole), seed)},
                              .k = group * (1 + below(seed, 9)),
                              .relu = below(seed, 3) == 0,
                              .sum = below(seed, 3) == 0,
                              .fpmath = (neo_fpmath_mode)below(seed, 5),
                              .accumulation = (neo_accumulation_mode)below(seed, 6)};
    neo_dim m = sizes[below(seed, count_of(sizes))], n = sizes[below(seed, count_of(sizes))];
    memcpy(p.dims[SRC], (neo_dim[]){batch, m, p.k}, sizeof p.dims[SRC]);
    memcpy(p.dims[WEIGHTS], (neo_dim[]){below(seed, 2) ? batch : 1, p.k, n}, sizeof p.dims[SRC]);
    memcpy(p.dims[DST], (neo_dim[]){batch, m, n}, sizeof p.dims[SRC]);
    p.bias_type = below(seed, 2) ? one_of(whole, count_of(whole), seed) : NEO_DATA_TYPE_UNDEF;
    for (int side = 0; side < SIDES; side++) {
        p.tags[side] = tags[below(seed, count_of(tags))];
        p.scales[side] = random_values(side, group, floats, count_of(floats), seed);
        p.zeros[side] = random_values(side, group, zero_types, count_of(zero_types), seed);
    }
    return p;
}

static void every_combination_is_exact(void **state)
{
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S8,
                                          NEO_U8,  NEO_S4,  NEO_U4};
    enum { ROUNDS = 6, SRCS = 5, FLOATS = 3 };
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t s = 0; s < SRCS; s++)
        for (size_t w = s < FLOATS ? 0 : FLOATS; w < count_of(types); w++)
            for (int round = 0; round < ROUNDS; round++) {
                struct typed_product p = random_product(types[s], types[w], &seed);
                typed_product_make(&p, &seed);
                assert_true(typed_product_run_all(&p, 0) >= 1);
                assert_true(typed_product_run_all(&p, 1) >= 1);
                typed_product_discard(&p);
            }
}

/* Where the caches keep no weights, tiles of a panel come in several calls, of which each fetches a
 * part of the next one. */
static void weights_are_fetched_part_by_part(void **state)
{
    static const neo_data_type types[][2] = {
        {NEO_S8, NEO_S8}, {NEO_U8, NEO_S8}, {NEO_F16, NEO_F16}, {NEO_BF16, NEO_BF16}};
    enum { M = 8 * 18 + 3 /* more tiles than parts, and not all as high */, N = 53 };
    struct other_caches other;
    uint32_t seed = fill_seed();
    (void)state;
    other_caches_begin(&other, engine->cpu->l1_bytes, 64);
    for (size_t i = 0; i < count_of(types); i++) {
        struct typed_product p = random_product(types[i][0], types[i][1], &seed);
        p.dims[SRC][1] = p.dims[DST][1] = M;
        p.dims[WEIGHTS][2] = p.dims[DST][2] = N;
        typed_product_make(&p, &seed);
        assert_true(typed_product_run_all(&p, 1) >= 1);
        typed_product_discard(&p);
    }
    other_caches_end(&other);
}

/* ---- many products of a sum ---- */

/* Rows of the least and the greatest values, by such columns, and mixed ones. */
static void fill_extremes(const struct typed *typed, int lane_dim, int low, int high)
{
    neo_dim at[NDIMS] = {0};
    do {
        int kind = (int)at[lane_dim] % 3;
        typed_put(typed, at, kind == 0 || (kind == 2 && (at[1] + at[2]) % 2) ? low : high);
    } while (typed_next(NDIMS, typed->desc.dims, at));
}

/* Those of 256 products are as large as sums that begin as floats do may be. */
static void extremes_are_exact(void **state)
{
    static const neo_dim depths[] = {256, 257, 1300};
    static const neo_data_type types[][3] = {{NEO_S8, NEO_S8, NEO_F32}, {NEO_U8, NEO_S8, NEO_S32},
                                             {NEO_U8, NEO_U8, NEO_F32}, {NEO_S8, NEO_U8, NEO_S32},
                                             {NEO_S8, NEO_S4, NEO_F32}, {NEO_U8, NEO_U4, NEO_F32}};
    static const neo_data_type zeros[][2] = {{NEO_DATA_TYPE_UNDEF, NEO_DATA_TYPE_UNDEF},
                                             {NEO_U8, NEO_DATA_TYPE_UNDEF},
                                             {NEO_DATA_TYPE_UNDEF, NEO_S8},
                                             {NEO_S8, NEO_S4}};
    static const int limits[][2] = {
        [NEO_S8] = {-128, 127}, [NEO_U8] = {0, 255}, [NEO_S4] = {-8, 7}, [NEO_U4] = {0, 15}};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t t = 0; t < count_of(types) * count_of(zeros) * count_of(depths); t++) {
        const neo_data_type *mine = types[t / count_of(zeros) % count_of(types)];
        neo_dim k = depths[t / count_of(zeros) / count_of(types)];
        struct typed_product p = typed_product_long(mine, zeros[t % count_of(zeros)], k);
        typed_product_make(&p, &seed);
        fill_extremes(&p.sides[SRC], 1, limits[mine[0]][0], limits[mine[0]][1]);
        fill_extremes(&p.sides[WEIGHTS], 2, limits[mine[1]][0], limits[mine[1]][1]);
        assert_true(typed_product_run_all(&p, 0) >= 2);
        typed_product_discard(&p);
    }
}

/* ---- threads, and no memory ---- */

/* The same bits on any number of them. */
static void threads_change_nothing(void **state)
{
    static const neo_data_type types[][3] = {{NEO_U8, NEO_S8, NEO_F16},
                                             {NEO_BF16, NEO_BF16, NEO_F32},
                                             {NEO_F32, NEO_F16, NEO_BF16},
                                             {NEO_BF16, NEO_U4, NEO_F32}};
    static const neo_data_type zeros[2] = {NEO_DATA_TYPE_UNDEF, NEO_S8};
    static const int threads[] = {1, 2, 3, 7};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t t = 0; t < count_of(types); t++) {
        struct typed_product p = typed_product_long(types[t], zeros, 600);
        unsigned char first[9 * 14 * sizeof(float)];
        size_t bytes;
        neo_exec_arg list[TYPED_PRODUCT_ARGUMENTS];
        typed_product_make(&p, &seed);
        bytes = neo_memory_desc_size(&p.sides[DST].desc);
        neo_primitive_desc *pd = typed_product_describe(&p);
        require(pd && bytes <= sizeof first);
        estimate_set(pd, 1e15); /* worth all threads */
        for (size_t i = 0; i < count_of(threads); i++) {
            const neo_stream_options options = {.max_threads = threads[i]};
            neo_stream *own, *before = stream;
            require(neo_stream_create(&own, engine, &options) == NEO_OK);
            stream = own;
            memset(p.sides[DST].data, 0, bytes);
            typed_run(stream, pd, typed_product_arguments(&p, p.sides[WEIGHTS].memory, list), list);
            stream = before;
            neo_stream_destroy(own);
            if (i == 0)
                memcpy(first, p.sides[DST].data, bytes);
            assert_memory_equal(first, p.sides[DST].data, bytes);
        }
        neo_primitive_desc_destroy(pd);
        typed_product_discard(&p);
    }
}

/* Creation with the n-th allocation failing, for every n, leaves nothing and works the next time.
 */
static void creation_survives_a_lack_of_memory(void **state)
{
    static const neo_data_type types[] = {NEO_U8, NEO_S8, NEO_S8}, zeros[2] = {NEO_U8, NEO_S8};
    uint32_t seed = fill_seed();
    struct typed_product p = typed_product_long(types, zeros, 37);
    bool failed = true;
    (void)state;
    typed_product_make(&p, &seed);
    for (size_t n = 1; failed; n++) {
        neo_engine_clear_cache(engine);
        fault_arm(n);
        neo_primitive_desc *pd = typed_product_describe(&p);
        failed = fault_disarm();
        assert_true(pd || failed);
        neo_primitive_desc_destroy(pd);
        assert_true(n < 50);
    }
    typed_product_discard(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_is_exact),
        cmocka_unit_test(weights_are_fetched_part_by_part),
        cmocka_unit_test(extremes_are_exact),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(creation_survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests_name("types", tests, session_setup, session_teardown);
}
