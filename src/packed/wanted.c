/* The size of weights that the calling thread is looking for. */
#include "src/packed/wanted.h"

static _Thread_local size_t wanted_size;

size_t weights_wanted_size(void)
{
    return wanted_size;
}

size_t weights_want_size(size_t size)
{
    size_t before = wanted_size;
    wanted_size = size;
    return before;
}
