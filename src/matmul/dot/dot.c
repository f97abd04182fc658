/* Matrix multiplication with few columns, or with transposed weights: each result is the dot
 * product of two contiguous rows, one of src and one of the weights' columns.
 *
 * The side with more of them gives the kernel's rows, the other one its columns. Few columns of
 * weights that lie in rows are brought beside each other first. */
#include <math.h>

#include "arch/costs.h"
#include "kernels/dot/f32/dot.h"
#include "kernels/pack/f32/copy.h"
#include "src/core/checked.h"
#include "src/matmul/batch.h"
#include "src/matmul/dot/in_order.h"
#include "src/primitive/finish.h"
#include "src/tensor/descriptor.h"
#include "src/threading/partition.h"

/* Results of a column that are finished at once: beside the stack's other values, or in place. */
enum { CHUNK = 64, CHUNK_IN_PLACE = 512 };

struct matmul_dot {
    size_t matrices;
    bool rows_are_src;       /* the kernel's; and its columns the weights'; else the other way */
    bool gather;             /* columns are gathered first: */
    size_t step, line_bytes; /* between elements of one; what a thread needs for them */
    bool finish;             /* bias or post-operations are left to do: */
    bool in_place;           /* where sums are stored in dst */
    struct matmul_batch batch;
    const struct dot_f32_kernel *kernel;
    dot_f32_fn *run; /* the kernel's */
    copy_f32_fn *copy;
    bool one_call;       /* a thread alone has nothing to do with a matrix but `call` */
    struct dot_f32 call; /* all of a matrix, where it lies */
};

static bool has_few_columns(const struct problem *problem)
{
    return matmul_shape(problem).n <= DOT_F32_COLUMNS;
}

static const char *dot_refuse(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    (void)self, (void)cpu;
    if (problem_is_runtime(problem))
        return "a size is known only at run time";
    if (weights->format_kind == NEO_FORMAT_PACKED)
        return "the weights are packed";
    if (!matmul_is_contiguous(src, src->ndims - 1))
        return "rows of src are not contiguous";
    if (has_few_columns(problem))
        return NULL;
    if (weights->format_kind == NEO_FORMAT_ANY)
        return matmul_shape(problem).n <= DOT_F32_COLUMNS + 1
                   ? NULL
                   : "packed weights are better than transposed ones";
    return matmul_is_contiguous(weights, weights->ndims - 2)
               ? NULL
               : "columns of weights are not contiguous";
}

/* Columns beside each other. */
static void choose_weights(neo_memory_desc *weights)
{
    int last = weights->ndims - 1;
    desc_set_plain(weights);
    if (weights->dims[last] == 1 || weights->dims[last - 1] == 0)
        return;
    weights->strides[last] = weights->dims[last - 1];
    weights->strides[last - 1] = 1;
}

static void dot_choose(const struct algorithm *self, struct problem *problem, const struct cpu *cpu)
{
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        choose_weights(&problem->tensors[WEIGHTS]);
    matmul_choose_plain(self, problem, cpu);
}

static bool must_gather(const neo_memory_desc *weights)
{
    return !matmul_is_contiguous(weights, weights->ndims - 2);
}

enum { TALL = 16, ROUND = 8, LEFT = 8 };

/* Beside vectors as of whole tiles: of one column, what is left of these is done by fours, and less
 * than that at once, which takes more instructions; sums wait for themselves. Or it is one more
 * tile. */
static double waiting_cycles(size_t count, double vectors, double vector, const struct core *core,
                             bool whole)
{
    enum { SMALL = 4 };
    size_t left = count % TALL, fours = left / SMALL;
    if (whole && left > LEFT)
        return vectors * (double)(TALL - left) * vector;
    double calls = (double)fours + (left % SMALL ? core_costs(core)->dot.last_call : 0);
    double waits = calls * core->fmla_latency - (double)left * vector;
    return vectors * fmax(waits, 0);
}

static const double rows_of[DOT_F32_COLUMNS + 1] = {0, TALL, 8, 4, 4};

