/* What happened to every problem: states, counters, repro lines and the closing lines. */
#include "benchdnn/report.h"

#include "benchdnn/globals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAILURES_SHOWN 10
#define IMPLEMENTATIONS_MAX 256

static const struct {
    const char *name;
    bool is_failure;
} states[STATE_COUNT] = {
    [STATE_UNTESTED] = {"UNTESTED_FAILED", true},
    [STATE_LISTED] = {"LISTED", false},
    [STATE_INITIALIZED] = {"INITIALIZED", false},
    [STATE_EXECUTED] = {"EXECUTED", false},
    [STATE_PASSED] = {"PASSED", false},
    [STATE_SKIPPED] = {"SKIPPED", false},
    [STATE_MISTRUSTED] = {"MISTRUSTED", false},
    [STATE_UNIMPLEMENTED] = {"UNIMPLEMENTED", true},
    [STATE_INVALID_ARGUMENTS] = {"INVALID_ARGUMENTS", true},
    [STATE_FAILED] = {"FAILED", true},
};

/* One program checks one list of problems; these are its books. */
static struct {
    double begin_ms;
    long tests, failed, counts[STATE_COUNT];
    char *failures[FAILURES_SHOWN];
    double phase_ms[PHASE_COUNT], perf_min_ms, perf_avg_ms;
    struct {
        char *name;
        long count;
    } implementations[IMPLEMENTATIONS_MAX];
    size_t implementation_count;
} books;

double report_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void report_begin(void)
{
    books.begin_ms = report_now_ms();
}

void report_add_time(enum phase phase, double ms)
{
    books.phase_ms[phase] += ms;
}

void report_add_perf(double min_ms, double avg_ms)
{
    books.perf_min_ms += min_ms;
    books.perf_avg_ms += avg_ms;
}

long report_index(void)
{
    return books.tests;
}

void report_implementation(const char *name)
{
    size_t i = 0;
    while (i < books.implementation_count && strcmp(books.implementations[i].name, name) != 0)
        i++;
    if (i == IMPLEMENTATIONS_MAX)
        return;
    if (i == books.implementation_count) {
        books.implementations[i].name = bench_strdup(name);
        books.implementation_count++;
    }
    books.implementations[i].count++;
}

static void print_line(struct text *out, const struct outcome *o, const char *repro)
{
    text_printf(out, "%ld:%s", books.tests, states[o->state].name);
    if (o->reason)
        text_printf(out, " (%s)", o->reason);
    if (o->errors)
        text_printf(out, " (errors:%zu total:%zu)", o->errors, o->total);
    text_printf(out, " (%.0f ms) __REPRO: %s", o->ms, repro);
}

void report_outcome(const struct outcome *o, const char *repro)
{
    struct text line = {0};
    print_line(&line, o, repro);
    if (o->state != STATE_EXECUTED || globals.mode == 'R' || globals.mode == 'S')
        printf("%s\n", text_get(&line));
    fflush(stdout);
    books.tests++;
    books.counts[o->state]++;
    if (states[o->state].is_failure) {
        if (books.failed < FAILURES_SHOWN)
            books.failures[books.failed] = bench_strdup(text_get(&line));
        books.failed++;
    }
    text_deinit(&line);
}

/* ---- the end ---- */

static void print_failures(void)
{
    long shown = books.failed < FAILURES_SHOWN ? books.failed : FAILURES_SHOWN;
    if (!shown || !globals.summary.failures)
        return;
    printf("===========================================================\n"
           "= Failed cases summary (--summary=no-failures to disable) =\n"
           "===========================================================\n");
    for (long i = 0; i < shown; i++)
        printf("%s\n", books.failures[i]);
    if (books.failed > shown)
        printf("(... %ld more cases ...)\n", books.failed - shown);
    printf("============================\n");
}

static void print_implementations(void)
{
    long total = 0;
    for (size_t i = 0; i < books.implementation_count; i++)
        total += books.implementations[i].count;
    for (size_t i = 0; i < books.implementation_count; i++) {
        const char *name = books.implementations[i].name;
        long count = books.implementations[i].count;
        double percent = 100.0 * (double)count / (double)total;
        if (globals.summary.impl)
            printf("= Implementation %-28s : %ld (%.0f%%)\n", name, count, percent);
        if (globals.summary.impl_csv)
            printf("benchdnn_summary,impl,%s,%ld,%.0f%%\n", name, count, percent);
    }
}

static void print_times(double total_ms)
{
    static const char *const names[PHASE_COUNT] = {"create_pd", "create_prim", "fill",
                                                   "execute",   "compute_ref", "compare"};
    printf("total: %.2fs;", total_ms * 1e-3);
    for (int i = 0; i < PHASE_COUNT; i++) {
        double percent = total_ms > 0 ? 100 * books.phase_ms[i] / total_ms : 0;
        if (books.phase_ms[i] > 0)
            printf(" %s: %.2fs (%.0f%%);", names[i], books.phase_ms[i] * 1e-3, percent);
    }
    printf("\n");
}

/* The library says what is wrong when it is asked to. */
static void print_hint(void)
{
    if (books.counts[STATE_INVALID_ARGUMENTS] == 0 || getenv("NEOPRENE_VERBOSE"))
        return;
    fflush(stdout);
    fprintf(stderr, "With NEOPRENE_VERBOSE=1 the log says what is wrong with arguments.\n");
}

static void free_books(void)
{
    for (size_t i = 0; i < FAILURES_SHOWN; i++)
        free(books.failures[i]);
    for (size_t i = 0; i < books.implementation_count; i++)
        free(books.implementations[i].name);
}

long report_finish(void)
{
    const long *n = books.counts;
    long passed = n[STATE_PASSED] + n[STATE_EXECUTED] + n[STATE_INITIALIZED];
    print_implementations();
    print_failures();
    printf(
        "tests:%ld passed:%ld skipped:%ld mistrusted:%ld unimplemented:%ld invalid_arguments:%ld "
        "failed:%ld listed:%ld\n",
        books.tests, passed, n[STATE_SKIPPED], n[STATE_MISTRUSTED], n[STATE_UNIMPLEMENTED],
        n[STATE_INVALID_ARGUMENTS], books.failed, n[STATE_LISTED]);
    if (globals_is_perf())
        printf("total perf: min(ms):%g avg(ms):%g\n", books.perf_min_ms, books.perf_avg_ms);
    print_times(report_now_ms() - books.begin_ms);
    print_hint();
    free_books();
    return books.failed;
}
