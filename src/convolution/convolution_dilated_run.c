/* Dilated convolution by Winograd's algorithm: the run. */
#include <string.h>

#include "src/convolution/convolution_dilated.h"
#include "src/core/checked.h"
#include "src/primitive/implementation.h"

struct copying {
    const struct convolution_dilated *plan;
    const float *src;
    float *dst;
};

/* A row of a part: which image, the part's first row and column of dst, and which of its rows. */
struct row {
    neo_dim n, y, x, at;
};

static struct row row_of(const struct convolution_dilated *plan, const neo_dim *size, size_t index)
{
    neo_dim part = (neo_dim)index / size[HEIGHT];
    return (struct row){
        .n = part / plan->parts[WIDTH] / plan->parts[HEIGHT],
        .y = part / plan->parts[WIDTH] % plan->parts[HEIGHT],
        .x = part % plan->parts[WIDTH],
        .at = (neo_dim)index % size[HEIGHT],
    };
}

/* How many places, `step` apart and the first one at `from`, are before `end`. */
static size_t places_before(neo_dim from, neo_dim step, neo_dim end, neo_dim most)
{
    neo_dim count = from < end ? (end - from - 1) / step + 1 : 0;
    return (size_t)(count < most ? count : most);
}

/* The pixels of a row of src that exist, with zeros around them. */
static void copy_row_in(const struct copying *c, size_t index)
{
    const struct convolution_dilated *plan = c->plan;
    const struct convolution_shape *s = &plan->shape;
    struct row row = row_of(plan, plan->in, index);
    size_t channels = (size_t)s->ic, width = (size_t)plan->in[WIDTH];
    neo_dim step = plan->step[WIDTH], x = row.x - s->padding[WIDTH];
    neo_dim y = row.y + row.at * plan->step[HEIGHT] - s->padding[HEIGHT];
    bool exists = y >= 0 && y < s->in[HEIGHT];
    size_t begin = places_before(x, step, 0, plan->in[WIDTH]);
    size_t end = exists ? places_before(x, step, s->in[WIDTH], plan->in[WIDTH]) : begin;
    float *out = c->dst + index * width * channels;
    memset(out, 0, begin * channels * sizeof *out);
    memset(out + end * channels, 0, (width - end) * channels * sizeof *out);
    if (begin < end)
        c->plan->copy(&(struct copy_f32_plane){
            .rows = end - begin,
            .cols = channels,
            .src =
                c->src + row.n * s->src.n + y * s->src.h + (x + (neo_dim)begin * step) * s->src.w,
            .src_row = step * s->src.w,
            .src_col = s->src.c,
            .dst = out + begin * channels,
            .dst_row = (ptrdiff_t)channels,
            .dst_col = 1,
        });
}

/* The pixels of a part's row that dst has. */
static void copy_row_out(const struct copying *c, size_t index)
{
    const struct convolution_dilated *plan = c->plan;
    const struct convolution_shape *s = &plan->shape;
    struct row row = row_of(plan, plan->out, index);
    neo_dim step = plan->step[WIDTH], y = row.y + row.at * plan->step[HEIGHT];
    if (y >= s->out[HEIGHT])
        return;
    plan->copy(&(struct copy_f32_plane){
        .rows = places_before(row.x, step, s->out[WIDTH], plan->out[WIDTH]),
        .cols = (size_t)s->oc,
        .src = c->src + index * (size_t)(plan->out[WIDTH] * s->oc),
        .src_row = (ptrdiff_t)s->oc,
        .src_col = 1,
        .dst = c->dst + row.n * s->dst.n + y * s->dst.h + row.x * s->dst.w,
        .dst_row = step * s->dst.w,
        .dst_col = s->dst.c,
    });
}

static void copy_rows_in(void *argument, struct span rows, int slot)
{
    (void)slot;
    for (size_t i = rows.begin; i < rows.end; i++)
        copy_row_in(argument, i);
}

static void copy_rows_out(void *argument, struct span rows, int slot)
{
    (void)slot;
    for (size_t i = rows.begin; i < rows.end; i++)
        copy_row_out(argument, i);
}

size_t dilated_scratch_bytes(const void *plan, int threads)
{
    (void)threads;
    return ((const struct convolution_dilated *)plan)->bytes;
}

void dilated_run(const void *plan, const struct execution *execution)
{
    const struct convolution_dilated *mine = plan;
    unsigned char *copies = execution->scratch;
    void *buffers[TENSOR_COUNT];
    memcpy(buffers, execution->buffers, sizeof buffers);
    buffers[SRC] = copies;
    buffers[DST] = copies + mine->src_bytes;
    struct copying in = {mine, execution->buffers[SRC], buffers[SRC]};
    struct copying out = {mine, buffers[DST], execution->buffers[DST]};
    parallel_for_tiles(execution->parallel, mine->count * (size_t)mine->in[HEIGHT],
                       execution->threads, copy_rows_in, &in);
    implementation_run_nested(execution, 0, buffers);
    parallel_for_tiles(execution->parallel, mine->count * (size_t)mine->out[HEIGHT],
                       execution->threads, copy_rows_out, &out);
}
