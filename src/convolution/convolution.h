/* Convolution: what its algorithms share. */
#ifndef SRC_CONVOLUTION_CONVOLUTION_H
#define SRC_CONVOLUTION_CONVOLUTION_H

#include "src/core/checked.h"
#include "src/primitive/problem.h"
#include "src/threading/partition.h"

extern const struct algorithm convolution_gemm, convolution_typed, convolution_depthwise,
    convolution_depthwise_typed, convolution_winograd_2, convolution_winograd_4,
    convolution_winograd_6, convolution_planes, convolution_rows, convolution_indirect,
    convolution_columns, convolution_matmul, convolution_transposed, convolution_transposed_planes,
    convolution_transposed_winograd_2, convolution_transposed_winograd_4,
    convolution_transposed_winograd_6, convolution_dilated_winograd_2,
    convolution_dilated_winograd_4, convolution_dilated_winograd_6, convolution_reference;

extern const struct operation convolution_operation;
extern const struct type_set convolution_types[]; /* what the definition serves */

/* The operation's check. */
const char *convolution_check(struct problem *problem, bool *unsupported);

/* Sizes as logs have them: "g1mb1_ic3oc8_ih5oh3kh3sh1dh0ph0". */
void convolution_describe(const struct problem *problem, char *out, size_t size);

/* Sizes for those that are known at run time: one image of a network's middle. */
void convolution_suppose(struct problem *problem);

/* The one of Winograd's algorithms that is for this layout of weights (enum layout_id), or NULL. */
const struct algorithm *convolution_winograd(uint32_t layout);

/* One tensor's strides, in elements. */
struct image_strides {
    neo_dim n, c, d, h, w;
};

/* Spatial sizes and parameters in the order depth, height, width. */
enum { DEPTH, HEIGHT, WIDTH, SPACE };

/* A convolution of any number of dimensions as one in three: absent ones have size 1. */
struct convolution_shape {
    neo_dim batch, groups, ic, oc; /* channels of one group */
    neo_dim in[SPACE], out[SPACE], kernel[SPACE];
    neo_dim stride[SPACE], dilation[SPACE],
        padding[SPACE]; /* dilation 1: dense; padding: on the left */
    struct image_strides src, dst;
    neo_dim weights_g, weights_o, weights_i, weights_space[SPACE]; /* strides of plain weights */
};

/* Gives src, dst and bias that are `any` their layouts, the same for every algorithm, and makes the
 * shape. Strides of weights that are not plain, or not yet, are 0. */
void convolution_derive(struct problem *problem);

_Static_assert(sizeof(struct convolution_shape) <= SHAPE_BYTES, "a problem has room for it");

static inline const struct convolution_shape *convolution_shape_of(const struct problem *problem)
{
    return (const void *)problem->shape;
}

/* One column of pixels, of which each has one tap in width, can be a row: height becomes width, and
 * depth height. Pixels and taps keep their order. */
static inline bool convolution_is_column(const struct convolution_shape *shape)
{
    return shape->out[WIDTH] == 1 && shape->kernel[WIDTH] == 1 && shape->padding[WIDTH] == 0;
}
void convolution_turn_column(struct convolution_shape *shape);

/* The offset of a tap in plain weights; taps are numbered in the order depth, height, width. */
neo_dim convolution_weights_tap(const struct convolution_shape *shape, size_t tap);

/* The pixels along a dimension of dst all of whose taps along it exist in src. */
static inline struct span convolution_inner_pixels(const struct convolution_shape *shape,
                                                   int dimension)
{
    neo_dim out = shape->out[dimension], stride = shape->stride[dimension];
    neo_dim padding = shape->padding[dimension];
    neo_dim reach = (shape->kernel[dimension] - 1) * shape->dilation[dimension];
    neo_dim begin = padding ? (padding - 1) / stride + 1 : 0;
    neo_dim room = shape->in[dimension] + padding - reach;
    neo_dim end = room > 0 ? (room - 1) / stride + 1 : 0;
    begin = begin < out ? begin : out;
    end = end < out ? end : out;
    return (struct span){(size_t)begin, (size_t)(end > begin ? end : begin)};
}

/* The taps along a dimension that some of the pixels [first, last] of dst may have in src, as a
 * span without gaps: the others lie in the padding. */
