/* Builds lists of boxes the way a network would: one operation a step. */
#include "tests/support/cases/networks.h"

#include <assert.h>

#include "src/core/checked.h"
#include "tests/support/random.h"

/* An operation writes one tensor at its step; whoever reads it later keeps it alive. */
typedef struct builder {
    plan_box *boxes;
    size_t count;
    int64_t step;
} builder;

static size_t add(builder *b, int64_t start, size_t elements)
{
    assert(b->count < NETWORK_MAX_BOXES);
    b->boxes[b->count] = (plan_box){start, start, elements * sizeof(float), 64, 0};
    return b->count++;
}

static void read(builder *b, size_t tensor)
{
    b->boxes[tensor].finish = b->step;
}

/* One operation with up to two inputs and a workspace; returns its output. */
static size_t operate(builder *b, size_t in, size_t in2, size_t elements, size_t workspace)
{
    b->step++;
    read(b, in);
    read(b, in2);
    if (workspace)
        add(b, b->step, workspace);
    return add(b, b->step, elements);
}

static size_t finish(builder *b, size_t result)
{
    b->boxes[result].finish = PLAN_TO_THE_END;
    return b->count;
}

/* ---- residual networks ---- */

static size_t bottleneck(builder *b, size_t in, size_t side, size_t inner, size_t outer,
                         size_t stride, bool project)
{
    size_t wide = side * side, narrow = wide / (stride * stride);
    size_t shortcut = project ? operate(b, in, in, narrow * outer, 0) : in;
    size_t x = operate(b, in, in, wide * inner, 0);
    x = operate(b, x, x, narrow * inner, narrow * inner * 9); /* im2col */
    return operate(b, x, shortcut, narrow * outer, 0);        /* with the sum fused */
}

static size_t fill_resnet50(plan_box *boxes)
{
    static const size_t blocks[] = {3, 4, 6, 3};
    builder b = {boxes, 0, 0};
    size_t x = add(&b, 0, 224 * 224 * 3);
    x = operate(&b, x, x, 112 * 112 * 64, 0);
    x = operate(&b, x, x, 56 * 56 * 64, 0);
    size_t side = 56, inner = 64;
    for (size_t stage = 0; stage < count_of(blocks); stage++, inner *= 2) {
        for (size_t i = 0; i < blocks[stage]; i++) {
            size_t stride = i == 0 && stage ? 2 : 1;
            x = bottleneck(&b, x, side, inner, inner * 4, stride, i == 0);
            side /= stride;
        }
    }
    x = operate(&b, x, x, 2048, 0);
    return finish(&b, operate(&b, x, x, 1000, 0));
}

/* ---- inverted residuals ---- */

static size_t inverted(builder *b, size_t in, size_t side, size_t in_channels, size_t channels,
                       size_t expand, size_t stride)
{
    size_t x = in, inner = in_channels * expand, out_side = side / stride;
    if (expand > 1)
        x = operate(b, x, x, side * side * inner, 0);
    x = operate(b, x, x, out_side * out_side * inner, 0);
    x = operate(b, x, x, out_side * out_side * channels, 0);
    if (stride == 1 && in_channels == channels)
        x = operate(b, x, in, out_side * out_side * channels, 0);
    return x;
}

static size_t fill_mobilenet_v2(plan_box *boxes)
{
    static const struct {
        size_t expand, channels, repeat, stride;
    } rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    builder b = {boxes, 0, 0};
    size_t x = add(&b, 0, 224 * 224 * 3), side = 112, channels = 32;
    x = operate(&b, x, x, 112 * 112 * 32, 0);
    for (size_t r = 0; r < count_of(rows); r++) {
        for (size_t i = 0; i < rows[r].repeat; i++) {
            size_t stride = i ? 1 : rows[r].stride;
            x = inverted(&b, x, side, channels, rows[r].channels, rows[r].expand, stride);
            side /= stride;
            channels = rows[r].channels;
        }
    }
    x = operate(&b, x, x, 7 * 7 * 1280, 0);
    x = operate(&b, x, x, 1280, 0);
    return finish(&b, operate(&b, x, x, 1000, 0));
}

/* ---- down and up again, with what was on the way down kept ---- */

