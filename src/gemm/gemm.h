/* The blocked f32 matrix multiplication that matmul and convolution share.
 *
 * C[i][j] = sum over p < k of A[i][p] * B[p][j], for a batch of matrices. B comes in packed panels,
 * or is packed block by block. Rows of A are read in place, by lists of their addresses, if they
 * are made of contiguous segments; else they are packed a block at a time. The caller's functions
 * list and pack, as they know where things lie: a convolution finds its patches there, so no image
 * of patches is ever made. The loops are those of Goto and van de Geijn (ACM TOMS 34/3, 2008):
 * blocks of kc rows of B whose panels stay in the L1 cache, blocks of mc × kc of A that stay in the
 * L2 cache. As many panels as fit are used for a tile of A before the next tile comes.
 *
 * How an element of C is summed depends on the plan and its column only, not on threads. */
#ifndef SRC_GEMM_GEMM_H
#define SRC_GEMM_GEMM_H

#include <stdbool.h>

#include "kernels/gemm/f32/gemm.h"
#include "kernels/gemm/f32/listed/listed.h"
#include "kernels/gemm/f32/planes/planes.h"
#include "kernels/gemm/types.h"
#include "kernels/pack/f32/pack.h"
#include "src/gemm/tiles.h"
#include "src/tensor/layout.h"
#include "src/threading/parallel.h"
#include "src/threading/partition.h"

/* How results get to their place. */
enum gemm_output {
    GEMM_DIRECT,   /* the tile kernel stores what is final */
    GEMM_IN_PLACE, /* it stores sums, and finish() turns them into results there */
    GEMM_STAGED,   /* it stores sums in the scratchpad, and finish() moves them */
};

struct cost;

/* What the caller knows when it plans. */
struct gemm_shape {
    size_t batch, m, n, k;

    /* What panels hold; NULL: f32, for its own kernels. With a type sums are staged, rows of A are
     * packed, and C's rows are contiguous. */
    const struct gemm_type *type;
    bool a_summed, b_summed; /* finish() wants sums of rows of A, or of columns of B */

    bool b_packed;
    size_t b_row; /* not 0: B is plain, and its rows are contiguous, so far from each other */
    bool columns; /* C's columns are contiguous, not its rows */
    enum gemm_output output;
    float low, high;           /* clamp, with GEMM_DIRECT */
    size_t task_scratch_bytes; /* for prepare_a(), list_a(), pack_a() */

    /* Not 0: each row of A is k / segment runs of so many contiguous values, which list_a() knows.
     * Rows are a_stride elements apart, all of them if a_is_regular; SIZE_MAX: not known yet. C's
     * rows are contiguous. */
    size_t segment, a_stride;
    bool a_is_regular;
    bool a_has_zeros; /* reach() knows where */
    bool a_has_parts; /* of its segments, in each matrix other ones; B is packed, and the CPU lists
                         rows for n columns */

    /* Not 0: rows of A have so many different values, and a block of rows has so many that belong
     * to rows beside it. */
    size_t a_values, a_shared;
    size_t c_stride; /* elements from row to row of C; 0: n */

    /* Not 0: columns of A are contiguous, so far from each other, and list_a() knows where they
     * are. C's columns are contiguous, too. */
    size_t a_column;
};

/* Parts of one task's scratchpad, offsets in bytes: a block of A at 0, lists of its rows, runs of
 * its tiles, a block of B, staged sums, sums of A's rows and of B's columns, the caller's. */
struct gemm_scratch {
    size_t list, runs, b, stage, a_sums, b_sums, caller, bytes;
};

/* One step of the loops: tiles × panels × a range of k. */
struct gemm_step {
    struct span tiles, panels, k;
    size_t row, rows, column, columns; /* the same in elements */
    size_t segments, depth;            /* of rows in place; depth: of one of these */
};

/* Tiles of a step that follow each other and reach the same part of its k: no more than that part
 * of their rows is listed, and multiplied. */
struct gemm_run {
    struct span tiles;
    size_t skipped, segments; /* values of k before the part; no segments: there is none */
    bool begins, ends;        /* nothing of k comes before it, or after it */
    const float **rows;       /* the lists */
};

/* Panels of one width that follow each other, and their kernels. */
struct gemm_pass {
    struct layout_panel panel; /* the first one */
    size_t panels;
    uint32_t width;             /* the kernels' */
    uint32_t valid;             /* not 0: not all columns exist */
    gemm_f32_listed_fn *run[2]; /* for tall tiles, and for those that are one row lower */
};
enum { GEMM_PASSES = 4 };

struct gemm_way;

