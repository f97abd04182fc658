/* Descriptions of primitives made of bytes. */
#include "tests/fuzz/problem.h"

#include <string.h>

#include "tests/fuzz/attributes.h"
#include "tests/fuzz/layout.h"

enum { MOST_WORK = 1 << 15 }; /* of a right problem */

const int fuzz_args[FUZZ_TENSORS] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};

/* ---- tensors ---- */

/* Now and then `any`, which leaves the layout to the library. */
static void set_tensor(struct fuzz_problem *problem, enum fuzz_tensor t, int ndims,
                       const neo_dim *dims, struct fuzz_bytes *bytes)
{
    static const int any_in[FUZZ_TENSORS] = {8, 2, 6, 8};
    bool is_any = problem->operation != FUZZ_REORDER && fuzz_rarely(bytes, any_in[t]);
    problem->actual[t] = is_any ? fuzz_layout_dense(ndims, dims)
                                : fuzz_layout_make(ndims, dims, t != FUZZ_DST, bytes);
    problem->described[t] = problem->actual[t];
    if (is_any)
        problem->described[t].format_kind = NEO_FORMAT_ANY;
}

/* Sizes and strides that are known only when the primitive is executed. */
static void make_runtime(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    problem->is_runtime = true;
    for (int t = 0; t < FUZZ_TENSORS; t++) {
        neo_memory_desc *desc = &problem->described[t];
        if (!desc->ndims || desc->format_kind != NEO_FORMAT_STRIDED)
            continue;
        fuzz_layout_forget(desc, bytes);
    }
}

/* ---- matrix multiplications ---- */

static const uint8_t sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15,
                                16, 17, 20, 23, 24, 31, 32, 33, 47, 48, 49, 64, 96};

static neo_dim size_of(struct fuzz_bytes *bytes)
{
    return fuzz_rarely(bytes, 64) ? 0 : FUZZ_OF(sizes, bytes);
}

static int matmul_ndims(struct fuzz_bytes *bytes)
{
    static const uint8_t choices[] = {2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5, 6, 8, 12};
    return FUZZ_OF(choices, bytes);
}

/* A batch dimension is 1 in src, weights or both, where it is broadcast, or the same in both. */
static void choose_batch(neo_dim dims[FUZZ_TENSORS][NEO_MAX_NDIMS], int count,
                         struct fuzz_bytes *bytes)
{
    for (int i = 0; i < count; i++) {
        neo_dim size = 1 + fuzz_below(bytes, 3);
        int broadcast = fuzz_below(bytes, 6);
        dims[FUZZ_SRC][i] = broadcast == 1 || broadcast == 3 ? 1 : size;
        dims[FUZZ_WEIGHTS][i] = broadcast == 2 || broadcast == 3 ? 1 : size;
        dims[FUZZ_DST][i] = broadcast == 3 ? 1 : size;
    }
}

static void choose_matmul(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    neo_dim dims[FUZZ_TENSORS][NEO_MAX_NDIMS], size[3];
    int ndims = matmul_ndims(bytes), last = ndims - 1;
    choose_batch(dims, last - 1, bytes);
    size_t work = 1;
    for (int i = 0; i < last - 1; i++)
        work *= (size_t)dims[FUZZ_DST][i];
    for (int i = 0; i < 3; i++) {
        size[i] = size_of(bytes);
        while (work * (size_t)size[i] > MOST_WORK)
            size[i] /= 2;
        work *= size[i] ? (size_t)size[i] : 1;
    }
    dims[FUZZ_SRC][last - 1] = dims[FUZZ_DST][last - 1] = size[0];
    dims[FUZZ_WEIGHTS][last] = dims[FUZZ_DST][last] = size[1];
    dims[FUZZ_SRC][last] = dims[FUZZ_WEIGHTS][last - 1] = size[2];
    unsigned mask = fuzz_byte(bytes);
    for (int i = 0; i < ndims; i++)
        dims[FUZZ_BIAS][i] = mask >> i % 8 & 1 ? dims[FUZZ_DST][i] : 1;
    for (int t = 0; t < FUZZ_TENSORS; t++)
        if (t != FUZZ_BIAS || mask >= 64)
            set_tensor(problem, (enum fuzz_tensor)t, ndims, dims[t], bytes);
    if (fuzz_rarely(bytes, 8))
        make_runtime(problem, bytes);
}

/* ---- convolutions ---- */

static neo_dim out_size(neo_dim in, neo_dim kernel, const neo_convolution_desc *window, int i)
{
    neo_dim reach = (kernel - 1) * (window->dilations[i] + 1);
    neo_dim padded = in + window->padding_left[i] + window->padding_right[i] - reach;
    return padded < 1 ? 0 : (padded - 1) / window->strides[i] + 1;
}

