/* An operation on tensors of any type that is checked against a definition in double: results,
 * gaps, post-operations, threads, in place, nodes of networks, sizes known late, allocations that
 * fail. */
#ifndef TESTS_SUPPORT_CASES_OPERATION_CASE_H
#define TESTS_SUPPORT_CASES_OPERATION_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/cases/typed.h"

enum { OPERATION_MOST_TENSORS = 40 };

struct operation_tensor {
    int arg;
    neo_memory_desc desc;
    bool is_output;
};

enum { ALL_KNOWN = 0xff };

struct operation_case;

/* Creates a descriptor of the case with these attributes. */
typedef neo_status operation_create_fn(neo_primitive_desc **out, neo_engine *engine,
                                       const struct operation_case *row,
                                       const neo_attributes *attributes);

/* What an element of the output tensors[output] is, before post-operations and rounding; the others
 * have their values. */
typedef double operation_want_fn(const struct operation_case *row, const struct typed *tensors,
                                 int output, const neo_dim *position);

/* Changes what tensors were filled with. */
typedef void operation_fill_fn(const struct operation_case *row, struct typed *tensors);

struct operation_case {
    const char *name;
    operation_create_fn *create;
    operation_want_fn *want;
    operation_fill_fn *fill; /* or NULL */
    const void *context;     /* the test's */
    int count;
    struct operation_tensor tensors[OPERATION_MOST_TENSORS]; /* dst is the first output */
    uint8_t known[OPERATION_MOST_TENSORS]; /* bits of dimensions that cannot have run-time sizes */
    float scales[OPERATION_MOST_TENSORS];  /* the case runs once more with these; 0: none */
    bool scales_result;                    /* tensors[0]'s scale is applied to what comes out */
    double error;                          /* of a result of about 1, before it is rounded */
    int in_place;   /* number of the tensor that may be dst's buffer, or -1 */
    bool no_chains; /* the operation takes no post-operations */
};

/* Runs the case in every way; fails at the first element that differs. */
void operation_case_check(const struct operation_case *row);

/* The index of the tensor with this argument, which is there. */
int operation_tensor_index(const struct operation_case *row, int arg);

#endif
