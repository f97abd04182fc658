/* A driver's options as they stand, and the product of their values. */
#include "benchdnn/settings.h"

#include "benchdnn/globals.h"
#include "benchdnn/job.h"
#include "benchdnn/progress.h"
#include "benchdnn/session.h"

#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLES 3
#define LISTS_MAX 48
#define JOBS_MAX 64

/* Options that are not part of the product. */
struct plain {
    char *match, *impl, *skip_impl, *perf_template;
};

#define FIELD(field) OPTION_FIELD(struct plain, field)

static const struct option plain_rows[] = {
    {"match", NULL, FIELD(match), "", option_parse_string, NULL,
     "a POSIX basic regular expression: only problems whose line matches are run"},
    {"impl", NULL, FIELD(impl), "", option_parse_string, option_print_string,
     "parts of implementation names, separated by commas; others are not used"},
    {"skip-impl", NULL, FIELD(skip_impl), "", option_parse_string, option_print_string,
     "parts of implementation names, separated by commas, that are not used"},
    {"perf-template", NULL, FIELD(perf_template), "def", option_parse_string, NULL,
     "def, csv or a text with %token%s"},
};

static const struct option_table plain_table = {plain_rows, sizeof plain_rows / sizeof *plain_rows};

struct settings {
    const struct driver *driver;
    struct option_table tables[TABLES]; /* in the order of loops */
    struct option_list lists[LISTS_MAX];
    bool is_set[LISTS_MAX]; /* lists that may not have their defaults */
    struct plain plain;
    regex_t regex;
    bool has_regex;
    struct job *jobs[JOBS_MAX]; /* that wait to be created */
    size_t job_count;
};

/* ---- options ---- */

static void reset_lists(struct settings *s)
{
    size_t list = 0;
    for (size_t t = 0; t < TABLES; t++) {
        for (size_t i = 0; i < s->tables[t].count; i++, list++) {
            if (s->is_set[list])
                option_list_set(&s->lists[list], &s->tables[t].rows[i], "");
            s->is_set[list] = false;
        }
    }
}

static void compile_match(struct settings *s)
{
    if (s->has_regex)
        regfree(&s->regex);
    s->has_regex = false;
    if (!*s->plain.match)
        return;
    if (regcomp(&s->regex, s->plain.match, 0) != 0) {
        bench_error("`match` option expects a POSIX basic regular expression; `%s` is not that.",
                    s->plain.match);
        exit(2);
    }
    s->has_regex = true;
}

static void reset_plain(struct settings *s)
{
    option_parse_string(&s->plain.match, "");
    option_parse_string(&s->plain.impl, "");
    option_parse_string(&s->plain.skip_impl, "");
    compile_match(s);
}

struct settings *settings_create(const struct driver *driver)
{
    struct settings *s = bench_alloc(sizeof *s);
    s->driver = driver;
    s->tables[0] = driver->outer;
    s->tables[1] = driver_shared;
    s->tables[2] = driver->inner;
    options_init(plain_table, &s->plain);
    memset(s->is_set, true, sizeof s->is_set);
    reset_lists(s);
    return s;
}

void settings_destroy(struct settings *s)
{
    for (size_t i = 0; i < LISTS_MAX; i++)
        option_list_deinit(&s->lists[i]);
    if (s->has_regex)
        regfree(&s->regex);
    free(s->plain.match);
    free(s->plain.impl);
    free(s->plain.skip_impl);
    free(s->plain.perf_template);
    free(s);
}

static bool parse_plain(struct settings *s, const char *token)
{
    const char *value;
    const struct option *row = option_find(plain_table, token, &value);
    if (!row)
        return false;
    row->parse((char *)&s->plain + row->offset, *value ? value : row->initial);
    if (strcmp(row->name, "match") == 0)
        compile_match(s);
    return true;
}

bool settings_parse(struct settings *s, const char *token)
{
    const char *value;
    size_t first = 0;
    if (strcmp(token, "--reset") == 0) {
        reset_lists(s);
        reset_plain(s);
        return true;
    }
    for (size_t t = 0; t < TABLES; t++) {
        const struct option *row = option_find(s->tables[t], token, &value);
        if (row) {
            size_t list = first + (size_t)(row - s->tables[t].rows);
            option_list_set(&s->lists[list], row, value);
            s->is_set[list] = true;
            return true;
        }
        first += s->tables[t].count;
    }
    return parse_plain(s, token);
}

/* ---- help ---- */

static void help_table(struct option_table table)
{
    for (size_t i = 0; i < table.count; i++) {
        const struct option *row = &table.rows[i];
        printf("  --%s=%s\n        %s\n", row->name, *row->initial ? row->initial : "…", row->help);
    }
}

void settings_help(const struct settings *s)
{
    printf("benchdnn [global options] --%s [options | descriptors | --batch=FILE]…\n"
           "Options with their defaults. Those of the driver and of attributes take lists, "
           "separated by commas.\nGlobal:\n",
           s->driver->name);
    help_table(globals_table);
    printf("Driver:\n");
    help_table(s->tables[0]);
    help_table(s->tables[2]);
    printf("Attributes and threads:\n");
    help_table(s->tables[1]);
    printf("Others:\n");
    help_table(plain_table);
    printf("  --batch=FILE\n        options and descriptors from a file\n"
           "  --reset\n        options of the driver get their defaults\n");
}

