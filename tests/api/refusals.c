/* Every public function that takes a pointer survives NULL; those that return a status refuse it
 * with a line in the log. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cpu.h"
#include "tests/support/capture.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

static bool is_invalid, is_told;

/* The status and the line are judged after standard output is back. */
#define REFUSED(call)                                                                         \
    do {                                                                                      \
        capture_begin();                                                                      \
        is_invalid = (call) == NEO_INVALID_ARGUMENT;                                          \
        char *text = capture_end();                                                           \
        is_told = strstr(text, "neoprene_verbose,v1,check,") != NULL;                         \
        free(text);                                                                           \
        if (!is_invalid || !is_told)                                                          \
            fail_msg("%s: %s", #call, is_invalid ? "no sentence in the log" : "not refused"); \
    } while (0)

static neo_memory_desc any_matrix(void)
{
    return tensor_desc(2, (neo_dim[]){2, 3}, "ab");
}

static void of_engines_and_streams(void **state)
{
    (void)state;
    REFUSED(neo_engine_create(NULL));
    REFUSED(neo_engine_create_with_allocator(NULL, NULL));
    REFUSED(neo_stream_create(NULL, engine, NULL));
    REFUSED(neo_stream_wait(NULL));
    assert_int_equal(neo_stream_num_threads(NULL), 0);
    REFUSED(neo_threadpool_create(NULL, NULL));
    neo_threadpool_destroy(NULL);
    neo_engine_destroy(NULL);
    neo_stream_destroy(NULL);
}

static void of_memory_accounts(void **state)
{
    (void)state;
    neo_allocation *allocation = NULL;
    neo_allocation_info info;
    neo_memory_usage usage;
    neo_allocation_request request = {.bytes = 1};
    REFUSED(neo_engine_allocate(NULL, &request, &allocation));
    REFUSED(neo_engine_allocate(engine, NULL, &allocation));
    REFUSED(neo_engine_allocate(engine, &request, NULL));
    assert_int_equal(neo_allocation_destroy(NULL), NEO_OK);
    assert_null(neo_allocation_data(NULL));
    REFUSED(neo_allocation_query(NULL, &info));
    REFUSED(neo_allocation_seal(NULL));
    REFUSED(neo_engine_set_allocator(NULL, NULL));
    REFUSED(neo_engine_set_allocator(engine, &(neo_allocator){0}));
    REFUSED(neo_engine_set_memory_limits(NULL, 0, 0));
    REFUSED(neo_engine_get_memory_limits(NULL, NULL, NULL));
    REFUSED(neo_engine_set_memory_budget(NULL, NEO_KIND_HEAP, 0));
    REFUSED(neo_engine_set_memory_budget(engine, NEO_KIND_ALL, 0));
    REFUSED(neo_engine_get_memory_usage(NULL, NEO_KIND_HEAP, &usage));
    REFUSED(neo_engine_get_memory_usage(engine, NEO_KIND_HEAP, NULL));
    REFUSED(neo_engine_get_memory_usage(engine, (neo_allocation_kind)99, &usage));
    REFUSED(neo_engine_dump_memory_history(engine, NULL));
    REFUSED(neo_engine_dump_memory_peak(engine, NULL));
    REFUSED(neo_engine_dump_memory_pool(engine, NULL, NEO_DUMP_CSV));
    REFUSED(neo_engine_dump_memory_pool(engine, "-", (neo_dump_format)9));
}

static void of_the_cache(void **state)
{
    (void)state;
    REFUSED(neo_engine_set_cache_capacity(NULL, (neo_cache_capacity){0}));
    REFUSED(neo_engine_get_cache_capacity(engine, NULL));
    REFUSED(neo_engine_clear_cache(NULL));
    double bandwidth;
    REFUSED(neo_engine_get_bandwidth(NULL, &bandwidth));
    REFUSED(neo_engine_get_bandwidth(engine, NULL));
    REFUSED(neo_engine_set_block_budget(NULL, 0));
    REFUSED(neo_engine_get_block_budget(engine, NULL));
    REFUSED(neo_engine_trim(NULL, 0, NULL));
    REFUSED(neo_engine_get_cache_statistics(engine, NULL));
}

static void of_attributes(void **state)
{
    (void)state;
    neo_attributes *out = NULL;
    neo_memory_desc desc = any_matrix();
    REFUSED(neo_attributes_create(NULL));
    REFUSED(neo_attributes_clone(&out, NULL));
    REFUSED(neo_attributes_set_scratchpad_mode(NULL, NEO_SCRATCHPAD_USER));
    assert_int_equal(neo_attributes_get_scratchpad_mode(NULL), NEO_SCRATCHPAD_LIBRARY);
    REFUSED(neo_attributes_set_fpmath_mode(NULL, NEO_FPMATH_ANY, 0));
    REFUSED(neo_attributes_set_accumulation_mode(NULL, NEO_ACCUMULATION_ANY));
    REFUSED(neo_attributes_set_deterministic(NULL, 1));
    REFUSED(neo_attributes_set_scales(NULL, NEO_ARG_SRC, 0, 0, NULL, NEO_F32));
    REFUSED(neo_attributes_set_zero_points(NULL, NEO_ARG_SRC, 0, 0, NULL, NEO_F32));
    REFUSED(neo_attributes_append_sum(NULL, 1, 0, NEO_F32));
    assert_int_equal(neo_attributes_create(&out), NEO_OK);
    REFUSED(neo_attributes_set_scales(out, NEO_ARG_SRC, 1 << NEO_MAX_NDIMS, 0, NULL, NEO_F32));
    assert_int_equal(
        neo_attributes_set_scales(out, NEO_ARG_SRC, 1 << (NEO_MAX_NDIMS - 1), 0, NULL, NEO_F32),
        NEO_OK);
    neo_attributes_destroy(out);
    out = NULL;
    REFUSED(neo_attributes_append_eltwise(NULL, NEO_ELTWISE_RELU, 0, 0));
    REFUSED(neo_attributes_append_binary(NULL, NEO_BINARY_ADD, &desc));
    REFUSED(neo_attributes_append_prelu(NULL, 0));
    REFUSED(neo_attributes_append_depthwise(NULL, NEO_F32, NEO_F32, NEO_F32, 3, 1, 1));
    assert_int_equal(neo_attributes_post_op_count(NULL), 0);
    assert_int_equal(neo_attributes_post_op_kind(NULL, 0), NEO_POST_OP_UNDEF);
}

static void of_getters(void **state)
{
    (void)state;
    REFUSED(neo_attributes_get_fpmath_mode(NULL, NULL, NULL));
    REFUSED(neo_attributes_get_accumulation_mode(NULL, NULL));
    REFUSED(neo_attributes_get_deterministic(NULL, NULL));
    REFUSED(neo_attributes_get_dynamic_src(NULL, NULL));
    REFUSED(neo_attributes_get_scales(NULL, NEO_ARG_SRC, NULL, NULL, NULL, NULL));
    REFUSED(neo_attributes_get_zero_points(NULL, NEO_ARG_SRC, NULL, NULL, NULL, NULL));
    REFUSED(neo_attributes_get_sum(NULL, 0, NULL, NULL, NULL));
    REFUSED(neo_attributes_get_eltwise(NULL, 0, NULL, NULL, NULL));
    REFUSED(neo_attributes_get_binary(NULL, 0, NULL, NULL));
    REFUSED(neo_attributes_get_condition(NULL, 0, NULL));
    REFUSED(neo_attributes_get_prelu(NULL, 0, NULL));
    REFUSED(neo_attributes_get_depthwise(NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void of_memory(void **state)
{
    (void)state;
    neo_memory *memory = NULL;
    neo_dim dims[] = {2, 3};
    neo_memory_desc out, desc = any_matrix();
    REFUSED(neo_memory_desc_init_tag(NULL, 2, dims, NEO_F32, "ab"));
    REFUSED(neo_memory_desc_init_strides(&out, 2, dims, NEO_F32, NULL));
    REFUSED(neo_memory_desc_init_submemory(&out, NULL, dims, dims));
    REFUSED(neo_memory_desc_init_permuted(&out, &desc, NULL));
    REFUSED(neo_memory_create(&memory, NULL, engine, NULL));
    REFUSED(neo_memory_set_handle(NULL, NULL));
    REFUSED(neo_memory_set_desc(NULL, &desc));
    assert_null(neo_memory_get_desc(NULL));
    assert_null(neo_memory_get_handle(NULL));
    assert_int_equal(neo_memory_desc_equal(NULL, &desc), 0);
    assert_int_equal(neo_memory_desc_size(NULL), 0);
    assert_int_equal(neo_memory_desc_elements(NULL), 0);
}

/* A descriptor is a value that a user may have filled wrongly: no loop follows its ndims blindly.
 */
static void of_descriptors_with_a_wrong_number_of_dimensions(void **state)
{
    (void)state;
    static const int counts[] = {-1, NEO_MAX_NDIMS + 1, INT32_MAX};
    char tag[32];
    neo_memory *memory = NULL;
    for (size_t i = 0; i < count_of(counts); i++) {
        neo_memory_desc desc = any_matrix(), out;
        desc.ndims = counts[i];
        assert_int_equal(neo_memory_desc_size(&desc), 0);
        assert_int_equal(neo_memory_desc_elements(&desc), 0);
        assert_int_equal(neo_memory_desc_equal(&desc, &desc), 0);
        assert_string_equal(neo_memory_desc_tag(&desc, tag, sizeof tag), "undef");
        REFUSED(neo_memory_create(&memory, &desc, engine, NULL));
        REFUSED(neo_memory_desc_init_permuted(&out, &desc, (int[NEO_MAX_NDIMS]){1, 0}));
    }
}

static void of_primitives(void **state)
{
    (void)state;
    neo_primitive_desc *pd = NULL;
    neo_primitive *primitive = NULL;
    const char *algorithm, *reason;
    neo_matmul_desc matmul = {0};
    neo_memory_desc desc = any_matrix();
    REFUSED(neo_matmul_primitive_desc_create(NULL, engine, &matmul, NULL));
    REFUSED(neo_matmul_primitive_desc_create(&pd, NULL, &matmul, NULL));
    REFUSED(neo_matmul_primitive_desc_create(&pd, engine, NULL, NULL));
    REFUSED(neo_convolution_primitive_desc_create(&pd, engine, NULL, NULL));
    REFUSED(neo_reorder_primitive_desc_create(&pd, engine, &desc, NULL, NULL));
    REFUSED(neo_primitive_desc_next(NULL));
    REFUSED(neo_primitive_create(&primitive, NULL));
    REFUSED(neo_primitive_execute(NULL, stream, 0, NULL));
    REFUSED(neo_primitive_desc_declined(NULL, 0, &algorithm, &reason));
    assert_null(neo_primitive_desc_query(NULL, NEO_ARG_SRC));
    assert_int_equal(neo_primitive_desc_scratchpad_size(NULL, 1), 0);
    (void)neo_primitive_desc_scratchpad_alignment(NULL);
    assert_string_equal(neo_primitive_desc_implementation(NULL), "");
    assert_string_equal(neo_primitive_desc_algorithm(NULL), "");
    assert_string_equal(neo_primitive_desc_kernel(NULL), "");
    assert_true(neo_primitive_desc_estimate(NULL) <= 0);
    assert_int_equal(neo_primitive_desc_cache_hit(NULL), 0);
    assert_null(neo_primitive_get_desc(NULL));
    neo_primitive_desc_destroy(NULL);
    neo_primitive_destroy(NULL);
}

static void of_operands_whose_types_nothing_reads(void **state)
{
    (void)state;
    static const neo_data_type types[] = {NEO_S4, NEO_U4};
    neo_matmul_desc matmul = {.src = any_matrix(),
                              .weights = tensor_desc(2, (neo_dim[]){3, 4}, "ab"),
                              .dst = tensor_desc(2, (neo_dim[]){2, 4}, "ab")};
    for (size_t i = 0; i < count_of(types); i++) {
        neo_memory_desc operand = matmul.dst;
        neo_attributes *attributes;
        neo_primitive_desc *pd;
        operand.data_type = types[i];
        assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
        assert_int_equal(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, &operand),
                         NEO_OK);
        assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &matmul, attributes),
                         NEO_UNSUPPORTED);
        assert_null(pd);
        neo_attributes_destroy(attributes);
    }
}

static void of_tensors_that_contradict_each_other(void **state)
{
    (void)state;
    neo_primitive_desc *pd = NULL;
    neo_memory_desc one = tensor_desc(1, (neo_dim[]){6}, "a");
    neo_memory_desc two = tensor_desc(2, (neo_dim[]){6, 1}, "ab");
    REFUSED(neo_reorder_primitive_desc_create(&pd, engine, &one, &two, NULL));
    REFUSED(neo_reorder_primitive_desc_create(&pd, engine, &two, &one, NULL));
    neo_matmul_desc matmul = {.src = tensor_matrix(2, 3, "ab"),
                              .weights = tensor_matrix(3, 4, "ab"),
                              .dst = tensor_matrix(2, 4, "ab")};
    matmul.bias = tensor_matrix(1, 5, "ab");
    REFUSED(neo_matmul_primitive_desc_create(&pd, engine, &matmul, NULL));
    matmul.bias = tensor_matrix(3, 4, "ab");
    REFUSED(neo_matmul_primitive_desc_create(&pd, engine, &matmul, NULL));
    neo_convolution_desc groups = {.prop_kind = NEO_FORWARD_INFERENCE,
                                   .src = tensor_desc(3, (neo_dim[]){1, 8, 5}, "nwc"),
                                   .weights = tensor_desc(4, (neo_dim[]){2, 3, 4, 1}, "any"),
                                   .dst = tensor_desc(3, (neo_dim[]){1, 8, 5}, "nwc"),
                                   .strides = {1}};
    REFUSED(neo_convolution_primitive_desc_create(&pd, engine, &groups, NULL));
    assert_null(pd);
}

static void of_packed_weights(void **state)
{
    (void)state;
    neo_packed_weights *weights = NULL;
    neo_weights_content content;
    size_t differing;
    REFUSED(neo_engine_set_weights_provider(NULL, NULL));
    REFUSED(neo_engine_set_weights_provider(engine, &(neo_weights_provider){0}));
    REFUSED(neo_engine_get_weights_statistics(engine, NULL));
    REFUSED(neo_engine_set_weights_replicas(NULL, 1));
    REFUSED(neo_weights_pack(&weights, NULL, stream, NULL));
    REFUSED(neo_weights_identify(&content, stream, NULL));
    REFUSED(neo_weights_pack_known(&weights, NULL, stream, NULL, NULL));
    REFUSED(neo_weights_compare(&differing, stream, NULL, NULL));
    assert_null(neo_packed_weights_memory(NULL));
    assert_null(neo_packed_weights_retain(NULL));
    neo_packed_weights_destroy(NULL);
}

static void of_providers_and_files(void **state)
{
    (void)state;
    neo_weights_provider provider;
    REFUSED(neo_weights_memory_provider_create(NULL, NULL));
    REFUSED(neo_weights_file_provider_create(&provider, NULL, NULL));
    REFUSED(neo_weights_provider_from_environment(NULL));
    REFUSED(neo_weights_file_list(NULL, 0, NULL, NULL, NULL));
    REFUSED(neo_weights_file_compact(NULL, 0, NULL, NULL, NULL));
    REFUSED(neo_weights_file_delete(NULL));
}

static void of_networks(void **state)
{
    (void)state;
    neo_network *network = NULL;
    neo_network_report report;
    int number;
    REFUSED(neo_network_create(NULL, engine, NULL));
    assert_int_equal(neo_network_create(&network, engine, NULL), NEO_OK);
    REFUSED(neo_network_add_tensor(network, NULL, &number));
    REFUSED(neo_network_add_node(network, NULL, &number));
    assert_int_equal(neo_network_find_tensor(network, NULL, &number), NEO_NOT_FOUND);
    assert_int_equal(neo_network_find_tensor(NULL, "x", &number), NEO_NOT_FOUND);
    REFUSED(neo_network_add_loop(network, 0, 0, NULL, NULL));
    REFUSED(neo_network_reshape(network, 1, NULL));
    REFUSED(neo_network_get_report(network, NULL));
    REFUSED(neo_network_dump_plan(network, NULL));
    REFUSED(neo_network_dump_pool(network, NULL, NEO_DUMP_CSV));
    REFUSED(neo_network_bind(network, 0, NULL));
    REFUSED(neo_network_execute(network, NULL));
    neo_network_destroy(network);
    REFUSED(neo_network_add_tensor(NULL, &(neo_tensor){0}, NULL));
    REFUSED(neo_network_add_node(NULL, &(neo_node){0}, NULL));
    REFUSED(neo_network_finalize(NULL));
    REFUSED(neo_network_reshape(NULL, 0, NULL));
    REFUSED(neo_network_get_report(NULL, &report));
    REFUSED(neo_network_dump_plan(NULL, "-"));
    REFUSED(neo_network_execute(NULL, stream));
    assert_null(neo_network_data(NULL, 0));
    neo_network_destroy(NULL);
}

static void of_shape_predictors(void **state)
{
    (void)state;
    neo_shape_predictor *predictor;
    neo_shape_query query = {0};
    neo_shape shape = {0};
    REFUSED(neo_shape_predictor_create(NULL, NULL));
    REFUSED(neo_shape_predictor_set_id_settings(NULL, "x", 0, NULL));
    assert_int_equal(neo_shape_predictor_create(&predictor, NULL), NEO_OK);
    REFUSED(neo_shape_predictor_set_id_settings(predictor, NULL, 0, NULL));
    assert_int_equal(neo_shape_predictor_predict(NULL, &query, &shape), 0);
    assert_int_equal(neo_shape_predictor_predict(predictor, NULL, &shape), 0);
    assert_int_equal(neo_shape_predictor_predict(predictor, &query, NULL), 0);
    assert_int_equal(
        neo_shape_predictor_predict_preallocation_shape(predictor, "x", NULL, 32, 0, &shape), 0);
    assert_int_equal(neo_shape_predictor_can_preallocate(NULL, 1), 0);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(NULL, "x", 0, 2, 1), 1);
    neo_shape_predictor_get_default_settings(NULL);
    neo_shape_predictor_clear(NULL);
    neo_shape_predictor_destroy(predictor);
    neo_shape_predictor_destroy(NULL);
}

