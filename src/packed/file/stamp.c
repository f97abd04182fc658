/* Which entries were compared with their checksums since the machine started. */
#include "src/packed/file/stamp.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/packed/content_hash.h"

/* The coarsest times that the file systems below have are seconds. */
enum { SETTLED_S = 2 };

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* Those that change a file's times whenever a page of it becomes dirty. */
static bool tells_of_changes(int fd)
{
    static const unsigned long kinds[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                          F2FS_SUPER_MAGIC};
    struct statfs system;
    if (fstatfs(fd, &system))
        return false;
    for (size_t i = 0; i < count_of(kinds); i++)
        if ((unsigned long)system.f_type == kinds[i])
            return true;
    return false;
}

uint64_t stamp_boot(void)
{
    char text[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof text);
    close(fd);
    return size > 0 ? content_checksum(text, (size_t)size, 0) : 0;
}

/* ---- pages ---- */

/* cachestat(), which kernels have since 6.5 and C libraries later. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static bool knows_dirty_pages(int fd, uint64_t offset, uint64_t size, uint64_t *dirty)
{
    struct {
        uint64_t offset, size;
    } range = {offset, size};
    struct {
        uint64_t cached, dirty, written_back, evicted, recently_evicted;
    } counts;
    if (syscall(SYS_cachestat, fd, &range, &counts, 0))
        return false;
    *dirty = counts.dirty;
    return true;
}

/* Older kernels have to write the pages to be sure. */
static bool has_clean_pages(int fd, uint64_t offset, uint64_t size)
{
    enum { ALL = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER };
    uint64_t dirty;
    if (knows_dirty_pages(fd, offset, size, &dirty))
        return !dirty;
    return sync_file_range(fd, (off_t)offset, (off_t)size, ALL) == 0;
}

/* ---- the file's state ---- */

static bool state_of(struct file_stamp *stamp, const struct stamped_file *of)
{
    struct stat file;
    if (fstat(of->fd, &file))
        return false;
    *stamp = (struct file_stamp){
        .boot = of->boot,
        .device = file.st_dev,
        .inode = file.st_ino,
        .bytes = (uint64_t)file.st_size,
        .file_id = of->file_id,
        .modified_s = file.st_mtim.tv_sec,
        .modified_ns = file.st_mtim.tv_nsec,
        .changed_s = file.st_ctim.tv_sec,
        .changed_ns = file.st_ctim.tv_nsec,
    };
    return true;
}

static bool same_state(const struct file_stamp *a, const struct file_stamp *b)
{
    return memcmp(a, b, offsetof(struct file_stamp, verified)) == 0;
}

/* Whether nothing can be written any more that would leave the times as they are. */
static bool is_settled(const struct file_stamp *stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - stamp->modified_s > SETTLED_S && now.tv_sec - stamp->changed_s > SETTLED_S;
}

/* ---- the folder's attribute ---- */

static const char *name_in_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void stamp_name(char out[STAMP_NAME], const char *path)
{
    const char *name = name_in_folder(path);
    (void)snprintf(out, STAMP_NAME, "user.neoprene.%016" PRIx64,
                   content_checksum(name, strlen(name), 0));
}

/* To be freed; NULL if there is no memory. */
static char *folder_of(const char *path)
{
    size_t length = (size_t)(name_in_folder(path) - path);
    return length ? strndup(path, length) : strdup(".");
}

static uint64_t checksum_of(const struct file_stamp *stamp)
{
    return content_checksum(stamp, offsetof(struct file_stamp, checksum), 0);
}

/* The attribute, if it speaks of this state. */
static bool read_stamp(struct file_stamp *stamp, const char *path, const struct file_stamp *state)
{
    char name[STAMP_NAME], *folder = folder_of(path);
    stamp_name(name, path);
    ssize_t bytes = folder ? getxattr(folder, name, stamp, sizeof *stamp) : -1;
    free(folder);
    return bytes == (ssize_t)sizeof *stamp && stamp->checksum == checksum_of(stamp) &&
           same_state(stamp, state);
}

static void write_stamp(struct file_stamp *stamp, const char *path)
{
    char name[STAMP_NAME], *folder = folder_of(path);
    stamp_name(name, path);
    stamp->checksum = checksum_of(stamp);
    if (folder)
        setxattr(folder, name, stamp, sizeof *stamp, 0);
    free(folder);
}

/* ---- stamps ---- */

bool stamp_begin(struct file_stamp *stamp, const struct stamped_file *file, uint64_t offset,
                 uint64_t size)
{
    return file->boot && tells_of_changes(file->fd) && state_of(stamp, file) && is_settled(stamp) &&
           has_clean_pages(file->fd, offset, size);
}

void stamp_end(struct file_stamp *stamp, const struct stamped_file *file, uint32_t slot)
{
    struct file_stamp now, before;
    if (slot >= STAMP_SLOTS || !state_of(&now, file) || !same_state(&now, stamp))
        return;
    if (read_stamp(&before, file->path, stamp))
        *stamp = before;
    stamp->verified[slot / 8] |= (unsigned char)(1u << slot % 8);
    write_stamp(stamp, file->path);
}

bool stamp_covers(const struct stamped_file *file, uint32_t slot)
{
    struct file_stamp state, stamp;
    return file->boot && slot < STAMP_SLOTS && state_of(&state, file) &&
           read_stamp(&stamp, file->path, &state) && tells_of_changes(file->fd) &&
           stamp.verified[slot / 8] >> slot % 8 & 1;
}
