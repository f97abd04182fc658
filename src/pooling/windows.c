/* Pooling by lists of taps: where the lines of src are that a window is made of. Windows whose taps
 * are all in src have one list for a whole row of dst, and those at the ends of a row one each.
 * Lines are along channels where both tensors have these next to each other; otherwise along the
 * last dimension of space, with windows of one element where that is not next to each other. */
#include "kernels/pooling/windows.h"
#include "kernels/elementwise/f32/binary.h"
#include "src/core/checked.h"
#include "src/lines/operation.h"
#include "src/pooling/pooling.h"
#include "src/tensor/descriptor.h"

enum { LAST = 2 /* dimension of space */ };

/* Dimensions of space are three; there is one of each in those that a tensor has not. */
struct windows_plan {
    const struct windows_kernel *kernel;
    binary_f32_fn *divide;
    struct line_type src;
    neo_pooling algorithm;
    bool along_channels;
    bool direct;  /* dst holds what the kernel makes */
    bool divides; /* sums are divided, since integers show any other rounding */
    size_t bytes; /* of an element of src */
    neo_dim in[3], out[3], kernel_size[3], stride[3], apart[3], left[3], step[3];
    struct span whole; /* windows along the last dimension that have all of its taps */
    size_t line, chunk, chunks, rows;
};

/* The first window of a row of dst, or of a part of it. */
struct windows_row {
    const struct windows_plan *plan;
    const struct execution *execution;
    struct line line; /* its position and number of elements */
    ptrdiff_t *taps;  /* bytes from src's first element to the lines of a window */
    size_t tap_count;
    bool has_whole; /* they are those of the first window of plan->whole */
};

static double windows_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    double taps = 1;
    (void)self, (void)cpu;
    for (int i = 0; i < problem->tensors[DST].ndims - 2; i++)
        taps *= (double)problem->window.kernel[i];
    return lines_cycles(problem, 1 + taps / 4);
}

static const char *windows_refuse(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    return problem->extra_count > 0 ? "it does not keep which tap has won"
                                    : lines_refuse(self, problem, cpu);
}

/* ---- plan ---- */

static void plan_dimension(struct windows_plan *plan, const struct problem *problem, int i)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    const struct window *window = &problem->window;
    int missing = 3 - (dst->ndims - 2), own = i - missing;
    bool is_there = own >= 0;
    plan->in[i] = is_there ? src->dims[2 + own] : 1;
    plan->out[i] = is_there ? dst->dims[2 + own] : 1;
    plan->kernel_size[i] = is_there ? window->kernel[own] : 1;
    plan->stride[i] = is_there ? window->strides[own] : 1;
    plan->apart[i] = is_there ? window->dilations[own] + 1 : 1;
    plan->left[i] = is_there ? window->left[own] : 0;
    plan->step[i] = is_there ? src->strides[2 + own] * (neo_dim)plan->bytes : 0;
}

/* Windows along the last dimension begin at -left, stride apart, and have their last taps within.
 */
static struct span whole_windows(const struct windows_plan *plan)
{
    neo_dim stride = plan->stride[LAST], left = plan->left[LAST], out = plan->out[LAST];
    neo_dim room = plan->in[LAST] + left - (plan->kernel_size[LAST] - 1) * plan->apart[LAST];
    neo_dim begin = (left + stride - 1) / stride, end = room > 0 ? (room - 1) / stride + 1 : 0;
    end = end < out ? end : out;
    return (struct span){(size_t)begin, (size_t)(end > begin ? end : begin)};
}

static void plan_lines(struct windows_plan *plan, const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    plan->along_channels = dst->dims[1] > 1 && dst->strides[1] == 1 && src->strides[1] == 1;
    plan->line = (size_t)(plan->along_channels ? dst->dims[1] : plan->out[LAST]);
    plan->chunk = min_size(plan->line, LINE_MOST);
    plan->chunks = plan->line ? div_up(plan->line, plan->chunk) : 0;
    plan->rows = (size_t)(dst->dims[0] * plan->out[0] * plan->out[1]) * plan->chunks;
    if (!plan->along_channels)
        plan->rows *= (size_t)dst->dims[1];
}

static void windows_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct windows_plan *mine = plan;
    neo_data_type src = problem->tensors[SRC].data_type, dst = problem->tensors[DST].data_type;
    enum element to = line_type(dst, cpu).element;
    mine->algorithm = (neo_pooling)pooling_parameters(problem)->algorithm;
    mine->src = line_type(src, cpu);
    mine->bytes = element_bytes(mine->src.element);
    bool is_max = mine->algorithm == NEO_POOLING_MAX;
    mine->kernel =
        windows_find(cpu->features, is_max ? WINDOWS_MAX : WINDOWS_SUM, mine->src.element);
    mine->divide = binary_f32_find(cpu->features, BINARY_F32_DIV)->run;
    mine->divides = !is_max && (element_is_integer(mine->src.element) || element_is_integer(to));
    mine->direct = mine->kernel->out == to && !mine->divides &&
                   problem->attributes.post_op_count == 0 &&
                   problem->attributes.quantization_count == 0;
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    for (int i = 0; i < 3; i++)
        plan_dimension(mine, problem, i);
    mine->whole = whole_windows(mine);
    plan_lines(mine, problem);
}

