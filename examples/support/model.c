/* The calls of layers.h: each writes a layer down. */
#include "examples/support/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */

void model_check(neo_status status, const char *what)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s: %s (NEOPRENE_VERBOSE=1 tells more)\n", what, neo_status_text(status));
    exit(1);
}

void *model_allocate(size_t count, size_t bytes)
{
    void *data = calloc(count ? count : 1, bytes);
    model_check(data ? NEO_OK : NEO_OUT_OF_MEMORY, "a buffer");
    return data;
}

size_t model_elements(const layer *of)
{
    size_t count = 1;
    for (int i = 0; i < of->ndims; i++)
        count *= (size_t)of->dims[i];
    return count;
}

void model_fill(float *out, size_t count, float amplitude, unsigned seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = amplitude * ((float)(state >> 8) / (float)(1 << 23) - 1);
    }
}

void model_fill_input(const layers *l, int at, unsigned input, float *out)
{
    model_fill(out, model_elements(&l->list[at]), 1, 1000 * input + (unsigned)at);
}

activation_parameters model_parameters(int activation)
{
    switch (activation) {
    case NEO_ELTWISE_CLIP:
        return (activation_parameters){0, 6};
    case NEO_ELTWISE_HARDSWISH:
    case NEO_ELTWISE_HARDSIGMOID:
        return (activation_parameters){1.0f / 6, 0.5f};
    default:
        return (activation_parameters){0, 0};
    }
}

/* ---- the program's arguments ---- */

static void read_argument(layers *l, const char *text)
{
    static const neo_data_type types[] = {NEO_F32, NEO_BF16, NEO_S8};
    char *end;
    neo_dim number = strtol(text, &end, 10);
    bool is_known = strcmp(text, "out-of-order") == 0;
    l->out_of_order = l->out_of_order || is_known;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(text, neo_data_type_name(types[i])) == 0)
            l->wanted[types[i]] = is_known = true;
    if (*text && !*end && number > 0 && l->number_count < MODEL_MOST_NUMBERS)
        l->numbers[l->number_count++] = number;
    else if (!is_known)
        model_check(NEO_INVALID_ARGUMENT, text);
}

layers *layers_create(const char *title, int argc, char **argv)
{
    layers *l = model_allocate(1, sizeof *l);
    l->title = title;
    for (int i = 1; i < argc; i++)
        read_argument(l, argv[i]);
    return l;
}

neo_dim layers_number(const layers *l, int index, neo_dim otherwise)
{
    return index < l->number_count ? l->numbers[index] : otherwise;
}

/* ---- layers ---- */

static neo_dim or_one(neo_dim value)
{
    return value ? value : 1;
}

static int add(layers *l, const layer *given)
{
    if (l->count == MODEL_MOST_LAYERS)
        model_check(NEO_OUT_OF_MEMORY, "a layer");
    layer *added = &l->list[l->count];
    *added = *given;
    added->values = model_allocate(model_elements(added), sizeof *added->values);
    return l->count++;
}

static layer layer_of(layer_kind kind, int in)
{
    return (layer){.kind = kind,
                   .in = {in, -1, -1},
                   .residual = LAYERS_NO_RESIDUAL,
                   .activation = LAYERS_NO_ACTIVATION};
}

static void set_image(layer *out, neo_dim channels, neo_dim h, neo_dim w)
{
    out->ndims = 4;
    memcpy(out->dims, (neo_dim[]){1, channels, h, w}, sizeof out->dims);
}

static void set_rows(layer *out, neo_dim rows, neo_dim columns)
{
    out->ndims = 2;
    memcpy(out->dims, (neo_dim[]){rows, columns, 1, 1}, sizeof out->dims);
}

static int add_like(layers *l, layer_kind kind, int in)
{
    layer like = layer_of(kind, in);
    like.ndims = l->list[in].ndims;
    memcpy(like.dims, l->list[in].dims, sizeof like.dims);
    return add(l, &like);
}

