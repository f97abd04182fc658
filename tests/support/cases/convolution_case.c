#include "tests/support/cases/convolution_case.h"

#include <string.h>

#include "tests/support/session.h"
#include "tests/support/test.h"

static const char plain_tags[][7] = {"", "a", "ab", "abc", "abcd", "abcde", "abcdef"};

neo_dim convolution_case_out(const struct convolution_case *row, int i)
{
    neo_dim extent = (row->kernel[i] - 1) * (row->dilation[i] + 1) + 1;
    return (row->in[i] + row->left[i] + row->right[i] - extent) / row->stride[i] + 1;
}

static neo_memory_desc part_or_any(int ndims, const neo_dim *dims, const char *tag, neo_dim gap)
{
    return strcmp(tag, "any") ? tensor_part(ndims, dims, tag, gap) : tensor_desc(ndims, dims, tag);
}

static neo_memory_desc src_desc(const struct convolution_case *row,
                                const struct convolution_variant *variant)
{
    neo_dim dims[5] = {row->batch, row->ic};
    for (int i = 0; i < row->space; i++)
        dims[2 + i] = row->in[i];
    neo_memory_desc src = part_or_any(2 + row->space, dims, row->src_tag, variant->gap);
    return tensor_repeated(&src, variant->repeated_src);
}

neo_memory_desc convolution_case_dst(const struct convolution_case *row, neo_dim gap)
{
    neo_dim dims[5] = {row->batch, row->oc};
    for (int i = 0; i < row->space; i++)
        dims[2 + i] = convolution_case_out(row, i);
    return part_or_any(2 + row->space, dims, row->dst_tag, gap);
}

static neo_memory_desc weights_desc(const struct convolution_case *row, const char *tag,
                                    const struct convolution_variant *variant)
{
    neo_dim dims[6], groups = row->groups ? row->groups : 1;
    int n = 0;
    if (row->groups)
        dims[n++] = groups;
    dims[n++] = row->oc / groups;
    dims[n++] = row->ic / groups;
    for (int i = 0; i < row->space; i++)
        dims[n++] = row->kernel[i];
    neo_memory_desc weights = part_or_any(n, dims, tag, variant->gap);
    return tensor_repeated(&weights, variant->repeated_weights);
}

/* How a row is walked, in three dimensions of space whatever it has. */
struct walk {
    neo_dim channels; /* of src, for an output */
    neo_dim kernel[3], in[3], stride[3], left[3], dilation[3];
    neo_dim src_step[3], weights_step[3];
};

static struct walk walk_of(const struct convolution_case *row, const struct tensor *src,
                           const struct tensor *weights)
{
    struct walk walk = {.channels = row->ic / (row->groups ? row->groups : 1),
                        .kernel = {1, 1, 1},
                        .in = {1, 1, 1},
                        .stride = {1, 1, 1},
                        .dilation = {1, 1, 1}};
    for (int i = 0, to = 3 - row->space; i < row->space; i++, to++) {
        walk.kernel[to] = row->kernel[i], walk.in[to] = row->in[i];
        walk.stride[to] = row->stride[i], walk.left[to] = row->left[i];
        walk.dilation[to] = row->dilation[i] + 1;
        walk.src_step[to] = tensor_step(src, 2 + i);
        walk.weights_step[to] = tensor_step(weights, weights->desc.ndims - row->space + i);
    }
    return walk;
}

struct expected {
    const struct convolution_case *row;
    const struct tensor *src, *weights, *bias, *old, *dst;
    const struct convolution_variant *variant;
    struct walk walk;
};

/* Taps along the dimensions from i on, each over all channels. */
static float add_taps(float sum, const struct walk *walk, const neo_dim out[3], int i,
                      struct line src, struct line weights)
{
    if (i == 3)
        return line_dot(sum, src, weights, walk->channels);
    for (neo_dim tap = 0; tap < walk->kernel[i]; tap++) {
        neo_dim at = out[i] * walk->stride[i] - walk->left[i] + tap * walk->dilation[i];
        if (at < 0 || at >= walk->in[i])
            continue;
        sum = add_taps(sum, walk, out, i + 1,
                       (struct line){src.at + at * walk->src_step[i], src.step},
                       (struct line){weights.at + tap * walk->weights_step[i], weights.step});
    }
    return sum;
}

