/* A residual block of ResNet in int8, made from float weights: ranges are measured on sample images
 * (calibration), weights get a scale for each output channel, and the result is compared with the
 * same block in double.
 *
 *   cc int8_block.c $(pkg-config --cflags --libs neoprene) -lm && ./a.out */
#include <neoprene/neoprene.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDE = 64, NARROW = 16, SIDE = 14, PIXELS = SIDE * SIDE, LAYERS = 3, SAMPLES = 4 };

/* 1x1 to fewer channels, 3x3, 1x1 back to all of them; the block's input is added to the last. */
static const struct {
    int in, out, kernel;
} shapes[LAYERS] = {{WIDE, NARROW, 1}, {NARROW, NARROW, 3}, {NARROW, WIDE, 1}};

struct layer {
    float weights[WIDE * WIDE * 9]; /* as O, I, H, W; the largest layer's size for all */
    float bias[WIDE], weight_scales[WIDE];
};

static struct layer layers[LAYERS];

/* A wrong call would be an error in this program, so it says which one and ends. */
static void check(neo_status status, const char *call)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, neo_status_text(status));
    exit(1);
}

static float random_unit(void) /* in [-1, 1) */
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (float)(state >> 8) * 0x1p-23f - 1;
}

/* Channels differ in size, as they do in trained networks. */
static void make_weights(void)
{
    for (int l = 0; l < LAYERS; l++) {
        int row = shapes[l].in * shapes[l].kernel * shapes[l].kernel;
        for (int o = 0; o < shapes[l].out; o++) {
            float size = 0.1f * (float)(1 + o % 7);
            for (int i = 0; i < row; i++)
                layers[l].weights[o * row + i] = size * random_unit();
            layers[l].bias[o] = random_unit();
        }
    }
}

static void make_image(double *image) /* it comes from a relu */
{
    for (int i = 0; i < PIXELS * WIDE; i++)
        image[i] = fmax(0, (double)random_unit()) * 3;
}

/* ---- the block in double; images are H, W, C ---- */

static double convolve_at(int l, const double *src, int y, int x, int o)
{
    int kernel = shapes[l].kernel, in = shapes[l].in;
    double sum = (double)layers[l].bias[o];
    for (int r = 0; r < kernel; r++)
        for (int s = 0; s < kernel; s++) {
            int h = y + r - kernel / 2, w = x + s - kernel / 2;
            if (h < 0 || h >= SIDE || w < 0 || w >= SIDE)
                continue;
            for (int i = 0; i < in; i++)
                sum += src[(h * SIDE + w) * in + i] *
                       (double)layers[l].weights[((o * in + i) * kernel + r) * kernel + s];
        }
    return sum;
}

/* dst = relu(convolution + residual) */
static void convolve(int l, const double *src, const double *residual, double *dst)
{
    for (int p = 0; p < PIXELS; p++)
        for (int o = 0; o < shapes[l].out; o++) {
            int at = p * shapes[l].out + o;
            double sum = convolve_at(l, src, p / SIDE, p % SIDE, o);
            dst[at] = fmax(0, sum + (residual ? residual[at] : 0));
        }
}

static double values[LAYERS + 1][PIXELS * WIDE]; /* the block's input and what each layer makes */
static double ranges[LAYERS + 1];                /* the largest that were seen */

static void run_in_double(void)
{
    for (int l = 0; l < LAYERS; l++)
        convolve(l, values[l], l == LAYERS - 1 ? values[0] : NULL, values[l + 1]);
}

/* What a sample has beyond the ranges that are known widens them. */
static void widen_ranges(void)
{
    for (int l = 0; l <= LAYERS; l++)
        for (int i = 0; i < PIXELS * (l ? shapes[l - 1].out : WIDE); i++)
            ranges[l] = fmax(ranges[l], values[l][i]);
}

/* ---- the same in int8 ---- */

static neo_engine *engine;
static neo_stream *stream;

