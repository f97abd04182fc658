/* Allocation kinds: what they promise, how they fall back, what they refuse. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <numaif.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neoprene/types.h"
#include "src/memory/allocation.h"
#include "tests/support/fault.h"
#include "tests/support/temporary.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_MLOCK_A_STUB true
#else
#define IS_MLOCK_A_STUB false
#endif

static struct memory_domain domain;
static int open_before;

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int set_up(void **state)
{
    (void)state;
    open_before = count_descriptors();
    neo_set_verbose(0);
    return memory_domain_init(&domain, NULL) != NEO_OK;
}

/* Nothing may be left: in the table, in the limits, among the open files. */
static int tear_down(void **state)
{
    (void)state;
    int left = tracker_live(&domain.tracker) != 0 || atomic_load(&domain.limits.used) != 0;
    left |= count_descriptors() != open_before;
    memory_domain_deinit(&domain);
    return left;
}

static bool is_filled(const void *data, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)data)[i] != value)
            return false;
    return true;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* A file of `bytes` bytes, byte i being i % 251. */
static int make_file(size_t bytes)
{
    const char *path = temporary_file("bytes");
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    assert_true(fd >= 0);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(i % 251);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)i), 1);
    }
    return fd;
}

static neo_status create(neo_allocation_kind kind, size_t bytes, uint32_t flags,
                         struct allocation *out)
{
    const neo_allocation_request request = {
        .bytes = bytes, .kind = kind, .flags = flags, .owner = "test"};
    return allocation_create(&domain, &request, out);
}

/* ---- all kinds ---- */

static void every_kind_gives_aligned_memory_that_can_be_used(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 4096, 4097, 100003, (2u << 20) + 1};
    static const size_t alignments[] = {0, 8, 64, 4096, 65536, 2u << 20};
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++) {
        if (kind == NEO_KIND_FILE)
            continue;
        for (size_t i = 0; i < count_of(sizes) * count_of(alignments); i++) {
            const neo_allocation_request request = {
                .bytes = sizes[i % count_of(sizes)],
                .alignment = alignments[i / count_of(sizes)],
                .kind = (neo_allocation_kind)kind,
            };
            struct allocation memory;
            assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
            assert_int_equal((uintptr_t)memory.data % max_size(64, request.alignment), 0);
            memset(memory.data, 0x5A, request.bytes);
            neo_allocation_info info;
            allocation_query(&memory, &info);
            assert_true(info.bytes == request.bytes && info.held_bytes >= info.bytes);
            assert_true(info.page_bytes >= page_bytes());
            assert_int_equal(info.requested, kind);
            assert_int_equal(allocation_destroy(&memory), NEO_OK);
            assert_null(memory.data);
        }
    }
}

static void kinds_say_what_they_are(void **state)
{
    (void)state;
    static const struct {
        neo_allocation_kind kind;
        int lockable, migratable, cross_process;
    } rows[] = {
        {NEO_KIND_HEAP, 0, 1, 0},
        {NEO_KIND_SHARED, 1, 1, 1},
        {NEO_KIND_GUARDED, 1, 1, 0},
        {NEO_KIND_NUMA_BOUND, 1, 0, 0},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct allocation memory;
        neo_allocation_info info;
        assert_int_equal(create(rows[i].kind, 5000, 0, &memory), NEO_OK);
        allocation_query(&memory, &info);
        if (info.kind == rows[i].kind) { /* NUMA may be absent; heap's answers are row 0 */
            assert_int_equal(info.lockable, rows[i].lockable);
            assert_int_equal(info.migratable, rows[i].migratable);
            assert_int_equal(info.cross_process, rows[i].cross_process);
            assert_int_equal(info.node, info.kind == NEO_KIND_NUMA_BOUND ? 0 : -1);
            assert_int_equal(info.fd >= 0, info.kind == NEO_KIND_SHARED);
        }
        allocation_destroy(&memory);
    }
    assert_string_equal(neo_allocation_kind_name(NEO_KIND_HUGE_PAGE), "huge_page");
    assert_string_equal(neo_allocation_kind_name(NEO_KIND_ALL), "all");
    assert_string_equal(neo_allocation_kind_name((neo_allocation_kind)77), "unknown");
}

