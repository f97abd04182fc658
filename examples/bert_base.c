/* BERT-base as a network, from embeddings to the pooled output, with as many of its 12 layers as
 * are asked for: bert_base [LENGTH OF THE SEQUENCE [LAYERS]] [f32] [bf16] [out-of-order] */
#include "examples/support/layers.h"

enum { WIDTH = 768, HEADS = 12, NONE = LAYERS_NO_ACTIVATION, ALONE = LAYERS_NO_RESIDUAL };

static int encode(layers *l, int x)
{
    int q = layers_linear(l, x, WIDTH, NONE, ALONE);
    int k = layers_linear(l, x, WIDTH, NONE, ALONE);
    int v = layers_linear(l, x, WIDTH, NONE, ALONE);
    int mixed = layers_attention(l, q, k, v, HEADS);
    int y = layers_normalize(l, layers_linear(l, mixed, WIDTH, NONE, x));
    int wide = layers_linear(l, y, (neo_dim)4 * WIDTH, NEO_ELTWISE_GELU_ERF, ALONE);
    return layers_normalize(l, layers_linear(l, wide, WIDTH, NONE, y));
}

int main(int argc, char **argv)
{
    layers *l = layers_create("BERT-base", argc, argv);
    int x = layers_normalize(l, layers_sequence(l, layers_number(l, 0, 5), WIDTH));
    for (neo_dim i = layers_number(l, 1, 1); i > 0; i--)
        x = encode(l, x);
    x = layers_linear(l, layers_first_row(l, x), WIDTH, NEO_ELTWISE_TANH, ALONE);
    return layers_finish(l, x, &(layers_bounds){1e-5, 1, 0});
}
