/* A U-Net as a network: unet [SIDE OF THE IMAGE, a multiple of 16] [f32] [bf16] [out-of-order] */
#include "examples/support/layers.h"

enum { LEVELS = 4, FIRST_CHANNELS = 16 };

static int two_convolutions(layers *l, int x, neo_dim channels)
{
    for (int i = 0; i < 2; i++)
        x = layers_convolve(l, x, &(layers_conv){channels, 3, 1, 1, NEO_ELTWISE_RELU, -1});
    return x;
}

int main(int argc, char **argv)
{
    static const layers_bounds small = {1e-5, 1, 0}, usual = {1e-4, 1, 0};
    layers *l = layers_create("U-Net", argc, argv);
    neo_dim side = layers_number(l, 0, 16);
    int x = layers_image(l, 3, side), kept[LEVELS];
    neo_dim channels = FIRST_CHANNELS;
    for (int level = 0; level < LEVELS; level++, channels *= 2) {
        kept[level] = two_convolutions(l, x, channels);
        x = layers_max_pool(l, kept[level], 2, 2);
    }
    x = two_convolutions(l, x, channels);
    for (int level = LEVELS; level-- > 0;) {
        channels /= 2;
        x = layers_upsample(l, x);
        x = layers_convolve(l, x, &(layers_conv){channels, 1, 1, 1, LAYERS_NO_ACTIVATION, -1});
        x = layers_concatenate(l, x, kept[level]);
        x = two_convolutions(l, x, channels);
    }
    x = layers_convolve(l, x, &(layers_conv){1, 1, 1, 1, NEO_ELTWISE_LOGISTIC, -1});
    return layers_finish(l, x, side > 16 ? &usual : &small);
}
