/* Cache files that are damaged, forged or out of date; and the failures of another library's cache,
 * each of which has a test that says what happens here instead. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/weights/file_format.h"
#include "tests/fuzz/weights_file.h"
#include "tests/support/weights.h"

enum { ENTRIES = 8, BIG = 3, BIG_BYTES = 70000 };

/* ---- a file's bytes, to be changed ---- */

struct image {
    uint8_t *bytes;
    size_t size;
};

static struct image image_read(const char *path)
{
    struct image image = {.size = (size_t)weights_file_bytes(path)};
    image.bytes = malloc(image.size);
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, image.bytes, image.size), image.size);
    close(fd);
    return image;
}

/* As a new file: who has the old one keeps it. */
static void image_write(const struct image *image, const char *path)
{
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, image->bytes, image->size), image->size);
    close(fd);
}

static struct image image_of_entries(const char *path)
{
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < ENTRIES; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    weights_close(&provider);
    return image_read(path);
}

static struct format_record record_get(const struct image *image, uint32_t slot)
{
    struct format_record record;
    memcpy(&record, image->bytes + FORMAT_HEADER_BYTES + slot * FORMAT_RECORD_BYTES, sizeof record);
    return record;
}

static void record_set_raw(struct image *image, uint32_t slot, const struct format_record *record)
{
    memcpy(image->bytes + FORMAT_HEADER_BYTES + slot * FORMAT_RECORD_BYTES, record, sizeof *record);
}

/* As a forger does it: with a checksum that is right. */
static void record_set(struct image *image, uint32_t slot, struct format_record record)
{
    struct format_header header;
    memcpy(&header, image->bytes, sizeof header);
    format_record_seal(&record, slot, header.file_id);
    record_set_raw(image, slot, &record);
}

/* Entry `bad` is not served, the others are; it is packed again into the file, and then all are
 * there. */
static void expect_only_loss(const char *path, uint32_t bad)
{
    neo_weights_provider provider = weights_open(path, 0);
    for (uint32_t i = 0; i < ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), i == bad ? NEO_NOT_FOUND : NEO_OK);
    assert_true(weights_statistics(&provider).damaged > 0);
    assert_int_equal(weights_add(&provider, bad), NEO_OK);
    assert_int_equal(weights_statistics(&provider).fallbacks, 0);
    weights_close(&provider);
    provider = weights_open(path, 0);
    for (uint32_t i = 0; i < ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), NEO_OK);
    assert_int_equal(weights_statistics(&provider).damaged, 0);
    weights_close(&provider);
}

/* ---- E1 to E13 ---- */

static void e1_a_flipped_byte_is_not_served(void **state)
{
    struct image image = image_of_entries(*state);
    uint64_t begin = record_get(&image, BIG).offset;
    static const size_t at[] = {0, 1, 35000, BIG_BYTES - 1};
    for (size_t i = 0; i < count_of(at); i++) {
        image.bytes[begin + at[i]] ^= 0x10;
        image_write(&image, *state);
        expect_only_loss(*state, BIG);
        image.bytes[begin + at[i]] ^= 0x10;
    }
    free(image.bytes);
}

static void e2_data_lost_behind_a_surviving_index_is_not_served(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = record_get(&image, BIG);
    memset(image.bytes + record.offset, 0, record.size);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    free(image.bytes);
}

static void e3_a_shifted_offset_is_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = record_get(&image, BIG);
    record.offset++;
    record_set_raw(&image, BIG, &record); /* an accident */
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    record_set(&image, BIG, record); /* a forgery: not at a multiple of the alignment */
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    record.offset += 63; /* well aligned, other bytes */
    record_set(&image, BIG, record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    free(image.bytes);
}

static void e4_a_changed_size_is_refused(void **state)
{
    static const uint64_t sizes[] = {16, BIG_BYTES - 1, BIG_BYTES + 1, 0};
    struct image image = image_of_entries(*state);
    struct format_record before = record_get(&image, BIG);
    for (size_t i = 0; i < count_of(sizes); i++) {
        struct format_record record = before;
        record.size = sizes[i];
        record_set_raw(&image, BIG, &record);
        image_write(&image, *state);
        expect_only_loss(*state, BIG);
        record_set(&image, BIG, record);
        image_write(&image, *state);
        expect_only_loss(*state, BIG);
    }
    free(image.bytes);
}

