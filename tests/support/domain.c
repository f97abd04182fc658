/* A memory domain, and a look at what is left when it ends. */
#include "tests/support/domain.h"

#include <fcntl.h>
#include <stdatomic.h>

struct memory_domain domain;
static int open_before;

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int domain_set_up_for(const neo_allocator *user)
{
    open_before = count_descriptors();
    return memory_domain_init(&domain, user) != NEO_OK;
}

int domain_set_up(void **state)
{
    (void)state;
    neo_set_verbose(0);
    return domain_set_up_for(NULL);
}

int domain_tear_down(void **state)
{
    (void)state;
    int left = tracker_live(&domain.tracker) != 0 || atomic_load(&domain.limits.used) != 0;
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++)
        left |= atomic_load(&domain.limits.kinds[kind].used) != 0;
    left |= count_descriptors() != open_before;
    memory_domain_deinit(&domain);
    return left;
}

neo_status domain_create(neo_allocation_kind kind, size_t bytes, uint32_t flags,
                         struct allocation *out)
{
    const neo_allocation_request request = {
        .bytes = bytes, .kind = kind, .flags = flags, .owner = "test"};
    return allocation_create(&domain, &request, out);
}
