/* What oneDNN's C interface, version 3.7, looks like in memory: types, constants, and how a
 * function is exported. These are facts that programs were compiled with; a program includes
 * oneDNN's own header. */
#ifndef COMPAT_ONEDNN_ABI_H
#define COMPAT_ONEDNN_ABI_H

#include <stdint.h>

#include "neoprene/neoprene.h"

#define EXPORT __attribute__((visibility("default")))

typedef enum dnnl_status {
    dnnl_success,
    dnnl_out_of_memory,
    dnnl_invalid_arguments,
    dnnl_unimplemented,
    dnnl_last_impl_reached,
    dnnl_runtime_error,
} dnnl_status;

/* The first axis of what is asked of an object (dnnl_query_t). */
enum {
    QUERY_ENGINE = 1,
    QUERY_PRIMITIVE_KIND = 2,
    QUERY_INPUTS = 3,
    QUERY_OUTPUTS = 4,
    QUERY_MEMORY_CONSUMPTION = 6,
    QUERY_SCRATCHPAD_ENGINE = 7,
    QUERY_IMPLEMENTATION = 8,
    QUERY_PROP_KIND = 11,
    QUERY_STRIDES = 14,
    QUERY_DILATIONS = 15,
    QUERY_PADDING_LEFT = 16,
    QUERY_PADDING_RIGHT = 17,
    QUERY_EPSILON = 18,
    QUERY_FLAGS = 19,
    QUERY_ALGORITHM = 20,
    QUERY_ALPHA = 21,
    QUERY_BETA = 22,
    QUERY_AXIS = 23,
    QUERY_LOCAL_SIZE = 24,
    QUERY_K = 25,
    QUERY_P = 26,
    QUERY_FACTORS = 27,
    QUERY_KERNEL = 31,
    QUERY_GROUP_SIZE = 32,
    QUERY_SRC = 129,
    QUERY_WEIGHTS = 131,
    QUERY_DST = 133,
    QUERY_WORKSPACE = 135,
    QUERY_SCRATCHPAD = 136,
    QUERY_ARGUMENT = 255,
    QUERY_NDIMS = 256,
    QUERY_DIMS = 257,
    QUERY_DATA_TYPE = 258,
    QUERY_OFFSET = 259,
    QUERY_PADDED_DIMS = 260,
    QUERY_PADDED_OFFSETS = 261,
    QUERY_FORMAT_KIND = 262,
    QUERY_INNER_BLOCKS = 263,
    QUERY_INNER_BLOCK_SIZES = 264,
    QUERY_INNER_BLOCK_DIMS = 265,
    QUERY_NUM_HANDLES = 268, /* where sparse memory was compiled in, as in Debian */
};

enum { PROP_TRAINING = 64, PROP_INFERENCE = 96 };
enum { ENGINE_ANY, ENGINE_CPU };
enum { FORMAT_UNDEF, FORMAT_ANY, FORMAT_BLOCKED };
enum {
    POST_OP_SUM = 4,
    POST_OP_DEPTHWISE = 5,
    POST_OP_ELTWISE = 7,
    POST_OP_BINARY = 13,
    POST_OP_PRELU = 18,
};
enum { SCRATCHPAD_LIBRARY, SCRATCHPAD_USER };
enum { RUNTIME_OMP = 2 };

/* Objects are opaque to programs. */
typedef struct dnnl_engine dnnl_engine;
typedef struct dnnl_stream dnnl_stream;
typedef struct dnnl_memory_desc dnnl_memory_desc;
typedef struct dnnl_memory dnnl_memory;
typedef struct dnnl_post_ops dnnl_post_ops;
typedef struct dnnl_primitive_attr dnnl_primitive_attr;
typedef struct dnnl_primitive_desc dnnl_primitive_desc;
typedef struct dnnl_primitive dnnl_primitive;

typedef struct dnnl_exec_arg {
    int arg;
    dnnl_memory *memory;
} dnnl_exec_arg;

typedef struct dnnl_version_info {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
} dnnl_version_info;

#endif
