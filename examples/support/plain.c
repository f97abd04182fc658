/* The layers as plain loops of double: what they are, with nothing of the library. */
#include "examples/support/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double between(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double activate(int activation, double x)
{
    switch (activation) {
    case LAYERS_NO_ACTIVATION:
        return x;
    case NEO_ELTWISE_RELU:
        return x > 0 ? x : 0;
    case NEO_ELTWISE_CLIP:
        return between(x, 0, 6);
    case NEO_ELTWISE_HARDSIGMOID:
        return between(x / 6 + 0.5, 0, 1);
    case NEO_ELTWISE_HARDSWISH:
        return x * between(x / 6 + 0.5, 0, 1);
    case NEO_ELTWISE_GELU_ERF:
        return x * erfc(-x * sqrt(0.5)) / 2;
    case NEO_ELTWISE_TANH:
        return tanh(x);
    case NEO_ELTWISE_LOGISTIC:
        return 1 / (1 + exp(-x));
    default:
        model_check(NEO_UNSUPPORTED, "an activation in double");
        return x;
    }
}

static const layer *input(const layers *l, const layer *to, int index)
{
    return &l->list[to->in[index]];
}

/* One value of a convolution: pixel y, x of channel o. */
static double convolve_at(const layer *c, const layer *src, neo_dim y, neo_dim x, neo_dim o)
{
    neo_dim ic = src->dims[1] / c->groups, taps = c->kernel * c->kernel, pad = (c->kernel - 1) / 2;
    neo_dim first = o / (c->dims[1] / c->groups) * ic;
    double sum = (double)c->bias[o];
    for (neo_dim t = 0; t < taps; t++) {
        neo_dim h = y * c->stride + t / c->kernel - pad, w = x * c->stride + t % c->kernel - pad;
        if (h < 0 || h >= src->dims[2] || w < 0 || w >= src->dims[3])
            continue;
        const double *pixel = src->values + (h * src->dims[3] + w) * src->dims[1] + first;
        const float *weights = c->weights + o * ic * taps + t;
        for (neo_dim i = 0; i < ic; i++)
            sum += pixel[i] * (double)weights[i * taps];
    }
    return sum;
}

/* (x - mean) * factor for the values of a channel, by its weights and bias. */
static void scale_channel(layer *c, neo_dim o, double mean, double factor)
{
    neo_dim channels = c->dims[1], inputs = (neo_dim)c->weight_count / channels;
    for (neo_dim p = 0; p < c->dims[2] * c->dims[3]; p++)
        c->values[p * channels + o] = (c->values[p * channels + o] - mean) * factor;
    for (neo_dim i = 0; i < inputs; i++)
        c->weights[o * inputs + i] *= (float)factor;
    c->bias[o] = (float)(((double)c->bias[o] - mean) * factor);
}

/* Mean 0, and variance at most 1: a channel that varies less than all values do stays behind, or
 * noise would become as large as all else. */
static void standardize_channel(layer *c, neo_dim o, double square)
{
    neo_dim pixels = c->dims[2] * c->dims[3];
    double mean = 0, variance = 0;
    for (neo_dim p = 0; p < pixels; p++)
        mean += c->values[p * c->dims[1] + o] / (double)pixels;
    for (neo_dim p = 0; p < pixels; p++)
        variance += pow(c->values[p * c->dims[1] + o] - mean, 2) / (double)pixels;
    scale_channel(c, o, mean, 1 / sqrt(variance + square));
}

/* Random layers one after the other forget their input. Weights of trained ones are multiplied with
 * a batch normalisation, which keeps it; so are these. Of few pixels there are no statistics of a
 * channel: then the layer's values are scaled alone. */
static void standardize(layer *c)
{
    enum { FEW = 64 };
    double square = 0;
    for (size_t i = 0; i < model_elements(c); i++)
        square += c->values[i] * c->values[i] / (double)model_elements(c);
    for (neo_dim o = 0; o < c->dims[1]; o++)
        if (c->dims[2] * c->dims[3] < FEW)
            scale_channel(c, o, 0, 1 / sqrt(square));
        else
            standardize_channel(c, o, square);
}

