/* Convolution as one matrix product, by the best implementation of that which is nested: patches of
 * src times weights. Pointwise ones, and those whose patches are contiguous values of src at equal
 * distances, need nothing else: a kernel as large as the image, one dimension without padding. Of a
 * few pixels of dst the patches are copied, as they are less than the weights that they meet; so
 * one pixel, few channels or small images get what matmul has for such sizes. */
#include <math.h>
#include <string.h>

#include "kernels/copy_f32.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/matmul/matmul.h"
#include "src/memory/descriptor.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/threading/partition.h"
#include "src/weights/layout.h"

enum { MOST_COPIED = 64 << 10 }; /* bytes of patches */

struct convolution_matmul {
    struct convolution_shape shape;
    const char *kernel;  /* the algorithm of the product */
    copy_f32_fn *copy;   /* of patches; NULL: they are in place */
    size_t pixels, rows; /* to copy: of dst; of weights, the values of a patch */
    struct span inner;   /* pixels of a row of dst all of whose taps in a row of src exist */
};

/* ---- the product ---- */

/* The distance of elements that are numbered from the first of four dimensions on: 0 if there is
 * only one, negative if they are not at equal distances. */
static neo_dim even_stride(const neo_dim sizes[4], const neo_dim steps[4])
{
    neo_dim stride = 0, next = 0;
    for (int i = 0; i < 4; i++) {
        if (sizes[i] == 1)
            continue;
        if (steps[i] <= 0 || (stride && steps[i] != next))
            return -1;
        stride = stride ? stride : steps[i];
        if (__builtin_mul_overflow(steps[i], sizes[i], &next))
            return -1;
    }
    return stride;
}

/* Between elements of one dimension; the factors of a single one may be anything. */
static neo_dim step_of(neo_dim size, neo_dim step, neo_dim stride)
{
    return size > 1 ? step * stride : 0;
}

/* Of dst's pixels, and of the patches of src that they come of. */
static neo_dim dst_stride(const struct convolution_shape *s)
{
    return even_stride((neo_dim[]){s->out[WIDTH], s->out[HEIGHT], s->out[DEPTH], s->batch},
                       (neo_dim[]){s->dst.w, s->dst.h, s->dst.d, s->dst.n});
}

static neo_dim src_stride(const struct convolution_shape *s)
{
    const neo_dim *out = s->out, *stride = s->stride;
    return even_stride((neo_dim[]){out[WIDTH], out[HEIGHT], out[DEPTH], s->batch},
                       (neo_dim[]){step_of(out[WIDTH], stride[WIDTH], s->src.w),
                                   step_of(out[HEIGHT], stride[HEIGHT], s->src.h),
                                   step_of(out[DEPTH], stride[DEPTH], s->src.d), s->src.n});
}

/* Of the values of a patch of src, and of a column of plain weights: channels, then taps. */
static neo_dim patch_stride(const struct convolution_shape *s)
{
    const neo_dim *kernel = s->kernel, *dilation = s->dilation;
    return even_stride((neo_dim[]){s->ic, kernel[WIDTH], kernel[HEIGHT], kernel[DEPTH]},
                       (neo_dim[]){s->src.c, step_of(kernel[WIDTH], dilation[WIDTH], s->src.w),
                                   step_of(kernel[HEIGHT], dilation[HEIGHT], s->src.h),
                                   step_of(kernel[DEPTH], dilation[DEPTH], s->src.d)});
}

static neo_dim weights_stride(const struct convolution_shape *s)
{
    return even_stride((neo_dim[]){s->ic, s->kernel[WIDTH], s->kernel[HEIGHT], s->kernel[DEPTH]},
                       (neo_dim[]){s->weights_i, s->weights_space[WIDTH], s->weights_space[HEIGHT],
                                   s->weights_space[DEPTH]});
}

