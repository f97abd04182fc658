/* Descriptions of primitives made of bytes: right ones, and right ones with a few fields changed
 * into anything. */
#ifndef TESTS_FUZZ_PROBLEM_H
#define TESTS_FUZZ_PROBLEM_H

#include "neoprene/neoprene.h"
#include "tests/fuzz/bytes.h"

enum fuzz_operation { FUZZ_MATMUL, FUZZ_CONVOLUTION, FUZZ_REORDER, FUZZ_OPERATIONS };

enum fuzz_tensor { FUZZ_SRC, FUZZ_WEIGHTS, FUZZ_BIAS, FUZZ_DST, FUZZ_TENSORS };
extern const int fuzz_args[FUZZ_TENSORS];

/* What a post-operation is given at execution. */
struct fuzz_operand {
    int arg;
    neo_memory_desc actual;
};

struct fuzz_problem {
    enum fuzz_operation operation;
    neo_memory_desc described[FUZZ_TENSORS];
    neo_memory_desc
        actual[FUZZ_TENSORS];    /* plain weights, sizes where run-time ones are described */
    neo_convolution_desc window; /* a convolution's parameters; its tensors are unused */
    neo_attributes *attributes;
    int operand_count;
    struct fuzz_operand operands[NEO_MAX_POST_OPS];
    bool is_right;     /* creation must not find anything wrong */
    bool is_supported; /* nor must it lack an implementation */
    bool is_runtime;
    bool is_quantized; /* it has scales or zero points */
    bool is_gentle;    /* post-operations do not enlarge small errors */
};

/* Release with fuzz_problem_deinit(). */
void fuzz_problem_init(struct fuzz_problem *problem, struct fuzz_bytes *bytes);
void fuzz_problem_deinit(struct fuzz_problem *problem);

/* Writes it to the standard error. */
void fuzz_problem_print(const struct fuzz_problem *problem);

/* Asks the library for a primitive descriptor, as a user does. */
neo_status fuzz_problem_describe(neo_primitive_desc **out, neo_engine *engine,
                                 const struct fuzz_problem *problem);

/* The same problem as loops would have it: plain tensors, sizes that are known, no choice of an
 * algorithm. Shares the attributes. */
struct fuzz_problem fuzz_problem_plain(const struct fuzz_problem *problem);

/* Multiply-adds, or as many as there are elements to copy; SIZE_MAX when that is beyond counting.
 */
size_t fuzz_problem_work(const struct fuzz_problem *problem);

#endif
