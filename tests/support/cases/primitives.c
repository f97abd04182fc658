/* Small problems of every operation. */
#include "tests/support/cases/primitives.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/tensor.h"
#include "tests/support/test.h"

/* ---- descriptions ---- */

static neo_memory_desc tagged(int ndims, const char *tag, const neo_dim *dims)
{
    return tensor_desc(ndims, dims, tag);
}

#define MATRIX(tag, rows, columns) tagged(2, tag, (neo_dim[]){rows, columns})
#define IMAGE(tag, channels, height, width) tagged(4, tag, (neo_dim[]){1, channels, height, width})

static void matmul_plain(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->matmul = (neo_matmul_desc){
        .src = MATRIX("ab", 5, 7), .weights = MATRIX("ab", 7, 9), .dst = MATRIX("ab", 5, 9)};
}

static void matmul_row(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->matmul = (neo_matmul_desc){
        .src = MATRIX("ab", 1, 7), .weights = MATRIX("ba", 7, 9), .dst = MATRIX("ab", 1, 9)};
}

static void matmul_any(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->matmul = (neo_matmul_desc){.src = MATRIX("any", 5, 7),
                                  .weights = MATRIX("any", 7, 9),
                                  .bias = MATRIX("ab", 1, 9),
                                  .dst = MATRIX("any", 5, 9)};
}

static void matmul_columns(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->matmul = (neo_matmul_desc){
        .src = MATRIX("ba", 17, 40), .weights = MATRIX("ba", 40, 13), .dst = MATRIX("ba", 17, 13)};
}

static void matmul_outer(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->matmul = (neo_matmul_desc){
        .src = MATRIX("ba", 24, 40), .weights = MATRIX("ab", 40, 36), .dst = MATRIX("ab", 24, 36)};
}

static void matmul_batched(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->matmul = (neo_matmul_desc){.src = tagged(3, "abc", (neo_dim[]){2, 3, 4}),
                                  .weights = tagged(3, "acb", (neo_dim[]){1, 4, 5}),
                                  .dst = tagged(3, "bac", (neo_dim[]){2, 3, 5})};
}

static void matmul_post_ops(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    neo_memory_desc operand = MATRIX("ab", 1, 9);
    p->matmul = (neo_matmul_desc){
        .src = MATRIX("ab", 5, 7), .weights = MATRIX("ba", 7, 9), .dst = MATRIX("ba", 5, 9)};
    neo_attributes_append_sum(p->attributes, 2, 0, NEO_DATA_TYPE_UNDEF);
    neo_attributes_append_binary(p->attributes, NEO_BINARY_ADD, &operand);
    neo_attributes_append_prelu(p->attributes, 2);
    neo_attributes_append_eltwise(p->attributes, NEO_ELTWISE_CLIP, -1000, 1000);
}

static void convolve(struct primitive_problem *p, const char *image, const char *weights_tag)
{
    p->convolution =
        (neo_convolution_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                               .src = IMAGE(image, 3, 6, 6),
                               .weights = tagged(4, weights_tag, (neo_dim[]){5, 3, 3, 3}),
                               .bias = tagged(1, "a", (neo_dim[]){5}),
                               .dst = IMAGE(image, 5, 6, 6),
                               .strides = {1, 1},
                               .padding_left = {1, 1},
                               .padding_right = {1, 1}};
}

static void convolution_nhwc(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    convolve(p, "nhwc", "any");
}

static void convolution_nchw(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    convolve(p, "nchw", "oihw");
}

static void convolution_any(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    convolve(p, "any", "any");
}

static void convolve_winograd(struct primitive_problem *p, const char *image)
{
    p->convolution = (neo_convolution_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                                            .algorithm = NEO_CONVOLUTION_WINOGRAD,
                                            .src = IMAGE(image, 4, 9, 9),
                                            .weights = tagged(4, "any", (neo_dim[]){6, 4, 3, 3}),
                                            .dst = IMAGE(image, 6, 7, 7),
                                            .strides = {1, 1}};
}

static void convolution_winograd(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    convolve_winograd(p, "nhwc");
}

static void convolution_winograd_nchw(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    convolve_winograd(p, "nchw");
}

static void convolution_winograd_dilated(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    convolve_winograd(p, "nhwc");
    for (int i = 0; i < 2; i++) {
        p->convolution.dilations[i] = 1;
        p->convolution.padding_left[i]++;
        p->convolution.padding_right[i]++;
    }
}

