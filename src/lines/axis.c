/* Rows along one dimension. */
#include "src/lines/axis.h"

#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

void axis_init(struct axis *rows, const struct problem *problem, const struct cpu *cpu, int axis)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    int order[NEO_MAX_NDIMS];
    rows->axis = axis;
    rows->src = line_type(src->data_type, cpu);
    rows->dst = line_type(dst->data_type, cpu);
    rows->reads_dst = post_ops_fusion(problem).reads_dst;
    rows->is_finished =
        !problem->attributes.post_op_count && !problem->attributes.quantization_count;
    rows->ndims = 0;
    rows->length = rows->count = 1;
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    rows->length = (size_t)dst->dims[axis];
    desc_memory_order(dst, order);
    for (int i = 0; i < dst->ndims; i++) {
        if (order[i] == axis)
            continue;
        rows->order[rows->ndims++] = order[i];
        rows->count *= (size_t)dst->dims[order[i]];
    }
}

static size_t row_floats(const struct axis *rows)
{
    return round_up(rows->length, SCRATCH_ALIGNMENT / sizeof(float));
}

size_t axis_scratch_bytes(const void *plan, int threads)
{
    return (size_t)threads * row_floats(plan) * sizeof(float);
}

struct axis_task {
    const struct axis *rows;
    const struct execution *execution;
    axis_fn *make;
};

static void find_position(struct axis_row *row, size_t index)
{
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    for (int i = row->rows->ndims - 1; i >= 0; i--) {
        int dimension = row->rows->order[i];
        row->position[dimension] = (neo_dim)(index % (size_t)dst->dims[dimension]);
        index /= (size_t)dst->dims[dimension];
    }
    row->position[row->rows->axis] = 0;
}

/* The next row's: one that is at its dimension's end goes back, and the one outside of it on. */
static void move_on(struct axis_row *row)
{
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    for (int i = row->rows->ndims - 1; i >= 0; i--) {
        int dimension = row->rows->order[i];
        if (++row->position[dimension] < dst->dims[dimension])
            return;
        row->position[dimension] = 0;
    }
}

/* Where src's elements are, if they are a line of f32, else as one in the scratchpad. */
static const float *load_row(const struct axis_row *row, float *scratch)
{
    const struct axis *rows = row->rows;
    const neo_memory_desc *src = &row->execution->problem->tensors[SRC];
    const void *data =
        line_at(&rows->src, row->execution->buffers[SRC], desc_offset(src, row->position));
    return lines_load(&rows->src, data, src->strides[rows->axis], rows->length, scratch);
}

/* The same for results. */
static float *place_results(const struct axis_row *row, float *scratch)
{
    const struct axis *rows = row->rows;
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    void *data = line_at(&rows->dst, row->execution->buffers[DST], desc_offset(dst, row->position));
    return lines_place(&rows->dst, rows->reads_dst, data, dst->strides[rows->axis], scratch);
}

static void store_row(const struct axis_row *row)
{
    const struct axis *rows = row->rows;
    const neo_memory_desc *dst = &row->execution->problem->tensors[DST];
    struct line line = {.direction = rows->axis};
    for (int i = 0; i < dst->ndims; i++)
        line.position[i] = row->position[i];
    for (size_t from = 0; from < rows->length; from += LINE_MOST) {
        line.position[rows->axis] = (neo_dim)from;
        line.count = min_size(LINE_MOST, rows->length - from);
        void *data =
            line_at(&rows->dst, row->execution->buffers[DST], desc_offset(dst, line.position));
        finish_line(row->execution, &line, row->values + from, false, data,
                    dst->strides[rows->axis]);
    }
}

static void make_row(struct axis_row *row, float *scratch, axis_fn *make)
{
    row->x = load_row(row, scratch);
    row->values = place_results(row, scratch);
    make(row);
    if (row->rows->is_finished && row->values != scratch)
        return; /* in dst */
    lines_scale(row->execution, SRC, row->rows->length, row->values);
    store_row(row);
}

static void make_rows(void *argument, struct span indices, int slot)
{
    const struct axis_task *run = argument;
    struct axis_row row = {.rows = run->rows, .execution = run->execution};
    float *scratch = (float *)run->execution->scratch + (size_t)slot * row_floats(run->rows);
    find_position(&row, indices.begin);
    for (size_t i = indices.begin; i < indices.end; i++) {
        make_row(&row, scratch, run->make);
        move_on(&row);
    }
}

void axis_run(const struct axis *rows, const struct execution *execution, axis_fn *make)
{
    struct axis_task run = {rows, execution, make};
    parallel_for_tiles(execution->parallel, rows->count, execution->threads, make_rows, &run);
}