int layers_image(layers *l, neo_dim channels, neo_dim side)
{
    layer image = layer_of(LAYER_INPUT, -1);
    set_image(&image, channels, side, side);
    return add(l, &image);
}

int layers_sequence(layers *l, neo_dim rows, neo_dim columns)
{
    layer sequence = layer_of(LAYER_INPUT, -1);
    set_rows(&sequence, rows, columns);
    return add(l, &sequence);
}

/* The amplitude keeps the values of layer after layer of about the same size. */
static void make_weights(layers *l, int at, neo_dim inputs, neo_dim outputs)
{
    size_t count = (size_t)(inputs * outputs);
    layer *to = &l->list[at];
    to->weight_count = count;
    to->weights = model_allocate(count, sizeof *to->weights);
    to->bias = model_allocate((size_t)outputs, sizeof *to->bias);
    model_fill(to->weights, count, sqrtf(3.0f / (float)inputs), 2 * (unsigned)at);
    model_fill(to->bias, (size_t)outputs, 0.2f, 2 * (unsigned)at + 1);
}

/* Pixels of dst in src, with (kernel - 1) / 2 zeros around it. */
static neo_dim slid(neo_dim in, neo_dim kernel, neo_dim stride)
{
    return (in + 2 * ((kernel - 1) / 2) - kernel) / stride + 1;
}

int layers_convolve(layers *l, int in, const layers_conv *conv)
{
    const neo_dim *dims = l->list[in].dims;
    layer made = layer_of(LAYER_CONVOLUTION, in);
    made.kernel = or_one(conv->kernel);
    made.stride = or_one(conv->stride);
    made.groups = or_one(conv->groups);
    made.activation = conv->activation;
    made.residual = conv->residual;
    set_image(&made, conv->channels, slid(dims[2], made.kernel, made.stride),
              slid(dims[3], made.kernel, made.stride));
    neo_dim inputs = dims[1] / made.groups * made.kernel * made.kernel;
    int at = add(l, &made);
    make_weights(l, at, inputs, conv->channels);
    return at;
}

int layers_max_pool(layers *l, int in, neo_dim kernel, neo_dim stride)
{
    const neo_dim *dims = l->list[in].dims;
    layer made = layer_of(LAYER_MAX_POOL, in);
    made.kernel = kernel;
    made.stride = stride;
    set_image(&made, dims[1], slid(dims[2], kernel, stride), slid(dims[3], kernel, stride));
    return add(l, &made);
}

int layers_average_pool(layers *l, int in)
{
    layer made = layer_of(LAYER_AVERAGE_POOL, in);
    set_rows(&made, 1, l->list[in].dims[1]);
    return add(l, &made);
}

int layers_upsample(layers *l, int in)
{
    const neo_dim *dims = l->list[in].dims;
    layer made = layer_of(LAYER_UPSAMPLE, in);
    set_image(&made, dims[1], 2 * dims[2], 2 * dims[3]);
    return add(l, &made);
}

int layers_concatenate(layers *l, int a, int b)
{
    const neo_dim *dims = l->list[a].dims;
    layer made = layer_of(LAYER_CONCATENATION, a);
    made.in[1] = b;
    set_image(&made, dims[1] + l->list[b].dims[1], dims[2], dims[3]);
    return add(l, &made);
}

int layers_gate(layers *l, int image, int row)
{
    int at = add_like(l, LAYER_GATE, image);
    l->list[at].in[1] = row;
    return at;
}

int layers_first_row(layers *l, int in)
{
    layer made = layer_of(LAYER_FIRST_ROW, in);
    set_rows(&made, 1, l->list[in].dims[1]);
    return add(l, &made);
}

int layers_linear(layers *l, int in, neo_dim columns, int activation, int residual)
{
    layer made = layer_of(LAYER_LINEAR, in);
    made.activation = activation;
    made.residual = residual;
    set_rows(&made, l->list[in].dims[0], columns);
    int at = add(l, &made);
    make_weights(l, at, l->list[in].dims[1], columns);
    return at;
}

