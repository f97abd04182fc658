/* An engine and a stream for all tests of a program, or for each of them: the functions are
 * cmocka's fixtures. */
#ifndef TESTS_SUPPORT_SESSION_H
#define TESTS_SUPPORT_SESSION_H

#include "arch/cpu.h"
#include "neoprene/neoprene.h"

extern neo_engine *engine;
extern neo_stream *stream;

int session_setup(void **state);
int session_setup_single(void **state); /* the stream has one thread */
int session_teardown(void **state);

/* The engine's processor has caches of so many bytes from now on, by a copy of its description. */
void session_state_caches(struct cpu *copy, size_t l1_bytes, size_t l2_bytes);

/* Other ones until other_caches_end(), for a processor like this machine's with caches of so many
 * bytes: the ones before may have primitives for the same problems. */
struct other_caches {
    neo_engine *engine; /* those before */
    neo_stream *stream;
    struct cpu cpu;
};
void other_caches_begin(struct other_caches *other, size_t l1_bytes, size_t l2_bytes);
void other_caches_end(const struct other_caches *other);

#endif
