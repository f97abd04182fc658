/* The matrices of Winograd's minimal filtering. */
#include "src/tensor/winograd.h"

#include <stdbool.h>

/* Number 0 is infinity. */
static const double points[WINOGRAD_MOST] = {0, 0, 1, -1, 2, -2, 0.5, -0.5};

/* The product over the finite points l < n, l != without, of (points[without] - points[l]). */
static double distance(size_t n, size_t without)
{
    double product = 1;
    for (size_t l = 1; l < n; l++)
        product *= l == without ? 1 : points[without] - points[l];
    return product;
}

/* The coefficients of the product over the finite points l < n, l != without, of (x - points[l]).
 * without 0: of all. */
static void polynomial(size_t n, size_t without, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = i == 0;
    for (size_t l = 1; l < n; l++) {
        if (l == without)
            continue;
        for (size_t i = n - 1; i > 0; i--)
            out[i] = out[i - 1] - points[l] * out[i];
        out[0] *= -points[l];
    }
}

void winograd_weights_row(size_t largest, size_t taps, size_t point, double *out)
{
    double power = point ? 1 / distance(largest, point) : 1;
    for (size_t i = 0; i < taps; i++) {
        out[i] = point ? power : i == taps - 1;
        power *= points[point];
    }
}

void winograd_input_matrix(size_t largest, size_t n, float *out)
{
    for (size_t point = 0; point < n; point++) {
        double row[WINOGRAD_MOST];
        double scale = point ? distance(largest, point) / distance(n, point) : 1;
        polynomial(n, point, row);
        for (size_t i = 0; i < n; i++)
            out[point * n + i] = (float)(row[i] * scale);
    }
}

void winograd_output_matrix(size_t n, size_t taps, float *out)
{
    size_t m = winograd_outputs(n, taps);
    for (size_t point = 0; point < n; point++) {
        double power = 1;
        for (size_t i = 0; i < m; i++) {
            out[i * n + point] = point ? (float)power : i == m - 1;
            power *= points[point];
        }
    }
}
