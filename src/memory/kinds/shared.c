/* Memory files that can be passed to other processes, and files mapped read-only. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/kinds/kinds.h"
#include "src/memory/kinds/mapping.h"

/* ---- the file of a request ---- */

static neo_status resolve_bytes(const neo_allocation_request *request, struct allocation_need *need)
{
    struct stat facts;
    if (fstat(need->fd, &facts) || facts.st_size < 0)
        return NEO_IO_ERROR;
    uint64_t size = (uint64_t)facts.st_size;
    if (request->offset > size || request->bytes > size - request->offset) {
        log_check("allocation: %zu bytes at offset %llu are not inside a file of %llu bytes",
                  request->bytes, (unsigned long long)request->offset, (unsigned long long)size);
        return NEO_INVALID_ARGUMENT;
    }
    if (!request->bytes)
        need->bytes = (size_t)(size - request->offset);
    return NEO_OK;
}

neo_status kind_open_file(const neo_allocation_request *request, struct allocation_need *need)
{
    const char *path = request->flags & NEO_ALLOCATION_ATTACH ? NULL : request->path;
    need->fd = path ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(request->fd, F_DUPFD_CLOEXEC, 3);
    neo_status status = need->fd < 0 ? NEO_IO_ERROR : resolve_bytes(request, need);
    if (status == NEO_IO_ERROR)
        log_error("allocation: cannot open %s: %s", path ? path : "the descriptor",
                  strerror(errno));
    return status;
}

static neo_status map(struct allocation_need *need, struct allocation *out, int protection,
                      bool is_shared, int fd, const char **why_not)
{
    uint64_t before = need->request->offset % mapping_page_bytes();
    size_t bytes;
    if (!checked_add(&bytes, need->bytes, (size_t)before))
        return NEO_OUT_OF_MEMORY;
    struct mapping range;
    int error = mapping_create_file(&range, bytes, need->alignment, protection, is_shared, fd,
                                    need->request->offset - before);
    if (error) {
        *why_not = strerror(error);
        return error == ENOMEM ? NEO_OUT_OF_MEMORY : NEO_UNSUPPORTED;
    }
    mapping_give(&range, out);
    out->data = (char *)range.base + before;
    return NEO_OK;
}

/* ---- shared ---- */

/* Nobody may change the size later: a process that reads past a shortened file is killed. */
static int create_memory_file(size_t bytes)
{
    int fd = memfd_create("neoprene", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        return fd;
    close(fd);
    return -1;
}

static neo_status shared_obtain(struct allocation_need *need, struct allocation *out,
                                const char **why_not)
{
    uint32_t flags = need->request->flags;
    int protection = flags & NEO_ALLOCATION_READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    bool is_attached = flags & NEO_ALLOCATION_ATTACH;
    int fd = is_attached ? need->fd : create_memory_file(need->bytes);
    if (fd < 0) {
        *why_not = "the system cannot make a memory file";
        return NEO_UNSUPPORTED;
    }
    neo_status status = map(need, out, protection, true, fd, why_not);
    if (status == NEO_OK) {
        out->fd = fd;
        need->fd = -1; /* taken */
    } else if (!is_attached) {
        close(fd);
    }
    return status;
}

const struct kind_operations kind_shared = {
    .obtain = shared_obtain,
    .release = mapping_release,
    .has_pages = true,
    .is_zeroed = true,
};

/* ---- file ---- */

static neo_status file_obtain(struct allocation_need *need, struct allocation *out,
                              const char **why_not)
{
    return map(need, out, PROT_READ, false, need->fd, why_not);
}

const struct kind_operations kind_file = {
    .obtain = file_obtain,
    .release = mapping_release,
    .has_pages = true,
    .is_zeroed = true,
};