static void e4_a_size_comes_back_so_that_the_consumer_can_refuse_it(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = record_get(&image, BIG);
    record.size = 16;
    record.data_checksum = neo_weights_hash(image.bytes + record.offset, 16).low;
    record_set(&image, BIG, record); /* a perfect forgery */
    image_write(&image, *state);
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_key key = weights_key_of(BIG, 1);
    neo_weights_blob blob;
    assert_int_equal(provider.look_up(provider.context, &key, &blob), NEO_OK);
    assert_int_equal(blob.size, 16);
    provider.unpin(provider.context, blob.offset);
    neo_weights_reservation reservation;
    assert_int_equal(provider.reserve_space(provider.context, &key, BIG_BYTES, 64, &reservation),
                     NEO_INVALID_ARGUMENT);
    weights_close(&provider);
    free(image.bytes);
}

static void e5_a_miss_after_loading_is_kept_in_the_file(void **state)
{
    struct image image = image_of_entries(*state);
    neo_weights_provider provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 0), NEO_OK);
    assert_int_equal(weights_add(&provider, ENTRIES), NEO_OK);
    weights_close(&provider);
    provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, ENTRIES), NEO_OK);
    weights_close(&provider);
    free(image.bytes);
}

static void e6_a_second_provider_does_not_disturb_one_that_packs(void **state)
{
    neo_weights_provider a = weights_open(*state, 0);
    neo_weights_blob first;
    assert_int_equal(weights_put(&a, 0, &first), NEO_OK);
    neo_weights_key key = weights_key_of(BIG, 1);
    neo_weights_reservation reservation;
    assert_int_equal(a.reserve_space(a.context, &key, BIG_BYTES, 64, &reservation), NEO_OK);

    neo_weights_provider b;
    neo_weights_file_options hurried = {.lease_timeout_ms = 20};
    assert_int_equal(neo_weights_file_provider_create(&b, *state, &hurried), NEO_OK);
    assert_int_equal(weights_get(&b, 0), NEO_OK);
    assert_int_equal(weights_get(&b, BIG), NEO_NOT_FOUND);
    assert_int_equal(weights_add(&b, 1), NEO_OK); /* cannot wait: in memory */
    assert_int_equal(weights_statistics(&b).fallbacks, 1);
    assert_int_equal(weights_statistics(&b).file_status, NEO_BUSY);
    assert_true(weights_are_right(a.offset_to_addr(a.context, first.offset), first.size, 0));

    /* the one that was packing finishes, and a third one reads the right bytes */
    neo_weights_blob second;
    weights_fill(reservation.data, BIG_BYTES, BIG);
    assert_int_equal(a.look_up_or_insert(a.context, &key, &reservation, &second), NEO_OK);
    neo_weights_provider c = weights_open(*state, 0);
    assert_int_equal(weights_get(&c, 0), NEO_OK);
    assert_int_equal(weights_get(&c, BIG), NEO_OK);
    assert_int_equal(weights_get(&b, BIG), NEO_OK);
    a.unpin(a.context, first.offset);
    a.unpin(a.context, second.offset);
    weights_close(&a);
    weights_close(&b);
    weights_close(&c);
}

/* e7, a refused write, is in test_weights_file: every call may fail for good, a limit, a full disk.
 */

static void e8_a_provider_that_added_nothing_takes_a_later_miss(void **state)
{
    struct image image = image_of_entries(*state);
    neo_weights_provider idle = weights_open(*state, 0);
    neo_weights_provider second = weights_open(*state, 0);
    assert_int_equal(weights_get(&second, 0), NEO_OK);
    weights_close(&second);
    neo_weights_key key = weights_key_of(ENTRIES, 1);
    neo_weights_reservation reservation;
    assert_int_equal(idle.reserve_space(idle.context, &key, 100, 64, &reservation), NEO_OK);
    assert_int_equal(idle.cancel(idle.context, &reservation), NEO_OK);
    assert_int_equal(weights_add(&idle, ENTRIES), NEO_OK);
    assert_int_equal(weights_statistics(&idle).fallbacks, 0);
    weights_close(&idle);
    free(image.bytes);
}