struct gemm_plan {
    struct gemm_shape shape;
    struct gemm_scratch scratch;
    size_t row_tiles, panels;                  /* of one matrix */
    size_t panel_columns;                      /* of full panels */
    bool wide_panels;                          /* those of layout_wide_panel() */
    size_t block_tiles, block_panels, block_k; /* mc, nc, kc */
    size_t block_columns;                      /* of block_panels panels */
    size_t tile_rows;                          /* at most */
    size_t k_unit;                             /* blocks of k divide this, or are multiples of it */
    bool k_inside;          /* all blocks of k come for a block of rows before the next one */
    bool is_one_step;       /* all of a matrix: */
    struct gemm_step whole; /* this one */
    const char *kernel;
    struct gemm_tiles tiles;
    const struct gemm_way *way; /* of all steps, on the plan's kind of core */
    gemm_run_fn *run_typed;     /* if the shape has a type */

    /* Rows of A in place; NULL: they are packed. */
    const struct gemm_f32_listed_kernels *listed;
    size_t tall, tall_tiles; /* rows of the first tiles, and how many; the others have one less */
    size_t full_panels;      /* without padding, the first ones */
    size_t group_panels;     /* of those, how many stay in the L1 cache together */
    size_t chunk_tiles;      /* that all groups of panels come for, before the next tiles */
    size_t lap_tiles;        /* that are listed together: the next ones' lists take their place */
    size_t regular_panels;   /* full ones that pass together without lists; 0: there are lists */
    bool copies;             /* rows are copied next to each other */
    size_t copied_columns;   /* if a step has so many */
    bool has_tail;           /* the last columns are read one by one (layout_tail_columns()) */
    struct gemm_pass passes[GEMM_PASSES]; /* that serve all panels, on the plan's kind of core */
    size_t pass_count;                    /* 0: they would be more */
    uint32_t clamp;                       /* of their kernels, GEMM_F32_* */
    bool is_short;                        /* one step of these passes, whose results are final */
    bool fetches;         /* the next panels of packed weights while these are multiplied */
    double panel_reading; /* of packed weights that the L2 cache has no room for: multiply-adds of
                             vectors in the time that one panel takes from memory; or 0 */

    /* Columns of A in place, all of k at a time; NULL: they are not. */
    const struct gemm_f32_planes_kernels *planes;
    size_t run_rows; /* of A that stay in the L1 cache while one panel after the other comes */
};

/* Rows [row, row + rows) and columns [column, column + columns) of one matrix, complete sums with
 * bias: element (i, j) of the block at values[i * row_stride + j * column_stride]. */
struct gemm_block {
    size_t batch, row, rows, column, columns;
    float *values; /* or as the type sums */
    size_t row_stride, column_stride;
    const int32_t *a_sums, *b_sums; /* of the block's rows and columns, if they are wanted */
};

/* Where the matrices of one batch index are. */
struct gemm_place {
    const float *b;        /* packed panels, or plain with b_row; unused otherwise. With a type its
                              elements */
    const int32_t *b_sums; /* of packed panels' columns */
    float *c;
    size_t c_row, c_column; /* unused with GEMM_STAGED */
    const float *bias;      /* one value per column, or NULL */
    struct span part;       /* with a_has_parts: the values of each segment that are not zeros, the
                               same in all rows. Others are not multiplied */
};

/* A panel that the caller packs: of rows of A or columns of B, of a range of k. Its elements are at
 * gemm_panel_at() for the plan's type. */
struct gemm_panel {
    size_t batch;
    size_t lane, lanes, width; /* rows or columns [lane, lane + lanes); width: with zeros behind */
    size_t first, depth;       /* of k */
    void *out;
    int32_t *sums; /* of integers: what the lanes' elements are added to */
};

/* Addresses in A: for tiles t < tall + low, of which the first ones have `height` rows and the
 * others one less, for their rows i and for s < segments,
 *
 *   out[(t * segments + s) * GEMM_F32_LIST + i] = the address of A[row_of(t) + i][first + s *
 * segment]
 *
 * or, with a_has_parts, of where the segment's part begins. Others of the GEMM_F32_LIST addresses
 * may be written, too. With a_column: there is one address.
 */
struct gemm_list {
    size_t batch, tile, row; /* the number of the first tile, and its first row */
    size_t height, tall, low;
    size_t first, segments;
    const float **out;
};

/* A range of k, outside of which a tile of A is zeros; so it is for each of the tiles that lie
 * within the rows from its first one to `end`. */
struct gemm_reach {
    struct span k;
    size_t end;
};

struct gemm_results;

/* The caller's side of one execution; its functions are called by several threads at once. */
struct gemm_call {
    const void *context;
    void (*locate)(const void *context, size_t batch, struct gemm_place *out);

    /* NULL, or what a task does before it lists or packs rows [row, row + rows) of a matrix. */
    void (*prepare_a)(const void *context, void *task_scratch, size_t batch, size_t row,
                      size_t rows);

