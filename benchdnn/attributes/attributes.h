/* The attribute options (--attr-…): their values, grammar and translation for the library. */
#ifndef BENCHDNN_ATTRIBUTES_ATTRIBUTES_H
#define BENCHDNN_ATTRIBUTES_ATTRIBUTES_H

#include "benchdnn/types.h"

/* ---- scales and zero points ---- */

#define QUANTITIES_MAX 8

/* Which tensor a scale or zero point belongs to. */
enum quantity_arg {
    QUANTITY_SRC,
    QUANTITY_SRC1,
    QUANTITY_WEI,
    QUANTITY_DST,
    QUANTITY_DW_DST,
    QUANTITY_DW_WEI,
    QUANTITY_MULTIPLE_SRC,
};

struct quantity {
    enum quantity_arg arg;
    int number; /* of a multiple source */
    struct mask mask;
    bool has_value;
    double value;
    enum type type;
    struct dims groups; /* count 0: none */
};

struct quantities {
    int count;
    struct quantity at[QUANTITIES_MAX];
};

/* ---- post-operations ---- */

enum post_op_kind {
    POST_OP_SUM,
    POST_OP_ELTWISE,
    POST_OP_BINARY,
    POST_OP_PRELU,
    POST_OP_DEPTHWISE,
};

/* How an operand is spread over dst. */
struct operand_form {
    struct mask mask;
    struct tag tag;
};

struct post_op {
    enum post_op_kind kind;
    const char *name; /* as it was called, without a prefix; static */
    neo_eltwise eltwise;
    neo_binary binary;
    double alpha, beta;            /* of eltwise; alpha is the scale of a sum */
    int zero_point;                /* of a sum */
    enum type type;                /* of a sum, of a binary's operand, of a depthwise result */
    struct mask mask;              /* of a binary's operand, of prelu weights */
    struct tag tag;                /* of a binary's operand */
    struct operand_form condition; /* of a selection, which is a binary one */
    struct dims strides;
    int kernel, stride, padding; /* of a depthwise convolution */
};

struct post_ops {
    int count;
    struct post_op at[NEO_MAX_POST_OPS];
};

/* ---- the others ---- */

struct fpmath {
    neo_fpmath_mode mode;
    bool apply_to_int;
};

/* Attributes that the library does not have are kept as they were written. */
struct words {
    char text[96];
};

struct attributes {
    struct quantities scales, zero_points;
    struct words precomputed_reductions;
    struct post_ops post_ops;
    neo_scratchpad_mode scratchpad;
    struct fpmath fpmath;
    neo_accumulation_mode accumulation;
    bool deterministic;
    struct words dropout, rounding;
};

/* Rows for a driver's option table: parse one element, print what was parsed. */
bool scales_parse(void *field, const char *text);
bool zero_points_parse(void *field, const char *text);
void scales_print(struct text *out, const void *field);
void zero_points_print(struct text *out, const void *field);
bool post_ops_parse(void *field, const char *text);
void post_ops_print(struct text *out, const void *field);
bool scratchpad_parse(void *field, const char *text);
void scratchpad_print(struct text *out, const void *field);
bool fpmath_parse(void *field, const char *text);
void fpmath_print(struct text *out, const void *field);
bool accumulation_parse(void *field, const char *text);
void accumulation_print(struct text *out, const void *field);
bool words_parse(void *field, const char *text);
void words_print(struct text *out, const void *field);
bool rounding_parse(void *field, const char *text);

/* What masks are resolved against. */
struct attribute_shape {
    const struct dims *dst;
    struct dims between; /* what operations before a depthwise one are applied to; else empty */
    int weights_ndims;
    neo_data_type weights_type, bias_type; /* the latter UNDEF: there is none */
    bool is_convolution, has_groups;
    unsigned dst_runtime; /* bit d: dimension d is told at execution */
};

int mask_resolve(const struct mask *mask, enum quantity_arg arg,
                 const struct attribute_shape *shape);
/* The dimensions of a post-operation's operand, or of a selection's condition. */
struct dims post_op_dims(const struct post_op *op, const struct attribute_shape *shape);
struct dims post_op_condition_dims(const struct post_op *op, const struct attribute_shape *shape);
/* NEO_ARG_* of the tensor a scale belongs to; 0 if the library has no such tensor. */
int quantity_neo_arg(const struct quantity *quantity);

/* Why the library cannot be asked for these attributes at all; NULL if it can. */
const char *attributes_out_of_scope(const struct attributes *attributes);
neo_status attributes_create(neo_attributes **out, const struct attributes *attributes,
                             const struct attribute_shape *shape);

#endif
