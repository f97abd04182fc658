/* The memory object's insides. */
#ifndef SRC_PRIMITIVE_MEMORY_H
#define SRC_PRIMITIVE_MEMORY_H

#include "neoprene/memory.h"
#include "src/memory/allocation.h"

struct neo_memory {
    neo_memory_desc desc;
    neo_engine *engine; /* a reference */
    void *handle;
    struct allocation owned; /* empty if handle is the user's */
};

#endif
