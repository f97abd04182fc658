/* A convolution without the taps that no pixel of dst has in src. */
#include "src/convolution/trim.h"

#include <string.h>

#include "src/tensor/layout.h"

/* Leaves these taps along a dimension. Where the first one is beyond the first pixels of src for
 * all of dst, src begins there. */
static void keep_taps(struct convolution_shape *s, struct convolution_trim *trim, int d,
                      neo_dim src_step)
{
    struct span taps = trim->taps[d];
    s->kernel[d] = (neo_dim)(taps.end - taps.begin);
    s->padding[d] -= (neo_dim)taps.begin * s->dilation[d];
    trim->weights += (neo_dim)taps.begin * s->weights_space[d];
    if (s->padding[d] >= 0)
        return;
    trim->src -= s->padding[d] * src_step;
    s->in[d] += s->padding[d];
    s->padding[d] = 0;
}

bool convolution_trim(struct convolution_shape *s, struct convolution_trim *trim)
{
    const neo_dim steps[] = {s->src.d, s->src.h, s->src.w};
    bool any = false;
    *trim = (struct convolution_trim){.ic = s->ic};
    for (int d = 0; d < SPACE; d++) {
        trim->kernel[d] = s->kernel[d];
        trim->taps[d] = convolution_reached_taps(s, d);
        any = any || trim->taps[d].end - trim->taps[d].begin < (size_t)s->kernel[d];
    }
    for (int d = 0; d < SPACE && any; d++)
        keep_taps(s, trim, d, steps[d]);
    return any;
}

/* Of one panel: rows of the kernel, one after the other. */
static float *copy_panel(const struct convolution_trim *trim, size_t width, const float *panel,
                         float *out)
{
    const struct span *taps = trim->taps;
    size_t tap = (size_t)trim->ic * width, count = (taps[WIDTH].end - taps[WIDTH].begin) * tap;
    for (size_t d = taps[DEPTH].begin; d < taps[DEPTH].end; d++)
        for (size_t h = taps[HEIGHT].begin; h < taps[HEIGHT].end; h++, out += count) {
            size_t row = d * (size_t)trim->kernel[HEIGHT] + h;
            size_t first = row * (size_t)trim->kernel[WIDTH] + taps[WIDTH].begin;
            memcpy(out, panel + first * tap, count * sizeof *out);
        }
    return out;
}

void convolution_trim_weights(const struct convolution_trim *trim, size_t n, const float *packed,
                              float *out)
{
    const neo_dim *kernel = trim->kernel;
    size_t k = (size_t)(kernel[DEPTH] * kernel[HEIGHT] * kernel[WIDTH] * trim->ic);
    size_t panels = layout_panel_count(n), parts = panels + layout_tail_columns(n);
    for (size_t p = 0; p < parts; p++) {
        size_t width = p < panels ? layout_panel(n, p).width : 1;
        out = copy_panel(trim, width, packed, out);
        packed += width * k;
    }
}
