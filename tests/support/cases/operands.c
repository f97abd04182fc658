/* Three post-operations with operands. */
#include "tests/support/cases/operands.h"

#include "tests/support/test.h"

#include <string.h>

static const char plain_tags[][6] = {"", "a", "ab", "abc", "abcd", "abcde"};

/* Broadcast along every dimension whose number is odd, or even, as `which` is. */
static struct tensor make_operand(neo_engine *engine, int ndims, const neo_dim *dims, int which)
{
    neo_dim sizes[5];
    for (int i = 0; i < ndims; i++)
        sizes[i] = i % 2 == which ? 1 : dims[i];
    neo_memory_desc desc = tensor_desc(ndims, sizes, plain_tags[ndims]);
    return tensor_make(engine, &desc, 11 + (unsigned)which);
}

struct operands operands_make(neo_engine *engine, int ndims, const neo_dim *dims)
{
    struct operands made = {.scale = make_operand(engine, ndims, dims, 0),
                            .shift = make_operand(engine, ndims, dims, 1),
                            .other = make_operand(engine, ndims, dims, 1),
                            .condition = make_operand(engine, ndims, dims, 0)};
    assert_int_equal(neo_attributes_create(&made.attributes), NEO_OK);
    assert_int_equal(
        neo_attributes_append_binary(made.attributes, NEO_BINARY_MUL, &made.scale.desc), NEO_OK);
    assert_int_equal(
        neo_attributes_append_binary(made.attributes, NEO_BINARY_ADD, &made.shift.desc), NEO_OK);
    assert_int_equal(
        neo_attributes_append_select(made.attributes, &made.other.desc, &made.condition.desc),
        NEO_OK);
    return made;
}

void operands_free(struct operands *operands)
{
    neo_attributes_destroy(operands->attributes);
    tensor_free(&operands->scale);
    tensor_free(&operands->shift);
    tensor_free(&operands->other);
    tensor_free(&operands->condition);
}

void operands_set(const struct operands *operands, neo_exec_arg *args)
{
    const neo_exec_arg list[OPERAND_COUNT] = {
        {NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1, operands->scale.memory},
        {NEO_ARG_ATTR_MULTIPLE_POST_OP(1) | NEO_ARG_SRC_1, operands->shift.memory},
        {NEO_ARG_ATTR_MULTIPLE_POST_OP(2) | NEO_ARG_SRC_1, operands->other.memory},
        {NEO_ARG_ATTR_MULTIPLE_POST_OP(2) | NEO_ARG_SRC_2, operands->condition.memory},
    };
    memcpy(args, list, sizeof list);
}

float operands_apply(const struct operands *operands, float value, const neo_dim *position)
{
    if (*tensor_at(&operands->condition, position) == 0)
        return *tensor_at(&operands->other, position);
    return value * *tensor_at(&operands->scale, position) + *tensor_at(&operands->shift, position);
}
