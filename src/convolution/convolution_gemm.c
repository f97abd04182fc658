/* Convolution as a matrix multiplication of patches by weights.
 *
 * Rows are pixels of dst, columns output channels of one group, and the reduction runs over taps
 * (outer) and input channels. Patches are gathered into the panels of the GEMM a tile of rows and a
 * block of the reduction at a time, so no more than a few kilobytes of them ever exist. */
#include <string.h>

#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/gemm/gemm_f32.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/weights/layout.h"

struct convolution_gemm {
    struct gemm_f32 gemm;
    struct convolution_shape shape;
    size_t row_stride;    /* of dst, from one row of the GEMM to the next */
    bool rows_are_affine; /* src of row i is at i times row_stride_src: 1×1, stride 1, no padding */
    neo_dim src_row_stride;
    bool rows_are_merged; /* all taps of a kernel row, and their channels, follow each other in src
                           */
    size_t segment;       /* the values of a patch that are copied together */
};

static const char *gemm_refuse(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    (void)cpu;
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != LAYOUT_CONVOLUTION_F32)
        return "the weights are packed for another algorithm";
    const neo_memory_desc *bias = &problem->tensors[BIAS];
    if (bias->ndims && bias->dims[0] != 1 && bias->format_kind == NEO_FORMAT_STRIDED &&
        bias->strides[0] != 1)
        return "the values of bias do not follow each other";
    return convolution_refuse_direct(problem);
}

static void gemm_choose(struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    convolution_choose_images(problem);
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind == NEO_FORMAT_ANY)
        layout_set(weights, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
}

static double pixels_of(const struct convolution_shape *shape)
{
    return (double)shape->out[DEPTH] * (double)shape->out[HEIGHT] * (double)shape->out[WIDTH];
}

/* Channels of src and of dst are innermost, and those of src enough for segments of k: patches are
 * read in place. Strides of 0 belong to an image that is still to be chosen, with channels last. */
static bool lists_rows(const struct convolution_shape *s)
{
    enum { FEW = 16, MANY = 1024 };
    bool channels_last = (s->src.c <= 1 || s->groups * s->ic == 1) && (s->dst.c <= 1 || s->oc == 1);
    neo_dim taps = s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH];
    bool pays = taps == 1 ? s->ic >= FEW / 2 : s->ic >= FEW && s->ic * s->oc >= MANY;
    return channels_last && pays && (s->ic % 4 == 0 || s->ic > 64);
}

/* A row of the kernel is a row of pixels without gaps. */
static bool are_rows_merged(const struct convolution_shape *s)
{
    bool channels_last = s->src.c == 1 && s->src.w == s->ic && s->dilation[WIDTH] == 1;
    return channels_last && s->kernel[WIDTH] > 1;
}

static double gemm_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    double taps = (double)s.kernel[DEPTH] * (double)s.kernel[HEIGHT] * (double)s.kernel[WIDTH];
    bool listed = lists_rows(&s);
    double pieces = are_rows_merged(&s) && !listed ? taps / (double)s.kernel[WIDTH] : taps;
    double gather = (double)s.batch * pixels_of(&s) * pieces * (double)s.groups;
    double lanes = s.src.c > 1 ? 20 + (double)s.ic / 2 : 16; /* elements one by one */
    gather *= taps == 1 ? 1 : listed ? 4 : lanes;
    return gather + gemm_f32_estimate(cpu, (double)s.groups, (double)s.batch * pixels_of(&s),
                                      (double)s.oc, taps * (double)s.ic,
                                      problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED,
                                      listed, (size_t)(s.src.w * s.stride[WIDTH]));
}

/* ---- plan ---- */

/* The innermost dimensions of dst's pixels (batch, depth, height, width) that one stride can walk.
 */
struct pixel_run {
    size_t count;
    neo_dim stride;
};

static struct pixel_run pixel_run(const neo_dim *sizes, const neo_dim *strides)
{
    struct pixel_run run = {1, 0};
    for (int i = SPACE; i >= 0; i--) {
        if (sizes[i] == 1)
            continue;
        if (run.count > 1 && strides[i] != run.stride * (neo_dim)run.count)
            break;
        if (run.count == 1)
            run.stride = strides[i];
        run.count *= (size_t)sizes[i];
    }
    return run;
}

