/* Winograd convolution: what its parts share. What they do is told in winograd.c. */
#ifndef SRC_CONVOLUTION_WINOGRAD_H
#define SRC_CONVOLUTION_WINOGRAD_H

#include "kernels/pack/f32/copy.h"
#include "kernels/winograd/f32/winograd.h"
#include "src/convolution/convolution.h"
#include "src/gemm/gemm.h"
#include "src/tensor/layout.h"
#include "src/tensor/winograd.h"
#include "src/threading/partition.h"

enum {
    SIZES = 3, /* of tiles in one dimension: the largest, and two smaller ones */
    KINDS = SIZES * SIZES,
    CHUNK = 16,         /* channels that a block of tiles is transformed for at a time */
    BLOCK = 8,          /* tiles */
    MOST_STRIP = 112,   /* tiles */
    MOST_DIVIDED = 256, /* strips that are not the plan's */
    MOST_POINTS = WINOGRAD_MOST * WINOGRAD_MOST,
    MOST_OUTPUTS = (WINOGRAD_MOST - 2) * (WINOGRAD_MOST - 2),
    MOST_HEIGHTS = (MOST_STRIP + WINOGRAD_F32_MR - 1) / WINOGRAD_F32_MR,
    LEAST_BLOCKS = 2, /* of a point in a piece, if not all */
    MOST_PIECES = MOST_POINTS * ((MOST_HEIGHTS + LEAST_BLOCKS - 1) / LEAST_BLOCKS),
};

/* One dimension cut into tiles: count[i] ones of size[i] outputs, in this order; each has so many
 * points, and `halo` more. */
struct cut {
    size_t halo; /* of a kernel: its taps less one */
    size_t size[SIZES], count[SIZES];
    struct span points[SIZES]; /* that tiles of a size have, but no smaller ones */
};

/* The matrices for 1, 4, 5, 6 and 8 points, one after the other: room for those of three taps. */
struct matrices {
    float forward[1 + 4 * 4 + 5 * 5 + 6 * 6 + 8 * 8], backward[1 + 2 * 4 + 3 * 5 + 4 * 6 + 6 * 8];
};

/* Tiles are numbered by kind, which is SIZES * the size of their rows + that of their columns, then
 * by image, row and column. */
struct kinds {
    size_t ends[KINDS], points[KINDS]; /* points of one tile; 0: there are no such tiles */
};

/* Blocks of a point's rows: they differ by one row at most, and lower ones are first. */
struct blocks {
    size_t height, lower; /* of the next one; how many are as low as the first one */
};

/* Some points that follow each other, or some of the blocks of one. */
struct piece {
    size_t inputs;           /* the first row, in elements */
    uint32_t sums;           /* that of the first panel */
    uint16_t point, heights; /* the first one; where the heights of the blocks begin */
};

/* Where a strip's tiles have their rows. Points are numbered in rows of `across`. A point of the
 * tiles of a kind, but of no smaller ones, has the rows of all tiles as large as that, in blocks of
 * rows_of[kind]. */
struct arrangement {
    size_t counts[KINDS]; /* tiles, on which all else depends */
    uint16_t piece_count;
    size_t panel; /* elements from a panel's sums to the next one's */
    struct blocks rows_of[KINDS];
    size_t inputs[MOST_POINTS];        /* the first row, in elements */
    uint32_t sums[KINDS][MOST_POINTS]; /* of a kind's first tile, in bytes, column by column */
    struct piece pieces[MOST_PIECES];
    uint8_t heights[MOST_POINTS * (MOST_HEIGHTS + 1) + 2 * MOST_PIECES]; /* for the products */
};

/* Bytes of one tile of average size: its source, its inputs in the matrices, a panel's sums, and
 * lines that are begun by its outputs. */
struct tile_bytes {
    double source, inputs, sums, outputs;
};

