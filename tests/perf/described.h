/* What programs share that print a line for each region: a failure ends them, and says of what. */
#ifndef PERF_DESCRIBED_H
#define PERF_DESCRIBED_H

#include <stdio.h>
#include <stdlib.h>

#include "neoprene/memory.h"

static inline void check(neo_status status, const char *what)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, neo_status_text(status));
    exit(1);
}

static inline neo_memory_desc desc_of(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    check(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag), tag);
    return desc;
}

#endif
