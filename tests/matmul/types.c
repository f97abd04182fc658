/* Products of every combination of types, with scales and zero points of every kind, by every
 * implementation that is offered, against the definition in double precision. Data are such that
 * each sum is exact in f32 in any order, so every result is one number. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/gemm/types.h"
#include "src/primitive/engine.h"
#include "tests/support/cases/typed.h"
#include "tests/support/estimate.h"
#include "tests/support/fault.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { NDIMS = 3, MOST_EXACT = 100 };
enum { SRC, WEIGHTS, DST, SIDES };

/* Scales or zero points, or none (mask < 0). */
struct values {
    int mask;
    neo_dim groups[2]; /* 0: none */
    neo_data_type type;
    struct typed typed;
};

struct product {
    neo_dim dims[SIDES][NDIMS], k;
    neo_data_type types[SIDES], bias_type; /* undefined: no bias */
    const char *tags[SIDES];
    struct values scales[SIDES], zeros[SIDES];
    int relu, sum;
    neo_fpmath_mode fpmath;
    neo_accumulation_mode accumulation;
    struct typed sides[SIDES], bias, old;
    neo_attributes *attributes;
};

static const int args[SIDES] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};

/* ---- the definition ---- */

static double value_of(const struct values *values, const neo_dim *dims, const neo_dim *position,
                       double otherwise)
{
    neo_dim index = 0;
    if (values->mask < 0)
        return otherwise;
    for (int i = 0; i < NDIMS; i++) {
        neo_dim group = i > 0 && values->groups[i - 1] ? values->groups[i - 1] : 1;
        if (values->mask >> i & 1)
            index = index * (dims[i] / group) + (dims[i] == 1 ? 0 : position[i] / group);
    }
    return typed_get(&values->typed, &index);
}

static double element_of(const struct product *p, int side, const neo_dim *position)
{
    neo_dim at[NDIMS] = {p->dims[side][0] == 1 ? 0 : position[0], position[1], position[2]};
    double value = typed_get(&p->sides[side], at);
    value -= value_of(&p->zeros[side], p->dims[side], at, 0);
    return value * value_of(&p->scales[side], p->dims[side], at, 1);
}

static double want(const struct product *p, const neo_dim *at)
{
    double sum = 0;
    for (neo_dim k = 0; k < p->k; k++)
        sum += element_of(p, SRC, (neo_dim[]){at[0], at[1], k}) *
               element_of(p, WEIGHTS, (neo_dim[]){at[0], k, at[2]});
    if (p->bias_type)
        sum += typed_get(&p->bias, (neo_dim[]){0, 0, at[2]});
    if (p->sum)
        sum += 0.5 * typed_get(&p->old, at);
    if (p->relu && sum < 0)
        sum = 0;
    if (p->k > MOST_EXACT) /* sums beyond 2^24 are rounded to f32 */
        sum = (double)(float)sum;
    sum = sum / value_of(&p->scales[DST], p->dims[DST], at, 1);
    sum += value_of(&p->zeros[DST], p->dims[DST], at, 0);
    return typed_round(p->types[DST], sum);
}

/* ---- making one ---- */

static neo_dim values_count(const struct values *values, const neo_dim *dims)
{
    neo_dim count = 1;
    for (int i = 0; i < NDIMS; i++) {
        neo_dim group = i > 0 && values->groups[i - 1] ? values->groups[i - 1] : 1;
        if (values->mask >> i & 1)
            count *= dims[i] / group;
    }
    return count;
}

static void make_values(struct values *values, const neo_dim *dims, int is_scale, uint32_t *seed)
{
    if (values->mask < 0)
        return;
    neo_dim count = values_count(values, dims);
    values->typed = typed_make_tag(engine, values->type, 1, &count, "a");
    typed_fill(&values->typed, is_scale ? 0 : -3, is_scale ? 2 : 3, seed);
    for (neo_dim i = 0; is_scale && i < count; i++)
        typed_put(&values->typed, &i, ldexp(1, (int)typed_get(&values->typed, &i) - 1));
}

static void set_values(const struct product *p, int side)
{
    const struct values *scales = &p->scales[side], *zeros = &p->zeros[side];
    if (scales->mask >= 0)
        require(neo_attributes_set_scales(p->attributes, args[side], scales->mask,
                                          scales->groups[0] ? 2 : 0, scales->groups,
                                          scales->type) == NEO_OK);
    if (zeros->mask >= 0)
        require(neo_attributes_set_zero_points(p->attributes, args[side], zeros->mask,
                                               zeros->groups[0] ? 2 : 0, zeros->groups,
                                               zeros->type) == NEO_OK);
}

