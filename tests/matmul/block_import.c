/* Importing weights in blocks: the cache file, memory that runs out, and what is refused. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/capture.h"
#include "tests/support/cases/blocks.h"
#include "tests/support/fault.h"
#include "tests/support/fill.h"
#include "tests/support/packed/weights.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

/* ---- the file ---- */

static neo_weights_statistics import_once(const neo_weights_provider *provider,
                                          const neo_block_source *source)
{
    neo_packed_weights *packed;
    require(neo_engine_set_weights_provider(engine, provider) == NEO_OK);
    require(neo_block_weights_import(&packed, stream, source) == NEO_OK);
    neo_packed_weights_destroy(packed);
    require(neo_engine_set_weights_provider(engine, NULL) == NEO_OK);
    return weights_statistics(provider);
}

/* The same bytes, of which a source says something else, are other weights. */
static void the_file_keeps_sources_apart(void **state)
{
    uint32_t seed = fill_seed();
    struct block_weights s = block_weights_make(NEO_BLOCKS_ONNX, 64, 16, 32, &seed);
    neo_block_source sources[5];
    s.source.type = NEO_U4;
    s.source.scale_type = NEO_F16;
    s.source.zero_points = NULL;
    for (size_t i = 0; i < count_of(sources); i++)
        sources[i] = s.source;
    sources[1].format = NEO_BLOCKS_PLAIN;
    sources[2].format = NEO_BLOCKS_PLAIN, sources[2].type = NEO_S4;
    sources[3].scale_type = NEO_BF16;
    sources[4].k = 32, sources[4].n = 32;
    for (uint64_t round = 0; round < 2; round++) {
        neo_weights_provider provider = weights_open(*state, 0);
        for (size_t i = 0; i < count_of(sources); i++) {
            neo_weights_statistics statistics = import_once(&provider, &sources[i]);
            assert_int_equal(statistics.inserts, round ? 0 : i + 1);
            assert_int_equal(statistics.hits, round ? i + 1 : 0);
            assert_int_equal(statistics.fallbacks, 0);
        }
        weights_close(&provider);
    }
    block_weights_free(&s);
}

/* ---- memory that runs out ---- */

static neo_status make_all(struct block_product *p)
{
    neo_primitive_desc *pd = NULL;
    neo_primitive *primitive = NULL;
    neo_status status = neo_block_weights_import(&p->packed, stream, &p->stored.source);
    if (status == NEO_OK)
        status = block_product_describe(&pd, p, NEO_S8);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_packed_weights_destroy(p->packed);
    p->packed = NULL;
    return status;
}

static void every_allocation_may_fail(void **state)
{
    uint32_t seed = fill_seed();
    struct block_product p = {.stored = block_weights_make(NEO_BLOCKS_ONNX, 64, 33, 32, &seed)};
    (void)state;
    block_product_make(&p, 1, 5, NEO_F32, &seed);
    neo_packed_weights_destroy(p.packed);
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        require(neo_engine_set_cache_capacity(engine, (neo_cache_capacity){0}) == NEO_OK);
        fault_arm(n);
        neo_status status = make_all(&p);
        failed = fault_disarm();
        if (!failed)
            assert_true(n > 3);
        assert_true(status == NEO_OK || (failed && status == NEO_OUT_OF_MEMORY));
    }
    block_product_free(&p);
}

/* ---- what is refused ---- */

static void expect_refusal(const neo_block_source *source, const char *sentence)
{
    neo_memory_desc desc = {.ndims = -1};
    neo_packed_weights *packed = (void *)&desc;
    neo_set_verbose(1);
    capture_begin();
    neo_status described = neo_block_weights_describe(&desc, source);
    neo_status imported = neo_block_weights_import(&packed, stream, source);
    char *log = capture_end();
    neo_set_verbose(0);
    if (!strstr(log, sentence))
        print_error("not in the log: %s\n%s", sentence, log);
    assert_non_null(strstr(log, sentence));
    free(log);
    assert_int_equal(described, NEO_INVALID_ARGUMENT);
    assert_int_equal(imported, NEO_INVALID_ARGUMENT);
    assert_int_equal(desc.ndims, -1);
    assert_null(packed);
}

static void wrong_sources_are_refused(void **state)
{
    static const float scale = 1;
    const neo_block_source right = {.k = 32,
                                    .n = 2,
                                    .group = 16,
                                    .type = NEO_S4,
                                    .weights = &scale,
                                    .scales = &scale,
                                    .scale_type = NEO_F32};
    neo_block_source wrong;
    (void)state;
#define REFUSE(field, value, sentence) \
    wrong = right, wrong.field = (value), expect_refusal(&wrong, sentence)
    REFUSE(format, (neo_block_format)9, "format is 9, which is none");
    REFUSE(k, 0, "k is 0 and n is 2, which are not both positive");
    REFUSE(n, -3, "k is 32 and n is -3, which are not both positive");
    REFUSE(format, NEO_BLOCKS_GGUF_Q4_K, "k is 32, which is no multiple of q4_k's blocks of 256");
    REFUSE(ndims, 1, "ndims is 1, which is not in 2");
    REFUSE(group, 24, "group is 24, which is no multiple of 16");
    REFUSE(k_stride, -1, "k_stride is -1 and n_stride is 0, and one is negative");
    REFUSE(type, NEO_F32, "type is f32, not s4, u4, s8 or u8");
    REFUSE(scale_type, NEO_S8, "scale_type is s8, not f32, f16 or bf16");
    wrong = right, wrong.zero_points = &scale, wrong.zero_point_type = NEO_F32;
    expect_refusal(&wrong, "zero_point_type is f32, not s4, u4, s8, u8 or s32");
    wrong = right, wrong.format = NEO_BLOCKS_ONNX, wrong.type = NEO_U4, wrong.group = 48;
    expect_refusal(&wrong, "group is 48, which is no power of 2");
#undef REFUSE
    neo_packed_weights *packed;
    wrong = right, wrong.scales = NULL;
    assert_int_equal(neo_block_weights_import(&packed, stream, &wrong), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_block_weights_import(NULL, stream, &right), NEO_INVALID_ARGUMENT);
}

/* Attributes may not have scales for such weights; src of integers is not served. */
static void wrong_products_are_refused(void **state)
{
    uint32_t seed = fill_seed();
    struct block_product p = {.stored = block_weights_make(NEO_BLOCKS_GGUF_Q4_0, 32, 16, 0, &seed)};
    neo_primitive_desc *pd;
    neo_attributes *attributes;
    (void)state;
    block_product_make(&p, 1, 2, NEO_F32, &seed);
    neo_matmul_desc desc = {.src = p.src.desc,
                            .weights = *neo_memory_get_desc(neo_packed_weights_memory(p.packed)),
                            .dst = p.dst.desc};
    require(neo_attributes_create(&attributes) == NEO_OK);
    assert_int_equal(neo_attributes_set_dynamic_src(attributes, NEO_U8), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_attributes_set_dynamic_src(NULL, NEO_S8), NEO_INVALID_ARGUMENT);
    require(neo_attributes_set_scales(attributes, NEO_ARG_WEIGHTS, 4, 0, NULL, NEO_F32) == NEO_OK);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes),
                     NEO_UNSUPPORTED);
    desc.src.data_type = NEO_S8;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_UNSUPPORTED);
    desc.src.data_type = NEO_F32;
    desc.weights.packed.version++;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL),
                     NEO_INVALID_ARGUMENT);
    neo_attributes_destroy(attributes);
    block_product_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(the_file_keeps_sources_apart),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(wrong_sources_are_refused),
        cmocka_unit_test(wrong_products_are_refused),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
