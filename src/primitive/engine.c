/* Engines: creation in order, destruction in reverse, reference counting between. */
#include "src/primitive/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cores.h"
#include "src/core/checked.h"
#include "src/core/env.h"
#include "src/core/log.h"
#include "src/memory/domain_source.h"
#include "src/primitive/implementation.h"

/* Requests are told by those who make them. */
static void log_eviction(void *context, const struct cache_event *event)
{
    (void)context;
    if (event->outcome == CACHE_EVICT)
        log_line(LOG_CREATE, "primitive", "create:cache_evict,cpu,%s,%g", event->text,
                 (double)event->time_ns * 1e-6);
}

static void describe(const struct cache_value *value, char *out, size_t size)
{
    const void *object = value; /* its first member */
    implementation_text(object, out, size);
}

static neo_status create_cache(neo_engine *engine)
{
    struct cache_options options = cache_options_from_environment();
    options.event = log_eviction;
    options.describe = describe;
    return cache_create(&engine->cache, &options);
}

static neo_status create_pool(neo_engine *engine)
{
    struct block_source source = domain_block_source(&engine->memory);
    struct block_pool_options options = {.is_poisoned = engine->memory.poison >= 0,
                                         .poison = (unsigned char)engine->memory.poison};
    uint64_t budget = SIZE_MAX;
    env_number("NEOPRENE_BLOCK_BUDGET", 0, SIZE_MAX, true, &budget);
    neo_status status = block_pool_create(&engine->blocks, &source, &options);
    if (status == NEO_OK)
        block_pool_set_budget(engine->blocks, (size_t)budget);
    return status;
}

static size_t algorithm_budget(void)
{
    uint64_t bytes = 0;
    env_number("NEOPRENE_ALGORITHM_BUDGET", 1, SIZE_MAX, true, &bytes);
    return (size_t)bytes;
}

static void warn_of_old_name(const struct cpu_variable *variable)
{
    if (variable->instead)
        log_warn("%s is now called %s", variable->name, variable->instead);
}

/* arch/ reads these variables, and has no log to warn in. */
static void warn_of_cpu_variables(void)
{
    struct cpu_variable core = cpu_variable(CPU_VARIABLE_CORE);
    struct cpu_variable disabled = cpu_variable(CPU_VARIABLE_DISABLE);
    const char *unknown = NULL, *bandwidth = secure_getenv("NEOPRENE_BANDWIDTH");
    warn_of_old_name(&core);
    warn_of_old_name(&disabled);
    if (core.value && !core_named(core.value))
        log_warn("%s='%s' is no core that is known; it is ignored", core.name, core.value);
    if (bandwidth && cpu_parse_bandwidth(bandwidth) == 0)
        log_warn("NEOPRENE_BANDWIDTH='%s' is no number of GB/s above 0 and up to %d; it is ignored",
                 bandwidth, CPU_MAX_BANDWIDTH);
    if (disabled.value)
        cpu_parse_features(disabled.value, &unknown);
    if (unknown)
        log_warn("%s='%s': '%.*s' is no instruction set; it is ignored", disabled.name,
                 disabled.value, (int)strcspn(unknown, ", "), unknown);
}

/* The first line of a log that says more than errors: what reports of errors need. */
static void log_machine(const neo_engine *engine)
{
    static const char *const sets[] = {"neon", "fp16", "fhm", "dotprod", "bf16", "i8mm"};
    const uint32_t more = LOG_CHECK | LOG_DISPATCH | LOG_EXEC | LOG_CREATE | LOG_MEMORY;
    const struct cpu *cpu = engine->cpu;
    const neo_version *version = neo_get_version();
    char isa[64] = "";
    const char *unknown;
    for (size_t i = 0; i < count_of(sets); i++)
        if (cpu->features & cpu_parse_features(sets[i], &unknown))
            snprintf(isa + strlen(isa), sizeof isa - strlen(isa), "%s%s", *isa ? "+" : "", sets[i]);
    log_line(more, "info", "Neoprene %d.%d.%d,%s,isa:%s,core:%s,threads:%d,bandwidth:%g GB/s",
             version->major, version->minor, version->patch, version->target, *isa ? isa : "none",
             cpu->core->name, default_pool_threads(engine->threads),
             cpu->bandwidth > 0 ? cpu->bandwidth : cpu->core->bandwidth);
}

static neo_status engine_init(neo_engine *engine, const neo_allocator *allocator)
{
    neo_status status = memory_domain_init(&engine->memory, allocator);
    if (status != NEO_OK)
        return status;
    status = default_pool_create(&engine->threads, &(neo_threadpool_options){0});
    engine->algorithm_budget = algorithm_budget();
    if (status == NEO_OK)
        log_machine(engine);
    if (status == NEO_OK)
        status = create_pool(engine);
    if (status == NEO_OK)
        status = create_cache(engine);
    if (status == NEO_OK)
        status = engine_weights_init(&engine->weights, &engine->memory);
    return status;
}

neo_status neo_engine_create(neo_engine **out)
{
    return neo_engine_create_with_allocator(out, NULL);
}

neo_status neo_engine_create_with_allocator(neo_engine **out, const neo_allocator *allocator)
{
    if (!out)
        return log_refusal(__func__, "out is NULL");
    *out = NULL;
    neo_engine *engine = aligned_alloc(_Alignof(neo_engine), sizeof *engine);
    if (!engine)
        return NEO_OUT_OF_MEMORY;
    memset(engine, 0, sizeof *engine);
    atomic_init(&engine->refs, 1);
    engine->cpu = cpu_get();
    engine->number = engine_take_number();
    warn_of_cpu_variables();
    constants_init(&engine->replicas, &engine->memory, true);
    neo_status status = handle_lanes_init(engine->lanes, engine);
    if (status == NEO_OK)
        status = engine_init(engine, allocator);
    if (status != NEO_OK) {
        neo_engine_destroy(engine);
        return status;
    }
    *out = engine;
    return NEO_OK;
}

void neo_engine_destroy(neo_engine *engine)
{
    if (!engine)
        return;
    handle_lanes_let_go(engine->lanes);
    engine_release(engine);
}

neo_status neo_engine_get_bandwidth(const neo_engine *engine, double *gigabytes_per_second)
{
    if (!engine || !gigabytes_per_second)
        return log_refusal(__func__, "an argument is NULL");
    *gigabytes_per_second = cpu_bandwidth(engine->cpu);
    return NEO_OK;
}