static bool is_padded(const struct convolution_shape *s)
{
    for (int i = 0; i < SPACE; i++) {
        neo_dim last = (s->out[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * s->dilation[i];
        if (s->padding[i] || last >= s->in[i])
            return true;
    }
    return false;
}

static bool is_in_place(const struct convolution_shape *s)
{
    return !is_padded(s) && src_stride(s) >= 0 && patch_stride(s) >= 0;
}

static neo_dim pixel_count(const struct convolution_shape *s)
{
    return s->batch * s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH];
}

static neo_dim row_count(const struct convolution_shape *s)
{
    return s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH] * s->ic;
}

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, neo_dim row, neo_dim column)
{
    return (neo_memory_desc){
        .ndims = 2,
        .data_type = NEO_F32,
        .format_kind = NEO_FORMAT_STRIDED,
        .dims = {rows, columns},
        .strides = {row, column},
    };
}

/* Every tensor of the convolution has its layout. */
static void make_product(struct problem *product, const struct problem *problem)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    neo_dim m = pixel_count(&s), k = row_count(&s);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    *product = (struct problem){.operation = &matmul_operation, .attributes = problem->attributes};
    product->tensors[SRC] =
        is_in_place(&s) ? matrix(m, k, src_stride(&s), patch_stride(&s)) : matrix(m, k, k, 1);
    product->tensors[DST] = matrix(m, s.oc, dst_stride(&s), s.dst.c);
    product->tensors[WEIGHTS] = matrix(k, s.oc, weights_stride(&s), s.weights_o);
    if (weights->format_kind == NEO_FORMAT_PACKED)
        layout_set(&product->tensors[WEIGHTS], LAYOUT_MATMUL_F32, false);
    if (bias->ndims)
        product->tensors[BIAS] = matrix(1, s.oc, 0, bias->strides[0]);
}

/* ---- refuse, choose, estimate ---- */

/* Can patches be copied? */
static const char *refuse_copies(const struct convolution_shape *s)
{
    size_t bytes = sizeof(float);
    for (int i = 0; i < SPACE; i++)
        if (!checked_mul(&bytes, bytes, (size_t)s->out[i]) ||
            !checked_mul(&bytes, bytes, (size_t)s->kernel[i]))
            return "there are many pixels";
    if (!checked_mul(&bytes, bytes, (size_t)s->batch) ||
        !checked_mul(&bytes, bytes, (size_t)s->ic) || bytes > MOST_COPIED)
        return "there are many pixels";
    return NULL;
}

static const char *matmul_refuse(const struct problem *problem, const struct cpu *cpu)
{
    struct problem chosen = *problem;
    struct convolution_shape s;
    convolution_choose_packed(&chosen, cpu);
    convolution_shape_init(&s, &chosen);
    const neo_memory_desc *weights = &chosen.tensors[WEIGHTS];
    if (s.groups != 1)
        return "there are groups";
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != LAYOUT_CONVOLUTION_F32)
        return "the weights are packed for another algorithm";
    if (post_ops_have_operand(&problem->attributes))
        return "a post-operation has an operand";
    if (desc_is_empty(&chosen.tensors[DST]) || s.ic == 0)
        return "there is nothing to multiply";
    if (dst_stride(&s) < 0)
        return "pixels are not at equal distances";
    if (weights->format_kind == NEO_FORMAT_STRIDED && weights_stride(&s) < 0)
        return "weights of an output channel are not at equal distances";
    const char *why = is_in_place(&s) ? NULL : refuse_copies(&s);
    return why ? why : convolution_refuse_direct(problem);
}

/* Cycles of copying: a row of taps at a time, of all pixels of a row together that have all of
 * them. */
