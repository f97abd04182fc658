/* Patches of any type become panels. Where a tap's channels are whole groups along k, they are read
 * from the image, the padding from a line of its own; else a patch's elements are gathered, some
 * steps of k at a time, for a group has elements of several taps. */
#include <string.h>

#include "kernels/asm/inline.h"
#include "src/convolution/gemm/typed.h"

enum { LANE_BYTES = 1024 /* whole groups of any type */, LANES = GEMM_MR };

/* A pixel of dst: the place in src of its first tap, which may be in the padding. */
struct pixel {
    neo_dim at[SPACE];
    neo_dim offset; /* of channel 0 of the group, in elements */
};

/* Panels of pixels of one group. */
struct patches {
    const struct typed_call *call;
    const struct gemm_panel *panel;
    const struct convolution_shape *image;
    struct pixel pixels[LANES]; /* of a row the first one alone */
    bool are_in_a_row;
    neo_dim left; /* of the row behind the panel before this one, or none: below 1 */
    const unsigned char *padding; /* a line of it */
    size_t bytes;                 /* of an element */
    struct pack_panel part;       /* some steps of the panel: what all of them have in common */
};

static size_t taps_of(const struct convolution_shape *s)
{
    return (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH]);
}

/* Is each pixel of dst that of src at the same place, next to which the next one is? */
static bool is_affine(const struct convolution_shape *s)
{
    const neo_dim strides[SPACE + 1] = {s->src.n, s->src.d, s->src.h, s->src.w};
    const neo_dim sizes[SPACE + 1] = {s->batch, s->in[DEPTH], s->in[HEIGHT], s->in[WIDTH]};
    neo_dim apart = s->src.w;
    for (int d = SPACE; d >= 0; d--) {
        if (sizes[d] != 1 && strides[d] != apart)
            return false;
        apart *= sizes[d];
    }
    for (int d = 0; d < SPACE; d++)
        if (s->kernel[d] != 1 || s->stride[d] != 1 || s->padding[d] || s->out[d] != s->in[d])
            return false;
    return true;
}

static void join_pixels(struct convolution_shape *s)
{
    neo_dim all = s->batch * s->in[DEPTH] * s->in[HEIGHT] * s->in[WIDTH];
    for (int d = 0; d < SPACE; d++)
        s->in[d] = s->out[d] = d == WIDTH ? all : 1;
    s->batch = 1;
}

void convolution_typed_plan_patches(struct convolution_typed *plan)
{
    const struct convolution_shape *s = &plan->shape;
    plan->image = *s;
    plan->is_affine = is_affine(s);
    if (plan->is_affine)
        join_pixels(&plan->image);
    plan->merges_taps = s->dilation[WIDTH] == 1 && s->src.c == 1 && s->src.w == s->ic;
    bool is_short = plan->merges_taps && (size_t)s->ic * element_bytes(plan->a.stored) < 16;
    plan->reads_lines = taps_of(s) == 1 || ((size_t)s->ic % plan->a.group == 0 && !is_short);
}

size_t convolution_typed_patches_scratch(const struct convolution_typed *plan)
{
    return plan->reads_lines ? (size_t)plan->shape.ic * element_bytes(plan->a.stored) : 0;
}

void convolution_typed_prepare(const void *context, void *scratch, size_t batch, size_t row,
                               size_t rows)
{
    const struct typed_call *call = context;
    (void)batch, (void)row, (void)rows;
    memset(scratch, call->zero, convolution_typed_patches_scratch(call->plan));
}

static void set_pixel(const struct convolution_shape *s, size_t group, const neo_dim *out,
                      neo_dim image, struct pixel *pixel)
{
    const neo_dim strides[SPACE] = {s->src.d, s->src.h, s->src.w};
    pixel->offset = image * s->src.n + (neo_dim)group * s->ic * s->src.c;
    for (int d = 0; d < SPACE; d++) {
        pixel->at[d] = out[d] * s->stride[d] - s->padding[d];
        pixel->offset += pixel->at[d] * strides[d];
    }
}

