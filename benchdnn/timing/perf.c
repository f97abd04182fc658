/* Measuring: the loop of performance mode and the peer beside us. */
#include "benchdnn/timing/perf.h"

#include "benchdnn/driver.h"
#include "benchdnn/globals.h"
#include "benchdnn/progress.h"
#include "benchdnn/session.h"
#include "benchdnn/timing/cold.h"
#include "benchdnn/timing/peer.h"
#include "benchdnn/timing/region.h"

#include <stdlib.h>

/* ---- performance mode ---- */

/* An interrupted measurement has what it has. */
static bool is_enough(const struct timing *t)
{
    if (t->count && progress_is_interrupted())
        return true;
    if (globals.fix_times)
        return t->count >= globals.fix_times;
    return t->count >= 5 && t->sum_ms >= (double)globals.max_ms;
}

static double execute_ms(const struct job *job, int count, const neo_exec_arg *args,
                         neo_stream *stream)
{
    double begin = report_now_ms();
    neo_primitive_execute(job->primitive, stream, count, args);
    neo_stream_wait(stream);
    return report_now_ms() - begin;
}

void perf_measure(struct job *job, struct data *data, neo_stream *stream)
{
    struct cold cold;
    cold_init(&cold, data, session_engine());
    execute_ms(job, data->arg_count, data->args, stream);
    for (long i = 0; !is_enough(&job->execute); i++) {
        int index = (int)(i % (globals.streams > 0 ? globals.streams : 1));
        neo_stream *next = index ? session_stream(job->problem.ctx_exe.max_threads, index) : stream;
        const neo_exec_arg *args = cold_next(&cold);
        timing_add(&job->execute, execute_ms(job, data->arg_count, args, next));
    }
    report_add_time(PHASE_EXECUTE, job->execute.sum_ms);
    cold_deinit(&cold);
}

/* ---- beside the peer ---- */

#define PEER_RUNS_MAX 1000

static int compare_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_ms);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double peer_ms(const struct job *job, void *peer)
{
    double begin = report_now_ms();
    job->problem.driver->peer_run(peer);
    return report_now_ms() - begin;
}

void perf_peer_times(struct job *job, struct data *data, void *peer, neo_stream *stream)
{
    double *ours = bench_alloc(PEER_RUNS_MAX * sizeof *ours);
    double *theirs = bench_alloc(PEER_RUNS_MAX * sizeof *theirs);
    size_t count = 0;
    peer_set_threads(neo_stream_num_threads(stream));
    execute_ms(job, data->arg_count, data->args, stream);
    peer_ms(job, peer);
    double limit = globals_is_perf() ? (double)globals.max_ms : 100, begin = report_now_ms();
    while (count < PEER_RUNS_MAX && (count < 5 || report_now_ms() - begin < limit) &&
           !(count && progress_is_interrupted())) {
        ours[count] = execute_ms(job, data->arg_count, data->args, stream);
        theirs[count] = peer_ms(job, peer);
        count++;
    }
    peer_report(&job->problem, median(ours, count), median(theirs, count));
    free(theirs);
    free(ours);
}

void perf_peer_regions(struct job *job, struct data *data, void *peer, neo_stream *stream)
{
    peer_set_threads(1);
    region_begin();
    execute_ms(job, data->arg_count, data->args, stream);
    region_end();
    region_begin();
    job->problem.driver->peer_run(peer);
    region_end();
    peer_report_regions(&job->problem, job->outcome.state == STATE_PASSED ? "PASSED" : "EXECUTED");
}