/* Paddings up to a whole kernel's extent: outputs that meet no pixel, and kernels beyond the
 * image, are wanted. */
static void choose_window(neo_convolution_desc *window, int i, neo_dim kernel,
                          struct fuzz_bytes *bytes)
{
    static const uint8_t strides[] = {1, 1, 1, 1, 2, 2, 3, 7}, dilations[] = {0, 0, 0, 0, 0, 1, 2};
    window->strides[i] = FUZZ_OF(strides, bytes);
    window->dilations[i] = FUZZ_OF(dilations, bytes);
    neo_dim reach = (kernel - 1) * (window->dilations[i] + 1);
    bool is_same = fuzz_below(bytes, 4) < 2; /* as networks have it */
    window->padding_left[i] = is_same ? reach / 2 : fuzz_below(bytes, (int)reach + 2);
    window->padding_right[i] =
        is_same ? reach - reach / 2 : fuzz_below(bytes, (int)reach + 2) - fuzz_below(bytes, 3);
}

struct channels {
    neo_dim groups, ic, oc; /* of a group */
    bool are_grouped;
};

static struct channels choose_channels(struct fuzz_bytes *bytes)
{
    static const uint8_t channels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 23, 24, 33, 48};
    struct channels c = {.groups = 1, .are_grouped = fuzz_below(bytes, 4) == 1};
    if (c.are_grouped)
        c.groups = 1 + fuzz_below(bytes, 5);
    c.ic = fuzz_rarely(bytes, 64) ? 0 : FUZZ_OF(channels, bytes);
    c.oc = fuzz_rarely(bytes, 64) ? 0 : FUZZ_OF(channels, bytes);
    if (fuzz_rarely(bytes, 4)) /* depthwise */
        c = (struct channels){FUZZ_OF(channels, bytes), 1, 1 + fuzz_below(bytes, 4) / 3, true};
    return c;
}

/* Batch, space and kernel until there is too much work. */
static void choose_convolution(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    static const uint8_t spaces[] = {2, 2, 2, 2, 2, 1, 3},
                         images[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 17, 28},
                         kernels[] = {1, 1, 1, 2, 3, 3, 3, 3, 3, 4, 5, 7};
    neo_convolution_desc *window = &problem->window;
    int space = FUZZ_OF(spaces, bytes);
    struct channels c = choose_channels(bytes);
    neo_dim batch = fuzz_rarely(bytes, 64) ? 0 : 1 + fuzz_below(bytes, 3);
    neo_dim src[5] = {batch, c.groups * c.ic}, dst[5] = {batch, c.groups * c.oc};
    neo_dim weights[6] = {c.groups, c.oc, c.ic};
    neo_dim work = (batch + !batch) * c.groups * (c.oc + !c.oc) * (c.ic + !c.ic);
    for (int i = 0; i < space; i++) {
        neo_dim in = FUZZ_OF(images, bytes), kernel = FUZZ_OF(kernels, bytes);
        while (work * in * kernel > MOST_WORK && (in > 1 || kernel > 1)) {
            in -= in > 1;
            kernel -= kernel > 1 && in < 5;
        }
        choose_window(window, i, kernel, bytes);
        src[2 + i] = in;
        weights[3 + i] = kernel;
        dst[2 + i] = out_size(in, kernel, window, i);
        work *= kernel * (dst[2 + i] ? dst[2 + i] : 1);
    }
    static const neo_prop_kind kinds[] = {NEO_FORWARD_INFERENCE, NEO_FORWARD_TRAINING};
    window->prop_kind = FUZZ_OF(kinds, bytes);
    window->algorithm = (neo_convolution_algorithm)(fuzz_below(bytes, 16) % 13 % 3);
    problem->is_supported = window->algorithm != NEO_CONVOLUTION_WINOGRAD;
    set_tensor(problem, FUZZ_SRC, 2 + space, src, bytes);
    set_tensor(problem, FUZZ_WEIGHTS, 2 + space + c.are_grouped, weights + !c.are_grouped, bytes);
    set_tensor(problem, FUZZ_DST, 2 + space, dst, bytes);
    if (fuzz_below(bytes, 2))
        set_tensor(problem, FUZZ_BIAS, 1, dst + 1, bytes);
    if (fuzz_rarely(bytes, 64)) {
        make_runtime(problem, bytes);
        problem->is_supported = false;
    }
}

/* ---- reorders ---- */