/* Cycles of a vector of products in a tile of so many columns: multiply-adds, or loads where those
 * are more. */
static double vector_cycles(const struct core *core, size_t columns, double most)
{
    double rows = rows_of[columns], loads = (rows + (double)columns) / (rows * (double)columns);
    double sums = fmin(most, rows) * (double)columns; /* each waits for itself */
    double macs = fmax(1 / fmax(core->fmla_per_cycle, 1), core->fmla_latency / fmax(sums, 1));
    if (core->in_order) /* two instructions at a time */
        return fmax(2 * loads, (macs + 3 * loads) / 2) + core_costs(core)->dot.step;
    return fmax(macs, loads / fmax(core->loads_per_cycle, 1));
}

/* And what a tile and each result take around them, on cores that reorder; less where tiles do
 * everything. */
static double reordered_cycles(const struct core *core, const struct matmul_shape *shape)
{
    double m = (double)shape->m, n = (double)shape->n, vectors = ceil((double)shape->k / 4);
    size_t least = (size_t)fmin(m, n), columns = least < DOT_F32_COLUMNS ? least : DOT_F32_COLUMNS;
    double vector = vector_cycles(core, columns, fmax(m, n)), rows = rows_of[columns];
    bool whole = fmax(m, n) >= rows && shape->k && shape->k % ROUND == 0;
    const double most = DOT_F32_COLUMNS; /* clang wants a double */
    double calls = ceil(fmin(m, n) / most), left = fmod(fmax(m, n), rows) > 0 ? 20 : 0;
    const struct dot_costs *costs = &core_costs(core)->dot;
    double part = shape->k % 4 ? costs->k_part : 0; /* values of k that fill no vector */
    double around = whole ? (columns % 3 == 1 ? costs->third_column : 1)
                          : 3 + part + 20 / (rows * (double)columns);
    double cycles = m * n * (vectors * vector + core->slowness * around);
    if (columns == 1)
        cycles += waiting_cycles((size_t)fmax(m, n), vectors, vector, core, whole);
    /* Of the first call dot_costs.call has the beginning. */
    const double first = 50;
    double call = columns > 1 ? 85 : 55;
    return cycles + core->slowness * (calls * (call + left) - first);
}

static bool rows_are_src(const struct problem *problem)
{
    struct matmul_shape shape = matmul_shape(problem);
    return shape.n <= shape.m || must_gather(&problem->tensors[WEIGHTS]);
}

static double in_order_cycles(const struct core *core, const struct problem *problem)
{
    struct matmul_shape shape = matmul_shape(problem);
    bool src = rows_are_src(problem);
    size_t rows = (size_t)(src ? shape.m : shape.n), columns = (size_t)(src ? shape.n : shape.m);
    double vector[DOT_F32_COLUMNS + 1] = {0};
    for (size_t c = 1; c <= DOT_F32_COLUMNS; c++)
        vector[c] = vector_cycles(core, c, rows_of[c]);
    return dot_in_order_cycles(core, rows, columns, (size_t)shape.k, vector);
}

/* Columns that are gathered, by the kind of core: for the matrix, and each value. */
static double gathering_cycles(const struct core *core, const struct matmul_shape *shape)
{
    const struct dot_costs *costs = &core_costs(core)->dot;
    return costs->matrix * core->slowness + costs->value * (double)shape->n * (double)shape->k;
}

/* A sum and nothing else is the kernel's, as it comes. */
static bool adds(const struct problem *problem)
{
    const neo_attributes *attributes = &problem->attributes;
    const struct post_op *op = &attributes->post_ops[0];
    return !problem->tensors[BIAS].ndims && attributes->post_op_count == 1 &&
           op->kind == NEO_POST_OP_SUM && op->sum.scale == 1 && op->sum.zero_point == 0 &&
           (op->sum.type == NEO_DATA_TYPE_UNDEF || op->sum.type == NEO_F32);
}

