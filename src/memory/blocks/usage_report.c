/* Pool dumps; all sums are whole numbers, since a float loses bytes from 16 MiB on. */
#include "src/memory/blocks/usage_report.h"

#include <inttypes.h>

#include "src/memory/history.h"

static uint64_t largest_user(const struct pool_record *record)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < record->user_count; i++)
        if (record->users[i].bytes > largest)
            largest = record->users[i].bytes;
    return largest;
}

struct pool_totals pool_totals(const struct pool_record *records, size_t count)
{
    struct pool_totals totals = {.records = count};
    for (size_t i = 0; i < count; i++) {
        uint64_t used = largest_user(&records[i]);
        totals.pool_bytes += records[i].bytes;
        totals.wasted_bytes += records[i].bytes > used ? records[i].bytes - used : 0;
        totals.users += records[i].user_count;
        for (size_t k = 0; k < records[i].user_count; k++)
            totals.requested_bytes += records[i].users[k].bytes;
    }
    return totals;
}

/* Long division, digit by digit: rest < whole, so only rest * 10 can be too large. */
uint64_t pool_permille(uint64_t part, uint64_t whole)
{
    if (!whole)
        return 0;
    if (part / whole >= UINT64_MAX / 1000)
        return UINT64_MAX;
    uint64_t quotient = part / whole, rest = part % whole;
    for (int digit = 0; digit < 3; digit++) {
        uint64_t tenth = 0, sum = 0;
        for (int i = 0; i < 10; i++) { /* sum = rest * i modulo whole */
            uint64_t room = whole - sum;
            bool carries = rest >= room;
            sum = carries ? rest - room : sum + rest;
            tenth += carries;
        }
        quotient = quotient * 10 + tenth;
        rest = sum;
    }
    return quotient;
}

static void write_row(FILE *file, const struct pool_record *record, const struct pool_user *user)
{
    history_write_text(file, record->pool_type);
    fputc(',', file);
    history_write_text(file, record->layout ? record->layout : "");
    fprintf(file, ",0x%" PRIxPTR ",%s,%" PRIu64 ",", (uintptr_t)record->data,
            neo_allocation_kind_name(record->kind), record->bytes);
    history_write_text(file, user->primitive ? user->primitive : "");
    fprintf(file, ",%" PRIu64 ",%" PRIu64 "\n", user->unique_id, user->bytes);
}

neo_status pool_write_csv(FILE *file, const struct pool_record *records, size_t count)
{
    static const struct pool_user nobody = {0};
    fputs("pool_type,layout,mem_ptr,mem_type,mem_pool_size,prim_id,unique_id,mem_size\n", file);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < records[i].user_count; k++)
            write_row(file, &records[i], &records[i].users[k]);
        if (!records[i].user_count)
            write_row(file, &records[i], &nobody);
    }
    return ferror(file) ? NEO_IO_ERROR : NEO_OK;
}

static void write_percent(FILE *file, const char *before, uint64_t part, uint64_t whole)
{
    uint64_t permille = pool_permille(part, whole);
    fprintf(file, "%s%" PRIu64 ".%" PRIu64 " %%", before, permille / 10, permille % 10);
}

static void write_record(FILE *file, const struct pool_record *record)
{
    fprintf(file, "%s 0x%" PRIxPTR " %s: %" PRIu64 " bytes", record->pool_type,
            (uintptr_t)record->data, neo_allocation_kind_name(record->kind), record->bytes);
    write_percent(file, ", used up to ", largest_user(record), record->bytes);
    fputc('\n', file);
    for (size_t i = 0; i < record->user_count; i++) {
        const struct pool_user *user = &record->users[i];
        fprintf(file, "    %s %" PRIu64 ": %" PRIu64 " bytes,", user->primitive, user->unique_id,
                user->bytes);
        write_percent(file, " ", user->bytes, record->bytes);
        fputc('\n', file);
    }
}

neo_status pool_write_summary(FILE *file, const struct pool_record *records, size_t count,
                              uint64_t lower_bound)
{
    for (size_t i = 0; i < count; i++)
        write_record(file, &records[i]);
    struct pool_totals totals = pool_totals(records, count);
    fprintf(file,
            "total: %zu records of %" PRIu64 " bytes for %zu users of %" PRIu64 " bytes, %" PRIu64
            " bytes never used",
            totals.records, totals.pool_bytes, totals.users, totals.requested_bytes,
            totals.wasted_bytes);
    write_percent(file, ", efficiency ", totals.requested_bytes, totals.pool_bytes);
    if (lower_bound) {
        fprintf(file, ", lower bound %" PRIu64 " bytes", lower_bound);
        write_percent(file, ", pool / lower bound ", totals.pool_bytes, lower_bound);
    }
    fputc('\n', file);
    return ferror(file) ? NEO_IO_ERROR : NEO_OK;
}

neo_status pool_write(FILE *file, neo_dump_format format, const struct pool_record *records,
                      size_t count, uint64_t lower_bound)
{
    return format == NEO_DUMP_CSV ? pool_write_csv(file, records, count)
                                  : pool_write_summary(file, records, count, lower_bound);
}
