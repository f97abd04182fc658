/* Convolution as one matrix product, by the best implementation of that which is nested: patches of
 * src times weights. Pointwise ones, and those whose patches are contiguous values of src at equal
 * distances, need nothing else: a kernel as large as the image, one dimension without padding. Of a
 * few pixels of dst the patches are copied, as they are less than the weights that they meet; so
 * one pixel, few channels or small images get what matmul has for such sizes. Taps that no pixel
 * has are left out; of packed weights the others are copied.
 *
 * Where channels of dst are apart its columns are pixels: dst^T = weights^T src^T, as matmul's
 * swapped product is, in place if weights are plain. What `any` weights become is the better. */
#include <string.h>

#include "kernels/dot/f32/dot.h"
#include "src/convolution/nested/matmul.h"
#include "src/core/checked.h"
#include "src/matmul/matmul.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"
#include "src/threading/partition.h"

enum { MOST_COPIED = 64 << 10 };             /* bytes of patches, or weights */
enum { FEW_CHANNELS = DOT_F32_COLUMNS + 1 }; /* so many may be better as dot products */

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
                       (neo_dim[]){matmul_step(out[WIDTH], stride[WIDTH], s->src.w),
                                   matmul_step(out[HEIGHT], stride[HEIGHT], s->src.h),
                                   matmul_step(out[DEPTH], stride[DEPTH], s->src.d), s->src.n});
}

/* Of the values of a patch: channels, then taps, or the other way around. */
static neo_dim value_stride(const struct convolution_shape *s, bool taps_first, neo_dim channel,
                            const neo_dim taps[SPACE])
{
    const neo_dim *kernel = s->kernel;
    if (taps_first)
        return even_stride((neo_dim[]){kernel[WIDTH], kernel[HEIGHT], kernel[DEPTH], s->ic},
                           (neo_dim[]){taps[WIDTH], taps[HEIGHT], taps[DEPTH], channel});
    return even_stride((neo_dim[]){s->ic, kernel[WIDTH], kernel[HEIGHT], kernel[DEPTH]},
                       (neo_dim[]){channel, taps[WIDTH], taps[HEIGHT], taps[DEPTH]});
}

/* Of a patch of src, and of a column of plain weights. */
static neo_dim patch_stride(const struct convolution_shape *s, bool taps_first)
{
    const neo_dim *kernel = s->kernel, *dilation = s->dilation;
    return value_stride(s, taps_first, s->src.c,
                        (neo_dim[]){matmul_step(kernel[DEPTH], dilation[DEPTH], s->src.d),
                                    matmul_step(kernel[HEIGHT], dilation[HEIGHT], s->src.h),
                                    matmul_step(kernel[WIDTH], dilation[WIDTH], s->src.w)});
}

static neo_dim weights_stride(const struct convolution_shape *s, bool taps_first)
{
    return value_stride(s, taps_first, s->weights_i, s->weights_space);
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

static bool are_patches_in_place(const struct convolution_shape *s, bool taps_first)
{
    return !is_padded(s) && src_stride(s) >= 0 && patch_stride(s, taps_first) >= 0;
}

/* Are patches in place with the taps of a channel before the next channel, as plain weights have
 * them? Packed weights, and patches that are copied, have channels first. */
static bool has_taps_first(const struct convolution_shape *s)
{
    return are_patches_in_place(s, true) && weights_stride(s, true) >= 0 &&
           !are_patches_in_place(s, false);
}

static bool is_in_place(const struct convolution_shape *s)
{
    return are_patches_in_place(s, false) || has_taps_first(s);
}

static neo_dim pixel_count(const struct convolution_shape *s)
{
    return s->batch * s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH];
}

static neo_dim row_count(const struct convolution_shape *s)
{
    return s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH] * s->ic;
}

static bool is_plain(const struct problem *problem)
{
    return problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED;
}

/* Without the taps that no pixel has, unless weights are plain and the others are not at equal
 * distances. true: some are left out. */
