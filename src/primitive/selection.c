/* Selection: refusals, estimates, ranks. */
#include "src/primitive/selection.h"

#include "src/primitive/types.h"

/* A problem on its way through the list. */
struct search {
    const struct problem *problem;
    const struct cpu *cpu;
    const char *usual; /* NULL, or why those decline that name no types */
    size_t next;       /* number of an algorithm */

    /* What the last one that has something in common with others says, and why these decline. */
    common_refuse_fn *common;
    const char *common_reason;
};

static struct search begin(const struct problem *problem, const struct cpu *cpu)
{
    return (struct search){.problem = problem, .cpu = cpu, .usual = types_refuse(NULL, problem)};
}

static const char *refuse_all(struct search *search, const struct algorithm *algorithm)
{
    common_refuse_fn *common = algorithm->refuse_all;
    if (common != search->common) {
        search->common = common;
        search->common_reason = common ? common(search->problem, search->cpu) : NULL;
    }
    return search->common_reason;
}

/* NULL, or why the algorithm declines: types, scales and zero points, or what it says itself. */
static const char *refuse(struct search *search, const struct algorithm *algorithm)
{
    const struct problem *problem = search->problem;
    if (problem->attributes.quantization_count && !algorithm->quantizes)
        return "it takes neither scales nor zero points";
    const char *reason = algorithm->types ? NULL : search->usual;
    if (!reason)
        reason = refuse_all(search, algorithm);
    if (!reason && algorithm->types)
        reason = types_refuse(algorithm->types, problem);
    return reason ? reason : algorithm->refuse(algorithm, problem, search->cpu);
}

static void insert(struct ranking *ranking, struct candidate candidate)
{
    struct candidate *ranked = ranking->serving;
    int at = ranking->serving_count++;
    for (; at > 0 && ranked[at - 1].time > candidate.time; at--)
        ranked[at] = ranked[at - 1];
    ranked[at] = candidate;
}

void selection_rank(struct ranking *ranking, const struct problem *problem, const struct cpu *cpu)
{
    const struct operation *operation = problem->operation;
    struct search search = begin(problem, cpu);
    ranking->serving_count = ranking->declined_count = 0;
    for (size_t i = 0; i < operation->algorithm_count; i++) {
        const struct algorithm *algorithm = operation->algorithms[i];
        const char *reason = refuse(&search, algorithm);
        if (reason) {
            ranking->declined[ranking->declined_count++] =
                (struct declined){algorithm->name, reason};
            continue;
        }
        double cycles = algorithm->estimate(algorithm, problem, cpu);
        insert(ranking, candidate_of(algorithm, problem, cpu, cycles));
    }
}

/* The next algorithm that is not `but` and serves the problem, or NULL. */
static const struct algorithm *next(struct search *search, const struct algorithm *but)
{
    const struct operation *operation = search->problem->operation;
    while (search->next < operation->algorithm_count) {
        const struct algorithm *algorithm = operation->algorithms[search->next++];
        if (algorithm != but && !refuse(search, algorithm))
            return algorithm;
    }
    return NULL;
}

struct candidate selection_best(const struct problem *problem, const struct algorithm *but,
                                const struct cpu *cpu)
{
    struct candidate best = {0};
    const struct algorithm *algorithm;
    struct search search = begin(problem, cpu);
    while ((algorithm = next(&search, but))) {
        double cycles = algorithm->estimate(algorithm, problem, cpu);
        struct candidate this = candidate_of(algorithm, problem, cpu, cycles);
        if (!best.algorithm || this.time < best.time)
            best = this;
    }
    return best;
}

bool selection_exists(const struct problem *problem, const struct algorithm *but,
                      const struct cpu *cpu)
{
    struct search search = begin(problem, cpu);
    return next(&search, but) != NULL;
}
