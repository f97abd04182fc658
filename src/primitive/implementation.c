/* Implementations: selection, plan, life. */
#include "src/primitive/implementation.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/hash.h"
#include "src/core/log.h"
#include "src/primitive/budget.h"
#include "src/primitive/concrete.h"
#include "src/primitive/key.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"
#include "src/threading/partition.h"

/* ---- selection ---- */

static void log_declined(const struct implementation *impl)
{
    for (int i = 0; i < impl->declined_count && log_is_on(LOG_DISPATCH); i++)
        log_line(LOG_DISPATCH, "primitive", "create:dispatch,%s,%s,%s",
                 impl->problem.operation->name, impl->declined[i].algorithm,
                 impl->declined[i].reason);
}

/* Why that one: its time beside the next best one's. */
static void note_choice(const struct implementation *impl, const struct candidate *ranked,
                        int index, int count)
{
    const struct cpu *cpu = impl->engine->cpu;
    const struct cost *mine = &ranked[index].cost;
    char other[96] = "";
    if (index + 1 < count)
        snprintf(other, sizeof other, "; %s %.3g, %.3g", ranked[index + 1].algorithm->name,
                 cost_compute_ms(&ranked[index + 1].cost, cpu),
                 cost_memory_ms(&ranked[index + 1].cost, cpu));
    log_line(LOG_DISPATCH, "primitive",
             "create:choice,%s,%s: %.3g ms of products, %.3g of memory%s (%.3g GB/s)",
             impl->problem.operation->name, ranked[index].algorithm->name,
             cost_compute_ms(mine, cpu), cost_memory_ms(mine, cpu), other, cpu_bandwidth(cpu));
}

/* What runs, or which algorithm it nests, of which there is such a line, too. */
static void note_kernel(const struct implementation *impl)
{
    log_line(LOG_DISPATCH, "primitive", "create:kernel,%s,%s: %s", impl->problem.operation->name,
             impl->algorithm->name, impl->algorithm->kernel(impl->plan));
}

/* The last one in the list serves most; those that were not asked for have nothing to say. */
static neo_status reject_all(const struct implementation *impl)
{
    const struct declined *told = NULL;
    for (int i = 0; i < impl->declined_count; i++)
        if (!told || !strstr(impl->declined[i].reason, "was asked for"))
            told = &impl->declined[i];
    char why[256] = "every algorithm declined";
    if (told)
        snprintf(why, sizeof why, "every algorithm declined, %s because %s", told->algorithm,
                 told->reason);
    return problem_reject(&impl->problem, NEO_UNSUPPORTED, "", why);
}

static neo_status select_algorithm(struct implementation *impl, int index)
{
    struct ranking ranking;
    neo_status status = budget_rank(&ranking, &impl->problem, impl->engine);
    if (status != NEO_OK)
        return status;
    memcpy(impl->declined, ranking.declined, sizeof impl->declined);
    impl->declined_count = ranking.declined_count;
    log_declined(impl);
    if (ranking.serving_count == 0)
        return reject_all(impl);
    if (index >= ranking.serving_count)
        return NEO_LAST_IMPLEMENTATION;
    impl->algorithm = ranking.serving[index].algorithm;
    impl->estimate = ranking.serving[index].cost.cycles;
    if (log_is_on(LOG_DISPATCH))
        note_choice(impl, ranking.serving, index, ranking.serving_count);
    return NEO_OK;
}

static neo_status make_table(struct implementation *impl)
{
    const struct algorithm *algorithm = impl->algorithm;
    impl->table_bytes =
        algorithm->table_bytes && !impl->runtime ? algorithm->table_bytes(impl->plan) : 0;
    if (!impl->table_bytes)
        return NEO_OK;
    impl->table = malloc(impl->table_bytes);
    if (!impl->table)
        return NEO_OUT_OF_MEMORY;
    algorithm->fill_table(impl->plan, impl->table);
    return NEO_OK;
}

