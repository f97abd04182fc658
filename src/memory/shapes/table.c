/* A hash table with chains, and a list of its records by use. */
#include "src/memory/shapes/table.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/hash.h"

static uint64_t hash_id(const char *id, size_t length, int32_t output)
{
    uint64_t hash = hash_mix(length ^ UINT64_C(0x9e3779b97f4a7c15),
                             (uint64_t)output + UINT64_C(0xd6e8feb86659fd93));
    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, id + at, length - at < 8 ? length - at : 8);
        hash = hash_mix(hash ^ word, UINT64_C(0xbf58476d1ce4e5b9));
    }
    return hash;
}

neo_status shape_table_init(shape_table *table, size_t max)
{
    size_t buckets = 1;
    while (buckets < max)
        buckets *= 2;
    *table = (shape_table){
        .buckets = calloc(buckets, sizeof *table->buckets), .bucket_count = buckets, .max = max};
    return table->buckets ? NEO_OK : NEO_OUT_OF_MEMORY;
}

static void record_destroy(shape_record *record)
{
    free(record->own);
    free(record);
}

void shape_table_deinit(shape_table *table)
{
    for (shape_record *record = table->newest; record;) {
        shape_record *older = record->older;
        record_destroy(record);
        record = older;
    }
    free(table->buckets);
}

/* ---- the list ---- */

static void list_remove(shape_table *table, shape_record *record)
{
    *(record->newer ? &record->newer->older : &table->newest) = record->older;
    *(record->older ? &record->older->newer : &table->oldest) = record->newer;
}

static void list_push(shape_table *table, shape_record *record)
{
    record->newer = NULL;
    record->older = table->newest;
    *(table->newest ? &table->newest->newer : &table->oldest) = record;
    table->newest = record;
}

/* ---- the buckets ---- */

static shape_record **bucket_of(const shape_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static void remove_record(shape_table *table, shape_record *record)
{
    shape_record **link = bucket_of(table, record->hash);
    while (*link != record)
        link = &(*link)->chain;
    *link = record->chain;
    list_remove(table, record);
    table->count--;
    record_destroy(record);
}

static void forget(shape_record *record)
{
    record->count = 0;
    record->quiet = 0;
    record->given_up_bytes = 0;
    record->since_given_up = record->cooldown = record->backoff = 0;
}

void shape_table_clear(shape_table *table)
{
    for (shape_record *record = table->newest; record;) {
        shape_record *older = record->older;
        if (record->own)
            forget(record);
        else
            remove_record(table, record);
        record = older;
    }
}

static bool make_room(shape_table *table)
{
    if (table->count < table->max)
        return true;
    shape_record *record = table->oldest;
    while (record && record->own)
        record = record->newer;
    if (record)
        remove_record(table, record);
    return record != NULL;
}

static shape_record *find(shape_table *table, const char *id, int32_t output, uint64_t hash)
{
    shape_record *record = *bucket_of(table, hash);
    while (record &&
           (record->hash != hash || record->output != output || strcmp(record->id, id) != 0))
        record = record->chain;
    if (record && record != table->newest) {
        list_remove(table, record);
        list_push(table, record);
    }
    return record;
}

shape_record *shape_table_find(shape_table *table, const char *id, int32_t output)
{
    return find(table, id, output, hash_id(id, strlen(id), output));
}

shape_record *shape_table_get(shape_table *table, const char *id, int32_t output)
{
    size_t length = strlen(id);
    uint64_t hash = hash_id(id, length, output);
    shape_record *record = find(table, id, output, hash);
    if (record)
        return record;
    record = calloc(1, sizeof *record + length + 1);
    if (!record || !make_room(table)) {
        free(record);
        return NULL;
    }
    record->hash = hash;
    record->output = output;
    memcpy(record->id, id, length + 1);
    shape_record **bucket = bucket_of(table, hash);
    record->chain = *bucket;
    *bucket = record;
    list_push(table, record);
    table->count++;
    return record;
}
