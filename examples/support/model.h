/* A network as it is described, before it has types: layers in an order in which they can run. */
#ifndef EXAMPLES_SUPPORT_MODEL_H
#define EXAMPLES_SUPPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/support/layers.h"

typedef enum layer_kind {
    LAYER_INPUT,
    LAYER_CONVOLUTION,
    LAYER_MAX_POOL,
    LAYER_AVERAGE_POOL,
    LAYER_UPSAMPLE,
    LAYER_CONCATENATION,
    LAYER_GATE,
    LAYER_FIRST_ROW,
    LAYER_LINEAR,
    LAYER_ATTENTION,
    LAYER_NORMALIZATION,
    LAYER_SOFTMAX,
    LAYER_KINDS,
} layer_kind;

typedef struct layer {
    layer_kind kind;
    int in[3];       /* layers */
    int residual;    /* a layer or LAYERS_NO_RESIDUAL */
    int activation;  /* a neo_eltwise or LAYERS_NO_ACTIVATION */
    int ndims;       /* of the result: 4 of an image, 2 of rows */
    neo_dim dims[4]; /* n, c, h, w; rows, columns */
    neo_dim kernel, stride, groups, heads;

    float *weights; /* o, i, h, w for each group; inputs × columns; scales of a normalisation */
    size_t weight_count;
    float *bias;
    double *values; /* of the plain run: as in memory, images with the channels innermost */
    double range;   /* the magnitude that becomes 127 in s8 */
} layer;

enum { MODEL_MOST_LAYERS = 512, MODEL_MOST_NUMBERS = 4 };

struct layers {
    const char *title;
    neo_dim numbers[MODEL_MOST_NUMBERS];
    int number_count;
    bool out_of_order;
    bool wanted[NEO_U8 + 1]; /* types by the program's arguments */
    bool is_fitting;         /* weights to the input of the plain run */
    neo_data_type kept;      /* what the plain run rounds layers' results to, or no type */
    int result;              /* a layer, which is f32; so is what it is the softmax of */
    int count;
    layer list[MODEL_MOST_LAYERS];
};

/* Ends the program unless status is NEO_OK. */
void model_check(neo_status status, const char *what);
void *model_allocate(size_t count, size_t bytes);

size_t model_elements(const layer *of); /* of its result */

/* Numbers between -amplitude and amplitude, the same whenever the seed is. */
void model_fill(float *out, size_t count, float amplitude, unsigned seed);

/* alpha and beta of an activation. */
typedef struct activation_parameters {
    float alpha, beta;
} activation_parameters;
activation_parameters model_parameters(int activation);

/* Computes all layers' values in double for input number `input`, which is any number. While it is
 * fitting, weights of convolutions change: see standardize(). */
void plain_run(layers *l, unsigned input);

/* Is this layer's result f32 in every type? */
bool model_is_last(const layers *l, int at);

/* The square root of the mean square of what count values differ by from `expected`, as a part of
 * the standard deviation of these. */
double model_error(const float *values, const double *expected, size_t count);

/* Of the weights of a convolution or a linear layer, for each output: what becomes 127 in s8 is the
 * largest one. */
void model_weight_scales(const layer *of, float *scales);

/* model_error() of the plain run's result for MODEL_SAMPLE if all weights of products and all
 * layers' results have only values of this type, bf16 or s8 with their scales: what no library can
 * do better. */
double rounded_error(layers *l, neo_data_type type);
void rounded_values(layer *of, neo_data_type type); /* of its result */

/* Numbers of the inputs that weights are fitted to, that scales are made from (and from the first),
 * and that results are compared for. */
enum { MODEL_FITTED = 1, MODEL_CALIBRATION, MODEL_SAMPLE };

/* The contents of an input layer. */
void model_fill_input(const layers *l, int at, unsigned input, float *out);

/* Builds and runs the network in one type, for MODEL_SAMPLE; whether it is within the bound. */
bool typed_run(const layers *l, neo_data_type type, double bound, bool is_first);

#endif
