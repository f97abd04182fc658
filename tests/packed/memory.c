/* The memory provider, and acquiring weights through any provider. */
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/packed/key.h"
#include "src/packed/provider.h"
#include "src/packed/store/table.h"
#include "tests/support/fault.h"
#include "tests/support/packed/weights.h"
#include "tests/support/packed/weights_race.h"

static neo_weights_provider memory_provider(size_t limit_bytes)
{
    neo_weights_provider provider;
    neo_weights_memory_options options = {.limit_bytes = limit_bytes};
    assert_int_equal(neo_weights_memory_provider_create(&provider, &options), NEO_OK);
    return provider;
}

/* ---- the memory provider ---- */

static void an_entry_is_packed_once_and_found_again(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0);
    neo_weights_blob first, second;
    assert_int_equal(weights_get(&provider, 1), NEO_NOT_FOUND);
    assert_int_equal(weights_put(&provider, 1, &first), NEO_OK);
    assert_int_equal(weights_put(&provider, 1, &second), NEO_OK);
    assert_ptr_equal(provider.offset_to_addr(provider.context, first.offset),
                     provider.offset_to_addr(provider.context, second.offset));
    assert_int_equal(first.size, weights_size_of(1));
    assert_int_equal(first.layout_version, 1);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_int_equal(statistics.inserts, 1);
    assert_int_equal(statistics.hits, 1);
    assert_int_equal(statistics.misses, 2);
    assert_int_equal(statistics.memory_bytes, weights_size_of(1));
    assert_int_equal(statistics.pinned, 1);
    provider.unpin(provider.context, first.offset);
    provider.unpin(provider.context, second.offset);
    assert_int_equal(weights_statistics(&provider).pinned, 0);
    weights_close(&provider);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0);
    neo_weights_key key = weights_key_of(1, 1), bad = key;
    bad.layout_words = 0;
    neo_weights_reservation reservation;
    neo_weights_blob blob;
    void *context = provider.context;
    assert_int_equal(provider.look_up(context, &bad, &blob), NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.look_up(context, &key, NULL), NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.reserve_space(context, &key, 0, 64, &reservation),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.reserve_space(context, &key, 1, 3, &reservation),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.reserve_space(context, &key, 1, 8192, &reservation),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.reserve_space(context, &key, SIZE_MAX, 64, &reservation),
                     NEO_OUT_OF_MEMORY);
    assert_int_equal(provider.unpin(context, 0), NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.pin(context, UINT64_MAX), NEO_INVALID_ARGUMENT);
    assert_null(provider.offset_to_addr(context, 12345));
    assert_int_equal(provider.reserve_space(context, &key, 10, 64, &reservation), NEO_OK);
    neo_weights_key other = weights_key_of(2, 1);
    assert_int_equal(provider.look_up_or_insert(context, &other, &reservation, &blob),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.look_up_or_insert(context, &key, &reservation, &blob), NEO_OK);
    assert_int_equal(provider.cancel(context, &reservation), NEO_INVALID_ARGUMENT);
    neo_weights_reservation larger;
    assert_int_equal(provider.reserve_space(context, &key, 11, 64, &larger), NEO_INVALID_ARGUMENT);
    weights_close(&provider);
    provider.unpin(context, blob.offset);
    neo_weights_memory_options half = {.allocator.release = (void (*)(void *, void *, size_t))1};
    assert_int_equal(neo_weights_memory_provider_create(&provider, &half), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_memory_provider_create(NULL, NULL), NEO_INVALID_ARGUMENT);
}

static void a_cancelled_reservation_leaves_nothing(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0);
    neo_weights_key key = weights_key_of(1, 1);
    neo_weights_reservation reservation;
    assert_int_equal(provider.reserve_space(provider.context, &key, 100, 64, &reservation), NEO_OK);
    assert_int_equal(provider.cancel(provider.context, &reservation), NEO_OK);
    assert_null(reservation.data);
    neo_weights_statistics statistics = weights_statistics(&provider);
    assert_int_equal(statistics.entries, 0);
    assert_int_equal(statistics.memory_bytes, 0);
    assert_int_equal(statistics.cancelled, 1);
    assert_int_equal(weights_add(&provider, 1), NEO_OK);
    weights_close(&provider);
}

