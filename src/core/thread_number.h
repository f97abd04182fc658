/* A number for each thread, from 1 on, never given twice: cheap to ask for, unlike a thread's id.
 */
#ifndef SRC_CORE_THREAD_NUMBER_H
#define SRC_CORE_THREAD_NUMBER_H

#include <stdint.h>

/* The calling thread's number, 0 while it has none. */
extern _Thread_local uint64_t thread_number_mine __attribute__((tls_model("initial-exec")));

/* Gives the calling thread its number. */
uint64_t thread_number_draw(void);

static inline uint64_t thread_number(void)
{
    return thread_number_mine ? thread_number_mine : thread_number_draw();
}

#endif