/* A pixel of the panel; those of a row differ in their columns alone. */
static struct pixel pixel_of(const struct patches *patches, size_t i)
{
    const struct convolution_shape *s = patches->image;
    struct pixel pixel = patches->pixels[patches->are_in_a_row ? 0 : i];
    if (patches->are_in_a_row) {
        pixel.at[WIDTH] += (neo_dim)i * s->stride[WIDTH];
        pixel.offset += (neo_dim)i * s->stride[WIDTH] * s->src.w;
    }
    return pixel;
}

/* Pixel number `index` of dst: its place there; returns the image that it is in. */
static neo_dim place_of(const struct convolution_shape *s, size_t index, neo_dim *out)
{
    for (int d = SPACE - 1; d >= 0; d--) {
        out[d] = (neo_dim)(index % (size_t)s->out[d]);
        index /= (size_t)s->out[d];
    }
    return (neo_dim)index;
}

/* Those of the panel, of which one follows the other. */
static void find_pixels(struct patches *patches)
{
    const struct convolution_shape *s = patches->image;
    const struct gemm_panel *panel = patches->panel;
    neo_dim out[SPACE], image = place_of(s, panel->lane, out);
    patches->left = s->out[WIDTH] - out[WIDTH];
    patches->are_in_a_row = (neo_dim)panel->lanes <= patches->left;
    for (size_t i = 0; i < (patches->are_in_a_row ? 1 : panel->lanes); i++) {
        set_pixel(s, panel->batch, out, image, &patches->pixels[i]);
        int d = SPACE - 1;
        while (d >= 0 && ++out[d] == s->out[d])
            out[d--] = 0;
        image += d < 0;
    }
}

/* Each panel begins a panel's width behind the one before, mostly in the same row. */
static void set_pixels(struct patches *patches)
{
    if ((neo_dim)patches->panel->lanes <= patches->left)
        patches->pixels[0] = pixel_of(patches, patches->panel->width);
    else
        find_pixels(patches);
    patches->left -= (neo_dim)patches->panel->width;
}

/* A tap: how far it is from the first one, by dimension and in elements. */
struct tap {
    neo_dim at[SPACE], offset;
};

static struct tap tap_at(const struct convolution_shape *s, size_t number)
{
    const neo_dim strides[SPACE] = {s->src.d, s->src.h, s->src.w};
    struct tap tap = {.offset = 0};
    if (!number)
        return tap;
    for (int d = SPACE - 1; d >= 0; d--) {
        tap.at[d] = (neo_dim)(number % (size_t)s->kernel[d]) * s->dilation[d];
        tap.offset += tap.at[d] * strides[d];
        number /= (size_t)s->kernel[d];
    }
    return tap;
}

/* The one after it along dimension `last` and those before: the next tap, or row of taps. */
static void next_tap(const struct convolution_shape *s, struct tap *tap, int last)
{
    const neo_dim strides[SPACE] = {s->src.d, s->src.h, s->src.w};
    for (int d = last; d >= 0; d--) {
        tap->at[d] += s->dilation[d];
        tap->offset += s->dilation[d] * strides[d];
        if (tap->at[d] < s->kernel[d] * s->dilation[d])
            return;
        tap->offset -= tap->at[d] * strides[d];
        tap->at[d] = 0;
    }
}

/* Is the tap of the pixel in the image, in the first so many dimensions? */
static bool is_inside(const struct convolution_shape *s, const struct pixel *pixel,
                      const struct tap *tap, int dimensions)
{
    for (int d = 0; d < dimensions; d++)
        if ((uint64_t)(pixel->at[d] + tap->at[d]) >= (uint64_t)s->in[d])
            return false;
    return true;
}

static const unsigned char *element(const struct patches *patches, neo_dim offset)
{
    return (const unsigned char *)patches->call->execution->buffers[SRC] +
           offset * (neo_dim)patches->bytes;
}

/* ---- gathered ---- */

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
    if (!is_inside(s, pixel, tap, SPACE))
        memset(to, patches->call->zero, count * patches->bytes);
    else
        gather(to, element(patches, pixel->offset + tap->offset + (neo_dim)first * s->src.c),
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
    bool is_padding = from >= until || !is_inside(s, pixel, tap, WIDTH);
    if (is_padding || from > begin || until < end)
        memset(to, patches->call->zero, count * patches->bytes);
    if (!is_padding)
        memcpy(to + (from - begin) * bytes, element(patches, pixel->offset + tap->offset + from),
               (size_t)((until - from) * bytes));
}