static void make(struct product *p, uint32_t *seed)
{
    require(neo_attributes_create(&p->attributes) == NEO_OK);
    require(neo_attributes_set_fpmath_mode(p->attributes, p->fpmath, p->relu) == NEO_OK);
    require(neo_attributes_set_accumulation_mode(p->attributes, p->accumulation) == NEO_OK);
    for (int side = 0; side < SIDES; side++) {
        p->sides[side] =
            typed_make_tag(engine, p->types[side], NDIMS, p->dims[side], p->tags[side]);
        typed_fill(&p->sides[side], -3, 4, seed);
        make_values(&p->scales[side], p->dims[side], 1, seed);
        make_values(&p->zeros[side], p->dims[side], 0, seed);
        set_values(p, side);
    }
    p->old = typed_make_tag(engine, p->types[DST], NDIMS, p->dims[DST], p->tags[DST]);
    typed_fill(&p->old, 0, 6, seed);
    if (p->bias_type) {
        p->bias =
            typed_make_tag(engine, p->bias_type, NDIMS, (neo_dim[]){1, 1, p->dims[DST][2]}, "abc");
        typed_fill(&p->bias, -9, 9, seed);
    }
    if (p->sum)
        require(neo_attributes_append_sum(p->attributes, 0.5f, 0, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    if (p->relu)
        require(neo_attributes_append_eltwise(p->attributes, NEO_ELTWISE_RELU, 0, 0) == NEO_OK);
}

static void discard(struct product *p)
{
    for (int side = 0; side < SIDES; side++) {
        typed_free(&p->sides[side]);
        if (p->scales[side].mask >= 0)
            typed_free(&p->scales[side].typed);
        if (p->zeros[side].mask >= 0)
            typed_free(&p->zeros[side].typed);
    }
    typed_free(&p->old);
    if (p->bias_type)
        typed_free(&p->bias);
    neo_attributes_destroy(p->attributes);
}

/* ---- running it ---- */

static int list_arguments(const struct product *p, neo_memory *weights, neo_exec_arg *list)
{
    int count = 0;
    for (int side = 0; side < SIDES; side++) {
        list[count++] =
            (neo_exec_arg){args[side], side == WEIGHTS ? weights : p->sides[side].memory};
        if (p->scales[side].mask >= 0)
            list[count++] =
                (neo_exec_arg){NEO_ARG_ATTR_SCALES | args[side], p->scales[side].typed.memory};
        if (p->zeros[side].mask >= 0)
            list[count++] =
                (neo_exec_arg){NEO_ARG_ATTR_ZERO_POINTS | args[side], p->zeros[side].typed.memory};
    }
    if (p->bias_type)
        list[count++] = (neo_exec_arg){NEO_ARG_BIAS, p->bias.memory};
    return count;
}

/* Packed weights are given back as they were; halves of bytes are not unpacked. */
static void assert_unpacked(const struct typed *packed, const struct typed *plain)
{
    neo_dim at[NDIMS] = {0};
    if (neo_data_type_bits(plain->desc.data_type) < 8)
        return;
    struct typed to = typed_make(engine, &plain->desc);
    typed_reorder(engine, stream, packed, &to);
    do
        assert_true(typed_get(&to, at) == typed_get(plain, at));
    while (typed_next(NDIMS, plain->desc.dims, at));
    typed_free(&to);
}

/* The same weights in another layout: by a reorder if it is a packed one. */
static struct typed arranged_weights(const struct product *p, const neo_memory_desc *desc)
{
    struct typed to = typed_make(engine, desc);
    const struct typed *from = &p->sides[WEIGHTS];
    neo_dim at[NDIMS] = {0};
    if (desc->format_kind != NEO_FORMAT_PACKED) {
        do
            typed_put(&to, at, typed_get(from, at));
        while (typed_next(NDIMS, p->dims[WEIGHTS], at));
        return to;
    }
    typed_reorder(engine, stream, from, &to);
    assert_unpacked(&to, from);
    return to;
}

static void assert_results(const struct product *p, const char *name)
{
    neo_dim at[NDIMS] = {0};
    do {
        double got = typed_get(&p->sides[DST], at), expected = want(p, at);
        if (got == expected)
            continue;
        print_error("%s: %s by %s to %s, %dx%d by k %d at %d,%d,%d is %g, not %g\n", name,
                    neo_data_type_name(p->types[SRC]), neo_data_type_name(p->types[WEIGHTS]),
                    neo_data_type_name(p->types[DST]), (int)p->dims[DST][1], (int)p->dims[DST][2],
                    (int)p->k, (int)at[0], (int)at[1], (int)at[2], got, expected);
        fail();
    } while (typed_next(NDIMS, p->dims[DST], at));
}

static void run_one(const struct product *p, const neo_primitive_desc *pd)
{
    struct typed weights = arranged_weights(p, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    neo_exec_arg list[SIDES * 3 + 1];
    memcpy(p->sides[DST].data, p->old.data, neo_memory_desc_size(&p->old.desc));
    typed_run(stream, pd, list_arguments(p, weights.memory, list), list);
    assert_results(p, neo_primitive_desc_kernel(pd));
    typed_free(&weights);
}

/* Returns how many implementations there are. */
static int run_all(const struct product *p, int any_weights)
{
    neo_matmul_desc desc = {
        .src = p->sides[SRC].desc, .weights = p->sides[WEIGHTS].desc, .dst = p->sides[DST].desc};
    if (any_weights)
        desc.weights.format_kind = NEO_FORMAT_ANY;
    if (p->bias_type)
        desc.bias = p->bias.desc;
    neo_primitive_desc *pd;
    int count = 0;
    require(neo_matmul_primitive_desc_create(&pd, engine, &desc, p->attributes) == NEO_OK);
    do {
        run_one(p, pd);
        count++;
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return count;
}

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
static struct values random_values(int side, neo_dim group, const neo_data_type *types,
                                   size_t count, uint32_t *seed)
{
    static const int masks[SIDES][3] = {{0, 2, 3}, {0, 4, 5}, {0, 4, 7}};
    struct values values = {.mask = -1};
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

static struct product random_product(neo_data_type src, neo_data_type weights, uint32_t *seed)
{
    static const neo_dim sizes[] = {1, 2, 3, 5, 8, 9, 13, 17, 24, 33};
    static const char *const tags[] = {"abc", "acb", "abc", "bac"};
    neo_dim group = 1 + below(seed, 8), batch = 1 + below(seed, 2);
    struct product p = {.types = {src, weights, one_of(whole, count_of(whole), seed)},
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
                struct product p = random_product(types[s], types[w], &seed);
                make(&p, &seed);
                assert_true(run_all(&p, 0) >= 1);
                assert_true(run_all(&p, 1) >= 1);
                discard(&p);
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
        struct product p = random_product(types[i][0], types[i][1], &seed);
        p.dims[SRC][1] = p.dims[DST][1] = M;
        p.dims[WEIGHTS][2] = p.dims[DST][2] = N;
        make(&p, &seed);
        assert_true(run_all(&p, 1) >= 1);
        discard(&p);
    }
    other_caches_end(&other);
}

/* ---- many products of a sum ---- */

static struct product long_product(const neo_data_type *types, const neo_data_type *zeros,
                                   neo_dim k)
{
    struct product p = {.types = {types[0], types[1], types[2]}, .k = k};
    memcpy(p.dims[SRC], (neo_dim[]){1, 9, k}, sizeof p.dims[SRC]);
    memcpy(p.dims[WEIGHTS], (neo_dim[]){1, k, 14}, sizeof p.dims[SRC]);
    memcpy(p.dims[DST], (neo_dim[]){1, 9, 14}, sizeof p.dims[SRC]);
    for (int side = 0; side < SIDES; side++) {
        p.tags[side] = "abc";
        p.scales[side].mask = -1;
        p.zeros[side].mask = side < DST && zeros[side] ? (side == SRC ? 0 : 4) : -1;
        p.zeros[side].type = side < DST ? zeros[side] : NEO_DATA_TYPE_UNDEF;
    }
    return p;
}

/* Rows of the least and the greatest values, by such columns, and mixed ones. */
static void fill_extremes(const struct typed *typed, int lane_dim, int low, int high)
{
    neo_dim at[NDIMS] = {0};
    do {
        int kind = (int)at[lane_dim] % 3;
        typed_put(typed, at, kind == 0 || (kind == 2 && (at[1] + at[2]) % 2) ? low : high);
    } while (typed_next(NDIMS, typed->desc.dims, at));
}

static void extremes_are_exact(void **state)
{
    enum { K = 1300 };
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
    for (size_t t = 0; t < count_of(types) * count_of(zeros); t++) {
        const neo_data_type *mine = types[t / count_of(zeros)];
        struct product p = long_product(mine, zeros[t % count_of(zeros)], K);
        make(&p, &seed);
        fill_extremes(&p.sides[SRC], 1, limits[mine[0]][0], limits[mine[0]][1]);
        fill_extremes(&p.sides[WEIGHTS], 2, limits[mine[1]][0], limits[mine[1]][1]);
        assert_true(run_all(&p, 0) >= 2);
        discard(&p);
    }
}

/* ---- real numbers ---- */

static void fill_reals_of_type(const struct typed *typed, uint32_t *seed)
{
    neo_dim at[NDIMS] = {0};
    do
        typed_put(typed, at,
                  typed_round(typed->desc.data_type, ((double)below(seed, 4001) - 2000) / 777));
    while (typed_next(NDIMS, typed->desc.dims, at));
}

/* Of the sum of the products' sizes. Rounding both factors to bf16 changes a product by up to
 * 2^-8 + 2^-18 of itself. */
static void assert_within_bound(const struct product *p)
{
    double factors = p->fpmath == NEO_FPMATH_STRICT ? 0 : 0x1p-8 + 0x1p-17;
    if (p->accumulation == NEO_ACCUMULATION_F16)
        factors += fmin((double)p->k + 1, 1025) * 0x1p-11;
    neo_dim at[NDIMS] = {0};
    do {
        double sum = 0, sizes = 0;
        for (neo_dim k = 0; k < p->k; k++) {
            double a = typed_get(&p->sides[SRC], (neo_dim[]){0, at[1], k});
            double b = typed_get(&p->sides[WEIGHTS], (neo_dim[]){0, k, at[2]});
            sum += a * b, sizes += fabs(a * b);
        }
        assert_true(fabs(typed_get(&p->sides[DST], at) - sum) <=
                    ((double)(p->k + 1) * 0x1p-23 + factors) * sizes);
    } while (typed_next(NDIMS, p->dims[DST], at));
}

static neo_primitive_desc *describe(const struct product *p)
{
    neo_matmul_desc desc = {
        .src = p->sides[SRC].desc, .weights = p->sides[WEIGHTS].desc, .dst = p->sides[DST].desc};
    neo_primitive_desc *pd;
    return neo_matmul_primitive_desc_create(&pd, engine, &desc, p->attributes) == NEO_OK ? pd
                                                                                         : NULL;
}

static const neo_data_type no_zeros[2] = {NEO_DATA_TYPE_UNDEF, NEO_DATA_TYPE_UNDEF};

/* Is a product of f32 multiplied as another type by one of its implementations? */
static int is_offered(neo_fpmath_mode mode)
{
    static const neo_data_type types[] = {NEO_F32, NEO_F32, NEO_F32};
    struct product p = long_product(types, no_zeros, 300);
    uint32_t seed = fill_seed();
    int found = 0;
    p.fpmath = mode;
    make(&p, &seed);
    neo_primitive_desc *pd = describe(&p);
    require(pd);
    do
        found |= strstr(neo_primitive_desc_implementation(pd), "typed") != NULL;
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    discard(&p);
    return found;
}

/* What f32 may be rounded to is used where the core multiplies it faster, and only where it may. */
static void modes_are_used_where_they_pay(void **state)
{
    (void)state;
    const struct gemm_type *type = gemm_type_choose(cpu_get(), ELEMENT_BF16, ELEMENT_F32);
    int pays = type != &gemm_types[GEMM_F32] && gemm_kernel_find(cpu_get(), type)->needs;
    assert_int_equal(is_offered(NEO_FPMATH_BF16), pays);
    assert_int_equal(is_offered(NEO_FPMATH_ANY), pays);
    assert_int_equal(is_offered(NEO_FPMATH_STRICT), 0);
    assert_int_equal(is_offered(NEO_FPMATH_TF32), 0);
}

/* So are sums of f16. */
static void short_sums_are_made_where_they_pay(void **state)
{
    static const neo_data_type types[] = {NEO_F16, NEO_F16, NEO_F16};
    const struct gemm_type *type = gemm_type_choose(cpu_get(), ELEMENT_F16, ELEMENT_F16);
    uint32_t seed = fill_seed();
    (void)state;
    for (int mode = NEO_ACCUMULATION_STRICT; mode <= NEO_ACCUMULATION_F32; mode++) {
        struct product p = long_product(types, no_zeros, 300);
        p.accumulation = (neo_accumulation_mode)mode;
        make(&p, &seed);
        neo_primitive_desc *pd = describe(&p);
        require(pd);
        bool may = mode == NEO_ACCUMULATION_RELAXED || mode == NEO_ACCUMULATION_ANY;
        bool are_short = !strcmp(neo_primitive_desc_kernel(pd), "gemm_f16_fp16");
        assert_int_equal(are_short, may && type->within == ELEMENT_F16);
        neo_primitive_desc_destroy(pd);
        discard(&p);
    }
}

static void reals_are_within_the_bound(void **state)
{
    static const neo_data_type types[][3] = {
        {NEO_F16, NEO_F16, NEO_F32}, {NEO_BF16, NEO_BF16, NEO_F32}, {NEO_F32, NEO_BF16, NEO_F32},
        {NEO_F16, NEO_S8, NEO_F32},  {NEO_F32, NEO_F32, NEO_F32},   {NEO_F32, NEO_BF16, NEO_F32},
        {NEO_F32, NEO_S8, NEO_F32},  {NEO_F16, NEO_F16, NEO_F32}};
    enum { STRICT = 4, SHORT_SUMS = 7 };
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t t = 0; t < count_of(types); t++) {
        struct product p = long_product(types[t], no_zeros, t == SHORT_SUMS ? 1500 : 700);
        p.fpmath = t < STRICT || t == SHORT_SUMS ? NEO_FPMATH_STRICT
                   : t % 2                       ? NEO_FPMATH_BF16
                                                 : NEO_FPMATH_ANY;
        p.accumulation = t == SHORT_SUMS ? NEO_ACCUMULATION_F16 : NEO_ACCUMULATION_STRICT;
        neo_exec_arg list[SIDES * 3 + 1];
        make(&p, &seed);
        fill_reals_of_type(&p.sides[SRC], &seed);
        fill_reals_of_type(&p.sides[WEIGHTS], &seed);
        neo_primitive_desc *pd = describe(&p);
        require(pd);
        do {
            typed_run(stream, pd, list_arguments(&p, p.sides[WEIGHTS].memory, list), list);
            assert_within_bound(&p);
        } while (neo_primitive_desc_next(pd) == NEO_OK);
        neo_primitive_desc_destroy(pd);
        discard(&p);
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
        struct product p = long_product(types[t], zeros, 600);
        unsigned char first[9 * 14 * sizeof(float)];
        size_t bytes;
        neo_exec_arg list[SIDES * 3 + 1];
        make(&p, &seed);
        bytes = neo_memory_desc_size(&p.sides[DST].desc);
        neo_primitive_desc *pd = describe(&p);
        require(pd && bytes <= sizeof first);
        estimate_set(pd, 1e15); /* worth all threads */
        for (size_t i = 0; i < count_of(threads); i++) {
            const neo_stream_options options = {.max_threads = threads[i]};
            neo_stream *own, *before = stream;
            require(neo_stream_create(&own, engine, &options) == NEO_OK);
            stream = own;
            memset(p.sides[DST].data, 0, bytes);
            typed_run(stream, pd, list_arguments(&p, p.sides[WEIGHTS].memory, list), list);
            stream = before;
            neo_stream_destroy(own);
            if (i == 0)
                memcpy(first, p.sides[DST].data, bytes);
            assert_memory_equal(first, p.sides[DST].data, bytes);
        }
        neo_primitive_desc_destroy(pd);
        discard(&p);
    }
}

/* Creation with the n-th allocation failing, for every n, leaves nothing and works the next time.
 */
static void creation_survives_a_lack_of_memory(void **state)
{
    static const neo_data_type types[] = {NEO_U8, NEO_S8, NEO_S8}, zeros[2] = {NEO_U8, NEO_S8};
    uint32_t seed = fill_seed();
    struct product p = long_product(types, zeros, 37);
    bool failed = true;
    (void)state;
    make(&p, &seed);
    for (size_t n = 1; failed; n++) {
        neo_engine_clear_cache(engine);
        fault_arm(n);
        neo_primitive_desc *pd = describe(&p);
        failed = fault_disarm();
        assert_true(pd || failed);
        neo_primitive_desc_destroy(pd);
        assert_true(n < 50);
    }
    discard(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_is_exact),
        cmocka_unit_test(weights_are_fetched_part_by_part),
        cmocka_unit_test(extremes_are_exact),
        cmocka_unit_test(reals_are_within_the_bound),
        cmocka_unit_test(modes_are_used_where_they_pay),
        cmocka_unit_test(short_sums_are_made_where_they_pay),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(creation_survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests_name("types", tests, session_setup, session_teardown);
}
