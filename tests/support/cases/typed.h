/* Tensors of any data type with values that are known as numbers, for tests of all types: dense, in
 * the order of a tag, in a buffer that ends where a page begins that may not be touched. */
#ifndef TESTS_SUPPORT_CASES_TYPED_H
#define TESTS_SUPPORT_CASES_TYPED_H

#include "neoprene/neoprene.h"
#include "tests/support/guard.h"

struct typed {
    neo_memory_desc desc;
    neo_memory *memory;
    void *data;
    struct guard guard;
    double scale; /* what typed_get() multiplies by; 0: 1 */
};

/* Fails the test when something cannot be made. The buffer is zeros. */
struct typed typed_make(neo_engine *engine, const neo_memory_desc *desc);
struct typed typed_make_tag(neo_engine *engine, neo_data_type type, int ndims, const neo_dim *dims,
                            const char *tag);
void typed_free(struct typed *typed);

/* The element at a position of a strided one; sizes of 1 repeat. What is put is a value of the
 * type. */
double typed_get(const struct typed *typed, const neo_dim *position);
void typed_put(const struct typed *typed, const neo_dim *position, double value);

/* Puts integers from low to high, or as many of them as the type has, at all positions. */
void typed_fill(const struct typed *typed, int low, int high, uint32_t *seed);

/* What a value becomes in an element of the type: to the nearest, ties to even, saturated. */
double typed_round(neo_data_type type, double value);

/* Fills all of the buffer with a marker; and fails unless what belongs to no element of a strided
 * one still holds it. */
void typed_mark(const struct typed *typed);
void typed_check_gaps(const struct typed *typed);

/* A descriptor by tag; and one that is the part of a larger one, with a gap on each line. */
neo_memory_desc typed_desc(int ndims, const neo_dim *dims, neo_data_type type, const char *tag);
neo_memory_desc typed_gaps(int ndims, const neo_dim *dims, neo_data_type type, const char *tag,
                           neo_dim gap);

/* How far an element of the type may be from the rounded value, if the value itself may be off by
 * error. */
double typed_slack(neo_data_type type, double value, double error);

/* To the next position of a tensor with these sizes; 0 after the last one. */
int typed_next(int ndims, const neo_dim *dims, neo_dim *position);

/* Runs a primitive once; and one that copies a tensor into another layout or type. */
void typed_run(neo_stream *stream, const neo_primitive_desc *pd, int count,
               const neo_exec_arg *args);
void typed_reorder(neo_engine *engine, neo_stream *stream, const struct typed *from,
                   const struct typed *to);

#endif