/* Taps that can be in src at once. */
static size_t list_bytes(const struct windows_plan *plan)
{
    size_t most = 1;
    for (int i = 0; i < 3; i++)
        most *= (size_t)(plan->kernel_size[i] < plan->in[i] ? plan->kernel_size[i] : plan->in[i]);
    return round_up(most * sizeof(ptrdiff_t), SCRATCH_ALIGNMENT);
}

static size_t windows_scratch_bytes(const void *plan, int threads)
{
    return (size_t)threads * list_bytes(plan);
}

static const char *windows_kernel_name(const void *plan)
{
    return ((const struct windows_plan *)plan)->kernel->name;
}

/* ---- lists ---- */

/* Of the dimension of space i. */
static neo_dim position_of(const struct windows_row *row, int i)
{
    int own = i - 3 + row->execution->problem->tensors[DST].ndims;
    return own < 2 ? 0 : row->line.position[own];
}

/* The taps along a dimension that are in src, for the window with this index. */
static struct span taps_in_src(const struct windows_plan *plan, int i, neo_dim index)
{
    neo_dim first = index * plan->stride[i] - plan->left[i], apart = plan->apart[i];
    neo_dim begin = first < 0 ? (-first + apart - 1) / apart : 0;
    neo_dim end = first < plan->in[i] ? (plan->in[i] - 1 - first) / apart + 1 : 0;
    end = end < plan->kernel_size[i] ? end : plan->kernel_size[i];
    return (struct span){(size_t)begin, (size_t)(end > begin ? end : begin)};
}

/* Bytes from src's first element of the row's image and channel to a tap along one dimension. */
static ptrdiff_t offset_of(const struct windows_plan *plan, int i, neo_dim index, size_t tap)
{
    neo_dim at = index * plan->stride[i] - plan->left[i] + (neo_dim)tap * plan->apart[i];
    return (ptrdiff_t)(at * plan->step[i]);
}

/* The list of the window with this index along the last dimension. */
static void list_taps(struct windows_row *row, neo_dim x)
{
    const struct windows_plan *plan = row->plan;
    neo_dim index[3] = {position_of(row, 0), position_of(row, 1), x};
    struct span taps[3];
    for (int i = 0; i < 3; i++)
        taps[i] = taps_in_src(plan, i, index[i]);
    row->tap_count = 0;
    for (size_t a = taps[0].begin; a < taps[0].end; a++)
        for (size_t b = taps[1].begin; b < taps[1].end; b++) {
            ptrdiff_t line = offset_of(plan, 0, index[0], a) + offset_of(plan, 1, index[1], b);
            for (size_t c = taps[2].begin; c < taps[2].end; c++)
                row->taps[row->tap_count++] = line + offset_of(plan, 2, x, c);
        }
}

/* ---- windows ---- */

static float divisor_of(const struct windows_row *row)
{
    const neo_dim *size = row->plan->kernel_size;
    if (row->plan->algorithm == NEO_POOLING_AVERAGE_INCLUDE_PADDING)
        return (float)((double)size[0] * (double)size[1] * (double)size[2]);
    return (float)max_size(row->tap_count, 1);
}

/* Bytes from a window of a row to the next one. */
static ptrdiff_t step_of(const struct windows_plan *plan)
{
    return (ptrdiff_t)(plan->stride[LAST] * plan->step[LAST]);
}

static const char *src_of(const struct windows_row *row)
{
    const neo_memory_desc *src = &row->execution->problem->tensors[SRC];
    neo_dim offset =
        row->line.position[0] * src->strides[0] + row->line.position[1] * src->strides[1];
    return line_at(&row->plan->src, row->execution->buffers[SRC], offset);
}

