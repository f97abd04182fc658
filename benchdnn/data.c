/* All tensors of one execution, filled, and the argument list that passes them. */
#include "benchdnn/data.h"

#include "benchdnn/attributes/post_ops.h"
#include "benchdnn/fill.h"
#include "benchdnn/import.h"

#include <stdlib.h>
#include <string.h>

static void add_arg(struct data *data, int arg, neo_memory *memory)
{
    data->args[data->arg_count++] = (neo_exec_arg){arg, memory};
}

static bool is_winograd(const neo_primitive_desc *pd)
{
    return strstr(neo_primitive_desc_implementation(pd), "wino") != NULL;
}

/* Where the user gives strides, elements may lie on one another: then the last one written is what
 * all of them are. */
static neo_status store_input(struct tensor *t, const struct dims *strides, neo_engine *engine,
                              neo_stream *stream)
{
    neo_status status = import_values(t, engine, stream);
    if (status == NEO_OK)
        status = tensor_store(t, engine, stream);
    if (status == NEO_OK && strides && strides->count)
        status = tensor_read_values(t, engine, stream);
    return status;
}

/* ---- src, weights, bias, dst ---- */

/* What the primitive chose for `any`; otherwise what the user said, with all sizes. */
static neo_status actual_desc(neo_memory_desc *out, const struct operand *operand,
                              const neo_primitive_desc *pd)
{
    if (operand->runtime)
        return operand_desc(out, operand, true);
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, operand->arg);
    if (!chosen)
        return NEO_RUNTIME_ERROR;
    *out = *chosen;
    return NEO_OK;
}

static neo_status init_operand(struct data *data, const struct problem *p, int i,
                               const neo_primitive_desc *pd, neo_engine *engine, neo_stream *stream)
{
    const struct operand *o = &p->operands[i];
    struct tensor *t = &data->operands[i];
    if (!o->arg)
        return NEO_OK;
    neo_memory_desc desc;
    neo_status status = actual_desc(&desc, o, pd);
    if (status == NEO_OK)
        status = tensor_init(t, o->arg, o->type, &o->dims, &desc, engine);
    if (status != NEO_OK)
        return status;
    add_arg(data, o->arg, t->memory);
    tensor_alloc_values(t);
    fill_operand(t, p, i, is_winograd(pd));
    return i == DST ? import_values(t, engine, stream)
                    : store_input(t, &o->strides, engine, stream);
}

neo_status data_reset_dst(struct data *data, const struct problem *p, neo_engine *engine,
                          neo_stream *stream)
{
    struct tensor *dst = &data->operands[DST];
    const struct tensor *src = &data->operands[SRC];
    if (p->lines.inplace) {
        tensor_mark(dst);
        memcpy(dst->buffer, src->buffer, dst->bytes);
        memcpy(dst->values, src->values, (size_t)dims_elements(&dst->dims) * sizeof *dst->values);
        return NEO_OK;
    }
    bool is_read = post_ops_have_kind(&p->attr.post_ops, POST_OP_SUM);
    if (is_read && dst->desc.format_kind != NEO_FORMAT_PACKED)
        return tensor_store(dst, engine, stream);
    tensor_mark(dst);
    return NEO_OK;
}

/* Where dst is src's buffer it holds what src does. */
static neo_memory *memory_of(const struct data *data, const struct problem *p, int arg,
                             neo_memory *memory)
{
    return p->lines.inplace && arg == p->operands[SRC].arg ? data->operands[DST].memory : memory;
}

static void share_buffer(struct data *data, const struct problem *p)
{
    for (int i = 0; i < data->arg_count; i++)
        data->args[i].memory = memory_of(data, p, data->args[i].arg, data->args[i].memory);
}

/* ---- operands of attributes ---- */

static neo_status dense_desc(neo_memory_desc *out, const struct dims *dims, enum type type)
{
    char tag[NEO_MAX_NDIMS + 1] = "";
    for (int i = 0; i < dims->count; i++)
        tag[i] = (char)('a' + i);
    return neo_memory_desc_init_tag(out, dims->count, dims->at, type_to_neo(type), tag);
}

