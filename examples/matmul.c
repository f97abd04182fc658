/* A matrix multiplication with bias and ReLU: describe, create, execute, look at the result.
 *
 *   cc matmul.c $(pkg-config --cflags --libs neoprene) && ./a.out */
#include <neoprene/neoprene.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 3, K = 4, N = 5 };

/* A wrong call would be an error in this program, so it says which one and ends. */
static void check(neo_status status, const char *call)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, neo_status_text(status));
    exit(1);
}

static neo_memory_desc matrix(neo_dim rows, neo_dim columns)
{
    neo_memory_desc desc;
    neo_dim dims[] = {rows, columns};
    check(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, "ab"), "neo_memory_desc_init_tag");
    return desc;
}

static neo_memory *wrap(neo_engine *engine, const neo_memory_desc *desc, float *data)
{
    neo_memory *memory;
    check(neo_memory_create(&memory, desc, engine, data), "neo_memory_create");
    return memory;
}

int main(void)
{
    float src[M * K], weights[K * N], bias[N], dst[M * N];
    for (int i = 0; i < M * K; i++)
        src[i] = (float)(i - 5);
    for (int i = 0; i < K * N; i++)
        weights[i] = (float)(i % 3);
    for (int i = 0; i < N; i++)
        bias[i] = 10;

    neo_engine *engine;
    neo_stream *stream;
    check(neo_engine_create(&engine), "neo_engine_create");
    check(neo_stream_create(&stream, engine, NULL), "neo_stream_create");

    neo_attributes *attributes;
    check(neo_attributes_create(&attributes), "neo_attributes_create");
    check(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_RELU, 0, 0), "append_eltwise");

    neo_matmul_desc desc = {
        .src = matrix(M, K), .weights = matrix(K, N), .bias = matrix(1, N), .dst = matrix(M, N)};
    neo_primitive_desc *pd;
    neo_primitive *matmul;
    check(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes),
          "primitive_desc_create");
    check(neo_primitive_create(&matmul, pd), "neo_primitive_create");
    printf("implementation %s, kernel %s\n", neo_primitive_desc_implementation(pd),
           neo_primitive_desc_kernel(pd));

    neo_exec_arg args[] = {
        {NEO_ARG_SRC, wrap(engine, &desc.src, src)},
        {NEO_ARG_WEIGHTS, wrap(engine, &desc.weights, weights)},
        {NEO_ARG_BIAS, wrap(engine, &desc.bias, bias)},
        {NEO_ARG_DST, wrap(engine, &desc.dst, dst)},
    };
    check(neo_primitive_execute(matmul, stream, 4, args), "neo_primitive_execute");

    int wrong = 0;
    for (int m = 0; m < M; m++) {
        for (int n = 0; n < N; n++) {
            float sum = bias[n];
            for (int k = 0; k < K; k++)
                sum += src[m * K + k] * weights[k * N + n];
            wrong += dst[m * N + n] != (sum > 0 ? sum : 0);
            printf(" %6.1f", (double)dst[m * N + n]);
        }
        printf("\n");
    }

    for (int i = 0; i < 4; i++)
        neo_memory_destroy(args[i].memory);
    neo_primitive_destroy(matmul);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
    printf(wrong ? "%d elements are wrong\n" : "all elements are right\n", wrong);
    return wrong != 0;
}