static bool is_finished(const struct problem *problem)
{
    return problem->tensors[BIAS].ndims || (problem->attributes.post_op_count && !adds(problem));
}

/* Sums that become results elsewhere, and are brought to dst one by one unless they are there. */
static double finishing_cycles(const struct core *core, const struct problem *problem)
{
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *dst = &problem->tensors[DST];
    int along = rows_are_src(problem) ? dst->ndims - 2 : dst->ndims - 1;
    bool one_line = shape.m == 1 || shape.n == 1;
    bool is_chosen = dst->format_kind == NEO_FORMAT_STRIDED; /* else its rows will be contiguous */
    bool there = is_chosen ? dst->strides[along] == 1 : along == dst->ndims - 1;
    double bias = problem->tensors[BIAS].ndims > 0, moves = one_line || there ? 0 : 2;
    return core->slowness * (100 + (double)shape.m * (double)shape.n * (bias / 2 + moves));
}

static double dot_estimate(const struct algorithm *self, const struct problem *problem,
                           const struct cpu *cpu)
{
    (void)self;
    struct matmul_shape shape = matmul_shape(problem);
    const struct core *core = cpu->core;
    if (shape.m == 0 || shape.n == 0 || shape.batch == 0)
        return 100;
    const struct dot_costs *costs = &core_costs(core)->dot;
    double each = core->in_order ? in_order_cycles(core, problem) : reordered_cycles(core, &shape);
    if (must_gather(&problem->tensors[WEIGHTS]))
        each += gathering_cycles(core, &shape);
    if (is_finished(problem))
        each += (double)shape.m * (double)shape.n * post_ops_cycles(problem) +
                finishing_cycles(core, problem);
    double gathers = must_gather(&problem->tensors[WEIGHTS]) ? costs->gathers : 0;
    return core->slowness * (costs->call + gathers) + (double)shape.batch * each;
}

static void dot_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_dot *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    size_t src_stride = (size_t)src->strides[src->ndims - 2];
    size_t weights_stride = (size_t)weights->strides[weights->ndims - 1];
    mine->rows_are_src = rows_are_src(problem);
    mine->matrices = (size_t)shape.batch;
    mine->gather = shape.k && must_gather(weights);
    const neo_memory_desc *dst = &problem->tensors[DST];
    int last = dst->ndims - 1;
    mine->finish = is_finished(problem);
    matmul_batch_init(&mine->batch, problem, 0);
    mine->kernel = dot_f32_find(cpu->features, cpu->core->in_order);
    mine->run = mine->kernel->run;
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->call = (struct dot_f32){
        .stride = mine->rows_are_src ? src_stride : weights_stride,
        .x_stride = mine->rows_are_src ? weights_stride : src_stride,
        .count = (size_t)(mine->rows_are_src ? shape.m : shape.n),
        .columns = (size_t)(mine->rows_are_src ? shape.n : shape.m),
        .k = (size_t)shape.k,
        .out_row = (size_t)dst->strides[mine->rows_are_src ? last - 1 : last],
        .out_column = (size_t)dst->strides[mine->rows_are_src ? last : last - 1],
        .adds = adds(problem),
    };
    mine->in_place = mine->call.out_row == 1 && !post_ops_fusion(problem).reads_dst;
    mine->one_call = mine->matrices > 0 && !mine->gather && !mine->finish &&
                     mine->call.columns <= DOT_F32_COLUMNS;
    if (!mine->gather)
        return;
    mine->step = (size_t)weights->strides[weights->ndims - 2];
    mine->line_bytes =
        round_up(mine->call.columns * mine->call.k * sizeof(float), SCRATCH_ALIGNMENT);
}

static size_t dot_scratch_bytes(const void *plan, int threads)
{
    return ((const struct matmul_dot *)plan)->line_bytes * (size_t)threads;
}

static const char *dot_kernel(const void *plan)
{
    return ((const struct matmul_dot *)plan)->kernel->name;
}

/* ---- run ---- */

