/* Layouts of tensors made of bytes. */
#include "tests/fuzz/layout.h"

/* From the outermost dimension in memory to the innermost. */
static void choose_order(int *order, int ndims, struct fuzz_bytes *bytes)
{
    int kind = fuzz_below(bytes, 8), last = ndims - 1;
    for (int i = 0; i < ndims; i++)
        order[i] = kind == 4 ? last - i : i;
    if (kind == 5 && ndims > 1) { /* columns contiguous */
        order[last] = last - 1;
        order[last - 1] = last;
    }
    if (kind == 6) /* channels last */
        for (int i = 1; i < ndims; i++)
            order[i] = i == last ? 1 : i + 1;
    for (int i = last; kind == 7 && i > 0; i--) { /* any */
        int other = fuzz_below(bytes, i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

neo_memory_desc fuzz_layout_dense(int ndims, const neo_dim *dims)
{
    neo_memory_desc desc = {
        .ndims = ndims, .data_type = NEO_F32, .format_kind = NEO_FORMAT_STRIDED};
    neo_dim stride = 1;
    for (int i = ndims - 1; i >= 0; i--) {
        desc.dims[i] = dims[i];
        desc.strides[i] = stride;
        if (__builtin_mul_overflow(stride, dims[i] > 0 ? dims[i] : 1, &stride))
            stride = INT64_MAX;
    }
    return desc;
}

neo_memory_desc fuzz_layout_make(int ndims, const neo_dim *dims, bool may_repeat,
                                 struct fuzz_bytes *bytes)
{
    neo_memory_desc desc = fuzz_layout_dense(ndims, dims);
    int order[NEO_MAX_NDIMS];
    choose_order(order, ndims, bytes);
    neo_dim stride = fuzz_rarely(bytes, 16) ? 2 : 1;
    bool has_gaps = fuzz_rarely(bytes, 4);
    for (int i = ndims - 1; i >= 0; i--) {
        desc.strides[order[i]] = stride;
        stride *= dims[order[i]] ? dims[order[i]] : 1;
        stride += has_gaps ? fuzz_below(bytes, 3) : 0;
    }
    desc.offset = fuzz_rarely(bytes, 8) ? fuzz_below(bytes, 5) : 0;
    if (may_repeat && fuzz_rarely(bytes, 8))
        desc.strides[fuzz_below(bytes, ndims)] = 0;
    return desc;
}

void fuzz_layout_forget(neo_memory_desc *desc, struct fuzz_bytes *bytes)
{
    for (int i = 0; i < desc->ndims; i++) {
        if (fuzz_below(bytes, 2) == 0)
            desc->dims[i] = NEO_RUNTIME_DIM;
        if (fuzz_below(bytes, 2) == 0)
            desc->strides[i] = NEO_RUNTIME_DIM;
    }
}
