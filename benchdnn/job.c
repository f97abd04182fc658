/* One problem from creation to its line in the report. */
#include "benchdnn/job.h"

#include "benchdnn/compare.h"
#include "benchdnn/data.h"
#include "benchdnn/driver.h"
#include "benchdnn/expect.h"
#include "benchdnn/globals.h"
#include "benchdnn/progress.h"
#include "benchdnn/session.h"
#include "benchdnn/support.h"
#include "benchdnn/timing/peer.h"
#include "benchdnn/timing/perf.h"
#include "benchdnn/timing/region.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- outcomes ---- */

static void end(struct job *job, enum state state, const char *reason)
{
    job->outcome.state = state;
    job->outcome.reason = reason;
}

static bool is_over(const struct job *job)
{
    return job->outcome.state != STATE_UNTESTED;
}

/* Ends the job if status is an error. */
static void end_by_status(struct job *job, neo_status status)
{
    if (status == NEO_OK)
        return;
    if (status == NEO_INVALID_ARGUMENT) {
        end(job, STATE_INVALID_ARGUMENTS, NULL);
    } else if (status == NEO_UNSUPPORTED) {
        const char *reason = support_skip_reason(&job->problem);
        end(job, reason ? STATE_SKIPPED : STATE_UNIMPLEMENTED, reason);
    } else {
        end(job, STATE_FAILED, neo_status_text(status));
    }
}

/* ---- creation ---- */

static bool contains_one(const char *name, const char *list)
{
    char part[64];
    for (const char *rest = list; rest && *list;) {
        text_next_part(&rest, ',', part, sizeof part);
        if (part[0] && strstr(name, part))
            return true;
    }
    return false;
}

static bool is_filtered(const struct job_filter *filter, const char *name)
{
    return (*filter->wanted && !contains_one(name, filter->wanted)) ||
           contains_one(name, filter->unwanted);
}

/* Goes on to the first implementation that the filters let through. */
static neo_status find_implementation(const struct job *job, neo_primitive_desc *pd)
{
    struct job_filter general = {globals.impl, globals.skip_impl};
    neo_status status = NEO_OK;
    while (status == NEO_OK) {
        const char *name = neo_primitive_desc_implementation(pd);
        if (!is_filtered(&job->filter, name) && !is_filtered(&general, name))
            return NEO_OK;
        status = neo_primitive_desc_next(pd);
    }
    return status;
}

/* One descriptor and primitive, timed. */
static neo_status create_once(struct job *job, neo_primitive_desc **pd, neo_primitive **primitive)
{
    neo_engine *engine = session_engine();
    *pd = NULL;
    *primitive = NULL;
    double begin = report_now_ms();
    neo_status status = job->problem.driver->create(pd, &job->problem, engine, job->attributes);
    if (status == NEO_OK)
        status = find_implementation(job, *pd);
    double middle = report_now_ms();
    if (status == NEO_OK)
        status = neo_primitive_create(primitive, *pd);
    double done = report_now_ms();
    timing_add(&job->create_pd, middle - begin);
    timing_add(&job->create_primitive, done - middle);
    timing_add(&job->create, done - begin);
    return status;
}

/* The second creation must find what the first one made. */
static void create_again(struct job *job)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_status status = create_once(job, &pd, &primitive);
    neo_cache_capacity capacity = {0};
    end_by_status(job, status);
    neo_engine_get_cache_capacity(session_engine(), &capacity);
    if (!is_over(job) && capacity.entries > 0 && !neo_primitive_desc_cache_hit(pd))
        end(job, STATE_FAILED, "Second creation missed the primitive cache");
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* User mode is what primitives that are created side by side have by default. */
static void prefer_user_scratchpad(struct job *job)
{
    if (globals.modifiers.parallel_create && globals_is_perf())
        job->problem.attr.scratchpad = NEO_SCRATCHPAD_USER;
}

static void end_if_out_of_memory(struct job *job)
{
    double limit = 0.75 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (globals.mem_check && data_estimate_bytes(&job->problem) > limit)
        end(job, STATE_SKIPPED, "Not enough RAM");
}

static void end_by_implementation(struct job *job)
{
    const char *name = neo_primitive_desc_implementation(job->pd);
    if (globals.check_ref_impl && strstr(name, "ref"))
        end(job, STATE_FAILED, "Ref Impl Not Expected");
}

