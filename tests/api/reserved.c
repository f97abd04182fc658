/* Structures of a later version's program: each that a program fills is taken with reserved members
 * of 0, and refused, with a sentence, where any of them is not. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/reserved.h"
#include "tests/support/capture.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* ---- structures, filled once ---- */

static neo_convolution_desc convolution;
static neo_deconvolution_desc deconvolution;
static neo_inner_product_desc inner_product;
static neo_matmul_desc matmul;
static neo_pooling_desc pooling;
static neo_block_source blocks;
static neo_stream_options stream_options;
static neo_threadpool_options pool_options = {.threads = 1};
static neo_network_options network_options;
static neo_tensor tensor = {.name = "tensor"};
static neo_node node = {.name = "node"};
static neo_weights_memory_options memory_options;
static neo_weights_file_options file_options;
static neo_allocation_request request = {.bytes = 1};
static neo_shape_predictor_settings settings;
static neo_shape_query query = {.id = "a",
                                .flags = NEO_SHAPE_GROWS,
                                .shape = {.ndims = 1, .dims = {1}},
                                .bits = 8,
                                .iterations = 1};

static neo_status do_nothing(const neo_node_call *call)
{
    (void)call;
    return NEO_OK;
}

/* Of one channel and one pixel. */
static void fill(void)
{
    static const uint8_t bytes[64];
    neo_memory_desc one = tensor_desc(4, (neo_dim[]){1, 1, 1, 1}, "nhwc");
    neo_memory_desc matrix = tensor_matrix(1, 1, "ab");
    convolution = (neo_convolution_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                                         .src = one,
                                         .weights = one,
                                         .dst = one,
                                         .strides = {1, 1}};
    deconvolution = (neo_deconvolution_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                                             .src = one,
                                             .weights = one,
                                             .dst = one,
                                             .strides = {1, 1}};
    inner_product = (neo_inner_product_desc){
        .prop_kind = NEO_FORWARD_INFERENCE, .src = one, .weights = one, .dst = matrix};
    matmul = (neo_matmul_desc){.src = matrix, .weights = matrix, .dst = matrix};
    pooling = (neo_pooling_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                                 .src = one,
                                 .dst = one,
                                 .strides = {1, 1},
                                 .kernel = {1, 1}};
    blocks = (neo_block_source){
        .k = 1, .n = 1, .type = NEO_S8, .weights = bytes, .scales = bytes, .scale_type = NEO_F32};
    tensor.desc = matrix;
    node.function = do_nothing;
    neo_shape_predictor_get_default_settings(&settings);
}

/* ---- what is made of them ---- */

static neo_status destroyed(neo_primitive_desc *pd, neo_status status)
{
    neo_primitive_desc_destroy(pd);
    return status;
}

static neo_status make_convolution(void)
{
    neo_primitive_desc *pd = NULL;
    neo_status status = neo_convolution_primitive_desc_create(&pd, engine, &convolution, NULL);
    return destroyed(pd, status);
}

static neo_status make_deconvolution(void)
{
    neo_primitive_desc *pd = NULL;
    neo_status status = neo_deconvolution_primitive_desc_create(&pd, engine, &deconvolution, NULL);
    return destroyed(pd, status);
}

static neo_status make_inner_product(void)
{
    neo_primitive_desc *pd = NULL;
    neo_status status = neo_inner_product_primitive_desc_create(&pd, engine, &inner_product, NULL);
    return destroyed(pd, status);
}

static neo_status make_matmul(void)
{
    neo_primitive_desc *pd = NULL;
    neo_status status = neo_matmul_primitive_desc_create(&pd, engine, &matmul, NULL);
    return destroyed(pd, status);
}

static neo_status make_pooling(void)
{
    neo_primitive_desc *pd = NULL;
    neo_status status = neo_pooling_primitive_desc_create(&pd, engine, &pooling, NULL);
    return destroyed(pd, status);
}

static neo_status describe_blocks(void)
{
    neo_memory_desc desc;
    return neo_block_weights_describe(&desc, &blocks);
}

static neo_status import_blocks(void)
{
    neo_packed_weights *packed = NULL;
    neo_status status = neo_block_weights_import(&packed, stream, &blocks);
    neo_packed_weights_destroy(packed);
    return status;
}

static neo_status make_stream(void)
{
    neo_stream *other = NULL;
    neo_status status = neo_stream_create(&other, engine, &stream_options);
    neo_stream_destroy(other);
    return status;
}

static neo_status make_pool(void)
{
    neo_threadpool pool = {0};
    neo_status status = neo_threadpool_create(&pool, &pool_options);
    neo_threadpool_destroy(&pool);
    return status;
}

