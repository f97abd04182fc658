/* Memory between inaccessible pages, for finding reads and writes out of bounds.
 *
 *   base | no access … | marks | data … data+bytes | marks | no access … |
 *
 * An access beyond the pages faults at once; the rest of the data's own pages holds marks, which
 * are looked at when the memory is released. */
#include <string.h>
#include <sys/mman.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/kinds/kinds.h"
#include "src/memory/kinds/mapping.h"

#define MARK 0xA5

/* The accessible pages around [data, data + bytes). */
static char *first_page(const struct allocation *allocation)
{
    char *data = allocation->data;
    return data - ((uintptr_t)data & (mapping_page_bytes() - 1));
}

static size_t accessible_bytes(const struct allocation *allocation, size_t bytes)
{
    char *first = first_page(allocation);
    return round_up((size_t)((char *)allocation->data - first) + bytes, mapping_page_bytes());
}

static char *place(const struct mapping *range, const struct allocation_need *need)
{
    size_t page = mapping_page_bytes();
    char *data = mapping_align_up((char *)range->base + page, need->alignment);
    if (!(need->request->flags & NEO_ALLOCATION_GUARD_END) || need->alignment > page)
        return data;
    return data + (round_up(need->bytes, page) - round_up(need->bytes, need->alignment));
}

static neo_status guarded_obtain(struct allocation_need *need, struct allocation *out,
                                 const char **why_not)
{
    (void)why_not;
    size_t page = mapping_page_bytes(), bytes;
    struct mapping range;
    if (!checked_round_up(&bytes, need->bytes, page) ||
        !checked_add(&bytes, bytes, 2 * page + need->alignment) ||
        !mapping_create(&range, bytes, page, PROT_NONE))
        return NEO_OUT_OF_MEMORY;
    mapping_give(&range, out);
    out->data = place(&range, need);
    size_t open_bytes = accessible_bytes(out, need->bytes);
    if (mprotect(first_page(out), open_bytes, PROT_READ | PROT_WRITE)) {
        mapping_destroy(&range);
        out->data = NULL;
        return NEO_OUT_OF_MEMORY;
    }
    char *end = first_page(out) + open_bytes;
    char *data_end = (char *)out->data + need->bytes;
    memset(first_page(out), MARK, (size_t)((char *)out->data - first_page(out)));
    memset(data_end, MARK, (size_t)(end - data_end));
    return NEO_OK;
}

/* The first byte that is no mark, or NULL. */
static const char *damaged(const char *from, const char *to)
{
    while (from < to && *(const unsigned char *)from == MARK)
        from++;
    return from < to ? from : NULL;
}

static neo_status guarded_release(struct allocation *allocation)
{
    const char *data = allocation->data, *data_end = data + allocation->bytes;
    const char *first = first_page(allocation);
    const char *bad = damaged(first, data);
    if (!bad)
        bad = damaged(data_end, first + accessible_bytes(allocation, allocation->bytes));
    if (bad)
        log_error("guarded memory of %zu bytes: byte %td was written", allocation->bytes,
                  bad - data);
    mapping_release(allocation);
    return bad ? NEO_CORRUPT : NEO_OK;
}

const struct kind_operations kind_guarded = {
    .obtain = guarded_obtain,
    .release = guarded_release,
    .has_pages = true,
    .is_zeroed = true,
};