/* Steps [first, first + count) of k of a pixel's patch. */
static void gather_patch(const struct patches *patches, const struct pixel *pixel, size_t first,
                         size_t count, unsigned char *to)
{
    const struct convolution_typed *plan = patches->call->plan;
    const struct convolution_shape *s = patches->image;
    size_t taps = plan->merges_taps ? (size_t)s->kernel[WIDTH] : 1, unit = taps * (size_t)s->ic;
    struct tap tap = tap_at(s, first / unit * taps);
    for (size_t from = first % unit; count; from = 0) {
        size_t part = min_size(unit - from, count);
        (plan->merges_taps ? gather_row : gather_tap)(patches, pixel, &tap, from, part, to);
        next_tap(s, &tap, plan->merges_taps ? HEIGHT : WIDTH);
        count -= part, to += part * patches->bytes;
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
        copy_part(to + i * LANE_BYTES, from, half);
        copy_part(to_last + i * LANE_BYTES, last, half);
    }
}

INLINE void copy_lines(unsigned char *to, const unsigned char *from, ptrdiff_t apart, size_t lines,
                       size_t count)
{
    for (; count > 32; count -= 16, to += 16, from += 16)
        for (size_t i = 0; i < lines; i++)
            copy_part(to + i * LANE_BYTES, from + (ptrdiff_t)i * apart, 16);
    if (count >= 16)
        copy_ends(to, from, apart, lines, count, 16);
    else if (count >= 8)
        copy_ends(to, from, apart, lines, count, 8);
    else if (count >= 4)
        copy_ends(to, from, apart, lines, count, 4);
    else
        for (size_t i = 0; i < lines; i++)
            memcpy(to + i * LANE_BYTES, from + (ptrdiff_t)i * apart, count);
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
    struct pixel pixel = pixel_of(patches, i);
    gather_row(patches, &pixel, tap, 0, count, to + i * LANE_BYTES);
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
    if (!is_inside(patches->image, &patches->pixels[0], tap, WIDTH))
        inside.end = inside.begin;
    size_t lines = inside.end - inside.begin;
    if (lines == LANES) { /* a constant, for loops that are none */
        copy_lines(to, element(patches, rows->offset + tap->offset), rows->apart, LANES,
                   rows->bytes);
        return;
    }
    for (size_t i = 0; i < inside.begin; i++)
        gather_row_of(patches, tap, i, rows->count, to);
    if (lines)
        copy_lines(to + inside.begin * LANE_BYTES, element(patches, rows->offset + tap->offset),
                   rows->apart, lines, rows->bytes);
    for (size_t i = inside.end; i < patches->panel->lanes; i++)
        gather_row_of(patches, tap, i, rows->count, to);
}

static void gather_whole(const struct patches *patches, unsigned char *to)
{
    const struct convolution_shape *s = patches->image;
    const struct tap_rows rows = tap_rows_of(patches);
    struct tap tap = tap_at(s, 0);
    for (size_t done = 0; done < patches->panel->depth; done += rows.count, to += rows.bytes) {
        gather_rows(patches, &tap, &rows, to);
        next_tap(s, &tap, HEIGHT);
    }
}

static bool are_whole(const struct patches *patches)
{
    const struct convolution_typed *plan = patches->call->plan;
    size_t depth = patches->panel->depth;
    return plan->merges_taps && patches->are_in_a_row && depth == plan->gemm.shape.k &&
           depth * patches->bytes <= LANE_BYTES;
}

/* ---- panels ---- */

static struct pack_panel part_of(const struct gemm_side *side, const struct gemm_panel *panel)
{
    return (struct pack_panel){.from = side->from,
                               .to = side->to,
                               .group = side->group,
                               .width = panel->width,
                               .count = panel->lanes,
                               .sums = panel->sums};
}

/* `count` steps from p on, which begins a group: the part has the place in src of the first one. */
static void pack_steps(struct patches *patches, size_t p, size_t count)
{
    const struct gemm_side *side = &patches->call->plan->a;
    const struct gemm_panel *panel = patches->panel;
    patches->part.k = count;
    patches->part.out = (char *)panel->out + p * panel->width * element_bytes(side->to);
    side->pack(&patches->part);
}

