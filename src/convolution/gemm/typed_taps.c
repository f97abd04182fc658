/* What taps of a convolution of integers add to its sums, that a zero point for all of src cannot
 * take back with a column's sum of weights.
 *
 * Where channels of src have zero points z of their own, sums are made as if there was none, and
 * the padding of 0: each tap inside adds z * w for all its channels, which is to go. Where src has
 * one that its type does not hold, the padding is the nearest value, and a tap there adds what
 * lacks. Both are one number for each tap and channel of dst, counted once for a call. */
#include <string.h>

#include "src/convolution/gemm/typed.h"
#include "src/gemm/shift.h"
#include "src/tensor/typed_layout.h"
#include "src/threading/parallel.h"

static size_t taps_of(const struct convolution_shape *s)
{
    return (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH]);
}

/* A group has a line for each tap, and one for all of them. */
static uint32_t *line_of(const struct typed_call *call, size_t group, size_t tap)
{
    const struct convolution_shape *s = &call->plan->shape;
    return (uint32_t *)call->taps + (group * (taps_of(s) + 1) + tap) * (size_t)s->oc;
}

/* May a tap be in none of src, whatever the sizes of images are? */
static bool has_padding(const struct window *window)
{
    for (int i = 0; i < SPACE; i++)
        if (window->left[i] || window->right[i])
            return true;
    return false;
}

void convolution_typed_plan_taps(struct convolution_typed *plan, const struct problem *problem)
{
    const struct convolution_shape *s = &plan->shape;
    int index = problem->zero_points[SRC];
    size_t lines = (size_t)s->groups * (taps_of(s) + 1);
    if (!index || !plan->integers)
        return;
    plan->has_own_zeros = problem->attributes.quantizations[index - 1].mask;
    if (!plan->has_own_zeros && !has_padding(&problem->window))
        return;
    plan->taps_bytes =
        round_up(lines * (size_t)s->oc * sizeof *(struct typed_call){0}.taps, SCRATCH_ALIGNMENT);
}

/* ---- once for a call ---- */

/* What src's zero point has more than what fills the padding. */
static uint32_t lack_of_padding(const struct typed_call *call)
{
    bool is_unsigned = type_of(call->execution->problem, SRC) == ELEMENT_U8;
    int32_t padding = is_unsigned ? call->zero : (int8_t)call->zero;
    return (uint32_t)src_zero_point(call) - (uint32_t)padding;
}

/* What a tap's weight of a channel of src is multiplied by. */
static uint32_t factor_of(const struct typed_call *call, size_t group, size_t c)
{
    const neo_dim position[NEO_MAX_NDIMS] = {0, (neo_dim)group * call->plan->shape.ic + (neo_dim)c};
    return call->plan->has_own_zeros
               ? (uint32_t)quantization_zero_point(call->execution, SRC, position)
               : lack_of_padding(call);
}

/* Adds a factor times step k of the weights' columns, as panels hold them. */
static void add_packed(const struct typed_call *call, size_t group, size_t k, uint32_t factor,
                       uint32_t *line)
{
    const struct gemm_shape *shape = &call->plan->gemm.shape;
    const int8_t *matrix = (const int8_t *)call->execution->buffers[WEIGHTS] +
                           group * typed_layout_step(shape->type, shape->k, shape->n);
    size_t panels = typed_layout_panel_count(shape->type, shape->n), unit = shape->type->group;
    for (size_t p = 0; p < panels; p++) {
        struct layout_panel panel = typed_layout_panel(shape->type, shape->n, p);
        const int8_t *at = matrix + gemm_panel_bytes(shape->type, panel.first, shape->k) +
                           gemm_panel_at(unit, panel.width, 0, k);
        for (size_t j = 0; j < panel.valid; j++) {
            int32_t weight = element_read_s32(ELEMENT_S8, at, (ptrdiff_t)(j * unit));
            line[panel.first + j] += factor * (uint32_t)weight;
        }
    }
}

