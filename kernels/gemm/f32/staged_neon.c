/* Tiles whose lines are not whole vectors: the kernel works on a copy of C on the stack. */
#include "kernels/gemm/f32/neon.h"

enum { ROWS = GEMM_F32_MR, WIDTH = GEMM_F32_NR };

/* Lines of C and of the copy, which is pitch wide; the rest of a copied line becomes 0. */
static void copy_in(float *copy, size_t pitch, const float *c, size_t stride, size_t lines,
                    size_t length)
{
    for (size_t l = 0; l < lines; l++)
        for (size_t v = 0; v < pitch; v += 4)
            vst1q_f32(copy + l * pitch + v, load_part(c + l * stride + v, left(length, v)));
}

static void copy_out(const float *copy, size_t pitch, float *c, size_t stride, size_t lines,
                     size_t length)
{
    for (size_t l = 0; l < lines; l++)
        for (size_t v = 0; v < length; v += 4)
            store_part(c + l * stride + v, vld1q_f32(copy + l * pitch + v), length - v);
}

/* The same with the lines of C as columns of the copy, 4x4 elements at a time. */
static void transpose_in(float copy[ROWS * WIDTH], const struct gemm_f32_tile *tile)
{
    for (size_t j = 0; j < WIDTH; j += 4)
        for (size_t i = 0; i < ROWS; i += 4) {
            float32x4_t block[4];
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                block[x] = j + x < tile->n
                               ? load_part(tile->c + (j + x) * tile->col + i, left(tile->m, i))
                               : vdupq_n_f32(0);
            transpose_4x4(block);
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                vst1q_f32(copy + (i + x) * WIDTH + j, block[x]);
        }
}

static void transpose_out(const float copy[ROWS * WIDTH], const struct gemm_f32_tile *tile)
{
    for (size_t j = 0; j < tile->n; j += 4)
        for (size_t i = 0; i < tile->m; i += 4) {
            float32x4_t block[4];
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                block[x] = i + x < tile->m ? vld1q_f32(copy + (i + x) * WIDTH + j) : vdupq_n_f32(0);
            transpose_4x4(block);
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                if (j + x < tile->n)
                    store_part(tile->c + (j + x) * tile->col + i, block[x], tile->m - i);
        }
}

/* The bias of the columns that exist, then zeros. */
static const float *widen_bias(float wide[WIDTH], const struct gemm_f32_tile *tile)
{
    if (!tile->bias)
        return NULL;
    copy_in(wide, WIDTH, tile->bias, 0, 1, tile->n);
    return wide;
}

void gemm_f32_run_staged(const struct gemm_f32_tile *tile, size_t nr, gemm_f32_fn *run)
{
    float copy[ROWS * WIDTH], bias[WIDTH];
    struct gemm_f32_tile whole = *tile;
    whole.c = copy, whole.row = WIDTH, whole.n = nr;
    whole.bias = widen_bias(bias, tile);
    if (tile->accumulate)
        copy_in(copy, WIDTH, tile->c, tile->row, tile->m, tile->n);
    run(&whole);
    copy_out(copy, WIDTH, tile->c, tile->row, tile->m, tile->n);
}

void gemm_f32_run_staged_columns(const struct gemm_f32_tile *tile, size_t mr, gemm_f32_fn *run)
{
    float copy[ROWS * WIDTH];
    struct gemm_f32_tile whole = *tile;
    whole.c = copy, whole.col = ROWS, whole.m = mr;
    if (tile->accumulate)
        copy_in(copy, ROWS, tile->c, tile->col, tile->n, tile->m);
    run(&whole);
    copy_out(copy, ROWS, tile->c, tile->col, tile->n, tile->m);
}

void gemm_f32_run_transposed(const struct gemm_f32_tile *tile, size_t nr, gemm_f32_fn *run_rows)
{
    float copy[ROWS * WIDTH], bias[WIDTH];
    struct gemm_f32_tile whole = *tile;
    whole.c = copy, whole.row = WIDTH, whole.col = 1, whole.n = nr;
    whole.bias = widen_bias(bias, tile);
    if (tile->accumulate)
        transpose_in(copy, tile);
    run_rows(&whole);
    transpose_out(copy, tile);
}