/* The operand of a post-operation that is this argument: of s8 and 0 or 1 if it is a condition. */
static neo_status init_post_op_operand(struct data *data, struct tensor *t, const struct problem *p,
                                       const struct post_op *op, int arg,
                                       const neo_primitive_desc *pd, neo_engine *engine,
                                       neo_stream *stream)
{
    bool is_binary = op->kind == POST_OP_BINARY;
    struct attribute_shape whole = problem_attribute_shape(p);
    struct attribute_shape shape =
        post_op_shape(&p->attr.post_ops, arg / NEO_ARG_ATTR_MULTIPLE_POST_OP(0) - 1, &whole);
    struct dims dims = post_op_dims(op, &shape);
    enum type type = is_binary ? op->type : TYPE_F32;
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, arg);
    neo_memory_desc desc;
    neo_status status = NEO_OK;
    if (chosen && is_binary && !shape.dst_runtime)
        desc = *chosen;
    else if (is_binary)
        status = post_op_desc(&desc, op, &shape, true);
    else
        status = dense_desc(&desc, &dims, type);
    if (status == NEO_OK)
        status = tensor_init(t, arg, type, &dims, &desc, engine);
    if (status != NEO_OK)
        return status;
    add_arg(data, arg, t->memory);
    tensor_alloc_values(t);
    if (arg % NEO_ARG_ATTR_MULTIPLE_POST_OP(0) == NEO_ARG_SRC_2)
        fill_condition(t);
    else if (is_binary)
        fill_binary(t);
    else
        fill_prelu(t);
    return store_input(t, &op->strides, engine, stream);
}

static neo_status init_post_op(struct data *data, const struct problem *p, int i,
                               const neo_primitive_desc *pd, neo_engine *engine, neo_stream *stream)
{
    const struct post_op *op = &p->attr.post_ops.at[i];
    int first = NEO_ARG_ATTR_MULTIPLE_POST_OP(i);
    if (op->kind == POST_OP_PRELU)
        return init_post_op_operand(data, &data->post_ops[i], p, op, first | NEO_ARG_WEIGHTS, pd,
                                    engine, stream);
    if (op->kind != POST_OP_BINARY)
        return NEO_OK;
    neo_status status = init_post_op_operand(data, &data->post_ops[i], p, op, first | NEO_ARG_SRC_1,
                                             pd, engine, stream);
    if (status != NEO_OK || !post_op_selects(op))
        return status;
    struct post_op condition = post_op_condition(op);
    return init_post_op_operand(data, &data->conditions[i], p, &condition, first | NEO_ARG_SRC_2,
                                pd, engine, stream);
}

/* The values of a scale: one for each index of the dimensions in the mask, fewer with groups. */
static struct dims quantity_dims(const struct quantity *q, const struct problem *p)
{
    struct attribute_shape shape = problem_attribute_shape(p);
    int index = 0, arg = q->arg == QUANTITY_DW_DST ? NEO_ARG_DST : quantity_neo_arg(q);
    while (index < OPERANDS - 1 && p->operands[index].arg != arg)
        index++;
    struct dims dims = p->operands[index].dims;
    int mask = mask_resolve(&q->mask, q->arg, &shape);
    for (int i = 0; i < dims.count; i++) {
        int group = i - (dims.count - 2);
        if (!(mask >> i & 1))
            dims.at[i] = 1;
        else if (q->groups.count && group >= 0 && q->groups.at[group] > 0)
            dims.at[i] /= q->groups.at[group];
    }
    return dims;
}

typedef void fill_quantity_fn(struct tensor *, const struct quantity *);

static neo_status init_quantities(struct data *data, struct tensor *tensors, int base,
                                  const struct quantities *all, const struct problem *p,
                                  fill_quantity_fn *fill, neo_engine *engine, neo_stream *stream)
{
    neo_status status = NEO_OK;
    for (int i = 0; i < all->count && status == NEO_OK; i++) {
        const struct quantity *q = &all->at[i];
        struct dims dims = quantity_dims(q, p), flat = {1, {dims_elements(&dims)}};
        int arg = base | quantity_neo_arg(q);
        neo_memory_desc desc;
        status = dense_desc(&desc, &flat, q->type);
        if (status == NEO_OK)
            status = tensor_init(&tensors[i], arg, q->type, &flat, &desc, engine);
        if (status != NEO_OK)
            break;
        add_arg(data, arg, tensors[i].memory);
        tensor_alloc_values(&tensors[i]);
        fill(&tensors[i], q);
        status = store_input(&tensors[i], NULL, engine, stream);
        tensors[i].dims = dims;
    }
    return status;
}

