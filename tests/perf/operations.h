/* The operations beside products and convolutions that drivers compute, on images with channels
 * last: what problems of them are, and what their results have to be. */
#ifndef PERF_OPERATIONS_H
#define PERF_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of each element; of two images; of windows; of rows, which are the channels of a pixel; of
 * channels; an image of twice the height and width; the channels of two images one after another.
 */
enum operation {
    OPERATION_RELU,
    OPERATION_HARDSWISH, /* x * min(max(x + 3, 0), 6) / 6 */
    OPERATION_LOGISTIC,
    OPERATION_TANH,
    OPERATION_GELU, /* by erf */
    OPERATION_EXP,
    OPERATION_ADD,
    OPERATION_MULTIPLY,
    OPERATION_MAX_POOL,
    OPERATION_AVERAGE_POOL, /* without what is padding */
    OPERATION_SOFTMAX,
    OPERATION_LAYER_NORM, /* with scale and shift */
    OPERATION_BATCH_NORM, /* with scale, shift, mean and variance */
    OPERATION_BILINEAR,   /* pixel centres at halves */
    OPERATION_CONCAT,
    OPERATION_COUNT,
};

#define OPERATION_EPSILON 1e-5f

/* What an array is for a call. Parts are the images that become one; from ROLE_SCALE on there is a
 * value for each channel. */
enum operation_role {
    ROLE_SRC,
    ROLE_SECOND,
    ROLE_DST,
    ROLE_FIRST_PART,
    ROLE_SECOND_PART,
    ROLE_SCALE,
    ROLE_SHIFT,
    ROLE_MEAN,
    ROLE_VARIANCE
};

enum { OPERATION_ARGUMENTS = 6 };

struct operation_argument {
    enum operation_role role;
    float *values;
};

struct operation_problem {
    enum operation operation;
    size_t mb, channels, height, width;
    size_t kernel, stride, pad; /* of windows, in both directions */
    size_t out_height, out_width, out_channels;
};

/* How many values of each array an operation has: the second is another image, or what a
 * normalisation has for each channel: all scales, then shifts, means, variances. */
struct operation_sizes {
    size_t src, second, dst;
};

/* From "operation NAME MB CHANNELS HEIGHT WIDTH KERNEL STRIDE PAD". */
bool operation_parse(struct operation_problem *problem, const char *line);
struct operation_sizes operation_sizes(const struct operation_problem *problem);
/* Those of a call, as many as are returned; the arrays are the problem's. */
size_t operation_arguments(struct operation_argument arguments[OPERATION_ARGUMENTS],
                           const struct operation_problem *problem, float *src, float *second,
                           float *dst);
/* Of rows, which are matrices to libraries, and not of images. */
bool operation_is_of_rows(const struct operation_problem *problem);
/* What windows read after the last row (0) or column (1); negative: the last ones are not read. */
ptrdiff_t operation_pad_after(const struct operation_problem *problem, int dim);
double operation_expected(const struct operation_problem *problem, const float *src,
                          const float *second, size_t i);

#ifdef __cplusplus
}
#endif

#endif
