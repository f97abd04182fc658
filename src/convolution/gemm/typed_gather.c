/* Elements of patches are gathered, where a group along k has elements of several taps. */
#include <string.h>

#include "kernels/asm/inline.h"
#include "src/convolution/gemm/typed_patches.h"

/* ---- some steps ---- */

INLINE void gather_bytes(unsigned char *to, const unsigned char *from, neo_dim step, size_t count,
                         size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * bytes, from + (neo_dim)i * step * (neo_dim)bytes, bytes);
}

/* `count` elements of as many bytes, `step` elements from each other. */
static void gather(unsigned char *to, const unsigned char *from, neo_dim step, size_t count,
                   size_t bytes)
{
    if (step == 1)
        memcpy(to, from, count * bytes);
    else if (bytes == 1)
        gather_bytes(to, from, step, count, 1);
    else if (bytes == 2)
        gather_bytes(to, from, step, count, 2);
    else
        gather_bytes(to, from, step, count, 4);
}

/* Elements [first, first + count) of a tap. */
static void gather_tap(const struct patches *patches, const struct pixel *pixel,
                       const struct tap *tap, size_t first, size_t count, unsigned char *to)
{
    const struct convolution_shape *s = patches->image;
    if (!patches_have(s, pixel, tap, SPACE))
        memset(to, patches->call->zero, count * patches->bytes);
    else
        gather(to,
               patches_element(patches, pixel->offset + tap->offset + (neo_dim)first * s->src.c),
               s->src.c, count, patches->bytes);
}

/* The same of a row of taps that lie next to each other: some at its ends may be in the padding. */
static void gather_row(const struct patches *patches, const struct pixel *pixel,
                       const struct tap *tap, size_t first, size_t count, unsigned char *to)
{
    const struct convolution_shape *s = patches->image;
    neo_dim before = -pixel->at[WIDTH] * s->ic, behind = before + s->in[WIDTH] * s->ic;
    neo_dim begin = (neo_dim)first, end = (neo_dim)(first + count), bytes = (neo_dim)patches->bytes;
    neo_dim from = before < begin ? begin : before, until = behind > end ? end : behind;
    bool is_padding = from >= until || !patches_have(s, pixel, tap, WIDTH);
    if (is_padding || from > begin || until < end)
        memset(to, patches->call->zero, count * patches->bytes);
    if (!is_padding)
        memcpy(to + (from - begin) * bytes,
               patches_element(patches, pixel->offset + tap->offset + from),
               (size_t)((until - from) * bytes));
}

/* Steps [first, first + count) of k of a pixel's patch. */
static void gather_patch(const struct patches *patches, const struct pixel *pixel, size_t first,
                         size_t count, unsigned char *to)
{
    const struct convolution_typed *plan = patches->call->plan;
    const struct convolution_shape *s = patches->image;
    size_t taps = plan->merges_taps ? (size_t)s->kernel[WIDTH] : 1, unit = taps * (size_t)s->ic;
    struct tap tap = patches_tap(s, first / unit * taps);
    for (size_t from = first % unit; count; from = 0) {
        size_t part = min_size(unit - from, count);
        (plan->merges_taps ? gather_row : gather_tap)(patches, pixel, &tap, from, part, to);
        patches_next_tap(s, &tap, plan->merges_taps ? HEIGHT : WIDTH);
        count -= part, to += part * patches->bytes;
    }
}

void convolution_patches_gather(const struct patches *patches, size_t p, size_t count,
                                unsigned char *to)
{
    for (size_t i = 0; i < patches->panel->lanes; i++) {
        struct pixel pixel = patches_pixel(patches, i);
        gather_patch(patches, &pixel, patches->panel->first + p, count,
                     to + i * PATCHES_LANE_BYTES);
    }
}

/* ---- whole patches, of pixels of a row whose rows of taps are each one line ---- */

/* Sixteen of them are a vector, which compilers would take for two integers. */
INLINE void copy_part(unsigned char *to, const unsigned char *from, size_t bytes)
{
    typedef uint8_t vector __attribute__((vector_size(16), aligned(1), may_alias));
    if (bytes == sizeof(vector))
        *(vector *)to = *(const vector *)from;
    else
        memcpy(to, from, bytes);
}

/* Lines of so many bytes, of which the first and the last ones may be copied twice. */
INLINE void copy_ends(unsigned char *to, const unsigned char *from, ptrdiff_t apart, size_t lines,
                      size_t count, size_t half)
{
    const unsigned char *last = from + count - half;
    unsigned char *to_last = to + count - half;
#pragma GCC unroll 8
    for (size_t i = 0; i < lines; i++, from += apart, last += apart) {
        copy_part(to + i * PATCHES_LANE_BYTES, from, half);
        copy_part(to_last + i * PATCHES_LANE_BYTES, last, half);
    }
}

