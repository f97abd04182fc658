/* Matrix multiplication where two of m, n and k are small, or all of a batch's matrices: lines
 * along the one size that is long are multiplied as if they were single values.
 *
 * The side that has no such lines, if there is one, is shared by all products. Lines whose elements
 * do not lie beside each other are brought together first, so many at a time that all of a piece
 * stays in the L1 cache; those of dst are brought to their places afterwards. */
#include <math.h>

#include "arch/costs.h"
#include "kernels/gemm/f32/lines/lines.h"
#include "kernels/pack/f32/copy.h"
#include "kernels/pack/f32/pack.h"
#include "src/core/checked.h"
#include "src/matmul/batch.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"

/* A piece of all lines that are copied is to have room in any L1 cache, with what it is copied
 * from. */
enum { MOST_SHORT = 8, LEAST_LONG = 8, LEAST_PIECE = 64, MOST_PIECE = 512, COPIED = 2048 };
enum direction { ROWS, COLUMNS, MATRICES };

/* A matrix of lines: `rows` times `columns` of them, each along `along`; 0: it is one of values.
 *
 * Kernels may be given copies of lines, one after the other, those that lie beside each other
 * innermost: outer times inner of them, which lie `next` and `step` from each other. */
struct side {
    size_t rows, columns;
    ptrdiff_t row, column, along;
    bool is_copied, down; /* down: along columns first */
    size_t outer, inner;
    ptrdiff_t next, step;
    size_t place; /* of the copies in the scratchpad, in lines */
};

struct matmul_lines {
    enum direction direction;
    size_t count;    /* of a line's elements */
    size_t matrices; /* lots of lines */
    size_t piece;    /* so many elements of each line at once */
    size_t pieces;   /* of each lot */
    bool swapped;    /* a is weights' and b is src's, both transposed, and so is c */
    bool finish;
    struct side a, b, c;
    struct matmul_batch batch;
    const struct gemm_f32_lines_kernel *kernel;
    copy_f32_fn *copy;
    size_t copied; /* lines, of all sides */
};

/* ---- which lines ---- */

static bool are_short(neo_dim x, neo_dim y)
{
    return x <= MOST_SHORT && y <= MOST_SHORT;
}

/* The longest direction whose other sizes are short, and how long it is; 0: there is none. */
static size_t longest(const struct problem *problem, enum direction *direction)
{
    struct matmul_shape shape = matmul_shape(problem);
    neo_dim lengths[] = {
        [ROWS] = are_short(shape.n, shape.k) ? shape.m : 0,
        [COLUMNS] = are_short(shape.m, shape.k) ? shape.n : 0,
        [MATRICES] = are_short(shape.m, shape.n) && shape.k <= MOST_SHORT ? shape.batch : 0,
    };
    *direction = ROWS;
    for (enum direction d = COLUMNS; d <= MATRICES; d++)
        if (lengths[d] > lengths[*direction])
            *direction = d;
    return (size_t)lengths[*direction];
}

static bool is_finished(const struct problem *problem)
{
    return problem->tensors[BIAS].ndims || problem->attributes.post_op_count;
}

static const char *lines_refuse(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    enum direction direction;
    (void)self, (void)cpu;
    if (problem_is_runtime(problem))
        return "a size is known only at run time";
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED)
        return "the weights are packed";
    if (matmul_shape(problem).k == 0)
        return "there is nothing to add up";
    if (longest(problem, &direction) < LEAST_LONG)
        return "more than one size is long, or none";
    if (direction == MATRICES && is_finished(problem))
        return "a line of a batch has no position for what is done with results";
    return NULL;
}

/* ---- plan ---- */

static struct side side_of(const neo_memory_desc *desc)
{
    int last = desc->ndims - 1;
    return (struct side){.rows = (size_t)desc->dims[last - 1],
                         .columns = (size_t)desc->dims[last],
                         .row = desc->dims[last - 1] == 1 ? 0 : desc->strides[last - 1],
                         .column = desc->dims[last] == 1 ? 0 : desc->strides[last]};
}

static struct side transposed(struct side side)
{
    return (struct side){.rows = side.columns,
                         .columns = side.rows,
                         .row = side.column,
                         .column = side.row,
                         .along = side.along};
}

/* Its rows become the elements of lines. */
static void lie_along_rows(struct side *side)
{
    side->along = side->row;
    side->row = 0;
    side->rows = 1;
}

