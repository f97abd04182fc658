/* The lines of input, and what their sizes mean. */
#include "tests/perf/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t product(const size_t *values, size_t count)
{
    size_t result = 1;
    for (size_t i = 0; i < count; i++)
        result *= values[i];
    return result;
}

size_t conv_positions(const size_t dims[3])
{
    return product(dims, 3);
}

bool conv_is_depthwise(const struct conv_problem *conv)
{
    return conv->groups > 1 && conv->groups == conv->ic && conv->groups == conv->oc;
}

ptrdiff_t conv_pad_after(const struct conv_problem *conv, int dim)
{
    size_t reach = (conv->out[dim] - 1) * conv->stride[dim] +
                   (conv->kernel[dim] - 1) * (conv->dilation[dim] + 1) + 1;
    return (ptrdiff_t)reach - (ptrdiff_t)conv->in[dim] - (ptrdiff_t)conv->pad[dim];
}

ptrdiff_t conv_pad_named(const struct conv_problem *conv, int dim)
{
    ptrdiff_t pad = conv_pad_after(conv, dim);
    return pad < 0 && pad > -(ptrdiff_t)conv->stride[dim] ? 0 : pad;
}

bool conv_is_pointwise(const struct conv_problem *conv)
{
    for (int dim = 0; dim < 3; dim++)
        if (conv->kernel[dim] != 1 || conv->stride[dim] != 1 || conv->in[dim] != conv->out[dim] ||
            conv->pad[dim])
            return false;
    return true;
}

size_t matmul_batch(const struct matmul_problem *matmul)
{
    return product(matmul->dst_batch, matmul->batch_dims);
}

/* Index of the matrix in `batch` that belongs to element i of the destination's batch. */
static size_t broadcast_index(const struct matmul_problem *matmul, const size_t *batch, size_t i)
{
    size_t index = 0, step = 1;
    for (size_t dim = matmul->batch_dims; dim-- > 0;) {
        size_t here = i % matmul->dst_batch[dim];
        i /= matmul->dst_batch[dim];
        index += batch[dim] == 1 ? 0 : here * step;
        step *= batch[dim];
    }
    return index;
}

const float *matmul_src(const struct problem *problem, size_t i)
{
    const struct matmul_problem *matmul = &problem->matmul;
    return problem->src + broadcast_index(matmul, matmul->src_batch, i) * matmul->m * matmul->k;
}

const float *matmul_weights(const struct problem *problem, size_t i)
{
    const struct matmul_problem *matmul = &problem->matmul;
    return problem->weights +
           broadcast_index(matmul, matmul->weights_batch, i) * matmul->k * matmul->n;
}

float *matmul_dst(const struct problem *problem, size_t i)
{
    return problem->dst + i * problem->matmul.m * problem->matmul.n;
}

/* ---- input ---- */

static size_t parse_batch(const char *text, size_t dims[MAX_BATCH_DIMS])
{
    size_t count = 0;
    for (char *end; count < MAX_BATCH_DIMS; text = end + 1) {
        dims[count++] = strtoul(text, &end, 10);
        if (*end != 'x')
            break;
    }
    return count;
}

static bool parse_matmul(const char *line, struct problem *problem)
{
    struct matmul_problem *p = &problem->matmul;
    char src_batch[64], weights_batch[64];
    unsigned packed;
    if (sscanf(line, "matmul %zu %zu %zu %u %u %63s %63s", &p->m, &p->n, &p->k, &packed,
               &p->transposed, src_batch, weights_batch) != 7)
        return false;
    p->packed = packed;
    p->batch_dims = parse_batch(src_batch, p->src_batch);
    if (parse_batch(weights_batch, p->weights_batch) != p->batch_dims)
        return false;
    for (size_t i = 0; i < p->batch_dims; i++)
        p->dst_batch[i] =
            p->src_batch[i] > p->weights_batch[i] ? p->src_batch[i] : p->weights_batch[i];
    problem->kind = PROBLEM_MATMUL;
    problem->src_size = product(p->src_batch, p->batch_dims) * p->m * p->k;
    problem->weights_size = product(p->weights_batch, p->batch_dims) * p->k * p->n;
    problem->dst_size = matmul_batch(p) * p->m * p->n;
    return true;
}

static bool parse_conv(const char *line, struct problem *problem)
{
    size_t v[24];
    if (strncmp(line, "conv ", 5) != 0)
        return false;
    line += 5;
    for (size_t i = 0; i < 24; i++) {
        char *end;
        v[i] = strtoul(line, &end, 10);
        if (end == line)
            return false;
        line = end;
    }
    struct conv_problem *p = &problem->conv;
    *p = (struct conv_problem){.groups = v[0], .mb = v[1], .ic = v[2], .oc = v[3]};
    for (size_t dim = 0; dim < 3; dim++) {
        p->in[dim] = v[4 + dim];
        p->out[dim] = v[7 + dim];
        p->kernel[dim] = v[10 + dim];
        p->stride[dim] = v[13 + dim];
        p->pad[dim] = v[16 + dim];
        p->dilation[dim] = v[19 + dim];
    }
    p->spatial_dims = v[22];
    p->channels_last = v[23];
    problem->kind = PROBLEM_CONV;
    problem->src_size = p->mb * p->ic * conv_positions(p->in);
    problem->weights_size = p->oc * (p->ic / p->groups) * conv_positions(p->kernel);
    problem->dst_size = p->mb * p->oc * conv_positions(p->out);
    return true;
}

static bool parse_operation(const char *line, struct problem *problem)
{
    if (!operation_parse(&problem->operation, line))
        return false;
    struct operation_sizes sizes = operation_sizes(&problem->operation);
    problem->kind = PROBLEM_OPERATION;
    problem->src_size = sizes.src;
    problem->weights_size = sizes.second;
    problem->dst_size = sizes.dst;
    return true;
}

size_t problem_products(const struct problem *problem)
{
    if (problem->kind == PROBLEM_OPERATION)
        return problem->dst_size;
    size_t depth = problem->kind == PROBLEM_MATMUL ? problem->matmul.k
                                                   : problem->weights_size / problem->conv.oc;
    return problem->dst_size * depth;
}

bool problem_parse(struct problem *problem, const char *line)
{
    *problem = (struct problem){0};
    return parse_matmul(line, problem) || parse_conv(line, problem) ||
           parse_operation(line, problem);
}
