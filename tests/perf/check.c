/* What results have to be: loops of double, as the definitions are written. */
#include "tests/perf/problem.h"

#include <math.h>

enum { SAMPLES = 64 };

/* Where element (row, column) of a rows × columns matrix lies. */
static size_t matrix_index(size_t row, size_t column, size_t rows, size_t columns, bool transposed)
{
    return transposed ? column * rows + row : row * columns + column;
}

/* Of the i-th value of dst as it lies in memory. */
static double matmul_expected(const struct problem *problem, size_t i)
{
    const struct matmul_problem *p = &problem->matmul;
    size_t size = p->m * p->n, batch = i / size, at = i % size;
    bool by_column = p->transposed & OPERAND_DST;
    size_t row = by_column ? at % p->m : at / p->n, column = by_column ? at / p->m : at % p->n;
    const float *src = matmul_src(problem, batch), *weights = matmul_weights(problem, batch);
    double sum = 0;
    for (size_t k = 0; k < p->k; k++)
        sum +=
            (double)src[matrix_index(row, k, p->m, p->k, p->transposed & OPERAND_SRC)] *
            (double)weights[matrix_index(k, column, p->k, p->n, p->transposed & OPERAND_WEIGHTS)];
    return sum;
}

/* The source element under kernel position `tap` for output position `out`, or -1 in the padding */
static ptrdiff_t source_position(const struct conv_problem *p, size_t out, size_t tap)
{
    ptrdiff_t position = 0;
    size_t out_rest[3] = {out / (p->out[1] * p->out[2]), out / p->out[2] % p->out[1],
                          out % p->out[2]};
    size_t tap_rest[3] = {tap / (p->kernel[1] * p->kernel[2]), tap / p->kernel[2] % p->kernel[1],
                          tap % p->kernel[2]};
    for (int dim = 0; dim < 3; dim++) {
        ptrdiff_t at =
            (ptrdiff_t)(out_rest[dim] * p->stride[dim] + tap_rest[dim] * (p->dilation[dim] + 1)) -
            (ptrdiff_t)p->pad[dim];
        if (at < 0 || at >= (ptrdiff_t)p->in[dim])
            return -1;
        position = position * (ptrdiff_t)p->in[dim] + at;
    }
    return position;
}

static size_t conv_index(const struct conv_problem *p, size_t channels, size_t positions,
                         size_t image, size_t channel, size_t position)
{
    return p->channels_last ? (image * positions + position) * channels + channel
                            : (image * channels + channel) * positions + position;
}

static double conv_expected(const struct problem *problem, size_t image, size_t oc, size_t out)
{
    const struct conv_problem *p = &problem->conv;
    size_t taps = conv_positions(p->kernel), icg = p->ic / p->groups;
    size_t first_ic = oc / (p->oc / p->groups) * icg;
    double sum = 0;
    for (size_t tap = 0; tap < taps; tap++) {
        ptrdiff_t position = source_position(p, out, tap);
        for (size_t ic = 0; position >= 0 && ic < icg; ic++)
            sum += (double)problem->weights[(oc * icg + ic) * taps + tap] *
                   (double)problem->src[conv_index(p, p->ic, conv_positions(p->in), image,
                                                   first_ic + ic, (size_t)position)];
    }
    return sum;
}

/* Of what a result is a sum of: products. */
static double products_of_each(const struct problem *problem)
{
    return (double)(problem_products(problem) / problem->dst_size);
}

/* Bytes saturate, floats of 16 bits are rounded, and so are elements of src that become integers,
 * and sums of f16. */
static double error_of(const struct problem *problem, double got, double expected)
{
    double low = -INFINITY, high = INFINITY, rounding = 0;
    if (problem->dst_type == DRIVER_S8)
        low = -128, high = 127;
    else if (problem->dst_type == DRIVER_U8)
        low = 0, high = 255;
    else if (problem->dst_type == DRIVER_F16 || problem->dst_type == DRIVER_BF16)
        rounding = fabs(expected) / 256;
    if (problem->is_dynamic)
        rounding += fabs(expected) / 32 + sqrt(products_of_each(problem)) / 4;
    if (driver_allows_f16_sums())
        rounding += sqrt(products_of_each(problem)) / 4;
    double error = fabs(got - fmin(fmax(expected, low), high)) - rounding;
    return error < 0 ? 0 : error; /* not a number stays so */
}

static double error_at(const struct problem *problem, size_t i)
{
    if (problem->kind == PROBLEM_OPERATION)
        return error_of(problem, (double)problem->dst[i],
                        operation_expected(&problem->operation, problem->src, problem->weights, i));
    if (problem->kind == PROBLEM_MATMUL)
        return error_of(problem, (double)problem->dst[i], matmul_expected(problem, i));
    const struct conv_problem *p = &problem->conv;
    size_t positions = conv_positions(p->out);
    size_t image = i / (p->oc * positions), oc = i / positions % p->oc, out = i % positions;
    size_t at = conv_index(p, p->oc, positions, image, oc, out);
    return error_of(problem, (double)problem->dst[at], conv_expected(problem, image, oc, out));
}

double problem_largest_error(const struct problem *problem)
{
    double largest = 0;
    for (size_t sample = 0; sample < SAMPLES; sample++) {
        /* a step that shares no factor with usual sizes; the last sample is the last element */
        size_t i =
            sample + 1 == SAMPLES ? problem->dst_size - 1 : sample * 1000003 % problem->dst_size;
        double error = error_at(problem, i);
        if (isnan(error)) /* fmax() would drop it */
            return error;
        largest = fmax(largest, error);
    }
    return largest;
}
