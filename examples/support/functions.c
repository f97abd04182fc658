/* Pooling, resizing, concatenation, normalisation and softmax. */
#include "examples/support/functions.h"

#include <math.h>
#include <string.h>

/* An image with the channels innermost. */
typedef struct image {
    float *data;
    neo_dim c, h, w;
} image;

static image image_of(const neo_memory *memory)
{
    const neo_dim *dims = neo_memory_get_desc(memory)->dims;
    return (image){neo_memory_get_handle(memory), dims[1], dims[2], dims[3]};
}

static float *pixel(const image *i, neo_dim y, neo_dim x)
{
    return i->data + (y * i->w + x) * i->c;
}

static void pool_pixel(const image *in, const pool_window *window, neo_dim y, neo_dim x, float *out)
{
    neo_dim pad = (window->kernel - 1) / 2;
    for (neo_dim c = 0; c < in->c; c++)
        out[c] = -INFINITY;
    for (neo_dim r = 0; r < window->kernel; r++) {
        for (neo_dim s = 0; s < window->kernel; s++) {
            neo_dim from_y = y * window->stride + r - pad, from_x = x * window->stride + s - pad;
            if (from_y < 0 || from_y >= in->h || from_x < 0 || from_x >= in->w)
                continue;
            const float *from = pixel(in, from_y, from_x);
            for (neo_dim c = 0; c < in->c; c++)
                out[c] = from[c] > out[c] ? from[c] : out[c];
        }
    }
}

neo_status max_pool(const neo_node_call *call)
{
    image in = image_of(call->memories[0]), out = image_of(call->memories[1]);
    for (neo_dim y = 0; y < out.h; y++)
        for (neo_dim x = 0; x < out.w; x++)
            pool_pixel(&in, call->context, y, x, pixel(&out, y, x));
    return NEO_OK;
}

neo_status average_pool(const neo_node_call *call)
{
    image in = image_of(call->memories[0]);
    float *out = neo_memory_get_handle(call->memories[1]);
    memset(out, 0, (size_t)in.c * sizeof *out);
    for (neo_dim y = 0; y < in.h; y++)
        for (neo_dim x = 0; x < in.w; x++)
            for (neo_dim c = 0; c < in.c; c++)
                out[c] += pixel(&in, y, x)[c] / (float)(in.h * in.w);
    return NEO_OK;
}

neo_status upsample(const neo_node_call *call)
{
    image in = image_of(call->memories[0]), out = image_of(call->memories[1]);
    for (neo_dim y = 0; y < out.h; y++)
        for (neo_dim x = 0; x < out.w; x++)
            memcpy(pixel(&out, y, x), pixel(&in, y / 2, x / 2), (size_t)in.c * sizeof(float));
    return NEO_OK;
}

neo_status concatenate(const neo_node_call *call)
{
    image a = image_of(call->memories[0]), b = image_of(call->memories[1]);
    image out = image_of(call->memories[2]);
    for (neo_dim y = 0; y < out.h; y++) {
        for (neo_dim x = 0; x < out.w; x++) {
            memcpy(pixel(&out, y, x), pixel(&a, y, x), (size_t)a.c * sizeof(float));
            memcpy(pixel(&out, y, x) + a.c, pixel(&b, y, x), (size_t)b.c * sizeof(float));
        }
    }
    return NEO_OK;
}

/* Calls function(row, columns) for every row of the last memory, which is written in place. */
static neo_status each_row(const neo_node_call *call, void (*function)(float *row, neo_dim columns))
{
    neo_memory *memory = call->memories[call->count - 1];
    const neo_memory_desc *desc = neo_memory_get_desc(memory);
    neo_dim columns = desc->dims[desc->ndims - 1];
    neo_dim rows = (neo_dim)neo_memory_desc_elements(desc) / columns;
    float *data = neo_memory_get_handle(memory);
    for (neo_dim i = 0; i < rows; i++)
        function(data + i * columns, columns);
    return NEO_OK;
}

static void normalize_row(float *row, neo_dim columns)
{
    float mean = 0, variance = 0;
    for (neo_dim i = 0; i < columns; i++)
        mean += row[i] / (float)columns;
    for (neo_dim i = 0; i < columns; i++)
        variance += (row[i] - mean) * (row[i] - mean) / (float)columns;
    for (neo_dim i = 0; i < columns; i++)
        row[i] = (row[i] - mean) / sqrtf(variance + 1e-5f);
}

neo_status normalize(const neo_node_call *call)
{
    return each_row(call, normalize_row);
}

static void softmax_row(float *row, neo_dim columns)
{
    float most = row[0], sum = 0;
    for (neo_dim i = 1; i < columns; i++)
        most = row[i] > most ? row[i] : most;
    for (neo_dim i = 0; i < columns; i++)
        sum += row[i] = expf(row[i] - most);
    for (neo_dim i = 0; i < columns; i++)
        row[i] /= sum;
}

neo_status softmax(const neo_node_call *call)
{
    return each_row(call, softmax_row);
}
