/* Packing and unpacking, a panel at a time. */
#include "src/packed/pack.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/pack/f32/copy.h"
#include "kernels/pack/f32/pack.h"
#include "src/core/checked.h"
#include "src/tensor/layout.h"
#include "src/tensor/winograd.h"
#include "src/threading/partition.h"

enum { ROWS_AT_ONCE = 256, LEAST_SLICE = 16 /* a cache line */ };

/* Packed weights as matrices whose rows are taps (outer) × channels: where that is in the plain
 * tensor. */
struct matrices {
    struct layout_shape shape;
    size_t panels;   /* of one matrix, */
    size_t parts;    /* and with the columns that come once more, unless it is unpacked */
    size_t slice;    /* columns of the depthwise layout's only panel are cut into so many; else 0 */
    size_t channels; /* rows of one tap */
    neo_dim row_stride, column_stride;
    int tap_dims, first_tap_dim; /* which dimensions are taps */
    int matrix_dims;             /* the first ones, which number the matrices */
    size_t taps;
    bool taps_innermost; /* in the plain tensor, without gaps */
    const neo_memory_desc *plain;
};

static bool taps_are_innermost(const struct matrices *m)
{
    neo_dim stride = 1;
    for (int i = m->first_tap_dim + m->tap_dims - 1; i >= m->first_tap_dim; i--) {
        if (m->plain->dims[i] != 1 && m->plain->strides[i] != stride)
            return false;
        stride *= m->plain->dims[i];
    }
    return m->taps > 1 && (m->channels == 1 || m->row_stride == (neo_dim)m->taps);
}

static struct matrices matrices_of(const neo_memory_desc *plain, const neo_memory_desc *packed,
                                   bool unpacks)
{
    struct matrices m = {.shape = layout_shape(packed), .plain = plain};
    int ndims = plain->ndims, grouped = packed->packed.grouped;
    switch (packed->packed.id) {
    case LAYOUT_MATMUL_F32:
        m.matrix_dims = ndims - 2;
        m.channels = (size_t)plain->dims[ndims - 2];
        m.row_stride = plain->strides[ndims - 2];
        m.column_stride = plain->strides[ndims - 1];
        break;
    case LAYOUT_CONVOLUTION_F32:
        m.matrix_dims = grouped;
        m.channels = (size_t)plain->dims[grouped + 1];
        m.row_stride = plain->strides[grouped + 1];
        m.column_stride = plain->strides[grouped];
        m.first_tap_dim = grouped + 2;
        m.tap_dims = ndims - m.first_tap_dim;
        break;
    case LAYOUT_DEPTHWISE_F32: /* one panel as wide as there are groups */
        m.channels = 1;
        m.column_stride = plain->strides[0];
        m.first_tap_dim = 3;
        m.tap_dims = ndims - 3;
        break;
    }
    m.slice = packed->packed.id == LAYOUT_DEPTHWISE_F32 ? max_size(m.shape.n, 1) : 0;
    m.panels = m.slice ? 1 : layout_panel_count(m.shape.n);
    m.parts = m.panels + (m.slice || unpacks ? 0 : layout_tail_columns(m.shape.n));
    m.taps = m.channels ? m.shape.k / m.channels : 0;
    m.taps_innermost = taps_are_innermost(&m);
    return m;
}

/* The offset of number index in the dimensions [first, first + count), the last one running
 * fastest. */
static neo_dim offset_in(const neo_memory_desc *plain, int first, int count, size_t index)
{
    neo_dim offset = 0;
    for (int i = first + count - 1; i >= first; i--) {
        offset += (neo_dim)(index % (size_t)plain->dims[i]) * plain->strides[i];
        index /= (size_t)plain->dims[i];
    }
    return offset;
}

struct pack_run {
    const struct weights_transfer *transfer;
    struct matrices matrices;
    copy_f32_fn *copy;
    bool unpacks;
};

/* Panels [begin, end) of one matrix, of their channels [first, first + count). */
struct block {
    size_t matrix, begin, end;
    size_t first, count;
};

