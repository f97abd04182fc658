/* One call for all kinds: check, reserve, obtain (or try the next kind), record, prepare. */
#include "src/memory/allocation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/core/env.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/memory/kinds/kinds.h"
#include "src/memory/kinds/mapping.h"

static const struct kind_operations *const operations[] = {
    [NEO_KIND_HEAP] = &kind_heap,
    [NEO_KIND_HUGE_PAGE] = &kind_huge_page,
    [NEO_KIND_NUMA_BOUND] = &kind_numa_bound,
    [NEO_KIND_NUMA_INTERLEAVED] = &kind_numa_interleaved,
    [NEO_KIND_SHARED] = &kind_shared,
    [NEO_KIND_FILE] = &kind_file,
    [NEO_KIND_GUARDED] = &kind_guarded,
    [NEO_KIND_USER] = &kind_user,
};

/* ---- the domain ---- */

neo_status memory_domain_init(struct memory_domain *domain, const neo_allocator *user)
{
    *domain = (struct memory_domain){.poison = -1};
    lock_init(&domain->user_lock);
    neo_status status = memory_domain_set_user(domain, user);
    if (status != NEO_OK)
        return status;
    uint64_t number;
    if (env_number("NEOPRENE_MEMORY_POISON", 0, 255, false, &number))
        domain->poison = (int)number;
    uint64_t events = HISTORY_EVENTS;
    env_number("NEOPRENE_MEMORY_HISTORY", 0, 1u << 24, true, &events);
    limits_init(&domain->limits);
    if (env_number("NEOPRENE_MEMORY_LIMIT", 1, SIZE_MAX, true, &number))
        atomic_store(&domain->limits.user_total, (size_t)number);
    if (env_number("NEOPRENE_MEMORY_OBJECT_LIMIT", 1, SIZE_MAX, true, &number))
        atomic_store(&domain->limits.user_object, (size_t)number);
    return tracker_init(&domain->tracker, (size_t)events);
}

neo_status memory_domain_set_user(struct memory_domain *domain, const neo_allocator *user)
{
    if (user && (!user->allocate || !user->release)) {
        log_check("allocation: the user allocator lacks allocate or release");
        return NEO_INVALID_ARGUMENT;
    }
    lock_take(&domain->user_lock);
    domain->user = user ? *user : (neo_allocator){0};
    lock_give(&domain->user_lock);
    return NEO_OK;
}

neo_allocator memory_domain_user(struct memory_domain *domain)
{
    lock_take(&domain->user_lock);
    neo_allocator user = domain->user;
    lock_give(&domain->user_lock);
    return user;
}

void memory_domain_deinit(struct memory_domain *domain)
{
    if (!domain || !domain->tracker.places)
        return;
    size_t live = tracker_live(&domain->tracker);
    if (live)
        log_warn("%zu allocations of %zu bytes outlive their engine", live,
                 tracker_usage(&domain->tracker, NEO_KIND_ALL).current);
    tracker_deinit(&domain->tracker);
    lock_deinit(&domain->user_lock);
}

/* ---- checks ---- */

/* A sentence that says what is wrong with a request, or NULL. */
static const char *refuse(const neo_allocation_request *request)
{
    const uint32_t flags = request->flags, known = 2 * NEO_ALLOCATION_GUARD_END - 1;
    const bool is_attached = flags & NEO_ALLOCATION_ATTACH;
    const struct {
        bool is_wrong;
        const char *sentence;
    } rules[] = {
        {(size_t)request->kind >= NEO_KIND_COUNT, "there is no such kind"},
        {flags & ~known, "there is no such flag"},
        {reserved_is_set(request->reserved), RESERVED_IS_SET},
        {request->alignment & (request->alignment - 1), "the alignment is not a power of two"},
        {request->alignment > NEO_ALLOCATION_MAX_ALIGNMENT, "the alignment is above 2 MiB"},
        {request->kind == NEO_KIND_NUMA_BOUND && request->node < 0, "the node is negative"},
        {is_attached && request->kind != NEO_KIND_SHARED, "only shared memory can be attached"},
        {(flags & NEO_ALLOCATION_READ_ONLY) && !is_attached, "READ_ONLY goes with ATTACH only"},
        {(flags & NEO_ALLOCATION_GUARD_END) && request->kind != NEO_KIND_GUARDED,
         "GUARD_END goes with guarded memory only"},
        {(flags & NEO_ALLOCATION_ZERO) && (is_attached || request->kind == NEO_KIND_FILE),
         "contents that are there already cannot be zeroed"},
        {request->offset && !is_attached && request->kind != NEO_KIND_FILE,
         "only a file has an offset"},
    };
    for (size_t i = 0; i < count_of(rules); i++)
        if (rules[i].is_wrong)
            return rules[i].sentence;
    return NULL;
}

static bool has_contents(const neo_allocation_request *request)
{
    return request->kind == NEO_KIND_FILE || (request->flags & NEO_ALLOCATION_ATTACH);
}

