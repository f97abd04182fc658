/* What the assembly files of direct.h's tiles share. A tile of `height` rows and `vectors`
 * vectors keeps its sums in the last height * vectors vector registers, values of A's rows in the
 * first `height` ones, and B's vectors behind them. */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/f32/direct/offsets.h"

/* What is kept on the stack. */
#define KEPT_BIAS 0
#define KEPT_B 8
#define KEPT_ROUNDS 16
#define KEPT_BYTES 32

/* Arguments; x4 … x7 become the groups of B, x8 … x15 the rows of A; what a tile leaves of them is
 * for `tiles`, `rounds` and `scratch`. Strides become bytes. */
    registers 0, strip, next, lda, c
    registers 16, ldb, ldc

/* ---- one instruction each, registers by number ---- */

    .macro load_lane a, row, lane
    ld1 {v\a\().s}[\lane], [x\row], #4
    .endm
    .macro load_b row, count, first
    several ld1, \count, \first, x\row, ldb
    .endm
    .macro store_row count, first
    several st1, \count, \first, c, ldc
    .endm
    .macro store_two s, at
    st1 {v\s\().d}[0], [\at], ldc
    .endm
    .macro store_one s, lane, at
    st1 {v\s\().s}[\lane], [\at], ldc
    .endm

/* ---- parts of a tile ---- */

/* Where a file sets columns_vary before this header, columns are not in groups of one width: it has
 * its own step, add_bias, and find_columns, the addresses of B's groups from the first one in x4 on,
 * for which scratch and rounds are free. */
    .ifndef columns_vary
    .macro step height, vectors, group, lane, op=fmla
    .set g, 0
    .rept \vectors / \group
    load_b %(4 + g), \group, \height
    .set sum, 32 - \height * \vectors + g * \group
    multiply_tile \op, \height, \group, %sum, \vectors, \height, 0, \lane
    .set g, g + 1
    .endr
    .endm
    .endif

