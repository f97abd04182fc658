/* The loop that all NEON f32 tiles share.
 *
 * A tile is L lines of 4 V contiguous elements of C: its rows, or for column kernels its columns.
 * One operand gives a scalar for each line ("lanes", packed L wide), the other the vectors
 * ("vectors", packed 4 V wide). Registers: L V accumulators, ceil(L U / 4) for the lanes of U
 * steps of k, V for the vectors; 8x12 with U = 1: 24 + 2 + 3. A step does L V multiply-adds after
 * one or two load instructions for each operand (LD1 of several registers, post-indexed), so 8x12
 * takes 28 instructions for 24 multiply-adds. L, V, U are constants after inlining. */
#ifndef KERNELS_GEMM_F32_NEON_H
#define KERNELS_GEMM_F32_NEON_H

#include <arm_neon.h>
#include <math.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/gemm/f32/gemm.h"

enum { MAX_LINES = 12, MAX_VECTORS = 3 };

/* One to four vectors by one instruction, which moves the pointer on. */
INLINE void load_few(float32x4_t *out, const float **from, size_t count)
{
    float32x4x4_t four;
    float32x4x3_t three;
    float32x4x2_t two;
    switch (count) {
    case 1:
        out[0] = vld1q_f32(*from);
        break;
    case 2:
        two = vld1q_f32_x2(*from);
        out[0] = two.val[0], out[1] = two.val[1];
        break;
    case 3:
        three = vld1q_f32_x3(*from);
        out[0] = three.val[0], out[1] = three.val[1], out[2] = three.val[2];
        break;
    default:
        four = vld1q_f32_x4(*from);
        out[0] = four.val[0], out[1] = four.val[1], out[2] = four.val[2], out[3] = four.val[3];
    }
    *from += count * 4;
}

/* Up to eight vectors. */
INLINE void load_vectors(float32x4_t *out, const float **from, size_t count)
{
    load_few(out, from, count > 4 ? 4 : count);
    if (count > 4)
        load_few(out + 4, from, count - 4);
}

/* U steps of k; L U is a multiple of 4. The vectors of up to four steps come by one load. */
INLINE void steps(float32x4_t acc[MAX_LINES][MAX_VECTORS], const float **lanes,
                  const float **vectors, size_t L, size_t V, size_t U)
{
    float32x4_t x[8], y[4];
    size_t at_once = U < 4 / V ? U : 4 / V;
    load_vectors(x, lanes, L * U / 4);
#pragma GCC unroll 4
    for (size_t u = 0; u < U; u++) {
        if (u % at_once == 0)
            load_few(y, vectors, V * at_once);
#pragma GCC unroll 12
        for (size_t l = 0; l < L; l++)
#pragma GCC unroll 3
            for (size_t v = 0; v < V; v++)
                acc[l][v] = fma_lane(acc[l][v], y[u % at_once * V + v], x[(u * L + l) / 4],
                                     (u * L + l) % 4);
    }
}

/* One step for any L; between 4 and 8 lanes the second load overlaps the first, below 4 each lane
 * is loaded alone, so that nothing is read beyond the panel. */
INLINE void step(float32x4_t acc[MAX_LINES][MAX_VECTORS], const float **lanes,
                 const float **vectors, size_t L, size_t V)
{
    if (L % 4 == 0) {
        steps(acc, lanes, vectors, L, V, 1);
        return;
    }
    float32x4_t x[2], y[MAX_VECTORS];
    if (L > 4)
        x[0] = vld1q_f32(*lanes), x[1] = vld1q_f32(*lanes + L - 4);
    load_few(y, vectors, V);
#pragma GCC unroll 12
    for (size_t l = 0; l < L; l++)
#pragma GCC unroll 3
        for (size_t v = 0; v < V; v++)
            acc[l][v] = L < 4   ? vfmaq_n_f32(acc[l][v], y[v], (*lanes)[l])
                        : l < 4 ? fma_lane(acc[l][v], y[v], x[0], l)
                                : fma_lane(acc[l][v], y[v], x[1], (l + 4 - L) % 4);
    *lanes += L;
}

