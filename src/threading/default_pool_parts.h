/* Parts of the built-in pool that its files share. */
#ifndef SRC_THREADING_DEFAULT_POOL_PARTS_H
#define SRC_THREADING_DEFAULT_POOL_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "src/threading/core_kinds.h"
#include "src/threading/default_pool.h"
#include "src/threading/lifetime.h"

/* A mailbox holds one of these four, or the address of a region with these two flags. Regions are
 * 64-byte aligned, so a flag is no part of an address, and no low half of a region's word is equal
 * to MAIL_ASLEEP: the futex, which compares only that half, cannot miss mail. */
#define MAIL_NONE ((uintptr_t)0)    /* the worker is free and looks here */
#define MAIL_ASLEEP ((uintptr_t)1)  /* the worker is free and sleeps on this word */
#define MAIL_STOP ((uintptr_t)3)    /* the worker ends */
#define MAIL_START ((uintptr_t)5)   /* the worker has been created, but has not run yet */
#define MAIL_TAKEN ((uintptr_t)2)   /* flag: the worker runs tasks of the region */
#define MAIL_AWAITED ((uintptr_t)4) /* flag: the region's caller sleeps until it has finished */

#define CACHE_LINE 64

/* Of a worker. The library takes less than 64 KiB; the rest is for the tasks of users. */
#define POOL_STACK_BYTES ((size_t)1 << 20)

struct worker {
    _Alignas(CACHE_LINE) _Atomic uintptr_t mail;
    struct default_pool *pool;
    int id;
    int cpu; /* to run on; negative: any */
    pthread_t thread;
    uint64_t moved_ns; /* when it last tried to leave its caller's CPU */
};

struct default_pool {
    struct lifetime lifetime; /* the first member, see pool_stop() */
    int threads;
    uint64_t spin_ns;
    _Atomic uint64_t state; /* fork generation and phase, see start() */
    int live;               /* workers that run; valid in PHASE_READY */
    _Atomic int caller_cpu; /* where the last call came from */
    int cpus;               /* that it may use */
    struct core_kinds kinds;
    bool uneven;            /* the CPUs it may use are not equally fast */
    double *weights;        /* speeds by thread; NULL if they are equal or threads may move */
    struct worker *workers; /* threads - 1 of them */
};

/* The half of the mailbox with the low bits. */
static inline const void *futex_word(const struct worker *w)
{
    const void *mail = &w->mail;
    bool low_is_last = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return (const char *)mail + (low_is_last ? sizeof w->mail - sizeof(uint32_t) : 0);
}

/* ---- calls (default_pool_region.c) ---- */

/* What a worker's thread runs; its argument is the worker. */
void *pool_worker_main(void *worker);

/* Notes where the caller is. */
void pool_tell_cpu(struct default_pool *pool);

/* Runs the tasks in this thread and in up to wanted free ones of the live workers. */
void pool_run_region(struct default_pool *pool, int live, int wanted, int n, neo_task_fn *task,
                     void *argument);

/* ---- threads (default_pool_threads.c) ---- */

/* Before any other function: the pool has no threads yet. */
void pool_threads_init(struct default_pool *pool);

/* How many workers there are; the first call makes them. 0 while another thread does that, and
 * after pool_stop(). */
int pool_live_workers(struct default_pool *pool);

/* Joins the workers, if there are any. */
void pool_stop(struct lifetime *lifetime);

#endif
