/* Threads that all want the same packed weights. */
#include "tests/support/packed/weights_race.h"

#include <pthread.h>

#include "src/packed/provider.h"
#include "tests/support/test.h"

enum { MOST_THREADS = 16 };

struct pack_argument {
    struct weights_race *race;
    uint32_t i;
};

static neo_status pack_and_count(void *argument, void *data)
{
    const struct pack_argument *pack = argument;
    atomic_fetch_add(&pack->race->packed[pack->i], 1);
    weights_fill(data, weights_size_of(pack->i), pack->i);
    return NEO_OK;
}

static void use_key(struct weights_race *race, uint32_t i)
{
    struct pack_argument pack = {race, i};
    neo_weights_key key = weights_key_of(i, 1);
    struct weights_request request = {&key, weights_size_of(i), 64, pack_and_count, &pack, NULL};
    struct weights_use use;
    if (weights_acquire(&use, &race->provider, NULL, &request) != NEO_OK ||
        !weights_are_right(use.data, weights_size_of(i), i))
        atomic_fetch_add(&race->wrong, 1);
    weights_release(&use);
}

static void *use_all_keys(void *argument)
{
    struct weights_race *race = argument;
    for (uint32_t round = 0; round < race->rounds; round++)
        for (uint32_t i = 0; i < WEIGHTS_RACE_KEYS; i++)
            use_key(race, i);
    return NULL;
}

void weights_race_run(struct weights_race *races, size_t count, size_t threads)
{
    pthread_t started[MOST_THREADS];
    assert_true(threads <= MOST_THREADS);
    for (size_t i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&started[i], NULL, use_all_keys, &races[i % count]), 0);
    for (size_t i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
}