static void e9_equal_weights_are_stored_once(void **state)
{
    static const char tensor_a[] = "the same bytes", tensor_b[] = "the same bytes";
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_key a = weights_key_of(0, 1), b = a;
    a.content = neo_weights_hash(tensor_a, sizeof tensor_a);
    b.content = neo_weights_hash(tensor_b, sizeof tensor_b);
    neo_weights_reservation reservation;
    neo_weights_blob first, second;
    assert_int_equal(provider.reserve_space(provider.context, &a, 65536, 64, &reservation), NEO_OK);
    memset(reservation.data, 1, 65536);
    assert_int_equal(provider.look_up_or_insert(provider.context, &a, &reservation, &first),
                     NEO_OK);
    assert_int_equal(provider.look_up(provider.context, &b, &second), NEO_OK);
    assert_int_equal(first.offset, second.offset);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_int_equal(statistics.live_bytes, 65536);
    assert_int_equal(statistics.file_entries, 1);
    weights_close(&provider);
    provider.unpin(provider.context, first.offset);
    provider.unpin(provider.context, second.offset);
}

/* e10, a crash while an entry is packed, is in test_weights_crash. */

static void e11_changed_weights_are_not_a_stale_hit(void **state)
{
    char tensor[64] = "weights before training";
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_key before = weights_key_of(0, 1), after = before;
    before.content = neo_weights_hash(tensor, sizeof tensor);
    neo_weights_reservation reservation;
    neo_weights_blob blob;
    assert_int_equal(provider.reserve_space(provider.context, &before, 64, 64, &reservation),
                     NEO_OK);
    memcpy(reservation.data, tensor, 64);
    assert_int_equal(provider.look_up_or_insert(provider.context, &before, &reservation, &blob),
                     NEO_OK);
    provider.unpin(provider.context, blob.offset);
    tensor[63] ^= 1; /* at the same address */
    after.content = neo_weights_hash(tensor, sizeof tensor);
    assert_int_equal(provider.look_up(provider.context, &after, &blob), NEO_NOT_FOUND);
    weights_close(&provider);
}

static void e12_huge_numbers_are_refused(void **state)
{
    static const uint64_t huge[] = {UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX,
                                    UINT64_MAX - 4095, UINT64_C(1) << 40};
    struct image image = image_of_entries(*state);
    struct format_record before = record_get(&image, BIG);
    for (size_t i = 0; i < count_of(huge); i++) {
        struct format_record record = before;
        record.size = huge[i];
        record_set(&image, BIG, record);
        image_write(&image, *state);
        expect_only_loss(*state, BIG);
        record = before;
        record.offset = huge[i] & ~UINT64_C(63);
        record_set(&image, BIG, record);
        image_write(&image, *state);
        expect_only_loss(*state, BIG);
    }
    struct format_record record = before;
    record.layout_words = UINT32_MAX;
    record_set(&image, BIG, record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    free(image.bytes);
}

static void e13_what_is_found_again_has_an_address_of_now(void **state)
{
    struct image image = image_of_entries(*state);
    neo_weights_provider provider = weights_open(*state, 0);
    for (int round = 0; round < 3; round++) {
        neo_weights_key key = weights_key_of(BIG, 1);
        neo_weights_blob blob;
        assert_int_equal(provider.look_up(provider.context, &key, &blob), NEO_OK);
        const void *data = provider.offset_to_addr(provider.context, blob.offset);
        assert_true(weights_are_right(data, blob.size, BIG));
        assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK);
        assert_null(provider.offset_to_addr(provider.context, blob.offset)); /* and none after */
        assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_INVALID_ARGUMENT);
    }
    weights_close(&provider);
    free(image.bytes);
}

/* ---- more forgeries ---- */