/* An entry that is there already is pinned by a reservation, and that ends once. */
static void a_reservation_of_an_entry_that_is_there_ends_once(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0);
    neo_weights_key key = weights_key_of(0, 1);
    size_t size = weights_size_of(0);
    neo_weights_reservation reservation, copy;
    assert_int_equal(weights_add(&provider, 0), NEO_OK);
    assert_int_equal(provider.reserve_space(provider.context, &key, size, 128, &reservation),
                     NEO_INVALID_ARGUMENT); /* it is at a multiple of 64 */
    assert_int_equal(provider.reserve_space(provider.context, &key, size + 1, 64, &reservation),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(provider.reserve_space(provider.context, &key, size, 64, &reservation),
                     NEO_OK);
    assert_null(reservation.data);
    copy = reservation;
    assert_int_equal(provider.cancel(provider.context, &reservation), NEO_OK);
    assert_int_equal(provider.cancel(provider.context, &copy), NEO_INVALID_ARGUMENT);
    assert_int_equal(weights_statistics(&provider).pinned, 0);
    weights_close(&provider);
}

static void *reserve_and_cancel(void *argument)
{
    const neo_weights_provider *provider = argument;
    neo_weights_key key = weights_key_of(1, 1);
    neo_weights_reservation reservation;
    neo_status status = provider->reserve_space(provider->context, &key, 100, 64, &reservation);
    bool good = status == NEO_OK && reservation.data &&
                provider->cancel(provider->context, &reservation) == NEO_OK;
    return good ? argument : NULL;
}

static void who_waits_for_a_reservation_that_is_cancelled_gets_its_own(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0);
    neo_weights_key key = weights_key_of(1, 1);
    neo_weights_reservation reservation;
    pthread_t thread;
    void *good;
    assert_int_equal(provider.reserve_space(provider.context, &key, 100, 64, &reservation), NEO_OK);
    assert_int_equal(pthread_create(&thread, NULL, reserve_and_cancel, &provider), 0);
    while (!weights_statistics(&provider).waits)
        sched_yield();
    assert_int_equal(provider.cancel(provider.context, &reservation), NEO_OK);
    assert_int_equal(pthread_join(thread, &good), 0);
    assert_non_null(good);
    weights_close(&provider);
}

static void the_least_recently_used_unpinned_entry_goes_first(void **state)
{
    (void)state;
    /* entries 0, 8, 16, 24 have 100, 101, 102, 103 bytes */
    neo_weights_provider provider = memory_provider(310);
    neo_weights_blob pinned;
    assert_int_equal(weights_put(&provider, 0, &pinned), NEO_OK);
    assert_int_equal(weights_add(&provider, 8), NEO_OK);
    assert_int_equal(weights_add(&provider, 16), NEO_OK);
    assert_int_equal(weights_get(&provider, 8), NEO_OK);  /* 16 is the oldest now */
    assert_int_equal(weights_add(&provider, 24), NEO_OK); /* 406 bytes would be too many */
    assert_int_equal(weights_get(&provider, 16), NEO_NOT_FOUND);
    assert_int_equal(weights_get(&provider, 8), NEO_OK);
    assert_int_equal(weights_get(&provider, 0), NEO_OK);
    assert_int_equal(weights_statistics(&provider).evictions, 1);
    assert_true(weights_statistics(&provider).memory_bytes <= 310);
    provider.unpin(provider.context, pinned.offset);
    weights_close(&provider);
}

static void entries_of_exactly_the_limit_stay(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(weights_size_of(0) + weights_size_of(8));
    assert_int_equal(weights_add(&provider, 0), NEO_OK);
    assert_int_equal(weights_add(&provider, 8), NEO_OK);
    assert_int_equal(weights_get(&provider, 0), NEO_OK);
    assert_int_equal(weights_get(&provider, 8), NEO_OK);
    assert_int_equal(weights_statistics(&provider).evictions, 0);
    weights_close(&provider);
}

static void pinned_entries_may_exceed_the_limit(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(1);
    neo_weights_blob a, b;
    assert_int_equal(weights_put(&provider, 0, &a), NEO_OK);
    assert_int_equal(weights_put(&provider, 8, &b), NEO_OK);
    provider.unpin(provider.context, a.offset);
    assert_int_equal(weights_get(&provider, 0), NEO_NOT_FOUND);
    provider.unpin(provider.context, b.offset);
    assert_int_equal(weights_statistics(&provider).memory_bytes, 0);
    weights_close(&provider);
}

