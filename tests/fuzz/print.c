/* Writes a problem, for people who look for what is wrong with it. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/fuzz/problem.h"

static void print_values(const char *title, const neo_dim *values, int count)
{
    fprintf(stderr, " %s", title);
    for (int i = 0; i < count; i++)
        if (values[i] == NEO_RUNTIME_DIM)
            fprintf(stderr, "%s*", i ? "x" : " ");
        else
            fprintf(stderr, "%s%" PRId64, i ? "x" : " ", values[i]);
}

static void print_tensor(const char *name, const neo_memory_desc *desc)
{
    static const char *const formats[] = {"undef", "any", "strided", "packed"};
    bool is_known = (unsigned)desc->format_kind < sizeof formats / sizeof *formats;
    int ndims = desc->ndims > NEO_MAX_NDIMS ? NEO_MAX_NDIMS : desc->ndims;
    fprintf(stderr, "  %s:", name);
    print_values("sizes", desc->dims, ndims);
    print_values("strides", desc->strides, ndims);
    fprintf(stderr, " ndims %d offset %" PRId64 " %s %s packed %u.%u.%u.%u\n", (int)desc->ndims,
            desc->offset, neo_data_type_name(desc->data_type),
            is_known ? formats[desc->format_kind] : "unknown", desc->packed.id,
            desc->packed.version, desc->packed.panel, desc->packed.grouped);
}

void fuzz_problem_print(const struct fuzz_problem *problem)
{
    static const char *const operations[] = {"matmul", "convolution", "reorder"};
    static const char *const names[] = {"src", "weights", "bias", "dst"};
    const neo_convolution_desc *window = &problem->window;
    fprintf(stderr, "%s: %s, %s, %d post-operations, scratchpad %s\n",
            operations[problem->operation], problem->is_right ? "right" : "changed",
            problem->is_runtime ? "at run time" : "known",
            neo_attributes_post_op_count(problem->attributes),
            neo_attributes_get_scratchpad_mode(problem->attributes) ? "user" : "library");
    for (int t = 0; t < FUZZ_TENSORS; t++)
        if (problem->described[t].ndims)
            print_tensor(names[t], &problem->described[t]);
    for (int i = 0; i < problem->operand_count; i++)
        print_tensor("operand", &problem->operands[i].actual);
    if (problem->operation != FUZZ_CONVOLUTION)
        return;
    fprintf(stderr, "  kind %d algorithm %d", (int)window->prop_kind, (int)window->algorithm);
    print_values("strides", window->strides, 3);
    print_values("dilations", window->dilations, 3);
    print_values("left", window->padding_left, 3);
    print_values("right", window->padding_right, 3);
    fprintf(stderr, "\n");
}
