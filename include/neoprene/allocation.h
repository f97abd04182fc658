/* Memory of an engine: kinds of allocation, limits, usage and history. */
#ifndef NEOPRENE_ALLOCATION_H
#define NEOPRENE_ALLOCATION_H

#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kinds ----
 *
 * name, its text, lockable, migratable, cross-process, and the kind that is tried next when this
 * one cannot be had (a kind that is its own next one is the end of the list):
 *
 *   heap              aligned memory of the C library; of the user's allocator if the engine has
 *                     one and the request is not strict
 *   huge_page         explicit huge pages, else transparent ones (`pages` of the answer tells)
 *   numa_bound        pages of one NUMA node, which the kernel never moves to another
 *   numa_interleaved  pages dealt out over all NUMA nodes
 *   shared            a memory file: its descriptor can be passed to another process
 *   file              a file, mapped read-only; where a file cannot be mapped, a copy on the heap
 *   guarded           for debugging: inaccessible pages at both ends, marks in between
 *   user              the engine's user allocator
 *
 * Lockable: has pages of its own, so that they can be pinned (NEO_ALLOCATION_LOCKED).
 * Migratable: the kernel may move the pages to another NUMA node.
 * Cross-process: another process can map the same bytes. */
#define NEO_ALLOCATION_KIND_LIST(X)                                          \
    X(NEO_KIND_HEAP, "heap", 0, 1, 0, NEO_KIND_HEAP)                         \
    X(NEO_KIND_HUGE_PAGE, "huge_page", 1, 1, 0, NEO_KIND_HEAP)               \
    X(NEO_KIND_NUMA_BOUND, "numa_bound", 1, 0, 0, NEO_KIND_HEAP)             \
    X(NEO_KIND_NUMA_INTERLEAVED, "numa_interleaved", 1, 0, 0, NEO_KIND_HEAP) \
    X(NEO_KIND_SHARED, "shared", 1, 1, 1, NEO_KIND_HEAP)                     \
    X(NEO_KIND_FILE, "file", 1, 1, 1, NEO_KIND_HEAP)                         \
    X(NEO_KIND_GUARDED, "guarded", 1, 1, 0, NEO_KIND_HEAP)                   \
    X(NEO_KIND_USER, "user", 0, 1, 0, NEO_KIND_HEAP)

typedef enum neo_allocation_kind {
#define NEO_KIND_ENTRY(name, text, lockable, migratable, cross_process, next) name,
    NEO_ALLOCATION_KIND_LIST(NEO_KIND_ENTRY)
#undef NEO_KIND_ENTRY
        NEO_KIND_COUNT,
    NEO_KIND_ALL = NEO_KIND_COUNT /* where a total over all kinds is asked for */
} neo_allocation_kind;

/* "heap" and so on; "all" for NEO_KIND_ALL; "unknown" for what is no kind. */
NEO_API const char *neo_allocation_kind_name(neo_allocation_kind kind);

/* What a request for huge pages came to. */
typedef enum neo_page_use {
    NEO_PAGES_ORDINARY,
    NEO_PAGES_TRANSPARENT, /* the kernel was asked to use huge pages where it can */
    NEO_PAGES_EXPLICIT     /* huge pages, reserved by the administrator */
} neo_page_use;

/* ---- requests ---- */

/* All bytes are 0. */
#define NEO_ALLOCATION_ZERO 1u
/* This kind or NEO_UNSUPPORTED, never another kind. */
#define NEO_ALLOCATION_STRICT 2u
/* Pin the pages, if the kind is lockable and the system lets us. */
#define NEO_ALLOCATION_LOCKED 4u
/* Shared: map the memory file `fd` of another allocation. */
#define NEO_ALLOCATION_ATTACH 8u
/* With ATTACH: the mapping cannot be written. */
#define NEO_ALLOCATION_READ_ONLY 16u
/* Guarded: put the last byte next to the guard page. */
#define NEO_ALLOCATION_GUARD_END 32u

#define NEO_ALLOCATION_ALIGNMENT 64u
#define NEO_ALLOCATION_MAX_ALIGNMENT (2u << 20)

/* Zero-initialise it and set fields by name; zero means "default". */
typedef struct neo_allocation_request {
    /* 0 gives an allocation without memory (data is NULL); with ATTACH and for a file it stands for
     * all bytes from `offset` on. */
    size_t bytes;
    /* A power of two up to 2 MiB; 0 is 64, and so is less than 64, except for a file and for
     * GUARD_END, where small alignments are kept. */
    size_t alignment;
    neo_allocation_kind kind;
    uint32_t flags; /* NEO_ALLOCATION_* */
    int node;       /* numa_bound */
    int fd;         /* ATTACH, and file if path is NULL; stays the caller's, may be closed after */
    const char *path;     /* file */
    uint64_t offset;      /* file: of the first byte; a multiple of the alignment */
    const char *owner;    /* who asks, for the history; copied, at most 47 bytes; may be NULL */
    uint64_t reserved[4]; /* 0 */
} neo_allocation_request;

typedef struct neo_allocation neo_allocation;

typedef struct neo_allocation_info {
    void *data;
    size_t bytes;      /* as requested */
    size_t held_bytes; /* as counted: whole pages, where the kind has pages of its own */
    size_t alignment;
    neo_allocation_kind kind;      /* what it is */
    neo_allocation_kind requested; /* what was asked for */
    neo_page_use pages;
    size_t page_bytes; /* transparent: of the pages that were asked for */
    int node;          /* of numa_bound; -1 elsewhere */
    int fd;            /* of shared, to be passed on, owned by the allocation; -1 elsewhere */
    int lockable, migratable, cross_process;
    int locked;           /* the pages are pinned */
    uint64_t reserved[4]; /* 0 until a later version says what they are */
} neo_allocation_info;