static void the_zero_flag_clears_memory_that_held_other_contents(void **state)
{
    (void)state;
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++) {
        if (kind == NEO_KIND_FILE)
            continue;
        for (int round = 0; round < 3; round++) {
            struct allocation memory;
            domain.poison = 0xFF;
            assert_int_equal(create((neo_allocation_kind)kind, 70001, 0, &memory), NEO_OK);
            assert_true(is_filled(memory.data, 70001, 0xFF));
            allocation_destroy(&memory);
            assert_int_equal(create((neo_allocation_kind)kind, 70001, NEO_ALLOCATION_ZERO, &memory),
                             NEO_OK);
            assert_true(is_filled(memory.data, 70001, 0));
            allocation_destroy(&memory);
        }
    }
}

static void zero_bytes_are_an_allocation_without_memory(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(create(NEO_KIND_HEAP, 0, 0, &memory), NEO_OK);
    assert_null(memory.data);
    assert_int_equal(allocation_destroy(&memory), NEO_OK);
    assert_int_equal(tracker_usage(&domain.tracker, NEO_KIND_ALL).allocations, 0);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    int fd = make_file(100);
    const neo_allocation_request rows[] = {
        {.bytes = 1, .kind = NEO_KIND_COUNT},
        {.bytes = 1, .flags = 64},
        {.bytes = 1, .alignment = 96},
        {.bytes = 1, .alignment = 4u << 20},
        {.bytes = 1, .kind = NEO_KIND_NUMA_BOUND, .node = -1},
        {.bytes = 1, .flags = NEO_ALLOCATION_ATTACH},
        {.bytes = 1, .flags = NEO_ALLOCATION_READ_ONLY},
        {.bytes = 1, .flags = NEO_ALLOCATION_GUARD_END},
        {.bytes = 1, .offset = 64},
        {.bytes = 1, .kind = NEO_KIND_FILE, .flags = NEO_ALLOCATION_ZERO, .fd = fd},
        {.bytes = 1, .kind = NEO_KIND_FILE, .offset = 7, .fd = fd},
        {.bytes = 101, .kind = NEO_KIND_FILE, .fd = fd},
        {.bytes = 1, .kind = NEO_KIND_FILE, .offset = 128, .fd = fd},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct allocation memory;
        assert_int_equal(allocation_create(&domain, &rows[i], &memory), NEO_INVALID_ARGUMENT);
        assert_null(memory.data);
    }
    close(fd);
    neo_allocation_request no_file = {.kind = NEO_KIND_FILE, .path = "/nonexistent/weights"};
    struct allocation memory;
    assert_int_equal(allocation_create(&domain, &no_file, &memory), NEO_IO_ERROR);
}

/* ---- huge pages ---- */

/* The value in KiB of a field of the mapping that holds address, or -1 when smaps does not list it
 * (an emulator may show the host's addresses). */
static long smaps_field(const void *address, const char *field)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false;
    long value = -1;
    while (file && value < 0 && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
        else if (inside && !strncmp(line, field, strlen(field)))
            value = strtol(line + strlen(field), NULL, 10);
    }
    if (file)
        fclose(file);
    return value;
}

