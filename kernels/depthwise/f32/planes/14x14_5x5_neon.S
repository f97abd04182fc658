/* Depthwise 5x5 convolution of flat planes of 14x14 in place with stride 1, for NEON: see
 * planes.h.
 *
 * As 14x14_neon.h does 3x3: the upper and the lower seven rows have a tile of columns
 * 0 … 7 each. Columns 8 … 13 of both come together: a vector of columns 8 … 11 of a row in either
 * half, and one of columns 12 and 13 of both rows. So no column is done twice, and the last column of
 * the kernel, which has only zeros for columns 12 and 13, is left out there. 1100 FMLA, where tiles of
 * eight columns take 1280; 38 EXT, and 49 vectors stored by ST1, not STR, which takes two pipes.
 *
 * The sums of columns 8 … 13 are in v11 … v17, v18 … v24 and v25 … v31; weights in v0 … v4, source in
 * two places each: v5 and v6 of the upper half, v7 and v8 of the lower one, v9 and v10 of pairs. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/tiles_neon.h"
#include "kernels/depthwise/f32/planes/14x14_parts_neon.h"

    .set UPPER, 5
    .set LOWER, 7
    .set PAIRS, 9
    .set LOW, 9
    .set HIGH, 10
    .set HALF, 2

/* The middle of the copies; source from column 1. */
pairs_middle .req x1
from_column_1 .req x2
/* Column 8 of the middle row of what either half reads; of the lower half of dst. */
upper .req x11
lower .req x12
lower_dst .req x16

/* Columns 10 … 13 of rows 0 … 6 beside those of rows 7 … 13, as columns of the kernel want them: by
 * general registers, since LD1 of a lane would take the pipes of FMLA, and a part with each row of the
 * left columns. The first two vectors have what is above row 0, the last two what is below row 13. */
    .set PAIR_COLUMNS, 4
    .set PAIR_ROWS, ROWS + 2 * HALF
    .set PAIRS_MIDDLE, PAIR_COLUMNS * PAIR_ROWS / 2
    .macro begin_copy
    add from_column_1, src, #4
    .set copied, 0
    .endm
    .macro copy_next
    .if copied < PAIR_COLUMNS * ROWS
    copy_part %(copied / PAIR_COLUMNS), %(copied % PAIR_COLUMNS)
    .endif
    .set copied, copied + 1
    .endm
    .macro copy_part i, kx
    .if \kx == 1
    load_parts_of x, from_column_1, %(flat_bytes * \i + 40)
    .elseif \kx == 3
    load_parts_of w, src, %(flat_bytes * \i + 52)
    .else
    load_parts_of x, src, %(flat_bytes * \i + 40 + 4 * \kx)
    .endif
    .if \i < HALF
    store_parts_of x12, xzr, %(\kx * PAIR_ROWS + \i + HALF + ROWS)
    .elseif \i >= ROWS - HALF
    store_parts_of xzr, x11, %(\kx * PAIR_ROWS + \i + HALF - ROWS)
    .endif
    store_parts_of x11, x12, %(\kx * PAIR_ROWS + \i + HALF)
    .endm
    .macro load_parts_of size, from, at
    ldr \size\()11, [\from, #\at]
    ldr \size\()12, [\from, #(\at + flat_bytes * ROWS)]
    .endm
    .macro store_parts_of first, second, pair
    stp \first, \second, [pairs_middle, #16 * (\pair - PAIRS_MIDDLE)]
    .endm

/* Row i of the upper half and row i of the lower one, as far as they exist, and the pairs of both, to
 * the registers of one of two slots. */
    .macro load_parts slot
    .if i >= 0
    load_from upper, %(UPPER + \slot), %(flat_bytes * (i - FLAT_MIDDLE) + 4 * from_middle)
    .endif
    .if i < ROWS
    load_from lower, %(LOWER + \slot), %(flat_bytes * (i + HALF - FLAT_MIDDLE) + 4 * from_middle)
    .endif
    .if kx < PAIR_COLUMNS
    load_pair %(PAIRS + \slot), %(16 * (kx * PAIR_ROWS + i + HALF))
    .endif
    .endm
    .macro load_from half, x, at
    ldur q\x, [\half, #\at]
    .endm

/* What they give to every output they reach; row i + 2 is reached for the first time. */
    .macro reach_parts slot
    .set r, 0
    .rept ROWS
    .set ky, i + HALF - r
    .if (ky >= 0) & (ky < 5)
    .if (kx == 0) & (ky == 0)
    load_bias_to %(UPPER_SUMS + r)
    load_bias_to %(LOWER_SUMS + r)
    load_bias_to %(PAIR_SUMS + r)
    .endif
    .if i >= 0
    fma %(UPPER_SUMS + r), %(UPPER + \slot), %(ky), 0
    .endif
    .if i < ROWS
    fma %(LOWER_SUMS + r), %(LOWER + \slot), %(ky), 0
    .endif
    .if kx < PAIR_COLUMNS
    fma %(PAIR_SUMS + r), %(PAIRS + \slot), %(ky), 0
    .endif
    .endif
    .set r, r + 1
    .endr
    .endm

/* One column of the kernel; each row is loaded while the one before is used. */
    .macro take_parts clamps
    .set from_middle, kx - HALF
    for_all load_weight, 0, 5
    .if kx < 4
    add w, w, w_tap
    .elseif \clamps
    ldp q9, q10, [clamp]
    .endif
    .set i, 0 - HALF
    .set slot, 0
    load_parts 0
    .rept PAIR_ROWS
    .set i, i + 1
    .if i < ROWS + HALF
    load_parts %(1 - slot)
    .endif
    .set i, i - 1
    reach_parts %(slot)
    .if (kx == 4) & (i >= HALF)
    store_parts %(UPPER_SUMS + i - HALF), %(LOWER_SUMS + i - HALF), %(PAIR_SUMS + i - HALF), \clamps
    .endif
    .set i, i + 1
    .set slot, 1 - slot
    .endr
    .endm

    .macro right_columns clamps
    mov w, weights
    add upper, src, #(flat_bytes * FLAT_MIDDLE + 32)
    add lower, upper, #(flat_bytes * (ROWS - HALF))
    find_dst
    .set kx, 0
    .rept 5
    take_parts \clamps
    .set kx, kx + 1
    .endr
    clear %(ZERO)
    .endm

    .macro planes clamps
    begin_plane
    begin_copy
    add base, src, #(flat_bytes * FLAT_MIDDLE)
    mov out, dst
    left_columns 5, 1, \clamps
    add base, src, #(flat_bytes * (ROWS - HALF + FLAT_MIDDLE))
    mov scratch, #ROWS
    madd out, dst_row, scratch, dst
    left_columns 5, 2, \clamps
    right_columns \clamps
    next_plane
    .endm

    .set is_flat, 1
    begin_planes dwconv_f32_planes_14x14_5x5_flat
    begin_tiles 5
    ldr pairs, [job, #JOB_PAIRS]
    add pairs_middle, pairs, #(16 * PAIRS_MIDDLE)
    all_planes
    end_function dwconv_f32_planes_14x14_5x5_flat