static size_t fill_unet(plan_box *boxes)
{
    builder b = {boxes, 0, 0};
    size_t kept[4], side = 256, channels = 64;
    size_t x = add(&b, 0, 256 * 256 * 3);
    for (size_t level = 0; level < 4; level++, side /= 2, channels *= 2) {
        x = operate(&b, x, x, side * side * channels, side * channels * 9);
        kept[level] = x = operate(&b, x, x, side * side * channels, side * channels * 9);
        x = operate(&b, x, x, side * side * channels / 4, 0);
    }
    x = operate(&b, x, x, side * side * channels, 0);
    x = operate(&b, x, x, side * side * channels, 0);
    for (size_t level = 4; level-- > 0;) {
        side *= 2;
        channels /= 2;
        x = operate(&b, x, x, side * side * channels, 0);
        x = operate(&b, x, kept[level], side * side * channels * 2, 0);
        x = operate(&b, x, x, side * side * channels, side * channels * 18);
        x = operate(&b, x, x, side * side * channels, side * channels * 9);
    }
    return finish(&b, operate(&b, x, x, 256 * 256, 0));
}

/* ---- transformer encoder ---- */

static size_t fill_bert_base(plan_box *boxes)
{
    size_t n = 128, d = 768;
    builder b = {boxes, 0, 0};
    size_t x = add(&b, 0, n * d);
    for (int layer = 0; layer < 12; layer++) {
        size_t q = operate(&b, x, x, n * d, 0), k = operate(&b, x, x, n * d, 0);
        size_t v = operate(&b, x, x, n * d, 0);
        size_t scores = operate(&b, q, k, 12 * n * n, 0);
        size_t weights = operate(&b, scores, scores, 12 * n * n, 0);
        size_t mixed = operate(&b, weights, v, n * d, n * d);
        size_t sum = operate(&b, mixed, x, n * d, 0);
        size_t norm = operate(&b, sum, sum, n * d, 0);
        size_t wide = operate(&b, norm, norm, n * d * 4, 0);
        sum = operate(&b, wide, norm, n * d, 0);
        x = operate(&b, sum, sum, n * d, 0);
    }
    return finish(&b, x);
}

/* ---- four branches that meet in a concatenation ---- */

static size_t fill_inception(plan_box *boxes)
{
    builder b = {boxes, 0, 0};
    size_t x = add(&b, 0, 35 * 35 * 192), area = 35 * 35;
    for (int block = 0; block < 9; block++) {
        size_t one = operate(&b, x, x, area * 64, 0);
        size_t three = operate(&b, x, x, area * 48, 0);
        three = operate(&b, three, three, area * 64, area * 48);
        size_t five = operate(&b, x, x, area * 64, 0);
        five = operate(&b, five, five, area * 96, 0);
        five = operate(&b, five, five, area * 96, 0);
        size_t pooled = operate(&b, x, x, area * 192, 0);
        pooled = operate(&b, pooled, pooled, area * 32, 0);
        x = operate(&b, one, three, area * 256, 0);
        read(&b, five);
        read(&b, pooled);
    }
    return finish(&b, x);
}

const network_shape network_shapes[] = {
    {"ResNet-50", fill_resnet50},  {"MobileNet v2", fill_mobilenet_v2}, {"U-Net", fill_unet},
    {"BERT base", fill_bert_base}, {"Inception", fill_inception},
};
const size_t network_shape_count = count_of(network_shapes);

/* ---- random ---- */

void network_random(plan_box *boxes, size_t count, uint64_t *seed)
{
    size_t window = 2 + random_below(seed, 12);
    size_t decades = 1 + random_below(seed, 14);
    for (size_t i = 0; i < count; i++) {
        size_t size = 64 + random_below(seed, 64);
        size <<= random_below(seed, decades);
        boxes[i] = (plan_box){(int64_t)i, (int64_t)i, size, 0, 0};
        for (size_t reads = 1 + random_below(seed, 3); i && reads; reads--) {
            size_t far = random_below(seed, 10) == 0 ? i : min_size(i, window);
            boxes[i - 1 - random_below(seed, far)].finish = (int64_t)i;
        }
    }
    boxes[count - 1].finish = PLAN_TO_THE_END;
}

void network_random_lives(plan_box *boxes, size_t count, size_t max_life, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        int64_t start = (int64_t)random_below(seed, count);
        int64_t finish = start + (int64_t)random_below(seed, max_life);
        size_t size = 1 + random_below(seed, 64);
        size <<= random_below(seed, 8);
        boxes[i] = (plan_box){start, finish, size * 64, 64, 0};
    }
}
