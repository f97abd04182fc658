/* The bytes of a weights cache file, format 1. docs/weights-file.md tells why it is like this.
 *
 *   0      header          256 bytes with a checksum, never changed once written
 *   512    owner           who inserted last; informative, no checksum
 *   4096   index block 0   64 slots of 256 bytes: 63 records and, in the last one, the link to the
 *                          next index block, which lies anywhere at a multiple of 4096
 *   …      packed weights  at the multiple that alignment and size ask for
 *
 * Writing a record into the next free slot is what commits an entry. Records are never changed or
 * removed; a record can name the one that it replaces. Only used_ns changes in place: any value of
 * it is harmless. All numbers are little-endian. */
#ifndef SRC_PACKED_FILE_FORMAT_H
#define SRC_PACKED_FILE_FORMAT_H

#include <stdbool.h>

#include "neoprene/weights.h"

enum {
    FORMAT_VERSION = 1,
    FORMAT_OWNER_OFFSET = 512,
    FORMAT_HEADER_BYTES = 4096,
    FORMAT_RECORD_BYTES = 256,
    FORMAT_BLOCK_SLOTS = 64,
    FORMAT_BLOCK_BYTES = FORMAT_BLOCK_SLOTS * FORMAT_RECORD_BYTES,
    FORMAT_EMPTY_BYTES = FORMAT_HEADER_BYTES + FORMAT_BLOCK_BYTES,
    FORMAT_BLOCK_ALIGN = 4096,
    FORMAT_MAX_ALIGN = 4096,
};

struct format_header {
    unsigned char magic[8];
    uint32_t byte_order; /* 0x01020304 as the writer's machine stores it */
    uint32_t version;
    uint32_t header_bytes, record_bytes, block_bytes;
    uint32_t hash; /* 1: XXH3 over 1 MiB chunks */
    uint64_t
        file_id; /* random; seeds the records' checksums, so that none passes in another file */
    uint64_t generation;
    uint64_t created_ns;
    unsigned char reserved[192];
    uint64_t checksum; /* of all before */
};

struct format_owner {
    uint32_t process, reserved;
    uint64_t since_ns;
};

enum { FORMAT_ENTRY = 1, FORMAT_LINK = 2 };

struct format_record {
    uint32_t kind;
    uint32_t slot; /* counted through all index blocks */
    uint64_t content_low, content_high;
    uint64_t offset, size; /* of the entry, or of the next index block */
    uint64_t data_checksum;
    uint64_t created_ns;
    uint32_t replaces; /* slot + 1 of the older record for this key, or 0 */
    uint32_t align;
    uint32_t layout_words;
    uint32_t reserved_word;
    uint32_t layout[NEO_WEIGHTS_MAX_LAYOUT_WORDS];
    unsigned char reserved[40];
    uint64_t checksum; /* of all before, seeded with the file's id */
    uint64_t used_ns;
};

enum format_verdict {
    FORMAT_GOOD,
    FORMAT_BLANK,   /* all zero */
    FORMAT_DAMAGED, /* ours, and its checks fail */
    FORMAT_FOREIGN, /* not ours */
    FORMAT_NEWER,   /* ours, of a later version */
};

void format_header_fill(struct format_header *header, uint64_t generation);
enum format_verdict format_header_judge(const struct format_header *header);

/* Sets the slot and the checksum. */
void format_record_seal(struct format_record *record, uint32_t slot, uint64_t file_id);

/* Looks at the record alone: it is intact, is meant for this slot of this file, and what it says
 * makes sense in a file of any size. */
enum format_verdict format_record_judge(const struct format_record *record, uint32_t slot,
                                        uint64_t file_id);

void format_record_set_key(struct format_record *record, const neo_weights_key *key);
neo_weights_key format_record_key(const struct format_record *record);

/* The multiple in the file at which an entry is put: a large one, so that it can have large pages.
 */
uint64_t format_data_align(uint64_t size, uint64_t align);

uint64_t format_now_ns(void);

/* Another number each time. */
uint64_t format_random_id(void);

#endif