static bool init_shape(struct convolution_shape *s, struct convolution_trim *trim,
                       const struct problem *problem)
{
    *s = *convolution_shape_of(problem);
    struct convolution_shape trimmed = *s;
    bool trims = convolution_trim(&trimmed, trim);
    if (trims && is_plain(problem) && weights_stride(&trimmed, has_taps_first(&trimmed)) < 0)
        trims = false;
    if (trims)
        *s = trimmed;
    else
        trim->src = trim->weights = 0;
    for (int i = 0; i < 2 && convolution_is_column(s); i++)
        convolution_turn_column(s);
    return trims;
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
    struct convolution_trim trim;
    init_shape(&s, &trim, problem);
    neo_dim m = pixel_count(&s), k = row_count(&s);
    bool taps_first = has_taps_first(&s);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    *product = (struct problem){.operation = &matmul_operation, .attributes = problem->attributes};
    product->tensors[SRC] = is_in_place(&s)
                                ? matrix(m, k, src_stride(&s), patch_stride(&s, taps_first))
                                : matrix(m, k, k, 1);
    product->tensors[DST] = matrix(m, s.oc, dst_stride(&s), s.dst.c);
    product->tensors[WEIGHTS] = matrix(k, s.oc, weights_stride(&s, taps_first), s.weights_o);
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

/* The values of packed weights that are left, if some are left out. */
static size_t trimmed_weights(const struct convolution_shape *s)
{
    return layout_all_columns((size_t)s->oc) * (size_t)row_count(s);
}

/* Weights that are `any` can be packed. */
static const char *matmul_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    (void)self, (void)cpu;
    struct convolution_shape s;
    struct convolution_trim trim;
    bool trims = init_shape(&s, &trim, problem);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (s.groups != 1)
        return "there are groups";
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != LAYOUT_CONVOLUTION_F32)
        return "the weights are packed for another algorithm";
    if (post_ops_have_operand(&problem->attributes))
        return "a post-operation has an operand";
    if (desc_is_empty(&problem->tensors[DST]) || desc_is_empty(&problem->tensors[SRC]))
        return "there is nothing to multiply";
    if (dst_stride(&s) < 0)
        return "pixels are not at equal distances";
    if (is_plain(problem) && weights_stride(&s, has_taps_first(&s)) < 0)
        return "weights of an output channel are not at equal distances";
    if (trims && !is_plain(problem) && trimmed_weights(&s) > MOST_COPIED / sizeof(float))
        return "many weights would be copied";
    const char *why = is_in_place(&s) ? NULL : refuse_copies(&s);
    return why ? why : convolution_refuse_direct(problem);
}

/* Cycles of copying: a row of taps at a time, of all pixels of a row together that have all of
 * them. */
static double copying_cycles(const struct convolution_shape *s, const struct cpu *cpu)
{
    double pixels = (double)pixel_count(s), taps = (double)(s->kernel[DEPTH] * s->kernel[HEIGHT]);
    double lines = pixels / (double)s->out[WIDTH] * taps, values = pixels * (double)row_count(s);
    struct span inner = convolution_inner_pixels(s, WIDTH);
    double whole = (double)(inner.end - inner.begin), edges = (double)s->out[WIDTH] - whole;
    bool apart = s->dilation[WIDTH] > 1 && s->kernel[WIDTH] > 1; /* each tap is a copy */
    double copies = apart ? (double)s->kernel[WIDTH] : 1;
    double each = s->kernel[WIDTH] == 1 ? 5 : apart ? 8 : 15; /* of the whole ones */
    double slow = cpu->core->slowness;
    if (s->src.c > 1) /* a tap at a time, whose channels come one by one */
        return slow * (30 + lines * (60 + 50 * (double)s->kernel[WIDTH] + 70 * edges) + 4 * values);
    return slow * (30 + lines * (50 + copies * (50 + each * whole + 30 * edges)) + values / 4);
}

/* Of weights: rows of the kernel of each panel. */
static double trimming_cycles(const struct convolution_shape *s)
{
    double rows = (double)(s->kernel[DEPTH] * s->kernel[HEIGHT]);
    return 20 * rows * (double)layout_panel_count((size_t)s->oc) + (double)trimmed_weights(s) / 4;
}

static __attribute__((noinline)) double product_cycles(const struct problem *chosen,
                                                       const struct cpu *cpu)
{
    struct problem product;
    make_product(&product, chosen);
    return selection_best(&product, NULL, cpu).cost.cycles;
}

/* Every tensor has its layout. */
static double cycles_of(const struct problem *chosen, const struct cpu *cpu)
{
    const double nesting = cpu->core->in_order ? 50 : 120; /* what is around the product */
    struct convolution_shape s;
    struct convolution_trim trim;
    bool copies_weights = init_shape(&s, &trim, chosen) && !is_plain(chosen);
    return nesting + (copies_weights ? cpu->core->slowness * trimming_cycles(&s) : 0) +
           (is_in_place(&s) ? 0 : copying_cycles(&s, cpu)) + product_cycles(chosen, cpu);
}

