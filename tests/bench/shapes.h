/* Shapes of networks' layers, from benchdnn's input files: convolutions with square images, kernels
 * and strides, and products of two matrices. */
#ifndef TESTS_BENCH_SHAPES_H
#define TESTS_BENCH_SHAPES_H

#include <stdbool.h>

#include "neoprene/convolution.h"
#include "neoprene/matmul.h"

struct shape {
    bool is_matmul;
    int count; /* how often it is in the network */
    neo_dim m, k, n;
    neo_dim batch, groups, ic, ih, oc, oh, kernel, stride, padding; /* channels: of all groups */
};

/* Reads a file; returns how many there are. Exits if there are none or more than `most`. */
size_t shapes_read(struct shape *shapes, size_t most, const char *path);

/* The plain weights, dense. */
neo_memory_desc shape_plain_weights(const struct shape *shape);

/* Descriptions in f32: any weights, images with channels last, no bias. */
neo_matmul_desc shape_matmul(const struct shape *shape);
neo_convolution_desc shape_convolution(const struct shape *shape);

#endif