/* Attributes should not change who serves a problem. */
static void check_same_implementation(struct job *job)
{
    neo_primitive_desc *plain = NULL;
    neo_status status = job->problem.driver->create(&plain, &job->problem, session_engine(), NULL);
    if (status == NEO_OK)
        status = find_implementation(job, plain);
    bool is_same = status == NEO_OK && strcmp(neo_primitive_desc_implementation(plain),
                                              neo_primitive_desc_implementation(job->pd)) == 0;
    if (!is_same)
        end(job, STATE_FAILED, "Attributes Changed The Implementation");
    neo_primitive_desc_destroy(plain);
}

void job_create(struct job *job)
{
    const struct problem *p = &job->problem;
    if (is_over(job))
        return;
    job->begin_ms = report_now_ms();
    const char *reason = support_out_of_scope(p);
    if (reason) {
        end(job, STATE_SKIPPED, reason);
        return;
    }
    prefer_user_scratchpad(job);
    end_if_out_of_memory(job);
    if (is_over(job))
        return;
    struct attribute_shape shape = problem_attribute_shape(p);
    end_by_status(job, attributes_create(&job->attributes, &p->attr, &shape));
    if (is_over(job))
        return;
    neo_status status = create_once(job, &job->pd, &job->primitive);
    if (status == NEO_LAST_IMPLEMENTATION)
        end(job, STATE_SKIPPED, "Skip-impl option hit");
    else
        end_by_status(job, status);
    if (!is_over(job))
        end_by_implementation(job);
    if (!is_over(job) && globals.same_pd_check)
        check_same_implementation(job);
    if (!is_over(job))
        create_again(job);
}

/* ---- execution ---- */

static neo_status execute(struct job *job, struct data *data, neo_stream *stream)
{
    double begin = report_now_ms();
    neo_status status = neo_primitive_execute(job->primitive, stream, data->arg_count, data->args);
    if (status == NEO_OK)
        status = neo_stream_wait(stream);
    report_add_time(PHASE_EXECUTE, report_now_ms() - begin);
    return status;
}

static bool is_winograd(const struct job *job)
{
    return strstr(neo_primitive_desc_implementation(job->pd), "wino") != NULL;
}

static size_t count_differences(const double *got, const double *expected, size_t count,
                                double relative, double near)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = fabs(got[i] - expected[i]);
        wrong += !(difference <= near || difference <= relative * fabs(expected[i]));
    }
    return wrong;
}

/* Statistics, workspaces: what is written beside dst. */
static void check_other(struct job *job, const struct data *data, int operand, neo_stream *stream)
{
    const struct problem *p = &job->problem;
    const struct tensor *t = &data->operands[operand];
    size_t count = (size_t)dims_elements(&t->dims);
    double *expected = bench_alloc(count * sizeof *expected);
    double *got = bench_alloc(count * sizeof *got);
    if (expect_other(p, data, operand, expected)) {
        end_by_status(job, tensor_load(t, got, session_engine(), stream));
        double near = p->driver->near ? p->driver->near(p) : 0;
        size_t wrong = count_differences(got, expected, count, p->driver->tolerance(p), near);
        job->outcome.errors += wrong;
        job->outcome.total += count;
        if (wrong)
            end(job, STATE_FAILED, "A result beside dst is wrong");
    }
    free(expected);
    free(got);
}

static void check(struct job *job, struct data *data, neo_stream *stream)
{
    const struct problem *p = &job->problem;
    double begin = report_now_ms();
    struct expectation expected;
    expect_init(&expected, p, data, is_winograd(job));
    double middle = report_now_ms();
    report_add_time(PHASE_REFERENCE, middle - begin);

    size_t count = (size_t)dims_elements(&p->operands[DST].dims);
    double *got = bench_alloc(count * sizeof *got);
    neo_status status = tensor_load(&data->operands[DST], got, session_engine(), stream);
    bool has_dst_scale = false;
    for (int i = 0; i < p->attr.scales.count; i++)
        has_dst_scale |= p->attr.scales.at[i].arg == QUANTITY_DST;
    struct comparison c = {p,   expected.values, expected.slack,
                           got, has_dst_scale,   is_winograd(job)};
    compare_results(&c, &job->outcome);
    end_by_status(job, status);
    for (int i = 0; i < OPERANDS; i++)
        check_other(job, data, i, stream);
    free(got);
    expect_deinit(&expected);
    report_add_time(PHASE_COMPARE, report_now_ms() - middle);
}