/* In the order of a patch of src; the dimension of groups, if there is one, comes first. */
static void set_order_of_patch(neo_memory_desc *weights, const neo_memory_desc *src)
{
    int groups = weights->ndims - src->ndims;
    neo_memory_desc group = *src;
    memcpy(group.dims, weights->dims + groups, (size_t)src->ndims * sizeof *group.dims);
    desc_set_order_of(&group, src);
    memcpy(weights->strides + groups, group.strides, (size_t)src->ndims * sizeof *group.strides);
}

/* Plain weights, if the product with them can be a better one: images have channels apart, or there
 * are few output channels and images have channels last: then weights lie in the order of a patch,
 * as dot products want. Panels of packed ones are as good where output channels fill a vector. */
static __attribute__((noinline)) bool choose_plain(struct problem *problem)
{
    struct convolution_shape s;
    struct convolution_trim trim;
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind != NEO_FORMAT_ANY)
        return false;
    desc_set_plain(weights);
    convolution_derive(problem);
    s = *convolution_shape_of(problem);
    if (s.src.c == 1 && (s.oc > FEW_CHANNELS || s.oc == DOT_F32_COLUMNS))
        return false;
    if (s.src.c == 1) {
        set_order_of_patch(weights, &problem->tensors[SRC]);
        convolution_derive(problem);
    }
    return !init_shape(&s, &trim, problem) && is_in_place(&s) && s.groups == 1;
}

/* Of `any` weights too: plain or packed, whichever is faster. */
static double choose_layouts(struct problem *problem, const struct cpu *cpu)
{
    struct problem plain = *problem;
    convolution_choose_packed(&convolution_matmul, problem, cpu);
    double cycles = cycles_of(problem, cpu);
    if (!choose_plain(&plain))
        return cycles;
    double plain_cycles = cycles_of(&plain, cpu);
    if (plain_cycles >= cycles)
        return cycles;
    *problem = plain;
    return plain_cycles;
}

static double matmul_estimate(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu)
{
    (void)self;
    struct problem chosen = *problem;
    return choose_layouts(&chosen, cpu);
}

static void matmul_choose(const struct algorithm *self, struct problem *problem,
                          const struct cpu *cpu)
{
    (void)self;
    choose_layouts(problem, cpu);
}

/* ---- plan, run ---- */

static void matmul_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_matmul *mine = plan;
    struct problem product;
    make_product(&product, problem);
    mine->kernel = selection_best(&product, NULL, cpu).algorithm->name;
    bool trims = init_shape(&mine->shape, &mine->trim, problem);
    mine->is_product = !trims && is_in_place(&mine->shape);
    if (trims && !is_plain(problem)) {
        mine->columns = (size_t)mine->shape.oc;
        mine->weights = trimmed_weights(&mine->shape);
    }
    if (is_in_place(&mine->shape))
        return;
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->inner = convolution_inner_pixels(&mine->shape, WIDTH);
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

/* Patches, then weights. */
static size_t patch_bytes(const struct convolution_matmul *mine)
{
    return convolution_part(mine->pixels * mine->rows * sizeof(float));
}

static size_t matmul_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_matmul *mine = plan;
    (void)threads;
    return patch_bytes(mine) + mine->weights * sizeof(float);
}

static const char *matmul_kernel(const void *plan)
{
    return ((const struct convolution_matmul *)plan)->kernel;
}

/* ---- run ---- */

static bool matmul_is_nested_one(const void *plan)
{
    const struct convolution_matmul *mine = plan;
    return mine->is_product;
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
    const float *src = (const float *)execution->buffers[SRC] + mine->trim.src;
    const float *weights = execution->buffers[WEIGHTS];
    buffers[SRC] = mine->copy ? execution->scratch : (void *)(uintptr_t)src;
    buffers[WEIGHTS] = (void *)(uintptr_t)(weights + mine->trim.weights);
    if (mine->copy)
        matmul_copy_patches(mine, src, execution->scratch);
    if (mine->weights) {
        buffers[WEIGHTS] = (unsigned char *)execution->scratch + patch_bytes(mine);
        convolution_trim_weights(&mine->trim, mine->columns, weights, buffers[WEIGHTS]);
    }
    implementation_run_nested(execution, 0, buffers);
}

const struct algorithm convolution_matmul = {
    .name = "matmul",
    .refuse = matmul_refuse,
    .choose = matmul_choose,
    .estimate = matmul_estimate,
    .plan = matmul_plan,
    .plan_bytes = sizeof(struct convolution_matmul),
    .nest = matmul_nest,
    .scratch_bytes = matmul_scratch_bytes,
    .kernel = matmul_kernel,
    .run = matmul_run,
    .is_nested_one = matmul_is_nested_one,
};
