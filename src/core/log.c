/* The verbose log. */
#include "src/core/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/core/checked.h"
#include "src/core/log_sink.h"

#define LEVEL_1 (LOG_ERROR | LOG_WARN | LOG_CHECK | LOG_EXEC)
#define LEVEL_2 (LEVEL_1 | LOG_CREATE)

uint32_t log_categories = LOG_NOT_READ;
static pthread_once_t environment_read = PTHREAD_ONCE_INIT;

static const struct {
    const char *name;
    uint32_t bits;
} categories[] = {
    {"none", 0},
    {"0", 0},
    {"1", LEVEL_1},
    {"2", LEVEL_2},
    {"all", ~(uint32_t)LOG_NOT_READ},
    {"error", LOG_ERROR},
    {"warn", LOG_WARN},
    {"check", LOG_CHECK},
    {"dispatch", LOG_DISPATCH},
    {"profile", LOG_EXEC | LOG_CREATE},
    {"profile_exec", LOG_EXEC},
    {"profile_create", LOG_CREATE},
    {"memory", LOG_MEMORY},
};

/* Returns false for a word that names no category. */
static bool add_category(const char *word, size_t length, uint32_t *bits)
{
    for (size_t i = 0; i < count_of(categories); i++) {
        if (strlen(categories[i].name) == length && !strncmp(categories[i].name, word, length)) {
            *bits |= categories[i].bits;
            return true;
        }
    }
    return false;
}

static void read_environment(void)
{
    const char *list = secure_getenv("NEOPRENE_VERBOSE");
    uint32_t bits = list ? 0 : LOG_ERROR | LOG_WARN;
    bool known = true;
    for (const char *word = list ? list : ""; *word;) {
        size_t length = strcspn(word, ",");
        known &= add_category(word, length, &bits);
        word += length + (word[length] == ',');
    }
    __atomic_store_n(&log_categories, known ? bits & ~(uint32_t)LOG_NOT_READ : LOG_ERROR | LOG_WARN,
                     __ATOMIC_RELAXED);
    if (!known)
        fprintf(stderr, "neoprene: NEOPRENE_VERBOSE='%s' has a word that names no category\n",
                list);
}

bool log_is_on_now(uint32_t category)
{
    pthread_once(&environment_read, read_environment);
    return __atomic_load_n(&log_categories, __ATOMIC_RELAXED) & category;
}

void neo_set_verbose(int level)
{
    pthread_once(&environment_read, read_environment);
    __atomic_store_n(&log_categories,
                     level <= 0   ? 0
                     : level == 1 ? LEVEL_1
                                  : LEVEL_2,
                     __ATOMIC_RELAXED);
}

void log_line(uint32_t category, const char *component, const char *format, ...)
{
    if (!log_is_on(category))
        return;
    char line[1536]; /* callers may have small stacks */
    int used = snprintf(line, sizeof line, "neoprene_verbose,v1,%s,", component);
    size_t room = sizeof line - (size_t)used - 1;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(line + used, room, format, arguments);
    va_end(arguments);
    if (wanted < 0)
        return;
    size_t length = (size_t)used + min_size((size_t)wanted, room - 1);
    log_sink_write(line, length);
}

neo_status log_refusal(const char *function, const char *why)
{
    log_check("%s: %s", function, why);
    return NEO_INVALID_ARGUMENT;
}

uint64_t log_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
