/* Convolution as a matrix multiplication: how patches are divided into runs of contiguous values.
 *
 * With channels last and a dense kernel, a row of the kernel is one run of the values of a row of
 * src: few addresses, and few ends of runs. The patches of pixels near the ends of a row also need
 * the padding there, so each task makes copies of these ends with their padding, a few pixels of
 * each row. Where that would take much memory, each tap is a run. */
#include <string.h>

#include "src/convolution/gemm/gemm.h"

/* ---- plan ---- */

/* Where the first tap of a pixel's patch is in its row of src. */
static neo_dim column_of(const struct convolution_shape *s, neo_dim x)
{
    return x * s->stride[WIDTH] - s->padding[WIDTH];
}

/* Sets the pixels of dst whose patches lie within rows of src, and the pixels of src that the
 * others need. */
static void find_edges(struct convolution_gemm *plan)
{
    const struct convolution_shape *s = &plan->shape;
    neo_dim out = s->out[WIDTH], taps = s->kernel[WIDTH];
    struct span inner = convolution_inner_pixels(s, WIDTH);
    plan->inner_begin = (neo_dim)inner.begin;
    plan->inner_end = (neo_dim)inner.end;
    plan->left.begin = plan->left.end = column_of(s, 0);
    if (plan->inner_begin > 0)
        plan->left.end = column_of(s, plan->inner_begin - 1) + taps;
    plan->right.begin = plan->right.end = column_of(s, plan->inner_end);
    if (plan->inner_end < out)
        plan->right.end = column_of(s, out - 1) + taps;
}

/* The copies of a row's edges, in pixels. */
static neo_dim edge_pixels(const struct convolution_gemm *plan)
{
    return plan->left.end - plan->left.begin + plan->right.end - plan->right.begin;
}

/* Strides of 0 belong to an image that is still to be chosen, with channels last. */
static bool are_pixels_neighbours(const struct convolution_shape *s)
{
    return s->src.w == s->ic || s->src.w == 0 || s->in[WIDTH] == 1;
}

/* Copies of edges that would be half of a row are one of all of it. */
static void join_edges(struct convolution_gemm *plan)
{
    const struct convolution_shape *s = &plan->shape;
    neo_dim end = column_of(s, s->out[WIDTH] - 1) + s->kernel[WIDTH];
    if (edge_pixels(plan) * 2 < end - plan->left.begin)
        return;
    plan->inner_begin = plan->inner_end = s->out[WIDTH];
    plan->left.end = end;
    plan->right = (struct convolution_edge){0};
}

/* Every task has copies of an image's edges: a few, or little beside the image itself. */
static bool are_edges_small(const struct convolution_gemm *plan)
{
    enum { MOST_BYTES = 128 << 10, MOST_PART = 8 };
    const struct convolution_shape *s = &plan->shape;
    double pixels = (double)edge_pixels(plan);
    double bytes = pixels * (double)(s->in[DEPTH] * s->in[HEIGHT] * s->ic) * sizeof(float);
    return bytes <= (double)MOST_BYTES || pixels * (double)MOST_PART <= (double)s->in[WIDTH];
}

/* Runs of many values gain little by being longer. */
static bool are_rows_merged(struct convolution_gemm *plan)
{
    enum { MANY = 64 };
    const struct convolution_shape *s = &plan->shape;
    find_edges(plan);
    neo_dim pixels = edge_pixels(plan);
    if (s->kernel[WIDTH] == 1)
        return pixels == 0;
    if (s->dilation[WIDTH] != 1 || s->ic >= MANY || !are_pixels_neighbours(s))
        return false;
    if (pixels)
        join_edges(plan);
    return are_edges_small(plan);
}

static struct convolution_range range_of(const struct convolution_shape *s, int d, neo_dim first,
                                         neo_dim last)
{
    neo_dim reach = (s->kernel[d] - 1) * s->dilation[d] + 1;
    neo_dim begin = first * s->stride[d] - s->padding[d];
    neo_dim end = last * s->stride[d] - s->padding[d] + reach;
    begin = convolution_clamp(begin, 0, s->in[d]);
    return (struct convolution_range){begin, convolution_clamp(end, begin, s->in[d])};
}

static void place_edge(const struct convolution_shape *s, struct convolution_edge *edge)
{
    edge->from = convolution_clamp(edge->begin, 0, s->in[WIDTH]);
    edge->values =
        (size_t)((convolution_clamp(edge->end, edge->from, s->in[WIDTH]) - edge->from) * s->ic);
    edge->at += (size_t)(edge->from - edge->begin) * (size_t)s->ic; /* wraps if there is nothing */
}

