/* Cache files whose records, links or header are not what an inserting process writes. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/core/log.h"
#include "tests/support/packed/image.h"
#include "tests/support/packed/weights.h"

/* ---- more forgeries ---- */

static void a_misaligned_entry_is_refused_though_its_bytes_match(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG);
    memmove(image.bytes + record.offset + 1, image.bytes + record.offset, record.size - 1);
    record.offset++;
    record.size--;
    record.data_checksum = neo_weights_hash(image.bytes + record.offset, record.size).low;
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    free(image.bytes);
}

static void overlapping_entries_are_refused_though_their_bytes_match(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record inner = image_record(&image, 7), outer = image_record(&image, 6);
    inner.offset = outer.offset + 4096;
    inner.data_checksum = neo_weights_hash(image.bytes + inner.offset, inner.size).low;
    image_forge_record(&image, 7, inner);
    image_write(&image, *state);
    image_expect_loss(*state, 7);
    free(image.bytes);
}

static void exchanged_records_are_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record a = image_record(&image, 1), b = image_record(&image, 2);
    image_put_record(&image, 1, &b);
    image_put_record(&image, 2, &a);
    image_write(&image, *state);
    neo_weights_provider provider = weights_open(*state, 0);
    for (uint32_t i = 0; i < IMAGE_ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), i == 1 || i == 2 ? NEO_NOT_FOUND : NEO_OK);
    weights_close(&provider);
    free(image.bytes);
}

static void overlapping_entries_are_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG), first = image_record(&image, 0);
    record.offset = first.offset;
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    record.offset = FORMAT_HEADER_BYTES; /* over the index */
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    free(image.bytes);
}

static void a_second_record_for_a_key_is_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG), first = image_record(&image, 0);
    record.content_low = first.content_low;
    record.content_high = first.content_high;
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    record.replaces = 2; /* that is another one's slot */
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    free(image.bytes);
}

static void a_record_of_another_slot_or_file_is_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG - 1);
    image_put_record(&image, IMAGE_BIG, &record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    unlink(*state);
    struct image other = image_of_entries(*state);
    record = image_record(&other,
                          IMAGE_BIG); /* the same entry at the same place; another file's record */
    image_put_record(&image, IMAGE_BIG, &record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    free(image.bytes);
    free(other.bytes);
}

/* Terabytes of nothing: who looks for entries is not to read them. */
static void a_record_of_a_hole_is_refused_at_once(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG);
    record.offset = image.size + FORMAT_MAX_ALIGN - image.size % FORMAT_MAX_ALIGN;
    record.size = UINT64_C(4) << 40;
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    assert_int_equal(truncate(*state, (off_t)(record.offset + record.size)), 0);
    uint64_t begin = log_now_ns();
    image_expect_loss(*state, IMAGE_BIG);
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(*state, 1, NULL, NULL, &summary), NEO_OK);
    assert_true(log_now_ns() - begin < UINT64_C(20) * 1000000000);
    free(image.bytes);
}

static void a_blank_record_before_others_hides_none_of_them(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record blank = {.kind = 0};
    image_put_record(&image, IMAGE_BIG, &blank);
    image_write(&image, *state);
    neo_weights_provider provider = weights_open(*state, 0);
    for (uint32_t i = 0; i < IMAGE_ENTRIES; i++)
        assert_int_equal(weights_get(&provider, i), i == IMAGE_BIG ? NEO_NOT_FOUND : NEO_OK);
    /* nothing is appended to such a file: a record might come to lie over bytes that are in use */
    assert_int_equal(weights_add(&provider, IMAGE_BIG), NEO_OK);
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
    struct format_record before = image_record(&image, LINK);
    assert_int_equal(before.kind, FORMAT_LINK);
    const uint64_t offsets[] = {0, FORMAT_HEADER_BYTES, before.offset + 4096, UINT64_C(1) << 62,
                                before.offset + 1};
    for (size_t i = 0; i < count_of(offsets); i++) {
        struct format_record record = before;
        record.offset = offsets[i];
        image_forge_record(&image, LINK, record);
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
        for (uint32_t i = 0; i < IMAGE_ENTRIES; i++) {
            assert_int_equal(weights_get(&provider, i), NEO_NOT_FOUND);
            assert_int_equal(weights_add(&provider, i), NEO_OK);
        }
        assert_int_equal(weights_statistics(&provider).fallbacks, newer ? IMAGE_ENTRIES : 0);
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
        for (uint32_t e = 0; e < IMAGE_ENTRIES; e++)
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
            struct format_record record = image_record(&image, slot);
            if (record.kind)
                image.bytes[record.offset] ^= 1;
        }
        image_write(&image, *state);
        free(image.bytes);
    }
    assert_true(largest < 10 * 300000);
}

