/* Measuring: the loop of performance mode, its report by template, and the peer beside us. */
#ifndef BENCHDNN_TIMING_PERF_H
#define BENCHDNN_TIMING_PERF_H

#include "benchdnn/data.h"
#include "benchdnn/job.h"

/* Repeats the execution as the global options say; fills job->execute. */
void perf_measure(struct job *job, struct data *data, neo_stream *stream);

/* Prints the line of a template; the first call also prints what its columns are. */
void perf_report(const struct job *job);

/* Ours and the peer in turn, medians of both. */
void perf_peer_times(struct job *job, struct data *data, void *peer, neo_stream *stream);

/* One execution of ours and one of the peer's, each in a region of its own. */
void perf_peer_regions(struct job *job, struct data *data, void *peer, neo_stream *stream);

#endif
