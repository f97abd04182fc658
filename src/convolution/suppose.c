/* Convolution: likely sizes in place of those that are known at run time. */
#include "src/convolution/convolution.h"
#include "src/primitive/by_size.h"

/* Of dst along each dimension of space, by their number: where networks have most of their work. */
static const neo_dim likely_out[SPACE + 1] = {0, 1024, 56, 16};

/* Sizes along one dimension: of src for a size of dst, and the other way around. Both are 1 at
 * least where they are supposed. */
struct along {
    neo_dim stride, extent, padding;
};

static struct along along_of(const struct problem *problem, int i)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    int first = weights->ndims - (problem->tensors[DST].ndims - 2);
    const struct window *window = &problem->window;
    return (struct along){
        .stride = window->strides[i],
        .extent = (weights->dims[first + i] - 1) * (window->dilations[i] + 1) + 1,
        .padding = window->left[i] + window->right[i],
    };
}

static neo_dim in_for(const struct along *along, neo_dim out)
{
    neo_dim in = (out - 1) * along->stride + along->extent - along->padding;
    return in > 1 ? in : 1;
}

static neo_dim out_for(const struct along *along, neo_dim in)
{
    neo_dim padded = in + along->padding - along->extent;
    return padded < 0 ? 0 : padded / along->stride + 1;
}

static void suppose_along(struct problem *problem, int i)
{
    neo_dim *in = &problem->tensors[SRC].dims[2 + i], *out = &problem->tensors[DST].dims[2 + i];
    const struct along along = along_of(problem, i);
    if (*in == NEO_RUNTIME_DIM)
        *in = in_for(&along,
                     *out == NEO_RUNTIME_DIM ? likely_out[problem->tensors[DST].ndims - 2] : *out);
    if (*out == NEO_RUNTIME_DIM)
        *out = out_for(&along, *in);
}

void convolution_suppose(struct problem *problem)
{
    by_size_suppose_batch(problem);
    for (int i = 0; i < problem->tensors[DST].ndims - 2; i++)
        suppose_along(problem, i);
}
