/* Kinds of allocations: their names, and what is true of each. */
#include "src/memory/kinds/kinds.h"

#include "src/core/checked.h"

const struct kind_facts kind_facts[NEO_KIND_COUNT] = {
#define FACTS(kind, text, lockable, migratable, cross_process, next) \
    [kind] = {text, lockable, migratable, cross_process, next},
    NEO_ALLOCATION_KIND_LIST(FACTS)
#undef FACTS
};

const char *neo_allocation_kind_name(neo_allocation_kind kind)
{
    if (kind == NEO_KIND_ALL)
        return "all";
    return (size_t)kind < NEO_KIND_COUNT ? kind_facts[kind].name : "unknown";
}