static void find_sides(struct matmul_lines *mine, const struct problem *problem)
{
    struct side src = side_of(&problem->tensors[SRC]), dst = side_of(&problem->tensors[DST]);
    struct side weights = side_of(&problem->tensors[WEIGHTS]);
    const struct matmul_steps *steps = &mine->batch.loops[0].steps;
    if (mine->direction == MATRICES)
        src.along = steps->src, weights.along = steps->weights, dst.along = steps->dst;
    mine->swapped = mine->direction == COLUMNS || (mine->direction == MATRICES && steps->src == 0);
    mine->a = mine->swapped ? transposed(weights) : src;
    mine->b = mine->swapped ? transposed(src) : weights;
    mine->c = mine->swapped ? transposed(dst) : dst;
    if (mine->direction == MATRICES)
        return;
    lie_along_rows(&mine->a);
    lie_along_rows(&mine->c);
}

/* How lines are walked through. Those that are all as far from each other are one walk. */
static void find_walk(struct side *side)
{
    side->down = side->column != 1 && side->row == 1;
    side->outer = side->down ? side->columns : side->rows;
    side->inner = side->down ? side->rows : side->columns;
    side->next = side->down ? side->column : side->row;
    side->step = side->down ? side->row : side->column;
    if (side->inner == 1)
        side->step = side->next;
    else if (side->next != side->step * (ptrdiff_t)side->inner)
        return;
    side->inner *= side->outer;
    side->outer = 1;
}

/* Lines are copied unless their elements lie beside each other; those that are still to be finished
 * have their place beside dst. */
static void place_side(struct matmul_lines *mine, struct side *side, bool always)
{
    side->is_copied = always || (side->along != 1 && side->along != 0);
    if (!side->is_copied)
        return;
    find_walk(side);
    side->place = mine->copied;
    mine->copied += side->rows * side->columns;
}

static void lines_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_lines *mine = plan;
    mine->kernel = gemm_f32_lines_find(cpu->features);
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->finish = is_finished(problem);
    struct matmul_shape shape = matmul_shape(problem);
    size_t length = longest(problem, &mine->direction);
    if (shape.batch == 0 || shape.m == 0 || shape.n == 0)
        return;
    matmul_batch_init(&mine->batch, problem, 0);
    bool across = mine->direction == MATRICES;
    mine->count = across ? mine->batch.loops[0].count : length;
    mine->matrices = (size_t)shape.batch / (across ? mine->count : 1);
    find_sides(mine, problem);
    place_side(mine, &mine->a, mine->a.along == 0); /* kernels have one side to share */
    place_side(mine, &mine->b, false);
    place_side(mine, &mine->c, mine->finish);
    size_t piece = COPIED / max_size(mine->copied, 1);
    mine->piece = min_size(max_size(piece & ~(size_t)15, LEAST_PIECE), MOST_PIECE);
    mine->pieces = div_up(mine->count, mine->piece);
}

static size_t lines_scratch_bytes(const void *plan, int threads)
{
    const struct matmul_lines *mine = plan;
    return (size_t)threads *
           round_up(mine->copied * mine->piece * sizeof(float), SCRATCH_ALIGNMENT);
}

static const char *lines_kernel(const void *plan)
{
    return ((const struct matmul_lines *)plan)->kernel->name;
}

/* ---- estimate ---- */

/* What a copied side adds to a piece: a walk begins, and four elements of each line at a time are
 * brought together, or to their places, of up to three lines beside each other by loads and stores
 * of structures. The last ones that are fewer than four go one by one. */
static double moving_cycles(const struct lines_costs *costs, const struct side *side, size_t count)
{
    size_t whole = count / 4;
    double lines = (double)(side->rows * side->columns);
    double moved = side->inner < 4 ? costs->moved_few : costs->moved;
    double last = count % 4 ? costs->moved_part : 0;
    return side->is_copied ? costs->walk + lines * (moved * (double)whole + last) : 0;
}

/* Of so many columns of one row: tiles of four vectors of a line, then of one, whose sums wait for
 * themselves, and what is loaded for them: of a shared side each value. */
