/* Tables of options: one row per option says how its text becomes a value and back. */
#ifndef BENCHDNN_OPTIONS_H
#define BENCHDNN_OPTIONS_H

#include "benchdnn/text.h"

/* The value is the field at offset in some structure: a plain value, copied as bytes. */
struct option {
    const char *name;    /* without the two dashes */
    const char *alias;   /* an older spelling, or NULL */
    size_t offset, size; /* of the field */
    const char *initial; /* the text of its default; what "--name=" means */
    bool (*parse)(void *field, const char *text);
    void (*print)(struct text *out, const void *field);
    const char *help;
};

#define OPTION_FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)

struct option_table {
    const struct option *rows;
    size_t count;
};

/* The row that token ("--name=value") belongs to, with *value behind the "=", or NULL. */
const struct option *option_find(struct option_table table, const char *token, const char **value);

/* True if token is "--name=value"; *value then is what follows the "=". */
bool option_is(const char *token, const char *name, const char **value);

/* Sets every field of the structure to its default. */
void options_init(struct option_table table, void *structure);

/* Appends " --name=value" without the first blank, for each field that differs from its default. */
void options_print(struct text *out, struct option_table table, const void *structure,
                   bool also_defaults);

/* Says that text is no value of the option, and ends the program with status 2. */
__attribute__((noreturn)) void option_fail(const struct option *option, const char *text);

/* ---- options with a list of values, of which the product with all others is run ---- */

struct option_list {
    size_t count, capacity;
    unsigned char *values; /* count * option->size bytes */
};

void option_list_deinit(struct option_list *list);
/* text: elements separated by commas. Ends the program with status 2 if one is wrong. */
void option_list_set(struct option_list *list, const struct option *option, const char *text);

/* ---- parsers of common kinds of values ---- */

bool option_parse_bool(void *field, const char *text);
void option_print_bool(struct text *out, const void *field);
bool option_parse_count(void *field, const char *text); /* int64_t, >= 0 */
void option_print_count(struct text *out, const void *field);
bool option_parse_string(void *field, const char *text); /* char *, owned; quotes are stripped */
void option_print_string(struct text *out, const void *field);

#endif