static void pack_strided(struct patches *patches, size_t p, size_t count, const void *src,
                         ptrdiff_t lane, ptrdiff_t step)
{
    patches->part.lanes = NULL;
    patches->part.src = src;
    patches->part.lane = lane;
    patches->part.step = step;
    pack_steps(patches, p, count);
}

static void pack_listed(struct patches *patches, size_t p, size_t count, const void *const *lines)
{
    patches->part.lanes = lines;
    patches->part.step = 1;
    pack_steps(patches, p, count);
}

/* Steps [p, end) of the panel. */
static void pack_gathered(struct patches *patches, size_t p, size_t end)
{
    _Alignas(16) unsigned char values[LANES * LANE_BYTES];
    size_t steps = LANE_BYTES / patches->bytes;
    bool whole = are_whole(patches);
    if (whole)
        gather_whole(patches, values);
    for (; p < end; p += steps) {
        size_t count = min_size(steps, end - p);
        for (size_t i = 0; i < patches->panel->lanes && !whole; i++) {
            struct pixel pixel = pixel_of(patches, i);
            gather_patch(patches, &pixel, patches->panel->first + p, count,
                         values + i * LANE_BYTES);
        }
        pack_strided(patches, p, count, values, (ptrdiff_t)steps, 1);
    }
}

/* ---- in place ---- */

/* Those of pixels of a row, from `offset` elements behind their first taps on. */
static size_t find_lines_of_row(const struct patches *patches, const struct tap *tap,
                                neo_dim offset, const void **lines)
{
    const struct convolution_shape *s = patches->image;
    const struct pixel *first = &patches->pixels[0];
    bool inside = is_inside(s, first, tap, WIDTH);
    neo_dim column = first->at[WIDTH] + tap->at[WIDTH], stride = s->stride[WIDTH];
    size_t count = 0;
    offset += first->offset;
    for (size_t i = 0; i < patches->panel->lanes; i++, column += stride) {
        bool is_there = inside && (uint64_t)column < (uint64_t)s->in[WIDTH];
        lines[i] = is_there ? element(patches, offset) : patches->padding;
        offset += stride * s->src.w;
        count += is_there;
    }
    return count;
}

/* The lines of a tap's channels, from number `channel` on. Returns how many are in the image. */
static size_t find_lines(const struct patches *patches, const struct tap *tap, size_t channel,
                         const void **lines)
{
    const struct convolution_shape *s = patches->image;
    neo_dim offset = tap->offset + (neo_dim)channel * s->src.c;
    size_t count = 0;
    if (patches->are_in_a_row)
        return find_lines_of_row(patches, tap, offset, lines);
    for (size_t i = 0; i < patches->panel->lanes; i++) {
        struct pixel pixel = pixel_of(patches, i);
        bool inside = is_inside(s, &pixel, tap, SPACE);
        lines[i] = inside ? element(patches, pixel.offset + offset) : patches->padding;
        count += inside;
    }
    return count;
}

/* Are they next to each other, as pixels of a plane are? */
static bool are_near(const struct patches *patches, const void *const *lines)
{
    size_t lanes = patches->panel->lanes;
    for (size_t i = 1; i < lanes; i++)
        if ((const unsigned char *)lines[i] != (const unsigned char *)lines[0] + i * patches->bytes)
            return false;
    return true;
}

static void pack_lines(struct patches *patches, size_t p, size_t count, const struct tap *tap,
                       size_t channel)
{
    const struct convolution_shape *s = patches->image;
    const void *lines[LANES];
    size_t inside = find_lines(patches, tap, channel, lines);
    if (s->src.c == 1)
        pack_listed(patches, p, count, lines);
    else if (inside == patches->panel->lanes && are_near(patches, lines))
        pack_strided(patches, p, count, lines[0], 1, (ptrdiff_t)s->src.c);
    else
        pack_gathered(patches, p, p + count);
}

/* Are all of the row's pixels inside for this tap? */
static bool is_row_inside(const struct patches *patches, const struct tap *tap)
{
    const struct convolution_shape *s = patches->image;
    neo_dim first = patches->pixels[0].at[WIDTH] + tap->at[WIDTH];
    neo_dim last = first + (neo_dim)(patches->panel->lanes - 1) * s->stride[WIDTH];
    return first >= 0 && last < s->in[WIDTH] && is_inside(s, &patches->pixels[0], tap, WIDTH);
}

