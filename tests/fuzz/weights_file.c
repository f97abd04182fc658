/* Fuzzer of the cache file's reader. With clang: make fuzz; without: tests/packed/damage.c
 * runs the same function over mutations of its own. */
#include "tests/fuzz/weights_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/packed/file/format.h"
#include "tests/support/packed/weights.h"

enum { ENTRIES = 8, NEW_ENTRY = 40 };

static void write_input(const char *path, const uint8_t *data, size_t size)
{
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

/* What the provider says it has must be what was packed once. */
static void get_some(const char *path, uint32_t flags)
{
    neo_weights_provider provider = weights_open(path, flags);
    for (uint32_t i = 0; i < ENTRIES; i++)
        if (weights_get(&provider, i) == NEO_CORRUPT)
            abort();
    weights_close(&provider);
}

static int visit(void *argument, const neo_weights_file_entry *entry)
{
    uint64_t *bytes = argument;
    *bytes += entry->size;
    return 1;
}

static void look_after(const char *path)
{
    uint64_t bytes = 0;
    neo_weights_file_summary summary;
    neo_weights_file_list(path, 1, visit, &bytes, &summary);
    neo_weights_file_compact(path, 1 << 20, NULL, NULL, &summary);
    if (neo_weights_file_list(path, 1, NULL, NULL, &summary) == NEO_OK &&
        (summary.lost_records || summary.entries[NEO_WEIGHTS_DAMAGED]))
        abort(); /* what was written anew is sound */
}

void fuzz_weights_file(const char *path, const uint8_t *data, size_t size)
{
    write_input(path, data, size);
    get_some(path, NEO_WEIGHTS_READ_ONLY);
    get_some(path, NEO_WEIGHTS_COPY);
    neo_weights_provider provider = weights_open(path, 0);
    if (weights_add(&provider, NEW_ENTRY) != NEO_OK || weights_get(&provider, NEW_ENTRY) != NEO_OK)
        abort();
    weights_close(&provider);
    get_some(path, 0);
    look_after(path);
    get_some(path, 0);
}

void fuzz_weights_reseal(uint8_t *data, size_t size)
{
    struct format_header header;
    if (size < FORMAT_EMPTY_BYTES)
        return;
    memcpy(&header, data, sizeof header);
    for (uint32_t slot = 0; slot < FORMAT_BLOCK_SLOTS; slot++) {
        struct format_record record;
        uint8_t *at = data + FORMAT_HEADER_BYTES + slot * FORMAT_RECORD_BYTES;
        memcpy(&record, at, sizeof record);
        if (!record.kind && !record.size)
            continue;
        format_record_seal(&record, slot, header.file_id);
        memcpy(at, &record, sizeof record);
    }
}

#ifdef FUZZER
int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

/* A corpus to begin with: files of 1 to 4 small entries. */
static void write_seed(const char *folder, uint32_t entries)
{
    static const uint32_t small[] = {0, 2, 4, 7};
    char name[512];
    snprintf(name, sizeof name, "%s/%u-entries", folder, entries);
    unlink(name);
    neo_weights_provider provider = weights_open(name, 0);
    for (uint32_t i = 0; i < entries; i++)
        if (weights_add(&provider, small[i]) != NEO_OK)
            abort();
    weights_close(&provider);
}

/* FUZZ_SEEDS=FOLDER writes the corpus there. */
int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count;
    (void)words;
    setenv("NEOPRENE_VERBOSE", "none", 1);
    snprintf(path, sizeof path, "/dev/shm/neoprene-fuzz-%d", (int)getpid());
    const char *folder = getenv("FUZZ_SEEDS");
    for (uint32_t entries = 1; folder && entries <= 4; entries++)
        write_seed(folder, entries);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *resealed = malloc(size + 1);
    if (!resealed)
        return 0;
    if (size)
        memcpy(resealed, data, size);
    fuzz_weights_file(path, data, size);
    fuzz_weights_reseal(resealed, size);
    fuzz_weights_file(path, resealed, size);
    free(resealed);
    unlink(path);
    return 0;
}
#endif