static void huge_pages_report_what_they_came_to(void **state)
{
    (void)state;
    struct allocation memory;
    neo_allocation_info info;
    const size_t bytes = 8u << 20;
    assert_int_equal(create(NEO_KIND_HUGE_PAGE, bytes - 5, 0, &memory), NEO_OK);
    allocation_query(&memory, &info);
    memset(info.data, 1, info.bytes);
    long kernel_page = smaps_field(info.data, "KernelPageSize:");
    long huge = smaps_field(info.data, "AnonHugePages:");
    print_message("huge pages: kind %s, outcome %d, page %zu; smaps: page %ld KiB, huge %ld KiB\n",
                  neo_allocation_kind_name(info.kind), (int)info.pages, info.page_bytes,
                  kernel_page, huge);
    assert_int_equal(info.kind == NEO_KIND_HUGE_PAGE, info.pages != NEO_PAGES_ORDINARY);
    if (info.pages != NEO_PAGES_ORDINARY) {
        assert_int_equal(info.held_bytes, bytes);
        assert_int_equal((uintptr_t)info.data % info.page_bytes, 0);
    }
    if (info.pages == NEO_PAGES_EXPLICIT) {
        assert_int_equal(info.migratable, 0);
        if (kernel_page >= 0)
            assert_int_equal((size_t)kernel_page * 1024, info.page_bytes);
    }
    allocation_destroy(&memory);
}

/* ---- NUMA ---- */

static void numa_bound_pages_lie_on_their_node(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(create(NEO_KIND_NUMA_BOUND, 3 * page_bytes(), 0, &memory), NEO_OK);
    memset(memory.data, 1, memory.bytes);
    if (memory.kind == NEO_KIND_NUMA_BOUND) {
        for (size_t i = 0; i < 3; i++) {
            void *page = (char *)memory.data + i * page_bytes();
            int node = -1, policy = -1;
            assert_int_equal(move_pages(0, 1, &page, NULL, &node, 0), 0);
            assert_int_equal(node, 0);
            assert_int_equal(get_mempolicy(&policy, NULL, 0, page, MPOL_F_ADDR), 0);
            assert_int_equal(policy, MPOL_BIND);
        }
    } else {
        print_message("this system has no NUMA support: the heap served the request\n");
        assert_int_equal(memory.kind, NEO_KIND_HEAP);
    }
    allocation_destroy(&memory);
}

static void numa_interleaved_pages_have_that_policy(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(create(NEO_KIND_NUMA_INTERLEAVED, 3 * page_bytes(), 0, &memory), NEO_OK);
    int policy = -1;
    if (memory.kind == NEO_KIND_NUMA_INTERLEAVED) {
        assert_int_equal(get_mempolicy(&policy, NULL, 0, memory.data, MPOL_F_ADDR), 0);
        assert_int_equal(policy, MPOL_INTERLEAVE);
    } else {
        print_message("this system has no NUMA support: the heap served the request\n");
        assert_int_equal(memory.kind, NEO_KIND_HEAP);
    }
    allocation_destroy(&memory);
}

/* ---- fall-back ---- */

static void a_kind_that_cannot_be_had_becomes_the_next_one_or_unsupported(void **state)
{
    (void)state;
    neo_allocation_request request = {.bytes = 1000, .kind = NEO_KIND_NUMA_BOUND, .node = 4000};
    struct allocation memory;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_HEAP);
    assert_int_equal(memory.requested, NEO_KIND_NUMA_BOUND);
    assert_int_equal(memory.node, -1);
    allocation_destroy(&memory);
    request.flags = NEO_ALLOCATION_STRICT;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_UNSUPPORTED);
    request.kind = NEO_KIND_USER;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_UNSUPPORTED);
    request.flags = 0;
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_HEAP);
    allocation_destroy(&memory);
}

static void locked_memory_is_resident_or_strictly_refused(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(create(NEO_KIND_SHARED, 3 * page_bytes(), NEO_ALLOCATION_LOCKED, &memory),
                     NEO_OK);
    unsigned char resident[3] = {0};
    if (IS_MLOCK_A_STUB) {
        print_message("this sanitizer's mlock() does nothing\n");
    } else if (memory.locked) {
        assert_int_equal(mincore(memory.data, 3 * page_bytes(), resident), 0);
        assert_true(resident[0] & resident[1] & resident[2] & 1);
    } else {
        print_message("the system does not let this process pin memory\n");
    }
    allocation_destroy(&memory);
    assert_int_equal(
        create(NEO_KIND_HEAP, 1000, NEO_ALLOCATION_LOCKED | NEO_ALLOCATION_STRICT, &memory),
        NEO_UNSUPPORTED);
    assert_int_equal(create(NEO_KIND_HEAP, 1000, NEO_ALLOCATION_LOCKED, &memory), NEO_OK);
    assert_false(memory.locked);
    allocation_destroy(&memory);
}