static inline struct span convolution_taps(const struct convolution_shape *shape, int dimension,
                                           neo_dim first, neo_dim last)
{
    neo_dim stride = shape->stride[dimension], padding = shape->padding[dimension];
    neo_dim step = shape->dilation[dimension], begin = 0, end = shape->kernel[dimension];
    /* Where src begins, from the last pixel's first tap on, and where it ends, from the first's. */
    neo_dim before = padding - last * stride;
    neo_dim behind = padding - first * stride + shape->in[dimension];
    if (before > 0)
        begin = before > (end - 1) * step ? end : (before - 1) / step + 1;
    if (behind <= (end - 1) * step)
        end = behind > begin * step ? (behind - 1) / step + 1 : begin;
    return (struct span){(size_t)begin, (size_t)end};
}

/* Those that some pixel of dst may have; one, of zeros, if there is none. */
static inline struct span convolution_reached_taps(const struct convolution_shape *shape,
                                                   int dimension)
{
    const neo_dim *out = shape->out;
    bool has_pixels = out[DEPTH] > 0 && out[HEIGHT] > 0 && out[WIDTH] > 0;
    struct span taps = has_pixels ? convolution_taps(shape, dimension, 0, out[dimension] - 1)
                                  : (struct span){0, (size_t)shape->kernel[dimension]};
    return taps.begin == taps.end ? (struct span){0, 1} : taps;
}

/* Of the first dimensions' taps, as numbers in their order: from the first to the last one that is
 * among these in each dimension, of which there is one at least. */
static inline struct span convolution_first_to_last(const struct convolution_shape *shape,
                                                    const struct span *taps, int dimensions)
{
    struct span all = {0, 1};
    for (int d = 0; d < dimensions; d++) {
        size_t kernel = (size_t)shape->kernel[d];
        all.begin = all.begin * kernel + taps[d].begin;
        all.end = (all.end - 1) * kernel + taps[d].end;
    }
    return all;
}

static inline bool convolution_is_grouped(const struct problem *problem)
{
    return problem->tensors[WEIGHTS].ndims == problem->tensors[DST].ndims + 1;
}

/* One input channel per group, or one channel of either image and no groups. */
static inline bool convolution_is_depthwise(const struct problem *problem)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (convolution_is_grouped(problem))
        return weights->dims[2] == 1;
    return weights->dims[0] == 1 && weights->dims[1] == 1;
}

/* NULL, or why the convolution is not depthwise: for algorithms that are (depthwise/depthwise.c).
 */
const char *convolution_refuse_groups(const struct problem *problem, const struct cpu *cpu);

/* Channels next to each other, then pixels. */
void convolution_set_channels_last(neo_memory_desc *desc);

/* Weights that are `any` become panels of matrix columns. */
void convolution_choose_packed(const struct algorithm *self, struct problem *problem,
                               const struct cpu *cpu);

/* Why an algorithm that takes weights in this packed layout, or plain, and a bias of values next to
 * each other cannot serve the problem, or NULL. */
static inline const char *convolution_refuse_tensors(const struct problem *problem, uint32_t layout)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != layout)
        return "the weights are packed for another algorithm";
    if (bias->ndims && bias->dims[0] != 1 && bias->format_kind == NEO_FORMAT_STRIDED &&
        bias->strides[0] != 1)
        return "the values of bias do not follow each other";
    return NULL;
}

/* Why an algorithm of sums of products may not serve the problem, or NULL. */
static inline const char *convolution_refuse_direct(const struct problem *problem)
{
    return problem->convolution_algorithm == NEO_CONVOLUTION_WINOGRAD ? "Winograd was asked for"
                                                                      : NULL;
}

/* Bytes of a part of the scratchpad: no two of them share a cache line. */
static inline size_t convolution_part(size_t bytes)
{
    return round_up(bytes, SCRATCH_ALIGNMENT);
}

/* The weights in panels: as given, or, if they are plain, packed into the beginning of the
 * scratchpad. */
const float *convolution_packed_weights(const struct execution *execution, const struct cpu *cpu);

/* Writes batch, channel 0 and space of pixel number index of dst to a position of dst's dimensions.
 */
void convolution_pixel_position(const struct convolution_shape *shape, int ndims, size_t index,
                                neo_dim *position);

#endif
