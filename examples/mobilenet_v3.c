/* MobileNet v3 (large) as a network, with its h-swish and squeeze-and-excite:
 * mobilenet_v3 [SIDE OF THE IMAGE] [f32] [bf16] [s8] [out-of-order] */
#include "examples/support/layers.h"

enum { NONE = LAYERS_NO_ACTIVATION, ALONE = LAYERS_NO_RESIDUAL };

typedef struct block {
    neo_dim kernel, inner, channels, squeezed; /* 0: no squeeze-and-excite */
    int activation;
    neo_dim stride;
} block;

/* The average of each channel becomes a factor for it, by two small layers. */
static int excite(layers *l, int image, neo_dim squeezed, neo_dim channels)
{
    int row = layers_average_pool(l, image);
    row = layers_linear(l, row, squeezed, NEO_ELTWISE_RELU, ALONE);
    row = layers_linear(l, row, channels, NEO_ELTWISE_HARDSIGMOID, ALONE);
    return layers_gate(l, image, row);
}

static int add_block(layers *l, int in, neo_dim in_channels, const block *b)
{
    int x = in, residual = b->stride == 1 && in_channels == b->channels ? in : ALONE;
    if (b->inner != in_channels)
        x = layers_convolve(l, x, &(layers_conv){b->inner, 1, 1, 1, b->activation, ALONE});
    x = layers_convolve(
        l, x, &(layers_conv){b->inner, b->kernel, b->stride, b->inner, b->activation, ALONE});
    if (b->squeezed)
        x = excite(l, x, b->squeezed, b->inner);
    return layers_convolve(l, x, &(layers_conv){b->channels, 1, 1, 1, NONE, residual});
}

int main(int argc, char **argv)
{
    enum { RE = NEO_ELTWISE_RELU, HS = NEO_ELTWISE_HARDSWISH };
    static const block blocks[] = {
        {3, 16, 16, 0, RE, 1},     {3, 64, 24, 0, RE, 2},     {3, 72, 24, 0, RE, 1},
        {5, 72, 40, 24, RE, 2},    {5, 120, 40, 32, RE, 1},   {5, 120, 40, 32, RE, 1},
        {3, 240, 80, 0, HS, 2},    {3, 200, 80, 0, HS, 1},    {3, 184, 80, 0, HS, 1},
        {3, 184, 80, 0, HS, 1},    {3, 480, 112, 120, HS, 1}, {3, 672, 112, 168, HS, 1},
        {5, 672, 160, 168, HS, 2}, {5, 960, 160, 240, HS, 1}, {5, 960, 160, 240, HS, 1},
    };
    layers *l = layers_create("MobileNet v3", argc, argv);
    int x = layers_image(l, 3, layers_number(l, 0, 32));
    neo_dim channels = 16;
    x = layers_convolve(l, x, &(layers_conv){channels, 3, 2, 1, HS, ALONE});
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        x = add_block(l, x, channels, &blocks[i]);
        channels = blocks[i].channels;
    }
    x = layers_average_pool(l, layers_convolve(l, x, &(layers_conv){960, 1, 1, 1, HS, ALONE}));
    x = layers_linear(l, x, 1280, HS, ALONE);
    x = layers_linear(l, x, 1000, NONE, ALONE);
    return layers_finish(l, layers_softmax(l, x), &(layers_bounds){1e-5, 1, 1});
}
