/* Attributes as the library keeps them. */
#ifndef SRC_PRIMITIVE_ATTRIBUTES_H
#define SRC_PRIMITIVE_ATTRIBUTES_H

#include <stdbool.h>

#include "kernels/elementwise/f32/binary.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "neoprene/attributes.h"

/* run is the kernel, filled in with an implementation. */
struct post_op {
    neo_post_op_kind kind;
    union {
        struct {
            float scale;
            int32_t zero_point;
            neo_data_type type; /* UNDEF: dst's */
            sum_f32_fn *run;
        } sum;
        struct {
            neo_eltwise algorithm;
            float alpha, beta;
            eltwise_f32_fn *run;
        } eltwise;
        struct {
            neo_binary algorithm;
            neo_memory_desc src1, condition; /* the latter of select alone; else absent */
            binary_f32_fn *run;              /* NULL: select */
        } binary;
        struct {
            int mask;
            neo_memory_desc weights; /* filled in when dst is known */
            binary_f32_fn *run;
        } prelu;
        struct {
            neo_data_type weights, bias, dst; /* bias: UNDEF, there is none */
            neo_dim kernel, stride, padding;
            neo_memory_desc between; /* what it is a convolution of: filled in by convolutions */
        } depthwise;
    };
};

/* Scales or zero points for one argument (NEO_ARG_ATTR_… in arg), by rising arg. */
struct quantization {
    int arg, mask, group_ndims;
    neo_data_type type;
    neo_dim group_dims[2];
};

enum { MAX_QUANTIZATIONS = 8 };

struct neo_attributes {
    neo_scratchpad_mode scratchpad;
    neo_fpmath_mode fpmath;
    neo_accumulation_mode accumulation;
    neo_data_type dynamic_src; /* UNDEF or S8 */
    bool fpmath_for_int, deterministic;
    int quantization_count, post_op_count;
    size_t memory_budget;     /* 0: the engine's */
    struct post_op *post_ops; /* post_op_count of them, owned */
    struct quantization quantizations[MAX_QUANTIZATIONS];
};

/* The attributes of a description without any. */
extern const neo_attributes attributes_default;

/* Copies from into to, which need not be initialised. */
neo_status attributes_init_copy(neo_attributes *to, const neo_attributes *from);
/* NULL, or what is wrong with an element-wise function and its numbers. */
const char *attributes_eltwise_wrong(neo_eltwise algorithm, float alpha, float beta);

void attributes_deinit(neo_attributes *attributes);

#endif
