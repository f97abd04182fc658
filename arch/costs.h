/* What estimates take for known, by how a core issues: numbers of cycles, and shares, that were
 * found from counts of instructions and from models. Algorithms are compared by them; none of them
 * changes a result. Where a number is beside the core's slowness (arch/cpu.h) its text says so. */
#ifndef ARCH_COSTS_H
#define ARCH_COSTS_H

#include <stddef.h>

#include "arch/cpu.h"

enum { COSTS_HEIGHTS = 9 /* of tiles, from 0 on */ };

/* Blocked products (src/gemm/estimate.c), cycles. */
struct gemm_costs {
    double step;                    /* of a tile's step, beside all that it issues */
    double crowding, counting;      /* for each load of a step, and what counts as one, too */
    double tail_counting;           /* the same where the last columns are read one by one */
    double narrow_load, narrow_sum; /* four steps of one to three columns */
    double few_rounds, rounds;      /* of a vector of sums beside its rounds: few, or many */
    double parts;                   /* to add a row's sums of four parts */
    double a, b;                    /* to pack a value of rows of A, and of plain rows of B */
    double tile, ragged;            /* of slowness 1: a packed tile, columns that fill no vector */
    double packed_wait,
        packed_row; /* as so many rows a last tile waits, and for each of its rows */
    double packed_sums, planes_sums; /* sums take so many times what they are */
    double swapped; /* columns of dst in place of rows take so many times as long */
};

/* Products in place (src/matmul/direct/columns.c), cycles. */
struct direct_costs {
    double all, matrix;            /* of slowness 1: of a call, of a matrix, */
    double last, turned_last;      /* of columns that fill no vector: of plain rows, and turned */
    double low_wait, low_few_wait; /* a step of tiles of few rows, of few vectors */
    double crowded[COSTS_HEIGHTS],
        crowded_few[COSTS_HEIGHTS];   /* by a tile's rows: loads among sums */
    double columns_step, few_columns; /* of tiles that read columns of A: a step, and all if few */
    double crowding, counting;        /* as gemm_costs */
    double tail_loads, tail_sums[4];  /* of last columns, by how many they are */
    double shallow_vector, shallow_row;               /* of a row of one small depth, slowness 1 */
    double odd_value, odd_step, odd_begin, odd_later; /* steps beside rounds (odd_cycles()) */
    double turned, turn, turned_strip; /* to pack weights, slowness 1: a value, all, a strip */
    double call, strip, vector, value, ragged, ragged_step, narrow, narrow_step,
        shallow;    /* to pack strips in order (tuned_turning_cycles()) */
    double l1_room; /* of the L1 cache: what stays from one strip to the next */
};

/* Dot products (src/matmul/dot), cycles. */
struct dot_costs {
    double call, gathers;      /* of slowness 1, once: of all, and if weights are packed */
    double last_call;          /* of a call for fewer rows than four, in calls for four */
    double step;               /* beside all that a step issues */
    double third_column;       /* results of one column beside threes, in those of others */
    double k_part;             /* of each result, for values of k that fill no vector: slowness 1 */
    double matrix, value;      /* to pack weights: slowness 1; each value */
    double columns;            /* up to four of them, and: */
    double many, tile, result; /* a tile's height of rows; each tile and its results */
    double tile_vector, part;  /* of a row or column of a tile, beside whole rounds */
    double all, whole_tile, whole_result; /* tiles that do everything, with nothing but rounds */
    double few, one;                      /* a call for one to three rows, and each result */
    double few_vector, few_product;       /* of these a vector of k, once and for each result */
    double left;                          /* more rows than so many end in a whole tile of 16 */
};

/* Products by lines (src/matmul/lines), all of slowness 1, and weights in blocks. */
struct lines_costs {
    double call, walk; /* of all; of a side of some elements of a lot's lines that is copied */
    double moved,
        moved_few;        /* four elements of a line, if up to three lines are beside each other */
    double moved_part;    /* fewer than four */
    double result;        /* of a vector */
    double shared, part;  /* a value that all share; to load fewer elements than a vector's */
    double block_product; /* of weights in blocks, in products of a whole matrix */
};

