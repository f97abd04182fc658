/* A small network in the manner of MobileNet, with random weights: a first convolution, pairs of a
 * depthwise and a 1×1 convolution, average pooling, and a fully connected layer.
 *
 * It shows how a model is held: all primitives and packed weights are made once; an inference is
 * one execute for each layer, between two buffers that take turns. The result is checked against
 * plain loops. */
#include <neoprene/neoprene.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 10, INPUT_SIZE = 32, MAX_LAYERS = 16 };

/* in × in pixels of ic channels to out × out pixels of oc channels. */
struct layer {
    int groups, ic, oc, kernel, stride, in, out;
    neo_primitive *primitive;
    neo_memory *weights, *bias; /* packed, plain */
    float *plain;               /* goihw, for the check */
};

struct network {
    neo_engine *engine;
    neo_stream *stream;
    struct layer layers[MAX_LAYERS];
    int count;
    neo_primitive *average, *classifier;
    neo_memory *classifier_weights;
    neo_memory *features, *pixel, *scores; /* pixel: the features as an image of one */
};

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

static neo_memory *memory(neo_engine *engine, const neo_memory_desc *desc, void *data)
{
    neo_memory *result;
    check(neo_memory_create(&result, desc, engine, data), "neo_memory_create");
    return result;
}

/* Between -1 and 1, the same on every run. */
static float random_value(void)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(int)state / 2147483648.0f;
}

static float *random_array(size_t count, float scale)
{
    float *data = malloc(count * sizeof *data);
    if (!data)
        exit(1);
    for (size_t i = 0; i < count; i++)
        data[i] = scale * random_value();
    return data;
}

static void run_once(struct network *net, neo_primitive_desc *pd, int count,
                     const neo_exec_arg *args)
{
    neo_primitive *primitive;
    check(neo_primitive_create(&primitive, pd), "neo_primitive_create");
    check(neo_primitive_execute(primitive, net->stream, count, args), "neo_primitive_execute");
    neo_primitive_destroy(primitive);
}

/* Copies plain weights into the layout that a primitive chose. */
static neo_memory *pack(struct network *net, const neo_memory_desc *plain_desc, float *plain,
                        const neo_memory_desc *chosen)
{
    neo_memory *from = memory(net->engine, plain_desc, plain);
    neo_memory *to = memory(net->engine, chosen, NEO_MEMORY_ALLOCATE);
    neo_primitive_desc *pd;
    check(neo_reorder_primitive_desc_create(&pd, net->engine, plain_desc, chosen, NULL), "reorder");
    run_once(net, pd, 2, (neo_exec_arg[]){{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}});
    neo_primitive_desc_destroy(pd);
    neo_memory_destroy(from);
    return to;
}

static neo_memory_desc image(int channels, int size)
{
    return tensor(4, (neo_dim[]){1, channels, size, size}, "nhwc");
}

static neo_primitive_desc *describe(struct network *net, const struct layer *l,
                                    const neo_memory_desc *weights)
{
    int padding = l->kernel / 2;
    int right = (l->out - 1) * l->stride + l->kernel - padding - l->in;
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = image(l->ic, l->in),
        .weights = *weights,
        .bias = tensor(1, (neo_dim[]){l->oc}, "a"),
        .dst = image(l->oc, l->out),
        .strides = {l->stride, l->stride},
        .padding_left = {padding, padding},
        .padding_right = {right, right},
    };
    neo_attributes *relu6;
    neo_primitive_desc *pd;
    check(neo_attributes_create(&relu6), "neo_attributes_create");
    check(neo_attributes_append_eltwise(relu6, NEO_ELTWISE_CLIP, 0, 6), "append_eltwise");
    check(neo_convolution_primitive_desc_create(&pd, net->engine, &desc, relu6), "convolution");
    neo_attributes_destroy(relu6);
    return pd;
}

