/* The options that several drivers have, and what drivers have in common about problems. */
#include "benchdnn/problem.h"

#include "benchdnn/driver.h"
#include "benchdnn/globals.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define count_of(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) OPTION_FIELD(struct problem, field)

/* ---- values ---- */

static const char *const direction_names[DIRECTION_COUNT] = {
    [FWD_B] = "FWD_B",   [FWD_D] = "FWD_D", [FWD_I] = "FWD_I",   [BWD_D] = "BWD_D",
    [BWD_WB] = "BWD_WB", [BWD_W] = "BWD_W", [BWD_DW] = "BWD_DW",
};

const char *direction_name(enum direction dir)
{
    return direction_names[dir];
}

bool direction_parse(void *field, const char *text)
{
    for (int i = 0; i < DIRECTION_COUNT; i++) {
        if (text_equal_nocase(text, direction_names[i])) {
            *(enum direction *)field = (enum direction)i;
            return true;
        }
    }
    return false;
}

void direction_print(struct text *out, const void *field)
{
    text_printf(out, "%s", direction_names[*(const enum direction *)field]);
}

bool types_parse(void *field, const char *text)
{
    struct types *out = field;
    *out = (struct types){0};
    char part[32];
    for (const char *rest = text; rest;) {
        if (out->count == 3 || !text_next_part(&rest, ':', part, sizeof part) ||
            !type_parse(&out->at[out->count++], part))
            return false;
    }
    return out->count != 2;
}

void types_print(struct text *out, const void *field)
{
    const struct types *types = field;
    for (int i = 0; i < types->count; i++)
        text_printf(out, "%s%s", i ? ":" : "", type_name(types->at[i]));
}

enum type problem_type(const struct types *types, int operand)
{
    int i = operand == SRC ? 0 : operand == WEI ? 1 : 2;
    return types->at[types->count == 1 ? 0 : i];
}

bool one_type_parse(void *field, const char *text)
{
    return type_parse(field, text);
}

void one_type_print(struct text *out, const void *field)
{
    text_printf(out, "%s", type_name(*(const enum type *)field));
}

bool one_tag_parse(void *field, const char *text)
{
    return tag_parse(field, text);
}

void one_tag_print(struct text *out, const void *field)
{
    text_printf(out, "%s", ((const struct tag *)field)->text);
}

static bool strides_parse(struct strides *out, const char *text, int count)
{
    *out = (struct strides){0};
    char part[256];
    const char *rest = *text ? text : NULL;
    for (int i = 0; rest && i < count; i++) {
        if (!text_next_part(&rest, ':', part, sizeof part))
            return false;
        if (part[0] && !dims_parse(&out->at[i], part))
            return false;
        if (!rest && i + 1 < count)
            return false;
    }
    return rest == NULL;
}

bool strides3_parse(void *field, const char *text)
{
    return strides_parse(field, text, 3);
}

bool strides2_parse(void *field, const char *text)
{
    return strides_parse(field, text, 2);
}

static void strides_print(struct text *out, const struct strides *strides, int count)
{
    bool has_some = false;
    for (int i = 0; i < count; i++)
        has_some |= strides->at[i].count > 0;
    for (int i = 0; has_some && i < count; i++) {
        text_printf(out, "%s", i ? ":" : "");
        dims_print(out, &strides->at[i]);
    }
}

void strides3_print(struct text *out, const void *field)
{
    strides_print(out, field, 3);
}

void strides2_print(struct text *out, const void *field)
{
    strides_print(out, field, 2);
}

bool context_parse(void *field, const char *text)
{
    struct context *out = field;
    *out = (struct context){0};
    int *const numbers[] = {&out->max_threads, &out->core_type, &out->threads_per_core};
    char part[32];
    size_t i = 0;
    for (const char *rest = text; rest; i++) {
        long long value = 0;
        if (i == count_of(numbers) || !text_next_part(&rest, ':', part, sizeof part))
            return false;
        bool is_auto = text_equal_nocase(part, "auto");
        if (!is_auto && (!text_to_int(part, &value) || value < 1 || value > INT_MAX))
            return false;
        *numbers[i] = (int)value;
    }
    return true;
}

void context_print(struct text *out, const void *field)
{
    const struct context *c = field;
    int numbers[] = {c->max_threads, c->core_type, c->threads_per_core};
    int last = c->threads_per_core ? 2 : c->core_type ? 1 : 0;
    for (int i = 0; i <= last; i++) {
        text_printf(out, "%s", i ? ":" : "");
        if (numbers[i])
            text_printf(out, "%d", numbers[i]);
        else
            text_printf(out, "auto");
    }
}

/* ---- options that all drivers share, in the order of loops ---- */