/* ---- shared ---- */

static void another_process_sees_shared_memory(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(create(NEO_KIND_SHARED, 10000, 0, &memory), NEO_OK);
    ((char *)memory.data)[9999] = 1;
    pid_t child = fork();
    if (child == 0) {
        neo_allocation_request request = {
            .kind = NEO_KIND_SHARED, .flags = NEO_ALLOCATION_ATTACH, .fd = memory.fd};
        struct allocation attached;
        neo_status status = allocation_create(&domain, &request, &attached);
        if (status != NEO_OK || attached.bytes != 10000 || attached.data == memory.data)
            _exit(1);
        if (((char *)attached.data)[9999] != 1)
            _exit(2);
        ((char *)attached.data)[0] = 42;
        _exit(0);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_int_equal(((char *)memory.data)[0], 42);
    allocation_destroy(&memory);
}

static void an_attached_part_starts_at_its_offset(void **state)
{
    (void)state;
    struct allocation memory, part;
    assert_int_equal(create(NEO_KIND_SHARED, 10000, 0, &memory), NEO_OK);
    ((char *)memory.data)[4224] = 9;
    neo_allocation_request request = {.kind = NEO_KIND_SHARED,
                                      .flags = NEO_ALLOCATION_ATTACH | NEO_ALLOCATION_READ_ONLY,
                                      .fd = memory.fd,
                                      .offset = 4224,
                                      .bytes = 10};
    assert_int_equal(allocation_create(&domain, &request, &part), NEO_OK);
    assert_int_equal(((char *)part.data)[0], 9);
    request.bytes = 10001;
    struct allocation none;
    assert_int_equal(allocation_create(&domain, &request, &none), NEO_INVALID_ARGUMENT);
    allocation_destroy(&memory); /* the attached one keeps the bytes */
    assert_int_equal(((char *)part.data)[0], 9);
    allocation_destroy(&part);
}

/* True when a child that runs touch(data) dies of a signal. */
static bool is_fatal(void (*touch)(volatile char *), char *data)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* without the sanitizer's report */
        touch(data);
        _exit(0);
    }
    int result = 0;
    waitpid(child, &result, 0);
    return WIFSIGNALED(result);
}

static void write_byte(volatile char *data)
{
    *data = 1;
}

static void read_byte(volatile char *data)
{
    (void)*data;
}

static void sealed_memory_cannot_be_written_any_more(void **state)
{
    (void)state;
    struct allocation memory, attached;
    assert_int_equal(create(NEO_KIND_SHARED, 5000, 0, &memory), NEO_OK);
    ((char *)memory.data)[7] = 3;
    assert_false(is_fatal(write_byte, memory.data));
    assert_int_equal(allocation_seal(&memory), NEO_OK);
    assert_true(is_fatal(write_byte, memory.data));
    assert_int_equal(((char *)memory.data)[7], 3);
    neo_allocation_request request = {
        .kind = NEO_KIND_SHARED, .flags = NEO_ALLOCATION_ATTACH, .fd = memory.fd};
    assert_int_equal(allocation_create(&domain, &request, &attached), NEO_UNSUPPORTED);
    request.flags |= NEO_ALLOCATION_READ_ONLY;
    assert_int_equal(allocation_create(&domain, &request, &attached), NEO_OK);
    assert_int_equal(((char *)attached.data)[7], 3);
    allocation_destroy(&attached);
    allocation_destroy(&memory);
    assert_int_equal(create(NEO_KIND_HEAP, 5000, 0, &memory), NEO_OK);
    assert_int_equal(allocation_seal(&memory), NEO_UNSUPPORTED);
    allocation_destroy(&memory);
}

