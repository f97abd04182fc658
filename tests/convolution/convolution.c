/* Convolution against loops: dimensions, groups, layouts, dilation, padding, post-operations. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/cases/convolution_case.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* clang-format off */
static const struct convolution_case rows[] = {
    {"pointwise", 2, 2, 0, 20, 30,
     {5, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nhwc"},
    {"pointwise nchw", 2, 2, 0, 20, 30,
     {5, 7}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nchw", "any", "nchw"},
    {"pointwise with strides, padded to the image's size", 2, 1, 0, 8, 9,
     {5, 4}, {1, 1}, {2, 3}, {0, 0}, {0, 0}, {4, 6}, "nhwc", "any", "nhwc"},
    {"one pixel", 2, 1, 0, 37, 29,
     {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nchw", "any", "nchw"},
    {"one pixel of a larger image", 2, 3, 1, 16, 13,
     {3, 4}, {1, 1}, {5, 7}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nhwc"},
    {"kernel of the image's size", 2, 3, 0, 11, 13,
     {3, 4}, {3, 4}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nhwc"},
    {"kernel of the image's size, nchw", 2, 3, 0, 11, 13,
     {3, 4}, {3, 4}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nchw", "any", "nchw"},
    {"kernel of the image's size, nchw, plain weights", 2, 2, 0, 5, 9,
     {3, 4}, {3, 4}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nchw", "oihw", "nchw"},
    {"kernel of the image's size with padding, nchw, plain weights", 2, 2, 0, 5, 9,
     {3, 4}, {3, 4}, {1, 1}, {0, 0}, {1, 0}, {0, 0}, "nchw", "oihw", "nchw"},
    {"1d without padding, ncw", 1, 1, 0, 1, 9,
     {23}, {4}, {3}, {0}, {0}, {0}, "ncw", "any", "ncw"},
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
    {"more stride than rows of the kernel, nchw", 2, 2, 0, 6, 9,
     {27, 11}, {2, 2}, {5, 3}, {1, 0}, {0, 1}, {0, 0}, "nchw", "any", "nchw"},
    {"more stride than rows of the kernel, padded above, nchw", 2, 1, 0, 6, 9,
     {26, 11}, {2, 2}, {5, 3}, {1, 0}, {1, 1}, {0, 0}, "nchw", "any", "nchw"},
    {"more stride than rows of the kernel, padded below, nchw", 2, 1, 0, 6, 9,
     {27, 11}, {2, 2}, {5, 3}, {1, 0}, {0, 1}, {1, 0}, "nchw", "any", "nchw"},
    {"more stride than rows of the kernel, all of padding below left out, nchw", 2, 1, 0, 6, 9,
     {28, 11}, {2, 2}, {5, 3}, {1, 0}, {0, 1}, {3, 0}, "nchw", "any", "nchw"},
    {"more stride than the kernel's plane, ncdhw", 3, 1, 0, 5, 8,
     {8, 4, 5}, {1, 2, 2}, {3, 1, 1}, {0, 0, 0}, {0, 1, 0}, {0, 0, 1}, "ncdhw", "any", "ncdhw"},
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
    {"depthwise nchw, transposed", 2, 2, 24, 24, 24,
     {9, 14}, {7, 7}, {1, 1}, {0, 0}, {3, 3}, {3, 3}, "nchw", "any", "nchw"},
    {"depthwise nchw, transposed in two parts", 2, 1, 32, 32, 32,
     {29, 8}, {7, 7}, {1, 1}, {0, 0}, {3, 3}, {3, 3}, "nchw", "any", "nchw"},
    {"depthwise nchw 5x5, transposed", 2, 2, 16, 16, 16,
     {9, 9}, {5, 5}, {1, 1}, {0, 0}, {2, 2}, {2, 2}, "nchw", "goihw", "nchw"},
    {"depthwise dilated, plain weights", 2, 1, 9, 9, 9,
     {12, 12}, {3, 3}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, "nhwc", "goihw", "nhwc"},
    {"depthwise, dilated by a third of the image", 2, 2, 22, 22, 22,
     {7, 8}, {3, 3}, {1, 1}, {2, 2}, {3, 3}, {3, 3}, "nhwc", "any", "nhwc"},
    {"depthwise, dilated by half of the image", 2, 1, 13, 13, 13,
     {7, 6}, {3, 3}, {1, 1}, {3, 4}, {4, 5}, {4, 5}, "nhwc", "any", "nhwc"},
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
    {"depthwise of one channel without groups", 2, 2, 0, 1, 1,
     {9, 10}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"depthwise of one channel without groups, hwio weights", 2, 1, 0, 1, 1,
     {9, 10}, {4, 3}, {2, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "hwio", "nchw"},
    {"depthwise of three channels", 2, 2, 3, 3, 3,
     {10, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"depthwise of three channels, stride 2", 2, 1, 3, 3, 3,
     {13, 20}, {5, 5}, {2, 2}, {0, 0}, {2, 2}, {1, 2}, "nhwc", "any", "nhwc"},
    {"depthwise of two channels, a column of them, plain weights", 2, 1, 2, 2, 2,
     {9, 3}, {2, 3}, {1, 1}, {0, 0}, {1, 0}, {0, 0}, "nhwc", "goihw", "nhwc"},
    {"depthwise 2x2", 2, 2, 9, 9, 9,
     {8, 9}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, "nhwc", "any", "nhwc"},
    {"depthwise 2x2, stride 2, channels in blocks", 2, 1, 49, 49, 49,
     {4, 201}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, {1, 0}, "nhwc", "any", "nhwc"},
    {"1d depthwise of three channels", 1, 2, 3, 3, 3,
     {101}, {9}, {1}, {1}, {8}, {8}, "nwc", "any", "nwc"},
    {"1d depthwise of thirteen channels, stride 3", 1, 1, 13, 13, 13,
     {301}, {5}, {3}, {0}, {2}, {2}, "nwc", "any", "nwc"},
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
    {"groups with more weights than half of the L1 cache", 2, 2, 16, 128, 128,
     {5, 13}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
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
    {"3d depthwise, planes of padding only", 3, 1, 22, 22, 22,
     {2, 6, 9}, {3, 3, 3}, {1, 1, 1}, {1, 0, 0}, {5, 1, 1}, {5, 1, 1}, "ndhwc", "any", "ndhwc"},
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
    {"first layer, wide rows in parts", 2, 1, 0, 1, 64,
     {2, 461}, {2, 3}, {1, 1}, {0, 0}, {1, 1}, {0, 1}, "nhwc", "any", "nhwc"},
    {"first layer, wide rows in parts, ragged channels", 2, 1, 0, 1, 62,
     {2, 461}, {2, 3}, {1, 1}, {0, 0}, {1, 1}, {0, 1}, "nhwc", "any", "nhwc"},
    {"first layer, wide rows in parts, stride 2", 2, 1, 0, 1, 64,
     {2, 921}, {2, 3}, {1, 2}, {0, 0}, {1, 1}, {0, 1}, "nhwc", "any", "nhwc"},
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
    {"planes, cropped at the end", 2, 2, 0, 7, 9,
     {9, 8}, {2, 3}, {1, 1}, {0, 0}, {0, 1}, {-3, 1}, "nchw", "any", "nchw"},
    {"planes whose last rows no pixel needs", 3, 1, 3, 15, 6,
     {6, 5, 7}, {1, 2, 3}, {3, 2, 1}, {0, 0, 0}, {0, 1, 1}, {0, 0, 1}, "ncdhw", "any", "ncdhw"},
    {"planes that are padding alone", 2, 1, 0, 5, 6,
     {3, 4}, {1, 3}, {1, 1}, {0, 0}, {4, 1}, {-6, 1}, "nchw", "any", "nchw"},
    {"planes of many rows, in several pieces", 2, 1, 2, 34, 4,
     {33, 20}, {3, 3}, {1, 1}, {1, 0}, {2, 1}, {2, 1}, "nchw", "any", "nchw"},
    {"planes of a row that is divided", 1, 2, 4, 12, 16,
     {77}, {5}, {1}, {0}, {2}, {2}, "ncw", "any", "ncw"},
    {"few channels last, as planes", 2, 2, 3, 6, 9,
     {7, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"few channels last, as planes of nothing but the rows that are needed", 2, 2, 2, 6, 8,
     {27, 11}, {1, 3}, {4, 1}, {0, 0}, {0, 1}, {0, 1}, "nhwc", "any", "nhwc"},
    {"few channels last, as planes without the last rows", 2, 2, 2, 4, 6,
     {14, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {-4, 1}, "nhwc", "any", "nhwc"},
    {"few channels last, as one row", 1, 2, 4, 8, 12,
     {70}, {3}, {1}, {0}, {1}, {1}, "nwc", "any", "nwc"},
    {"few channels last to planes", 2, 2, 2, 4, 6,
     {7, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nchw"},
    {"few channels last from planes", 2, 2, 2, 4, 6,
     {7, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nchw", "any", "nhwc"},
    {"few channels, odd order", 2, 1, 0, 6, 9,
     {9, 17}, {3, 5}, {1, 2}, {2, 0}, {1, 2}, {1, 2}, "chwn", "any", "dcab"},
};
/* clang-format on */

/* Every implementation of every row, and of every third one for what is done after its sums. */
enum { ALL_ROWS = 1, SOME_ROWS = 3 };

static void check_rows(const struct convolution_variant *variant, size_t every)
{
    static size_t variants;
    size_t number = variants++;
    for (size_t i = 0; i < count_of(rows); i++)
        if (rounds_has(i, number, every))
            convolution_case_check(&rows[i], variant);
}

static void every_implementation_is_exact(void **state)
{
    (void)state;
    check_rows(&(struct convolution_variant){.bias_step = 0}, ALL_ROWS);
    for (neo_dim bias_step = 1; bias_step < 3; bias_step++)
        check_rows(&(struct convolution_variant){.bias_step = bias_step}, SOME_ROWS);
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
    check_rows(&(struct convolution_variant){clip, clamp, .bias_step = 1}, SOME_ROWS);
    check_rows(&(struct convolution_variant){chain, sum_linear, .bias_step = 1}, SOME_ROWS);
    neo_attributes_destroy(clip);
    neo_attributes_destroy(chain);
}

static void operands_of_post_operations_are_read_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        if (!rounds_has(i, 1, SOME_ROWS))
            continue;
        neo_memory_desc dst = convolution_case_dst(&rows[i], 0);
        struct operands operands = operands_make(engine, dst.ndims, dst.dims);
        convolution_case_check(&rows[i], &(struct convolution_variant){operands.attributes,
                                                                       .operands = &operands,
                                                                       .bias_step = 1});
        operands_free(&operands);
    }
}

/* The scratchpad of that algorithm for so many rows of pixels, on one thread. */
static size_t scratchpad_of(const char *algorithm, const char *tag, const neo_dim *sizes,
                            neo_dim oc)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_DIRECT,
        .src = tensor_desc(4, (neo_dim[]){1, 16, sizes[0], sizes[1]}, tag),
        .weights = tensor_desc(4, (neo_dim[]){oc, 16, 3, 3}, "any"),
        .dst = tensor_desc(4, (neo_dim[]){1, oc, sizes[0], sizes[1]}, tag),
        .strides = {1, 1},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    while (strcmp(neo_primitive_desc_algorithm(pd), algorithm) != 0)
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, 1);
    neo_primitive_desc_destroy(pd);
    return bytes;
}

/* That of a line of pixels, one above the other. */
static size_t of_a_line(const char *algorithm, const char *tag, neo_dim pixels, neo_dim oc)
{
    return scratchpad_of(algorithm, tag, (neo_dim[]){pixels, 1}, oc);
}

/* It has all it needs on the stack: an execution asks for no block of memory. */
static void a_small_one_needs_no_scratchpad(void **state)
{
    (void)state;
    static const char *const algorithms[][2] = {{"gemm", "nhwc"}, {"transposed", "nchw"}};
    for (size_t i = 0; i < count_of(algorithms); i++) {
        assert_int_equal(of_a_line(algorithms[i][0], algorithms[i][1], 24, 16), 0);
        assert_true(of_a_line(algorithms[i][0], algorithms[i][1], 240, 16) > 0);
    }
}

/* What images with channels last need to become planes, of these sizes, beside the planes. */
static size_t of_becoming_planes(neo_dim height, neo_dim width, neo_dim oc)
{
    const neo_dim sizes[] = {height, width};
    return scratchpad_of("transposed_planes", "nhwc", sizes, oc) -
           scratchpad_of("planes", "nchw", sizes, oc);
}

/* There is room for copies of 8 KiB of images on the stack, and for no line of a cache more. */
static void copies_of_images_are_on_the_stack_up_to_a_limit(void **state)
{
    (void)state;
    enum { LIMIT = 8 << 10, PIXEL = (16 + 32) * sizeof(float) };
    assert_true(of_a_line("transposed", "nchw", LIMIT / PIXEL + 1, 32) > LIMIT);
    assert_true(of_a_line("transposed", "nchw", 64, 16) < LIMIT);
    assert_int_equal(of_becoming_planes(8, 8, 16), 0);
    assert_int_equal(of_becoming_planes(8, 8, 32), 8 * 8 * PIXEL);
}

/* Is that among the algorithms for images of this layout? */
static bool is_offered(const char *algorithm, const char *tag, const neo_attributes *attributes)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_AUTO,
        .src = tensor_desc(4, (neo_dim[]){1, 15, 13, 13}, tag),
        .weights = tensor_desc(4, (neo_dim[]){21, 15, 3, 3}, "any"),
        .dst = tensor_desc(4, (neo_dim[]){1, 21, 13, 13}, tag),
        .strides = {1, 1},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    neo_primitive_desc *pd;
    bool found = false;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    do
        found |= !strcmp(neo_primitive_desc_algorithm(pd), algorithm);
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return found;
}

/* A sum reads what dst had before, but src alone can be transposed. */
static void images_of_planes_may_be_transposed(void **state)
{
    (void)state;
    neo_attributes *sum;
    assert_int_equal(neo_attributes_create(&sum), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(sum, 1, 0, NEO_DATA_TYPE_UNDEF), NEO_OK);
    static const char *const algorithms[] = {"transposed", "transposed_winograd_4"};
    for (size_t i = 0; i < count_of(algorithms); i++) {
        assert_true(is_offered(algorithms[i], "nchw", NULL));
        assert_true(is_offered(algorithms[i], "nchw", sum));
        assert_false(is_offered(algorithms[i], "nhwc", NULL));
    }
    neo_attributes_destroy(sum);
}

/* By a kernel that bounds values, but reads nothing else; also of images that become planes. */
static void planes_are_served_as_they_are(void **state)
{
    (void)state;
    neo_attributes *sum, *clip;
    assert_int_equal(neo_attributes_create(&sum), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(sum, 1, 0, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(neo_attributes_create(&clip), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(clip, NEO_ELTWISE_CLIP, -3, 20), NEO_OK);
    assert_true(is_offered("planes", "nchw", NULL));
    assert_true(is_offered("planes", "nchw", clip));
    assert_false(is_offered("planes", "nchw", sum));
    assert_false(is_offered("planes", "nhwc", NULL));
    assert_true(is_offered("transposed_planes", "nhwc", NULL));
    assert_true(is_offered("transposed_planes", "nhwc", clip));
    assert_false(is_offered("transposed_planes", "nhwc", sum));
    assert_false(is_offered("transposed_planes", "nchw", NULL));
    neo_attributes_destroy(sum);
    neo_attributes_destroy(clip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_implementation_is_exact),
        cmocka_unit_test(post_operations_are_applied),
        cmocka_unit_test(operands_of_post_operations_are_read_where_they_belong),
        cmocka_unit_test(a_small_one_needs_no_scratchpad),
        cmocka_unit_test(copies_of_images_are_on_the_stack_up_to_a_limit),
        cmocka_unit_test(images_of_planes_may_be_transposed),
        cmocka_unit_test(planes_are_served_as_they_are),
    };
    return cmocka_run_group_tests_name("convolution", tests, session_setup, session_teardown);
}