static void pinned_entries_outlive_their_provider(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0);
    neo_weights_blob blob;
    assert_int_equal(weights_put(&provider, 3, &blob), NEO_OK);
    assert_int_equal(weights_add(&provider, 4), NEO_OK);
    weights_close(&provider);
    const void *data = provider.offset_to_addr(provider.context, blob.offset);
    assert_true(weights_are_right(data, blob.size, 3));
    assert_int_equal(provider.pin(provider.context, blob.offset), NEO_OK);
    assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK);
    assert_int_equal(provider.unpin(provider.context, blob.offset), NEO_OK); /* frees it all */
}

struct counting_allocator {
    size_t blocks, bytes, most_bytes;
};

static void *count_allocate(void *context, size_t size, size_t align)
{
    struct counting_allocator *counter = context;
    void *data = aligned_alloc(align, round_up(size, align));
    counter->blocks += data != NULL;
    counter->bytes += data ? size : 0;
    counter->most_bytes = max_size(counter->most_bytes, counter->bytes);
    return data;
}

static void count_release(void *context, void *data, size_t size)
{
    struct counting_allocator *counter = context;
    counter->blocks--;
    counter->bytes -= size;
    free(data);
}

static void entries_come_from_the_given_allocator(void **state)
{
    (void)state;
    struct counting_allocator counter = {0};
    neo_weights_memory_options options = {.allocator = {&counter, count_allocate, count_release}};
    neo_weights_provider provider;
    assert_int_equal(neo_weights_memory_provider_create(&provider, &options), NEO_OK);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(weights_add(&provider, i), NEO_OK);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(weights_get(&provider, i), NEO_OK);
    assert_int_equal(counter.blocks, 200);
    assert_int_equal(counter.bytes, weights_statistics(&provider).memory_bytes);
    weights_close(&provider);
    assert_int_equal(counter.blocks, 0);
    assert_int_equal(counter.bytes, 0);
}

static void old_entries_make_room_before_the_new_one_is_packed(void **state)
{
    (void)state;
    struct counting_allocator counter = {0};
    neo_weights_memory_options options = {.allocator = {&counter, count_allocate, count_release},
                                          .limit_bytes = 250}; /* two of them */
    neo_weights_provider provider;
    assert_int_equal(neo_weights_memory_provider_create(&provider, &options), NEO_OK);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(weights_add(&provider, 8 * i), NEO_OK);
    assert_true(counter.most_bytes <= options.limit_bytes);
    weights_close(&provider);
}

static void any_failed_allocation_leaves_a_working_provider(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        neo_weights_provider provider;
        fault_arm(n);
        neo_status status = neo_weights_memory_provider_create(&provider, NULL);
        if (status == NEO_OK) {
            for (uint32_t i = 0; i < 70; i++) { /* the table grows once */
                neo_status added = weights_add(&provider, i * 8);
                assert_true(added == NEO_OK || added == NEO_OUT_OF_MEMORY);
            }
        }
        bool delivered = fault_disarm();
        if (status != NEO_OK) {
            assert_int_equal(status, NEO_OUT_OF_MEMORY);
            continue;
        }
        for (uint32_t i = 0; i < 70; i++)
            assert_int_equal(weights_add(&provider, i * 8), NEO_OK);
        weights_close(&provider);
        if (!delivered)
            break;
    }
}

/* ---- threads ---- */

enum { THREADS = 8, ROUNDS = 4 };

static void threads_pack_each_key_once(void **state)
{
    (void)state;
    struct weights_race race = {.provider = memory_provider(0), .rounds = ROUNDS};
    weights_race_run(&race, 1, THREADS);
    assert_int_equal(atomic_load(&race.wrong), 0);
    for (size_t i = 0; i < WEIGHTS_RACE_KEYS; i++)
        assert_int_equal(atomic_load(&race.packed[i]), 1);
    neo_weights_statistics statistics = weights_statistics(&race.provider);
    assert_int_equal(statistics.inserts, WEIGHTS_RACE_KEYS);
    assert_int_equal(statistics.pinned, 0);
    weights_close(&race.provider);
}

