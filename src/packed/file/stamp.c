/* Which entries were compared with their checksums since the machine started. */
#include "src/packed/file/stamp.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/packed/content_hash.h"

/* The coarsest times that the file systems below have are seconds. */
enum { SETTLED_S = 2 };

static const char attribute[] = "user.neoprene.verified";

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* Those that change a file's time whenever a page of it becomes dirty. */
static bool tells_of_changes(int fd)
{
    static const unsigned long kinds[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                          F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC};
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

static bool state_of(struct file_stamp *stamp, int fd, uint64_t boot, uint64_t file_id)
{
    struct stat file;
    if (fstat(fd, &file))
        return false;
    *stamp = (struct file_stamp){
        .boot = boot,
        .device = file.st_dev,
        .inode = file.st_ino,
        .bytes = (uint64_t)file.st_size,
        .file_id = file_id,
        .modified_s = file.st_mtim.tv_sec,
        .modified_ns = file.st_mtim.tv_nsec,
    };
    return true;
}

static bool same_state(const struct file_stamp *a, const struct file_stamp *b)
{
    return memcmp(a, b, offsetof(struct file_stamp, verified)) == 0;
}

/* Whether nothing can be written any more that would leave the time as it is. */
static bool is_settled(const struct file_stamp *stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - stamp->modified_s > SETTLED_S;
}

static uint64_t checksum_of(const struct file_stamp *stamp)
{
    return content_checksum(stamp, offsetof(struct file_stamp, checksum), 0);
}

/* The file's attribute, if it speaks of this state. */
static bool read_stamp(struct file_stamp *stamp, int fd, const struct file_stamp *state)
{
    return fgetxattr(fd, attribute, stamp, sizeof *stamp) == (ssize_t)sizeof *stamp &&
           stamp->checksum == checksum_of(stamp) && same_state(stamp, state);
}

bool stamp_begin(struct file_stamp *stamp, int fd, uint64_t boot, uint64_t file_id)
{
    return boot && tells_of_changes(fd) && state_of(stamp, fd, boot, file_id) && is_settled(stamp);
}

void stamp_end(struct file_stamp *stamp, int fd, uint32_t slot)
{
    struct file_stamp now, before;
    if (slot >= STAMP_SLOTS || !state_of(&now, fd, stamp->boot, stamp->file_id) ||
        !same_state(&now, stamp))
        return;
    if (read_stamp(&before, fd, stamp))
        *stamp = before;
    stamp->verified[slot / 8] |= (unsigned char)(1u << slot % 8);
    stamp->checksum = checksum_of(stamp);
    fsetxattr(fd, attribute, stamp, sizeof *stamp, 0);
}

bool stamp_covers(int fd, uint64_t boot, uint64_t file_id, uint32_t slot)
{
    struct file_stamp state, stamp;
    return boot && slot < STAMP_SLOTS && state_of(&state, fd, boot, file_id) &&
           read_stamp(&stamp, fd, &state) && tells_of_changes(fd) &&
           stamp.verified[slot / 8] >> slot % 8 & 1;
}
