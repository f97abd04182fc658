/* The memory object's insides. */
#ifndef SRC_PRIMITIVE_MEMORY_H
#define SRC_PRIMITIVE_MEMORY_H

#include "neoprene/memory.h"
#include "src/memory/allocation.h"
#include "src/tensor/descriptor.h"

/* First what every execution reads, which is one cache line for small tensors. */
struct neo_memory {
    neo_engine *engine;               /* a reference */
    void *elements;                   /* the first one, (0, 0, …): NULL if handle is */
    uint64_t image[DESC_IMAGE_WORDS]; /* desc's with the engine's mark; it begins with 0, as none
                                       * does, where a buffer is missing */
    uint64_t image_begin;             /* what it begins with otherwise, */
    size_t first, bytes;              /* from handle to the first element, and to the end, and */
    neo_memory_desc desc;             /* this are set by memory_describe() */
    void *handle;                     /* set by memory_set_handle() */
    struct allocation owned;          /* empty if handle is the user's */
};

/* The part that depends on the descriptor and the engine alone. */
void memory_describe(neo_memory *memory, const neo_memory_desc *desc);

/* Whoever owns the buffer before or now looks after it. */
static inline void memory_set_handle(neo_memory *memory, void *handle)
{
    memory->handle = handle;
    memory->elements = handle ? (unsigned char *)handle + memory->first : NULL;
    memory->image[0] = handle || !memory->bytes ? memory->image_begin : 0;
}

/* Element (0, 0, …); NULL if there is no memory or no buffer. */
static inline void *memory_first_element(const neo_memory *memory)
{
    return memory ? memory->elements : NULL;
}

#endif
