/* Attributes made of bytes. */
#include "tests/fuzz/attributes.h"

#include <string.h>

#include "kernels/elementwise/f32/eltwise.h"
#include "tests/fuzz/layout.h"
#include "tests/fuzz/told.h"
#include "tests/support/require.h"

/* Anything that is a float, but most often a small number. */
static float number(struct fuzz_bytes *bytes)
{
    static const float numbers[] = {0, 1, -1, 0.5f, 2, -3, 0.1f};
    if (!fuzz_rarely(bytes, 16))
        return FUZZ_OF(numbers, bytes);
    uint32_t bits = (uint32_t)fuzz_word(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* In one call of a few: anything beyond the last algorithm, too. */
static int algorithm(int last, struct fuzz_bytes *bytes)
{
    return fuzz_rarely(bytes, 32) ? (int)fuzz_word(bytes) : fuzz_below(bytes, last + 1);
}

static void add_operand(struct fuzz_problem *problem, int arg, const neo_memory_desc *actual)
{
    int index = neo_attributes_post_op_count(problem->attributes) - 1;
    require(problem->operand_count < NEO_MAX_POST_OPS);
    problem->operands[problem->operand_count++] =
        (struct fuzz_operand){NEO_ARG_ATTR_MULTIPLE_POST_OP(index) | arg, *actual};
}

/* ---- post-operations: each returns whether it was appended ---- */

static bool append_sum(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    neo_data_type type = NEO_DATA_TYPE_UNDEF;
    if (fuzz_rarely(bytes, 8)) {
        type = (neo_data_type)fuzz_below(bytes, 10);
        problem->is_right = problem->is_right && (!type || type == NEO_F32);
    }
    float scale = number(bytes);
    problem->is_gentle = problem->is_gentle && scale >= -1 && scale <= 1;
    int zero_point = fuzz_below(bytes, 4);
    FUZZ_TOLD(neo_attributes_append_sum(problem->attributes, scale, zero_point, type));
    return fuzz_told_status == NEO_OK;
}

static bool append_eltwise(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    neo_eltwise kind = (neo_eltwise)algorithm(ELTWISE_F32_COUNT - 1, bytes);
    float alpha = number(bytes), beta = number(bytes);
    problem->is_gentle =
        problem->is_gentle && kind == NEO_ELTWISE_RELU && alpha >= -1 && alpha <= 1;
    FUZZ_TOLD(neo_attributes_append_eltwise(problem->attributes, kind, alpha, beta));
    return fuzz_told_status == NEO_OK;
}

static neo_memory_desc operand_desc(const neo_memory_desc *dst, struct fuzz_bytes *bytes)
{
    neo_dim dims[NEO_MAX_NDIMS];
    unsigned ones = fuzz_byte(bytes);
    for (int i = 0; i < dst->ndims; i++)
        dims[i] = ones >> i % 8 & 1 ? 1 : dst->dims[i];
    if (fuzz_rarely(bytes, 32))
        dims[fuzz_below(bytes, dst->ndims)] += 1;
    return fuzz_layout_make(dst->ndims, dims, true, bytes);
}

static bool fits(const neo_memory_desc *operand, const neo_memory_desc *dst)
{
    for (int i = 0; i < dst->ndims; i++)
        if (operand->dims[i] != dst->dims[i] && operand->dims[i] != 1)
            return false;
    return true;
}

static bool append_binary(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    const neo_memory_desc *dst = &problem->actual[FUZZ_DST];
    neo_binary kind = (neo_binary)algorithm(NEO_BINARY_NE, bytes);
    neo_memory_desc actual = operand_desc(dst, bytes), described;
    if (fuzz_rarely(bytes, 8)) {
        actual.data_type = (neo_data_type)fuzz_below(bytes, 10);
        problem->is_supported = problem->is_supported && actual.data_type == NEO_F32;
    }
    if (fuzz_rarely(bytes, 6))
        actual = fuzz_layout_dense(actual.ndims, actual.dims);
    described = actual;
    if (actual.offset == 0 && neo_memory_desc_size(&actual) && fuzz_rarely(bytes, 6)) {
        actual = fuzz_layout_dense(actual.ndims, actual.dims);
        described = actual;
        described.format_kind = NEO_FORMAT_ANY;
    } else if (problem->is_runtime) {
        fuzz_layout_forget(&described, bytes);
    }
    FUZZ_TOLD(neo_attributes_append_binary(problem->attributes, kind, &described));
    if (fuzz_told_status != NEO_OK)
        return false;
    bool is_linear = kind == NEO_BINARY_ADD || kind == NEO_BINARY_SUB;
    problem->is_gentle = problem->is_gentle && is_linear && actual.data_type == NEO_F32;
    problem->is_right = problem->is_right && fits(&actual, dst);
    add_operand(problem, NEO_ARG_SRC_1, &actual);
    return true;
}

static bool append_prelu(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    const neo_memory_desc *dst = &problem->actual[FUZZ_DST];
    neo_dim dims[NEO_MAX_NDIMS];
    int mask = (int)fuzz_byte(bytes) & ((1 << dst->ndims) - 1);
    if (fuzz_rarely(bytes, 32))
        mask = (int)fuzz_word(bytes);
    FUZZ_TOLD(neo_attributes_append_prelu(problem->attributes, mask));
    if (fuzz_told_status != NEO_OK)
        return false;
    problem->is_gentle = false;
    problem->is_right = problem->is_right && !(mask >> dst->ndims);
    for (int i = 0; i < dst->ndims; i++)
        dims[i] = mask >> i & 1 ? dst->dims[i] : 1;
    neo_memory_desc actual = fuzz_layout_dense(dst->ndims, dims);
    add_operand(problem, NEO_ARG_WEIGHTS, &actual);
    return true;
}

static void append_some(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    static bool (*const append[])(struct fuzz_problem *, struct fuzz_bytes *) = {
        append_eltwise, append_sum, append_binary, append_binary, append_prelu, append_eltwise};
    static const uint8_t counts[] = {0, 0, 0, 1, 1, 2, 3, 5};
    int count = FUZZ_OF(counts, bytes);
    if (fuzz_rarely(bytes, 64))
        count = NEO_MAX_POST_OPS + 1;
    for (int i = 0; i < count; i++) {
        int before = neo_attributes_post_op_count(problem->attributes);
        bool is_there = FUZZ_OF(append, bytes)(problem, bytes);
        int after = neo_attributes_post_op_count(problem->attributes);
        require(after == before + is_there && after <= NEO_MAX_POST_OPS);
    }
}

/* ---- all of them ---- */

static void set_quantization(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    const neo_dim groups[] = {fuzz_below(bytes, 4), fuzz_below(bytes, 4)};
    int arg = fuzz_args[fuzz_below(bytes, FUZZ_TENSORS)], mask = fuzz_below(bytes, 256);
    int group_ndims = fuzz_below(bytes, 4);
    neo_data_type type = (neo_data_type)fuzz_below(bytes, 10);
    if (fuzz_below(bytes, 2))
        FUZZ_TOLD(
            neo_attributes_set_scales(problem->attributes, arg, mask, group_ndims, groups, type));
    else
        FUZZ_TOLD(neo_attributes_set_zero_points(problem->attributes, arg, mask, group_ndims,
                                                 groups, type));
    if (fuzz_told_status == NEO_OK)
        problem->is_quantized = true, problem->is_right = false;
}

static void set_modes(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    neo_attributes *attributes = problem->attributes;
    FUZZ_TOLD(neo_attributes_set_fpmath_mode(attributes, (neo_fpmath_mode)fuzz_below(bytes, 6),
                                             fuzz_below(bytes, 2)));
    FUZZ_TOLD(neo_attributes_set_accumulation_mode(attributes,
                                                   (neo_accumulation_mode)fuzz_below(bytes, 8)));
    FUZZ_TOLD(neo_attributes_set_deterministic(attributes, fuzz_below(bytes, 2)));
}

void fuzz_attributes_make(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    problem->is_gentle = true;
    if (fuzz_below(bytes, 4) == 0)
        return;
    require(neo_attributes_create(&problem->attributes) == NEO_OK);
    if (fuzz_below(bytes, 2))
        FUZZ_TOLD(neo_attributes_set_scratchpad_mode(problem->attributes, NEO_SCRATCHPAD_USER));
    if (fuzz_rarely(bytes, 8))
        set_modes(problem, bytes);
    if (fuzz_rarely(bytes, 64))
        set_quantization(problem, bytes);
    append_some(problem, bytes);
}
