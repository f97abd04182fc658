/* The values options have: data types, tags, dimensions, masks and so on, with their texts. */
#include "benchdnn/types.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data types ---- */

static const struct {
    const char *name;
    neo_data_type neo;
    int digits;
} type_table[TYPE_COUNT] = {
#define TYPE_ENTRY(id, text, neo, digits) [id] = {text, neo, digits},
    TYPE_LIST(TYPE_ENTRY)
#undef TYPE_ENTRY
};

const char *type_name(enum type type)
{
    return type_table[type].name;
}

neo_data_type type_to_neo(enum type type)
{
    return type_table[type].neo;
}

int type_digits(enum type type)
{
    return type_table[type].digits;
}

bool type_is_integer(enum type type)
{
    return type == TYPE_S32 || type == TYPE_S8 || type == TYPE_U8 || type == TYPE_S4 ||
           type == TYPE_U4;
}

double type_epsilon(enum type type)
{
    return type_is_integer(type) ? 1e-9 : ldexp(1, 1 - type_digits(type));
}

double type_max(enum type type)
{
    if (type_is_integer(type))
        return ldexp(1, type_digits(type)) - 1;
    return type == TYPE_F16 ? 65504 : HUGE_VAL;
}

double type_min(enum type type)
{
    if (type == TYPE_U8 || type == TYPE_U4)
        return 0;
    return type_is_integer(type) ? -ldexp(1, type_digits(type)) : -type_max(type);
}

bool type_parse(enum type *out, const char *text)
{
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (text_equal_nocase(text, type_table[i].name)) {
            *out = (enum type)i;
            return true;
        }
    }
    return false;
}

/* ---- dimensions ---- */

const char *dims_read(struct dims *out, const char **text)
{
    *out = (struct dims){0};
    for (;; ++*text) {
        char *end;
        if (!isdigit((unsigned char)**text))
            return "a size is missing";
        if (out->count == NEO_MAX_NDIMS)
            return "there are more than 12 sizes";
        errno = 0;
        out->at[out->count++] = strtoll(*text, &end, 10);
        if (errno)
            return "a size is too large";
        *text = end;
        if (*end != 'x')
            return NULL;
    }
}

bool dims_parse(struct dims *out, const char *text)
{
    return !dims_read(out, &text) && !*text;
}

void dims_print(struct text *out, const struct dims *dims)
{
    for (int i = 0; i < dims->count; i++)
        text_printf(out, "%s%lld", i ? "x" : "", (long long)dims->at[i]);
}

/* Nothing of anything is nothing, also where the product before it does not fit. */
int64_t dims_elements(const struct dims *dims)
{
    int64_t n = 1;
    for (int i = 0; i < dims->count; i++) {
        if (!dims->at[i])
            return 0;
    }
    for (int i = 0; i < dims->count; i++) {
        if (__builtin_mul_overflow(n, dims->at[i], &n))
            return INT64_MAX;
    }
    return n;
}

int64_t dims_broadcast_index(const struct dims *dims, const int64_t *position)
{
    int64_t index = 0;
    for (int i = 0; i < dims->count; i++)
        index = index * dims->at[i] + (dims->at[i] == 1 ? 0 : position[i]);
    return index;
}

/* ---- tags ---- */

/* clang-format off */
static const char *const named_tags[] = {
    "any", "undef", "x", "nc", "cn", "ncw", "nwc", "nchw", "nhwc", "chwn", "ncdhw", "ndhwc", "oi",
    "io", "oiw", "owi", "wio", "iow", "oihw", "ohwi", "hwio", "ihwo", "iohw", "oidhw", "odhwi",
    "dhwio", "goiw", "gowi", "wigo", "goihw", "gohwi", "hwigo", "giohw", "goidhw", "godhwi",
    "dhwigo", "packed_matmul", "packed_conv", "packed_group_conv",
};
/* clang-format on */

static bool is_named(const char *text)
{
    for (size_t i = 0; i < sizeof named_tags / sizeof *named_tags; i++) {
        if (strcmp(text, named_tags[i]) == 0)
            return true;
    }
    return false;
}

/* Letters a … l and x, upper case when blocked, then sizes and lower-case letters of blocks; no
 * dimension twice outside of blocks. */
