/* Convolution: shapes. */
#include <string.h>

#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

static struct image_strides image_strides(const neo_memory_desc *desc)
{
    struct image_strides strides = {0};
    if (desc->format_kind != NEO_FORMAT_STRIDED)
        return strides;
    const neo_dim *s = desc->strides;
    int last = desc->ndims - 1;
    strides.n = s[0];
    strides.c = s[1];
    strides.w = s[last];
    strides.h = last >= 3 ? s[last - 1] : 0;
    strides.d = last >= 4 ? s[last - 2] : 0;
    return strides;
}

void convolution_set_channels_last(neo_memory_desc *desc)
{
    static const char *const tags[] = {"acb", "acdb", "acdeb"};
    desc->format_kind = NEO_FORMAT_ANY;
    desc_set_tag(desc, tags[desc->ndims - 3]);
}

/* Src and dst that are `any` get the order of the other, or channels last if both are. */
static void choose_images(struct problem *problem)
{
    neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    neo_memory_desc *bias = &problem->tensors[BIAS];
    if (src->format_kind == NEO_FORMAT_ANY && dst->format_kind == NEO_FORMAT_ANY) {
        convolution_set_channels_last(src);
        convolution_set_channels_last(dst);
    }
    if (src->format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(src, dst);
    if (dst->format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(dst, src);
    if (bias->ndims && bias->format_kind == NEO_FORMAT_ANY)
        desc_set_plain(bias);
}

void convolution_derive(struct problem *problem)
{
    struct convolution_shape *shape = (void *)problem->shape;
    choose_images(problem);
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    int grouped = convolution_is_grouped(problem), space = dst->ndims - 2;
    bool plain = weights->format_kind == NEO_FORMAT_STRIDED;
    *shape = (struct convolution_shape){
        .batch = dst->dims[0],
        .groups = grouped ? weights->dims[0] : 1,
        .oc = weights->dims[grouped],
        .ic = weights->dims[grouped + 1],
        .src = image_strides(src),
        .dst = image_strides(dst),
        .weights_g = plain && grouped ? weights->strides[0] : 0,
        .weights_o = plain ? weights->strides[grouped] : 0,
        .weights_i = plain ? weights->strides[grouped + 1] : 0,
    };
    for (int i = 0; i < SPACE; i++) {
        int j = i - (SPACE - space); /* the problem's own index, if it has this dimension */
        shape->in[i] = j < 0 ? 1 : src->dims[2 + j];
        shape->out[i] = j < 0 ? 1 : dst->dims[2 + j];
        shape->kernel[i] = j < 0 ? 1 : weights->dims[grouped + 2 + j];
        shape->stride[i] = j < 0 ? 1 : problem->window.strides[j];
        shape->dilation[i] = j < 0 ? 1 : problem->window.dilations[j] + 1;
        shape->padding[i] = j < 0 ? 0 : problem->window.left[j];
        shape->weights_space[i] = j < 0 || !plain ? 0 : weights->strides[grouped + 2 + j];
    }
}

void convolution_turn_column(struct convolution_shape *s)
{
    neo_dim *const all[] = {s->in,       s->out,     s->kernel,       s->stride,
                            s->dilation, s->padding, s->weights_space};
    static const neo_dim absent[] = {1, 1, 1, 1, 1, 0, 0};
    for (size_t i = 0; i < count_of(all); i++) {
        memmove(all[i] + 1, all[i], (SPACE - 1) * sizeof *all[i]);
        all[i][0] = absent[i];
    }
    s->src = (struct image_strides){s->src.n, s->src.c, 0, s->src.d, s->src.h};
    s->dst = (struct image_strides){s->dst.n, s->dst.c, 0, s->dst.d, s->dst.h};
}

neo_dim convolution_weights_tap(const struct convolution_shape *s, size_t tap)
{
    size_t kw = (size_t)s->kernel[WIDTH], kh = (size_t)s->kernel[HEIGHT];
    return (neo_dim)(tap % kw) * s->weights_space[WIDTH] +
           (neo_dim)(tap / kw % kh) * s->weights_space[HEIGHT] +
           (neo_dim)(tap / kw / kh) * s->weights_space[DEPTH];
}

void convolution_pixel_position(const struct convolution_shape *shape, int ndims, size_t index,
                                neo_dim *position)
{
    for (int i = ndims - 1; i >= 2; i--) {
        size_t size = (size_t)shape->out[i - ndims + SPACE];
        position[i] = (neo_dim)(index % size);
        index /= size;
    }
    position[1] = 0;
    position[0] = (neo_dim)index;
}
