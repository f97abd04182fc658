#include "tests/perf/operations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[OPERATION_COUNT] = {
    [OPERATION_RELU] = "relu",
    [OPERATION_HARDSWISH] = "hardswish",
    [OPERATION_LOGISTIC] = "logistic",
    [OPERATION_TANH] = "tanh",
    [OPERATION_GELU] = "gelu",
    [OPERATION_EXP] = "exp",
    [OPERATION_ADD] = "add",
    [OPERATION_MULTIPLY] = "multiply",
    [OPERATION_MAX_POOL] = "max_pool",
    [OPERATION_AVERAGE_POOL] = "average_pool",
    [OPERATION_SOFTMAX] = "softmax",
    [OPERATION_LAYER_NORM] = "layer_norm",
    [OPERATION_BATCH_NORM] = "batch_norm",
    [OPERATION_BILINEAR] = "bilinear",
    [OPERATION_CONCAT] = "concat",
};

static size_t windows(const struct operation_problem *p, size_t size)
{
    return (size + 2 * p->pad - p->kernel) / p->stride + 1;
}

static void set_outputs(struct operation_problem *p)
{
    p->out_height = p->height;
    p->out_width = p->width;
    p->out_channels = p->channels;
    if (p->operation == OPERATION_MAX_POOL || p->operation == OPERATION_AVERAGE_POOL) {
        p->out_height = windows(p, p->height);
        p->out_width = windows(p, p->width);
    } else if (p->operation == OPERATION_BILINEAR) {
        p->out_height *= 2;
        p->out_width *= 2;
    } else if (p->operation == OPERATION_CONCAT) {
        p->out_channels *= 2;
    }
}

bool operation_parse(struct operation_problem *problem, const char *line)
{
    struct operation_problem p = {0};
    char name[32];
    if (sscanf(line, "operation %31s %zu %zu %zu %zu %zu %zu %zu", name, &p.mb, &p.channels,
               &p.height, &p.width, &p.kernel, &p.stride, &p.pad) != 8)
        return false;
    while (p.operation < OPERATION_COUNT && strcmp(names[p.operation], name) != 0)
        p.operation++;
    if (p.operation == OPERATION_COUNT)
        return false;
    set_outputs(&p);
    *problem = p;
    return true;
}

/* How many values a normalisation has for each channel. */
static size_t parameters_of(const struct operation_problem *p)
{
    return p->operation == OPERATION_LAYER_NORM ? 2 : p->operation == OPERATION_BATCH_NORM ? 4 : 0;
}

static bool has_second_image(const struct operation_problem *p)
{
    return p->operation == OPERATION_ADD || p->operation == OPERATION_MULTIPLY ||
           p->operation == OPERATION_CONCAT;
}

struct operation_sizes operation_sizes(const struct operation_problem *p)
{
    size_t src = p->mb * p->height * p->width * p->channels;
    return (struct operation_sizes){.src = src,
                                    .second =
                                        has_second_image(p) ? src : parameters_of(p) * p->channels,
                                    .dst = p->mb * p->out_height * p->out_width * p->out_channels};
}

size_t operation_arguments(struct operation_argument arguments[OPERATION_ARGUMENTS],
                           const struct operation_problem *p, float *src, float *second, float *dst)
{
    size_t count = 0;
    bool has_parts = p->operation == OPERATION_CONCAT;
    arguments[count++] = (struct operation_argument){has_parts ? ROLE_FIRST_PART : ROLE_SRC, src};
    arguments[count++] = (struct operation_argument){ROLE_DST, dst};
    if (has_second_image(p))
        arguments[count++] =
            (struct operation_argument){has_parts ? ROLE_SECOND_PART : ROLE_SECOND, second};
    for (size_t i = 0; i < parameters_of(p); i++)
        arguments[count++] = (struct operation_argument){(enum operation_role)(ROLE_SCALE + i),
                                                         second + i * p->channels};
    return count;
}

bool operation_is_of_rows(const struct operation_problem *p)
{
    return p->operation == OPERATION_SOFTMAX || p->operation == OPERATION_LAYER_NORM;
}

ptrdiff_t operation_pad_after(const struct operation_problem *p, int dim)
{
    size_t in = dim ? p->width : p->height, out = dim ? p->out_width : p->out_height;
    return (ptrdiff_t)((out - 1) * p->stride + p->kernel) - (ptrdiff_t)(in + p->pad);
}