    /* Panel's element (i, p) = A[lane + i][first + p] for i < lanes <= GEMM_F32_MR, p < depth. Not
     * called with a_has_parts. */
    void (*pack_a)(const void *context, void *task_scratch, const struct gemm_panel *panel);

    /* With a type, NULL, or what is called instead for panels of rows below each other, which
     * follow each other in `out`, too. */
    void (*pack_panels_a)(const void *context, void *task_scratch, const struct gemm_panel *first,
                          size_t panels);

    /* Not called if the shape has neither a segment nor a_column. */
    void (*list_a)(const void *context, const void *task_scratch, const struct gemm_list *list);

    /* What tile number `tile`, rows [row, row + rows) of A, has that is not zeros, of one segment
     * at least: the others are not multiplied. Called if the shape has a_has_zeros. */
    struct gemm_reach (*reach)(const void *context, size_t batch, size_t tile, size_t row,
                               size_t rows);

    /* Panel's element (j, p) = B[first + p][lane + j] for j < lanes, 0 for lanes <= j < width. Not
     * called when B is packed. */
    void (*pack_b)(const void *context, const struct gemm_panel *panel);

    /* NULL, or what sums of a type become while they are in registers. */
    const struct gemm_results *results;

    /* Not called with GEMM_DIRECT, nor with results. */
    void (*finish)(const void *context, const struct gemm_block *block);
};

/* A pure function of the shape and the CPU. m, n or k of SIZE_MAX means that it is not known yet:
 * the plan's scratchpad is then large enough for every size. */
void gemm_plan_init(struct gemm_plan *plan, const struct gemm_shape *shape, const struct cpu *cpu);

size_t gemm_scratch_bytes(const struct gemm_plan *plan, int threads);

/* The number of tasks is at most threads; scratch has gemm_scratch_bytes(plan, threads). */
void gemm_run(const struct gemm_plan *plan, const struct gemm_call *call,
              const struct parallel *parallel, int threads, void *scratch);

/* Rows of tile number index of m rows: tiles of GEMM_F32_MR rows, but a remainder of one to three
 * rows shares the last two tiles' rows evenly, as tiles of so few rows leave most registers unused.
 */
struct span gemm_row_tile(size_t m, size_t index);

/* The rows of tile t, by the plan. */
struct span gemm_plan_tile(const struct gemm_plan *plan, size_t t);

/* Can columns of A be read in place? */
bool gemm_reads_planes(const struct gemm_shape *shape, const struct cpu *cpu);

/* Cycles on one thread, if they are. */
double gemm_planes_estimate(const struct cpu *cpu, double batch, double m, double n, double k,
                            bool b_packed);

/* Cycles on one thread. a_listed: the shape would have a segment, and a_stride; 0: not known. */
double gemm_estimate(const struct cpu *cpu, double batch, double m, double n, double k,
                     bool b_packed, bool a_listed, size_t a_stride);

/* The same where panels hold a type; NULL: f32. Beside its sums, nothing of what becomes of them.
 */
double gemm_typed_estimate(const struct cpu *cpu, const struct gemm_type *type, double batch,
                           double m, double n, double k, bool b_packed);

/* Where packed weights of n columns are fetched, all cycles go by while they are, but nothing hides
 * the first panel. */
void gemm_count_fetching(struct cost *cost, double n);

/* Is it worth to fetch weights of so many bytes while others are multiplied, by so many multiply-
 * accumulates of vectors? Where they stay in the L2 cache, or memory is so fast that it takes
 * little of their time, it is not. */
bool gemm_fetching_pays(const struct cpu *cpu, double bytes, double products);

/* The multiply-accumulates of f32 vectors that a core does while so many bytes of weights come from
 * memory, if that is where they are: of so many bytes in all, the L2 cache keeps few; or 0. */
double gemm_reading(const struct cpu *cpu, double bytes, double all_bytes);

/* Does reading packed weights take time beside the products, not after them? type: NULL for f32,
 * whose rows are in place then. */
bool gemm_fetches(const struct cpu *cpu, const struct gemm_type *type, double m, double n,
                  double k);

/* Are rows of A packed and multiplied by packed B in less time than in place? Tiles of packed rows
 * are higher: cores of many multiply-adds a cycle do not wait for their sums. */
bool gemm_packing_pays(const struct cpu *cpu, double m, double n, double k, size_t a_stride);

/* Does the CPU read rows in place, for so many columns? Where a multiply-add leaves room for 64
 * bits of a load, packed rows are as fast: a copy of A pays unless its values are used for few
 * columns. */
static inline bool gemm_lists(const struct cpu *cpu, double n)
{
    const double few = 32; /* columns */
    return cpu->core->in_order != IN_ORDER_NARROW || n <= few;
}

#endif