static void place_edges(struct convolution_gemm *plan)
{
    const struct convolution_shape *s = &plan->shape;
    plan->segment = (size_t)(s->kernel[WIDTH] * s->ic);
    plan->edge_row = (size_t)(edge_pixels(plan) * s->ic);
    plan->right.at = (size_t)((plan->left.end - plan->left.begin) * s->ic);
    place_edge(s, &plan->left);
    place_edge(s, &plan->right);
    plan->planes = range_of(s, DEPTH, 0, s->out[DEPTH] - 1);
    plan->rows = range_of(s, HEIGHT, 0, s->out[HEIGHT] - 1);
}

/* Of a task's copies of all edges. */
static size_t edge_values(const struct convolution_gemm *plan)
{
    const struct convolution_shape *s = &plan->shape;
    return (size_t)(s->in[DEPTH] * s->in[HEIGHT]) * plan->edge_row;
}

void segments_plan(struct convolution_gemm *plan, const struct cpu *cpu)
{
    const struct convolution_shape *s = &plan->shape;
    plan->has_segments = s->src.c <= 1 || s->groups * s->ic == 1;
    plan->rows_are_merged = plan->has_segments && !plan->columns.count && are_rows_merged(plan);
    plan->segment = (size_t)s->ic;
    plan->copy = copy_f32_find(cpu->features)->run;
    if (plan->rows_are_merged) {
        place_edges(plan);
        if (plan->edge_row)
            plan->edge_bytes = (edge_values(plan) + plan->segment) * sizeof(float);
    } else {
        plan->inner_begin = 0;
        plan->inner_end = s->out[WIDTH];
    }
}

/* ---- run ---- */

static void copy_edge(const struct convolution_gemm *plan, const struct convolution_edge *edge,
                      const float *src, size_t rows, float *out)
{
    if (edge->values)
        plan->copy(&(struct copy_f32_plane){
            .rows = rows,
            .cols = edge->values, /* pixels are neighbours, or it is one */
            .src = src + edge->from * plan->shape.src.w,
            .src_row = plan->shape.src.h,
            .src_col = 1,
            .dst = out + edge->at,
            .dst_row = (ptrdiff_t)plan->edge_row,
            .dst_col = 1,
        });
}

static void copy_edges(const struct convolution_gemm *plan, const float *plane,
                       struct convolution_range rows, float *out)
{
    size_t count = (size_t)(rows.end - rows.begin);
    const float *src = plane + rows.begin * plan->shape.src.h;
    memset(out, 0, count * plan->edge_row * sizeof *out);
    copy_edge(plan, &plan->left, src, count, out);
    copy_edge(plan, &plan->right, src, count, out);
}

/* Sets the planes of src that rows of a matrix of the GEMM need, and the rows of these. */
static void find_ranges(const struct convolution_gemm *plan, size_t begin, size_t rows,
                        struct convolution_range *planes, struct convolution_range *lines)
{
    const struct convolution_shape *s = &plan->shape;
    if (plan->images && rows == plan->gemm.shape.m) {
        *planes = plan->planes;
        *lines = plan->rows;
        return;
    }
    struct pixel first = patches_pixel(s, begin), last = patches_pixel(s, begin + rows - 1);
    *planes = range_of(s, DEPTH, first.at[DEPTH], last.at[DEPTH]);
    *lines = range_of(s, HEIGHT, first.at[HEIGHT], last.at[HEIGHT]);
    if (first.at[DEPTH] != last.at[DEPTH])
        *lines = (struct convolution_range){0, s->in[HEIGHT]};
}

void convolution_gemm_prepare_a(const void *context, void *task_scratch, size_t batch, size_t row,
                                size_t rows)
{
    const struct convolution_call *call = context;
    const struct convolution_gemm *plan = call->plan;
    const struct convolution_shape *s = &plan->shape;
    struct convolution_range planes, lines;
    float *edges = task_scratch;
    if (plan->table)
        memset(edges + edge_values(plan), 0, plan->segment * sizeof *edges);
    find_ranges(plan, first_pixel(plan, batch) + row, rows, &planes, &lines);
    if (lines.begin == lines.end)
        return;
    const float *image = (const float *)call->execution->buffers[SRC] +
                         first_of(plan, batch).n * s->src.n +
                         matrix_of(plan, batch) * s->ic * s->src.c;
    for (neo_dim d = planes.begin; d < planes.end; d++)
        copy_edges(plan, image + d * s->src.d, lines,
                   edges + (size_t)(d * s->in[HEIGHT] + lines.begin) * plan->edge_row);
}
