/* Indirect convolution: where the taps of eight pixels are. */
#include "src/convolution/convolution_indirect.h"
#include "src/threading/partition.h"

enum { PIXELS = INDIRECT_F32_PIXELS };

/* What a pixel of dst reads: where tap 0 would be, in src or outside of it, and so as a number and
 * not as a pointer. */
struct patch {
    uintptr_t origin;
    neo_dim row, column;
};

/* The patches of a piece, from the same depth. */
struct patches {
    struct patch at[PIXELS];
    neo_dim depth;
    unsigned padded; /* bit i: patch i has taps in the padding */
};

static uintptr_t bytes(neo_dim elements)
{
    return (uintptr_t)elements * sizeof(float);
}

/* The taps along a dimension that exist, if tap 0 is at `first`. */
static struct span clip_taps(const struct convolution_shape *s, int dimension, neo_dim first)
{
    neo_dim step = s->dilation[dimension], begin = 0, end = s->kernel[dimension];
    while (begin < end && first + begin * step < 0)
        begin++;
    while (end > begin && first + (end - 1) * step >= s->in[dimension])
        end--;
    return (struct span){(size_t)begin, (size_t)end};
}

/* All taps exist if tap 0 is before this coordinate, and not negative. */
static uint64_t room_of(const struct convolution_shape *s, int dimension)
{
    neo_dim room = s->in[dimension] - (s->kernel[dimension] - 1) * s->dilation[dimension];
    return room > 0 ? (uint64_t)room : 0;
}

static void find_patches(const struct task *task, const struct piece *piece,
                         struct patches *patches)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    neo_dim step = s->stride[WIDTH], column_stride = task->column_stride, x = piece->at[WIDTH];
    uint64_t row_room = room_of(s, HEIGHT), column_room = room_of(s, WIDTH);
    neo_dim depth = piece->at[DEPTH] * s->stride[DEPTH] - s->padding[DEPTH];
    struct patch patch = {.row = piece->at[HEIGHT] * s->stride[HEIGHT] - s->padding[HEIGHT],
                          .column = x * step - s->padding[WIDTH]};
    bool is_padded = (uint64_t)depth >= room_of(s, DEPTH);
    uintptr_t plane = (uintptr_t)task->origin + bytes(depth * s->src.d);
    patches->depth = depth;
    patches->padded = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        patch.origin = plane + bytes((patch.row - task->top) * task->row_stride +
                                     patch.column * column_stride);
        patches->at[i] = patch;
        bool padded =
            is_padded || (uint64_t)patch.row >= row_room || (uint64_t)patch.column >= column_room;
        patches->padded |= (unsigned)padded << i;
        if (i + 1 >= piece->count) /* those that do not exist repeat the last one */
            continue;
        patch.column += step;
        if (++x == s->out[WIDTH]) {
            x = 0;
            patch.column = -s->padding[WIDTH];
            patch.row += s->stride[HEIGHT];
        }
    }
}

/* One pixel's taps in a row of source. */
static const float **list_row(const struct task *task, uintptr_t row, struct span inside,
                              const float **out)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    uintptr_t step = bytes(s->dilation[WIDTH] * task->column_stride);
    size_t tap = 0, taps = (size_t)s->kernel[WIDTH];
    row += inside.begin * step;
    for (; tap < inside.begin; tap++, out += PIXELS)
        *out = task->zeros;
    for (; tap < inside.end; tap++, out += PIXELS, row += step)
        *out = (const float *)row;
    for (; tap < taps; tap++, out += PIXELS)
        *out = task->zeros;
    return out;
}

static bool is_in(struct span span, size_t i)
{
    return i >= span.begin && i < span.end;
}

static void list_patch(const struct task *task, const struct patch *patch, neo_dim depth,
                       const float **out)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    struct span planes = clip_taps(s, DEPTH, depth), rows = clip_taps(s, HEIGHT, patch->row);
    struct span columns = clip_taps(s, WIDTH, patch->column), none = {0, 0};
    for (size_t kd = 0; kd < (size_t)s->kernel[DEPTH]; kd++)
        for (size_t kh = 0; kh < (size_t)s->kernel[HEIGHT]; kh++) {
            uintptr_t row =
                patch->origin + bytes((neo_dim)kd * s->dilation[DEPTH] * s->src.d +
                                      (neo_dim)kh * s->dilation[HEIGHT] * task->row_stride);
            bool exists = is_in(planes, kd) && is_in(rows, kh);
            out = list_row(task, row, exists ? columns : none, out);
        }
}

/* As if all taps were in src. */
static void list_all(const struct task *task, const struct patches *patches, const float **out)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    uintptr_t origins[PIXELS], column = bytes(s->dilation[WIDTH] * task->column_stride);
    for (size_t i = 0; i < PIXELS; i++)
        origins[i] = patches->at[i].origin;
    for (neo_dim kd = 0; kd < s->kernel[DEPTH]; kd++)
        for (neo_dim kh = 0; kh < s->kernel[HEIGHT]; kh++) {
            uintptr_t tap = bytes(kd * s->dilation[DEPTH] * s->src.d +
                                  kh * s->dilation[HEIGHT] * task->row_stride);
            for (neo_dim kw = 0; kw < s->kernel[WIDTH]; kw++, out += PIXELS, tap += column)
#pragma GCC unroll 8
                for (size_t i = 0; i < PIXELS; i++)
                    out[i] = (const float *)(origins[i] + tap);
        }
}

/* Most pixels have all taps, and eight are listed together faster than one. */
void indirect_list_pixels(const struct task *task, const struct piece *piece)
{
    struct patches patches;
    find_patches(task, piece, &patches);
    list_all(task, &patches, task->pixels);
    for (size_t i = 0; patches.padded; i++, patches.padded >>= 1)
        if (patches.padded & 1)
            list_patch(task, &patches.at[i], patches.depth, task->pixels + i);
}
