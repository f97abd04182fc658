/* What the drivers of operations on lines have in common. */
#include "benchdnn/drivers/lines.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- values of options ---- */

bool type_list_parse(void *field, const char *text)
{
    struct type_list *out = field;
    char part[32];
    *out = (struct type_list){0};
    for (const char *rest = text; rest;)
        if (out->count == SOURCES_MAX || !text_next_part(&rest, ':', part, sizeof part) ||
            !type_parse(&out->at[out->count++], part))
            return false;
    return true;
}

void type_list_print(struct text *out, const void *field)
{
    const struct type_list *list = field;
    for (int i = 0; i < list->count; i++)
        text_printf(out, "%s%s", i ? ":" : "", type_name(list->at[i]));
}

bool tag_list_parse(void *field, const char *text)
{
    struct tag_list *out = field;
    char part[48];
    *out = (struct tag_list){0};
    for (const char *rest = text; rest;)
        if (out->count == SOURCES_MAX || !text_next_part(&rest, ':', part, sizeof part) ||
            !tag_parse(&out->at[out->count++], part))
            return false;
    return true;
}

void tag_list_print(struct text *out, const void *field)
{
    const struct tag_list *list = field;
    for (int i = 0; i < list->count; i++)
        text_printf(out, "%s%s", i ? ":" : "", list->at[i].text);
}

bool number_parse(void *field, const char *text)
{
    return text_to_double(text, field);
}

void number_print(struct text *out, const void *field)
{
    text_printf(out, "%g", *(const double *)field);
}

bool number_list_parse(void *field, const char *text)
{
    struct number_list *out = field;
    char part[48];
    *out = (struct number_list){0};
    for (const char *rest = text; rest;)
        if (out->count == SOURCES_MAX || !text_next_part(&rest, ':', part, sizeof part) ||
            !text_to_double(part, &out->at[out->count++]))
            return false;
    return true;
}

void number_list_print(struct text *out, const void *field)
{
    const struct number_list *list = field;
    for (int i = 0; i < list->count; i++)
        text_printf(out, "%s%g", i ? ":" : "", list->at[i]);
}

bool lines_parse_name(void *field, const char *text, const char *prefix, const char *const *names,
                      size_t count)
{
    if (strncasecmp(text, prefix, strlen(prefix)) == 0)
        text += strlen(prefix);
    for (size_t i = 0; i < count; i++) {
        if (text_equal_nocase(text, names[i])) {
            *(int *)field = (int)i;
            return true;
        }
    }
    return false;
}

/* ---- descriptors ---- */

bool lines_parse(struct problem *problem, const char *text)
{
    struct line_options *lines = &problem->lines;
    const char *at = text;
    lines->shape_count = 0;
    do {
        if (lines->shape_count == SOURCES_MAX) {
            bench_error("There are more than %d tensors in `%s`.", SOURCES_MAX, text);
            return false;
        }
        const char *wrong = dims_read(&lines->shapes[lines->shape_count++], &at);
        if (wrong) {
            bench_error("Dimensions are expected in `%s`: %s.", text, wrong);
            return false;
        }
    } while (*at == ':' && at++);
    return problem_read_name(problem, at);
}

void lines_print(struct text *out, const struct problem *problem, bool canonical)
{
    (void)canonical;
    for (int i = 0; i < problem->lines.shape_count; i++) {
        text_printf(out, "%s", i ? ":" : "");
        dims_print(out, &problem->lines.shapes[i]);
    }
    if (problem->name[0])
        text_printf(out, "n%s", problem->name);
}

/* ---- operands ---- */

enum type lines_type(const struct type_list *list, int i)
{
    return list->at[i < list->count ? i : list->count - 1];
}

const struct tag *lines_tag(const struct tag_list *list, int i)
{
    return &list->at[i < list->count ? i : list->count - 1];
}

bool lines_expect(const struct problem *problem, int least, int most)
{
    int count = problem->lines.shape_count;
    if (count >= least && count <= most)
        return true;
    bench_error("the %s driver takes the sizes of %d to %d tensors, not of %d.",
                problem->driver->name, least, most, count);
    return false;
}

void lines_pad(struct problem *problem)
{
    struct line_options *lines = &problem->lines;
    for (int i = 1; i < lines->shape_count; i++) {
        while (lines->shapes[i].count < lines->shapes[0].count)
            lines->shapes[i].at[lines->shapes[i].count++] = 1;
    }
}

void lines_set_batch(struct problem *problem)
{
    for (int i = 0; i < problem->lines.shape_count && problem->mb; i++)
        problem->lines.shapes[i].at[0] = problem->mb;
}

neo_status lines_descs(neo_memory_desc *out, const struct problem *problem)
{
    neo_status status = NEO_OK;
    for (int i = 0; i < OPERANDS && status == NEO_OK; i++)
        status = operand_desc(&out[i], &problem->operands[i], false);
    return status;
}

neo_prop_kind lines_prop_kind(const struct problem *problem)
{
    return problem->dir == FWD_I ? NEO_FORWARD_INFERENCE : NEO_FORWARD_TRAINING;
}

const char *lines_out_of_scope(const struct problem *problem)
{
    return problem->dir >= BWD_D ? "Case not supported" : NULL;
}

double lines_ops(const struct problem *problem)
{
    return (double)dims_elements(&problem->operands[DST].dims);
}

int64_t lines_reduction(const struct problem *problem)
{
    (void)problem;
    return 1;
}

/* ---- reference ---- */

bool lines_next(int64_t *position, const struct dims *dims)
{
    for (int d = dims->count - 1; d >= 0; d--) {
        if (++position[d] < dims->at[d])
            return true;
        position[d] = 0;
    }
    return false;
}

double lines_value(const struct reference *r, int operand, const int64_t *position)
{
    const struct tensor *t = &r->operands[operand];
    return (double)t->values[dims_broadcast_index(&t->dims, position)];
}