/* Both images' pixels are walked by one stride, in the same order, and nothing lies between taps.
 */
static bool is_affine(const struct convolution_shape *s, struct pixel_run src, struct pixel_run dst)
{
    for (int i = 0; i < SPACE; i++)
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->padding[i] != 0 || s->in[i] != s->out[i])
            return false;
    return src.count >= dst.count;
}

static void plan_pixels(struct convolution_gemm *mine, struct gemm_f32_shape *gemm)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim out[] = {s->batch, s->out[DEPTH], s->out[HEIGHT], s->out[WIDTH]};
    neo_dim in[] = {s->batch, s->in[DEPTH], s->in[HEIGHT], s->in[WIDTH]};
    struct pixel_run dst = pixel_run(out, (neo_dim[]){s->dst.n, s->dst.d, s->dst.h, s->dst.w});
    struct pixel_run src = pixel_run(in, (neo_dim[]){s->src.n, s->src.d, s->src.h, s->src.w});
    mine->row_stride = dst.count == 1 ? 1 : (size_t)dst.stride;
    mine->rows_are_affine = is_affine(s, src, dst);
    mine->src_row_stride = src.stride;
    gemm->m = dst.count;
    gemm->batch = (size_t)(s->batch * s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH]) / dst.count *
                  (size_t)s->groups;
}

static void plan_segments(struct convolution_gemm *mine)
{
    const struct convolution_shape *s = &mine->shape;
    mine->rows_are_merged = are_rows_merged(s);
    mine->segment = (size_t)(mine->rows_are_merged ? s->kernel[WIDTH] * s->ic : s->ic);
}

static enum gemm_output choose_output(const struct problem *problem, bool contiguous)
{
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    if (!contiguous || fusion.reads_dst)
        return GEMM_STAGED;
    return fusion.complete ? GEMM_DIRECT : GEMM_IN_PLACE;
}

static void gemm_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_gemm *mine = plan;
    convolution_shape_init(&mine->shape, problem);
    const struct convolution_shape *s = &mine->shape;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    struct gemm_f32_shape gemm = {
        .n = (size_t)s->oc,
        .k = (size_t)s->kernel[DEPTH] * (size_t)s->kernel[HEIGHT] * (size_t)s->kernel[WIDTH] *
             (size_t)s->ic,
        .b_packed = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED,
        .low = fusion.low,
        .high = fusion.high,
    };
    if (!desc_is_empty(&problem->tensors[DST]))
        plan_pixels(mine, &gemm);
    plan_segments(mine);
    if (mine->rows_are_merged)
        gemm.task_scratch_bytes = GEMM_F32_MR * mine->segment * sizeof(float);
    bool rows = s->oc == 1 || s->dst.c == 1;
    gemm.columns = !rows && mine->row_stride == 1;
    gemm.output = choose_output(problem, rows || gemm.columns);
    if (rows && lists_rows(s)) {
        gemm.segment = (size_t)s->ic;
        gemm.a_stride =
            (size_t)(mine->rows_are_affine ? mine->src_row_stride : s->src.w * s->stride[WIDTH]);
        gemm.a_is_regular = mine->rows_are_affine;
    }
    gemm_f32_plan(&mine->gemm, &gemm, cpu);
}

static size_t gemm_scratch_bytes(const void *plan, int threads)
{
    return gemm_f32_scratch_bytes(&((const struct convolution_gemm *)plan)->gemm, threads);
}

static const char *gemm_kernel(const void *plan)
{
    return ((const struct convolution_gemm *)plan)->gemm.kernel;
}

/* ---- run ---- */

struct convolution_call {
    const struct convolution_gemm *plan;
    const struct execution *execution;
};

/* A batch index of the GEMM is a run of pixels and a group. */
static size_t first_pixel(const struct convolution_gemm *plan, size_t batch)
{
    return batch / (size_t)plan->shape.groups * plan->gemm.shape.m;
}

