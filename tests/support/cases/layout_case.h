/* Weights of some shape, and a packed layout for them. */
#ifndef TESTS_SUPPORT_CASES_LAYOUT_CASE_H
#define TESTS_SUPPORT_CASES_LAYOUT_CASE_H

#include <stdbool.h>

#include "src/tensor/layout.h"
#include "tests/support/tensor.h"

struct layout_case {
    enum layout_id id;
    bool grouped;
    const char *tag; /* of the plain weights */
    int ndims;
    neo_dim dims[5];
};

static inline neo_memory_desc layout_case_desc(const struct layout_case *c)
{
    neo_memory_desc desc = tensor_desc(c->ndims, c->dims, "any");
    layout_set(&desc, c->id, c->grouped);
    return desc;
}

#endif
