#include "tests/perf/onnx_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- protocol buffers: a field is its number and kind, then its value ---- */

enum { NUMBER = 0, BYTES = 2 };

static void append(struct onnx_bytes *to, const void *data, size_t size)
{
    if (to->size + size > to->room) {
        to->room = 2 * (to->size + size);
        to->data = realloc(to->data, to->room);
        if (!to->data) {
            fprintf(stderr, "driver: no memory for a model of %zu bytes\n", to->room);
            exit(1);
        }
    }
    if (size)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

/* Seven bits a byte, the lowest first; the eighth says that there are more. */
static void append_varint(struct onnx_bytes *to, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        append(to, &byte, 1);
        value >>= 7;
    } while (value);
}

static void number(struct onnx_bytes *to, unsigned field, int64_t value)
{
    append_varint(to, field << 3 | NUMBER);
    append_varint(to, (uint64_t)value);
}

static void bytes(struct onnx_bytes *to, unsigned field, const void *data, size_t size)
{
    append_varint(to, field << 3 | BYTES);
    append_varint(to, size);
    append(to, data, size);
}

static void text(struct onnx_bytes *to, unsigned field, const char *value)
{
    bytes(to, field, value, strlen(value));
}

/* A message inside another; its own bytes are given back. */
static void message(struct onnx_bytes *to, unsigned field, struct onnx_bytes *inner)
{
    bytes(to, field, inner->data, inner->size);
    free(inner->data);
    *inner = (struct onnx_bytes){0};
}

/* ---- onnx.proto: the numbers of its messages' fields ---- */

enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INT = 3, ATTRIBUTE_INTS = 8, ATTRIBUTE_KIND = 20 };
enum { ATTRIBUTE_IS_INT = 2, ATTRIBUTE_IS_INTS = 7 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OPERATOR = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { MODEL_VERSION = 1, MODEL_GRAPH = 7, MODEL_OPERATORS = 8 };
enum { OPERATORS_DOMAIN = 1, OPERATORS_VERSION = 2 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_VALUES = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2 };
enum { SHAPE_DIM = 1, DIM_VALUE = 1 };
/* Of the file's format, and of the sets of operators. */
enum { FORMAT = 9, ONNX_OPERATORS = 19, MICROSOFT_OPERATORS = 1 };

void onnx_attribute(struct onnx_bytes *node, const char *name, int64_t value)
{
    struct onnx_bytes attribute = {0};
    text(&attribute, ATTRIBUTE_NAME, name);
    number(&attribute, ATTRIBUTE_INT, value);
    number(&attribute, ATTRIBUTE_KIND, ATTRIBUTE_IS_INT);
    message(node, NODE_ATTRIBUTE, &attribute);
}

void onnx_attribute_list(struct onnx_bytes *node, const char *name, size_t count,
                         const int64_t *values)
{
    struct onnx_bytes attribute = {0};
    text(&attribute, ATTRIBUTE_NAME, name);
    for (size_t i = 0; i < count; i++)
        number(&attribute, ATTRIBUTE_INTS, values[i]);
    number(&attribute, ATTRIBUTE_KIND, ATTRIBUTE_IS_INTS);
    message(node, NODE_ATTRIBUTE, &attribute);
}

static void constant(struct onnx_bytes *graph, const struct onnx_tensor *tensor)
{
    struct onnx_bytes value = {0};
    for (size_t i = 0; i < tensor->ndims; i++)
        number(&value, TENSOR_DIM, tensor->dims[i]);
    number(&value, TENSOR_TYPE, tensor->type);
    text(&value, TENSOR_NAME, tensor->name);
    bytes(&value, TENSOR_VALUES, tensor->values, tensor->bytes);
    message(graph, GRAPH_CONSTANT, &value);
}

static void variable(struct onnx_bytes *graph, unsigned field, const struct onnx_tensor *tensor)
{
    struct onnx_bytes value = {0}, type = {0}, inner = {0}, shape = {0};
    for (size_t i = 0; i < tensor->ndims; i++) {
        struct onnx_bytes dim = {0};
        number(&dim, DIM_VALUE, tensor->dims[i]);
        message(&shape, SHAPE_DIM, &dim);
    }
    number(&inner, TENSOR_ELEMENT, tensor->type);
    message(&inner, TENSOR_SHAPE, &shape);
    message(&type, TYPE_TENSOR, &inner);
    text(&value, VALUE_NAME, tensor->name);
    message(&value, VALUE_TYPE, &type);
    message(graph, field, &value);
}

static void operators(struct onnx_bytes *model, const char *domain, int64_t version)
{
    struct onnx_bytes set = {0};
    text(&set, OPERATORS_DOMAIN, domain);
    number(&set, OPERATORS_VERSION, version);
    message(model, MODEL_OPERATORS, &set);
}

void onnx_model(struct onnx_bytes *model, const char *operation, const char *domain,
                const struct onnx_bytes *node, size_t count, const struct onnx_tensor *inputs,
                const struct onnx_tensor *output)
{
    struct onnx_bytes graph = {0}, whole = {0};
    for (size_t i = 0; i < count; i++)
        text(&whole, NODE_INPUT, inputs[i].name);
    text(&whole, NODE_OUTPUT, output->name);
    text(&whole, NODE_OPERATOR, operation);
    text(&whole, NODE_DOMAIN, domain);
    append(&whole, node->data, node->size);
    message(&graph, GRAPH_NODE, &whole);
    text(&graph, GRAPH_NAME, "one");
    for (size_t i = 0; i < count; i++)
        if (inputs[i].values)
            constant(&graph, &inputs[i]);
        else if (*inputs[i].name)
            variable(&graph, GRAPH_INPUT, &inputs[i]);
    variable(&graph, GRAPH_OUTPUT, output);
    number(model, MODEL_VERSION, FORMAT);
    message(model, MODEL_GRAPH, &graph);
    operators(model, "", ONNX_OPERATORS);
    operators(model, "com.microsoft", MICROSOFT_OPERATORS);
}
