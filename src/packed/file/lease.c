/* Who may write: the holder of a lock on the file. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/packed/file/provider.h"

enum { FIRST_WAIT_US = 50, LAST_WAIT_US = 5000 };

/* With the lock held: takes the lease on what is at the path, or says why not. */
static int try_lease(struct file_provider *provider)
{
    if (file_has(provider, NEO_WEIGHTS_READ_ONLY))
        return -EROFS;
    struct file_generation *current = provider->current;
    if (current && current->lease_users && current->process == getpid()) {
        current->lease_users++;
        return 0;
    }
    for (int i = 0; i < FILE_MAX_TRIES; i++) {
        int error = current_follow_path(provider, true);
        if (!error)
            error = generation_lease(provider->current);
        if (error)
            return error;
        if (generation_is_current(provider->current, provider->path))
            return 0;
        generation_end_lease(provider->current); /* it was replaced before we had the lease */
    }
    return -EAGAIN;
}

static uint64_t clock_us(void)
{
    return log_now_ns() / 1000;
}

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

int lease_wait(struct file_provider *provider, const neo_weights_key *key)
{
    uint64_t end = clock_us() + UINT64_C(1000) * provider->options.lease_timeout_ms;
    for (long wait = FIRST_WAIT_US;; wait = wait < LAST_WAIT_US / 2 ? 2 * wait : LAST_WAIT_US) {
        file_lock(provider);
        int error = try_lease(provider);
        if (error == 0)
            return 0;
        bool here = error == -EWOULDBLOCK && current_locate(provider, key);
        file_unlock(provider);
        if (here)
            return -EEXIST;
        if (error != -EWOULDBLOCK)
            return error;
        if (clock_us() > end)
            return -ETIMEDOUT;
        sleep_us(wait);
    }
}
