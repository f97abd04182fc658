/* Cache files that are damaged, forged or out of date; and the failures of another library's cache,
 * each of which has a test that says what happens here instead. */
#include "tests/support/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/weights_file.h"
#include "tests/support/packed/image.h"
#include "tests/support/packed/weights.h"
#include "tests/support/rounds.h"

/* ---- E1 to E13 ---- */

static void e1_a_flipped_byte_is_not_served(void **state)
{
    struct image image = image_of_entries(*state);
    uint64_t begin = image_record(&image, IMAGE_BIG).offset;
    static const size_t at[] = {0, 1, 35000, IMAGE_BIG_BYTES - 1};
    for (size_t i = 0; i < count_of(at); i++) {
        image.bytes[begin + at[i]] ^= 0x10;
        image_write(&image, *state);
        image_expect_loss(*state, IMAGE_BIG);
        image.bytes[begin + at[i]] ^= 0x10;
    }
    free(image.bytes);
}

static void e2_data_lost_behind_a_surviving_index_is_not_served(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG);
    memset(image.bytes + record.offset, 0, record.size);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    free(image.bytes);
}

static void e3_a_shifted_offset_is_refused(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG);
    record.offset++;
    image_put_record(&image, IMAGE_BIG, &record); /* an accident */
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    image_forge_record(&image, IMAGE_BIG,
                       record); /* a forgery: not at a multiple of the alignment */
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    record.offset += 63; /* well aligned, other bytes */
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    free(image.bytes);
}

static void e4_a_changed_size_is_refused(void **state)
{
    static const uint64_t sizes[] = {16, IMAGE_BIG_BYTES - 1, IMAGE_BIG_BYTES + 1, 0};
    struct image image = image_of_entries(*state);
    struct format_record before = image_record(&image, IMAGE_BIG);
    for (size_t i = 0; i < count_of(sizes); i++) {
        struct format_record record = before;
        record.size = sizes[i];
        image_put_record(&image, IMAGE_BIG, &record);
        image_write(&image, *state);
        image_expect_loss(*state, IMAGE_BIG);
        image_forge_record(&image, IMAGE_BIG, record);
        image_write(&image, *state);
        image_expect_loss(*state, IMAGE_BIG);
    }
    free(image.bytes);
}

static void e4_a_size_comes_back_so_that_the_consumer_can_refuse_it(void **state)
{
    struct image image = image_of_entries(*state);
    struct format_record record = image_record(&image, IMAGE_BIG);
    record.size = 16;
    record.data_checksum = neo_weights_hash(image.bytes + record.offset, 16).low;
    image_forge_record(&image, IMAGE_BIG, record); /* a perfect forgery */
    image_write(&image, *state);
    neo_weights_provider provider = weights_open(*state, 0);
    neo_weights_key key = weights_key_of(IMAGE_BIG, 1);
    neo_weights_blob blob;
    assert_int_equal(provider.look_up(provider.context, &key, &blob), NEO_OK);
    assert_int_equal(blob.size, 16);
    provider.unpin(provider.context, blob.offset);
    neo_weights_reservation reservation;
    assert_int_equal(
        provider.reserve_space(provider.context, &key, IMAGE_BIG_BYTES, 64, &reservation),
        NEO_INVALID_ARGUMENT);
    weights_close(&provider);
    free(image.bytes);
}

static void e5_a_miss_after_loading_is_kept_in_the_file(void **state)
{
    struct image image = image_of_entries(*state);
    neo_weights_provider provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, 0), NEO_OK);
    assert_int_equal(weights_add(&provider, IMAGE_ENTRIES), NEO_OK);
    weights_close(&provider);
    provider = weights_open(*state, 0);
    assert_int_equal(weights_get(&provider, IMAGE_ENTRIES), NEO_OK);
    weights_close(&provider);
    free(image.bytes);
}

