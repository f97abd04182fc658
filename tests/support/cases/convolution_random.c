#include "tests/support/cases/convolution_random.h"

#include <stdbool.h>
#include <stdio.h>

#include "tests/support/random.h"

enum { MOST_SUMS = 1 << 17 }; /* multiply-adds of one convolution */

static const neo_dim groups_choices[] = {0, 0, 0, 0, 1, 2, 3, 5};
static const neo_dim channel_choices[] = {1,  2,  3,  4,  5,  6,  7,  8, 9,
                                          12, 13, 16, 17, 23, 24, 33, 48};
static const neo_dim multiplier_choices[] = {1, 1, 1, 2, 3};
static const int space_choices[] = {1, 2, 2, 2, 3};
static const neo_dim image_choices[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 17, 28};
static const neo_dim kernel_choices[] = {1, 1, 2, 3, 3, 3, 4, 5, 7};
static const neo_dim stride_choices[] = {1, 1, 1, 2, 2, 3};
static const neo_dim dilation_choices[] = {0, 0, 0, 1, 2};

/* Paddings up to a whole kernel's extent: outputs that meet no pixel, and kernels beyond the
 * image, are wanted. */
static void choose_dimension(struct convolution_case *row, int i, uint64_t *seed)
{
    row->in[i] = RANDOM_OF(image_choices, seed);
    row->kernel[i] = RANDOM_OF(kernel_choices, seed);
    row->stride[i] = RANDOM_OF(stride_choices, seed);
    row->dilation[i] = RANDOM_OF(dilation_choices, seed);
    neo_dim reach = (row->kernel[i] - 1) * (row->dilation[i] + 1);
    bool same = random_below(seed, 2); /* as networks have it */
    row->left[i] = same ? reach / 2 : (neo_dim)random_below(seed, (size_t)reach + 2);
    row->right[i] = same ? reach - reach / 2 : (neo_dim)random_below(seed, (size_t)reach + 2);
    if (row->in[i] + row->left[i] + row->right[i] <= reach)
        row->left[i] = row->right[i] = reach;
}

static void choose_channels(struct convolution_case *row, uint64_t *seed)
{
    row->groups = RANDOM_OF(groups_choices, seed);
    neo_dim groups = row->groups ? row->groups : 1;
    row->ic = groups * RANDOM_OF(channel_choices, seed);
    row->oc = groups * RANDOM_OF(channel_choices, seed);
    if (random_below(seed, 4) == 0) { /* depthwise */
        row->groups = row->ic = RANDOM_OF(channel_choices, seed);
        row->oc = row->ic * RANDOM_OF(multiplier_choices, seed);
    }
}

/* Of the field and, now and then, anything else: of as many dimensions as space has, less one. */
static const char *const last[] = {"nwc", "nhwc", "ndhwc"}, *const first[] = {"ncw", "nchw",
                                                                              "ncdhw"};
static const char *const plain[] = {"oiw", "oihw", "oidhw"}, *const grouped[] = {"goiw", "goihw",
                                                                                 "goidhw"};
static const char *const odd[][4] = {{"bac", "bca", "cab", "cba"},
                                     {"acbd", "bacd", "cdab", "dcba"},
                                     {"abdec", "bacde", "cdeab", "edcba"},
                                     {"abdcef", "bacdef", "cdefab", "fedcba"}};

static const char *choose_weights(const struct convolution_case *row, uint64_t *seed)
{
    int at = row->space - 1, groups = row->groups != 0;
    if (random_below(seed, 3))
        return "any";
    return random_below(seed, 3) ? (groups ? grouped : plain)[at]
                                 : RANDOM_OF(odd[at + groups], seed);
}

static void choose_layouts(struct convolution_case *row, uint64_t *seed)
{
    int at = row->space - 1;
    row->src_tag = (random_below(seed, 3) ? last : first)[at];
    row->dst_tag =
        random_below(seed, 4) ? row->src_tag : (random_below(seed, 2) ? last : first)[at];
    if (random_below(seed, 8) == 0)
        row->src_tag = RANDOM_OF(odd[at], seed);
    if (random_below(seed, 8) == 0)
        row->dst_tag = RANDOM_OF(odd[at], seed);
    row->weights_tag = choose_weights(row, seed);
}

static neo_dim sums(const struct convolution_case *row)
{
    neo_dim count = row->batch * row->oc * (row->ic / (row->groups ? row->groups : 1));
    for (int i = 0; i < row->space; i++)
        count *= row->kernel[i] * convolution_case_out(row, i);
    return count;
}

static void describe(const struct convolution_case *row, char *text)
{
    const size_t size = CONVOLUTION_NAME;
    size_t at = (size_t)snprintf(text, size, "--stag=%s --wtag=%s --dtag=%s g%dmb%dic%doc%d",
                                 row->src_tag, row->weights_tag, row->dst_tag, (int)row->groups,
                                 (int)row->batch, (int)row->ic, (int)row->oc);
    for (int i = 0; i < row->space && at < size; i++) {
        char d = "dhw"[3 - row->space + i];
        at += (size_t)snprintf(text + at, size - at, "i%c%do%c%dk%c%ds%c%dd%c%dp%c%d", d,
                               (int)row->in[i], d, (int)convolution_case_out(row, i), d,
                               (int)row->kernel[i], d, (int)row->stride[i], d,
                               (int)row->dilation[i], d, (int)row->left[i]);
    }
}

struct convolution_case convolution_random(uint64_t *seed, char *name)
{
    struct convolution_case row;
    do {
        row = (struct convolution_case){.space = RANDOM_OF(space_choices, seed),
                                        .batch = 1 + (neo_dim)random_below(seed, 3)};
        choose_channels(&row, seed);
        for (int i = 0; i < row.space; i++)
            choose_dimension(&row, i, seed);
        choose_layouts(&row, seed);
    } while (sums(&row) > MOST_SUMS);
    describe(&row, name);
    row.name = name;
    return row;
}