static void convolution_point(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->convolution = (neo_convolution_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                                            .src = IMAGE("nhwc", 4, 3, 3),
                                            .weights = tagged(4, "any", (neo_dim[]){6, 4, 1, 1}),
                                            .dst = IMAGE("nhwc", 6, 3, 3),
                                            .strides = {1, 1}};
}

static void convolution_depthwise(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->convolution = (neo_convolution_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                                            .src = IMAGE("nhwc", 4, 5, 5),
                                            .weights = tagged(5, "any", (neo_dim[]){4, 1, 1, 3, 3}),
                                            .dst = IMAGE("nhwc", 4, 3, 3),
                                            .strides = {2, 2},
                                            .padding_left = {1, 1},
                                            .padding_right = {1, 1}};
}

static void convolution_depthwise_bf16(struct primitive_problem *p, neo_engine *engine)
{
    convolution_depthwise(p, engine);
    p->convolution.src.data_type = p->convolution.weights.data_type = NEO_BF16;
    p->convolution.dst.data_type = NEO_BF16;
}

static void reorder_plain(struct primitive_problem *p, neo_engine *engine)
{
    (void)engine;
    p->reorder_src = IMAGE("nchw", 3, 4, 5);
    p->reorder_dst = IMAGE("nhwc", 3, 4, 5);
}

/* The layout that a matrix multiplication chooses for its weights. */
static neo_memory_desc packed_weights(neo_engine *engine)
{
    struct primitive_problem chooser = {0};
    neo_primitive_desc *pd;
    matmul_any(&chooser, engine);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &chooser.matmul, NULL), NEO_OK);
    neo_memory_desc packed = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_primitive_desc_destroy(pd);
    return packed;
}

static void reorder_pack(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_src = MATRIX("ab", 7, 9);
    p->reorder_dst = packed_weights(engine);
}

/* The same for weights of s8, which have panels of their own on every processor. */
static neo_memory_desc packed_s8(neo_engine *engine)
{
    struct primitive_problem chooser = {0};
    neo_primitive_desc *pd;
    matmul_any(&chooser, engine);
    chooser.matmul.src.data_type = chooser.matmul.weights.data_type = NEO_S8;
    chooser.matmul.dst.data_type = NEO_S8;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &chooser.matmul, NULL), NEO_OK);
    neo_memory_desc packed = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_primitive_desc_destroy(pd);
    return packed;
}

static void reorder_pack_s8(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_dst = packed_s8(engine);
    p->reorder_src = MATRIX("ab", 7, 9);
    p->reorder_src.data_type = NEO_S8;
}

static void reorder_unpack_s8(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_src = packed_s8(engine);
    p->reorder_dst = MATRIX("ba", 7, 9);
    p->reorder_dst.data_type = NEO_S8;
}

/* What a depthwise convolution of bf16 chooses, and the same weights plain. */
static neo_memory_desc packed_depthwise(neo_engine *engine, neo_memory_desc *plain)
{
    struct primitive_problem chooser = {0};
    neo_primitive_desc *pd;
    convolution_depthwise_bf16(&chooser, engine);
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &chooser.convolution, NULL),
                     NEO_OK);
    neo_memory_desc packed = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_primitive_desc_destroy(pd);
    *plain = tagged(5, "abcde", packed.dims);
    plain->data_type = NEO_BF16;
    return packed;
}

static void reorder_pack_depthwise(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_dst = packed_depthwise(engine, &p->reorder_src);
}

static void reorder_unpack_depthwise(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_src = packed_depthwise(engine, &p->reorder_dst);
}

static void reorder_unpack(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_src = packed_weights(engine);
    p->reorder_dst = MATRIX("ba", 7, 9);
}

static void reorder_convert(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_src = MATRIX("ab", 7, 9);
    p->reorder_src.data_type = NEO_S8;
    p->reorder_dst = packed_weights(engine);
}

static void reorder_convert_back(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_src = packed_weights(engine);
    p->reorder_dst = MATRIX("ba", 7, 9);
    p->reorder_dst.data_type = NEO_S8;
}

static void reorder_repack(struct primitive_problem *p, neo_engine *engine)
{
    p->reorder_src = p->reorder_dst = packed_weights(engine);
}

