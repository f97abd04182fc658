/* benchdnn as a program: what it prints and the status it ends with. */
#ifndef TESTS_SUPPORT_BENCHDNN_H
#define TESTS_SUPPORT_BENCHDNN_H

#include <stddef.h>

enum { BENCHDNN_OUTPUT_MAX = 1000000 };

struct benchdnn_run {
    int status; /* -1: it was killed, or a sanitizer found something */
    char output[BENCHDNN_OUTPUT_MAX];
};

/* The folder it runs in: empty at first. */
extern const char *benchdnn_folder;

/* Finds the program and makes the folder; a fixture of cmocka's. */
int benchdnn_find(void **state);

/* Valid until the next call. Standard error comes first: benchdnn's own buffer is flushed later. */
struct benchdnn_run *benchdnn_run(const char *arguments);

/* The same with an interrupt (^C) after two seconds. */
struct benchdnn_run *benchdnn_run_interrupted(const char *arguments);

/* What goes to standard error while that is a terminal; at most what such a one keeps unread. */
struct benchdnn_run *benchdnn_run_on_terminal(const char *arguments);

/* Fails the test unless a run ends with that status and its output has that part. */
void benchdnn_expect(const char *arguments, int status, const char *part);

/* How often part stands in text. */
size_t benchdnn_count(const char *text, const char *part);

#endif
