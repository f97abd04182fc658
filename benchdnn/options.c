/* Tables of options: one row per option says how its text becomes a value and back. */
#include "benchdnn/options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

bool option_is(const char *token, const char *name, const char **value)
{
    size_t length = strlen(name);
    if (strncmp(token, "--", 2) != 0 || strncmp(token + 2, name, length) != 0 ||
        token[2 + length] != '=')
        return false;
    *value = token + 2 + length + 1;
    return true;
}

const struct option *option_find(struct option_table table, const char *token, const char **value)
{
    const struct option *row = table.rows;
    for (size_t i = 0; i < table.count; i++, row++) {
        if (option_is(token, row->name, value))
            return row;
        if (row->alias && option_is(token, row->alias, value)) {
            bench_error("option '--%s' is deprecated, use '--%s'.", row->alias, row->name);
            return row;
        }
    }
    return NULL;
}

void option_fail(const struct option *option, const char *text)
{
    bench_error("`%s` option expects %s; `%s` is not that.", option->name, option->help, text);
    exit(2);
}

/* ---- one value ---- */

void options_init(struct option_table table, void *structure)
{
    for (size_t i = 0; i < table.count; i++) {
        const struct option *row = &table.rows[i];
        if (!row->parse((char *)structure + row->offset, row->initial))
            option_fail(row, row->initial);
    }
}

/* Two values are the same when they read the same. */
static bool is_initial(const struct option *row, const char *printed)
{
    struct text initial = {0};
    void *value = bench_alloc(row->size);
    row->parse(value, row->initial);
    row->print(&initial, value);
    bool same = strcmp(text_get(&initial), printed) == 0;
    if (row->print == option_print_string)
        free(*(char **)value);
    free(value);
    text_deinit(&initial);
    return same;
}

void options_print(struct text *out, struct option_table table, const void *structure,
                   bool also_defaults)
{
    struct text value = {0};
    for (size_t i = 0; i < table.count; i++) {
        const struct option *row = &table.rows[i];
        if (!row->print)
            continue;
        text_clear(&value);
        row->print(&value, (const char *)structure + row->offset);
        if (also_defaults || !is_initial(row, text_get(&value)))
            text_printf(out, "--%s=%s ", row->name, text_get(&value));
    }
    text_deinit(&value);
}

/* ---- lists ---- */

void option_list_deinit(struct option_list *list)
{
    free(list->values);
    *list = (struct option_list){0};
}

static void list_add(struct option_list *list, const struct option *option, const char *text)
{
    list->values = bench_grow(list->values, list->count, &list->capacity, option->size);
    memset(list->values + list->count * option->size, 0, option->size);
    if (!option->parse(list->values + list->count * option->size, text))
        option_fail(option, text);
    list->count++;
}

void option_list_set(struct option_list *list, const struct option *option, const char *text)
{
    struct option_list parsed = {0};
    if (!*text)
        list_add(&parsed, option, option->initial);
    size_t size = strlen(text) + 1;
    char *part = bench_alloc(size);
    for (const char *rest = *text ? text : NULL; rest;) {
        text_next_part(&rest, ',', part, size);
        list_add(&parsed, option, part);
    }
    free(part);
    option_list_deinit(list);
    *list = parsed;
}

/* ---- common kinds of values ---- */

bool option_parse_bool(void *field, const char *text)
{
    return text_to_bool(text, field);
}

void option_print_bool(struct text *out, const void *field)
{
    text_printf(out, "%s", *(const bool *)field ? "true" : "false");
}

bool option_parse_count(void *field, const char *text)
{
    long long value;
    if (!text_to_int(text, &value) || value < 0)
        return false;
    *(int64_t *)field = value;
    return true;
}

void option_print_count(struct text *out, const void *field)
{
    text_printf(out, "%lld", (long long)*(const int64_t *)field);
}

bool option_parse_string(void *field, const char *text)
{
    char *copy = bench_strdup(text);
    size_t length = strlen(copy);
    bool is_quoted = length >= 2 && strchr("\"'", copy[0]) && copy[length - 1] == copy[0];
    if (is_quoted) {
        copy[length - 1] = 0;
        memmove(copy, copy + 1, length - 1);
    }
    free(*(char **)field);
    *(char **)field = copy;
    return true;
}

void option_print_string(struct text *out, const void *field)
{
    text_printf(out, "%s", *(char *const *)field);
}
