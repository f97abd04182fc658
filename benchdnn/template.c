/* Performance reports by template: %[-|0|+][K|M|G]token% is replaced by what the token names. */
#include "benchdnn/timing/perf.h"

#include "benchdnn/driver.h"
#include "benchdnn/drivers/conv.h"
#include "benchdnn/globals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define count_of(array) (sizeof(array) / sizeof *(array))

static const char def_template[] = "perf,%engine%,%impl%,%name%,%prb%,%Gops%,%+ctime%,%-time%,"
                                   "%-Gflops%,%0time%,%0Gflops%";

/* Drivers have the columns of their own options only. */
static const struct {
    const char *driver, *text;
} csv_templates[] = {
    {"conv", "perf,%engine%,%impl%,%name%,%dir%,%sdt%,%bia_dt%,%stag%,%wtag%,%dtag%,%alg%,%attr%,"
             "%desc%,%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%"},
    {"matmul", "perf,%engine%,%impl%,%name%,%sdt%,%bia_dt%,%stag%,%wtag%,%dtag%,%attr%,%desc%,"
               "%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%"},
    {"reorder", "perf,%engine%,%impl%,%name%,%sdt%,%ddt%,%stag%,%dtag%,%flags%,%attr%,%desc%,"
                "%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%"},
};

static const char *resolve(const char *name, const char *driver)
{
    if (strcmp(name, "def") == 0)
        return def_template;
    for (size_t i = 0; strcmp(name, "csv") == 0 && i < count_of(csv_templates); i++) {
        if (strcmp(csv_templates[i].driver, driver) == 0)
            return csv_templates[i].text;
    }
    return name;
}

/* ---- tokens that are texts ---- */

typedef void print_fn(struct text *out, const struct job *job);

static void print_alg(struct text *out, const struct job *job)
{
    conv_print_alg(out, &job->problem.alg);
}

