/* ResNet-50 as a network: resnet50 [SIDE OF THE IMAGE] [f32] [bf16] [s8] [out-of-order] */
#include "examples/support/layers.h"

static int bottleneck(layers *l, int in, neo_dim inner, neo_dim stride, int project)
{
    int relu = NEO_ELTWISE_RELU, none = LAYERS_NO_ACTIVATION, shortcut = in;
    if (project)
        shortcut = layers_convolve(l, in, &(layers_conv){4 * inner, 1, stride, 1, none, -1});
    int x = layers_convolve(l, in, &(layers_conv){inner, 1, 1, 1, relu, -1});
    x = layers_convolve(l, x, &(layers_conv){inner, 3, stride, 1, relu, -1});
    return layers_convolve(l, x, &(layers_conv){4 * inner, 1, 1, 1, relu, shortcut});
}

int main(int argc, char **argv)
{
    static const int blocks[] = {3, 4, 6, 3};
    static const layers_bounds small = {1e-5, 1, 1}, usual = {1e-4, 1, 1};
    layers *l = layers_create("ResNet-50", argc, argv);
    neo_dim side = layers_number(l, 0, 24);
    int x = layers_image(l, 3, side);
    x = layers_convolve(l, x, &(layers_conv){64, 7, 2, 1, NEO_ELTWISE_RELU, -1});
    x = layers_max_pool(l, x, 3, 2);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[stage]; i++)
            x = bottleneck(l, x, 64 << stage, stage && i == 0 ? 2 : 1, i == 0);
    x = layers_average_pool(l, x);
    x = layers_linear(l, x, 1000, LAYERS_NO_ACTIVATION, LAYERS_NO_RESIDUAL);
    return layers_finish(l, layers_softmax(l, x), side > 64 ? &usual : &small);
}
