/* The values options have: data types, tags, dimensions, masks and so on, with their texts. */
#ifndef BENCHDNN_TYPES_H
#define BENCHDNN_TYPES_H

#include "benchdnn/text.h"
#include "neoprene/neoprene.h"

#include <stdint.h>

/* ---- data types ---- */

/* id, text, the library's type or undef if it has none, digits of an exact integer. Types that the
 * library has no value for are outside of what an inference library for CPUs computes. */
#define TYPE_LIST(X)                                   \
    X(TYPE_UNDEF, "undef", NEO_DATA_TYPE_UNDEF, 0)     \
    X(TYPE_F32, "f32", NEO_F32, 24)                    \
    X(TYPE_F16, "f16", NEO_F16, 11)                    \
    X(TYPE_BF16, "bf16", NEO_BF16, 8)                  \
    X(TYPE_S32, "s32", NEO_S32, 31)                    \
    X(TYPE_S8, "s8", NEO_S8, 7)                        \
    X(TYPE_U8, "u8", NEO_U8, 8)                        \
    X(TYPE_S4, "s4", NEO_S4, 3)                        \
    X(TYPE_U4, "u4", NEO_U4, 4)                        \
    X(TYPE_S2, "s2", NEO_DATA_TYPE_UNDEF, 1)           \
    X(TYPE_U2, "u2", NEO_DATA_TYPE_UNDEF, 2)           \
    X(TYPE_U3, "u3", NEO_DATA_TYPE_UNDEF, 3)           \
    X(TYPE_F64, "f64", NEO_DATA_TYPE_UNDEF, 53)        \
    X(TYPE_S64, "s64", NEO_DATA_TYPE_UNDEF, 63)        \
    X(TYPE_BOOLEAN, "boolean", NEO_DATA_TYPE_UNDEF, 1) \
    X(TYPE_F8_E5M2, "f8_e5m2", NEO_DATA_TYPE_UNDEF, 3) \
    X(TYPE_F8_E4M3, "f8_e4m3", NEO_DATA_TYPE_UNDEF, 4) \
    X(TYPE_E8M0, "e8m0", NEO_DATA_TYPE_UNDEF, 1)       \
    X(TYPE_F4_E2M1, "f4_e2m1", NEO_DATA_TYPE_UNDEF, 2) \
    X(TYPE_F4_E3M0, "f4_e3m0", NEO_DATA_TYPE_UNDEF, 1)

enum type {
#define TYPE_ENTRY(id, text, neo, digits) id,
    TYPE_LIST(TYPE_ENTRY)
#undef TYPE_ENTRY
        TYPE_COUNT
};

const char *type_name(enum type type);
neo_data_type type_to_neo(enum type type);
int type_digits(enum type type);
bool type_is_integer(enum type type);
double type_epsilon(enum type type);
double type_max(enum type type);
double type_min(enum type type);
bool type_parse(enum type *out, const char *text);

/* One type for every tensor, or src:wei:dst. */
struct types {
    int count;
    enum type at[3];
};

/* ---- dimensions ---- */

struct dims {
    int count;
    int64_t at[NEO_MAX_NDIMS];
};

bool dims_parse(struct dims *out, const char *text); /* "3x4x5", each >= 0 */
void dims_print(struct text *out, const struct dims *dims);

/* "3x4x5" at *text, which then points behind it. NULL, or what is wrong with it. */
const char *dims_read(struct dims *out, const char **text);
int64_t dims_elements(const struct dims *dims);
/* The index of position in row-major order, where dimensions of size 1 repeat. */
int64_t dims_broadcast_index(const struct dims *dims, const int64_t *position);

/* One list of strides for each of up to three tensors; an empty one means "as the tag says". */
struct strides {
    struct dims at[3];
};

/* ---- tags ---- */

struct tag {
    char text[40];
};

/* Only the form is checked; whether it fits a number of dimensions is seen later. */
bool tag_parse(struct tag *out, const char *text);
bool tag_is_any(const struct tag *tag);
bool tag_is_blocked(const struct tag *tag); /* has inner blocks, such as aBx8b */
/* Writes tag for ndims dimensions without "x"; false if the two do not fit. */
bool tag_expand(char *out, size_t size, const struct tag *tag, int ndims);

/* ---- masks ---- */

/* An integer mask or a policy, which becomes a mask once the tensor is known. */
enum policy {
    POLICY_NONE, /* mask holds the value */
    POLICY_COMMON,
    POLICY_HOST_SCALAR,
    POLICY_MX,
    POLICY_DYNAMIC_FP,
    POLICY_PER_OC,
    POLICY_PER_OCIC,
    POLICY_PER_DIM_0,
    POLICY_PER_DIM_1,
    POLICY_PER_DIM_01,
    POLICY_PER_DIM_2,
    POLICY_PER_DIM_3,
    POLICY_PER_TENSOR,
    POLICY_COUNT
};

struct mask {
    enum policy policy;
    int bits;
};

bool mask_parse(struct mask *out, const char *text);
void mask_print(struct text *out, const struct mask *mask);

#endif
