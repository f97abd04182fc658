/* Which algorithms of its operation serve a problem, and which one takes the least time. */
#ifndef SRC_PRIMITIVE_SELECTION_H
#define SRC_PRIMITIVE_SELECTION_H

#include "src/primitive/cost.h"

struct candidate {
    const struct algorithm *algorithm;
    struct cost cost; /* on one thread */
    double time;      /* of that: what candidates are ranked by */
};

/* With its cost for the problem, which it serves. */
struct candidate candidate_of(const struct algorithm *algorithm, const struct problem *problem,
                              const struct cpu *cpu);

/* Writes those that serve the problem, the fastest first, equals in the operation's order; there is
 * room for all of them. decline (or NULL) gets each of the others with its reason. Returns how many
 * serve it. */
int selection_rank(struct candidate *ranked, const struct problem *problem, const struct cpu *cpu,
                   void (*decline)(void *context, const struct algorithm *algorithm,
                                   const char *reason),
                   void *context);

/* The fastest one that is not `but` (NULL: of all), with its cost; or no algorithm. */
struct candidate selection_best(const struct problem *problem, const struct algorithm *but,
                                const struct cpu *cpu);

/* Is there one? */
bool selection_exists(const struct problem *problem, const struct algorithm *but,
                      const struct cpu *cpu);

#endif