struct convolution_winograd {
    struct convolution_shape shape;
    struct cut rows, cols;
    struct kinds kinds;
    struct tile_bytes tile; /* by which ways to divide the tiles are compared */
    size_t taps;            /* along dimensions of more than one */
    size_t points;          /* and there, of the largest tile */
    size_t down, across;    /* points of the largest tile; along a dimension of one tap, 1 */
    size_t padded;          /* input channels, to whole groups */
    size_t tiles, strip, panels, full_panels;
    size_t point;       /* elements of weights from a point to the next one */
    size_t most_panels; /* whose sums are made before they are transformed */
    size_t of_piece;    /* points that all panels of a round are multiplied with at a time */
    size_t most_blocks; /* and blocks of their rows, if it is one point */
    size_t most_rows; /* of the matrices of a task's strips, if less than those of `strip`; or 0 */
    size_t slot;      /* elements from a point to the next one, if sums replace inputs; else 0 */
    float low, high;
    bool gathers;  /* channels of source are not neighbours: patches are transposed */
    bool staged;   /* tiles of results are finished before they go to dst */
    bool finishes; /* there is more to do than a bias and a clamp */
    bool shares;   /* all tasks have one strip at a time, whose inputs begin the scratchpad */
    bool fetches;  /* the next panel while one is multiplied: weights are too many for the L2 cache,
                      and for so few tiles that reading them takes about as long as products */
    double weights_rows; /* rows of a panel that are multiplied while its weights are read */
    const struct winograd_f32_kernel *kernel;
    copy_f32_fn *copy;
    size_t table_bytes, input_bytes, sum_bytes, zero_bytes, task_bytes;
    struct matrices matrices;
    /* Of the first strip: others have the same tiles more often than not. Or NULL. */
    const struct arrangement *first;
};

/* A tile of dst: its first output, its points and its valid outputs. */
struct tile {
    neo_dim n, y, x;
    size_t rows, cols, height, width;
    size_t kind, index; /* among the strip's tiles of this kind */
};

/* Where the next tile's row is, at the points of a kind: values from their first row on. */
struct cursor {
    struct blocks blocks; /* this block and those after it */
    size_t row, block;
};

/* What is known about the tiles of a strip. */
struct strip {
    size_t count;
    const struct arrangement *rows; /* the plan's, or: */
    struct arrangement own;
    struct tile tiles[MOST_STRIP];
    /* Of a block of tiles: its source, column by column, and its rows of the matrices. */
    const float *pixels[BLOCK][MOST_POINTS];
    float *targets[BLOCK][MOST_POINTS];
    size_t steps[BLOCK][MOST_POINTS];
    const float *patch[MOST_POINTS]; /* pixels of a tile that was gathered */
    /* What tiles share, of this strip and of those after it: source, or patch, of the first one of
     * a kind that has no padding, from origin on, or NULL; and rows of the matrices, where there is
     * one kind. */
    const float *inner_origin[KINDS];
    const float *inner_pixels[KINDS][MOST_POINTS];
    struct cursor next[KINDS];
    const struct arrangement *shared; /* whose rows first_targets are, or NULL */
    float *first_targets[MOST_POINTS];
};

struct run {
    const struct convolution_winograd *plan;
    const struct execution *execution;
    struct partition_grid grid; /* strips × panels of output channels */
    bool divided;               /* strips are not the plan's: strip i ends with tile ends[i] - 1 */
    uint32_t ends[MOST_DIVIDED];
    struct span strip; /* of tiles, that tasks share */
};

/* One task's parts of the scratchpad. */
struct task {
    const struct run *run;
    struct strip *strip;
    /* Blocks of each point's matrix, of rows × input channels; and rows × WINOGRAD_F32_NR of each
     * point, for each of some panels. A plan with slots has a point's sums where the inputs of the
     * point before were, which has been multiplied then: lines that are in a cache. */
    float *inputs, *sums;
    float *zeros, *patches;
    size_t strips, rounds; /* that are done: every other one begins at the end */
};

/* Panel p of output channels. */
static inline struct layout_panel winograd_panel(const struct convolution_winograd *plan, size_t p)
{
    return p < plan->full_panels ? layout_full_panel(p) : layout_panel((size_t)plan->shape.oc, p);
}

/* ---- one dimension cut into tiles (cut.c) ---- */

/* Sets the plan's tiles and kinds, by its rows, cols and batch. */
void winograd_count_tiles(struct convolution_winograd *mine);

/* How many of these tiles are of each kind. */
void winograd_count_kinds(const struct kinds *kinds, struct span tiles, size_t *counts);

/* Tiles that have the outermost point of this kind: those that are as large or larger. */
size_t winograd_rows_at(const struct convolution_winograd *plan, size_t kind, const size_t *counts);

/* For one tap, or 3, 5, 7. most: outputs of the largest tile, if there are more than one. */
struct cut winograd_cut(size_t size, size_t taps, size_t most);
size_t winograd_cut_tiles(const struct cut *cut);
size_t winograd_cut_points(const struct cut *cut);

/* The first output of the tiles of a size. */
neo_dim winograd_cut_begin(const struct cut *cut, size_t size);

/* ---- matrices of the transforms (matrices.c) ---- */

