/* Patches of any type become panels. Where a tap's channels are whole groups along k, they are read
 * from the image, the padding from a line of its own; else a patch's elements are gathered, some
 * steps of k at a time, for a group has elements of several taps. */
#include <string.h>

#include "src/convolution/gemm/typed_patches.h"

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
        patches->pixels[0] = patches_pixel(patches, patches->panel->width);
    else
        find_pixels(patches);
    patches->left -= (neo_dim)patches->panel->width;
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
    _Alignas(16) unsigned char values[PATCHES_LANES * PATCHES_LANE_BYTES];
    size_t steps = PATCHES_LANE_BYTES / patches->bytes;
    bool whole = convolution_patches_gather_whole(patches, values);
    for (; p < end; p += steps) {
        size_t count = min_size(steps, end - p);
        if (!whole)
            convolution_patches_gather(patches, p, count, values);
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
    bool inside = patches_have(s, first, tap, WIDTH);
    neo_dim column = first->at[WIDTH] + tap->at[WIDTH], stride = s->stride[WIDTH];
    size_t count = 0;
    offset += first->offset;
    for (size_t i = 0; i < patches->panel->lanes; i++, column += stride) {
        bool is_there = inside && (uint64_t)column < (uint64_t)s->in[WIDTH];
        lines[i] = is_there ? patches_element(patches, offset) : patches->padding;
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
        struct pixel pixel = patches_pixel(patches, i);
        bool inside = patches_have(s, &pixel, tap, SPACE);
        lines[i] = inside ? patches_element(patches, pixel.offset + offset) : patches->padding;
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
    const void *lines[PATCHES_LANES];
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
    return first >= 0 && last < s->in[WIDTH] && patches_have(s, &patches->pixels[0], tap, WIDTH);
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
    pack_strided(patches, p, count, patches_element(patches, offset),
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
    struct tap tap = patches_tap(s, first / ic);
    for (size_t p = 0; p < depth; channel = 0) {
        size_t taps = taps_together(patches, &tap);
        size_t count = min_size(taps * ic - channel, depth - p);
        pack_tap(patches, p, count, &tap, channel);
        p += count;
        for (; taps > 0; taps--)
            patches_next_tap(s, &tap, WIDTH);
    }
}

/* Each pixel has one tap, and the next one is at the same distance from all. */
static void pack_affine(struct patches *patches)
{
    const struct convolution_shape *s = patches->image;
    const struct gemm_panel *panel = patches->panel;
    neo_dim channel = (neo_dim)panel->batch * s->ic + (neo_dim)panel->first;
    neo_dim offset = (neo_dim)panel->lane * s->src.w + channel * s->src.c;
    pack_strided(patches, 0, panel->depth, patches_element(patches, offset), (ptrdiff_t)s->src.w,
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