/* ---- file ---- */

static void a_file_is_mapped_read_only_from_any_offset(void **state)
{
    (void)state;
    int fd = make_file(9000);
    static const struct {
        uint64_t offset;
        size_t bytes, alignment, wanted;
    } rows[] = {{0, 0, 0, 9000}, {8, 100, 8, 100}, {4160, 0, 0, 4840}, {8192, 808, 0, 808}};
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_allocation_request request = {.kind = NEO_KIND_FILE,
                                          .fd = fd,
                                          .offset = rows[i].offset,
                                          .bytes = rows[i].bytes,
                                          .alignment = rows[i].alignment};
        struct allocation memory;
        assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
        assert_int_equal(memory.kind, NEO_KIND_FILE);
        assert_int_equal(memory.bytes, rows[i].wanted);
        for (size_t at = 0; at < memory.bytes; at++)
            assert_int_equal(((unsigned char *)memory.data)[at], (rows[i].offset + at) % 251);
        assert_true(is_fatal(write_byte, memory.data));
        allocation_destroy(&memory);
    }
    close(fd);
}

/* The kernel's notes are a file with a size that can be read but not mapped. */
static void a_file_that_cannot_be_mapped_is_read(void **state)
{
    (void)state;
    static const char path[] = "/sys/kernel/notes";
    char wanted[4096];
    int fd = open(path, O_RDONLY);
    ssize_t size = fd >= 0 ? pread(fd, wanted, sizeof wanted, 0) : -1;
    neo_allocation_request request = {.kind = NEO_KIND_FILE, .path = path};
    struct allocation memory;
    if (size <= 0) {
        print_message("%s is not there: only the missing file is tested\n", path);
        assert_true(allocation_create(&domain, &request, &memory) != NEO_OK);
        return;
    }
    close(fd);
    assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
    assert_int_equal(memory.bytes, size);
    assert_memory_equal(memory.data, wanted, (size_t)size);
    print_message("%s: kind %s\n", path, neo_allocation_kind_name(memory.kind));
    bool is_mapped = memory.kind == NEO_KIND_FILE;
    allocation_destroy(&memory);
    request.flags = NEO_ALLOCATION_STRICT;
    neo_status strict = allocation_create(&domain, &request, &memory);
    assert_int_equal(strict, is_mapped ? NEO_OK : NEO_UNSUPPORTED);
    allocation_destroy(&memory);
}

/* ---- guarded ---- */

static void guard_pages_stop_accesses_at_both_ends(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        neo_allocation_request request = {.bytes = 1003,
                                          .alignment = 1,
                                          .kind = NEO_KIND_GUARDED,
                                          .flags = i ? NEO_ALLOCATION_GUARD_END : 0};
        struct allocation memory;
        assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
        char *data = memory.data;
        assert_int_equal(is_fatal(read_byte, data - 1), !i);
        assert_int_equal(is_fatal(read_byte, data + 1003), i);
        assert_true(is_fatal(read_byte, data - page_bytes()));
        assert_true(is_fatal(read_byte, data + page_bytes()));
        assert_false(is_fatal(write_byte, data));
        assert_false(is_fatal(write_byte, data + 1002));
        assert_int_equal(allocation_destroy(&memory), NEO_OK);
    }
}

static void a_write_next_to_guarded_memory_is_reported_on_release(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct allocation memory;
        uint32_t flags = i ? NEO_ALLOCATION_GUARD_END : 0;
        assert_int_equal(create(NEO_KIND_GUARDED, 1003, flags, &memory), NEO_OK);
        ((char *)memory.data)[i ? -1 : 1003] = 0;
        assert_int_equal(allocation_destroy(&memory), NEO_CORRUPT);
    }
}

