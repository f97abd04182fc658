/* Matrix multiplication in place: rows or columns of src are read where they lie, and weights from
 * packed panels or from rows. Only weights whose columns are contiguous, or whose rows are too
 * short to be read as vectors, are packed, one strip at a time. For what is small, and for few
 * rows.
 *
 * The columns of dst are divided into strips (columns.c), one kernel call each: kernels walk
 * down the rows by themselves (run.c). */
#include <math.h>

#include "arch/costs.h"
#include "src/core/checked.h"
#include "src/matmul/direct/direct.h"
#include "src/primitive/post_ops.h"
#include "src/tensor/layout.h"

enum { PLAIN_GROUP = 16, SMALL = 16384 };

/* ---- refusal ---- */

static bool is_rows(const neo_memory_desc *desc)
{
    return matmul_is_contiguous(desc, desc->ndims - 1);
}

static bool is_columns(const neo_memory_desc *desc)
{
    return matmul_is_contiguous(desc, desc->ndims - 2);
}

/* The vector at the end of a row reads up to three elements of the next row, which must be there:
 * only the very last row is copied. */
static bool has_narrow_rows(const neo_memory_desc *weights)
{
    int last = weights->ndims - 1;
    return weights->dims[last] % 4 && weights->dims[last - 1] > 1 && weights->strides[last - 1] < 3;
}

/* Are plain weights packed, a strip at a time? */
static bool is_turned(const neo_memory_desc *weights)
{
    return weights->format_kind == NEO_FORMAT_STRIDED &&
           (!is_rows(weights) || has_narrow_rows(weights));
}

static const char *direct_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    (void)self, (void)cpu;
    if (problem_is_runtime(problem))
        return "a size is known only at run time";
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != LAYOUT_MATMUL_F32)
        return "the weights are packed for another operation";
    if (weights->format_kind == NEO_FORMAT_STRIDED && !is_rows(weights) && !is_columns(weights))
        return "neither rows nor columns of weights are contiguous";
    if (!is_rows(src) && !is_columns(src))
        return "neither rows nor columns of src are contiguous";
    if (!is_rows(&problem->tensors[DST]))
        return "rows of dst are not contiguous";
    return post_ops_fusion(problem).reads_dst ? "a post-operation reads dst" : NULL;
}

/* ---- estimate ---- */

/* Does a strip of weights stay in the L1 cache until the next tile needs it? It must not be too
 * large; nor may its rows be so far apart that they fall on few places: of four ways, lines whose
 * distance is a multiple of a power of two have as many sets as that goes into a way. */
static bool strip_stays(const struct cpu *cpu, bool packed, const struct matmul_shape *shape,
                        size_t row_bytes)
{
    double k = (double)shape->k, width = fmin((double)shape->n, packed ? 12 : 16);
    double strip = width * 4 * k, l1 = (double)cpu->l1_bytes;
    double apart = (double)power_of_two_in(row_bytes);
    return strip <= l1 * 5 / 8 && (packed || k <= l1 / fmax(apart, 64));
}

static bool strip_of_weights_stays(const struct problem *problem, const struct cpu *cpu,
                                   const struct matmul_shape *shape)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    bool packed = weights->format_kind != NEO_FORMAT_STRIDED || is_turned(weights);
    size_t row_bytes = packed ? 0 : (size_t)weights->strides[weights->ndims - 2] * sizeof(float);
    return strip_stays(cpu, packed, shape, row_bytes);
}

/* Lines that come from the L2 cache because it does not. */
static double weights_lines(const struct problem *problem, const struct cpu *cpu,
                            const struct matmul_shape *shape, double height)
{
    double k = (double)shape->k, tiles = ceil((double)shape->m / height);
    if (tiles <= 1 || strip_of_weights_stays(problem, cpu, shape))
        return 0;
    return (tiles - 1) * (double)shape->n * k / 16;
}

static const double LINE_BYTES = 64;

/* Rows of plain weights that a strip reads nearly from end to end, as it does a panel. */
static bool rows_follow(const neo_memory_desc *weights)
{
    double row_bytes = (double)weights->strides[weights->ndims - 2] * (double)sizeof(float);
    return row_bytes <= 2 * LINE_BYTES;
}