int layers_attention(layers *l, int q, int k, int v, int heads)
{
    int at = add_like(l, LAYER_ATTENTION, q);
    l->list[at].in[1] = k;
    l->list[at].in[2] = v;
    l->list[at].heads = heads;
    return at;
}

/* Scales around 1. */
int layers_normalize(layers *l, int in)
{
    int at = add_like(l, LAYER_NORMALIZATION, in);
    neo_dim columns = l->list[at].dims[1];
    make_weights(l, at, 1, columns);
    for (neo_dim i = 0; i < columns; i++)
        l->list[at].weights[i] = 1 + l->list[at].weights[i] / 8;
    return at;
}

int layers_softmax(layers *l, int in)
{
    return add_like(l, LAYER_SOFTMAX, in);
}

/* ---- what becomes of them in a type ---- */

bool model_is_last(const layers *l, int at)
{
    const layer *result = &l->list[l->result];
    return at == l->result || (result->kind == LAYER_SOFTMAX && at == result->in[0]);
}

void model_weight_scales(const layer *of, float *scales)
{
    neo_dim outputs = of->dims[1], inputs = (neo_dim)of->weight_count / outputs;
    bool is_linear = of->kind == LAYER_LINEAR;
    for (neo_dim o = 0; o < outputs; o++) {
        const float *first = of->weights + (is_linear ? o : o * inputs);
        float largest = 0;
        for (neo_dim i = 0; i < inputs; i++)
            largest = fmaxf(largest, fabsf(first[i * (is_linear ? outputs : 1)]));
        scales[o] = largest / 127;
    }
}

/* Of what differs between the result's values: that probabilities are about 1/1000 is no merit. */
double model_error(const float *values, const double *expected, size_t count)
{
    double noise = 0, signal = 0, mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += expected[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)values[i] - expected[i];
        noise += difference * difference;
        signal += (expected[i] - mean) * (expected[i] - mean);
    }
    return sqrt(noise / signal); /* nothing but zeros would be NaN, which is within no bound */
}

/* ---- the end ---- */

static void fit(layers *l)
{
    l->is_fitting = true;
    plain_run(l, MODEL_FITTED);
    l->is_fitting = false;
}

/* What the values of the last run have beyond the ranges that are known widens them. A maximum has
 * the range of what it is taken of. */
static void widen_ranges(layers *l)
{
    for (int i = 0; i < l->count; i++) {
        layer *at = &l->list[i];
        for (size_t k = 0; k < model_elements(at); k++)
            at->range = fmax(at->range, fabs(at->values[k]));
        if (at->kind == LAYER_MAX_POOL)
            at->range = l->list[at->in[0]].range;
    }
}

static void calibrate(layers *l)
{
    widen_ranges(l);
    plain_run(l, MODEL_CALIBRATION);
    widen_ranges(l);
}

static void destroy(layers *l)
{
    for (int i = 0; i < l->count; i++) {
        free(l->list[i].weights);
        free(l->list[i].bias);
        free(l->list[i].values);
    }
    free(l);
}

int layers_finish(layers *l, int result, const layers_bounds *bounds)
{
    static const neo_data_type types[] = {NEO_F32, NEO_BF16, NEO_S8};
    const bool has[] = {true, bounds->bf16, bounds->s8};
    bool wants_all = !l->wanted[NEO_F32] && !l->wanted[NEO_BF16] && !l->wanted[NEO_S8];
    bool is_right = true, is_first = true;
    l->result = result;
    fit(l);
    if (bounds->s8 && (wants_all || l->wanted[NEO_S8]))
        calibrate(l);
    plain_run(l, MODEL_SAMPLE);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!has[i] || !(wants_all || l->wanted[types[i]]))
            continue;
        double bound = types[i] == NEO_F32 ? bounds->f32 : 1.5 * rounded_error(l, types[i]);
        is_right = typed_run(l, types[i], bound, is_first) && is_right;
        is_first = false;
    }
    destroy(l);
    return is_right ? 0 : 1;
}
