/* Deconvolution: its shape and its algorithm. */
#ifndef SRC_DECONVOLUTION_DECONVOLUTION_H
#define SRC_DECONVOLUTION_DECONVOLUTION_H

#include "neoprene/deconvolution.h"
#include "src/primitive/problem.h"

/* Weights have a dimension for groups. */
static inline bool deconvolution_is_grouped(const struct problem *problem)
{
    return problem->tensors[WEIGHTS].ndims == problem->tensors[DST].ndims + 1;
}

extern const struct algorithm deconvolution_columns;

#endif
