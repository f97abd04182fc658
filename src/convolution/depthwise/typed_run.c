/* Depthwise convolution of any types: tasks of tiles. */
#include <string.h>

#include "kernels/asm/inline.h"
#include "src/convolution/depthwise/typed.h"
#include "src/tensor/element.h"

/* What a task does one after the other, in its part of the scratchpad. */
struct work {
    const struct depthwise_typed_call *call;
    unsigned char *scratch;
    struct depthwise_tile tile;
    const void **lines;
    size_t bytes; /* of an element of src */
};

/* A kernel row, or the one below the last one where rows of pixels are pairs, seen from a row of
 * the tile: where its first column would be in src, which columns are in the image, and is all of
 * it padding? */
struct source_row {
    neo_dim depth, height, first;
    struct span inside;
};

static neo_dim clamp(neo_dim value, neo_dim high)
{
    return value < 0 ? 0 : value > high ? high : value;
}

static struct source_row source_row(const struct work *work, size_t row, size_t tap)
{
    const struct convolution_shape *s = &work->call->plan->shape;
    const struct depthwise_tile *tile = &work->tile;
    neo_dim columns = (neo_dim)work->call->plan->columns;
    neo_dim plane = work->call->plan->pairs ? 0 : (neo_dim)tap / s->kernel[HEIGHT];
    neo_dim line = (neo_dim)tap - plane * s->kernel[HEIGHT];
    struct source_row out = {
        .depth = tile->depth * s->stride[DEPTH] - s->padding[DEPTH] + plane * s->dilation[DEPTH],
        .height = (neo_dim)(tile->row + row) * s->stride[HEIGHT] - s->padding[HEIGHT] +
                  line * s->dilation[HEIGHT],
        .first = (neo_dim)tile->first * s->stride[WIDTH] - s->padding[WIDTH],
    };
    bool is_padding =
        out.depth < 0 || out.depth >= s->in[DEPTH] || out.height < 0 || out.height >= s->in[HEIGHT];
    out.inside.begin = (size_t)clamp(-out.first, columns);
    out.inside.end = is_padding ? 0 : (size_t)clamp(s->in[WIDTH] - out.first, columns);
    out.inside.end = max_size(out.inside.begin, out.inside.end);
    return out;
}

/* Where its first column's channels are in src, or would be. */
static const unsigned char *source_of(const struct work *work, const struct source_row *row)
{
    const struct image_strides *src = &work->call->plan->shape.src;
    neo_dim offset =
        work->tile.n * src->n + row->depth * src->d + row->height * src->h + row->first * src->w;
    return (const unsigned char *)work->call->execution->buffers[SRC] +
           offset * (neo_dim)work->bytes;
}

static const unsigned char *padding_of(const struct work *work)
{
    const struct depthwise_typed *plan = work->call->plan;
    size_t channel = plan->gathers ? work->tile.from : 0;
    return (const unsigned char *)depthwise_part(work->call, plan->shared.padding) +
           channel * work->bytes;
}

/* ---- lists of lines ---- */

/* Lines that a row of the tile has. */
static size_t list_below(const struct depthwise_typed *plan)
{
    return plan->columns * plan->lists * plan->kernel->group;
}

static const void **list_of(const struct work *work, size_t row)
{
    const struct depthwise_typed *plan = work->call->plan;
    return work->lines + row * list_below(plan);
}

/* Where copies of a kernel row's lines are. */
static unsigned char *patch_of(const struct work *work, size_t row, size_t tap)
{
    const struct depthwise_typed *plan = work->call->plan;
    size_t line = DEPTHWISE_CHUNK * DEPTHWISE_BLOCK * work->bytes;
    return work->scratch + plan->task.patch +
           (row * plan->layout.rows + tap) * plan->columns * line;
}

/* Lines of a group of kernel rows: where their first columns are, and how many bytes columns are
 * from each other; 0: all of them are padding. */
struct group {
    const unsigned char *lines[DEPTHWISE_MOST_GROUP];
    ptrdiff_t apart[DEPTHWISE_MOST_GROUP];
    struct span inside;
};

