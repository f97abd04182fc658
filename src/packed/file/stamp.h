/* Which entries were compared with their checksums since the machine started, by any process.
 *
 * That is kept in an attribute of the file (user.neoprene.verified) together with the state in
 * which the file was: kernel's boot, inode, size, time of the last modification. Whatever writes to
 * the file changes that time, so the stamp holds only as long as nobody has; and a power failure,
 * which can lose pages, ends the boot. A copy of the file is another inode.
 *
 * A time says nothing of a write in the same tick of its clock: so a file is stamped only when its
 * last modification was a while ago. File systems that do not tell of every change to a page (in
 * memory, over a network, in user space) get no stamps. What others write to the bare disk is not
 * seen before the next boot. */
#ifndef SRC_PACKED_FILE_STAMP_H
#define SRC_PACKED_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

enum { STAMP_SLOTS = 1024 }; /* entries in later slots get no stamps */

struct file_stamp {
    uint64_t boot; /* a hash of the kernel's identifier; 0: unknown */
    uint64_t device, inode, bytes;
    uint64_t file_id; /* of the header */
    int64_t modified_s, modified_ns;
    unsigned char verified[STAMP_SLOTS / 8];
    uint64_t checksum; /* of all before */
};

/* The kernel's boot, or 0. */
uint64_t stamp_boot(void);

/* The file's state now, nothing verified. False if it can have no stamp, or not yet. */
bool stamp_begin(struct file_stamp *stamp, int fd, uint64_t boot, uint64_t file_id);

/* Notes that the entry in the slot was found good after stamp_begin(), unless the file has changed
 * since. If this fails, the entry is compared once more by the next process. */
void stamp_end(struct file_stamp *stamp, int fd, uint32_t slot);

/* The entry in the slot was found good, and the file has not changed since. */
bool stamp_covers(int fd, uint64_t boot, uint64_t file_id, uint32_t slot);

#endif