static void threads_survive_eviction(void **state)
{
    (void)state;
    struct weights_race race = {.provider = memory_provider(100000), .rounds = ROUNDS};
    weights_race_run(&race, 1, THREADS);
    assert_int_equal(atomic_load(&race.wrong), 0);
    assert_true(weights_statistics(&race.provider).memory_bytes <= 100000);
    assert_true(weights_statistics(&race.provider).evictions > 0);
    weights_close(&race.provider);
}

struct slow_pack {
    neo_weights_provider *provider;
    atomic_int inside;
    atomic_bool other_done;
};

static void *pack_another_key(void *argument)
{
    struct slow_pack *slow = argument;
    while (!atomic_load(&slow->inside))
        ;
    weights_add(slow->provider, 2);
    atomic_store(&slow->other_done, true);
    return NULL;
}

static void different_keys_are_packed_at_the_same_time(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0);
    struct slow_pack slow = {.provider = &provider};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, pack_another_key, &slow), 0);
    neo_weights_key key = weights_key_of(1, 1);
    neo_weights_reservation reservation;
    assert_int_equal(provider.reserve_space(provider.context, &key, 10, 64, &reservation), NEO_OK);
    atomic_store(&slow.inside, 1);
    pthread_join(thread, NULL); /* would not end if packing were serial */
    assert_true(atomic_load(&slow.other_done));
    provider.cancel(provider.context, &reservation);
    weights_close(&provider);
}

/* ---- acquire ---- */

static neo_status pack_fails(void *argument, void *data)
{
    (void)argument;
    (void)data;
    return NEO_RUNTIME_ERROR;
}

static void a_failed_packing_is_cancelled_and_reported(void **state)
{
    (void)state;
    neo_weights_provider provider = memory_provider(0), fallback = memory_provider(0);
    neo_weights_key key = weights_key_of(1, 1);
    struct weights_request request = {&key, 10, 64, pack_fails, NULL, NULL};
    struct weights_use use;
    assert_int_equal(weights_acquire(&use, &provider, &fallback, &request), NEO_RUNTIME_ERROR);
    assert_null(use.data);
    assert_int_equal(weights_statistics(&provider).cancelled, 1);
    assert_int_equal(weights_statistics(&fallback).misses, 0);
    weights_close(&provider);
    weights_close(&fallback);
}

/* What a user's provider may get wrong. */
static neo_status lying_look_up(void *context, const neo_weights_key *key, neo_weights_blob *blob)
{
    (void)key;
    *blob = (neo_weights_blob){.offset = 1, .size = *(size_t *)context, .align = 4096};
    return NEO_OK;
}

static const void *lying_addr(void *context, uint64_t offset)
{
    (void)offset;
    return context;
}

static neo_status lying_unpin(void *context, uint64_t offset)
{
    (void)context;
    (void)offset;
    return NEO_OK;
}

static neo_status pack_first(void *argument, void *data)
{
    (void)argument;
    weights_fill(data, weights_size_of(1), 1);
    return NEO_OK;
}

static void a_provider_that_has_too_little_is_not_believed(void **state)
{
    (void)state;
    static _Alignas(4096) size_t too_little = 16;
    neo_weights_provider liar = {
        .context = &too_little,
        .look_up = lying_look_up,
        .offset_to_addr = lying_addr,
        .unpin = lying_unpin,
    };
    neo_weights_provider fallback = memory_provider(0);
    neo_weights_key key = weights_key_of(1, 1);
    struct weights_request request = {&key, weights_size_of(1), 64, pack_first, NULL, NULL};
    struct weights_use use;
    assert_int_equal(weights_acquire(&use, &liar, NULL, &request), NEO_CORRUPT);
    assert_null(use.data);
    assert_int_equal(weights_acquire(&use, &liar, &fallback, &request), NEO_OK);
    assert_true(weights_are_right(use.data, weights_size_of(1), 1));
    assert_int_equal(weights_retain(&use), NEO_OK);
    struct weights_use second = use;
    weights_release(&use);
    weights_release(&use);
    assert_true(weights_are_right(second.data, weights_size_of(1), 1));
    weights_release(&second);
    weights_close(&fallback);
}

/* ---- what a provider says ---- */

/* Every entry is in here, and of so many bytes at such an alignment, as it says. */
static _Alignas(4096) unsigned char boast_bytes[4096];
static neo_weights_blob boast;
static int boast_pins;

