/* The global options: how problems are run, whatever the driver. */
#include "benchdnn/globals.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define count_of(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) OPTION_FIELD(struct globals, field)

struct globals globals;

/* ---- values ---- */

static bool parse_mode(void *field, const char *text)
{
    char mode = (char)toupper((unsigned char)text[0]);
    if (!mode || text[1] || !strchr("LIRCPFSB", mode)) {
        bench_error("mode value is invalid.");
        return false;
    }
    *(char *)field = mode;
    return true;
}

static void print_mode(struct text *out, const void *field)
{
    text_printf(out, "%c", *(const char *)field);
}

static bool parse_modifiers(void *field, const char *text)
{
    struct modifiers *out = field;
    *out = (struct modifiers){0};
    for (; *text; text++) {
        char letter = (char)toupper((unsigned char)*text);
        if (letter != 'P' && letter != 'M')
            return false;
        out->parallel_create |= letter == 'P';
        out->no_reference |= letter == 'M';
    }
    return true;
}

static void print_modifiers(struct text *out, const void *field)
{
    const struct modifiers *m = field;
    text_printf(out, "%s%s", m->parallel_create ? "P" : "", m->no_reference ? "M" : "");
}

static bool parse_max_ms(void *field, const char *text)
{
    if (globals.mode == 'F') {
        bench_error("`--max-ms-per-prb` can't be combined with mode F.");
        return false;
    }
    int64_t ms;
    if (!option_parse_count(&ms, text))
        return false;
    *(int64_t *)field = ms < 10 ? 10 : ms > 60000 ? 60000 : ms;
    return true;
}

static bool parse_repeats(void *field, const char *text)
{
    return option_parse_count(field, text) && *(int64_t *)field > 0;
}

static const char *const cold_names[] = {"none", "wei", "all", "custom"};

/* SIZE[M|G] */
static bool parse_size(int64_t *out, const char *text)
{
    char *end;
    long long n = strtoll(text, &end, 10);
    int shift = *end == 'G' || *end == 'g' ? 30 : *end == 'M' || *end == 'm' ? 20 : 0;
    if (end == text || n <= 0 || !shift || end[1] || n > INT64_MAX >> 40)
        return false;
    *out = (int64_t)n << shift;
    return true;
}

static bool parse_cold_cache(void *field, const char *text)
{
    struct cold_cache *out = field;
    *out = (struct cold_cache){0};
    char part[16];
    const char *rest = text;
    if (!text_next_part(&rest, '+', part, sizeof part))
        return false;
    size_t i = 0;
    while (i < count_of(cold_names) && !text_equal_nocase(part, cold_names[i]))
        i++;
    if (i == count_of(cold_names))
        return false;
    *(unsigned *)&out->which = (unsigned)i;
    if (!rest)
        return true;
    out->tlb_bytes = INT64_C(1) << 30;
    return strcmp(rest, "tlb") == 0 ||
           (strncmp(rest, "tlb:", 4) == 0 && parse_size(&out->tlb_bytes, rest + 4));
}

static void print_cold_cache(struct text *out, const void *field)
{
    const struct cold_cache *c = field;
    text_printf(out, "%s", cold_names[c->which]);
    if (c->tlb_bytes)
        text_printf(out, "+tlb:%lldM", (long long)(c->tlb_bytes >> 20));
}

static bool parse_engine(void *field, const char *text)
{
    bool *is_gpu = field;
    *is_gpu = strncmp(text, "gpu", 3) == 0;
    bool is_known = *is_gpu || strncmp(text, "cpu", 3) == 0;
    long long index;
    return is_known && (!text[3] || (text[3] == ':' && text_to_int(text + 4, &index)));
}

static void print_engine(struct text *out, const void *field)
{
    text_printf(out, "%s", *(const bool *)field ? "gpu" : "cpu");
}