static struct direct_shape direct_shape_of(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    struct matmul_shape shape = matmul_shape(problem);
    bool panels = weights->format_kind != NEO_FORMAT_STRIDED, turned = is_turned(weights);
    return (struct direct_shape){
        .m = (size_t)shape.m,
        .n = (size_t)shape.n,
        .k = (size_t)shape.k,
        .l1_bytes = cpu->l1_bytes,
        .panels = panels,
        .a_columns = !is_rows(&problem->tensors[SRC]),
        .b_leaves = !panels && !strip_of_weights_stays(problem, cpu, &shape),
        .b_runs = panels || (!turned && rows_follow(weights)),
        .turned = turned,
    };
}

/* Of a panel's line that comes beside products; as many products take less time on fast cores. */
static double line_beside_cycles(const struct core *core)
{
    return core->slowness;
}

/* What one of them takes, by the kind of core (IN_ORDER_*), of plain rows and of a panel or rows
 * that follow each other. These are read from end to end: a core that has two multiply-adds a cycle
 * beside what it loads, in order, is so long busy with a line that the next one is there, and half
 * there if it is one of another row; one that reorders goes on beside it. Rows that are a page
 * apart do not come so. */
static double line_cycles(const struct cpu *cpu, const struct direct_shape *direct)
{
    const struct {
        double row, run;
    } cycles[] = {
        [0] = {4, line_beside_cycles(cpu->core)},
        [IN_ORDER_NARROW] = {4, 4},
    };
    int kind = cpu->core->in_order;
    return direct->b_runs ? cycles[kind].run : cycles[kind].row;
}

/* Rows of plain weights that are too short for a vector: the last ones are copied. */
static bool has_short_rows(const struct direct_shape *direct)
{
    return !direct->panels && !direct->turned && direct->n < 4;
}

/* Of each matrix; a call finds where the copies go once more. */
static double short_rows_cycles(const struct cpu *cpu, const struct direct_shape *direct)
{
    return has_short_rows(direct) ? 65 * cpu->core->slowness : 0;
}

/* Columns of plain weights that fill no vector: their vector is brought to dst apart. */
static double last_columns_cycles(const struct cpu *cpu, const struct direct_shape *direct)
{
    const struct direct_costs *costs = &core_costs(cpu->core)->direct;
    if (direct->panels || direct->n % 4 == 0)
        return 0;
    return direct->turned ? costs->turned_last : costs->last;
}

/* Columns of src that are no longer in the L1 cache when the next strip comes: cores that issue in
 * order wait for each of their lines. */
static bool waits_for_columns(const struct cpu *cpu, const struct direct_shape *direct,
                              double src_bytes)
{
    return direct->a_columns && cpu->core->in_order && src_bytes > (double)cpu->l1_bytes;
}

/* Strips after the first read src again, as if they came for all of k: from memory; or from the L2
 * cache, if there are several tiles of rows, beside the products of cores that reorder, as panels
 * come; a line has more products than one of a panel. Where weights are plain, other ways pack
 * them, which moves as many lines. */
static double src_cycles(const struct cpu *cpu, const struct direct_shape *direct,
                         const struct columns *columns)
{
    const struct strips *first = &columns->runs[0];
    double bytes = (double)direct->m * (double)direct->k * (double)sizeof(float);
    double strip = 4 * (double)first->vectors * (double)direct->k * (double)sizeof(float);
    double again = (double)(columns->strip_count - 1) * bytes / LINE_BYTES;
    if (bytes > (double)cpu->l2_bytes / 2 || waits_for_columns(cpu, direct, bytes))
        return 4 * again;
    bool comes = bytes + strip > (double)cpu->l1_bytes && direct->m > first->height;
    bool beside = comes && direct->panels && !cpu->core->in_order;
    return beside ? line_beside_cycles(cpu->core) / 2 * again : 0;
}

