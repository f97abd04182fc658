/* Convolution as a matrix multiplication: what its parts share. What they do is told in
 * gemm.c. */
#ifndef SRC_CONVOLUTION_GEMM_H
#define SRC_CONVOLUTION_GEMM_H

#include "kernels/pack/f32/copy.h"
#include "src/convolution/convolution.h"
#include "src/gemm/gemm.h"

/* Pixels [begin, end) of a row of src, counted with its padding: copied for the patches that cross
 * one of its ends. Of these, `values` values from pixel `from` on exist, and their place in the
 * copy of a row is `at`. */
struct convolution_edge {
    neo_dim begin, end, from;
    size_t values, at;
};

/* Rows, or planes, of src. */
struct convolution_range {
    neo_dim begin, end;
};

/* A tile of the GEMM: its part of the reduction, and of the table. */
struct convolution_tile {
    struct gemm_reach reach;
    size_t first;
};

/* Columns of pixels of dst, if each is a matrix of the GEMM: what is known of rows of pixels. */
struct convolution_columns {
    neo_dim count; /* 0: matrices are not columns */
    neo_dim in, taps, stride, padding, ic;
    neo_dim src_step; /* from pixel to pixel */
};

struct convolution_gemm {
    struct gemm_plan gemm;
    struct convolution_columns columns;
    struct convolution_shape shape; /* if there are columns, of one, turned to a row */
    size_t row_stride;              /* of dst, from one row of the GEMM to the next */
    bool rows_are_affine; /* src of row i is at i times src_row_stride: 1×1, stride 1, no padding */
    neo_dim src_row_stride;
    size_t images;       /* that a matrix of the GEMM is the pixels of; 0: of a part of one */
    size_t group_values; /* of packed weights */

    size_t matrices;                /* of the same pixels, or rows: groups, or columns */
    neo_dim dst_step, channel_step; /* from one of them to the next */

    /* Patches are runs of contiguous values, `segment` each: whole rows of the kernel if rows are
     * merged, else taps. Merged ones of pixels of dst outside of [inner_begin, inner_end) of their
     * row cross the ends of rows of src, of which each task has copies: edge_row values for each
     * row, its left edge first. */
    bool has_segments, rows_are_merged;
    size_t segment;
    neo_dim inner_begin, inner_end;
    struct convolution_edge left, right;
    size_t edge_row;
    size_t edge_bytes; /* of a task's copies, with a segment of zeros behind them */
    struct convolution_range planes, rows; /* of src, that an image of dst needs */
    copy_f32_fn *copy;

    /* Where the segments of all of a matrix's patches are, if these are few, else NULL: made at
     * create, as finding them again would take as long as products of few channels. */
    size_t table_bytes;
    const uint64_t *table;
    const struct convolution_tile *tiles; /* a part of the table */
};

/* x, or the one of the bounds that it is beyond. */
static inline neo_dim convolution_clamp(neo_dim x, neo_dim low, neo_dim high)
{
    return x < low ? low : x > high ? high : x;
}

struct convolution_call {
    const struct convolution_gemm *plan;
    const struct execution *execution;
};

/* A batch index of the GEMM is a run of pixels and one of its matrices: a group, or a column.
 * Divisions are slow, and most convolutions have one group, or one run. */
static inline size_t run_of(const struct convolution_gemm *plan, size_t batch)
{
    size_t matrices = plan->matrices;
    return matrices == 1 ? batch : __builtin_expect(batch < matrices, 1) ? 0 : batch / matrices;
}

static inline neo_dim matrix_of(const struct convolution_gemm *plan, size_t batch)
{
    return (neo_dim)(__builtin_expect(batch < plan->matrices, 1) ? batch : batch % plan->matrices);
}

static inline size_t first_pixel(const struct convolution_gemm *plan, size_t batch)
{
    return run_of(plan, batch) * plan->gemm.shape.m;
}

/* ---- columns (columns.c) ---- */

/* Which values of a row of the kernel the pixels of one have in src, and where these begin in the
 * first row. */
struct convolution_column {
    struct span part;
    neo_dim src;
};

struct convolution_column convolution_column(const struct convolution_gemm *plan, size_t batch);

/* Where a matrix begins in the first row of an image of src, but for its padding. */
static inline neo_dim source_of(const struct convolution_gemm *plan, size_t batch)
{
    return plan->columns.count ? convolution_column(plan, batch).src
                               : matrix_of(plan, batch) * plan->shape.ic * plan->shape.src.c;
}

/* ---- what convolution by columns is made of, too (gemm.c) ---- */

/* Plans the shape, which is known. */
void convolution_gemm_plan(struct convolution_gemm *plan, const struct problem *problem,
                           const struct cpu *cpu);
