/* Lists of taps: the rows of source that exist (kernels/depthwise/f32/neon.c). */
#include "kernels/depthwise/f32/extent.h"
#include "kernels/depthwise/f32/listed_plan.h"

/* Planes of the kernel must have the same rows. */
int dwconv_f32_listed_find_planes(struct plan *plan, size_t count)
{
    const float *const *rows = plan->task->rows;
    struct extent extent, next;
    if (!extent_find(&extent, rows, count))
        return 0;
    plan->y.begin = (ptrdiff_t)extent.begin;
    plan->y.end = (ptrdiff_t)extent.end;
    plan->y.src = extent.row;
    for (size_t kz = 1; kz < plan->task->kd; kz++) {
        const float *const *before = rows;
        rows += plan->task->rows_plane;
        if (!extent_find(&next, rows, count) || next.begin != extent.begin ||
            next.end != extent.end || next.row != extent.row)
            return 0;
        if (next.begin == next.end)
            continue;
        ptrdiff_t plane = (ptrdiff_t)((uintptr_t)rows[next.begin] - (uintptr_t)before[next.begin]);
        if (kz > 1 && plane != plan->plane)
            return 0;
        plan->plane = plane;
    }
    if (extent.begin < extent.end)
        plan->origin =
            (uintptr_t)plan->task->rows[extent.begin] - (size_t)(plan->y.begin * extent.row);
    return 1;
}
