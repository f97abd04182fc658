/* The built-in pool in tests, and a task that sees several threads at once. */
#ifndef TESTS_SUPPORT_MEETING_H
#define TESTS_SUPPORT_MEETING_H

#include <pthread.h>
#include <stdatomic.h>

#include "src/threading/default_pool.h"

struct default_pool *make_pool(const neo_threadpool_options *options);
struct default_pool *pool_of(int threads);

/* Tasks wait for each other here, at most some seconds: real ones must not. */
struct meeting {
    int wanted;
    atomic_int arrived, met;
    pthread_t caller;
    atomic_int elsewhere; /* tasks outside of the calling thread */
    atomic_int bad;       /* counted by the check */
    void (*check)(struct meeting *meeting);
};

/* The task; the argument is a meeting. */
void meet(void *argument, int i, int n);

/* Runs tasks that all must be at work at the same time. */
void hold_meeting(struct default_pool *pool, int n, struct meeting *m);

/* A task. */
void do_nothing(void *argument, int i, int n);

#endif
