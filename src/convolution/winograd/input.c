/* Winograd convolution: from the source to the rows of the matrix multiplications. A block of tiles
 * is transformed for a few channels at a time: so the lines of the matrices that these tiles share
 * stay in the L1 cache until they are full. */
#include "src/convolution/winograd/winograd.h"

/* begin <= i < end */
struct range {
    neo_dim begin, end;
};

/* Which of `count` positions, the first one being `from`, are in [0, size). */
static struct range existing(neo_dim from, size_t count, neo_dim size)
{
    neo_dim most = (neo_dim)count, begin = from < 0 ? -from : 0, end = size - from;
    return (struct range){begin, end < most ? end : most};
}

/* Pixels that are elsewhere than next to each other, a row and four channels at a time. */
static void copy_patch(const struct convolution_winograd *plan,
                       const struct winograd_f32_patch *patch)
{
    ptrdiff_t column = (ptrdiff_t)plan->shape.src.w;
    for (size_t y = 0; y < patch->rows; y++)
        for (size_t c = 0; c < patch->channels; c += WINOGRAD_F32_GROUP)
            plan->copy(&(struct copy_f32_plane){
                .rows = min_size(patch->channels - c, WINOGRAD_F32_GROUP),
                .cols = patch->cols,
                .src =
                    patch->src + (ptrdiff_t)y * patch->src_row + (ptrdiff_t)c * patch->src_channel,
                .src_row = patch->src_channel,
                .src_col = column,
                .dst = patch->dst + y * patch->dst_row + c / WINOGRAD_F32_GROUP * patch->dst_group,
                .dst_row = 1,
                .dst_col = WINOGRAD_F32_GROUP,
            });
}

/* Copies what exists of a tile's source to the patch, channels [channel, channel + count). */
static void gather_tile(const struct task *task, const struct tile *tile, size_t channel,
                        size_t count)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    struct range rows = existing(tile->y - s->padding[HEIGHT], tile->rows, s->in[HEIGHT]);
    struct range cols = existing(tile->x - s->padding[WIDTH], tile->cols, s->in[WIDTH]);
    neo_dim y = tile->y - s->padding[HEIGHT] + rows.begin, row = (neo_dim)tile->cols * CHUNK;
    neo_dim x = tile->x - s->padding[WIDTH] + cols.begin;
    if (rows.begin >= rows.end || cols.begin >= cols.end)
        return;
    struct winograd_f32_patch patch = {
        .rows = (size_t)(rows.end - rows.begin),
        .cols = (size_t)(cols.end - cols.begin),
        .channels = count,
        .src = (const float *)task->run->execution->buffers[SRC] + tile->n * s->src.n +
               (neo_dim)channel * s->src.c + y * s->src.h + x * s->src.w,
        .src_row = s->src.h,
        .src_channel = s->src.c,
        .dst = task->patches + rows.begin * row + cols.begin * WINOGRAD_F32_GROUP,
        .dst_row = (size_t)row,
        .dst_group = tile->cols * WINOGRAD_F32_GROUP,
    };
    if (s->src.w == 1)
        plan->kernel->gather(&patch);
    else
        copy_patch(plan, &patch);
}

/* The address of each pixel of a tile, column by column: of zeros, or (y, x) of the tile is at
 * origin + y * row + x * column. */
static void list_pixels(const struct task *task, const struct tile *tile, const float *origin,
                        neo_dim row, neo_dim column, const float **pixels)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    neo_dim rows = (neo_dim)tile->rows, cols = (neo_dim)tile->cols;
    struct range down = existing(tile->y - s->padding[HEIGHT], tile->rows, s->in[HEIGHT]);
    struct range across = existing(tile->x - s->padding[WIDTH], tile->cols, s->in[WIDTH]);
    for (neo_dim x = 0; x < cols; x++, origin += column, pixels += rows) {
        bool inside = across.begin <= x && x < across.end;
        neo_dim begin = inside ? down.begin : rows, y = 0;
        for (; y < begin && y < rows; y++)
            pixels[y] = task->zeros;
        for (; y < down.end; y++)
            pixels[y] = origin + y * row;
        for (; y < rows; y++)
            pixels[y] = task->zeros;
    }
}

