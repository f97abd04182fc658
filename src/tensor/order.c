/* Orders of dimensions in memory: dense layouts by tag, row-major, or like another descriptor. */
#include "src/tensor/descriptor.h"
#include "src/tensor/tag.h"

/* Dimension a is outside of b in memory. Run-time strides are the largest. Where strides are equal,
 * a size of 1 is inside: a dense tensor gives it the stride of what is just outside of it (nhwc
 * with one channel: c has the stride of w). */
static bool is_outside(const neo_memory_desc *desc, int a, int b)
{
    uint64_t stride_a = (uint64_t)desc->strides[a], stride_b = (uint64_t)desc->strides[b];
    return stride_a == stride_b ? desc->dims[a] != 1 && desc->dims[b] == 1 : stride_a > stride_b;
}

/* Dimensions from the outermost to the innermost, undecided ones in their own order. */
void desc_memory_order(const neo_memory_desc *desc, int *order)
{
    for (int i = 0; i < desc->ndims; i++) {
        int at = i;
        for (; at > 0 && is_outside(desc, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* From the beginning of a buffer on. Outer strides follow from inner ones; a run-time size makes
 * all strides outside of it run-time. */
static void make_dense(neo_memory_desc *desc, const int *order)
{
    neo_dim stride = 1;
    desc->format_kind = NEO_FORMAT_STRIDED;
    desc->offset = 0;
    for (int i = desc->ndims - 1; i >= 0; i--) {
        neo_dim size = desc->dims[order[i]];
        desc->strides[order[i]] = stride;
        if (stride == NEO_RUNTIME_DIM || size == NEO_RUNTIME_DIM)
            stride = NEO_RUNTIME_DIM;
        else if (size > 1 && __builtin_mul_overflow(stride, size, &stride))
            stride = INT64_MAX; /* desc_wrong() finds that this does not fit */
    }
}

bool desc_set_tag(neo_memory_desc *desc, const char *tag)
{
    int order[NEO_MAX_NDIMS];
    if (!tag_order(tag, desc->ndims, order))
        return false;
    make_dense(desc, order);
    return true;
}

void desc_set_plain(neo_memory_desc *desc)
{
    int order[NEO_MAX_NDIMS];
    for (int i = 0; i < desc->ndims; i++)
        order[i] = i;
    make_dense(desc, order);
}

void desc_set_order_of(neo_memory_desc *desc, const neo_memory_desc *other)
{
    int order[NEO_MAX_NDIMS];
    desc_memory_order(other, order);
    make_dense(desc, order);
}
