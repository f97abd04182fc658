/* Which algorithms of its operation serve a problem, and which one takes the least time. */
#ifndef SRC_PRIMITIVE_SELECTION_H
#define SRC_PRIMITIVE_SELECTION_H

#include "src/primitive/cost.h"

/* NULL, or why one algorithm declines a problem of types that it serves. */
static inline const char *selection_refuse(const struct algorithm *algorithm,
                                           const struct problem *problem, const struct cpu *cpu)
{
    const char *reason = algorithm->refuse_all ? algorithm->refuse_all(problem, cpu) : NULL;
    return reason ? reason : algorithm->refuse(algorithm, problem, cpu);
}

struct declined {
    const char *algorithm, *reason;
};

enum { MAX_ALGORITHMS = 24 };

/* All algorithms of an operation: those that serve a problem, the fastest first, equals in the
 * operation's order, and the others. */
struct ranking {
    struct candidate serving[MAX_ALGORITHMS];
    struct declined declined[MAX_ALGORITHMS];
    int serving_count, declined_count;
};
void selection_rank(struct ranking *ranking, const struct problem *problem, const struct cpu *cpu);

/* The fastest one that is not `but` (NULL: of all), with its cost; or no algorithm. */
struct candidate selection_best(const struct problem *problem, const struct algorithm *but,
                                const struct cpu *cpu);

/* Is there one? */
bool selection_exists(const struct problem *problem, const struct algorithm *but,
                      const struct cpu *cpu);

#endif
