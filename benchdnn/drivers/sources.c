/* The drivers of operations that have many sources: concatenation and sum. */
#include "benchdnn/drivers/lines.h"

#include <stdio.h>
#include <string.h>

#define SOURCE_OPTIONS                                                     \
    LINES_TYPES("sdt", lines.sdts), LINES_TYPE("ddt", ddt, "a data type"), \
        LINES_TAGS("stag", lines.stags), LINES_TAG("dtag", dtag, "undef")

static const struct option concat_outer[] = {SOURCE_OPTIONS, LINES_COUNT("axis", lines.axis, "1")};

static const struct option sum_outer[] = {
    SOURCE_OPTIONS,
    {"scales", NULL, FIELD(lines.scales), "1", number_list_parse, number_list_print,
     "a number for all, or one for each source, separated by :"},
    LINES_INPLACE,
};

/* No tag at all stands for any. */
static struct tag dst_tag(const struct problem *p)
{
    if (strcmp(p->dtag.text, "undef") == 0)
        return (struct tag){"any"};
    return p->dtag;
}

static void set_operands(struct problem *p, int count, const struct dims *dst)
{
    const struct line_options *l = &p->lines;
    memset(p->operands, 0, sizeof p->operands);
    for (int i = 0; i < count; i++) {
        const struct dims *dims = &l->shapes[i < l->shape_count ? i : 0];
        p->operands[lines_source(i)] = (struct operand){NEO_ARG_MULTIPLE_SRC + i,
                                                        lines_type(&l->sdts, i),
                                                        *dims,
                                                        *lines_tag(&l->stags, i),
                                                        {0},
                                                        0};
    }
    p->operands[DST] = (struct operand){NEO_ARG_DST, p->ddt, *dst, dst_tag(p), {0}, 0};
}

static void source_descs(neo_memory_desc *sources, const neo_memory_desc *descs, int count)
{
    for (int i = 0; i < count; i++)
        sources[i] = descs[lines_source(i)];
}

/* ---- concat ---- */

static bool concat_complete(struct problem *p)
{
    const struct line_options *l = &p->lines;
    struct dims dst = l->shapes[0];
    if (l->axis >= dst.count) {
        bench_error("there is no dimension %d.", (int)l->axis);
        return false;
    }
    for (int i = 1; i < l->shape_count; i++)
        dst.at[l->axis] += l->shapes[i].at[l->axis];
    set_operands(p, l->shape_count, &dst);
    return true;
}

static neo_status concat_create(neo_primitive_desc **out, const struct problem *p,
                                neo_engine *engine, const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS], sources[SOURCES_MAX];
    neo_status status = lines_descs(descs, p);
    if (status != NEO_OK)
        return status;
    source_descs(sources, descs, p->lines.shape_count);
    return neo_concat_primitive_desc_create(out, engine, &descs[DST], p->lines.shape_count,
                                            (int)p->lines.axis, sources, attributes);
}

static void concat_reference(const struct problem *p, const struct reference *r)
{
    const struct dims *dst = &p->operands[DST].dims;
    int64_t position[NEO_MAX_NDIMS] = {0}, at[NEO_MAX_NDIMS], count = dims_elements(dst);
    for (int64_t i = 0; i < count; i++) {
        int source = 0;
        memcpy(at, position, sizeof at);
        while (at[p->lines.axis] >= p->lines.shapes[source].at[p->lines.axis])
            at[p->lines.axis] -= p->lines.shapes[source++].at[p->lines.axis];
        const struct tensor *t = &r->operands[lines_source(source)];
        int64_t index = 0;
        for (int d = 0; d < dst->count; d++)
            index = index * t->dims.at[d] + at[d];
        r->result[i] = (double)t->values[index];
        lines_next(position, dst);
    }
}

const struct driver driver_concat = {
    .name = "concat",
    .outer = {concat_outer, count_of(concat_outer)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = lines_parse,
    .complete = concat_complete,
    .print = lines_print,
    .out_of_scope = lines_out_of_scope,
    .create = concat_create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = concat_reference,
};

/* ---- sum ---- */

/* As many sources as there are types. */
static int source_count(const struct problem *p)
{
    return p->lines.sdts.count;
}

static bool sum_complete(struct problem *p)
{
    if (!lines_expect(p, 1, 1))
        return false;
    set_operands(p, source_count(p), &p->lines.shapes[0]);
    return true;
}

static double scale_of(const struct problem *p, int i)
{
    const struct number_list *scales = &p->lines.scales;
    return scales->at[i < scales->count ? i : scales->count - 1];
}

static neo_status sum_create(neo_primitive_desc **out, const struct problem *p, neo_engine *engine,
                             const neo_attributes *attributes)
{
    neo_memory_desc descs[OPERANDS], sources[SOURCES_MAX];
    float scales[SOURCES_MAX];
    neo_status status = lines_descs(descs, p);
    if (status != NEO_OK)
        return status;
    source_descs(sources, descs, source_count(p));
    for (int i = 0; i < source_count(p); i++)
        scales[i] = (float)scale_of(p, i);
    return neo_sum_primitive_desc_create(out, engine, &descs[DST], source_count(p), scales, sources,
                                         attributes);
}

static void sum_reference(const struct problem *p, const struct reference *r)
{
    int64_t count = dims_elements(&p->operands[DST].dims);
    for (int64_t i = 0; i < count; i++) {
        r->result[i] = 0;
        for (int s = 0; s < source_count(p); s++)
            r->result[i] +=
                (double)(float)scale_of(p, s) * (double)r->operands[lines_source(s)].values[i];
    }
}

static double sum_tolerance(const struct problem *p)
{
    return p->lines.scales.count > 1 || scale_of(p, 0) != 1 ? 1e-6 : 0;
}

const struct driver driver_sum = {
    .name = "sum",
    .outer = {sum_outer, count_of(sum_outer)},
    .is_on_lines = true,
    .zero_trust = 100,
    .parse = lines_parse,
    .complete = sum_complete,
    .print = lines_print,
    .out_of_scope = lines_out_of_scope,
    .create = sum_create,
    .ops = lines_ops,
    .reduction = lines_reduction,
    .reference = sum_reference,
    .tolerance = sum_tolerance,
};