/* A line for each variable, and the engine is made all the same. */
static void of_the_environment(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"NEOPRENE_NUM_THREADS", "0"},
        {"NEOPRENE_AFFINITY", "wide"},
        {"NEOPRENE_PRIMITIVE_CACHE_CAPACITY", "1K"},
        {"NEOPRENE_PRIMITIVE_CACHE_BYTES", "-1"},
        {"NEOPRENE_BLOCK_BUDGET", "5 "},
        {"NEOPRENE_ALGORITHM_BUDGET", "0"},
        {"NEOPRENE_MEMORY_LIMIT", "0"},
        {"NEOPRENE_MEMORY_OBJECT_LIMIT", ""},
        {"NEOPRENE_MEMORY_HISTORY", "99999999"},
        {"NEOPRENE_MEMORY_POISON", "256"},
        {"NEOPRENE_CPU_CORE", "cortex-a5"},
        {"NEOPRENE_CPU_DISABLE", "neon,dotprot"},
        {"NEO_CPU_CORE", "cortex-a5"},
        {"NEO_CPU_DISABLE", "neon,dotprot"},
    };
    for (size_t i = 0; i < count_of(wrong); i++) {
        char line[128];
        const char *before = getenv(wrong[i][0]);
        char *kept = before ? strdup(before) : NULL;
        setenv(wrong[i][0], wrong[i][1], 1);
        neo_engine *own = NULL;
        capture_begin();
        neo_status status = neo_engine_create(&own);
        char *text = capture_end();
        snprintf(line, sizeof line, "neoprene_verbose,v1,warn,%s='%s'", wrong[i][0], wrong[i][1]);
        bool told = strstr(text, line) != NULL;
        free(text);
        if (kept)
            setenv(wrong[i][0], kept, 1);
        else
            unsetenv(wrong[i][0]);
        free(kept);
        neo_engine_destroy(own);
        assert_int_equal(status, NEO_OK);
        if (!told)
            fail_msg("no line begins with %s", line);
    }
}

