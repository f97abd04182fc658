/* Describes one problem and writes the address of each function of the library that is entered: for
 * path.py. The library is built with -finstrument-functions, which calls these two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neoprene/convolution.h"
#include "neoprene/engine.h"
#include "neoprene/matmul.h"

enum { MOST = 1 << 20 };
static void *entered[MOST];
static size_t count;
static int is_on;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (is_on && count < MOST)
        entered[count++] = function;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
}

static neo_memory_desc tensor(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    if (neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag) != NEO_OK)
        exit(1);
    return desc;
}

/* 64 images channels of 56 × 56 become as many, by kernels of 3 × 3. */
static neo_status convolve(neo_primitive_desc **pd, neo_engine *engine, neo_dim stride)
{
    neo_dim out = stride == 1 ? 56 : 28;
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = tensor(4, (neo_dim[]){1, 64, 56, 56}, "acdb"),
        .weights = tensor(4, (neo_dim[]){64, 64, 3, 3}, "any"),
        .dst = tensor(4, (neo_dim[]){1, 64, out, out}, "acdb"),
        .strides = {stride, stride},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    return neo_convolution_primitive_desc_create(pd, engine, &desc, NULL);
}

static neo_status multiply(neo_primitive_desc **pd, neo_engine *engine)
{
    const neo_dim square[] = {64, 64};
    neo_matmul_desc desc = {.src = tensor(2, square, "ab"),
                            .weights = tensor(2, square, "any"),
                            .dst = tensor(2, square, "ab")};
    return neo_matmul_primitive_desc_create(pd, engine, &desc, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    neo_engine *engine;
    neo_primitive_desc *pd = NULL;
    if (neo_engine_create(&engine) != NEO_OK)
        return 1;
    is_on = 1;
    neo_status status = !strcmp(what, "matmul")
                            ? multiply(&pd, engine)
                            : convolve(&pd, engine, !strcmp(what, "conv1") ? 1 : 2);
    is_on = 0;
    for (size_t i = 0; i < count; i++)
        printf("%p\n", entered[i]);
    neo_primitive_desc_destroy(pd);
    neo_engine_destroy(engine);
    return status != NEO_OK;
}