/* One panel of one matrix: its first elements on both sides. */
struct place {
    struct layout_panel panel;
    size_t row; /* elements from one of its packed rows to the next */
    float *plain, *packed;
};

/* Panel number index, or a column that comes once more, and the columns before it. */
static struct layout_panel part_of(const struct matrices *m, size_t index, size_t *before)
{
    size_t n = m->shape.n, tail = layout_tail_columns(n);
    if (index < m->panels) {
        *before = layout_panel_offset(n, index);
        return layout_panel(n, index);
    }
    *before = layout_tail_offset(n) + (index - m->panels);
    return (struct layout_panel){n - tail + (index - m->panels), 1, 1};
}

static struct place place_of(const struct pack_run *run, size_t matrix, size_t index)
{
    const struct matrices *m = &run->matrices;
    struct place place = {.row = m->shape.n};
    if (m->slice) {
        size_t first = index * m->slice, width = min_size(m->slice, m->shape.n - first);
        place.panel = (struct layout_panel){.first = first, .width = width, .valid = width};
        place.packed = run->transfer->packed_data + first;
    } else {
        size_t before;
        place.panel = part_of(m, index, &before);
        place.row = place.panel.width;
        place.packed = run->transfer->packed_data + matrix * m->shape.step + before * m->shape.k;
    }
    place.plain = run->transfer->plain_data + offset_in(m->plain, 0, m->matrix_dims, matrix) +
                  (neo_dim)place.panel.first * m->column_stride;
    return place;
}

/* Some rows of a panel, which lie one after the other, and so many of a plain matrix, whose lanes
 * are the panel's columns. */
struct rows {
    const struct layout_panel *panel;
    size_t count;
    float *plain, *packed;
    ptrdiff_t step; /* from a row to the next in the plain matrix */
};

static void run_rows(const struct pack_run *run, const struct rows *rows)
{
    size_t width = rows->panel->width, valid = rows->panel->valid;
    ptrdiff_t lane = run->matrices.column_stride;
    if (!run->unpacks)
        pack_f32(&(struct pack_f32_panel){.width = width,
                                          .count = valid,
                                          .k = rows->count,
                                          .src = rows->plain,
                                          .lane = lane,
                                          .step = rows->step,
                                          .out = rows->packed});
    else
        run->copy(&(struct copy_f32_plane){.rows = rows->count,
                                           .cols = valid,
                                           .src = rows->packed,
                                           .src_row = (ptrdiff_t)width,
                                           .src_col = 1,
                                           .dst = rows->plain,
                                           .dst_row = rows->step,
                                           .dst_col = lane});
}

/* Channels of one tap of a panel. */
static void run_tap(const struct pack_run *run, const struct place *place,
                    const struct block *block, size_t tap)
{
    const struct matrices *m = &run->matrices;
    float *plain = place->plain + offset_in(m->plain, m->first_tap_dim, m->tap_dims, tap) +
                   (neo_dim)block->first * m->row_stride;
    run_rows(run, &(struct rows){.panel = &place->panel,
                                 .count = block->count,
                                 .plain = plain,
                                 .packed = place->packed +
                                           (tap * m->channels + block->first) * place->row,
                                 .step = m->row_stride});
}

static void run_block(const struct pack_run *run, const struct block *block)
{
    for (size_t index = block->begin; index < block->end; index++) {
        struct place place = place_of(run, block->matrix, index);
        for (size_t tap = 0; tap < run->matrices.taps; tap++)
            run_tap(run, &place, block, tap);
    }
}

/* A channel's taps are next to each other in the plain matrix, and if there is one channel only, in
 * the panel, too. */
static void run_panel_taps(const struct pack_run *run, const struct place *place)
{
    const struct matrices *m = &run->matrices;
    if (m->channels == 1)
        run_rows(run, &(struct rows){.panel = &place->panel,
                                     .count = m->taps,
                                     .plain = place->plain,
                                     .packed = place->packed,
                                     .step = 1});
    else
        pack_f32(&(struct pack_f32_panel){.width = place->panel.width,
                                          .count = place->panel.valid,
                                          .k = m->channels * m->taps,
                                          .taps = m->taps,
                                          .src = place->plain,
                                          .lane = m->column_stride,
                                          .step = 1,
                                          .out = place->packed});
}