static void matmul_bf16(struct primitive_problem *p, neo_engine *engine)
{
    matmul_plain(p, engine);
    p->matmul.src.data_type = p->matmul.weights.data_type = p->matmul.dst.data_type = NEO_BF16;
}

static void matmul_blocks(struct primitive_problem *p, neo_engine *engine)
{
    const neo_block_source source = {
        .k = 32, .n = 9, .group = 16, .type = NEO_S4, .scale_type = NEO_F32};
    (void)engine;
    p->matmul = (neo_matmul_desc){.src = MATRIX("ab", 5, 32), .dst = MATRIX("ab", 5, 9)};
    assert_int_equal(neo_block_weights_describe(&p->matmul.weights, &source), NEO_OK);
    assert_int_equal(neo_attributes_set_dynamic_src(p->attributes, NEO_S8), NEO_OK);
}

static void convolution_bf16(struct primitive_problem *p, neo_engine *engine)
{
    convolution_nhwc(p, engine);
    p->convolution.src.data_type = p->convolution.weights.data_type = NEO_BF16;
    p->convolution.dst.data_type = NEO_BF16;
}

static const struct {
    const char *name;
    void (*fill)(struct primitive_problem *p, neo_engine *engine);
} problems[] = {
    {"matmul, plain", matmul_plain},
    {"matmul, one row", matmul_row},
    {"matmul, any layout, bias", matmul_any},
    {"matmul, columns of everything", matmul_columns},
    {"matmul, columns of A", matmul_outer},
    {"matmul, batched", matmul_batched},
    {"matmul, post-operations", matmul_post_ops},
    {"matmul, bf16", matmul_bf16},
    {"matmul, blocks", matmul_blocks},
    {"convolution, nhwc", convolution_nhwc},
    {"convolution, nchw, plain weights", convolution_nchw},
    {"convolution, any layout", convolution_any},
    {"convolution, Winograd", convolution_winograd},
    {"convolution, Winograd, nchw", convolution_winograd_nchw},
    {"convolution, Winograd, dilated", convolution_winograd_dilated},
    {"convolution, 1x1", convolution_point},
    {"convolution, depthwise", convolution_depthwise},
    {"convolution, depthwise, bf16", convolution_depthwise_bf16},
    {"convolution, bf16", convolution_bf16},
    {"reorder, plain", reorder_plain},
    {"reorder, packing", reorder_pack},
    {"reorder, unpacking", reorder_unpack},
    {"reorder, packing another type", reorder_convert},
    {"reorder, unpacking to another type", reorder_convert_back},
    {"reorder, packed to packed", reorder_repack},
    {"reorder, packing s8", reorder_pack_s8},
    {"reorder, unpacking s8", reorder_unpack_s8},
    {"reorder, packing for depthwise kernels", reorder_pack_depthwise},
    {"reorder, unpacking what is for depthwise kernels", reorder_unpack_depthwise},
};
const size_t primitive_problem_count = count_of(problems);

void primitive_problem_init(struct primitive_problem *p, neo_engine *engine, size_t number,
                            bool user_scratchpad)
{
    *p = (struct primitive_problem){.name = problems[number].name};
    assert_int_equal(neo_attributes_create(&p->attributes), NEO_OK);
    if (user_scratchpad)
        neo_attributes_set_scratchpad_mode(p->attributes, NEO_SCRATCHPAD_USER);
    problems[number].fill(p, engine);
}

void primitive_problem_deinit(struct primitive_problem *p)
{
    neo_attributes_destroy(p->attributes);
}

static neo_status describe(neo_primitive_desc **out, neo_engine *engine,
                           const struct primitive_problem *p)
{
    if (p->matmul.dst.ndims)
        return neo_matmul_primitive_desc_create(out, engine, &p->matmul, p->attributes);
    if (p->convolution.dst.ndims)
        return neo_convolution_primitive_desc_create(out, engine, &p->convolution, p->attributes);
    return neo_reorder_primitive_desc_create(out, engine, &p->reorder_src, &p->reorder_dst,
                                             p->attributes);
}

neo_status primitive_problem_describe(neo_primitive_desc **out, neo_engine *engine,
                                      const struct primitive_problem *p, int index)
{
    neo_status status = describe(out, engine, p);
    for (int step = 0; step < index && status == NEO_OK; step++)
        status = neo_primitive_desc_next(*out);
    if (status != NEO_OK) {
        neo_primitive_desc_destroy(*out);
        *out = NULL;
    }
    return status;
}

