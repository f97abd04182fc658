/* Convolution as a matrix multiplication: pixels of dst, their patches and the taps of these. */
#include "src/convolution/gemm/gemm.h"

/* Divisions are slow; most indices are small. size: at least 1, which analysers cannot know. */
static neo_dim split_index(size_t *index, neo_dim size)
{
    size_t rest = *index;
    if (rest < (size_t)size || size == 0) {
        *index = 0;
        return (neo_dim)rest;
    }
    *index = rest / (size_t)size;
    return (neo_dim)(rest - *index * (size_t)size);
}

struct pixel patches_pixel(const struct convolution_shape *s, size_t index)
{
    struct pixel pixel;
    for (int i = SPACE - 1; i >= 0; i--)
        pixel.at[i] = split_index(&index, s->out[i]);
    pixel.n = (neo_dim)index;
    return pixel;
}

void patches_next(const struct convolution_shape *s, struct pixel *pixel)
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
    neo_dim begin = source_of(call->plan, batch);
    patches->rows = rows;
    for (size_t i = 0; i < rows; i++) {
        neo_dim *first = patches->first[i];
        for (int d = 0; d < SPACE; d++)
            first[d] = pixel.at[d] * s->stride[d] - s->padding[d];
        neo_dim offset = pixel.n * s->src.n + begin + first[DEPTH] * s->src.d +
                         first[HEIGHT] * s->src.h + first[WIDTH] * s->src.w;
        /* Computed as a number: a pointer outside of src must not be formed. */
        patches->origin[i] = (const float *)((uintptr_t)call->execution->buffers[SRC] +
                                             (uintptr_t)offset * sizeof(float));
        patches_next(s, &pixel);
    }
}

/* A tap's coordinates relative to tap 0, in src. */
struct tap {
    neo_dim at[SPACE], offset;
};

static struct tap tap_of(const struct convolution_shape *s, size_t index)
{
    struct tap tap;
    for (int i = SPACE - 1; i >= 0; i--)
        tap.at[i] = split_index(&index, s->kernel[i]) * s->dilation[i];
    tap.offset = tap.at[DEPTH] * s->src.d + tap.at[HEIGHT] * s->src.h + tap.at[WIDTH] * s->src.w;
    return tap;
}

/* Does the tap of the patch that begins at `first` lie in src? */
static bool is_inside(const struct convolution_shape *s, const neo_dim *first,
                      const struct tap *tap)
{
    for (int d = 0; d < SPACE; d++)
        if ((uint64_t)(first[d] + tap->at[d]) >= (uint64_t)s->in[d])
            return false;
    return true;
}

size_t patches_lanes(const struct convolution_shape *s, const struct patches *patches, size_t index,
                     neo_dim channel, const float **lanes)
{
    struct tap tap = tap_of(s, index);
    size_t inside = 0;
    for (size_t i = 0; i < patches->rows; i++) {
        bool is_in = is_inside(s, patches->first[i], &tap);
        lanes[i] = is_in ? patches->origin[i] + tap.offset + channel * s->src.c : NULL;
        inside += is_in;
    }
    return inside;
}

const float *convolution_gemm_affine_row(const struct convolution_call *call, size_t batch,
                                         size_t row)
{
    struct patches patches;
    patches_locate(call, batch, row, 1, &patches);
    return patches.origin[0];
}

struct convolution_column convolution_column(const struct convolution_gemm *plan, size_t batch)
{
    const struct convolution_columns *all = &plan->columns;
    neo_dim first = matrix_of(plan, batch) * all->stride - all->padding;
    neo_dim begin = convolution_clamp(-first, 0, all->taps),
            end = convolution_clamp(all->in - first, begin, all->taps);
    return (struct convolution_column){
        .part = {(size_t)(begin * all->ic), (size_t)(end * all->ic)},
        .src = begin < end ? (first + begin) * all->src_step : 0,
    };
}

const float segments_padding[512];
