/* What a user without this library would do: OpenBLAS, and im2col in front of it. Bias and
 * post-operations are left out, in the peer's favour. */
#ifndef BENCHDNN_TIMING_PEER_H
#define BENCHDNN_TIMING_PEER_H

#include "benchdnn/problem.h"

/* src and weights: dense, in natural order; they must outlive the result. NULL if OpenBLAS has
 * nothing for the problem. Memory that such a user would allocate once is allocated here. */
void *peer_matmul_create(const struct problem *problem, const float *src, const float *weights);
void *peer_conv_create(const struct problem *problem, const float *src, const float *weights);
void peer_run(void *peer);
void peer_destroy(void *peer);

void peer_set_threads(int threads);

/* Collects ratios for the mean that peer_finish() prints. */
void peer_report(const struct problem *problem, double ours_ms, double peer_ms);
/* Under emulation: says which regions of the instruction counter belong to the problem. */
void peer_report_regions(const struct problem *problem, const char *state);
void peer_finish(void);

#endif
