/* Where the elements of a lane, whose taps are innermost, are in a panel, whose taps are outermost.
 */
#ifndef KERNELS_PACK_F32_PACK_TAPS_H
#define KERNELS_PACK_F32_PACK_TAPS_H

#include <stdbool.h>
#include <stddef.h>

/* Element q = p * taps + t of a lane is in row t * k + p of the panel: how many elements in that
 * row begins. */
struct tap_cursor {
    size_t tap, taps;
    ptrdiff_t row, next, wrap; /* to the next tap's row; from the last one's to the first */
};

static inline struct tap_cursor tap_cursor(size_t width, size_t k, size_t taps, size_t q)
{
    size_t tap = q % taps, p = q / taps;
    return (struct tap_cursor){
        .tap = tap,
        .taps = taps,
        .row = (ptrdiff_t)((tap * k + p) * width),
        .next = (ptrdiff_t)(k * width),
        .wrap = (ptrdiff_t)width - (ptrdiff_t)((taps - 1) * k * width),
    };
}

static inline ptrdiff_t tap_row(struct tap_cursor *cursor)
{
    ptrdiff_t row = cursor->row;
    bool last = ++cursor->tap == cursor->taps;
    cursor->row += last ? cursor->wrap : cursor->next;
    cursor->tap = last ? 0 : cursor->tap;
    return row;
}

#endif