static void run_convolution(const layers *l, layer *c)
{
    const layer *src = input(l, c, 0);
    double *out = c->values;
    for (neo_dim p = 0; p < c->dims[2] * c->dims[3]; p++)
        for (neo_dim o = 0; o < c->dims[1]; o++)
            *out++ = convolve_at(c, src, p / c->dims[3], p % c->dims[3], o);
    if (l->is_fitting)
        standardize(c);
    for (size_t i = 0; i < model_elements(c); i++) {
        double residual = c->residual >= 0 ? l->list[c->residual].values[i] : 0;
        c->values[i] = activate(c->activation, c->values[i] + residual);
    }
}

static double largest_at(const layer *pool, const layer *src, neo_dim y, neo_dim x, neo_dim c)
{
    neo_dim pad = (pool->kernel - 1) / 2;
    double largest = -INFINITY;
    for (neo_dim t = 0; t < pool->kernel * pool->kernel; t++) {
        neo_dim h = y * pool->stride + t / pool->kernel - pad;
        neo_dim w = x * pool->stride + t % pool->kernel - pad;
        if (h >= 0 && h < src->dims[2] && w >= 0 && w < src->dims[3])
            largest = fmax(largest, src->values[(h * src->dims[3] + w) * src->dims[1] + c]);
    }
    return largest;
}

static void run_max_pool(const layers *l, layer *pool)
{
    double *out = pool->values;
    for (neo_dim p = 0; p < pool->dims[2] * pool->dims[3]; p++)
        for (neo_dim c = 0; c < pool->dims[1]; c++)
            *out++ = largest_at(pool, input(l, pool, 0), p / pool->dims[3], p % pool->dims[3], c);
}

static void run_average_pool(const layers *l, layer *row)
{
    const layer *src = input(l, row, 0);
    neo_dim pixels = src->dims[2] * src->dims[3], channels = src->dims[1];
    for (neo_dim c = 0; c < channels; c++) {
        row->values[c] = 0;
        for (neo_dim p = 0; p < pixels; p++)
            row->values[c] += src->values[p * channels + c] / (double)pixels;
    }
}

static void run_upsample(const layers *l, layer *up)
{
    const layer *src = input(l, up, 0);
    neo_dim width = up->dims[3], channels = up->dims[1];
    for (neo_dim p = 0; p < up->dims[2] * width; p++) {
        neo_dim from = p / width / 2 * src->dims[3] + p % width / 2;
        memcpy(up->values + p * channels, src->values + from * channels,
               (size_t)channels * sizeof(double));
    }
}

static void run_concatenation(const layers *l, layer *both)
{
    double *out = both->values;
    for (neo_dim p = 0; p < both->dims[2] * both->dims[3]; p++)
        for (int i = 0; i < 2; i++) {
            neo_dim channels = input(l, both, i)->dims[1];
            memcpy(out, input(l, both, i)->values + p * channels,
                   (size_t)channels * sizeof(double));
            out += channels;
        }
}

static void run_gate(const layers *l, layer *gated)
{
    const double *image = input(l, gated, 0)->values, *row = input(l, gated, 1)->values;
    for (size_t i = 0; i < model_elements(gated); i++)
        gated->values[i] = image[i] * row[i % (size_t)gated->dims[1]];
}

static void run_first_row(const layers *l, layer *row)
{
    memcpy(row->values, input(l, row, 0)->values, (size_t)row->dims[1] * sizeof(double));
}

/* Weights are read row by row, because there are many of them. */
static void run_linear(const layers *l, layer *to)
{
    neo_dim inputs = input(l, to, 0)->dims[1], columns = to->dims[1];
    for (neo_dim r = 0; r < to->dims[0]; r++) {
        const double *src = input(l, to, 0)->values + r * inputs;
        double *out = to->values + r * columns;
        for (neo_dim j = 0; j < columns; j++)
            out[j] = (double)to->bias[j];
        for (neo_dim i = 0; i < inputs; i++)
            for (neo_dim j = 0; j < columns; j++)
                out[j] += src[i] * (double)to->weights[i * columns + j];
        for (neo_dim j = 0; j < columns; j++) {
            out[j] = activate(to->activation, out[j]);
            if (to->residual >= 0)
                out[j] += l->list[to->residual].values[r * columns + j];
        }
    }
}

