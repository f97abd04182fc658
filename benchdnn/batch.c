/* Batch files: where they are found, and their tokens. */
#include "benchdnn/batch.h"

#include "benchdnn/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_MAX 30

/* ---- places ---- */

static struct {
    char *folders[FOLDERS_MAX];
    size_t count;
} seen;

/* "a/b" of "a/b/c", "." of "c". */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = bench_strdup(slash ? path : ".");
    if (slash)
        folder[slash == path ? 1 : slash - path] = 0;
    return folder;
}

static void remember(const char *path)
{
    char *folder = folder_of(path);
    for (size_t i = 0; i < seen.count; i++) {
        if (strcmp(seen.folders[i], folder) == 0) {
            free(folder);
            return;
        }
    }
    if (seen.count < FOLDERS_MAX)
        seen.folders[seen.count++] = folder;
    else
        free(folder);
}

void batch_forget(void)
{
    while (seen.count)
        free(seen.folders[--seen.count]);
}

/* NULL for what is no file, a directory for example. */
static FILE *open_file(const char *path)
{
    struct stat status;
    FILE *file = stat(path, &status) == 0 && !S_ISDIR(status.st_mode) ? fopen(path, "r") : NULL;
    if (file)
        remember(path);
    return file;
}

static FILE *open_in(const char *folder, const char *name)
{
    struct text path = {0};
    text_printf(&path, "%s/%s", folder, name);
    FILE *file = open_file(text_get(&path));
    text_deinit(&path);
    return file;
}

static FILE *open_beside_program(const char *driver, const char *name)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return NULL;
    program[length] = 0;
    char *folder = folder_of(program);
    struct text inputs = {0};
    text_printf(&inputs, "%s/inputs/%s", folder, driver);
    FILE *file = open_in(text_get(&inputs), name);
    text_deinit(&inputs);
    free(folder);
    return file;
}

static FILE *find_file(const char *name, const char *driver)
{
    FILE *file = open_file(name);
    for (size_t i = 0; i < seen.count && !file; i++)
        file = open_in(seen.folders[i], name);
    return file ? file : open_beside_program(driver, name);
}

/* ---- tokens ---- */

static void add_token(struct batch *batch, const char *token)
{
    batch->tokens =
        bench_grow(batch->tokens, batch->count, &batch->capacity, sizeof *batch->tokens);
    batch->tokens[batch->count++] = bench_strdup(token);
}

/* The token before goes on. */
static void reopen_token(struct batch *batch, struct text *token)
{
    if (!batch->count)
        return;
    char *last = batch->tokens[--batch->count];
    text_append(token, last, strlen(last));
    free(last);
}

static void skip_line(FILE *file)
{
    int c;
    do
        c = fgetc(file);
    while (c != EOF && c != '\n');
}

/* The next characters without a blank in them; false at the end of the file. */
static bool read_word(FILE *file, struct text *word)
{
    int c;
    text_clear(word);
    do
        c = fgetc(file);
    while (c != EOF && isspace(c));
    for (; c != EOF && !isspace(c); c = fgetc(file)) {
        char byte = (char)c;
        text_append(word, &byte, c != 0);
    }
    ungetc(c, file);
    return word->length > 0;
}

bool batch_read(struct batch *batch, const char *name, const char *driver)
{
    *batch = (struct batch){0};
    FILE *file = find_file(name, driver);
    if (!file)
        return false;
    struct text word = {0}, token = {0};
    while (read_word(file, &word)) {
        if (word.data[0] == '#') {
            skip_line(file);
            continue;
        }
        bool goes_on = word.data[word.length - 1] == '\\';
        if (goes_on && word.length == 1 && !token.length)
            reopen_token(batch, &token);
        text_append(&token, word.data, word.length - goes_on);
        if (goes_on)
            continue;
        add_token(batch, text_get(&token));
        text_clear(&token);
    }
    if (token.length)
        add_token(batch, text_get(&token));
    text_deinit(&token);
    text_deinit(&word);
    fclose(file);
    return true;
}

void batch_deinit(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        free(batch->tokens[i]);
    free(batch->tokens);
}
