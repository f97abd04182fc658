/* The formats of weights in blocks: what each of them says about a weight. */
#ifndef SRC_REORDER_BLOCK_FORMATS_H
#define SRC_REORDER_BLOCK_FORMATS_H

#include <stdbool.h>

#include "kernels/gemm/blocks/blocks.h"
#include "neoprene/block_weights.h"

/* A column's weights in one of its groups: q * scale + offset. */
struct block_group {
    float scale, offset;
};

struct block_format {
    const char *name;
    size_t group;        /* steps that share a scale; 0: the source says it */
    size_t multiple;     /* of which k is one */
    neo_data_type scale; /* UNDEF: the source says it */
    bool (*has_offsets)(const neo_block_source *source);

    /* values[i] = the integer, as the layout has it, of step first + i < k of column j. */
    void (*read)(const neo_block_source *source, size_t j, size_t first, size_t count,
                 int8_t *values);
    struct block_group (*group_of)(const neo_block_source *source, size_t j, size_t g);

    /* The bytes of weights, scales and zero points. */
    void (*sizes)(const neo_block_source *source, size_t sizes[3]);
};

/* NULL: there is no such format. */
const struct block_format *block_format_of(const neo_block_source *source);

/* What is q in the layout, and steps that share a scale. */
enum element block_format_weight(const neo_block_source *source);
size_t block_format_group(const neo_block_source *source);

static inline size_t block_format_groups(const neo_block_source *source)
{
    size_t group = block_format_group(source);
    return ((size_t)source->k + group - 1) / group;
}

#endif