/* Columns of one matrix beside each other. */
static const float *gather(const struct matmul_dot *plan, const float *weights, float *to)
{
    const struct dot_f32 *call = &plan->call;
    plan->copy(&(struct copy_f32_plane){.rows = call->k,
                                        .cols = call->columns,
                                        .src = weights,
                                        .src_row = (ptrdiff_t)plan->step,
                                        .src_col = (ptrdiff_t)call->x_stride,
                                        .dst = to,
                                        .dst_row = 1,
                                        .dst_col = (ptrdiff_t)call->k});
    return to;
}

struct dot_run {
    const struct matmul_dot *plan;
    const struct execution *execution;
};

/* One matrix of the batch. */
struct matrix {
    const float *src, *weights;
    float *dst;
    struct line line; /* its position; along the kernel's rows */
};

static void locate(const struct dot_run *run, size_t batch, struct matrix *matrix)
{
    const struct matmul_dot *plan = run->plan;
    struct matmul_steps at = matmul_batch_at(&plan->batch, batch);
    matrix->src = (const float *)run->execution->buffers[SRC] + at.src;
    matrix->weights = (const float *)run->execution->buffers[WEIGHTS] + at.weights;
    matrix->dst = (float *)run->execution->buffers[DST] + at.dst;
    if (plan->finish)
        matmul_position(run->execution->problem, batch, matrix->line.position);
}

/* Some of the kernel's columns, for rows `span`. */
struct piece {
    struct dot_f32 dot;
    const float *rows, *x;
    struct span span;
    size_t first; /* column */
};

/* Sums that become results elsewhere. */
static void run_finished(const struct dot_run *run, struct piece piece, struct matrix *matrix)
{
    const struct matmul_dot *plan = run->plan;
    struct line *line = &matrix->line;
    int last = run->execution->problem->tensors[DST].ndims - 1;
    line->direction = plan->rows_are_src ? last - 1 : last;
    neo_dim *across = &line->position[plan->rows_are_src ? last : last - 1];
    float own[DOT_F32_COLUMNS * CHUNK];
    size_t most = plan->in_place ? CHUNK_IN_PLACE : CHUNK;
    if (!plan->in_place)
        piece.dot.out_row = 1, piece.dot.out_column = CHUNK;
    for (size_t at = piece.span.begin; at < piece.span.end; at += piece.dot.count) {
        float *dst = matrix->dst + at * plan->call.out_row + piece.first * plan->call.out_column;
        float *values = plan->in_place ? dst : own;
        piece.dot.count = line->count = min_size(most, piece.span.end - at);
        plan->run(&piece.dot, piece.rows + at * piece.dot.stride, piece.x, values);
        line->position[line->direction] = (neo_dim)at;
        for (size_t j = 0; j < piece.dot.columns; j++) {
            *across = (neo_dim)(piece.first + j);
            finish_line(run->execution, line, values + j * piece.dot.out_column, true,
                        dst + j * plan->call.out_column, (neo_dim)plan->call.out_row);
        }
    }
}

static void run_whole(const struct matmul_dot *plan, const struct piece *piece, float *dst)
{
    const struct dot_f32 *dot = &piece->dot;
    size_t row = piece->span.begin;
    plan->run(dot, piece->rows + row * dot->stride, piece->x,
              dst + row * dot->out_row + piece->first * dot->out_column);
}

/* Rows `span` of one matrix. */
static void run_matrix(const struct dot_run *run, size_t batch, struct span span, int slot)
{
    const struct matmul_dot *plan = run->plan;
    struct matrix matrix;
    locate(run, batch, &matrix);
    struct piece piece = {.dot = plan->call, .span = span};
    if (plan->gather) {
        char *own = (char *)run->execution->scratch + plan->line_bytes * (size_t)slot;
        matrix.weights = gather(plan, matrix.weights, (float *)(void *)own);
        piece.dot.x_stride = plan->call.k;
    }
    const float *x = plan->rows_are_src ? matrix.weights : matrix.src;
    piece.rows = plan->rows_are_src ? matrix.src : matrix.weights;
    piece.dot.count = span.end - span.begin;
    for (size_t j = 0; j < plan->call.columns; j += DOT_F32_COLUMNS) {
        piece.dot.columns = min_size(DOT_F32_COLUMNS, plan->call.columns - j);
        piece.x = x + j * piece.dot.x_stride, piece.first = j;
        if (plan->finish)
            run_finished(run, piece, &matrix);
        else
            run_whole(plan, &piece, matrix.dst);
    }
}

