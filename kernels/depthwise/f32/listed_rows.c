/* Lists of taps: the rows of source that exist (kernels/depthwise/f32/neon.c). */
#include "kernels/depthwise/f32/listed_plan.h"

/* Which rows exist, and how far they are from each other; 0: there are gaps, or other distances. */
static int find_rows(struct axis *rows, const float *const *list, size_t count)
{
    size_t begin = 0, end = count;
    while (begin < count && !list[begin])
        begin++;
    while (end > begin && !list[end - 1])
        end--;
    rows->begin = (ptrdiff_t)begin;
    rows->end = (ptrdiff_t)end;
    rows->src = 0;
    for (size_t i = begin + 1; i < end; i++) {
        ptrdiff_t src = (ptrdiff_t)((uintptr_t)list[i] - (uintptr_t)list[i - 1]);
        if (!list[i] || !list[i - 1] || (i > begin + 1 && src != rows->src))
            return 0;
        rows->src = src;
    }
    return 1;
}

/* The same for planes of the kernel, which must have the same rows. */
int dwconv_f32_listed_find_planes(struct plan *plan, size_t count)
{
    const struct dwconv_f32_task *task = plan->task;
    const float *const *rows = task->rows;
    if (!find_rows(&plan->y, rows, count))
        return 0;
    size_t first = (size_t)plan->y.begin;
    for (size_t kz = 1; kz < task->kd; kz++) {
        struct axis next = plan->y;
        rows += task->rows_plane;
        if (!find_rows(&next, rows, count) || next.begin != plan->y.begin ||
            next.end != plan->y.end || next.src != plan->y.src)
            return 0;
        if (next.begin == next.end)
            continue;
        ptrdiff_t plane =
            (ptrdiff_t)((uintptr_t)rows[first] - (uintptr_t)(rows - task->rows_plane)[first]);
        if (kz > 1 && plane != plan->plane)
            return 0;
        plan->plane = plane;
    }
    if (plan->y.begin < plan->y.end)
        plan->origin = (uintptr_t)task->rows[first] - (size_t)(plan->y.begin * plan->y.src);
    return 1;
}
