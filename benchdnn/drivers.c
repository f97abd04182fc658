/* All drivers. */
#include <string.h>

#include "benchdnn/driver.h"

const struct driver *const drivers[] = {&driver_conv, &driver_matmul, &driver_reorder};
const size_t driver_count = sizeof drivers / sizeof *drivers;

const struct driver *driver_find(const char *name)
{
    for (size_t i = 0; i < driver_count; i++) {
        if (strcmp(name, drivers[i]->name) == 0)
            return drivers[i];
    }
    return NULL;
}
