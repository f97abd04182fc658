/* Arguments that lie in one another's memory. */
#ifndef SRC_PRIMITIVE_APART_H
#define SRC_PRIMITIVE_APART_H

#include "src/primitive/concrete.h"
#include "src/primitive/implementation.h"

/* Two arguments of which one is written, which share memory, and may not; *written is 0 if there
 * are none. All are there and fit the problem. */
struct shared_arguments {
    int written, other; /* NEO_ARG_* */
};

struct shared_arguments arguments_shared(const struct implementation *impl,
                                         const struct arguments *args);

#endif
