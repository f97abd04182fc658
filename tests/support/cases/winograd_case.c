#include "tests/support/cases/winograd_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fill.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"
#include "tests/support/test.h"

struct sums {
    double value, bound;
};

struct problem {
    const struct winograd_case *row;
    struct tensor src, weights, bias, dst, old;
    const struct winograd_chain *chain;
    double factor; /* of the error bound; 0: exact */
    double worst;
    neo_dim size[2];   /* dst's height and width */
    double *largest;   /* largest_source() of each image, channel, row and column; exact: NULL */
    struct sums *sums; /* of each element of dst */
};

bool winograd_case_is_line(const struct winograd_case *row)
{
    return row->kernel[0] == 0 && row->kernel[1] > 0;
}

neo_dim winograd_case_taps(const struct winograd_case *row, int dimension)
{
    return row->kernel[dimension] ? row->kernel[dimension] : winograd_case_is_line(row) ? 1 : 3;
}

neo_dim winograd_case_step(const struct winograd_case *row, int dimension)
{
    return row->kernel[2 + dimension] + 1;
}

bool winograd_case_is_dilated(const struct winograd_case *row)
{
    return winograd_case_step(row, 0) > 1 || winograd_case_step(row, 1) > 1;
}

/* Dimensions as {…, height, width}, of a tensor that may have no height: `before` are not of space.
 */
static neo_memory_desc image_desc(const struct winograd_case *row, int before, const neo_dim *dims,
                                  const char *tag)
{
    neo_dim line[5];
    memcpy(line, dims, (size_t)before * sizeof *line);
    line[before] = dims[before + 1];
    return winograd_case_is_line(row) ? tensor_desc(before + 1, line, tag)
                                      : tensor_desc(before + 2, dims, tag);
}

/* How far apart rows or columns (0, 1) of a tensor are, which may have no rows. */
static neo_dim space_step(const struct problem *p, const struct tensor *tensor, int dimension)
{
    int last = tensor->desc.ndims - 1;
    if (dimension == 1)
        return tensor_step(tensor, last);
    return winograd_case_is_line(p->row) ? 0 : tensor_step(tensor, last - 1);
}

static const float *image_at(const struct problem *p, const struct tensor *tensor, neo_dim n,
                             neo_dim c, neo_dim y, neo_dim x)
{
    return tensor_at(tensor, winograd_case_is_line(p->row) ? (neo_dim[]){n, c, x}
                                                           : (neo_dim[]){n, c, y, x});
}

/* Elements of src that any output of a tile that (y, x) may belong to depends on: their largest
 * magnitude. */
static double largest_source(const struct problem *p, const neo_dim *at, neo_dim channel)
{
    float largest = 0;
    neo_dim rows = winograd_case_step(p->row, 0), columns = winograd_case_step(p->row, 1);
    neo_dim down = winograd_case_taps(p->row, 0) == 1 ? 0 : 7 * rows,
            across = winograd_case_taps(p->row, 1) == 1 ? 0 : 7 * columns;
    neo_dim top = at[2] - p->row->pad[0], left = at[3] - p->row->pad[1];
    const float *src = image_at(p, &p->src, at[0], channel, 0, 0);
    neo_dim row_step = space_step(p, &p->src, 0), step = space_step(p, &p->src, 1);
    for (neo_dim y = top - down; y <= top + down; y += rows)
        for (neo_dim x = left - across; x <= left + across; x += columns)
            if (y >= 0 && y < p->row->height && x >= 0 && x < p->row->width) {
                float magnitude = fabsf(src[y * row_step + x * step]);
                largest = magnitude > largest ? magnitude : largest;
            }
    return (double)largest;
}

static double *largest_of(const struct problem *p, const neo_dim *at, neo_dim channel)
{
    neo_dim line = (at[0] * p->row->ic + channel) * p->size[0] + at[2];
    return &p->largest[line * p->size[1] + at[3]];
}

/* Once for all channels of dst: it is what takes longest. */
static void find_largest(struct problem *p)
{
    neo_dim count = p->row->batch * p->row->ic * p->size[0] * p->size[1];
    p->largest = malloc((size_t)count * sizeof *p->largest);
    assert_non_null(p->largest);
    for (neo_dim n = 0; n < p->row->batch; n++)
        for (neo_dim c = 0; c < p->row->ic; c++)
            for (neo_dim y = 0; y < p->size[0]; y++)
                for (neo_dim x = 0; x < p->size[1]; x++) {
                    const neo_dim at[] = {n, 0, y, x};
                    *largest_of(p, at, c) = largest_source(p, at, c);
                }
}

