/* Convolution as a matrix multiplication: packed patches whose rows of the kernel are rows of
 * values without gaps. */
#include <string.h>

#include "src/convolution/convolution_gemm.h"
#include "src/core/checked.h"

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
            return patches_padding;
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

static void pack_crossing(const struct convolution_gemm *plan, const struct patches *patches,
                          float *edge, size_t first, size_t depth, float *out)
{
    size_t rows = patches->rows, segment = plan->segment;
    while (depth > 0) {
        size_t at = first % segment, part = min_size(segment - at, depth);
        struct tap tap =
            patches_tap(&plan->shape, first / segment * (size_t)plan->shape.kernel[WIDTH]);
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
        struct tap tap = patches_tap(s, segment * (size_t)s->kernel[WIDTH]);
        panel.k = min_size(plan->segment - at, depth);
        panel.out = out;
        panel.src = patch->origin[0] + tap.offset + at;
        if (patches_is_inside(s, patch->first[0], &tap))
            plan->gemm.pack(&panel);
        else
            memset(out, 0, panel.k * rows * sizeof *out);
        out += panel.k * rows;
        depth -= panel.k;
    }
}

void convolution_gemm_pack_merged(const struct convolution_call *call, float *edge, size_t batch,
                                  size_t row, size_t rows, size_t first, size_t depth, float *out)
{
    const struct convolution_gemm *plan = call->plan;
    struct patches patches;
    struct pixel pixel = patches_pixel(&plan->shape, first_pixel(plan, batch) + row);
    bool inner = is_inner(&plan->shape, &pixel, rows);
    patches_locate(call, batch, row, inner ? 1 : rows, &patches);
    if (inner)
        pack_inner(plan, &patches, rows, first, depth, out);
    else
        pack_crossing(plan, &patches, edge, first, depth, out);
}