/* An older name counts, with a warning, where the variable of today is not set. */
static void of_older_names(void **state)
{
    (void)state;
    const char *before = getenv("NEOPRENE_CPU_CORE");
    char *kept = before ? strdup(before) : NULL;
    neo_engine *own[2] = {NULL, NULL};
    capture_begin();
    unsetenv("NEOPRENE_CPU_CORE");
    setenv("NEO_CPU_CORE", "cortex-a55", 1);
    const char *found = cpu_variable(CPU_VARIABLE_CORE).value;
    bool is_read = found && !strcmp(found, "cortex-a55");
    neo_status status = neo_engine_create(&own[0]);
    setenv("NEOPRENE_CPU_CORE", "neoverse-n1", 1);
    bool is_overridden = !strcmp(cpu_variable(CPU_VARIABLE_CORE).value, "neoverse-n1");
    if (status == NEO_OK)
        status = neo_engine_create(&own[1]);
    char *text = capture_end();
    unsetenv("NEO_CPU_CORE");
    unsetenv("NEOPRENE_CPU_CORE");
    if (kept)
        setenv("NEOPRENE_CPU_CORE", kept, 1);
    free(kept);
    neo_engine_destroy(own[0]);
    neo_engine_destroy(own[1]);
    const char warning[] = "NEO_CPU_CORE is now called NEOPRENE_CPU_CORE";
    const char *told = strstr(text, warning);
    bool is_told_once = told && !strstr(told + sizeof warning, warning);
    free(text);
    assert_int_equal(status, NEO_OK);
    assert_true(is_read);
    assert_true(is_overridden);
    assert_true(is_told_once);
}

