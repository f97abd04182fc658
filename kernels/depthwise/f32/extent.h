/* Rows of source that exist, of those that a task lists. */
#ifndef KERNELS_DEPTHWISE_F32_EXTENT_H
#define KERNELS_DEPTHWISE_F32_EXTENT_H

#include <stddef.h>
#include <stdint.h>

/* From the first one to the last; none: begin is end. */
struct extent {
    size_t begin, end;
    ptrdiff_t row; /* bytes from one to the next; of fewer than two 0 */
};

/* 0: there are gaps, or other distances. */
static inline int extent_find(struct extent *extent, const float *const *rows, size_t count)
{
    size_t begin = 0, end = count;
    while (begin < count && !rows[begin])
        begin++;
    while (end > begin && !rows[end - 1])
        end--;
    *extent = (struct extent){begin, end, 0};
    for (size_t i = begin + 1; i < end; i++) {
        ptrdiff_t row = (ptrdiff_t)((uintptr_t)rows[i] - (uintptr_t)rows[i - 1]);
        if (!rows[i] || (i > begin + 1 && row != extent->row))
            return 0;
        extent->row = row;
    }
    return 1;
}

#endif