static const float *origin_of(const struct task *task, const struct tile *tile)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    return (const float *)task->run->execution->buffers[SRC] + tile->n * s->src.n +
           (tile->y - s->padding[HEIGHT]) * s->src.h + (tile->x - s->padding[WIDTH]) * s->src.w;
}

static bool has_padding(const struct convolution_shape *s, const struct tile *tile)
{
    neo_dim top = tile->y - s->padding[HEIGHT], left = tile->x - s->padding[WIDTH];
    return top < 0 || left < 0 || top + (neo_dim)tile->rows > s->in[HEIGHT] ||
           left + (neo_dim)tile->cols > s->in[WIDTH];
}

static void list_patch(const struct task *task, const struct tile *tile, const float **pixels)
{
    list_pixels(task, tile, task->patches, (neo_dim)tile->cols * CHUNK, WINOGRAD_F32_GROUP, pixels);
}

/* Tiles of a kind without padding share the addresses of the first one: patches have one place. */
static void find_pixels(const struct task *task, const struct tile *tile, size_t i,
                        struct winograd_f32_input *input)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    struct strip *strip = task->strip;
    bool inner = !has_padding(s, tile), gathers = task->run->plan->gathers;
    const float *origin = gathers ? task->patches : origin_of(task, tile);
    const float **first = &strip->inner_origin[tile->kind];
    const float **pixels = inner ? strip->inner_pixels[tile->kind] : strip->pixels[i];
    bool known = inner && *first;
    if (!known && gathers)
        list_patch(task, tile, pixels);
    else if (!known)
        list_pixels(task, tile, origin, s->src.h, s->src.w, pixels);
    if (inner && !known)
        *first = origin;
    input->pixels = pixels;
    input->from = inner ? origin - *first : 0;
}

/* ---- targets ---- */

/* The rows of a tile at the points of a kind. */
static void list_part(const struct task *task, const struct tile *tile, size_t kind,
                      float **targets, size_t *steps)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct cursor *next = &task->strip->next[kind];
    struct span rows = plan->rows.points[kind / SIZES], cols = plan->cols.points[kind % SIZES];
    size_t step = next->blocks.height * WINOGRAD_F32_GROUP, wide = tile->cols;
    float *first = task->inputs + next->block + next->row * WINOGRAD_F32_GROUP;
    const size_t *inputs = task->strip->rows->inputs + rows.begin * plan->across;
    targets += rows.begin * wide;
    steps += rows.begin * wide;
    for (size_t u = rows.begin; u < rows.end;
         u++, inputs += plan->across, targets += wide, steps += wide)
        for (size_t v = cols.begin; v < cols.end; v++) {
            targets[v] = first + inputs[v];
            steps[v] = step;
        }
}

static bool is_empty(struct span points)
{
    return points.begin == points.end;
}

/* Takes the next row of each of the tile's points, by smaller kinds that share these. Are blocks as
 * high at all of them? */
static bool list_targets(const struct task *task, const struct tile *tile, size_t i)
{
    const struct convolution_winograd *plan = task->run->plan;
    struct strip *strip = task->strip;
    size_t height = strip->next[tile->kind].blocks.height, different = 0;
    for (size_t r = tile->kind / SIZES; r < SIZES; r++)
        for (size_t c = tile->kind % SIZES; c < SIZES; c++) {
            size_t kind = r * SIZES + c;
            if (is_empty(plan->rows.points[r]) || is_empty(plan->cols.points[c]))
                continue;
            different |= strip->next[kind].blocks.height ^ height;
            list_part(task, tile, kind, strip->targets[i], strip->steps[i]);
            winograd_next_row(&strip->next[kind], plan->padded);
        }
    return !different;
}

static bool has_one_kind(const struct strip *strip)
{
    return strip->rows->counts[strip->tiles[0].kind] == strip->count;
}

/* Tiles of one kind share the addresses of its first rows. */
static void share_targets(const struct task *task)
{
    struct strip *strip = task->strip;
    const struct tile *tile = &strip->tiles[0];
    float **targets = strip->first_targets;
    if (strip->shared == strip->rows)
        return;
    strip->shared = strip->rows;
    for (size_t u = 0; u < tile->rows; u++)
        for (size_t v = 0; v < tile->cols; v++)
            *targets++ = task->inputs + strip->rows->inputs[u * task->run->plan->across + v];
}

