/* What stands behind the opaque pointers that programs hold. */
#ifndef COMPAT_ONEDNN_OBJECTS_H
#define COMPAT_ONEDNN_OBJECTS_H

#include "compat/onednn/mapping.h"

/* One engine and one stream serve the whole process: programs make several of each a call. */
dnnl_status dnnl_engine_create(dnnl_engine **engine, int kind, size_t index);
neo_engine *shared_engine(void); /* NULL: memory was exhausted when it was first wanted */
neo_stream *shared_stream(void);

/* A descriptor is ours, strided or `any`, and what queries return the addresses of. */
struct dnnl_memory_desc {
    neo_memory_desc desc;
};
extern const dnnl_memory_desc no_desc;

struct dnnl_memory {
    dnnl_memory_desc md;
    void *data;
    void *owned; /* data, if the library allocated it, else NULL */
    dnnl_engine *engine;
};

/* One post-operation. */
struct post_op {
    int kind, algorithm;
    float scale, alpha, beta;
    int32_t zero_point;
    int data_type, mask;
    int weights_type, bias_type; /* of a depthwise convolution, whose dst has data_type */
    neo_dim kernel, stride, padding;
    dnnl_memory_desc src1;
};
struct dnnl_post_ops {
    dnnl_post_ops *theirs; /* the same of another library (theirs.h), or NULL */
    int theirs_only;       /* that one has what this one does not */
    int count;
    struct post_op entries[NEO_MAX_POST_OPS];
};

/* Scales or zero points of an argument. */
struct quantisation {
    int arg; /* with NEO_ARG_ATTR_SCALES or NEO_ARG_ATTR_ZERO_POINTS */
    int mask, group_ndims;
    neo_dim group_dims[2];
    neo_data_type type;
};
enum { MAX_QUANTISATIONS = 8 };
struct dnnl_primitive_attr {
    int scratchpad_mode, fpmath_mode, apply_to_int, accumulation_mode, deterministic;
    int quantisation_count;
    struct quantisation quantisations[MAX_QUANTISATIONS];
    dnnl_post_ops *post_ops;     /* NULL: none */
    dnnl_primitive_attr *theirs; /* as in post-operations */
    int theirs_only;
};

dnnl_status dnnl_post_ops_clone(dnnl_post_ops **out, const dnnl_post_ops *post_ops);
dnnl_status dnnl_post_ops_destroy(dnnl_post_ops *post_ops);
int dnnl_post_ops_len(const dnnl_post_ops *post_ops);
dnnl_status dnnl_primitive_attr_destroy(dnnl_primitive_attr *attr);
dnnl_primitive_attr *attr_copy(const dnnl_primitive_attr *attr); /* of the defaults for NULL */
/* Attributes as Neoprene has them; release with neo_attributes_destroy(). */
neo_status attr_convert(neo_attributes **out, const dnnl_primitive_attr *attr);

/* An argument that the primitive sees in another shape than the program does. */
struct reshaped {
    int arg;               /* 0: no more of them */
    dnnl_memory_desc seen; /* by the program */
};
enum { MAX_RESHAPED = 4, MAX_SPATIAL = 3 };

/* What a primitive descriptor can be asked for, besides its memory. */
struct parameters {
    int prop_kind, algorithm;
    neo_dim strides[NEO_MAX_NDIMS], dilations[NEO_MAX_NDIMS], kernel[NEO_MAX_NDIMS];
    neo_dim padding_left[NEO_MAX_NDIMS], padding_right[NEO_MAX_NDIMS];
    float epsilon, alpha, beta, k, p, factors[MAX_SPATIAL];
    neo_dim local_size, group_size; /* of group normalisation: how many groups there are */
    int axis;
    unsigned flags;
};

/* Shared by the handles that programs clone and the primitives made of it. */
struct dnnl_primitive_desc {
    int references; /* atomic */
    int kind, sources;
    dnnl_engine *engine;
    neo_primitive_desc *neo;     /* NULL: another library's alone */
    dnnl_primitive_desc *theirs; /* that one's, or NULL */
    dnnl_primitive_attr *attr;
    struct parameters parameters;
    struct reshaped reshaped[MAX_RESHAPED];
    neo_memory_desc plain_weights; /* as packed from, if not as the program sees them */
    int packs_weights; /* plain weights are packed, by their content, when it is executed */
    char implementation[64];
};

struct dnnl_primitive {
    dnnl_primitive_desc *pd;
    neo_primitive *neo;     /* or */
    dnnl_primitive *theirs; /* another library's */
};

/* The life of a descriptor: the kind's file begins one, fills it and calls a function of Neoprene
 * with its attributes; end() hands it out or, on failure, destroys it. */
struct creation {
    dnnl_primitive_desc *pd;
    neo_attributes *attributes;
    neo_engine *engine;
};
dnnl_status creation_begin(struct creation *creation, int kind, dnnl_engine *engine,
                           const dnnl_primitive_attr *attr);
/* An operation of one tensor: src of `any` layout is row-major, dst of `any` is for Neoprene to
 * choose; descs are theirs. */
dnnl_status creation_begin_forward(struct creation *creation, int kind, dnnl_engine *engine,
                                   int prop_kind, neo_memory_desc descs[2],
                                   const dnnl_memory_desc *src, const dnnl_memory_desc *dst,
                                   const dnnl_primitive_attr *attr);
dnnl_status creation_end(struct creation *creation, dnnl_primitive_desc **out, neo_status status);
void creation_reshape(struct creation *creation, int arg, const neo_memory_desc *seen);

/* Descriptors with another library's primitive: alone, where on failure theirs stays the caller's,
 * or beside Neoprene's. */
dnnl_status pd_of_theirs(dnnl_primitive_desc **out, dnnl_primitive_desc *theirs,
                         const dnnl_primitive_attr *attr);
void pd_set_theirs(dnnl_primitive_desc *pd, dnnl_primitive_desc *theirs);

dnnl_status desc_hand_out(dnnl_memory_desc **out, const dnnl_memory_desc *md); /* a copy */

/* NULL stands for "no such tensor". */
neo_memory_desc desc_of(const dnnl_memory_desc *md);
/* Whether elements of the one are those of the other, in the same places and the same order. */
int desc_is_alike(const neo_memory_desc *a, const neo_memory_desc *b);
/* `any` becomes the plain layout of a tag, such as "acdb". */
void desc_settle(neo_memory_desc *desc, const char *tag);

/* Plain layouts of the field, "any" for other numbers of dimensions. */
const char *spatial_image_tag(int ndims, int channels_last);
const char *spatial_weights_tag(int ndims, int groups, int channels_last);
int spatial_has_channels_last(const neo_memory_desc *desc);
/* Windows over `count` dimensions of space, as Neoprene takes them and as queries answer them:
 * lists of strides, dilations (NULL: dense), padding before and after (NULL: as before). */
void spatial_windows(struct parameters *kept, int count, const neo_dim *const given[4],
                     neo_dim *const ours[4]);

/* The memory of the arguments as a program sees them. */
const dnnl_memory_desc *pd_argument(const dnnl_primitive_desc *pd, int arg);

/* Packed weights for plain ones with the content that they have now; release with
 * neo_packed_weights_destroy(). The last ones stay packed. */
neo_status kept_pack(neo_packed_weights **out, const neo_primitive_desc *pd,
                     const neo_memory *plain);

/* ONEDNN_VERBOSE: 1 also has a line for each execution. */
int verbose_level(void);
void verbose_set(int level);
void verbose_executed(const dnnl_primitive_desc *pd, double milliseconds);
dnnl_status unserved(const char *function);

#endif