static neo_status make_plan(struct implementation *impl)
{
    const struct algorithm *algorithm = impl->algorithm;
    const struct cpu *cpu = impl->engine->cpu;
    if (algorithm->choose)
        algorithm->choose(algorithm, &impl->problem, cpu);
    if (impl->problem.operation->derive)
        impl->problem.operation->derive(&impl->problem);
    post_ops_choose(&impl->problem, cpu);
    neo_status status = problem_check_tensors(&impl->problem); /* what was `any` has a size now */
    if (status != NEO_OK)
        return status;
    algorithm->plan(impl->plan, &impl->problem, cpu);
    snprintf(impl->name, sizeof impl->name, "%s:%s", algorithm->name,
             cpu->features & CPU_NEON ? "neon" : "portable");
    return make_table(impl);
}

static const struct expected *expect(struct execution_facts *facts, enum tensor t)
{
    static const int args[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    const uint64_t *image = facts->images[t];
    bool is_longer = desc_image_is_longer(image);
    facts->expected[args[t] / 8] = (struct expected){
        .image = {is_longer ? NO_IMAGE : image[0], is_longer ? 0 : image[1]},
        .if_longer = is_longer ? image : NULL,
        .arg = args[t],
        .tensor = (uint16_t)t,
        .bit = (uint16_t)(1u << t),
    };
    return &facts->expected[args[t] / 8];
}

/* From the first element to the end of the last one. */
static size_t span_bytes(const neo_memory_desc *desc)
{
    size_t offset = desc->format_kind == NEO_FORMAT_STRIDED ? (size_t)desc->offset : 0;
    size_t bytes = neo_memory_desc_size(desc);
    return bytes ? bytes - offset * neo_data_type_bits(desc->data_type) / 8 : 0;
}

static void decide_apart(struct implementation *impl)
{
    struct execution_facts *facts = &impl->facts;
    size_t dst = span_bytes(implementation_argument(impl, DST));
    for (enum tensor t = 0; t < DST; t++) {
        size_t bytes = span_bytes(implementation_argument(impl, t));
        facts->near[t] = bytes ? (struct near){bytes - 1, bytes - 1 + dst} : (struct near){0};
    }
    facts->in_place =
        impl->problem.operation->in_place &&
        neo_memory_desc_equal(&impl->problem.tensors[SRC], &impl->problem.tensors[DST]);
}

/* *swaps: is its src this one's weights, and the other way around? */
static const struct implementation *doer_of(const struct implementation *impl, bool *swaps)
{
    *swaps = false;
    while (impl->nested_count && impl->algorithm->is_nested_one &&
           impl->algorithm->is_nested_one(impl->plan)) {
        *swaps ^= impl->algorithm->swaps;
        impl = impl->nested[0];
    }
    return impl;
}

/* Does the library bring what the doer needs for one thread, and no other nested one needs any? */
static bool scratch_is_doers(const struct implementation *impl)
{
    bool swaps;
    size_t bytes = impl->facts.scratch_bytes;
    return bytes == 0 || (impl->problem.attributes.scratchpad != NEO_SCRATCHPAD_USER &&
                          doer_of(impl, &swaps)->facts.scratch_bytes == bytes);
}

/* What is expected as src and as weights goes to where the doer looks for it. */
static void swap_operands(struct execution_facts *facts)
{
    static const uint16_t others[TENSOR_COUNT] = {
        [SRC] = WEIGHTS, [WEIGHTS] = SRC, [BIAS] = BIAS, [DST] = DST};
    for (size_t i = 0; i < count_of(facts->expected); i++)
        facts->expected[i].tensor = others[facts->expected[i].tensor];
    for (size_t i = 0; i < count_of(facts->in_order); i++)
        facts->in_order[i].tensor = others[facts->in_order[i].tensor];
    struct near src = facts->near[SRC];
    facts->near[SRC] = facts->near[WEIGHTS];
    facts->near[WEIGHTS] = src;
}

static void decide_facts(struct implementation *impl)
{
    struct execution_facts *facts = &impl->facts;
    int count = 0;
    facts->empty = desc_is_empty(&impl->problem.tensors[DST]);
    for (enum tensor t = 0; t < TENSOR_COUNT; t++) {
        const neo_memory_desc *desc = implementation_argument(impl, t);
        if (!desc->ndims)
            continue;
        facts->tensors |= 1u << t;
        desc_image(desc, facts->images[t]);
        facts->images[t][0] |= engine_mark(impl->engine);
    }
    for (enum tensor t = 0; t < TENSOR_COUNT; t++)
        if (facts->tensors >> t & 1)
            facts->in_order[count++] = *expect(facts, t);
    facts->parallel =
        impl->runtime || partition_threads(impl->estimate, INT_MAX, impl->engine->cpu->core) > 1;
    facts->scratch_bytes = impl->runtime ? 0 : implementation_scratch_bytes(impl, 1);
    facts->only_tensors = !impl->problem.extra_count &&
                          !post_ops_have_operand(&impl->problem.attributes) &&
                          !impl->problem.attributes.quantization_count;
    bool plain = facts->only_tensors && !facts->empty && !facts->parallel && impl->engine->number &&
                 scratch_is_doers(impl);
    if (!plain)
        return;
    facts->engine = impl->engine;
    facts->plain_count = count;
    decide_apart(impl);
    bool swaps;
    facts->doer = doer_of(impl, &swaps);
    facts->plan = facts->doer->plan;
    if (swaps)
        swap_operands(facts);
    const struct algorithm *algorithm = facts->doer->algorithm;
    facts->run = algorithm->run_alone ? algorithm->run_alone(facts->doer->plan) : algorithm->run;
}

/* ---- life ---- */

static void implementation_free(struct cache_value *value)
{
    struct implementation *impl = (struct implementation *)(void *)value;
    if (impl->algorithm && impl->algorithm->forget)
        impl->algorithm->forget(impl);
    for (int i = 0; i < impl->nested_count; i++)
        implementation_release(impl->nested[i]);
    block_manager_deinit(&impl->blocks);
    attributes_deinit(&impl->described.attributes);
    attributes_deinit(&impl->problem.attributes);
    free(impl->described.extras);
    free(impl->problem.extras);
    free(impl->table);
    free(impl);
}

static neo_status copy_extras(struct problem *problem, const struct description *d)
{
    size_t bytes = (size_t)d->extra_count * sizeof *d->extras;
    problem->extras = malloc(bytes);
    if (!problem->extras)
        return NEO_OUT_OF_MEMORY;
    memcpy(problem->extras, d->extras, bytes);
    return NEO_OK;
}

/* The attributes' post-operations and the extra tensors become the copies' own. */
static neo_status copy_description(struct implementation *impl, const struct description *d)
{
    problem_init(&impl->described, d);
    impl->described.attributes.post_ops = NULL;
    impl->described.extras = NULL;
    impl->problem = impl->described;
    neo_status status = attributes_init_copy(&impl->described.attributes, d->attributes);
    if (status == NEO_OK)
        status = attributes_init_copy(&impl->problem.attributes, d->attributes);
    if (status == NEO_OK && d->extra_count)
        status = copy_extras(&impl->described, d);
    if (status == NEO_OK && d->extra_count)
        status = copy_extras(&impl->problem, d);
    return status;
}

/* Of this object with what it points to. Nested ones are entries of their own. */
static size_t bytes_of(const struct implementation *impl)
{
    size_t post_ops = (size_t)impl->problem.attributes.post_op_count;
    size_t extras = (size_t)impl->problem.extra_count;
    return round_up(sizeof *impl, 64) + 2 * post_ops * sizeof(struct post_op) +
           2 * extras * sizeof(struct extra) + impl->table_bytes;
}

/* Run-time sizes, for an operation that has one algorithm for all of them. */
static neo_status take_late(struct implementation *impl, int index)
{
    if (index > 0)
        return NEO_LAST_IMPLEMENTATION;
    impl->algorithm = impl->problem.operation->late;
    return impl->algorithm->nest(impl);
}

/* The algorithm with its plan and what it nests. */
static neo_status select_and_plan(struct implementation *impl, int index)
{
    if (impl->problem.operation->late && impl->runtime)
        return take_late(impl, index);
    neo_status status = select_algorithm(impl, index);
    if (status == NEO_OK)
        status = make_plan(impl);
    if (status == NEO_OK && impl->algorithm->nest && !impl->runtime)
        status = impl->algorithm->nest(impl);
    return status;
}

/* A vector that is `any`: here is nothing to choose. */
static void settle_vector(struct implementation *impl)
{
    neo_memory_desc *bias = &impl->described.tensors[BIAS];
    if (bias->ndims != impl->problem.tensors[BIAS].ndims && bias->format_kind == NEO_FORMAT_ANY)
        desc_set_plain(bias);
}

static neo_status implementation_init(struct implementation *impl, const struct description *d,
                                      int index)
{
    neo_status status = copy_description(impl, d);
    if (status == NEO_OK)
        status = problem_check(&impl->problem);
    if (status != NEO_OK)
        return status;
    problem_settle_strides(&impl->problem);
    impl->runtime = problem_is_runtime(&impl->problem);
    settle_vector(impl);
    impl->token_count = 1;
    status = select_and_plan(impl, index);
    if (status != NEO_OK)
        return status;
    impl->bytes = bytes_of(impl);
    decide_facts(impl);
    if (log_is_on(LOG_DISPATCH))
        note_kernel(impl);
    if (impl->problem.attributes.scratchpad == NEO_SCRATCHPAD_LIBRARY && !impl->by_size)
        impl->reserve_bytes =
            implementation_scratch_bytes(impl, default_pool_threads(impl->engine->threads));
    if (impl->runtime && !impl->by_size)
        impl->reserve_bytes = max_size(impl->reserve_bytes, sizeof(struct late));
    return status;
}

neo_status implementation_create(struct implementation **out, neo_engine *engine,
                                 const struct description *description, int index)
{
    *out = NULL;
    struct implementation *impl = aligned_alloc(64, round_up(sizeof *impl, 64));
    if (!impl)
        return NEO_OUT_OF_MEMORY;
    memset(impl, 0, sizeof *impl);
    cache_value_init(&impl->value, implementation_free);
    impl->engine = engine;
    uint64_t id = block_pool_new_id(engine->blocks);
    block_manager_init(&impl->blocks, engine->blocks);
    block_manager_set_user(&impl->blocks, description->operation->name, id);
    neo_status status = implementation_init(impl, description, index);
    if (status != NEO_OK) {
        implementation_free(&impl->value);
        return status;
    }
    *out = impl;
    return NEO_OK;
}

struct implementation *implementation_retain(struct implementation *impl)
{
    cache_value_retain(&impl->value);
    return impl;
}

void implementation_release(struct implementation *impl)
{
    if (impl)
        cache_value_release(&impl->value);
}

struct build_request {
    neo_engine *engine;
    const struct description *description;
    int index;
};

static neo_status build(void *context, struct cache_value **value, size_t *bytes)
{
    const struct build_request *request = context;
    struct implementation *impl;
    neo_status status =
        implementation_create(&impl, request->engine, request->description, request->index);
    if (status != NEO_OK)
        return status;
    *value = &impl->value;
    *bytes = impl->bytes;
    return NEO_OK;
}

neo_status implementation_find(struct implementation **out, neo_engine *engine,
                               const struct description *description, int index,
                               enum cache_outcome *outcome)
{
    /* A look-up allocates nothing, unless the description is far longer than usual. */
    enum { USUAL_PAIRS = 200 };
    uint64_t usual[USUAL_PAIRS], *pairs = usual, *longer = NULL;
    size_t bound = key_bound(description);
    if (bound > USUAL_PAIRS)
        pairs = longer = malloc(bound * sizeof *pairs);
    if (!pairs)
        return NEO_OUT_OF_MEMORY;
    struct cache_key key = {.words = (const void *)pairs,
                            .count = 2 * key_write(pairs, description, index)};
    key.hash = hash_words(key.words, key.count);
    struct build_request request = {engine, description, index};
    struct cache_value *value;
    neo_status status = cache_get_or_create(engine->cache, &key, build, &request, &value, outcome);
    free(longer);
    *out = status == NEO_OK ? (struct implementation *)(void *)value : NULL;
    return status;
}

/* ---- nested implementations ---- */

static neo_status nest_at(struct implementation *impl, const struct description *description,
                          int index)
{
    struct implementation *nested;
    enum cache_outcome outcome;
    if (impl->nested_count == MAX_NESTED)
        return NEO_UNSUPPORTED;
    neo_status status = implementation_find(&nested, impl->engine, description, index, &outcome);
    if (status != NEO_OK)
        return status;
    int tokens = implementation_nested_tokens(nested);
    if (impl->token_count + tokens > MAX_TOKENS) {
        implementation_release(nested);
        return NEO_UNSUPPORTED;
    }
    impl->nested[impl->nested_count++] = nested;
    impl->token_count += tokens;
    return NEO_OK;
}

neo_status implementation_nest(struct implementation *impl, const struct description *description)
{
    return nest_at(impl, description, 0);
}

/* More than small stacks have room for. */
struct asked {
    struct problem problem;
    struct ranking ranking;
};

/* *place: that of the algorithm among those that serve the description; -1: it is none of them. */
static neo_status find_place(struct asked *asked, neo_engine *engine,
                             const struct description *description,
                             const struct algorithm *algorithm, int *place)
{
    struct problem *problem = &asked->problem;
    *place = -1;
    problem_init(problem, description);
    problem_settle_strides(problem);
    if (problem->operation->derive)
        problem->operation->derive(problem);
    neo_status status = budget_rank(&asked->ranking, problem, engine);
    if (status != NEO_OK)
        return status;
    for (int i = asked->ranking.serving_count - 1; i >= 0; i--)
        if (asked->ranking.serving[i].algorithm == algorithm)
            *place = i;
    return NEO_OK;
}

neo_status implementation_nest_by(struct implementation *impl,
                                  const struct description *description,
                                  const struct algorithm *algorithm)
{
    int place;
    struct asked *asked = malloc(sizeof *asked);
    if (!asked)
        return NEO_OUT_OF_MEMORY;
    neo_status status = find_place(asked, impl->engine, description, algorithm, &place);
    free(asked);
    if (status != NEO_OK)
        return status;
    return place < 0 ? NEO_UNSUPPORTED : nest_at(impl, description, place);
}

/* ---- texts ---- */

static const char *prop_kind_name(neo_prop_kind kind)
{
    static const char *const names[] = {"undef", "forward_training", "forward_inference"};
    return names[kind];
}

char *implementation_text(const struct implementation *impl, char *out, size_t size)
{
    const struct problem *problem = &impl->problem;
    size_t used = (size_t)snprintf(out, size, "%s,%s,%s", problem->operation->name, impl->name,
                                   prop_kind_name(problem->prop_kind));
    for (int t = 0; t < problem_tensor_count(problem) && used < size; t++) {
        char tag[DESC_TEXT_BYTES];
        const neo_memory_desc *desc = problem_tensor(problem, t);
        if (desc->ndims)
            used += (size_t)snprintf(out + used, size - used, "%s%s:%s:%s", t == SRC ? "," : " ",
                                     problem_tensor_name(problem, t),
                                     neo_data_type_name(desc->data_type),
                                     neo_memory_desc_tag(desc, tag, sizeof tag));
    }
    char sizes[DESC_TEXT_BYTES];
    problem->operation->describe(problem, sizes, sizeof sizes);
    if (used < size)
        snprintf(out + used, size - used, ",post-ops:%d,%s", problem->attributes.post_op_count,
                 sizes);
    return out;
}