static void find_line(const struct work *work, size_t row, size_t tap, struct group *group,
                      size_t r)
{
    const struct depthwise_typed *plan = work->call->plan;
    struct source_row source = {.first = 0};
    if (tap < plan->layout.rows || plan->pairs)
        source = source_row(work, row, tap);
    group->lines[r] = padding_of(work);
    group->apart[r] = 0;
    if (source.inside.begin == source.inside.end)
        return;
    group->inside = source.inside;
    group->lines[r] = plan->gathers ? patch_of(work, row, tap) : source_of(work, &source);
    group->apart[r] = (plan->gathers ? DEPTHWISE_CHUNK * DEPTHWISE_BLOCK : plan->shape.src.w) *
                      (ptrdiff_t)work->bytes;
}

INLINE void list_padding(const void **lines, size_t count, const void *padding)
{
    for (size_t i = 0; i < count; i++)
        lines[i] = padding;
}

INLINE void list_columns(const void **lines, const struct group *group, size_t rows, size_t columns,
                         const void *padding)
{
    size_t begin = group->inside.begin, end = group->inside.end;
    const unsigned char *at[DEPTHWISE_MOST_GROUP];
    ptrdiff_t apart[DEPTHWISE_MOST_GROUP];
    for (size_t r = 0; r < rows; r++) {
        apart[r] = group->apart[r];
        at[r] = group->lines[r] + (ptrdiff_t)begin * apart[r];
    }
    list_padding(lines, begin * rows, padding);
    for (size_t x = begin; x < end; x++)
        for (size_t r = 0; r < rows; r++) {
            lines[x * rows + r] = at[r];
            at[r] += apart[r];
        }
    list_padding(lines + end * rows, (columns - end) * rows, padding);
}

/* Groups are of 4 rows, 3 or 1: constants, so that the inner loop is none. */
static void list_group(const struct work *work, size_t row, size_t g)
{
    const struct depthwise_typed *plan = work->call->plan;
    size_t rows = plan->kernel->group, columns = plan->columns;
    const void **lines = list_of(work, row) + g * rows * columns, *padding = padding_of(work);
    struct group group = {.inside = {0, 0}};
    for (size_t r = 0; r < rows; r++)
        find_line(work, row, g * rows + r, &group, r);
    if (rows == 4)
        list_columns(lines, &group, 4, columns, padding);
    else if (rows == 3)
        list_columns(lines, &group, 3, columns, padding);
    else
        list_columns(lines, &group, 1, columns, padding);
}

static void list_lines(const struct work *work)
{
    const struct depthwise_typed *plan = work->call->plan;
    for (size_t row = 0; row < work->tile.height; row += plan->pairs ? 2 : 1)
        for (size_t g = 0; g < plan->lists; g++)
            list_group(work, row, g);
}

/* ---- copies of lines ---- */

/* One element for each column. */
static void copy_column(unsigned char *to, ptrdiff_t to_step, const unsigned char *from,
                        ptrdiff_t from_step, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++, to += to_step, from += from_step) {
        if (bytes == 1)
            memcpy(to, from, 1);
        else if (bytes == 2)
            memcpy(to, from, 2);
        else
            memcpy(to, from, 4);
    }
}

static void gather_tap(const struct work *work, size_t row, size_t tap)
{
    const struct convolution_shape *s = &work->call->plan->shape;
    struct source_row source = source_row(work, row, tap);
    ptrdiff_t bytes = (ptrdiff_t)work->bytes, line = DEPTHWISE_CHUNK * DEPTHWISE_BLOCK * bytes;
    ptrdiff_t apart = (ptrdiff_t)s->src.w * bytes;
    size_t first = source.inside.begin, count = source.inside.end - first;
    unsigned char *to = patch_of(work, row, tap) + (ptrdiff_t)first * line;
    if (!count)
        return;
    const unsigned char *from = source_of(work, &source) + (ptrdiff_t)first * apart;
    size_t end = work->tile.channel + work->tile.channels - work->tile.from;
    for (size_t c = 0; c < end; c++) {
        neo_dim channel = (neo_dim)((work->tile.from + c) / (size_t)s->oc);
        copy_column(to + (ptrdiff_t)c * bytes, line, from + channel * s->src.c * bytes, apart,
                    count, work->bytes);
    }
}

static void gather(const struct work *work)
{
    const struct depthwise_typed *plan = work->call->plan;
    for (size_t row = 0; row < work->tile.height; row++)
        for (size_t tap = 0; tap < plan->layout.rows; tap++)
            gather_tap(work, row, tap);
}

/* ---- sums ---- */