static void run_all_taps(const struct pack_run *run, const struct block *block)
{
    for (size_t index = block->begin; index < block->end; index++) {
        struct place place = place_of(run, block->matrix, index);
        run_panel_taps(run, &place);
    }
}

/* Where a row of the plain matrix is contiguous, a few rows at a time through all panels: one panel
 * alone would read a small part of each row, and of a page. */
static void run_panels(const struct pack_run *run, size_t matrix, size_t begin, size_t end)
{
    const struct matrices *m = &run->matrices;
    struct block block = {.matrix = matrix, .begin = begin, .end = end, .count = m->channels};
    bool at_once = m->channels == 1 || !run->unpacks;
    if (m->taps_innermost && at_once) {
        run_all_taps(run, &block);
        return;
    }
    size_t step = m->column_stride == 1 && end - begin > 1 ? ROWS_AT_ONCE : m->channels;
    for (size_t first = 0; first < m->channels; first += step) {
        block.first = first;
        block.count = min_size(step, m->channels - first);
        run_block(run, &block);
    }
}

/* What is behind a matrix. */
static void clear_gap(const struct pack_run *run, size_t matrix)
{
    const struct matrices *m = &run->matrices;
    size_t used = m->shape.k * layout_all_columns(m->shape.n);
    float *out = run->transfer->packed_data + matrix * m->shape.step + used;
    for (size_t i = used; !m->slice && i < m->shape.step; i++)
        *out++ = 0;
}

static void run_span(void *argument, struct span span, int slot)
{
    (void)slot;
    const struct pack_run *run = argument;
    size_t parts = run->matrices.parts;
    while (span.begin < span.end) {
        size_t first = span.begin % parts, many = min_size(parts - first, span.end - span.begin);
        run_panels(run, span.begin / parts, first, first + many);
        if (first + many == parts && !run->unpacks)
            clear_gap(run, span.begin / parts);
        span.begin += many;
    }
}

/* The depthwise layout's panel for several threads. The kernel that reads all taps of a channel at
 * once writes whole rows; slices of them go tap by tap. */
static void cut_panel(struct matrices *m, int pieces)
{
    m->slice = round_up(div_up(m->slice, (size_t)pieces), LEAST_SLICE);
    m->panels = m->parts = div_up(m->shape.n, m->slice);
    m->taps_innermost &= m->panels == 1;
}

static void transfer(const struct weights_transfer *t, bool unpacks,
                     const struct parallel *parallel, int threads)
{
    struct pack_run run = {
        .transfer = t,
        .matrices = matrices_of(t->plain, t->packed, unpacks),
        .copy = copy_f32_find(t->cpu->features)->run,
        .unpacks = unpacks,
    };
    if (run.matrices.slice && threads > 1)
        cut_panel(&run.matrices, parallel_pieces(parallel, threads));
    size_t parts = run.matrices.shape.matrices * run.matrices.parts;
    parallel_for_tiles(parallel, parts, threads, run_span, &run);
}

/* ---- Winograd ---- */

struct winograd_run {
    const struct weights_transfer *transfer;
    struct layout_shape shape;
    struct winograd_side {
        size_t points, taps;
        double rows[WINOGRAD_MOST][WINOGRAD_MOST_TAPS];
    } down, across;
};

/* The weights of a kernel, row by row. */
typedef double kernel_taps[WINOGRAD_MOST_TAPS][WINOGRAD_MOST_TAPS];

static double product(const double *row, const double *values, size_t step, size_t taps)
{
    double sum = 0;
    for (size_t i = 0; i < taps; i++)
        sum += row[i] * values[i * step];
    return sum;
}

