/* What happened to every problem: states, counters, repro lines and the closing lines. */
#ifndef BENCHDNN_REPORT_H
#define BENCHDNN_REPORT_H

#include "benchdnn/text.h"

enum state {
    STATE_UNTESTED,
    STATE_LISTED,
    STATE_INITIALIZED,
    STATE_EXECUTED,
    STATE_PASSED,
    STATE_SKIPPED,
    STATE_MISTRUSTED,
    STATE_UNIMPLEMENTED,
    STATE_INVALID_ARGUMENTS,
    STATE_FAILED,
    STATE_COUNT
};

/* Where the time goes. */
enum phase {
    PHASE_CREATE_PD,
    PHASE_CREATE_PRIMITIVE,
    PHASE_FILL,
    PHASE_EXECUTE,
    PHASE_REFERENCE,
    PHASE_COMPARE,
    PHASE_COUNT
};

struct outcome {
    enum state state;
    const char *reason; /* static text, or NULL */
    size_t errors, total;
    double ms; /* all of it */
};

/* Starts the clock of the closing line. */
void report_begin(void);

/* Monotonic. */
double report_now_ms(void);
void report_add_time(enum phase phase, double ms);

/* The number of the next problem. */
long report_index(void);
/* Prints the line of a problem and counts it. */
void report_outcome(const struct outcome *outcome, const char *repro);
/* Counts an implementation for --summary=impl. */
void report_implementation(const char *name);
void report_add_perf(double min_ms, double avg_ms);

/* Summaries and the closing lines; returns how many problems have failed. */
long report_finish(void);

#endif
