/* Any CBLAS: products by sgemm; convolution as what a user writes who has only a BLAS: im2col into
 * a matrix, then sgemm, and a plain loop where that is hopeless (depthwise). */
#include "tests/perf/driver.h"

#include <stdlib.h>
#include <string.h>

/* The two constants and one function of CBLAS that are needed; every implementation agrees on
 * them, and not every one installs a header with the same name. */
enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

static void sgemm(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                  size_t ldb, float *c, size_t ldc)
{
    cblas_sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, (int)m, (int)n, (int)k, 1.0f, a, (int)lda, b,
                (int)ldb, 0.0f, c, (int)ldc);
}

/* The operands of one product of a batch. */
struct product {
    const float *a, *b;
    float *c;
};

/* What one call works on; `products` for matmul, the rest for convolution. */
struct work {
    const struct problem *problem;
    struct product *products;
    size_t product_count;
    float *weights; /* channels last: [group][tap][ic][oc]; depthwise: [tap][channel] */
    float *columns; /* the im2col matrix of one group of one image; NULL if none is needed */
};

/* ---- products ---- */

/* An operand that lies in the order of dst is "not transposed", whatever that order is. */
static void run_matmul(const struct work *work)
{
    const struct matmul_problem *p = &work->problem->matmul;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    bool a = p->transposed & OPERAND_SRC, b = p->transposed & OPERAND_WEIGHTS;
    bool c = p->transposed & OPERAND_DST;
    for (size_t i = 0; i < work->product_count; i++) {
        const struct product *product = &work->products[i];
        cblas_sgemm(c ? COLUMN_MAJOR : ROW_MAJOR, a == c ? NO_TRANSPOSE : TRANSPOSE,
                    b == c ? NO_TRANSPOSE : TRANSPOSE, m, n, k, 1.0f, product->a, a ? m : k,
                    product->b, b ? k : n, 0.0f, product->c, c ? m : n);
    }
}

static void prepare_matmul(struct work *work)
{
    work->product_count = matmul_batch(&work->problem->matmul);
    work->products = driver_allocate(work->product_count * sizeof *work->products);
    for (size_t i = 0; i < work->product_count; i++)
        work->products[i] =
            (struct product){matmul_src(work->problem, i), matmul_weights(work->problem, i),
                             matmul_dst(work->problem, i)};
}

/* ---- im2col ---- */

/* Where tap t of output position o reads along one dimension; out of [0, in) means padding. */
static ptrdiff_t source_index(const struct conv_problem *p, int dim, size_t o, size_t t)
{
    return (ptrdiff_t)(o * p->stride[dim] + t * (p->dilation[dim] + 1)) - (ptrdiff_t)p->pad[dim];
}

static bool is_inside(const struct conv_problem *p, int dim, ptrdiff_t i)
{
    return i >= 0 && i < (ptrdiff_t)p->in[dim];
}

/* One kernel row of one output position, channels last: kernel[2] * channels floats. */
static void copy_kernel_row(const struct conv_problem *p, const float *row, size_t ow,
                            size_t channels, float *to)
{
    bool is_run = p->dilation[2] == 0 && channels == p->ic;
    ptrdiff_t first = source_index(p, 2, ow, 0);
    if (is_run && first >= 0 && first + (ptrdiff_t)p->kernel[2] <= (ptrdiff_t)p->in[2]) {
        memcpy(to, row + (size_t)first * p->ic, p->kernel[2] * channels * sizeof(float));
        return;
    }
    for (size_t kw = 0; kw < p->kernel[2]; kw++, to += channels) {
        ptrdiff_t iw = source_index(p, 2, ow, kw);
        if (is_inside(p, 2, iw))
            memcpy(to, row + (size_t)iw * p->ic, channels * sizeof(float));
        else
            memset(to, 0, channels * sizeof(float));
    }
}

/* columns[output position][tap][channel], from an image whose channels are innermost. */
static void im2col_last(const struct conv_problem *p, const float *src, float *columns)
{
    size_t channels = p->ic / p->groups, row_size = p->kernel[2] * channels;
    for (size_t od = 0; od < p->out[0]; od++)
        for (size_t oh = 0; oh < p->out[1]; oh++)
            for (size_t ow = 0; ow < p->out[2]; ow++)
                for (size_t kd = 0; kd < p->kernel[0]; kd++)
                    for (size_t kh = 0; kh < p->kernel[1]; kh++, columns += row_size) {
                        ptrdiff_t id = source_index(p, 0, od, kd), ih = source_index(p, 1, oh, kh);
                        if (is_inside(p, 0, id) && is_inside(p, 1, ih))
                            copy_kernel_row(
                                p, src + ((size_t)id * p->in[1] + (size_t)ih) * p->in[2] * p->ic,
                                ow, channels, columns);
                        else
                            memset(columns, 0, row_size * sizeof(float));
                    }
}

