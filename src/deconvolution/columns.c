/* Deconvolution by a matrix product and lines: for each image the pixels of src are multiplied by
 * the weights of every tap, and each line of dst is the sum of those products that fall on it. Taps
 * are added in one order, so results do not depend on threads. */
#include <string.h>

#include "kernels/elementwise/f32/binary.h"
#include "src/core/checked.h"
#include "src/deconvolution/deconvolution.h"
#include "src/lines/copy.h"
#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/matmul/matmul.h"
#include "src/primitive/implementation.h"
#include "src/primitive/quantization.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"

struct columns_plan {
    struct walk walk;     /* over one image of dst */
    neo_memory_desc copy; /* of one image of src in the scratchpad; ndims 0: it is in place */
    struct line_type bias;
    int space;
    neo_dim in[3], kernel[3], stride[3], step[3], padding[3];
    neo_dim pixels, channels, taps;
    bool along_channels; /* lines of dst are along channels: so are the products' */
    binary_f32_fn *add;
};

/* ---- the product ---- */

/* Do pixels, counted with the last dimension running fastest, follow each other with one stride? */
static bool is_flat(const neo_memory_desc *image)
{
    neo_dim expected = -1;
    for (int i = image->ndims - 1; i >= 2; i--) {
        if (image->dims[i] == 1)
            continue;
        if (expected >= 0 && image->strides[i] != expected)
            return false;
        expected = image->strides[i] * image->dims[i];
    }
    return true;
}

static neo_dim pixel_stride(const neo_memory_desc *image)
{
    for (int i = image->ndims - 1; i >= 2; i--)
        if (image->dims[i] != 1)
            return image->strides[i];
    return 1;
}

static neo_dim pixel_count(const neo_memory_desc *image)
{
    neo_dim count = 1;
    for (int i = 2; i < image->ndims; i++)
        count *= image->dims[i];
    return count;
}

/* Channels last, without gaps. */
static neo_memory_desc copy_of(const neo_memory_desc *src)
{
    static const char *const tags[] = {"acb", "acdb", "acdeb"};
    neo_memory_desc copy = *src;
    copy.format_kind = NEO_FORMAT_ANY;
    copy.offset = 0;
    copy.dims[0] = 1;
    desc_set_tag(&copy, tags[copy.ndims - 3]);
    return copy;
}

/* Of one image: how far apart images are does not matter. */
static bool is_along_channels(const neo_memory_desc *dst)
{
    int order[NEO_MAX_NDIMS];
    desc_memory_order(dst, order);
    for (int i = dst->ndims - 1; i >= 0; i--)
        if (order[i] != 0 && dst->dims[order[i]] != 1)
            return order[i] == 1;
    return true; /* lines of one element */
}

/* Batch dimensions: groups, then three of taps. */
enum { GROUPS, TAPS, ROWS = TAPS + 3, COLUMNS, NDIMS };

static void set_axis(neo_memory_desc *desc, int i, neo_dim size, neo_dim stride)
{
    desc->dims[i] = size;
    desc->strides[i] = stride;
}

/* groups × 1 × 1 × 1 × pixels × channels of src; taps instead of the ones of weights; products of
 * all taps, in an order that suits dst. */
