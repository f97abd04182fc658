/* Depthwise convolution of planes (nchw) of any size, stride and dilation: what no other kernel
 * does in place.
 *
 * The rows of a plane are copied between zeros, so that no tap has an edge; with a stride each
 * row's columns are taken apart by it, columns x, x + stride … behind each other: then neighbours
 * in dst are neighbours in the copy for every tap. Planes without padding and stride are in place.
 *
 * The plane's blocks of four columns are listed with their places in the copy and in dst; the last
 * one of a row overlaps the one before. A tile is eight or ten blocks wherever they are, whose
 * sums do not wait for each other: a tap takes as many loads as products. Where the kernel has
 * three, five or seven rows, and rows of dst that are a dilation apart (a chain) need rows of
 * source that are as far from each other, tiles are rectangles of three to five such rows by two or
 * three vectors: each row of source is loaded once for all of its taps. Heights and widths are as
 * equal as they can be, so that few rows and columns are done twice. */
#include <arm_neon.h>
#include <string.h>

#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/asm/vector_neon.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/planes/copied.h"
#include "kernels/depthwise/f32/planes/copied_offsets.h"
#include "kernels/depthwise/f32/planes/planes.h"

enum { LANES = 4, TILE = 10, LEAST = 8, FEW = 4 };

/* For each plane of the kernel, `plane` values apart, `rows` of `pitch` values, parts of `part`
 * values of each column of a stride; values from number `begin` on, as columns are counted, are
 * `count` of the image's from `column` on. */
struct copy {
    size_t rows, part, pitch, plane, begin, column, count;
};

/* What is in the scratch memory; of taps, in the order of sums, where they are in the copy, in
 * bytes, where their weights are, and a channel's weights. */
struct parts {
    struct dwconv_f32_copied_block
        *blocks; /* rectangles by their kinds, which end there, then single vectors */
    struct dwconv_f32_copied_block *ends[COPIED_KINDS];
    size_t *taps, *places;
    float *weights, *rows;
    size_t bytes;
};

static size_t count_taps(const struct dwconv_f32_task *task)
{
    return task->kd * task->kh * task->kw;
}

static size_t most_blocks(const struct dwconv_f32_task *task)
{
    return task->out_rows * ((task->out_cols + LANES - 1) / LANES);
}

