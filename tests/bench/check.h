/* A micro-benchmark ends at the first thing that fails. */
#ifndef TESTS_BENCH_CHECK_H
#define TESTS_BENCH_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "neoprene/types.h"

static inline void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "it failed: %s\n", what);
    exit(1);
}

static inline void check_ok(neo_status status)
{
    check(status == NEO_OK, neo_status_text(status));
}

#endif
