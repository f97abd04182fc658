/* Depthwise convolution by lines of values, of few channels or of kernels that have no other way.
 *
 * Where pixels follow each other, a row of dst is a line of width x channels values, and a tap is a
 * line of source that begins some pixels later. A vector is any four values of the line, so that no
 * lane is idle however many channels a pixel has. Its weights are those of four channels from
 * `at % channels` on, read from a copy in which the first channels follow the last one again;
 * vectors that are a period apart have the same ones. Else, and where there are many channels or a
 * stride, a vector is four channels, and the period is a pixel.
 *
 * A tile is R rows x V vectors with the same weights: for each column of the kernel it loads KH
 * vectors of weights and each vector of source once, for all rows that have a tap there. Four rows
 * x two vectors of 3x3 are, a column, 3 + 12 loads for 24 multiply-adds. What is left of a line, or
 * of the channels, is a vector that overlaps the one before. Of an image that is a single row, four
 * parts take the place of rows.
 *
 * The planes of a deep kernel are further columns of it: rows of source that a line has taps on are
 * copied one behind the other, so that every tap is a line that begins so much later.
 *
 * Where there is padding at the sides, rows of source are copied to between zeros; with a stride
 * and fewer than four channels, even pixels apart from odd ones, so that a tap is one line again.
 * Wide images are done by strips of columns, of which the copies stay in the L1 cache. */
#include "kernels/asm/vector_neon.h"
#include "kernels/depthwise/f32/lanes/lanes.h"
#include "kernels/depthwise/f32/lanes/lanes_copy_neon.h"
#include "kernels/depthwise/f32/parts_neon.h"

enum {
    TOGETHER = 4,          /* rows of dst in a tile, at most */
    MOST_REACH = 256,      /* columns from the first tap of a pixel to its last, */
    MOST_ROWS = 64,        /* and rows, and planes */
    COPY_BYTES = 16 << 10, /* of copied rows */
    MANY_CHANNELS = 32,    /* of pixels that are done in place, or fewer */
    PIXEL_CHANNELS = 16,   /* of such with few columns of dst, */
    FEW_COLUMNS = 4,       /* at most so many */
};

static const struct dwconv_f32_lanes_kernel *find_kernel(size_t kh, size_t stride)
{
    const struct dwconv_f32_lanes_kernel *at = dwconv_f32_lanes_kernels;
    while (at->kh && (at->kh != kh || at->stride != stride))
        at++;
    return at;
}

/* ---- memory ---- */

/* Rows of dst from one to the next that has its taps on the same rows of source, and lines of
 * source between these; see parts_run(). */
static size_t apart_of(const struct dwconv_f32_task *task)
{
    return task->dilation_h / parts_divisor(task->stride_h, task->dilation_h);
}

static size_t stride_of(const struct dwconv_f32_task *task)
{
    return parts_stride(task->stride_h, task->dilation_h);
}

/* What all strips of columns share. */
struct memory {
    size_t ring; /* rows of source that are copied at the same time */
    size_t tap;  /* of weights */
    size_t *offsets;
    const float **lines;
    struct dwconv_f32_lanes_phase *phases;
    float *weights, *bias, *zeros, *rows;
    size_t bytes;
};

/* Parts of one row that are done together as rows are else. */
static size_t parts_of(const struct dwconv_f32_task *task)
{
    int is_flat = task->out_rows == 1 && task->kh == 1 && task->kd == 1;
    return is_flat && task->out_cols >= TOGETHER * LANES ? TOGETHER : 1;
}

/* Rows of source that are copied at the same time, of each plane. */
static size_t ring_of(const struct dwconv_f32_task *task)
{
    return parts_of(task) > 1 ? 1 : (TOGETHER - 1) * stride_of(task) + task->kh;
}

static size_t copies_of(const struct dwconv_f32_task *task)
{
    return ring_of(task) * task->kd;
}

/* Columns of a strip, or of each part of it. All strips are as large; what is left of them is less
 * than a column each. */