static neo_dim group_of(const struct convolution_gemm *plan, size_t batch)
{
    return (neo_dim)(batch % (size_t)plan->shape.groups);
}

/* A pixel of dst by its coordinates. */
struct pixel {
    neo_dim n, at[SPACE];
};

static struct pixel pixel_at(const struct convolution_shape *s, size_t index)
{
    struct pixel pixel;
    for (int i = SPACE - 1; i >= 0; i--) {
        pixel.at[i] = (neo_dim)(index % (size_t)s->out[i]);
        index /= (size_t)s->out[i];
    }
    pixel.n = (neo_dim)index;
    return pixel;
}

static void next_pixel(const struct convolution_shape *s, struct pixel *pixel)
{
    for (int i = SPACE - 1; i >= 0; i--) {
        if (++pixel->at[i] < s->out[i])
            return;
        pixel->at[i] = 0;
    }
    pixel->n++;
}

static const float *packed_group(const struct execution *execution, neo_dim group)
{
    struct layout_shape weights = layout_shape(&execution->problem->tensors[WEIGHTS]);
    return (const float *)execution->buffers[WEIGHTS] + (size_t)group * weights.k * weights.columns;
}

static void locate(const void *context, size_t batch, struct gemm_f32_place *out)
{
    const struct convolution_call *call = context;
    const struct convolution_gemm *plan = call->plan;
    const struct convolution_shape *s = &plan->shape;
    const struct execution *execution = call->execution;
    struct pixel pixel = pixel_at(s, first_pixel(plan, batch));
    neo_dim group = group_of(plan, batch);
    const float *bias = execution->buffers[BIAS];
    *out = (struct gemm_f32_place){
        .b = plan->gemm.shape.b_packed ? packed_group(execution, group) : NULL,
        .c = (float *)execution->buffers[DST] + pixel.n * s->dst.n + group * s->oc * s->dst.c +
             pixel.at[DEPTH] * s->dst.d + pixel.at[HEIGHT] * s->dst.h + pixel.at[WIDTH] * s->dst.w,
        .c_row = plan->row_stride,
        .c_column = plan->gemm.shape.columns ? (size_t)s->dst.c : 1,
        .bias = bias ? bias + group * s->oc : NULL,
    };
}

/* Zeros for the lanes that lie in the padding; as long as a block of the reduction can be. */
static const float padding_lane[512];

/* The patches of up to GEMM_F32_MR rows. */
struct patches {
    size_t rows;
    const float *origin[GEMM_F32_MR];  /* of tap 0, channel 0; may lie outside of src */
    neo_dim first[GEMM_F32_MR][SPACE]; /* coordinates of tap 0 in src */
};

static void locate_patches(const struct convolution_call *call, size_t batch, size_t row,
                           size_t rows, struct patches *patches)
{
    const struct convolution_shape *s = &call->plan->shape;
    struct pixel pixel = pixel_at(s, first_pixel(call->plan, batch) + row);
    neo_dim group = group_of(call->plan, batch);
    patches->rows = rows;
    for (size_t i = 0; i < rows; i++) {
        neo_dim *first = patches->first[i];
        for (int d = 0; d < SPACE; d++)
            first[d] = pixel.at[d] * s->stride[d] - s->padding[d];
        neo_dim offset = pixel.n * s->src.n + group * s->ic * s->src.c + first[DEPTH] * s->src.d +
                         first[HEIGHT] * s->src.h + first[WIDTH] * s->src.w;
        /* Computed as a number: a pointer outside of src must not be formed. */
        patches->origin[i] = (const float *)((uintptr_t)call->execution->buffers[SRC] +
                                             (uintptr_t)offset * sizeof(float));
        next_pixel(s, &pixel);
    }
}

/* A tap's coordinates relative to tap 0, in src. */
struct tap {
    neo_dim at[SPACE], offset;
};

