/* Convolution as a matrix multiplication: patches that are read in place, by the addresses of their
 * segments.
 *
 * Few channels leave few products for an address. So these are found for eight rows at a time, two
 * in a vector, without a branch for the padding; and what pixels of a row of dst have in common is
 * found once. */
#include "kernels/asm/inline.h"
#include "src/convolution/gemm/gemm.h"
#include "src/convolution/tap_lists.h"
#include "src/core/checked.h"

enum { LIST = GEMM_F32_LIST, PAIRS = LIST / 2 };
_Static_assert((int)LIST == (int)TAP_LIST, "a tile's rows are listed together");

/* ---- pixels of dst, one after the other ---- */

/* A row of dst is a run of pixels, or up to three if its edges have copies. Addresses and their
 * differences are numbers that wrap around, coordinates in src that are negative large ones. */
struct walk {
    const struct convolution_gemm *plan;
    uint64_t src, edges; /* addresses of a group's image, and of its copies */
    struct pixel pixel;  /* the next one */
    size_t kd, kh;       /* where in the kernel segments begin */
    /* What is left of the run, and the pixel after it: */
    size_t pixels;
    neo_dim end;
    uint64_t address, address_step;
    uint64_t column, column_step;
    uint64_t line;      /* the row of src, or TAP_NOWHERE */
    uint64_t line_step; /* bytes from row to row of the kernel */
};

/* Where the kernel begins, in one dimension of src. */
static neo_dim place(const struct convolution_shape *s, int d, neo_dim pixel, size_t tap)
{
    return pixel * s->stride[d] - s->padding[d] + (neo_dim)tap * s->dilation[d];
}

static void begin_inner(struct walk *walk, neo_dim d, neo_dim h)
{
    const struct convolution_gemm *plan = walk->plan;
    const struct convolution_shape *s = &plan->shape;
    neo_dim column = place(s, WIDTH, walk->pixel.at[WIDTH], 0);
    walk->end = plan->inner_end;
    walk->address = walk->src + bytes(walk->pixel.n * s->src.n + d * s->src.d + h * s->src.h +
                                      column * s->src.w);
    walk->address_step = bytes(s->stride[WIDTH] * s->src.w);
    walk->line_step = bytes(s->dilation[HEIGHT] * s->src.h);
    walk->column = (uint64_t)column;
}

static void begin_edge(struct walk *walk, neo_dim d, neo_dim h)
{
    const struct convolution_gemm *plan = walk->plan;
    const struct convolution_shape *s = &plan->shape;
    neo_dim x = walk->pixel.at[WIDTH], row = (neo_dim)plan->edge_row;
    bool left = x < plan->inner_begin;
    neo_dim column =
        left ? x * s->stride[WIDTH]
             : (x - plan->inner_end) * s->stride[WIDTH] + plan->left.end - plan->left.begin;
    walk->end = left ? plan->inner_begin : s->out[WIDTH];
    walk->address = walk->edges + bytes((d * s->in[HEIGHT] + h) * row + column * s->ic);
    walk->address_step = bytes(s->stride[WIDTH] * s->ic);
    walk->line_step = bytes(s->dilation[HEIGHT] * row);
}

static void begin_run(struct walk *walk)
{
    const struct convolution_gemm *plan = walk->plan;
    const struct convolution_shape *s = &plan->shape;
    neo_dim d = place(s, DEPTH, walk->pixel.at[DEPTH], walk->kd), x = walk->pixel.at[WIDTH];
    neo_dim h = place(s, HEIGHT, walk->pixel.at[HEIGHT], walk->kh);
    walk->line = (uint64_t)d < (uint64_t)s->in[DEPTH] ? (uint64_t)h : TAP_NOWHERE;
    if (x >= plan->inner_begin && x < plan->inner_end)
        begin_inner(walk, d, h);
    else
        begin_edge(walk, d, h);
    walk->pixels = (size_t)(walk->end - x);
}

static void begin_walk(struct walk *walk, const struct convolution_call *call, const float *edges,
                       const struct gemm_list *list)
{
    const struct convolution_shape *s = &call->plan->shape;
    uint64_t at = list->first % call->plan->segment * sizeof(float);
    *walk = (struct walk){
        .plan = call->plan,
        .src = (uintptr_t)call->execution->buffers[SRC] +
               bytes(source_of(call->plan, list->batch)) + at,
        .edges = (uintptr_t)edges + at,
        .pixel = patches_pixel(s, first_pixel(call->plan, list->batch) + list->row),
        .kd = walk->kd,
        .kh = walk->kh,
        .column_step = (uint64_t)s->stride[WIDTH],
    };
    begin_run(walk);
}

