/* Layouts of tensors made of bytes. */
#ifndef TESTS_FUZZ_LAYOUT_H
#define TESTS_FUZZ_LAYOUT_H

#include "neoprene/neoprene.h"
#include "tests/fuzz/bytes.h"

/* Row-major, f32, as far as such strides fit their type. */
neo_memory_desc fuzz_layout_dense(int ndims, const neo_dim *dims);

/* Any order of the dimensions, gaps between their elements, an offset; if it may repeat, now and
 * then one element for all positions along a dimension. No two elements share a place otherwise. */
neo_memory_desc fuzz_layout_make(int ndims, const neo_dim *dims, bool may_repeat,
                                 struct fuzz_bytes *bytes);

/* Some of its sizes and strides become NEO_RUNTIME_DIM. */
void fuzz_layout_forget(neo_memory_desc *desc, struct fuzz_bytes *bytes);

#endif