/* Allocates memory from the engine.
 *
 * When a kind cannot be had, or its budget is used up, the next kind of the list above is tried,
 * with a reason in the log (category dispatch); kind of the answer tells what it came to.
 * Any thread may call this. The bytes count towards the engine's limits until they are destroyed.
 *
 * @param out      receives the allocation, or NULL on failure; release with
 *                 neo_allocation_destroy(). It keeps the engine alive.
 * @return NEO_OK; NEO_INVALID_ARGUMENT; NEO_UNSUPPORTED (strict, and the kind cannot be had);
 *         NEO_OUT_OF_MEMORY (a limit, named in the log, or the system); NEO_IO_ERROR (the file). */
NEO_API neo_status neo_engine_allocate(neo_engine *engine, const neo_allocation_request *request,
                                       neo_allocation **out);

/* Releases the memory; NULL is fine.
 * @return NEO_OK; NEO_NOT_FOUND (not a live allocation of its engine); NEO_CORRUPT (guarded: bytes
 *         next to the memory were written; it is released all the same). */
NEO_API neo_status neo_allocation_destroy(neo_allocation *allocation);

/* The memory, NULL for an allocation without bytes; and all about it. Both take NULL: the answer is
 * NULL, or NEO_INVALID_ARGUMENT. */
NEO_API void *neo_allocation_data(const neo_allocation *allocation);
NEO_API neo_status neo_allocation_query(const neo_allocation *allocation, neo_allocation_info *out);

/* From now on the bytes can be read only; a shared one also in every process that attaches later.
 * @return NEO_OK; NEO_INVALID_ARGUMENT (NULL); NEO_UNSUPPORTED (a kind without pages of its own);
 *         NEO_RUNTIME_ERROR. */
NEO_API neo_status neo_allocation_seal(neo_allocation *allocation);

/* ---- the user's allocator ---- */

/* Functions that an engine takes heap memory from. The table is copied; context stays the user's.
 * Any thread may call them, several at once. */
typedef struct neo_allocator {
    void *context;
    /* At least `bytes` bytes, aligned to `alignment` (a power of two), or NULL. */
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    /* `bytes` and `alignment` are those of the allocate() that returned data. */
    void (*release)(void *context, void *data, size_t bytes, size_t alignment);
} neo_allocator;

/* From now on the engine's heap memory (blocks, buffers, and requests of kind heap that are not
 * strict) comes from this allocator, or from the C library again if it is NULL. What was allocated
 * before goes back to where it came from.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (engine is NULL, or a function is missing). */
NEO_API neo_status neo_engine_set_allocator(neo_engine *engine, const neo_allocator *allocator);

/* ---- limits ----
 *
 * These functions, and those about usage below, return NEO_INVALID_ARGUMENT for an engine that is
 * NULL and for a kind that there is not, else NEO_OK if nothing else is said. Any thread may call
 * them. */

/* The largest single object and the largest sum over all kinds, in bytes. 0 is the machine's: the
 * smallest of RAM, the control group's limit (v1 or v2) and RLIMIT_AS, read again while the program
 * runs. A value of the caller's replaces the machine's. */
NEO_API neo_status neo_engine_set_memory_limits(neo_engine *engine, size_t object_bytes,
                                                size_t total_bytes);
/* The limits in force; a pointer may be NULL. */
NEO_API neo_status neo_engine_get_memory_limits(neo_engine *engine, size_t *object_bytes,
                                                size_t *total_bytes);
/* How many bytes of a kind there may be before requests get the next kind; 0 is no budget. */
NEO_API neo_status neo_engine_set_memory_budget(neo_engine *engine, neo_allocation_kind kind,
                                                size_t bytes);

/* ---- usage and history ---- */

typedef struct neo_memory_usage {
    size_t current, max; /* bytes; max is the true peak of this kind, or of the sum */
    uint64_t allocations, frees;
    uint64_t reserved[4]; /* 0 until a later version says what they are */
} neo_memory_usage;

/* All dumps, also those of networks, take "-" as a path for the standard output. */

/* Usage of one kind, or of all (NEO_KIND_ALL). */
NEO_API neo_status neo_engine_get_memory_usage(neo_engine *engine, neo_allocation_kind kind,
                                               neo_memory_usage *out);

/* Writes the last allocations and frees as CSV. These two return what
 * neo_engine_dump_memory_pool() does. The columns are
 * time_ns,event,kind,bytes,owner,thread,pointer,current,max,total_current,total_max */
NEO_API neo_status neo_engine_dump_memory_history(neo_engine *engine, const char *path);

/* Writes what was live when the sum over all kinds had its peak, as CSV:
 * kind,bytes,owner,thread,pointer,time_ns,still_live */
NEO_API neo_status neo_engine_dump_memory_peak(neo_engine *engine, const char *path);

typedef enum neo_dump_format {
    NEO_DUMP_CSV,
    NEO_DUMP_TEXT /* for people: with utilisation, efficiency and totals */
} neo_dump_format;

/* Writes the blocks that the scratchpads of primitives are in, each with who has it and how much of
 * it he needs, and the free ones. The CSV's header is
 * pool_type,layout,mem_ptr,mem_type,mem_pool_size,prim_id,unique_id,mem_size. unique_id is the same
 * for handles of one cached implementation. Exact while no primitive is made, executed or
 * destroyed.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_OUT_OF_MEMORY, NEO_IO_ERROR. */
NEO_API neo_status neo_engine_dump_memory_pool(neo_engine *engine, const char *path,
                                               neo_dump_format format);

#ifdef __cplusplus
}
#endif

#endif
