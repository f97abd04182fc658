/* Packed weights that are made once and found again: keys, providers, the weights cache file.
 *
 * A primitive wants its weights in a packed layout. A provider is a dictionary of packed weights:
 * the library looks a key up, and packs only when there is no such entry. Two providers are built
 * in, one that keeps entries in memory and one that keeps them in a file which any number of
 * processes map; a user can write another one. */
#ifndef NEOPRENE_WEIGHTS_H
#define NEOPRENE_WEIGHTS_H

#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- keys ---- */

/* A 128-bit hash of bytes: XXH3 over chunks of 1 MiB, then over the chunks' hashes. It keeps
 * different weights apart; it is no defence against someone who builds weights to collide. */
typedef struct neo_weights_content {
    uint64_t low, high;
} neo_weights_content;

/* Hashes size bytes; data may be NULL when size is 0. */
NEO_API neo_weights_content neo_weights_hash(const void *data, size_t size);

/* The same for rows of row_bytes that lie stride_bytes apart: equal to the hash of the dense copy.
 */
NEO_API neo_weights_content neo_weights_hash_rows(const void *data, size_t rows, size_t row_bytes,
                                                  size_t stride_bytes);

#define NEO_WEIGHTS_MAX_LAYOUT_WORDS 32

/* What an entry is: the content it was made from and the layout it was made into. Nothing in it
 * depends on an address, a thread count or an activation's scale, so equal weights meet whoever
 * packed them.
 *
 * layout holds the layout descriptor, one word a field. Word 0 is the layout's id and word 1 its
 * version; entries that differ in word 1 alone are versions of one thing. Words from layout_words
 * on are 0. */
typedef struct neo_weights_key {
    neo_weights_content content;
    uint32_t layout_words; /* 2 … NEO_WEIGHTS_MAX_LAYOUT_WORDS */
    uint32_t layout[NEO_WEIGHTS_MAX_LAYOUT_WORDS];
} neo_weights_key;

/* ---- providers ---- */

/* An entry that is pinned: its bytes stay where they are until unpin(). */
typedef struct neo_weights_blob {
    uint64_t offset; /* the provider's name for the entry; offset_to_addr() gives the address */
    size_t size;     /* bytes */
    size_t align;    /* the address is a multiple of it */
    uint32_t layout_id, layout_version;
} neo_weights_blob;

/* Space to pack into. */
typedef struct neo_weights_reservation {
    void *data; /* NULL: somebody else has packed this key meanwhile, and nothing is to be done */
    size_t size, align;
    uint64_t offset; /* for the provider */
} neo_weights_reservation;

/* Counters run from creation; the others are what there is now. */
typedef struct neo_weights_statistics {
    uint64_t hits, misses;  /* of look_up() */
    uint64_t inserts;       /* entries packed by this provider */
    uint64_t adopted;       /* reservations that found somebody else's finished entry */
    uint64_t waits;         /* times that a thread waited for another one's packing */
    uint64_t cancelled;     /* reservations given back */
    uint64_t evictions;     /* entries dropped from memory to keep to a limit */
    uint64_t fallbacks;     /* entries that went to memory because the file refused them */
    uint64_t damaged;       /* entries or records that failed their checks and were not used */
    uint64_t rewrites;      /* times that this provider wrote the file anew */
    uint64_t entries;       /* known in this process */
    uint64_t pinned;        /* of these, in use */
    uint64_t memory_bytes;  /* held in memory by the provider */
    uint64_t mapped_bytes;  /* of the file, mapped */
    uint64_t file_entries;  /* usable entries in the file */
    uint64_t live_bytes;    /* in them */
    uint64_t dead_bytes;    /* in entries that were replaced or failed their checks */
    uint64_t file_bytes;    /* size of the file */
    uint64_t generation;    /* how often the file was written anew by anybody */
    neo_status file_status; /* of the last operation on the file that failed, or NEO_OK */
    int file_errno;         /* with it, or 0 */
    uint64_t reserved[4];   /* 0 until a later version says what they are */
} neo_weights_statistics;

/* A provider, as a table of functions. All may be called by many threads at once.
 *
 *   if (look_up(key, &blob) != NEO_OK) {
 *       reserve_space(key, size, align, &reservation);
 *       if (reservation.data)
 *           pack into reservation.data, every byte of it; on failure cancel(&reservation)
 *       look_up_or_insert(key, &reservation, &blob);
 *   }
 *   packed = offset_to_addr(blob.offset);   … use …   unpin(blob.offset);
 *
 * For one key only one caller at a time packs: the others wait in reserve_space(). Different keys
 * are packed concurrently. A thread holds at most one reservation at a time.
 *
 * @note what a key has is decided by who packed it: a caller compares blob.size and blob.align with
 *       what it needs before it reads. */
