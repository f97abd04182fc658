/* Validated numbers from the environment. */
#include "src/core/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/log.h"

static unsigned suffix_shift(const char *suffix)
{
    static const char letters[] = "KkMmGg";
    const char *at = *suffix && !suffix[1] ? strchr(letters, *suffix) : NULL;
    return at ? 10u * (unsigned)((at - letters) / 2 + 1) : 0;
}

bool parse_number(const char *text, uint64_t low, uint64_t high, bool suffixes, uint64_t *out)
{
    if (*text < '0' || *text > '9') /* strtoull would take blanks and a sign */
        return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno)
        return false;
    unsigned shift = 0;
    if (*end) {
        shift = suffixes ? suffix_shift(end) : 0;
        if (!shift || value > UINT64_MAX >> shift)
            return false;
    }
    value <<= shift;
    if (value < low || value > high)
        return false;
    *out = value;
    return true;
}

bool env_number(const char *name, uint64_t low, uint64_t high, bool suffixes, uint64_t *out)
{
    const char *text = secure_getenv(name);
    if (!text)
        return false;
    if (parse_number(text, low, high, suffixes, out))
        return true;
    log_warn("%s='%s' is not a whole number from %llu to %llu; it is ignored", name, text,
             (unsigned long long)low, (unsigned long long)high);
    return false;
}