static neo_status make_network(void)
{
    neo_network *network = NULL;
    neo_status status = neo_network_create(&network, engine, &network_options);
    neo_network_destroy(network);
    return status;
}

static neo_status add_tensor(void)
{
    neo_network *network;
    assert_int_equal(neo_network_create(&network, engine, NULL), NEO_OK);
    neo_status status = neo_network_add_tensor(network, &tensor, NULL);
    neo_network_destroy(network);
    return status;
}

static neo_status add_node(void)
{
    neo_network *network;
    assert_int_equal(neo_network_create(&network, engine, NULL), NEO_OK);
    neo_status status = neo_network_add_node(network, &node, NULL);
    neo_network_destroy(network);
    return status;
}

static neo_status make_memory_provider(void)
{
    neo_weights_provider provider;
    neo_status status = neo_weights_memory_provider_create(&provider, &memory_options);
    if (status == NEO_OK)
        provider.destroy(provider.context);
    return status;
}

/* There is no such file, and none is made before something is inserted. */
static neo_status make_file_provider(void)
{
    neo_weights_provider provider;
    neo_status status = neo_weights_file_provider_create(&provider, "none", &file_options);
    if (status == NEO_OK)
        provider.destroy(provider.context);
    return status;
}

static neo_status allocate(void)
{
    neo_allocation *allocation = NULL;
    neo_status status = neo_engine_allocate(engine, &request, &allocation);
    neo_allocation_destroy(allocation);
    return status;
}

static neo_status make_predictor(void)
{
    neo_shape_predictor *predictor = NULL;
    neo_status status = neo_shape_predictor_create(&predictor, &settings);
    neo_shape_predictor_destroy(predictor);
    return status;
}

/* Which has no status: nothing is predicted, and the log says why. */
static neo_status predict(void)
{
    neo_shape_predictor *predictor;
    neo_shape predicted;
    assert_int_equal(neo_shape_predictor_create(&predictor, NULL), NEO_OK);
    (void)neo_shape_predictor_predict(predictor, &query, &predicted);
    neo_shape_predictor_destroy(predictor);
    return predicted.ndims ? NEO_OK : NEO_INVALID_ARGUMENT;
}

static const struct {
    const char *name;
    uint64_t *reserved;
    neo_status (*make)(void);
} rows[] = {
    {"convolution", convolution.reserved, make_convolution},
    {"deconvolution", deconvolution.reserved, make_deconvolution},
    {"inner product", inner_product.reserved, make_inner_product},
    {"matmul", matmul.reserved, make_matmul},
    {"pooling", pooling.reserved, make_pooling},
    {"described blocks", blocks.reserved, describe_blocks},
    {"imported blocks", blocks.reserved, import_blocks},
    {"stream", stream_options.reserved, make_stream},
    {"thread pool", pool_options.reserved, make_pool},
    {"network", network_options.reserved, make_network},
    {"tensor", tensor.reserved, add_tensor},
    {"node", node.reserved, add_node},
    {"weights in memory", memory_options.reserved, make_memory_provider},
    {"weights in a file", file_options.reserved, make_file_provider},
    {"allocation", request.reserved, allocate},
    {"shape predictor", settings.reserved, make_predictor},
    {"shape query", query.reserved, predict},
};

/* ---- tests ---- */

static void what_is_not_reserved_is_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++)
        if (rows[i].make() != NEO_OK)
            fail_msg("%s: refused, with reserved members of 0", rows[i].name);
}

/* Judged after standard error is back. */
static void expect_refusal(size_t row, int member)
{
    rows[row].reserved[member] = 1;
    capture_begin();
    neo_status status = rows[row].make();
    char *log = capture_end();
    rows[row].reserved[member] = 0;
    bool is_told = strstr(log, "a reserved member is") != NULL;
    free(log);
    if (status != NEO_INVALID_ARGUMENT || !is_told)
        fail_msg("%s, reserved[%d]: status %d, %s", rows[row].name, member, (int)status,
                 is_told ? "and the log says why" : "and nothing in the log");
}

static void members_that_are_not_0_are_refused(void **state)
{
    (void)state;
    neo_set_verbose(1);
    for (size_t i = 0; i < count_of(rows); i++)
        for (int member = 0; member < RESERVED_COUNT; member++)
            expect_refusal(i, member);
    neo_set_verbose(0);
}

static int setup(void **state)
{
    int status = session_setup(state);
    fill();
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_reserved_is_right),
        cmocka_unit_test(members_that_are_not_0_are_refused),
    };
    return cmocka_run_group_tests_name("reserved", tests, setup, session_teardown);
}
