/* The verbose log: lines in the field's comma-separated form.
 *
 *   neoprene_verbose,v1,<component>,<text>
 *
 * What is on is one word of bits, read from NEOPRENE_VERBOSE once and replaced by
 * neo_set_verbose(). A disabled category costs one relaxed load. */
#ifndef SRC_CORE_LOG_H
#define SRC_CORE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "neoprene/types.h"

enum {
    LOG_ERROR = 1u << 0,
    LOG_WARN = 1u << 1,
    LOG_CHECK = 1u << 2,    /* why a description or an argument was refused */
    LOG_DISPATCH = 1u << 3, /* why an algorithm declined */
    LOG_EXEC = 1u << 4,     /* each execution and its time */
    LOG_CREATE = 1u << 5,   /* each creation, cache hit or miss, eviction, and its time */
    LOG_MEMORY = 1u << 6,   /* each allocation and free */
    /* Not a category: the environment has not been looked at yet. One instruction tests it together
     * with LOG_EXEC. */
    LOG_NOT_READ = 1u << 20
};

extern uint32_t log_categories /* written and read atomically */
    __attribute__((visibility("hidden")));

/* Reads the environment first if nobody has. */
bool log_is_on_now(uint32_t category);

static inline bool log_is_on(uint32_t category)
{
    uint32_t on = __atomic_load_n(&log_categories, __ATOMIC_RELAXED);
    return (on & (category | LOG_NOT_READ)) && log_is_on_now(category);
}

/* Known to be off without looking at the environment, which a first call has still to do. */
static inline bool log_is_surely_off(uint32_t category)
{
    return !(__atomic_load_n(&log_categories, __ATOMIC_RELAXED) & (category | LOG_NOT_READ));
}

/* Writes one line if the category is on; a line is one write(2), so that lines of threads do not
 * mix. */
void log_line(uint32_t category, const char *component, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(...) log_line(LOG_ERROR, "error", __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, "warn", __VA_ARGS__)
#define log_check(...) log_line(LOG_CHECK, "check", __VA_ARGS__)

/* The sentence for a wrong call, "function: why"; returns NEO_INVALID_ARGUMENT. */
neo_status log_refusal(const char *function, const char *why);

/* Nanoseconds of the monotonic clock, for the times in log lines. */
uint64_t log_now_ns(void);

#endif
