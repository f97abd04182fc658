/* What is lost by the values of a type alone: the plain loops of double once more, with weights and
 * results of layers that are rounded to them. */
#include "examples/support/model.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The upper half of an f32, to the nearest one, ties to even. */
static double as_bf16(double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* step: what 1 of s8 stands for. */
static double kept(neo_data_type type, double value, double step)
{
    if (type == NEO_BF16)
        return as_bf16(value);
    double steps = step > 0 ? rint(value / step) : 0;
    return fmin(fmax(steps, -128), 127) * step;
}

void rounded_values(layer *of, neo_data_type type)
{
    for (size_t i = 0; i < model_elements(of); i++)
        of->values[i] = kept(type, of->values[i], of->range / 127);
}

static bool is_product(const layer *of)
{
    return of->kind == LAYER_CONVOLUTION || of->kind == LAYER_LINEAR;
}

/* A copy, which the caller frees. */
static float *rounded_weights(const layer *of, neo_data_type type)
{
    size_t outputs = (size_t)of->dims[1], inputs = of->weight_count / outputs;
    float *scales = model_allocate(outputs, sizeof *scales);
    float *weights = model_allocate(of->weight_count, sizeof *weights);
    model_weight_scales(of, scales);
    for (size_t i = 0; i < of->weight_count; i++) {
        size_t output = of->kind == LAYER_LINEAR ? i % outputs : i / inputs;
        weights[i] = (float)kept(type, (double)of->weights[i], (double)scales[output]);
    }
    free(scales);
    return weights;
}

/* The result of a run with what is there, in f32. */
static float *result_of(layers *l)
{
    const layer *result = &l->list[l->result];
    size_t count = model_elements(result);
    float *values = model_allocate(count, sizeof *values);
    plain_run(l, MODEL_SAMPLE);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)result->values[i];
    return values;
}

double rounded_error(layers *l, neo_data_type type)
{
    float *exact[MODEL_MOST_LAYERS] = {NULL};
    layer *result = &l->list[l->result];
    double *expected = result->values;
    result->values = model_allocate(model_elements(result), sizeof *result->values);
    for (int i = 0; i < l->count; i++) {
        exact[i] = l->list[i].weights;
        if (is_product(&l->list[i]))
            l->list[i].weights = rounded_weights(&l->list[i], type);
    }
    l->kept = type;
    float *values = result_of(l);
    l->kept = NEO_DATA_TYPE_UNDEF;
    for (int i = 0; i < l->count; i++)
        if (is_product(&l->list[i])) {
            free(l->list[i].weights);
            l->list[i].weights = exact[i];
        }
    free(result->values);
    result->values = expected;
    double error = model_error(values, expected, model_elements(result));
    free(values);
    return error;
}