static size_t columns_of(const struct dwconv_f32_task *task)
{
    size_t parts = parts_of(task), pixel = task->channels * task->stride_w;
    size_t most = COPY_BYTES / sizeof(float) / (copies_of(task) * parts * pixel);
    most = larger(most, reach(task) + 2 * LANES) * parts;
    return task->out_cols / ((task->out_cols + most - 1) / most * parts);
}

/* Values of a copied row for so many columns, at most; fewer channels do not have more. */
static size_t row_of(const struct dwconv_f32_task *task)
{
    size_t pixel = task->channels * task->stride_w;
    size_t least = (reach(task) + 2 * LANES) * parts_of(task) * pixel;
    size_t most = larger(COPY_BYTES / sizeof(float) / copies_of(task), least);
    return smaller(most, task->out_cols * pixel) + (reach(task) + LANES) * task->channels;
}

static struct memory divide_memory(const struct dwconv_f32_task *task, void *base)
{
    size_t rows = (task->out_rows - 1) * task->stride_h + task->kh;
    struct memory memory = {
        .ring = ring_of(task),
        .tap = round_to(task->channels + LANES, LANES),
    };
    size_t tap = memory.tap * sizeof(float), row = row_of(task) * sizeof(float);
    size_t lines = larger(rows, TOGETHER);
    memory.offsets = take_lines(base, &memory.bytes, task->kw * task->kd * sizeof(size_t));
    memory.lines = take_lines(base, &memory.bytes, lines * sizeof(float *));
    memory.phases = take_lines(base, &memory.bytes, (task->channels + 1) * sizeof *memory.phases);
    memory.weights = take_lines(base, &memory.bytes, task->kd * task->kh * task->kw * tap);
    memory.bias = take_lines(base, &memory.bytes, tap);
    memory.zeros = take_lines(base, &memory.bytes, row);
    memory.rows = take_lines(base, &memory.bytes, copies_of(task) * row);
    return memory;
}

/* Some calls may have a single row, or fewer planes of the kernel. */
static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    struct dwconv_f32_task part = *task;
    size_t bytes = 0;
    for (part.kd = task->kd; part.kd > 0; part.kd--) {
        part.out_rows = task->out_rows;
        bytes = larger(bytes, divide_memory(&part, NULL).bytes);
        part.out_rows = 1;
        bytes = larger(bytes, divide_memory(&part, NULL).bytes);
    }
    return bytes;
}

/* ---- a call ---- */

/* `count` values, and then the first three of them again; room for one more. */
static void repeat(float *out, const float *values, size_t count)
{
    if (count < LANES) {
        float32x4_t part = load_part(values, count);
        for (size_t i = 0; i < LANES; i += count)
            vst1q_f32(out + i, part);
        return;
    }
    for (size_t i = 0; i + LANES < count; i += LANES)
        vst1q_f32(out + i, vld1q_f32(values + i));
    vst1q_f32(out + count - LANES, vld1q_f32(values + count - LANES));
    vst1q_f32(out + count, vld1q_f32(values));
}

static void repeat_weights(const struct dwconv_f32_task *task, const struct memory *memory)
{
    float *out = memory->weights;
    for (size_t kx = 0; kx < task->kw; kx++) {
        const float *weights = task->weights + kx * task->weights_tap;
        for (size_t ky = 0; ky < task->kd * task->kh; ky++, out += memory->tap) {
            repeat(out, weights, task->channels);
            weights += task->kw * task->weights_tap;
        }
    }
    if (task->bias)
        repeat(memory->bias, task->bias, task->channels);
    else
        memset(memory->bias, 0, memory->tap * sizeof(float));
}

struct span {
    size_t begin, end;
};

/* A row of source for each plane of the kernel, in place or copied. Of one plane padding is always
 * the same zeros. */
INLINE const float *make_line(const struct dwconv_f32_task *task, const struct copy *copy,
                              const float *zeros, const float *const *from, float *to)
{
    float *line = to;
    if (task->kd == 1 && !*from)
        return copy->is_needed ? zeros : task->zeros;
    if (!copy->is_needed)
        return *from + copy->first;
    for (size_t kz = 0; kz < task->kd; kz++, to += copy->row, from += task->rows_plane)
        if (*from)
            copy_row(task, to, *from + copy->first, copy);
        else
            memset(to, 0, copy->row * sizeof *to);
    return line;
}

