/* Where the matrices of a batch are. */
#include "src/matmul/batch.h"

/* Strides of a packed tensor's batch dimensions, in matrices. */
static void packed_strides(const neo_memory_desc *weights, size_t elements, neo_dim *strides)
{
    neo_dim stride = (neo_dim)elements;
    for (int i = weights->ndims - 3; i >= 0; i--) {
        strides[i] = stride;
        stride *= weights->dims[i];
    }
}

static neo_dim step_of(const neo_memory_desc *desc, const neo_dim *strides, int i)
{
    return desc->dims[i] == 1 ? 0 : strides[i];
}

static void advance(struct matmul_steps *at, const struct matmul_steps *steps, neo_dim count)
{
    at->src += count * steps->src;
    at->weights += count * steps->weights;
    at->dst += count * steps->dst;
}

/* The next matrix after the loop's last one is where the loop itself would go on. */
static bool goes_on(const struct matmul_loop *loop, const struct matmul_steps *steps)
{
    struct matmul_steps end = {0, 0, 0};
    advance(&end, &loop->steps, (neo_dim)loop->count);
    return end.src == steps->src && end.weights == steps->weights && end.dst == steps->dst;
}

void matmul_batch_init(struct matmul_batch *out, const struct problem *problem,
                       size_t packed_elements)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    neo_dim strides[NEO_MAX_NDIMS] = {0};
    if (packed_elements)
        packed_strides(weights, packed_elements, strides);
    *out = (struct matmul_batch){.loop_count = 1, .loops = {{.count = 1}}};
    for (int i = dst->ndims - 3; i >= 0; i--) {
        size_t count = (size_t)dst->dims[i];
        struct matmul_loop *loop = &out->loops[out->loop_count - 1];
        struct matmul_steps steps = {
            step_of(src, src->strides, i),
            step_of(weights, packed_elements ? strides : weights->strides, i),
            step_of(dst, dst->strides, i),
        };
        if (count == 1)
            continue;
        if (loop->count == 1)
            *loop = (struct matmul_loop){count, steps};
        else if (goes_on(loop, &steps))
            loop->count *= count;
        else
            out->loops[out->loop_count++] = (struct matmul_loop){count, steps};
    }
}

struct matmul_steps matmul_batch_at(const struct matmul_batch *batch, size_t index)
{
    struct matmul_steps at = {0, 0, 0};
    size_t outermost = batch->loop_count - 1;
    for (size_t i = 0; i < outermost; i++) {
        const struct matmul_loop *loop = &batch->loops[i];
        advance(&at, &loop->steps, (neo_dim)(index % loop->count));
        index /= loop->count;
    }
    advance(&at, &batch->loops[outermost].steps, (neo_dim)index);
    return at;
}

bool matmul_batch_turn(const struct matmul_batch *batch, struct matmul_walk *walk)
{
    for (size_t i = 1; i < batch->loop_count; i++) {
        const struct matmul_loop *loop = &batch->loops[i];
        advance(&walk->at, &loop->steps, 1);
        if (++walk->turns[i] < loop->count)
            return true;
        walk->turns[i] = 0;
        advance(&walk->at, &loop->steps, -(neo_dim)loop->count);
    }
    return false;
}