static struct tap tap_at(const struct convolution_shape *s, size_t index)
{
    struct tap tap;
    size_t kw = (size_t)s->kernel[WIDTH], kh = (size_t)s->kernel[HEIGHT];
    tap.at[WIDTH] = (neo_dim)(index % kw) * s->dilation[WIDTH];
    tap.at[HEIGHT] = (neo_dim)(index / kw % kh) * s->dilation[HEIGHT];
    tap.at[DEPTH] = (neo_dim)(index / kw / kh) * s->dilation[DEPTH];
    tap.offset = tap.at[DEPTH] * s->src.d + tap.at[HEIGHT] * s->src.h + tap.at[WIDTH] * s->src.w;
    return tap;
}

static bool is_inside(const struct convolution_shape *s, const neo_dim *first,
                      const struct tap *tap)
{
    for (int d = 0; d < SPACE; d++)
        if ((uint64_t)(first[d] + tap->at[d]) >= (uint64_t)s->in[d])
            return false;
    return true;
}

/* Fills the lanes of one tap with the addresses of channel `channel`, NULL in the padding. Returns
 * how many lie inside. */
static size_t tap_lanes(const struct convolution_shape *s, const struct patches *patches,
                        const struct tap *tap, neo_dim channel, const float **lanes)
{
    size_t inside = 0;
    for (size_t i = 0; i < patches->rows; i++) {
        bool is_in = is_inside(s, patches->first[i], tap);
        lanes[i] = is_in ? patches->origin[i] + tap->offset + channel * s->src.c : NULL;
        inside += is_in;
    }
    return inside;
}

/* The addresses of one tap for pixels that follow each other in a row of dst, from the first one's
 * on; zeros in the padding. */
static void list_neighbours(const struct convolution_shape *s, const struct patches *patch,
                            const struct tap *tap, const float *from, size_t rows,
                            const float **out)
{
    neo_dim at = patch->first[0][WIDTH] + tap->at[WIDTH], step = s->stride[WIDTH];
    neo_dim last = at + (neo_dim)(rows - 1) * step;
    bool above = false;
    for (int d = 0; d < WIDTH; d++)
        above |= (uint64_t)(patch->first[0][d] + tap->at[d]) >= (uint64_t)s->in[d];
    uintptr_t address = (uintptr_t)from, distance = (uintptr_t)(step * s->src.w) * sizeof *from;
    bool inside = !above && at >= 0 && last < s->in[WIDTH];
    for (size_t i = 0; i < rows; i++, address += distance, at += step) {
        bool is_in = inside || (!above && at >= 0 && at < s->in[WIDTH]);
        out[i] = is_in ? (const float *)address : padding_lane;
    }
}

/* Pixels of more than one row of dst. */
static void list_scattered(const struct convolution_shape *s, const struct patches *patches,
                           const struct tap *tap, neo_dim channel, const float **out)
{
    if (tap_lanes(s, patches, tap, channel, out) == patches->rows)
        return;
    for (size_t i = 0; i < patches->rows; i++)
        out[i] = out[i] ? out[i] : padding_lane;
}

/* The next one in the order of the reduction. */
static void next_tap(const struct convolution_shape *s, struct tap *tap)
{
    for (int d = WIDTH; d >= 0; d--) {
        tap->at[d] += s->dilation[d];
        if (tap->at[d] < s->kernel[d] * s->dilation[d])
            break;
        tap->at[d] = 0;
    }
    tap->offset =
        tap->at[DEPTH] * s->src.d + tap->at[HEIGHT] * s->src.h + tap->at[WIDTH] * s->src.w;
}

/* The addresses of the first of a segment's channels, for each row and tap. */
static void list_a(const void *context, size_t batch, size_t row, size_t rows, size_t first,
                   size_t segments, const float **out)
{
    const struct convolution_call *call = context;
    const struct convolution_shape *s = &call->plan->shape;
    size_t ic = (size_t)s->ic;
    neo_dim channel = (neo_dim)(first % ic);
    struct tap tap = tap_at(s, first / ic);
    struct patches patches;
    locate_patches(call, batch, row, 1, &patches);
    neo_dim at = (patches.first[0][WIDTH] + s->padding[WIDTH]) / s->stride[WIDTH];
    bool neighbours = at + (neo_dim)rows <= s->out[WIDTH];
    if (!neighbours)
        locate_patches(call, batch, row, rows, &patches);
    for (size_t i = 0; i < segments; i++, next_tap(s, &tap), out += GEMM_F32_LIST) {
        uintptr_t from =
            (uintptr_t)patches.origin[0] + (uintptr_t)(tap.offset + channel) * sizeof(float);
        if (neighbours)
            list_neighbours(s, &patches, &tap, (const float *)from, rows, out);
        else
            list_scattered(s, &patches, &tap, channel, out);
    }
}