/* The outputs [*first, *end) of a row for which tap kw reads inside the image. */
static void inside_range(const struct conv_problem *p, size_t kw, size_t *first, size_t *end)
{
    *first = 0;
    while (*first < p->out[2] && source_index(p, 2, *first, kw) < 0)
        (*first)++;
    *end = p->out[2];
    while (*end > *first && source_index(p, 2, *end - 1, kw) >= (ptrdiff_t)p->in[2])
        (*end)--;
}

/* What tap kw reads for a row of outputs, channels first. */
static void copy_output_row(const struct conv_problem *p, const float *row, size_t kw, float *to)
{
    size_t first, end;
    inside_range(p, kw, &first, &end);
    memset(to, 0, first * sizeof(float));
    if (end > first) {
        const float *from = row + source_index(p, 2, first, kw);
        if (p->stride[2] == 1)
            memcpy(to + first, from, (end - first) * sizeof(float));
        else
            for (size_t ow = first; ow < end; ow++)
                to[ow] = from[(ow - first) * p->stride[2]];
    }
    memset(to + end, 0, (p->out[2] - end) * sizeof(float));
}

/* The rows of columns[channel][tap][output position] that belong to one channel and one tap. */
static void im2col_tap(const struct conv_problem *p, const float *channel, const size_t tap[3],
                       float *columns)
{
    for (size_t od = 0; od < p->out[0]; od++)
        for (size_t oh = 0; oh < p->out[1]; oh++, columns += p->out[2]) {
            ptrdiff_t id = source_index(p, 0, od, tap[0]), ih = source_index(p, 1, oh, tap[1]);
            if (is_inside(p, 0, id) && is_inside(p, 1, ih))
                copy_output_row(p, channel + ((size_t)id * p->in[1] + (size_t)ih) * p->in[2],
                                tap[2], columns);
            else
                memset(columns, 0, p->out[2] * sizeof(float));
        }
}

static void im2col_first(const struct conv_problem *p, const float *src, float *columns)
{
    size_t positions = conv_positions(p->out), image = conv_positions(p->in);
    for (size_t c = 0; c < p->ic / p->groups; c++)
        for (size_t kd = 0; kd < p->kernel[0]; kd++)
            for (size_t kh = 0; kh < p->kernel[1]; kh++)
                for (size_t kw = 0; kw < p->kernel[2]; kw++, columns += positions)
                    im2col_tap(p, src + c * image, (size_t[]){kd, kh, kw}, columns);
}

/* ---- convolution as a product ---- */

static void run_group(const struct work *work, size_t image, size_t group)
{
    const struct conv_problem *p = &work->problem->conv;
    size_t icg = p->ic / p->groups, ocg = p->oc / p->groups;
    size_t depth = icg * conv_positions(p->kernel);
    size_t in = conv_positions(p->in), out = conv_positions(p->out);
    const float *src = work->problem->src + image * p->ic * in;
    float *dst = work->problem->dst + image * p->oc * out;
    if (p->channels_last) {
        const float *left = src + group * icg;
        if (work->columns)
            im2col_last(p, src + group * icg, work->columns), left = work->columns;
        sgemm(out, ocg, depth, left, work->columns ? depth : p->ic,
              work->weights + group * depth * ocg, ocg, dst + group * ocg, p->oc);
    } else {
        const float *right = src + group * icg * in;
        if (work->columns)
            im2col_first(p, right, work->columns), right = work->columns;
        sgemm(ocg, out, depth, work->problem->weights + group * ocg * depth, depth, right, out,
              dst + group * ocg * out, out);
    }
}

static void run_conv(const struct work *work)
{
    const struct conv_problem *p = &work->problem->conv;
    for (size_t image = 0; image < p->mb; image++)
        for (size_t group = 0; group < p->groups; group++)
            run_group(work, image, group);
}

/* ---- depthwise ---- */

static void multiply_add(float *restrict to, const float *restrict a, const float *restrict b,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = __builtin_fmaf(a[i], b[i], to[i]);
}

static void multiply_add_scalar(float *restrict to, const float *restrict a, size_t step, float b,
                                size_t count)
{
    if (step == 1)
        for (size_t i = 0; i < count; i++)
            to[i] = __builtin_fmaf(a[i], b, to[i]);
    else
        for (size_t i = 0; i < count; i++)
            to[i] = __builtin_fmaf(a[i * step], b, to[i]);
}

/* One output row, channels last: all channels of a pixel at once. */
static void depthwise_row_last(const struct work *work, const float *row, size_t first_tap,
                               float *to)
{
    const struct conv_problem *p = &work->problem->conv;
    for (size_t ow = 0; ow < p->out[2]; ow++)
        for (size_t kw = 0; kw < p->kernel[2]; kw++) {
            ptrdiff_t iw = source_index(p, 2, ow, kw);
            if (is_inside(p, 2, iw))
                multiply_add(to + ow * p->oc, row + (size_t)iw * p->ic,
                             work->weights + (first_tap + kw) * p->ic, p->ic);
        }
}