INLINE void copy_lines(unsigned char *to, const unsigned char *from, ptrdiff_t apart, size_t lines,
                       size_t count)
{
    for (; count > 32; count -= 16, to += 16, from += 16)
        for (size_t i = 0; i < lines; i++)
            copy_part(to + i * PATCHES_LANE_BYTES, from + (ptrdiff_t)i * apart, 16);
    if (count >= 16)
        copy_ends(to, from, apart, lines, count, 16);
    else if (count >= 8)
        copy_ends(to, from, apart, lines, count, 8);
    else if (count >= 4)
        copy_ends(to, from, apart, lines, count, 4);
    else
        for (size_t i = 0; i < lines; i++)
            memcpy(to + i * PATCHES_LANE_BYTES, from + (ptrdiff_t)i * apart, count);
}

/* The pixels of the panel, which are of one row, that have so many columns inside. */
static struct span pixels_inside(const struct patches *patches, neo_dim columns)
{
    const struct convolution_shape *s = patches->image;
    size_t begin = 0, end = patches->panel->lanes;
    neo_dim first = patches->pixels[0].at[WIDTH], last = s->in[WIDTH] - columns;
    while (begin < end && first + (neo_dim)begin * s->stride[WIDTH] < 0)
        begin++;
    while (end > begin && first + (neo_dim)(end - 1) * s->stride[WIDTH] > last)
        end--;
    return (struct span){begin, end};
}

static void gather_row_of(const struct patches *patches, const struct tap *tap, size_t i,
                          size_t count, unsigned char *to)
{
    struct pixel pixel = patches_pixel(patches, i);
    gather_row(patches, &pixel, tap, 0, count, to + i * PATCHES_LANE_BYTES);
}

/* What rows of taps of all patches have in common: the pixels whose taps are all inside, the place
 * of the first of these, and how far the next one is in bytes; elements of a row, and bytes. */
struct tap_rows {
    struct span inside;
    neo_dim offset;
    ptrdiff_t apart;
    size_t count, bytes;
};

static struct tap_rows tap_rows_of(const struct patches *patches)
{
    const struct convolution_shape *s = patches->image;
    neo_dim apart = s->stride[WIDTH] * s->src.w;
    struct tap_rows rows = {.inside = pixels_inside(patches, s->kernel[WIDTH]),
                            .apart = (ptrdiff_t)apart * (ptrdiff_t)patches->bytes,
                            .count = (size_t)(s->kernel[WIDTH] * s->ic)};
    rows.offset = patches->pixels[0].offset + (neo_dim)rows.inside.begin * apart;
    rows.bytes = rows.count * patches->bytes;
    return rows;
}

static void gather_rows(const struct patches *patches, const struct tap *tap,
                        const struct tap_rows *rows, unsigned char *to)
{
    struct span inside = rows->inside;
    if (!patches_have(patches->image, &patches->pixels[0], tap, WIDTH))
        inside.end = inside.begin;
    size_t lines = inside.end - inside.begin;
    if (lines == PATCHES_LANES) { /* a constant, for loops that are none */
        copy_lines(to, patches_element(patches, rows->offset + tap->offset), rows->apart,
                   PATCHES_LANES, rows->bytes);
        return;
    }
    for (size_t i = 0; i < inside.begin; i++)
        gather_row_of(patches, tap, i, rows->count, to);
    if (lines)
        copy_lines(to + inside.begin * PATCHES_LANE_BYTES,
                   patches_element(patches, rows->offset + tap->offset), rows->apart, lines,
                   rows->bytes);
    for (size_t i = inside.end; i < patches->panel->lanes; i++)
        gather_row_of(patches, tap, i, rows->count, to);
}

static bool are_whole(const struct patches *patches)
{
    const struct convolution_typed *plan = patches->call->plan;
    size_t depth = patches->panel->depth;
    return plan->merges_taps && patches->are_in_a_row && depth == plan->gemm.shape.k &&
           depth * patches->bytes <= PATCHES_LANE_BYTES;
}

bool convolution_patches_gather_whole(const struct patches *patches, unsigned char *to)
{
    if (!are_whole(patches))
        return false;
    const struct convolution_shape *s = patches->image;
    const struct tap_rows rows = tap_rows_of(patches);
    struct tap tap = patches_tap(s, 0);
    for (size_t done = 0; done < patches->panel->depth; done += rows.count, to += rows.bytes) {
        gather_rows(patches, &tap, &rows, to);
        patches_next_tap(s, &tap, HEIGHT);
    }
    return true;
}
