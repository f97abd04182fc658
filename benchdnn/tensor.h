/* A tensor in two forms: the library's memory, and values in natural (row-major) order. */
#ifndef BENCHDNN_TENSOR_H
#define BENCHDNN_TENSOR_H

#include "benchdnn/types.h"

/* Memory around and between the elements holds a marker, and reading behind the end faults. */
struct tensor {
    int arg; /* NEO_ARG_*; 0: absent */
    enum type type;
    struct dims dims;
    neo_memory_desc desc;
    neo_memory *memory;
    unsigned char *buffer; /* desc's bytes */
    size_t bytes;
    unsigned char *block; /* pages that the buffer is in */
    size_t block_bytes;
    float *values; /* dims_elements(&dims) values, or NULL */
};

/* desc: strided or packed, without run-time sizes. */
neo_status tensor_init(struct tensor *tensor, int arg, enum type type, const struct dims *dims,
                       const neo_memory_desc *desc, neo_engine *engine);
void tensor_deinit(struct tensor *tensor);

/* Allocates values, all 0. */
void tensor_alloc_values(struct tensor *tensor);

/* Fills the buffer and what is around it with markers. */
void tensor_mark(struct tensor *tensor);

/* Writes values to the buffer, which then is only that and markers; packed layouts are made by the
 * library. */
neo_status tensor_store(struct tensor *tensor, neo_engine *engine, neo_stream *stream);

/* Reads the buffer in natural order. */
neo_status tensor_load(const struct tensor *tensor, double *out, neo_engine *engine,
                       neo_stream *stream);

/* Replaces values by what the buffer has. */
neo_status tensor_read_values(struct tensor *tensor, neo_engine *engine, neo_stream *stream);

/* Overwrites the elements with markers and says whether everything is marked then: nobody wrote
 * anywhere else. */
bool tensor_is_intact(struct tensor *tensor);

#endif