void primitive_for_each(neo_engine *engine, bool user_scratchpad, primitive_visit *visit)
{
    for (size_t number = 0; number < primitive_problem_count; number++) {
        struct primitive_problem problem;
        neo_primitive_desc *pd;
        neo_status status = NEO_OK;
        primitive_problem_init(&problem, engine, number, user_scratchpad);
        for (int index = 0; status == NEO_OK; index++) {
            status = primitive_problem_describe(&pd, engine, &problem, index);
            if (status == NEO_OK)
                visit(&problem, index, pd);
            neo_primitive_desc_destroy(pd);
        }
        assert_int_equal(status, NEO_LAST_IMPLEMENTATION);
        primitive_problem_deinit(&problem);
    }
}

neo_status primitive_describe_matmul(neo_primitive_desc **out, neo_engine *engine, neo_dim m,
                                     neo_dim n, neo_dim k)
{
    neo_matmul_desc desc = {0};
    neo_dim dims[] = {m, k}, strides[] = {2 * k, 2};
    neo_memory_desc_init_strides(&desc.src, 2, dims, NEO_F32, strides);
    neo_memory_desc_init_tag(&desc.weights, 2, (neo_dim[]){k, n}, NEO_F32, "ab");
    neo_memory_desc_init_tag(&desc.dst, 2, (neo_dim[]){m, n}, NEO_F32, "ab");
    return neo_matmul_primitive_desc_create(out, engine, &desc, NULL);
}

/* ---- arguments ---- */

static void add(struct primitive_args *args, neo_engine *engine, int arg,
                const neo_memory_desc *desc, unsigned seed)
{
    size_t bytes = neo_memory_desc_size(desc);
    void *buffer = aligned_alloc(128, round_up(bytes ? bytes : 1, 128));
    neo_memory *memory;
    assert_non_null(buffer);
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ((float *)buffer)[i] = (float)((i * 7 + seed) % 5) - 2;
    assert_int_equal(neo_memory_create(&memory, desc, engine, buffer), NEO_OK);
    assert_true(args->count < PRIMITIVE_MAX_ARGS);
    args->list[args->count] = (neo_exec_arg){arg, memory};
    args->buffers[args->count++] = buffer;
}

struct primitive_args primitive_args_make(neo_engine *engine, const neo_primitive_desc *pd,
                                          unsigned seed, int threads)
{
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    struct primitive_args args = {.count = 0};
    for (size_t i = 0; i < count_of(names); i++)
        if (neo_primitive_desc_query(pd, names[i]))
            add(&args, engine, names[i], neo_primitive_desc_query(pd, names[i]), seed++);
    for (int i = 0; i < 8; i++) {
        const int operands[] = {NEO_ARG_ATTR_MULTIPLE_POST_OP(i) | NEO_ARG_SRC_1,
                                NEO_ARG_ATTR_MULTIPLE_POST_OP(i) | NEO_ARG_WEIGHTS};
        for (size_t j = 0; j < count_of(operands); j++)
            if (neo_primitive_desc_query(pd, operands[j]))
                add(&args, engine, operands[j], neo_primitive_desc_query(pd, operands[j]), seed++);
    }
    size_t scratch = neo_primitive_desc_scratchpad_size(pd, threads);
    if (scratch) {
        neo_memory_desc desc;
        neo_dim bytes = (neo_dim)scratch;
        assert_int_equal(neo_memory_desc_init_tag(&desc, 1, &bytes, NEO_U8, "a"), NEO_OK);
        add(&args, engine, NEO_ARG_SCRATCHPAD, &desc, 0);
    }
    return args;
}

void primitive_args_free(struct primitive_args *args)
{
    for (int i = 0; i < args->count; i++) {
        neo_memory_destroy(args->list[i].memory);
        free(args->buffers[i]);
    }
    args->count = 0;
}

void *primitive_args_dst(const struct primitive_args *args, size_t *bytes)
{
    for (int i = 0; i < args->count; i++) {
        if (args->list[i].arg != NEO_ARG_DST)
            continue;
        *bytes = neo_memory_desc_size(neo_memory_get_desc(args->list[i].memory));
        return args->buffers[i];
    }
    return NULL;
}