struct suggestion {
    char wanted[64];
    size_t distance;
    bool print;
};

static void suggest_from(struct suggestion *s, struct option_table table)
{
    for (size_t i = 0; i < table.count; i++) {
        size_t distance = text_distance(s->wanted, table.rows[i].name);
        if (s->print && distance == s->distance)
            fprintf(stderr, " '--%s'", table.rows[i].name);
        if (distance < s->distance)
            s->distance = distance;
    }
}

static void suggest_all(struct suggestion *suggestion, const struct settings *s)
{
    for (size_t t = 0; t < TABLES; t++)
        suggest_from(suggestion, s->tables[t]);
    suggest_from(suggestion, plain_table);
    suggest_from(suggestion, globals_table);
}

void settings_suggest(const struct settings *s, const char *token)
{
    struct suggestion suggestion = {.distance = SIZE_MAX};
    const char *rest = token + strspn(token, "-");
    text_next_part(&rest, '=', suggestion.wanted, sizeof suggestion.wanted);
    suggest_all(&suggestion, s);
    if (suggestion.distance == 0) {
        bench_error("`--%s` takes a value: `--%s=…`.", suggestion.wanted, suggestion.wanted);
        return;
    }
    bench_error("unknown option for '%s' driver: '%s'.", s->driver->name, token);
    if (suggestion.distance >= strlen(suggestion.wanted))
        return;
    suggestion.print = true;
    fprintf(stderr, "The most similar option(s) is/are:");
    suggest_all(&suggestion, s);
    fprintf(stderr, "\n");
}

/* ---- jobs ---- */

static void *create_in_thread(void *job)
{
    job_create(job);
    return NULL;
}

static void create_all(struct settings *s)
{
    pthread_t threads[JOBS_MAX];
    bool is_running[JOBS_MAX] = {false};
    for (size_t i = 1; i < s->job_count; i++)
        is_running[i] = pthread_create(&threads[i], NULL, create_in_thread, s->jobs[i]) == 0;
    for (size_t i = 0; i < s->job_count; i++) {
        if (is_running[i])
            pthread_join(threads[i], NULL);
        else
            job_create(s->jobs[i]);
    }
}

void settings_flush(struct settings *s)
{
    if (s->job_count && globals.mode != 'L')
        session_engine();
    for (size_t i = 0; i < s->job_count && globals.verbose >= 1; i++)
        printf("create: %s\n", text_get(&s->jobs[i]->repro));
    create_all(s);
    for (size_t i = 0; i < s->job_count; i++) {
        job_finish(s->jobs[i]);
        free(s->jobs[i]);
    }
    s->job_count = 0;
}

static size_t jobs_at_once(void)
{
    if (!globals.modifiers.parallel_create)
        return 1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores < JOBS_MAX ? (size_t)cores : JOBS_MAX;
}

static void print_repro(struct settings *s, struct job *job)
{
    struct text *repro = &job->repro;
    globals_print(repro);
    text_printf(repro, "--%s ", s->driver->name);
    options_print(repro, plain_table, &s->plain, false);
    problem_print_body(repro, &job->problem);
}

static void add_job(struct settings *s, const struct problem *problem)
{
    if (progress_is_interrupted())
        return;
    struct job *job = bench_alloc(sizeof *job);
    job->problem = *problem;
    job->filter = (struct job_filter){s->plain.impl, s->plain.skip_impl};
    job->perf_template = s->plain.perf_template;
    print_repro(s, job);
    if (s->has_regex && regexec(&s->regex, text_get(&job->repro), 0, NULL, 0) != 0) {
        text_deinit(&job->repro);
        free(job);
        return;
    }
    long index = report_index() + (long)s->job_count;
    if (index < globals.start)
        job->outcome = (struct outcome){.state = STATE_SKIPPED, .reason = "Skip-start option hit"};
    else if (globals.mode == 'L')
        job->outcome.state = STATE_LISTED;
    s->jobs[s->job_count++] = job;
    if (s->job_count >= jobs_at_once())
        settings_flush(s);
}

/* ---- the product ---- */

/* Sets option number index of the problem to each of its values, and the following ones inside. */
static void run_product(struct settings *s, struct problem *problem, size_t table, size_t row,
                        size_t list)
{
    while (table < TABLES && row == s->tables[table].count) {
        table++;
        row = 0;
    }
    if (table == TABLES) {
        struct problem complete = *problem;
        if (!s->driver->complete(&complete))
            exit(2);
        for (int64_t i = 0; i < globals.repeats; i++)
            add_job(s, &complete);
        return;
    }
    const struct option *option = &s->tables[table].rows[row];
    const struct option_list *values = &s->lists[list];
    for (size_t i = 0; i < values->count; i++) {
        memcpy((char *)problem + option->offset, values->values + i * option->size, option->size);
        run_product(s, problem, table, row + 1, list + 1);
    }
}

void settings_run(struct settings *s, const char *descriptor)
{
    struct problem *problem = bench_alloc(sizeof *problem);
    problem->driver = s->driver;
    if (!s->driver->parse(problem, descriptor)) {
        bench_error("`%s` is no problem for the %s driver.", descriptor, s->driver->name);
        exit(2);
    }
    run_product(s, problem, 0, 0, 0);
    free(problem);
}
