/* Statistics of repeated measurements. */
#include "benchdnn/timing/timing.h"

void timing_add(struct timing *t, double ms)
{
    t->min_ms = t->count && t->min_ms < ms ? t->min_ms : ms;
    t->max_ms = t->count && t->max_ms > ms ? t->max_ms : ms;
    t->sum_ms += ms;
    t->count++;
}

double timing_average(const struct timing *t)
{
    return t->count ? t->sum_ms / (double)t->count : 0;
}