static double copying_cycles(const struct convolution_shape *s, const struct cpu *cpu)
{
    double pixels = (double)pixel_count(s), taps = (double)(s->kernel[DEPTH] * s->kernel[HEIGHT]);
    double lines = pixels / (double)s->out[WIDTH] * taps, values = pixels * (double)row_count(s);
    struct span inner = convolution_inner_pixels(s);
    double whole = (double)(inner.end - inner.begin), edges = (double)s->out[WIDTH] - whole;
    double each = s->kernel[WIDTH] == 1 ? 5 : 15; /* of the whole ones */
    return cpu->core->slowness *
           (30 + lines * (60 + each * whole + 70 * edges) + (s->src.c == 1 ? 0.25 : 1.5) * values);
}

static double matmul_estimate(const struct problem *problem, const struct cpu *cpu)
{
    const double nesting = 50; /* clang wants a double */
    struct problem chosen = *problem, product;
    struct convolution_shape s;
    convolution_choose_packed(&chosen, cpu);
    convolution_shape_init(&s, &chosen);
    make_product(&product, &chosen);
    return nesting + (is_in_place(&s) ? 0 : copying_cycles(&s, cpu)) +
           matmul_best(&product, cpu)->estimate(&product, cpu);
}

/* ---- plan, run ---- */

static void matmul_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_matmul *mine = plan;
    struct problem product;
    make_product(&product, problem);
    mine->kernel = matmul_best(&product, cpu)->name;
    convolution_shape_init(&mine->shape, problem);
    if (is_in_place(&mine->shape))
        return;
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->inner = convolution_inner_pixels(&mine->shape);
    mine->pixels = (size_t)pixel_count(&mine->shape);
    mine->rows = (size_t)row_count(&mine->shape);
}

static neo_status matmul_nest(struct implementation *implementation)
{
    struct problem product;
    make_product(&product, &implementation->problem);
    struct description description = problem_describe(&product);
    return implementation_nest(implementation, &description);
}

static size_t matmul_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_matmul *mine = plan;
    (void)threads;
    return mine->pixels * mine->rows * sizeof(float);
}

static const char *matmul_kernel(const void *plan)
{
    return ((const struct convolution_matmul *)plan)->kernel;
}

/* ---- patches ---- */

/* One row of the kernel for the pixels of a row of dst. */
struct taps_line {
    const float *src; /* column 0 of the row of src, NULL in the padding */
    float *patches;   /* tap 0 of pixel 0 */
};

static bool taps_follow(const struct convolution_shape *s)
{
    return s->src.c == 1 && (s->kernel[WIDTH] == 1 || s->dilation[WIDTH] * s->src.w == s->ic);
}

/* Of these pixels, whose taps here all exist. */
static void copy_taps(const struct convolution_matmul *mine, const struct taps_line *line,
                      struct span pixels, struct span taps)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim stride = s->stride[WIDTH], dilation = s->dilation[WIDTH];
    neo_dim first = (neo_dim)pixels.begin * stride - s->padding[WIDTH];
    size_t count = pixels.end - pixels.begin;
    bool together = taps_follow(s);
    for (size_t tap = taps.begin; tap < taps.end; tap += together ? taps.end : 1)
        mine->copy(&(struct copy_f32_plane){
            .rows = count,
            .cols = (together ? taps.end - tap : 1) * (size_t)s->ic,
            .src = line->src + (first + (neo_dim)tap * dilation) * s->src.w,
            .src_row = step_of((neo_dim)count, stride, s->src.w),
            .src_col = s->src.c,
            .dst = line->patches + pixels.begin * mine->rows + tap * (size_t)s->ic,
            .dst_row = (ptrdiff_t)mine->rows,
            .dst_col = 1,
        });
}

