/* Statistics of repeated measurements. */
#ifndef BENCHDNN_TIMING_TIMING_H
#define BENCHDNN_TIMING_TIMING_H

struct timing {
    long count;
    double min_ms, max_ms, sum_ms;
};

void timing_add(struct timing *timing, double ms);
double timing_average(const struct timing *timing); /* 0 of nothing */

#endif