static size_t effective_alignment(const neo_allocation_request *request)
{
    bool keeps_small =
        request->kind == NEO_KIND_FILE || (request->flags & NEO_ALLOCATION_GUARD_END);
    if (request->alignment && keeps_small)
        return request->alignment;
    return max_size(request->alignment, NEO_ALLOCATION_ALIGNMENT);
}

static neo_status resolve(const neo_allocation_request *request, struct allocation_need *need)
{
    *need = (struct allocation_need){
        .request = request,
        .bytes = request->bytes,
        .alignment = effective_alignment(request),
        .fd = -1,
    };
    const char *why_not = refuse(request);
    if (!why_not && request->offset & (need->alignment - 1))
        why_not = "the offset is not a multiple of the alignment";
    if (why_not) {
        log_check("allocation of %zu bytes: %s", request->bytes, why_not);
        return NEO_INVALID_ARGUMENT;
    }
    return has_contents(request) ? kind_open_file(request, need) : NEO_OK;
}

/* ---- one kind ---- */

/* What counts: whole pages, where they are. */
static bool held_bytes(neo_allocation_kind kind, const struct allocation_need *need, size_t *out)
{
    size_t unit = kind == NEO_KIND_HUGE_PAGE ? HUGE_PAGE_BYTES : mapping_page_bytes();
    *out = need->bytes;
    return !operations[kind]->has_pages || checked_round_up(out, need->bytes, unit);
}

static void log_limit(const struct allocation_need *need, const struct limits_refusal *refusal)
{
    log_error("allocation for %s: requested %zu bytes with %zu bytes used of a limit of %zu bytes "
              "for %s",
              need->request->owner ? need->request->owner : "an unnamed owner", refusal->requested,
              refusal->used, refusal->limit, refusal->what);
}

/* Leaves *out empty and nothing reserved on failure. */
static neo_status obtain(struct memory_domain *domain, neo_allocation_kind kind,
                         struct allocation_need *need, struct allocation *out,
                         struct limits_refusal *refusal, const char **why_not)
{
    size_t held;
    if (!held_bytes(kind, need, &held))
        held = SIZE_MAX; /* no limit allows it */
    neo_status status = limits_reserve(&domain->limits, kind, held, refusal);
    if (status != NEO_OK) {
        *why_not = status == NEO_UNSUPPORTED ? "its budget is used up" : "it exceeds a limit";
        return status;
    }
    refusal->what = NULL;
    *out = (struct allocation){.domain = domain, .node = -1, .fd = -1};
    status = operations[kind]->obtain(need, out, why_not);
    if (status != NEO_OK) {
        limits_return(&domain->limits, kind, held);
        *out = (struct allocation){0};
        return status;
    }
    out->kind = kind;
    out->requested = need->request->kind;
    out->bytes = need->bytes;
    out->held_bytes = held;
    out->alignment = need->alignment;
    return NEO_OK;
}

/* Heap memory comes from the user's allocator, where there is one. */
static neo_allocation_kind first_kind(const struct allocation_need *need)
{
    neo_allocation_kind kind = need->request->kind;
    bool is_strict = need->request->flags & NEO_ALLOCATION_STRICT;
    return kind == NEO_KIND_HEAP && need->user.allocate && !is_strict ? NEO_KIND_USER : kind;
}

static neo_allocation_kind next_kind(const struct allocation_need *need, neo_allocation_kind kind)
{
    if (need->request->flags & (NEO_ALLOCATION_STRICT | NEO_ALLOCATION_ATTACH))
        return kind;
    neo_allocation_kind next = kind_facts[kind].next;
    bool to_user = next == NEO_KIND_HEAP && need->user.allocate;
    return to_user ? NEO_KIND_USER : next;
}

static neo_status give_up(const struct allocation_need *need, neo_allocation_kind kind,
                          neo_status status, const struct limits_refusal *refusal,
                          const char *why_not)
{
    if (!refusal->what) {
        log_error("allocation of %zu bytes of %s: %s", need->bytes, neo_allocation_kind_name(kind),
                  why_not);
        return status;
    }
    log_limit(need, refusal);
    return need->request->flags & NEO_ALLOCATION_STRICT ? status : NEO_OUT_OF_MEMORY;
}

/* A limit may stop a kind that rounds up to pages and not the next one, so only a kind's own
 * failure to get memory ends the search. */
static neo_status obtain_first(struct memory_domain *domain, struct allocation_need *need,
                               struct allocation *out)
{
    neo_allocation_kind kind = first_kind(need);
    for (;;) {
        struct limits_refusal refusal = {0};
        const char *why_not = "the system has no memory";
        neo_status status = obtain(domain, kind, need, out, &refusal, &why_not);
        if (status == NEO_OK)
            return NEO_OK;
        bool may_fall_back = status == NEO_UNSUPPORTED || refusal.what;
        neo_allocation_kind next = next_kind(need, kind);
        if (!may_fall_back || next == kind)
            return give_up(need, kind, status, &refusal, why_not);
        log_line(LOG_DISPATCH, "memory", "allocation of %zu bytes: not %s: %s", need->bytes,
                 neo_allocation_kind_name(kind), why_not);
        kind = next;
    }
}

