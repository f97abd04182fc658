/* Small problems of every operation, for tests that want them all: each walks through its
 * algorithms with neo_primitive_desc_next(). */
#ifndef TESTS_SUPPORT_CASES_PRIMITIVES_H
#define TESTS_SUPPORT_CASES_PRIMITIVES_H

#include <stdbool.h>

#include "neoprene/neoprene.h"

/* What a user passes to one of the ..._primitive_desc_create(). */
struct primitive_problem {
    const char *name;
    neo_matmul_desc matmul; /* the one whose dst is there counts; else it is a reorder */
    neo_convolution_desc convolution;
    neo_memory_desc reorder_src, reorder_dst;
    neo_attributes *attributes;
};

extern const size_t primitive_problem_count;

/* Problem 0 .. primitive_problem_count - 1. */
void primitive_problem_init(struct primitive_problem *problem, neo_engine *engine, size_t number,
                            bool user_scratchpad);
void primitive_problem_deinit(struct primitive_problem *problem);

/* Describes the problem and moves on to its implementation number `index`; allocates nothing
 * itself. *out is NULL unless NEO_OK is returned. */
neo_status primitive_problem_describe(neo_primitive_desc **out, neo_engine *engine,
                                      const struct primitive_problem *problem, int index);

/* Calls visit with every implementation of every problem; what it is given lives until it returns.
 */
typedef void primitive_visit(const struct primitive_problem *problem, int index,
                             const neo_primitive_desc *pd);
void primitive_for_each(neo_engine *engine, bool user_scratchpad, primitive_visit *visit);

/* A matrix multiplication of an m x k matrix with plain weights, without attributes. The matrix has
 * no neighbours in either direction, so that with more than one row it takes a scratchpad. */
neo_status primitive_describe_matmul(neo_primitive_desc **out, neo_engine *engine, neo_dim m,
                                     neo_dim n, neo_dim k);

enum { PRIMITIVE_MAX_ARGS = 10 };

/* What an execution needs: buffers of small integers, and a scratchpad if the user has to bring it.
 */
struct primitive_args {
    neo_exec_arg list[PRIMITIVE_MAX_ARGS];
    void *buffers[PRIMITIVE_MAX_ARGS];
    int count;
};

struct primitive_args primitive_args_make(neo_engine *engine, const neo_primitive_desc *pd,
                                          unsigned seed, int threads);
void primitive_args_free(struct primitive_args *args);

/* dst's buffer and its bytes. */
void *primitive_args_dst(const struct primitive_args *args, size_t *bytes);

#endif
