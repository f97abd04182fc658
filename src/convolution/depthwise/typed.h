/* Depthwise convolutions of tensors of any types: what their plan, preparation and tasks share.
 *
 * A task does tiles: some rows of pixels of dst by some blocks of channels. Lines of channels are
 * read from the image where these are next to each other, and from a copy else; what kernels sum
 * stays in the L1 cache until it is finished. What belongs to channels alone is made once for an
 * execution. */
#ifndef SRC_CONVOLUTION_DEPTHWISE_TYPED_H
#define SRC_CONVOLUTION_DEPTHWISE_TYPED_H

#include "kernels/depthwise/taps.h"
#include "kernels/gemm/finish.h"
#include "src/convolution/convolution.h"
#include "src/gemm/operands.h"
#include "src/tensor/depthwise_layout.h"

/* Pixels and blocks of channels of a tile. */
enum { DEPTHWISE_TILE = 128, DEPTHWISE_CHUNK = 2 };

/* Where parts of the scratchpad are, in bytes: those of the execution, */
struct depthwise_shared_parts {
    size_t weights; /* as kernels read them, unless they are packed */
    size_t ones;    /* of one block, all of 1 */
    size_t start, ones_start, scales, offsets, zeros, src_zeros, excess, padding; /* by channel */
    size_t bytes;
};

/* and those of each task. */
struct depthwise_task_parts {
    size_t lines, sums, more_sums, row_scales, patch, bytes;
};

struct depthwise_typed {
    struct convolution_shape shape;
    const struct depthwise_taps_kernel *kernel;
    gemm_finish_fn *finish; /* what makes results of a tile at once; NULL: lines do */
    bool integers;
    bool gathers;   /* lines of channels are copied */
    bool is_packed; /* weights are in this layout; else each execution makes its blocks: */
    struct depthwise_layout layout;
    size_t chunks, groups; /* of blocks; of lines of a column */
    size_t lists;          /* groups that a row of the tile has lines for */
    size_t columns;        /* of src that a row of a tile has */
    bool pairs;            /* rows of pixels are summed two at a time, */
    bool takes_rows;       /* and all pairs, or rows, of a tile at once */
    bool is_dense;         /* rows of tiles follow each other in dst */
    bool ends;             /* kernels can make results of sums in registers */
    size_t tile_width, tile_height;
    size_t tiles_across, tiles_down;
    struct depthwise_shared_parts shared;
    struct depthwise_task_parts task;
};

/* An execution. */
struct depthwise_typed_call {
    const struct depthwise_typed *plan;
    const struct execution *execution;
    struct gemm_finish whole;
    unsigned char *scratch;
    const unsigned char *weights; /* packed, or in the scratchpad */

    bool is_narrow;  /* no weight that kernels read is -128 */
    bool has_zeros;  /* channels' sums of src count as many times as `zeros` says */
    bool has_excess; /* padding is another value than src's zero point */
    bool ends;       /* sums become results in registers, unless tiles share channels */
    float src_scale;
};

static inline void *depthwise_part(const struct depthwise_typed_call *call, size_t at)
{
    return call->scratch + at;
}

/* A tap's weight less its zero point, of integers, modulo 2^32. */
uint32_t depthwise_typed_weight(const struct depthwise_typed_call *call, size_t channel,
                                size_t tap);

/* Fills what tasks share. */
void depthwise_typed_prepare(struct depthwise_typed_call *call);

/* Pixels [first, first + width) of `height` rows of a plane of dst, by channels [channel, channel +
 * channels); sums begin with channel `from`. */
struct depthwise_tile {
    neo_dim n, depth;
    size_t row, height, first, width;
    size_t chunk, from, channel, channels;
};

/* What a tile's sums of channels from number `channel` on become, where that is done in registers:
 * of its first row. */
struct gemm_finish depthwise_typed_end(const struct depthwise_typed_call *call,
                                       const struct depthwise_tile *tile, size_t channel);

/* Sums become results. */
void depthwise_typed_finish(const struct depthwise_typed_call *call,
                            const struct depthwise_tile *tile, unsigned char *scratch);

/* struct algorithm's. */
void depthwise_typed_run(const void *plan, const struct execution *execution);

#endif
