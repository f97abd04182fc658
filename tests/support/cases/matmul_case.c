#include "tests/support/cases/matmul_case.h"

#include <string.h>

#include "tests/support/session.h"
#include "tests/support/test.h"

struct expected {
    const struct tensor *src, *weights, *bias, *old;
    struct tensor *dst;
    neo_dim k;
    const struct matmul_variant *variant;
};

static void check_element(void *context, const neo_dim *position)
{
    const struct expected *e = context;
    int last = e->dst->desc.ndims - 1;
    neo_dim a[NEO_MAX_NDIMS], b[NEO_MAX_NDIMS];
    memcpy(a, position, sizeof a);
    memcpy(b, position, sizeof b);
    a[last] = b[last - 1] = 0;
    float sum =
        line_dot(0, tensor_line(e->src, a, last), tensor_line(e->weights, b, last - 1), e->k);
    if (e->bias)
        sum += *tensor_at(e->bias, e->bias->desc.ndims == 1 ? position + last : position);
    if (e->variant->finish)
        sum = e->variant->finish(sum, *tensor_at(e->old, position));
    if (e->variant->operands)
        sum = operands_apply(e->variant->operands, sum, position);
    float got = *tensor_at(e->dst, position);
    if (got != sum)
        fail_msg("at %d,%d: got %g, want %g", (int)position[last - 1], (int)position[last],
                 (double)got, (double)sum);
}

static neo_memory_desc runtime_desc(const neo_memory_desc *desc)
{
    neo_dim dims[NEO_MAX_NDIMS], strides[NEO_MAX_NDIMS];
    neo_memory_desc out;
    for (int i = 0; i < desc->ndims; i++)
        dims[i] = strides[i] = NEO_RUNTIME_DIM;
    assert_int_equal(neo_memory_desc_init_strides(&out, desc->ndims, dims, NEO_F32, strides),
                     NEO_OK);
    out.offset = desc->offset;
    return out;
}

static neo_memory_desc operand_desc(const struct matmul_case *row, const neo_dim *dims,
                                    const char *tag, neo_dim gap)
{
    return strcmp(tag, "any") ? tensor_part(row->ndims, dims, tag, gap)
                              : tensor_desc(row->ndims, dims, tag);
}

static const char plain_tags[][6] = {"", "a", "ab", "abc", "abcd", "abcde"};

static neo_memory_desc bias_of(const struct matmul_case *row, neo_dim step, int is_vector)
{
    neo_dim dims[5];
    for (int i = 0; i < row->ndims; i++)
        dims[i] = row->bias_mask >> i & 1 ? row->dst[i] : 1;
    int last = row->ndims - 1;
    neo_memory_desc bias = is_vector && row->bias_mask == 1 << last
                               ? tensor_desc(1, &row->dst[last], "a")
                               : tensor_desc(row->ndims, dims, plain_tags[row->ndims]);
    for (int i = 0; step && i < bias.ndims; i++)
        bias.strides[i] *= step;
    return bias;
}

/* What a row asks for, and what it is given. */
struct row_descs {
    neo_matmul_desc desc;
    neo_memory_desc src, weights, dst, bias; /* actual ones; weights are plain */
};

static void describe_row(struct row_descs *d, const struct matmul_case *row,
                         const struct matmul_variant *variant)
{
    neo_memory_desc src = operand_desc(row, row->src, row->src_tag, variant->gap);
    neo_memory_desc weights = operand_desc(row, row->weights, row->weights_tag, variant->gap);
    bool is_any = weights.format_kind == NEO_FORMAT_ANY;
    neo_memory_desc plain =
        is_any ? operand_desc(row, row->weights, plain_tags[row->ndims], variant->gap) : weights;
    d->src = tensor_repeated(&src, variant->repeated_src);
    d->weights = tensor_repeated(&plain, variant->repeated_weights);
    d->dst = operand_desc(row, row->dst, row->dst_tag, variant->dst_gap);
    d->desc =
        (neo_matmul_desc){.src = d->src, .weights = is_any ? weights : d->weights, .dst = d->dst};
    if (row->bias_mask >= 0)
        d->desc.bias = d->bias = bias_of(row, variant->bias_step, variant->bias_is_vector);
    if (!row->runtime && variant->bias_is_any && row->bias_mask >= 0)
        d->desc.bias = tensor_desc(d->bias.ndims, d->bias.dims, "any");
    if (!row->runtime)
        return;
    d->desc.src = runtime_desc(&d->desc.src);
    d->desc.weights = runtime_desc(&d->desc.weights);
    d->desc.dst = runtime_desc(&d->desc.dst);
    if (row->bias_mask >= 0)
        d->desc.bias = runtime_desc(&d->desc.bias);
}

/* The index-th implementation, or NULL. */
static neo_primitive_desc *implementation_at(const neo_matmul_desc *desc,
                                             const neo_attributes *attributes, int index)
{
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, desc, attributes), NEO_OK);
    neo_status status = NEO_OK;
    for (int i = 0; i < index && status == NEO_OK; i++)
        status = neo_primitive_desc_next(pd);
    if (status == NEO_OK)
        return pd;
    assert_int_equal(status, NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
    return NULL;
}

/* The index-th implementation of a row; false if there are not so many. */
static bool run_one(const struct matmul_case *row, const struct matmul_variant *variant, int index)
{
    struct row_descs d;
    describe_row(&d, row, variant);
    neo_primitive_desc *pd = implementation_at(&d.desc, variant->attributes, index);
    if (!pd)
        return false;
    if (!row->runtime) {
        d.src = *neo_primitive_desc_query(pd, NEO_ARG_SRC);
        d.dst = *neo_primitive_desc_query(pd, NEO_ARG_DST);
        if (row->bias_mask >= 0)
            d.bias = *neo_primitive_desc_query(pd, NEO_ARG_BIAS);
    }
    struct tensor src = tensor_make(engine, &d.src, 3),
                  weights = tensor_make(engine, &d.weights, 7);
    struct tensor dst = tensor_make(engine, &d.dst, 9), old = tensor_make(engine, &d.dst, 9);
    struct tensor packed = {0}, bias = {0};
    if (row->bias_mask >= 0)
        bias = tensor_make(engine, &d.bias, 5);
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    if (!row->runtime && !neo_memory_desc_equal(chosen, &d.weights))
        packed = tensor_reordered(engine, stream, &weights, chosen);
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[4 + OPERAND_COUNT] = {
        {NEO_ARG_SRC, src.memory},
        {NEO_ARG_WEIGHTS, packed.memory ? packed.memory : weights.memory},
        {NEO_ARG_DST, dst.memory},
        {NEO_ARG_BIAS, bias.memory},
    };
    int count = bias.memory ? 4 : 3;
    if (variant->operands) {
        operands_set(variant->operands, args + count);
        count += OPERAND_COUNT;
    }
    assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
    struct expected expected = {.src = &src,
                                .weights = &weights,
                                .bias = bias.memory ? &bias : NULL,
                                .old = &old,
                                .dst = &dst,
                                .k = row->src[row->ndims - 1],
                                .variant = variant};
    tensor_for_each(row->ndims, row->dst, check_element, &expected);
    tensor_check_gaps(&dst);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    struct tensor *all[] = {&src, &weights, &dst, &old, &bias, &packed};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    return true;
}

void matmul_case_check(const struct matmul_case *row, const struct matmul_variant *variant)
{
    int count = 0;
    while (run_one(row, variant, count))
        count++;
    assert_true(count > 0);
}