/* In the same row of dst or in the next one. */
static void next_run(struct walk *walk)
{
    walk->pixel.at[WIDTH] = walk->end - 1;
    patches_next(&walk->plan->shape, &walk->pixel);
    begin_run(walk);
}

/* Where segments of a tile's rows begin. */
struct lanes {
    struct tap_lanes first;
    uint64_t line_step[LIST];
};

/* The next rows; lanes beyond them keep what they have. */
INLINE void walk_rows(struct walk *walk, size_t rows, struct lanes *lanes)
{
    struct tap_lanes *first = &lanes->first;
    for (size_t i = 0; i < rows;) {
        if (walk->pixels == 0)
            next_run(walk);
        size_t end = i + min_size(rows - i, walk->pixels);
        walk->pixels -= end - i;
        for (; i < end; i++) {
            first->address[i] = walk->address;
            first->column[i] = walk->column;
            first->line[i] = walk->line;
            lanes->line_step[i] = walk->line_step;
            walk->address += walk->address_step;
            walk->column += walk->column_step;
        }
    }
}

/* ---- segments of a tile ---- */

/* So many rows of the kernel, in one plane. */
INLINE void list_rows(const struct convolution_shape *s, const struct lanes *lanes, size_t count,
                      const float **out)
{
    pair height = both((uint64_t)s->in[HEIGHT]), dilation = both((uint64_t)s->dilation[HEIGHT]);
    pair padding = both((uintptr_t)segments_padding), address[PAIRS], line[PAIRS], step[PAIRS];
#pragma GCC unroll 4
    for (size_t p = 0; p < PAIRS; p++) {
        address[p] = load_pair(lanes->first.address + 2 * p);
        line[p] = load_pair(lanes->first.line + 2 * p);
        step[p] = load_pair(lanes->line_step + 2 * p);
    }
    for (; count; count--, out += LIST)
#pragma GCC unroll 4
        for (size_t p = 0; p < PAIRS; p++) {
            pair inside = (pair)(line[p] < height);
            put_pair(out + 2 * p, (address[p] & inside) | (padding & ~inside));
            address[p] += step[p];
            line[p] += dilation;
        }
}

/* ---- a block ---- */

/* Segments of one plane that are rows of the kernel, from the walk's on. */
static void list_plane_of_rows(struct walk *walk, const struct gemm_list *list, size_t count,
                               const float **out)
{
    struct lanes lanes = {0};
    for (size_t t = 0; t < list->tall + list->low; t++, out += list->segments * LIST) {
        walk_rows(walk, list->height - (t >= list->tall), &lanes);
        list_rows(&walk->plan->shape, &lanes, count, out);
    }
}

/* Segments of one plane that are taps, from number `tap` of the walk's row of the kernel on. */
static void list_plane_of_taps(struct walk *walk, const struct gemm_list *list, size_t tap,
                               size_t count, const float **out)
{
    const struct convolution_shape *s = &walk->plan->shape;
    size_t rows = div_up(tap + count, (size_t)s->kernel[WIDTH]);
    struct tap_grid grid = tap_grid(s, rows, s->src.h, s->src.w);
    struct lanes lanes = {0};
    for (size_t t = 0; t < list->tall + list->low; t++, out += list->segments * LIST) {
        walk_rows(walk, list->height - (t >= list->tall), &lanes);
        tap_list(&grid, &lanes.first, tap, count, segments_padding, out);
    }
}

void segments_list(const struct convolution_call *call, const float *edges,
                   const struct gemm_list *list)
{
    const struct convolution_gemm *plan = call->plan;
    const struct convolution_shape *s = &plan->shape;
    size_t height = (size_t)s->kernel[HEIGHT];
    size_t width = plan->rows_are_merged ? 1 : (size_t)s->kernel[WIDTH];
    size_t first = list->first / plan->segment, done = 0;
    struct walk walk;
    while (done < list->segments) {
        size_t row = (first + done) / width, tap = (first + done) % width;
        walk.kd = row / height;
        walk.kh = row % height;
        size_t count = min_size((height - walk.kh) * width - tap, list->segments - done);
        begin_walk(&walk, call, edges, list);
        const float **out = list->out + done * LIST;
        if (plan->rows_are_merged)
            list_plane_of_rows(&walk, list, count, out);
        else
            list_plane_of_taps(&walk, list, tap, count, out);
        done += count;
    }
}
