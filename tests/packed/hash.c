/* Content hashes and keys of packed weights. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "src/packed/content_hash.h"
#include "src/packed/key.h"
#include "src/packed/source_key.h"
#include "src/threading/default_pool.h"
#include "tests/support/packed/weights.h"

static bool same_content(neo_weights_content a, neo_weights_content b)
{
    return a.low == b.low && a.high == b.high;
}

static void hashes_are_those_of_the_file_format(void **state)
{
    (void)state;
    /* Changing these makes every cache file useless: raise the format's version. */
    neo_weights_content empty = neo_weights_hash(NULL, 0);
    neo_weights_content text = neo_weights_hash("neoprene", 8);
    assert_false(same_content(empty, text));
    assert_int_equal(text.low, UINT64_C(0x9de923d0cd6c2ac6));
    assert_int_equal(text.high, UINT64_C(0xc0c3b8734656b8d5));
}

static void every_byte_counts(void **state)
{
    (void)state;
    size_t sizes[] = {1, 17, 240, 241, 4096, CONTENT_CHUNK_BYTES, CONTENT_CHUNK_BYTES + 1};
    for (size_t i = 0; i < count_of(sizes); i++) {
        unsigned char *data = malloc(sizes[i]);
        weights_fill(data, sizes[i], 3);
        neo_weights_content before = neo_weights_hash(data, sizes[i]);
        for (size_t at = 0; at < sizes[i]; at += 1 + sizes[i] / 13) {
            data[at] ^= 1;
            assert_false(same_content(before, neo_weights_hash(data, sizes[i])));
            data[at] ^= 1;
        }
        assert_false(same_content(before, neo_weights_hash(data, sizes[i] - 1)));
        free(data);
    }
}

static void rows_hash_as_their_dense_copy(void **state)
{
    (void)state;
    enum { ROWS = 700, ROW = 3001, STRIDE = 3100 }; /* two chunks, none of which ends with a row */
    unsigned char *strided = malloc((size_t)ROWS * STRIDE), *dense = malloc((size_t)ROWS * ROW);
    weights_fill(strided, (size_t)ROWS * STRIDE, 5);
    for (size_t i = 0; i < ROWS; i++)
        memcpy(dense + i * ROW, strided + i * STRIDE, ROW);
    assert_true(same_content(neo_weights_hash_rows(strided, ROWS, ROW, STRIDE),
                             neo_weights_hash(dense, (size_t)ROWS * ROW)));
    free(strided);
    free(dense);
}

/* Whichever of their dimensions lie one after the other without a gap: rows that are equally far
 * from each other, in the end. */
static void tensors_hash_as_their_dense_copy(void **state)
{
    (void)state;
    static const struct {
        neo_dim strides[3], first;
    } rows[] = {{{15, 3, 1}, 0}, {{17, 3, 1}, 2}, {{20, 4, 1}, 0}, {{30, 6, 2}, 1}};
    enum { I = 4, J = 5, K = 3 };
    float dense[I * J * K], room[200];
    for (int i = 0; i < I * J * K; i++)
        dense[i] = (float)(i * 7 % 31);
    struct parallel alone;
    parallel_init(&alone, NULL, NULL, 0);
    for (size_t row = 0; row < count_of(rows); row++) {
        neo_memory_desc desc;
        const neo_dim *strides = rows[row].strides;
        neo_memory_desc_init_strides(&desc, 3, (neo_dim[]){I, J, K}, NEO_F32, strides);
        for (size_t i = 0; i < count_of(room); i++)
            room[i] = (float)row;
        for (int i = 0; i < I * J * K; i++)
            room[rows[row].first + i / (J * K) * strides[0] + i / K % J * strides[1] +
                 i % K * strides[2]] = dense[i];
        assert_true(same_content(source_content(&desc, room + rows[row].first, &alone),
                                 neo_weights_hash(dense, sizeof dense)));
    }
}

/* Sizes around a chunk, and around a batch of them. */
static void threads_hash_as_one(void **state)
{
    (void)state;
    const size_t chunk = CONTENT_CHUNK_BYTES, most = 130 * chunk;
    const size_t sizes[] = {0, 1, 2 * chunk - 1, 2 * chunk, 3 * chunk + 5, most - 7};
    struct default_pool *pool;
    neo_threadpool_options options = {.threads = 3};
    assert_int_equal(default_pool_create(&pool, &options), NEO_OK);
    struct parallel parallel;
    parallel_init(&parallel, NULL, pool, 0);
    unsigned char *bytes = calloc(1, most);
    assert_non_null(bytes);
    for (size_t i = 0; i < most; i += 4099)
        bytes[i] = (unsigned char)(i * 7 + i / 4096);
    for (size_t i = 0; i < count_of(sizes); i++) {
        neo_weights_content one = neo_weights_hash(bytes, sizes[i]);
        neo_weights_content many = content_hash(bytes, sizes[i], &parallel);
        assert_memory_equal(&one, &many, sizeof one);
    }
    free(bytes);
    default_pool_destroy(pool);
}

static void keys_differ_in_every_field(void **state)
{
    (void)state;
    neo_weights_key key = weights_key_of(1, 1), other = key;
    assert_true(weights_key_equal(&key, &other));
    other.content.high ^= 1;
    assert_false(weights_key_equal(&key, &other));
    for (size_t i = 0; i < key.layout_words; i++) {
        other = key;
        other.layout[i] ^= 1;
        assert_false(weights_key_equal(&key, &other));
        assert_int_equal(weights_key_same_but_version(&key, &other), i == KEY_LAYOUT_VERSION);
    }
    other = key;
    other.layout_words++; /* one more field, which is 0 */
    assert_false(weights_key_equal(&key, &other));
    assert_true(weights_key_is_valid(&other));
    for (size_t i = other.layout_words; i < NEO_WEIGHTS_MAX_LAYOUT_WORDS; i++) {
        neo_weights_key with_rest = other;
        with_rest.layout[i] = 1;
        assert_false(weights_key_is_valid(&with_rest));
    }
    other.layout_words = 1;
    assert_false(weights_key_is_valid(&other));
    other.layout_words = UINT32_MAX;
    assert_false(weights_key_is_valid(&other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_the_file_format),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(rows_hash_as_their_dense_copy),
        cmocka_unit_test(tensors_hash_as_their_dense_copy),
        cmocka_unit_test(threads_hash_as_one),
        cmocka_unit_test(keys_differ_in_every_field),
    };
    return cmocka_run_group_tests_name("weights_hash", tests, NULL, NULL);
}