static void e6_a_second_provider_does_not_disturb_one_that_packs(void **state)
{
    neo_weights_provider a = weights_open(*state, 0);
    neo_weights_blob first;
    assert_int_equal(weights_put(&a, 0, &first), NEO_OK);
    neo_weights_key key = weights_key_of(IMAGE_BIG, 1);
    neo_weights_reservation reservation;
    assert_int_equal(a.reserve_space(a.context, &key, IMAGE_BIG_BYTES, 64, &reservation), NEO_OK);

    neo_weights_provider b;
    neo_weights_file_options hurried = {.lease_timeout_ms = 20};
    assert_int_equal(neo_weights_file_provider_create(&b, *state, &hurried), NEO_OK);
    assert_int_equal(weights_get(&b, 0), NEO_OK);
    assert_int_equal(weights_get(&b, IMAGE_BIG), NEO_NOT_FOUND);
    assert_int_equal(weights_add(&b, 1), NEO_OK); /* cannot wait: in memory */
    assert_int_equal(weights_statistics(&b).fallbacks, 1);
    assert_int_equal(weights_statistics(&b).file_status, NEO_BUSY);
    assert_true(weights_are_right(a.offset_to_addr(a.context, first.offset), first.size, 0));

    /* the one that was packing finishes, and a third one reads the right bytes */
    neo_weights_blob second;
    weights_fill(reservation.data, IMAGE_BIG_BYTES, IMAGE_BIG);
    assert_int_equal(a.look_up_or_insert(a.context, &key, &reservation, &second), NEO_OK);
    neo_weights_provider c = weights_open(*state, 0);
    assert_int_equal(weights_get(&c, 0), NEO_OK);
    assert_int_equal(weights_get(&c, IMAGE_BIG), NEO_OK);
    assert_int_equal(weights_get(&b, IMAGE_BIG), NEO_OK);
    a.unpin(a.context, first.offset);
    a.unpin(a.context, second.offset);
    weights_close(&a);
    weights_close(&b);
    weights_close(&c);
}

static void e8_a_provider_that_added_nothing_takes_a_later_miss(void **state)
{
    struct image image = image_of_entries(*state);
    neo_weights_provider idle = weights_open(*state, 0);
    neo_weights_provider second = weights_open(*state, 0);
    assert_int_equal(weights_get(&second, 0), NEO_OK);
    weights_close(&second);
    neo_weights_key key = weights_key_of(IMAGE_ENTRIES, 1);
    neo_weights_reservation reservation;
    assert_int_equal(idle.reserve_space(idle.context, &key, 100, 64, &reservation), NEO_OK);
    assert_int_equal(idle.cancel(idle.context, &reservation), NEO_OK);
    assert_int_equal(weights_add(&idle, IMAGE_ENTRIES), NEO_OK);
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
    struct format_record before = image_record(&image, IMAGE_BIG);
    for (size_t i = 0; i < count_of(huge); i++) {
        struct format_record record = before;
        record.size = huge[i];
        image_forge_record(&image, IMAGE_BIG, record);
        image_write(&image, *state);
        image_expect_loss(*state, IMAGE_BIG);
        record = before;
        record.offset = huge[i] & ~UINT64_C(63);
        image_forge_record(&image, IMAGE_BIG, record);
        image_write(&image, *state);
        image_expect_loss(*state, IMAGE_BIG);
    }
    struct format_record record = before;
    record.layout_words = UINT32_MAX;
    image_forge_record(&image, IMAGE_BIG, record);
    image_write(&image, *state);
    image_expect_loss(*state, IMAGE_BIG);
    free(image.bytes);
}

static void e13_what_is_found_again_has_an_address_of_now(void **state)
{
    struct image image = image_of_entries(*state);
    neo_weights_provider provider = weights_open(*state, 0);
    for (int round = 0; round < 3; round++) {
        neo_weights_key key = weights_key_of(IMAGE_BIG, 1);
        neo_weights_blob blob;
        assert_int_equal(provider.look_up(provider.context, &key, &blob), NEO_OK);
        const void *data = provider.offset_to_addr(provider.context, blob.offset);
        assert_true(weights_are_right(data, blob.size, IMAGE_BIG));
        assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK);
        assert_null(provider.offset_to_addr(provider.context, blob.offset)); /* and none after */
        assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_INVALID_ARGUMENT);
    }
    weights_close(&provider);
    free(image.bytes);
}

/* ---- mutations ---- */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
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
        size_t end = kind < 12   ? FORMAT_HEADER_BYTES + (IMAGE_ENTRIES + 2) * FORMAT_RECORD_BYTES
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
enum { SOME_ITERATIONS = 40, MANY_ITERATIONS = 3000 };
#else
enum { SOME_ITERATIONS = 400, MANY_ITERATIONS = 30000 };
#endif

static uint64_t seed_at_work;

/* The seed is printed only when it is needed. */
static void print_seed(int signal_number)
{
    fprintf(stderr, "NEOPRENE_SEED=%llu repeats it\n", (unsigned long long)seed_at_work);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void mutated_files_never_give_wrong_bytes(void **state)
{
    const char *text = getenv("NEOPRENE_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 20240607;
    size_t count = rounds_count(SOME_ITERATIONS, MANY_ITERATIONS);
    struct image image = image_of_entries(*state);
    uint8_t *copy = malloc(image.size);
    signal(SIGABRT, print_seed);
    for (size_t i = 0; i < count; i++) {
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
        WEIGHTS_TEST(mutated_files_never_give_wrong_bytes),
    };
    setenv("NEOPRENE_VERBOSE", "none", 0);
    return cmocka_run_group_tests_name("weights_damage", tests, NULL, NULL);
}
