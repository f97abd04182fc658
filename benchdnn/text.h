/* Strings that grow, and the few things the command line needs to do with strings. */
#ifndef BENCHDNN_TEXT_H
#define BENCHDNN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised it is the empty string, but data may then be NULL: read it with text_get(). */
struct text {
    char *data;
    size_t length, capacity;
};

void text_deinit(struct text *text);
void text_clear(struct text *text);
const char *text_get(const struct text *text);
void text_append(struct text *text, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void text_printf(struct text *text, const char *format, ...);

/* Copies the part of *rest before the next separator into out (cut at size - 1) and moves *rest
 * behind it; *rest becomes NULL after the last part. Returns false if the part did not fit. */
bool text_next_part(const char **rest, char separator, char *out, size_t size);

bool text_equal_nocase(const char *a, const char *b);

/* The whole of text is one number of the kind. */
bool text_to_int(const char *text, long long *out);
bool text_to_double(const char *text, double *out);
bool text_to_bool(const char *text, bool *out); /* true false 1 0, any case */

/* How many letters must be inserted, removed or replaced to turn a into b. */
size_t text_distance(const char *a, const char *b);

/* Prints "benchdnn: ", the text and the end of a line to standard error, behind what standard
 * output has. */
__attribute__((format(printf, 1, 2))) void bench_error(const char *format, ...);

/* What an array of *capacity elements becomes that has count ones and is to have one more: a larger
 * copy if it is full. What is added one by one is moved a few times only. */
void *bench_grow(void *array, size_t count, size_t *capacity, size_t size);

/* malloc() and strdup() that end the program when memory is exhausted: there is nothing to check
 * a library with then. */
void *bench_alloc(size_t bytes);
char *bench_strdup(const char *text);

#endif