static bool parse_summary(void *field, const char *text)
{
    struct summary *out = field;
    char part[32];
    for (const char *rest = text; rest;) {
        if (!text_next_part(&rest, ',', part, sizeof part))
            return false;
        bool on = strncmp(part, "no-", 3) != 0;
        const char *what = on ? part : part + 3;
        bool *flag = strcmp(what, "failures") == 0   ? &out->failures
                     : strcmp(what, "impl") == 0     ? &out->impl
                     : strcmp(what, "impl-csv") == 0 ? &out->impl_csv
                                                     : NULL;
        if (!flag)
            return false;
        *flag = on;
    }
    return true;
}

static bool parse_execution_mode(void *field, const char *text)
{
    *(bool *)field = true;
    return strcmp(text, "direct") == 0;
}

static bool parse_start(void *field, const char *text)
{
    return option_parse_count(field, text);
}

static bool parse_fill(void *field, const char *text)
{
    *(enum fill *)field = strcmp(text, "real") == 0 ? FILL_REAL : FILL_INTEGER;
    return strcmp(text, "real") == 0 || strcmp(text, "integer") == 0;
}

static void print_fill(struct text *out, const void *field)
{
    text_printf(out, "%s", *(const enum fill *)field == FILL_REAL ? "real" : "integer");
}

static bool parse_isa_hints(void *field, const char *text)
{
    bool is_known = strcmp(text, "none") == 0 || strcmp(text, "no_hints") == 0 ||
                    strcmp(text, "prefer_ymm") == 0;
    return is_known && option_parse_string(field, text);
}

static bool parse_peer(void *field, const char *text)
{
    *(bool *)field = strcmp(text, "openblas") == 0;
    return *(bool *)field || strcmp(text, "none") == 0;
}

static void print_peer(struct text *out, const void *field)
{
    text_printf(out, "%s", *(const bool *)field ? "openblas" : "none");
}

/* ---- the table, in the order of repro lines; rows without print are not part of them ---- */

