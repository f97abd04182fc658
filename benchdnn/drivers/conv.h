/* The convolution driver's parts. */
#ifndef BENCHDNN_DRIVERS_CONV_H
#define BENCHDNN_DRIVERS_CONV_H

#include "benchdnn/problem.h"

struct reference;

bool conv_desc_parse(struct problem *problem, const char *text);
void conv_desc_print(struct text *out, const struct problem *problem, bool canonical);

/* "direct" and so on; field is a neo_convolution_algorithm. */
void conv_print_alg(struct text *out, const void *field);

/* Products with a source element inside of the image: the others are with zeros. */
double conv_ops(const struct problem *problem);

/* A deconvolution's. */
neo_status deconv_create(neo_primitive_desc **out, const struct problem *problem,
                         neo_engine *engine, const neo_attributes *attributes);
void deconv_reference(const struct problem *problem, const struct reference *reference);

/* src, weights and dst in natural order, see reference.h. */
void conv_reference(const struct problem *problem, const struct reference *reference);

/* Writes the patches of outputs [begin, end) of one image and group as columns of a matrix of
 * ic/g * kd * kh * kw rows and end - begin columns. */
void conv_im2col(float *out, const struct conv_shape *shape, const float *src, int64_t begin,
                 int64_t end);

#endif