/* ---- mutations ---- */

/* Changes a few words of the index, now and then the header, the data or the length. */
/* Who has the lease knows that nobody is still writing it: the next record goes after it. */
static void a_torn_last_record_is_not_written_over(void **state)
{
    struct image image = image_of_entries(*state);
    image.bytes[FORMAT_HEADER_BYTES + (IMAGE_ENTRIES - 1) * FORMAT_RECORD_BYTES + 20] ^= 1;
    image_write(&image, *state);
    weights_add_all(*state, IMAGE_ENTRIES);
    neo_weights_file_summary summary;
    assert_int_equal(neo_weights_file_list(*state, 0, NULL, NULL, &summary), NEO_OK);
    assert_int_equal(summary.lost_records, 1);
    assert_int_equal(summary.entries[NEO_WEIGHTS_USABLE], IMAGE_ENTRIES);
    free(image.bytes);
}

static void few_dead_bytes_are_not_worth_a_rewrite(void **state)
{
    weights_add_all(*state, 1);
    for (uint32_t round = 0; round < 4; round++) {
        struct image image = image_read(*state);
        image.bytes[image_record(&image, round).offset] ^= 1;
        image_write(&image, *state);
        free(image.bytes);
        neo_weights_provider provider = weights_open(*state, 0);
        assert_int_equal(weights_get(&provider, 0), NEO_NOT_FOUND);
        assert_int_equal(weights_add(&provider, 0), NEO_OK);
        assert_int_equal(weights_statistics(&provider).rewrites, 0);
        weights_close(&provider);
    }
}

static void damage_record(const char *path, uint32_t slot)
{
    struct image image = image_read(path);
    image.bytes[image_record(&image, slot).offset] ^= 1;
    image_write(&image, path);
    free(image.bytes);
}

/* Six entries of 300000 bytes are packed again one after the other. With the last of them more
 * bytes are dead than are not. */
static void a_file_is_written_anew_when_most_of_it_is_dead(void **state)
{
    enum { ENTRIES = 6, LARGE = 6, STEP = 8 };
    for (uint32_t i = 0; i < ENTRIES; i++) {
        neo_weights_provider provider = weights_open(*state, 0);
        assert_int_equal(weights_add(&provider, LARGE + STEP * i), NEO_OK);
        weights_close(&provider);
    }
    for (uint32_t i = 0; i < ENTRIES; i++) {
        damage_record(*state, i);
        neo_weights_provider provider = weights_open(*state, 0);
        assert_int_equal(weights_get(&provider, LARGE + STEP * i), NEO_NOT_FOUND);
        assert_int_equal(weights_add(&provider, LARGE + STEP * i), NEO_OK);
        assert_int_equal(weights_statistics(&provider).rewrites, i == ENTRIES - 1);
        weights_close(&provider);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WEIGHTS_TEST(a_misaligned_entry_is_refused_though_its_bytes_match),
        WEIGHTS_TEST(overlapping_entries_are_refused_though_their_bytes_match),
        WEIGHTS_TEST(exchanged_records_are_refused),
        WEIGHTS_TEST(overlapping_entries_are_refused),
        WEIGHTS_TEST(a_second_record_for_a_key_is_refused),
        WEIGHTS_TEST(a_record_of_another_slot_or_file_is_refused),
        WEIGHTS_TEST(a_record_of_a_hole_is_refused_at_once),
        WEIGHTS_TEST(a_blank_record_before_others_hides_none_of_them),
        WEIGHTS_TEST(links_of_index_blocks_are_checked),
        WEIGHTS_TEST(a_damaged_header_costs_the_entries_and_no_more),
        WEIGHTS_TEST(a_header_seen_half_written_is_read_again),
        WEIGHTS_TEST(entries_damaged_on_the_disk_do_not_pile_up),
        WEIGHTS_TEST(a_torn_last_record_is_not_written_over),
        WEIGHTS_TEST(few_dead_bytes_are_not_worth_a_rewrite),
        WEIGHTS_TEST(a_file_is_written_anew_when_most_of_it_is_dead),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_forged", tests, NULL, NULL);
}