/* Lists lines `begin` to `end` of those that are dilation_h rows apart; copies are in a ring. */
static void make_lines(const struct dwconv_f32_task *task, const struct copy *copy,
                       const struct memory *memory, const float *const *rows, struct span lines)
{
    size_t place = lines.begin % memory->ring;
    for (size_t i = lines.begin; i < lines.end; i++) {
        memory->lines[i] = make_line(task, copy, memory->zeros, rows + i * task->dilation_h,
                                     memory->rows + place * task->kd * copy->row);
        place = place + 1 < memory->ring ? place + 1 : 0;
    }
}

/* Rows y, y + apart and so on, whose taps are on the same rows of source. */
static void run_rows_apart(const struct dwconv_f32_task *task, struct dwconv_f32_lanes *job,
                           const struct copy *copy, const struct memory *memory, size_t y)
{
    dwconv_f32_lanes_fn *run = find_kernel(job->kh, job->stride)->run;
    const float *const *rows = task->rows + y * task->stride_h;
    size_t apart = apart_of(task), left = (task->out_rows - y + apart - 1) / apart;
    struct span lines = {0, 0};
    for (size_t begin = 0, count; left; left -= count, begin += count * job->stride) {
        count = left >= TOGETHER ? TOGETHER : smaller(left, 2);
        lines.begin = larger(lines.end, begin);
        lines.end = begin + (count - 1) * job->stride + job->kh;
        make_lines(task, copy, memory, rows, lines);
        job->lines = memory->lines + begin;
        job->dst = task->dst + y * task->dst_row;
        run(job, count);
        y += count * apart;
    }
}

/* Four parts of one row, of `columns` each. */
static void run_parts(const struct dwconv_f32_task *task, struct dwconv_f32_lanes *job,
                      const struct copy *copy, const struct memory *memory, size_t columns)
{
    make_lines(task, copy, memory, task->rows, (struct span){0, 1});
    size_t part = columns * (task->stride_w / copy->lines) * copy->column;
    for (size_t i = 1; i < TOGETHER; i++)
        memory->lines[i] = memory->lines[i - 1] + part;
    job->lines = memory->lines;
    job->dst = task->dst;
    job->dst_row = columns * task->dst_column * sizeof(float);
    job->stride = 1;
    find_kernel(job->kh, job->stride)->run(job, TOGETHER);
}

/* Vectors of a line, or of a pixel; what is left overlaps the one before. */
static void list_phases(struct dwconv_f32_lanes *job, const struct dwconv_f32_task *task,
                        const struct memory *memory)
{
    enum { VECTOR = sizeof(float32x4_t) };
    size_t channels = task->channels * sizeof(float), count = 0;
    size_t last = goes_by_line(task) ? job->last : channels - VECTOR;
    size_t end = goes_by_line(task) ? smaller(job->period, last + 1) : last + 1;
    for (size_t at = 0; at < end; at += VECTOR)
        memory->phases[count++] = (struct dwconv_f32_lanes_phase){at, at % channels};
    if (last % VECTOR)
        memory->phases[count++] = (struct dwconv_f32_lanes_phase){last, last % channels};
    job->phases = memory->phases;
    job->phases_end = memory->phases + count;
}

/* Pixels from a vector to the next one with the same channels. */
static size_t period_of(const struct dwconv_f32_task *task)
{
    if (!goes_by_line(task))
        return 1;
    return task->channels % 2 ? LANES : LANES / 2;
}

/* Where taps begin: for each column of the kernel, those on each of its planes. */
static void list_offsets(const struct dwconv_f32_task *task, const struct memory *memory,
                         const struct copy *copy)
{
    for (size_t kz = 0; kz < task->kd; kz++) {
        size_t *offset = memory->offsets + kz;
        for (size_t kx = 0, at = 0; kx < task->kw; kx++, at += task->dilation_w) {
            size_t value = at % copy->lines * copy->line + at / copy->lines * copy->column;
            offset[kx * task->kd] = (kz * copy->row + value) * sizeof(float);
        }
    }
}