static void make_product(struct problem *product, const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    neo_memory_desc copy = copy_of(src);
    int first = deconvolution_is_grouped(problem), space = dst->ndims - 2;
    neo_dim groups = first ? weights->dims[0] : 1, pixels = pixel_count(src);
    neo_dim ic = src->dims[1] / groups, oc = dst->dims[1] / groups, taps = pixels * dst->dims[1];
    bool along = is_along_channels(dst);
    if (is_flat(src))
        copy = *src;
    *product = (struct problem){.operation = &matmul_operation, .attributes = attributes_default};
    if (problem->zero_points[SRC]) { /* products are of what src's elements are worth */
        product->attributes.quantization_count = 1;
        product->attributes.quantizations[0] =
            problem->attributes.quantizations[problem->zero_points[SRC] - 1];
        if (product->attributes.quantizations[0].mask) /* channels, by groups */
            product->attributes.quantizations[0].mask = 1 << GROUPS | 1 << COLUMNS;
        product->zero_points[SRC] = 1;
    }
    neo_memory_desc *a = &product->tensors[SRC], *b = &product->tensors[WEIGHTS];
    neo_memory_desc *c = &product->tensors[DST];
    *a = (neo_memory_desc){NDIMS, src->data_type, NEO_FORMAT_STRIDED, {0}, 0, {0}, {0}};
    *b = (neo_memory_desc){NDIMS, weights->data_type, NEO_FORMAT_STRIDED, {0}, 0, {0}, {0}};
    *c = (neo_memory_desc){NDIMS, NEO_F32, NEO_FORMAT_STRIDED, {0}, 0, {0}, {0}};
    set_axis(a, GROUPS, groups, ic * copy.strides[1]);
    set_axis(b, GROUPS, groups, first ? weights->strides[0] : 1);
    set_axis(c, GROUPS, groups, along ? oc : oc * pixels);
    for (int i = 2; i >= 0; i--) {
        int d = i - (3 - space);
        neo_dim size = d >= 0 ? weights->dims[first + 2 + d] : 1;
        set_axis(a, TAPS + i, 1, 1);
        set_axis(b, TAPS + i, size, d >= 0 ? weights->strides[first + 2 + d] : 1);
        set_axis(c, TAPS + i, size, taps);
        taps *= size;
    }
    set_axis(a, ROWS, pixels, pixel_stride(&copy));
    set_axis(a, COLUMNS, ic, copy.strides[1]);
    set_axis(b, ROWS, ic, weights->strides[first + 1]);
    set_axis(b, COLUMNS, oc, weights->strides[first]);
    set_axis(c, ROWS, pixels, along ? dst->dims[1] : 1);
    set_axis(c, COLUMNS, oc, along ? 1 : pixels);
}

/* ---- the algorithm ---- */

