/* Primitive descriptors ("how would you do this?"), primitives, and their execution. */
#ifndef NEOPRENE_PRIMITIVE_H
#define NEOPRENE_PRIMITIVE_H

#include "neoprene/attributes.h"
#include "neoprene/engine.h"
#include "neoprene/memory.h"
#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- execution arguments ---- */

enum {
    NEO_ARG_UNDEF = 0,
    NEO_ARG_SRC = 1,
    NEO_ARG_SRC_1 = 2,
    NEO_ARG_SRC_2 = 3,
    NEO_ARG_DST = 17,
    NEO_ARG_WEIGHTS = 33,
    NEO_ARG_BIAS = 41,
    NEO_ARG_MEAN = 49,
    NEO_ARG_VARIANCE = 50,
    NEO_ARG_SCALE = 51,
    NEO_ARG_SHIFT = 52,
    NEO_ARG_WORKSPACE = 64,
    NEO_ARG_SCRATCHPAD = 80,
    NEO_ARG_MULTIPLE_SRC = 1024, /* and the sources after it, of operations that have many */
    NEO_ARG_ATTR_SCALES = 4096,
    NEO_ARG_ATTR_ZERO_POINTS = 8192,
    NEO_ARG_ATTR_POST_OP_DW = 16384, /* combined with WEIGHTS, BIAS, DST: of a depthwise one */
};
/* Combined by OR with NEO_ARG_SRC_1 (binary) or NEO_ARG_WEIGHTS (prelu) of post-operation index. */
#define NEO_ARG_ATTR_MULTIPLE_POST_OP(index) (32768 * ((index) + 1))

typedef struct neo_exec_arg {
    int arg; /* NEO_ARG_* */
    neo_memory *memory;
} neo_exec_arg;

typedef enum neo_prop_kind {
    NEO_PROP_UNDEF,
    NEO_FORWARD_TRAINING,
    NEO_FORWARD_INFERENCE,
} neo_prop_kind;

/* ---- primitive descriptors ---- */

/* The answer to a description: which implementation would serve it and what that needs. Made by
 * neo_matmul_primitive_desc_create() and its like. Immutable but for neo_primitive_desc_next(). */
typedef struct neo_primitive_desc neo_primitive_desc;

/* NULL is fine. */
NEO_API void neo_primitive_desc_destroy(neo_primitive_desc *pd);

/* Moves on to the next implementation that serves the same description.
 * @return NEO_OK; NEO_LAST_IMPLEMENTATION, NEO_OUT_OF_MEMORY (pd is unchanged);
 *         NEO_INVALID_ARGUMENT (NULL). */
NEO_API neo_status neo_primitive_desc_next(neo_primitive_desc *pd);

/* The descriptor of an argument, with `any` replaced by what was chosen; owned by pd. arg may also
 * be a post-operation's argument. NULL if the primitive has no such argument, and for NULL. */
NEO_API const neo_memory_desc *neo_primitive_desc_query(const neo_primitive_desc *pd, int arg);

/* The bytes of the buffer that NEO_ARG_SCRATCHPAD must have when num_threads threads execute
 * (neo_stream_num_threads()); 0 if none is needed, and for NULL. With run-time sizes they
 * suffice for all of them, and an execution may need fewer. The buffer's alignment must be
 * neo_primitive_desc_scratchpad_alignment(). Independent of pointers. */
NEO_API size_t neo_primitive_desc_scratchpad_size(const neo_primitive_desc *pd, int num_threads);
NEO_API size_t neo_primitive_desc_scratchpad_alignment(const neo_primitive_desc *pd);

/* "gemm:neon", "reference:any" and so on: the algorithm and what it runs on. Owned by pd, as all
 * texts here; "" for NULL. */
NEO_API const char *neo_primitive_desc_implementation(const neo_primitive_desc *pd);

/* The algorithm and the kernel by themselves: "gemm", "gemm_f32_8x12_neon". Owned by pd. */
NEO_API const char *neo_primitive_desc_algorithm(const neo_primitive_desc *pd);
NEO_API const char *neo_primitive_desc_kernel(const neo_primitive_desc *pd);

/* The time the library expects on one thread of this core, in cycles; a tool for comparing, not a
 * promise. 0 if the sizes are not known yet. */
NEO_API double neo_primitive_desc_estimate(const neo_primitive_desc *pd);

/* Number index, from 0 on, of the algorithms that declined: its name in *algorithm and a sentence
 * in *reason (both owned by pd). neo_primitive_desc_next() goes through the others.
 * @return NEO_OK, NEO_NOT_FOUND (there are not so many; outputs are left alone),
 *         NEO_INVALID_ARGUMENT (a pointer is NULL). */
NEO_API neo_status neo_primitive_desc_declined(const neo_primitive_desc *pd, int index,
                                               const char **algorithm, const char **reason);

/* 1 if the implementation was found in the primitive cache, 0 if it was made for this
 * descriptor. */
NEO_API int neo_primitive_desc_cache_hit(const neo_primitive_desc *pd);

/* ---- primitives ---- */

/* A handle: a cached, immutable implementation and what this handle needs to run it. Several
 * threads may execute one primitive at the same time, in any stream of its engine. */
typedef struct neo_primitive neo_primitive;

/* @param out receives the primitive, or NULL on failure; release with neo_primitive_destroy().
 * @param pd  may be destroyed afterwards.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (NULL), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_primitive_create(neo_primitive **out, const neo_primitive_desc *pd);

/* Runs the primitive. All arguments are checked first: on any error nothing has been written.
 *
 * @param args one entry for each argument the primitive has, in any order. The descriptor of each
 *             memory must equal neo_primitive_desc_query()'s answer, with actual sizes where that
 *             has NEO_RUNTIME_DIM. dst may be the same buffer as a post-operation's operand of the
 *             same descriptor, or as a source where the operation's description says so; no other
 *             two may have an element's bytes in common where one is written. Parts of a larger
 *             tensor that lie between each other have none.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (an argument is missing, given twice, unknown, of another
 *         shape or engine, has elements but no buffer, or shares memory as above; the scratchpad is
 *         too small or misaligned), NEO_OUT_OF_MEMORY (no block for a concurrent execution). */
NEO_API neo_status neo_primitive_execute(const neo_primitive *primitive, neo_stream *stream,
                                         int count, const neo_exec_arg *args);

/* The descriptor it was made from; owned by the primitive. NULL for NULL. */
NEO_API const neo_primitive_desc *neo_primitive_get_desc(const neo_primitive *primitive);

/* NULL is fine. May be called in any thread, but no execution may be running: destroying a
 * primitive from under one is a mistake. Where the library sees it, it writes an error line and
 * leaves the primitive alone. */
NEO_API void neo_primitive_destroy(neo_primitive *primitive);

#ifdef __cplusplus
}
#endif

#endif