static void softmax(const double *src, double *out, neo_dim count)
{
    double largest = -INFINITY, sum = 0;
    for (neo_dim i = 0; i < count; i++)
        largest = fmax(largest, src[i]);
    for (neo_dim i = 0; i < count; i++)
        sum += out[i] = exp(src[i] - largest);
    for (neo_dim i = 0; i < count; i++)
        out[i] /= sum;
}

static void run_softmax(const layers *l, layer *to)
{
    neo_dim columns = to->dims[1];
    for (neo_dim r = 0; r < to->dims[0]; r++)
        softmax(input(l, to, 0)->values + r * columns, to->values + r * columns, columns);
}

/* One row of one head, whose columns begin at `first`; scores: as many as there are rows. */
static void attend(const layers *l, layer *to, neo_dim row, neo_dim first, double *scores)
{
    neo_dim rows = to->dims[0], d = to->dims[1], width = d / to->heads;
    const double *q = input(l, to, 0)->values + row * d + first;
    const double *k = input(l, to, 1)->values + first, *v = input(l, to, 2)->values + first;
    for (neo_dim t = 0; t < rows; t++) {
        scores[t] = 0;
        for (neo_dim i = 0; i < width; i++)
            scores[t] += q[i] * k[t * d + i] / sqrt((double)width);
    }
    softmax(scores, scores, rows);
    for (neo_dim i = 0; i < width; i++) {
        double *out = &to->values[row * d + first + i];
        *out = 0;
        for (neo_dim t = 0; t < rows; t++)
            *out += scores[t] * v[t * d + i];
    }
}

static void run_attention(const layers *l, layer *to)
{
    double *scores = model_allocate((size_t)to->dims[0], sizeof *scores);
    for (neo_dim row = 0; row < to->dims[0]; row++)
        for (neo_dim head = 0; head < to->heads; head++)
            attend(l, to, row, head * (to->dims[1] / to->heads), scores);
    free(scores);
}

static void run_normalization(const layers *l, layer *to)
{
    neo_dim n = to->dims[1];
    for (neo_dim r = 0; r < to->dims[0]; r++) {
        const double *src = input(l, to, 0)->values + r * n;
        double mean = 0, variance = 0;
        for (neo_dim i = 0; i < n; i++)
            mean += src[i] / (double)n;
        for (neo_dim i = 0; i < n; i++)
            variance += (src[i] - mean) * (src[i] - mean) / (double)n;
        for (neo_dim i = 0; i < n; i++)
            to->values[r * n + i] =
                (src[i] - mean) / sqrt(variance + 1e-5) * (double)to->weights[i] +
                (double)to->bias[i];
    }
}

typedef void run_fn(const layers *l, layer *to);
static run_fn *const runs[LAYER_KINDS] = {
    [LAYER_CONVOLUTION] = run_convolution,
    [LAYER_MAX_POOL] = run_max_pool,
    [LAYER_AVERAGE_POOL] = run_average_pool,
    [LAYER_UPSAMPLE] = run_upsample,
    [LAYER_CONCATENATION] = run_concatenation,
    [LAYER_GATE] = run_gate,
    [LAYER_FIRST_ROW] = run_first_row,
    [LAYER_LINEAR] = run_linear,
    [LAYER_ATTENTION] = run_attention,
    [LAYER_NORMALIZATION] = run_normalization,
    [LAYER_SOFTMAX] = run_softmax,
};

/* Channels of an image are innermost, so numbers in memory's order are the image's. */
static void set_input(const layers *l, int at, unsigned input)
{
    const layer *to = &l->list[at];
    size_t count = model_elements(to);
    float *values = model_allocate(count, sizeof *values);
    model_fill_input(l, at, input, values);
    for (size_t i = 0; i < count; i++)
        to->values[i] = (double)values[i];
    free(values);
}

void plain_run(layers *l, unsigned input)
{
    for (int i = 0; i < l->count; i++) {
        if (l->list[i].kind == LAYER_INPUT)
            set_input(l, i, input);
        else
            runs[l->list[i].kind](l, &l->list[i]);
        if (l->kept != NEO_DATA_TYPE_UNDEF && !model_is_last(l, i))
            rounded_values(&l->list[i], l->kept);
    }
}
