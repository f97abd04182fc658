/* Models of ONNX with one node, written as the bytes that a file of them has (protocol buffers). */
#ifndef PERF_ONNX_MODEL_H
#define PERF_ONNX_MODEL_H

#include <stddef.h>
#include <stdint.h>

/* What has been written of a message; zero-initialise it, and free(data). */
struct onnx_bytes {
    uint8_t *data;
    size_t size, room;
};

/* onnx.proto's numbers of element types */
enum { ONNX_F32 = 1, ONNX_U8 = 2, ONNX_S8 = 3, ONNX_S32 = 6, ONNX_F16 = 10 };

/* A tensor: its name, and its values where it is a constant. */
struct onnx_tensor {
    const char *name;
    int type;
    size_t ndims;
    int64_t dims[8];
    const void *values; /* NULL: comes when the model runs */
    size_t bytes;
};

void onnx_attribute(struct onnx_bytes *node, const char *name, int64_t value);
void onnx_attribute_list(struct onnx_bytes *node, const char *name, size_t count,
                         const int64_t *values);

/* The whole model: node has attributes; inputs are its, in order, constants among them. Domain is
 * "" or "com.microsoft". */
void onnx_model(struct onnx_bytes *model, const char *operation, const char *domain,
                const struct onnx_bytes *node, size_t count, const struct onnx_tensor *inputs,
                const struct onnx_tensor *output);

#endif
