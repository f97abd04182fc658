/* Who uses the records of a memory pool, and how well they are filled. */
#ifndef SRC_MEMORY_BLOCKS_USAGE_REPORT_H
#define SRC_MEMORY_BLOCKS_USAGE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "neoprene/allocation.h"

struct pool_user {
    const char *primitive;
    uint64_t unique_id;
    uint64_t bytes; /* of the record's bytes, this user needs so many */
};

/* One piece of memory; its users have it one after another. */
struct pool_record {
    const char *pool_type; /* such as "arena" or "blocks" */
    const char *layout;    /* such as "f32::nhwc::1x56x56x64"; NULL when there is none */
    const void *data;
    neo_allocation_kind kind;
    uint64_t bytes;
    const struct pool_user *users; /* none: the record is free */
    size_t user_count;
};

struct pool_totals {
    uint64_t pool_bytes, requested_bytes; /* sums over records, and over users */
    uint64_t wasted_bytes;                /* of each record, what its largest user leaves */
    size_t records, users;
};

struct pool_totals pool_totals(const struct pool_record *records, size_t count);

/* part / whole in 1/1000, rounded down, without losing bits; 0 of nothing, UINT64_MAX when it would
 * wrap. */
uint64_t pool_permille(uint64_t part, uint64_t whole);

/* One line for each user, and one for each free record, under the header
 * pool_type,layout,mem_ptr,mem_type,mem_pool_size,prim_id,unique_id,mem_size */
neo_status pool_write_csv(FILE *file, const struct pool_record *records, size_t count);

/* The same for people: each record with its users' utilisation, and the totals. lower_bound is what
 * no plan can go below, or 0 when it is not known. */
neo_status pool_write_summary(FILE *file, const struct pool_record *records, size_t count,
                              uint64_t lower_bound);

/* One or the other. */
neo_status pool_write(FILE *file, neo_dump_format format, const struct pool_record *records,
                      size_t count, uint64_t lower_bound);

#endif
