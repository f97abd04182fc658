/* Selection: refusals, estimates, ranks. */
#include "src/primitive/selection.h"

#include "src/primitive/types.h"

static const char *refuse(const struct algorithm *algorithm, const struct problem *problem,
                          const struct cpu *cpu)
{
    const char *reason = types_refuse_algorithm(algorithm, problem);
    return reason ? reason : algorithm->refuse(algorithm, problem, cpu);
}

struct candidate candidate_of(const struct algorithm *algorithm, const struct problem *problem,
                              const struct cpu *cpu)
{
    struct cost cost = cost_of(algorithm, problem, cpu);
    return (struct candidate){algorithm, cost, cost_time(&cost, cpu)};
}

int selection_rank(struct candidate *ranked, const struct problem *problem, const struct cpu *cpu,
                   void (*decline)(void *context, const struct algorithm *algorithm,
                                   const char *reason),
                   void *context)
{
    const struct operation *operation = problem->operation;
    int count = 0;
    for (size_t i = 0; i < operation->algorithm_count; i++) {
        const struct algorithm *algorithm = operation->algorithms[i];
        const char *reason = refuse(algorithm, problem, cpu);
        if (reason) {
            if (decline)
                decline(context, algorithm, reason);
            continue;
        }
        struct candidate this = candidate_of(algorithm, problem, cpu);
        int at = count++;
        for (; at > 0 && ranked[at - 1].time > this.time; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = this;
    }
    return count;
}

/* The next algorithm from number *i on that serves the problem, or NULL; *i goes behind it. */
static const struct algorithm *next(size_t *i, const struct problem *problem,
                                    const struct algorithm *but, const struct cpu *cpu)
{
    const struct operation *operation = problem->operation;
    while (*i < operation->algorithm_count) {
        const struct algorithm *algorithm = operation->algorithms[(*i)++];
        if (algorithm != but && !refuse(algorithm, problem, cpu))
            return algorithm;
    }
    return NULL;
}

struct candidate selection_best(const struct problem *problem, const struct algorithm *but,
                                const struct cpu *cpu)
{
    struct candidate best = {0};
    const struct algorithm *algorithm;
    for (size_t i = 0; (algorithm = next(&i, problem, but, cpu));) {
        struct candidate this = candidate_of(algorithm, problem, cpu);
        if (!best.algorithm || this.time < best.time)
            best = this;
    }
    return best;
}

bool selection_exists(const struct problem *problem, const struct algorithm *but,
                      const struct cpu *cpu)
{
    size_t i = 0;
    return next(&i, problem, but, cpu) != NULL;
}