typedef struct neo_weights_provider {
    void *context;

    /* NEO_OK: the entry is there and now pinned. NEO_NOT_FOUND: it is not. */
    neo_status (*look_up)(void *context, const neo_weights_key *key, neo_weights_blob *blob);

    /* Space for an entry of size bytes, at a multiple of align (a power of two, at most 4096).
     * A reservation ends with look_up_or_insert() or cancel(). NEO_INVALID_ARGUMENT if the key is
     * there with another size or a smaller alignment. */
    neo_status (*reserve_space)(void *context, const neo_weights_key *key, size_t size,
                                size_t align, neo_weights_reservation *reservation);

    /* Makes what was packed an entry, or finds the one that is already there; pins it. Ends the
     * reservation unless it returns NEO_INVALID_ARGUMENT (the key is not the reservation's). */
    neo_status (*look_up_or_insert)(void *context, const neo_weights_key *key,
                                    neo_weights_reservation *reservation, neo_weights_blob *blob);

    /* Gives a reservation back. */
    neo_status (*cancel)(void *context, neo_weights_reservation *reservation);

    /* The address of a pinned entry; NULL for an offset that names none. */
    const void *(*offset_to_addr)(void *context, uint64_t offset);

    /* One more, one less user of an entry that is pinned. NEO_INVALID_ARGUMENT if it is not. */
    neo_status (*pin)(void *context, uint64_t offset);
    neo_status (*unpin)(void *context, uint64_t offset);

    void (*statistics)(void *context, neo_weights_statistics *out);

    /* Ends the provider. Pinned entries stay valid until they are unpinned, so pin(), unpin() and
     * offset_to_addr() may still be called for them. */
    void (*destroy)(void *context);
} neo_weights_provider;

/* Where a provider gets memory. All NULL: the C library's. */
typedef struct neo_weights_allocator {
    void *context;
    void *(*allocate)(void *context, size_t size, size_t align); /* NULL on failure */
    void (*release)(void *context, void *data, size_t size);
} neo_weights_allocator;

/* ---- the memory provider ---- */

typedef struct neo_weights_memory_options {
    neo_weights_allocator allocator;
    size_t limit_bytes;   /* of entries; those least recently unpinned are dropped. 0: no limit.
                           * Pinned entries are never dropped, so together they can exceed it. */
    uint64_t reserved[4]; /* 0 */
} neo_weights_memory_options;

/* @param out     the table; end it with out->destroy(out->context).
 * @param options NULL for the defaults.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (half an allocator), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_weights_memory_provider_create(neo_weights_provider *out,
                                                      const neo_weights_memory_options *options);

/* ---- the file provider ---- */

enum {
    /* Never changes the file, nor creates it. */
    NEO_WEIGHTS_READ_ONLY = 1u << 0,
    /* Creation fails when the file cannot be used, instead of working in memory. */
    NEO_WEIGHTS_REQUIRE_FILE = 1u << 1,
    /* Reads entries into memory instead of mapping them: for a file that others may truncate. */
    NEO_WEIGHTS_COPY = 1u << 2,
    /* Never compares an entry with its checksum. */
    NEO_WEIGHTS_TRUST = 1u << 3,
    /* Compares it in every process. Without either, an entry is compared by the first process that
     * uses it after the machine has started or the file has been written to, where the file system
     * tells of that (ext4, XFS, Btrfs, F2FS; elsewhere by every process). */
    NEO_WEIGHTS_VERIFY = 1u << 9,
    /* Each entry is on the disk before look_up_or_insert() returns. Without it the last entries
     * can be lost (never wrong) when the power fails. */
    NEO_WEIGHTS_DURABLE = 1u << 4,
    /* Pages: start reading them; have them all there; keep them there; ask for huge ones. */
    NEO_WEIGHTS_WILLNEED = 1u << 5,
    NEO_WEIGHTS_POPULATE = 1u << 6,
    NEO_WEIGHTS_LOCK = 1u << 7,
    NEO_WEIGHTS_HUGE_PAGES = 1u << 8,
};