static double direct_estimate(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu)
{
    (void)self;
    struct matmul_shape shape = matmul_shape(problem);
    struct direct_shape direct = direct_shape_of(problem, cpu);
    struct columns columns;
    const struct direct_costs *costs = &core_costs(cpu->core)->direct;
    if (shape.m == 0 || shape.n == 0 || shape.batch == 0)
        return 100;
    double cycles = direct_columns_choose(&columns, cpu->core, &direct);
    double first = columns.runs[0].height;
    double height = direct.a_columns ? first : fmax(first, 6); /* of most rows' tiles */
    cycles += src_cycles(cpu, &direct, &columns) + short_rows_cycles(cpu, &direct);
    double around = costs->matrix + last_columns_cycles(cpu, &direct);
    double each = cpu->core->slowness * around + cycles +
                  line_cycles(cpu, &direct) * weights_lines(problem, cpu, &shape, height);
    if (!post_ops_fusion(problem).complete)
        each += (double)shape.m * (20 + (double)shape.n * post_ops_cycles(problem));
    double all = costs->all + (has_short_rows(&direct) ? 80 : 0);
    return cpu->core->slowness * all + (double)shape.batch * each;
}

/* ---- plan ---- */

static size_t row_stride(const neo_memory_desc *desc)
{
    return desc->dims[desc->ndims - 2] == 1 ? 0 : (size_t)desc->strides[desc->ndims - 2];
}

static size_t column_stride(const neo_memory_desc *desc)
{
    return desc->dims[desc->ndims - 1] == 1 ? 0 : (size_t)desc->strides[desc->ndims - 1];
}

static size_t find_kernel(const struct cpu *cpu, const struct strips *run, size_t height)
{
    return (size_t)(gemm_f32_direct_find(cpu, height, direct_kind(run)) - direct_tile(run, 0));
}

static void find_kernels(struct matmul_direct *mine, const struct cpu *cpu)
{
    for (size_t r = 0; r < mine->columns.run_count; r++) {
        const struct strips *run = &mine->columns.runs[r];
        for (size_t h = 1; h <= run->height; h++)
            mine->kernels[r][h - 1] = (uint16_t)find_kernel(cpu, run, h);
        direct_tile_rows(&mine->tilings[r], mine, r, mine->m);
    }
    const struct strips *first = &mine->columns.runs[0];
    size_t tiles = div_up(mine->m, first->height);
    mine->kernel = direct_tile(first, mine->kernels[0][div_up(mine->m, tiles) - 1])->name;
}

static void add_call(struct matmul_direct *mine, gemm_f32_direct_fn *run, const struct strips *kind,
                     const size_t tiles[2], const size_t at[3])
{
    struct call *call = &mine->calls[mine->call_count++];
    *call = (struct call){
        .run = run,
        .a = at[0] * mine->a_row,
        .b = at[2],
        .c = at[0] * mine->strip.ldc + at[1],
        .column = at[1],
        .strip = mine->strip,
    };
    call->strip.tiles = tiles[0], call->strip.low_tiles = (uint8_t)tiles[1];
    direct_set_kind(&call->strip, mine, kind);
    gemm_f32_direct_set_ending(&call->strip);
}

/* All of one strip. */
static void add_calls(struct matmul_direct *mine, const struct tiling *tiling,
                      const struct strips *kind, const size_t at[3])
{
    size_t low[3] = {tiling->low_row, at[1], at[2]};
    add_call(mine, tiling->tall, kind, (size_t[]){tiling->tall_tiles, tiling->same_call}, at);
    if (tiling->low_tiles)
        add_call(mine, tiling->low, kind, (size_t[]){tiling->low_tiles, 0}, low);
}

/* Small matrices take few calls, which are known beforehand; but not where something would have to
 * be copied. */
static void list_calls(struct matmul_direct *mine)
{
    size_t at[3] = {0}; /* row, column, element of weights */
    if (mine->finish || mine->turned || mine->chunk < mine->m || direct_has_passes(mine) ||
        mine->columns.strip_count > MAX_CALLS)
        return;
    for (size_t r = 0; r < mine->columns.run_count; r++) {
        struct strips kind = mine->columns.runs[r];
        size_t back = direct_overlap(mine, &kind);
        size_t calls = kind.count * (mine->tilings[r].low_tiles ? 2 : 1);
        at[1] -= back, at[2] -= back, kind.lanes += (uint8_t)back;
        if (mine->call_count + calls > MAX_CALLS ||
            (kind.lanes < 4 && !direct_has_panels(&kind) && (!mine->packed || mine->bias_fused))) {
            mine->call_count = 0;
            return;
        }
        for (size_t i = 0; i < kind.count; i++) {
            add_calls(mine, &mine->tilings[r], &kind, at);
            at[1] += 4u * kind.vectors, at[2] += kind.b_step;
        }
    }
}