/* So few columns that copies of them stay in the cache; each part of a row has `columns`. */
static void run_strip(const struct dwconv_f32_task *task, const struct memory *memory,
                      const struct dwconv_f32_lanes *plan, size_t columns)
{
    struct copy copy = plan_copy(task);
    size_t apart = apart_of(task); /* of a single column the distance to the next may be anything */
    size_t pixel = larger(task->dst_column, task->channels) * sizeof(float);
    size_t stride = task->stride_w / copy.lines * copy.column * sizeof(float);
    struct dwconv_f32_lanes job = *plan;
    job.last = (columns - 1) * pixel + task->channels * sizeof(float) - sizeof(float32x4_t);
    job.period = period_of(task) * pixel;
    job.src_period = period_of(task) * stride;
    list_phases(&job, task, memory);
    list_offsets(task, memory, &copy);
    if (copy.is_needed) {
        memset(memory->zeros, 0, copy.row * sizeof(float));
        memset(memory->rows, 0, memory->ring * task->kd * copy.row * sizeof(float));
    }
    if (columns < task->out_cols)
        run_parts(task, &job, &copy, memory, columns);
    for (size_t y = 0; columns == task->out_cols && y < apart && y < task->out_rows; y++)
        run_rows_apart(task, &job, &copy, memory, y);
}

/* The last channels of an image may be fewer than those before, and not be its whole pixels. */
static int has_vectors(const struct dwconv_f32_task *task)
{
    return task->channels >= LANES ||
           (goes_by_line(task) && task->out_cols * task->channels >= LANES);
}

static void run(const struct dwconv_f32_task *task)
{
    float limits[8];
    struct memory memory = divide_memory(task, task->scratch);
    if (!has_vectors(task)) {
        dwconv_f32_ref.run(task);
        return;
    }
    struct dwconv_f32_lanes plan = {
        .dst_row = task->dst_row * apart_of(task) * sizeof(float),
        .offsets = memory.offsets,
        .kw = task->kw * task->kd,
        .weights_tap = memory.tap * sizeof(float),
        .clamp = dwconv_f32_limits(task, limits),
        .weights = memory.weights,
        .bias = memory.bias,
        .kh = task->kh,
        .stride = stride_of(task),
    };
    repeat_weights(task, &memory);
    size_t columns = columns_of(task), parts = parts_of(task);
    for (size_t done = 0; done < task->out_cols; done += columns * parts) {
        if (done + columns * parts > task->out_cols)
            columns = LANES; /* these overlap those before */
        size_t x = smaller(done, task->out_cols - columns * parts);
        struct dwconv_f32_task strip = *task;
        strip.out_cols = columns * parts;
        strip.first += (ptrdiff_t)(x * task->stride_w);
        strip.dst += x * task->dst_column;
        run_strip(&strip, &memory, &plan, columns);
    }
}

/* Are there vectors of channels enough for the general kernel, and for this one no function, or so
 * few columns that its preparation would count? */
static int is_for_pixels(const struct dwconv_f32_task *task)
{
    return task->channels >= MANY_CHANNELS ||
           (task->channels >= PIXEL_CHANNELS &&
            (task->out_cols <= FEW_COLUMNS || !find_kernel(task->kh, stride_of(task))->kh));
}

static int does(const struct dwconv_f32_task *task)
{
    return dwconv_f32_is_interleaved(task) && !is_for_pixels(task) &&
           (task->channels >= LANES || goes_by_line(task)) && task->stride_w <= MOST_STRIDE &&
           reach(task) < MOST_REACH && task->kh < MOST_ROWS && task->kd < MOST_ROWS &&
           stride_of(task) <= MOST_STRIDE;
}

const struct dwconv_f32_kernel dwconv_f32_lanes_neon = {
    .name = "dwconv_f32_lanes_neon",
    .needs = CPU_NEON,
    .is_deep = 1,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