static void a_misaligned_entry_is_refused_though_its_bytes_match(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = record_get(&image, BIG);
    memmove(image.bytes + record.offset + 1, image.bytes + record.offset, record.size - 1);
    record.offset++;
    record.size--;
    record.data_checksum = neo_weights_hash(image.bytes + record.offset, record.size).low;
    record_set(&image, BIG, record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    free(image.bytes);
}

static void overlapping_entries_are_refused_though_their_bytes_match(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record inner = record_get(&image, 7), outer = record_get(&image, 6);
    inner.offset = outer.offset + 4096;
    inner.data_checksum = neo_weights_hash(image.bytes + inner.offset, inner.size).low;
    record_set(&image, 7, inner);
    image_write(&image, *state);
    expect_only_loss(*state, 7);
    free(image.bytes);
}

static void exchanged_records_are_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record a = record_get(&image, 1), b = record_get(&image, 2);
    record_set_raw(&image, 1, &b);
    record_set_raw(&image, 2, &a);
    image_write(&image, *state);
    neo_weights_provider provider = weights_open(*state, 0);
    for (uint32_t i = 0; i < ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), i == 1 || i == 2 ? NEO_NOT_FOUND : NEO_OK);
    weights_close(&provider);
    free(image.bytes);
}

static void overlapping_entries_are_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = record_get(&image, BIG), first = record_get(&image, 0);
    record.offset = first.offset;
    record_set(&image, BIG, record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    record.offset = FORMAT_HEADER_BYTES; /* over the index */
    record_set(&image, BIG, record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    free(image.bytes);
}

static void a_second_record_for_a_key_is_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = record_get(&image, BIG), first = record_get(&image, 0);
    record.content_low = first.content_low;
    record.content_high = first.content_high;
    record_set(&image, BIG, record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    record.replaces = 2; /* that is another one's slot */
    record_set(&image, BIG, record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    free(image.bytes);
}

static void a_record_of_another_slot_or_file_is_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = record_get(&image, BIG - 1);
    record_set_raw(&image, BIG, &record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    unlink(*state);
    struct image other = image_of_entries(*state);
    record = record_get(&other, BIG); /* the same entry at the same place; another file's record */
    record_set_raw(&image, BIG, &record);
    image_write(&image, *state);
    expect_only_loss(*state, BIG);
    free(image.bytes);
    free(other.bytes);
}

static void a_blank_record_before_others_hides_none_of_them(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record blank = {.kind = 0};
    record_set_raw(&image, BIG, &blank);
    image_write(&image, *state);
    neo_weights_provider provider = weights_open(*state, 0);
    for (uint32_t i = 0; i < ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), i == BIG ? NEO_NOT_FOUND : NEO_OK);
    /* nothing is appended to such a file: a record might come to lie over bytes that are in use */
    assert_int_equal(weights_add(&provider, BIG), NEO_OK);
    assert_int_equal(weights_statistics(&provider).rewrites, 1);
    weights_close(&provider);
    free(image.bytes);
}

static void links_of_index_blocks_are_checked(void **state)
{
    enum { MANY = FORMAT_BLOCK_SLOTS + 10, LINK = FORMAT_BLOCK_SLOTS - 1 };
    neo_weights_provider provider = weights_open(*state, 0);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(weights_add(&provider, i * 8), NEO_OK);
    weights_close(&provider);
    struct image image = image_read(*state);
    struct format_record before = record_get(&image, LINK);
    assert_int_equal(before.kind, FORMAT_LINK);
    const uint64_t offsets[] = {0, FORMAT_HEADER_BYTES, before.offset + 4096, UINT64_C(1) << 62,
                                before.offset + 1};
    for (size_t i = 0; i < count_of(offsets); i++) {
        struct format_record record = before;
        record.offset = offsets[i];
        record_set(&image, LINK, record);
        image_write(&image, *state);
        provider = weights_open(*state, 0);
        for (uint32_t e = 0; e < LINK; e++)
            assert_int_equal(weights_get(&provider, e * 8), NEO_OK);
        for (uint32_t e = 0; e < MANY; e++)
            assert_int_equal(weights_add(&provider, e * 8), NEO_OK);
        assert_int_equal(weights_statistics(&provider).fallbacks, 0);
        weights_close(&provider);
        provider = weights_open(*state, 0);
        for (uint32_t e = 0; e < MANY; e++)
            assert_int_equal(weights_get(&provider, e * 8), NEO_OK);
        weights_close(&provider);
    }
    free(image.bytes);
}

static void a_damaged_header_costs_the_entries_and_no_more(void **state)
{
    struct image image = image_of_entries(*state);
    for (size_t at = 8; at < sizeof(struct format_header); at += 9) {
        image.bytes[at] ^= 0x40;
        image_write(&image, *state);
        neo_weights_provider provider = weights_open(*state, 0);
        bool newer = at >= 12 && at < 14; /* reads as a later version, which is respected */
        for (uint32_t i = 0; i < ENTRIES; i++) {
            assert_int_equal(weights_get(&provider, i), NEO_NOT_FOUND);
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        }
        assert_int_equal(weights_statistics(&provider).fallbacks, newer ? ENTRIES : 0);
        weights_close(&provider);
        image.bytes[at] ^= 0x40;
    }
    free(image.bytes);
}

static void a_header_seen_half_written_is_read_again(void **state)
{
    static const size_t written[] = {3, 8, 100, 255};
    struct image image = image_of_entries(*state);
    for (size_t i = 0; i < count_of(written); i++) {
        struct image half = {malloc(image.size), image.size};
        memcpy(half.bytes, image.bytes, image.size);
        memset(half.bytes + written[i], 0, sizeof(struct format_header) - written[i]);
        image_write(&half, *state);
        neo_weights_provider provider = weights_open(*state, 0);
        int fd = open(*state, O_RDWR);
        assert_int_equal(write(fd, image.bytes, image.size), image.size);
        close(fd);
        for (uint32_t e = 0; e < ENTRIES; e++)
            assert_int_equal(weights_add(&provider, e), NEO_OK);
        neo_weights_statistics statistics = weights_statistics(&provider);
        assert_int_equal(statistics.inserts + statistics.fallbacks + statistics.rewrites, 0);
        weights_close(&provider);
        free(half.bytes);
    }
    free(image.bytes);
}

static void entries_damaged_on_the_disk_do_not_pile_up(void **state)
{
    uint64_t largest = 0;
    for (int round = 0; round < 30; round++) {
        neo_weights_provider provider = weights_open(*state, 0);
        assert_int_equal(weights_add(&provider, 6), NEO_OK); /* 300000 bytes */
        neo_weights_file_summary summary;
        assert_int_equal(neo_weights_file_list(*state, 0, NULL, NULL, &summary), NEO_OK);
        largest = summary.file_bytes > largest ? summary.file_bytes : largest;
        weights_close(&provider);
        struct image image = image_read(*state);
        for (uint32_t slot = 0; slot < FORMAT_BLOCK_SLOTS - 1; slot++) {
            struct format_record record = record_get(&image, slot);
            if (record.kind)
                image.bytes[record.offset] ^= 1;
        }
        image_write(&image, *state);
        free(image.bytes);
    }
    assert_true(largest < 10 * 300000);
}

/* ---- mutations ---- */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Changes a few words of the index, now and then the header, the data or the length. */
/* Who has the lease knows that nobody is still writing it: the next record goes after it. */
static void a_torn_last_record_is_not_written_over(void **state)
{
    struct image image = image_of_entries(*state);
    image.bytes[FORMAT_HEADER_BYTES + (ENTRIES - 1) * FORMAT_RECORD_BYTES + 20] ^= 1;
    image_write(&image, *state);
    weights_add_all(*state, ENTRIES);
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(*state, 0, NULL, NULL, &summary), NEO_OK);
    assert_int_equal(summary.lost_records, 1);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], ENTRIES);
    free(image.bytes);
}