static neo_memory *wrap(int ndims, const neo_dim *dims, neo_data_type type, const char *tag,
                        void *data)
{
    neo_memory_desc desc;
    neo_memory *memory;
    check(neo_memory_desc_init_tag(&desc, ndims, dims, type, tag), "neo_memory_desc_init_tag");
    check(neo_memory_create(&memory, &desc, engine, data), "neo_memory_create");
    return memory;
}

static neo_memory *wrap_vector(float *data, neo_dim count)
{
    return wrap(1, &count, NEO_F32, "a", data);
}

static neo_memory *wrap_image(uint8_t *data, neo_dim channels)
{
    const neo_dim dims[] = {1, channels, SIDE, SIDE};
    return wrap(4, dims, NEO_U8, "acdb", data);
}

/* Once: a program that runs often keeps its primitives. */
static void execute(neo_primitive_desc *pd, int count, const neo_exec_arg *args)
{
    neo_primitive *primitive;
    check(neo_primitive_create(&primitive, pd), "neo_primitive_create");
    check(neo_primitive_execute(primitive, stream, count, args), "neo_primitive_execute");
    check(neo_stream_wait(stream), "neo_stream_wait");
    neo_primitive_destroy(primitive);
}

/* The largest weight of each output channel becomes 127. */
static void find_scales(int l)
{
    int row = shapes[l].in * shapes[l].kernel * shapes[l].kernel;
    for (int o = 0; o < shapes[l].out; o++) {
        float largest = 0;
        for (int i = 0; i < row; i++)
            largest = fmaxf(largest, fabsf(layers[l].weights[o * row + i]));
        layers[l].weight_scales[o] = largest / 127;
    }
}

/* A layer's weights as s8, in the layout that the convolution wants: one reorder does both. */
static neo_memory *quantize_weights(int l, const neo_memory_desc *wanted)
{
    const neo_dim dims[] = {shapes[l].out, shapes[l].in, shapes[l].kernel, shapes[l].kernel};
    neo_memory *from = wrap(4, dims, NEO_F32, "abcd", layers[l].weights), *to;
    neo_memory *scales = wrap_vector(layers[l].weight_scales, dims[0]);
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    check(neo_memory_create(&to, wanted, engine, NEO_MEMORY_ALLOCATE), "neo_memory_create");
    check(neo_attributes_create(&attributes), "neo_attributes_create");
    check(neo_attributes_set_scales(attributes, NEO_ARG_DST, 1 << 0, 0, NULL, NEO_F32), "scales");
    check(neo_reorder_primitive_desc_create(&pd, engine, neo_memory_get_desc(from), wanted,
                                            attributes),
          "neo_reorder_primitive_desc_create");
    const neo_exec_arg args[] = {
        {NEO_ARG_SRC, from}, {NEO_ARG_DST, to}, {NEO_ARG_ATTR_SCALES | NEO_ARG_DST, scales}};
    execute(pd, 3, args);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    neo_memory_destroy(scales);
    neo_memory_destroy(from);
    return to;
}

/* relu(convolution + residual), where the residual is what dst holds: (u8) in units of its scale.
 */
static neo_primitive_desc *describe(int l, float residual_scale)
{
    const neo_dim kernel = shapes[l].kernel, pad = kernel / 2;
    const neo_dim src[] = {1, shapes[l].in, SIDE, SIDE}, dst[] = {1, shapes[l].out, SIDE, SIDE};
    const neo_dim weights[] = {shapes[l].out, shapes[l].in, kernel, kernel};
    neo_attributes *attributes;
    check(neo_attributes_create(&attributes), "neo_attributes_create");
    check(neo_attributes_set_scales(attributes, NEO_ARG_SRC, 0, 0, NULL, NEO_F32), "scales");
    check(neo_attributes_set_scales(attributes, NEO_ARG_WEIGHTS, 1 << 0, 0, NULL, NEO_F32),
          "scales");
    check(neo_attributes_set_scales(attributes, NEO_ARG_DST, 0, 0, NULL, NEO_F32), "scales");
    if (residual_scale > 0)
        check(neo_attributes_append_sum(attributes, residual_scale, 0, NEO_DATA_TYPE_UNDEF), "sum");
    check(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_RELU, 0, 0), "relu");
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .strides = {1, 1},
                                 .padding_left = {pad, pad},
                                 .padding_right = {pad, pad}};
    check(neo_memory_desc_init_tag(&desc.src, 4, src, NEO_U8, "acdb"), "src");
    check(neo_memory_desc_init_tag(&desc.weights, 4, weights, NEO_S8, "any"), "weights");
    check(neo_memory_desc_init_tag(&desc.bias, 1, dst + 1, NEO_F32, "a"), "bias");
    check(neo_memory_desc_init_tag(&desc.dst, 4, dst, NEO_U8, "acdb"), "dst");
    neo_primitive_desc *pd;
    check(neo_convolution_primitive_desc_create(&pd, engine, &desc, attributes),
          "neo_convolution_primitive_desc_create");
    neo_attributes_destroy(attributes);
    return pd;
}