/* One channel's part of an output. */
static struct sums convolve_channel(const struct problem *p, const neo_dim *at, neo_dim channel)
{
    neo_dim w[5] = {0}, kernel[] = {winograd_case_taps(p->row, 0), winograd_case_taps(p->row, 1)};
    neo_dim step[] = {winograd_case_step(p->row, 0), winograd_case_step(p->row, 1)};
    neo_dim weights_step[] = {space_step(p, &p->weights, 0), space_step(p, &p->weights, 1)};
    w[p->row->grouped] = at[1], w[p->row->grouped + 1] = channel;
    const float *weights = tensor_at(&p->weights, w);
    const float *src = image_at(p, &p->src, at[0], channel, 0, 0);
    neo_dim down = space_step(p, &p->src, 0), across = space_step(p, &p->src, 1);
    double sum = 0, largest = 0;
    for (neo_dim i = 0; i < kernel[0]; i++) {
        neo_dim y = at[2] - p->row->pad[0] + i * step[0];
        for (neo_dim j = 0; j < kernel[1]; j++) {
            neo_dim x = at[3] - p->row->pad[1] + j * step[1];
            double weight = (double)weights[i * weights_step[0] + j * weights_step[1]];
            double magnitude = fabs(weight);
            largest = magnitude > largest ? magnitude : largest;
            if (y >= 0 && y < p->row->height && x >= 0 && x < p->row->width)
                sum += weight * (double)src[y * down + x * across];
        }
    }
    return (struct sums){sum, (double)(kernel[0] * kernel[1]) * largest};
}

static struct sums convolve(const struct problem *p, const neo_dim *at)
{
    struct sums sums = {0, 0};
    for (neo_dim c = 0; c < p->row->ic; c++) {
        struct sums part = convolve_channel(p, at, c);
        sums.value += part.value;
        if (p->largest)
            sums.bound += part.bound * *largest_of(p, at, c);
    }
    return sums;
}

static struct sums *sums_of(const struct problem *p, const neo_dim *at)
{
    neo_dim line = (at[0] * p->row->oc + at[1]) * p->size[0] + at[2];
    return &p->sums[line * p->size[1] + at[3]];
}

/* Of the output at a position, which may have no height. */
static void find_at(const struct problem *p, const neo_dim *position, neo_dim at[4])
{
    bool line = winograd_case_is_line(p->row);
    memcpy(at,
           (neo_dim[]){position[0], position[1], line ? 0 : position[2], position[line ? 2 : 3]},
           4 * sizeof *at);
}

static void sum_element(void *context, const neo_dim *position)
{
    const struct problem *p = context;
    neo_dim at[4];
    find_at(p, position, at);
    *sums_of(p, at) = convolve(p, at);
}

static void check_element(void *context, const neo_dim *position)
{
    struct problem *p = context;
    neo_dim at[4];
    find_at(p, position, at);
    struct sums want = *sums_of(p, at);
    float value = (float)(want.value + (double)p->bias.data[position[1]]);
    if (p->chain->finish)
        value = p->chain->finish(value, *tensor_at(&p->old, position));
    if (p->chain->operands)
        value = operands_apply(p->chain->operands, value, position);
    double got = (double)*tensor_at(&p->dst, position), error = fabs(got - (double)value);
    double unit = want.bound * 0x1p-24 + fabs((double)value) * 0x1p-23;
    if (!(error <= p->factor * unit))
        fail_msg("%s: at %d %d %d %d: got %g, want %g: the error is %g of a bound of %g",
                 p->row->name, (int)at[0], (int)at[1], (int)at[2], (int)at[3], got, (double)value,
                 error, p->factor * unit);
    if (want.bound > 0)
        p->worst = fmax(p->worst, error / unit);
}

neo_convolution_desc winograd_case_desc(const struct winograd_case *row)
{
    neo_dim kernel[] = {winograd_case_taps(row, 0), winograd_case_taps(row, 1)};
    neo_dim height =
        row->height + row->pad[0] + row->right[0] - (kernel[0] - 1) * winograd_case_step(row, 0);
    neo_dim width =
        row->width + row->pad[1] + row->right[1] - (kernel[1] - 1) * winograd_case_step(row, 1);
    neo_dim grouped[] = {1, row->oc, row->ic, kernel[0], kernel[1]};
    int line = winograd_case_is_line(row);
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_WINOGRAD,
        .src = image_desc(row, 2, (neo_dim[]){row->batch, row->ic, row->height, row->width},
                          row->src_tag),
        .weights = row->grouped ? image_desc(row, 3, grouped, "any")
                                : image_desc(row, 2, grouped + 1, "any"),
        .bias = tensor_desc(1, &row->oc, "a"),
        .dst = image_desc(row, 2, (neo_dim[]){row->batch, row->oc, height, width}, row->dst_tag),
        .strides = {1, 1},
        .dilations = {row->kernel[2 + line], row->kernel[3]},
        .padding_left = {row->pad[line], row->pad[1]},
        .padding_right = {row->right[line], row->right[1]},
    };
    return desc;
}

struct filling {
    struct tensor *tensor;
    uint32_t *seed;
};

static void fill_real(void *context, const neo_dim *position)
{
    struct filling *filling = context;
    fill_reals(tensor_at(filling->tensor, position), 1, filling->seed);
}

static void make_reals(struct tensor *tensor, uint32_t *seed)
{
    struct filling filling = {tensor, seed};
    tensor_for_each(tensor->desc.ndims, tensor->desc.dims, fill_real, &filling);
}

