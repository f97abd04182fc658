/* The shuffle driver. */
#include "benchdnn/drivers/lines.h"

#include <string.h>

static const struct option outer[] = {
    LINES_DIR,
    LINES_TYPE("dt", sdt, "a data type"),
    LINES_TAG("tag", stag, "abx"),
    LINES_COUNT("axis", lines.axis, "1"),
    LINES_COUNT("group", lines.group, "1"),
};

static const struct option inner[] = {LINES_MB};

static bool complete(struct problem *p)
{
    const struct line_options *l = &p->lines;
    if (!lines_expect(p, 1, 1))
        return false;
    lines_set_batch(p);
    memset(p->operands, 0, sizeof p->operands);
    p->operands[SRC] = (struct operand){NEO_ARG_SRC, p->sdt, l->shapes[0], p->stag, {0}, 0};
    p->operands[DST] = (struct operand){NEO_ARG_DST, p->sdt, l->shapes[0], {"any"}, {0}, 0};
    return true;
}

static const char *out_of_scope(const struct problem *p)
{
    const struct dims *dims = &p->operands[DST].dims;
    bool fits = p->lines.axis < dims->count && p->lines.group > 0 &&
                dims->at[p->lines.axis] % p->lines.group == 0;
    return fits ? lines_out_of_scope(p) : "Invalid case";
}

static neo_status create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                         const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS];
    neo_status status = lines_descs(descs, p);
    return status != NEO_OK
               ? status
               : neo_shuffle_primitive_desc_create(out, engine, lines_prop_kind(p), &descs[SRC],
                                                   &descs[DST], (int)p->lines.axis, p->lines.group,
                                                   attributes);
}

static void reference(const struct problem *p, const struct reference *r)
{
    const struct dims *dims = &p->operands[DST].dims;
    int axis = (int)p->lines.axis;
    int64_t position[NEO_MAX_NDIMS] = {0}, at[NEO_MAX_NDIMS], count = dims_elements(dims);
    int64_t rows = dims->at[axis] / p->lines.group;
    for (int64_t i = 0; i < count; i++) {
        memcpy(at, position, sizeof at);
        at[axis] = position[axis] % rows * p->lines.group + position[axis] / rows;
        r->result[i] = lines_value(r, SRC, at);
        lines_next(position, dims);
    }
}

const struct driver driver_shuffle = {
    .name = "shuffle",
    .outer = {outer, count_of(outer)},
    .inner = {inner, count_of(inner)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = lines_parse,
    .complete = complete,
    .print = lines_print,
    .out_of_scope = out_of_scope,
    .create = create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = reference,
};
