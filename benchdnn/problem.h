/* A problem: the values of all options and of one descriptor, and what follows from them. */
#ifndef BENCHDNN_PROBLEM_H
#define BENCHDNN_PROBLEM_H

#include "benchdnn/attributes/attributes.h"
#include "benchdnn/options.h"

struct driver;

enum direction { FWD_B, FWD_D, FWD_I, BWD_D, BWD_WB, BWD_W, BWD_DW, DIRECTION_COUNT };

/* MAX_THREADS[:CORE_TYPE[:THREADS_PER_CORE]]; 0 is auto. Cores cannot be chosen here. */
struct context {
    int max_threads, core_type, threads_per_core;
};

struct runtime_masks {
    int count;
    int at[2]; /* of src and weights */
};

/* ---- descriptors ---- */

#define SPATIAL 3 /* depth, height, width */

struct conv_shape {
    bool has_groups; /* weights have a dimension for groups, also when there is one */
    int64_t g, mb, ic, oc;
    int64_t i[SPATIAL], o[SPATIAL], k[SPATIAL], s[SPATIAL], p[SPATIAL], d[SPATIAL];
    int64_t right[SPATIAL]; /* padding; may be negative */
    int spatial;            /* 1 … 3: the last so many of each array count, the others are 1 */
};

struct matmul_shape {
    struct dims src, weights, dst;
};

/* ---- tensors ---- */

/* Operations that have other tensors than these use the places, and those behind them, for them. */
enum { SRC, WEI, BIA, DST, MORE_OPERANDS, SOURCES_MAX = 12, OPERANDS = SOURCES_MAX + 1 };
enum { DW_WEI = MORE_OPERANDS, DW_BIA }; /* of a convolution's depthwise post-operation */

/* ---- operations on lines ---- */

struct type_list {
    int count;
    enum type at[SOURCES_MAX];
};

struct tag_list {
    int count;
    struct tag at[SOURCES_MAX];
};

struct number_list {
    int count;
    double at[SOURCES_MAX];
};

/* What descriptors of images have; -1: not written. */
struct image_numbers {
    double g, mb, ic, oc, id, ih, iw, od, oh, ow, ls, alpha, beta, k, eps;
};

struct line_options {
    int alg; /* the operation's */
    bool inplace;
    int64_t axis, group;
    double alpha, beta, p, epsilon;
    struct words flags;
    struct type_list sdts;
    struct tag_list stags;
    struct tag stat_tag;
    enum type scale_type;
    bool has_epsilon; /* written in the descriptor */
    struct number_list scales;
    struct image_numbers numbers;
    int shape_count;
    struct dims shapes[SOURCES_MAX];
};

/* One tensor as the user described it. */
struct operand {
    int arg; /* NEO_ARG_*; 0: the problem has no such tensor */
    enum type type;
    struct dims dims;
    struct tag tag;
    struct dims strides; /* count 0: by tag */
    unsigned runtime;    /* bit d: dimension d is told at execution only */
};

#define NAME_MAX_LENGTH 200

/* A plain value. The fields are options of one driver or of several. */
struct problem {
    const struct driver *driver;
    enum direction dir;
    struct types dt;
    enum type bia_dt, sdt, ddt;
    struct tag stag, wtag, dtag;
    struct strides strides;
    neo_convolution_algorithm alg;
    int64_t mb, bia_mask, runtime_dim_mask;
    struct runtime_masks runtime_masks;
    struct words encoding, grouped, oflag, cross_engine;
    struct attributes attr;
    struct context ctx_init, ctx_exe;

    struct conv_shape conv;
    struct matmul_shape matmul;
    struct dims reorder;
    struct line_options lines;
    char name[NAME_MAX_LENGTH];

    struct operand operands[OPERANDS];
};

/* Rows for the fields above. */
bool context_parse(void *field, const char *text);
void context_print(struct text *out, const void *field);
bool direction_parse(void *field, const char *text);
void direction_print(struct text *out, const void *field);
const char *direction_name(enum direction dir);
bool types_parse(void *field, const char *text); /* one or three */
void types_print(struct text *out, const void *field);
bool one_type_parse(void *field, const char *text);
void one_type_print(struct text *out, const void *field);
bool one_tag_parse(void *field, const char *text);
void one_tag_print(struct text *out, const void *field);
bool strides3_parse(void *field, const char *text); /* S:W:D */
bool strides2_parse(void *field, const char *text); /* S:D */
void strides3_print(struct text *out, const void *field);
void strides2_print(struct text *out, const void *field);

enum type problem_type(const struct types *types, int operand); /* SRC, WEI or DST */

bool problem_set_name(struct problem *problem, const char *name); /* false: it is too long */
/* Reads what ends a descriptor: nothing, or n and the name, maybe behind a _; says what is wrong
 * and returns false. */
bool problem_read_name(struct problem *problem, const char *text);

/* What a convolution of this shape makes. */
struct dims problem_conv_dst(const struct conv_shape *shape);

/* What attributes are resolved against. */
struct attribute_shape problem_attribute_shape(const struct problem *problem);

/* The library's descriptor of a tensor. With actual, dimensions have their sizes even if they are
 * told at execution only. ndims is 0 for an absent tensor. */
neo_status operand_desc(neo_memory_desc *out, const struct operand *operand, bool actual);

/* "--opt=value … descriptor": what follows the driver's name. */
void problem_print_body(struct text *out, const struct problem *problem);

#endif