static void choose_reorder(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    neo_dim dims[NEO_MAX_NDIMS];
    int ndims = 1 + fuzz_below(bytes, fuzz_rarely(bytes, 16) ? NEO_MAX_NDIMS : 5);
    size_t work = 1;
    for (int i = 0; i < ndims; i++) {
        dims[i] = size_of(bytes);
        while (work * (size_t)dims[i] > MOST_WORK / 4)
            dims[i] /= 2;
        work *= dims[i] ? (size_t)dims[i] : 1;
    }
    set_tensor(problem, FUZZ_SRC, ndims, dims, bytes);
    set_tensor(problem, FUZZ_DST, ndims, dims, bytes);
    if (fuzz_rarely(bytes, 8))
        make_runtime(problem, bytes);
}

/* ---- fields changed into anything ---- */

static const int64_t odd_values[] = {0,
                                     1,
                                     -1,
                                     2,
                                     3,
                                     NEO_RUNTIME_DIM,
                                     INT64_MAX,
                                     INT64_MAX - 1,
                                     -INT64_MAX,
                                     INT32_MAX,
                                     INT32_MIN,
                                     UINT32_MAX,
                                     (int64_t)1 << 16,
                                     (int64_t)1 << 31,
                                     (int64_t)1 << 32,
                                     (int64_t)1 << 40,
                                     (int64_t)1 << 46,
                                     ((int64_t)1 << 46) + 1,
                                     (int64_t)1 << 61,
                                     (int64_t)1 << 62};

static int64_t odd_value(struct fuzz_bytes *bytes)
{
    return fuzz_rarely(bytes, 4) ? fuzz_word(bytes) : FUZZ_OF(odd_values, bytes);
}

static void change_packed(neo_memory_desc *desc, struct fuzz_bytes *bytes)
{
    desc->format_kind = NEO_FORMAT_PACKED;
    desc->packed = (neo_packed_layout){.id = (uint16_t)fuzz_below(bytes, 6),
                                       .version = (uint16_t)fuzz_below(bytes, 3),
                                       .panel = FUZZ_OF(sizes, bytes),
                                       .grouped = (uint16_t)fuzz_below(bytes, 2)};
}

static void change_tensor(neo_memory_desc *desc, struct fuzz_bytes *bytes)
{
    int at = fuzz_below(bytes, NEO_MAX_NDIMS);
    if (desc->ndims > 0 && desc->ndims < NEO_MAX_NDIMS && fuzz_below(bytes, 8))
        at %= desc->ndims;
    switch (fuzz_below(bytes, 8)) {
    case 0:
        desc->ndims = fuzz_rarely(bytes, 4) ? (int32_t)odd_value(bytes) : fuzz_below(bytes, 14);
        break;
    case 1:
        desc->data_type = (neo_data_type)fuzz_below(bytes, 10);
        break;
    case 2:
        desc->format_kind = (neo_format_kind)fuzz_below(bytes, 6);
        break;
    case 3:
        change_packed(desc, bytes);
        break;
    case 4:
        desc->offset = odd_value(bytes);
        break;
    case 5:
        desc->strides[at] = odd_value(bytes);
        break;
    default:
        desc->dims[at] = odd_value(bytes);
    }
}

static void change_window(neo_convolution_desc *window, struct fuzz_bytes *bytes)
{
    neo_dim *const parts[] = {window->strides, window->dilations, window->padding_left,
                              window->padding_right};
    switch (fuzz_below(bytes, 8)) {
    case 0:
        window->prop_kind = (neo_prop_kind)fuzz_below(bytes, 5);
        break;
    case 1:
        window->algorithm = (neo_convolution_algorithm)fuzz_below(bytes, 5);
        break;
    default:
        FUZZ_OF(parts, bytes)[fuzz_below(bytes, 3)] = odd_value(bytes);
    }
}

/* The same odd size wherever one was: problems of huge sizes that agree with each other. */
static void change_equal_sizes(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    const neo_memory_desc *dst = &problem->described[FUZZ_DST];
    neo_dim before = dst->ndims > 0 ? dst->dims[fuzz_below(bytes, 12) % dst->ndims] : 0;
    neo_dim after = odd_value(bytes);
    for (int t = 0; t < FUZZ_TENSORS; t++)
        for (int i = 0; i < NEO_MAX_NDIMS && i < problem->described[t].ndims; i++)
            if (problem->described[t].dims[i] == before)
                problem->described[t].dims[i] = after;
}

static void change(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    int what = fuzz_below(bytes, 8), t = what % FUZZ_TENSORS;
    problem->is_right = false;
    if (problem->operation == FUZZ_REORDER)
        t = what % 2 ? FUZZ_SRC : FUZZ_DST;
    if (what == 0)
        change_equal_sizes(problem, bytes);
    else if (what == 1 && problem->operation == FUZZ_CONVOLUTION)
        change_window(&problem->window, bytes);
    else
        change_tensor(&problem->described[t], bytes);
}

