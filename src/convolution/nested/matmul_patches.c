/* Convolution as one matrix product: patches of src, copied next to each other. */
#include <string.h>

#include "src/convolution/nested/matmul.h"

/* One row of the kernel for the pixels of a row of dst. */
struct taps_line {
    const float *src; /* column 0 of the row of src, NULL in the padding */
    float *patches;   /* tap 0 of pixel 0 */
};

static bool taps_follow(const struct convolution_shape *s)
{
    return s->src.c == 1 && (s->kernel[WIDTH] == 1 || s->dilation[WIDTH] * s->src.w == s->ic);
}

/* Of these pixels, whose taps here all exist. */
static void copy_taps(const struct convolution_matmul *mine, const struct taps_line *line,
                      struct span pixels, struct span taps)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim stride = s->stride[WIDTH], dilation = s->dilation[WIDTH];
    neo_dim first = (neo_dim)pixels.begin * stride - s->padding[WIDTH];
    size_t count = pixels.end - pixels.begin;
    bool together = taps_follow(s);
    for (size_t tap = taps.begin; tap < taps.end; tap += together ? taps.end : 1)
        mine->copy(&(struct copy_f32_plane){
            .rows = count,
            .cols = (together ? taps.end - tap : 1) * (size_t)s->ic,
            .src = line->src + (first + (neo_dim)tap * dilation) * s->src.w,
            .src_row = matmul_step((neo_dim)count, stride, s->src.w),
            .src_col = s->src.c,
            .dst = line->patches + pixels.begin * mine->rows + tap * (size_t)s->ic,
            .dst_row = (ptrdiff_t)mine->rows,
            .dst_col = 1,
        });
}

/* Of one pixel, whose other taps are zeros. */
static void copy_edge(const struct convolution_matmul *mine, const struct taps_line *line,
                      size_t pixel)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim first = (neo_dim)pixel * s->stride[WIDTH] - s->padding[WIDTH];
    neo_dim dilation = s->dilation[WIDTH], begin = 0, end = s->kernel[WIDTH];
    while (end > 0 && (!line->src || first + (end - 1) * dilation >= s->in[WIDTH]))
        end--;
    while (begin < end && first + begin * dilation < 0)
        begin++;
    float *out = line->patches + pixel * mine->rows;
    size_t tap = (size_t)s->ic * sizeof(float);
    if (begin > 0)
        memset(out, 0, (size_t)begin * tap);
    if (end < s->kernel[WIDTH])
        memset(out + end * s->ic, 0, (size_t)(s->kernel[WIDTH] - end) * tap);
    if (begin < end)
        copy_taps(mine, line, (struct span){pixel, pixel + 1},
                  (struct span){(size_t)begin, (size_t)end});
}

static void copy_line(const struct convolution_matmul *mine, const struct taps_line *line)
{
    const struct convolution_shape *s = &mine->shape;
    struct span inner = line->src ? mine->inner : (struct span){0, 0};
    if (inner.begin < inner.end)
        copy_taps(mine, line, inner, (struct span){0, (size_t)s->kernel[WIDTH]});
    for (size_t i = 0; i < inner.begin; i++)
        copy_edge(mine, line, i);
    for (size_t i = inner.end; i < (size_t)s->out[WIDTH]; i++)
        copy_edge(mine, line, i);
}

/* Of the row of dst at (d, h). src: of its image. */
static void copy_lines(const struct convolution_matmul *mine, const float *src, neo_dim d,
                       neo_dim h, float *out)
{
    const struct convolution_shape *s = &mine->shape;
    d = d * s->stride[DEPTH] - s->padding[DEPTH];
    h = h * s->stride[HEIGHT] - s->padding[HEIGHT];
    for (neo_dim kd = 0; kd < s->kernel[DEPTH]; kd++)
        for (neo_dim kh = 0; kh < s->kernel[HEIGHT]; kh++) {
            neo_dim z = d + kd * s->dilation[DEPTH], y = h + kh * s->dilation[HEIGHT];
            bool inside = z >= 0 && z < s->in[DEPTH] && y >= 0 && y < s->in[HEIGHT];
            copy_line(mine, &(struct taps_line){
                                .src = inside ? src + z * s->src.d + y * s->src.h : NULL,
                                .patches = out,
                            });
            out += s->kernel[WIDTH] * s->ic;
        }
}

void matmul_copy_patches(const struct convolution_matmul *mine, const float *src, float *out)
{
    const struct convolution_shape *s = &mine->shape;
    for (neo_dim n = 0; n < s->batch; n++, src += s->src.n)
        for (neo_dim d = 0; d < s->out[DEPTH]; d++)
            for (neo_dim h = 0; h < s->out[HEIGHT]; h++) {
                copy_lines(mine, src, d, h, out);
                out += (size_t)s->out[WIDTH] * mine->rows;
            }
}
