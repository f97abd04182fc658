/* What each kind of allocation promises: huge pages, NUMA nodes, shared memory, files, guards. */
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

#include "arch/nodes.h"
#include "src/memory/kinds/mapping.h"
#include "tests/support/domain.h"
#include "tests/support/pages.h"
#include "tests/support/temporary.h"

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

/* What the system keeps free for whoever asks for huge pages of 2 MiB, in bytes. */
static size_t free_huge_bytes(void)
{
    FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
    unsigned long pages = 0;
    if (file && fscanf(file, "%lu", &pages) != 1) /* NOLINT: a number of pages is small */
        pages = 0;
    if (file)
        fclose(file);
    return pages << 21;
}

static void huge_pages_report_what_they_came_to(void **state)
{
    (void)state;
    struct allocation memory;
    neo_allocation_info info;
    const size_t bytes = 8u << 20;
    bool has_enough = free_huge_bytes() >= bytes;
    assert_int_equal(domain_create(NEO_KIND_HUGE_PAGE, bytes - 5, 0, &memory), NEO_OK);
    allocation_query(&memory, &info);
    memset(info.data, 1, info.bytes);
    long kernel_page = smaps_field(info.data, "KernelPageSize:");
    long huge = smaps_field(info.data, "AnonHugePages:");
    print_message("huge pages: kind %s, outcome %d, page %zu; smaps: page %ld KiB, huge %ld KiB\n",
                  neo_allocation_kind_name(info.kind), (int)info.pages, info.page_bytes,
                  kernel_page, huge);
    assert_int_equal(info.kind == NEO_KIND_HUGE_PAGE, info.pages != NEO_PAGES_ORDINARY);
    assert_true(!has_enough || info.pages == NEO_PAGES_EXPLICIT);
    if (info.pages != NEO_PAGES_ORDINARY) {
        assert_in_range(info.held_bytes, bytes, bytes + info.page_bytes - 1);
        assert_int_equal(info.held_bytes % info.page_bytes, 0);
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

/* The heap serves what the system does not support, and nothing else. */
static void check_that_nodes_are_unknown(const struct allocation *memory)
{
    struct nodes nodes;
    print_message("this system has no NUMA support: the heap served the request\n");
    assert_int_equal(memory->kind, NEO_KIND_HEAP);
    assert_false(nodes_allowed(&nodes));
}

static void numa_bound_pages_lie_on_their_node(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(domain_create(NEO_KIND_NUMA_BOUND, 3 * mapping_page_bytes(), 0, &memory),
                     NEO_OK);
    memset(memory.data, 1, memory.bytes);
    if (memory.kind == NEO_KIND_NUMA_BOUND) {
        for (size_t i = 0; i < 3; i++) {
            void *page = (char *)memory.data + i * mapping_page_bytes();
            int node = -1, policy = -1;
            assert_int_equal(move_pages(0, 1, &page, NULL, &node, 0), 0);
            assert_int_equal(node, 0);
            assert_int_equal(get_mempolicy(&policy, NULL, 0, page, MPOL_F_ADDR), 0);
            assert_int_equal(policy, MPOL_BIND);
        }
    } else {
        check_that_nodes_are_unknown(&memory);
    }
    allocation_destroy(&memory);
}

/* Each node has as many of the pages as any other one, or one more. */
static void check_that_pages_take_turns(const struct allocation *memory, size_t count)
{
    struct nodes nodes;
    size_t pages[NODES_MOST] = {0}, least = count, most = 0;
    assert_true(nodes_allowed(&nodes));
    memset(memory->data, 1, memory->bytes);
    for (size_t i = 0; i < count; i++) {
        void *page = (char *)memory->data + i * mapping_page_bytes();
        int node = -1;
        assert_int_equal(move_pages(0, 1, &page, NULL, &node, 0), 0);
        assert_true(nodes_have(&nodes, node));
        pages[node]++;
    }
    for (int node = 0; node < NODES_MOST; node++) {
        if (nodes_have(&nodes, node) && pages[node] < least)
            least = pages[node];
        most = pages[node] > most ? pages[node] : most;
    }
    print_message("interleaved pages: at least %zu, at most %zu on a node\n", least, most);
    assert_true(most - least <= 1);
}

static void numa_interleaved_pages_have_that_policy(void **state)
{
    (void)state;
    struct allocation memory;
    assert_int_equal(domain_create(NEO_KIND_NUMA_INTERLEAVED, 8 * mapping_page_bytes(), 0, &memory),
                     NEO_OK);
    int policy = -1;
    if (memory.kind == NEO_KIND_NUMA_INTERLEAVED) {
        assert_int_equal(get_mempolicy(&policy, NULL, 0, memory.data, MPOL_F_ADDR), 0);
        assert_int_equal(policy, MPOL_INTERLEAVE);
        check_that_pages_take_turns(&memory, 8);
    } else {
        check_that_nodes_are_unknown(&memory);
    }
    allocation_destroy(&memory);
}

/* ---- shared ---- */

static void another_process_sees_shared_memory(void **state)
{
    (void)state;
    SKIP_WITH_PRETENDED_PAGES();
    struct allocation memory;
    assert_int_equal(domain_create(NEO_KIND_SHARED, 10000, 0, &memory), NEO_OK);
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
    SKIP_WITH_PRETENDED_PAGES();
    struct allocation memory, part;
    assert_int_equal(domain_create(NEO_KIND_SHARED, 10000, 0, &memory), NEO_OK);
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
    SKIP_WITH_PRETENDED_PAGES();
    struct allocation memory, attached;
    assert_int_equal(domain_create(NEO_KIND_SHARED, 5000, 0, &memory), NEO_OK);
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
    assert_int_equal(domain_create(NEO_KIND_HEAP, 5000, 0, &memory), NEO_OK);
    assert_int_equal(allocation_seal(&memory), NEO_UNSUPPORTED);
    allocation_destroy(&memory);
}

/* ---- file ---- */

static void a_file_is_mapped_read_only_from_any_offset(void **state)
{
    (void)state;
    int fd = temporary_bytes(9000);
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

/* Also where the C library, which has alignments of its own, gives the memory in the end. */
static void small_alignments_are_kept_or_raised(void **state)
{
    (void)state;
    static const struct {
        neo_allocation_kind kind;
        uint32_t flags;
        const char *path;
    } rows[] = {{NEO_KIND_HEAP, 0, NULL},
                {NEO_KIND_GUARDED, 0, NULL},
                {NEO_KIND_GUARDED, NEO_ALLOCATION_GUARD_END, NULL},
                {NEO_KIND_FILE, 0, "/proc/self/exe"},
                {NEO_KIND_FILE, 0, "/sys/kernel/notes"}};
    for (size_t i = 0; i < count_of(rows); i++)
        for (size_t alignment = 1; alignment <= 16; alignment *= 2) {
            neo_allocation_request request = {.bytes = rows[i].path ? 0 : 24,
                                              .alignment = alignment,
                                              .kind = rows[i].kind,
                                              .flags = rows[i].flags,
                                              .path = rows[i].path};
            struct allocation memory;
            if (rows[i].path && access(rows[i].path, R_OK))
                continue; /* not every system has the second one */
            assert_int_equal(allocation_create(&domain, &request, &memory), NEO_OK);
            assert_true(memory.alignment >= alignment);
            assert_int_equal((uintptr_t)memory.data % memory.alignment, 0);
            assert_int_equal(allocation_destroy(&memory), NEO_OK);
        }
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
        assert_true(is_fatal(read_byte, data - mapping_page_bytes()));
        assert_true(is_fatal(read_byte, data + mapping_page_bytes()));
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
        assert_int_equal(domain_create(NEO_KIND_GUARDED, 1003, flags, &memory), NEO_OK);
        ((char *)memory.data)[i ? -1 : 1003] = 0;
        assert_int_equal(allocation_destroy(&memory), NEO_CORRUPT);
    }
}

/* ---- failing system ---- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, domain_set_up, domain_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(huge_pages_report_what_they_came_to),
        TEST(numa_bound_pages_lie_on_their_node),
        TEST(numa_interleaved_pages_have_that_policy),
        TEST(another_process_sees_shared_memory),
        TEST(an_attached_part_starts_at_its_offset),
        TEST(sealed_memory_cannot_be_written_any_more),
        TEST(a_file_is_mapped_read_only_from_any_offset),
        TEST(a_file_that_cannot_be_mapped_is_read),
        TEST(small_alignments_are_kept_or_raised),
        TEST(guard_pages_stop_accesses_at_both_ends),
        TEST(a_write_next_to_guarded_memory_is_reported_on_release),
    };
    return cmocka_run_group_tests_name("memory_kinds", tests, NULL, NULL);
}
