/* Another oneDNN, which gets the calls that Neoprene does not serve: NEOPRENE_ONEDNN_FALLBACK is
 * its path. Programs hold Neoprene's objects only. Each may have a twin there: engine and stream
 * one for the process, descriptors of memory one a layout, attributes one from their creation,
 * memory one an execution. A primitive is of one library or of the other. */
#ifndef COMPAT_ONEDNN_THEIRS_H
#define COMPAT_ONEDNN_THEIRS_H

#include "compat/onednn/objects.h"

/* What is called there apart from the functions of functions.h; pointers to objects are theirs. */
#define THEIRS_LIST(X)                                                                          \
    X(dnnl_engine_create, (dnnl_engine * *out, int kind, size_t index))                         \
    X(dnnl_stream_create, (dnnl_stream * *out, dnnl_engine * engine, unsigned flags))           \
    X(dnnl_memory_desc_create_with_tag,                                                         \
      (dnnl_memory_desc * *out, int ndims, const neo_dim *dims, int data_type, int tag))        \
    X(dnnl_memory_desc_create_with_strides,                                                     \
      (dnnl_memory_desc * *out, int ndims, const neo_dim *dims, int type, const neo_dim *))     \
    X(dnnl_memory_desc_clone, (dnnl_memory_desc * *out, const dnnl_memory_desc *md))            \
    X(dnnl_memory_desc_query, (const dnnl_memory_desc *md, int what, void *result))             \
    X(dnnl_memory_desc_destroy, (dnnl_memory_desc * md))                                        \
    X(dnnl_memory_create,                                                                       \
      (dnnl_memory * *out, const dnnl_memory_desc *md, dnnl_engine *engine, void *data))        \
    X(dnnl_memory_destroy, (dnnl_memory * memory))                                              \
    X(dnnl_post_ops_create, (dnnl_post_ops * *out))                                             \
    X(dnnl_post_ops_clone, (dnnl_post_ops * *out, const dnnl_post_ops *post_ops))               \
    X(dnnl_post_ops_destroy, (dnnl_post_ops * post_ops))                                        \
    X(dnnl_primitive_attr_create, (dnnl_primitive_attr * *out))                                 \
    X(dnnl_primitive_attr_clone, (dnnl_primitive_attr * *out, const dnnl_primitive_attr *attr)) \
    X(dnnl_primitive_attr_destroy, (dnnl_primitive_attr * attr))                                \
    X(dnnl_primitive_desc_clone, (dnnl_primitive_desc * *out, const dnnl_primitive_desc *pd))   \
    X(dnnl_primitive_desc_destroy, (dnnl_primitive_desc * pd))                                  \
    X(dnnl_primitive_desc_next_impl, (dnnl_primitive_desc * pd))                                \
    X(dnnl_primitive_desc_query,                                                                \
      (const dnnl_primitive_desc *pd, int what, int index, void *result))                       \
    X(dnnl_primitive_create, (dnnl_primitive * *out, const dnnl_primitive_desc *pd))            \
    X(dnnl_primitive_destroy, (dnnl_primitive * primitive))                                     \
    X(dnnl_primitive_execute, (const dnnl_primitive *primitive, dnnl_stream *stream, int count, \
                               const dnnl_exec_arg *args))                                      \
    X(dnnl_stream_wait, (dnnl_stream * stream))

struct theirs {
#define MEMBER(function, arguments) dnnl_status(*function) arguments;
    THEIRS_LIST(MEMBER)
#undef MEMBER
    int (*dnnl_memory_desc_equal)(const dnnl_memory_desc *a, const dnnl_memory_desc *b);
    size_t (*dnnl_memory_desc_get_size)(const dnnl_memory_desc *md);
    dnnl_engine *engine;
    dnnl_stream *stream;
};

/* NULL where there is none. */
const struct theirs *theirs(void);
typedef void any_function(void);
any_function *theirs_find(const char *name);

/* ---- descriptors of memory ---- */

/* A layout that Neoprene has no descriptor for has this kind; strides are then something else. */
enum { FORMAT_THEIRS = 100 };
static inline int desc_is_theirs(const dnnl_memory_desc *md)
{
    return md && (int)md->desc.format_kind == FORMAT_THEIRS;
}

/* Twins of each other; NULL where memory is exhausted or nothing like it is there. They stay. A
 * twin has no offset: whoever passes an address on adds it. */
const dnnl_memory_desc *theirs_of_desc(const dnnl_memory_desc *md);
const dnnl_memory_desc *desc_of_theirs(const dnnl_memory_desc *their_md);

/* ---- executing ---- */
dnnl_status theirs_execute(const dnnl_primitive *their_primitive, int count,
                           const dnnl_exec_arg *args);

#endif