void winograd_plan_matrices(struct convolution_winograd *mine);
struct winograd_f32_matrix winograd_forward(const struct convolution_winograd *plan, size_t n);
struct winograd_f32_matrix winograd_backward(const struct convolution_winograd *plan, size_t n);

/* ---- what moves between the caches (traffic.c) ---- */

/* How the tiles are divided: strips, and panels of sums that are made at a time. */
struct winograd_blocking {
    size_t strips, panels;
};

/* Of the plan's tiles, which are counted. */
struct tile_bytes winograd_tile_bytes(const struct convolution_winograd *mine);

/* Bytes from beyond the L2 cache, and a part of those from it; infinite where the scratchpad has no
 * room for a round's sums. */
double winograd_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                        const struct winograd_blocking *how);

/* Of how->strips: sets the panels of a round that move the least, and returns what moves. */
double winograd_choose_panels(const struct convolution_winograd *mine, const struct cpu *cpu,
                              struct winograd_blocking *how);

/* A bound from below of that for so many strips, whatever panels they have. It grows with the
 * strips. */
double winograd_least_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                              size_t strips);

/* Of what that leaves out, a bound of what comes from beyond the L2 cache. */
double winograd_least_from_afar(const struct convolution_winograd *mine, const struct cpu *cpu,
                                size_t strips);

/* Which part of a strip's inputs and sums does not stay in the L2 cache until it is used again? */
double winograd_missing(const struct convolution_winograd *mine, const struct cpu *cpu,
                        const struct winograd_blocking *how);

/* Bytes that a strip keeps in between: inputs, and sums that are beside them. */
double winograd_kept(const struct convolution_winograd *mine, const struct cpu *cpu,
                     const struct winograd_blocking *how);

/* Are all panels in the only round of a strip, and a point's products enough that sums can take the
 * place of inputs? */
bool winograd_replaces_inputs(const struct convolution_winograd *mine,
                              const struct winograd_blocking *how);

/* Blocks of a point's rows that are multiplied with all panels of a round at a time. */
size_t winograd_blocks_at_once(const struct convolution_winograd *mine, const struct cpu *cpu,
                               const struct winograd_blocking *how);

/* ---- blocking (blocking.c) ---- */

/* Sets the plan's strip, most_panels, of_piece, most_blocks, fetches, weights_rows and slot. */
void winograd_choose_blocking(struct convolution_winograd *mine, const struct cpu *cpu);

/* Elements from a point to the next one, where sums of so many tiles take the place of inputs. */
size_t winograd_slot(const struct convolution_winograd *mine, size_t tiles);

/* ---- where rows are (rows.c) ---- */

/* For the tiles of a strip. */
void winograd_arrange(const struct convolution_winograd *plan, struct span tiles,
                      struct arrangement *rows);

/* Of a panel's group of four steps, bytes that each block of a piece's rows fetches of the next
 * panel: together at least all of it, at every point. 0: nothing, as the blocks of the piece
 * before, which were multiplied with the same weights, have fetched it. */
size_t winograd_ahead_step(const struct arrangement *rows, size_t piece);
void winograd_next_row(struct cursor *cursor, size_t padded);

/* ---- strips (strip.c, _input.c, _output.c) ---- */

/* Lists the tiles, and finds their rows. */
void winograd_make_strip(const struct task *task, struct span tiles);

/* Of some chunks of channels. */
size_t winograd_chunks(const struct convolution_winograd *plan);
void winograd_transform_inputs(const struct task *task, struct span chunks);

/* From the sums of these panels. */
void winograd_transform_outputs(const struct task *task, struct span panels);

/* ---- strips for several threads (threads.c) ---- */

/* Sets the run's strips and grid, for tasks of one thread each. Its cost is infinite if there is no
 * room for such strips. */
void winograd_divide(struct run *run, int threads);

/* The cost of one strip after the other by all threads, in the same unit. */
double winograd_sharing_cost(const struct convolution_winograd *plan, int threads);
struct span winograd_strip(const struct run *run, size_t index);

/* ---- the scratchpad (scratch.c) ---- */

/* Sets the sizes of its parts. */
void winograd_plan_scratch(struct convolution_winograd *mine);

/* For executions by so many threads: the plan with strips as small as tasks of their own have room
 * for (false: they have room for none), and with inputs that all tasks share. */
bool winograd_limit_strips(struct convolution_winograd *mine, int threads);
void winograd_share_inputs(struct convolution_winograd *mine, int threads);

/* What either of them takes, at most: the more, the more threads. */
size_t winograd_scratch_bytes(const void *plan, int threads);

/* ---- tasks (run.c) ---- */

void winograd_run(const void *plan, const struct execution *execution);

#endif
