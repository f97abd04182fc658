/* How outputs are split among tasks. Counts are in micro-tiles, so that no tile is cut; everything
 * here is a pure function of its arguments. Work is never split over a reduction, so that results
 * do not depend on any of it. */
#ifndef SRC_THREADING_PARTITION_H
#define SRC_THREADING_PARTITION_H

#include <stddef.h>

#include "arch/cpu.h"

/* begin <= i < end */
struct span {
    size_t begin, end;
};

/* Part i of parts (> 0) of 0 … count - 1: sizes differ by one at most, larger and smaller ones are
 * interleaved; parts beyond count are empty. */
struct span partition_span(size_t count, size_t parts, size_t i);

/* Part i in proportion to weights[i] (each >= 0, the sum > 0): each size is within one of its
 * share. */
struct span partition_weighted(size_t count, const double *weights, size_t parts, size_t i);

/* ---- how many threads ---- */

/* The time of a problem on n > 1 threads of a core is modelled as
 *     cycles / n + share_cycles + (n - 1) * thread_cycles.
 * Together they are more than what sharing work with an awake thread costs, for which bench-threads
 * measures 500 to 1500 cycles for two busy tasks on a quiet machine; the rest is for a second set
 * of caches to warm and for threads that have to be woken. */
double partition_time(double cycles, int threads, const struct core *core);

/* The number of threads, 1 … available, that makes a problem of so many cycles (on one core)
 * shortest; 1 unless that saves a tenth at least. */
int partition_threads(double cycles, int available, const struct core *core);

/* ---- one dimension on unequal cores ---- */

/* Static slices, one for each thread, and then a tail of small ones for whoever is free first.
 * The pool gives task i < threads to thread i if it can, the others to anyone. */
struct partition_slices {
    size_t count;          /* all tiles */
    size_t static_count;   /* those of the first threads slices */
    int threads;           /* static slices */
    int tasks;             /* all slices */
    const double *weights; /* relative speed by thread; NULL: unknown or equal. Not owned. */
};

/* tail is the part of the work that is left dynamic, 0 (equal cores) … 1; its slices are a
 * sixteenth of a static one, but one tile at least. */
struct partition_slices partition_slices(size_t count, int threads, const double *weights,
                                         double tail);

/* The tiles of task i < tasks. */
struct span partition_slice(const struct partition_slices *slices, int i);

/* ---- two dimensions ---- */

/* Relative costs: of computing one tile; of what a task does once for each of its rows of tiles
 * (such as packing them) and once for each of its columns. */
struct partition_costs {
    double tile, row, column;
};

/* Bands of rows (or of columns), each cut across into tasks. Bands differ by one task at most, and
 * a band's extent follows its number of tasks: so 7 threads can be 3 over 4. */
struct partition_grid {
    size_t rows, columns; /* of tiles */
    int bands, tasks;
    int bands_are_columns; /* 0: a band is a set of rows */
    double cost;           /* of the longest task */
};

struct partition_rect {
    struct span rows, columns;
};

/* The split into at most max_tasks tasks, none of them empty, whose longest task is cheapest; of
 * equal ones that with the fewest tasks. rows, columns and max_tasks are > 0. */
struct partition_grid partition_grid(size_t rows, size_t columns, int max_tasks,
                                     const struct partition_costs *costs);

/* The tiles of task i < tasks. */
struct partition_rect partition_rect(const struct partition_grid *grid, int i);

/* ---- runs ---- */

/* Tiles are numbered down one column after the other, and each task has as many that follow each
 * other: no two differ by more than one, and a column belongs to more than one task only where it
 * has to. A run is rectangles: the rest of a column, whole columns, the beginning of another. */
enum { PARTITION_RUN_RECTS = 3 };

/* Those of task i < tasks; returns how many there are, 0 if there are fewer tiles than tasks. */
size_t partition_run(size_t rows, size_t columns, int tasks, int i,
                     struct partition_rect rects[PARTITION_RUN_RECTS]);

#endif
