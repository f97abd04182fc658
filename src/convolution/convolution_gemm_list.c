/* Convolution as a matrix multiplication: patches that are read in place, by the addresses of their
 * taps. */
#include "src/convolution/convolution_gemm.h"

/* The addresses of one tap for pixels that follow each other in a row of dst, from the first one's
 * on; zeros in the padding. */
static void list_neighbours(const struct convolution_shape *s, const struct patches *patch,
                            const struct tap *tap, const float *from, size_t rows,
                            const float **out)
{
    neo_dim at = patch->first[0][WIDTH] + tap->at[WIDTH], step = s->stride[WIDTH];
    neo_dim last = at + (neo_dim)(rows - 1) * step;
    bool above = false;
    for (int d = 0; d < WIDTH; d++)
        above |= (uint64_t)(patch->first[0][d] + tap->at[d]) >= (uint64_t)s->in[d];
    uintptr_t address = (uintptr_t)from, distance = (uintptr_t)(step * s->src.w) * sizeof *from;
    bool inside = !above && at >= 0 && last < s->in[WIDTH];
    for (size_t i = 0; i < rows; i++, address += distance, at += step) {
        bool is_in = inside || (!above && at >= 0 && at < s->in[WIDTH]);
        out[i] = is_in ? (const float *)address : patches_padding;
    }
}

/* Pixels of more than one row of dst. */
static void list_scattered(const struct convolution_shape *s, const struct patches *patches,
                           const struct tap *tap, neo_dim channel, const float **out)
{
    if (patches_lanes(s, patches, tap, channel, out) == patches->rows)
        return;
    for (size_t i = 0; i < patches->rows; i++)
        out[i] = out[i] ? out[i] : patches_padding;
}

/* The next one in the order of the reduction. */
static void next_tap(const struct convolution_shape *s, struct tap *tap)
{
    for (int d = WIDTH; d >= 0; d--) {
        tap->at[d] += s->dilation[d];
        if (tap->at[d] < s->kernel[d] * s->dilation[d])
            break;
        tap->at[d] = 0;
    }
    tap->offset =
        tap->at[DEPTH] * s->src.d + tap->at[HEIGHT] * s->src.h + tap->at[WIDTH] * s->src.w;
}

/* The addresses of the first of a segment's channels, for each row and tap. */
void convolution_gemm_list_a(const void *context, size_t batch, size_t row, size_t rows,
                             size_t first, size_t segments, const float **out)
{
    const struct convolution_call *call = context;
    const struct convolution_shape *s = &call->plan->shape;
    size_t ic = (size_t)s->ic;
    neo_dim channel = (neo_dim)(first % ic);
    struct tap tap = patches_tap(s, first / ic);
    struct patches patches;
    patches_locate(call, batch, row, 1, &patches);
    neo_dim at = (patches.first[0][WIDTH] + s->padding[WIDTH]) / s->stride[WIDTH];
    bool neighbours = at + (neo_dim)rows <= s->out[WIDTH];
    if (!neighbours)
        patches_locate(call, batch, row, rows, &patches);
    for (size_t i = 0; i < segments; i++, next_tap(s, &tap), out += GEMM_F32_LIST) {
        uintptr_t from =
            (uintptr_t)patches.origin[0] + (uintptr_t)(tap.offset + channel) * sizeof(float);
        if (neighbours)
            list_neighbours(s, &patches, &tap, (const float *)from, rows, out);
        else
            list_scattered(s, &patches, &tap, channel, out);
    }
}
