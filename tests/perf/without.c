/* Kernels are rows of constant tables; a row that no CPU may run is as if it were not there.
 *
 * A compiler may know the length of a list, so that a row stays where it is: its `needs` becomes
 * what no CPU has, and where tiles are looked up by their height whatever the CPU, that becomes 0.
 */
#include "tests/perf/without.h"

#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/dot/f32/dot.h"
#include "kernels/first_layer/f32/rowconv.h"
#include "kernels/gemm/f32/direct/direct.h"
#include "kernels/gemm/f32/gemm.h"
#include "kernels/gemm/f32/listed/listed.h"
#include "kernels/gemm/f32/planes/planes.h"
#include "kernels/indirect/f32/indirect.h"
#include "kernels/winograd/f32/winograd.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of rows, or of their addresses. Each begins with its name. */
struct list {
    const void *rows;
    const void *const *addresses;
    const size_t *count;
    size_t size, needs, height; /* bytes of a row; where in it these are; 0: no height */
};

#define ADDRESSES(list, row)                                                            \
    {                                                                                   \
        NULL, (const void *const *)(list##_kernels), &list##_kernel_count, sizeof(row), \
            offsetof(row, needs), 0                                                     \
    }
#define ROWS(list, row, needs, height)                                                 \
    {                                                                                  \
        list##_kernels, NULL, &list##_kernel_count, sizeof(row), offsetof(row, needs), \
            offsetof(row, height)                                                      \
    }
#define WAY(way)                                                                                 \
    {                                                                                            \
        gemm_f32_direct_lists[GEMM_F32_##way].kernels, NULL,                                     \
            &gemm_f32_direct_lists[GEMM_F32_##way].count, sizeof(struct gemm_f32_direct_kernel), \
            offsetof(struct gemm_f32_direct_kernel, needs),                                      \
            offsetof(struct gemm_f32_direct_kernel, height)                                      \
    }

/* The lists that are no array have a pointer to one, which is known when the program runs. */
static size_t lists(struct list *to)
{
    const struct list all[] = {
        WAY(ROWS),
        WAY(PARTS),
        WAY(SHALLOW),
        WAY(COLUMNS),
        WAY(PANELS),
        ROWS(gemm_f32_listed_columns, struct gemm_f32_listed_columns, needs, height),
        {gemm_f32_kernels, NULL, &gemm_f32_kernel_count, sizeof(struct gemm_f32_kernel),
         offsetof(struct gemm_f32_kernel, needs), 0},
        {gemm_f32_planes_kernels, NULL, &gemm_f32_planes_kernel_count,
         sizeof(struct gemm_f32_planes_kernels), offsetof(struct gemm_f32_planes_kernels, needs),
         0},
        {rowconv_f32_kernels, NULL, &rowconv_f32_kernel_count, sizeof(struct rowconv_f32_kernel),
         offsetof(struct rowconv_f32_kernel, needs), 0},
        ADDRESSES(gemm_f32_listed, struct gemm_f32_listed_kernels),
        ADDRESSES(dot_f32, struct dot_f32_kernel),
        ADDRESSES(dwconv_f32, struct dwconv_f32_kernel),
        ADDRESSES(indirect_f32, struct indirect_f32_kernel),
        ADDRESSES(winograd_f32, struct winograd_f32_kernel),
    };
    if (to)
        memcpy(to, all, sizeof all);
    return sizeof all / sizeof all[0];
}
#undef ADDRESSES
#undef WAY
#undef ROWS

typedef void visitor(const struct list *list, const char *row, const void *with);

static void visit(visitor *each, const void *with)
{
    struct list all[32];
    size_t count = lists(all);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < *all[i].count; j++)
            each(&all[i],
                 all[i].rows ? (const char *)all[i].rows + j * all[i].size : all[i].addresses[j],
                 with);
}

static const char *name_of(const char *row)
{
    const char *name = NULL;
    memcpy(&name, row, sizeof name);
    return name;
}

static void make_writable(const char *row, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)row / page * page;
    if (mprotect((void *)start, (uintptr_t)row + size - start, PROT_READ | PROT_WRITE)) {
        perror("a table of kernels cannot be changed");
        exit(1);
    }
}

/* Where a height is, its definition is one too, and would be run instead: it goes with its kernel.
 */
static bool is_meant(const struct list *list, const char *name, const char *pattern)
{
    static const char ref[] = "_ref";
    size_t stem = strlen(name) - strlen(ref);
    if (!list->height || strcmp(name + stem, ref) != 0)
        return !fnmatch(pattern, name, 0);
    char kernel[128];
    snprintf(kernel, sizeof kernel, "%.*s_neon", (int)stem, name);
    return !fnmatch(pattern, kernel, 0);
}

static void take_out(const struct list *list, const char *row, const void *pattern)
{
    if (!is_meant(list, name_of(row), pattern))
        return;
    make_writable(row, list->size);
    char *writable = (char *)(uintptr_t)row;
    memset(writable + list->needs, 0xff, sizeof(uint32_t));
    if (list->height)
        writable[list->height] = 0;
}

void without_kernels(const char *names)
{
    char *copy = strdup(names), *rest = copy;
    for (char *pattern; copy && (pattern = strsep(&rest, ",")) != NULL;)
        visit(take_out, pattern);
    free(copy);
}

/* Whatever word of a row is an address of the program. */
static void print_row(const struct list *list, const char *row, const void *origin)
{
    printf("%s", name_of(row));
    for (size_t at = sizeof(char *); at + sizeof(uintptr_t) <= list->size;
         at += sizeof(uintptr_t)) {
        uintptr_t word = 0;
        memcpy(&word, row + at, sizeof word);
        printf(" %td", (ptrdiff_t)(word - (uintptr_t)origin));
    }
    printf("\n");
}

void print_kernels(const void *origin)
{
    visit(print_row, origin);
}
