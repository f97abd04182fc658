/* How much is written: ONEDNN_VERBOSE, or what the program sets. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/onednn/objects.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int level; /* atomic */

/* Of a number, or of words with commas in between: these are whose lines there are here. */
static int level_of(const char *text)
{
    return strstr(text, "all") || strstr(text, "profile") || strstr(text, "error") ? 1 : atoi(text);
}

static void read_level(void)
{
    const char *text = getenv("ONEDNN_VERBOSE");
    if (!text)
        text = getenv("DNNL_VERBOSE");
    if (text)
        __atomic_store_n(&level, level_of(text), __ATOMIC_RELAXED);
}

int verbose_level(void)
{
    pthread_once(&once, read_level);
    return __atomic_load_n(&level, __ATOMIC_RELAXED);
}

void verbose_set(int new_level)
{
    pthread_once(&once, read_level);
    __atomic_store_n(&level, new_level, __ATOMIC_RELAXED);
}

EXPORT dnnl_status dnnl_set_verbose(int new_level)
{
    if (new_level < 0 || new_level > 2)
        return dnnl_invalid_arguments;
    verbose_set(new_level);
    return dnnl_success;
}

dnnl_status unserved(const char *function)
{
    if (verbose_level())
        printf("onednn_verbose,v1,primitive,error,neoprene: not served: %s\n", function);
    return dnnl_unimplemented;
}