static bool overlaps(const struct matmul_direct *mine)
{
    const struct columns *columns = &mine->columns;
    const struct strips *last = &columns->runs[columns->run_count - 1];
    return !mine->packed && !mine->turned && columns->strip_count > 1 && last->lanes < 4;
}

/* What each row takes of a cache, of which so many values are used before the next: rows whose
 * distance is a multiple of a power of two fall on few places. */
static size_t taken(size_t width, size_t stride)
{
    return max_size(width, power_of_two_in(stride));
}

/* As many rows as stay in the L1 cache, with all weights, until every strip has used them: all, if
 * they are still there for the next strip anyway, or if the calls for each part of the rows cost
 * more cycles than there are lines that come once more: of src, and of dst, where two strips may
 * share a line. */
static size_t choose_chunk(const struct matmul_direct *mine, const struct cpu *cpu)
{
    const struct strips *first = &mine->columns.runs[0];
    size_t values = cpu->l1_bytes / sizeof(float) * 7 / 8, strips = mine->columns.strip_count;
    size_t width = 4u * first->vectors, row = mine->k + mine->n, weights = mine->k * mine->n;
    if (strips == 1 || mine->turned || row > values || weights > values * 3 / 4)
        return mine->m;
    size_t row_of_strip = taken(mine->k, mine->a_row) + taken(2 * width, mine->strip.ldc);
    if (mine->m <= (values - mine->k * width) / row_of_strip)
        return mine->m;
    size_t chunk = (values - weights) / row / first->height * first->height;
    size_t lines = chunk * ((strips - 1) * mine->k + 2 * mine->n) / 16;
    size_t cycles = (100 + 40 * strips) * (cpu->core->in_order ? 2 : 1);
    return cycles < lines ? chunk : mine->m;
}

/* The most steps of k of which all rows and a strip's panels stay in so many values of cache, where
 * rows are so far apart; they take as much of it as a power of two that is in that. */
static size_t depth_that_stays(const struct matmul_direct *mine, size_t values, size_t row)
{
    size_t width = 4u * mine->columns.runs[0].vectors, apart = power_of_two_in(row);
    size_t depth = values / (mine->m + width), rows = mine->m * apart;
    if (depth >= apart)
        return depth;
    return values > rows ? (values - rows) / width : 0;
}

/* How often lines of src come for a strip: a tile's rows that drive each other out of the L1 cache
 * come for each vector. */
static size_t comes_for_strip(const struct matmul_direct *mine, const struct cpu *cpu)
{
    size_t height = min_size(mine->m, mine->columns.runs[0].height),
           way = cpu->l1_bytes / CPU_L1_WAYS;
    size_t apart = min_size(power_of_two_in(mine->src_row) * sizeof(float), way);
    return height * apart > cpu->l1_bytes ? 4 : 1;
}

/* Parts of k as equal as they can be, and what they take beside products: what each of them reads
 * and writes of dst, its calls, and copies of rows. */
static double divide(struct passes *passes, const struct matmul_direct *mine, const struct cpu *cpu)
{
    size_t again = div_up(mine->k, passes->depth) - 1, strips = mine->columns.strip_count;
    double lines = 2 * (double)(mine->m * mine->n) / 16, calls = 100 + 40 * (double)strips;
    double copies = passes->copies ? (double)(mine->m * mine->k) / 4 : 0; /* a vector each */
    passes->depth = again ? round_up(div_up(mine->k, again + 1), 4) : mine->k;
    return (double)again * (lines + calls * (cpu->core->in_order ? 2 : 1)) + copies;
}

/* Whether to go on to the next strip with a part of k, if rows of src do not stay in the L1 cache
 * otherwise: what has the fewest lines of src that come once more, and cycles. Rows that drive each
 * other out are copied, side by side; not for cores that issue in order, whose copies and calls for
 * smaller caches take up to a twentieth of the time. */