static bool is_letters(const char *text)
{
    unsigned seen = 0;
    const char *c = text;
    for (; *c && !isdigit((unsigned char)*c); c++) {
        int letter = tolower((unsigned char)*c);
        bool is_known = (letter >= 'a' && letter <= 'l') || *c == 'x';
        unsigned bit = letter == 'x' ? 1u << 31 : 1u << ((unsigned)(letter - 'a') & 31u);
        if (!is_known || (seen & bit))
            return false;
        seen |= bit;
    }
    if (c == text)
        return false;
    while (*c) {
        if (!isdigit((unsigned char)*c))
            return false;
        while (isdigit((unsigned char)*c))
            c++;
        if (*c < 'a' || *c > 'l')
            return false;
        c++;
    }
    return true;
}

/* The field's names of blocked layouts (nChw8c, OIhw4i16o4i) have no letters a … l to check. */
static bool is_blocked_name(const char *text)
{
    bool has_digit = false;
    for (const char *c = text; *c; c++) {
        has_digit |= isdigit((unsigned char)*c) != 0;
        if (!isdigit((unsigned char)*c) && !strchr("ncdhwoig", tolower((unsigned char)*c)))
            return false;
    }
    return has_digit && isalpha((unsigned char)text[0]);
}

bool tag_parse(struct tag *out, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > sizeof out->text)
        return false;
    if (!is_named(text) && !is_letters(text) && !is_blocked_name(text))
        return false;
    memcpy(out->text, text, size);
    return true;
}

bool tag_is_any(const struct tag *tag)
{
    return strcmp(tag->text, "any") == 0;
}

bool tag_is_blocked(const struct tag *tag)
{
    return strpbrk(tag->text, "0123456789") != NULL;
}

/* Letters of dimensions that a tensor does not have are left out of tags with "x". */
static bool is_letter_of(char c, int ndims)
{
    return c != 'x' && c - 'a' < ndims;
}

bool tag_expand(char *out, size_t size, const struct tag *tag, int ndims)
{
    const char *x = strchr(tag->text, 'x');
    if (!x || is_named(tag->text)) {
        if (!is_named(tag->text) && strlen(tag->text) != (size_t)ndims)
            return false;
        return (size_t)snprintf(out, size, "%s", tag->text) < size;
    }
    int letters = 0, first = 0;
    for (const char *c = tag->text; *c; c++) {
        letters += is_letter_of(*c, ndims);
        if (is_letter_of(*c, ndims) && *c - 'a' + 1 > first)
            first = *c - 'a' + 1;
    }
    if ((size_t)ndims >= size)
        return false;
    char *to = out;
    for (const char *c = tag->text; *c; c++) {
        if (is_letter_of(*c, ndims))
            *to++ = *c;
        for (int i = 0; c == x && i < ndims - letters; i++)
            *to++ = (char)('a' + first + i);
    }
    *to = 0;
    return true;
}

/* ---- masks ---- */

static const char *const policy_names[POLICY_COUNT] = {
    [POLICY_NONE] = "",
    [POLICY_COMMON] = "common",
    [POLICY_HOST_SCALAR] = "host_scalar",
    [POLICY_MX] = "mx",
    [POLICY_DYNAMIC_FP] = "dynamic_fp",
    [POLICY_PER_OC] = "per_oc",
    [POLICY_PER_OCIC] = "per_ocic",
    [POLICY_PER_DIM_0] = "per_dim_0",
    [POLICY_PER_DIM_1] = "per_dim_1",
    [POLICY_PER_DIM_01] = "per_dim_01",
    [POLICY_PER_DIM_2] = "per_dim_2",
    [POLICY_PER_DIM_3] = "per_dim_3",
    [POLICY_PER_TENSOR] = "per_tensor",
};

bool mask_parse(struct mask *out, const char *text)
{
    long long bits;
    if (text_to_int(text, &bits)) {
        *out = (struct mask){POLICY_NONE, (int)bits};
        return bits >= 0 && bits < 1 << NEO_MAX_NDIMS;
    }
    for (int i = POLICY_COMMON; i < POLICY_COUNT; i++) {
        if (text_equal_nocase(text, policy_names[i])) {
            *out = (struct mask){(enum policy)i, 0};
            return true;
        }
    }
    return false;
}

void mask_print(struct text *out, const struct mask *mask)
{
    if (mask->policy == POLICY_NONE)
        text_printf(out, "%d", mask->bits);
    else
        text_printf(out, "%s", policy_names[mask->policy]);
}