static void few_dead_bytes_are_not_worth_a_rewrite(void **state)
{
    weights_add_all(*state, 1);
    for (uint32_t round = 0; round < 4; round++) {
        struct image image = image_read(*state);
        image.bytes[record_get(&image, round).offset] ^= 1;
        image_write(&image, *state);
        free(image.bytes);
        neo_weights_provider provider = weights_open(*state, 0);
        assert_int_equal(weights_get(&provider, 0), NEO_NOT_FOUND);
        assert_int_equal(weights_add(&provider, 0), NEO_OK);
        assert_int_equal(weights_statistics(&provider).rewrites, 0);
        weights_close(&provider);
    }
}

static void mutate(struct image *image, uint64_t *seed)
{
    static const uint64_t values[] = {0,         1,          255,        256,
                                      4096,      UINT32_MAX, UINT64_MAX, UINT64_C(1) << 62,
                                      INT64_MAX, 16384,      20480,      UINT64_C(1) << 63};
    size_t changes = 1 + random_next(seed) % 4;
    for (size_t i = 0; i < changes; i++) {
        uint64_t kind = random_next(seed) % 16;
        size_t begin = kind < 12 ? FORMAT_HEADER_BYTES : 0;
        size_t end = kind < 12   ? FORMAT_HEADER_BYTES + (ENTRIES + 2) * FORMAT_RECORD_BYTES
                     : kind < 14 ? sizeof(struct format_header)
                                 : image->size;
        size_t at = begin + random_next(seed) % (end - begin - 8);
        uint64_t value = random_next(seed) % 2 ? values[random_next(seed) % count_of(values)]
                                               : random_next(seed);
        memcpy(image->bytes + (kind < 12 ? at & ~(size_t)3 : at), &value,
               random_next(seed) % 2 ? 8 : 4);
    }
    if (random_next(seed) % 16 == 0)
        image->size = random_next(seed) % image->size;
}