/* Lanes at equal distances can be copied together. */
static bool is_evenly_spaced(const float *const *lanes, size_t rows, ptrdiff_t *distance)
{
    *distance = rows > 1 ? lanes[1] - lanes[0] : 1;
    for (size_t i = 2; i < rows; i++)
        if (lanes[i] - lanes[i - 1] != *distance)
            return false;
    return true;
}

/* Channels far apart (nchw), and lanes anywhere: those in the padding stand for any other one, and
 * are cleared afterwards. There is one at least that does not. */
static void pack_scattered(const struct convolution_gemm *plan, struct pack_f32_panel *panel,
                           const float **lanes)
{
    size_t rows = panel->count, padding[GEMM_F32_MR], count = 0;
    const float *any = NULL;
    for (size_t i = 0; i < rows; i++)
        any = lanes[i] ? lanes[i] : any;
    for (size_t i = 0; i < rows; i++)
        if (!lanes[i]) {
            lanes[i] = any;
            padding[count++] = i;
        }
    panel->lanes = lanes;
    plan->gemm.pack(panel);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < panel->k; p++)
            /* cppcheck-suppress uninitvar ; the first `count` are set */
            panel->out[p * rows + padding[i]] = 0;
}

static void pack_tap(const struct convolution_gemm *plan, const struct patches *patches,
                     const struct tap *tap, neo_dim channel, size_t depth, float *out)
{
    const struct convolution_shape *s = &plan->shape;
    const float *lanes[GEMM_F32_MR];
    size_t rows = patches->rows, inside = tap_lanes(s, patches, tap, channel, lanes);
    struct pack_f32_panel panel = {
        .width = rows, .count = rows, .k = depth, .step = s->src.c, .out = out};
    if (inside == 0) {
        memset(out, 0, rows * depth * sizeof *out);
    } else if (s->src.c == 1 || depth == 1) {
        for (size_t i = 0; i < rows; i++)
            lanes[i] = lanes[i] ? lanes[i] : padding_lane;
        panel.lanes = lanes;
        panel.step = 1;
        plan->gemm.pack(&panel);
    } else if (inside == rows && is_evenly_spaced(lanes, rows, &panel.lane)) {
        panel.src = lanes[0];
        plan->gemm.pack(&panel);
    } else {
        pack_scattered(plan, &panel, lanes);
    }
}

static void pack_affine(const struct convolution_call *call, size_t batch, size_t row, size_t rows,
                        size_t first, size_t depth, float *out)
{
    const struct convolution_shape *s = &call->plan->shape;
    struct patches patches;
    locate_patches(call, batch, row, 1, &patches);
    call->plan->gemm.pack(&(struct pack_f32_panel){
        .width = rows,
        .count = rows,
        .k = depth,
        .src = patches.origin[0] + (neo_dim)first * s->src.c,
        .lane = call->plan->src_row_stride,
        .step = s->src.c,
        .out = out,
    });
}

/* ---- merged rows ---- */

/* One row of the kernel of one patch, from its value `at` on. If the patch crosses the image's left
 * or right edge, its row is made in `edge`, of a segment's size. */
static const float *merged_lane(const struct convolution_gemm *plan, const struct patches *patches,
                                size_t lane, const struct tap *tap, size_t at, float *edge)
{
    const struct convolution_shape *s = &plan->shape;
    const neo_dim *first = patches->first[lane];
    neo_dim left = first[WIDTH], right = left + s->kernel[WIDTH] - s->in[WIDTH];
    for (int d = 0; d < WIDTH; d++)
        if ((uint64_t)(first[d] + tap->at[d]) >= (uint64_t)s->in[d])
            return padding_lane;
    if (left >= 0 && right <= 0)
        return patches->origin[lane] + tap->offset + at;
    size_t skip = left < 0 ? min_size((size_t)(-left * s->ic), plan->segment) : 0;
    size_t beyond = right > 0 ? min_size((size_t)(right * s->ic), plan->segment - skip) : 0;
    float *row = edge + lane * plan->segment;
    memset(row, 0, plan->segment * sizeof *row);
    if (skip + beyond < plan->segment)
        memcpy(row + skip, patches->origin[lane] + tap->offset + skip,
               (plan->segment - skip - beyond) * sizeof *row);
    return row + at;
}