static double columns_cycles(const struct core *core, const struct matmul_lines *plan,
                             double columns, size_t count)
{
    const struct lines_costs *costs = &core_costs(core)->lines;
    size_t vectors = count / 4, tiles = vectors / 4;
    double per_cycle = fmax(core->fmla_per_cycle, 1), latency = core->fmla_latency;
    double wide = (double)tiles, narrow = (double)(vectors % 4), part = count % 4 > 0;
    double sums = wide * fmax(4 * columns / per_cycle, latency) +
                  (narrow + part) * fmax(columns / per_cycle, latency);
    double shared = plan->b.along ? 0 : columns * (wide + narrow);
    double loads =
        costs->shared * shared + part * costs->part * (1 + (plan->b.along ? columns : 0));
    double results = costs->result * columns * (double)vectors;
    return (double)plan->a.columns * (sums + core->slowness * loads) + core->slowness * results;
}

/* So many elements of each line of a lot. */
static double piece_cycles(const struct core *core, const struct matmul_lines *plan, size_t count)
{
    const struct lines_costs *costs = &core_costs(core)->lines;
    size_t fours = plan->c.columns / 4;
    double rest = (double)(plan->c.columns % 4);
    double row = (double)fours * columns_cycles(core, plan, 4, count);
    if (rest > 0)
        row += columns_cycles(core, plan, rest, count);
    double moved = moving_cycles(costs, &plan->a, count) + moving_cycles(costs, &plan->b, count) +
                   moving_cycles(costs, &plan->c, count);
    return (double)plan->c.rows * row + core->slowness * moved;
}

static double lot_cycles(const struct core *core, const struct matmul_lines *plan)
{
    size_t whole = plan->count / max_size(plan->piece, 1), last = plan->count - whole * plan->piece;
    double cycles = whole ? (double)whole * piece_cycles(core, plan, plan->piece) : 0;
    return last ? cycles + piece_cycles(core, plan, last) : cycles;
}

static __attribute__((noinline)) void plan_chosen(struct matmul_lines *plan,
                                                  const struct algorithm *self,
                                                  const struct problem *problem,
                                                  const struct cpu *cpu)
{
    struct problem chosen = *problem;
    matmul_choose_plain(self, &chosen, cpu);
    lines_plan(plan, &chosen, cpu);
}

static double lines_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    struct matmul_lines plan = {.count = 0};
    const struct core *core = cpu->core;
    plan_chosen(&plan, self, problem, cpu);
    double results = (double)(plan.c.rows * plan.c.columns * plan.count);
    double finish = plan.finish ? results * (post_ops_cycles(problem) + core->slowness * 2) : 0;
    return core->slowness * core_costs(core)->lines.call +
           (double)plan.matrices * (lot_cycles(core, &plan) + finish);
}

/* ---- run ---- */

struct lines_run {
    const struct matmul_lines *plan;
    const struct execution *execution;
};

/* Some elements of all lines of a lot, and what kernels are given of them. */
struct piece {
    const float *src, *weights;
    float *dst, *room;
    size_t first, count;
    struct line line;
};

/* Values of a copied line: whole vectors. */
static size_t width_of(const struct piece *piece)
{
    return round_up(piece->count, 4);
}

static ptrdiff_t row_of(const struct side *side, const struct piece *piece)
{
    size_t lines = side->down ? 1 : side->columns;
    return side->is_copied ? (ptrdiff_t)(lines * width_of(piece)) : side->row;
}

static ptrdiff_t column_of(const struct side *side, const struct piece *piece)
{
    size_t lines = side->down ? side->rows : 1;
    return side->is_copied ? (ptrdiff_t)(lines * width_of(piece)) : side->column;
}

static const float *gather(const struct side *side, const float *from, const struct piece *piece)
{
    from += (ptrdiff_t)piece->first * side->along;
    if (!side->is_copied)
        return from;
    float *to = piece->room + side->place * width_of(piece);
    struct pack_f32_panel panel = {.width = width_of(piece),
                                   .count = piece->count,
                                   .k = side->inner,
                                   .src = from,
                                   .lane = side->along,
                                   .step = side->step,
                                   .out = to};
    for (size_t i = 0; i < side->outer; i++) {
        pack_f32(&panel);
        panel.src += side->next;
        panel.out += panel.k * panel.width;
    }
    return to;
}

static void scatter(const struct matmul_lines *plan, const struct piece *piece)
{
    const struct side *c = &plan->c;
    struct copy_f32_plane plane = {.rows = c->inner,
                                   .cols = piece->count,
                                   .src = piece->room + c->place * width_of(piece),
                                   .src_row = (ptrdiff_t)width_of(piece),
                                   .src_col = 1,
                                   .dst = piece->dst + (ptrdiff_t)piece->first * c->along,
                                   .dst_row = c->step,
                                   .dst_col = c->along};
    for (size_t i = 0; i < c->outer; i++) {
        plan->copy(&plane);
        plane.dst += c->next;
        plane.src += plane.rows * width_of(piece);
    }
}

