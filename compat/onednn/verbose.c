/* ONEDNN_VERBOSE: the lines that scripts of oneDNN's users read, with neoprene: in the
 * implementation's name. */
#include <stdio.h>

#include "compat/onednn/objects.h"

/* Text that is cut off where the line is full. */
struct line {
    char text[1024];
    size_t length;
};

#define ADD(line, ...)                                                                     \
    do {                                                                                   \
        size_t room = sizeof(line)->text - (line)->length;                                 \
        int added = snprintf((line)->text + (line)->length, room, __VA_ARGS__);            \
        (line)->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room - 1; \
    } while (0)

static void add_tensor(struct line *line, const char *name, const dnnl_memory_desc *md)
{
    char tag[32];
    if (md->desc.ndims == 0)
        return;
    ADD(line, "%s%s:%s::blocked:%s::f0",
        line->length && line->text[line->length - 1] != ',' ? " " : "", name,
        neo_data_type_name(md->desc.data_type), neo_memory_desc_tag(&md->desc, tag, sizeof tag));
}

static void add_tensors(struct line *line, const dnnl_primitive_desc *pd)
{
    add_tensor(line, "src", pd_argument(pd, pd->sources ? NEO_ARG_MULTIPLE_SRC : NEO_ARG_SRC));
    for (int i = 1; i < pd->sources; i++)
        add_tensor(line, "src", pd_argument(pd, NEO_ARG_MULTIPLE_SRC + i));
    add_tensor(line, "src1", pd_argument(pd, NEO_ARG_SRC_1));
    add_tensor(line, "wei", pd_argument(pd, NEO_ARG_WEIGHTS));
    add_tensor(line, "bia", pd_argument(pd, NEO_ARG_BIAS));
    add_tensor(line, "dst", pd_argument(pd, NEO_ARG_DST));
}

static void add_dims(struct line *line, const dnnl_memory_desc *md)
{
    for (int d = 0; d < md->desc.ndims; d++)
        ADD(line, "%s%lld", d ? "x" : "", (long long)md->desc.dims[d]);
}

static void add_convolution(struct line *line, const dnnl_primitive_desc *pd)
{
    const neo_memory_desc *src = &pd_argument(pd, NEO_ARG_SRC)->desc;
    const neo_memory_desc *dst = &pd_argument(pd, NEO_ARG_DST)->desc;
    const neo_memory_desc *weights = &pd_argument(pd, NEO_ARG_WEIGHTS)->desc;
    const struct parameters *p = &pd->parameters;
    int groups = weights->ndims > src->ndims;
    if (groups)
        ADD(line, "g%lld", (long long)weights->dims[0]);
    ADD(line, "mb%lld_ic%lldoc%lld", (long long)src->dims[0], (long long)src->dims[1],
        (long long)dst->dims[1]);
    for (int s = 0; s < src->ndims - 2; s++) {
        char x = "dhw"[s + 5 - src->ndims];
        ADD(line, "_i%c%lldo%c%lldk%c%llds%c%lldd%c%lldp%c%lld", x, (long long)src->dims[s + 2], x,
            (long long)dst->dims[s + 2], x, (long long)weights->dims[s + 2 + groups], x,
            (long long)p->strides[s], x, (long long)p->dilations[s], x,
            (long long)p->padding_left[s]);
    }
}

static void add_problem(struct line *line, const dnnl_primitive_desc *pd)
{
    if (pd->kind == PRIMITIVE_CONVOLUTION) {
        add_convolution(line, pd);
        return;
    }
    add_dims(line, pd_argument(pd, pd->sources ? NEO_ARG_MULTIPLE_SRC : NEO_ARG_SRC));
    if (pd->kind == PRIMITIVE_MATMUL) {
        ADD(line, ":");
        add_dims(line, pd_argument(pd, NEO_ARG_WEIGHTS));
    }
}

void verbose_executed(const dnnl_primitive_desc *pd, double milliseconds)
{
    int prop = pd->parameters.prop_kind;
    struct line line = {.length = 0};
    ADD(&line, "onednn_verbose,v1,primitive,exec,cpu,%s,%s,%s,", map_primitive_name(pd->kind),
        pd->implementation,
        prop == PROP_TRAINING    ? "forward_training"
        : prop == PROP_INFERENCE ? "forward_inference"
                                 : "undef");
    add_tensors(&line, pd);
    ADD(&line, ",%s,", pd->attr->scratchpad_mode == SCRATCHPAD_USER ? "attr-scratchpad:user" : "");
    if (pd->kind == PRIMITIVE_CONVOLUTION)
        ADD(&line, "alg:convolution_direct");
    ADD(&line, ",");
    add_problem(&line, pd);
    printf("%s,%g\n", line.text, milliseconds);
    fflush(stdout);
}
