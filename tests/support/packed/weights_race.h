/* Threads that all want the same packed weights. */
#ifndef TESTS_SUPPORT_PACKED_WEIGHTS_RACE_H
#define TESTS_SUPPORT_PACKED_WEIGHTS_RACE_H

#include <stdatomic.h>

#include "tests/support/packed/weights.h"

enum { WEIGHTS_RACE_KEYS = 24 };

/* Set the provider and rounds; the others count. */
struct weights_race {
    neo_weights_provider provider;
    uint32_t rounds; /* of each thread, through all keys */
    atomic_int packed[WEIGHTS_RACE_KEYS];
    atomic_int wrong; /* times that a thread did not get what it wanted */
};

/* Runs so many threads, in turn for each of the races, until they have used all keys. */
void weights_race_run(struct weights_race *races, size_t count, size_t threads);

#endif