/* Images channels last; weights so that a tap's are a matrix. */
static void columns_choose(const struct algorithm *self, struct problem *problem,
                           const struct cpu *cpu)
{
    static const char *const images[] = {"acb", "acdb", "acdeb"};
    static const char *const weights[] = {"cba", "cdba", "cdeba"};
    static const char *const grouped[] = {"adcb", "adecb", "adefcb"};
    neo_memory_desc *t = problem->tensors;
    (void)self, (void)cpu;
    int kind = t[DST].ndims - 3;
    if (t[SRC].format_kind == NEO_FORMAT_ANY && t[DST].format_kind != NEO_FORMAT_ANY)
        desc_set_order_of(&t[SRC], &t[DST]);
    if (t[SRC].format_kind == NEO_FORMAT_ANY)
        desc_set_tag(&t[SRC], images[kind]);
    if (t[DST].format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(&t[DST], &t[SRC]);
    if (t[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        desc_set_tag(&t[WEIGHTS],
                     deconvolution_is_grouped(problem) ? grouped[kind] : weights[kind]);
    if (t[BIAS].ndims && t[BIAS].format_kind == NEO_FORMAT_ANY)
        desc_set_plain(&t[BIAS]);
}

/* The product where tensors may be `any`. */
static __attribute__((noinline)) void make_chosen_product(struct problem *product,
                                                          const struct algorithm *self,
                                                          const struct problem *problem,
                                                          const struct cpu *cpu)
{
    struct problem chosen = *problem;
    columns_choose(self, &chosen, cpu);
    make_product(product, &chosen);
}

static const char *columns_refuse(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    struct problem product;
    const char *reason = lines_refuse(self, problem, cpu);
    if (reason)
        return reason;
    make_chosen_product(&product, self, problem, cpu);
    return selection_exists(&product, NULL, cpu) ? NULL : "no matmul multiplies these types to f32";
}

static double columns_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    struct problem product;
    make_chosen_product(&product, self, problem, cpu);
    double taps = (double)neo_memory_desc_elements(&product.tensors[DST]);
    return (double)problem->tensors[DST].dims[0] *
               (selection_best(&product, NULL, cpu).cost.cycles + taps) +
           lines_cycles(problem, 2);
}

static void columns_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct columns_plan *mine = plan;
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    neo_memory_desc image = problem->tensors[DST];
    int first = weights->ndims - image.ndims + 2;
    mine->space = image.ndims - 2;
    mine->taps = 1;
    for (int i = 0; i < mine->space; i++) {
        mine->in[i] = src->dims[2 + i];
        mine->kernel[i] = weights->dims[first + i];
        mine->stride[i] = problem->window.strides[i];
        mine->step[i] = problem->window.dilations[i] + 1;
        mine->padding[i] = problem->window.left[i];
        mine->taps *= mine->kernel[i];
    }
    mine->pixels = pixel_count(src);
    mine->channels = image.dims[1];
    mine->along_channels = is_along_channels(&image);
    mine->add = binary_f32_find(cpu->features, BINARY_F32_ADD)->run;
    mine->bias = line_type(NEO_F32, cpu);
    if (problem->tensors[BIAS].ndims)
        mine->bias = line_type(problem->tensors[BIAS].data_type, cpu);
    if (!is_flat(src))
        mine->copy = copy_of(src);
    image.dims[0] = 1;
    walk_init(&mine->walk, &image, NULL, 0, true, LINE_MOST);
}

static neo_status columns_nest(struct implementation *implementation)
{
    struct problem product;
    make_product(&product, &implementation->problem);
    struct description description = problem_describe(&product);
    return implementation_nest(implementation, &description);
}

static size_t product_bytes(const struct columns_plan *plan)
{
    size_t floats = (size_t)plan->taps * (size_t)plan->pixels * (size_t)plan->channels;
    return round_up(floats * sizeof(float), SCRATCH_ALIGNMENT);
}

static size_t columns_scratch_bytes(const void *plan, int threads)
{
    const struct columns_plan *mine = plan;
    (void)threads;
    return product_bytes(mine) + (mine->copy.ndims ? neo_memory_desc_size(&mine->copy) : 0);
}

static const char *columns_kernel(const void *plan)
{
    (void)plan;
    return "matmul";
}

/* ---- lines of dst ---- */

struct columns_line {
    const struct columns_plan *plan;
    const struct execution *execution;
    struct line line;
    float values[LINE_MOST];
};

/* The pixel of src whose tap falls on position x of dst along a dimension, or -1. */
static neo_dim pixel_of(const struct columns_plan *plan, int i, neo_dim tap, neo_dim x)
{
    neo_dim at = x + plan->padding[i] - tap * plan->step[i];
    if (at < 0 || at % plan->stride[i] || at / plan->stride[i] >= plan->in[i])
        return -1;
    return at / plan->stride[i];
}

/* The first element of the line that the tap falls on along its own dimension, and its pixel; the
 * next ones are a stride apart. */
static size_t first_of(const struct columns_line *l, int i, neo_dim tap, neo_dim *pixel)
{
    const struct columns_plan *plan = l->plan;
    neo_dim begin = l->line.position[2 + i];
    neo_dim at = tap * plan->step[i] - plan->padding[i]; /* of pixel 0 */
    *pixel = begin > at ? (begin - at + plan->stride[i] - 1) / plan->stride[i] : 0;
    return (size_t)(at + *pixel * plan->stride[i] - begin);
}

static void add_apart(float *values, neo_dim step, const float *products, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[(neo_dim)i * step] += products[i];
}

/* Adds a tap's products where they fall on the line. */
static void add_tap(struct columns_line *l, neo_dim tap)
{
    const struct columns_plan *plan = l->plan;
    const float *products =
        (const float *)l->execution->scratch + tap * plan->pixels * plan->channels;
    neo_dim pixel = 0, scale = 1, own = 0;
    int along = l->line.direction - 2;
    size_t first = 0;
    for (int i = plan->space - 1; i >= 0; i--) {
        neo_dim k = tap % plan->kernel[i], at;
        tap /= plan->kernel[i];
        if (i == along)
            first = first_of(l, i, k, &at), own = at;
        else
            at = pixel_of(plan, i, k, l->line.position[2 + i]);
        if (at < 0)
            return;
        pixel += at * scale;
        scale *= plan->in[i];
    }
    if (plan->along_channels) {
        products += pixel * plan->channels + l->line.position[1];
        plan->add(l->line.count, l->values, products, 1, l->values);
        return;
    }
    if (first >= l->line.count || own >= plan->in[along])
        return;
    size_t stride = (size_t)plan->stride[along];
    size_t count =
        min_size((l->line.count - first - 1) / stride + 1, (size_t)(plan->in[along] - own));
    neo_dim next = 1; /* pixels from one along the line to the next one */
    for (int i = along + 1; i < plan->space; i++)
        next *= plan->in[i];
    products += l->line.position[1] * plan->pixels + pixel;
    if (next == 1)
        add_apart(l->values + first, (neo_dim)stride, products, count);
    else
        for (size_t i = 0; i < count; i++)
            l->values[first + i * stride] += products[(neo_dim)i * next];
}

static bool is_scaled(const struct problem *problem)
{
    return problem->scales[SRC] || problem->scales[WEIGHTS];
}

/* The bias of the line's elements, or 0. */
static void load_bias(const struct columns_line *l, float *values)
{
    const neo_memory_desc *bias = &l->execution->problem->tensors[BIAS];
    const void *data = l->execution->buffers[BIAS];
    if (!bias->ndims)
        memset(values, 0, l->line.count * sizeof *values);
    else
        lines_load_to(&l->plan->bias,
                      line_at(&l->plan->bias, data, l->line.position[1] * bias->strides[0]),
                      l->line.direction == 1 ? bias->strides[0] : 0, l->line.count, values);
}

/* Sums begin with the bias, unless they are scaled before it is added. */
static void begin_line(struct columns_line *l)
{
    if (is_scaled(l->execution->problem))
        memset(l->values, 0, l->line.count * sizeof *l->values);
    else
        load_bias(l, l->values);
}

static float weights_scale(const struct execution *execution, neo_dim channel)
{
    const struct problem *problem = execution->problem;
    neo_dim position[NEO_MAX_NDIMS] = {channel};
    if (deconvolution_is_grouped(problem)) {
        position[0] = channel / problem->tensors[WEIGHTS].dims[1];
        position[1] = channel % problem->tensors[WEIGHTS].dims[1];
    }
    return quantization_scale(execution, WEIGHTS, position);
}

/* Values become values * scale of src * scale of weights + bias. */
static void scale_line(struct columns_line *l)
{
    float bias[LINE_MOST];
    static const neo_dim any[NEO_MAX_NDIMS] = {0};
    float src = quantization_scale(l->execution, SRC, any);
    bool along = l->line.direction == 1;
    float factor = along ? 0 : weights_scale(l->execution, l->line.position[1]);
    load_bias(l, bias);
    for (size_t i = 0; i < l->line.count; i++) {
        if (along)
            factor = weights_scale(l->execution, l->line.position[1] + (neo_dim)i);
        l->values[i] = l->values[i] * src * factor + bias[i];
    }
}

struct columns_task {
    const struct columns_plan *plan;
    const struct execution *execution;
    neo_dim image;
};

static void make_lines(void *argument, struct span tiles, int slot)
{
    const struct columns_task *task = argument;
    const neo_memory_desc *dst = &task->execution->problem->tensors[DST];
    struct columns_line l; /* not cleared: begin_line() sets what is read */
    (void)slot;
    l.plan = task->plan;
    l.execution = task->execution;
    for (size_t i = tiles.begin; i < tiles.end; i++) {
        struct walk_chunk chunk = walk_chunk(&l.plan->walk, i);
        walk_line(&l.plan->walk, &chunk, &l.line);
        l.line.position[0] = task->image;
        begin_line(&l);
        for (neo_dim tap = 0; tap < l.plan->taps; tap++)
            add_tap(&l, tap);
        if (is_scaled(l.execution->problem))
            scale_line(&l);
        void *data = element_to(dst->data_type, l.execution->buffers[DST],
                                desc_offset(dst, l.line.position));
        finish_line(l.execution, &l.line, l.values, false, data, dst->strides[l.line.direction]);
    }
}

static void columns_run(const void *plan, const struct execution *execution)
{
    const struct columns_plan *mine = plan;
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    neo_memory_desc image = *src;
    image.dims[0] = 1;
    unsigned char *copy = (unsigned char *)execution->scratch + product_bytes(mine);
    int zero_point = execution->problem->zero_points[SRC];
    struct execution with_zero_point;
    const struct execution *product = execution; /* which is large: copied where it has to be */
    if (zero_point) {
        with_zero_point = *execution;
        with_zero_point.quantizations[0] = execution->quantizations[zero_point - 1];
        product = &with_zero_point;
    }
    for (neo_dim n = 0; n < src->dims[0]; n++) {
        void *from = element_to(src->data_type, execution->buffers[SRC], n * src->strides[0]);
        void *buffers[TENSOR_COUNT] = {from, execution->buffers[WEIGHTS], NULL, execution->scratch};
        if (mine->copy.ndims) {
            lines_copy(execution, &image, from, &mine->copy, copy, 1);
            buffers[SRC] = copy;
        }
        implementation_run_nested(product, 0, buffers);
        struct columns_task task = {mine, execution, n};
        parallel_for_tiles(execution->parallel, mine->walk.tiles, execution->threads, make_lines,
                           &task);
    }
}

const struct algorithm deconvolution_columns = {
    .name = "columns",
    .quantizes = true,
    .refuse = columns_refuse,
    .choose = columns_choose,
    .estimate = columns_estimate,
    .plan = columns_plan,
    .plan_bytes = sizeof(struct columns_plan),
    .nest = columns_nest,
    .scratch_bytes = columns_scratch_bytes,
    .kernel = columns_kernel,
    .run = columns_run,
};
