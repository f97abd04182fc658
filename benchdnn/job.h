/* One problem from creation to its line in the report. */
#ifndef BENCHDNN_JOB_H
#define BENCHDNN_JOB_H

#include "benchdnn/problem.h"
#include "benchdnn/report.h"
#include "benchdnn/timing/timing.h"

/* Which implementations may be used: parts of names, separated by commas; empty: no limit. */
struct job_filter {
    const char *wanted, *unwanted;
};

struct job {
    struct problem problem;
    struct job_filter filter;
    const char *perf_template;
    struct text repro;
    struct outcome outcome;
    double begin_ms;
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    struct timing create_pd, create_primitive, create; /* each primitive is created twice */
    struct timing execute;
};

/* Makes the primitive twice. Touches nothing but the job, so that jobs may be created in parallel;
 * the engine must exist. */
void job_create(struct job *job);

/* Executes, checks, measures and reports it, and releases what the job holds. */
void job_finish(struct job *job);

#endif