/* ---- the user's allocator ---- */

struct user_heap {
    size_t calls, live_bytes;
    size_t misaligned_by;
    bool is_empty;
};

static void *user_allocate(void *context, size_t bytes, size_t alignment)
{
    struct user_heap *heap = context;
    if (heap->is_empty)
        return NULL;
    heap->calls++;
    heap->live_bytes += bytes;
    return (char *)aligned_alloc(alignment, round_up(bytes + alignment, alignment)) +
           heap->misaligned_by;
}

static void user_release(void *context, void *data, size_t bytes, size_t alignment)
{
    struct user_heap *heap = context;
    (void)alignment;
    heap->live_bytes -= bytes;
    free((char *)data - heap->misaligned_by);
}

static void heap_memory_comes_from_the_users_allocator(void **state)
{
    (void)state;
    struct user_heap heap = {0};
    const neo_allocator user = {&heap, user_allocate, user_release};
    struct memory_domain theirs;
    assert_int_equal(memory_domain_init(&theirs, &user), NEO_OK);
    neo_allocation_request request = {.bytes = 777, .alignment = 128};
    struct allocation memory;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_USER);
    assert_int_equal(heap.live_bytes, 777);
    allocation_destroy(&memory);
    assert_int_equal(heap.live_bytes, 0);

    request.flags = NEO_ALLOCATION_STRICT;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_HEAP);
    allocation_destroy(&memory);

    request.flags = 0;
    heap.misaligned_by = 8;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_RUNTIME_ERROR);
    assert_int_equal(heap.live_bytes, 0);
    heap.is_empty = true;
    assert_int_equal(allocation_create(&theirs, &request, &memory), NEO_OUT_OF_MEMORY);
    assert_int_equal(tracker_live(&theirs.tracker), 0);
    assert_int_equal(atomic_load(&theirs.limits.used), 0);
    memory_domain_deinit(&theirs);
    assert_int_equal(memory_domain_init(&theirs, &(neo_allocator){.allocate = user_allocate}),
                     NEO_INVALID_ARGUMENT);
    memory_domain_deinit(&theirs);
}

static void memory_goes_back_to_the_allocator_it_came_from(void **state)
{
    (void)state;
    struct user_heap heaps[2] = {{0}};
    const neo_allocator users[] = {{&heaps[0], user_allocate, user_release},
                                   {&heaps[1], user_allocate, user_release}};
    const neo_allocation_request request = {.bytes = 100};
    struct allocation memory[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(memory_domain_set_user(&domain, i < 2 ? &users[i] : NULL), NEO_OK);
        assert_int_equal(allocation_create(&domain, &request, &memory[i]), NEO_OK);
        assert_int_equal(memory[i].kind, i < 2 ? NEO_KIND_USER : NEO_KIND_HEAP);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(allocation_destroy(&memory[i]), NEO_OK);
    assert_true(heaps[0].calls == 1 && heaps[1].calls == 1);
    assert_true(heaps[0].live_bytes == 0 && heaps[1].live_bytes == 0);
}

static void the_environment_sets_poison_and_history(void **state)
{
    (void)state;
    struct memory_domain other;
    struct allocation memory;
    const neo_allocation_request request = {.bytes = 5000};
    setenv("NEOPRENE_MEMORY_POISON", "255", 1);
    setenv("NEOPRENE_MEMORY_HISTORY", "3", 1);
    assert_int_equal(memory_domain_init(&other, NULL), NEO_OK);
    assert_int_equal(other.tracker.history.capacity, 3);
    assert_int_equal(allocation_create(&other, &request, &memory), NEO_OK);
    assert_true(is_filled(memory.data, 5000, 0xFF));
    allocation_destroy(&memory);
    memory_domain_deinit(&other);
    setenv("NEOPRENE_MEMORY_POISON", "256", 1);
    setenv("NEOPRENE_MEMORY_HISTORY", "many", 1);
    assert_int_equal(memory_domain_init(&other, NULL), NEO_OK);
    assert_int_equal(other.poison, -1);
    assert_int_equal(other.tracker.history.capacity, HISTORY_EVENTS);
    memory_domain_deinit(&other);
    unsetenv("NEOPRENE_MEMORY_POISON");
    unsetenv("NEOPRENE_MEMORY_HISTORY");
}

/* ---- failing system ---- */

static void every_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    int fd = make_file(5000);
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++) {
        bool delivered = true;
        for (size_t n = 1; delivered; n++) {
            neo_allocation_request request = {.bytes = 5000,
                                              .kind = (neo_allocation_kind)kind,
                                              .fd = kind == NEO_KIND_FILE ? fd : 0};
            neo_allocation *handle;
            fault_arm(n);
            neo_status status = allocation_handle_create(&domain, NULL, &request, &handle);
            delivered = fault_disarm();
            assert_true(delivered || status == NEO_OK);
            assert_true(status == NEO_OK || status == NEO_OUT_OF_MEMORY);
            assert_int_equal(status == NEO_OK, handle != NULL);
            assert_int_equal(neo_allocation_destroy(handle), NEO_OK);
            assert_int_equal(tracker_live(&domain.tracker), 0);
            assert_int_equal(atomic_load(&domain.limits.used), 0);
        }
    }
    close(fd);
}

