/* Packed layouts of depthwise weights of any types: blocks of channels as the kernels of
 * kernels/depthwise/taps.h read them. The id tells what is multiplied, and how many kernel rows are
 * together. The last block ends where channels end, so that some of them are the one's before, too;
 * fewer channels than a block are padded with zeros. Behind the blocks of integers there are the
 * sum of each channel's weights, of s32, and a byte for each block: whether a weight is -128. What
 * is missing to a multiple of LAYOUT_ALIGNMENT is 0. */
#ifndef SRC_TENSOR_DEPTHWISE_LAYOUT_H
#define SRC_TENSOR_DEPTHWISE_LAYOUT_H

#include "kernels/depthwise/taps.h"
#include "src/core/checked.h"
#include "src/tensor/layout.h"

enum { DEPTHWISE_LAYOUT_VERSION = 1 };

struct depthwise_layout {
    enum element element;            /* what is multiplied: S8, F32 or F16 */
    size_t group;                    /* kernel rows that are together */
    size_t rows, columns;            /* of the kernel: lines of all its planes, and their taps */
    size_t channels, padded, blocks; /* padded: as many as a block at least */
    size_t block_bytes;
    size_t sums_at, flags_at, bytes; /* where they are, and all of it */
};

/* The sizes do not overflow. */
struct depthwise_layout depthwise_layout_make(enum element element, size_t group, size_t channels,
                                              size_t rows, size_t columns);

/* Of a descriptor that is right. */
struct depthwise_layout depthwise_layout_read(const neo_memory_desc *desc);

/* The layout for kernels that multiply such weights; every row of depthwise_taps_kernels has one.
 */
enum layout_id depthwise_layout_of(enum element element, size_t group);

/* Can a tensor of a type be kept as such elements, and be given back? */
bool depthwise_layout_holds(enum element element, enum element stored);

/* Is the id one of these layouts'? */
static inline bool depthwise_layout_is(uint16_t id)
{
    enum { IDS = 32 };
    return id > LAYOUT_DEPTHWISE_TYPED && id < LAYOUT_DEPTHWISE_TYPED + IDS;
}

/* NULL, or why a descriptor with such an id is wrong. */
const char *depthwise_layout_wrong(const neo_memory_desc *desc);

/* The first channel of a block. */
static inline size_t depthwise_layout_first(const struct depthwise_layout *layout, size_t block)
{
    return min_size(block * DEPTHWISE_BLOCK, layout->padded - DEPTHWISE_BLOCK);
}

/* Where the weight of channel number c of a block is in it, in elements. */
static inline size_t depthwise_layout_at(const struct depthwise_layout *layout, size_t tap,
                                         size_t c)
{
    size_t row = tap / layout->columns, group = layout->group;
    size_t unit = row / group * layout->columns + tap % layout->columns;
    return unit * group * DEPTHWISE_BLOCK + depthwise_unit_at(group, row % group, c);
}

#endif
