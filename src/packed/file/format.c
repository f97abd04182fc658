/* The bytes of a weights cache file. */
#include "src/packed/file/format.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/packed/content_hash.h"
#include "src/packed/key.h"

_Static_assert(sizeof(struct format_header) == 256, "the header has no padding");
_Static_assert(sizeof(struct format_header) <= FORMAT_OWNER_OFFSET, "the owner comes after it");
_Static_assert(sizeof(struct format_record) == FORMAT_RECORD_BYTES, "records fill their slots");

enum { BYTE_ORDER_MARK = 0x01020304, HASH_XXH3_CHUNKS = 1 };

/* The odd bytes show a file that went through a text conversion. */
static const unsigned char magic[8] = {0x8e, 'N', 'E', 'O', 'W', '\r', '\n', 0x1a};

uint64_t format_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t format_random_id(void)
{
    uint64_t id;
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) != (ssize_t)sizeof id)
        id = format_now_ns() * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)getpid();
    return id;
}

/* The first byte is zero, and each is equal to the one before. */
static bool is_zero(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* ---- header ---- */

static uint64_t header_checksum(const struct format_header *header)
{
    return content_checksum(header, offsetof(struct format_header, checksum), 0);
}

void format_header_fill(struct format_header *header, uint64_t generation)
{
    *header = (struct format_header){
        .byte_order = BYTE_ORDER_MARK,
        .version = FORMAT_VERSION,
        .header_bytes = FORMAT_HEADER_BYTES,
        .record_bytes = FORMAT_RECORD_BYTES,
        .block_bytes = FORMAT_BLOCK_BYTES,
        .hash = HASH_XXH3_CHUNKS,
        .file_id = format_random_id(),
        .generation = generation,
        .created_ns = format_now_ns(),
    };
    memcpy(header->magic, magic, sizeof magic);
    header->checksum = header_checksum(header);
}

/* The version is looked at first: a later one may have moved everything else. */
enum format_verdict format_header_judge(const struct format_header *header)
{
    if (is_zero(header, sizeof *header))
        return FORMAT_BLANK;
    if (memcmp(header->magic, magic, sizeof magic) != 0)
        return FORMAT_FOREIGN;
    if (header->byte_order == BYTE_ORDER_MARK && header->version > FORMAT_VERSION &&
        header->version < 1u << 16)
        return FORMAT_NEWER;
    bool good = header->byte_order == BYTE_ORDER_MARK && header->version == FORMAT_VERSION &&
                header->header_bytes == FORMAT_HEADER_BYTES &&
                header->record_bytes == FORMAT_RECORD_BYTES &&
                header->block_bytes == FORMAT_BLOCK_BYTES && header->hash == HASH_XXH3_CHUNKS &&
                header->checksum == header_checksum(header);
    return good ? FORMAT_GOOD : FORMAT_DAMAGED;
}

/* ---- records ---- */

static uint64_t record_checksum(const struct format_record *record, uint64_t file_id)
{
    return content_checksum(record, offsetof(struct format_record, checksum), file_id);
}

void format_record_seal(struct format_record *record, uint32_t slot, uint64_t file_id)
{
    record->slot = slot;
    record->checksum = record_checksum(record, file_id);
}

void format_record_set_key(struct format_record *record, const neo_weights_key *key)
{
    record->content_low = key->content.low;
    record->content_high = key->content.high;
    record->layout_words = key->layout_words;
    memcpy(record->layout, key->layout, sizeof record->layout);
}

neo_weights_key format_record_key(const struct format_record *record)
{
    neo_weights_key key = {
        .content = {.low = record->content_low, .high = record->content_high},
        .layout_words = record->layout_words,
    };
    memcpy(key.layout, record->layout, sizeof key.layout);
    return key;
}

/* Offset and size add up, start after the first index block, and are at the multiple they claim. */
static bool place_makes_sense(const struct format_record *record, uint64_t align)
{
    uint64_t end;
    return record->size > 0 && record->offset >= FORMAT_EMPTY_BYTES &&
           record->offset % align == 0 &&
           !__builtin_add_overflow(record->offset, record->size, &end) && end <= INT64_MAX;
}

static bool entry_makes_sense(const struct format_record *record)
{
    neo_weights_key key = format_record_key(record);
    uint64_t align = record->align;
    return weights_key_is_valid(&key) && align && align <= FORMAT_MAX_ALIGN &&
           !(align & (align - 1)) && place_makes_sense(record, align) &&
           record->replaces <= record->slot;
}

static bool link_makes_sense(const struct format_record *record)
{
    return record->size == FORMAT_BLOCK_BYTES && place_makes_sense(record, FORMAT_BLOCK_ALIGN);
}

enum format_verdict format_record_judge(const struct format_record *record, uint32_t slot,
                                        uint64_t file_id)
{
    if (is_zero(record, sizeof *record))
        return FORMAT_BLANK;
    if (record->checksum != record_checksum(record, file_id) || record->slot != slot)
        return FORMAT_DAMAGED;
    bool last = slot % FORMAT_BLOCK_SLOTS == FORMAT_BLOCK_SLOTS - 1;
    if (record->kind != (last ? FORMAT_LINK : FORMAT_ENTRY))
        return FORMAT_DAMAGED;
    bool sense = last ? link_makes_sense(record) : entry_makes_sense(record);
    return sense ? FORMAT_GOOD : FORMAT_DAMAGED;
}

uint64_t format_data_align(uint64_t size, uint64_t align)
{
    static const struct {
        uint64_t size, align;
    } steps[] = {
        {UINT64_C(64) << 20, 2 << 20}, /* at most 3 % of the size is lost */
        {1 << 20, 64 << 10},
        {64 << 10, 4 << 10},
        {0, 256},
    };
    size_t i = 0;
    while (size < steps[i].size)
        i++;
    return steps[i].align > align ? steps[i].align : align;
}