static void find_targets(const struct task *task, const struct tile *tile, size_t i,
                         struct winograd_f32_input *input)
{
    struct strip *strip = task->strip;
    struct cursor *next = &strip->next[tile->kind];
    if (!has_one_kind(strip)) {
        bool same_step = list_targets(task, tile, i);
        input->targets = strip->targets[i];
        input->steps = same_step ? NULL : strip->steps[i];
        input->step = strip->steps[i][0];
        return;
    }
    input->steps = NULL;
    input->targets = strip->first_targets;
    input->step = next->blocks.height * WINOGRAD_F32_GROUP;
    input->shift = next->block + next->row * WINOGRAD_F32_GROUP;
    winograd_next_row(next, task->run->plan->padded);
}

/* Tile i of a block, from its first channel on. */
static void place_tile(const struct task *task, const struct tile *tile, size_t i,
                       struct winograd_f32_input *input)
{
    const struct convolution_winograd *plan = task->run->plan;
    input->rows = winograd_forward(plan, tile->rows);
    input->cols = winograd_forward(plan, tile->cols);
    input->first = input->shift = 0;
    input->from_group = WINOGRAD_F32_GROUP;
    find_targets(task, tile, i, input);
    find_pixels(task, tile, i, input);
}

/* The last channels of a tile, which are gathered: [channel, channel + count). */
static void transform_patch(const struct task *task, const struct tile *tile,
                            const struct winograd_f32_input *place, size_t channel, size_t count)
{
    struct winograd_f32_input input = *place;
    gather_tile(task, tile, channel, count);
    if (!task->run->plan->gathers) {
        list_patch(task, tile, task->strip->patch);
        input.pixels = task->strip->patch;
    }
    input.from = 0;
    input.from_group = tile->cols * WINOGRAD_F32_GROUP;
    input.groups = div_up(count, WINOGRAD_F32_GROUP);
    task->run->plan->kernel->input(&input);
}

/* The next `count` channels of a tile, which begin with this one. */
static void transform_tile(const struct task *task, const struct tile *tile,
                           struct winograd_f32_input *next, size_t channel, size_t count)
{
    const struct convolution_winograd *plan = task->run->plan;
    size_t rest = plan->gathers ? count : count % WINOGRAD_F32_GROUP, whole = count - rest;
    next->groups = whole / WINOGRAD_F32_GROUP;
    if (whole)
        plan->kernel->input(next);
    next->from += (ptrdiff_t)whole;
    next->first += next->groups;
    if (rest == 0)
        return;
    transform_patch(task, tile, next, channel + whole, rest);
    next->first += div_up(rest, WINOGRAD_F32_GROUP);
}

/* Channels from this one on. */
static void skip_channels(struct winograd_f32_input *input, size_t channel)
{
    input->from += (ptrdiff_t)channel;
    input->first += channel / WINOGRAD_F32_GROUP;
}

static void transform_block(const struct task *task, const struct tile *tiles, size_t count,
                            struct span chunks)
{
    size_t ic = min_size((size_t)task->run->plan->shape.ic, chunks.end * CHUNK);
    struct winograd_f32_input next[BLOCK];
    for (size_t i = 0; i < count; i++) {
        place_tile(task, &tiles[i], i, &next[i]);
        skip_channels(&next[i], chunks.begin * CHUNK);
    }
    for (size_t c = chunks.begin * CHUNK; c < ic; c += CHUNK)
        for (size_t i = 0; i < count; i++)
            transform_tile(task, &tiles[i], &next[i], c, min_size(CHUNK, ic - c));
}

size_t winograd_chunks(const struct convolution_winograd *plan)
{
    return div_up((size_t)plan->shape.ic, CHUNK);
}

void winograd_transform_inputs(const struct task *task, struct span chunks)
{
    struct strip *strip = task->strip;
    for (size_t kind = 0; kind < KINDS; kind++)
        strip->next[kind] = (struct cursor){strip->rows->rows_of[kind], 0, 0};
    if (has_one_kind(strip))
        share_targets(task);
    for (size_t t = 0; t < strip->count; t += BLOCK)
        transform_block(task, &strip->tiles[t], min_size(BLOCK, strip->count - t), chunks);
}
