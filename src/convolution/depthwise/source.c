/* Depthwise convolution: the rows of source of a piece, by pointer. Where channels have to be next
 * to each other and are not, or are repeated, they are copied into the scratchpad. */
#include "src/convolution/depthwise/depthwise.h"

static bool is_inside(neo_dim at, neo_dim size)
{
    return at >= 0 && at < size;
}

/* Rows in the same plane. */
struct column {
    const float *src; /* row 0 */
    neo_dim row, from, size;
};

static void list_column(const struct column *column, const float **rows, size_t count)
{
    neo_dim at = column->from;
    for (size_t i = 0; i < count; i++, at++)
        rows[i] = is_inside(at, column->size) ? column->src + at * column->row : NULL;
}

/* For each plane of the kernel. */
void depthwise_list_rows(const struct run *run, const struct piece *piece,
                         const struct scratch *scratch)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *src = (const float *)run->execution->buffers[SRC] + piece->n * s->src.n +
                       piece->channel / (neo_dim)plan->multiplier * s->src.c;
    size_t count = plan->row_pointers;
    struct column column = {
        .row = s->src.h,
        .from = (neo_dim)piece->row * s->stride[HEIGHT] - s->padding[HEIGHT],
    };
    neo_dim d = piece->depth * s->stride[DEPTH] - s->padding[DEPTH];
    for (neo_dim i = 0; i < s->kernel[DEPTH]; i++, d += s->dilation[DEPTH]) {
        bool inside = is_inside(d, s->in[DEPTH]);
        column.src = inside ? src + d * s->src.d : NULL;
        column.size = inside ? s->in[HEIGHT] : 0;
        list_column(&column, scratch->rows + (size_t)i * count, count);
    }
}

/* Whole rows of pixels, every value as often as the multiplier says. */
static void repeat_values(const struct convolution_depthwise *plan, const float *src, size_t count,
                          float *out)
{
    plan->copy(&(struct copy_f32_plane){
        .rows = plan->multiplier,
        .cols = count * (size_t)plan->shape.groups,
        .src = src,
        .src_row = 0,
        .src_col = 1,
        .dst = out,
        .dst_row = 1,
        .dst_col = (ptrdiff_t)plan->multiplier,
    });
}

static void transpose_channels(const struct convolution_depthwise *plan, const struct piece *piece,
                               const float *src, size_t count, float *out)
{
    size_t step = plan->multiplier;
    for (size_t i = 0; i < step; i++)
        plan->copy(&(struct copy_f32_plane){
            .rows = piece->channels / step,
            .cols = count,
            .src = src,
            .src_row = plan->shape.src.c,
            .src_col = plan->shape.src.w,
            .dst = out + i,
            .dst_row = (ptrdiff_t)step,
            .dst_col = (ptrdiff_t)plan->channel_block,
        });
}

/* Transposes or repeats count rows that follow each other in src, and lists their copies instead.
 */
static void gather_rows(const struct run *run, const struct piece *piece, const float **rows,
                        size_t count, float *out)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    size_t width = (size_t)s->in[WIDTH];
    bool together = s->src.h == s->in[WIDTH] * s->src.w;
    for (size_t i = 0; i < count; i += together ? count : 1) {
        size_t pixels = together ? count * width : width;
        float *to = out + i * width * plan->channel_block;
        if (depthwise_repeats_pixels(plan))
            repeat_values(plan, rows[i], pixels, to);
        else
            transpose_channels(plan, piece, rows[i], pixels, to);
    }
    for (size_t i = 0; i < count; i++)
        rows[i] = out + i * width * plan->channel_block;
}

static void gather_plane(const struct run *run, const struct piece *piece, const float **rows,
                         float *out)
{
    const struct convolution_depthwise *plan = run->plan;
    size_t used = (piece->rows - 1) * plan->task.stride_h + plan->row_pointers -
                  (plan->rows - 1) * plan->task.stride_h;
    for (size_t i = 0, count; i < used; i += count) {
        count = 1;
        if (!rows[i])
            continue;
        while (i + count < used && rows[i + count] == rows[i + count - 1] + plan->shape.src.h)
            count++;
        gather_rows(run, piece, rows + i, count,
                    out + i * (size_t)plan->shape.in[WIDTH] * plan->channel_block);
    }
}

void depthwise_gather(const struct run *run, const struct piece *piece,
                      const struct scratch *scratch)
{
    const struct convolution_depthwise *plan = run->plan;
    size_t values = plan->row_pointers * (size_t)plan->shape.in[WIDTH] * plan->channel_block;
    for (size_t kz = 0; kz < plan->task.kd; kz++)
        gather_plane(run, piece, scratch->rows + kz * plan->row_pointers,
                     scratch->source + kz * values);
}
