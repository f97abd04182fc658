/* Indirect convolution: where the taps of eight pixels are. */
#include "src/convolution/direct/indirect.h"
#include "src/convolution/tap_lists.h"

enum { PIXELS = INDIRECT_F32_PIXELS };
_Static_assert((int)PIXELS == (int)TAP_LIST, "a piece's pixels are listed together");

/* Where the taps of a piece's pixels begin, in the first plane of the kernel; pixels that do not
 * exist repeat the last one. */
static void find_pixels(const struct task *task, const struct piece *piece, struct tap_lanes *lanes)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    neo_dim depth = piece->at[DEPTH] * s->stride[DEPTH] - s->padding[DEPTH];
    neo_dim x = piece->at[WIDTH], left = -s->padding[WIDTH], step = s->stride[WIDTH];
    neo_dim line = piece->at[HEIGHT] * s->stride[HEIGHT] - s->padding[HEIGHT];
    neo_dim column = left + x * step;
    uint64_t row = (uintptr_t)task->origin + bytes(depth * s->src.d) +
                   bytes((line - task->top) * task->row_stride);
    uint64_t address = row + bytes(column * task->column_stride);
    uint64_t address_step = bytes(step * task->column_stride);
    for (size_t i = 0; i < PIXELS; i++) {
        lanes->address[i] = address;
        lanes->column[i] = (uint64_t)column;
        lanes->line[i] = (uint64_t)line;
        if (i + 1 >= piece->count)
            continue;
        address += address_step;
        column += step;
        if (++x < s->out[WIDTH])
            continue;
        x = 0;
        column = left;
        line += s->stride[HEIGHT];
        row += bytes(s->stride[HEIGHT] * task->row_stride);
        address = row + bytes(left * task->column_stride);
    }
}

void indirect_list_pixels(const struct task *task, const struct piece *piece, const float **out)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    size_t taps = (size_t)s->kernel[HEIGHT] * (size_t)s->kernel[WIDTH];
    neo_dim depth = piece->at[DEPTH] * s->stride[DEPTH] - s->padding[DEPTH];
    struct tap_lanes lanes;
    find_pixels(task, piece, &lanes);
    for (neo_dim planes = s->kernel[DEPTH];;) {
        if (depth >= 0 && depth < s->in[DEPTH])
            tap_list(&task->grid, &lanes, 0, taps, task->zeros, out);
        else
            for (size_t i = 0; i < taps * PIXELS; i++)
                out[i] = task->zeros;
        if (--planes == 0)
            return;
        depth += s->dilation[DEPTH];
        out += taps * PIXELS;
        for (size_t i = 0; i < PIXELS; i++)
            lanes.address[i] += bytes(s->dilation[DEPTH] * s->src.d);
    }
}