static const struct option shared_rows[] = {
    {"attr-scales", NULL, FIELD(attr.scales), "", scales_parse, scales_print,
     "ARG:MASK[:VALUE][:TYPE[:GROUPS]][+…]"},
    {"attr-zero-points", NULL, FIELD(attr.zero_points), "", zero_points_parse, zero_points_print,
     "ARG:MASK[:VALUE][:TYPE[:GROUPS]][+…]"},
    {"attr-precomputed-reductions", NULL, FIELD(attr.precomputed_reductions), "", words_parse,
     words_print, "ARG:MASK[:TYPE[:GROUPS]]"},
    {"attr-post-ops", NULL, FIELD(attr.post_ops), "", post_ops_parse, post_ops_print,
     "sum[:SCALE[:ZERO_POINT[:TYPE]]], ELTWISE[:ALPHA[:BETA]], "
     "BINARY[:TYPE[:MASK[:TAG[:STRIDES]]]], "
     "select[:TYPE[.MASK[.TAG]][:MASK[.TAG]]], prelu[:MASK], dw:kKsSpP[:TYPE], joined by +"},
    {"attr-scratchpad", NULL, FIELD(attr.scratchpad), "library", scratchpad_parse, scratchpad_print,
     "library or user"},
    {"attr-fpmath", NULL, FIELD(attr.fpmath), "strict", fpmath_parse, fpmath_print,
     "strict, bf16, f16, tf32 or any; :true to treat integers so too"},
    {"attr-acc-mode", NULL, FIELD(attr.accumulation), "strict", accumulation_parse,
     accumulation_print, "strict, relaxed, any, f32, f16 or s32"},
    {"attr-deterministic", NULL, FIELD(attr.deterministic), "false", option_parse_bool,
     option_print_bool, "true or false"},
    {"attr-dropout", NULL, FIELD(attr.dropout), "", words_parse, words_print,
     "PROBABILITY[:SEED[:TAG]]"},
    {"attr-rounding-mode", NULL, FIELD(attr.rounding), "", rounding_parse, words_print,
     "ARG:environment or ARG:stochastic, joined by +"},
    {"ctx-init", NULL, FIELD(ctx_init), "auto", context_parse, context_print,
     "MAX_THREADS[:CORE_TYPE[:THREADS_PER_CORE]], each a number or auto"},
    {"ctx-exe", NULL, FIELD(ctx_exe), "auto", context_parse, context_print,
     "MAX_THREADS[:CORE_TYPE[:THREADS_PER_CORE]], each a number or auto"},
};

const struct option_table driver_shared = {shared_rows, count_of(shared_rows)};

/* ---- what drivers have in common ---- */

bool problem_set_name(struct problem *problem, const char *name)
{
    size_t size = sizeof problem->name;
    return (size_t)snprintf(problem->name, size, "%s", name) < size;
}

bool problem_read_name(struct problem *problem, const char *text)
{
    problem->name[0] = 0;
    if (*text == '_')
        text++;
    if (!*text || (*text == 'n' && problem_set_name(problem, text + 1)))
        return true;
    bench_error("Unrecognized pattern in `%s`.", text);
    return false;
}

struct dims problem_conv_dst(const struct conv_shape *c)
{
    struct dims dims = {.count = 2 + c->spatial, .at = {c->mb, c->oc}};
    memcpy(dims.at + 2, c->o + SPATIAL - c->spatial, (size_t)c->spatial * sizeof *c->o);
    return dims;
}

struct attribute_shape problem_attribute_shape(const struct problem *problem)
{
    const struct operand *o = problem->operands;
    return (struct attribute_shape){
        .dst = &o[DST].dims,
        .between = problem_conv_dst(&problem->conv),
        .weights_ndims = o[WEI].dims.count,
        .weights_type = type_to_neo(o[WEI].type),
        .bias_type = o[BIA].arg ? type_to_neo(o[BIA].type) : NEO_DATA_TYPE_UNDEF,
        .is_convolution = problem->driver->is_convolution || problem->driver->is_on_lines,
        .has_groups = problem->driver->is_convolution && problem->conv.has_groups,
        .dst_runtime = o[DST].runtime,
    };
}

neo_status operand_desc(neo_memory_desc *out, const struct operand *operand, bool actual)
{
    *out = (neo_memory_desc){0};
    if (!operand->arg)
        return NEO_OK;
    struct dims dims = operand->dims;
    for (int i = 0; i < dims.count; i++) {
        if (!actual && operand->runtime >> i & 1)
            dims.at[i] = NEO_RUNTIME_DIM;
    }
    neo_data_type type = type_to_neo(operand->type);
    if (operand->strides.count) {
        if (operand->strides.count != dims.count)
            return NEO_INVALID_ARGUMENT;
        return neo_memory_desc_init_strides(out, dims.count, dims.at, type, operand->strides.at);
    }
    char tag[48];
    if (!tag_expand(tag, sizeof tag, &operand->tag, dims.count))
        return NEO_INVALID_ARGUMENT;
    return neo_memory_desc_init_tag(out, dims.count, dims.at, type, tag);
}

void problem_print_body(struct text *out, const struct problem *problem)
{
    const struct driver *driver = problem->driver;
    options_print(out, driver->outer, problem, globals.canonical);
    options_print(out, driver->inner, problem, globals.canonical);
    options_print(out, driver_shared, problem, globals.canonical);
    driver->print(out, problem, globals.canonical);
}