static void run_layer(int l, uint8_t *src, uint8_t *dst, float src_scale, float dst_scale,
                      float residual_scale)
{
    neo_primitive_desc *pd = describe(l, residual_scale);
    find_scales(l);
    neo_memory *weights = quantize_weights(l, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    neo_memory *memories[] = {
        wrap_image(src, shapes[l].in),
        wrap_image(dst, shapes[l].out),
        wrap_vector(layers[l].bias, shapes[l].out),
        wrap_vector(&src_scale, 1),
        wrap_vector(layers[l].weight_scales, shapes[l].out),
        wrap_vector(&dst_scale, 1),
    };
    const neo_exec_arg args[] = {
        {NEO_ARG_SRC, memories[0]},
        {NEO_ARG_WEIGHTS, weights},
        {NEO_ARG_DST, memories[1]},
        {NEO_ARG_BIAS, memories[2]},
        {NEO_ARG_ATTR_SCALES | NEO_ARG_SRC, memories[3]},
        {NEO_ARG_ATTR_SCALES | NEO_ARG_WEIGHTS, memories[4]},
        {NEO_ARG_ATTR_SCALES | NEO_ARG_DST, memories[5]},
    };
    execute(pd, 7, args);
    for (int i = 0; i < 6; i++)
        neo_memory_destroy(memories[i]);
    neo_memory_destroy(weights);
    neo_primitive_desc_destroy(pd);
}

/* Every tensor is the result of a relu: u8 with zero point 0. The input is its own last residual.
 */
static double error_of_block(void)
{
    static uint8_t image[PIXELS * WIDE], first[PIXELS * WIDE], second[PIXELS * WIDE];
    float scales[LAYERS + 1];
    for (int i = 0; i <= LAYERS; i++)
        scales[i] = (float)(ranges[i] / 255);
    for (int i = 0; i < PIXELS * WIDE; i++)
        image[i] = (uint8_t)fmin(255, nearbyint(values[0][i] / (double)scales[0]));
    run_layer(0, image, first, scales[0], scales[1], 0);
    run_layer(1, first, second, scales[1], scales[2], 0);
    run_layer(2, second, image, scales[2], scales[3], scales[0]);
    double noise = 0, signal = 0;
    for (int i = 0; i < PIXELS * WIDE; i++) {
        double difference = image[i] * (double)scales[LAYERS] - values[LAYERS][i];
        noise += difference * difference;
        signal += values[LAYERS][i] * values[LAYERS][i];
    }
    return sqrt(noise / signal);
}

int main(void)
{
    check(neo_engine_create(&engine), "neo_engine_create");
    check(neo_stream_create(&stream, engine, NULL), "neo_stream_create");
    make_weights();
    for (int i = 0; i < SAMPLES; i++) {
        make_image(values[0]);
        run_in_double();
        widen_ranges();
    }
    make_image(values[0]); /* one that was no sample */
    run_in_double();
    double error = error_of_block();
    printf("int8 block: the error is %.2f %% of the result in double\n", 100 * error);
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
    return error < 0.02 ? 0 : 1;
}
