/* Convolution as a matrix multiplication: patches and plain weights packed into panels. */
#include <string.h>

#include "src/convolution/gemm/gemm.h"
#include "src/core/checked.h"

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
static void pack_scattered(struct pack_f32_panel *panel, const float **lanes)
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
    pack_f32(panel);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < panel->k; p++)
            /* cppcheck-suppress uninitvar ; the first `count` are set */
            panel->out[p * rows + padding[i]] = 0;
}

static void pack_tap(const struct convolution_gemm *plan, const struct patches *patches, size_t tap,
                     neo_dim channel, size_t depth, float *out)
{
    const struct convolution_shape *s = &plan->shape;
    const float *lanes[GEMM_F32_MR];
    size_t rows = patches->rows, inside = patches_lanes(s, patches, tap, channel, lanes);
    struct pack_f32_panel panel = {
        .width = rows, .count = rows, .k = depth, .step = s->src.c, .out = out};
    if (inside == 0) {
        memset(out, 0, rows * depth * sizeof *out);
    } else if (depth == 1) {
        for (size_t i = 0; i < rows; i++)
            lanes[i] = lanes[i] ? lanes[i] : segments_padding;
        panel.lanes = lanes;
        panel.step = 1;
        pack_f32(&panel);
    } else if (inside == rows && is_evenly_spaced(lanes, rows, &panel.lane)) {
        panel.src = lanes[0];
        pack_f32(&panel);
    } else {
        pack_scattered(&panel, lanes);
    }
}

/* Taps whose channels are far apart. */
static void pack_taps(const struct convolution_call *call, size_t batch, size_t row, size_t rows,
                      size_t first, size_t depth, float *out)
{
    struct patches patches;
    patches_locate(call, batch, row, rows, &patches);
    size_t ic = (size_t)call->plan->shape.ic;
    while (depth > 0) {
        size_t channel = first % ic, part = min_size(ic - channel, depth);
        pack_tap(call->plan, &patches, first / ic, (neo_dim)channel, part, out);
        out += part * rows;
        first += part;
        depth -= part;
    }
}

/* Segments, listed some at a time; the first and the last one may be parts. */
static void pack_segments(const struct convolution_call *call, const float *edges, size_t batch,
                          size_t row, size_t rows, size_t first, size_t depth, float *out)
{
    enum { AT_ONCE = 16 };
    const struct convolution_gemm *plan = call->plan;
    const float *addresses[AT_ONCE * GEMM_F32_LIST];
    struct gemm_list list = {
        .batch = batch, .row = row, .height = rows, .tall = 1, .out = addresses};
    while (depth > 0) {
        size_t part = min_size(plan->segment - first % plan->segment, depth);
        list.first = first;
        list.segments = part < plan->segment ? 1 : min_size(depth / part, AT_ONCE);
        segments_list(call, edges, &list);
        for (size_t i = 0; i < list.segments; i++, out += part * rows)
            pack_f32(&(struct pack_f32_panel){.width = rows,
                                              .count = rows,
                                              .k = part,
                                              .step = 1,
                                              .lanes = addresses + i * GEMM_F32_LIST,
                                              .out = out});
        first += part * list.segments;
        depth -= part * list.segments;
    }
}

static void pack_affine(const struct convolution_call *call, size_t batch, size_t row, size_t rows,
                        size_t first, size_t depth, float *out)
{
    const struct convolution_shape *s = &call->plan->shape;
    pack_f32(&(struct pack_f32_panel){
        .width = rows,
        .count = rows,
        .k = depth,
        .src = convolution_gemm_affine_row(call, batch, row) + (neo_dim)first * s->src.c,
        .lane = call->plan->src_row_stride,
        .step = s->src.c,
        .out = out,
    });
}

void convolution_gemm_pack_a(const void *context, void *task_scratch,
                             const struct gemm_panel *panel)
{
    const struct convolution_call *call = context;
    size_t batch = panel->batch, row = panel->lane, rows = panel->lanes;
    size_t first = panel->first, depth = panel->depth;
    float *out = panel->out;
    if (call->plan->rows_are_affine)
        pack_affine(call, batch, row, rows, first, depth, out);
    else if (call->plan->has_segments)
        pack_segments(call, task_scratch, batch, row, rows, first, depth, out);
    else
        pack_taps(call, batch, row, rows, first, depth, out);
}

/* Plain weights: the input channels of one tap after the other. */
void convolution_gemm_pack_b(const void *context, const struct gemm_panel *panel)
{
    const struct convolution_call *call = context;
    const struct convolution_shape *s = &call->plan->shape;
    const float *weights = (const float *)call->execution->buffers[WEIGHTS] +
                           matrix_of(call->plan, panel->batch) * s->weights_g +
                           (neo_dim)panel->lane * s->weights_o;
    size_t ic = (size_t)s->ic, first = panel->first, depth = panel->depth;
    float *out = panel->out;
    while (depth > 0) {
        size_t channel = first % ic, part = min_size(ic - channel, depth);
        pack_f32(&(struct pack_f32_panel){
            .width = panel->width,
            .count = panel->lanes,
            .k = part,
            .src =
                weights + convolution_weights_tap(s, first / ic) + (neo_dim)channel * s->weights_i,
            .lane = s->weights_o,
            .step = s->weights_i,
            .out = out,
        });
        out += part * panel->width;
        first += part;
        depth -= part;
    }
}
