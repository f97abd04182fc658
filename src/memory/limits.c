/* Atomic reservations against limits. */
#include "src/memory/limits.h"

#include "src/core/checked.h"
#include "src/core/log.h"

#define REREAD_NS 1000000000u       /* limits of a control group change rarely */
#define REREAD_REFUSED_NS 10000000u /* before a refusal an older value is not trusted */

void limits_init(struct limits *limits)
{
    *limits = (struct limits){.reread_ns = REREAD_NS, .root = ""};
}

/* Several threads may read at once; they store the same value. */
static size_t machine_limit(struct limits *limits, uint64_t max_age_ns)
{
    uint64_t now = log_now_ns();
    uint64_t then = atomic_load_explicit(&limits->read_at_ns, memory_order_relaxed);
    size_t known = atomic_load_explicit(&limits->machine, memory_order_relaxed);
    if (known && now - then < max_age_ns)
        return known;
    known = limits_read_machine(limits->root);
    atomic_store_explicit(&limits->machine, known, memory_order_relaxed);
    atomic_store_explicit(&limits->read_at_ns, now, memory_order_relaxed);
    return known;
}

static size_t limit_or_machine(struct limits *limits, atomic_size_t *user, uint64_t max_age_ns)
{
    size_t bytes = atomic_load_explicit(user, memory_order_relaxed);
    return bytes ? bytes : machine_limit(limits, max_age_ns);
}

size_t limits_object(struct limits *limits)
{
    return limit_or_machine(limits, &limits->user_object, limits->reread_ns);
}

size_t limits_total(struct limits *limits)
{
    return limit_or_machine(limits, &limits->user_total, limits->reread_ns);
}

/* Adds bytes to *used unless that would exceed limit; *seen is what was in use. */
static bool reserve(atomic_size_t *used, size_t bytes, size_t limit, size_t *seen)
{
    *seen = atomic_load(used);
    do {
        if (*seen > limit || bytes > limit - *seen)
            return false;
    } while (!atomic_compare_exchange_weak(used, seen, *seen + bytes));
    return true;
}

static neo_status refuse(struct limits_refusal *refusal, neo_status status, const char *what,
                         size_t requested, size_t used, size_t limit)
{
    *refusal = (struct limits_refusal){what, requested, used, limit};
    return status;
}

static neo_status reserve_total(struct limits *limits, size_t bytes, uint64_t max_age_ns,
                                struct limits_refusal *refusal)
{
    size_t object = limit_or_machine(limits, &limits->user_object, max_age_ns);
    if (bytes > object)
        return refuse(refusal, NEO_OUT_OF_MEMORY, "one object", bytes, atomic_load(&limits->used),
                      object);
    size_t used;
    size_t total = limit_or_machine(limits, &limits->user_total, max_age_ns);
    if (!reserve(&limits->used, bytes, total, &used))
        return refuse(refusal, NEO_OUT_OF_MEMORY, "all memory", bytes, used, total);
    return NEO_OK;
}

neo_status limits_reserve(struct limits *limits, neo_allocation_kind kind, size_t bytes,
                          struct limits_refusal *refusal)
{
    size_t used;
    size_t budget = atomic_load(&limits->kinds[kind].budget);
    if (!reserve(&limits->kinds[kind].used, bytes, budget ? budget : SIZE_MAX, &used))
        return refuse(refusal, NEO_UNSUPPORTED, neo_allocation_kind_name(kind), bytes, used,
                      budget);
    neo_status status = reserve_total(limits, bytes, limits->reread_ns, refusal);
    if (status != NEO_OK) /* the machine may have been given more since */
        status =
            reserve_total(limits, bytes, min_size(limits->reread_ns, REREAD_REFUSED_NS), refusal);
    if (status != NEO_OK)
        atomic_fetch_sub(&limits->kinds[kind].used, bytes);
    return status;
}

void limits_return(struct limits *limits, neo_allocation_kind kind, size_t bytes)
{
    atomic_fetch_sub(&limits->kinds[kind].used, bytes);
    atomic_fetch_sub(&limits->used, bytes);
}