size_t convolution_gemm_table_bytes(const void *plan);
void convolution_gemm_fill_table(void *plan, void *table);
size_t convolution_gemm_scratch_bytes(const void *plan, int threads);
const char *convolution_gemm_kernel(const void *plan);
void convolution_gemm_run(const void *plan, const struct execution *execution);

/* ---- patches (patches.c) ---- */

/* A pixel of dst by its coordinates. */
struct pixel {
    neo_dim n, at[SPACE];
};

/* The patches of up to GEMM_F32_MR rows. */
struct patches {
    size_t rows;
    const float *origin[GEMM_F32_MR];  /* of tap 0, channel 0; may lie outside of src */
    neo_dim first[GEMM_F32_MR][SPACE]; /* coordinates of tap 0 in src */
};

/* Pixel number index of dst. */
struct pixel patches_pixel(const struct convolution_shape *s, size_t index);

/* The first one of a matrix of the GEMM. */
static inline struct pixel first_of(const struct convolution_gemm *plan, size_t batch)
{
    if (plan->images)
        return (struct pixel){.n = (neo_dim)(run_of(plan, batch) * plan->images)};
    return patches_pixel(&plan->shape, first_pixel(plan, batch));
}

/* The one after it. */
void patches_next(const struct convolution_shape *s, struct pixel *pixel);

/* The patches of `rows` rows of the GEMM. */
void patches_locate(const struct convolution_call *call, size_t batch, size_t row, size_t rows,
                    struct patches *patches);

/* Fills the lanes of tap number index, in the order of the reduction, with the addresses of channel
 * `channel`, NULL in the padding. Returns how many lie inside. */
size_t patches_lanes(const struct convolution_shape *s, const struct patches *patches, size_t index,
                     neo_dim channel, const float **lanes);

/* Where the first of one row's contiguous values is, if rows are affine. */
const float *convolution_gemm_affine_row(const struct convolution_call *call, size_t batch,
                                         size_t row);

/* ---- segments (edges.c, list.c) ---- */

/* Zeros for the segments that lie in the padding; as long as a block of the reduction can be. */
extern const float segments_padding[512];

/* Sets how patches are divided into segments, if they are. */
void segments_plan(struct convolution_gemm *plan, const struct cpu *cpu);

/* Lists segments; edges: the task's copies. */
void segments_list(const struct convolution_call *call, const float *edges,
                   const struct gemm_list *list);

/* ---- the table of segments (table.c) ---- */

/* Are a matrix's segments few enough for a table? */
static inline bool segments_fit_table(double tiles, double segments)
{
    const double list_bytes = GEMM_F32_LIST * sizeof(uint64_t), most = 40 << 10;
    return tiles * segments * list_bytes <= most;
}

/* Sets plan->table_bytes, if they are. */
void segments_plan_table(struct convolution_gemm *plan);

void segments_fill_table(struct convolution_gemm *plan, void *table);

/* Lists what the table has. */
void segments_list_from_table(const struct convolution_call *call, const float *edges,
                              const struct gemm_list *list);

/* ---- taps in the padding (reach.c) ---- */

/* The part of the reduction, in whole segments, that rows [row, row + rows) of the GEMM are not
 * zeros in. */
struct span patches_reach(const struct convolution_gemm *plan, size_t batch, size_t row,
                          size_t rows);

/* The mean of how many taps along a dimension so many pixels have that follow each other: of all
 * places where these may begin, or of some of very many. */
double patches_mean_taps(const struct convolution_shape *shape, int dimension, neo_dim pixels);

/* Does an image have so few that each of its tiles can be looked at beforehand? */
static inline bool patches_are_few(const struct convolution_shape *shape)
{
    const neo_dim few = 16;
    return shape->out[DEPTH] * shape->out[HEIGHT] * shape->out[WIDTH] <= few;
}

/* How much of the patches' taps lies in the padding for all rows of a tile of the GEMM; 0 if it
 * does not pay to look for them. */
double patches_zeros(const struct convolution_gemm *plan, double k, double n);

/* ---- what the GEMM calls; gemm/gemm.h says what each does ---- */

/* edges.c */
void convolution_gemm_prepare_a(const void *context, void *task_scratch, size_t batch, size_t row,
                                size_t rows);

/* reach.c: the part of the reduction that some patches are not zeros in */
struct gemm_reach convolution_gemm_reach(const void *context, size_t batch, size_t tile, size_t row,
                                         size_t rows);

/* pack.c: patches and weights in panels */
void convolution_gemm_pack_a(const void *context, void *task_scratch,
                             const struct gemm_panel *panel);
void convolution_gemm_pack_b(const void *context, const struct gemm_panel *panel);

/* finish.c */
void convolution_gemm_finish(const void *context, const struct gemm_block *block);

#endif