static void a_domain_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct memory_domain other;
        fault_arm(n);
        neo_status status = memory_domain_init(&other, NULL);
        bool delivered = fault_disarm();
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        memory_domain_deinit(&other);
        if (!delivered)
            break;
    }
}

static void a_handle_answers_questions(void **state)
{
    (void)state;
    neo_allocation_request request = {.bytes = 100};
    neo_allocation *handle;
    neo_allocation_info info;
    assert_int_equal(allocation_handle_create(&domain, NULL, &request, &handle), NEO_OK);
    assert_int_equal(neo_allocation_query(handle, &info), NEO_OK);
    assert_ptr_equal(info.data, neo_allocation_data(handle));
    assert_int_equal(neo_allocation_seal(handle), NEO_UNSUPPORTED);
    assert_int_equal(neo_allocation_destroy(handle), NEO_OK);
    assert_int_equal(neo_allocation_destroy(NULL), NEO_OK);
    assert_null(neo_allocation_data(NULL));
    assert_int_equal(neo_allocation_query(NULL, &info), NEO_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_gives_aligned_memory_that_can_be_used),
        TEST(kinds_say_what_they_are),
        TEST(the_zero_flag_clears_memory_that_held_other_contents),
        TEST(zero_bytes_are_an_allocation_without_memory),
        TEST(wrong_requests_are_refused),
        TEST(huge_pages_report_what_they_came_to),
        TEST(numa_bound_pages_lie_on_their_node),
        TEST(numa_interleaved_pages_have_that_policy),
        TEST(a_kind_that_cannot_be_had_becomes_the_next_one_or_unsupported),
        TEST(locked_memory_is_resident_or_strictly_refused),
        TEST(another_process_sees_shared_memory),
        TEST(an_attached_part_starts_at_its_offset),
        TEST(sealed_memory_cannot_be_written_any_more),
        TEST(a_file_is_mapped_read_only_from_any_offset),
        TEST(a_file_that_cannot_be_mapped_is_read),
        TEST(guard_pages_stop_accesses_at_both_ends),
        TEST(a_write_next_to_guarded_memory_is_reported_on_release),
        TEST(heap_memory_comes_from_the_users_allocator),
        TEST(memory_goes_back_to_the_allocator_it_came_from),
        TEST(the_environment_sets_poison_and_history),
        TEST(every_failing_allocation_leaves_nothing_behind),
        TEST(a_domain_is_made_whole_or_not_at_all),
        TEST(a_handle_answers_questions),
    };
    return cmocka_run_group_tests_name("memory_allocation", tests, NULL, NULL);
}
