/* Packs eight lanes whose steps are far apart (pack.h):
 *
 *   void pack_f32_8_lanes_neon(const float *const lanes[8], ptrdiff_t step, size_t k, float *out)
 *   for p < k, i < 8:  out[8 * p + i] = lanes[i][p * step]
 *
 * k > 0. An element takes one load, which goes on to the next by itself. */
#include "kernels/asm/assembly_neon.h"

    registers 0, lanes, step, k, out

    begin_function pack_f32_8_lanes_neon
    ldp x4, x5, [lanes]
    ldp x6, x7, [lanes, #16]
    ldp x8, x9, [lanes, #32]
    ldp x10, x11, [lanes, #48]
    lsl step, step, #2
1:  ld1r {v0.4s}, [x4], step
    ld1r {v1.4s}, [x8], step
    ld1 {v0.s}[1], [x5], step
    ld1 {v1.s}[1], [x9], step
    subs k, k, #1
    ld1 {v0.s}[2], [x6], step
    ld1 {v1.s}[2], [x10], step
    ld1 {v0.s}[3], [x7], step
    ld1 {v1.s}[3], [x11], step
    stp q0, q1, [out], #32
    b.ne 1b
    ret
    end_function pack_f32_8_lanes_neon
