/* Convolution as a matrix multiplication: pixels of dst, their patches and the taps of these. */
#include "src/convolution/convolution_gemm.h"

const float patches_padding[512];

struct pixel patches_pixel(const struct convolution_shape *s, size_t index)
{
    struct pixel pixel;
    for (int i = SPACE - 1; i >= 0; i--) {
        pixel.at[i] = (neo_dim)(index % (size_t)s->out[i]);
        index /= (size_t)s->out[i];
    }
    pixel.n = (neo_dim)index;
    return pixel;
}

static void next_pixel(const struct convolution_shape *s, struct pixel *pixel)
{
    for (int i = SPACE - 1; i >= 0; i--) {
        if (++pixel->at[i] < s->out[i])
            return;
        pixel->at[i] = 0;
    }
    pixel->n++;
}

void patches_locate(const struct convolution_call *call, size_t batch, size_t row, size_t rows,
                    struct patches *patches)
{
    const struct convolution_shape *s = &call->plan->shape;
    struct pixel pixel = patches_pixel(s, first_pixel(call->plan, batch) + row);
    neo_dim group = group_of(call->plan, batch);
    patches->rows = rows;
    for (size_t i = 0; i < rows; i++) {
        neo_dim *first = patches->first[i];
        for (int d = 0; d < SPACE; d++)
            first[d] = pixel.at[d] * s->stride[d] - s->padding[d];
        neo_dim offset = pixel.n * s->src.n + group * s->ic * s->src.c + first[DEPTH] * s->src.d +
                         first[HEIGHT] * s->src.h + first[WIDTH] * s->src.w;
        /* Computed as a number: a pointer outside of src must not be formed. */
        patches->origin[i] = (const float *)((uintptr_t)call->execution->buffers[SRC] +
                                             (uintptr_t)offset * sizeof(float));
        next_pixel(s, &pixel);
    }
}

struct tap patches_tap(const struct convolution_shape *s, size_t index)
{
    struct tap tap;
    size_t kw = (size_t)s->kernel[WIDTH], kh = (size_t)s->kernel[HEIGHT];
    tap.at[WIDTH] = (neo_dim)(index % kw) * s->dilation[WIDTH];
    tap.at[HEIGHT] = (neo_dim)(index / kw % kh) * s->dilation[HEIGHT];
    tap.at[DEPTH] = (neo_dim)(index / kw / kh) * s->dilation[DEPTH];
    tap.offset = tap.at[DEPTH] * s->src.d + tap.at[HEIGHT] * s->src.h + tap.at[WIDTH] * s->src.w;
    return tap;
}

size_t patches_lanes(const struct convolution_shape *s, const struct patches *patches,
                     const struct tap *tap, neo_dim channel, const float **lanes)
{
    size_t inside = 0;
    for (size_t i = 0; i < patches->rows; i++) {
        bool is_in = patches_is_inside(s, patches->first[i], tap);
        lanes[i] = is_in ? patches->origin[i] + tap->offset + channel * s->src.c : NULL;
        inside += is_in;
    }
    return inside;
}
