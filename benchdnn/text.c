/* Strings that grow, and the few things the command line needs to do with strings. */
#include "benchdnn/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void bench_error(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "benchdnn: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
}

void *bench_alloc(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) {
        fprintf(stderr, "benchdnn: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

void *bench_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 1;
    void *larger = bench_alloc(*capacity * size);
    if (count)
        memcpy(larger, array, count * size);
    free(array);
    return larger;
}

char *bench_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(bench_alloc(size), text, size);
}

void text_deinit(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = 0;
}

const char *text_get(const struct text *text)
{
    return text->data ? text->data : "";
}

static void reserve(struct text *text, size_t extra)
{
    size_t needed = text->length + extra + 1;
    if (needed <= text->capacity)
        return;
    size_t capacity = needed * 2;
    char *data = bench_alloc(capacity);
    if (text->data)
        memcpy(data, text->data, text->length + 1);
    free(text->data);
    text->data = data;
    text->capacity = capacity;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    reserve(text, length);
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        reserve(text, (size_t)length);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

bool text_next_part(const char **rest, char separator, char *out, size_t size)
{
    const char *begin = *rest, *end = strchr(begin, separator);
    size_t length = end ? (size_t)(end - begin) : strlen(begin);
    size_t kept = length < size ? length : size - 1;
    memcpy(out, begin, kept);
    out[kept] = 0;
    *rest = end ? end + 1 : NULL;
    return kept == length;
}

bool text_equal_nocase(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

bool text_to_int(const char *text, long long *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return false;
    *out = value;
    return true;
}

bool text_to_double(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end)
        return false;
    *out = value;
    return true;
}

bool text_to_bool(const char *text, bool *out)
{
    bool yes = text_equal_nocase(text, "true") || strcmp(text, "1") == 0;
    bool no = text_equal_nocase(text, "false") || strcmp(text, "0") == 0;
    *out = yes;
    return yes || no;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

size_t text_distance(const char *a, const char *b)
{
    size_t columns = strlen(b) + 1;
    size_t *row = bench_alloc(columns * sizeof *row);
    for (size_t j = 0; j < columns; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j < columns; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = min3(row[j] + 1, row[j - 1] + 1, replaced);
        }
    }
    size_t distance = row[columns - 1];
    free(row);
    return distance;
}
