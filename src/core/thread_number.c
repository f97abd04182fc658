/* Numbers of threads. */
#include "src/core/thread_number.h"

#include <stdatomic.h>

_Thread_local uint64_t thread_number_mine;

uint64_t thread_number_draw(void)
{
    static _Atomic uint64_t drawn;
    thread_number_mine = atomic_fetch_add_explicit(&drawn, 1, memory_order_relaxed) + 1;
    return thread_number_mine;
}