/* The same of weights as they are stored, u8 less 128 as in panels. */
static void add_plain(const struct typed_call *call, size_t group, size_t k, uint32_t factor,
                      uint32_t *line)
{
    const struct convolution_shape *s = &call->plan->shape;
    enum element stored = call->plan->b.stored;
    size_t ic = (size_t)s->ic;
    neo_dim at = (neo_dim)group * s->weights_g + convolution_weights_tap(s, k / ic) +
                 (neo_dim)(k % ic) * s->weights_i;
    for (size_t j = 0; j < (size_t)s->oc; j++, at += s->weights_o) {
        int32_t weight = element_read_s32(stored, call->execution->buffers[WEIGHTS], (ptrdiff_t)at);
        line[j] += factor * (uint32_t)(weight - (stored == ELEMENT_U8 ? 128 : 0));
    }
}

static void count_tap(const struct typed_call *call, size_t group, size_t tap)
{
    size_t ic = (size_t)call->plan->shape.ic, oc = (size_t)call->plan->shape.oc;
    uint32_t *line = line_of(call, group, tap), factors = 0;
    memset(line, 0, oc * sizeof *line);
    for (size_t c = 0; c < ic; c++) {
        uint32_t factor = factor_of(call, group, c);
        factors += factor;
        if (factor)
            (call->plan->gemm.shape.b_packed ? add_packed : add_plain)(call, group, tap * ic + c,
                                                                       factor, line);
    }
    for (size_t j = 0; is_shifted(call->execution->problem, WEIGHTS) && j < oc; j++)
        line[j] -= factors * (uint32_t)convolution_typed_zero_of_weights(call, group, j);
}

static void count_taps(void *argument, struct span tiles, int slot)
{
    const struct typed_call *call = argument;
    size_t taps = taps_of(&call->plan->shape);
    (void)slot;
    for (size_t i = tiles.begin; i < tiles.end; i++)
        count_tap(call, i / taps, i % taps);
}

static void add_line(size_t count, const uint32_t *line, uint32_t factor, uint32_t *sums)
{
    for (size_t j = 0; j < count; j++)
        sums[j] += factor * line[j];
}

static void add_taps_up(const struct typed_call *call, size_t group)
{
    size_t taps = taps_of(&call->plan->shape), oc = (size_t)call->plan->shape.oc;
    uint32_t *all = line_of(call, group, taps);
    memset(all, 0, oc * sizeof *all);
    for (size_t tap = 0; tap < taps; tap++)
        add_line(oc, line_of(call, group, tap), 1, all);
}

void convolution_typed_count_taps(struct typed_call *call, void *table)
{
    const struct execution *execution = call->execution;
    size_t groups = (size_t)call->plan->shape.groups;
    if (!call->plan->has_own_zeros && !lack_of_padding(call))
        return;
    call->taps = table;
    parallel_for_tiles(execution->parallel, groups * taps_of(&call->plan->shape),
                       execution->threads, count_taps, call);
    for (size_t group = 0; call->plan->has_own_zeros && group < groups; group++)
        add_taps_up(call, group);
}

/* ---- for each block of sums ---- */

static bool is_padding(const struct convolution_shape *s, const neo_dim *out, size_t tap)
{
    for (int d = SPACE - 1; d >= 0; d--) {
        neo_dim at = (neo_dim)(tap % (size_t)s->kernel[d]) * s->dilation[d];
        at += out[d] * s->stride[d] - s->padding[d];
        if (at < 0 || at >= s->in[d])
            return true;
        tap /= (size_t)s->kernel[d];
    }
    return false;
}

/* All taps' zero points go, and those in the padding, which were not there, come back; or there is
 * what the padding lacks. */
void convolution_typed_take_taps_back(const struct typed_call *call, const struct gemm_block *block)
{
    const struct convolution_shape *s = &call->plan->shape;
    size_t taps = taps_of(s), first = block->column;
    for (size_t i = 0; i < block->rows; i++) {
        uint32_t *sums = (uint32_t *)(void *)(block->values + i * block->row_stride);
        neo_dim out[SPACE + 2];
        convolution_pixel_position(s, SPACE + 2, block->row + i, out);
        if (call->plan->has_own_zeros)
            add_line(block->columns, line_of(call, block->batch, taps) + first, UINT32_MAX, sums);
        for (size_t tap = 0; tap < taps; tap++)
            if (is_padding(s, out + 2, tap))
                add_line(block->columns, line_of(call, block->batch, tap) + first, 1, sums);
    }
}