/* ---- what is done with fresh memory ---- */

/* A file that could not be mapped is read. */
static neo_status read_contents(const struct allocation_need *need, char *data)
{
    for (size_t done = 0; done < need->bytes;) {
        ssize_t got =
            pread(need->fd, data + done, need->bytes - done, (off_t)(need->request->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return NEO_IO_ERROR;
        done += (size_t)got;
    }
    return NEO_OK;
}

static neo_status pin(struct allocation *allocation, bool is_strict)
{
    allocation->locked = kind_facts[allocation->kind].lockable &&
                         mlock(allocation->base, allocation->mapped_bytes) == 0;
    return allocation->locked || !is_strict ? NEO_OK : NEO_UNSUPPORTED;
}

static neo_status prepare(const struct allocation_need *need, struct allocation *out)
{
    uint32_t flags = need->request->flags;
    if (has_contents(need->request)) {
        if (out->kind != need->request->kind && read_contents(need, out->data) != NEO_OK)
            return NEO_IO_ERROR;
    } else if (flags & NEO_ALLOCATION_ZERO) {
        if (!operations[out->kind]->is_zeroed)
            memset(out->data, 0, out->bytes);
    } else if (out->domain->poison >= 0) {
        memset(out->data, out->domain->poison, out->bytes);
    }
    if (flags & NEO_ALLOCATION_LOCKED)
        return pin(out, flags & NEO_ALLOCATION_STRICT);
    return NEO_OK;
}

static neo_status release(struct allocation *allocation)
{
    neo_status status = operations[allocation->kind]->release(allocation);
    limits_return(&allocation->domain->limits, allocation->kind, allocation->held_bytes);
    *allocation = (struct allocation){0};
    return status;
}

static neo_status create(struct memory_domain *domain, struct allocation_need *need,
                         struct allocation *out)
{
    neo_status status = obtain_first(domain, need, out);
    if (status != NEO_OK)
        return status;
    status = prepare(need, out);
    if (status == NEO_OK)
        status = tracker_add(&domain->tracker, out->kind, out->data, out->held_bytes,
                             need->request->owner);
    if (status != NEO_OK)
        release(out);
    return status;
}

neo_status allocation_create(struct memory_domain *domain, const neo_allocation_request *request,
                             struct allocation *out)
{
    *out = (struct allocation){0};
    if (!domain || !request)
        return NEO_INVALID_ARGUMENT;
    struct allocation_need need;
    neo_status status = resolve(request, &need);
    need.user = memory_domain_user(domain);
    if (status == NEO_OK && need.bytes)
        status = create(domain, &need, out);
    else if (status == NEO_OK)
        *out = (struct allocation){.kind = request->kind,
                                   .requested = request->kind,
                                   .alignment = need.alignment,
                                   .page_bytes = mapping_page_bytes(),
                                   .node = -1,
                                   .fd = -1,
                                   .domain = domain};
    if (need.fd >= 0)
        close(need.fd);
    return status;
}

neo_status allocation_destroy(struct allocation *allocation)
{
    if (!allocation || !allocation->data)
        return NEO_OK;
    /* first: as soon as the memory is released, its address may be another allocation's */
    neo_status status = tracker_remove(&allocation->domain->tracker, allocation->data);
    if (status == NEO_OK)
        return release(allocation);
    log_error("free of %p, which is not live", allocation->data);
    return status;
}

neo_status allocation_seal(struct allocation *allocation)
{
    if (!allocation->data || !operations[allocation->kind]->has_pages)
        return NEO_UNSUPPORTED;
    if (allocation->kind == NEO_KIND_FILE)
        return NEO_OK;
    size_t page = mapping_page_bytes();
    size_t before = (uintptr_t)allocation->data & (page - 1);
    char *first = (char *)allocation->data - before;
    if (mprotect(first, round_up(before + allocation->bytes, allocation->page_bytes), PROT_READ))
        return NEO_RUNTIME_ERROR;
    /* our own mapping cannot be written any more, and the seal stops every later one */
    if (allocation->fd >= 0 && fcntl(allocation->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE))
        return NEO_RUNTIME_ERROR;
    return NEO_OK;
}

void allocation_query(const struct allocation *allocation, neo_allocation_info *out)
{
    *out = (neo_allocation_info){
        .data = allocation->data,
        .bytes = allocation->bytes,
        .held_bytes = allocation->held_bytes,
        .alignment = allocation->alignment,
        .kind = allocation->kind,
        .requested = allocation->requested,
        .pages = allocation->pages,
        .page_bytes = allocation->page_bytes,
        .node = allocation->node,
        .fd = allocation->fd,
        .lockable = kind_facts[allocation->kind].lockable,
        .migratable =
            kind_facts[allocation->kind].migratable && allocation->pages != NEO_PAGES_EXPLICIT,
        .cross_process = kind_facts[allocation->kind].cross_process,
        .locked = allocation->locked,
    };
}