static double of_element(enum operation operation, double x, double y)
{
    switch (operation) {
    case OPERATION_RELU:
        return fmax(x, 0);
    case OPERATION_HARDSWISH:
        return x * fmin(fmax(x + 3, 0), 6) / 6;
    case OPERATION_LOGISTIC:
        return 1 / (1 + exp(-x));
    case OPERATION_TANH:
        return tanh(x);
    case OPERATION_GELU:
        return x / 2 * (1 + erf(x / sqrt(2)));
    case OPERATION_EXP:
        return exp(x);
    case OPERATION_ADD:
        return x + y;
    default:
        return x * y;
    }
}

static double of_row(enum operation operation, const float *row, size_t count, size_t i,
                     const float *scale)
{
    double sum = 0, squares = 0, exponentials = 0;
    for (size_t j = 0; j < count; j++) {
        sum += (double)row[j];
        exponentials += exp((double)row[j]);
    }
    if (operation == OPERATION_SOFTMAX)
        return exp((double)row[i]) / exponentials;
    double mean = sum / (double)count;
    for (size_t j = 0; j < count; j++)
        squares += ((double)row[j] - mean) * ((double)row[j] - mean);
    return ((double)row[i] - mean) / sqrt(squares / (double)count + (double)OPERATION_EPSILON) *
               (double)scale[i] +
           (double)scale[count + i];
}

static double of_channel(const float *parameters, size_t channels, size_t channel, double x)
{
    double scale = (double)parameters[channel], shift = (double)parameters[channels + channel];
    double mean = (double)parameters[2 * channels + channel];
    double variance = (double)parameters[3 * channels + channel];
    return (x - mean) / sqrt(variance + (double)OPERATION_EPSILON) * scale + shift;
}

/* Of image `image`; src's pixel (y, x) of a channel. */
static double pixel(const struct operation_problem *p, const float *src, size_t image, size_t y,
                    size_t x, size_t channel)
{
    return (double)src[((image * p->height + y) * p->width + x) * p->channels + channel];
}

static double of_window(const struct operation_problem *p, const float *src, size_t image, size_t y,
                        size_t x, size_t channel)
{
    double sum = 0, most = -INFINITY, count = 0;
    for (size_t i = 0; i < p->kernel; i++)
        for (size_t j = 0; j < p->kernel; j++) {
            size_t row = y * p->stride + i - p->pad, column = x * p->stride + j - p->pad;
            if (row >= p->height || column >= p->width) /* unsigned: before the first, too */
                continue;
            double value = pixel(p, src, image, row, column, channel);
            sum += value;
            most = fmax(most, value);
            count++;
        }
    return p->operation == OPERATION_MAX_POOL ? most : sum / count;
}

/* The two positions of `size` that output i of twice as many lies between, and the weight of the
 * second. */
static double between(size_t i, size_t size, size_t at[2])
{
    double position = fmax(((double)i + 0.5) / 2 - 0.5, 0);
    at[0] = (size_t)position;
    at[1] = at[0] + 1 < size ? at[0] + 1 : at[0];
    return position - (double)at[0];
}

static double of_neighbours(const struct operation_problem *p, const float *src, size_t image,
                            size_t y, size_t x, size_t channel)
{
    size_t rows[2], columns[2];
    double down = between(y, p->height, rows), right = between(x, p->width, columns), values[2];
    for (int i = 0; i < 2; i++)
        values[i] = pixel(p, src, image, rows[i], columns[0], channel) * (1 - right) +
                    pixel(p, src, image, rows[i], columns[1], channel) * right;
    return values[0] * (1 - down) + values[1] * down;
}

double operation_expected(const struct operation_problem *p, const float *src, const float *second,
                          size_t i)
{
    size_t channel = i % p->out_channels, position = i / p->out_channels;
    size_t x = position % p->out_width, y = position / p->out_width % p->out_height;
    size_t image = position / p->out_width / p->out_height;
    switch (p->operation) {
    case OPERATION_MAX_POOL:
    case OPERATION_AVERAGE_POOL:
        return of_window(p, src, image, y, x, channel);
    case OPERATION_BILINEAR:
        return of_neighbours(p, src, image, y, x, channel);
    case OPERATION_SOFTMAX:
    case OPERATION_LAYER_NORM:
        return of_row(p->operation, src + position * p->channels, p->channels, channel, second);
    case OPERATION_BATCH_NORM:
        return of_channel(second, p->channels, channel, (double)src[i]);
    case OPERATION_CONCAT:
        return channel < p->channels
                   ? (double)src[position * p->channels + channel]
                   : (double)second[position * p->channels + channel - p->channels];
    default:
        return of_element(p->operation, (double)src[i],
                          has_second_image(p) ? (double)second[i] : 0);
    }
}
