/* All drivers. */
#include <string.h>

#include "benchdnn/driver.h"

const struct driver *const drivers[] = {
    &driver_conv,       &driver_matmul, &driver_reorder, &driver_eltwise,   &driver_binary,
    &driver_softmax,    &driver_concat, &driver_sum,     &driver_reduction, &driver_prelu,
    &driver_shuffle,    &driver_pool,   &driver_lnorm,   &driver_bnorm,     &driver_gnorm,
    &driver_resampling, &driver_lrn,    &driver_ip,      &driver_deconv,
};
const size_t driver_count = sizeof drivers / sizeof *drivers;

const struct driver *driver_find(const char *name)
{
    for (size_t i = 0; i < driver_count; i++) {
        if (strcmp(name, drivers[i]->name) == 0)
            return drivers[i];
    }
    return NULL;
}
