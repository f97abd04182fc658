/* What the kinds of normalisation share. */
#ifndef SRC_NORMALIZATION_NORMALIZATION_H
#define SRC_NORMALIZATION_NORMALIZATION_H

#include "neoprene/normalization.h"
#include "src/primitive/problem.h"

struct normalization_parameters {
    float epsilon;
    uint32_t flags;
    int64_t groups; /* group normalisation only */
};

static inline const struct normalization_parameters *
normalization_parameters(const struct problem *problem)
{
    return (const void *)problem->parameters;
}

struct moments {
    float mean, variance;
};

/* A description, from which the arguments beside src and dst follow. */
struct normalization {
    const struct operation *operation;
    neo_engine *engine;
    neo_prop_kind prop_kind;
    const neo_memory_desc *src, *dst;
    neo_memory_desc statistics; /* of mean and variance, if they are arguments */
    neo_dim channels;           /* values of scale and shift */
    neo_data_type scale_shift_type;
    struct normalization_parameters parameters;
    const neo_attributes *attributes;
};

/* Of an operation: statistics that are made. */
bool normalization_writes(const struct problem *problem, int arg);

/* f32, row-major, with the first so many of a tensor's dimensions. */
neo_memory_desc normalization_statistics(const neo_memory_desc *of, int ndims);

neo_status normalization_create(neo_primitive_desc **out, const struct normalization *n);

#endif
