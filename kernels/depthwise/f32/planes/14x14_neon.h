/* Depthwise 3x3 convolution of planes of 14x14 in place with stride 1, for NEON: see
 * planes.h.
 *
 * The upper and the lower seven rows have a tile of columns 0 … 7 each. Columns 8 … 13 of both come
 * together: a vector of columns 8 … 11 of a row in either half, and one of columns 12 and 13 of
 * both rows; so no column is done twice. The sums of those are in v11 … v17, v18 … v24 and v25 …
 * v31. 423 FMLA, and stores, which take the same pipes: of 49 vectors by ST1, not STR, which takes
 * two.
 *
 * One function is for rows that follow one another, the other one for rows that are apart. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/in_order_neon.h"
#include "kernels/depthwise/f32/planes/14x14_parts_neon.h"

/* Source from column 8 on of both rows; of flat planes see find_source. Of dst: column 8 of the lower
 * row. Limits, where there are any. */
upper .req x1
lower .req x11
upper_pair .req x7
lower_pair .req x8
lower_dst .req x12
from_column_1 .req x11
    .set LOW, 5
    .set HIGH, 10

/* Columns 11, 12 and 13 of rows 0 … 6 beside those of rows 7 … 13, as each column of the kernel wants
 * them: by general registers, since LD1 of a lane would take the pipes of FMLA, and a part with each
 * row of the left columns. The first vector has what is above row 0, the last one what is below row
 * 13. */
    .set PAIR_ROWS, ROWS + 2
    .macro begin_copy
    .if is_flat
    add from_column_1, src, #4
    .endif
    .set copied, 0
    .endm
    .macro copy_next
    .if (is_flat != 0) & (copied % 2 == 0) & (copied < 2 * 3 * ROWS)
    copy_part %(copied / 2 / 3), %(copied / 2 % 3)
    .endif
    .set copied, copied + 1
    .endm
    .macro copy_part i, kx
    .if \kx == 0
    load_parts_of x, from_column_1, %(flat_bytes * \i + 40)
    .elseif \kx == 1
    load_parts_of x, src, %(flat_bytes * \i + 48)
    .else
    load_parts_of w, src, %(flat_bytes * \i + 52)
    .endif
    .if \i == 0
    store_parts_of x8, xzr, %(\kx * PAIR_ROWS + ROWS + 1)
    .elseif \i == ROWS - 1
    store_parts_of xzr, x7, %(\kx * PAIR_ROWS)
    .endif
    store_parts_of x7, x8, %(\kx * PAIR_ROWS + \i + 1)
    .endm
    .macro load_parts_of size, from, at
    ldr \size\()7, [\from, #\at]
    ldr \size\()8, [\from, #(\at + flat_bytes * ROWS)]
    .endm
    .macro store_parts_of first, second, pair
    stp \first, \second, [pairs, #16 * (\pair)]
    .endm

/* Column 8 + kx - 1 of row 0, and of row 6, before the lower half. Of rows that follow one another,
 * column 0 of the middle one of either half's. */
    .macro find_source
    .if is_flat == 0
    mov lower, #6
    add upper, src, #4 * (7 + kx)
    madd lower, row, lower, upper
    add upper_pair, upper, #16
    add lower_pair, lower, #16
    .elseif kx == 0
    add upper, src, #(flat_bytes * FLAT_MIDDLE)
    add lower, src, #(flat_bytes * (ROWS - 1 + FLAT_MIDDLE))
    .endif
    .endm

/* Not LD1, which keeps a Cortex-A510 waiting for the address. */
    .macro load_at x, at, flat
    .if is_flat
    ldur q\x, [\at, #\flat]
    .else
    ldr q\x, [\at]
    add \at, \at, row
    .endif
    .endm

/* Cores that do one vector instruction a cycle would rather load the parts of a pair one by one; so
 * does the function for rows that are apart. */
    .macro load_low_pair z
    .if kx == 2
    ldr s\z, [upper_pair]
    add upper_pair, upper_pair, row
    .else
    ld1 {v\z\().1d}, [upper_pair], row
    .endif
    .endm
    .macro load_high_pair z
    .if kx == 2
    ld1 {v\z\().s}[2], [lower_pair], row
    .else
    ld1 {v\z\().d}[1], [lower_pair], row
    .endif
    .endm

/* Row i of the upper half to v(x) and row i of the lower one to v(y), as far as they exist, and the
 * pairs of both to v(z). Column 14 is padding. */
    .macro load_parts x, y, z
    .if is_flat
    load_pair \z, %(16 * (i + 1 + kx * PAIR_ROWS))
    .elseif i == -1
    clear \z
    .endif
    .if i >= 0
    load_at \x, upper, %(flat_bytes * (i - FLAT_MIDDLE) + 4 * (7 + kx))
    .if is_flat == 0
    load_low_pair \z
    .endif
    .endif
    .if i < ROWS
    load_at \y, lower, %(flat_bytes * (i + 1 - FLAT_MIDDLE) + 4 * (7 + kx))
    .if is_flat == 0
    load_high_pair \z
    .endif
    .endif
    .endm

/* What they give to every output they reach; row i + 1 is reached for the first time. Cores that issue
 * in order begin with the lowest one, as in tiles_neon.h. */
    .macro reach_parts x, y, z
    .set r, 0
    .set next, 1
    .if kind
    .set r, ROWS - 1
    .set next, 0 - 1
    .endif
    .rept ROWS
    .if (i + 1 >= r) & (i <= r + 1)
    .if (kx == 0) & (i + 1 == r)
    load_bias_to %(UPPER_SUMS + r)
    load_bias_to %(LOWER_SUMS + r)
    load_bias_to %(PAIR_SUMS + r)
    .endif
    .if i >= 0
    fma %(UPPER_SUMS + r), \x, %(i + 1 - r), 0
    .endif
    .if i < ROWS
    fma %(LOWER_SUMS + r), \y, %(i + 1 - r), 0
    .endif
    fma %(PAIR_SUMS + r), \z, %(i + 1 - r), 0
    .endif
    .set r, r + next
    .endr
    .endm

/* One column of the kernel; each row is loaded while the one before is used. */
    .macro take_parts clamps
    find_source
    .set ky, 0
    .rept 3
    load_weight %(ky)
    .set ky, ky + 1
    .endr
    .if kx < 2
    add w, w, w_tap
    .endif
    .set i, -1
    load_parts 6, 8, 3
    .set slot, 0
    .rept ROWS + 2
    .set i, i + 1
    .if i <= ROWS
    load_parts %(7 - slot), %(9 - slot), %(4 - slot)
    .endif
    .set i, i - 1
    reach_parts %(6 + slot), %(8 + slot), %(3 + slot)
    .if (kx == 2) & (i >= 1)
    store_parts %(UPPER_SUMS + i - 1), %(LOWER_SUMS + i - 1), %(PAIR_SUMS + i - 1), \clamps
    .endif
    .set i, i + 1
    .set slot, 1 - slot
    .endr
    .endm

    .macro right_columns clamps
    mov w, weights
    find_dst
    .if \clamps
    ldp q5, q10, [clamp]
    .endif
    .set kx, 0
    .rept 3
    take_parts \clamps
    .set kx, kx + 1
    .endr
    .if \clamps
    clear 5
    .endif
    .endm

    .macro planes clamps
    begin_plane
    begin_copy
    .if is_flat
    add base, src, #(flat_bytes * FLAT_MIDDLE)
    .else
    mov base, src
    .endif
    mov out, dst
    left_columns 3, 1, \clamps
    .if is_flat
    add base, src, #(flat_bytes * (ROWS - 1 + FLAT_MIDDLE))
    .else
    mov scratch, #6
    madd base, row, scratch, src
    .endif
    mov scratch, #7
    madd out, dst_row, scratch, dst
    left_columns 3, 2, \clamps
    right_columns \clamps
    next_plane
    .endm

    .macro halves_function name, flat
    .set is_flat, \flat
    begin_planes \name, %(26 + (kind + 1) / 2 * 2)
    begin_tiles 3
    ldr pairs, [job, #JOB_PAIRS]
    all_planes
    end_function \name
    .endm