static neo_status init_scratchpad(struct data *data, const neo_primitive_desc *pd,
                                  neo_engine *engine, neo_stream *stream)
{
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(stream));
    size_t alignment = neo_primitive_desc_scratchpad_alignment(pd);
    if (!bytes)
        return NEO_OK;
    alignment = alignment < 64 ? 64 : alignment;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    data->scratchpad_buffer = aligned_alloc(alignment, bytes);
    if (!data->scratchpad_buffer)
        return NEO_OUT_OF_MEMORY;
    memset(data->scratchpad_buffer, 0xff, bytes);
    struct dims dims = {1, {(int64_t)bytes}};
    neo_memory_desc desc;
    neo_status status = dense_desc(&desc, &dims, TYPE_U8);
    if (status == NEO_OK)
        status = neo_memory_create(&data->scratchpad, &desc, engine, data->scratchpad_buffer);
    if (status == NEO_OK)
        add_arg(data, NEO_ARG_SCRATCHPAD, data->scratchpad);
    return status;
}

/* ---- all ---- */

neo_status data_init(struct data *data, const struct problem *p, const neo_primitive_desc *pd,
                     neo_engine *engine, neo_stream *stream)
{
    *data = (struct data){0};
    neo_status status = NEO_OK;
    for (int i = 0; i < OPERANDS && status == NEO_OK; i++)
        status = init_operand(data, p, i, pd, engine, stream);
    for (int i = 0; i < p->attr.post_ops.count && status == NEO_OK; i++)
        status = init_post_op(data, p, i, pd, engine, stream);
    if (status == NEO_OK)
        status = init_quantities(data, data->scales, NEO_ARG_ATTR_SCALES, &p->attr.scales, p,
                                 fill_scales, engine, stream);
    if (status == NEO_OK)
        status = init_quantities(data, data->zero_points, NEO_ARG_ATTR_ZERO_POINTS,
                                 &p->attr.zero_points, p, fill_zero_points, engine, stream);
    if (status == NEO_OK && p->attr.scratchpad == NEO_SCRATCHPAD_USER)
        status = init_scratchpad(data, pd, engine, stream);
    if (status == NEO_OK)
        share_buffer(data, p);
    if (status == NEO_OK)
        status = data_reset_dst(data, p, engine, stream);
    return status;
}

static void deinit_all(struct tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tensor_deinit(&tensors[i]);
}

void data_deinit(struct data *data)
{
    deinit_all(data->operands, OPERANDS);
    deinit_all(data->post_ops, NEO_MAX_POST_OPS);
    deinit_all(data->conditions, NEO_MAX_POST_OPS);
    deinit_all(data->scales, QUANTITIES_MAX);
    deinit_all(data->zero_points, QUANTITIES_MAX);
    neo_memory_destroy(data->scratchpad);
    free(data->scratchpad_buffer);
}

double data_estimate_bytes(const struct problem *p)
{
    double bytes = 0;
    for (int i = 0; i < OPERANDS; i++) {
        const struct operand *o = &p->operands[i];
        double extent = 1;
        for (int d = 0; d < o->dims.count && o->arg; d++)
            extent *= (double)o->dims.at[d];
        double strided = extent;
        for (int d = 0; d < o->strides.count && d < o->dims.count; d++) {
            double span = (double)o->strides.at[d] * (double)o->dims.at[d];
            strided = span > strided ? span : strided;
        }
        /* the tensor, its values as float; for dst also what is expected and what came */
        bytes += o->arg ? strided * 4 + extent * (i == DST ? 4 + 8 + 8 + 8 : 4) : 0;
    }
    return bytes;
}
