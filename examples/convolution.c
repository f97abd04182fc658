/* A convolution that chooses the layout of its weights: they are packed once, with a reorder, and
 * then used for every image. The residual is added and clamped while results are still in the
 * cache. */
#include <neoprene/neoprene.h>

#include <stdio.h>
#include <stdlib.h>

enum { CHANNELS = 16, SIZE = 14, IMAGES = 3 };

static void check(neo_status status, const char *call)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, neo_status_text(status));
    exit(1);
}

static neo_memory_desc tensor(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    check(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag), "neo_memory_desc_init_tag");
    return desc;
}

static neo_memory *allocate(neo_engine *engine, const neo_memory_desc *desc)
{
    neo_memory *memory;
    check(neo_memory_create(&memory, desc, engine, NEO_MEMORY_ALLOCATE), "neo_memory_create");
    return memory;
}

static void fill(neo_memory *memory, int seed)
{
    float *data = neo_memory_get_handle(memory);
    size_t count = neo_memory_desc_elements(neo_memory_get_desc(memory));
    for (size_t i = 0; i < count; i++)
        data[i] = (float)((int)(i * 7 + (size_t)seed) % 5 - 2);
}

/* A primitive that is needed once: described, created, executed and destroyed. */
static void reorder(neo_engine *engine, neo_stream *stream, neo_memory *from, neo_memory *to)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    check(neo_reorder_primitive_desc_create(&pd, engine, neo_memory_get_desc(from),
                                            neo_memory_get_desc(to), NULL),
          "neo_reorder_primitive_desc_create");
    check(neo_primitive_create(&primitive, pd), "neo_primitive_create");
    neo_exec_arg args[] = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}};
    check(neo_primitive_execute(primitive, stream, 2, args), "neo_primitive_execute");
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static neo_primitive_desc *describe(neo_engine *engine, const neo_memory_desc *image)
{
    neo_dim weights[] = {CHANNELS, CHANNELS, 3, 3};
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_DIRECT,
        .src = *image,
        .weights = tensor(4, weights, "any"),
        .dst = *image,
        .strides = {1, 1},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    check(neo_attributes_create(&attributes), "neo_attributes_create");
    check(neo_attributes_append_sum(attributes, 1, 0, NEO_DATA_TYPE_UNDEF), "append_sum");
    check(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_CLIP, 0, 6), "append_eltwise");
    check(neo_convolution_primitive_desc_create(&pd, engine, &desc, attributes),
          "neo_convolution_primitive_desc_create");
    neo_attributes_destroy(attributes);
    return pd;
}

/* One output, by the definition. */
static float expected(const float *src, const float *weights, float residual, int y, int x, int o)
{
    float sum = residual;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
            for (int i = 0; i < CHANNELS; i++) {
                int h = y + r - 1, w = x + s - 1;
                if (h >= 0 && h < SIZE && w >= 0 && w < SIZE)
                    sum += src[(h * SIZE + w) * CHANNELS + i] *
                           weights[((o * CHANNELS + i) * 3 + r) * 3 + s];
            }
    return sum < 0 ? 0 : sum > 6 ? 6 : sum;
}

static int count_wrong(const float *src, const float *weights, const float *before,
                       const float *after)
{
    int wrong = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            for (int o = 0; o < CHANNELS; o++) {
                int at = (y * SIZE + x) * CHANNELS + o;
                wrong += after[at] != expected(src, weights, before[at], y, x, o);
            }
    return wrong;
}

int main(void)
{
    neo_engine *engine;
    neo_stream *stream;
    check(neo_engine_create(&engine), "neo_engine_create");
    check(neo_stream_create(&stream, engine, NULL), "neo_stream_create");

    neo_memory_desc image = tensor(4, (neo_dim[]){1, CHANNELS, SIZE, SIZE}, "nhwc");
    neo_memory_desc plain = tensor(4, (neo_dim[]){CHANNELS, CHANNELS, 3, 3}, "oihw");
    neo_primitive_desc *pd = describe(engine, &image);
    neo_primitive *convolution;
    check(neo_primitive_create(&convolution, pd), "neo_primitive_create");

    neo_memory *weights = allocate(engine, &plain);
    neo_memory *packed = allocate(engine, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    fill(weights, 1);
    reorder(engine, stream, weights, packed);

    neo_memory *src = allocate(engine, &image), *dst = allocate(engine, &image);
    neo_memory *before = allocate(engine, &image);
    int wrong = 0;
    for (int i = 0; i < IMAGES; i++) {
        fill(src, i);
        fill(dst, i + 3);
        fill(before, i + 3);
        neo_exec_arg args[] = {{NEO_ARG_SRC, src}, {NEO_ARG_WEIGHTS, packed}, {NEO_ARG_DST, dst}};
        check(neo_primitive_execute(convolution, stream, 3, args), "neo_primitive_execute");
        wrong += count_wrong(neo_memory_get_handle(src), neo_memory_get_handle(weights),
                             neo_memory_get_handle(before), neo_memory_get_handle(dst));
    }
    printf("%s: %d images, ", neo_primitive_desc_implementation(pd), IMAGES);
    printf(wrong ? "%d elements are wrong\n" : "all elements are right\n", wrong);

    neo_memory *all[] = {weights, packed, src, dst, before};
    for (int i = 0; i < 5; i++)
        neo_memory_destroy(all[i]);
    neo_primitive_destroy(convolution);
    neo_primitive_desc_destroy(pd);
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
    return wrong != 0;
}