/* Nobody may write between the elements of a tensor, around it, or into an input. */
static void check_memory(struct job *job, struct data *data)
{
    struct tensor *const sets[] = {data->operands, data->post_ops, data->conditions, data->scales,
                                   data->zero_points};
    const size_t counts[] = {OPERANDS, NEO_MAX_POST_OPS, NEO_MAX_POST_OPS, QUANTITIES_MAX,
                             QUANTITIES_MAX};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        for (size_t i = 0; i < counts[s]; i++) {
            if (sets[s][i].buffer && !tensor_is_intact(&sets[s][i]))
                end(job, STATE_FAILED, "Memory outside of a tensor's elements was written");
        }
    }
}

/* The same bits must come out of a second execution. */
static void check_bits(struct job *job, struct data *data, neo_stream *stream)
{
    struct tensor *dst = &data->operands[DST];
    void *first = bench_alloc(dst->bytes);
    memcpy(first, dst->buffer, dst->bytes);
    neo_status status = data_reset_dst(data, &job->problem, session_engine(), stream);
    if (status == NEO_OK)
        status = execute(job, data, stream);
    end_by_status(job, status);
    if (!is_over(job)) {
        bool is_same = memcmp(first, dst->buffer, dst->bytes) == 0;
        end(job, is_same ? STATE_PASSED : STATE_FAILED, is_same ? NULL : "Results differ");
    }
    free(first);
}

static void run_peer(struct job *job, struct data *data, neo_stream *stream)
{
    const struct problem *p = &job->problem;
    bool is_good = job->outcome.state == STATE_PASSED || job->outcome.state == STATE_EXECUTED;
    if (!globals.peer || !p->driver->peer_create || !is_good)
        return;
    void *peer = p->driver->peer_create(p, data->operands[SRC].values, data->operands[WEI].values);
    if (!peer)
        return;
    if (region_is_emulated())
        perf_peer_regions(job, data, peer, stream);
    else
        perf_peer_times(job, data, peer, stream);
    p->driver->peer_destroy(peer);
}

static void run_filled(struct job *job, struct data *data, neo_stream *stream)
{
    end_by_status(job, execute(job, data, stream));
    if (is_over(job))
        return;
    if (globals.mode == 'C')
        check(job, data, stream);
    else if (globals.mode == 'B')
        check_bits(job, data, stream);
    else
        end(job, STATE_EXECUTED, NULL);
    if (globals_is_perf())
        perf_measure(job, data, stream);
    run_peer(job, data, stream);
    if (!globals_is_perf())
        check_memory(job, data);
}

static void run(struct job *job)
{
    neo_stream *stream = session_stream(job->problem.ctx_exe.max_threads, 0);
    struct data data;
    double begin = report_now_ms();
    neo_status status = data_init(&data, &job->problem, job->pd, session_engine(), stream);
    report_add_time(PHASE_FILL, report_now_ms() - begin);
    end_by_status(job, status);
    if (!is_over(job))
        run_filled(job, &data, stream);
    data_deinit(&data);
}

/* Of the library's own allocations, while the primitive is there: tensors are the user's. */
static void print_memory(const struct job *job)
{
    neo_stream *stream = session_stream(job->problem.ctx_exe.max_threads, 0);
    int threads = neo_stream_num_threads(stream);
    printf("memory: scratchpad %zu bytes for %d threads\n",
           neo_primitive_desc_scratchpad_size(job->pd, threads), threads);
    session_print_memory();
}

void job_finish(struct job *job)
{
    report_add_time(PHASE_CREATE_PD, job->create_pd.sum_ms);
    report_add_time(PHASE_CREATE_PRIMITIVE, job->create_primitive.sum_ms);
    if (job->pd)
        report_implementation(neo_primitive_desc_implementation(job->pd));
    progress_show();
    if (globals.verbose >= 1) {
        progress_hide();
        printf("run: %s\n", text_get(&job->repro));
    }
    if (!is_over(job) && !globals_runs())
        end(job, STATE_INITIALIZED, NULL);
    else if (!is_over(job))
        run(job);
    progress_hide();
    job->outcome.ms = job->begin_ms > 0 ? report_now_ms() - job->begin_ms : 0;
    if (globals_is_perf() && job->outcome.state == STATE_EXECUTED)
        perf_report(job);
    if (globals.memory && job->primitive)
        print_memory(job);
    report_outcome(&job->outcome, text_get(&job->repro));
    neo_primitive_destroy(job->primitive);
    neo_primitive_desc_destroy(job->pd);
    neo_attributes_destroy(job->attributes);
    text_deinit(&job->repro);
    if (globals.memory && !globals.modifiers.parallel_create)
        session_end(); /* the next problem's figures are its own */
}
