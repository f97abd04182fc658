/* Attributes: setters that check, and copies. */
#include "src/primitive/attributes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "neoprene/primitive.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/tensor/descriptor.h"

const neo_attributes attributes_default = {.scratchpad = NEO_SCRATCHPAD_LIBRARY};

neo_status attributes_init_copy(neo_attributes *to, const neo_attributes *from)
{
    *to = *from;
    to->post_ops = NULL;
    if (from->post_op_count == 0)
        return NEO_OK;
    size_t bytes = (size_t)from->post_op_count * sizeof *from->post_ops;
    to->post_ops = malloc(bytes);
    if (!to->post_ops) {
        to->post_op_count = 0;
        return NEO_OUT_OF_MEMORY;
    }
    memcpy(to->post_ops, from->post_ops, bytes);
    return NEO_OK;
}

void attributes_deinit(neo_attributes *attributes)
{
    free(attributes->post_ops);
    attributes->post_ops = NULL;
    attributes->post_op_count = 0;
}

neo_status neo_attributes_clone(neo_attributes **out, const neo_attributes *attributes)
{
    if (!out || !attributes)
        return log_refusal(__func__, "out or attributes is NULL");
    *out = NULL;
    neo_attributes *copy = malloc(sizeof *copy);
    if (!copy)
        return NEO_OUT_OF_MEMORY;
    neo_status status = attributes_init_copy(copy, attributes);
    if (status != NEO_OK) {
        free(copy);
        return status;
    }
    *out = copy;
    return NEO_OK;
}

neo_status neo_attributes_create(neo_attributes **out)
{
    return out ? neo_attributes_clone(out, &attributes_default)
               : log_refusal(__func__, "out is NULL");
}

void neo_attributes_destroy(neo_attributes *attributes)
{
    if (!attributes)
        return;
    attributes_deinit(attributes);
    free(attributes);
}

/* ---- modes ---- */

neo_status neo_attributes_set_scratchpad_mode(neo_attributes *attributes, neo_scratchpad_mode mode)
{
    if (!attributes || (unsigned)mode > NEO_SCRATCHPAD_USER)
        return log_refusal(__func__, "attributes is NULL or the mode is unknown");
    attributes->scratchpad = mode;
    return NEO_OK;
}

neo_scratchpad_mode neo_attributes_get_scratchpad_mode(const neo_attributes *attributes)
{
    return attributes ? attributes->scratchpad : NEO_SCRATCHPAD_LIBRARY;
}

neo_status neo_attributes_set_fpmath_mode(neo_attributes *attributes, neo_fpmath_mode mode,
                                          int apply_to_int)
{
    if (!attributes || (unsigned)mode > NEO_FPMATH_ANY)
        return log_refusal(__func__, "attributes is NULL or the mode is unknown");
    attributes->fpmath = mode;
    attributes->fpmath_for_int = apply_to_int != 0;
    return NEO_OK;
}

neo_status neo_attributes_set_accumulation_mode(neo_attributes *attributes,
                                                neo_accumulation_mode mode)
{
    if (!attributes || (unsigned)mode > NEO_ACCUMULATION_S32)
        return log_refusal(__func__, "attributes is NULL or the mode is unknown");
    attributes->accumulation = mode;
    return NEO_OK;
}

neo_status neo_attributes_set_deterministic(neo_attributes *attributes, int deterministic)
{
    if (!attributes)
        return log_refusal(__func__, "attributes is NULL");
    attributes->deterministic = deterministic != 0;
    return NEO_OK;
}

neo_status neo_attributes_set_dynamic_src(neo_attributes *attributes, neo_data_type type)
{
    if (!attributes)
        return log_refusal(__func__, "attributes is NULL");
    if (type != NEO_DATA_TYPE_UNDEF && type != NEO_S8)
        return log_refusal(__func__, "src is quantised to s8, or not at all");
    attributes->dynamic_src = type;
    return NEO_OK;
}

neo_status neo_attributes_set_memory_budget(neo_attributes *attributes, size_t bytes)
{
    if (!attributes)
        return log_refusal(__func__, "attributes is NULL");
    attributes->memory_budget = bytes;
    return NEO_OK;
}

size_t neo_attributes_get_memory_budget(const neo_attributes *attributes)
{
    return attributes ? attributes->memory_budget : 0;
}

/* ---- quantisation ---- */