static void execute(const neo_primitive_desc *pd, struct problem *p, struct tensor *packed)
{
    neo_exec_arg args[4 + OPERAND_COUNT] = {{NEO_ARG_SRC, p->src.memory},
                                            {NEO_ARG_WEIGHTS, packed->memory},
                                            {NEO_ARG_BIAS, p->bias.memory},
                                            {NEO_ARG_DST, p->dst.memory}};
    if (p->chain->operands)
        operands_set(p->chain->operands, args + 4);
    int count = p->chain->operands ? 4 + OPERAND_COUNT : 4;
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
    neo_primitive_destroy(primitive);
}

static double factor_of(const struct winograd_case *row, const char *name)
{
    double factor = strstr(name, "winograd_2")   ? NEO_WINOGRAD_ERROR_2
                    : strstr(name, "winograd_4") ? NEO_WINOGRAD_ERROR_4
                                                 : NEO_WINOGRAD_ERROR_6;
    return winograd_case_taps(row, 0) == 1 || winograd_case_taps(row, 1) == 1 ? 2 * sqrt(factor)
                                                                              : factor;
}

/* What all implementations have in common: arguments, and the sums, which take longest. */
static void make_problem(struct problem *p, const struct winograd_case *row,
                         const neo_primitive_desc *pd, bool reals)
{
    const neo_memory_desc *weights = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    const neo_memory_desc *dst = neo_primitive_desc_query(pd, NEO_ARG_DST);
    static const char *const tags[] = {[3] = "abc", [4] = "abcd", [5] = "abcde"};
    neo_memory_desc plain = tensor_desc(weights->ndims, weights->dims, tags[weights->ndims]);
    uint32_t seed = fill_seed();
    *p = (struct problem){
        .row = row,
        .src = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_SRC), 3),
        .weights = tensor_make(engine, &plain, 7),
        .bias = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_BIAS), 5),
        .size = {winograd_case_is_line(row) ? 1 : dst->dims[2], dst->dims[dst->ndims - 1]},
        .sums = malloc(neo_memory_desc_elements(dst) * sizeof *p->sums),
    };
    assert_non_null(p->sums);
    if (reals) {
        make_reals(&p->src, &seed);
        make_reals(&p->weights, &seed);
        find_largest(p);
    }
    tensor_for_each(dst->ndims, dst->dims, sum_element, p);
}

static void free_problem(struct problem *p)
{
    struct tensor *all[] = {&p->src, &p->weights, &p->bias};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    free(p->largest);
    free(p->sums);
}

static double check_implementation(struct problem *p, const neo_primitive_desc *pd,
                                   const struct winograd_chain *chain)
{
    const neo_memory_desc *dst = neo_primitive_desc_query(pd, NEO_ARG_DST);
    const neo_memory_desc *weights = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    p->dst = tensor_make(engine, dst, 9);
    p->old = tensor_make(engine, dst, 9);
    p->chain = chain;
    p->factor = p->largest ? factor_of(p->row, neo_primitive_desc_implementation(pd)) : 0;
    p->worst = 0;
    struct tensor packed = tensor_reordered(engine, stream, &p->weights, weights);
    execute(pd, p, &packed);
    tensor_for_each(dst->ndims, dst->dims, check_element, p);
    tensor_check_gaps(&p->dst);
    struct tensor *all[] = {&p->dst, &p->old, &packed};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    return p->worst;
}

/* By its name; the one that is nested is then what the name says. */
static bool is_nesting(const neo_primitive_desc *pd, const char *prefix)
{
    const char *algorithm = neo_primitive_desc_algorithm(pd);
    if (strncmp(algorithm, prefix, strlen(prefix)) != 0)
        return false;
    assert_string_equal(neo_primitive_desc_kernel(pd), algorithm + strlen(prefix));
    return true;
}

/* The largest have 4, 6 or 8 points: more than taps. */
static int sizes_of_tiles(const struct winograd_case *row)
{
    neo_dim down = winograd_case_taps(row, 0), across = winograd_case_taps(row, 1);
    neo_dim taps = down > across ? down : across;
    return taps == 3 ? 3 : taps == 5 ? 2 : 1;
}

void winograd_case_check(const struct winograd_case *row, bool reals,
                         const struct winograd_chain *chain)
{
    neo_convolution_desc desc = winograd_case_desc(row);
    neo_primitive_desc *pd;
    int counts[2] = {0, 0}; /* transposed ones: for all sizes of tiles or for none */
    int sizes = sizes_of_tiles(row);
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, chain->attributes),
                     NEO_OK);
    struct problem p;
    make_problem(&p, row, pd, reals);
    do {
        const char *name = neo_primitive_desc_implementation(pd);
        assert_non_null(strstr(name, "winograd"));
        counts[is_nesting(pd, "transposed_")]++;
        assert_int_equal(is_nesting(pd, "dilated_"), winograd_case_is_dilated(row));
        if (!reals && !strstr(name, "winograd_2"))
            continue;
        double worst = check_implementation(&p, pd, chain);
        print_message("  %s: %s: %.1f\n", row->name, name, worst);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    assert_int_equal(counts[0], sizes);
    assert_true(counts[1] == sizes || counts[1] == 0);
    free_problem(&p);
    neo_primitive_desc_destroy(pd);
}
