/* Indirect convolution: where the taps of eight pixels are. */
#include "src/convolution/convolution_indirect.h"
#include "src/threading/partition.h"

enum { PIXELS = INDIRECT_F32_PIXELS };

/* What a pixel of dst reads: along each dimension the coordinate of tap 0 and the taps that are in
 * src. Tap 0 may be outside of it: then there is no pointer to it, only a number. */
struct patch {
    uintptr_t origin;
    neo_dim first[SPACE];
    struct span inside[SPACE];
};

static void clip_taps(const struct convolution_shape *s, struct patch *patch, int dimension)
{
    neo_dim first = patch->first[dimension], step = s->dilation[dimension];
    neo_dim begin = 0, end = s->kernel[dimension];
    while (begin < end && first + begin * step < 0)
        begin++;
    while (end > begin && first + (end - 1) * step >= s->in[dimension])
        end--;
    patch->inside[dimension] = (struct span){(size_t)begin, (size_t)end};
}

static uintptr_t bytes(neo_dim elements)
{
    return (uintptr_t)elements * sizeof(float);
}

static void set_column(const struct task *task, struct patch *patch, neo_dim column)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    const neo_dim *first = patch->first;
    patch->first[WIDTH] = column * s->stride[WIDTH] - s->padding[WIDTH];
    patch->origin = (uintptr_t)task->origin +
                    bytes(first[DEPTH] * s->src.d + (first[HEIGHT] - task->top) * task->row_stride +
                          first[WIDTH] * task->column_stride);
    clip_taps(s, patch, WIDTH);
}

static void set_row(const struct task *task, struct patch *patch, neo_dim row)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    patch->first[HEIGHT] = row * s->stride[HEIGHT] - s->padding[HEIGHT];
    clip_taps(s, patch, HEIGHT);
}

/* Of eight pixels; those that do not exist repeat the last one. Returns whether all taps of all are
 * in src. */
static bool find_patches(const struct task *task, const struct piece *piece,
                         struct patch patches[PIXELS])
{
    const struct convolution_shape *s = &task->run->plan->shape;
    neo_dim row = piece->at[HEIGHT], column = piece->at[WIDTH];
    size_t taps = task->run->plan->taps, whole = 0;
    struct patch patch;
    patch.first[DEPTH] = piece->at[DEPTH] * s->stride[DEPTH] - s->padding[DEPTH];
    clip_taps(s, &patch, DEPTH);
    set_row(task, &patch, row);
    for (size_t i = 0; i < PIXELS; i++) {
        if (i < piece->count) {
            if (column == s->out[WIDTH]) {
                column = 0;
                set_row(task, &patch, ++row);
            }
            set_column(task, &patch, column++);
        }
        patches[i] = patch;
        size_t inside = 1;
        for (int d = 0; d < SPACE; d++)
            inside *= patch.inside[d].end - patch.inside[d].begin;
        whole += inside == taps;
    }
    return whole == PIXELS;
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

static void list_patch(const struct task *task, const struct patch *patch, const float **out)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    const struct span *inside = patch->inside;
    for (size_t kd = 0; kd < (size_t)s->kernel[DEPTH]; kd++)
        for (size_t kh = 0; kh < (size_t)s->kernel[HEIGHT]; kh++) {
            bool exists = kd >= inside[DEPTH].begin && kd < inside[DEPTH].end &&
                          kh >= inside[HEIGHT].begin && kh < inside[HEIGHT].end;
            uintptr_t row =
                patch->origin + bytes((neo_dim)kd * s->dilation[DEPTH] * s->src.d +
                                      (neo_dim)kh * s->dilation[HEIGHT] * task->row_stride);
            out = list_row(task, row, exists ? inside[WIDTH] : (struct span){0, 0}, out);
        }
}

