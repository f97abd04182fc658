/* Lines of f32 become integers of eight bits: the range of their values, and their values as parts
 * of it. */
#ifndef KERNELS_ELEMENTWISE_QUANTIZE_H
#define KERNELS_ELEMENTWISE_QUANTIZE_H

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"

/* range[0] = the least of range[0] and src, range[1] = the greatest of range[1] and src; NaN does
 * not count. */
typedef void range_line_fn(size_t n, const float *src, float range[2]);

/* dst[i] = saturate(round(src[i] * scale) + zero), or src[i] / scale, for i < n: to the nearest,
 * ties to even, before zero is added, as ONNX's QuantizeLinear does; 0 + zero for NaN. zero is in
 * the range of dst, which does not overlap src. sum: of what dst has; exact for n < 2^23. */
struct quantize_line {
    size_t n;
    const float *src;
    void *dst;
    float scale;
    int32_t zero;
    int32_t sum; /* is set */
};
typedef void quantize_line_fn(struct quantize_line *line);

struct quantize_kernel {
    const char *name;
    uint32_t needs;
    enum element dst; /* S8 or U8 */
    range_line_fn *range;
    quantize_line_fn *multiply, *divide;
};

/* Fastest first; both types of dst have one that needs nothing. */
extern const struct quantize_kernel *const quantize_kernels[];
extern const size_t quantize_kernel_count;

/* The fastest that the features allow; NULL for other types of dst. */
const struct quantize_kernel *quantize_find(uint32_t features, enum element dst);

/* The tables of one file each. */
enum { QUANTIZE_TYPES = 2 };
extern const struct quantize_kernel quantize_neon[QUANTIZE_TYPES], quantize_ref[QUANTIZE_TYPES];

#endif
