/* A layer of BERT-base as a network: bert_layer [LENGTH OF THE SEQUENCE [out-of-order]] */
#include "examples/support/layers.h"

enum { WIDTH = 768, HEADS = 12, NONE = LAYERS_NO_ACTIVATION };

int main(int argc, char **argv)
{
    layers *l = layers_create("BERT layer", argc, argv, 32);
    int x = layers_sequence(l, layers_size(l), WIDTH);
    x = layers_linear(l, x, WIDTH, NONE, LAYERS_NO_RESIDUAL); /* the embedding: not the input */
    int q = layers_linear(l, x, WIDTH, NONE, LAYERS_NO_RESIDUAL);
    int k = layers_linear(l, x, WIDTH, NONE, LAYERS_NO_RESIDUAL);
    int v = layers_linear(l, x, WIDTH, NONE, LAYERS_NO_RESIDUAL);
    int mixed = layers_attention(l, q, k, v, HEADS);
    int y = layers_normalize(l, layers_linear(l, mixed, WIDTH, NONE, x));
    int wide = layers_linear(l, y, (neo_dim)4 * WIDTH, NEO_ELTWISE_GELU_TANH, LAYERS_NO_RESIDUAL);
    int z = layers_normalize(l, layers_linear(l, wide, WIDTH, NONE, y));
    return layers_finish(l, z);
}
