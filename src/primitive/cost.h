/* What an execution costs: cycles of one core, and bytes that come from beyond the caches that the
 * core has for itself. All algorithms of all operations are compared by it (selection.c). */
#ifndef SRC_PRIMITIVE_COST_H
#define SRC_PRIMITIVE_COST_H

#include "src/primitive/problem.h"

struct cost {
    double cycles;    /* on one thread, as if all that is read were in its caches */
    double meanwhile; /* of these, those during which weights are read, too */
    double weights;   /* bytes that are read from memory, */
    double others; /* and those whose reading nothing hides: images and results, what an algorithm
                      keeps in between, and weights before the first products, once more */
};

/* Bytes of src, without what strides leave out, and of dst; none where the caches have both. */
struct image_bytes {
    double read, written;
};
struct image_bytes cost_images(const struct problem *problem, const struct cpu *cpu);

/* Of an algorithm that estimates so many cycles for a problem.
 *
 * Weights always come from memory, as in a network: those of one layer have gone when it is their
 * turn again. Winograd's count as they are kept, several values for each tap. Images and results
 * come from there and go there if they are larger than the caches; of what is read two
 * thirds are waited for, of what is written a third, but all of both by transforms. What an
 * algorithm keeps in between has left the caches since it was used for another layer. */
struct cost cost_of(const struct algorithm *algorithm, const struct problem *problem,
                    const struct cpu *cpu, double cycles);

/* Cycles of this core that both take: one after the other, or, where weights are read meanwhile,
 * the longer one, products with a part of the reading, for which they wait. The bandwidth is the
 * machine's, whatever the number of threads, so that this number changes no result.
 * tests/convolution/cost.c holds it against what a cycle simulator printed. */
double cost_time(const struct cost *cost, const struct cpu *cpu);

/* An algorithm with what it costs for a problem, which it serves. */
struct candidate {
    const struct algorithm *algorithm;
    struct cost cost; /* on one thread */
    double time;      /* of that: what candidates are ranked by */
};

struct candidate candidate_of(const struct algorithm *algorithm, const struct problem *problem,
                              const struct cpu *cpu, double cycles);

/* The parts of the time in milliseconds, for logs; 0 where the core's clock is not known. */
double cost_compute_ms(const struct cost *cost, const struct cpu *cpu);
double cost_memory_ms(const struct cost *cost, const struct cpu *cpu);

#endif
