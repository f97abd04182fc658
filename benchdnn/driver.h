/* The table of drivers: everything that is different from one operation to another. */
#ifndef BENCHDNN_DRIVER_H
#define BENCHDNN_DRIVER_H

#include "benchdnn/problem.h"

struct reference;
struct tensor;

struct driver {
    const char *name;
    /* Options outside and inside of those that all drivers share, in the order of loops. */
    struct option_table outer, inner;
    bool is_convolution; /* problems have a conv_shape, and their weights its dimensions */
    bool is_turned;      /* a deconvolution: src and dst of its conv_shape have changed places */
    bool is_on_lines;    /* dimension 1 of dst has the channels */
    bool scales_result;  /* src's scale is applied to what comes out, not to what goes in */
    double zero_trust;   /* percent of zeros in a result above which it proves nothing */

    /* Reads a descriptor into problem; says what is wrong with it and returns false. */
    bool (*parse)(struct problem *problem, const char *text);
    /* Combines options and descriptor and fills problem->operands; says what is wrong and returns
     * false. */
    bool (*complete)(struct problem *problem);
    void (*print)(struct text *out, const struct problem *problem, bool canonical);
    /* Why an inference library for CPUs is not asked at all; NULL: it is. */
    const char *(*out_of_scope)(const struct problem *problem);
    neo_status (*create)(neo_primitive_desc **out, const struct problem *problem,
                         neo_engine *engine, const neo_attributes *attributes);
    double (*ops)(const struct problem *problem);
    /* How many products are added for one result. */
    int64_t (*reduction)(const struct problem *problem);
    /* Sums of products in double, in natural order, without bias and post-operations. */
    void (*reference)(const struct problem *problem, const struct reference *reference);
    /* What an operand that is no dst has after the execution, where the library writes it; false:
     * it does not. NULL: it writes none. */
    bool (*also_writes)(const struct problem *problem, const struct reference *reference,
                        int operand, double *out);
    /* How far results may be off, of their size and where they are small; NULL: not at all. */
    double (*tolerance)(const struct problem *problem);
    double (*near)(const struct problem *problem);
    /* Fills an operand itself, or returns false; NULL: none. */
    bool (*fill)(struct tensor *tensor, const struct problem *problem, int operand);
    /* What a user without this library would call; NULL if there is nothing. */
    void *(*peer_create)(const struct problem *problem, const float *src, const float *weights);
    void (*peer_run)(void *peer);
    void (*peer_destroy)(void *peer);
};

extern const struct driver driver_conv, driver_matmul, driver_reorder, driver_eltwise,
    driver_binary, driver_softmax, driver_concat, driver_sum, driver_reduction, driver_prelu,
    driver_shuffle, driver_pool, driver_lnorm, driver_bnorm, driver_gnorm, driver_resampling,
    driver_lrn, driver_ip, driver_deconv;
extern const struct driver *const drivers[];
extern const size_t driver_count;

/* Options every driver has with lists of values: attributes and contexts. */
extern const struct option_table driver_shared;

const struct driver *driver_find(const char *name); /* "conv"; NULL if there is none */

#endif