/* The address of row i of a tile to register `to`, from those of earlier ones: none waits for all
 * of the others. */
    .macro find_row to, i
    when %(\i == 0), mov x\to, next
    or_when %(\i == 1), add_x \to, 8, lda
    or_when %(\i < 4), add_x \to, %(8 + \i - 2), lda, lsl #1
    otherwise add_x \to, %(8 + \i - 4), lda, lsl #2
    .endm

    .macro find_rows height
    each i, \height, find_row %(8 + i), %(i)
    .endm

    .ifndef columns_vary
    .macro find_columns height, vectors, group
    .if \vectors > \group
    ldr scratch, [strip, #strip.gap]
    each_from i, 1, %(\vectors / \group - 1), add_x %(4 + i), %(3 + i), scratch, lsl #2
    .endif
    .endm
    .endif

    .macro begin_tile height, vectors, group
    find_rows \height
    ldp x4, rounds, [sp, #KEPT_B]
    find_columns \height, \vectors, \group
    .endm

    .macro begin_tail height, vectors, group
    .if \vectors == \group
    ldr rounds, [strip, #strip.b_tail]
    cbz rounds, 1f
    mov x4, rounds
    ldr ldb, [strip, #strip.tail_ldb]
    lsl ldb, ldb, #2
1:
    .endif
    .endm

    .macro end_tail vectors, group
    .if \vectors == \group
    ldr ldb, [strip, #strip.ldb]
    lsl ldb, ldb, #2
    .endif
    .endm

/* For rows of fewer than four values, 0 … 3 in scratch, which becomes that minus 4. */
    .macro short_rows height, vectors, group
    cbz scratch, 9f
    begin_tail \height, \vectors, \group
    sub scratch, scratch, #4
    cmn scratch, #2
    b.lt 3f
    b.eq 2f
    for_each_row load_lane, \height, 1
2:  for_each_row load_lane, \height, 2
3:  for_each_row load_lane, \height, 3
    .endm

/* The last 1 … 4 values of longer rows; scratch says how many and becomes that minus 4. */
    .macro load_tail height, vectors, group
    begin_tail \height, \vectors, \group
    sub scratch, scratch, #4
    lsl rounds, scratch, #2
    for_each_row load_indexed, \height, q, rounds
    .endm

    .macro tail_steps height, vectors, group
    cmn scratch, #2
    b.lt 8f
    b.eq 7f
    cbnz scratch, 6f
    step \height, \vectors, \group, 0
6:  step \height, \vectors, \group, 1
7:  step \height, \vectors, \group, 2
8:  step \height, \vectors, \group, 3
    .endm

/* What follows the whole rounds: 17 steps on from them, 16 begins without one. */
    .macro row_tails height, vectors, group
16: ldr scratch, [strip, #strip.tail]
    clear_all %(32 - \height * \vectors), %(\height * \vectors)
    tbnz scratch, #2, 17f
    short_rows \height, \vectors, \group
    b 18f
17: load_tail \height, \vectors, \group
18: tail_steps \height, \vectors, \group
    .endm

/* To the rows of the next tile. */
    .macro next_rows height
    .if \height == 1
    add next, next, lda
    .else
    mov scratch, #\height
    madd next, lda, scratch, next
    .endif
    .endm

/* To the first vectors of a row; scratch goes on to the bias of what follows. */
    .macro add_whole_bias height, vectors, whole
    .set j, 0
    .rept \whole
    load_q 0, [scratch], #16
    add_bias_at \height, \vectors, %(j)
    .set j, j + 1
    .endr
    .endm
    .macro add_bias_at height, vectors, j
    each i, \height, add_to %(32 - (\height - i) * \vectors + \j), 0
    .endm
    .ifndef columns_vary
    .macro add_bias height, vectors
    add_whole_bias \height, \vectors, \vectors
    .endm
    .endif

    shared clamp, clamp_to, 0, 1
    .macro clamp height, vectors
    add scratch, strip, #strip.low
    ld1r {v0.4s}, [scratch], #4
    ld1r {v1.4s}, [scratch]
    on_sums_by scratch, clamp, %(32 - \height * \vectors), 2
    .endm

/* Sums go on from what is in C: whole vectors, two registers in turn. */
    .macro add_c height, vectors
    mov scratch, c
    .set i, 32 - \height * \vectors
    .rept \height
    .set j, 0
    .rept \vectors
    load_q %(j - j / 2 * 2), [scratch, #(16 * j)]
    add_to %(i + j), %(j - j / 2 * 2)
    .set j, j + 1
    .endr
    add scratch, scratch, ldc
    .set i, i + \vectors
    .endr
    .endm

/* What there is of C, bias and limits. Tiles with a tail, of files that set has_tail to 1 before this
 * header, never go on from C. */
    .ifndef has_tail
    .set has_tail, 0
    .endif
    .macro finish_sums height, vectors
    .if has_tail == 0
    ldr rounds, [strip, #strip.special]
    tbz rounds, #SPECIAL_ADDS_BIT, 25f
    add_c \height, \vectors
25:
    .endif
    ldr scratch, [sp, #KEPT_BIAS]
    ldr rounds, [strip, #strip.clamp]
    cbz scratch, 21f
    add_bias \height, \vectors
21: cbz rounds, 22f
    clamp \height, \vectors
22:
    .endm

#include "kernels/gemm/f32/direct/stores_neon.h"

/* ---- a kernel ---- */

/* Registers of which callers keep the lower half: v8 … v15, from both ends of a tile's. */
    .macro each_saved op, first, used
    .irp pair, 8, 10, 12, 14
    when %((\first <= \pair + 1) | (\used > \pair)), move_pair \op, d, %(\pair), %(\pair + 1), %(KEPT_BYTES + 8 * (\pair - 8))
    .endr
    .endm

/* Where a file sets parts before this header, there are so many sums of each element. */
    .ifndef parts
    .set parts, 1
    .endif

/* The registers are the first `used` ones and the last for sums. temps: x19 and x20 are used too. */
    .macro begin_frame name, height, vectors, used, temps
    .set saved_bytes, 0
    when %((parts * \height * \vectors > 16) | (\used > 8)), .set saved_bytes, 64
    .set low_used, \used
    .set temp_bytes, 16 * \temps
    .if \height <= 5
tiles .req x13
tiles_low .req w13
    registers 14, rounds, scratch
    .else
tiles .req x5
tiles_low .req w5
    registers 6, rounds, scratch
    .endif
    begin_function gemm_f32_\name\()_neon
    sub sp, sp, #KEPT_BYTES + saved_bytes + temp_bytes
    when %saved_bytes, each_saved stp, %(32 - parts * \height * \vectors), %(low_used)
    when %temp_bytes, stp x19, x20, [sp, #KEPT_BYTES + saved_bytes]
    .endm
    .macro end_frame height, vectors
    when %saved_bytes, each_saved ldp, %(32 - parts * \height * \vectors), %(low_used)
    when %temp_bytes, ldp x19, x20, [sp, #KEPT_BYTES + saved_bytes]
    add sp, sp, #KEPT_BYTES + saved_bytes + temp_bytes
    ret
    .endm

    .macro load_strides
    ldp lda, ldc, [strip, #strip.lda]
    ldp ldb, tiles, [strip, #strip.ldb]
    lsl lda, lda, #2
    lsl ldc, ldc, #2
    lsl ldb, ldb, #2
    .endm

    .macro begin_kernel name, height, vectors, used, temps
    begin_frame \name, \height, \vectors, \used, \temps
    ldr rounds, [strip, #strip.rounds]
    stp x4, x2, [sp, #KEPT_BIAS]
    str rounds, [sp, #KEPT_ROUNDS]
    load_strides
    .endm
    .macro end_names
    .unreq tiles
    .unreq tiles_low
    .unreq rounds
    .unreq scratch
    .endm

/* What comes after the whole rounds. Before it 11: begins a tile, and goes to 16 if rounds is 0. */
    .macro end_kernel name, height, vectors, group, tails=row_tails, advance=next_rows
13: ldp scratch, rounds, [strip, #strip.tail]
    cbnz scratch, 17f
14: cbnz rounds, 20f
15: store_whole \height, \vectors
    \advance \height
    subs tiles, tiles, #1
    b.ne 11b
10: end_frame \height, \vectors

    \tails \height, \vectors, \group
9:  ldr rounds, [strip, #strip.special]
    end_tail \vectors, \group
    cbz rounds, 15b
20: finish_sums \height, \vectors
    ldr rounds, [strip, #strip.lanes]
    tbnz rounds, #2, 15b
    store_ragged \height, \vectors
    \advance \height
    subs tiles, tiles, #1
    b.ne 11b
    b 10b
    end_function gemm_f32_\name\()_neon
    end_names
    .endm
