/* Every create path with its n-th allocation failing: the right status, nothing left behind. */
#include "tests/support/test.h"

#include "tests/support/fault.h"
#include "tests/support/tensor.h"

/* One step of a scenario; what it made so far. */
struct scenario {
    neo_engine *engine;
    neo_stream *stream;
    neo_attributes *attributes, *copy;
    neo_memory *memories[3];
    neo_primitive_desc *pd;
    neo_primitive *primitive;
};

static neo_memory_desc matrix(neo_dim rows, neo_dim columns)
{
    neo_memory_desc desc;
    neo_memory_desc_init_tag(&desc, 2, (neo_dim[]){rows, columns}, NEO_F32, "ab");
    return desc;
}

static neo_memory_desc image(neo_dim channels, neo_dim size)
{
    neo_memory_desc desc;
    neo_memory_desc_init_tag(&desc, 4, (neo_dim[]){1, channels, size, size}, NEO_F32, "nhwc");
    return desc;
}

static neo_status make_attributes(struct scenario *s)
{
    neo_memory_desc operand = matrix(1, 6);
    neo_status status = neo_attributes_create(&s->attributes);
    if (status == NEO_OK)
        status = neo_attributes_append_binary(s->attributes, NEO_BINARY_MUL, &operand);
    if (status == NEO_OK)
        status = neo_attributes_append_eltwise(s->attributes, NEO_ELTWISE_GELU_ERF, 0, 0);
    return status == NEO_OK ? neo_attributes_clone(&s->copy, s->attributes) : status;
}

static neo_status describe_matmul(struct scenario *s)
{
    neo_matmul_desc desc = {.src = matrix(4, 5), .weights = matrix(5, 6), .dst = matrix(4, 6)};
    return neo_matmul_primitive_desc_create(&s->pd, s->engine, &desc, s->attributes);
}

static neo_status describe_convolution(struct scenario *s)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = image(5, 6),
        .dst = image(7, 6),
        .strides = {1, 1},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    neo_memory_desc_init_tag(&desc.weights, 4, (neo_dim[]){7, 5, 3, 3}, NEO_F32, "any");
    return neo_convolution_primitive_desc_create(&s->pd, s->engine, &desc, NULL);
}

static neo_status describe_reorder(struct scenario *s)
{
    neo_memory_desc src = image(5, 6), dst;
    neo_memory_desc_init_tag(&dst, 4, src.dims, NEO_F32, "nchw");
    return neo_reorder_primitive_desc_create(&s->pd, s->engine, &src, &dst, NULL);
}

/* The arguments of the matmul, executed once. */
static neo_status execute_matmul(struct scenario *s)
{
    const neo_memory_desc descs[] = {matrix(4, 5), matrix(5, 6), matrix(4, 6)};
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};
    neo_exec_arg args[3];
    for (int i = 0; i < 3; i++) {
        neo_status status =
            neo_memory_create(&s->memories[i], &descs[i], s->engine, NEO_MEMORY_ALLOCATE);
        if (status != NEO_OK)
            return status;
        float *data = neo_memory_get_handle(s->memories[i]);
        for (size_t e = 0; e < neo_memory_desc_elements(&descs[i]); e++)
            data[e] = 1;
        args[i] = (neo_exec_arg){names[i], s->memories[i]};
    }
    return neo_primitive_execute(s->primitive, s->stream, 3, args);
}

static neo_status run(struct scenario *s, neo_status (*describe)(struct scenario *), bool execute)
{
    neo_status status = neo_engine_create(&s->engine);
    if (status == NEO_OK)
        status = neo_stream_create(&s->stream, s->engine, &(neo_stream_options){.max_threads = 1});
    if (status == NEO_OK && !execute)
        status = make_attributes(s);
    if (status == NEO_OK)
        status = describe(s);
    if (status == NEO_OK)
        status = neo_primitive_create(&s->primitive, s->pd);
    if (status == NEO_OK)
        status = neo_primitive_desc_next(s->pd);
    if (status == NEO_LAST_IMPLEMENTATION)
        status = NEO_OK;
    return status == NEO_OK && execute ? execute_matmul(s) : status;
}

static void unmake(struct scenario *s)
{
    for (int i = 0; i < 3; i++)
        neo_memory_destroy(s->memories[i]);
    neo_primitive_destroy(s->primitive);
    neo_primitive_desc_destroy(s->pd);
    neo_attributes_destroy(s->attributes);
    neo_attributes_destroy(s->copy);
    neo_stream_destroy(s->stream);
    neo_engine_destroy(s->engine);
}

static void fail_each_allocation(neo_status (*describe)(struct scenario *), bool execute)
{
    size_t n = 1;
    for (;; n++) {
        struct scenario s = {0};
        fault_arm(n);
        neo_status status = run(&s, describe, execute);
        bool delivered = fault_disarm();
        unmake(&s);
        if (!delivered) {
            assert_int_equal(status, NEO_OK);
            break;
        }
        if (status != NEO_OK) /* an optional allocation may fail without harm */
            assert_int_equal(status, NEO_OUT_OF_MEMORY);
    }
    assert_true(n > 5);
}

static void matmul_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each_allocation(describe_matmul, false);
}

static void execution_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each_allocation(describe_matmul, true);
}

static void convolution_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each_allocation(describe_convolution, false);
}

static void reorder_survives_every_failing_allocation(void **state)
{
    (void)state;
    fail_each_allocation(describe_reorder, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_survives_every_failing_allocation),
        cmocka_unit_test(execution_survives_every_failing_allocation),
        cmocka_unit_test(convolution_survives_every_failing_allocation),
        cmocka_unit_test(reorder_survives_every_failing_allocation),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("api_memory", tests, NULL, NULL);
}
