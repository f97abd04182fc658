/* Two post-operations with operands. */
#include "tests/support/cases/operands.h"

#include "tests/support/test.h"

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
                            .shift = make_operand(engine, ndims, dims, 1)};
    assert_int_equal(neo_attributes_create(&made.attributes), NEO_OK);
    assert_int_equal(
        neo_attributes_append_binary(made.attributes, NEO_BINARY_MUL, &made.scale.desc), NEO_OK);
    assert_int_equal(
        neo_attributes_append_binary(made.attributes, NEO_BINARY_ADD, &made.shift.desc), NEO_OK);
    return made;
}

void operands_free(struct operands *operands)
{
    neo_attributes_destroy(operands->attributes);
    tensor_free(&operands->scale);
    tensor_free(&operands->shift);
}

void operands_set(const struct operands *operands, neo_exec_arg *args)
{
    neo_memory *const memories[OPERAND_COUNT] = {operands->scale.memory, operands->shift.memory};
    for (int i = 0; i < OPERAND_COUNT; i++)
        args[i] = (neo_exec_arg){NEO_ARG_ATTR_MULTIPLE_POST_OP(i) | NEO_ARG_SRC_1, memories[i]};
}

float operands_apply(const struct operands *operands, float value, const neo_dim *position)
{
    return value * *tensor_at(&operands->scale, position) + *tensor_at(&operands->shift, position);
}