#ifdef __SANITIZE_THREAD__
enum { SOME_ITERATIONS = 40 };
#else
enum { SOME_ITERATIONS = 400 };
#endif

static uint64_t iterations(void)
{
    const char *text = getenv("NEO_LONG");
    return text && *text ? 30000 : SOME_ITERATIONS;
}

static uint64_t seed_at_work;

/* The seed is printed only when it is needed. */
static void print_seed(int signal_number)
{
    fprintf(stderr, "NEO_SEED=%llu repeats it\n", (unsigned long long)seed_at_work);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void mutated_files_never_give_wrong_bytes(void **state)
{
    const char *text = getenv("NEO_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 20240607;
    struct image image = image_of_entries(*state);
    uint8_t *copy = malloc(image.size);
    signal(SIGABRT, print_seed);
    for (uint64_t i = 0; i < iterations(); i++) {
        uint64_t at_start = seed;
        struct image mutant = {copy, image.size};
        memcpy(copy, image.bytes, image.size);
        mutate(&mutant, &seed);
        if (i % 4)
            fuzz_weights_reseal(mutant.bytes, mutant.size);
        seed_at_work = at_start;
        fuzz_weights_file(*state, mutant.bytes, mutant.size);
    }
    free(copy);
    free(image.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(e1_a_flipped_byte_is_not_served),
        WEIGHTS_TEST(e2_data_lost_behind_a_surviving_index_is_not_served),
        WEIGHTS_TEST(e3_a_shifted_offset_is_refused),
        WEIGHTS_TEST(e4_a_changed_size_is_refused),
        WEIGHTS_TEST(e4_a_size_comes_back_so_that_the_consumer_can_refuse_it),
        WEIGHTS_TEST(e5_a_miss_after_loading_is_kept_in_the_file),
        WEIGHTS_TEST(e6_a_second_provider_does_not_disturb_one_that_packs),
        WEIGHTS_TEST(e8_a_provider_that_added_nothing_takes_a_later_miss),
        WEIGHTS_TEST(e9_equal_weights_are_stored_once),
        WEIGHTS_TEST(e11_changed_weights_are_not_a_stale_hit),
        WEIGHTS_TEST(e12_huge_numbers_are_refused),
        WEIGHTS_TEST(e13_what_is_found_again_has_an_address_of_now),
        WEIGHTS_TEST(a_misaligned_entry_is_refused_though_its_bytes_match),
        WEIGHTS_TEST(overlapping_entries_are_refused_though_their_bytes_match),
        WEIGHTS_TEST(exchanged_records_are_refused),
        WEIGHTS_TEST(overlapping_entries_are_refused),
        WEIGHTS_TEST(a_second_record_for_a_key_is_refused),
        WEIGHTS_TEST(a_record_of_another_slot_or_file_is_refused),
        WEIGHTS_TEST(a_blank_record_before_others_hides_none_of_them),
        WEIGHTS_TEST(links_of_index_blocks_are_checked),
        WEIGHTS_TEST(a_damaged_header_costs_the_entries_and_no_more),
        WEIGHTS_TEST(a_header_seen_half_written_is_read_again),
        WEIGHTS_TEST(entries_damaged_on_the_disk_do_not_pile_up),
        WEIGHTS_TEST(a_torn_last_record_is_not_written_over),
        WEIGHTS_TEST(few_dead_bytes_are_not_worth_a_rewrite),
        WEIGHTS_TEST(mutated_files_never_give_wrong_bytes),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_damage", tests, NULL, NULL);
}