/* Sums in the scratchpad become results in dst: of lines along rows of dst or columns, which c has
 * one row of. */
static void finish(const struct lines_run *run, struct piece *piece)
{
    const struct side *c = &run->plan->c;
    int last = run->execution->problem->tensors[DST].ndims - 1;
    int along = run->plan->swapped ? last : last - 1, other = 2 * last - 1 - along;
    float *values = piece->room + c->place * width_of(piece),
          *dst = piece->dst + (ptrdiff_t)piece->first * c->along;
    piece->line.direction = along;
    piece->line.count = piece->count;
    piece->line.position[along] = (neo_dim)piece->first;
    for (size_t j = 0; j < c->columns; j++) {
        piece->line.position[other] = (neo_dim)j;
        finish_line(run->execution, &piece->line, values, true, dst, (neo_dim)c->along);
        values += column_of(c, piece);
        dst += c->column;
    }
}

static void run_piece(const struct lines_run *run, struct piece *piece)
{
    const struct matmul_lines *plan = run->plan;
    const struct side *a = &plan->a, *b = &plan->b, *c = &plan->c;
    const float *left = plan->swapped ? piece->weights : piece->src;
    const float *right = plan->swapped ? piece->src : piece->weights;
    float *to = c->is_copied ? piece->room + c->place * width_of(piece) : piece->dst + piece->first;
    plan->kernel->run(&(struct gemm_f32_lines){.m = c->rows,
                                               .n = c->columns,
                                               .k = a->columns,
                                               .count = piece->count,
                                               .a = gather(a, left, piece),
                                               .b = gather(b, right, piece),
                                               .c = to,
                                               .a_row = row_of(a, piece),
                                               .a_step = column_of(a, piece),
                                               .b_step = row_of(b, piece),
                                               .b_column = column_of(b, piece),
                                               .c_row = row_of(c, piece),
                                               .c_column = column_of(c, piece),
                                               .b_is_shared = b->along == 0});
    if (plan->finish)
        finish(run, piece);
    else if (c->is_copied)
        scatter(plan, piece);
}

/* The lot's first matrix. */
static void locate(const struct lines_run *run, size_t lot, struct piece *piece)
{
    const struct matmul_lines *plan = run->plan;
    void *const *buffers = run->execution->buffers;
    size_t first = plan->direction == MATRICES ? lot * plan->count : lot;
    struct matmul_steps at = matmul_batch_at(&plan->batch, first);
    piece->src = (const float *)buffers[SRC] + at.src;
    piece->weights = (const float *)buffers[WEIGHTS] + at.weights;
    piece->dst = (float *)buffers[DST] + at.dst;
    if (plan->finish)
        matmul_position(run->execution->problem, lot, piece->line.position);
}

static void run_pieces(void *argument, struct span pieces, int slot)
{
    const struct lines_run *run = argument;
    const struct matmul_lines *plan = run->plan;
    char *room = (char *)run->execution->scratch + lines_scratch_bytes(plan, slot);
    struct piece piece = {.room = (float *)(void *)room};
    for (size_t i = pieces.begin; i < pieces.end; i++) {
        locate(run, i / plan->pieces, &piece);
        piece.first = i % plan->pieces * plan->piece;
        piece.count = min_size(plan->piece, plan->count - piece.first);
        run_piece(run, &piece);
    }
}

static void lines_run(const void *plan, const struct execution *execution)
{
    const struct matmul_lines *mine = plan;
    struct lines_run run = {mine, execution};
    size_t pieces = mine->matrices * mine->pieces;
    if (execution->threads == 1)
        run_pieces(&run, (struct span){0, pieces}, 0);
    else
        parallel_for_tiles(execution->parallel, pieces, execution->threads, run_pieces, &run);
}

const struct algorithm matmul_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = matmul_choose_plain,
    .estimate = lines_estimate,
    .plan = lines_plan,
    .plan_bytes = sizeof(struct matmul_lines),
    .scratch_bytes = lines_scratch_bytes,
    .kernel = lines_kernel,
    .run = lines_run,
};
_Static_assert(sizeof(struct matmul_lines) <= PLAN_MAX_BYTES, "the plan fits its place");
