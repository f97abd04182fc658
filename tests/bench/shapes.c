/* Shapes of networks' layers. */
#include "tests/bench/shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/check.h"

/* ---- reading ---- */

/* The number after a name of the description, which ends at the quote; otherwise if it is not
 * there. */
static neo_dim field(const char *line, const char *name, neo_dim otherwise)
{
    size_t length = strlen(name);
    for (const char *at = line; *at && *at != '"'; at++) {
        bool starts = at == line || (at[-1] >= '0' && at[-1] <= '9') || at[-1] == '_';
        if (starts && !strncmp(at, name, length) && at[length] >= '0' && at[length] <= '9')
            return (neo_dim)strtoll(at + length, NULL, 10);
    }
    return otherwise;
}

/* "…*5" at the end of the name. */
static int repetitions(const char *line)
{
    const char *name = strchr(line, '"'), *star = name ? strchr(name, '*') : NULL;
    return star ? atoi(star + 1) : 1;
}

static struct shape parse_shape(const char *line)
{
    struct shape shape = {.count = repetitions(line)};
    shape.is_matmul =
        sscanf(line, "%" SCNd64 "x%" SCNd64 ":%*dx%" SCNd64, &shape.m, &shape.k, &shape.n) == 3;
    if (shape.is_matmul)
        return shape;
    shape.batch = field(line, "mb", 1);
    shape.groups = field(line, "g", 1);
    shape.ic = field(line, "ic", 1);
    shape.ih = field(line, "ih", 1);
    shape.oc = field(line, "oc", 1);
    shape.oh = field(line, "oh", 1);
    shape.kernel = field(line, "kh", 1);
    shape.stride = field(line, "sh", 1);
    shape.padding = field(line, "ph", 0);
    return shape;
}

size_t shapes_read(struct shape *shapes, size_t most, const char *path)
{
    char line[512];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    check(file != NULL, path);
    while (fgets(line, sizeof line, file)) {
        if (strchr("#-\n", *line))
            continue;
        check(count < most, "a network has too many shapes");
        shapes[count++] = parse_shape(line);
    }
    fclose(file);
    check(count > 0, path);
    return count;
}

/* ---- descriptions ---- */

static neo_memory_desc tensor(int ndims, const char *tag, const neo_dim *dims)
{
    neo_memory_desc desc;
    check_ok(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag));
    return desc;
}

static neo_memory_desc weights(const struct shape *s, bool any)
{
    if (s->is_matmul)
        return tensor(2, any ? "any" : "ab", (neo_dim[]){s->k, s->n});
    neo_dim g = s->groups, dims[] = {g, s->oc / g, s->ic / g, s->kernel, s->kernel};
    return g > 1 ? tensor(5, any ? "any" : "goihw", dims)
                 : tensor(4, any ? "any" : "oihw", dims + 1);
}

neo_memory_desc shape_plain_weights(const struct shape *shape)
{
    return weights(shape, false);
}

neo_matmul_desc shape_matmul(const struct shape *s)
{
    return (neo_matmul_desc){
        .src = tensor(2, "ab", (neo_dim[]){s->m, s->k}),
        .weights = weights(s, true),
        .dst = tensor(2, "ab", (neo_dim[]){s->m, s->n}),
    };
}

neo_convolution_desc shape_convolution(const struct shape *s)
{
    neo_dim right = (s->oh - 1) * s->stride + s->kernel - s->ih - s->padding;
    return (neo_convolution_desc){
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = tensor(4, "nhwc", (neo_dim[]){s->batch, s->ic, s->ih, s->ih}),
        .weights = weights(s, true),
        .dst = tensor(4, "nhwc", (neo_dim[]){s->batch, s->oc, s->oh, s->oh}),
        .strides = {s->stride, s->stride},
        .padding_left = {s->padding, s->padding},
        .padding_right = {right, right},
    };
}
