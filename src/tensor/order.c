/* Orders of dimensions in memory: dense layouts by tag, row-major, or like another descriptor. A
 * tag is a permutation of the letters a, b, … (one per dimension, outermost in memory first) or one
 * of the field's names for such a permutation. */
#include <string.h>

#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

/* ---- tags ---- */

/* Letters of a name stand for: n batch, c channels, t time; o and i output and input channels, g
 * groups; d h w space. A name is listed with the permutation of its tensor's dimensions. */
static const struct {
    const char *name, *letters;
} names[] = {
    {"x", "a"},           {"nc", "ab"},         {"cn", "ba"},         {"tn", "ab"},
    {"nt", "ba"},         {"oi", "ab"},         {"io", "ba"},         {"ncw", "abc"},
    {"nwc", "acb"},       {"tnc", "abc"},       {"ntc", "bac"},       {"nchw", "abcd"},
    {"nhwc", "acdb"},     {"chwn", "bcda"},     {"ncdhw", "abcde"},   {"ndhwc", "acdeb"},
    {"oiw", "abc"},       {"owi", "acb"},       {"wio", "cba"},       {"woi", "cab"},
    {"iwo", "bca"},       {"iow", "bac"},       {"oihw", "abcd"},     {"ohwi", "acdb"},
    {"hwio", "cdba"},     {"hwoi", "cdab"},     {"ihwo", "bcda"},     {"iohw", "bacd"},
    {"oidhw", "abcde"},   {"odhwi", "acdeb"},   {"dhwio", "cdeba"},   {"dhwoi", "cdeab"},
    {"idhwo", "bcdea"},   {"iodhw", "bacde"},   {"goiw", "abcd"},     {"gowi", "abdc"},
    {"wigo", "dcab"},     {"giow", "acbd"},     {"goihw", "abcde"},   {"gohwi", "abdec"},
    {"hwigo", "decab"},   {"giohw", "acbde"},   {"goidhw", "abcdef"}, {"godhwi", "abdefc"},
    {"dhwigo", "defcab"}, {"giodhw", "acbdef"},
};

static bool letters_order(const char *letters, int ndims, int *order)
{
    unsigned seen = 0;
    for (int i = 0; i < ndims; i++) {
        int dim = letters[i] - 'a';
        if (dim < 0 || dim >= ndims || seen >> dim & 1)
            return false;
        seen |= 1u << dim;
        order[i] = dim;
    }
    return true;
}

/* Which dimension is the i-th from the outermost in memory, for each i. False: it is no tag for so
 * many dimensions. */
static bool tag_order(const char *tag, int ndims, int *order)
{
    if (strlen(tag) != (size_t)ndims)
        return false;
    if (letters_order(tag, ndims, order)) /* no name consists of these letters */
        return true;
    for (size_t i = 0; i < count_of(names); i++)
        if (!strcmp(tag, names[i].name))
            return letters_order(names[i].letters, ndims, order);
    return false;
}

/* ---- orders ---- */

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
