/* A small builder of networks with random weights, for the examples: each call adds one layer and
 * returns its number. Errors end the program with a message.
 *
 * A network is described once, without types. layers_finish() computes it in plain loops of double
 * (plain.c), then builds it from the library's primitives in each type (typed.c) and compares.
 *
 * Images are n, c, h, w with the channels innermost in memory; sequences are n rows of d. */
#ifndef EXAMPLES_SUPPORT_LAYERS_H
#define EXAMPLES_SUPPORT_LAYERS_H

#include "neoprene/neoprene.h"

typedef struct layers layers;

/* Arguments of the program: numbers, which are sizes, small ones where they are absent; f32, bf16
 * and s8, the types that are built, all that the network has if none is named; and "out-of-order".
 */
layers *layers_create(const char *title, int argc, char **argv);
/* The argument that is number `index` of those that are numbers, counted from 0. */
neo_dim layers_number(const layers *l, int index, neo_dim otherwise);

#define LAYERS_NO_RESIDUAL (-1)
#define LAYERS_NO_ACTIVATION (-1)

/* Activations are a neo_eltwise, with the parameters that networks have them with: clip from 0 to
 * 6, hardswish and hardsigmoid of x / 6 + 1/2. */

/* Convolution with bias. padding is (kernel - 1) / 2. The residual is added before the activation,
 * and its memory becomes that of the result. */
typedef struct layers_conv {
    neo_dim channels, kernel, stride, groups; /* 0: 1 */
    int activation;                           /* a neo_eltwise or LAYERS_NO_ACTIVATION */
    int residual;                             /* a layer or LAYERS_NO_RESIDUAL */
} layers_conv;

int layers_image(layers *l, neo_dim channels, neo_dim side);
int layers_convolve(layers *l, int in, const layers_conv *conv);
int layers_max_pool(layers *l, int in, neo_dim kernel, neo_dim stride);
int layers_average_pool(layers *l, int in); /* over the whole image: a row of channels */
int layers_upsample(layers *l, int in);     /* twice as many rows and columns */
int layers_concatenate(layers *l, int a, int b);
/* Each channel of the image times its factor in the row; in the image's memory. */
int layers_gate(layers *l, int image, int row);

int layers_sequence(layers *l, neo_dim rows, neo_dim columns);
int layers_first_row(layers *l, int in);
/* in * weights + bias, activation, residual (in this order). */
int layers_linear(layers *l, int in, neo_dim columns, int activation, int residual);
/* softmax(q * k^T / sqrt(d / heads)) * v, head by head. */
int layers_attention(layers *l, int q, int k, int v, int heads);
/* Each row to mean 0 and variance 1, times a scale and plus a shift for each column. */
int layers_normalize(layers *l, int in);
int layers_softmax(layers *l, int in); /* each row; in the memory of in */

/* What the result may be off by: the square root of the mean square of its differences from double,
 * as a part of its standard deviation.
 *
 * f32: for the sizes that are taken where none are given; for larger images some networks have
 * another bound. They are off by more than small ones, because their 3x3 convolutions are
 * Winograd's: a U-Net of 64 x 64 by 3.3e-5, without those by 1e-5. bf16 and s8, if the network is
 * built in them: what the plain loops of double are off by if weights and results of layers are
 * rounded to the type's values, and half as much again. Nearly all of the error is that: a U-Net in
 * bf16 is off by 0.043 and 0.091 for images of 32 and 64, the rounded loops by 0.044 and 0.092. It
 * grows with the image as deep levels, most of whose taps lie in the padding of small images, come
 * to count, and each level magnifies what comes into it.
 *
 * The result is f32 in all of them. bf16: images, rows, weights are bf16. s8: they are s8, each
 * layer's result with one scale, from the largest value that it has for another input, weights with
 * a scale for each output channel; biases stay f32. */
typedef struct layers_bounds {
    double f32;
    int bf16, s8; /* 0: the network is not built in this type */
} layers_bounds;

/* PLAN_CSV and HISTORY_CSV in the environment name files for the plan and for the history of
 * allocations of the first type, which tests/memory_plot.py draws.
 *
 * For each type: plans and runs the network, runs the same layers one by one with separate buffers,
 * compares every bit of these two and the difference from double, and prints what memory was
 * planned. Releases everything. Returns the exit status of the program. */
int layers_finish(layers *l, int result, const layers_bounds *bounds);

#endif
