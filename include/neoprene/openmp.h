/* Runs a stream's tasks on OpenMP's threads. The library itself never links OpenMP: include this in
 * a program that is compiled with -fopenmp. */
#ifndef NEOPRENE_OPENMP_H
#define NEOPRENE_OPENMP_H

#ifndef _OPENMP
#error "neoprene/openmp.h needs OpenMP: compile with -fopenmp"
#endif

#include <omp.h>

#include "neoprene/threadpool.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int neo_openmp_num_threads(void *context)
{
    (void)context;
    return omp_get_max_threads();
}

static inline int neo_openmp_in_parallel(void *context)
{
    (void)context;
    return omp_in_parallel();
}

/* The team is always the full one, because OpenMP runtimes are slow when its size changes; the
 * loop runs every task also if the runtime grants fewer threads. */
static inline void neo_openmp_parallel_for(void *context, int n, neo_task_fn *task, void *argument)
{
    (void)context;
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++)
        task(argument, i, n);
}

/* A pool of omp_get_max_threads() threads of the caller; pass its address where a stream is made.
 * There is nothing to destroy. */
static inline neo_threadpool neo_openmp_threadpool(void)
{
    neo_threadpool pool = {
        0, 0, neo_openmp_num_threads, neo_openmp_in_parallel, neo_openmp_parallel_for, 0};
    return pool;
}

#ifdef __cplusplus
}
#endif

#endif
