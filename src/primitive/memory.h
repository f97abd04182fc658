/* The memory object's insides. */
#ifndef SRC_PRIMITIVE_MEMORY_H
#define SRC_PRIMITIVE_MEMORY_H

#include "neoprene/memory.h"
#include "src/memory/allocation.h"
#include "src/tensor/descriptor.h"

/* First what every execution reads, which is one cache line for small tensors. */
struct neo_memory {
    neo_engine *engine; /* a reference */
    void *handle;
    size_t first, bytes;              /* from handle to the first element, and to the end, */
    uint64_t image[DESC_IMAGE_WORDS]; /* desc's image, and */
    neo_memory_desc desc;             /* this are set by memory_describe() */
    struct allocation owned;          /* empty if handle is the user's */
};

/* The part that depends on the descriptor alone. */
void memory_describe(neo_memory *memory, const neo_memory_desc *desc);

/* Element (0, 0, …); NULL if there is no memory or no buffer. */
static inline void *memory_first_element(const neo_memory *memory)
{
    return memory && memory->handle ? (unsigned char *)memory->handle + memory->first : NULL;
}

#endif