/* One output row, channels first: all pixels of a row at once. */
static void depthwise_row_first(const struct work *work, const float *row, size_t channel,
                                size_t first_tap, float *to)
{
    const struct conv_problem *p = &work->problem->conv;
    const float *weights = work->problem->weights + channel * conv_positions(p->kernel) + first_tap;
    for (size_t kw = 0; kw < p->kernel[2]; kw++) {
        size_t first, end;
        inside_range(p, kw, &first, &end);
        if (end > first)
            multiply_add_scalar(to + first, row + source_index(p, 2, first, kw), p->stride[2],
                                weights[kw], end - first);
    }
}

/* One output row of one image: of all channels (last) or of channel c (first). A pixel has `unit`
 * floats that lie together. */
static void depthwise_row(const struct work *work, const float *src, size_t c, size_t od, size_t oh,
                          float *to)
{
    const struct conv_problem *p = &work->problem->conv;
    size_t unit = p->channels_last ? p->ic : 1;
    memset(to, 0, p->out[2] * unit * sizeof(float));
    for (size_t kd = 0; kd < p->kernel[0]; kd++)
        for (size_t kh = 0; kh < p->kernel[1]; kh++) {
            ptrdiff_t id = source_index(p, 0, od, kd), ih = source_index(p, 1, oh, kh);
            if (!is_inside(p, 0, id) || !is_inside(p, 1, ih))
                continue;
            const float *row = src + ((size_t)id * p->in[1] + (size_t)ih) * p->in[2] * unit;
            size_t tap = (kd * p->kernel[1] + kh) * p->kernel[2];
            if (p->channels_last)
                depthwise_row_last(work, row, tap, to);
            else
                depthwise_row_first(work, row, c, tap, to);
        }
}

/* All rows of a plane: an image with channels last, or one channel of it. */
static void depthwise_plane(const struct work *work, size_t plane, size_t unit)
{
    const struct conv_problem *p = &work->problem->conv;
    const float *src = work->problem->src + plane * conv_positions(p->in) * unit;
    float *to = work->problem->dst + plane * conv_positions(p->out) * unit;
    for (size_t od = 0; od < p->out[0]; od++)
        for (size_t oh = 0; oh < p->out[1]; oh++, to += p->out[2] * unit)
            depthwise_row(work, src, plane % p->ic, od, oh, to);
}

static void run_depthwise(const struct work *work)
{
    const struct conv_problem *p = &work->problem->conv;
    size_t planes = p->channels_last ? p->mb : p->mb * p->ic;
    for (size_t plane = 0; plane < planes; plane++)
        depthwise_plane(work, plane, p->channels_last ? p->ic : 1);
}

/* ---- the peer ---- */

/* Weights as sgemm wants them on the right: [group][tap][ic][oc]. Depthwise is the same with one
 * channel each, except that channels lie together: [tap][channel]. */
static float *weights_last(const struct problem *problem)
{
    const struct conv_problem *p = &problem->conv;
    size_t icg = p->ic / p->groups, ocg = p->oc / p->groups, taps = conv_positions(p->kernel);
    bool depthwise = conv_is_depthwise(p);
    float *to = driver_floats(problem->weights_size);
    for (size_t oc = 0; oc < p->oc; oc++)
        for (size_t ic = 0; ic < icg; ic++)
            for (size_t tap = 0; tap < taps; tap++) {
                size_t group = oc / ocg;
                size_t at = depthwise ? tap * p->oc + oc
                                      : ((group * taps + tap) * icg + ic) * ocg + oc % ocg;
                to[at] = problem->weights[(oc * icg + ic) * taps + tap];
            }
    return to;
}

static const char *start(void)
{
    return NULL;
}

static void prepare_conv(struct work *work)
{
    const struct conv_problem *p = &work->problem->conv;
    if (p->channels_last)
        work->weights = weights_last(work->problem);
    if (!conv_is_depthwise(p) && !conv_is_pointwise(p))
        work->columns =
            driver_floats(conv_positions(p->out) * (p->ic / p->groups) * conv_positions(p->kernel));
}

static const char *prepare(const struct problem *problem, void **state)
{
    struct work *work = driver_allocate(sizeof *work);
    *work = (struct work){.problem = problem};
    *state = work;
    if (problem->kind == PROBLEM_OPERATION)
        return "no such operation";
    if (strcmp(problem->types, "f32:f32:f32") != 0)
        return "no such types";
    if (problem->kind == PROBLEM_MATMUL)
        prepare_matmul(work);
    else
        prepare_conv(work);
    return NULL;
}

static void run(void *state)
{
    const struct work *work = state;
    if (work->problem->kind == PROBLEM_MATMUL)
        run_matmul(work);
    else if (conv_is_depthwise(&work->problem->conv))
        run_depthwise(work);
    else
        run_conv(work);
}

static void release(void *state)
{
    struct work *work = state;
    free(work->products);
    free(work->weights);
    free(work->columns);
    free(work);
}

const struct peer peer = {"blas", start, prepare, run, NULL, release, NULL, NULL};
