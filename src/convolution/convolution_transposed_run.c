/* Convolution of images that are transposed: the run. */
#include <stdalign.h>
#include <string.h>

#include "src/convolution/convolution_transposed.h"
#include "src/core/checked.h"
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

/* Pixels from element `first` of the planes on; in the copy from that pixel on. */
static void transpose_pixels(const struct transposition *t, ptrdiff_t first, size_t pixel,
                             size_t count)
{
    const struct planes *planes = t->planes;
    size_t channels = planes->channels, copied = pixel * channels;
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
    const struct planes *planes = t->planes;
    (void)slot;
    for (size_t i = parts.begin; i < parts.end; i++) {
        size_t piece = i / t->parts;
        struct span pixels = partition_span(planes->pixels, t->parts, i % t->parts);
        ptrdiff_t first = (ptrdiff_t)(piece / planes->pieces) * planes->image +
                          (ptrdiff_t)(piece % planes->pieces) * planes->piece;
        transpose_pixels(t, first + (ptrdiff_t)pixels.begin, piece * planes->pixels + pixels.begin,
                         pixels.end - pixels.begin);
    }
}

/* Without a division: of small images they would take as long as these. */
static void transpose_alone(const struct transposition *t)
{
    const struct planes *planes = t->planes;
    size_t pixel = 0;
    for (size_t i = 0; i < planes->images; i++) {
        ptrdiff_t first = (ptrdiff_t)i * planes->image;
        for (size_t left = planes->pieces; left; left--) {
            transpose_pixels(t, first, pixel, planes->pixels);
            first += planes->piece;
            pixel += planes->pixels;
        }
    }
}

static void transpose(const struct execution *execution, struct transposition *t)
{
    if (execution->threads == 1) {
        transpose_alone(t);
        return;
    }
    t->parts = div_up(t->planes->pixels, PART);
    parallel_for_tiles(execution->parallel, t->planes->images * t->planes->pieces * t->parts,
                       execution->threads, transpose_parts, t);
}

/* Copies of images that are small are on the stack: a block of memory would take longer to find
 * than transposing them takes. */
enum { STACK_BYTES = 8 << 10 };

static bool is_on_stack(const struct convolution_transposed *plan, int threads)
{
    return threads == 1 && plan->bytes <= STACK_BYTES;
}

size_t transposed_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_transposed *mine = plan;
    return is_on_stack(mine, threads) ? 0 : mine->bytes;
}

static void run_with(const struct convolution_transposed *mine, const struct execution *execution,
                     unsigned char *copies)
{
    const struct planes *src = &mine->planes[SRC], *dst = &mine->planes[DST];
    void *buffers[TENSOR_COUNT];
    memcpy(buffers, execution->buffers, sizeof buffers);
    if (src->images) {
        buffers[SRC] = copies;
        transpose(execution, &(struct transposition){.plan = mine,
                                                     .planes = src,
                                                     .src = execution->buffers[SRC],
                                                     .dst = buffers[SRC]});
    }
    if (dst->images)
        buffers[DST] = copies + mine->src_bytes;
    implementation_run_nested(execution, 0, buffers);
    if (dst->images)
        transpose(execution, &(struct transposition){.plan = mine,
                                                     .planes = dst,
                                                     .src = buffers[DST],
                                                     .dst = execution->buffers[DST],
                                                     .to_planes = true});
}

static __attribute__((noinline)) void run_on_stack(const struct convolution_transposed *mine,
                                                   const struct execution *execution)
{
    alignas(SCRATCH_ALIGNMENT) unsigned char copies[STACK_BYTES];
    run_with(mine, execution, copies);
}

void transposed_run(const void *plan, const struct execution *execution)
{
    if (is_on_stack(plan, execution->threads))
        run_on_stack(plan, execution);
    else
        run_with(plan, execution, execution->scratch);
}