static neo_status set_quantization(neo_attributes *attributes, const struct quantization *wanted)
{
    for (int i = 0; i < attributes->quantization_count; i++) {
        if (attributes->quantizations[i].arg == wanted->arg) {
            attributes->quantizations[i] = *wanted;
            return NEO_OK;
        }
    }
    if (attributes->quantization_count == MAX_QUANTIZATIONS)
        return log_refusal(__func__, "scales and zero points are set for too many arguments");
    int at = attributes->quantization_count++;
    for (; at > 0 && attributes->quantizations[at - 1].arg > wanted->arg; at--)
        attributes->quantizations[at] = attributes->quantizations[at - 1];
    attributes->quantizations[at] = *wanted;
    return NEO_OK;
}

static neo_status check_quantization(neo_attributes *attributes, int flag, int arg, int mask,
                                     int group_ndims, const neo_dim *group_dims, neo_data_type type)
{
    if (!attributes || arg <= 0 || mask < 0 || mask >> NEO_MAX_NDIMS || !neo_data_type_bits(type))
        return log_refusal("scales or zero points",
                           "attributes is NULL, or the argument, the mask or the data "
                           "type is out of range");
    if (group_ndims != 0 &&
        (group_ndims != 2 || !group_dims || group_dims[0] < 1 || group_dims[1] < 1))
        return log_refusal("scales or zero points", "groups have two sizes of at least 1, or none");
    struct quantization wanted = {
        .arg = flag | arg, .mask = mask, .group_ndims = group_ndims, .type = type};
    if (group_ndims)
        memcpy(wanted.group_dims, group_dims, sizeof wanted.group_dims);
    return set_quantization(attributes, &wanted);
}

neo_status neo_attributes_set_scales(neo_attributes *attributes, int arg, int mask, int group_ndims,
                                     const neo_dim *group_dims, neo_data_type type)
{
    return check_quantization(attributes, NEO_ARG_ATTR_SCALES, arg, mask, group_ndims, group_dims,
                              type);
}

neo_status neo_attributes_set_zero_points(neo_attributes *attributes, int arg, int mask,
                                          int group_ndims, const neo_dim *group_dims,
                                          neo_data_type type)
{
    return check_quantization(attributes, NEO_ARG_ATTR_ZERO_POINTS, arg, mask, group_ndims,
                              group_dims, type);
}

/* ---- post-operations ---- */

static neo_status append(neo_attributes *attributes, const struct post_op *op)
{
    if (!attributes)
        return log_refusal("post-operation", "attributes is NULL");
    if (attributes->post_op_count == NEO_MAX_POST_OPS)
        return log_refusal("post-operation", "there are 32 of them already");
    size_t count = (size_t)attributes->post_op_count + 1;
    struct post_op *grown = realloc(attributes->post_ops, count * sizeof *grown);
    if (!grown)
        return NEO_OUT_OF_MEMORY;
    grown[count - 1] = *op;
    attributes->post_ops = grown;
    attributes->post_op_count = (int)count;
    return NEO_OK;
}

neo_status neo_attributes_append_sum(neo_attributes *attributes, float scale, int32_t zero_point,
                                     neo_data_type type)
{
    if (type != NEO_DATA_TYPE_UNDEF && !neo_data_type_bits(type))
        return log_refusal(__func__, "the data type is unknown");
    struct post_op op;
    memset(&op, 0, sizeof op);
    op.kind = NEO_POST_OP_SUM;
    op.sum.scale = scale;
    op.sum.zero_point = zero_point;
    op.sum.type = type;
    return append(attributes, &op);
}

const char *attributes_eltwise_wrong(neo_eltwise algorithm, float alpha, float beta)
{
    if ((unsigned)algorithm >= ELTWISE_F32_COUNT)
        return "the algorithm is unknown";
    if ((algorithm == NEO_ELTWISE_CLIP || algorithm == NEO_ELTWISE_CLIP_V2) && !(alpha <= beta))
        return "clip's lower bound alpha is above its upper bound beta";
    if (algorithm == NEO_ELTWISE_SOFT_RELU && alpha == 0)
        return "soft_relu divides by alpha, which is 0";
    return NULL;
}

neo_status neo_attributes_append_eltwise(neo_attributes *attributes, neo_eltwise algorithm,
                                         float alpha, float beta)
{
    const char *wrong = attributes_eltwise_wrong(algorithm, alpha, beta);
    if (wrong)
        return log_refusal(__func__, wrong);
    struct post_op op;
    memset(&op, 0, sizeof op);
    op.kind = NEO_POST_OP_ELTWISE;
    op.eltwise.algorithm = algorithm;
    op.eltwise.alpha = alpha;
    op.eltwise.beta = beta;
    return append(attributes, &op);
}