/* One kernel's values at all points, `step` elements apart. Each is rounded once. */
static void transform_kernel(const struct winograd_run *run, kernel_taps taps, float *out,
                             size_t step)
{
    const struct winograd_side *down = &run->down, *across = &run->across;
    double half[WINOGRAD_MOST][WINOGRAD_MOST_TAPS];
    for (size_t u = 0; u < down->points; u++)
        for (size_t x = 0; x < across->taps; x++)
            half[u][x] = product(down->rows[u], &taps[0][x], WINOGRAD_MOST_TAPS, down->taps);
    for (size_t u = 0; u < down->points; u++)
        for (size_t v = 0; v < across->points; v++, out += step)
            *out = (float)product(across->rows[v], half[u], 1, across->taps);
}

static void load_kernel(const struct weights_transfer *t, size_t column, size_t k, kernel_taps taps)
{
    const neo_memory_desc *plain = t->plain;
    int first = t->packed->packed.grouped, last = plain->ndims - 1;
    const neo_dim *strides = plain->strides, *dims = plain->dims;
    const float *from =
        t->plain_data + (neo_dim)column * strides[first] + (neo_dim)k * strides[first + 1];
    bool is_plane = last == first + 3;
    for (neo_dim y = 0; y < (is_plane ? dims[last - 1] : 1); y++)
        for (neo_dim x = 0; x < dims[last]; x++)
            taps[y][x] = (double)from[(is_plane ? y * strides[last - 1] : 0) + x * strides[last]];
}

static void winograd_panel(const struct winograd_run *run, size_t index)
{
    const struct layout_shape *shape = &run->shape;
    struct layout_panel panel = layout_panel(shape->n, index);
    float *out = run->transfer->packed_data + layout_panel_offset(shape->n, index) * shape->k;
    for (size_t k = 0; k < shape->k; k++)
        for (size_t j = 0; j < panel.width; j++, out++) {
            kernel_taps taps = {{0}};
            if (j < panel.valid)
                load_kernel(run->transfer, panel.first + j, k, taps);
            transform_kernel(run, taps, out, shape->step);
        }
}

/* What is between the matrices of the points. */
static void clear_gaps(const struct winograd_run *run)
{
    const struct layout_shape *shape = &run->shape;
    size_t used = shape->k * shape->columns, gap = shape->step - used;
    float *out = run->transfer->packed_data + used;
    for (size_t point = 0; point < shape->matrices; point++, out += shape->step)
        memset(out, 0, gap * sizeof *out);
}

static void winograd_panels(void *argument, struct span panels, int slot)
{
    const struct winograd_run *run = argument;
    (void)slot;
    for (size_t p = panels.begin; p < panels.end; p++)
        winograd_panel(run, p);
}

static struct winograd_side winograd_side(const neo_memory_desc *packed, int dimension)
{
    bool is_transformed = dimension >= packed->packed.grouped + 2 && packed->dims[dimension] != 1;
    struct winograd_side side = {.points = 1, .taps = 1};
    if (is_transformed) {
        side.points = layout_winograd_points(packed->packed.id);
        side.taps = layout_winograd_taps(packed);
    }
    for (size_t point = 0; point < side.points; point++)
        winograd_weights_row(side.points, side.taps, point, side.rows[point]);
    return side;
}

static void pack_winograd(const struct weights_transfer *t, const struct parallel *parallel,
                          int threads)
{
    int last = t->packed->ndims - 1;
    struct winograd_run run = {
        .transfer = t,
        .shape = layout_shape(t->packed),
        .down = winograd_side(t->packed, last - 1),
        .across = winograd_side(t->packed, last),
    };
    clear_gaps(&run);
    parallel_for_tiles(parallel, layout_panel_count(run.shape.n), threads, winograd_panels, &run);
}

/* ---- both ways ---- */

void weights_pack(const struct weights_transfer *t, const struct parallel *parallel, int threads)
{
    if (layout_winograd_points(t->packed->packed.id)) {
        pack_winograd(t, parallel, threads);
        return;
    }
    transfer(t, false, parallel, threads);
}

void weights_unpack(const struct weights_transfer *t, const struct parallel *parallel, int threads)
{
    transfer(t, true, parallel, threads);
}
