/* Convolution of images that are transposed: the run. */
#include <stdalign.h>
#include <string.h>

#include "src/convolution/nested/transposed.h"
#include "src/core/checked.h"
#include "src/primitive/implementation.h"

enum { PART = 64 }; /* pixels, about, that a thread transposes at a time */

struct transposition {
    const struct convolution_transposed *plan;
    const struct planes *planes;
    const struct places *from, *to; /* the tensor and its copy, or the way back */
    const float *src;
    float *dst;
    size_t parts; /* of each piece */
};

static ptrdiff_t piece_at(const struct places *places, size_t image, size_t piece)
{
    return (ptrdiff_t)image * places->image + (ptrdiff_t)piece * places->piece;
}

/* Part number i / parts of a piece, and so on. */
static void transpose_parts(void *argument, struct span parts, int slot)
{
    const struct transposition *t = argument;
    const struct planes *planes = t->planes;
    (void)slot;
    for (size_t i = parts.begin; i < parts.end; i++) {
        size_t image = i / t->parts / planes->pieces, piece = i / t->parts % planes->pieces;
        struct span pixels = partition_span(planes->pixels, t->parts, i % t->parts);
        ptrdiff_t first = (ptrdiff_t)pixels.begin;
        struct copy_f32_plane part = planes->piece;
        part.src = t->src + piece_at(t->from, image, piece) + first * t->from->pixel;
        part.dst = t->dst + piece_at(t->to, image, piece) + first * t->to->pixel;
        *(t->from->channel == 1 ? &part.rows : &part.cols) = pixels.end - pixels.begin;
        t->plan->copy(&part);
    }
}

/* Without a division: of small images they would take as long as these. */
static void transpose_alone(const struct transposition *t)
{
    const struct planes *planes = t->planes;
    struct copy_f32_plane piece = planes->piece;
    for (size_t i = 0; i < planes->images; i++)
        for (size_t j = 0; j < planes->pieces; j++) {
            piece.src = t->src + piece_at(t->from, i, j);
            piece.dst = t->dst + piece_at(t->to, i, j);
            t->plan->copy(&piece);
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
                                                     .from = &src->tensor,
                                                     .to = &src->copy,
                                                     .src = execution->buffers[SRC],
                                                     .dst = buffers[SRC]});
    }
    if (dst->images)
        buffers[DST] = copies + mine->src_bytes;
    implementation_run_nested(execution, 0, buffers);
    if (dst->images)
        transpose(execution, &(struct transposition){.plan = mine,
                                                     .planes = dst,
                                                     .from = &dst->copy,
                                                     .to = &dst->tensor,
                                                     .src = buffers[DST],
                                                     .dst = execution->buffers[DST]});
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
