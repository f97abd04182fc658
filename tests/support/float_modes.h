/* Modes of the floating-point unit that a program may have set. */
#ifndef TESTS_SUPPORT_FLOAT_MODES_H
#define TESTS_SUPPORT_FLOAT_MODES_H

#include "src/threading/float_mode.h"

struct float_mode_row {
    const char *name;
    uint64_t bits;
};

static const struct float_mode_row float_modes[] = {
    {"default", FLOAT_MODE_DEFAULT},
#if defined(__aarch64__)
    {"upward", 1 << 22},
    {"flush to zero", 1 << 24 | 1 << 19}, /* FZ, FZ16 */
    {"default NaN, downward", 1 << 25 | 2 << 22},
#elif defined(__x86_64__)
    {"upward", FLOAT_MODE_DEFAULT | 2 << 13},
    {"flush to zero", FLOAT_MODE_DEFAULT | 1 << 15 | 1 << 6},
    {"truncate", FLOAT_MODE_DEFAULT | 3 << 13},
#else
    {"upward", FE_UPWARD},
    {"toward zero", FE_TOWARDZERO},
#endif
};

enum { FLOAT_MODES = sizeof float_modes / sizeof *float_modes };

#endif
