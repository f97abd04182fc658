/* What whole tiles of kernels/gemm/types.h in assembly share, for types of any element: their
 * arguments, and one function for every height and width in a table, which is indexed as
 * GEMM_MR * (vectors - 1) + height - 1. A file has a macro `tile_body height, vectors`, which
 * leaves a and c at the next tile below. w8: bit 0 says that there are sums already, bit 1 that the
 * core is narrow, all of x8 how far behind b a line is that is fetched; w11: tiles to go. What is
 * done with the sums is in ends_neon.h. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/ends_neon.h"
#include "kernels/gemm/offsets.h"

/* Of a vector of B. */
    .ifndef vector_columns
    .set vector_columns, 4
    .endif

    registers 0, tile, a, b, groups
    registers 4, c, line, scratch, at
    registers 9, begin_b, all_groups
start .req x12
beside .req x14 /* this one and the next are wanted where there is no end */
begin_a .req x17

    .macro load_arguments
    ldp groups, a, [tile, #tile.groups]
    ldp b, c, [tile, #tile.b]
    ldr line, [tile, #tile.row]
    ldr w8, [tile, #tile.add]
    ldr at, [tile, #tile.ahead]
    orr x8, x8, at
    ldr w11, [tile, #tile.tiles]
    ldr start, [tile, #tile.start]
    ldr beside, [tile, #tile.beside]
    mov begin_a, a
    mov begin_b, b
    mov all_groups, groups
    load_end
    lsl line, line, #2
    .endm

    .macro load_end
    ldr end, [tile, #tile.end]
    mov kept_link, x30
    cbz end, 13f
    ldr to, [end, #finish.dst]
    ldr rows_at, [end, #finish.row_scales]
13:
    .endm

/* saves: whether it uses v8 … v15. */
    .macro whole_tile name, height, vectors
    begin_listed_function \name
    table_entry \name
    when %saves, save_registers 4
    load_arguments
    b 12f
11: mov groups, all_groups
    when %(\height == 1), go_right \vectors
    otherwise mov b, begin_b
12: mov scratch, start
    tile_body \height, \vectors
    subs w11, w11, #1
    b.gt 11b
    mov x30, kept_link
    when %saves, restore_registers
    ret
    .endm

/* To the tile beside a row's. */
    .macro go_right vectors
    add begin_b, begin_b, beside
    mov a, begin_a
    mov b, begin_b
    cbz start, 12f
    add start, start, #4 * vector_columns * \vectors
    .endm

/* Once in what is three lines of a panel of three vectors. Lower tiles are too short to share it. */
    .macro fetch_ahead height, vectors
    when %((\height > 4) & (\vectors == 3)), prfm pldl2keep, [b, x8]
    .endm

/* Of a panel, the next `bytes` from v(first) on, and no more. */
    .macro load_bytes first, bytes, from
    .set to_load, \bytes
    .set in_register, \first
    .rept \bytes / 16
    load_q %(in_register), [\from], #16
    .set in_register, in_register + 1
    .set to_load, to_load - 16
    .endr
    .set loaded, 0
    .irp size, 8, 4, 2
    .if to_load >= \size
    load_piece %(in_register), \size, %(loaded / \size), \from
    .set loaded, loaded + \size
    .set to_load, to_load - \size
    .endif
    .endr
    .endm
/* Whatever is first in a register clears the rest of it. */
    .macro load_piece register, size, place, from
    when %(\size == 8), ldr d\register, [\from], #8
    or_when %((\size == 4) & (\place == 0)), ldr s\register, [\from], #4
    or_when %(\size == 4), ld1 {v\register\().s}[\place], [\from], #4
    or_when %(\place == 0), ldr h\register, [\from], #2
    otherwise ld1 {v\register\().h}[\place], [\from], #2
    .endm

/* Whole vectors, up to four by one instruction. */
    .macro load_vectors first, count, from
    .set to_load, \count
    .set in_register, \first
    .rept (\count + 3) / 4
    when %(to_load > 4), load_several 4, %(in_register), \from, 64
    otherwise load_several %(to_load), %(in_register), \from, %(16 * to_load)
    .set in_register, in_register + 4
    .set to_load, to_load - 4
    .endr
    .endm
    .macro load_several count, first, from, bytes
    several ld1, \count, \first, \from, #\bytes
    .endm
