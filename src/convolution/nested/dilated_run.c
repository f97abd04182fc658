/* Dilated convolution by Winograd's algorithm: the run.
 *
 * Pixels of a part are not neighbours in a row of planes, so transposing them would go by single
 * values: a row is transposed whole, to a line of scratch memory, and its pixels are copied from
 * there, or first to there. */
#include <string.h>

#include "src/convolution/nested/dilated.h"
#include "src/core/checked.h"
#include "src/primitive/implementation.h"

struct copying {
    const struct convolution_dilated *plan;
    const float *src;
    float *dst;
    float *lines; /* one a slot */
};

/* The rows that parts have in one row of an image: which image, the parts' first row of dst, and
 * which of their rows. */
struct row {
    neo_dim n, y, at;
};

static struct row row_of(const struct convolution_dilated *plan, const neo_dim *size, size_t index)
{
    neo_dim parts = (neo_dim)index / size[HEIGHT];
    return (struct row){
        .n = parts / plan->parts[HEIGHT],
        .y = parts % plan->parts[HEIGHT],
        .at = (neo_dim)index % size[HEIGHT],
    };
}

/* Where the row begins in the copy, of the part that begins at this column. */
static size_t first_value(const struct convolution_dilated *plan, const struct row *row, neo_dim x,
                          const neo_dim *size, neo_dim channels)
{
    neo_dim part = (row->n * plan->parts[HEIGHT] + row->y) * plan->parts[WIDTH] + x;
    return (size_t)((part * size[HEIGHT] + row->at) * size[WIDTH] * channels);
}

/* How many places, `step` apart and the first one at `from`, are before `end`. */
static size_t places_before(neo_dim from, neo_dim step, neo_dim end, neo_dim most)
{
    neo_dim count = from < end ? (end - from - 1) / step + 1 : 0;
    return (size_t)(count < most ? count : most);
}

/* Some pixels: the first one, and how far the next one and the next channel are. */
struct source {
    const float *data;
    neo_dim pixel, channel;
};
struct target {
    float *data;
    neo_dim pixel, channel;
};

static void copy_pixels(const struct convolution_dilated *plan, size_t count, neo_dim channels,
                        struct source from, struct target to)
{
    plan->copy(&(struct copy_f32_plane){
        .rows = count,
        .cols = (size_t)channels,
        .src = from.data,
        .src_row = from.pixel,
        .src_col = from.channel,
        .dst = to.data,
        .dst_row = to.pixel,
        .dst_col = to.channel,
    });
}

/* ---- in ---- */

/* The pixels that a part has in the row, of those that exist, with zeros around them. */
static void copy_part_in(const struct convolution_dilated *plan, struct source row, bool exists,
                         neo_dim x, float *out)
{
    neo_dim step = plan->step[WIDTH], channels = plan->shape.ic;
    size_t begin = places_before(x, step, 0, plan->in[WIDTH]), width = (size_t)plan->in[WIDTH];
    size_t end = exists ? places_before(x, step, plan->shape.in[WIDTH], plan->in[WIDTH]) : begin;
    float *first = out + begin * (size_t)channels, *last = out + end * (size_t)channels;
    memset(out, 0, begin * (size_t)channels * sizeof *out);
    memset(last, 0, (width - end) * (size_t)channels * sizeof *out);
    if (begin < end) {
        row.data += (x + (neo_dim)begin * step) * row.pixel;
        row.pixel *= step;
        copy_pixels(plan, end - begin, channels, row, (struct target){first, channels, 1});
    }
}

static void copy_row_in(const struct copying *c, size_t index, float *line)
{
    const struct convolution_dilated *plan = c->plan;
    const struct convolution_shape *s = &plan->shape;
    struct row row = row_of(plan, plan->in, index);
    neo_dim y = row.y + row.at * plan->step[HEIGHT] - s->padding[HEIGHT];
    bool exists = y >= 0 && y < s->in[HEIGHT];
    struct source pixels = {NULL, s->src.w, s->src.c};
    if (exists)
        pixels.data = c->src + row.n * s->src.n + y * s->src.h;
    if (exists && plan->src_line) {
        copy_pixels(plan, (size_t)s->in[WIDTH], s->ic, pixels, (struct target){line, s->ic, 1});
        pixels = (struct source){line, s->ic, 1};
    }
    for (neo_dim x = 0; x < plan->parts[WIDTH]; x++)
        copy_part_in(plan, pixels, exists, x - s->padding[WIDTH],
                     c->dst + first_value(plan, &row, x, plan->in, s->ic));
}

/* ---- out ---- */

/* The pixels of the parts' rows that dst has. */
static void copy_row_out(const struct copying *c, size_t index, float *line)
{
    const struct convolution_dilated *plan = c->plan;
    const struct convolution_shape *s = &plan->shape;
    struct row row = row_of(plan, plan->out, index);
    neo_dim step = plan->step[WIDTH], y = row.y + row.at * plan->step[HEIGHT];
    if (y >= s->out[HEIGHT])
        return;
    struct target dst = {c->dst + row.n * s->dst.n + y * s->dst.h, s->dst.w, s->dst.c};
    struct target to = plan->dst_line ? (struct target){line, s->oc, 1} : dst;
    for (neo_dim x = 0; x < plan->parts[WIDTH]; x++) {
        size_t first = first_value(plan, &row, x, plan->out, s->oc);
        copy_pixels(plan, places_before(x, step, s->out[WIDTH], plan->out[WIDTH]), s->oc,
                    (struct source){c->src + first, s->oc, 1},
                    (struct target){to.data + x * to.pixel, step * to.pixel, to.channel});
    }
    if (plan->dst_line)
        copy_pixels(plan, (size_t)s->out[WIDTH], s->oc, (struct source){line, s->oc, 1}, dst);
}

/* ---- both ---- */

static void copy_rows_in(void *argument, struct span rows, int slot)
{
    const struct copying *c = argument;
    for (size_t i = rows.begin; i < rows.end; i++)
        copy_row_in(c, i, c->lines + (size_t)slot * c->plan->line);
}

static void copy_rows_out(void *argument, struct span rows, int slot)
{
    const struct copying *c = argument;
    for (size_t i = rows.begin; i < rows.end; i++)
        copy_row_out(c, i, c->lines + (size_t)slot * c->plan->line);
}

size_t dilated_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_dilated *mine = plan;
    return mine->bytes + (size_t)threads * mine->line * sizeof(float);
}

void dilated_run(const void *plan, const struct execution *execution)
{
    const struct convolution_dilated *mine = plan;
    unsigned char *copies = execution->scratch;
    float *lines = (float *)(void *)(copies + mine->bytes);
    void *buffers[TENSOR_COUNT];
    memcpy(buffers, execution->buffers, sizeof buffers);
    buffers[SRC] = copies;
    buffers[DST] = copies + mine->src_bytes;
    struct copying in = {mine, execution->buffers[SRC], buffers[SRC], lines};
    struct copying out = {mine, buffers[DST], execution->buffers[DST], lines};
    size_t rows = mine->count / (size_t)mine->parts[WIDTH];
    parallel_for_tiles(execution->parallel, rows * (size_t)mine->in[HEIGHT], execution->threads,
                       copy_rows_in, &in);
    implementation_run_nested(execution, 0, buffers);
    parallel_for_tiles(execution->parallel, rows * (size_t)mine->out[HEIGHT], execution->threads,
                       copy_rows_out, &out);
}