static neo_status boast_look_up(void *context, const neo_weights_key *key, neo_weights_blob *blob)
{
    (void)context, (void)key;
    *blob = boast;
    boast_pins++;
    return NEO_OK;
}

static const void *boast_address(void *context, uint64_t offset)
{
    (void)context;
    return boast_bytes + offset;
}

static neo_status boast_unpin(void *context, uint64_t offset)
{
    (void)context, (void)offset;
    boast_pins--;
    return NEO_OK;
}

static neo_status pack_nothing(void *argument, void *data)
{
    (void)argument, (void)data;
    return NEO_OK;
}

static void what_a_provider_has_is_compared_with_what_is_wanted(void **state)
{
    (void)state;
    static const struct {
        neo_weights_blob blob;
        neo_status status;
    } rows[] = {
        {{.offset = 0, .size = 256, .align = 64}, NEO_OK},
        {{.offset = 0, .size = 255, .align = 64}, NEO_CORRUPT},
        {{.offset = 0, .size = 257, .align = 64}, NEO_CORRUPT},
        {{.offset = 0, .size = 256, .align = 32}, NEO_CORRUPT},
        {{.offset = 32, .size = 256, .align = 64}, NEO_CORRUPT},
    };
    const neo_weights_provider provider = {
        .look_up = boast_look_up, .offset_to_addr = boast_address, .unpin = boast_unpin};
    neo_weights_key key = weights_key_of(1, 1);
    const struct weights_request request = {
        .key = &key, .size = 256, .align = 64, .pack = pack_nothing};
    for (size_t i = 0; i < count_of(rows); i++) {
        struct weights_use use = {.data = NULL};
        boast = rows[i].blob;
        assert_int_equal(weights_acquire(&use, &provider, NULL, &request), rows[i].status);
        weights_release(&use);
        assert_int_equal(boast_pins, 0);
    }
}

/* ---- keys with one hash ---- */

static void keys_with_one_hash_are_told_apart(void **state)
{
    (void)state;
    struct store_table table;
    assert_true(store_table_init(&table));
    neo_weights_key key = weights_key_of(1, 1), other;
    struct store_entry *entry = store_table_add(&table, &key, sizeof *entry, (enum store_state)0);
    assert_non_null(entry);
    uint64_t mask = table.slot_count - 1, hash = entry->hash;
    uint32_t i = 2;
    do
        other = weights_key_of(i++, 1);
    while ((weights_key_hash(&other, true) & mask) != (hash & mask));
    entry->hash = weights_key_hash(&other, true);
    assert_null(store_table_find(&table, &other));
    entry->hash = hash;
    assert_ptr_equal(store_table_find(&table, &key), entry);
    store_table_remove(&table, entry);
    free(entry);
    store_table_deinit(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_provider_has_is_compared_with_what_is_wanted),
        cmocka_unit_test(keys_with_one_hash_are_told_apart),
        cmocka_unit_test(an_entry_is_packed_once_and_found_again),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_cancelled_reservation_leaves_nothing),
        cmocka_unit_test(a_reservation_of_an_entry_that_is_there_ends_once),
        cmocka_unit_test(who_waits_for_a_reservation_that_is_cancelled_gets_its_own),
        cmocka_unit_test(the_least_recently_used_unpinned_entry_goes_first),
        cmocka_unit_test(entries_of_exactly_the_limit_stay),
        cmocka_unit_test(pinned_entries_may_exceed_the_limit),
        cmocka_unit_test(pinned_entries_outlive_their_provider),
        cmocka_unit_test(entries_come_from_the_given_allocator),
        cmocka_unit_test(old_entries_make_room_before_the_new_one_is_packed),
        cmocka_unit_test(any_failed_allocation_leaves_a_working_provider),
        cmocka_unit_test(threads_pack_each_key_once),
        cmocka_unit_test(threads_survive_eviction),
        cmocka_unit_test(different_keys_are_packed_at_the_same_time),
        cmocka_unit_test(a_failed_packing_is_cancelled_and_reported),
        cmocka_unit_test(a_provider_that_has_too_little_is_not_believed),
    };
    return cmocka_run_group_tests_name("weights_memory", tests, NULL, NULL);
}