typedef struct neo_weights_file_options {
    uint32_t flags;                  /* NEO_WEIGHTS_* */
    uint32_t lease_timeout_ms;       /* how long to wait for another process that packs; 0: 10 s */
    uint64_t limit_bytes;            /* of the file; the least recently used go first. 0: none */
    size_t memory_limit_bytes;       /* of entries that the file refused; as in the memory one */
    neo_weights_allocator allocator; /* for these, and for NEO_WEIGHTS_COPY */
    uint64_t reserved[4];            /* 0 */
} neo_weights_file_options;

/* A provider over the cache file at path, which is made (mode 0600) when the first entry is
 * inserted, or at once with NEO_WEIGHTS_REQUIRE_FILE. A relative path is resolved now. Any number
 * of providers and processes may use one file.
 *
 * Whatever is wrong with the file (no permission, no space, a limit, damage, not a cache file, a
 * link, another owner, writable for others), the provider works: it packs into memory, counts that
 * as a fallback and says why in statistics. A file that is not a weights cache is never written to.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_OUT_OF_MEMORY; with NEO_WEIGHTS_REQUIRE_FILE also what
 *         is wrong, after a line in the log: NEO_IO_ERROR, NEO_CORRUPT, NEO_UNSUPPORTED (of a newer
 *         format), and with NEO_WEIGHTS_READ_ONLY NEO_NOT_FOUND. */
NEO_API neo_status neo_weights_file_provider_create(neo_weights_provider *out, const char *path,
                                                    const neo_weights_file_options *options);

/* The file provider that NEOPRENE_WEIGHTS_CACHE=path asks for, limited to
 * NEOPRENE_WEIGHTS_CACHE_LIMIT bytes (suffixes K, M, G) if that is set.
 *
 * @return NEO_NOT_FOUND if the variable is not set or empty, else as above. */
NEO_API neo_status neo_weights_provider_from_environment(neo_weights_provider *out);

/* ---- looking after a cache file ---- */

typedef enum neo_weights_file_state {
    NEO_WEIGHTS_USABLE, /* in place; its bytes equal its checksum if that was asked for */
    NEO_WEIGHTS_STALE,  /* usable, but there is a newer version of it */
    NEO_WEIGHTS_DEAD,   /* replaced by another entry */
    NEO_WEIGHTS_DAMAGED /* fails its checks */
} neo_weights_file_state;

typedef struct neo_weights_file_entry {
    neo_weights_key key;
    uint64_t offset, size, align; /* bytes in the file */
    uint64_t created_s, used_s;   /* seconds since 1970 */
    neo_weights_file_state state;
    uint64_t reserved[4]; /* 0 until a later version says what they are */
} neo_weights_file_entry;

typedef struct neo_weights_file_summary {
    uint64_t file_bytes, generation, created_s;
    uint64_t entries[4], bytes[4]; /* by neo_weights_file_state */
    uint64_t lost_records;         /* damaged so that nothing is known of them */
    uint32_t writer;               /* process that holds the lease, or 0 */
    uint64_t reserved[4];          /* 0 until a later version says what they are */
} neo_weights_file_summary;

/* Returns 0 to drop an entry (or to end a listing), else not 0. */
typedef int neo_weights_file_visit(void *argument, const neo_weights_file_entry *entry);

/* Visits all entries in the order in which they were inserted.
 *
 * @param verify not 0: each entry's bytes are compared with their checksum.
 * @param visit, summary  may be NULL.
 * @return NEO_OK (also when entries are damaged), NEO_NOT_FOUND (no file), NEO_IO_ERROR,
 *         NEO_CORRUPT (not a cache file, or its header is damaged), NEO_UNSUPPORTED,
 *         NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_weights_file_list(const char *path, int verify,
                                         neo_weights_file_visit *visit, void *argument,
                                         neo_weights_file_summary *summary);

/* Writes the file anew with the entries that are neither damaged nor dead and that keep() wants
 * (NULL: all), within limit_bytes (0: none) by last use. Processes that have the file mapped keep
 * what they have.
 *
 * @return as neo_weights_file_list(); NEO_BUSY if another process is inserting. */
NEO_API neo_status neo_weights_file_compact(const char *path, uint64_t limit_bytes,
                                            neo_weights_file_visit *keep, void *argument,
                                            neo_weights_file_summary *summary);

/* Removes a cache file; refuses to remove anything else. Statuses as above. */
NEO_API neo_status neo_weights_file_delete(const char *path);

#ifdef __cplusplus
}
#endif

#endif