/* What will be passed at execution, should the changed description be accepted. */
static void settle(struct fuzz_problem *problem)
{
    for (int t = 0; t < FUZZ_TENSORS; t++) {
        const neo_memory_desc *desc = &problem->described[t];
        bool is_known = desc->ndims >= 0 && desc->ndims <= NEO_MAX_NDIMS;
        for (int i = 0; is_known && i < desc->ndims; i++)
            is_known = desc->dims[i] >= 0 &&
                       (desc->format_kind != NEO_FORMAT_STRIDED || desc->strides[i] >= 0);
        problem->is_runtime = problem->is_runtime || !is_known;
        if (!is_known)
            continue;
        problem->actual[t] = *desc;
        if (desc->ndims && desc->format_kind != NEO_FORMAT_STRIDED)
            problem->actual[t] = fuzz_layout_dense(desc->ndims, desc->dims);
    }
}

/* ---- life ---- */

void fuzz_problem_init(struct fuzz_problem *problem, struct fuzz_bytes *bytes)
{
    static void (*const choose[])(struct fuzz_problem *, struct fuzz_bytes *) = {
        choose_matmul, choose_convolution, choose_reorder};
    static const uint8_t operations[] = {FUZZ_MATMUL, FUZZ_CONVOLUTION, FUZZ_CONVOLUTION,
                                         FUZZ_MATMUL, FUZZ_CONVOLUTION, FUZZ_REORDER};
    *problem = (struct fuzz_problem){.is_right = true, .is_supported = true};
    problem->operation = (enum fuzz_operation)FUZZ_OF(operations, bytes);
    int changes = fuzz_below(bytes, 8) - 4;
    choose[problem->operation](problem, bytes);
    fuzz_attributes_make(problem, bytes);
    for (int i = 0; i < changes; i++)
        change(problem, bytes);
    if (!problem->is_right)
        settle(problem);
}

void fuzz_problem_deinit(struct fuzz_problem *problem)
{
    neo_attributes_destroy(problem->attributes);
}

neo_status fuzz_problem_describe(neo_primitive_desc **out, neo_engine *engine,
                                 const struct fuzz_problem *problem)
{
    const neo_memory_desc *d = problem->described;
    if (problem->operation == FUZZ_REORDER)
        return neo_reorder_primitive_desc_create(out, engine, &d[FUZZ_SRC], &d[FUZZ_DST],
                                                 problem->attributes);
    if (problem->operation == FUZZ_MATMUL) {
        const neo_matmul_desc desc = {.src = d[FUZZ_SRC],
                                      .weights = d[FUZZ_WEIGHTS],
                                      .bias = d[FUZZ_BIAS],
                                      .dst = d[FUZZ_DST]};
        return neo_matmul_primitive_desc_create(out, engine, &desc, problem->attributes);
    }
    neo_convolution_desc desc = problem->window;
    desc.src = d[FUZZ_SRC];
    desc.weights = d[FUZZ_WEIGHTS];
    desc.bias = d[FUZZ_BIAS];
    desc.dst = d[FUZZ_DST];
    return neo_convolution_primitive_desc_create(out, engine, &desc, problem->attributes);
}

struct fuzz_problem fuzz_problem_plain(const struct fuzz_problem *problem)
{
    struct fuzz_problem plain = *problem;
    const neo_memory_desc *dst = &plain.actual[FUZZ_DST];
    plain.actual[FUZZ_DST] = fuzz_layout_dense(dst->ndims, dst->dims);
    memcpy(plain.described, plain.actual, sizeof plain.described);
    plain.window.algorithm = NEO_CONVOLUTION_AUTO;
    return plain;
}

size_t fuzz_problem_work(const struct fuzz_problem *problem)
{
    const neo_memory_desc *weights = &problem->actual[FUZZ_WEIGHTS];
    size_t work = neo_memory_desc_elements(&problem->actual[FUZZ_DST]);
    int from = weights->ndims; /* sizes of weights that are summed over */
    if (problem->operation == FUZZ_MATMUL)
        from = weights->ndims - 2;
    if (problem->operation == FUZZ_CONVOLUTION)
        from = weights->ndims - problem->actual[FUZZ_DST].ndims + 1;
    int to = problem->operation == FUZZ_MATMUL ? weights->ndims - 1 : weights->ndims;
    for (int i = from; i < to; i++)
        if (i < 0 || __builtin_mul_overflow(work, (size_t)weights->dims[i], &work))
            return SIZE_MAX;
    return work;
}