/* condition: select's; NULL for all others, which have none. */
static neo_status append_binary(const char *function, neo_attributes *attributes,
                                neo_binary algorithm, const neo_memory_desc *src1,
                                const neo_memory_desc *condition)
{
    const char *wrong = desc_wrong(src1);
    if (!wrong && condition)
        wrong = desc_wrong(condition);
    if (wrong)
        return log_refusal(function, wrong);
    struct post_op op;
    memset(&op, 0, sizeof op);
    op.kind = NEO_POST_OP_BINARY;
    op.binary.algorithm = algorithm;
    op.binary.src1 = *src1;
    if (condition)
        op.binary.condition = *condition;
    return append(attributes, &op);
}

neo_status neo_attributes_append_binary(neo_attributes *attributes, neo_binary algorithm,
                                        const neo_memory_desc *src1)
{
    if (algorithm == NEO_BINARY_SELECT)
        return log_refusal(__func__, "select has a condition: neo_attributes_append_select()");
    if ((unsigned)algorithm > NEO_BINARY_NE || desc_is_absent(src1))
        return log_refusal(__func__, "the algorithm is unknown or src1 is absent");
    return append_binary(__func__, attributes, algorithm, src1, NULL);
}

neo_status neo_attributes_append_select(neo_attributes *attributes, const neo_memory_desc *src1,
                                        const neo_memory_desc *condition)
{
    if (desc_is_absent(src1) || desc_is_absent(condition))
        return log_refusal(__func__, "src1 or the condition is absent");
    return append_binary(__func__, attributes, NEO_BINARY_SELECT, src1, condition);
}

neo_status neo_attributes_append_prelu(neo_attributes *attributes, int mask)
{
    if (mask < 0 || mask >> NEO_MAX_NDIMS)
        return log_refusal(__func__, "the mask has bits beyond the last dimension");
    struct post_op op;
    memset(&op, 0, sizeof op);
    op.kind = NEO_POST_OP_PRELU;
    op.prelu.mask = mask;
    return append(attributes, &op);
}

static bool is_type(neo_data_type type)
{
    return neo_data_type_bits(type) > 0;
}

neo_status neo_attributes_append_depthwise(neo_attributes *attributes, neo_data_type weights_type,
                                           neo_data_type bias_type, neo_data_type dst_type,
                                           neo_dim kernel, neo_dim stride, neo_dim padding_left)
{
    if (!is_type(weights_type) || !is_type(dst_type) ||
        (bias_type != NEO_DATA_TYPE_UNDEF && !is_type(bias_type)))
        return log_refusal(__func__, "a data type is unknown");
    if (kernel < 1 || kernel > INT32_MAX || stride < 1 || stride > INT32_MAX || padding_left < 0 ||
        padding_left > INT32_MAX)
        return log_refusal(__func__, "the kernel, the stride or the padding is out of range");
    struct post_op op;
    memset(&op, 0, sizeof op);
    op.kind = NEO_POST_OP_DEPTHWISE;
    op.depthwise.weights = weights_type;
    op.depthwise.bias = bias_type;
    op.depthwise.dst = dst_type;
    op.depthwise.kernel = kernel;
    op.depthwise.stride = stride;
    op.depthwise.padding = padding_left;
    return append(attributes, &op);
}

int neo_attributes_post_op_count(const neo_attributes *attributes)
{
    return attributes ? attributes->post_op_count : 0;
}

neo_post_op_kind neo_attributes_post_op_kind(const neo_attributes *attributes, int index)
{
    bool there = attributes && index >= 0 && index < attributes->post_op_count;
    return there ? attributes->post_ops[index].kind : NEO_POST_OP_UNDEF;
}

/* ---- names ---- */

const char *neo_eltwise_name(neo_eltwise algorithm)
{
    static const char *const names[] = {
#define NAME(name, text, formula) [name] = text,
        NEO_ELTWISE_LIST(NAME)
#undef NAME
    };
    return (size_t)algorithm < count_of(names) ? names[algorithm] : "undef";
}

const char *neo_binary_name(neo_binary algorithm)
{
    static const char *const names[] = {
#define NAME(name, text) [name] = text,
        NEO_BINARY_LIST(NAME)
#undef NAME
    };
    return (size_t)algorithm < count_of(names) ? names[algorithm] : "undef";
}
