/* Memory budgets: algorithms are planned, to see what they take. */
#include "src/primitive/budget.h"

#include <stdlib.h>
#include <string.h>

#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"

/* What an algorithm would make of the problem. */
struct trial {
    alignas(64) unsigned char plan[PLAN_MAX_BYTES];
    struct problem problem; /* post-operations are the described one's own */
};

static void settle(struct trial *trial, const struct algorithm *algorithm,
                   const struct problem *described, const struct cpu *cpu)
{
    struct problem *problem = &trial->problem;
    *problem = *described;
    if (algorithm->choose)
        algorithm->choose(algorithm, problem, cpu);
    if (problem->operation->derive)
        problem->operation->derive(problem);
    post_ops_choose(problem, cpu);
}

static size_t weights_bytes(const struct problem *described, const struct problem *chosen)
{
    const neo_memory_desc *weights = &chosen->tensors[WEIGHTS];
    bool is_own = described->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY &&
                  weights->format_kind == NEO_FORMAT_PACKED;
    return is_own ? neo_memory_desc_size(weights) : 0;
}

static size_t scratch_bytes(struct trial *trial, const struct candidate *candidate,
                            const neo_engine *engine)
{
    int available = default_pool_threads(engine->threads);
    int threads = partition_threads(candidate->cost.cycles, available, engine->cpu->core);
    if (problem_is_runtime(&trial->problem))
        return 0;
    memset(trial->plan, 0, sizeof trial->plan);
    candidate->algorithm->plan(trial->plan, &trial->problem, engine->cpu);
    return implementation_own_bytes(candidate->algorithm, trial->plan, threads);
}

/* Bytes of weights in the layout that the algorithm asks for, if that is one of the library's own,
 * and of the scratchpad for as many threads as the engine's pool has. What it nests is chosen by
 * the same budget, and not counted here; nor are scratchpads for sizes that are not known yet. */
static size_t bytes_of(struct trial *trial, const struct candidate *candidate,
                       const struct problem *problem, const neo_engine *engine)
{
    settle(trial, candidate->algorithm, problem, engine->cpu);
    return weights_bytes(problem, &trial->problem) + scratch_bytes(trial, candidate, engine);
}

static void decline(struct ranking *ranking, const struct candidate *candidate)
{
    ranking->declined[ranking->declined_count++] = (struct declined){
        candidate->algorithm->name,
        "its layout of weights and its scratchpad take more than the memory budget"};
}

/* Those that take no more than that, or else what takes the least. */
static void keep_within(struct ranking *ranking, size_t budget, const size_t *bytes)
{
    int kept = 0, count = ranking->serving_count;
    size_t least = SIZE_MAX;
    for (int i = 0; i < count; i++)
        least = min_size(least, bytes[i]);
    size_t most = max_size(least, budget);
    for (int i = 0; i < count; i++)
        if (bytes[i] <= most)
            ranking->serving[kept++] = ranking->serving[i];
        else
            decline(ranking, &ranking->serving[i]);
    ranking->serving_count = kept;
}

neo_status budget_rank(struct ranking *ranking, const struct problem *problem,
                       const neo_engine *engine)
{
    size_t own = problem->attributes.memory_budget, budget = own ? own : engine->algorithm_budget;
    size_t bytes[MAX_ALGORITHMS];
    selection_rank(ranking, problem, engine->cpu);
    if (!budget || ranking->serving_count == 0)
        return NEO_OK;
    struct trial *trial = aligned_alloc(64, round_up(sizeof *trial, 64));
    if (!trial)
        return NEO_OUT_OF_MEMORY;
    for (int i = 0; i < ranking->serving_count; i++)
        bytes[i] = bytes_of(trial, &ranking->serving[i], problem, engine);
    free(trial);
    keep_within(ranking, budget, bytes);
    return NEO_OK;
}
