/* Reading single elements. */
#include "src/tensor/element.h"

#include <math.h>
#include <string.h>

/* IEEE half precision by its parts: works on every CPU. */
static float from_f16(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf((float)fraction, -24);
    else
        value = ldexpf((float)(fraction + 1024), exponent - 25);
    return bits >> 15 ? -value : value;
}

static float from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

bool element_is_readable(neo_data_type type)
{
    return type >= NEO_F32 && type <= NEO_U8;
}

float element_read(neo_data_type type, const void *data, neo_dim index)
{
    switch (type) {
    case NEO_F32:
        return ((const float *)data)[index];
    case NEO_F16:
        return from_f16(((const uint16_t *)data)[index]);
    case NEO_BF16:
        return from_bf16(((const uint16_t *)data)[index]);
    case NEO_S32:
        return (float)((const int32_t *)data)[index];
    case NEO_S8:
        return (float)((const int8_t *)data)[index];
    case NEO_U8:
        return (float)((const uint8_t *)data)[index];
    default:
        return 0;
    }
}
