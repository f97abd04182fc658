/* Format tags. A tag is a permutation of the letters a, b, … (one per dimension, outermost in
 * memory first) or one of the field's names for such a permutation. */
#include "src/tensor/tag.h"

#include <string.h>

#include "neoprene/types.h"
#include "src/core/checked.h"

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

bool tag_order(const char *tag, int ndims, int *order)
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
