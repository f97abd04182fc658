/* What the drivers of operations on lines have in common: options, descriptors of sizes, operands.
 */
#ifndef BENCHDNN_DRIVERS_LINES_H
#define BENCHDNN_DRIVERS_LINES_H

#include "benchdnn/driver.h"
#include "benchdnn/reference.h"

#define count_of(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) OPTION_FIELD(struct problem, field)

/* ---- rows of options ---- */

#define LINES_DIR                                                           \
    {                                                                       \
        "dir", NULL, FIELD(dir), "FWD_D", direction_parse, direction_print, \
            "FWD_D (training), FWD_I (inference), or a backward one"        \
    }
#define LINES_INPLACE                                                                         \
    {                                                                                         \
        "inplace", NULL, FIELD(lines.inplace), "false", option_parse_bool, option_print_bool, \
            "true or false: dst is src's buffer"                                              \
    }
#define LINES_MB                                                                                  \
    {                                                                                             \
        "mb", NULL, FIELD(mb), "0", option_parse_count, NULL, "a number; 0: as in the descriptor" \
    }
#define LINES_TYPE(name, field, help)                                         \
    {                                                                         \
        name, NULL, FIELD(field), "f32", one_type_parse, one_type_print, help \
    }
#define LINES_TAG(name, field, initial)                                                 \
    {                                                                                   \
        name, NULL, FIELD(field), initial, one_tag_parse, one_tag_print, "a format tag" \
    }
#define LINES_TYPES(name, field)                                           \
    {                                                                      \
        name, NULL, FIELD(field), "f32", type_list_parse, type_list_print, \
            "a data type for all, or one for each tensor, separated by :"  \
    }
#define LINES_TAGS(name, field)                                            \
    {                                                                      \
        name, NULL, FIELD(field), "abx", tag_list_parse, tag_list_print,   \
            "a format tag for all, or one for each tensor, separated by :" \
    }
#define LINES_NUMBER(name, field, initial)                                        \
    {                                                                             \
        name, NULL, FIELD(field), initial, number_parse, number_print, "a number" \
    }
#define LINES_COUNT(name, field, initial)                                          \
    {                                                                              \
        name, NULL, FIELD(field), initial, option_parse_count, option_print_count, \
            "a whole number"                                                       \
    }

bool type_list_parse(void *field, const char *text);
void type_list_print(struct text *out, const void *field);
bool tag_list_parse(void *field, const char *text);
void tag_list_print(struct text *out, const void *field);
bool number_parse(void *field, const char *text);
void number_print(struct text *out, const void *field);
bool number_list_parse(void *field, const char *text);
void number_list_print(struct text *out, const void *field);

/* A name of a list, without this prefix, whatever its case; its index in *field, an int. */
bool lines_parse_name(void *field, const char *text, const char *prefix, const char *const *names,
                      size_t count);

/* ---- descriptors ---- */

/* "AxB:CxD…", and a name: from one to SOURCES_MAX lists of sizes. */
bool lines_parse(struct problem *problem, const char *text);
void lines_print(struct text *out, const struct problem *problem, bool canonical);

/* ---- operands ---- */

/* The operand that source number i is. */
static inline int lines_source(int i)
{
    return i < DST ? i : i + 1;
}

enum type lines_type(const struct type_list *list, int i);
const struct tag *lines_tag(const struct tag_list *list, int i);

/* Says what is wrong and returns false unless there are so many lists of sizes. */
bool lines_expect(const struct problem *problem, int least, int most);

/* Gives every list as many sizes as the first one has: 1 at the end. */
void lines_pad(struct problem *problem);

/* Replaces the first size by mb, if that is given. */
void lines_set_batch(struct problem *problem);

/* The descriptors of the operands, in their order; absent ones have ndims 0. */
neo_status lines_descs(neo_memory_desc *out, const struct problem *problem);

neo_prop_kind lines_prop_kind(const struct problem *problem);
const char *lines_out_of_scope(const struct problem *problem); /* training backwards */
double lines_ops(const struct problem *problem);               /* dst's elements */
int64_t lines_reduction(const struct problem *problem);        /* 1 */

/* ---- reference ---- */

/* Goes through the positions of a tensor; false after the last one. */
bool lines_next(int64_t *position, const struct dims *dims);

/* The value of an operand at a position, where sizes of 1 repeat. */
double lines_value(const struct reference *reference, int operand, const int64_t *position);

#endif
