/* The global options: how problems are run, whatever the driver. */
#ifndef BENCHDNN_GLOBALS_H
#define BENCHDNN_GLOBALS_H

#include "benchdnn/options.h"

#include <stdint.h>

struct modifiers {
    bool parallel_create, no_reference;
};

struct cold_cache {
    enum { COLD_NONE, COLD_WEIGHTS, COLD_ALL, COLD_CUSTOM } which;
    int64_t tlb_bytes; /* 0: the TLB stays warm */
};

struct summary {
    bool failures, impl, impl_csv;
};

enum fill {
    FILL_INTEGER, /* small integers whose sums are exact */
    FILL_REAL,    /* uniform in [-1, 1): results are compared with a bound on rounding errors */
};

struct globals {
    char mode; /* L I R C P F S B */
    struct modifiers modifiers;
    int64_t verbose;
    bool canonical;
    int64_t max_ms, fix_times, repeats;
    bool fast_ref;
    struct cold_cache cold_cache;
    int64_t streams;
    bool is_gpu;
    char *impl, *skip_impl; /* lists of substrings */
    bool mem_check;
    int64_t start;
    struct summary summary;
    bool enum_tags_only, same_pd_check, check_ref_impl;
    char *isa_hints, *buffer_prefix;
    bool execution_mode; /* there is only one */
    enum fill fill;
    bool peer, memory;
};

extern struct globals globals;

void globals_init(void);
void globals_deinit(void);

/* Takes token if it is a global option. Wrong values end the program with status 2. */
bool globals_parse(const char *token);
extern const struct option_table globals_table;

/* What a repro line begins with. */
void globals_print(struct text *out);

bool globals_is_perf(void);
bool globals_runs(void); /* problems are executed */

#endif
