/* What operations on images share: their plain layouts, and lists of a number for each dimension of
 * space. */
#include <string.h>

#include "compat/onednn/objects.h"

/* The plain layouts of the field: with channels first, and last. */
const char *spatial_image_tag(int ndims, int channels_last)
{
    static const char *const tags[3][2] = {{"abc", "acb"}, {"abcd", "acdb"}, {"abcde", "acdeb"}};
    return ndims < 3 || ndims > 5 ? "any" : tags[ndims - 3][channels_last];
}

const char *spatial_weights_tag(int ndims, int groups, int channels_last)
{
    static const char *const tags[3][2] = {
        {"abcd", "abdc"}, {"abcde", "abdec"}, {"abcdef", "abdefc"}};
    if (!groups)
        return spatial_image_tag(ndims, channels_last);
    return ndims < 4 || ndims > 6 ? "any" : tags[ndims - 4][channels_last];
}

int spatial_has_channels_last(const neo_memory_desc *desc)
{
    return desc->format_kind == NEO_FORMAT_STRIDED && desc->dims[1] > 1 && desc->strides[1] == 1;
}

static void copy(neo_dim *ours, neo_dim *kept, const neo_dim *given, int count)
{
    memcpy(ours, given, (size_t)count * sizeof *given);
    memcpy(kept, given, (size_t)count * sizeof *given);
}

void spatial_windows(struct parameters *kept, int count, const neo_dim *const given[4],
                     neo_dim *const ours[4])
{
    static const neo_dim dense[MAX_SPATIAL];
    copy(ours[0], kept->strides, given[0], count);
    copy(ours[1], kept->dilations, given[1] ? given[1] : dense, count);
    copy(ours[2], kept->padding_left, given[2], count);
    copy(ours[3], kept->padding_right, given[given[3] ? 3 : 2], count);
}
