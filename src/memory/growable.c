/* Growable buffers, and when a buffer is the right one. */
#include "src/memory/growable.h"

#include "src/core/checked.h"

void growable_init(struct growable *growable, struct memory_domain *domain,
                   const neo_allocation_request *request, struct growable_policy policy)
{
    *growable = (struct growable){.domain = domain, .policy = policy, .request = *request};
}

void growable_deinit(struct growable *growable)
{
    if (growable)
        allocation_destroy(&growable->memory);
}

/* wanted / held > percent / 100, by whole numbers: held = 100 q + r makes percent * held / 100
 * = percent q + percent r / 100 without wrapping. */
static bool is_above_percent(size_t wanted, size_t held, unsigned percent)
{
    size_t whole;
    if (!checked_mul(&whole, held / 100, percent))
        return false;
    size_t hundredths = held % 100 * percent;
    return checked_add(&whole, whole, hundredths / 100) && wanted > whole;
}

bool growable_accepts(const struct growable_policy *policy, size_t held, size_t wanted)
{
    return wanted <= held && is_above_percent(wanted, held, policy->least_percent);
}

bool growable_is_too_large(const struct growable_policy *policy, size_t held, size_t wanted)
{
    size_t bound;
    if (!policy->shrink_factor || !checked_mul(&bound, wanted, policy->shrink_factor))
        return false;
    return held > bound;
}

size_t growable_choose(const struct growable_policy *policy, const size_t *held, size_t count,
                       size_t wanted)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (growable_accepts(policy, held[i], wanted) && (best == count || held[i] < held[best]))
            best = i;
    return best;
}

/* True when the buffer stays; counts how often in a row it was too large. */
static bool may_stay(struct growable *growable, size_t bytes)
{
    if (growable->memory.bytes < bytes)
        return false;
    if (!growable_is_too_large(&growable->policy, growable->memory.bytes, bytes)) {
        growable->small_in_a_row = 0;
        return true;
    }
    return ++growable->small_in_a_row < growable->policy.shrink_after;
}

static neo_status obtain(struct growable *growable, size_t bytes)
{
    neo_allocation_request request = growable->request;
    request.bytes = bytes;
    return allocation_create(growable->domain, &request, &growable->memory);
}

neo_status growable_require(struct growable *growable, size_t bytes, size_t preferred_bytes,
                            void **out)
{
    *out = NULL;
    if (!bytes)
        return NEO_OK;
    neo_status status = NEO_OK;
    if (!may_stay(growable, bytes)) {
        growable->reclaims += growable->memory.bytes >= bytes;
        growable->reallocations++;
        growable->small_in_a_row = 0;
        allocation_destroy(&growable->memory); /* first: both at once would raise the peak */
        status = obtain(growable, max_size(bytes, preferred_bytes));
        if (status != NEO_OK && preferred_bytes > bytes)
            status = obtain(growable, bytes);
    }
    *out = growable->memory.data;
    return status;
}
