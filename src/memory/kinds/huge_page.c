/* Huge pages: explicit ones if the administrator reserved any, else transparent ones. */
#include <fcntl.h>
#include <linux/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/memory/kinds/kinds.h"
#include "src/memory/kinds/mapping.h"

/* Reads a small file; an empty text when it cannot be read. */
static void read_text(const char *path, char *text, size_t room)
{
    ssize_t length = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        length = read(fd, text, room - 1);
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
}

static size_t transparent_page_bytes(void)
{
    char text[64];
    read_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
    if (!*text || strstr(text, "[never]"))
        return 0;
    read_text("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text, sizeof text);
    return (size_t)strtoull(text, NULL, 10);
}

/* 2 MiB pages, which AArch64 has with 4 K, 16 K and 64 K base pages. The kernel sets them aside
 * now, so a later touch cannot fail. */
static bool obtain_explicit(const struct allocation_need *need, struct allocation *out)
{
    size_t bytes;
    if (!checked_round_up(&bytes, need->bytes, HUGE_PAGE_BYTES))
        return false;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
    if (base == MAP_FAILED)
        return false;
    mapping_give(&(struct mapping){base, bytes}, out);
    out->pages = NEO_PAGES_EXPLICIT;
    out->page_bytes = HUGE_PAGE_BYTES;
    /* cppcheck-suppress memleak ; out has it */
    return true;
}

/* Aligned to the transparent page, or the kernel could not use it; with large base pages that page
 * is larger than most requests, and then 2 MiB groups are the best that can be had. */
static neo_status obtain_transparent(const struct allocation_need *need, struct allocation *out,
                                     const char **why_not)
{
    size_t page = transparent_page_bytes(), bytes;
    if (!page) {
        *why_not = "no explicit huge pages are free, and transparent ones are switched off";
        return NEO_UNSUPPORTED;
    }
    if (page > need->bytes)
        page = HUGE_PAGE_BYTES;
    struct mapping range;
    if (!checked_round_up(&bytes, need->bytes, HUGE_PAGE_BYTES) ||
        !mapping_create(&range, bytes, page, PROT_READ | PROT_WRITE))
        return NEO_OUT_OF_MEMORY;
    if (madvise(range.base, range.bytes, MADV_HUGEPAGE)) {
        mapping_destroy(&range);
        *why_not = "no explicit huge pages are free, and the kernel refuses transparent ones";
        return NEO_UNSUPPORTED;
    }
    mapping_give(&range, out);
    out->pages = NEO_PAGES_TRANSPARENT;
    out->page_bytes = page;
    return NEO_OK;
}

static neo_status huge_page_obtain(struct allocation_need *need, struct allocation *out,
                                   const char **why_not)
{
    return obtain_explicit(need, out) ? NEO_OK : obtain_transparent(need, out, why_not);
}

const struct kind_operations kind_huge_page = {
    .obtain = huge_page_obtain,
    .release = mapping_release,
    .has_pages = true,
    .is_zeroed = true,
};