static void pack_merged(const struct convolution_gemm *plan, const struct patches *patches,
                        float *edge, size_t first, size_t depth, float *out)
{
    size_t rows = patches->rows, segment = plan->segment;
    while (depth > 0) {
        size_t at = first % segment, part = min_size(segment - at, depth);
        struct tap tap = tap_at(&plan->shape, first / segment * (size_t)plan->shape.kernel[WIDTH]);
        const float *lanes[GEMM_F32_MR];
        for (size_t i = 0; i < rows; i++)
            lanes[i] = merged_lane(plan, patches, i, &tap, at, edge);
        plan->gemm.pack(&(struct pack_f32_panel){
            .width = rows, .count = rows, .k = part, .step = 1, .lanes = lanes, .out = out});
        out += part * rows;
        first += part;
        depth -= part;
    }
}

/* Patches of neighbouring pixels that do not cross the image's left and right edges. */
static bool is_inner(const struct convolution_shape *s, const struct pixel *pixel, size_t rows)
{
    neo_dim first = pixel->at[WIDTH], last = first + (neo_dim)rows - 1;
    return last < s->out[WIDTH] && first * s->stride[WIDTH] >= s->padding[WIDTH] &&
           last * s->stride[WIDTH] - s->padding[WIDTH] + s->kernel[WIDTH] <= s->in[WIDTH];
}

static void pack_inner(const struct convolution_gemm *plan, const struct patches *patch,
                       size_t rows, size_t first, size_t depth, float *out)
{
    const struct convolution_shape *s = &plan->shape;
    struct pack_f32_panel panel = {
        .width = rows, .count = rows, .step = 1, .lane = s->stride[WIDTH] * s->src.w};
    size_t segment = first / plan->segment, at = first % plan->segment;
    for (; depth > 0; segment++, at = 0) {
        struct tap tap = tap_at(s, segment * (size_t)s->kernel[WIDTH]);
        panel.k = min_size(plan->segment - at, depth);
        panel.out = out;
        panel.src = patch->origin[0] + tap.offset + at;
        if (is_inside(s, patch->first[0], &tap))
            plan->gemm.pack(&panel);
        else
            memset(out, 0, panel.k * rows * sizeof *out);
        out += panel.k * rows;
        depth -= panel.k;
    }
}

static void pack_a(const void *context, void *task_scratch, size_t batch, size_t row, size_t rows,
                   size_t first, size_t depth, float *out)
{
    const struct convolution_call *call = context;
    if (call->plan->rows_are_affine) {
        pack_affine(call, batch, row, rows, first, depth, out);
        return;
    }
    struct patches patches;
    struct pixel pixel = pixel_at(&call->plan->shape, first_pixel(call->plan, batch) + row);
    if (call->plan->rows_are_merged && is_inner(&call->plan->shape, &pixel, rows)) {
        locate_patches(call, batch, row, 1, &patches);
        pack_inner(call->plan, &patches, rows, first, depth, out);
        return;
    }
    locate_patches(call, batch, row, rows, &patches);
    if (call->plan->rows_are_merged) {
        pack_merged(call->plan, &patches, task_scratch, first, depth, out);
        return;
    }
    size_t ic = (size_t)call->plan->shape.ic;
    while (depth > 0) {
        struct tap tap = tap_at(&call->plan->shape, first / ic);
        size_t channel = first % ic, part = min_size(ic - channel, depth);
        pack_tap(call->plan, &patches, &tap, (neo_dim)channel, part, out);
        out += part * rows;
        first += part;
        depth -= part;
    }
}