static void add_layer(struct network *net, int groups, int oc, int kernel, int stride)
{
    struct layer *before = net->count ? &net->layers[net->count - 1] : NULL;
    struct layer *l = &net->layers[net->count++];
    *l = (struct layer){.groups = groups,
                        .ic = before ? before->oc : 3,
                        .oc = oc,
                        .kernel = kernel,
                        .stride = stride,
                        .in = before ? before->out : INPUT_SIZE};
    l->out = (l->in + stride - 1) / stride;
    neo_dim dims[] = {groups, oc / groups, l->ic / groups, kernel, kernel};
    neo_memory_desc any = tensor(5, dims, "any"), plain = tensor(5, dims, "goihw");
    int taps = l->ic / groups * kernel * kernel;
    l->plain = random_array((size_t)oc * (size_t)taps, sqrtf(3.0f / (float)taps));

    neo_primitive_desc *pd = describe(net, l, &any);
    printf("  %3d x %3d x %3d -> %3d x %3d x %3d  %dx%d, %d group%s: %s\n", l->ic, l->in, l->in,
           l->oc, l->out, l->out, kernel, kernel, groups, groups == 1 ? "" : "s",
           neo_primitive_desc_implementation(pd));
    check(neo_primitive_create(&l->primitive, pd), "neo_primitive_create");
    l->weights = pack(net, &plain, l->plain, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    l->bias = memory(net->engine, neo_primitive_desc_query(pd, NEO_ARG_BIAS), NEO_MEMORY_ALLOCATE);
    float *bias = neo_memory_get_handle(l->bias);
    for (int i = 0; i < oc; i++)
        bias[i] = 0.1f * random_value();
    neo_primitive_desc_destroy(pd);
}

static void add_classifier(struct network *net, float *weights)
{
    int channels = net->layers[net->count - 1].oc;
    neo_dim dims[] = {channels, CLASSES};
    neo_memory_desc plain = tensor(2, dims, "ab");
    neo_matmul_desc desc = {
        .src = tensor(2, (neo_dim[]){1, channels}, "ab"),
        .weights = tensor(2, dims, "any"),
        .dst = tensor(2, (neo_dim[]){1, CLASSES}, "ab"),
    };
    neo_primitive_desc *pd;
    check(neo_matmul_primitive_desc_create(&pd, net->engine, &desc, NULL), "matmul");
    check(neo_primitive_create(&net->classifier, pd), "neo_primitive_create");
    net->classifier_weights =
        pack(net, &plain, weights, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    net->features = memory(net->engine, &desc.src, NEO_MEMORY_ALLOCATE);
    net->scores = memory(net->engine, &desc.dst, NEO_MEMORY_ALLOCATE);
    neo_primitive_desc_destroy(pd);
}

static void add_average(struct network *net)
{
    const struct layer *last = &net->layers[net->count - 1];
    neo_pooling_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_POOLING_AVERAGE_EXCLUDE_PADDING,
        .src = image(last->oc, last->out),
        .dst = image(last->oc, 1),
        .strides = {1, 1},
        .kernel = {last->out, last->out},
    };
    neo_primitive_desc *pd;
    check(neo_pooling_primitive_desc_create(&pd, net->engine, &desc, NULL), "pooling");
    check(neo_primitive_create(&net->average, pd), "neo_primitive_create");
    net->pixel = memory(net->engine, &desc.dst, neo_memory_get_handle(net->features));
    neo_primitive_desc_destroy(pd);
}

/* One inference. Two buffers are enough: a layer reads one and writes the other. */
static void infer(struct network *net, const float *input, float *buffers[2])
{
    memcpy(buffers[0], input, 3 * INPUT_SIZE * INPUT_SIZE * sizeof *input);
    for (int i = 0; i < net->count; i++) {
        struct layer *l = &net->layers[i];
        neo_memory_desc src_desc = image(l->ic, l->in), dst_desc = image(l->oc, l->out);
        neo_memory *src = memory(net->engine, &src_desc, buffers[i % 2]);
        neo_memory *dst = memory(net->engine, &dst_desc, buffers[(i + 1) % 2]);
        neo_exec_arg args[] = {{NEO_ARG_SRC, src},
                               {NEO_ARG_WEIGHTS, l->weights},
                               {NEO_ARG_BIAS, l->bias},
                               {NEO_ARG_DST, dst}};
        check(neo_primitive_execute(l->primitive, net->stream, 4, args), "neo_primitive_execute");
        neo_memory_destroy(src);
        neo_memory_destroy(dst);
    }
    struct layer *last = &net->layers[net->count - 1];
    neo_memory_desc last_desc = image(last->oc, last->out);
    neo_memory *last_image = memory(net->engine, &last_desc, buffers[net->count % 2]);
    neo_exec_arg pool[] = {{NEO_ARG_SRC, last_image}, {NEO_ARG_DST, net->pixel}};
    check(neo_primitive_execute(net->average, net->stream, 2, pool), "neo_primitive_execute");
    neo_memory_destroy(last_image);
    neo_exec_arg args[] = {{NEO_ARG_SRC, net->features},
                           {NEO_ARG_WEIGHTS, net->classifier_weights},
                           {NEO_ARG_DST, net->scores}};
    check(neo_primitive_execute(net->classifier, net->stream, 3, args), "neo_primitive_execute");
}

/* ---- the same with loops ---- */

static void average(const float *pixels, int count, int channels, float *out)
{
    for (int c = 0; c < channels; c++) {
        float sum = 0;
        for (int i = 0; i < count; i++)
            sum += pixels[i * channels + c];
        out[c] = sum / (float)count;
    }
}

static float loop_output(const struct layer *l, const float *src, int y, int x, int o)
{
    int padding = l->kernel / 2, ic = l->ic / l->groups, group = o / (l->oc / l->groups);
    double sum = (double)((const float *)neo_memory_get_handle(l->bias))[o];
    for (int i = 0; i < ic; i++)
        for (int r = 0; r < l->kernel; r++)
            for (int s = 0; s < l->kernel; s++) {
                int h = y * l->stride + r - padding, w = x * l->stride + s - padding;
                if (h >= 0 && h < l->in && w >= 0 && w < l->in)
                    sum += (double)src[(h * l->in + w) * l->ic + group * ic + i] *
                           (double)l->plain[((o * ic + i) * l->kernel + r) * l->kernel + s];
            }
    return sum < 0 ? 0 : sum > 6 ? 6 : (float)sum;
}

static void loop_inference(const struct network *net, const float *input, const float *classifier,
                           float *buffers[2], float *scores)
{
    const struct layer *last = &net->layers[net->count - 1];
    memcpy(buffers[0], input, 3 * INPUT_SIZE * INPUT_SIZE * sizeof *input);
    for (int i = 0; i < net->count; i++) {
        const struct layer *l = &net->layers[i];
        for (int y = 0; y < l->out; y++)
            for (int x = 0; x < l->out; x++)
                for (int o = 0; o < l->oc; o++)
                    buffers[(i + 1) % 2][(y * l->out + x) * l->oc + o] =
                        loop_output(l, buffers[i % 2], y, x, o);
    }
    float *features = buffers[(net->count + 1) % 2];
    average(buffers[net->count % 2], last->out * last->out, last->oc, features);
    for (int n = 0; n < CLASSES; n++) {
        double sum = 0;
        for (int k = 0; k < last->oc; k++)
            sum += (double)features[k] * (double)classifier[k * CLASSES + n];
        scores[n] = (float)sum;
    }
}

static void destroy(struct network *net)
{
    for (int i = 0; i < net->count; i++) {
        neo_primitive_destroy(net->layers[i].primitive);
        neo_memory_destroy(net->layers[i].weights);
        neo_memory_destroy(net->layers[i].bias);
        free(net->layers[i].plain);
    }
    neo_primitive_destroy(net->average);
    neo_primitive_destroy(net->classifier);
    neo_memory_destroy(net->classifier_weights);
    neo_memory_destroy(net->pixel);
    neo_memory_destroy(net->features);
    neo_memory_destroy(net->scores);
    neo_stream_destroy(net->stream);
    neo_engine_destroy(net->engine);
}

int main(void)
{
    static const struct {
        int channels, stride;
    } blocks[] = {{32, 1}, {64, 2}, {64, 1}, {128, 2}, {128, 1}};
    struct network net = {0};
    check(neo_engine_create(&net.engine), "neo_engine_create");
    check(neo_stream_create(&net.stream, net.engine, NULL), "neo_stream_create");
    add_layer(&net, 1, 16, 3, 2);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        int channels = net.layers[net.count - 1].oc;
        add_layer(&net, channels, channels, 3, blocks[i].stride);
        add_layer(&net, 1, blocks[i].channels, 1, 1);
    }
    size_t features = (size_t)net.layers[net.count - 1].oc, largest = 64 * INPUT_SIZE * INPUT_SIZE;
    float *classifier = random_array(features * CLASSES, 0.2f);
    float *input = random_array(3 * INPUT_SIZE * INPUT_SIZE, 1);
    float *buffers[] = {random_array(largest, 0), random_array(largest, 0)};
    float want[CLASSES];
    add_classifier(&net, classifier);
    add_average(&net);

    infer(&net, input, buffers);
    loop_inference(&net, input, classifier, buffers, want);
    const float *got = neo_memory_get_handle(net.scores);
    double worst = 0;
    for (int n = 0; n < CLASSES; n++) {
        worst = fmax(worst, fabs((double)got[n] - (double)want[n]));
        printf("  class %d: %9.6f, by loops %9.6f\n", n, (double)got[n], (double)want[n]);
    }
    printf("largest difference %g\n", worst);

    destroy(&net);
    free(classifier);
    free(input);
    free(buffers[0]);
    free(buffers[1]);
    return worst > 1e-4;
}