/* The sum for one output, over one input channel and one tap at a time. */
static float convolve(const struct expected *e, const neo_dim *out)
{
    const struct convolution_case *row = e->row;
    neo_dim groups = row->groups ? row->groups : 1, oc = row->oc / groups;
    neo_dim group = out[1] / oc, at[5] = {out[0], group * e->walk.channels}, w[6] = {group};
    neo_dim place[3] = {0, 0, 0};
    int first = row->groups != 0;
    w[first] = out[1] % oc;
    for (int i = 0; i < row->space; i++)
        place[3 - row->space + i] = out[2 + i];
    return add_taps(0, &e->walk, place, 0, tensor_line(e->src, at, 1),
                    tensor_line(e->weights, w, first + 1));
}

static void check_element(void *context, const neo_dim *position)
{
    const struct expected *e = context;
    float want = convolve(e, position);
    if (e->bias)
        want += *tensor_at(e->bias, &position[1]);
    if (e->variant->finish)
        want = e->variant->finish(want, *tensor_at(e->old, position));
    if (e->variant->operands)
        want = operands_apply(e->variant->operands, want, position);
    float got = *tensor_at(e->dst, position);
    if (got != want)
        fail_msg("%s: at n %d c %d x %d: got %g, want %g", e->row->name, (int)position[0],
                 (int)position[1], (int)position[1 + e->row->space], (double)got, (double)want);
}

neo_convolution_desc convolution_case_desc(const struct convolution_case *row,
                                           const struct convolution_variant *variant)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_DIRECT,
        .src = src_desc(row, variant),
        .weights = weights_desc(row, row->weights_tag, variant),
        .dst = convolution_case_dst(row, variant->gap),
    };
    if (variant->bias_step)
        assert_int_equal(
            neo_memory_desc_init_strides(&desc.bias, 1, &row->oc, NEO_F32, &variant->bias_step),
            NEO_OK);
    for (int i = 0; i < row->space; i++) {
        desc.strides[i] = row->stride[i];
        desc.dilations[i] = row->dilation[i];
        desc.padding_left[i] = row->left[i];
        desc.padding_right[i] = row->right[i];
    }
    return desc;
}

static void execute(const neo_primitive_desc *pd, const neo_memory *const *memories,
                    const struct operands *operands)
{
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST, NEO_ARG_BIAS};
    neo_exec_arg args[4 + OPERAND_COUNT];
    int count = 0;
    for (int i = 0; i < 4; i++)
        if (memories[i])
            args[count++] = (neo_exec_arg){names[i], (neo_memory *)(uintptr_t)memories[i]};
    if (operands) {
        operands_set(operands, args + count);
        count += OPERAND_COUNT;
    }
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
    neo_primitive_destroy(primitive);
}

/* Checks the implementation that pd stands for. */
static void check_implementation(const struct convolution_case *row, const neo_primitive_desc *pd,
                                 const struct convolution_variant *variant)
{
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    bool is_plain = strcmp(row->weights_tag, "any") != 0;
    const char *tag = is_plain ? row->weights_tag : plain_tags[chosen->ndims];
    neo_memory_desc plain = weights_desc(row, tag, variant);
    const neo_memory_desc *dst_desc = neo_primitive_desc_query(pd, NEO_ARG_DST);
    struct tensor src = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_SRC), 3);
    struct tensor weights = tensor_make(engine, &plain, 7), bias = {0};
    struct tensor dst = tensor_make(engine, dst_desc, 9), old = tensor_make(engine, dst_desc, 9);
    struct tensor packed = {0};
    if (!neo_memory_desc_equal(chosen, &plain))
        packed = tensor_reordered(engine, stream, &weights, chosen);
    const neo_memory *given = packed.memory ? packed.memory : weights.memory;
    if (variant->bias_step)
        bias = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_BIAS), 5);
    execute(pd, (const neo_memory *[]){src.memory, given, dst.memory, bias.memory},
            variant->operands);
    struct expected expected = {.row = row,
                                .src = &src,
                                .weights = &weights,
                                .bias = variant->bias_step ? &bias : NULL,
                                .old = &old,
                                .dst = &dst,
                                .variant = variant,
                                .walk = walk_of(row, &src, &weights)};
    tensor_for_each(dst_desc->ndims, dst_desc->dims, check_element, &expected);
    tensor_check_gaps(&dst);
    struct tensor *all[] = {&src, &weights, &dst, &old, &bias, &packed};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
}

void convolution_case_check(const struct convolution_case *row,
                            const struct convolution_variant *variant)
{
    neo_convolution_desc desc = convolution_case_desc(row, variant);
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, variant->attributes),
                     NEO_OK);
    do {
        print_message("  %s: %s\n", row->name, neo_primitive_desc_implementation(pd));
        assert_true(neo_primitive_desc_estimate(pd) > 0);
        check_implementation(row, pd, variant);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}