static struct passes choose_passes(const struct matmul_direct *mine, const struct cpu *cpu)
{
    enum { SHALLOWEST = 128 };
    size_t values = cpu->l1_bytes / sizeof(float) * 7 / 8, strips = mine->columns.strip_count;
    double lines = (double)(mine->m * mine->k) / 16;
    struct passes best = {mine->k, false},
                  others[] = {
                      {depth_that_stays(mine, values, mine->src_row), false},
                      {cpu->core->in_order ? 0 : depth_that_stays(mine, values * 6 / 7, 1), true},
                  };
    if (!mine->packed || mine->a_columns || mine->n % 4 || mine->chunk < mine->m ||
        !direct_is_divisible(&mine->columns.runs[0]) || others[0].depth >= mine->k)
        return best;
    double least = lines * (double)(strips * comes_for_strip(mine, cpu) - 1);
    for (size_t i = 0; i < count_of(others); i++) {
        struct passes passes = others[i];
        if (passes.depth < SHALLOWEST)
            continue;
        double cost = divide(&passes, mine, cpu);
        if (cost < least)
            best = passes, least = cost;
    }
    return best;
}

/* What all strips have in common, and whether kernels leave something to do. */
static void plan_strip(struct matmul_direct *mine, const struct problem *problem)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    mine->bias_fused = matmul_is_bias_by_column(problem);
    mine->finish = !fusion.complete || (bias->ndims && !mine->bias_fused);
    bool clamp = !mine->finish && (fusion.low > -INFINITY || fusion.high < INFINITY);
    mine->strip = (struct gemm_f32_direct){
        .lda = mine->a_columns ? column_stride(&problem->tensors[SRC]) : mine->a_row,
        .ldb = mine->packed || mine->turned ? 0 : row_stride(weights),
        .ldc = row_stride(&problem->tensors[DST]),
        .gap = mine->packed ? LAYOUT_PANEL * mine->k : PLAIN_GROUP,
        .clamp = clamp,
        .special = clamp || mine->bias_fused ? GEMM_F32_SPECIAL_SUMS : 0,
        .low = fusion.low,
        .high = fusion.high,
    };
    gemm_f32_direct_set_depth(&mine->strip, mine->k, NULL);
}

static void direct_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_direct *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    mine->count = (size_t)shape.batch, mine->m = (size_t)shape.m;
    mine->n = (size_t)shape.n, mine->k = (size_t)shape.k;
    mine->kernel = "none";
    if (mine->count == 0 || mine->m == 0 || mine->n == 0)
        return;
    struct direct_shape direct = direct_shape_of(problem, cpu);
    mine->packed = direct.panels;
    mine->a_columns = direct.a_columns, mine->turned = direct.turned;
    mine->a_row = mine->src_row = mine->a_columns ? 1 : row_stride(&problem->tensors[SRC]);
    mine->b_column = mine->turned ? column_stride(weights) : 0;
    mine->b_row = mine->turned ? (shape.k == 1 ? 1 : row_stride(weights)) : 0;
    matmul_batch_init(&mine->batch, problem, mine->packed ? layout_shape(weights).step : 0);
    plan_strip(mine, problem);
    direct_columns_choose(&mine->columns, cpu->core, &direct);
    if (!mine->packed && !mine->turned && mine->m * mine->n * mine->k <= SMALL)
        direct_columns_split(&mine->columns, cpu->core);
    mine->overlaps = overlaps(mine);
    mine->chunk = choose_chunk(mine, cpu);
    mine->passes = choose_passes(mine, cpu);
    if (mine->passes.copies)
        mine->a_row = mine->strip.lda = mine->passes.depth;
    find_kernels(mine, cpu);
    list_calls(mine);
    if (mine->call_count == 1 && mine->count == 1)
        mine->only = mine->calls->run;
}

static size_t direct_scratch_bytes(const void *plan, int threads)
{
    return (size_t)threads * direct_room_bytes(plan);
}

static const char *direct_kernel(const void *plan)
{
    return ((const struct matmul_direct *)plan)->kernel;
}

const struct algorithm matmul_direct = {
    .name = "direct",
    .refuse = direct_refuse,
    .choose = matmul_choose_packed,
    .estimate = direct_estimate,
    .plan = direct_plan,
    .plan_bytes = sizeof(struct matmul_direct),
    .scratch_bytes = direct_scratch_bytes,
    .kernel = direct_kernel,
    .run = direct_run,
    .run_alone = direct_run_alone,
};
_Static_assert(sizeof(struct matmul_direct) <= PLAN_MAX_BYTES, "the plan fits its place");
