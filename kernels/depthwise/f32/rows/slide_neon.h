/* What the assembly of slide.h shares: the way through groups of channels and rows. The
 * files name the registers. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rows/slide_offsets.h"

/* x19 … x(last) are used, and `locals` bytes of the stack. */
    .macro begin_slide name, last, locals=0
    begin_function \name
    save_registers 4, \last, \locals
    ldp weights, bias, [job, #job.weights]
    ldp group_dst, column, [job, #job.dst]
    ldp dst_column, dst_row, [job, #job.dst_column]
    ldr groups, [job, #job.groups]
    ldp start, all_rounds, [job, #job.start]
    ldp entry, edges, [job, #job.entry]
    .endm

/* On to the next group of `bytes` of channels, at 30. */
    .macro end_slide name, bytes
    ldr scratch, [job, #job.bias_next]
    add bias, bias, scratch
    add start, start, #\bytes
    add weights, weights, #\bytes
    add group_dst, group_dst, #\bytes
    subs groups, groups, #1
    b.ne 30b
    pop_and_return
    end_function \name
    .endm

    .macro first_rows
    ldr list, [job, #job.rows]
    ldr rows_left, [job, #job.out_rows]
    mov next_dst, group_dst
    .endm

/* x9 … : the next `count` rows of source, at the first column. */
    .macro find_rows count
    each_by 2, row, 9, %(\count / 2), load_pair_x %row, %(row + 1), [list, #(row - 9) * 8]
    when %(\count % 2), load_row_address %(row)
    for_all advance, 9, \count, start
    .endm
    .macro load_row_address row
    ldr x\row, [list, #((\row - 9) * 8)]
    .endm
    .macro advance row, by
    add x\row, x\row, \by
    .endm

/* All columns of some rows: what files call head, step and tail. L outputs of a row are under way, whose
 * places change with each step, and so do those of what is before the first one, number `entry` of a
 * round. */
    .macro walk entry
    when %(L == 3), tbnz \entry, #1, 12f
    tbnz \entry, #0, 11f
    head 0
10: step 0
21: step 1
22: when %(L == 3), step 2
    subs rounds, rounds, #1
    b.ne 10b
19: tail
    b 20f
11: head 1
    b 21b
    .if L == 3
12: head 2
    b 22b
    .endif
20:
    .endm
