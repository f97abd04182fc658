/* Fuzzer of the cache file's reader. With clang: make fuzz; without: tests/test_weights_damage.c
 * runs the same function over mutations of its own. */
#include "tests/fuzz/weights_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/weights/file_format.h"
#include "tests/support/weights.h"

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
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    static uint8_t resealed[1 << 20];
    if (!*path) {
        setenv("NEOPRENE_VERBOSE", "none", 1);
        snprintf(path, sizeof path, "/dev/shm/neoprene-fuzz-%d", (int)getpid());
    }
    fuzz_weights_file(path, data, size);
    if (size <= sizeof resealed) {
        memcpy(resealed, data, size);
        fuzz_weights_reseal(resealed, size);
        fuzz_weights_file(path, resealed, size);
    }
    unlink(path);
    return 0;
}
#endif
