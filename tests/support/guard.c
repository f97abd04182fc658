/* Maps three parts and forbids the outer two. */
#include "tests/support/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/test.h"

void guard_init(struct guard *guard, size_t most_bytes)
{
    guard->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    guard->usable_bytes = round_up(most_bytes, guard->page_bytes);
    size_t all = guard->usable_bytes + 2 * guard->page_bytes;
    void *map = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    guard->map = map;
    assert_int_equal(
        mprotect(guard->map + guard->page_bytes, guard->usable_bytes, PROT_READ | PROT_WRITE), 0);
}

void guard_deinit(struct guard *guard)
{
    assert_int_equal(munmap(guard->map, guard->usable_bytes + 2 * guard->page_bytes), 0);
    guard->map = NULL;
}

void *guard_begin(const struct guard *guard, size_t bytes)
{
    assert_true(bytes <= guard->usable_bytes);
    return guard->map + guard->page_bytes;
}

void *guard_end(const struct guard *guard, size_t bytes)
{
    assert_true(bytes <= guard->usable_bytes);
    return guard->map + guard->page_bytes + guard->usable_bytes - bytes;
}

void *guard_at(const struct guard *guard, size_t bytes, int end)
{
    return end ? guard_end(guard, bytes) : guard_begin(guard, bytes);
}