/* Windows that have the same taps, and no others: from x on so many, to dst. */
static void make_alike(struct windows_row *row, size_t x, size_t count, char *dst,
                       ptrdiff_t dst_step)
{
    const struct windows_plan *plan = row->plan;
    bool is_whole = x >= plan->whole.begin && x < plan->whole.end;
    size_t listed = is_whole ? plan->whole.begin : x;
    if (!is_whole || !row->has_whole)
        list_taps(row, (neo_dim)listed);
    row->has_whole = is_whole;
    float divisor = divisor_of(row);
    struct windows w = {src_of(row) + (ptrdiff_t)(x - listed) * step_of(plan),
                        row->taps,
                        row->tap_count,
                        plan->along_channels ? row->line.count : 1,
                        count,
                        step_of(plan),
                        dst,
                        dst_step,
                        plan->divides ? 1 : 1 / divisor};
    bool is_dense = step_of(plan) == (ptrdiff_t)plan->bytes &&
                    dst_step == (ptrdiff_t)element_bytes(plan->kernel->out);
    if (!plan->along_channels && is_dense) {
        w.n = count;
        w.count = 1;
    }
    plan->kernel->run(&w);
    if (plan->divides)
        plan->divide(w.n * w.count, (float *)(void *)dst, &divisor, 0, (float *)(void *)dst);
}

static void make_windows(struct windows_row *row, struct span x, char *dst, ptrdiff_t dst_step)
{
    struct span whole = row->plan->whole;
    for (size_t i = x.begin; i < x.end;) {
        bool is_whole = i >= whole.begin && i < whole.end;
        size_t count = is_whole ? min_size(whole.end, x.end) - i : 1;
        make_alike(row, i, count, dst + (ptrdiff_t)(i - x.begin) * dst_step, dst_step);
        i += count;
    }
}

/* ---- rows ---- */

static char *dst_of(const struct windows_row *row)
{
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    return (char *)row->execution->buffers[DST] +
           desc_offset(dst, row->line.position) * (neo_dim)(neo_data_type_bits(dst->data_type) / 8);
}

static void make_direct(struct windows_row *row, struct span x)
{
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    neo_dim step = dst->strides[dst->ndims - 1] * (neo_dim)element_bytes(row->plan->kernel->out);
    make_windows(row, x, dst_of(row), (ptrdiff_t)step);
}

/* A line, of these windows, that is to be finished. */
static void make_line(struct windows_row *row, struct span x)
{
    const struct windows_plan *plan = row->plan;
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    float made[LINE_MOST], converted[LINE_MOST];
    float *values = plan->kernel->out == ELEMENT_F32 ? made : converted;
    make_windows(row, x, (char *)made, (ptrdiff_t)element_bytes(plan->kernel->out));
    if (values != made)
        plan->src.kernel->load(row->line.count, made, values);
    finish_line(row->execution, &row->line, values, false, dst_of(row),
                dst->strides[row->line.direction]);
}

static void find_row(struct windows_row *row, size_t index)
{
    const struct windows_plan *plan = row->plan;
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    neo_dim *position = row->line.position;
    size_t first = index % plan->chunks * plan->chunk;
    index /= plan->chunks;
    for (int i = dst->ndims - 2; i >= 0; i--) {
        if (i == 1 && plan->along_channels)
            continue;
        position[i] = (neo_dim)(index % (size_t)dst->dims[i]);
        index /= (size_t)dst->dims[i];
    }
    row->line.direction = plan->along_channels ? 1 : dst->ndims - 1;
    position[dst->ndims - 1] = 0;
    position[row->line.direction] = (neo_dim)first;
    row->line.count = min_size(plan->chunk, plan->line - first);
    row->has_whole = false;
}

static void make_row(struct windows_row *row)
{
    const struct windows_plan *plan = row->plan;
    neo_dim *last = &row->line.position[row->execution->problem->tensors[DST].ndims - 1];
    struct span x = {0, (size_t)plan->out[LAST]};
    if (!plan->along_channels)
        x = (struct span){(size_t)*last, (size_t)*last + row->line.count};
    if (plan->direct)
        make_direct(row, x);
    else if (!plan->along_channels)
        make_line(row, x);
    else
        for (; x.begin < x.end; x.begin++) {
            *last = (neo_dim)x.begin;
            make_line(row, (struct span){x.begin, x.begin + 1});
        }
}

static void make_rows(void *argument, struct span rows, int slot)
{
    const struct lines_task *task = argument;
    struct windows_row row = {.plan = task->plan, .execution = task->execution};
    row.taps = (void *)((char *)task->execution->scratch + (size_t)slot * list_bytes(task->plan));
    for (size_t i = rows.begin; i < rows.end; i++) {
        find_row(&row, i);
        make_row(&row);
    }
}

static void windows_run(const void *plan, const struct execution *execution)
{
    lines_run(execution, plan, ((const struct windows_plan *)plan)->rows, make_rows);
}

const struct algorithm pooling_windows = {
    .name = "windows",
    .refuse = windows_refuse,
    .choose = lines_choose,
    .estimate = windows_estimate,
    .plan = windows_plan,
    .plan_bytes = sizeof(struct windows_plan),
    .scratch_bytes = windows_scratch_bytes,
    .kernel = windows_kernel_name,
    .run = windows_run,
};
