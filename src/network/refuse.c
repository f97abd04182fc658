/* What is wrong with a network, as a sentence in the log. */
#include "src/core/log.h"
#include "src/network/network.h"

neo_status network_refuse(const char *what, const char *name, const char *why)
{
    log_check("network: %s '%s': %s", what, name ? name : "", why);
    return NEO_INVALID_ARGUMENT;
}