/* end: NULL, or what sums become, for the first row. */
static void run_rows(const struct work *work, struct depthwise_taps *taps, struct gemm_finish *end)
{
    const struct depthwise_typed *plan = work->call->plan;
    neo_data_type type = work->call->execution->problem->tensors[DST].data_type;
    size_t below = (size_t)plan->shape.dst.h, below_bytes = below * element_bytes(element_of(type));
    size_t height = work->tile.height, sums_below = work->tile.width * taps->row;
    unsigned char *dst = end ? end->dst : NULL;
    float *sums = taps->sums;
    size_t together, times = 1;
    taps->below = end ? below : sums_below;
    taps->end = end;
    for (size_t row = 0; row < height; row += together * times) {
        together = plan->pairs && row + 1 < height ? 2 : 1;
        if (plan->takes_rows)
            taps->height = times = (height - row) / together;
        taps->lines = work->lines + row * taps->list_below;
        taps->sums = sums + row * sums_below;
        if (end)
            end->dst = dst + row * below_bytes;
        (together == 2 ? plan->kernel->run_pair : plan->kernel->run)(taps);
    }
}

/* Do sums become results while they are in registers? Not where they are those of channels that
 * another task has, too. */
static bool ends_here(const struct work *work)
{
    return work->call->ends && work->tile.from == work->tile.channel;
}

/* Of each block of the tile's channels, in rows of DEPTHWISE_CHUNK blocks. */
static void sum_rows(const struct work *work, size_t sums_at, bool ones)
{
    const struct depthwise_typed_call *call = work->call;
    const struct depthwise_typed *plan = call->plan;
    const struct convolution_shape *s = &plan->shape;
    const struct depthwise_shared_parts *parts = &plan->shared;
    size_t first_block = work->tile.chunk * DEPTHWISE_CHUNK;
    size_t blocks = min_size(DEPTHWISE_CHUNK, plan->layout.blocks - first_block);
    struct depthwise_taps taps = {
        .pixels = work->tile.width,
        .groups = plan->groups,
        .columns = (size_t)s->kernel[WIDTH],
        .stride = (size_t)s->stride[WIDTH],
        .dilation = (size_t)s->dilation[WIDTH],
        .list = plan->columns * plan->kernel->group,
        .list_below = list_below(plan),
        .height = 1,
        .row = DEPTHWISE_CHUNK * DEPTHWISE_BLOCK,
        .is_narrow = ones || call->is_narrow,
    };
    struct gemm_finish end;
    bool ends = ends_here(work);
    for (size_t b = 0; b < blocks; b++) {
        size_t block = first_block + b, weights = block * plan->layout.block_bytes;
        size_t first = depthwise_layout_first(&plan->layout, block), at = first - work->tile.from;
        taps.weights = ones ? depthwise_part(call, parts->ones) : call->weights + weights;
        taps.start =
            (const float *)depthwise_part(call, ones ? parts->ones_start : parts->start) + first;
        taps.offset = (plan->gathers ? at : first) * work->bytes;
        taps.sums = (float *)(void *)(work->scratch + sums_at) + at;
        if (ends)
            end = depthwise_typed_end(call, &work->tile, first);
        run_rows(work, &taps, ends ? &end : NULL);
    }
}

/* Sums of src, which count for zero points of weights. */
static void subtract_zeros(const struct work *work)
{
    const struct depthwise_typed *plan = work->call->plan;
    const struct depthwise_tile *tile = &work->tile;
    enum { ROW = DEPTHWISE_CHUNK * DEPTHWISE_BLOCK };
    size_t skipped = tile->channel - tile->from;
    const uint32_t *zeros =
        (const uint32_t *)depthwise_part(work->call, plan->shared.zeros) + tile->channel;
    uint32_t *sums = (uint32_t *)(void *)(work->scratch + plan->task.sums) + skipped;
    const uint32_t *more =
        (const uint32_t *)(const void *)(work->scratch + plan->task.more_sums) + skipped;
    for (size_t i = 0; i < tile->height * tile->width; i++)
        for (size_t c = 0; c < tile->channels; c++)
            sums[i * ROW + c] -= zeros[c] * more[i * ROW + c];
}

