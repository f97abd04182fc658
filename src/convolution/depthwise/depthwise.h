/* Depthwise convolution: what its parts share. What they do is told in depthwise.c. */
#ifndef SRC_CONVOLUTION_DEPTHWISE_H
#define SRC_CONVOLUTION_DEPTHWISE_H

#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/pack/f32/copy.h"
#include "src/convolution/convolution.h"
#include "src/primitive/finish.h"

enum {
    DEPTHWISE_MOST_ROWS = 32,   /* of dst in a call */
    DEPTHWISE_SLIDING_ROWS = 4, /* of dst that kernels do at a time, but for those with tiles */
    DEPTHWISE_LINE = 16,        /* channels of a cache line */
    DEPTHWISE_TILE_CHANNELS = 8,
};

static inline size_t depthwise_at_least_1(neo_dim size)
{
    return size < 1 ? 1 : (size_t)size;
}

/* Kernels go along rows; the order of sums stays the same where the kernel is not deep. */
static inline bool depthwise_may_turn(const struct convolution_shape *shape)
{
    return convolution_is_column(shape) && shape->kernel[DEPTH] == 1;
}

struct convolution_depthwise {
    struct convolution_shape shape;
    struct dwconv_f32_task task;    /* what all calls have in common */
    dwconv_f32_fn *run[CORE_KINDS]; /* by core_kind() of the core it runs on */
    copy_f32_fn *copy;
    const char *kernel;
    const struct cpu *cpu;
    size_t channels, multiplier; /* of dst; for each of src */
    bool by_plane;               /* planes as they are */
    bool gathers;  /* source is transposed into the scratchpad, or channels of it repeated */
    bool scatters; /* and results back from there */
    bool turns;    /* both, of planes that could be done as they are: it is faster */
    bool reads_dst;
    bool staged;   /* sums are in the scratchpad, [row][column][channel], until they are finished */
    bool finishes; /* there is more to do than a bias and a clamp */
    size_t taps;
    size_t row_pointers;        /* of a call, for each plane of the kernel */
    size_t rows, channel_block; /* of dst, in a call */
    size_t shared_block;        /* channels in a call of one of many threads; not more */
    size_t tile_columns;        /* 0: the kernel does whole rows */
    bool all_channels;          /* are in a call; the kernel divides them by itself */
    size_t tile_rows;           /* of dst, that it does at a time where there are as many */
    size_t zeros;               /* values of a row of padding; 0: none */
    bool leaves_out_padding;    /* run[0] does, and needs no zeros */
    size_t packed_bytes;        /* of the scratchpad; then for each task: */
    size_t zero_bytes, pointer_bytes, source_bytes, stage_bytes, kernel_bytes, task_bytes;
};

struct run {
    const struct convolution_depthwise *plan;
    const struct execution *execution;
    const float *weights; /* [tap][channel] */
    bool whole_planes;    /* are what threads share, not rows of blocks of channels */
    size_t together;      /* such rows, which one thread has */
    size_t block;         /* channels of a call */
};

/* Rows of some channels of one image. */
struct piece {
    neo_dim n, channel, depth;
    size_t channels, row, rows;
};

/* One task's parts of the scratchpad. */
struct scratch {
    float *zeros; /* NULL: none */
    const float **rows;
    float *source, *stage;
    void *kernel;
    dwconv_f32_fn *run; /* for the core of this thread */
};

/* ---- the plan (plan.c) ---- */

void depthwise_plan(void *plan, const struct problem *problem, const struct cpu *cpu);

/* Can whole rows be repeated value by value? */
static inline bool depthwise_repeats_pixels(const struct convolution_depthwise *plan)
{
    const struct image_strides *src = &plan->shape.src;
    return plan->gathers && plan->multiplier > 1 && src->c == 1 && src->w == plan->shape.groups;
}

/* ---- its pieces (pieces.c) ---- */

/* Blocks of channels, of one thread and of many, and rows: for the way that is planned. */
void depthwise_plan_pieces(struct convolution_depthwise *plan);

/* ---- what stays in a cache (stay.c) ---- */

/* Do copies of so many whole planes, before and behind, stay in the L1 cache beside what they are
 * made of? */
bool depthwise_planes_stay(const struct convolution_depthwise *plan, size_t count);

/* A kernel may do a dilated convolution as dense ones, each of every so many-th row and column. No
 * two of them read the same pixels, unless strides and dilations have no common divisor. */
bool depthwise_is_done_in_parts(const struct convolution_depthwise *plan);

/* Channels such that the source of the rows that a kernel does at a time stays in the L1 cache
 * while one vector after the other of its channels is read. */
size_t depthwise_channels_that_stay(const struct convolution_depthwise *plan);

/* Pixels of which the same line of channels stays in a cache: if they are a multiple of a power of
 * two apart, these lines fall on a few of its places. */
size_t depthwise_pixels_that_stay(const struct convolution_depthwise *plan, size_t bytes,
                                  size_t ways);

size_t depthwise_l1_ways(const struct cpu *cpu);

/* Pixels of which the same line of channels stays there. */
size_t depthwise_pixels_in_l1(const struct convolution_depthwise *plan);

/* ---- tiles (tiles.c) ---- */

/* What of the task is for kernels with tiles. */
void depthwise_plan_tiles(struct convolution_depthwise *plan);

/* ---- rows of source (source.c) ---- */

/* Lists them, NULL for rows of padding. */
void depthwise_list_rows(const struct run *run, const struct piece *piece,
                         const struct scratch *scratch);

/* Transposes or repeats the listed rows, and lists their copies instead. */
void depthwise_gather(const struct run *run, const struct piece *piece,
                      const struct scratch *scratch);

/* ---- weights (weights.c) ---- */

/* As the kernel wants them: plain ones are packed into the scratchpad. */
const float *depthwise_weights(const struct convolution_depthwise *plan,
                               const struct execution *execution);

/* ---- tasks (run.c) ---- */

void depthwise_run(const void *plan, const struct execution *execution);

#endif
