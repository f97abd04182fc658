/* Convolution of images that are transposed: the run. */
#include <string.h>

#include "src/convolution/convolution_transposed.h"
#include "src/primitive/implementation.h"

enum { PART = 64 }; /* pixels, about, that a thread transposes at a time */

struct transposition {
    const struct convolution_transposed *plan;
    const struct planes *planes;
    const float *src;
    float *dst;
    bool to_planes; /* the way back */
    size_t parts;   /* of each piece */
};

/* Pixels of one piece. */
static void transpose_pixels(const struct transposition *t, size_t piece, struct span pixels)
{
    const struct planes *planes = t->planes;
    size_t count = pixels.end - pixels.begin, channels = planes->channels;
    ptrdiff_t first = (ptrdiff_t)(piece / planes->pieces) * planes->image +
                      (ptrdiff_t)(piece % planes->pieces) * planes->piece + (ptrdiff_t)pixels.begin;
    size_t copied = (piece * planes->pixels + pixels.begin) * channels;
    if (t->to_planes)
        t->plan->copy(&(struct copy_f32_plane){.rows = count,
                                               .cols = channels,
                                               .src = t->src + copied,
                                               .src_row = (ptrdiff_t)channels,
                                               .src_col = 1,
                                               .dst = t->dst + first,
                                               .dst_row = 1,
                                               .dst_col = planes->channel});
    else
        t->plan->copy(&(struct copy_f32_plane){.rows = channels,
                                               .cols = count,
                                               .src = t->src + first,
                                               .src_row = planes->channel,
                                               .src_col = 1,
                                               .dst = t->dst + copied,
                                               .dst_row = 1,
                                               .dst_col = (ptrdiff_t)channels});
}

/* Part number i / parts of a piece, and so on. */
static void transpose_parts(void *argument, struct span parts, int slot)
{
    const struct transposition *t = argument;
    (void)slot;
    for (size_t i = parts.begin; i < parts.end; i++)
        transpose_pixels(t, i / t->parts,
                         partition_span(t->planes->pixels, t->parts, i % t->parts));
}

static void transpose(const struct execution *execution, struct transposition *t)
{
    size_t pieces = t->planes->images * t->planes->pieces, pixels = t->planes->pixels;
    if (execution->threads == 1) {
        for (size_t i = 0; i < pieces; i++)
            transpose_pixels(t, i, (struct span){0, pixels});
        return;
    }
    t->parts = div_up(pixels, PART);
    parallel_for_tiles(execution->parallel, pieces * t->parts, execution->threads, transpose_parts,
                       t);
}

void transposed_run(const void *plan, const struct execution *execution)
{
    const struct convolution_transposed *mine = plan;
    const struct planes *src = &mine->planes[SRC], *dst = &mine->planes[DST];
    void *buffers[TENSOR_COUNT];
    memcpy(buffers, execution->buffers, sizeof buffers);
    if (src->images) {
        buffers[SRC] = execution->scratch;
        transpose(execution, &(struct transposition){.plan = mine,
                                                     .planes = src,
                                                     .src = execution->buffers[SRC],
                                                     .dst = buffers[SRC]});
    }
    if (dst->images)
        buffers[DST] = (unsigned char *)execution->scratch + transposed_bytes(src);
    implementation_run_nested(execution, 0, buffers);
    if (dst->images)
        transpose(execution, &(struct transposition){.plan = mine,
                                                     .planes = dst,
                                                     .src = buffers[DST],
                                                     .dst = execution->buffers[DST],
                                                     .to_planes = true});
}
