/* C = A B, where B has weights of four bits with a scale for some steps of k, and A rows of s8.
 *
 * A panel of B is GEMM_S4_NR columns. Each block of `block` steps of k has its weights, four steps
 * and all columns a line of 32 bytes, and then a scale for every column, f32 or f16:
 *
 *   byte 16 v + 4 j + s of a line: step s; low half: column 8 v + j, plus 8 (0 … 15),
 *                                  high half: column 8 v + j + 4, signed
 *
 * so that a dot product of bytes as they are is 16 times the high column and the low one, and that
 * of the low halves alone the low one: one AND serves eight columns. A's panels are those of s8
 * with groups of 4 (kernels/gemm/types.h). Where k ends within a block there are zeros. */
#ifndef KERNELS_GEMM_S4_S4_H
#define KERNELS_GEMM_S4_S4_H

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"

enum { GEMM_S4_NR = 16, GEMM_S4_MR = 4, GEMM_S4_STEPS = 16, GEMM_S4_MOST_BLOCK = 240 };

/* For i < mr, j < n:
 *
 *   sum = 0
 *   for g < blocks in this order:
 *       sum = fma(the sum over the block of A(i, p) * B(p, j), scale(g, j), sum)
 *   c[i * row + j] = sum * row_scales[i] + (add ? c[i * row + j] : 0)
 *
 * block is a multiple of GEMM_S4_STEPS and at most GEMM_S4_MOST_BLOCK: then sums of a block with
 * both columns are below 2^22, and start as the bits of floats do. starts[g * mr + i] is
 * gemm_s4_start() of the sum of row i of A in block g. All kernels have the same bits. Nothing of C
 * but its valid part is read or written; panels are read in full. */
struct gemm_s4_tile {
    size_t blocks, block;
    const int8_t *a;
    const uint8_t *b;
    float *c;
    size_t row;
    const int32_t *starts;
    const float *row_scales;
    uint32_t mr, n; /* 1 <= mr <= GEMM_S4_MR, 1 <= n <= GEMM_S4_NR */
    uint32_t add;
};
typedef void gemm_s4_fn(const struct gemm_s4_tile *tile);

/* Low columns have 8 too much. */
static inline int32_t gemm_s4_start(int32_t row_sum)
{
    return 0x4b400000 - 8 * row_sum;
}

static inline int32_t gemm_s4_row_sum(int32_t start)
{
    return (0x4b400000 - start) / 8;
}

struct gemm_s4_kernel {
    const char *name;
    uint32_t needs;
    enum element scale; /* F32 or F16 */
    gemm_s4_fn *run;
};

/* Fastest first; each type of scales has one that needs nothing. */
extern const struct gemm_s4_kernel *const gemm_s4_kernels[];
extern const size_t gemm_s4_kernel_count;

/* The fastest that the features allow; NULL for scales of another type. */
gemm_s4_fn *gemm_s4_find(uint32_t features, enum element scale);

/* The starts of a panel of A of mr rows. */
void gemm_s4_starts(const int8_t *a, size_t mr, size_t blocks, size_t block, int32_t *starts);

/* Plain weights to a panel: column j's step p is half byte number first + j * lane + p * step of
 * src, the low half first; its scale for block g is number scale_first + j * scale_lane + g *
 * scale_step of scales. u4: less 8, whatever more its zero point asks for is the caller's. Scales
 * are converted to those of the panel, which are f32, or f16 for scales of f16. */
struct pack_s4_panel {
    size_t k, block, count; /* columns that exist, 1 … GEMM_S4_NR; others are zeros */
    enum element from;      /* S4 or U4 */
    const uint8_t *src;
    ptrdiff_t first, lane, step;
    enum element scale_from, scale;
    const void *scales;
    ptrdiff_t scale_first, scale_lane, scale_step;
    uint8_t *out;
};
void pack_s4_panel(const struct pack_s4_panel *panel);

static inline size_t gemm_s4_block_bytes(size_t block, enum element scale)
{
    return GEMM_S4_NR * (block / 2 + element_bytes(scale));
}

/* The value of a panel's column j at step p of a block, and the scale of the column; writing one
 * into a block of bytes of 0. */
int32_t gemm_s4_weight(const uint8_t *block, size_t p, size_t j);
void gemm_s4_write(uint8_t *block, size_t p, size_t j, int32_t value);
float gemm_s4_scale(const uint8_t *block_bytes, size_t block, enum element scale, size_t j);

/* The tables of one file each. */
enum { GEMM_S4_SCALES = 2 };
extern const struct gemm_s4_kernel gemm_s4_dotprod[GEMM_S4_SCALES], gemm_s4_ref[GEMM_S4_SCALES];

#endif
