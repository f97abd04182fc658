/* How each kind of memory is obtained and released: one table row a kind. */
#ifndef SRC_MEMORY_KINDS_KINDS_H
#define SRC_MEMORY_KINDS_KINDS_H

#include "src/memory/allocation.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20) /* the largest alignment, too */

/* A request after its checks: sizes resolved, defaults filled in. */
struct allocation_need {
    const neo_allocation_request *request;
    size_t bytes; /* > 0 */
    size_t alignment;
    neo_allocator user; /* its functions are NULL when there is none */
    int fd; /* of ATTACH and file: ours, closed by allocation_create() unless taken; else -1 */
};

/* obtain() fills data, base, mapped_bytes, pages, page_bytes, node and fd of *out; NEO_UNSUPPORTED
 * sends the request to the next kind, with *why_not set to a sentence. */
struct kind_operations {
    neo_status (*obtain)(struct allocation_need *need, struct allocation *out,
                         const char **why_not);
    neo_status (*release)(struct allocation *allocation);
    bool has_pages; /* whole pages of its own: counted and pinned as such */
    bool is_zeroed; /* fresh memory is zero already */
};

struct kind_facts {
    const char *name;
    bool lockable, migratable, cross_process;
    neo_allocation_kind next; /* that a request may fall back to; itself: none */
};

extern const struct kind_facts kind_facts[NEO_KIND_COUNT];

extern const struct kind_operations kind_heap, kind_user, kind_huge_page, kind_numa_bound,
    kind_numa_interleaved, kind_shared, kind_file, kind_guarded;

/* Opens the file of a request and sets need->fd, and need->bytes when the request leaves it open.
 */
neo_status kind_open_file(const neo_allocation_request *request, struct allocation_need *need);

#endif
