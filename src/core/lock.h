/* The one kind of lock: short critical sections, no calls out of the library inside them.
 *
 * A lock that is taken spins for a moment before it sleeps where the C library can do that: the
 * sections it guards are a few dozen instructions long. Tests put their own header in place of this
 * one to choose which thread gets a lock next. */
#ifndef SRC_CORE_LOCK_H
#define SRC_CORE_LOCK_H

#include <pthread.h>

struct lock {
    pthread_mutex_t mutex;
};

static inline void lock_init(struct lock *lock)
{
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    lock->mutex = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
#else
    lock->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
#endif
}

static inline void lock_deinit(struct lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

static inline void lock_take(struct lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

static inline void lock_give(struct lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

/* Gives the lock up until ready is signalled, and takes it again; may also return without cause. */
static inline void lock_wait(struct lock *lock, pthread_cond_t *ready)
{
    pthread_cond_wait(ready, &lock->mutex);
}

#endif