/* Steps [p, p + count) of the panel, which are a tap's channels from number `channel` on. */
static void pack_tap(struct patches *patches, size_t p, size_t count, const struct tap *tap,
                     size_t channel)
{
    const struct convolution_shape *s = patches->image;
    if (!patches->are_in_a_row || !is_row_inside(patches, tap)) {
        pack_lines(patches, p, count, tap, channel);
        return;
    }
    neo_dim offset = patches->pixels[0].offset + tap->offset + (neo_dim)channel * s->src.c;
    pack_strided(patches, p, count, element(patches, offset),
                 (ptrdiff_t)(s->stride[WIDTH] * s->src.w), (ptrdiff_t)s->src.c);
}

/* How many of the row's taps from this one on lie next to each other, in the image for each pixel,
 * as if they were one of more channels. */
static size_t taps_together(const struct patches *patches, const struct tap *tap)
{
    neo_dim taps = patches->image->kernel[WIDTH];
    struct tap last = *tap;
    last.at[WIDTH] = taps - 1;
    bool are_one = patches->call->plan->merges_taps && patches->are_in_a_row &&
                   is_row_inside(patches, tap) && is_row_inside(patches, &last);
    return are_one ? (size_t)(taps - tap->at[WIDTH]) : 1;
}

static void pack_taps(struct patches *patches)
{
    const struct convolution_shape *s = patches->image;
    size_t ic = (size_t)s->ic, depth = patches->panel->depth, first = patches->panel->first;
    if (!depth) /* no channels */
        return;
    size_t channel = first % ic;
    struct tap tap = tap_at(s, first / ic);
    for (size_t p = 0; p < depth; channel = 0) {
        size_t taps = taps_together(patches, &tap);
        size_t count = min_size(taps * ic - channel, depth - p);
        pack_tap(patches, p, count, &tap, channel);
        p += count;
        for (; taps > 0; taps--)
            next_tap(s, &tap, WIDTH);
    }
}

/* Each pixel has one tap, and the next one is at the same distance from all. */
static void pack_affine(struct patches *patches)
{
    const struct convolution_shape *s = patches->image;
    const struct gemm_panel *panel = patches->panel;
    neo_dim channel = (neo_dim)panel->batch * s->ic + (neo_dim)panel->first;
    neo_dim offset = (neo_dim)panel->lane * s->src.w + channel * s->src.c;
    pack_strided(patches, 0, panel->depth, element(patches, offset), (ptrdiff_t)s->src.w,
                 (ptrdiff_t)s->src.c);
}

static void pack_panel_of(struct patches *patches)
{
    const struct convolution_typed *plan = patches->call->plan;
    if (plan->is_affine) {
        pack_affine(patches);
        return;
    }
    set_pixels(patches);
    if (plan->reads_lines)
        pack_taps(patches);
    else
        pack_gathered(patches, 0, patches->panel->depth);
}

void convolution_typed_pack_panels(const void *context, void *scratch,
                                   const struct gemm_panel *first, size_t panels)
{
    const struct typed_call *call = context;
    const struct convolution_typed *plan = call->plan;
    const struct gemm_type *type = plan->gemm.shape.type;
    size_t bytes = panels > 1 ? gemm_panel_bytes(type, first->width, first->depth) : 0;
    struct gemm_panel panel = *first;
    struct patches patches = {.call = call,
                              .panel = &panel,
                              .image = &plan->image,
                              .padding = scratch,
                              .bytes = element_bytes(plan->a.stored),
                              .part = part_of(&plan->a, first)};
    for (; panels > 0; panels--) {
        pack_panel_of(&patches);
        panel.lane += panel.width;
        panel.out = (char *)panel.out + bytes;
        patches.part.sums = panel.sums = panel.sums ? panel.sums + panel.width : NULL;
    }
}

void convolution_typed_pack_a(const void *context, void *scratch, const struct gemm_panel *panel)
{
    convolution_typed_pack_panels(context, scratch, panel, 1);
}