static struct copy plan_copy(const struct dwconv_f32_task *task)
{
    size_t stride = task->stride_w;
    size_t span = (task->out_cols - 1) * stride + (task->kw - 1) * task->dilation_w + 1;
    size_t part = (span + stride - 1) / stride, pitch = part * stride;
    size_t rows = (task->out_rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
    size_t left = task->first < 0 ? smaller((size_t)-task->first, span) : 0;
    size_t column = task->first > 0 ? smaller((size_t)task->first, task->columns) : 0;
    return (struct copy){
        .rows = rows,
        .part = part,
        .pitch = pitch,
        .plane = rows * pitch,
        .begin = left,
        .column = column,
        .count = smaller(span - left, task->columns - column),
    };
}

static size_t rows_bytes(const struct dwconv_f32_task *task, const struct copy *copy)
{
    return task->kd * copy->plane * sizeof(float);
}

static struct parts find_parts(const struct dwconv_f32_task *task, const struct copy *copy,
                               unsigned char *memory)
{
    size_t taps = count_taps(task), used = 0;
    struct parts parts = {
        .blocks =
            take_lines(memory, &used, most_blocks(task) * sizeof(struct dwconv_f32_copied_block)),
    };
    parts.taps = take_lines(memory, &used, taps * sizeof *parts.taps);
    parts.places = take_lines(memory, &used, taps * sizeof *parts.places);
    parts.weights = take_lines(memory, &used, (taps + LANES) * sizeof *parts.weights);
    parts.rows = take_lines(memory, &used, rows_bytes(task, copy));
    parts.bytes = used;
    return parts;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    struct copy copy = plan_copy(task);
    return find_parts(task, &copy, NULL).bytes;
}

/* Are all columns there, and all rows, as far from each other as the first ones? Then the image
 * itself takes the copy's place. */
static int is_in_place(const struct dwconv_f32_task *task, struct copy *copy)
{
    const float *const *rows = task->rows;
    uintptr_t first = (uintptr_t)rows[0], row = 0, plane = 0;
    if (task->stride_w > 1 || copy->count < copy->pitch || !rows[0])
        return 0;
    if (copy->rows > 1)
        row = (uintptr_t)rows[1] - first;
    if (task->kd > 1)
        plane = (uintptr_t)rows[task->rows_plane] - first;
    for (size_t kz = 0; kz < task->kd; kz++)
        for (size_t y = 0; y < copy->rows; y++)
            if ((uintptr_t)rows[kz * task->rows_plane + y] != first + kz * plane + y * row)
                return 0;
    copy->pitch = row / sizeof(float);
    copy->plane = plane / sizeof(float);
    return 1;
}

/* ---- lists ---- */

static struct dwconv_f32_copied_block block_at(const struct dwconv_f32_task *task,
                                               const struct copy *copy, size_t y, size_t x)
{
    return (struct dwconv_f32_copied_block){
        .src = (y * task->stride_h * copy->pitch + x) * sizeof(float),
        .dst = (y * task->dst_row + x) * sizeof(float),
    };
}

/* Where the part of `length` that begins at `at` is, such that it ends with the whole. */
static size_t fitted(size_t at, size_t length, size_t whole)
{
    return smaller(at, whole - length);
}

/* Rows of dst from one of a rectangle to the next; 0: there are no rectangles. */
static size_t rows_apart(const struct dwconv_f32_task *task)
{
    int is_known = task->kh == 3 || task->kh == 5 || task->kh == 7;
    if (!is_known || task->in_pairs || task->out_cols <= LANES)
        return 0;
    if (task->stride_h == task->dilation_h)
        return 1;
    return task->stride_h == 1 ? task->dilation_h : 0;
}

/* The next of parts that are as equal as they can be, each of `most` at most: without a division,
 * which takes longer. */
INLINE size_t next_part(size_t left, size_t most)
{
    size_t parts = (left + most - 1) / most, part = most;
    for (size_t less = parts * most - left; less > 0; less -= smaller(less, parts))
        part--;
    return part;
}

/* Those of so many vectors in the rows from y on. Lists return their end. */
static struct dwconv_f32_copied_block *list_line(const struct dwconv_f32_task *task,
                                                 const struct copy *copy, size_t y, size_t vectors,
                                                 struct dwconv_f32_copied_block *block)
{
    size_t left = (task->out_cols + LANES - 1) / LANES;
    for (size_t x = 0, part; left > 0; left -= part, x += part * LANES) {
        part = vectors > 1 ? next_part(left, COPIED_VECTORS) : 1;
        if (part == vectors)
            *block++ = block_at(task, copy, y, fitted(x, part * LANES, task->out_cols));
    }
    return block;
}

/* Rectangles of so many rows and vectors; of 1 and 1, what is in chains too low for any. */
static struct dwconv_f32_copied_block *list_kind(const struct dwconv_f32_task *task,
                                                 const struct copy *copy, size_t height,
                                                 size_t vectors,
                                                 struct dwconv_f32_copied_block *block)
{
    size_t apart = rows_apart(task), step = larger(apart, 1);
    for (size_t first = 0; first < step && first < task->out_rows; first++) {
        size_t left = task->out_rows - first;
        left = step == 1 ? left : (left + step - 1) / step;
        int is_high = apart && left >= COPIED_LEAST_ROWS;
        for (size_t y = first, rows; left > 0; left -= rows, y += rows * step) {
            rows = is_high ? next_part(left, COPIED_MOST_ROWS) : 1;
            if (rows == height)
                block = list_line(task, copy, y, vectors, block);
        }
    }
    return block;
}

static struct dwconv_f32_copied_block *list_rectangles(const struct dwconv_f32_task *task,
                                                       const struct copy *copy, struct parts *parts)
{
    struct dwconv_f32_copied_block *block = parts->blocks;
    size_t kinds = rows_apart(task) ? COPIED_KINDS : 0;
    for (size_t kind = 0; kind < kinds; kind++)
        parts->ends[kind] = block = list_kind(task, copy, COPIED_LEAST_ROWS + kind / COPIED_WIDTHS,
                                              COPIED_LEAST_VECTORS + kind % COPIED_WIDTHS, block);
    return block;
}

/* The i-th column of the kernel in the order of sums: in pairs the first columns of them, then the
 * second ones, and the single one. */
static size_t column_at(const struct dwconv_f32_task *task, size_t i)
{
    size_t pairs = task->kw / 2, begin = pairs % 2;
    if (!task->in_pairs)
        return i;
    if (i == 2 * pairs)
        return begin ? 0 : task->kw - 1;
    return begin + (i < pairs ? 2 * i : 2 * (i - pairs) + 1);
}

static void list_taps(const struct dwconv_f32_task *task, const struct copy *copy,
                      const struct parts *parts)
{
    size_t *tap = parts->taps, *place = parts->places, kd = task->kd, kh = task->kh;
    size_t plane = copy->plane, down = task->dilation_h * copy->pitch;
    size_t across = task->kw * task->weights_tap; /* from a weight to that of the next row */
    for (size_t i = 0; i < task->kw; i++) {
        size_t kx = column_at(task, i), x = kx * task->dilation_w, stride = task->stride_w;
        size_t column = stride == 1 ? x : x % stride * copy->part + x / stride;
        size_t weight = kx * task->weights_tap;
        for (size_t kz = 0; kz < kd; kz++)
            for (size_t ky = 0; ky < kh; ky++, weight += across) {
                *tap++ = (kz * plane + ky * down + column) * sizeof(float);
                *place++ = weight;
            }
    }
}

/* ---- copies ---- */

/* The rows of a plane that are there, whose first value is so far ahead. */
static void copy_rows(const struct copy *copy, size_t stride, float *to, const float *const *rows,
                      size_t ahead)
{
    for (size_t y = 0; y < copy->rows; y++, to += copy->pitch)
        for (size_t i = 0; i < copy->count && rows[y]; i++) {
            size_t x = copy->begin + i;
            to[x % stride * copy->part + x / stride] = rows[y][ahead + i];
        }
}

/* Vectors of both columns of a stride of 2, or of the only one. */
INLINE void copy_vectors(float *to, float *other, const float *from, size_t STRIDE)
{
    if (STRIDE == 1) {
        vst1q_f32(to, vld1q_f32(from));
        return;
    }
    float32x4x2_t both = vld2q_f32(from);
    vst1q_f32(to, both.val[0]);
    vst1q_f32(other, both.val[1]);
}

/* The same where there are vectors of each column; the last ones overlap those before. */
INLINE void copy_by_vectors(const struct copy *copy, float *to, const float *const *rows,
                            size_t ahead, size_t STRIDE)
{
    const float *const *end = rows + copy->rows;
    size_t begin = copy->begin, next = begin + 1, part = copy->part, pitch = copy->pitch;
    size_t each = copy->count / STRIDE, last = (each - LANES) * sizeof(float);
    float *other = to + next % STRIDE * part + next / STRIDE;
    to += begin % STRIDE * part + begin / STRIDE;
    for (; rows < end; rows++, to += pitch, other += pitch) {
        size_t i = 0; /* in bytes, as last is */
        if (!*rows)
            continue;
        const float *from = *rows + ahead;
        do {
            copy_vectors(to_byte(to, i), to_byte(other, i), at_byte(from, STRIDE * i), STRIDE);
            i += LANES * sizeof(float);
        } while (i < last);
        copy_vectors(to_byte(to, last), to_byte(other, last), at_byte(from, STRIDE * last), STRIDE);
        if (STRIDE == 2 && copy->count % 2)
            to[each] = from[2 * each];
    }
}

static void copy_planes(const struct dwconv_f32_task *task, const struct copy *copy, float *to,
                        size_t ahead)
{
    size_t stride = task->stride_w;
    for (size_t kz = 0; kz < task->kd; kz++, to += copy->plane) {
        const float *const *rows = task->rows + kz * task->rows_plane;
        if (stride > 2 || copy->count < stride * LANES)
            copy_rows(copy, stride, to, rows, copy->column + ahead);
        else if (stride == 2)
            copy_by_vectors(copy, to, rows, copy->column + ahead, 2);
        else
            copy_by_vectors(copy, to, rows, copy->column + ahead, 1);
    }
}

/* ---- tiles ---- */

/* One tap's products, behind all of its loads; its weight is a lane of four. */
INLINE void add_tap(float32x4_t sums[TILE], const float *const src[TILE], size_t at,
                    float32x4_t weights, size_t lane, size_t B)
{
    float32x4_t values[TILE];
#pragma GCC unroll 16
    for (size_t i = 0; i < B; i++)
        values[i] = vld1q_f32(at_byte(src[i], at));
#pragma GCC unroll 16
    for (size_t i = 0; i < B; i++)
        sums[i] = fma_lane(sums[i], values[i], weights, lane);
}

INLINE void add_taps(float32x4_t sums[TILE], const struct dwconv_f32_copied *job,
                     const float *const src[TILE], size_t begin, size_t end, size_t B)
{
    size_t t = begin;
    for (; t + LANES <= end; t += LANES) {
        float32x4_t weights = vld1q_f32(job->weights + t);
#pragma GCC unroll 4
        for (size_t lane = 0; lane < LANES; lane++)
            add_tap(sums, src, job->taps[t + lane], weights, lane, B);
    }
    for (; t < end; t++)
        add_tap(sums, src, job->taps[t], vdupq_n_f32(job->weights[t]), 0, B);
}

INLINE void clamp_sums(float32x4_t *sums, const struct dwconv_f32_copied *job, size_t B)
{
    if (job->clamps)
#pragma GCC unroll 16
        for (size_t i = 0; i < B; i++)
            sums[i] = vminq_f32(vmaxq_f32(sums[i], job->low), job->high);
}

INLINE void add_pairs(float32x4_t sums[TILE], const struct dwconv_f32_copied *job,
                      const float *const src[TILE], size_t B)
{
    float32x4_t odds[TILE];
#pragma GCC unroll 16
    for (size_t i = 0; i < B; i++)
        odds[i] = vdupq_n_f32(0.0f);
    add_taps(sums, job, src, 0, job->evens, B);
    add_taps(odds, job, src, job->evens, job->odds, B);
#pragma GCC unroll 16
    for (size_t i = 0; i < B; i++)
        sums[i] = vaddq_f32(sums[i], odds[i]);
    add_taps(sums, job, src, job->odds, job->count, B);
}

INLINE void run_tile(const struct dwconv_f32_copied *job,
                     const struct dwconv_f32_copied_block *blocks, size_t B)
{
    float32x4_t sums[TILE];
    const float *src[TILE];
    float *dst = job->dst; /* read once */
#pragma GCC unroll 16
    for (size_t i = 0; i < B; i++) {
        src[i] = at_byte(job->rows, blocks[i].src);
        sums[i] = job->bias[0];
    }
    if (B <= LEAST && job->evens)
        add_pairs(sums, job, src, B);
    else
        add_taps(sums, job, src, 0, job->count, B);
    clamp_sums(sums, job, B);
#pragma GCC unroll 16
    for (size_t i = 0; i < B; i++)
        vst1q_f32(to_byte(dst, blocks[i].dst), sums[i]);
}

/* Fewer blocks than a tile has. */
static __attribute__((noinline)) void run_few(const struct dwconv_f32_copied *job,
                                              const struct dwconv_f32_copied_block *block,
                                              size_t count)
{
    size_t i = 0, last = count - FEW;
    for (; count >= FEW && i < count; i += FEW)
        run_tile(job, block + smaller(i, last), FEW);
    for (; i < count; i++)
        run_tile(job, block + i, 1);
}

/* The last tile overlaps the one before. */
INLINE void run_tiles(const struct dwconv_f32_copied *job,
                      const struct dwconv_f32_copied_block *blocks, size_t count, size_t B)
{
    for (size_t i = 0; i < count; i += B)
        run_tile(job, blocks + smaller(i, count - B), B);
}

/* As few tiles as there can be, and as narrow ones. Sums in pairs take twice as many registers. */
INLINE void run_blocks(const struct dwconv_f32_copied *job,
                       const struct dwconv_f32_copied_block *blocks, size_t count)
{
    size_t tiles = (count + TILE - 1) / TILE;
    if (count < LEAST)
        run_few(job, blocks, count);
    else if (count < TILE || count <= tiles * LEAST || job->evens)
        run_tiles(job, blocks, count, LEAST);
    else
        run_tiles(job, blocks, count, TILE);
}

/* ---- planes ---- */

static void run_rectangles(const struct dwconv_f32_copied *job, const struct parts *parts,
                           size_t kh)
{
    const struct dwconv_f32_copied_block *begin = parts->blocks;
    for (size_t i = 0; i < COPIED_KINDS; begin = parts->ends[i++])
        if (begin < parts->ends[i])
            dwconv_f32_copied_tiles[kh / 2 - 1][i](job, begin, parts->ends[i]);
}

static struct dwconv_f32_copied plan_job(const struct dwconv_f32_task *task,
                                         const struct copy *copy, const struct parts *parts)
{
    size_t column = task->kd * task->kh, pairs = task->kw / 2;
    size_t apart = rows_apart(task), most = task->out_cols - LANES;
    return (struct dwconv_f32_copied){
        .taps = parts->taps,
        .weights = parts->weights,
        .rows = parts->rows,
        .row = copy->pitch * task->stride_h * apart * sizeof(float),
        .dst_row = task->dst_row * apart * sizeof(float),
        .last = {smaller(LANES, most) * sizeof(float), smaller(2 * LANES, most) * sizeof(float)},
        .count = count_taps(task),
        .evens = task->in_pairs ? pairs * column : 0,
        .odds = 2 * pairs * column,
        .low = vdupq_n_f32(task->low),
        .high = vdupq_n_f32(task->high),
        .clamps = (size_t)dwconv_f32_clamps(task),
    };
}

static void load_weights(const struct dwconv_f32_task *task, const struct parts *parts,
                         struct dwconv_f32_copied *job, size_t channel)
{
    const float *weights = task->weights + channel;
    const size_t *places = parts->places;
    float *to = parts->weights;
#pragma GCC unroll 4
    for (size_t t = 0; t < job->count; t++)
        to[t] = weights[places[t]];
    job->bias[0] = job->bias[1] = vdupq_n_f32(task->bias ? task->bias[channel] : 0.0f);
    job->dst = task->dst + channel * task->dst_plane;
}

static void run(const struct dwconv_f32_task *task)
{
    struct copy copy = plan_copy(task);
    struct parts parts = find_parts(task, &copy, task->scratch);
    if (is_in_place(task, &copy))
        parts.rows = NULL;
    struct dwconv_f32_copied job = plan_job(task, &copy, &parts);
    if (parts.rows)
        memset(parts.rows, 0, rows_bytes(task, &copy));
    struct dwconv_f32_copied_block *others = list_rectangles(task, &copy, &parts);
    size_t blocks = (size_t)(list_kind(task, &copy, 1, 1, others) - others);
    list_taps(task, &copy, &parts);
    for (size_t c = 0, ahead = 0; c < task->channels; ahead += task->src_plane) {
        if (parts.rows)
            copy_planes(task, &copy, parts.rows, ahead);
        else
            job.rows = task->rows[0] + copy.column + ahead;
        for (size_t end = smaller(c + task->multiplier, task->channels); c < end; c++) {
            load_weights(task, &parts, &job, c);
            if (others > parts.blocks)
                run_rectangles(&job, &parts, task->kh);
            if (blocks)
                run_blocks(&job, others, blocks);
        }
    }
}

static int does(const struct dwconv_f32_task *task)
{
    return planes_does(task);
}

/* Of 7x7, columns of so many rows are better shared where channels are vectors. */
static int reloads(const struct dwconv_f32_task *task)
{
    size_t apart = rows_apart(task);
    return !apart || task->kh > 5 || task->out_rows < COPIED_LEAST_ROWS * apart;
}

const struct dwconv_f32_kernel dwconv_f32_planes_copied_neon = {
    .name = "dwconv_f32_planes_copied_neon",
    .needs = CPU_NEON,
    .is_deep = 1,
    .does = does,
    .reloads = reloads,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