/* What the lines of C are, and the operand that each side comes from. */
struct gemm_f32_lines {
    const float *lanes, *vectors;
    size_t stride, count; /* between lines; the number of valid ones */
};

/* One value for each line (columns of C), or for each element of a line. */
INLINE void add_bias(float32x4_t acc[MAX_LINES][MAX_VECTORS], const float *bias, size_t count,
                     size_t L, size_t V, int by_line)
{
    if (by_line) {
#pragma GCC unroll 12
        for (size_t l = 0; l < L; l++)
#pragma GCC unroll 3
            for (size_t v = 0; v < V; v++)
                if (l < count)
                    acc[l][v] = vaddq_f32(acc[l][v], vdupq_n_f32(bias[l]));
        return;
    }
#pragma GCC unroll 3
    for (size_t v = 0; v < V; v++) {
        float32x4_t values = vld1q_f32(bias + v * 4);
#pragma GCC unroll 12
        for (size_t l = 0; l < L; l++)
            acc[l][v] = vaddq_f32(acc[l][v], values);
    }
}

/* Computes valid lines of full length. */
INLINE void run_lines(const struct gemm_f32_tile *tile, const struct gemm_f32_lines *lines,
                      size_t L, size_t V, size_t U, int bias_by_line)
{
    float32x4_t acc[MAX_LINES][MAX_VECTORS];
    float *c = tile->c;
    size_t stride = lines->stride, count = lines->count;
#pragma GCC unroll 12
    for (size_t l = 0; l < L; l++)
#pragma GCC unroll 3
        for (size_t v = 0; v < V; v++)
            acc[l][v] = vdupq_n_f32(0);
    if (tile->accumulate)
#pragma GCC unroll 12
        for (size_t l = 0; l < L; l++)
#pragma GCC unroll 3
            for (size_t v = 0; v < V; v++)
                if (l < count)
                    acc[l][v] = vld1q_f32(c + l * stride + v * 4);

    const float *a = lines->lanes, *b = lines->vectors;
    for (size_t rounds = tile->k / U; rounds; rounds--)
        if (U == 1)
            step(acc, &a, &b, L, V);
        else
            steps(acc, &a, &b, L, V, U);
    for (size_t rest = tile->k % U; rest; rest--)
        step(acc, &a, &b, L, V);

    if (tile->bias)
        add_bias(acc, tile->bias, count, L, V, bias_by_line);
    if (tile->low > -INFINITY || tile->high < INFINITY) {
        float32x4_t low = vdupq_n_f32(tile->low), high = vdupq_n_f32(tile->high);
#pragma GCC unroll 12
        for (size_t l = 0; l < L; l++)
#pragma GCC unroll 3
            for (size_t v = 0; v < V; v++)
                acc[l][v] = vminq_f32(vmaxq_f32(acc[l][v], low), high);
    }
#pragma GCC unroll 12
    for (size_t l = 0; l < L; l++)
        if (l < count)
#pragma GCC unroll 3
            for (size_t v = 0; v < V; v++)
                vst1q_f32(c + l * stride + v * 4, acc[l][v]);
}

/* For tiles whose lines are not whole vectors. Each copies the valid part of C to the stack if it
 * is to be accumulated, runs a kernel there, and copies back: rows to rows, columns to columns,
 * and columns of C computed as rows by a row kernel. */
void gemm_f32_run_staged(const struct gemm_f32_tile *tile, size_t nr, gemm_f32_fn *run);
void gemm_f32_run_staged_columns(const struct gemm_f32_tile *tile, size_t mr, gemm_f32_fn *run);
void gemm_f32_run_transposed(const struct gemm_f32_tile *tile, size_t nr, gemm_f32_fn *run_rows);

#endif
