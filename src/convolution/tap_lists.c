/* Lists of the addresses of taps. */
#include "src/convolution/tap_lists.h"

#include "src/core/checked.h"

/* So many taps along a dimension are inside if the first one is before this place. */
static pair room_for(const struct convolution_shape *s, int dimension, size_t taps)
{
    neo_dim room = s->in[dimension] - (neo_dim)(taps - 1) * s->dilation[dimension];
    return both(room > 0 ? (uint64_t)room : 0);
}

struct tap_grid tap_grid(const struct convolution_shape *s, size_t rows, neo_dim row_stride,
                         neo_dim column_stride)
{
    return (struct tap_grid){
        .taps = (size_t)s->kernel[WIDTH],
        .height = both((uint64_t)s->in[HEIGHT]),
        .width = both((uint64_t)s->in[WIDTH]),
        .line = both((uint64_t)s->dilation[HEIGHT]),
        .column = both((uint64_t)s->dilation[WIDTH]),
        .down = both(bytes(s->dilation[HEIGHT] * row_stride)),
        .right = both(bytes(s->dilation[WIDTH] * column_stride)),
        .inner_line = room_for(s, HEIGHT, rows),
        .inner_column = room_for(s, WIDTH, (size_t)s->kernel[WIDTH]),
    };
}

/* Are all taps of all pixels inside? */
static inline bool are_inside(const struct tap_grid *grid, const struct tap_lanes *lanes)
{
    pair inside = both(~(uint64_t)0);
#pragma GCC unroll 4
    for (size_t p = 0; p < TAP_PAIRS; p++)
        inside &= (pair)(load_pair(lanes->line + 2 * p) < grid->inner_line) &
                  (pair)(load_pair(lanes->column + 2 * p) < grid->inner_column);
    return inside[0] & inside[1];
}

/* Lists so many taps, from number `tap` of the first row of the kernel on, which are inside. */
static inline void list_inner(const struct tap_grid *grid, const struct tap_lanes *lanes,
                              size_t tap, size_t count, const float **out)
{
    pair down = grid->down, right = grid->right, first[TAP_PAIRS], skipped = both(right[0] * tap);
    size_t taps = grid->taps;
#pragma GCC unroll 4
    for (size_t p = 0; p < TAP_PAIRS; p++)
        first[p] = load_pair(lanes->address + 2 * p);
    for (; count > 0; tap = 0, skipped = both(0)) {
        size_t end = min_size(taps, tap + count);
        count -= end - tap;
        pair address[TAP_PAIRS];
#pragma GCC unroll 4
        for (size_t p = 0; p < TAP_PAIRS; p++) {
            address[p] = first[p] + skipped;
            first[p] += down;
        }
        for (; tap < end; tap++, out += TAP_LIST)
#pragma GCC unroll 4
            for (size_t p = 0; p < TAP_PAIRS; p++) {
                put_pair(out + 2 * p, address[p]);
                address[p] += right;
            }
    }
}

/* The same where zeros stand for those that are not inside. */
static __attribute__((noinline)) void list_clipped(const struct tap_grid *given,
                                                   const struct tap_lanes *lanes, size_t tap,
                                                   size_t count, const float *zeros,
                                                   const float **out)
{
    const struct tap_grid copy = *given, *grid = &copy; /* lists do not change it */
    pair padding = both((uintptr_t)zeros), first[TAP_PAIRS], line[TAP_PAIRS];
    pair skipped = both(grid->right[0] * tap), columns = both(grid->column[0] * tap);
#pragma GCC unroll 4
    for (size_t p = 0; p < TAP_PAIRS; p++) {
        first[p] = load_pair(lanes->address + 2 * p);
        line[p] = load_pair(lanes->line + 2 * p);
    }
    for (; count > 0; tap = 0, skipped = columns = both(0)) {
        size_t end = min_size(grid->taps, tap + count);
        count -= end - tap;
        pair address[TAP_PAIRS], column[TAP_PAIRS];
#pragma GCC unroll 4
        for (size_t p = 0; p < TAP_PAIRS; p++) {
            pair exists = (pair)(line[p] < grid->height);
            address[p] = first[p] + skipped;
            column[p] = load_pair(lanes->column + 2 * p) + columns;
            column[p] = (column[p] & exists) | (both(TAP_NOWHERE) & ~exists);
            first[p] += grid->down;
            line[p] += grid->line;
        }
        for (; tap < end; tap++, out += TAP_LIST)
#pragma GCC unroll 4
            for (size_t p = 0; p < TAP_PAIRS; p++) {
                pair inside = (pair)(column[p] < grid->width);
                put_pair(out + 2 * p, (address[p] & inside) | (padding & ~inside));
                address[p] += grid->right;
                column[p] += grid->column;
            }
    }
}

void tap_list(const struct tap_grid *grid, const struct tap_lanes *lanes, size_t tap, size_t count,
              const float *zeros, const float **out)
{
    if (are_inside(grid, lanes))
        list_inner(grid, lanes, tap, count, out);
    else
        list_clipped(grid, lanes, tap, count, zeros, out);
}
