/* Memory of a domain by address alone, and as the source of a block pool. */
#ifndef SRC_MEMORY_DOMAIN_SOURCE_H
#define SRC_MEMORY_DOMAIN_SOURCE_H

#include "src/memory/allocation.h"
#include "src/memory/blocks/pool.h"

/* Like allocation_create(), for callers that keep the address only. bytes > 0. */
neo_status domain_allocate(struct memory_domain *domain, const neo_allocation_request *request,
                           void **out);

/* NULL is fine. NEO_NOT_FOUND: data did not come from domain_allocate(), or was freed already. */
neo_status domain_free(struct memory_domain *domain, void *data);

/* Counted heap memory (the user's allocator, where there is one), owner "block pool". */
struct block_source domain_block_source(struct memory_domain *domain);

#endif
