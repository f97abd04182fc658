/* Memory for entries. */
#include "src/packed/allocator.h"

#include <stdlib.h>

#include "src/core/checked.h"

enum { MIN_ALIGN = 64 };

static void *allocate(void *context, size_t size, size_t align)
{
    (void)context;
    align = max_size(align, MIN_ALIGN);
    size_t rounded; /* aligned_alloc wants a multiple */
    return checked_round_up(&rounded, size, align) ? aligned_alloc(align, rounded) : NULL;
}

static void release(void *context, void *data, size_t size)
{
    (void)context;
    (void)size;
    free(data);
}

bool allocator_init(neo_weights_allocator *allocator, const neo_weights_allocator *wanted)
{
    if (!wanted->allocate != !wanted->release)
        return false;
    *allocator = *wanted;
    if (!wanted->allocate)
        *allocator = (neo_weights_allocator){.allocate = allocate, .release = release};
    return true;
}
