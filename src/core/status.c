/* Texts and sizes that belong to the public enumerations. */
#include "neoprene/types.h"

const char *neo_status_text(neo_status status)
{
    static const char *const texts[] = {
#define TEXT(name, text) [name] = text,
        NEO_STATUS_LIST(TEXT)
#undef TEXT
    };
    size_t i = (size_t)status;
    return i < sizeof texts / sizeof texts[0] ? texts[i] : "not a status";
}

static const struct {
    const char *name;
    size_t bits;
} types[] = {[NEO_DATA_TYPE_UNDEF] = {"undef", 0},
#define TYPE(name, text, bits) [name] = {text, bits},
             NEO_DATA_TYPE_LIST(TYPE)
#undef TYPE
};

static size_t index_of(neo_data_type type)
{
    size_t i = (size_t)type;
    return i < sizeof types / sizeof types[0] ? i : NEO_DATA_TYPE_UNDEF;
}

const char *neo_data_type_name(neo_data_type type)
{
    return types[index_of(type)].name;
}

size_t neo_data_type_bits(neo_data_type type)
{
    return types[index_of(type)].bits;
}

const neo_version *neo_get_version(void)
{
    static const neo_version version = {
        .major = NEO_VERSION_MAJOR,
        .minor = NEO_VERSION_MINOR,
        .patch = NEO_VERSION_PATCH,
        .target = NEO_PORTABLE ? "portable" : "aarch64",
    };
    return &version;
}
