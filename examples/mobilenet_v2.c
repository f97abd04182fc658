/* MobileNet v2 as a network: mobilenet_v2 [SIDE OF THE IMAGE] [f32] [bf16] [s8] [out-of-order] */
#include "examples/support/layers.h"

static int inverted_residual(layers *l, int in, neo_dim in_channels, neo_dim channels,
                             neo_dim expand, neo_dim stride)
{
    int relu6 = NEO_ELTWISE_CLIP, none = LAYERS_NO_ACTIVATION, x = in;
    neo_dim inner = in_channels * expand;
    int residual = stride == 1 && in_channels == channels ? in : LAYERS_NO_RESIDUAL;
    if (expand > 1)
        x = layers_convolve(l, x, &(layers_conv){inner, 1, 1, 1, relu6, -1});
    x = layers_convolve(l, x, &(layers_conv){inner, 3, stride, inner, relu6, -1});
    return layers_convolve(l, x, &(layers_conv){channels, 1, 1, 1, none, residual});
}

int main(int argc, char **argv)
{
    static const struct {
        neo_dim expand, channels, repeat, stride;
    } rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    layers *l = layers_create("MobileNet v2", argc, argv);
    int x = layers_image(l, 3, layers_number(l, 0, 32));
    neo_dim channels = 32;
    x = layers_convolve(l, x, &(layers_conv){channels, 3, 2, 1, NEO_ELTWISE_CLIP, -1});
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (neo_dim i = 0; i < rows[r].repeat; i++) {
            neo_dim stride = i ? 1 : rows[r].stride;
            x = inverted_residual(l, x, channels, rows[r].channels, rows[r].expand, stride);
            channels = rows[r].channels;
        }
    }
    x = layers_convolve(l, x, &(layers_conv){1280, 1, 1, 1, NEO_ELTWISE_CLIP, -1});
    x = layers_average_pool(l, x);
    x = layers_linear(l, x, 1000, LAYERS_NO_ACTIVATION, LAYERS_NO_RESIDUAL);
    return layers_finish(l, layers_softmax(l, x), &(layers_bounds){1e-5, 1, 1});
}