static const struct option rows[] = {
    {"mode", NULL, FIELD(mode), "C", parse_mode, print_mode,
     "one letter: L(ist) I(nitialise) R(un) C(orrectness) P(erformance) F(ast performance) "
     "S(imulation) B(itwise)"},
    {"mode-modifier", NULL, FIELD(modifiers), "", parse_modifiers, print_modifiers,
     "P (create primitives in parallel), M (no memory for a reference)"},
    {"max-ms-per-prb", NULL, FIELD(max_ms), "3000", parse_max_ms, option_print_count,
     "milliseconds to measure a problem for, 10 to 60000"},
    {"fix-times-per-prb", NULL, FIELD(fix_times), "0", option_parse_count, option_print_count,
     "how often to run a problem; 0: until its time is over"},
    {"execution-mode", NULL, FIELD(execution_mode), "direct", parse_execution_mode, NULL, "direct"},
    {"canonical", NULL, FIELD(canonical), "false", option_parse_bool, option_print_bool,
     "true or false: print options that have their defaults too"},
    {"engine", NULL, FIELD(is_gpu), "cpu", parse_engine, print_engine, "cpu or gpu, with :INDEX"},
    {"fast-ref", NULL, FIELD(fast_ref), "true", option_parse_bool, option_print_bool,
     "true (the reference uses OpenBLAS) or false (plain loops)"},
    {"global-impl", NULL, FIELD(impl), "", option_parse_string, option_print_string,
     "parts of implementation names, separated by commas; others are not used"},
    {"global-skip-impl", NULL, FIELD(skip_impl), "", option_parse_string, option_print_string,
     "parts of implementation names, separated by commas, that are not used"},
    {"mem-check", NULL, FIELD(mem_check), "true", option_parse_bool, option_print_bool,
     "true or false: skip problems that do not fit into memory"},
    {"allow-enum-tags-only", NULL, FIELD(enum_tags_only), "true", option_parse_bool,
     option_print_bool,
     "true or false; without effect: every tag of letters and blocks is taken either way"},
    {"cpu-isa-hints", NULL, FIELD(isa_hints), "none", parse_isa_hints, option_print_string,
     "none, no_hints or prefer_ymm; without effect: they are about another architecture"},
    {"attr-same-pd-check", NULL, FIELD(same_pd_check), "false", option_parse_bool,
     option_print_bool,
     "true or false: a problem that another implementation serves without its attributes has "
     "failed"},
    {"check-ref-impl", NULL, FIELD(check_ref_impl), "false", option_parse_bool, option_print_bool,
     "true or false: a problem that a reference implementation serves has failed"},
    {"cold-cache", NULL, FIELD(cold_cache), "none", parse_cold_cache, print_cold_cache,
     "none, wei, all or custom; +tlb or +tlb:SIZE (M or G) added"},
    {"buffer-prefix", NULL, FIELD(buffer_prefix), "", option_parse_string, option_print_string,
     "PREFIX: argument N is read from the file PREFIX.N.bin if there is one: the bytes of its "
     "buffer; with values that do not add up exactly add --fill=real"},
    {"fill", NULL, FIELD(fill), "integer", parse_fill, print_fill,
     "integer (exact results) or real (results within a bound)"},
    {"peer", NULL, FIELD(peer), "none", parse_peer, print_peer, "openblas or none"},
    {"memory", NULL, FIELD(memory), "false", option_parse_bool, NULL,
     "true or false: print what each problem needed"},
    {"verbose", NULL, FIELD(verbose), "0", option_parse_count, NULL, "a number (or -vN)"},
    {"repeats-per-prb", NULL, FIELD(repeats), "1", parse_repeats, NULL,
     "how often to begin a problem from scratch, at least 1"},
    {"num-streams", NULL, FIELD(streams), "1", option_parse_count, NULL, "a number"},
    {"start", NULL, FIELD(start), "0", parse_start, NULL, "the first problem to run"},
    {"summary", NULL, FIELD(summary), "failures", parse_summary, NULL,
     "failures, impl, impl-csv; with no- in front to switch off"},
};

const struct option_table globals_table = {rows, count_of(rows)};

void globals_init(void)
{
    options_init(globals_table, &globals);
}

void globals_deinit(void)
{
    free(globals.impl);
    free(globals.skip_impl);
    free(globals.isa_hints);
    free(globals.buffer_prefix);
}

/* Mode F and S are abbreviations of others. */
static void apply_mode(void)
{
    if (globals.mode == 'F') {
        globals.modifiers = (struct modifiers){true, true};
        globals.max_ms = 10;
    }
    if (globals.mode == 'R' || globals.mode == 'S')
        globals.modifiers.no_reference = true;
}

bool globals_parse(const char *token)
{
    const char *value;
    struct option verbose = {.name = "v", .help = "a number"};
    if (strncmp(token, "-v", 2) == 0) {
        if (!option_parse_count(&globals.verbose, token + 2))
            option_fail(&verbose, token + 2);
        return true;
    }
    const struct option *row = option_find(globals_table, token, &value);
    if (!row)
        return false;
    if (!row->parse((char *)&globals + row->offset, *value ? value : row->initial))
        option_fail(row, value);
    if (row->parse == parse_mode)
        apply_mode();
    return true;
}

void globals_print(struct text *out)
{
    struct globals shown = globals;
    if (globals.mode == 'F') { /* the mode says these */
        shown.modifiers = (struct modifiers){0};
        shown.max_ms = 3000;
    }
    if (globals.mode == 'R' || globals.mode == 'S')
        shown.modifiers.no_reference = false;
    options_print(out, globals_table, &shown, globals.canonical);
}

bool globals_is_perf(void)
{
    return globals.mode == 'P' || globals.mode == 'F';
}

bool globals_runs(void)
{
    return globals.mode != 'L' && globals.mode != 'I';
}
