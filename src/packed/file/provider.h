/* What the parts of the file provider know of each other.
 *
 *   provider.c  creation, statistics
 *   current.c   which generation of the file is in force
 *   pages.c     where an entry's bytes are in memory
 *   find.c      entries that are in the file
 *   stamp.c     which of them are known to be good
 *   lease.c     who may write
 *   place.c     room for a new entry
 *   insert.c    reservations, committed or given back
 *
 * The lease (a lock on the file) is held only while something is packed: from reserve_space() to
 * look_up_or_insert(). Another process that wants to pack waits for it, looking whether its entry
 * has come meanwhile; so each entry is packed by one process, and no process is the only writer.
 *
 * When the file refuses anything, the entry is kept in memory instead, and the reason is kept for
 * the statistics. Errors are negative numbers of errno.h. */
#ifndef SRC_PACKED_FILE_PROVIDER_H
#define SRC_PACKED_FILE_PROVIDER_H

#include <pthread.h>
#include <stdbool.h>

#include "src/packed/file/generation.h"
#include "src/packed/store/store.h"

/* Of what a replaced file or a damaged entry makes us begin again. */
enum { FILE_MAX_TRIES = 8 };

struct file_provider {
    pthread_mutex_t mutex; /* guards all that follows, and the generations */
    char *path;
    neo_weights_file_options options;
    uint64_t boot;                   /* the kernel's, as stamps have it */
    struct file_generation *current; /* NULL: there is no file, or it cannot be read */
    int last_error;
    uint64_t fallbacks, damaged, rewrites;
};

struct file_entry {
    struct store_entry base;
    struct file_generation *generation; /* whose bytes these are; NULL for an entry in memory */
    uint64_t offset;
    char *map;
    size_t map_bytes;
    bool heap;
};

static inline void file_lock(struct file_provider *provider)
{
    pthread_mutex_lock(&provider->mutex);
}

static inline void file_unlock(struct file_provider *provider)
{
    pthread_mutex_unlock(&provider->mutex);
}

static inline bool file_has(const struct file_provider *provider, uint32_t flag)
{
    return provider->options.flags & flag;
}

/* ---- the generation in force; with the lock held ---- */

/* Makes current what is at the path now. Without create, a file that has gone is kept in use. */
int current_follow_path(struct file_provider *provider, bool create);

/* Takes the place of the one before; entries in use stay counted. */
void current_replace(struct file_provider *provider, struct file_generation *fresh);

/* The usable item of a key, or NULL: among what is known; or also among what others have added. */
struct index_item *current_find(const struct file_provider *provider, const neo_weights_key *key);
struct index_item *current_locate(struct file_provider *provider, const neo_weights_key *key);

/* ---- an entry's bytes in memory; without the lock ---- */

/* Maps the entry's bytes of its generation, to be written. */
int pages_map_new(struct file_entry *entry);

/* Maps what is in the file, or copies it; verified if wanted. */
int pages_bring(struct file_provider *provider, struct file_entry *entry, uint64_t checksum,
                bool verify);

/* Nobody writes to a new entry any more. */
void pages_seal(const struct file_provider *provider, const struct file_entry *entry);

int pages_take_memory(struct file_provider *provider, struct file_entry *entry);

/* Gives back what one of the above took, if there is anything. */
void pages_drop(struct file_provider *provider, struct file_entry *entry);

/* ---- the store's functions ---- */

neo_status file_find(void *context, struct store_entry *base);
neo_status file_reserve(void *context, struct store_entry *base, bool *found);
neo_status file_commit(void *context, struct store_entry *base);
void file_release(void *context, struct store_entry *base, bool committed);

/* The item of an entry, which may have moved or gone while the lock was not held. */
struct index_item *file_item_of(const struct file_provider *provider,
                                const struct file_entry *entry);

/* The entry has nothing to do with the file any more. */
void file_detach(struct file_entry *entry);

/* ---- writing ---- */

/* Waits for the lease; on 0 the lock is held too. -EEXIST: the entry has come meanwhile. */
int lease_wait(struct file_provider *provider, const neo_weights_key *key);

/* Takes the lease and a place in the file. -EEXIST: the entry is there already. */
int place_take(struct file_provider *provider, struct file_entry *entry);

/* Gives both back. */
void place_abandon(struct file_provider *provider, struct file_entry *entry);

#endif
