/* Winograd convolution: which rows the tiles of a strip have in the matrices of their points. */
#include "src/convolution/winograd/winograd.h"

enum { SUM_BYTES = WINOGRAD_F32_NR * sizeof(float) }; /* of a row */

/* ---- blocks of rows ---- */

static struct blocks blocks_of(size_t rows)
{
    size_t count = div_up(rows, WINOGRAD_F32_MR), height = rows / max_size(count, 1);
    return (struct blocks){height, count - (rows - count * height)};
}

static void next_block(struct blocks *blocks)
{
    if (--blocks->lower == 0)
        blocks->height++;
}

void winograd_next_row(struct cursor *cursor, size_t padded)
{
    size_t height = cursor->blocks.height;
    if (++cursor->row < height)
        return;
    cursor->row = 0;
    cursor->block += height * padded;
    next_block(&cursor->blocks);
}

/* ---- pieces ---- */

/* What is written about pieces so far. */
struct pieces {
    struct arrangement *rows;
    size_t heights, inputs, sums; /* the next one, and of the next row */
};

static void begin_piece(struct pieces *pieces, size_t point)
{
    pieces->rows->pieces[pieces->rows->piece_count++] = (struct piece){
        pieces->inputs, (uint32_t)pieces->sums, (uint16_t)point, (uint16_t)pieces->heights};
}

static void add_height(struct pieces *pieces, size_t height)
{
    pieces->rows->heights[pieces->heights++] = (uint8_t)height;
}

static void end_piece(struct pieces *pieces)
{
    add_height(pieces, WINOGRAD_F32_PANEL);
    add_height(pieces, WINOGRAD_F32_END);
}

static void list_blocks(const struct convolution_winograd *plan, struct pieces *pieces,
                        size_t point, struct blocks blocks, size_t rows)
{
    for (size_t i = 0, height; rows > 0; i++, rows -= height) {
        if (i == plan->most_blocks) {
            end_piece(pieces);
            begin_piece(pieces, point);
            i = 0;
        }
        height = blocks.height;
        add_height(pieces, height);
        pieces->inputs += height * plan->padded;
        pieces->sums += height * WINOGRAD_F32_NR;
        next_block(&blocks);
    }
}

/* The fewest blocks of rows that a point of a piece has, but of those that have any. */
static size_t fewest_blocks(const uint8_t *heights)
{
    size_t fewest = MOST_HEIGHTS, blocks = 0;
    for (; *heights != WINOGRAD_F32_END; heights++) {
        if (*heights != WINOGRAD_F32_PANEL) {
            blocks++;
            continue;
        }
        fewest = min_size(fewest, blocks ? blocks : MOST_HEIGHTS);
        blocks = 0;
    }
    return fewest;
}

size_t winograd_ahead_step(const struct arrangement *rows, size_t piece)
{
    enum { LINE = 64, GROUP = 4 * WINOGRAD_F32_NR * sizeof(float), LINES = 2 /* of a block */ };
    const struct piece *pieces = rows->pieces;
    bool is_more = piece > 0 && pieces[piece - 1].point == pieces[piece].point;
    size_t blocks = fewest_blocks(rows->heights + pieces[piece].heights);
    return is_more ? 0 : min_size(div_up(GROUP, LINES * blocks), LINE);
}

/* ---- points ---- */

static size_t size_at(const struct cut *cut, size_t point)
{
    size_t size = SIZES - 1;
    while (size > 0 && point >= cut->points[size].end)
        size--;
    return size;
}

/* The kind whose tiles have a point, and of which no smaller ones have. */
static size_t kind_at(const struct convolution_winograd *plan, size_t point)
{
    return size_at(&plan->rows, point / plan->across) * SIZES +
           size_at(&plan->cols, point % plan->across);
}

/* Gives each point its blocks, and the places of its inputs and sums: these in bytes. */
static void list_points(const struct convolution_winograd *plan, struct arrangement *rows,
                        uint32_t *sums)
{
    size_t points = plan->down * plan->across, counts[KINDS];
    struct pieces pieces = {.rows = rows};
    for (size_t kind = 0; kind < KINDS; kind++) {
        counts[kind] = winograd_rows_at(plan, kind, rows->counts);
        rows->rows_of[kind] = blocks_of(counts[kind]);
    }
    for (size_t p = 0; p < points; p++) {
        size_t kind = kind_at(plan, p);
        if (plan->slot)
            pieces.inputs = pieces.sums = p * plan->slot;
        rows->inputs[p] = pieces.inputs;
        sums[p] = (uint32_t)(pieces.sums * sizeof(float));
        if (p % plan->of_piece == 0)
            begin_piece(&pieces, p);
        list_blocks(plan, &pieces, p, rows->rows_of[kind], counts[kind]);
        if ((p + 1) % plan->of_piece == 0 || p + 1 == points)
            end_piece(&pieces);
        else
            add_height(&pieces, WINOGRAD_F32_PANEL);
    }
    rows->panel = pieces.sums;
}

/* Takes the rows of all tiles of a kind at each of its points. next: the first of these, in bytes.
 */
static void place_sums(const struct convolution_winograd *plan, size_t kind, size_t tiles,
                       uint32_t *next, uint32_t *sums)
{
    size_t down = plan->rows.size[kind / SIZES] + plan->rows.halo;
    size_t across = plan->cols.size[kind % SIZES] + plan->cols.halo;
    for (size_t v = 0; v < across; v++)
        for (size_t u = 0; u < down; u++) {
            *sums++ = next[u * plan->across + v];
            next[u * plan->across + v] += (uint32_t)(tiles * SUM_BYTES);
        }
}

void winograd_arrange(const struct convolution_winograd *plan, struct span tiles,
                      struct arrangement *rows)
{
    uint32_t sums[MOST_POINTS];
    rows->piece_count = 0;
    winograd_count_kinds(&plan->kinds, tiles, rows->counts);
    list_points(plan, rows, sums);
    if (plan->slot)
        rows->panel = (tiles.end - tiles.begin) * WINOGRAD_F32_NR;
    for (size_t kind = 0; kind < KINDS; kind++)
        if (rows->counts[kind])
            place_sums(plan, kind, rows->counts[kind], sums, rows->sums[kind]);
}