/* Plain weights: the input channels of one tap after the other. */
static void pack_b(const void *context, size_t batch, size_t column, size_t columns, size_t width,
                   size_t first, size_t depth, float *out)
{
    const struct convolution_call *call = context;
    const struct convolution_shape *s = &call->plan->shape;
    const float *weights = (const float *)call->execution->buffers[WEIGHTS] +
                           group_of(call->plan, batch) * s->weights_g +
                           (neo_dim)column * s->weights_o;
    size_t ic = (size_t)s->ic;
    while (depth > 0) {
        size_t channel = first % ic, part = min_size(ic - channel, depth);
        call->plan->gemm.pack(&(struct pack_f32_panel){
            .width = width,
            .count = columns,
            .k = part,
            .src =
                weights + convolution_weights_tap(s, first / ic) + (neo_dim)channel * s->weights_i,
            .lane = s->weights_o,
            .step = s->weights_i,
            .out = out,
        });
        out += part * width;
        first += part;
        depth -= part;
    }
}

/* ---- finishing ---- */

/* Channels are contiguous: a line is the channels of one pixel. */
static void finish_pixels(const struct convolution_call *call, const struct gemm_f32_block *block)
{
    const struct convolution_shape *s = &call->plan->shape;
    const neo_memory_desc *dst = &call->execution->problem->tensors[DST];
    neo_dim channel = group_of(call->plan, block->batch) * s->oc + (neo_dim)block->column;
    size_t pixel = first_pixel(call->plan, block->batch) + block->row;
    struct line line = {.direction = 1, .count = block->columns};
    for (size_t i = 0; i < block->rows; i++) {
        convolution_pixel_position(s, dst->ndims, pixel + i, line.position);
        line.position[1] = channel;
        finish_line(call->execution, &line, block->values + i * block->row_stride, false,
                    (float *)call->execution->buffers[DST] + desc_offset(dst, line.position),
                    s->dst.c);
    }
}

/* Pixels are contiguous: a line is what one channel has in one row of the image. */
static void finish_channel(const struct convolution_call *call, const struct gemm_f32_block *block,
                           neo_dim channel, float *values)
{
    const struct convolution_shape *s = &call->plan->shape;
    const neo_memory_desc *dst = &call->execution->problem->tensors[DST];
    size_t pixel = first_pixel(call->plan, block->batch) + block->row;
    struct line line = {.direction = dst->ndims - 1};
    for (size_t done = 0; done < block->rows; done += line.count) {
        convolution_pixel_position(s, dst->ndims, pixel + done, line.position);
        line.position[1] = channel;
        line.count =
            min_size((size_t)(s->out[WIDTH] - line.position[line.direction]), block->rows - done);
        finish_line(call->execution, &line, values + done, false,
                    (float *)call->execution->buffers[DST] + desc_offset(dst, line.position),
                    s->dst.w);
    }
}

static void finish(const void *context, const struct gemm_f32_block *block)
{
    const struct convolution_call *call = context;
    if (!call->plan->gemm.shape.columns) {
        finish_pixels(call, block);
        return;
    }
    neo_dim channel = group_of(call->plan, block->batch) * call->plan->shape.oc;
    for (size_t j = 0; j < block->columns; j++)
        finish_channel(call, block, channel + (neo_dim)(block->column + j),
                       block->values + j * block->column_stride);
}

static void gemm_run(const void *plan, const struct execution *execution)
{
    struct convolution_call mine = {plan, execution};
    struct gemm_f32_call call = {.context = &mine,
                                 .locate = locate,
                                 .pack_a = pack_a,
                                 .list_a = list_a,
                                 .pack_b = pack_b,
                                 .finish = finish};
    gemm_f32_run(&mine.plan->gemm, &call, execution->parallel, execution->threads,
                 execution->scratch);
}

const struct algorithm convolution_gemm_f32 = {
    .name = "gemm",
    .refuse = gemm_refuse,
    .choose = gemm_choose,
    .estimate = gemm_estimate,
    .plan = gemm_plan,
    .plan_bytes = sizeof(struct convolution_gemm),
    .scratch_bytes = gemm_scratch_bytes,
    .kernel = gemm_kernel,
    .run = gemm_run,
};
