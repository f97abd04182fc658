/* Pointwise convolution as the matrix product that it is: pixels × channels of src, times channels
 * × channels of weights. It nests the best implementation of that product, so that one pixel, few
 * channels or small images get what matmul has for such sizes. */
#include <math.h>

#include "src/convolution/convolution.h"
#include "src/matmul/matmul.h"
#include "src/memory/descriptor.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/weights/layout.h"

struct convolution_matmul {
    const char *kernel; /* the algorithm of the product */
};

/* ---- the product ---- */

/* The distance between pixels that follow each other in dst's order, of one tensor: 0 if there is
 * only one pixel, negative if they are not at equal distances. Only for sizes that are dst's. */
static neo_dim pixel_stride(const struct convolution_shape *s, const struct image_strides *strides)
{
    const neo_dim sizes[] = {s->out[WIDTH], s->out[HEIGHT], s->out[DEPTH], s->batch};
    const neo_dim steps[] = {strides->w, strides->h, strides->d, strides->n};
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
    neo_dim pixels = s.batch * s.out[DEPTH] * s.out[HEIGHT] * s.out[WIDTH];
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    *product = (struct problem){.operation = &matmul_operation, .attributes = problem->attributes};
    product->tensors[SRC] = matrix(pixels, s.ic, pixel_stride(&s, &s.src), s.src.c);
    product->tensors[DST] = matrix(pixels, s.oc, pixel_stride(&s, &s.dst), s.dst.c);
    product->tensors[WEIGHTS] = matrix(s.ic, s.oc, s.weights_i, s.weights_o);
    if (weights->format_kind == NEO_FORMAT_PACKED)
        layout_set(&product->tensors[WEIGHTS], LAYOUT_MATMUL_F32, false);
    if (bias->ndims)
        product->tensors[BIAS] = matrix(1, s.oc, 0, bias->strides[0]);
}

/* ---- refuse, choose, estimate ---- */

static const char *refuse_window(const struct convolution_shape *s)
{
    for (int i = 0; i < SPACE; i++) {
        if (s->kernel[i] != 1)
            return "the kernel has more than one tap";
        if (s->padding[i] || (s->out[i] != 1 && (s->stride[i] != 1 || s->out[i] != s->in[i])))
            return "pixels of dst are not those of src";
    }
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
    const char *why = refuse_window(&s);
    if (!why && (pixel_stride(&s, &s.src) < 0 || pixel_stride(&s, &s.dst) < 0))
        why = "pixels are not at equal distances";
    return why ? why : convolution_refuse_direct(problem);
}

static double matmul_estimate(const struct problem *problem, const struct cpu *cpu)
{
    const double nesting = 50; /* clang wants a double */
    struct problem chosen = *problem, product;
    convolution_choose_packed(&chosen, cpu);
    make_product(&product, &chosen);
    return nesting + matmul_best(&product, cpu)->estimate(&product, cpu);
}

/* ---- plan, run ---- */

static void matmul_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_matmul *mine = plan;
    struct problem product;
    make_product(&product, problem);
    mine->kernel = matmul_best(&product, cpu)->name;
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
    (void)plan, (void)threads;
    return 0;
}

static const char *matmul_kernel(const void *plan)
{
    return ((const struct convolution_matmul *)plan)->kernel;
}

static void matmul_run(const void *plan, const struct execution *execution)
{
    (void)plan;
    implementation_run_nested(execution, 0, execution->buffers);
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
};