static void run_span(void *argument, struct span all, int slot)
{
    const struct dot_run *run = argument;
    const struct matmul_dot *plan = run->plan;
    while (all.begin < all.end) {
        size_t first = all.begin % plan->call.count;
        size_t end = min_size(first + (all.end - all.begin), plan->call.count);
        run_matrix(run, all.begin / plan->call.count, (struct span){first, end}, slot);
        all.begin += end - first;
    }
}

static void run_src_rows(const void *plan, const struct execution *execution)
{
    const struct matmul_dot *mine = plan;
    void *const *buffers = execution->buffers;
    mine->run(&mine->call, buffers[SRC], buffers[WEIGHTS], buffers[DST]);
}

static void run_weights_columns(const void *plan, const struct execution *execution)
{
    const struct matmul_dot *mine = plan;
    void *const *buffers = execution->buffers;
    mine->run(&mine->call, buffers[WEIGHTS], buffers[SRC], buffers[DST]);
}

/* The matrices of the batch's innermost loop, one call each. */
static void run_turn(const struct matmul_dot *plan, void *const buffers[TENSOR_COUNT],
                     const struct matmul_steps *at)
{
    const struct matmul_loop *loop = plan->batch.loops;
    struct matmul_steps step = loop->steps;
    const float *rows = (const float *)buffers[SRC] + at->src;
    const float *x = (const float *)buffers[WEIGHTS] + at->weights;
    float *dst = (float *)buffers[DST] + at->dst;
    if (!plan->rows_are_src) {
        const float *src = rows;
        rows = x, x = src;
        step.src = loop->steps.weights, step.weights = loop->steps.src;
    }
    for (size_t left = loop->count; left; left--) {
        plan->run(&plan->call, rows, x, dst);
        rows += step.src, x += step.weights, dst += step.dst;
    }
}

static void run_calls(const void *plan, const struct execution *execution)
{
    const struct matmul_dot *mine = plan;
    struct matmul_walk walk = {.turns = {0}};
    do
        run_turn(mine, execution->buffers, &walk.at);
    while (matmul_batch_turn(&mine->batch, &walk));
}

static void run_matrices(const void *plan, const struct execution *execution)
{
    const struct matmul_dot *mine = plan;
    struct dot_run run = {mine, execution};
    for (size_t b = 0; b < mine->matrices; b++)
        run_matrix(&run, b, (struct span){0, mine->call.count}, 0);
}

static run_fn *dot_run_alone(const void *plan)
{
    const struct matmul_dot *mine = plan;
    if (!mine->one_call)
        return run_matrices;
    if (mine->matrices > 1)
        return run_calls;
    return mine->rows_are_src ? run_src_rows : run_weights_columns;
}

static void dot_run(const void *plan, const struct execution *execution)
{
    const struct matmul_dot *mine = plan;
    struct dot_run run = {mine, execution};
    if (execution->threads == 1)
        dot_run_alone(plan)(plan, execution);
    else
        parallel_for_tiles(execution->parallel, mine->matrices * mine->call.count,
                           execution->threads, run_span, &run);
}

const struct algorithm matmul_dot = {
    .name = "dot",
    .by_vectors = true,
    .refuse = dot_refuse,
    .choose = dot_choose,
    .estimate = dot_estimate,
    .plan = dot_plan,
    .plan_bytes = sizeof(struct matmul_dot),
    .scratch_bytes = dot_scratch_bytes,
    .kernel = dot_kernel,
    .run = dot_run,
    .run_alone = dot_run_alone,
};