static void print_attr(struct text *out, const struct job *job)
{
    options_print(out, driver_shared, &job->problem, false);
    if (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = 0;
}

static void print_desc(struct text *out, const struct job *job)
{
    struct problem unnamed = job->problem;
    unnamed.name[0] = 0;
    unnamed.driver->print(out, &unnamed, globals.canonical);
}

static void print_engine(struct text *out, const struct job *job)
{
    (void)job;
    text_printf(out, "cpu");
}

static void print_dir(struct text *out, const struct job *job)
{
    text_printf(out, "%s", direction_name(job->problem.dir));
}

static void print_dt(struct text *out, const struct job *job)
{
    types_print(out, &job->problem.dt);
}

static void print_sdt(struct text *out, const struct job *job)
{
    if (job->problem.driver == &driver_reorder)
        one_type_print(out, &job->problem.sdt);
    else
        types_print(out, &job->problem.dt);
}

static void print_ddt(struct text *out, const struct job *job)
{
    text_printf(out, "%s", type_name(job->problem.operands[DST].type));
}

static void print_bia_dt(struct text *out, const struct job *job)
{
    text_printf(out, "%s", type_name(job->problem.bia_dt));
}

static void print_stag(struct text *out, const struct job *job)
{
    text_printf(out, "%s", job->problem.stag.text);
}

static void print_wtag(struct text *out, const struct job *job)
{
    text_printf(out, "%s", job->problem.wtag.text);
}

static void print_dtag(struct text *out, const struct job *job)
{
    text_printf(out, "%s", job->problem.dtag.text);
}

static void print_mb(struct text *out, const struct job *job)
{
    text_printf(out, "%lld", (long long)job->problem.operands[SRC].dims.at[0]);
}

static void print_group(struct text *out, const struct job *job)
{
    text_printf(out, "%lld", (long long)job->problem.conv.g);
}

static void print_name(struct text *out, const struct job *job)
{
    text_printf(out, "%s", job->problem.name);
}

static void print_prop(struct text *out, const struct job *job)
{
    text_printf(out, "%s", job->problem.dir == FWD_I ? "forward_inference" : "forward_training");
}

static void print_flags(struct text *out, const struct job *job)
{
    text_printf(out, "%s", job->problem.oflag.text);
}

static void print_ctx_init(struct text *out, const struct job *job)
{
    context_print(out, &job->problem.ctx_init);
}

static void print_ctx_exe(struct text *out, const struct job *job)
{
    context_print(out, &job->problem.ctx_exe);
}

static void print_driver(struct text *out, const struct job *job)
{
    text_printf(out, "%s", job->problem.driver->name);
}

static void print_idx(struct text *out, const struct job *job)
{
    (void)job;
    text_printf(out, "%ld", report_index());
}

static void print_impl(struct text *out, const struct job *job)
{
    text_printf(out, "%s", neo_primitive_desc_implementation(job->pd));
}

static void print_prb(struct text *out, const struct job *job)
{
    text_printf(out, "%s", text_get(&job->repro));
}

static const struct {
    const char *name;
    print_fn *print;
} text_tokens[] = {
    {"alg", print_alg},
    {"attr", print_attr},
    {"cfg", print_dt},
    {"ctx-exe", print_ctx_exe},
    {"ctx-init", print_ctx_init},
    {"ddt", print_ddt},
    {"desc", print_desc},
    {"dir", print_dir},
    {"driver", print_driver},
    {"dt", print_dt},
    {"dtag", print_dtag},
    {"engine", print_engine},
    {"flags", print_flags},
    {"group", print_group},
    {"idx", print_idx},
    {"impl", print_impl},
    {"mb", print_mb},
    {"name", print_name},
    {"prb", print_prb},
    {"prop", print_prop},
    {"sdt", print_sdt},
    {"bia_dt", print_bia_dt},
    {"stag", print_stag},
    {"stat_tag", print_stag},
    {"tag", print_stag},
    {"wtag", print_wtag},
};

/* ---- tokens that are numbers ---- */

enum which { WHICH_MIN, WHICH_AVERAGE, WHICH_MAX };

static double pick(const struct timing *t, enum which which)
{
    return which == WHICH_MIN ? t->min_ms : which == WHICH_MAX ? t->max_ms : timing_average(t);
}

/* Per second; nothing if the time is too short to tell. */
static double rate(double amount, const struct job *job, enum which which)
{
    double ms = pick(&job->execute, which);
    return ms > 0 ? amount / ms * 1e3 : 0;
}

static double bytes_of(const struct job *job, bool inputs)
{
    double bytes = 0;
    for (int i = 0; i < OPERANDS; i++) {
        const struct operand *o = &job->problem.operands[i];
        const neo_memory_desc *desc = o->arg ? neo_primitive_desc_query(job->pd, o->arg) : NULL;
        if (desc && (i == DST) != inputs)
            bytes += (double)neo_memory_desc_size(desc);
    }
    return bytes;
}

typedef double value_fn(const struct job *job, enum which which);

static double get_ops(const struct job *job, enum which which)
{
    (void)which;
    return job->problem.driver->ops(&job->problem);
}

static double get_flops(const struct job *job, enum which which)
{
    return rate(get_ops(job, which), job, which);
}

static double get_ibytes(const struct job *job, enum which which)
{
    (void)which;
    return bytes_of(job, true);
}

static double get_obytes(const struct job *job, enum which which)
{
    (void)which;
    return bytes_of(job, false);
}

static double get_iobytes(const struct job *job, enum which which)
{
    (void)which;
    return bytes_of(job, true) + bytes_of(job, false);
}

static double get_bw(const struct job *job, enum which which)
{
    return rate(get_iobytes(job, which), job, which);
}

static double get_time(const struct job *job, enum which which)
{
    return pick(&job->execute, which);
}

static double get_ctime(const struct job *job, enum which which)
{
    return pick(&job->create, which);
}

static double get_cptime(const struct job *job, enum which which)
{
    return pick(&job->create_primitive, which);
}

static double get_cpdtime(const struct job *job, enum which which)
{
    return pick(&job->create_pd, which);
}

/* Cycle counters cannot be read by a user's program everywhere. */
static double get_nothing(const struct job *job, enum which which)
{
    (void)job, (void)which;
    return 0;
}

static const struct {
    const char *name;
    value_fn *get;
} value_tokens[] = {
    {"bw", get_bw},         {"clocks", get_nothing}, {"cpdtime", get_cpdtime},
    {"cptime", get_cptime}, {"ctime", get_ctime},    {"flops", get_flops},
    {"freq", get_nothing},  {"ibytes", get_ibytes},  {"iobytes", get_iobytes},
    {"obytes", get_obytes}, {"ops", get_ops},        {"time", get_time},
};

/* ---- expansion ---- */

static double take_unit(const char **token)
{
    double unit = **token == 'K' ? 1e3 : **token == 'M' ? 1e6 : **token == 'G' ? 1e9 : 0;
    if (unit > 0)
        ++*token;
    return unit > 0 ? unit : 1;
}

static enum which take_which(const char **token)
{
    char letter = **token;
    if (letter == '-' || letter == '0' || letter == '+')
        ++*token;
    return letter == '0' ? WHICH_AVERAGE : letter == '+' ? WHICH_MAX : WHICH_MIN;
}

static void expand(struct text *out, const struct job *job, const char *token)
{
    const char *name = token;
    enum which which = take_which(&name);
    double unit = take_unit(&name);
    for (size_t i = 0; i < count_of(value_tokens); i++) {
        if (strcmp(name, value_tokens[i].name) == 0) {
            text_printf(out, "%g", value_tokens[i].get(job, which) / unit);
            return;
        }
    }
    for (size_t i = 0; i < count_of(text_tokens); i++) {
        if (strcmp(name, text_tokens[i].name) == 0) {
            text_tokens[i].print(out, job);
            return;
        }
    }
    fflush(stdout);
    bench_error("perf report option \"%s\" is not supported", token);
    exit(2);
}

static void expand_header(struct text *out, const struct job *job, const char *token)
{
    (void)job;
    const char *rest = token;
    char letter = *token;
    if (letter == '-' || letter == '0' || letter == '+')
        rest++;
    text_printf(out, "%s%s",
                letter == '-'   ? "min_"
                : letter == '+' ? "max_"
                : letter == '0' ? "avg_"
                                : "",
                rest);
}

typedef void expand_fn(struct text *out, const struct job *job, const char *token);

/* Copies the template with every %token% replaced. */
static void expand_all(struct text *out, const struct job *job, const char *template,
                       expand_fn *replace)
{
    const char *rest = template;
    while (*rest) {
        const char *begin = strchr(rest, '%');
        const char *end = begin ? strchr(begin + 1, '%') : NULL;
        if (!end) {
            text_printf(out, "%s", rest);
            return;
        }
        char token[64] = "";
        size_t length = (size_t)(end - begin) - 1;
        memcpy(token, begin + 1, length < sizeof token ? length : sizeof token - 1);
        text_append(out, rest, (size_t)(begin - rest));
        replace(out, job, token);
        rest = end + 1;
    }
}

void perf_report(const struct job *job)
{
    static bool has_header;
    const char *template = resolve(job->perf_template, job->problem.driver->name);
    struct text line = {0};
    if (!has_header) {
        expand_all(&line, job, template, expand_header);
        printf("Template entries: %s\n%s\n", template, text_get(&line));
        text_clear(&line);
        has_header = true;
    }
    expand_all(&line, job, template, expand);
    printf("%s\n", text_get(&line));
    text_deinit(&line);
    report_add_perf(job->execute.min_ms, timing_average(&job->execute));
}
