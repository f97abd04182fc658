/* Eight rows by four columns of blocks by SMMLA.
 *
 * Sums of f32 are squares of two rows and two columns in v8 … v15, those of a block in v24 … v31:
 * these begin as the bits of floats, so that a subtraction makes floats of them. v0 … v3 have eight
 * steps of two rows each, v4 and v5 of two columns, v6 and v7 the scales of two columns twice, v16
 * what sums begin with. Two groups take 16 SMMLA, two loads of A, two of B, two additions to b and
 * two of the loop; a block ends with 8 FSUB and 8 FMLA. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/blocks/offsets.h"

    registers 0, tile, a, b, blocks, c
    registers 5, line, scales, rounds, all_rounds, a_step

    .macro multiply_pair pair, first, second
    smmla v\first\().4s, v\pair\().16b, v4.16b
    smmla v\second\().4s, v\pair\().16b, v5.16b
    .endm
    .macro one_group
    ld1 {v0.16b - v3.16b}, [a], #64
    ldp q4, q5, [b]
    add b, b, #64
    each pair, 4, multiply_pair %(pair), %(24 + 2 * pair), %(25 + 2 * pair)
    .endm
    .macro to_float sum
    fsub v\sum\().4s, v\sum\().4s, v16.4s
    .endm
    .macro store_rows left, right
    trn1 v0.2d, v\left\().2d, v\right\().2d
    trn2 v1.2d, v\left\().2d, v\right\().2d
    str q0, [c]
    add c, c, line
    str q1, [c]
    add c, c, line
    .endm

    begin_function gemm_blocks_8x4_i8mm
    save_registers 4
    ldp blocks, all_rounds, [tile, #tile.blocks]
    ldp a, a_step, [tile, #tile.a]
    ldp b, scales, [tile, #tile.b]
    ldp c, line, [tile, #tile.c]
    lsr all_rounds, all_rounds, #4
    lsl line, line, #2
    mov w10, #0x4b400000
    dup v16.4s, w10
    clear_all 8, 8
1:  mov rounds, all_rounds
    for_all copy, 24, 8, 16
2:  one_group
    one_group
    subs rounds, rounds, #1
    b.ne 2b
    ld1r {v6.2d}, [scales], #8
    ld1r {v7.2d}, [scales]
    add scales, scales, #56
    add a, a, a_step
    for_all to_float, 24, 8
    each i, 8, floats fmla, %(8 + i), %(24 + i), %(6 + i % 2)
    subs blocks, blocks, #1
    b.ne 1b
    each pair, 4, store_rows %(8 + 2 * pair), %(9 + 2 * pair)
    pop_and_return
    end_function gemm_blocks_8x4_i8mm
