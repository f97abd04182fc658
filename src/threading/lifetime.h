/* What must not survive a fork, exit() or dlclose(): threads. */
#ifndef SRC_THREADING_LIFETIME_H
#define SRC_THREADING_LIFETIME_H

#include <stdbool.h>
#include <stdint.h>

/* Embedded in what has threads. */
struct lifetime {
    void (*stop)(struct lifetime *owner); /* joins them */
    struct lifetime *next;
};

/* How many forks lie between the first process and this one: threads of another generation than
 * the present one do not exist. */
uint64_t lifetime_generation(void);

/* From now on forks are counted; false if the system refuses that. */
bool lifetime_watch_forks(void);

/* stop() is called when the library is unloaded or the process ends, unless removed before. */
void lifetime_add(struct lifetime *owner);
void lifetime_remove(struct lifetime *owner); /* does nothing if it is not there */

#endif
