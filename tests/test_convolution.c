/* Convolution against loops: dimensions, groups, layouts, dilation, padding, post-operations. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/operands.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* Spatial values are in the order of the tensor's dimensions; groups 0 means weights without a
 * group dimension; channels are those of all groups. */
struct row {
    const char *name;
    int space;
    neo_dim batch, groups, ic, oc;
    neo_dim in[3], kernel[3], stride[3], dilation[3], left[3], right[3];
    const char *src_tag, *weights_tag, *dst_tag;
};

/* clang-format off */
static const struct row rows[] = {
    {"pointwise", 2, 2, 0, 20, 30,
     {5, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nhwc"},
    {"pointwise nchw", 2, 2, 0, 20, 30,
     {5, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nchw", "any", "nchw"},
    {"one pixel", 2, 1, 0, 37, 29,
     {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nchw", "any", "nchw"},
    {"one pixel of a larger image", 2, 3, 1, 16, 13,
     {3, 4}, {1, 1}, {5, 7}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nhwc"},
    {"kernel of the image's size", 2, 3, 0, 11, 13,
     {3, 4}, {3, 4}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nhwc"},
    {"kernel as wide as the image, hwio weights", 2, 1, 0, 5, 10,
     {9, 4}, {3, 4}, {2, 1}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "hwio", "nhwc"},
    {"kernel of the image's size, dilated", 2, 2, 0, 5, 10,
     {5, 4}, {3, 4}, {1, 1}, {1, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nchw"},
    {"1d without padding", 1, 1, 0, 6, 13,
     {23}, {4}, {1}, {0}, {0}, {0}, "nwc", "any", "nwc"},
    {"1d without padding, one channel, ncw", 1, 1, 0, 1, 9,
     {23}, {4}, {3}, {1}, {0}, {0}, "ncw", "oiw", "ncw"},
    {"1d with padding", 1, 1, 0, 6, 13,
     {23}, {4}, {1}, {0}, {2}, {1}, "nwc", "any", "nwc"},
    {"more stride than taps", 1, 1, 0, 8, 9,
     {23}, {1}, {4}, {0}, {0}, {0}, "nwc", "any", "nwc"},
    {"pointwise 3D, plain weights", 3, 1, 0, 9, 14,
     {2, 3, 5}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, "ndhwc", "oidhw", "ndhwc"},
    {"3x3", 2, 1, 0, 13, 17,
     {9, 11}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"3x3 nchw", 2, 2, 0, 13, 17,
     {9, 11}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"nchw to nhwc", 2, 2, 0, 5, 17,
     {9, 6}, {3, 2}, {1, 1}, {0, 0}, {1, 1}, {1, 0}, "nchw", "any", "nhwc"},
    {"nhwc to nchw", 2, 2, 0, 5, 17,
     {9, 6}, {3, 2}, {1, 1}, {0, 0}, {1, 1}, {1, 0}, "nhwc", "any", "nchw"},
    {"all any", 2, 2, 0, 5, 17,
     {9, 6}, {3, 2}, {1, 1}, {0, 0}, {1, 1}, {1, 0}, "any", "any", "any"},
    {"plain weights", 2, 1, 0, 6, 14,
     {7, 7}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {0, 0}, "nhwc", "oihw", "nhwc"},
    {"hwio weights", 2, 1, 0, 6, 14,
     {7, 7}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {0, 0}, "nhwc", "hwio", "nhwc"},
    {"first layer", 2, 1, 0, 3, 16,
     {21, 23}, {7, 7}, {2, 2}, {0, 0}, {3, 3}, {2, 3}, "nhwc", "any", "nhwc"},
    {"dilated", 2, 1, 0, 9, 8,
     {12, 13}, {3, 3}, {1, 1}, {1, 2}, {2, 3}, {2, 3}, "nhwc", "any", "nhwc"},
    {"negative right padding", 2, 1, 0, 4, 8,
     {9, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 0}, {-2, -1}, "nhwc", "any", "nhwc"},
    {"groups", 2, 2, 3, 12, 15,
     {6, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"groups nchw", 2, 2, 3, 12, 15,
     {6, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "goihw", "nchw"},
    {"one explicit group", 2, 1, 1, 6, 7,
     {6, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"depthwise", 2, 2, 19, 19, 19,
     {8, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"depthwise stride 2", 2, 1, 33, 33, 33,
     {8, 9}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {0, 1}, "nhwc", "any", "nhwc"},
    {"depthwise 5x5", 2, 1, 20, 20, 20,
     {11, 10}, {5, 5}, {1, 1}, {0, 0}, {2, 2}, {2, 2}, "nhwc", "any", "nhwc"},
    {"depthwise nchw", 2, 2, 7, 7, 7,
     {8, 19}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"depthwise nchw stride 2", 2, 1, 7, 7, 7,
     {9, 21}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"depthwise dilated, plain weights", 2, 1, 9, 9, 9,
     {12, 12}, {3, 3}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, "nhwc", "goihw", "nhwc"},
    {"depthwise in pieces of columns", 2, 1, 203, 203, 203,
     {7, 41}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"depthwise 5x5 stride 2", 2, 2, 21, 21, 21,
     {12, 13}, {5, 5}, {2, 2}, {0, 0}, {2, 2}, {1, 2}, "nhwc", "any", "nhwc"},
    {"depthwise nchw dilated, plain weights", 2, 2, 5, 5, 5,
     {12, 17}, {3, 3}, {2, 1}, {1, 2}, {2, 3}, {2, 2}, "nchw", "hwigo", "nchw"},
    {"depthwise, two groups", 2, 1, 2, 2, 2,
     {9, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"depthwise of one channel", 2, 2, 1, 1, 1,
     {9, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"depthwise beyond the image", 2, 1, 9, 9, 9,
     {2, 3}, {5, 5}, {1, 1}, {0, 0}, {3, 2}, {2, 4}, "nhwc", "any", "nhwc"},
    {"depthwise tall", 2, 1, 6, 6, 6,
     {71, 6}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"depthwise nchw to nhwc", 2, 1, 6, 6, 6,
     {7, 6}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nhwc"},
    {"two outputs a channel", 2, 2, 10, 10, 20,
     {9, 11}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"three outputs a channel, plain weights", 2, 1, 5, 5, 15,
     {13, 10}, {5, 5}, {2, 2}, {0, 0}, {2, 2}, {2, 1}, "nhwc", "hwigo", "nhwc"},
    {"two outputs a channel, nchw", 2, 2, 9, 9, 18,
     {11, 17}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"four outputs a channel, narrow nchw", 2, 1, 3, 3, 12,
     {8, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "goihw", "nchw"},
    {"five outputs a channel, nchw to nhwc", 2, 1, 4, 4, 20,
     {7, 9}, {3, 3}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, "nchw", "any", "nhwc"},
    {"depthwise in planes, stride 2", 2, 1, 18, 18, 18,
     {15, 33}, {5, 5}, {2, 2}, {0, 0}, {2, 2}, {2, 2}, "nchw", "any", "nchw"},
    {"depthwise in planes, dilated", 2, 1, 3, 3, 3,
     {20, 24}, {3, 3}, {1, 1}, {2, 2}, {3, 3}, {3, 3}, "nchw", "any", "nchw"},
    {"1d depthwise ncw", 1, 2, 8, 8, 8,
     {31}, {5}, {1}, {1}, {4}, {0}, "ncw", "any", "ncw"},
    {"3d depthwise ncdhw", 3, 2, 3, 3, 3,
     {4, 7, 6}, {3, 3, 3}, {1, 2, 1}, {0, 1, 0}, {1, 2, 1}, {1, 1, 1}, "ncdhw", "any", "ncdhw"},
    {"3d depthwise flat kernel", 3, 1, 6, 6, 6,
     {4, 5, 6}, {1, 3, 3}, {2, 1, 1}, {0, 0, 0}, {0, 1, 1}, {0, 1, 1}, "ndhwc", "any", "ndhwc"},
    {"first layer of a narrow image", 2, 2, 0, 3, 8,
     {9, 4}, {3, 7}, {2, 2}, {0, 0}, {1, 3}, {1, 3}, "nhwc", "any", "nhwc"},
    {"first layer, wide", 2, 1, 0, 3, 10,
     {6, 45}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {0, 0}, "nhwc", "any", "nhwc"},
    {"kernel rows beyond a block of the reduction", 2, 1, 0, 200, 9,
     {4, 19}, {2, 3}, {1, 1}, {0, 0}, {0, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"many groups of four", 2, 2, 8, 32, 32,
     {9, 21}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"groups with ragged channels", 2, 1, 3, 15, 42,
     {7, 9}, {3, 2}, {2, 1}, {0, 1}, {1, 1}, {0, 1}, "nhwc", "any", "nhwc"},
    {"groups of four, nchw", 2, 2, 5, 20, 20,
     {23, 11}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"groups nhwc to nchw, plain weights", 2, 1, 2, 12, 26,
     {5, 9}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "goihw", "nchw"},
    {"3d groups", 3, 1, 3, 12, 6,
     {4, 5, 9}, {3, 2, 3}, {1, 1, 2}, {0, 0, 0}, {1, 1, 1}, {1, 0, 1}, "ndhwc", "any", "ndhwc"},
    {"channel multiplier", 2, 1, 5, 5, 10,
     {6, 6}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"1d", 1, 2, 0, 7, 9,
     {31}, {5}, {2}, {0}, {2}, {1}, "nwc", "any", "nwc"},
    {"1d ncw", 1, 2, 0, 7, 9,
     {31}, {5}, {1}, {1}, {4}, {4}, "ncw", "any", "ncw"},
    {"1d depthwise", 1, 1, 8, 8, 8,
     {31}, {5}, {1}, {0}, {4}, {0}, "nwc", "any", "nwc"},
    {"3d", 3, 1, 0, 4, 6,
     {4, 5, 6}, {2, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 1, 1}, "ndhwc", "any", "ndhwc"},
    {"3d ncdhw", 3, 2, 0, 4, 6,
     {4, 5, 6}, {3, 3, 3}, {2, 1, 2}, {0, 1, 0}, {1, 2, 1}, {1, 2, 1}, "ncdhw", "any", "ncdhw"},
    {"3d depthwise", 3, 1, 6, 6, 6,
     {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, "ndhwc", "any", "ndhwc"},
    {"3d to one column of one channel", 3, 2, 0, 3, 1,
     {10, 12, 3}, {3, 4, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 7, -1}, "any", "any", "any"},
    {"3d from any layout to one column of one channel", 3, 2, 0, 3, 1,
     {10, 12, 3}, {3, 4, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 7, -1}, "any", "any", "ndhwc"},
    {"deep", 2, 1, 0, 300, 26,
     {4, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"deep nchw", 2, 1, 0, 300, 26,
     {4, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"kernel beyond the image", 2, 1, 0, 4, 5,
     {2, 2}, {5, 5}, {1, 1}, {0, 0}, {2, 2}, {2, 2}, "nhwc", "any", "nhwc"},
    {"odd order", 2, 2, 0, 5, 6,
     {4, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "chwn", "iohw", "dcab"},
    {"first layer 7x7", 2, 1, 0, 3, 16,
     {9, 33}, {7, 7}, {2, 2}, {0, 0}, {3, 3}, {3, 3}, "nhwc", "any", "nhwc"},
    {"first layer 7x7 nchw", 2, 1, 0, 3, 28,
     {9, 33}, {7, 7}, {2, 2}, {0, 0}, {3, 3}, {3, 3}, "nchw", "any", "nchw"},
    {"first layer 3x3, nhwc to nchw, plain weights", 2, 1, 0, 3, 20,
     {13, 43}, {3, 3}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, "nhwc", "oihw", "nchw"},
    {"first layer of narrow images", 2, 2, 0, 1, 10,
     {9, 5}, {5, 3}, {1, 1}, {1, 0}, {2, 1}, {2, 1}, "nchw", "any", "nhwc"},
    {"first layer, ragged channels", 2, 1, 0, 4, 27,
     {9, 21}, {5, 5}, {1, 1}, {0, 0}, {2, 4}, {2, 0}, "nhwc", "any", "nhwc"},
    {"first layer, ragged channels, nchw", 2, 1, 0, 2, 15,
     {9, 21}, {3, 7}, {3, 1}, {0, 0}, {4, 3}, {0, 9}, "nchw", "oihw", "nchw"},
    {"edges of wide rows", 2, 2, 0, 5, 17,
     {7, 33}, {3, 5}, {1, 1}, {1, 0}, {2, 2}, {2, 2}, "nhwc", "any", "nhwc"},
    {"edges of wide rows, plain weights", 2, 2, 0, 7, 11,
     {8, 29}, {4, 4}, {2, 3}, {0, 0}, {1, 3}, {2, 1}, "nhwc", "hwio", "nhwc"},
    {"edges of wide rows with a stride", 2, 1, 0, 5, 9,
     {5, 45}, {3, 5}, {1, 2}, {0, 0}, {1, 4}, {1, 4}, "nhwc", "any", "nhwc"},
    {"edges of one column in groups", 2, 2, 3, 12, 15,
     {6, 1}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"edges that are nothing but padding", 2, 1, 0, 5, 6,
     {6, 4}, {3, 3}, {2, 3}, {0, 0}, {5, 7}, {5, 9}, "nhwc", "any", "nhwc"},
    {"edges in three dimensions", 3, 2, 0, 6, 7,
     {3, 4, 25}, {2, 3, 3}, {1, 1, 1}, {1, 0, 0}, {1, 1, 1}, {1, 1, 1}, "ndhwc", "any", "ndhwc"},
    {"a column of taps", 2, 2, 0, 17, 10,
     {9, 6}, {7, 1}, {1, 1}, {0, 0}, {3, 0}, {3, 0}, "nhwc", "any", "nhwc"},
    {"a column of taps beside the image", 2, 1, 0, 9, 10,
     {9, 6}, {3, 1}, {1, 1}, {0, 0}, {1, 2}, {1, 1}, "nhwc", "any", "nhwc"},
    {"ragged columns, several blocks of the reduction", 2, 1, 0, 40, 19,
     {9, 10}, {5, 5}, {1, 1}, {0, 0}, {2, 2}, {2, 2}, "nhwc", "any", "nhwc"},
    {"channels last to columns", 2, 1, 0, 10, 11,
     {9, 23}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nchw"},
    {"few channels, odd order", 2, 1, 0, 6, 9,
     {9, 17}, {3, 5}, {1, 2}, {2, 0}, {1, 2}, {1, 2}, "chwn", "any", "dcab"},
};
/* clang-format on */

static const char plain_tags[][7] = {"", "a", "ab", "abc", "abcd", "abcde", "abcdef"};

static neo_dim out_size(const struct row *row, int i)
{
    neo_dim extent = (row->kernel[i] - 1) * (row->dilation[i] + 1) + 1;
    return (row->in[i] + row->left[i] + row->right[i] - extent) / row->stride[i] + 1;
}

static neo_memory_desc image_desc(const struct row *row, neo_dim channels, bool is_dst,
                                  const char *tag)
{
    neo_dim dims[5] = {row->batch, channels};
    for (int i = 0; i < row->space; i++)
        dims[2 + i] = is_dst ? out_size(row, i) : row->in[i];
    return tensor_desc(2 + row->space, dims, tag);
}

static neo_memory_desc weights_desc(const struct row *row, const char *tag)
{
    neo_dim dims[6], groups = row->groups ? row->groups : 1;
    int n = 0;
    if (row->groups)
        dims[n++] = groups;
    dims[n++] = row->oc / groups;
    dims[n++] = row->ic / groups;
    for (int i = 0; i < row->space; i++)
        dims[n++] = row->kernel[i];
    return tensor_desc(n, dims, tag);
}

/* Post-operations, and what they make of a sum. */
struct chain {
    const neo_attributes *attributes;
    float (*finish)(float value, float old); /* or NULL */
    const struct operands *operands;         /* or NULL */
};

struct expected {
    const struct row *row;
    const struct tensor *src, *weights, *bias, *old, *dst;
    const struct chain *chain;
};

/* The sum for one output, over one input channel and one tap at a time. */
static float convolve(const struct expected *e, const neo_dim *out)
{
    const struct row *row = e->row;
    neo_dim groups = row->groups ? row->groups : 1, oc = row->oc / groups, ic = row->ic / groups;
    neo_dim group = out[1] / oc, at[5] = {out[0]}, w[6] = {group}, taps = 1;
    int first = row->groups != 0;
    float sum = 0;
    for (int i = 0; i < row->space; i++)
        taps *= row->kernel[i];
    w[first] = out[1] % oc;
    for (neo_dim tap = 0; tap < taps; tap++) {
        bool inside = true;
        for (neo_dim rest = tap, i = row->space - 1; i >= 0; rest /= row->kernel[i], i--) {
            w[first + 2 + i] = rest % row->kernel[i];
            at[2 + i] = out[2 + i] * row->stride[i] - row->left[i] +
                        w[first + 2 + i] * (row->dilation[i] + 1);
            inside &= at[2 + i] >= 0 && at[2 + i] < row->in[i];
        }
        for (neo_dim c = 0; inside && c < ic; c++) {
            at[1] = group * ic + c;
            w[first + 1] = c;
            sum += *tensor_at(e->src, at) * *tensor_at(e->weights, w);
        }
    }
    return sum;
}

static void check_element(void *context, const neo_dim *position)
{
    const struct expected *e = context;
    float want = convolve(e, position);
    if (e->bias)
        want += *tensor_at(e->bias, &position[1]);
    if (e->chain->finish)
        want = e->chain->finish(want, *tensor_at(e->old, position));
    if (e->chain->operands)
        want = operands_apply(e->chain->operands, want, position);
    float got = *tensor_at(e->dst, position);
    if (got != want)
        fail_msg("%s: at n %d c %d x %d: got %g, want %g", e->row->name, (int)position[0],
                 (int)position[1], (int)position[1 + e->row->space], (double)got, (double)want);
}

/* bias_step: from one value to the next; 0: there is no bias. */
static neo_convolution_desc row_desc(const struct row *row, neo_dim bias_step)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_DIRECT,
        .src = image_desc(row, row->ic, false, row->src_tag),
        .weights = weights_desc(row, row->weights_tag),
        .dst = image_desc(row, row->oc, true, row->dst_tag),
    };
    if (bias_step)
        assert_int_equal(neo_memory_desc_init_strides(&desc.bias, 1, &row->oc, NEO_F32, &bias_step),
                         NEO_OK);
    for (int i = 0; i < row->space; i++) {
        desc.strides[i] = row->stride[i];
        desc.dilations[i] = row->dilation[i];
        desc.padding_left[i] = row->left[i];
        desc.padding_right[i] = row->right[i];
    }
    return desc;
}

static void execute(const neo_primitive_desc *pd, const neo_memory *const *memories,
                    const struct operands *operands)
{
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST, NEO_ARG_BIAS};
    neo_exec_arg args[4 + OPERAND_COUNT];
    int count = 0;
    for (int i = 0; i < 4; i++)
        if (memories[i])
            args[count++] = (neo_exec_arg){names[i], (neo_memory *)(uintptr_t)memories[i]};
    if (operands) {
        operands_set(operands, args + count);
        count += OPERAND_COUNT;
    }
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
    neo_primitive_destroy(primitive);
}

/* Checks the implementation that pd stands for. */
static void check_implementation(const struct row *row, const neo_primitive_desc *pd,
                                 bool with_bias, const struct chain *chain)
{
    const neo_memory_desc *chosen = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_memory_desc plain = weights_desc(row, plain_tags[chosen->ndims]);
    const neo_memory_desc *dst_desc = neo_primitive_desc_query(pd, NEO_ARG_DST);
    struct tensor src = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_SRC), 3);
    struct tensor weights = tensor_make(engine, &plain, 7), bias = {0};
    struct tensor dst = tensor_make(engine, dst_desc, 9), old = tensor_make(engine, dst_desc, 9);
    struct tensor given = tensor_reordered(engine, stream, &weights, chosen);
    if (with_bias)
        bias = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_BIAS), 5);
    execute(pd, (const neo_memory *[]){src.memory, given.memory, dst.memory, bias.memory},
            chain->operands);
    struct expected expected = {.row = row,
                                .src = &src,
                                .weights = &weights,
                                .bias = with_bias ? &bias : NULL,
                                .old = &old,
                                .dst = &dst,
                                .chain = chain};
    tensor_for_each(dst_desc->ndims, dst_desc->dims, check_element, &expected);
    tensor_check_gaps(&dst);
    struct tensor *all[] = {&src, &weights, &dst, &old, &bias, &given};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
}

/* Every implementation of a row. */
static void check_row(const struct row *row, neo_dim bias_step, const struct chain *chain)
{
    neo_convolution_desc desc = row_desc(row, bias_step);
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, chain->attributes),
                     NEO_OK);
    do {
        print_message("  %s: %s\n", row->name, neo_primitive_desc_implementation(pd));
        check_implementation(row, pd, bias_step > 0, chain);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static void check_rows(neo_dim bias_step, const struct chain *chain)
{
    for (size_t i = 0; i < count_of(rows); i++)
        check_row(&rows[i], bias_step, chain);
}

static void every_implementation_is_exact(void **state)
{
    (void)state;
    for (neo_dim bias_step = 0; bias_step < 3; bias_step++)
        check_rows(bias_step, &(struct chain){0});
}

static float clamp(float value, float old)
{
    (void)old;
    return value < -3 ? -3 : value > 20 ? 20 : value;
}

static float sum_linear(float value, float old)
{
    return 0.5f * (value + 2 * (old - 1)) + 3;
}

static void post_operations_are_applied(void **state)
{
    (void)state;
    neo_attributes *clip, *chain;
    assert_int_equal(neo_attributes_create(&clip), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(clip, NEO_ELTWISE_CLIP, -3, 20), NEO_OK);
    assert_int_equal(neo_attributes_create(&chain), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(chain, 2, 1, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(chain, NEO_ELTWISE_LINEAR, 0.5f, 3), NEO_OK);
    check_rows(1, &(struct chain){clip, clamp, NULL});
    check_rows(1, &(struct chain){chain, sum_linear, NULL});
    neo_attributes_destroy(clip);
    neo_attributes_destroy(chain);
}

static void operands_of_post_operations_are_read_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_memory_desc dst = image_desc(&rows[i], rows[i].oc, true, rows[i].dst_tag);
        struct operands operands = operands_make(engine, dst.ndims, dst.dims);
        check_row(&rows[i], 1, &(struct chain){operands.attributes, NULL, &operands});
        operands_free(&operands);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_implementation_is_exact),
        cmocka_unit_test(post_operations_are_applied),
        cmocka_unit_test(operands_of_post_operations_are_read_where_they_belong),
    };
    return cmocka_run_group_tests_name("convolution", tests, session_setup, session_teardown);
}
