/* How large elements are. */
#ifndef SRC_CORE_DATA_TYPE_H
#define SRC_CORE_DATA_TYPE_H

#include <stddef.h>

#include "neoprene/types.h"

/* neo_data_type_bits(), where it is asked many times. */
static inline size_t data_type_bits(neo_data_type type)
{
    static const unsigned char bits[] = {
#define BITS(name, text, size) [name] = (size),
        NEO_DATA_TYPE_LIST(BITS)
#undef BITS
    };
    return (size_t)type < sizeof bits ? bits[type] : 0;
}

#endif
