/* Wrappers that count allocations and make a chosen one fail. */
#include "tests/support/fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

static atomic_size_t allocations;
static atomic_size_t countdown; /* 0: not armed */
static atomic_bool delivered;

static bool fails(void)
{
    atomic_fetch_add(&allocations, 1);
    size_t left = atomic_load(&countdown);
    while (left && !atomic_compare_exchange_weak(&countdown, &left, left - 1))
        ;
    if (left != 1)
        return false;
    atomic_store(&delivered, true);
    errno = ENOMEM;
    return true;
}

void fault_arm(size_t n)
{
    atomic_store(&delivered, false);
    atomic_store(&countdown, n);
}

bool fault_disarm(void)
{
    atomic_store(&countdown, 0);
    return atomic_exchange(&delivered, false);
}

size_t fault_allocations(void)
{
    return atomic_load(&allocations);
}

/* The linker's --wrap fixes these names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_posix_memalign(void **out, size_t align, size_t size);
void *__real_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **out, size_t align, size_t size);
void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(align, size);
}

int __wrap_posix_memalign(void **out, size_t align, size_t size)
{
    return fails() ? ENOMEM : __real_posix_memalign(out, align, size);
}

void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap(addr, size, prot, flags, fd, offset);
}