/* What a tap in the padding added, which stands for 0. */
static void take_tap_back(const struct work *work, size_t tap, uint32_t *sums)
{
    const struct depthwise_tile *tile = &work->tile;
    const uint32_t *excess =
        (const uint32_t *)depthwise_part(work->call, work->call->plan->shared.excess) +
        tile->channel;
    for (size_t c = 0; c < tile->channels; c++)
        sums[c] -= excess[c] * depthwise_typed_weight(work->call, tile->channel + c, tap);
}

static void take_padding_back(const struct work *work)
{
    const struct depthwise_typed *plan = work->call->plan;
    const struct convolution_shape *s = &plan->shape;
    const struct depthwise_tile *tile = &work->tile;
    size_t columns = (size_t)s->kernel[WIDTH];
    uint32_t *sums =
        (uint32_t *)(void *)(work->scratch + plan->task.sums) + (tile->channel - tile->from);
    for (size_t i = 0; i < tile->height * tile->width; i++)
        for (size_t tap = 0; tap < plan->layout.rows * columns; tap++) {
            struct source_row source = source_row(work, i / tile->width, tap / columns);
            size_t x = i % tile->width * (size_t)s->stride[WIDTH] +
                       tap % columns * (size_t)s->dilation[WIDTH];
            if (x < source.inside.begin || x >= source.inside.end)
                take_tap_back(work, tap, sums + i * DEPTHWISE_CHUNK * DEPTHWISE_BLOCK);
        }
}

static void run_tile(const struct work *work)
{
    const struct depthwise_typed *plan = work->call->plan;
    if (plan->gathers)
        gather(work);
    sum_rows(work, plan->task.sums, false);
    if (work->call->has_zeros) {
        sum_rows(work, plan->task.more_sums, true);
        subtract_zeros(work);
    }
    if (work->call->has_excess)
        take_padding_back(work);
    if (!ends_here(work))
        depthwise_typed_finish(work->call, &work->tile, work->scratch);
}

/* ---- tasks ---- */

static struct depthwise_tile tile_at(const struct depthwise_typed *plan, size_t index)
{
    const struct convolution_shape *s = &plan->shape;
    struct depthwise_tile tile = {.chunk = index % plan->chunks};
    index /= plan->chunks;
    tile.first = index % plan->tiles_across * plan->tile_width;
    tile.width = min_size(plan->tile_width, (size_t)s->out[WIDTH] - tile.first);
    index /= plan->tiles_across;
    tile.row = index % plan->tiles_down * plan->tile_height;
    tile.height = min_size(plan->tile_height, (size_t)s->out[HEIGHT] - tile.row);
    index /= plan->tiles_down;
    tile.depth = (neo_dim)(index % (size_t)s->out[DEPTH]);
    tile.n = (neo_dim)(index / (size_t)s->out[DEPTH]);
    tile.channel = tile.chunk * DEPTHWISE_CHUNK * DEPTHWISE_BLOCK;
    tile.channels =
        min_size(DEPTHWISE_CHUNK * DEPTHWISE_BLOCK, plan->layout.channels - tile.channel);
    tile.from = depthwise_layout_first(&plan->layout, tile.chunk * DEPTHWISE_CHUNK);
    return tile;
}

static void run_span(void *argument, struct span span, int slot)
{
    const struct depthwise_typed_call *call = argument;
    const struct depthwise_typed *plan = call->plan;
    struct work work = {
        .call = call,
        .scratch = call->scratch + plan->shared.bytes + (size_t)slot * plan->task.bytes,
        .bytes = element_bytes(type_of(call->execution->problem, SRC)),
    };
    work.lines = (const void **)(void *)(work.scratch + plan->task.lines);
    for (size_t index = span.begin; index < span.end; index++) {
        work.tile = tile_at(plan, index);
        if (plan->gathers || index == span.begin || index % plan->chunks == 0)
            list_lines(&work);
        run_tile(&work);
    }
}

void depthwise_typed_run(const void *plan, const struct execution *execution)
{
    const struct depthwise_typed *mine = plan;
    const struct convolution_shape *s = &mine->shape;
    struct depthwise_typed_call call = {mine, execution, .scratch = execution->scratch};
    size_t planes = (size_t)(s->batch * s->out[DEPTH]);
    if (planes == 0 || s->out[HEIGHT] * s->out[WIDTH] == 0)
        return;
    depthwise_typed_prepare(&call);
    parallel_for_tiles(execution->parallel,
                       planes * mine->tiles_down * mine->tiles_across * mine->chunks,
                       execution->threads, run_span, &call);
}
