/* A product of matrices of any types, with scales and zero points of every kind: its definition in
 * double precision, and running it by every implementation that is offered. Data are such that each
 * sum is exact in f32 in any order, so every result is one number. */
#ifndef TESTS_SUPPORT_CASES_TYPED_PRODUCT_H
#define TESTS_SUPPORT_CASES_TYPED_PRODUCT_H

#include "tests/support/cases/typed.h"

enum { NDIMS = 3 };
enum { SRC, WEIGHTS, DST, SIDES };
enum { TYPED_PRODUCT_ARGUMENTS = SIDES * 3 + 1 };

/* Scales or zero points, or none (mask < 0). */
struct typed_values {
    int mask;
    neo_dim groups[2]; /* 0: none */
    neo_data_type type;
    struct typed typed;
};

struct typed_product {
    neo_dim dims[SIDES][NDIMS], k;
    neo_data_type types[SIDES], bias_type; /* undefined: no bias */
    const char *tags[SIDES];
    struct typed_values scales[SIDES], zeros[SIDES];
    int relu, sum;
    neo_fpmath_mode fpmath;
    neo_accumulation_mode accumulation;
    struct typed sides[SIDES], bias, old;
    neo_attributes *attributes;
};

/* Of nine rows and fourteen columns, with zero points of these types for src and weights;
 * undefined: none. */
struct typed_product typed_product_long(const neo_data_type *types, const neo_data_type *zeros,
                                        neo_dim k);

/* Its tensors and attributes, filled with small integers; and what gives them back. */
void typed_product_make(struct typed_product *p, uint32_t *seed);
void typed_product_discard(struct typed_product *p);

/* The best implementation; NULL: there was no memory for it. */
neo_primitive_desc *typed_product_describe(const struct typed_product *p);

/* Writes what an execution with these weights takes, at most TYPED_PRODUCT_ARGUMENTS; returns how
 * many there are. */
int typed_product_arguments(const struct typed_product *p, neo_memory *weights, neo_exec_arg *list);

/* Runs every implementation, with weights as they are or `any`, and holds the results against the
 * definition. Returns how many there are. */
int typed_product_run_all(const struct typed_product *p, int any_weights);

#endif
