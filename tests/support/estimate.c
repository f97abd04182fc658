/* In a file of its own because internals and tests have different ideas of what a tensor is. */
#include "tests/support/estimate.h"

#include <limits.h>

#include "src/primitive/implementation.h"
#include "src/primitive/primitive.h"
#include "src/threading/partition.h"

void estimate_set(const neo_primitive_desc *pd, double cycles)
{
    struct implementation *impl = pd->implementation;
    impl->estimate = cycles;
    impl->facts.parallel =
        impl->runtime || partition_threads(cycles, INT_MAX, impl->engine->cpu->core) > 1;
    if (impl->facts.parallel) /* what is plain has one thread */
        impl->facts.engine = NULL;
}
