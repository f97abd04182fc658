/* How many threads problems get (pool_override.c says how programs are run on other pools). */
#ifndef TESTS_SUPPORT_POOL_OVERRIDE_H
#define TESTS_SUPPORT_POOL_OVERRIDE_H

#include <stdbool.h>

/* From now on every problem is worth all threads of its stream, however small it is; or not. Not to
 * be called while primitives of earlier calls are in a cache. */
void pool_override_split(bool always);

#endif
