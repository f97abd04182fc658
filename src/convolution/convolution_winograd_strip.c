/* Winograd convolution: which tiles a strip has, and their rows in the matrices of their points. */
#include <string.h>

#include "src/convolution/convolution_winograd.h"

/* A tile by its number: of tiles of one size in both dimensions, which follow each other, by image,
 * row and column. */
struct position {
    size_t r, c; /* sizes */
    size_t n, row, column;
};

/* Of the next size that there are tiles of. */
static void find_size(const struct convolution_winograd *plan, struct position *at)
{
    while (at->r < SIZES && (!plan->rows.count[at->r] || !plan->cols.count[at->c]))
        if (++at->c == SIZES)
            at->r++, at->c = 0;
}

static struct position position_of(const struct convolution_winograd *plan, size_t index)
{
    struct position at = {0};
    for (;;) {
        size_t across = plan->cols.count[at.c], image = plan->rows.count[at.r] * across;
        if (index < image * (size_t)plan->shape.batch) {
            at.n = index / image;
            at.row = index % image / across;
            at.column = index % across;
            return at;
        }
        index -= image * (size_t)plan->shape.batch;
        if (++at.c == SIZES)
            at.r++, at.c = 0;
    }
}

static void advance(const struct convolution_winograd *plan, struct position *at)
{
    if (++at->column < plan->cols.count[at->c])
        return;
    at->column = 0;
    if (++at->row < plan->rows.count[at->r])
        return;
    at->row = 0;
    if (++at->n < (size_t)plan->shape.batch)
        return;
    at->n = 0;
    if (++at->c == SIZES)
        at->r++, at->c = 0;
    find_size(plan, at);
}

static struct tile tile_at(const struct convolution_winograd *plan, const struct position *at)
{
    const struct cut *rows = &plan->rows, *cols = &plan->cols;
    const struct convolution_shape *s = &plan->shape;
    struct tile tile = {
        .n = (neo_dim)at->n,
        .y = winograd_cut_begin(rows, at->r, at->row),
        .x = winograd_cut_begin(cols, at->c, at->column),
        .rows = rows->size[at->r] + rows->halo,
        .cols = cols->size[at->c] + cols->halo,
    };
    tile.height = min_size(rows->size[at->r], (size_t)(s->out[HEIGHT] - tile.y));
    tile.width = min_size(cols->size[at->c], (size_t)(s->out[WIDTH] - tile.x));
    return tile;
}

static void list_tiles(const struct convolution_winograd *plan, struct span tiles,
                       struct tile *list)
{
    struct position at = position_of(plan, tiles.begin);
    for (size_t t = tiles.begin; t < tiles.end; t++, advance(plan, &at))
        *list++ = tile_at(plan, &at);
}

static bool are_alike(const struct tile *a, const struct tile *b)
{
    return a->rows == b->rows && a->cols == b->cols;
}

static void find_runs(struct strip *strip)
{
    strip->run_count = 0;
    for (size_t t = 0, end; t < strip->count; t = end) {
        for (end = t; end < strip->count && are_alike(&strip->tiles[t], &strip->tiles[end]); end++)
            strip->tiles[end].run = strip->run_count;
        strip->runs[strip->run_count++] = (struct span){t, end};
    }
}

/* Counts the rows at each point. */
static void count_rows(const struct strip *strip, size_t across, uint16_t *rows)
{
    memset(rows, 0, MOST_POINTS * sizeof *rows);
    for (size_t r = 0; r < strip->run_count; r++) {
        struct span run = strip->runs[r];
        const struct tile *tile = &strip->tiles[run.begin];
        for (size_t u = 0; u < tile->rows; u++)
            for (size_t v = 0; v < tile->cols; v++)
                rows[u * across + v] = (uint16_t)(rows[u * across + v] + run.end - run.begin);
    }
}

/* ---- blocks of rows ---- */