/* All taps of all pixels are in src. */
static void list_whole(const struct task *task, const struct patch patches[PIXELS],
                       const float **out)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    uintptr_t origins[PIXELS];
    for (size_t i = 0; i < PIXELS; i++)
        origins[i] = patches[i].origin;
    for (neo_dim kd = 0; kd < s->kernel[DEPTH]; kd++)
        for (neo_dim kh = 0; kh < s->kernel[HEIGHT]; kh++)
            for (neo_dim kw = 0; kw < s->kernel[WIDTH]; kw++, out += PIXELS) {
                uintptr_t tap = bytes(kd * s->dilation[DEPTH] * s->src.d +
                                      kh * s->dilation[HEIGHT] * task->row_stride +
                                      kw * s->dilation[WIDTH] * task->column_stride);
                for (size_t i = 0; i < PIXELS; i++)
                    out[i] = (const float *)(origins[i] + tap);
            }
}

/* ---- pixels of one row of dst ---- */

/* From the first pixel to each; pixels that do not exist repeat the last one. */
struct neighbours {
    neo_dim columns[PIXELS]; /* of source */
    uintptr_t bytes[PIXELS];
};

static struct neighbours neighbours_of(const struct task *task, const struct piece *piece)
{
    struct neighbours of;
    for (size_t i = 0; i < PIXELS; i++) {
        size_t steps = i < piece->count ? i : piece->count - 1;
        of.columns[i] = (neo_dim)steps * task->run->plan->shape.stride[WIDTH];
        of.bytes[i] = bytes(of.columns[i] * task->column_stride);
    }
    return of;
}

/* One tap of the eight pixels. row: of source, or 0 if it is padding; x: of the first pixel. */
static void list_tap(const struct task *task, const struct neighbours *of, uintptr_t row, neo_dim x,
                     const float **out)
{
    neo_dim width = task->run->plan->shape.in[WIDTH], last = x + of->columns[PIXELS - 1];
    row += row ? bytes(x * task->column_stride) : 0;
    if (row && x >= 0 && last < width) {
#pragma GCC unroll 8
        for (size_t i = 0; i < PIXELS; i++)
            out[i] = (const float *)(row + of->bytes[i]);
        return;
    }
    for (size_t i = 0; i < PIXELS; i++) {
        neo_dim column = x + of->columns[i];
        bool inside = row && column >= 0 && column < width;
        out[i] = inside ? (const float *)(row + of->bytes[i]) : task->zeros;
    }
}

static void list_neighbours(const struct task *task, const struct piece *piece)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    const float **out = task->pixels;
    struct neighbours of = neighbours_of(task, piece);
    neo_dim x = piece->at[WIDTH] * s->stride[WIDTH] - s->padding[WIDTH];
    for (neo_dim kd = 0; kd < s->kernel[DEPTH]; kd++)
        for (neo_dim kh = 0; kh < s->kernel[HEIGHT]; kh++) {
            neo_dim d =
                piece->at[DEPTH] * s->stride[DEPTH] - s->padding[DEPTH] + kd * s->dilation[DEPTH];
            neo_dim h = piece->at[HEIGHT] * s->stride[HEIGHT] - s->padding[HEIGHT] +
                        kh * s->dilation[HEIGHT];
            bool inside = d >= 0 && d < s->in[DEPTH] && h >= 0 && h < s->in[HEIGHT];
            neo_dim row = d * s->src.d + (h - task->top) * task->row_stride;
            uintptr_t from = inside ? (uintptr_t)task->origin + bytes(row) : 0;
            for (neo_dim kw = 0; kw < s->kernel[WIDTH]; kw++, out += PIXELS)
                list_tap(task, &of, from, x + kw * s->dilation[WIDTH], out);
        }
}

void indirect_list_pixels(const struct task *task, const struct piece *piece)
{
    if (!task->run->plan->crosses_rows) {
        list_neighbours(task, piece);
        return;
    }
    struct patch patches[PIXELS];
    if (find_patches(task, piece, patches)) {
        list_whole(task, patches, task->pixels);
        return;
    }
    for (size_t i = 0; i < PIXELS; i++)
        list_patch(task, &patches[i], task->pixels + i);
}