static void of_unknown_flags_and_kinds(void **state)
{
    (void)state;
    enum { UNKNOWN = 1 << 30 };
    neo_allocation *allocation;
    neo_stream *other;
    neo_network *network;
    neo_weights_provider provider;
    neo_shape_predictor *predictor;
    neo_shape_predictor_settings settings;
    neo_shape_predictor_get_default_settings(&settings);
    settings.flags = UNKNOWN;
    neo_threadpool pool;
    assert_int_equal(neo_threadpool_create(&pool, NULL), NEO_OK);
    neo_threadpool wrong = pool;
    wrong.flags = UNKNOWN;
    REFUSED(neo_engine_allocate(engine, &(neo_allocation_request){.flags = UNKNOWN}, &allocation));
    REFUSED(neo_stream_create(&other, engine, &(neo_stream_options){.threadpool = &wrong}));
    REFUSED(neo_network_create(&network, engine, &(neo_network_options){.flags = UNKNOWN}));
    REFUSED(neo_network_create(&network, engine,
                               &(neo_network_options){.kind = (neo_allocation_kind)99}));
    REFUSED(neo_weights_file_provider_create(&provider, "no_file",
                                             &(neo_weights_file_options){.flags = UNKNOWN}));
    REFUSED(neo_shape_predictor_create(&predictor, &settings));
    neo_threadpool_destroy(&pool);
    assert_int_equal(neo_network_create(&network, engine, NULL), NEO_OK);
    neo_tensor tensor = {.name = "a", .kind = NEO_TENSOR_OUTPUT, .desc = any_matrix()};
    assert_int_equal(neo_network_add_tensor(network, &tensor, NULL), NEO_OK);
    tensor.name = "b";
    tensor.sharing = (neo_tensor_sharing)99;
    REFUSED(neo_network_add_tensor(network, &tensor, NULL));
    tensor.sharing = NEO_SHARES_VIEW;
    tensor.share_offset = 2; /* of elements of four bytes */
    REFUSED(neo_network_add_tensor(network, &tensor, NULL));
    tensor.sharing = NEO_SHARES_NOTHING;
    tensor.kind = (neo_tensor_kind)99;
    REFUSED(neo_network_add_tensor(network, &tensor, NULL));
    neo_network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_engines_and_streams),
        cmocka_unit_test(of_memory_accounts),
        cmocka_unit_test(of_the_cache),
        cmocka_unit_test(of_attributes),
        cmocka_unit_test(of_getters),
        cmocka_unit_test(of_memory),
        cmocka_unit_test(of_descriptors_with_a_wrong_number_of_dimensions),
        cmocka_unit_test(of_primitives),
        cmocka_unit_test(of_operands_whose_types_nothing_reads),
        cmocka_unit_test(of_tensors_that_contradict_each_other),
        cmocka_unit_test(of_packed_weights),
        cmocka_unit_test(of_providers_and_files),
        cmocka_unit_test(of_networks),
        cmocka_unit_test(of_shape_predictors),
        cmocka_unit_test(of_the_environment),
        cmocka_unit_test(of_older_names),
        cmocka_unit_test(of_unknown_flags_and_kinds),
    };
    neo_set_verbose(1);
    return cmocka_run_group_tests_name("api_refusals", tests, session_setup, session_teardown);
}