/* Convolutions by rows of pixels and by lists of pixels (src/convolution/direct), cycles. */
struct pixels_costs {
    double sums, tuned_sums, one_vector; /* times what sums are: kernels for all cores, the core's
                                            own; and where a panel is one vector */
    double kernel_row;                   /* of a tile of a row, slowness 1 */
    double spread, copied;           /* to spread a value of src; to copy one of dst, slowness 1 */
    double listed_sums, listed_rest; /* times what sums of a list are; a tap's last channels */
    double line;                     /* of weights that come again, slowness 1 */
    double least_slowness, halves;   /* of tiles: no less than so slow; halves of vectors */
    double output, ragged_output;    /* to transpose a value of dst */
    double input, rows;              /* and of src, of which so many rows come for nothing */
};

/* Convolutions as blocked products of patches (src/convolution/gemm), and what nests others. */
struct patches_costs {
    double address;                    /* of a tap of a pixel, slowness 1 */
    double table, pixel, least_panels; /* the same by a table, without one; panels at least */
    double sums, low, ragged;         /* times what sums are, for each row less, for odd channels */
    double lane_tap, lane_channel;    /* where channels are no neighbours */
    double transposed, beside, apart; /* nested/transposed.c: a value; times what others take */
    double near, far;                 /* nested/dilated.c: a value copied */
    double load, store;               /* nested/planes.c: of a vector; of a value, slowness 1 */
};

/* Winograd's transforms, products and lines (src/convolution/winograd). */
struct winograd_costs {
    double sums, waiting, multipliers; /* times what sums are; of a tile that waits, and by the
                                          square of the multipliers */
    double wide;                       /* cores of four multipliers transform in this part of it */
    double input, output;              /* of a value of a tile, for each channel */
    double planes_in, planes_out;      /* the same where channels are no neighbours */
    double copied_in, copied_out;      /* times what it is, and more of it, if copied */
    double line_channel;               /* of a tile in one dimension, for each channel */
    double nearer;                     /* lines from the L2 cache that one from beyond it takes as
                                          long as */
    double room, returns, stays;       /* of the L2 cache: what can be between two uses; between
                                          weights' last use and their next one; what stays */
    double l1_room;                    /* of the L1 cache, for a piece's inputs and a panel */
    double half_line;                  /* a panel that ends within a line */
    double begins;                     /* of a line that the next round writes again */
    double source;                     /* a tile's part of src with what is around it */
    double colliding;                  /* lines of inputs that drive each other out */
    double images;                     /* of the L2 cache, so that hardly a line leaves it */
    double one_block; /* a point's only block of rows hides such a part of weights */
};

/* Blocks and their order (src/gemm/{order,plan,l1}.c): shares. */
struct blocks_costs {
    double group, depth, order; /* better if it moves less than this of what others do */
    double other, copies_move, copies_gain; /* no worse up to this; copies are for so little more,
                                               if they gain as much */
    double full, filling; /* of the cache: lines leave from here on, over so much */
    double pass;          /* of a pass, what does not stay */
    double gaps, room;    /* of the cache for all, with gaps between rows or not */
};

/* Kernels of threads, memory and depthwise convolutions. */
struct other_costs {
    double threads; /* more of them for no more than this of the time */
    double waiting; /* for weights, of what reading them takes, while others are multiplied */
    double fetched; /* of slowness 1: a line from memory, while others are multiplied */
    double images;  /* from memory, the part of them that is waited for, */
    double results; /* and the part of what is written there */
    double
        loops; /* where compilers make no vectors of kernels in C they take so many times as long */
    double line; /* depthwise: of the L1 cache, on cores of more than two multipliers */
    double output, tap, integer_tap; /* depthwise by a list of taps: a value, and each tap of it */
};

struct costs {
    struct gemm_costs gemm;
    struct direct_costs direct;
    struct dot_costs dot;
    struct lines_costs lines;
    struct pixels_costs pixels;
    struct patches_costs patches;
    struct winograd_costs winograd;
    struct blocks_costs blocks;
    struct other_costs other;
};

/* The row for cores that issue like this one. */
const struct costs *core_costs(const struct core *core);

#endif
