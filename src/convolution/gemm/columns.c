/* Convolution by columns of pixels: a matrix of the GEMM of gemm.c is a column of dst.
 *
 * In images that are a few pixels wide, much of each row of the kernel lies in the padding. The
 * pixels of a column all lack the same taps of it, which need not be multiplied then; and what is
 * left of a row lies in src as it is wanted, so that edges of src need no copies. To the GEMM such
 * a row is a segment, of which each matrix has a part. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/gemm/gemm.h"
#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

/* ---- columns ---- */

/* Rows of the kernel become channels. */
static void take_columns(struct convolution_shape *s, struct convolution_columns *columns)
{
    *columns = (struct convolution_columns){
        .count = s->out[WIDTH],
        .in = s->in[WIDTH],
        .taps = s->kernel[WIDTH],
        .stride = s->stride[WIDTH],
        .padding = s->padding[WIDTH],
        .ic = s->ic,
        .src_step = s->src.w,
    };
    s->ic *= s->kernel[WIDTH];
    s->in[WIDTH] = s->out[WIDTH] = s->kernel[WIDTH] = 1;
    s->stride[WIDTH] = s->dilation[WIDTH] = 1;
    s->padding[WIDTH] = 0;
    convolution_turn_column(s);
}

/* ---- refuse, estimate ---- */

/* Is what pixels of a column have of a row of the kernel contiguous in src? */
static bool are_parts_contiguous(const struct convolution_shape *s)
{
    bool neighbours = s->src.w == s->ic || s->in[WIDTH] == 1;
    return s->src.c == 1 && (s->kernel[WIDTH] == 1 || (s->dilation[WIDTH] == 1 && neighbours));
}

static const char *columns_refuse(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    (void)self;
    enum { FEWEST = 4, MOST = (int)count_of(segments_padding) }; /* values of a row of the kernel */
    enum { WIDEST = 64 };
    struct convolution_shape s = *convolution_shape_of(problem);
    const char *why = convolution_refuse_tensors(problem, LAYOUT_CONVOLUTION_F32);
    if (why)
        return why;
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED)
        return "the weights are plain, and would be packed for each column";
    if (s.groups != 1)
        return "there are groups";
    if (desc_is_empty(&problem->tensors[DST]) || s.ic == 0)
        return "there is nothing to multiply";
    if (s.out[WIDTH] > WIDEST)
        return "dst is wide, and most of its columns lack nothing";
    if (!are_parts_contiguous(&s))
        return "the taps of a row are apart in src";
    if (s.dst.c != 1 && s.oc != 1)
        return "channels of dst do not follow each other";
    if (s.ic > MOST || s.ic * s.kernel[WIDTH] > MOST || s.ic * s.kernel[WIDTH] < FEWEST)
        return "a row of the kernel has few or many values";
    if (s.oc < 4)
        return "there are few output channels";
    if (!gemm_lists(cpu, (double)s.oc))
        return "rows of patches are not read in place";
    return convolution_refuse_direct(problem);
}

static double tile_height(const struct cpu *cpu)
{
    return gemm_f32_listed_find(cpu->features, cpu->core->in_order)->height;
}

/* Of one column: lists. */
static double listing_cycles(const struct convolution_shape *s, const struct cpu *cpu, double rows,
                             double segments)
{
    const double nr = GEMM_F32_NR; /* clang wants a double */
    double tiles = ceil(rows / tile_height(cpu)), panels = ceil((double)s->oc / nr);
    double each = segments_fit_table(tiles, segments) ? core_costs(cpu->core)->patches.address : 6;
    return cpu->core->slowness * rows * segments * (each + panels);
}

/* Every column reads all of the weights again: cycles for those that the L1 cache does not keep. */
static double reading_cycles(const struct cpu *cpu, double values)
{
    double bytes = values * sizeof(float);
    return bytes > (double)cpu->l1_bytes ? bytes / 32 : 0;
}

/* How much longer than the GEMM's tiles those of columns take: not all loads find a place among the
 * sums of low ones on cores that issue in order, and parts of segments may not be whole rounds. */
static double waits(const struct convolution_shape *s, const struct cpu *cpu, double rows)
{
    double most = tile_height(cpu), low = most - rows / ceil(rows / most);
    const struct patches_costs *costs = &core_costs(cpu->core)->patches;
    return costs->sums + costs->low * low + (s->ic % 4 ? costs->ragged : 0);
}

static double columns_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self;
    const struct convolution_shape *shape = convolution_shape_of(problem);
    struct convolution_shape s = *shape; /* of one column */
    struct convolution_columns columns;
    take_columns(&s, &columns);
    double part = patches_mean_taps(shape, WIDTH, 1) / (double)shape->kernel[WIDTH];
    double rows = (double)s.batch * (double)s.out[HEIGHT] * (double)s.out[WIDTH];
    double segments = (double)s.kernel[HEIGHT] * (double)s.kernel[WIDTH];
    double k = segments * (double)s.ic * part, count = (double)columns.count;
    double n = ceil((double)s.oc / 4) * 4; /* last columns do not come one by one */
    double saved = columns.count > 1 ? 0 : 260 * cpu->core->slowness; /* no edges are copied */
    if (cpu->core->in_order)
        saved = 0;
    return count * (listing_cycles(&s, cpu, rows, segments) + reading_cycles(cpu, k * n)) +
           waits(&s, cpu, rows) * gemm_estimate(cpu, count, rows, n, k, true, true,
                                                (size_t)(s.src.w * s.stride[WIDTH])) -
           saved;
}

/* ---- plan ---- */

static void columns_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_gemm *mine = plan;
    mine->shape = *convolution_shape_of(problem);
    mine->dst_step = mine->shape.dst.w;
    take_columns(&mine->shape, &mine->columns);
    mine->matrices = (size_t)mine->columns.count;
    convolution_gemm_plan(mine, problem, cpu);
}

const struct algorithm convolution_columns = {
    .name = "columns",
    .by_vectors = true,
    .refuse = columns_refuse,
    .choose = convolution_choose_packed,
    .estimate = columns_estimate,
    .plan = columns_plan,
    .plan_bytes = sizeof(struct convolution_gemm),
    .table_bytes = convolution_gemm_table_bytes,
    .fill_table = convolution_gemm_fill_table,
    .scratch_bytes = convolution_gemm_scratch_bytes,
    .kernel = convolution_gemm_kernel,
    .run = convolution_gemm_run,
};
