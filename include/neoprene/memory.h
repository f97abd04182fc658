/* Memory descriptors (what a tensor looks like) and memory objects (a descriptor with a buffer). */
#ifndef NEOPRENE_MEMORY_H
#define NEOPRENE_MEMORY_H

#include "neoprene/engine.h"
#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory descriptors ---- */

typedef enum neo_format_kind {
    NEO_FORMAT_UNDEF,
    NEO_FORMAT_ANY,     /* the primitive chooses; ask the primitive descriptor what it chose */
    NEO_FORMAT_STRIDED, /* element (i, j, …) at offset + i * strides[0] + j * strides[1] + … */
    NEO_FORMAT_PACKED,  /* weights in panels for the kernels; only a reorder makes or reads it */
} neo_format_kind;

/* A packed layout of weights. It depends on the operation and the data type only, never on threads,
 * caches or the core, so packed weights are valid wherever the library runs. */
typedef struct neo_packed_layout {
    uint16_t id;      /* which arrangement; 0: not packed */
    uint16_t version; /* of that arrangement: other versions are refused */
    uint16_t panel;   /* columns of a full panel */
    uint16_t grouped; /* 1: dims[0] counts groups (convolution weights) */
} neo_packed_layout;

/* A value: copy it freely, compare it with neo_memory_desc_equal(). ndims 0 means "no such tensor".
 * dims and strides are in elements; only the first ndims of each count. */
typedef struct neo_memory_desc {
    int32_t ndims;
    neo_data_type data_type;
    neo_format_kind format_kind;
    neo_packed_layout packed;
    neo_dim offset; /* of element (0, 0, …), in elements; not negative, nor known late; strided
                       tensors only */
    neo_dim dims[NEO_MAX_NDIMS];
    neo_dim strides[NEO_MAX_NDIMS];
} neo_memory_desc;

/* Describes a dense tensor.
 *
 * @param out   receives the descriptor; left alone on failure.
 * @param ndims 1 … NEO_MAX_NDIMS.
 * @param dims  ndims sizes, each >= 0 or NEO_RUNTIME_DIM.
 * @param tag   "any"; or letters, one per dimension from the outermost to the innermost in memory
 *              ("ab" is row-major, "ba" column-major, "acdb" has dimension 1 innermost); or a name
 *              of the field: x nc cn tn nt ncw nwc tnc ntc nchw nhwc chwn ncdhw ndhwc, oi io oiw
 *              owi wio woi iwo iow oihw ohwi hwio hwoi ihwo iohw oidhw odhwi dhwio dhwoi idhwo
 *              iodhw, and with groups goiw gowi wigo giow goihw gohwi hwigo giohw goidhw godhwi
 *              dhwigo giodhw.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a pointer is NULL; a size, the data type or the tag is
 *         wrong; the tensor's bytes do not fit PTRDIFF_MAX). */
NEO_API neo_status neo_memory_desc_init_tag(neo_memory_desc *out, int ndims, const neo_dim *dims,
                                            neo_data_type type, const char *tag);

/* Describes a tensor by its strides, in elements, each >= 0 (0 repeats an element; destinations may
 * not) or NEO_RUNTIME_DIM. Parameters and errors as above. */
NEO_API neo_status neo_memory_desc_init_strides(neo_memory_desc *out, int ndims,
                                                const neo_dim *dims, neo_data_type type,
                                                const neo_dim *strides);

/* Describes the part of a strided tensor that begins at offsets and has the sizes dims, all of
 * which lie inside of it. Sizes and strides of the parent are known ones.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (*out is left alone). */
NEO_API neo_status neo_memory_desc_init_submemory(neo_memory_desc *out,
                                                  const neo_memory_desc *parent,
                                                  const neo_dim *dims, const neo_dim *offsets);

/* Describes a strided tensor with its dimensions in another order: dimension i of parent becomes
 * dimension permutation[i] of *out.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (*out is left alone). */
NEO_API neo_status neo_memory_desc_init_permuted(neo_memory_desc *out,
                                                 const neo_memory_desc *parent,
                                                 const int *permutation);

/* 1 if both describe the same tensor in the same places, else 0. Strides of dimensions of size 1 do
 * not matter. NULL equals nothing, and so does a descriptor whose ndims is out of range. */
NEO_API int neo_memory_desc_equal(const neo_memory_desc *a, const neo_memory_desc *b);

/* The bytes a buffer must have: from its beginning to the end of the last element. 0 for no
 * elements, and for descriptors that are absent, `any`, or have run-time sizes. */
NEO_API size_t neo_memory_desc_size(const neo_memory_desc *desc);

/* The number of elements, of `any` too; 0 for a descriptor that is absent or has run-time sizes. */
NEO_API size_t neo_memory_desc_elements(const neo_memory_desc *desc);

/* Writes the tag of desc ("acdb", "any", "*" for strides no tag has, "packed:<id>v<version>") and
 * returns out. size >= 32 holds every tag. */
NEO_API char *neo_memory_desc_tag(const neo_memory_desc *desc, char *out, size_t size);

/* ---- memory objects ---- */

typedef struct neo_memory neo_memory;

/* Asks neo_memory_create() to allocate the buffer. */
#define NEO_MEMORY_ALLOCATE ((void *)(intptr_t)-1)

/* Pairs a descriptor with a buffer.
 *
 * @param out    receives the object, or NULL on failure; release with neo_memory_destroy().
 * @param desc   copied; not `any` and without run-time sizes.
 * @param engine the object holds a reference to it.
 * @param handle the user's buffer of at least neo_memory_desc_size(desc) bytes, aligned as its
 *               elements are, which stays the user's; or NULL, to be set later; or
 *               NEO_MEMORY_ALLOCATE for a buffer, 64-byte aligned and not initialised, that the
 *               object owns.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_memory_create(neo_memory **out, const neo_memory_desc *desc,
                                     neo_engine *engine, void *handle);

/* Releases the object, and the buffer if it owns one. NULL is fine. */
NEO_API void neo_memory_destroy(neo_memory *memory);

/* The descriptor, owned by the object; NULL for NULL. */
NEO_API const neo_memory_desc *neo_memory_get_desc(const neo_memory *memory);

/* The buffer; NULL if there is none. */
NEO_API void *neo_memory_get_handle(const neo_memory *memory);

/* Replaces the buffer (one that the object owned is released). The same rules as at creation. Not
 * to be called while a primitive uses the object.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (memory is NULL), NEO_OUT_OF_MEMORY; on failure it
 *         keeps its buffer. */
NEO_API neo_status neo_memory_set_handle(neo_memory *memory, void *handle);

/* Replaces the descriptor; the buffer stays. So what grows from step to step, as the keys and
 * values of a decoder, is told to primitives with run-time sizes without a new object. Nothing is
 * allocated. Not to be called while a primitive uses the object.
 *
 * @param desc copied; not `any` and without run-time sizes. A buffer that the object owns has room
 *             for it; one of the user's is to have it by the next use.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a pointer is NULL, desc is wrong or too large for the
 * buffer that the object owns); on failure the object is as before. */
NEO_API neo_status neo_memory_set_desc(neo_memory *memory, const neo_memory_desc *desc);

#ifdef __cplusplus
}
/* The same without C's casts, which -Wold-style-cast warns of. */
#undef NEO_MEMORY_ALLOCATE
#define NEO_MEMORY_ALLOCATE reinterpret_cast<void *>(static_cast<intptr_t>(-1))
#endif

#endif
