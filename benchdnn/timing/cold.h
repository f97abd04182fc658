/* Cold caches: executions take turns on copies of tensors, so many that none is cached when its
 * turn comes again. */
#ifndef BENCHDNN_TIMING_COLD_H
#define BENCHDNN_TIMING_COLD_H

#include "benchdnn/data.h"

struct cold {
    size_t count, next; /* sets of arguments */
    int arg_count;
    neo_exec_arg *args; /* count * arg_count */
    struct tensor *copies;
    size_t copy_count;
    unsigned char *tlb; /* touched before each execution, or NULL */
    size_t tlb_bytes;
};

/* As --cold-cache says; with `none` there is one set, data's own. */
void cold_init(struct cold *cold, const struct data *data, neo_engine *engine);
void cold_deinit(struct cold *cold);

/* The arguments of the next execution. */
const neo_exec_arg *cold_next(struct cold *cold);

#endif