static struct blocks blocks_of(size_t rows)
{
    size_t count = div_up(rows, WINOGRAD_F32_MR), height = rows / max_size(count, 1);
    return (struct blocks){height, count - (rows - count * height)};
}

/* What is written about pieces so far. */
struct pieces {
    struct piece *next;
    uint8_t *heights;
    float *inputs, *sums; /* of the next row */
};

static void begin_piece(struct pieces *pieces, size_t point)
{
    *pieces->next++ = (struct piece){point, pieces->inputs, pieces->sums, pieces->heights};
}

static void end_piece(struct pieces *pieces)
{
    *pieces->heights++ = WINOGRAD_F32_PANEL;
    *pieces->heights++ = WINOGRAD_F32_END;
}

static void list_blocks(const struct convolution_winograd *plan, struct pieces *pieces,
                        size_t point, size_t rows)
{
    struct blocks blocks = blocks_of(rows);
    for (size_t i = 0, height; rows > 0; i++, rows -= height) {
        if (i == plan->most_blocks) {
            end_piece(pieces);
            begin_piece(pieces, point);
            i = 0;
        }
        height = blocks.height;
        *pieces->heights++ = (uint8_t)height;
        pieces->inputs += height * plan->padded;
        pieces->sums += height * WINOGRAD_F32_NR;
        winograd_next_block(&blocks);
    }
}

/* Gives each point its blocks, and the places of its inputs and sums. */
static void list_points(const struct task *task, const uint16_t *rows, uint32_t *sums)
{
    const struct convolution_winograd *plan = task->run->plan;
    struct strip *strip = task->strip;
    struct pieces pieces = {strip->pieces, strip->heights, task->inputs, task->sums};
    size_t points = plan->down * plan->across;
    for (size_t p = 0; p < points; p++) {
        if (plan->slot) {
            pieces.inputs = task->inputs + p * plan->slot;
            pieces.sums = task->sums + p * plan->slot;
        }
        struct blocks blocks = blocks_of(rows[p]);
        strip->places[p] = (struct place){pieces.inputs, blocks, blocks.height};
        sums[p] = (uint32_t)((size_t)(pieces.sums - task->sums) * sizeof(float));
        if (p % plan->of_piece == 0)
            begin_piece(&pieces, p);
        list_blocks(plan, &pieces, p, rows[p]);
        if ((p + 1) % plan->of_piece == 0 || p + 1 == points)
            end_piece(&pieces);
        else
            *pieces.heights++ = WINOGRAD_F32_PANEL;
    }
    strip->piece_count = (size_t)(pieces.next - strip->pieces);
    strip->panel = plan->slot ? strip->count * WINOGRAD_F32_NR : (size_t)(pieces.sums - task->sums);
}

/* ---- rows ---- */

enum { SUM_BYTES = WINOGRAD_F32_NR * sizeof(float) }; /* of a row */

/* Takes a run's rows of each of its points. next: the first of these, in bytes. */
static void place_sums(const struct tile *tile, size_t tiles, size_t across, uint32_t *next,
                       uint32_t *sums)
{
    for (size_t v = 0; v < tile->cols; v++)
        for (size_t u = 0; u < tile->rows; u++) {
            *sums++ = next[u * across + v];
            next[u * across + v] += (uint32_t)(tiles * SUM_BYTES);
        }
}

void winograd_make_strip(const struct task *task, struct span tiles)
{
    const struct convolution_winograd *plan = task->run->plan;
    struct strip *strip = task->strip;
    uint16_t rows[MOST_POINTS];
    uint32_t sums[MOST_POINTS];
    strip->count = tiles.end - tiles.begin;
    list_tiles(plan, tiles, strip->tiles);
    find_runs(strip);
    count_rows(strip, plan->across, rows);
    list_points(task, rows, sums);
    for (size_t r = 0; r < strip->run_count; r++)
        place_sums(&strip->tiles[strip->runs[r].begin], strip->runs[r].end - strip->runs[r].begin,
                   plan->across, sums, strip->sums[r]);
}
