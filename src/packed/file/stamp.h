/* Which entries were compared with their checksums since the machine started, by any process.
 *
 * That is kept in an attribute of the folder (user.neoprene. and a hash of the file's name)
 * together with the state in which the file was: kernel's boot, inode, size, times of the last
 * modification and of the last change. Nobody can set the time of the last change: whoever writes
 * to the file moves it, also who puts the other one back; so does an attribute of the file itself,
 * which is why the stamp is not there. A power failure, which can lose pages, ends the boot. A copy
 * of the file is another inode.
 *
 * Two kinds of writes would leave the times as they are. One in the same tick of the file system's
 * clock: so a file is stamped only when its last change was a while ago. And a store through a
 * mapping to a page that is dirty already: so an entry is stamped only when none of its pages is,
 * after which the next store has to ask the kernel. File systems that do not tell of every change
 * to a page (in memory, over a network, in user space, overlays) get no stamps. What others write
 * to the bare disk is not seen before the next boot. */
#ifndef SRC_PACKED_FILE_STAMP_H
#define SRC_PACKED_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

enum { STAMP_SLOTS = 1024 }; /* entries in later slots get no stamps */

/* What a stamp is about. */
struct stamped_file {
    const char *path;
    int fd;
    uint64_t boot;    /* stamp_boot() */
    uint64_t file_id; /* of the header */
};

struct file_stamp {
    uint64_t boot; /* a hash of the kernel's identifier; 0: unknown */
    uint64_t device, inode, bytes;
    uint64_t file_id;
    int64_t modified_s, modified_ns;
    int64_t changed_s, changed_ns;
    unsigned char verified[STAMP_SLOTS / 8];
    uint64_t checksum; /* of all before */
};

enum { STAMP_NAME = 48 };

/* The name of the attribute that the file's folder has for it. */
void stamp_name(char out[STAMP_NAME], const char *path);

/* The kernel's boot, or 0. */
uint64_t stamp_boot(void);

/* The file's state now, nothing verified. False if the entry at [offset, offset + size) can have no
 * stamp, or not yet. */
bool stamp_begin(struct file_stamp *stamp, const struct stamped_file *file, uint64_t offset,
                 uint64_t size);

/* Notes that the entry in the slot was found good after stamp_begin(), unless the file has changed
 * since. If this fails, the entry is compared once more by the next process. */
void stamp_end(struct file_stamp *stamp, const struct stamped_file *file, uint32_t slot);

/* Whether the entry was found good, and the file has not changed since. */
bool stamp_covers(const struct stamped_file *file, uint32_t slot);

#endif
