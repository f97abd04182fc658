/* A small builder of networks with random weights, for the examples: each call adds one layer and
 * returns the number of its result. Errors end the program with a message.
 *
 * Images are n, c, h, w with the channels innermost in memory; sequences are n rows of d. All f32.
 */
#ifndef EXAMPLES_SUPPORT_LAYERS_H
#define EXAMPLES_SUPPORT_LAYERS_H

#include "neoprene/neoprene.h"

typedef struct layers layers;

/* Argument 1 of the program, if there is one, is the size of the problem; 2 is "out-of-order". */
layers *layers_create(const char *title, int argc, char **argv, neo_dim default_size);
neo_dim layers_size(const layers *l);

#define LAYERS_NO_RESIDUAL (-1)
#define LAYERS_NO_ACTIVATION (-1)

/* Convolution with bias. padding is (kernel - 1) / 2. The residual is added before the activation,
 * and its memory becomes that of the result. */
typedef struct layers_conv {
    neo_dim channels, kernel, stride, groups; /* 0: 1 */
    int activation;                           /* a neo_eltwise or LAYERS_NO_ACTIVATION */
    int residual;                             /* a tensor or LAYERS_NO_RESIDUAL */
} layers_conv;

int layers_image(layers *l, neo_dim channels, neo_dim side);
int layers_convolve(layers *l, int in, const layers_conv *conv);
int layers_max_pool(layers *l, int in, neo_dim kernel, neo_dim stride);
int layers_average_pool(layers *l, int in); /* over the whole image: a row of channels */
int layers_upsample(layers *l, int in);     /* twice as many rows and columns */
int layers_concatenate(layers *l, int a, int b);

int layers_sequence(layers *l, neo_dim rows, neo_dim columns);
/* in * weights + bias, activation, residual (in this order). */
int layers_linear(layers *l, int in, neo_dim columns, int activation, int residual);
/* softmax(q * k^T / sqrt(d / heads)) * v, head by head. */
int layers_attention(layers *l, int q, int k, int v, int heads);
int layers_normalize(layers *l, int in); /* each row to mean 0 and variance 1; in place */
int layers_softmax(layers *l, int in);   /* each row; in place */

/* PLAN_CSV and HISTORY_CSV in the environment name files for the plan and for the history of
 * allocations, which tests/memory_plot.py draws.
 *
 * Plans and runs the network, runs the same layers one by one with separate buffers, compares every
 * bit of the result, and prints what memory was planned. Releases everything.
 * Returns the exit status of the program. */
int layers_finish(layers *l, int result);

#endif