/* Of one pixel, whose other taps are zeros. */
static void copy_edge(const struct convolution_matmul *mine, const struct taps_line *line,
                      size_t pixel)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim first = (neo_dim)pixel * s->stride[WIDTH] - s->padding[WIDTH];
    neo_dim dilation = s->dilation[WIDTH], begin = 0, end = s->kernel[WIDTH];
    while (end > 0 && (!line->src || first + (end - 1) * dilation >= s->in[WIDTH]))
        end--;
    while (begin < end && first + begin * dilation < 0)
        begin++;
    float *out = line->patches + pixel * mine->rows;
    size_t tap = (size_t)s->ic * sizeof(float);
    if (begin > 0)
        memset(out, 0, (size_t)begin * tap);
    if (end < s->kernel[WIDTH])
        memset(out + end * s->ic, 0, (size_t)(s->kernel[WIDTH] - end) * tap);
    if (begin < end)
        copy_taps(mine, line, (struct span){pixel, pixel + 1},
                  (struct span){(size_t)begin, (size_t)end});
}

static void copy_line(const struct convolution_matmul *mine, const struct taps_line *line)
{
    const struct convolution_shape *s = &mine->shape;
    struct span inner = line->src ? mine->inner : (struct span){0, 0};
    if (inner.begin < inner.end)
        copy_taps(mine, line, inner, (struct span){0, (size_t)s->kernel[WIDTH]});
    for (size_t i = 0; i < inner.begin; i++)
        copy_edge(mine, line, i);
    for (size_t i = inner.end; i < (size_t)s->out[WIDTH]; i++)
        copy_edge(mine, line, i);
}

/* Of the row of dst at (d, h). src: of its image. */
static void copy_lines(const struct convolution_matmul *mine, const float *src, neo_dim d,
                       neo_dim h, float *out)
{
    const struct convolution_shape *s = &mine->shape;
    d = d * s->stride[DEPTH] - s->padding[DEPTH];
    h = h * s->stride[HEIGHT] - s->padding[HEIGHT];
    for (neo_dim kd = 0; kd < s->kernel[DEPTH]; kd++)
        for (neo_dim kh = 0; kh < s->kernel[HEIGHT]; kh++) {
            neo_dim z = d + kd * s->dilation[DEPTH], y = h + kh * s->dilation[HEIGHT];
            bool inside = z >= 0 && z < s->in[DEPTH] && y >= 0 && y < s->in[HEIGHT];
            copy_line(mine, &(struct taps_line){
                                .src = inside ? src + z * s->src.d + y * s->src.h : NULL,
                                .patches = out,
                            });
            out += s->kernel[WIDTH] * s->ic;
        }
}

static void copy_patches(const struct convolution_matmul *mine, const float *src, float *out)
{
    const struct convolution_shape *s = &mine->shape;
    for (neo_dim n = 0; n < s->batch; n++, src += s->src.n)
        for (neo_dim d = 0; d < s->out[DEPTH]; d++)
            for (neo_dim h = 0; h < s->out[HEIGHT]; h++) {
                copy_lines(mine, src, d, h, out);
                out += (size_t)s->out[WIDTH] * mine->rows;
            }
}

static bool matmul_is_nested_one(const void *plan)
{
    const struct convolution_matmul *mine = plan;
    return !mine->copy;
}

static void matmul_run(const void *plan, const struct execution *execution)
{
    const struct convolution_matmul *mine = plan;
    if (matmul_is_nested_one(mine)) {
        implementation_run_nested(execution, 0, execution->buffers);
        return;
    }
    void *buffers[TENSOR_COUNT];
    memcpy(buffers, execution->buffers, sizeof buffers);
    buffers[SRC] = execution->scratch;
    copy_patches(mine, execution->buffers[SRC], execution->scratch);
    implementation_run_nested(execution, 0, buffers);
}

const struct algorithm convolution_matmul_f32 = {
    .name = "matmul",
    .refuse = matmul_refuse,
    .choose = convolution_choose_packed,
    .estimate = matmul_estimate,
    .plan = matmul_plan,
    .plan_bytes = sizeof(struct convolution_matmul),
    .nest = matmul_nest,
    .scratch_bytes = matmul_scratch_bytes,
    .kernel = matmul_kernel,
    .run = matmul_run,
    .is_nested_one = matmul_is_nested_one,
};
