/* Times in nanoseconds and in pairs of an uncontended mutex lock and unlock of this machine. */
#ifndef TESTS_BENCH_MEASURE_H
#define TESTS_BENCH_MEASURE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MEASURE_RUNS = 41, MEASURE_PAIRS = 20000 };

static inline double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* For what several threads do at once: wall time says what the machine gives at this moment,
 * processor time what the threads cost each other. */
struct spent {
    double wall_ns, processor_ns;
};

static inline struct spent spend_begin(void)
{
    return (struct spent){now_ns(), processor_ns()};
}

static inline struct spent spend_end(struct spent begin, double count)
{
    return (struct spent){(now_ns() - begin.wall_ns) / count,
                          (processor_ns() - begin.processor_ns) / count};
}

static inline void report_spent(const char *what, size_t threads, struct spent spent,
                                struct spent alone)
{
    printf(
        "%s of %zu threads, different keys %8.1f M/s %6.2f x one thread; processor time %6.1f ns "
        "%5.2f x\n",
        what, threads, 1e3 / spent.wall_ns, alone.wall_ns / spent.wall_ns, spent.processor_ns,
        spent.processor_ns / alone.processor_ns);
}

static inline int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static inline double mutex_pair(void *context)
{
    pthread_mutex_t *mutex = context;
    double start = now_ns();
    for (int i = 0; i < MEASURE_PAIRS; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return (now_ns() - start) / (double)MEASURE_PAIRS;
}

/* Medians over MEASURE_RUNS: the nanoseconds an operation takes, and the same in mutex pairs. The
 * pairs are timed right before each run, and a run is shorter than a time slice, so that other load
 * on the machine weighs little. */
struct cost {
    double ns, pairs;
};

static inline struct cost median(double (*measure)(void *), void *context)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    double times[MEASURE_RUNS], ratios[MEASURE_RUNS];
    for (size_t i = 0; i < MEASURE_RUNS; i++) {
        double unit = mutex_pair(&mutex);
        times[i] = measure(context);
        ratios[i] = times[i] / unit;
    }
    qsort(times, MEASURE_RUNS, sizeof *times, compare_numbers);
    qsort(ratios, MEASURE_RUNS, sizeof *ratios, compare_numbers);
    return (struct cost){times[MEASURE_RUNS / 2], ratios[MEASURE_RUNS / 2]};
}

static inline void report(const char *what, struct cost cost)
{
    printf("%-52s %8.1f ns %7.2f pairs\n", what, cost.ns, cost.pairs);
}

static inline void *do_nothing(void *context)
{
    return context;
}

/* From now on the C library takes no short cuts for a single thread. */
static inline void become_threaded(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL))
        exit(1);
    pthread_join(thread, NULL);
}

#endif
